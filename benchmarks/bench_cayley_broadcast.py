"""Builders on networks of up to a million nodes: multinode broadcast on Cayley networks, broadcast, scatter.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

A multinode broadcast is built and verified once the kernels are compiled; the seconds are compared with the 5 that
the million-node torus may take. The rest print stored hops per second of the fastest round.
"""

from __future__ import annotations

import time

import pytest

import gossamer
from gossamer.algorithms.broadcast.shortest_path_tree import SHORTEST_PATH_TREE
from gossamer.algorithms.multinode_broadcast.cayley import TRANSLATED_TREE
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST
from gossamer.algorithms.total_exchange.node_invariant import SUCCESSIVE_OFFSETS
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, Scatter, TotalExchange

SECONDS = 5.0


def told(benchmark, capsys, what, **facts):
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))


@pytest.mark.parametrize(
    "spec", ["torus:100x100x100", "torus:2x2x2x100000", "hypercube:20", "star:9", "butterfly:16", "ccc:16"]
)
def test_multinode_broadcast_on_a_cayley_network(benchmark, capsys, spec):
    case = Case(gossamer.network(spec), MultinodeBroadcast())

    def built_and_verified():
        schedule = TRANSLATED_TREE.build(Case(case.network, case.task))
        return schedule, gossamer.verify(schedule)

    schedule, verified = benchmark.pedantic(built_and_verified, rounds=3, warmup_rounds=1)
    assert verified
    began = time.process_time()
    claim = TRANSLATED_TREE.offer(case).time
    bounding = time.process_time() - began
    seconds = benchmark.stats.stats.min
    told(
        benchmark, capsys, f"allgather on {spec}", slots=schedule.slot_count, bound=str(claim),
        seconds=round(seconds, 2), ratio_to_limit=round(seconds / SECONDS, 3), limit=f"{SECONDS} s",
        bounding_seconds=round(bounding, 3), million_hops_per_second=round(schedule.stored_hops / seconds / 1e6, 2),
        verify_seconds=round(verified.seconds, 3),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "spec", "task", "ports"),
    [
        (SHORTEST_PATH_TREE, "torus:1000x1000", Broadcast(0), "all"),
        (SHORTEST_PATH_TREE, "torus:1000x1000", Broadcast(0), "one"),
        (FURTHEST_FIRST, "torus:256x256", Scatter(0), "all"),
        (FURTHEST_FIRST, "torus:256x256", Scatter(0), "one"),
        (FURTHEST_FIRST, "hypercube:16", Scatter(0), "all"),
        (SUCCESSIVE_OFFSETS, "torus:256x256", TotalExchange(), "one"),
    ],
    ids=lambda v: v if isinstance(v, str) else getattr(v, "name", ""),
)
def test_tree_builders(benchmark, capsys, algorithm, spec, task, ports):
    network, model = gossamer.network(spec), Rules(ports=ports)
    schedule = benchmark.pedantic(lambda: algorithm.build(Case(network, task, model)), rounds=3, warmup_rounds=1)
    seconds = benchmark.stats.stats.min
    told(
        benchmark, capsys, f"{task.name} on {spec}, ports {ports}", steps=str(schedule.completion_time),
        seconds=round(seconds, 3), million_hops_per_second=round(schedule.stored_hops / seconds / 1e6, 1),
    )  # fmt: skip
    assert gossamer.verify(schedule)
