"""The cut over time: the exact bound on scatter and gather with all ports."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.algorithms.scatter.flow_over_time import FLOW_OVER_TIME
from gossamer.bounds import best_bound, bounds
from gossamer.bounds.cuts_over_time import cut_over_time, cut_over_time_bounds
from gossamer.cases import Case
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.tasks import Broadcast, Gather, Scatter, TotalExchange


@st.composite
def networks(draw):
    """A connected random graph with random capacities, some nodes of which may only pass packets on."""
    n = draw(st.integers(2, 9))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=9)):
        if a != b:
            graph.add_edge(a, b)
    for edge in graph.edges:
        graph.edges[edge]["capacity"] = draw(st.integers(1, 2))
    for v in draw(st.sets(st.integers(1, n - 1), max_size=n // 2)):
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data())
@settings(max_examples=100)
def test_the_bound_is_the_least_time_in_both_directions(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    time = FLOW_OVER_TIME.build(Case(network, Scatter(root), Rules())).completion_time
    assert best_bound(Case(network, Scatter(root), Rules())).value == time
    assert best_bound(Case(network, Gather(root), Rules())).value == time


def counted(network, hub, cut, slots):
    """What a cut lets through: of the slots in which a packet crosses, a link of occupancy o uses each o-th."""
    assert cut.since[hub] == 0
    assert cut.messages == sum(cut.since[v] > slots for v in range(network.terminal_count))
    room = 0
    for e in range(network.link_count):
        u, v = network.link_source[e], network.link_target[e]
        takes = int(network.link_occupancy[e] + network.link_latency[e])
        crossing = [t for t in range(slots) if cut.since[u] <= t and t + takes < cut.since[v] and t + takes <= slots]
        room += len(crossing[:: network.link_occupancy[e]]) * int(network.link_capacity[e])
    return room


@given(networks(), st.data(), st.integers(0, 8))
@settings(max_examples=100)
def test_a_cut_lets_fewer_packets_through_than_must_cross_it(network, data, slots):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    case = Case(network, Scatter(root), Rules())
    cut = cut_over_time(case.links, root, slots)
    assert (cut is None) == (slots >= FLOW_OVER_TIME.build(case).completion_time)
    if cut is not None:
        assert counted(network, root, cut, slots) == cut.room < cut.messages


@given(networks(), st.data(), st.integers(0, 20), st.integers(1, 3))
@settings(max_examples=60)
def test_links_that_take_time_let_fewer_packets_through(network, data, slots, most):
    kinds = st.lists(st.integers(1, most), min_size=network.link_count, max_size=network.link_count)
    slow = network.with_times(data.draw(kinds), [x - 1 for x in data.draw(kinds)])
    root = data.draw(st.integers(0, network.terminal_count - 1))
    cut = cut_over_time(Case(slow, Scatter(root)).links, root, slots)
    if cut is not None:
        assert counted(slow, root, cut, slots) == cut.room < cut.messages
    elif most == 1:  # with latencies alone the bound is exact, here those of plain links
        assert slots >= FLOW_OVER_TIME.build(Case(network, Scatter(root), Rules())).completion_time


def test_a_network_on_which_only_cuts_that_count_ways_are_as_large():
    network = from_networkx(nx.Graph(["va", "vb", "vc", "bc", "cd", "ce", "ef", "eg"]))
    found = {b.name: b for b in bounds(Case(network, Scatter(0), Rules()))}
    assert found["cut over time"].value == 4 == found["cut around nodes"].value
    assert all(b.value < 4 for name, b in found.items() if name not in ("cut over time", "cut around nodes"))
    assert found["cut over time"].witness.startswith("4 messages of node v must cross a cut of links and slots")


@pytest.mark.parametrize(
    ("task", "model"),
    [
        (Scatter(0), Rules(ports="one")),
        (Scatter(0), Rules(split=True)),
        (Broadcast(0), Rules()),
        (TotalExchange(), Rules()),
        (Scatter(0), Rules()),  # the distances and the links of the root say as much
    ],
)
def test_where_it_says_nothing(task, model):
    assert not list(cut_over_time_bounds(Case(gossamer.network("hypercube:3"), task, model)))


def test_fewer_ports_keep_the_bound_of_all_ports():
    slow = from_networkx(nx.Graph(["va", "vb", "vc", "bc", "cd", "ce", "ef", "eg"]))
    links = [(0, 1), (0, 4), (1, 0), (1, 2), (2, 3), (2, 4), (3, 2), (3, 4), (4, 0), (4, 2), (4, 3)]
    source, target = (list(ends) for ends in zip(*links, strict=True))
    network = Network("some graph", 5, source, target, terminal_count=4)
    values = [best_bound(Case(network, Gather(0), Rules(ports=p))).value for p in ("all", "one-send", "one")]
    assert values == [3, 3, 3]
    limited = [list(cut_over_time_bounds(Case(slow, Scatter(0), Rules(ports=p)))) for p in ("all", "one-receive")]
    assert [[b.value for b in found] for found in limited] == [[4], [4]]
