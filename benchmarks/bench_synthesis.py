"""Schedules for any network: steps, bound, ratio, CPU seconds and memory, beside what is aimed at.

Random and damaged graphs are made by NetworkX, so that they are the same everywhere; files of links in a folder, given
as argument, are measured too. A row is the best schedule of the algorithms for any network; the aim is a ratio to the
largest bound and CPU seconds, and a row says how far it is missed. The marks are the best that a published synthesizer
did on the same network, in steps.

    python benchmarks/bench_synthesis.py [--large] [--huge] [--each] [--task TASK] [--only WORD] [FOLDER]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import networkx as nx
from synthesis_networks import networks

import gossamer
from gossamer import Rules
from gossamer.algorithms import ALGORITHMS
from gossamer.bounds import bounds
from gossamer.errors import GossamerError
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.schedules import Schedule

TASKS = ("allgather", "alltoall", "reduce-scatter", "allreduce", "broadcast")
CHUNKS = {"broadcast": 64}
"""Packets of a message; of an allgather in chunks as many as make whole numbers of its fluid optimum."""

MARKS = {
    ("allgather", "two 8x8 tori, 4 links"): 36.0,
    ("allgather", "8 cliques of 8 in a ring"): 31.0,
    ("allgather", "dragonfly:4,2"): 8.0,
    ("allgather", "slim-fly:5"): 8.0,
    ("allgather", "jellyfish 50 (degree 7)"): 8.0,
    ("allgather", "torus 16x16 as edges"): 65.0,
    ("allgather", "torus:32x32 as edges"): 258.0,
    ("allgather", "generalized-hypercube:4x4x4 as edges"): 8.0,
    ("allgather", "torus 8x8, one dimension 4 times slower"): 30.0,
    ("allgather", "32 servers of 8 with rails"): 34.0,
}
"""Steps; the torus of two speeds counts in steps of its fast links."""


class Aim(NamedTuple):
    """A ratio to the largest bound, and CPU seconds; None where there is no aim."""

    ratio: float | None
    seconds: float | None


class Row(NamedTuple):
    """What an algorithm found: steps of a message, CPU seconds, its name, hops."""

    steps: float
    seconds: float
    algorithm: str
    hops: int


def aim(task: str, network: Network) -> Aim:
    """Return what is aimed at."""
    n = network.terminal_count
    if task in ("allgather", "reduce-scatter"):
        seconds = 0.5 if n <= 1024 else 5.0 if n <= 4096 else 60.0
        return Aim(1.1 if not network.plain else 1.02 if n >= 64 else None, seconds)
    if task == "alltoall":
        ratio = 1.1 if not network.plain else 1.02 if n <= 64 else 1.03 if n <= 256 else 1.05
        return Aim(ratio, 0.5 if n <= 64 else 5.0 if n <= 256 else 30.0)
    return Aim(1.1 if task == "allreduce" else 1.05, None)


def _any_network(name: str) -> bool:
    """Whether an algorithm is for any network and no solver."""
    general = ("greedy-flooding", "priced-", "overlapped-", "packed-trees", "shared-shortest", "arc-disjoint")
    return any(word in name for word in general)


def found(case: Case, packets: int) -> Iterator[Row]:
    """Yield what each algorithm for any network does; of very large ones, flooding alone."""
    huge = case.network.node_count > 4096
    known = (a for a in ALGORITHMS if (a.name == "greedy-flooding" if huge else _any_network(a.name)))
    for algorithm in (a for a in known if a.covers(case)):
        began = time.process_time()
        schedule: Schedule = algorithm.build(case)
        took = time.process_time() - began
        if not gossamer.verify(schedule):
            raise SystemExit(f"{algorithm.name} on {case.network}: {gossamer.verify(schedule)}")
        yield Row(float(schedule.completion_time) / packets, took, algorithm.name, schedule.hop_count)


def missed(row: Row, limit: float, aimed: Aim, mark: float | None, slack: float) -> str:
    """Return how far the aim is missed, in words, or that it is not."""
    said = []
    if aimed.ratio is not None and row.steps > max(aimed.ratio * limit, limit + slack) + 1e-9:
        said.append(f"{100 * (row.steps / limit / aimed.ratio - 1):.1f} % over {aimed.ratio:g} x")
    if mark is not None and row.steps > mark:
        said.append(f"{row.steps - mark:g} over the mark {mark:g}")
    if aimed.seconds is not None and row.seconds > aimed.seconds:
        said.append(f"{row.seconds / aimed.seconds:.1f} x the {aimed.seconds:g} s")
    return "missed: " + ", ".join(said) if said else "met" if aimed.ratio or mark else "-"


def measure(name: str, network: Network, task: str, packets: int, each: bool) -> None:
    """Print the best schedule, or each one, in steps a message."""
    case = Case(network, gossamer.task(task, packets=packets) if packets > 1 else gossamer.task(task))
    began = time.process_time()
    limit = float(bounds(case)[0].value) / packets
    if task == "allgather" and packets > 1:
        limit = float(bounds(Case(network, gossamer.task(task), Rules(segmented=True)))[0].value)
    bounding = time.process_time() - began
    case.tell_floor(bounds(case)[0].value)
    rows = sorted(found(case, packets))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    aimed, mark = aim(task, network), MARKS.get((task, name)) if packets == 1 else None
    slack = 2 / packets if task == "broadcast" else 0.0
    what = f"{task} {packets}" if packets > 1 else task
    for row in rows if each else rows[:1]:
        print(
            f"{what:14} {name:40} {network.terminal_count:5} {row.steps:8.6g} {limit:8.6g} "
            f"{row.steps / limit if limit else 1:6.3f} {row.seconds:8.2f} s (bound {bounding:6.2f} s) {memory:6} MB "
            f"{row.algorithm:24} {missed(row, limit, aimed, mark, slack)}",
            flush=True,
        )


def chunks(network: Network) -> int:
    """Return packets a message of which the fluid optimum of an allgather takes whole steps, at most 12."""
    value = bounds(Case(network, gossamer.task("allgather"), Rules(segmented=True)))[0].value
    return value.denominator if 1 < value.denominator <= 12 else 12 if value.denominator > 1 else 1


def main() -> None:
    """Print a table a task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--large", action="store_true", help="up to 4,096 nodes (allgather only beyond 512)")
    parser.add_argument("--huge", action="store_true", help="also 16,384 nodes, flooding alone (minutes, 4 GB)")
    parser.add_argument("--each", action="store_true", help="a row for each algorithm")
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--only", help="networks with that word in their names")
    asked = parser.parse_args()
    small = from_networkx(nx.petersen_graph())
    print("task, network, terminals, steps, bound, ratio, CPU, memory of the process, algorithm, aim")
    for task in asked.task or TASKS:
        list(found(Case(small, gossamer.task(task)), 1))  # compile
        measured = list(networks(asked.large))
        if asked.huge:
            measured.append(("random 4-regular 16384", from_networkx(nx.random_regular_graph(4, 16384, seed=1))))
        for path in sorted(Path(asked.folder).iterdir()) if asked.folder else ():
            try:
                measured.append((path.name, gossamer.network(str(path))))
            except GossamerError as error:
                print(f"{path.name}: {error}")
        for name, network in measured:
            if (asked.only or "") not in name or (network.node_count > 512 and task != "allgather"):
                continue
            measure(name, network, task, CHUNKS.get(task, 1), asked.each)
            if task == "allgather" and network.node_count <= 64 and chunks(network) > 1:
                measure(name, network, task, chunks(network), asked.each)


if __name__ == "__main__":
    main()
