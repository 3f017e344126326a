from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gossamer.graphs.path_and_hop_tables import Paths
from gossamer.graphs.route_balancing import BalancingLimits, balanced_paths, without_loops
from gossamer.networks import array, ring, torus

SHORTEST = BalancingLimits(3, 2, 0)
GRIDS = st.builds(
    lambda make, sides: make(*sides),
    st.sampled_from([array, torus]),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
).filter(lambda net: net.node_count > 1)


def pairs(network, active):
    n = network.node_count
    origin, target = np.repeat(active, n), np.tile(np.arange(n), len(active))
    keep = origin != target
    return origin[keep].astype(np.int32), target[keep].astype(np.int32)


def nodes_of(network, paths, p, origin):
    """Return the nodes on the path of packet p; each link begins where the last one ends."""
    nodes = [int(origin)]
    for e in paths.link[paths.first[p] : paths.first[p + 1]]:
        assert network.link_source[e] == nodes[-1]
        nodes.append(int(network.link_target[e]))
    return nodes


@settings(max_examples=40)
@given(GRIDS, st.integers(0, 5), st.sampled_from([SHORTEST, BalancingLimits(1, 0, 0), BalancingLimits(2, 2, 6)]))
def test_paths_lead_from_origins_to_targets_without_loops(network, seed, effort):
    origin, target = pairs(network, [0, network.node_count - 1])
    paths = balanced_paths(network, origin, target, seed=seed, effort=effort)
    for p in range(origin.size):
        nodes = nodes_of(network, paths, p, origin[p])
        assert nodes[-1] == target[p]
        assert len(set(nodes)) == len(nodes)
        if not effort.anywhere:
            assert len(nodes) - 1 == network.distances(int(origin[p]))[target[p]]


def test_antipodal_nodes_of_a_ring_are_reached_both_ways():
    net = ring(8)
    once = balanced_paths(net, *pairs(net, range(8)), effort=BalancingLimits(1, 0, 0)).load(net.link_count)
    assert once.sum() == 2 * 8 * 8  # 8 nodes, (n/2)^2 hops each
    assert once.max() <= 10  # 8 on average; 12 if all went one way
    assert balanced_paths(net, *pairs(net, range(8))).load(net.link_count).max() <= 9


def test_both_directions_of_several_antipodal_dimensions_are_used():
    net = torus(4, 4)
    paths = balanced_paths(net, *pairs(net, [0]))
    assert paths.load(net.link_count).max() == 4  # 15 packets over 4 links


def test_packets_leave_crowded_links_by_longer_paths_where_that_helps():
    """The corner 3x3x3 of a 4x4x4 array needs 41 over shortest paths (their linear program: 40.41), 40 over all."""
    net = array(4, 4, 4)
    corner = [u for u in range(64) if max(net.coordinates[u]) < 3]
    origin, target = pairs(net, corner)
    shortest = balanced_paths(net, origin, target, effort=BalancingLimits(8, 8, 0))
    longer = balanced_paths(net, origin, target, effort=BalancingLimits(8, 8, 24))
    assert shortest.load(net.link_count).max() == 41
    assert longer.load(net.link_count).max() == 40
    assert longer.link.size > shortest.link.size


def test_load_that_is_there_already_is_avoided():
    net = array(3, 3)
    load = np.zeros(net.link_count, np.int32)
    load[net.link_between(0, 1)] = 100
    paths = balanced_paths(net, np.zeros(4, np.int32), np.full(4, 8, np.int32), load=load)
    assert [nodes_of(net, paths, p, 0)[1] for p in range(4)] == [3] * 4
    assert load.sum() == 100


def test_the_seed_decides():
    net = torus(5, 5)
    ends = pairs(net, [0, 3, 7])
    a, b, c = (balanced_paths(net, *ends, seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.link, b.link)
    assert not np.array_equal(a.link, c.link)


@given(st.lists(st.integers(0, 3), max_size=12))
def test_paths_without_loops_keep_their_ends(turns):
    net = torus(3, 3)
    links, node = [], 0
    for way in turns:
        e = net.out_links(node)[way]
        links.append(e)
        node = int(net.link_target[e])
    if node == 0:
        return
    paths = without_loops(net, Paths(np.array([0, len(links)]), np.array(links, np.int32)))
    nodes = nodes_of(net, paths, 0, 0)
    assert nodes[-1] == node
    assert len(set(nodes)) == len(nodes)


@pytest.mark.parametrize("spec", [(1,), (1, 1, 1)])
def test_one_node_has_no_paths(spec):
    net = array(*spec)
    empty = np.zeros(0, np.int32)
    assert balanced_paths(net, empty, empty).link.size == 0
