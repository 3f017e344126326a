"""One-port broadcasts of many nodes on irregular networks: prices of sending, sets with few neighbors, tails."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from bounds.oracle import UndecidedError, schedule_within
from gossamer import Rules
from gossamer.bounds import bounds
from gossamer.bounds.concurrent_flow import sending_price_bounds
from gossamer.bounds.cut_nodes import cut_node_bounds
from gossamer.bounds.set_cuts import port_set_bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast, ReduceScatter

ONE = Rules(ports="one")


def value(family, network, task=None, rules=ONE):
    return max((b.value for b in family(Case(network, task or MultinodeBroadcast(), rules))), default=Fraction(0))


def two_stars(leaves):
    """Two nodes that share two neighbors and have leaves of their own."""
    graph = nx.Graph([(0, 2), (0, 3), (1, 2), (1, 3), (0, 1)])
    graph.add_edges_from((hub, 4 + hub * leaves + i) for hub in (0, 1) for i in range(leaves))
    return graph


def irregular():
    return nx.barabasi_albert_graph(20, 2, seed=1)


@pytest.mark.parametrize(
    ("graph", "few", "prices"),
    [(two_stars(1), 10, 10), (irregular(), 27, 41), (nx.karate_club_graph(), 83, 90),
     (nx.star_graph(6), 36, 36)],
)  # fmt: skip
def test_prices_count_what_no_single_set_does(graph, few, prices):
    network = from_networkx(nx.Graph(graph.edges))
    assert value(port_set_bounds, network) == few
    assert value(sending_price_bounds, network) == prices
    schedule = gossamer.plan(network, MultinodeBroadcast(), rules=ONE).schedule
    assert gossamer.verify(schedule).ok
    assert schedule.completion_time >= prices


@pytest.mark.parametrize("graph", [two_stars(1), two_stars(2), irregular(), nx.lollipop_graph(4, 3)])
def test_prices_are_at_least_what_separating_nodes_send(graph):
    """Without the nodes W, every part needs the messages of all others; the least load of W is that over |W|."""
    n, best = len(graph), Fraction(0)
    for size in (1, 2, 3, 4):
        for chosen in combinations(graph, size):
            parts = list(nx.connected_components(graph.subgraph(set(graph) - set(chosen))))
            best = max(best, Fraction(sum(n - len(part) for part in parts), size))
    assert value(sending_price_bounds, from_networkx(graph)) >= math.ceil(best)
    split = value(sending_price_bounds, from_networkx(graph), rules=Rules(ports="one", split=True))
    assert best * (1 - Fraction(1, 10**5)) <= split <= value(sending_price_bounds, from_networkx(graph))


@given(st.integers(4, 12), st.integers(0, 10**6), st.sampled_from(["one", "one-send"]))
@settings(max_examples=25)
def test_backwards_in_time_prices_are_the_same(nodes, seed, ports):
    graph = nx.connected_watts_strogatz_graph(nodes, 2 + seed % 2 * 2 * (nodes > 4), 0.4, seed=seed)
    network = from_networkx(graph)
    forwards = value(sending_price_bounds, network, rules=Rules(ports=ports))
    assert forwards == value(sending_price_bounds, network, ReduceScatter(), Rules(ports=ports).dual)


@pytest.mark.parametrize(("side", "between", "steps"), [(3, 0, 8), (3, 1, 10), (4, 0, 10), (20, 4, 50)])
def test_the_last_message_through_a_cut_node_has_its_branch_before_it(side, between, steps):
    network = from_networkx(nx.barbell_graph(side, between))
    assert value(cut_node_bounds, network) == value(cut_node_bounds, network, ReduceScatter()) == steps


@pytest.mark.parametrize("n", [4, 9, 10, 101])
def test_a_path_that_nobody_calls_an_array_takes_as_long_as_one(n):
    renamed = nx.relabel_nodes(nx.path_graph(n), {i: (i * 7) % n for i in range(n)})
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(renamed.edges)
    assert value(cut_node_bounds, from_networkx(graph, "path")) == math.ceil(3 * n / 2) - 1


def test_large_networks_have_the_set_of_fewest_neighbors():
    network = from_networkx(nx.barabasi_albert_graph(1000, 2, seed=2))
    (bound, *_) = port_set_bounds(Case(network, MultinodeBroadcast(), ONE))
    assert bound.witness.startswith("72 nodes must receive 71,928 messages, but have only 31 neighbors")


@pytest.mark.solver
@pytest.mark.parametrize("kind", ["allgather", "reduce-scatter", "partial"])
def test_no_schedule_of_a_small_graph_beats_them(kind):
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    graphs = [g for g in nx.graph_atlas_g() if len(g) == 5 and nx.is_connected(g)]
    task = {"allgather": MultinodeBroadcast(), "reduce-scatter": ReduceScatter()}.get(
        kind, PartialMultinodeBroadcast([0, 3])
    )
    met = 0
    for graph in graphs[::2] if kind == "reduce-scatter" else graphs:
        network = from_networkx(graph)
        bound = bounds(Case(network, task, ONE))[0].value
        try:
            assert schedule_within(network, task, ONE, int(bound) - 1) is None, bound
            met += schedule_within(network, task, ONE, int(bound)) is not None
        except UndecidedError:
            continue
    assert met >= {"allgather": 17, "reduce-scatter": 7, "partial": 15}[kind]
