"""The binomial tree, the tree of extended rings and the tree of products: shapes, heights and test vectors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.broadcast.binomial_and_product_trees import (
    binomial_tree,
    extended_ring_tree,
    factor_trees,
    is_hypercube,
    path_lengths,
    product_tree,
    reach,
)
from gossamer.errors import NetworkError
from gossamer.graphs.trees import shortest_path_tree, tree_of_parents
from gossamer.networks import from_networkx, product


def children(tree):
    """The children of every inner node, ascending."""
    found = defaultdict(list)
    for v in np.flatnonzero(tree.parent_link >= 0).tolist():
        assert tree.network.link_target[tree.parent_link[v]] == v
        found[int(tree.network.link_source[tree.parent_link[v]])].append(v)
    return dict(found)


def spans(tree):
    n = tree.network.node_count
    graph = nx.DiGraph((u, v) for u, below in children(tree).items() for v in below)
    return n == 1 or (len(graph) == n and nx.is_arborescence(graph) and graph.in_degree(tree.root) == 0)


# -- binomial ----------------------------------------------------------------------------------------------------


def test_binomial_tree_of_q3():
    tree = binomial_tree(gossamer.network("hypercube:3"), 0)
    assert children(tree) == {0: [1, 2, 4], 2: [3], 4: [5, 6], 6: [7]}


@pytest.mark.parametrize("d", range(9))
def test_binomial_tree_has_binomial_levels(d):
    network = gossamer.network(f"hypercube:{d}") if d else gossamer.network("array:1")
    for root in {0, network.node_count // 3, network.node_count - 1}:
        tree = binomial_tree(network, root)
        assert spans(tree)
        levels = Counter(tree.depth.tolist())
        assert [levels[level] for level in range(d + 1)] == [math.comb(d, level) for level in range(d + 1)]


@pytest.mark.parametrize("root", [0, 11, 31])
def test_binomial_tree_is_the_product_tree_of_two_node_factors_in_reverse(root):
    network = gossamer.network("hypercube:5")
    in_product = product_tree(network, factor_trees(network, root))

    def mirrored(x):
        return int(f"{x:05b}"[::-1], 2)

    other = children(binomial_tree(network, mirrored(root)))
    assert children(in_product) == {mirrored(u): sorted(map(mirrored, below)) for u, below in other.items()}


@pytest.mark.parametrize("spec", ["array:3", "complete:4", "ring:8", "circulant:8,1,3", "torus:4x4"])
def test_only_hypercubes_in_binary_order_have_a_binomial_tree(spec):
    network = gossamer.network(spec)
    assert not is_hypercube(network)
    with pytest.raises(NetworkError, match="is no hypercube"):
        binomial_tree(network, 0)


# -- extended rings ----------------------------------------------------------------------------------------------


def paths(tree):
    """The root's branches, each of which must be a path, by their first node."""
    below = children(tree)
    found = {}
    for first in below.get(tree.root, []):
        path = [first]
        while path[-1] in below:
            (following,) = below[path[-1]]
            path.append(following)
        found[first] = path
    return found


def test_vector_e_14_2():
    tree = extended_ring_tree(gossamer.network("extended-ring:14,2"), 0)
    assert path_lengths(14, 2) == (4, 2, 1)
    assert paths(tree) == {1: [1, 3, 5, 7], 2: [2, 4, 6, 8], 13: [13, 11, 9], 12: [12, 10]}
    assert (tree.depth[8], gossamer.network("extended-ring:14,2").distances(0)[8]) == (4, 3)


def test_errata_9_2_with_w_0_the_root_has_fewer_children_than_neighbors():
    tree = extended_ring_tree(gossamer.network("extended-ring:6,2"), 0)
    assert path_lengths(6, 2) == (2, 0, 1)
    assert paths(tree) == {1: [1, 3], 2: [2, 4], 5: [5]}
    assert gossamer.network("extended-ring:6,2").degree == 4
    for n, rho in ((2, 1), (4, 2)):
        assert path_lengths(n, rho).w == 0


