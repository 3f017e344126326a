"""Shortest ways that share the loads, for uneven exchanges."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.alltoallv import exchanged_at_once, short_ways
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.questions.cases import Case
from gossamer.questions.tasks import UnevenExchange
from gossamer.questions.tasks.patterns import traffic_matrix

NAME = "load-balanced-shortest-paths"


def uneven(network, **options):
    return UnevenExchange(traffic_matrix("zipf", network, **options).tolist())


@pytest.mark.parametrize("spec", ["torus:4x4", "dgx-a100:servers=2", "fat-tree:k=2,h=3", "kautz:2,3"])
@pytest.mark.parametrize("ports", ["all", "one"])
def test_every_packet_takes_a_shortest_way(spec, ports):
    network = gossamer.network(spec)
    outcome = gossamer.plan(network, uneven(network, packets=20), rules=Rules(ports=ports), algorithm=NAME)
    schedule = outcome.schedule
    hops = np.bincount(schedule.packet, minlength=schedule.packet_count)
    origin, target = schedule.messages.origin, schedule.messages.targets
    distance = [network.distances(int(u))[v] for u, v in zip(origin, target, strict=True)]
    sizes = np.ones(origin.size, int) if schedule.messages.sizes is None else schedule.messages.sizes
    assert hops.tolist() == np.repeat(distance, sizes).tolist()
    assert ports == "one" or outcome.completion_time <= outcome.bound * 2


def test_links_with_time_are_chosen_by_their_times():
    """Two slow links and a long way round: all go round."""
    network = gossamer.networks.Network(
        "slow", 4, [0, 0, 1, 2, 2, 3], [1, 2, 0, 0, 3, 1], link_occupancy=[7, 1, 7, 1, 1, 1], links_only=True
    )
    task = UnevenExchange([[0, 3, 0, 0], *[[0] * 4] * 3])
    schedule = exchanged_at_once(Case(network, task))
    assert gossamer.verify(schedule).ok
    assert (schedule.completion_time, schedule.slot.size) == (5, 9)


def test_loads_are_shared_by_ways_that_are_as_short():
    network = gossamer.network("ring:4")
    away = np.array([network.distances(v) for v in range(4)], np.int32)
    ends = np.zeros(8, np.int32), np.full(8, 2, np.int32)
    forest, load = short_ways(LinkResources.of(network, Rules()), *ends, away, 0)
    assert (forest.hops, load) == (16, 4.0)


def test_what_it_does_not_cover_is_said():
    network = gossamer.network("ring:4")
    for rules, said in ((Rules(segmented=True), "unsegmented"), (Rules(buffer=1), "limit")):
        with pytest.raises(NotApplicableError, match=said):
            gossamer.plan(network, uneven(network, packets=3), rules=rules, algorithm=NAME)
    table = gossamer.questions.tasks.DemandTable.of([(0, [1, 2], 1)])
    with pytest.raises(NotApplicableError, match="moved"):
        gossamer.plan(network, table, algorithm=NAME)
    one_way = gossamer.networks.Network("one way", 2, [0], [1], links_only=True)
    with pytest.raises(NetworkError, match="no path"):
        gossamer.plan(one_way, UnevenExchange([[0, 0], [1, 0]]), algorithm=NAME)


@pytest.mark.parametrize("kind", ["differ", "empty", "receives"])
def test_uneven_tables_are_planned_near_their_bound(kind):
    """Row sums that differ 100-fold, rows without anything, and a rank that only receives."""
    network, draw = gossamer.network("torus:4x4"), np.random.default_rng(1)
    counts = traffic_matrix("uniform", network, packets=4)
    if kind == "differ":
        counts *= draw.permutation(np.geomspace(1, 100, 16).astype(int))[:, None]
    elif kind == "empty":
        counts[[0, 3, 5, 15]] = 0
    else:
        counts[6] = 0
    assert gossamer.plan(network, UnevenExchange(counts.tolist())).ratio <= 1.1
