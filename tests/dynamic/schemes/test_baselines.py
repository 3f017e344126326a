"""Stamoulis and Tsitsiklis on hypercubes; Varvarigos and Banerjee on any network."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
from gossamer.simulation.random_arrivals.schemes.edge_disjoint_trees import (
    edge_disjoint_trees,
    stamoulis_tsitsiklis_direct,
    stamoulis_tsitsiklis_indirect,
    tree_height,
    varvarigos_banerjee_direct,
    varvarigos_banerjee_indirect,
)
from gossamer.simulation.random_arrivals.theory import link_loads, stability_limit

F = Fraction


def _edges(trees):
    return [(min(v, p), max(v, p)) for tree in trees for v, p in enumerate(tree.tolist()) if p >= 0]


@pytest.mark.parametrize("d", range(2, 7))
def test_indirect_hypercube_scheme_is_stable_to_two_thirds_less_a_little(d):
    scheme = stamoulis_tsitsiklis_indirect(gossamer.network(f"hypercube:{d}"))
    scheme.check()
    assert stability_limit(scheme).load == F(2, 3) * (1 - F(1, 2**d))
    if d == 4:
        assert stability_limit(scheme).load == F(5, 8)


def test_direct_hypercube_scheme_is_star_in_one_class():
    network = gossamer.network("hypercube:5")
    direct, other = stamoulis_tsitsiklis_direct(network), star(network, priority="fifo")
    assert np.array_equal(direct.step, other.step)
    assert np.array_equal(direct.children, other.children)
    assert direct.class_count == 1
    assert stability_limit(direct).load == 1


@pytest.mark.parametrize(
    "spec", ["hypercube:4", "torus:5x5", "array:4x4", "star:4", "ring:6", "complete:6", "ccc:3", "array:5"]
)
def test_tree_schemes_are_stable_to_k_over_the_mean_degree(spec):
    network = gossamer.network(spec)
    n, degree = network.node_count, F(network.link_count, network.node_count)
    trees = edge_disjoint_trees(network)
    direct, indirect = (
        varvarigos_banerjee_direct(network, trees=trees),
        varvarigos_banerjee_indirect(network, trees=trees),
    )
    direct.check()
    indirect.check()
    assert stability_limit(direct).load == len(trees) / degree
    assert stability_limit(indirect).load == F(len(trees) * (n - 1), n) / degree
    assert link_loads(direct).total == n - 1


def test_limits_on_the_4_cube_and_the_5x5_torus():
    for spec, direct, indirect in (("hypercube:4", F(1, 2), F(15, 32)), ("torus:5x5", F(1, 2), F(12, 25))):
        network = gossamer.network(spec)
        assert stability_limit(varvarigos_banerjee_direct(network)).load == direct
        assert stability_limit(varvarigos_banerjee_indirect(network)).load == indirect


def test_trees_are_no_higher_than_the_reference_trees():
    heights = {
        spec: max(map(tree_height, edge_disjoint_trees(gossamer.network(spec))))
        for spec in ("hypercube:4", "torus:5x5")
    }
    assert heights["hypercube:4"] <= 6
    assert heights["torus:5x5"] <= 8


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 9))
def test_as_many_trees_are_packed_as_tutte_and_nash_williams_allow(seed, n):
    graph = nx.gnp_random_graph(n, 0.75, seed=seed)
    if not nx.is_connected(graph):
        return
    trees = edge_disjoint_trees(from_networkx(graph), tries=1)
    edges = _edges(trees)
    assert len(edges) == len(set(edges)) == len(trees) * (n - 1)
    assert all(nx.is_tree(nx.Graph(_edges([tree]))) for tree in trees)
    assert len(trees) == _strength(graph)


def _strength(graph) -> int:
    """Largest k with at least k (parts - 1) edges between the parts of every partition, by all partitions."""
    nodes = list(graph)
    best = graph.number_of_edges()

    def extend(part, i, count):
        nonlocal best
        if i == len(nodes):
            if count > 1:
                between = sum(part[u] != part[v] for u, v in graph.edges)
                best = min(best, between // (count - 1))
            return
        for p in range(count + 1):
            part[nodes[i]] = p
            extend(part, i + 1, max(count, p + 1))

    extend({}, 0, 0)
    return best


def test_what_is_not_possible_is_said():
    with pytest.raises(NotApplicableError, match=r"enough for 1\.\.2 edge-disjoint"):
        edge_disjoint_trees(gossamer.network("hypercube:4"), 3)
    with pytest.raises(NotApplicableError, match="no routing nodes"):
        varvarigos_banerjee_direct(gossamer.network("fat-tree:k=2,h=2"))
    barbell = nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))
    barbell.add_edge(0, 6)
    assert len(edge_disjoint_trees(from_networkx(barbell))) == 1
    with pytest.raises(NotApplicableError, match="has no 2 edge-disjoint"):
        edge_disjoint_trees(from_networkx(barbell), 2)
    with pytest.raises(NotApplicableError, match="at least 2 dimensions"):
        stamoulis_tsitsiklis_indirect(gossamer.network("hypercube:1"))
