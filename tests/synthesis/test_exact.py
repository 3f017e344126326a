"""Exact schedules of small cases: never longer than any other, at their proofs, and the fewest hops."""

from __future__ import annotations

from itertools import islice

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.exact import exact, propose_exact
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import COMBINE

pytest.importorskip("ortools", reason="needs OR-Tools (extra 'solver')")
pytestmark = pytest.mark.solver


def small_graphs(sizes=(2, 3, 4, 5)):
    """All connected graphs of so many nodes."""
    graphs = (g for g in nx.graph_atlas_g() if g.number_of_nodes() in sizes and nx.is_connected(g))
    return list(graphs)


def larger_graphs(count):
    """Random connected graphs of 6 to 8 nodes."""
    draw = np.random.default_rng(8)
    tried = (nx.gnm_random_graph(n, int(draw.integers(n, 2 * n)), seed=int(draw.integers(999))) for n in [6, 7, 8] * 99)
    return list(islice((g for g in tried if nx.is_connected(g)), count))


def compared(graph, task, ports):
    """Return the times of the planner's best and of the exact schedule, and whether the latter is proved."""
    network, rules = from_networkx(graph, "a graph"), Rules(ports=ports)
    best = gossamer.plan(network, task, rules=rules)
    found = gossamer.plan(network, task, rules=rules, algorithm="exact")
    assert found.verification.ok
    assert found.bound <= best.completion_time  # a proof that a schedule beats would be no proof
    return best.completion_time, min(found.completion_time, best.completion_time), found.bound


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce"])
@pytest.mark.parametrize("ports", ["all", "one"])
def test_planner_is_close_to_the_optimum_on_small_graphs(monkeypatch, task, ports):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.05)
    graphs = [*small_graphs()[::8], *larger_graphs(1)]
    for graph in graphs:
        best, least, bound = compared(graph, task, ports)
        assert best <= 1.25 * max(least, bound), sorted(graph.edges)


def test_a_proof_becomes_a_bound(monkeypatch):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 4.0)
    bull = from_networkx(nx.bull_graph(), "bull")
    counted = gossamer.lower_bounds(bull, "reduce-scatter", rules=Rules(ports="one"))[0].value
    found = gossamer.plan(bull, "reduce-scatter", rules=Rules(ports="one"), algorithm="reversed-exact")
    assert (found.completion_time, found.bound, counted) == (7, 7, 6)
    assert found.bound_name == "exact search"


def test_a_broadcast_is_one_packet_and_no_closed_form_knows_this_bound(monkeypatch):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 4.0)
    found = gossamer.plan("extended-ring:40,4", "broadcast", rules=Rules(ports="one"), algorithm="exact")
    assert (found.completion_time, found.bound, found.bound_name) == (7, 7, "exact search")


def test_fewest_hops_beat_those_of_trees(monkeypatch):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.5)
    """Of all two-step broadcasts to three targets by way of switches, one crosses the fewest links."""
    graph = nx.Graph([(0, "a"), (0, "b"), ("a", 1), ("b", 1), ("a", 2), ("b", 3), ("a", 3)])
    nx.set_node_attributes(graph, {"a": False, "b": False}, "terminal")
    case = Case(from_networkx(graph, "two switches"), gossamer.task("broadcast"))
    found = exact(case)
    assert gossamer.verify(found).ok
    assert (found.completion_time, found.hop_count) == (2, 4)


@pytest.mark.parametrize("number", range(4))
def test_exact_schedules_are_valid_with_times_switches_and_ports(monkeypatch, number):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.05)
    draw = np.random.default_rng(number)
    graph = nx.gnp_random_graph(6, 0.5, seed=number)
    graph.add_edges_from((i, i + 1) for i in range(5))
    nx.set_node_attributes(graph, {5: bool(number % 2)}, "terminal")
    network = from_networkx(graph, "six nodes")
    network = network.with_times(draw.integers(1, 3, network.link_count), draw.integers(0, 2, network.link_count))
    rules = Rules(ports=("all", "one", "one-send", "one-receive")[number % 4], replication=number % 3 > 0)
    for name in ("broadcast", "scatter", "alltoall", "allgather", "allreduce"):
        case = Case(network, gossamer.task(name), rules.on(network), seed=number)
        if name == "allreduce" and network.terminal_count < network.node_count:
            assert "all nodes are terminals" in propose_exact(case).why
            continue
        verification = gossamer.verify(exact(case))
        assert verification.ok, f"{name}: {verification}"


def test_what_is_too_large_or_split_is_refused():
    for spec, rules, why in (
        ("torus:8x8", Rules(), "pairs of a packet and a link"),
        ("ring:4", Rules(split=True), "unsegmented messages"),
        ("ring:4", Rules(buffer=3), "packets that a node holds"),
    ):
        assert why in propose_exact(Case(gossamer.network(spec), gossamer.task("alltoall"), rules)).why


def test_a_budget_ends_the_solver():
    network = gossamer.network("array:4x4")
    found = gossamer.plan(network, "allgather", rules=Rules(ports="one"), algorithm="exact", budget=0.05)
    assert found.verification.ok
    assert found.bound_name != "exact search"


def test_contributions_are_solved_backwards_in_time(monkeypatch):
    monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.5)
    network = gossamer.network("array:2x3")
    found = gossamer.plan(network, "reduce-scatter", algorithm="reversed-exact")
    assert bool((found.case.messages.discipline == COMBINE).all())
    assert found.optimal
