"""How close the estimates of time before a wormhole plan are to what building and checking then take.

    python benchmarks/bench_wormhole_estimates.py

For each case and algorithm: estimated and measured seconds of CPU, and estimated over measured; good within a factor of
two. Kernels are compiled before.
"""

from __future__ import annotations

import time

import gossamer
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.bounds import wormhole_needs
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

CASES = (
    *(("torus:16x16", "allgather", name) for name in (
        "atd-5", "ring-all-gather", "sequential-broadcasts", "packet-switched", "spanning-trees-pipelined",
        "tree-by-rank", "slot-by-slot", "wormhole-flooding")),
    *(("torus:12x12", "allgather", name) for name in ("sequential-broadcasts", "tree-by-rank", "wormhole-flooding")),
    *(("torus:16x16", "reduce-scatter", name) for name in (
        "reversed-sequential-broadcasts", "reversed-tree-by-rank", "direct", "wormhole-flooding")),
    *(("torus:16x16", "allreduce", name) for name in ("two-way-sequential-broadcasts", "direct", "wormhole-flooding")),
    *(("torus:16x16", "alltoall", name) for name in ("direct", "slot-by-slot")),
    ("array:12x12", "alltoall", "direct"),
    ("kautz:3,3", "allgather", "wormhole-flooding"),
    ("dragonfly:a=4,h=2,p=1", "allreduce", "wormhole-flooding"),
)  # fmt: skip


def main() -> None:
    """Print a row for each case."""
    ratios = []
    print(f"{'case':66}{'s est.':>8}{'s':>8}{'ratio':>7}")
    for spec, task, name in CASES:
        (algorithm,) = [a for a in WORMHOLE_ALGORITHMS if a.name == name]
        verify(algorithm.build(WormholeCase(gossamer.network("torus:4x4"), gossamer.task(task))))
        case = WormholeCase(gossamer.network(spec), gossamer.task(task))
        offer = algorithm.offers(case)[0]
        found = wormhole_needs(case, offer).seconds
        began = time.process_time()
        verify(offer.build())
        seconds = time.process_time() - began
        ratios.append(found / seconds)
        print(f"{f'{spec} {task} {name}':66}{found:8.3f}{seconds:8.3f}{ratios[-1]:7.2f}", flush=True)
    good = sum(0.5 <= r <= 2 for r in ratios)
    print(f"time: {good} of {len(ratios)} within a factor of two; {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
