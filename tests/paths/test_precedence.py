"""List scheduling of hops that wait for each other: what is most in demand goes first, and that takes no slot more."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, _ranked, _run, scheduled
from gossamer.networks import Network
from gossamer.networks.shared_ports import SharedPorts

FULL = gossamer.network("complete:4")
PORTS = FULL.with_ports(SharedPorts(FULL.link_source, FULL.link_target))

# link, packet and hop before of each hop; where ports are in no demand these take a slot more
BUSY_PORT = [4, 9, 5, 11, 5, 1, 7, 1, 7], [0, 0, 1, 2, 3, 3, 3, 4, 4], [-1, 0, -1, -1, -1, 4, 5, -1, 7]
BUSY_SENDER = [11, 7, 0, 10, 2, 0, 4, 5, 2], [0, 0, 0, 1, 2, 3, 3, 4, 4], [-1, 0, 1, -1, -1, -1, 5, -1, 7]
BUSY_RECEIVER = [11, 1, 6, 4, 11, 11], [0, 1, 1, 2, 2, 3], [-1, -1, 1, -1, 3, -1]
BUSY_NODE = [8, 7, 4, 9, 1, 7, 9, 0, 11], [0, 1, 2, 2, 2, 2, 3, 3, 4], [-1, -1, -1, 2, 3, 4, -1, 6, -1]


@pytest.mark.parametrize(
    ("network", "rules", "hops"),
    [
        (PORTS, Rules(), BUSY_PORT),
        (PORTS, Rules(), BUSY_SENDER),
        (PORTS, Rules(), BUSY_RECEIVER),
        (FULL, Rules(ports="one"), BUSY_NODE),
    ],
    ids=["shared ports", "a port that sends", "a port that receives", "one port a node"],
)
def test_the_links_of_the_port_most_in_demand_go_first(network, rules, hops):
    """As many slots as the busiest port has hops: no order takes fewer."""
    graph = HopGraph.of_parents(*(np.array(column, np.int32) for column in hops))
    found = _run(graph, LinkResources.of(network, rules), _ranked(np.arange(graph.link.size)))
    busiest = max(np.bincount(ends[graph.link]).max() for ends in (network.link_source, network.link_target))
    assert found.slots == busiest


def test_copies_that_go_through_the_same_switches_both_ways_part_in_time():
    """Nobody could tell which copy came from where, and the checker takes it for a circle."""
    net = gossamer.network("leaf-spine:3,2,2")
    for name, time in (("multiple-broadcast", 8), ("multiple-reduce", 8)):
        rules = Rules(cut_through=True, replication=False, reduction=False)
        found = gossamer.plan(net, gossamer.task(name, counts=[0, 3, 0, 1, 0, 2]), rules=rules)
        assert found.verification.ok
        assert found.completion_time <= time


def test_ways_that_make_a_circle_wait_for_each_other():
    # terminals 0 and 1, switches 2 and 3: one copy goes 0-2-3-1, the other 1-3-2-0, both in slot 0
    net = Network("pair", 4, [0, 1, 2, 2, 3, 3], [2, 3, 0, 3, 1, 2], terminal_count=2, links_only=True)
    roads = LinkResources.of(net, Rules(cut_through=True, replication=False))
    link, packet = np.array([0, 3, 4, 1, 5, 2], np.int32), np.zeros(6, np.int32)
    parent = np.array([-1, 0, 1, -1, 3, 4])
    assert scheduled(HopGraph.of_parents(link, packet, parent), roads).start.tolist() == [0, 0, 0, 1, 1, 1]
    others = HopGraph.of_parents(link, np.array([0, 0, 0, 1, 1, 1], np.int32), parent)
    assert scheduled(others, roads).start.tolist() == [0] * 6
    storing = roads._replace(cut=np.zeros(4, bool))
    assert scheduled(HopGraph.of_parents(link, packet, parent), storing).start.tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("hops", [6, 70_000])
def test_a_hop_may_wait_only_until_another_has_left(hops):
    """As Python and compiled: over links of occupancy 3 and latency 5, on one link and on two in turns."""
    roads = LinkResources.of(gossamer.network("ring:4").with_times(3, 5), Rules())
    before, packet = np.arange(hops - 1), np.arange(hops, dtype=np.int32)
    for link in (np.zeros(hops, np.int32), np.tile(np.array([0, 2], np.int32), hops // 2)):
        for behind, apart in ((~(before + 1), 3), (before + 1, 8)):
            graph = HopGraph.of_edges(link, packet, before, behind)
            found = scheduled(graph, roads, rounds=0, orders=[np.arange(hops, dtype=float)])
            np.testing.assert_array_equal(found.start, apart * np.arange(hops))
            assert graph.need.tolist() == [0] + [1] * (hops - 1)
