"""Arc-disjoint out-trees: as many as minimum cuts allow, no arc in two, levels that are right."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.arc_disjoint_trees import pipelined
from gossamer.graphs.disjoint_trees import Arcs, disjoint_trees, grown_trees


def graph_of(seed):
    """A strongly connected directed graph of 9 nodes, some of its arcs twice."""
    draw = np.random.default_rng(seed)
    arcs = [(i, (i + 1) % 9) for i in range(9)]
    while len(arcs) < 32:
        u, v = draw.integers(0, 9, 2).tolist()
        if u != v:
            arcs.append((u, v))
    return arcs


def cut(arcs, root):
    """The fewest arcs that part some node from the root, by NetworkX."""
    graph = nx.DiGraph()
    for u, v in arcs:
        graph.add_edge(u, v, capacity=graph.edges[u, v]["capacity"] + 1 if graph.has_edge(u, v) else 1)
    return min(nx.maximum_flow_value(graph, root, v) for v in graph if v != root)


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize("seed", range(12))
def test_there_are_as_many_trees_as_the_least_cut_has_arcs_and_no_more(seed):
    listed = graph_of(seed)
    tail, head = np.array(listed).T
    arcs, most = Arcs.of(tail, head, 9), cut(listed, 0)
    for count in range(1, most + 1):
        trees = disjoint_trees(arcs, 0, count, np.random.default_rng(seed))
        assert trees is not None
        for t in range(count):  # an arc into every node but the root, one level further down
            mine = np.flatnonzero(trees.tree == t)
            assert sorted(head[mine].tolist()) == list(range(1, 9))
            assert (trees.depth[t][head[mine]] == trees.depth[t][tail[mine]] + 1).all()
        assert (trees.depth[:, 0] == 0).all()
    assert disjoint_trees(arcs, 0, most + 1, np.random.default_rng(seed)) is None


@pytest.mark.parametrize("seed", range(4))
def test_packets_are_sent_on_only_after_they_came_and_once_an_arc_and_slot(seed):
    listed = graph_of(seed)
    tail, head = np.array(listed).T
    arcs, count = Arcs.of(tail, head, 9), cut(listed, 0)
    trees = disjoint_trees(arcs, 0, count, np.random.default_rng(seed))
    found = pipelined(arcs, trees, 0, 9, 20, trees.depth.mean(axis=1))
    assert len(set(zip(found.slot.tolist(), found.arc.tolist(), strict=True))) == found.slot.size == 8 * 20
    came = {(0, p): 0 for p in range(20)}
    for s, a, p in zip(found.slot.tolist(), found.arc.tolist(), found.packet.tolist(), strict=True):
        assert came[int(tail[a]), p] <= s
        assert came.setdefault((int(head[a]), p), s + 1) == s + 1
    assert len(came) == 9 * 20
    assert found.slots <= -(-20 // count) + int(trees.depth.max()) + 2


@pytest.mark.parametrize("spec", ["complete:70", "torus:3x4", "hypercube:5"])
def test_trees_grown_by_turns_span_and_share_no_link(spec):
    network = gossamer.network(spec)  # as many trees as links at a node, 69 on the first
    link, depth = grown_trees(network)
    others = np.arange(1, network.node_count)
    assert link.shape == depth.shape == (network.degree, network.node_count)
    assert (link[:, 0] == -1).all()
    assert np.unique(link[:, 1:]).size == link[:, 1:].size
    for t in range(network.degree):
        assert (network.link_target[link[t, 1:]] == others).all()
        assert (depth[t, 1:] == depth[t, network.link_source[link[t, 1:]]] + 1).all()
