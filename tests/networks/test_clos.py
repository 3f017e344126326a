"""Folded Clos networks: the words of generalized fat trees, counts, distances, bisection."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from gossamer.errors import NetworkError
from gossamer.networks import (
    fat_tree,
    folded_clos,
    generalized_fat_tree,
    k_ary_n_tree,
    leaf_spine,
    network_size,
    parse,
    to_networkx,
)
from gossamer.networks.structures import Tiers


def words_of(m, w):
    """Return the graph on the words of the definition, (level, x_h..x_(i+1), y_i..y_1), edges with their level."""
    h = len(m)
    graph = nx.Graph()
    for i in range(h + 1):
        ranges = [range(m[j]) if j >= i else range(w[j]) for j in reversed(range(h))]
        for word in itertools.product(*ranges):
            graph.add_node((i, word), level=i)
            if i < h:
                place = h - 1 - i  # where x_(i+1) stands
                for y in range(w[i]):
                    graph.add_edge((i, word), (i + 1, (*word[:place], y, *word[place + 1 :])), level=i)
    return graph


@pytest.mark.parametrize(
    ("m", "w"), [((4, 8), (1, 4)), ((2, 2, 2), (1, 2, 2)), ((2, 3, 2), (2, 1, 3)), ((3,), (2,)), ((1, 4), (1, 1))]
)
def test_generalized_fat_trees_are_the_words_of_the_definition(m, w):
    net = generalized_fat_tree(m, w, tuple(range(1, len(m) + 1)))
    expected = words_of(m, w)
    number = {node: i for i, node in enumerate(sorted(expected))}
    links = {(*sorted((number[u], number[v])), i + 1) for u, v, i in expected.edges(data="level")}
    columns = (net.link_source, net.link_target, net.link_capacity)
    assert {t for t in zip(*(c.tolist() for c in columns), strict=True) if t[0] < t[1]} == links
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert net.two_way
    assert net.terminal_count == math.prod(m)
    assert parse(net.spec) == net


def test_distance_is_twice_the_highest_digit_that_differs():
    net = generalized_fat_tree((2, 3, 2), (1, 2, 2))
    for a in range(net.terminal_count):
        distance = net.distances(a)
        for b in range(net.terminal_count):
            level = next(i for i, size in enumerate((1, 2, 6, 12)) if a // size == b // size)
            assert distance[b] == 2 * level


@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 3), (3, 2), (4, 2)])
def test_k_ary_n_trees_have_n_levels_of_switches_and_full_bisection(k, n):
    net = k_ary_n_tree(k, n)
    assert net.find(Tiers).sizes == (k**n, *[k ** (n - 1)] * n)
    assert net.node_count == k**n + n * k ** (n - 1)
    assert net.diameter == 2 * n
    below_top = net.first_link[net.terminal_count : net.terminal_count + (n - 1) * k ** (n - 1)]
    assert all(net.out_degree[net.link_source[first]] == 2 * k for first in below_top)
    assert bisection(net) == k**n // 2


def bisection(net):
    """Return the most that the first half of the terminals can send to the others at once."""
    graph = to_networkx(net)
    half = net.terminal_count // 2
    graph.add_edges_from([("from", t) for t in range(half)], capacity=10**6)
    graph.add_edges_from([(t, "to") for t in range(half, net.terminal_count)], capacity=10**6)
    return min(nx.maximum_flow_value(graph, "from", "to"), half)


@pytest.mark.parametrize(("radix", "levels"), [(4, 1), (4, 2), (4, 3), (6, 2), (8, 2)])
def test_folded_clos_networks_use_all_ports_of_all_switches(radix, levels):
    net = folded_clos(radix, levels)
    half = radix // 2
    assert set(net.out_degree[net.terminal_count :].tolist()) == {radix}
    assert net.terminal_count == 2 * half**levels
    assert net.node_count - net.terminal_count == (2 * levels - 1) * half ** (levels - 1)
    assert net.diameter == 2 * levels
    assert bisection(net) == net.terminal_count // 2


def test_three_levels_of_four_ports_are_the_fat_tree_of_data_centers():
    """Four pods of two edge and two aggregation switches, four core switches: core i at aggregation switch i // 2."""
    graph = nx.Graph()
    for pod, i, j in itertools.product(range(4), range(2), range(2)):
        graph.add_edge(("edge", pod, i), ("aggregation", pod, j))
        graph.add_edge(("host", pod, i, j), ("edge", pod, i))
        graph.add_edge(("aggregation", pod, i), ("core", i, j))
    assert nx.is_isomorphic(graph, to_networkx(folded_clos(4, 3)).to_undirected())


def test_leaf_spine_is_complete_between_its_tiers():
    net = leaf_spine(8, 4, 4)
    leaves, spines = range(32, 40), range(40, 44)
    expected = {(h, 32 + h // 4) for h in range(32)} | set(itertools.product(leaves, spines))
    assert {e for e in to_networkx(net).edges if e[0] < e[1]} == expected
    assert net.find(Tiers).names == ("terminals", "leaves", "spines")
    wide = leaf_spine(3, 2, 4, uplink=5)
    assert wide.spec == "leaf-spine:leaves=3,spines=2,hosts=4,uplink=5"
    assert wide.link_capacity[wide.link_between(12, 15)] == wide.link_capacity[wide.link_between(15, 12)] == 5
    assert wide.link_capacity[wide.link_between(0, 12)] == 1


def test_one_parent_each_makes_a_fat_tree():
    tree = fat_tree(2, 3, "exponential")
    assert generalized_fat_tree((2, 2, 2), (1, 1, 1), (1, 2, 4)) == tree
    assert parse("xgft:2x2x2,1x1x1,capacity=1x2x4") == tree


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("leaf-spine:leaves=8,spines=4", "hosts is missing"),
        ("leaf-spine:8,0,4", "spines must be a whole number of at least 1, got 0"),
        ("leaf-spine:8,4,4,uplink=0", "uplink must be a whole number in 1..2147483647, got 0"),
        ("leaf-spine:99999,99999,9", "the network would have"),
        ("folded-clos:5,2", r"radix must be even, got 5 \(nearest: 4 and 6\)"),
        ("folded-clos:4,0", "levels must be a whole number of at least 1, got 0"),
        ("folded-clos:4,99999999", "more than 10.18 links"),
        ("k-ary-n-tree:1,2", "k must be a whole number of at least 2, got 1"),
        ("k-ary-n-tree:2,99999999", "more than 10.18 links"),
        ("folded-clos:2,99999999", "radix must be a whole number of at least 4, got 2"),
        ("generalized-fat-tree:2x2,1", "2 levels have children and 1 have parents"),
        ("generalized-fat-tree:2x2,1x1,capacity=1x2x3", "capacity needs 1 number or 2, one for each level, got 3"),
        ("generalized-fat-tree:2x0,1x1", "a number of children must be a whole number of at least 1, got 0"),
        ("generalized-fat-tree:9999999x9999999x9999999,1x9999999x9999999", "more than 10.18 links"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


def test_tiers_are_those_of_the_nodes_that_are_left():
    left = leaf_spine(3, 2, 2).without(nodes=[0, 9])
    assert left.find(Tiers) == Tiers(("terminals", "leaves", "spines"), (5, 3, 1), (0, 1, 2))
    assert leaf_spine(3, 1, 2).find(Tiers).remaining(np.arange(9), np.arange(0)) == Tiers(
        ("terminals", "leaves"), (6, 3), (0, 1)
    )
