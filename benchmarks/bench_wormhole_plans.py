"""Wormhole plans beside their bounds: the 10x10 cases, broadcasts on meshes, personalized and short messages.

    python benchmarks/bench_wormhole_plans.py [cases] [meshes] [personalized] [short]

Prints time, bound and their ratio for every case, with the CPU seconds of the plan, and the median and the largest
ratio of each part.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import gossamer
from gossamer import LinearCost
from gossamer.errors import GossamerError
from gossamer.questions.tasks import Task

Asked = tuple[str, str, Task, LinearCost]

GRIDS = ("torus:6x6", "torus:8x8", "torus:4x4x4", "array:6x6", "array:8x8", "array:4x4x4", "hypercube:4", "hypercube:6")


def drawn(nodes: int, count: int) -> list[int]:
    """Return some nodes, the same every time."""
    return sorted(np.random.default_rng(count).choice(nodes, count, replace=False).tolist())


def cases() -> Iterator[Asked]:
    """Broadcasts of 1 to 100 nodes of a 10 x 10 torus."""
    for sources in (1, 5, 10, 20, 40, 60, 100):
        for startup in (10, 100, 1000):
            task = gossamer.task("partial-multinode-broadcast", active=drawn(100, sources))
            yield "torus:10x10", f"{sources} sources", task, LinearCost(startup=Fraction(startup), message_bytes=1024)


def meshes() -> Iterator[Asked]:
    """Broadcasts from a corner of meshes, of 1 byte to 1 MB."""
    for spec in ("array:8x8", "array:12x12", "array:16x16", "array:22x22", "array:4x4x4", "array:6x6x6", "array:8x8x8"):
        for size in (1, 64, 300, 1024, 10_000, 1 << 20):
            yield (
                spec,
                f"{size:,} bytes",
                gossamer.task("broadcast"),
                LinearCost(startup=Fraction(100), message_bytes=size),
            )
    for size in (1, 300, 1024, 1 << 20):
        yield (
            "array:32x32",
            f"{size:,} bytes",
            gossamer.task("broadcast"),
            LinearCost(startup=Fraction(100), message_bytes=size),
        )


def personalized() -> Iterator[Asked]:
    """Scatter, gather and exchanges on tori, arrays and hypercubes."""
    for spec in GRIDS:
        nodes = gossamer.network(spec).node_count
        for name in ("scatter", "gather", "total-exchange", "partial-exchange"):
            some = {"active": drawn(nodes, 12)} if name == "partial-exchange" else {}
            for startup in (0, 100):
                yield spec, name, gossamer.task(name, **some), LinearCost(startup=Fraction(startup), message_bytes=256)


def short() -> Iterator[Asked]:
    """All collectives of 64 bytes where a start-up takes as long as 1,000."""
    for spec in ("torus:10x10", "array:10x10", "ring:30", "hypercube:7"):
        for name in (
            *("broadcast", "reduce", "scatter", "gather", "allgather", "reduce-scatter", "allreduce", "alltoall"),
            "partial-sum-allreduce",
        ):
            yield spec, name, gossamer.task(name), LinearCost(startup=Fraction(1000), message_bytes=64)


PARTS = {"cases": cases, "meshes": meshes, "personalized": personalized, "short": short}


def main(names: list[str]) -> None:
    """Print the parts."""
    for name in names:
        print(
            f"{name}\n{'network':<14} {'task':<21} {'start-up':>8} {'time':>12} {'bound':>12} {'ratio':>6} {'CPU s':>6}"
        )
        ratios = []
        for spec, label, task, cost in PARTS[name]():
            began = time.process_time()
            try:
                plan = gossamer.plan(spec, task, switching="wormhole", cost=cost)
            except GossamerError as error:
                print(f"{spec:<14} {label:<21} {error}")
                continue
            took, ratio = time.process_time() - began, float(plan.ratio or 1)
            ratios.append(ratio)
            print(
                f"{spec:<14} {label:<21} {cost.startup!s:>8} {float(plan.completion_time):>12,.0f} "
                f"{float(plan.bound or 0):>12,.0f} {ratio:>6.3f} {took:>6.1f}  {plan.algorithm}",
                flush=True,
            )
        print(f"median {statistics.median(ratios):.3f}, largest {max(ratios):.3f} x the bound\n")


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
