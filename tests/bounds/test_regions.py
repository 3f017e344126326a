"""Bounds of allreduces between regions: the weakest regions by enumeration, no optimum beaten."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from bounds.partitions import partitions
from gossamer import Rules
from gossamer.bounds.allreduce_congestion import region_bounds, weakest_regions
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case


def share(network, regions):
    """The capacity between regions over their number less 1."""
    place = {v: i for i, region in enumerate(regions) for v in region}
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), network.link_capacity.tolist(), strict=True)
    return sum(c for u, v, c in ends if place[u] != place[v]) / (len(regions) - 1)


@pytest.mark.parametrize("seed", range(12))
def test_the_weakest_regions_are_those_of_all_partitions(seed):
    draw = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(6, 0.45, seed=seed)
    graph.add_edges_from((i, i + 1) for i in range(5))
    for u, v in graph.edges:
        graph.edges[u, v]["capacity"] = int(draw.integers(1, 4))
    network = from_networkx(graph, f"six nodes {seed}")
    region = weakest_regions(Case(network, gossamer.task("allreduce")).links).tolist()
    found = [[v for v in range(6) if region[v] == r] for r in sorted(set(region))]
    least = min(share(network, p) for p in partitions(list(range(6))) if len(p) > 1)
    assert share(network, found) == pytest.approx(least)


def test_a_ring_of_cliques_falls_into_its_cliques_and_its_bound_is_met():
    network = from_networkx(nx.ring_of_cliques(5, 5), "ring of cliques")
    case = Case(network, gossamer.task("allreduce"))
    assert len(set(weakest_regions(case.links).tolist())) == 5
    found = gossamer.plan(network, "allreduce")
    assert found.bound_name == "between regions"
    assert found.completion_time <= found.bound + 2


def test_deep_terminals_come_to_the_border_late():
    """A leaf of a tree of 7 sends 7 packets, and each has 3 more steps to go; the optimum is 11."""
    case = Case(from_networkx(nx.balanced_tree(2, 2), "tree"), gossamer.task("allreduce"))
    best = max(region_bounds(case), key=lambda bound: bound.value)
    assert (best.name, best.value) == ("around a region", 10)


@pytest.mark.solver
@pytest.mark.parametrize("ports", ["all", "one", "one-send"])
def test_no_optimum_is_beaten(monkeypatch, ports):
    pytest.importorskip("ortools", reason="needs OR-Tools (extra 'solver')")
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.05)
    graphs = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 5 and nx.is_connected(g)]
    for i, graph in enumerate(graphs[:: 2 if ports == "all" else 4]):
        network = from_networkx(graph, f"graph {i}")
        if i % 3 == 2:
            draw = np.random.default_rng(i)
            links = network.link_count
            network = network.with_times(draw.integers(1, 3, links), draw.integers(0, 2, links))
        case = Case(network, gossamer.task("allreduce"), Rules(ports=ports))
        found = gossamer.plan(network, "allreduce", rules=Rules(ports=ports), algorithm="exact")
        for bound in region_bounds(case):
            assert bound.value <= found.completion_time, (sorted(graph.edges), str(bound))


@pytest.mark.parametrize("split", [False, True])
def test_switches_and_directed_links_have_bounds_that_hold(split):
    graph = nx.Graph([(0, "a"), (1, "a"), (2, "a"), ("a", "b"), (3, "b"), (4, "b"), (5, "b")])
    nx.set_node_attributes(graph, {"a": False, "b": False}, "terminal")
    ring = from_networkx(nx.cycle_graph(5, create_using=nx.DiGraph), "one-way ring")
    for network in (from_networkx(graph, "two switches"), ring):
        found = gossamer.plan(network, "allreduce")
        case = Case(network, gossamer.task("allreduce"), Rules(split=split).on(network))
        values = [bound.value for bound in region_bounds(case)]
        assert values
        assert 0 < max(values) <= found.completion_time
