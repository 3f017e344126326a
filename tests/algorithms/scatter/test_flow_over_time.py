"""The scatter by flow: the least time there is, on any network, with all ports."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.derived import dual
from gossamer.algorithms.scatter.flow_over_time import FLOW_OVER_TIME
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, least_time
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Gather, Scatter

ALL = Rules()


def delivered(network, root, slots):
    """How many messages can be delivered, by a flow in which packets may wait anywhere (NetworkX)."""
    graph = nx.DiGraph()
    for t in range(slots):
        for v in range(network.node_count):
            graph.add_edge((v, t), (v, t + 1))
        for e in range(network.link_count):
            u, v = int(network.link_source[e]), int(network.link_target[e])
            graph.add_edge((u, t), (v, t + 1), capacity=int(network.link_capacity[e]))
    for v in range(network.terminal_count):
        if v != root:
            graph.add_edge((v, slots), "end", capacity=1)
    return nx.maximum_flow_value(graph, (root, 0), "end") if slots else 0


def optimum(network, root):
    slots = 0
    while delivered(network, root, slots) < network.terminal_count - 1:
        slots += 1
    return slots


@st.composite
def networks(draw, most=9):
    """A connected random graph with random capacities, some nodes of which may only pass packets on."""
    n = draw(st.integers(1, most))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=9)):
        if a != b:
            graph.add_edge(a, b)
    if draw(st.booleans()):
        for edge in graph.edges:
            graph.edges[edge]["capacity"] = draw(st.integers(1, 3))
    for v in draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=n // 2)) if n > 1 else ():
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data())
@settings(max_examples=40)
def test_it_takes_the_least_time_on_random_networks(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == optimum(network, root)


@st.composite
def one_way_networks(draw):
    n = draw(st.integers(3, 8))
    graph = nx.cycle_graph(n, create_using=nx.DiGraph)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=10)) if a != b)
    return from_networkx(graph)


@given(one_way_networks(), st.data())
@settings(max_examples=50)
def test_it_takes_the_least_time_on_one_way_links(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == optimum(network, root)


@st.composite
def sparse(draw):
    n = draw(st.integers(12, 40))
    graph = nx.random_regular_graph(3, n + n % 2, seed=draw(st.integers(0, 10**6)))
    graph = graph.subgraph(max(nx.connected_components(graph), key=len))
    return from_networkx(nx.convert_node_labels_to_integers(graph))


@given(sparse(), st.data())
@settings(max_examples=60)
def test_it_is_valid_never_slower_than_the_tree_and_no_packet_comes_back(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    tree = FURTHEST_FIRST.build(Case(network, Scatter(root), ALL)).completion_time
    assert least_time(Case(network, Scatter(root))) <= schedule.completion_time <= tree
    visits = Counter(zip(schedule.packet.tolist(), network.link_target[schedule.link].tolist(), strict=True))
    assert max(visits.values()) == 1
    assert not (network.link_target[schedule.link] == root).any()


@pytest.mark.uncompiled
def test_scatter_beats_trees_on_figure_3_4():
    network = from_networkx(nx.Graph(["va", "vb", "ac", "bc", "cd", "ce"]))
    assert network.labels[0] == "v"
    assert FURTHEST_FIRST.build(Case(network, Scatter(0), ALL)).completion_time == 4
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(0), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == least_time(Case(network, Scatter(0))) == 3


def test_the_degree_bound_can_be_out_of_reach():
    network = from_networkx(nx.Graph(["va", "vb", "bc", "cd"]))
    assert math.ceil(4 / 2) == 2
    assert FLOW_OVER_TIME.build(Case(network, Scatter(0), ALL)).completion_time == 3


HARD = [
    "array:4x4", "torus:4x4", "torus:4x4x4", "torus:3x4x5", "torus:5x5x5", "hypercube:4", "hypercube:5", "hypercube:7",
    "hypercube:9", "ccc:3", "ccc:5", "butterfly:4", "star:5", "pancake:5", "bubble-sort:5", "circulant:13,1,5",
    "circulant:101,1,7", "product:(ring:5)x(star:4)", "hypercycle:5,2x4,1", "generalized-hypercube:4x3x2",
]  # fmt: skip


@pytest.mark.parametrize("spec", HARD)
@pytest.mark.parametrize("where", [0, 1, 2])
def test_it_meets_the_degree_bound_on_symmetric_networks(spec, where):
    network = gossamer.network(spec)
    root = where * (network.node_count - 1) // 2
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    links = len(network.out_links(root))
    assert schedule.completion_time == max(
        math.ceil((network.node_count - 1) / links), least_time(Case(network, Scatter(root)))
    )
    if network.group is not None:
        assert schedule.completion_time == math.ceil((network.node_count - 1) / network.degree)


@pytest.mark.parametrize("spec", ["fat-tree:k=2,h=3", "fat-tree:k=3,h=2,capacity=exponential"])
def test_capacities_and_routing_nodes(spec):
    network = gossamer.network(spec)
    schedule = FLOW_OVER_TIME.build(Case(network, Scatter(1), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == optimum(network, 1)


@given(networks(), st.data())
@settings(max_examples=30)
def test_reversed_it_gathers_in_the_same_time(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    schedule = dual(FLOW_OVER_TIME, Gather).build(Case(network, Gather(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == optimum(network, root)


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (gossamer.network("ring:5"), Rules(ports="one"), "is for all-port nodes; for one-port nodes furthest"),
        (gossamer.network("ring:5"), Rules(buffer=2), "does not limit the packets that a node holds"),
        (from_networkx(nx.DiGraph([(0, 1), (2, 0)])), ALL, "finds no path from the root to node 2"),
        (gossamer.network("torus:100x100"), ALL, "takes at most 20,000,000 links times slots"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        FLOW_OVER_TIME.build(Case(network, Scatter(0), model))


def test_the_plan_uses_it_where_trees_are_too_slow():
    plan = gossamer.plan(from_networkx(nx.Graph(["va", "vb", "ac", "bc", "cd", "ce"])), "scatter")
    assert (plan.schedule.algorithm, plan.completion_time, plan.optimal) == ("flow-over-time", 3, True)
