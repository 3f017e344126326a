"""Furthest-first scatter: valid on any network, the optimum with one port, the largest branch with all."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.derived import dual
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, balanced_tree, furthest_first_scatter
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Gather, Scatter

ALL, ONE = Rules(), Rules(ports="one")

NETWORKS = [
    "array:1", "array:2", "array:9", "array:3x5", "ring:2", "ring:8", "torus:4x5", "torus:2x3x4", "hypercube:5",
    "complete:7", "circulant:13,1,5", "extended-ring:14,2", "hypercycle:5,2x4,1", "generalized-hypercube:4x3x2",
    "star:4", "pancake:4", "bubble-sort:4", "ccc:3", "butterfly:3", "product:(ring:5)x(array:3)",
    "fat-tree:k=2,h=3", "fat-tree:k=3,h=2,capacity=exponential", "fat-tree:k=2,h=3,capacity=2,2,4",
    "fat-tree:k=4,h=1", "fat-tree:k=2,h=0",
]  # fmt: skip


def distance_bound(network: Network, root: int, width: int) -> int:
    """Steps until the last of those at distance r or more arrives, if `width` packets leave the root a step."""
    distance = [int(d) for v, d in enumerate(network.distances(root)[: network.terminal_count]) if v != root]
    return max(
        (r - 1 + math.ceil(sum(d >= r for d in distance) / width) for r in range(1, max(distance, default=0) + 1)),
        default=0,
    )


def width(network: Network, root: int, ports: str) -> int:
    """Packets that leave the root a step; who receives one packet a slot is sent one over each link."""
    if ports in ("one", "one-send"):
        return 1
    most = 1 if ports == "one-receive" else 10**6
    return max(sum(min(int(network.link_capacity[link]), most) for link in network.out_links(root)), 1)


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_is_valid_from_every_kind_of_root_and_takes_the_claimed_time(spec, ports):
    network = gossamer.network(spec)
    for root in {0, network.terminal_count // 2, network.terminal_count - 1}:
        task, model = Scatter(root), Rules(ports=ports)
        schedule = FURTHEST_FIRST.build(Case(network, task, model))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == FURTHEST_FIRST.offer(Case(network, task, model)).time
        assert schedule.stored_hops == int(network.distances(root)[: network.terminal_count].sum())


@st.composite
def networks(draw):
    """A connected random graph with random capacities, some nodes of which may only pass packets on."""
    n = draw(st.integers(1, 14))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)):
        if a != b:
            graph.add_edge(a, b)
    if draw(st.booleans()):
        for edge in graph.edges:
            graph.edges[edge]["capacity"] = draw(st.integers(1, 3))
    for v in draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=n // 2)) if n > 1 else ():
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data(), st.sampled_from(["all", "one", "one-send", "one-receive"]))
@settings(max_examples=60)
def test_random_networks_get_valid_schedules_within_the_claim_and_the_bound(network, data, ports):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    task, model = Scatter(root), Rules(ports=ports)
    schedule = FURTHEST_FIRST.build(Case(network, task, model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == FURTHEST_FIRST.offer(Case(network, task, model)).time
    least = distance_bound(network, root, width(network, root, ports))
    assert schedule.completion_time >= least
    assert FURTHEST_FIRST.offer(Case(network, task, model)).optimal == (schedule.completion_time == least)


@given(networks(), st.data())
def test_one_port_is_optimal_on_every_network(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    time = FURTHEST_FIRST.build(Case(network, Scatter(root), ONE)).completion_time
    assert time == distance_bound(network, root, 1)
    if network.terminal_count == network.node_count:
        assert time == network.node_count - 1  # Theorem 3.6
    assert FURTHEST_FIRST.offer(Case(network, Scatter(root), ONE)).optimal


@given(networks(), st.data(), st.sampled_from(["all", "one", "one-send", "one-receive"]))
@settings(max_examples=60)
def test_reversed_it_gathers(network, data, ports):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    assert gossamer.verify(dual(FURTHEST_FIRST, Gather).build(Case(network, Gather(root), Rules(ports=ports))))


@pytest.mark.parametrize(
    ("spec", "root", "steps"),
    [("torus:9x11", 98, 25), ("array:5x4", 0, 10), ("hypercube:4", 3, 4), ("star:4", 7, 8), ("complete:7", 6, 1)],
)
def test_who_receives_on_all_links_gathers_as_fast_as_with_all_ports(spec, root, steps):
    plan = gossamer.plan(spec, Gather(root), rules=Rules(ports="one-send"))
    assert (plan.completion_time, plan.optimal) == (steps, True)
    assert plan.schedule.rules.ports == "one-send"


@given(networks(), st.data())
def test_balanced_tree_keeps_distances(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    tree = balanced_tree(network, root)
    distance = network.distances(root)
    for v in tree.order[1:]:
        link = tree.parent_link[v]
        assert network.link_target[link] == v
        assert tree.depth[v] == distance[v] == distance[network.link_source[link]] + 1
    assert set(range(network.terminal_count)) <= set(tree.order.tolist())


def test_all_ports_take_the_size_of_the_largest_branch():
    network = gossamer.network("array:9")
    for root in range(9):  # L_n from node i: max(i, n-1-i)
        assert FURTHEST_FIRST.build(Case(network, Scatter(root), ALL)).completion_time == max(root, 8 - root)


@pytest.mark.parametrize("n", range(2, 30))
def test_extended_rings_meet_theorem_3_8(n):
    for rho in range(1, n // 2 + 1):
        network = gossamer.network(f"extended-ring:{n},{rho}")
        assert FURTHEST_FIRST.build(Case(network, Scatter(0), ALL)).completion_time == math.ceil(n // 2 / rho)


@pytest.mark.parametrize("spec", ["torus:8x8", "torus:4x5", "torus:7x10", "torus:16x16", "hypercube:3", "star:6"])
def test_balanced_branches_reach_the_degree_bound(spec):
    network = gossamer.network(spec)
    bound = math.ceil((network.node_count - 1) / network.degree)
    assert FURTHEST_FIRST.build(Case(network, Scatter(1), ALL)).completion_time == bound


@pytest.mark.parametrize(
    ("k", "h", "steps"),
    [(2, 2, 5), (2, 3, 9), (2, 4, 17), (2, 5, 33), (3, 2, 9), (3, 3, 27), (4, 2, 16), (4, 3, 64)],
)
@pytest.mark.parametrize("capacity", ["constant", "exponential"])
@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_fat_tree_times_of_the_reference_table(k, h, steps, capacity, ports):
    network, model = gossamer.network(f"fat-tree:k={k},h={h},capacity={capacity}"), Rules(ports=ports)
    assert FURTHEST_FIRST.build(Case(network, Scatter(k), model)).completion_time == steps
    assert FURTHEST_FIRST.offer(Case(network, Scatter(k), model)).optimal


def test_a_tree_can_be_slower_than_the_bound_as_on_figure_3_4():
    network = from_networkx(nx.Graph(["va", "vb", "ac", "bc", "cd", "ce"]))
    assert network.labels[0] == "v"
    assert FURTHEST_FIRST.build(Case(network, Scatter(0), ALL)).completion_time == 4
    assert distance_bound(network, 0, 2) == 3
    assert not FURTHEST_FIRST.offer(Case(network, Scatter(0), ALL)).optimal


@pytest.mark.parametrize("spec", ["torus:5x5", "hypercube:4", "fat-tree:k=3,h=2", "star:4"])
@pytest.mark.parametrize("ports", ["all", "one"])
def test_one_packet_in_transit_is_room_enough(spec, ports):
    network = gossamer.network(spec)
    assert gossamer.verify(FURTHEST_FIRST.build(Case(network, Scatter(0), Rules(ports=ports, buffer=1))))
    room = Rules(ports=ports, buffer=network.terminal_count - 1, buffer_counts="all")
    assert gossamer.verify(FURTHEST_FIRST.build(Case(network, Scatter(0), room)))


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (from_networkx(nx.DiGraph([(0, 1), (2, 0)])), ALL, "finds no path from the root to node 2"),
        (gossamer.network("ring:5"), Rules(buffer=3, buffer_counts="all"), "needs room for the 4 messages of the root"),
        (gossamer.network("fat-tree:k=2,h=2,capacity=2,2"), Rules(buffer=1), "may hold 2 packets in transit"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        FURTHEST_FIRST.build(Case(network, Scatter(0), model))


def test_the_bare_builder_refuses_an_unreachable_terminal():
    with pytest.raises(NetworkError, match="no path from node 0 to node 2"):
        furthest_first_scatter(Case(from_networkx(nx.DiGraph([(0, 1), (2, 0)])), Scatter(0), ALL))


def test_a_wide_link_carries_several_packets_a_slot():
    graph = nx.star_graph(4)
    graph = nx.relabel_nodes(graph, {0: 9})
    graph.add_edge(0, 9, capacity=3)
    graph.remove_edge(1, 9)
    graph.add_edge(1, 9, capacity=3)
    graph.add_edges_from([(2, 9), (3, 9), (4, 9)], capacity=3)
    network = from_networkx(graph)
    root = int(np.flatnonzero(np.array(network.labels) == "0")[0])
    schedule = FURTHEST_FIRST.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == 3  # the hub's packet leaves after the three of the other leaves
