"""Fat trees against Dimakopoulos 1996, section 6.1: nodes, levels, capacities, and the order of links."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import Levels, Network, fat_tree, network_size, parse, to_networkx

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
    assert net.levels == Levels.uniform(k, h, tuple(capacities))
    place = [tuple(c) for c in net.coordinates.tolist()]
    number = {c: i for i, c in enumerate(place)}
    assert place == sorted(place)
    for u, (level, x) in enumerate(place):
        expected = [(number[level + 1, x // k], capacities[level])] if level < h else []
        if level:
            expected += [(number[level - 1, k * x + child], capacities[level - 1]) for child in range(k)]
        assert [(int(net.link_target[i]), int(net.link_capacity[i])) for i in net.out_links(u)] == expected


def nested(arities):
    """Return the paths from the root to every leaf, by children, in the order of the leaves."""
    return list(itertools.product(*map(range, reversed(arities))))


@pytest.mark.parametrize("arities", [(2, 3), (3, 2), (2, 2, 3), (4, 2, 3), (2, 2), (5,), (2, 5, 2, 2)])
def test_levels_may_have_arities_of_their_own(arities):
    capacities = tuple(range(1, len(arities) + 1))
    net = fat_tree(arities, capacity=capacities)
    graph = nx.Graph()
    for path in nested(arities):
        graph.add_edges_from(itertools.pairwise(path[:i] for i in range(len(path) + 1)))
    tree = to_networkx(net).to_undirected()
    assert nx.is_isomorphic(tree, graph)
    assert net.levels == Levels(arities, capacities)
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net
    assert net.terminal_count == math.prod(arities)
    paths = nested(arities)
    for a in range(net.terminal_count):
        common = [next((i for i, (x, y) in enumerate(zip(paths[a], p, strict=True)) if x != y), None) for p in paths]
        expected = [0 if i is None else 2 * (len(arities) - i) for i in common]
        assert net.distances(a)[: net.terminal_count].tolist() == expected
    level = net.coordinates[:, 0]
    widths = np.minimum(level[net.link_source], level[net.link_target]) + 1
    assert net.link_capacity.tolist() == widths.tolist()


def test_equal_arities_are_one_arity():
    assert fat_tree((3, 3)).spec == fat_tree(3, 2).spec == "fat-tree:k=3,h=2,capacity=constant"
    assert fat_tree((2, 3), 2, "exponential").levels.capacities == (1, 2)
    assert fat_tree((3, 2), capacity="exponential").spec == "fat-tree:k=3,2,capacity=exponential"
    assert fat_tree((3, 2), capacity=(1, 3)).spec == "fat-tree:k=3,2,capacity=exponential"
    assert (fat_tree(2, 3).levels.arity, fat_tree((2, 3)).levels.arity, fat_tree(2, 0).levels.arity) == (2, None, None)


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
    assert fat_tree(2, 3, "exponential").levels == Levels.uniform(2, 3, (1, 2, 4))
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
        ((2,), "fat-tree: the height h is missing; it is needed where all levels have one arity k"),
        (((2, 3), 3), "fat-tree: height 3 needs 3 arities k_1,...,k_3, or one for all, got 2"),
        (((2, 1),), "fat-tree: k must be a whole number of at least 2, got 1"),
        (((2, 3), 2, (1,)), "fat-tree: height 2 needs 2 capacities c_1,...,c_2, got 1"),
        (((2,) * 40,), "fat-tree: the network would have 4398046511100 links"),
        (("23",), "fat-tree: k must be a whole number of at least 2, got '23'"),
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
