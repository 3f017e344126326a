"""Packets that enter a set of nodes too late must enter twice: no schedule and no optimum is beaten."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.bounds.ports import entry_bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case


def bound(case):
    return max((found.value for found in entry_bounds(case)), default=0)


@pytest.mark.parametrize(("task", "packets"), [("broadcast", 9), ("broadcast", 40), ("reduce", 20)])
def test_no_schedule_is_beaten(task, packets):
    draw = np.random.default_rng(packets)
    for seed in range(6):
        graph = nx.gnp_random_graph(12, 0.25, seed=seed, directed=bool(seed % 2))
        graph.add_edges_from((i, (i + 1) % 12) for i in range(12))
        for u, v in graph.edges:
            graph.edges[u, v]["capacity"] = int(draw.integers(1, 3))
        if seed % 3 == 2:
            nx.set_node_attributes(graph, {11: False, 10: False}, "terminal")
        network = from_networkx(graph, f"graph {seed}")
        found = gossamer.plan(network, gossamer.task(task, packets=packets))
        assert 0 < bound(found.case) <= found.completion_time


def test_a_broadcast_on_two_tori_and_on_a_ring():
    """On a ring of 12, 20 packets enter 11 nodes over 2 links: of T slots T - 10 are early enough, 2T - 10 = 20."""
    assert bound(Case(gossamer.network("ring:12"), gossamer.task("broadcast", packets=20))) == 15
    torus = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8, periodic=True))
    graph = nx.disjoint_union(torus, torus)
    graph.add_edges_from((i, 64 + i) for i in range(0, 72, 18))
    assert bound(Case(from_networkx(graph, "two tori"), gossamer.task("broadcast", packets=64))) == 24


@pytest.mark.solver
def test_no_optimum_is_beaten(monkeypatch):
    pytest.importorskip("ortools", reason="needs OR-Tools (extra 'solver')")
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.05)
    graphs = [g for g in nx.graph_atlas_g() if 4 <= len(g) <= 6 and nx.is_connected(g)]
    for i, graph in enumerate(graphs[::6]):
        task = gossamer.task("broadcast", root=0, packets=5)
        found = gossamer.plan(from_networkx(graph, f"graph {i}"), task, algorithm="exact")
        assert bound(found.case) <= found.completion_time, sorted(graph.edges)
