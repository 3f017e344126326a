"""Node-disjoint paths: Theorem 2.1 with the corrected construction, Menger's theorem, and why the printed one fails."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NetworkError
from gossamer.networks import from_networkx, product, to_networkx
from gossamer.networks.disjoint_paths import node_disjoint_paths, product_disjoint_paths

PRODUCTS = [
    "product:(complete:2)x(array:3)", "array:3x3", "array:3x3x3", "array:2x3x4", "torus:4x5", "torus:3x3x3",
    "hypercube:4", "hypercycle:5,2x4,1", "generalized-hypercube:3x4", "product:(ring:5)x(array:3)",
    "product:(complete:3)x(star:3)",
]  # fmt: skip


def clashes(network, source, target, paths):
    """What is wrong with a set of paths: a missing link, a wrong end, a repeated node, a node in two of them."""
    links = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    wrong, inner = [], []
    for path in paths:
        nodes = [int(v) for v in path]
        if (nodes[0], nodes[-1]) != (source, target):
            wrong.append(f"{nodes} does not lead from {source} to {target}")
        wrong += [f"no link {hop}" for hop in itertools.pairwise(nodes) if hop not in links]
        inner += nodes[1:-1]
        if len(nodes) == 2:
            inner.append((source, target))
    if source in inner or target in inner:
        wrong.append("an end is passed")
    return wrong + [f"{v} is on two paths" for v in set(inner) if inner.count(v) > 1]


def promised(network, source, target):
    """The sum of p_i in Theorem 2.1, by NetworkX."""
    total, v, u = 0, source, target
    for factor in reversed(network.factors):
        (v, a), (u, b) = divmod(v, factor.node_count), divmod(u, factor.node_count)
        graph = to_networkx(factor).to_undirected()
        if a == b:
            total += graph.degree[a]
        else:
            total += len(list(nx.node_disjoint_paths(graph, a, b)))
    return total


@pytest.mark.parametrize("spec", PRODUCTS)
def test_theorem_2_1_holds_between_all_nodes(spec):
    network = gossamer.network(spec)
    factors = network.factors
    sizes = [f.node_count for f in factors]
    local = []
    for f in factors:
        graph = to_networkx(f).to_undirected()
        local.append(
            {
                (a, b): graph.degree[a] if a == b else len(list(nx.node_disjoint_paths(graph, a, b)))
                for a in graph for b in graph
            }
        )  # fmt: skip
    for source, target in itertools.permutations(range(network.node_count), 2):
        paths = product_disjoint_paths(network, source, target)
        assert clashes(network, source, target, paths) == []
        ends = zip(np.unravel_index(source, sizes), np.unravel_index(target, sizes), strict=True)
        assert len(paths) == sum(p[int(a), int(b)] for p, (a, b) in zip(local, ends, strict=True))


@st.composite
def graphs(draw, most=7):
    n = draw(st.integers(2, most))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=12)) if a != b)
    return from_networkx(graph)


@given(graphs(5), graphs(5), graphs(3), st.data())
@settings(max_examples=40)
def test_theorem_2_1_on_random_products(a, b, c, data):
    network = product(a, b, c)
    source, target = data.draw(st.lists(st.integers(0, network.node_count - 1), min_size=2, max_size=2, unique=True))
    paths = product_disjoint_paths(network, source, target)
    assert clashes(network, source, target, paths) == []
    assert len(paths) == promised(network, source, target)


@given(graphs(10), st.data())
@settings(max_examples=80)
def test_there_are_as_many_as_menger_says(network, data):
    source, target = data.draw(st.lists(st.integers(0, network.node_count - 1), min_size=2, max_size=2, unique=True))
    paths = node_disjoint_paths(network, source, target)
    assert clashes(network, source, target, paths) == []
    assert len(paths) == len(list(nx.node_disjoint_paths(to_networkx(network).to_undirected(), source, target)))
    assert [p.size for p in paths] == sorted(p.size for p in paths)


@pytest.mark.parametrize(("spec", "count"), [("petersen", 3), ("star:4", 3), ("ccc:3", 3), ("complete:6", 5)])
def test_networks_as_connected_as_their_degree(spec, count):
    network = from_networkx(nx.petersen_graph()) if spec == "petersen" else gossamer.network(spec)
    for target in range(1, network.node_count):
        assert len(node_disjoint_paths(network, 0, target)) == count


def test_one_way_links_count_in_their_direction():
    network = from_networkx(nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 3), (3, 2)]))
    assert [p.tolist() for p in node_disjoint_paths(network, 0, 2)] == [[0, 1, 2], [0, 3, 2]]
    assert [p.tolist() for p in node_disjoint_paths(network, 2, 1)] == [[2, 0, 1]]
    assert node_disjoint_paths(from_networkx(nx.DiGraph([(0, 1)])), 1, 0) == []


def printed(network, source, target):
    """The paths as printed: dimension i up to the node before the last, the others, the last hop."""
    sizes = [f.node_count for f in network.factors]
    k = len(sizes)
    v, u = ([int(x) for x in np.unravel_index(w, sizes)] for w in (source, target))
    system = []
    for i, f in enumerate(network.factors):
        if v[i] != u[i]:
            system.append([p.tolist() for p in node_disjoint_paths(f, v[i], u[i])])
        else:
            links = f.out_links(v[i])
            system.append([[v[i], int(x), v[i]] for x in f.link_target[links.start : links.stop]])
    found = []
    for i in range(k):
        for p in system[i]:
            at, nodes = list(v), [source]
            moves = [(i, p[1:-1])]
            moves += [(d, system[d][0][1:]) for s in range(1, k) if v[d := (i + s) % k] != u[d]]
            for d, path in [*moves, (i, p[-1:])]:
                for x in path:
                    at[d] = x
                    nodes.append(int(np.ravel_multi_index(at, sizes)))
            found.append(nodes)
    return found


def test_errata_9_1_the_printed_construction_shares_a_node_in_k2_by_l3():
    network = gossamer.network("product:(complete:2)x(array:3)")
    paths = printed(network, 0, 5)  # (1,1) to (2,3)
    assert paths == [[0, 1, 2, 5], [0, 1, 4, 5]]
    assert clashes(network, 0, 5, paths) == ["1 is on two paths"]  # (1,2)


def test_errata_9_1_the_printed_construction_meets_in_the_middle_of_l3_by_l3():
    network = gossamer.network("array:3x3")
    assert "4 is on two paths" in clashes(network, 0, 8, printed(network, 0, 8))  # (2,2)


def test_errata_9_1_the_printed_construction_fails_for_324_of_702_pairs_of_l3_cubed():
    network = gossamer.network("array:3x3x3")
    pairs = list(itertools.permutations(range(27), 2))
    assert len(pairs) == math.perm(27, 2) == 702
    assert sum(bool(clashes(network, v, u, printed(network, v, u))) for v, u in pairs) == 324


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: node_disjoint_paths(gossamer.network("ring:5"), 1, 1), "two different nodes, got \\(1\\) twice"),
        (lambda: node_disjoint_paths(gossamer.network("ring:5"), 0, 5), "node 5 is outside 0..4"),
        (lambda: product_disjoint_paths(gossamer.network("star:4"), 0, 1), "is no product"),
        (lambda: product_disjoint_paths(one_way(), 0, 5), "links without an opposite"),
        (lambda: product_disjoint_paths(apart(), 0, 5), "has no path from node 0 to node 2"),
    ],
)
def test_says_what_is_wrong(call, text):
    with pytest.raises(NetworkError, match=text):
        call()


def one_way():
    return product(gossamer.network("array:2"), from_networkx(nx.DiGraph([(0, 1), (1, 2), (2, 0)])))


def apart():
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    return product(gossamer.network("array:2"), from_networkx(graph))
