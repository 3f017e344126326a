"""The trees of a few packets, used again and again: valid for any number of packets, near what links can carry."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.random import default_rng

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.repeated_trees import REPEATED_TREES, repeated_trees
from gossamer.bounds import best_bound
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.tasks import Chunked, Grouped


def random_network(seed):
    """A strongly connected network of links that differ, one in three with a switch."""
    draw = default_rng(seed)
    nodes = int(draw.integers(4, 9))
    ring = [(u, (u + 1) % nodes) for u in range(nodes)]
    more = {(int(u), int(v)) for u, v in draw.integers(0, nodes, (nodes, 2)) if u != v}
    ends = sorted({*ring, *((v, u) for u, v in ring), *more, *((v, u) for u, v in more)})
    links = len(ends)
    source, target = np.array(ends).T
    net = Network(f"random {seed}", nodes, source, target, nodes - (seed % 3 == 0), links_only=True)
    return net.with_times(draw.integers(1, 4, links), draw.integers(0, 4, links)) if seed % 2 else net


TASKS = ("broadcast", "allgather", "scatter", "alltoall")


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize("seed", range(12))
def test_any_task_of_many_packets_on_any_network(seed):
    network, draw = random_network(seed), default_rng(seed)
    packets = int(draw.integers(16, 60))
    rules = Rules(replication=bool(seed % 5))
    for name in TASKS:
        case = Case(network, Chunked(gossamer.task(name), packets), rules)
        schedule = repeated_trees(case)
        assert gossamer.verify(schedule).ok
        assert schedule.completion_time >= best_bound(case).value


@pytest.mark.parametrize("name", ["reduce", "reduce-scatter", "gather"])
def test_backwards_in_time(name):
    case = Case(gossamer.network("array:3x3"), Chunked(gossamer.task(name), 20))
    found = gossamer.plan(case.network, case.task, algorithm="reversed-periodic-trees")
    assert gossamer.verify(found.schedule).ok


@pytest.mark.parametrize(
    ("spec", "name", "packets"), [("hypercube:4", "allgather", 90), ("torus:4x4", "broadcast", 500)]
)
def test_generations_follow_each_other_as_closely_as_links_allow(spec, name, packets):
    case = Case(gossamer.network(spec), Chunked(gossamer.task(name), packets))
    assert repeated_trees(case).completion_time <= best_bound(case).value * Fraction(102, 100) + 8


def test_groups_are_repeated_together():
    groups = ((0, 1, 2), (3, 4, 5))
    case = Case(gossamer.network("ring:6"), Grouped(Chunked(gossamer.task("allgather"), 32), groups))
    assert gossamer.verify(repeated_trees(case)).ok


def test_what_it_declines():
    few = Case(gossamer.network("ring:4"), gossamer.task("broadcast", packets=8))
    assert REPEATED_TREES.offers(few) == Refusal("repeats the trees of messages of 16 packets or more")
    small = few.related(task=Chunked(gossamer.task("broadcast"), 16), rules=Rules(buffer=2))
    assert isinstance(REPEATED_TREES.offers(small), Refusal)