@pytest.mark.parametrize("n", range(2, 80))
def test_extended_ring_tree_has_paths_of_the_stated_lengths(n):
    for rho in range(1, n // 2 + 1):
        network = gossamer.network(f"extended-ring:{n},{rho}")
        root = (7 * rho) % n
        tree = extended_ring_tree(network, root)
        longest, w, k = path_lengths(n, rho)
        assert int(tree.depth.max()) == longest == network.diameter
        lengths = sorted(map(len, paths(tree).values()))
        assert lengths == sorted([x for x in [longest] * rho + [w + 1] * k + [w] * (rho - k) if x])
        assert sum(lengths) == n - 1


def test_reach_of_networks_that_are_extended_rings_under_another_name():
    known = {"ring:9": 1, "complete:6": 3, "complete:2": 1, "circulant:9,1,2": 2, "circulant:9,1,3": None}
    known |= {"array:2": 1, "array:3": None, "array:1": None, "torus:3x3": None, "hypercube:2": None, "star:3": None}
    assert {spec: reach(gossamer.network(spec)) for spec in known} == known
    with pytest.raises(NetworkError, match="no extended ring"):
        extended_ring_tree(gossamer.network("torus:3x3"), 0)


# -- products ----------------------------------------------------------------------------------------------------


def test_vector_of_the_3_by_4_by_2_mesh():
    network = gossamer.network("array:3x4x2")

    def number(*x):  # coordinates from 1, as in the thesis
        return ((x[0] - 1) * 4 + x[1] - 1) * 2 + x[2] - 1

    tree = product_tree(network, factor_trees(network, number(2, 3, 1)))
    below = {v: set(c) for v, c in children(tree).items()}
    assert int(tree.depth.max()) == 4 == network.eccentricity(number(2, 3, 1))
    for layer in (1, 2):
        up = {number(2, 3, 2)} if layer == 1 else set()
        expected = {
            (2, 3): [(1, 3), (3, 3), (2, 2), (2, 4)],
            (2, 2): [(1, 2), (3, 2), (2, 1)],
            (2, 1): [(1, 1), (3, 1)],
            (2, 4): [(1, 4), (3, 4)],
        }
        for v, w in expected.items():
            assert below[number(*v, layer)] == {number(*x, layer) for x in w} | (up if v == (2, 3) else set())


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 5))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=6)) if a != b)
    return from_networkx(graph)


@given(st.lists(graphs(), min_size=2, max_size=3), st.data())
@settings(max_examples=40)
def test_theorem_3_1_product_tree_spans_and_its_height_is_the_eccentricity(factors, data):
    network = product(*factors)
    root = data.draw(st.integers(0, network.node_count - 1))
    tree = product_tree(network, factor_trees(network, root))
    assert spans(tree)
    assert int(tree.depth.max()) == network.eccentricity(root)


@given(st.lists(graphs(), min_size=2, max_size=3), st.data())
@settings(max_examples=60)
def test_a_node_reached_along_a_dimension_sends_along_no_higher_one(factors, data):
    network = product(*factors)
    root = data.draw(st.integers(0, network.node_count - 1))
    tree = product_tree(network, factor_trees(network, root))
    shape = [f.node_count for f in factors]

    def dimension(v):
        u = int(network.link_source[tree.parent_link[v]])
        digits = zip(np.unravel_index(v, shape), np.unravel_index(u, shape), strict=True)
        return next(i for i, (a, b) in enumerate(digits) if a != b)

    for v, below in children(tree).items():
        if v != root:
            assert all(dimension(w) <= dimension(v) for w in below)


def test_product_tree_needs_a_tree_for_each_factor():
    network = gossamer.network("array:3x4")
    with pytest.raises(NetworkError, match="has 2 factors, got 1 trees"):
        product_tree(network, factor_trees(network, 0)[:1])
    with pytest.raises(NetworkError, match="has 0 factors"):
        product_tree(gossamer.network("star:4"), [])


# -- trees of parents --------------------------------------------------------------------------------------------


@given(graphs(), st.data())
def test_tree_of_parents_gives_back_a_tree(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    tree = shortest_path_tree(network, root)
    parent = np.where(tree.parent_link >= 0, network.link_source[np.maximum(tree.parent_link, 0)], -1) \
        if network.link_count else np.array([-1])  # fmt: skip
    again = tree_of_parents(network, root, parent)
    assert np.array_equal(again.parent_link, tree.parent_link)
    assert np.array_equal(again.depth, tree.depth)
    assert again.depth[again.order].tolist() == sorted(tree.depth.tolist())


@pytest.mark.parametrize(
    ("parent", "text"),
    [
        ([-1, 0, 0, 2, 3], "no link from node \\(0\\) to node \\(2\\)"),
        ([-1, 2, 1, 4, 0], "node \\(1\\) of the tree hangs"),
    ],
)
def test_tree_of_parents_refuses_what_is_no_tree(parent, text):
    with pytest.raises(NetworkError, match=text):
        tree_of_parents(gossamer.network("ring:5"), 0, parent)
