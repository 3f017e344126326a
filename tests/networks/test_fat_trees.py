"""Fat trees against Dimakopoulos 1996, section 6.1: nodes, levels, capacities, and the order of links."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import Levels, Network, fat_tree, to_networkx

shapes = st.sampled_from([(k, h) for k in (2, 3, 4, 7) for h in range(6) if k**h <= 300])


@given(shapes)
@settings(deadline=None)
def test_fat_tree_is_the_complete_tree_of_networkx(shape):
    k, h = shape
    net = fat_tree(k, h)
    graph = to_networkx(net)
    assert net.node_count == (k ** (h + 1) - 1) // (k - 1)
    assert net.terminal_count == k**h
    assert nx.is_tree(graph.to_undirected())
    root = net.node_count - 1
    assert net.out_degree[root] == (k if h else 0)
    # the balanced tree of NetworkX counts from the root, level by level; ours counts from the leaves
    start = {level: sum(k ** (h - i) for i in range(level)) for level in range(h + 1)}
    theirs = nx.balanced_tree(k, h)
    depth = nx.single_source_shortest_path_length(theirs, 0)
    first = {d: min(v for v in theirs if depth[v] == d) for d in set(depth.values())}
    rename = {v: start[h - d] + v - first[d] for v, d in depth.items()}
    assert set(graph.edges) == set(nx.relabel_nodes(theirs, rename).to_directed().edges)


@given(shapes, st.data())
@settings(deadline=None)
def test_links_go_to_the_parent_first_and_capacities_follow_the_levels(shape, data):
    k, h = shape
    capacities = sorted(data.draw(st.lists(st.integers(1, 9), min_size=h, max_size=h)))
    net = fat_tree(k, h, capacities)
    assert net.levels == Levels(k, h, tuple(capacities))
    place = [tuple(c) for c in net.coordinates.tolist()]
    number = {c: i for i, c in enumerate(place)}
    assert place == sorted(place)
    for u, (level, x) in enumerate(place):
        expected = [(number[level + 1, x // k], capacities[level])] if level < h else []
        if level:
            expected += [(number[level - 1, k * x + child], capacities[level - 1]) for child in range(k)]
        assert [(int(net.link_target[i]), int(net.link_capacity[i])) for i in net.out_links(u)] == expected


@pytest.mark.parametrize(("k", "h"), [(2, 4), (3, 3), (5, 2)])
def test_leaves_are_twice_their_lowest_common_level_apart(k, h):
    net = fat_tree(k, h)
    for a in (0, k**h // 2, k**h - 1):
        distance = net.distances(a)
        for b in range(k**h):
            level = next(i for i in range(h + 1) if a // k**i == b // k**i)
            assert distance[b] == 2 * level
    assert net.diameter == 2 * h


def test_named_patterns_are_recognized():
    assert fat_tree(2, 3).spec == "fat-tree:k=2,h=3,capacity=constant"
    assert fat_tree(2, 3, [1, 1, 1]).spec == "fat-tree:k=2,h=3,capacity=constant"
    assert fat_tree(2, 3, (1, 2, 4)).spec == "fat-tree:k=2,h=3,capacity=exponential"
    assert fat_tree(2, 3, "exponential").levels == Levels(2, 3, (1, 2, 4))
    assert fat_tree(3, 3, [1, 2, 4]).spec == "fat-tree:k=3,h=3,capacity=1,2,4"
    assert fat_tree(2, 3).uniform_capacity == 1
    assert fat_tree(2, 3, [2, 2, 2]).uniform_capacity == 2


def test_height_zero_is_a_single_leaf_and_height_one_a_star():
    leaf = fat_tree(2, 0)
    assert (leaf.node_count, leaf.terminal_count, leaf.link_count) == (1, 1, 0)
    hub = fat_tree(4, 1)
    assert hub.link_target.tolist() == [4, 4, 4, 4, 0, 1, 2, 3]
    assert hub == Network("hub", 5, hub.link_source, hub.link_target, terminal_count=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 3), "fat-tree: k must be a whole number of at least 2, got 1"),
        ((2, -1), "fat-tree: h must be a whole number of at least 0, got -1"),
        ((2, 10**8), "fat-tree: the network would have more than 10\\^18 links"),
        ((2, 28), "fat-tree: the network would have 1073741820 links"),
        ((2, 3, "linear"), "fat-tree: capacity must be constant, exponential or 3 integers c_1,...,c_h, got 'linear'"),
        ((2, 3, 4), "fat-tree: capacity must be constant, exponential or 3 integers c_1,...,c_h, got 4"),
        ((2, 3, [1, 2]), "fat-tree: height 3 needs 3 capacities c_1,...,c_3, got 2"),
        ((2, 3, [1, 4, 2]), "fat-tree: capacities must not decrease towards the root, got c_3=2 after c_2=4"),
        ((2, 3, [0, 1, 2]), r"fat-tree: a capacity must be a whole number in 1\.\.2147483647, got 0"),
        ((2, 3, [1, 1.5, 2]), r"fat-tree: a capacity must be a whole number in 1\.\.2147483647, got 1.5"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(arguments, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        fat_tree(*arguments)
    assert "\n" not in str(caught.value)
