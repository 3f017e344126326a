"""Cuts, separating layers and cut nodes of networks without dimensions."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound
from gossamer.bounds.cut_nodes import Swept, branches_of, cut_node_bounds, separator_bounds, sweep_bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast, PartialExchange, TotalExchange
from schedules.strategies import graphs


@given(graphs(), st.data(), st.sampled_from(["all", "one", "one-send"]))
def test_capacity_of_a_prefix_is_that_of_its_links_and_ports(network, data, ports):
    position = np.array(data.draw(st.permutations(range(network.node_count))))
    case = Case(network, MultinodeBroadcast(), Rules(ports=ports))
    for upward in (True, False):
        found = Swept(network, position, 1, 1).capacity(case, upward)
        for k in range(network.node_count - 1):
            low = position <= k
            tail, head = low[network.link_source], low[network.link_target]
            across = (tail & ~head) if upward else (~tail & head)
            expected = int(network.link_capacity[across].sum()) if ports == "all" else int(across.sum())
            if ports != "all":
                expected = min(expected, np.unique(network.link_source[across]).size)
            if ports == "one":
                expected = min(expected, np.unique(network.link_target[across]).size)
            assert found[k] == expected


def test_the_bridge_between_two_cliques_is_found():
    network = from_networkx(nx.barbell_graph(6, 0))
    (bound,) = sweep_bounds(Case(network, TotalExchange(), Rules()))
    assert bound.value == 36
    assert bound.witness == ("36 messages must leave the 6 nodes nearest to node 0, at most 1 packet a step")


def test_layers_add_the_way_to_the_bridge_and_from_it():
    network = from_networkx(nx.barbell_graph(4, 3))
    task = PartialExchange([0, 1])
    (bound,) = sweep_bounds(Case(network, task, Rules()))
    assert bound.value == best_bound(Case(network, task, Rules())).value == 15
    assert bound.witness == (
        "14 messages must get from nodes at least 6 hops from node 10 to nodes at most 4 hops from it, "
        "at most 1 packet a step"
    )


def test_one_way_links_that_lead_back_over_many_layers_are_no_cuts_one_after_the_other():
    around = gossamer.Network("one way", 6, np.arange(6), (np.arange(6) + 1) % 6)
    last_to_first = gossamer.task("permutation", destination=[-1, -1, -1, -1, -1, 0])
    case = Case(around, last_to_first)
    assert [b.value for b in sweep_bounds(case)] == [1]
    assert best_bound(case).value == 1


def test_factors_of_products_are_swept():
    network = gossamer.network("product:(star:4)x(complete:4)")
    found = {b.name: b.value for b in sweep_bounds(Case(network, TotalExchange(), Rules(split=True)))}
    inside, outside, links = 5 * 4, 19 * 4, 7 * 4
    assert found["cut of factor 0 (star:4)"] == Fraction(inside * outside, links)
    assert found["cut of factor 1 (complete:4)"] == Fraction(48 * 48, 4 * 24)


@given(graphs(True))
def test_branches_are_the_parts_that_hang_on_cut_nodes(network):
    branches = branches_of(network)
    graph = nx.Graph(list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)))
    found = set()
    for node, first, size in zip(branches.node, branches.first, branches.size, strict=True):
        part = frozenset(branches.order[first : first + size].tolist())
        assert part in {frozenset(c) for c in nx.connected_components(graph.subgraph(set(graph) - {int(node)}))}
        found.add((int(node), part))
    for node in nx.articulation_points(graph):
        parts = {frozenset(c) for c in nx.connected_components(graph.subgraph(set(graph) - {node}))}
        assert len(parts - {part for v, part in found if v == node}) <= 1, "all parts but the one with node 0 hang"


def test_the_middle_of_a_star_passes_every_message_to_every_leaf():
    network = from_networkx(nx.star_graph(5))
    for task, sends in ((MultinodeBroadcast(), 5 + 5 * 4), (TotalExchange(), 5 + 5 * 4)):
        for ports in ("one", "one-send"):
            found = {b.name: b.value for b in cut_node_bounds(Case(network, task, Rules(ports=ports)))}
            assert found["cut node sends"] == sends
            assert ("cut node receives" in found) == (ports == "one")


def test_a_cut_node_without_messages_of_its_own_begins_a_step_later():
    network = from_networkx(nx.star_graph(5))
    found = {b.name: b for b in cut_node_bounds(Case(network, PartialExchange([1, 2]), Rules(ports="one-send")))}
    assert found["cut node sends"].value == 1 + 2 * 4
    assert found["cut node sends"].witness == "node 0 must send 8 messages of its branches one at a time"


@pytest.mark.parametrize("n", [3, 4, 9, 10])
def test_the_middle_of_a_line_sends_half_of_n_squared(n):
    known = separator_bounds(Case(gossamer.network(f"array:{n}"), TotalExchange(), Rules(ports="one-send")))
    graph = from_networkx(nx.path_graph(n))
    searched = cut_node_bounds(Case(graph, TotalExchange(), Rules(ports="one-send")))
    assert max(b.value for b in known) == max(b.value for b in searched) == (n * n - 1) // 2


@pytest.mark.parametrize("n", [3, 4, 9])
def test_a_message_for_all_enters_each_side_of_a_separating_node_once(n):
    """Sides of a and b nodes: the node sends b + 1 messages to the first and a + 1 to the second.

    The last of them then has min(a, b) - 1 hops to the end of its side.
    """
    known = separator_bounds(Case(gossamer.network(f"array:{n}"), MultinodeBroadcast(), Rules(ports="one-send")))
    assert [b.value for b in known] == [n + 1 + (n - 1) // 2 - 1]
