"""Broadcast down the shortest-path tree: on any network, with any ports."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.broadcast.shortest_path_tree import SHORTEST_PATH_TREE
from gossamer.algorithms.derived import dual
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx, to_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast, Reduce

TREE = SHORTEST_PATH_TREE

NETWORKS = [
    "array:1", "array:2", "array:9", "array:3x5", "ring:2", "ring:8", "torus:4x5", "torus:2x3x4", "hypercube:5",
    "complete:7", "circulant:13,1,5", "extended-ring:14,2", "hypercycle:5,2x4,1", "generalized-hypercube:4x3x2",
    "star:4", "pancake:4", "bubble-sort:4", "ccc:3", "butterfly:3", "product:(ring:5)x(array:3)",
    "fat-tree:k=2,h=3", "fat-tree:k=3,h=2,capacity=exponential", "fat-tree:k=4,h=1", "fat-tree:k=2,h=0",
]  # fmt: skip


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_is_valid_from_every_kind_of_root_and_takes_the_claimed_time(spec, ports):
    network = gossamer.network(spec)
    for root in {0, network.terminal_count // 2, network.terminal_count - 1}:
        task, model = Broadcast(root), Rules(ports=ports, buffer=1, buffer_counts="all")
        schedule = TREE.build(Case(network, task, model))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == TREE.offer(Case(network, task, model)).time


@st.composite
def networks(draw):
    """A connected random graph, some nodes of which may only pass packets on."""
    n = draw(st.integers(1, 14))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=10)):
        if a != b:
            graph.add_edge(a, b)
    for v in draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=n // 2)) if n > 1 else ():
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data())
@settings(max_examples=40)
def test_all_ports_take_the_distance_of_the_furthest_terminal(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    schedule = TREE.build(Case(network, Broadcast(root), Rules()))
    distance = nx.single_source_shortest_path_length(to_networkx(network), root)
    assert schedule.completion_time == max(distance[v] for v in range(network.terminal_count))
    assert gossamer.verify(schedule)


@given(networks(), st.data())
@settings(max_examples=40)
def test_one_port_is_valid_and_lies_between_the_bounds_of_any_tree(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    distance = nx.single_source_shortest_path_length(to_networkx(network), root)
    far = [distance[v] for v in range(network.terminal_count)]
    for ports in ("one", "one-send"):
        model = Rules(ports=ports)
        schedule = TREE.build(Case(network, Broadcast(root), model))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == TREE.offer(Case(network, Broadcast(root), model)).time
        assert max(far) <= schedule.completion_time <= max(network.node_count - 1, 0)
        assert schedule.completion_time >= math.ceil(math.log2(len(far)))


@given(networks(), st.data(), st.sampled_from(["all", "one", "one-send", "one-receive"]))
@settings(max_examples=50)
def test_reversed_it_reduces(network, data, ports):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    assert gossamer.verify(dual(TREE, Reduce).build(Case(network, Reduce(root), Rules(ports=ports, reduction=True))))


def best_on_tree(tree: nx.Graph, root: int) -> int:
    """Least one-port time on a tree, over all orders in which every node may serve its children."""

    def need(v, parent):
        below = [need(w, v) for w in tree[v] if w != parent]
        return min(max((b + i + 1 for i, b in enumerate(order)), default=0) for order in itertools.permutations(below))

    return need(root, None)


@given(st.integers(1, 9), st.integers(0, 10**6), st.data())
def test_one_port_on_a_tree_is_as_fast_as_the_best_order_of_children(n, seed, data):
    tree = nx.random_labeled_tree(n, seed=seed)
    root = data.draw(st.integers(0, n - 1))
    network, model = from_networkx(tree), Rules(ports="one")
    assert TREE.build(Case(network, Broadcast(root), model)).completion_time == best_on_tree(tree, root)
    assert TREE.offer(Case(network, Broadcast(root), model)).optimal


@pytest.mark.parametrize(
    ("k", "h", "one", "every"),
    [
        (2, 2, 5, 4),
        (2, 3, 8, 6),
        (2, 4, 11, 8),
        (2, 5, 14, 10),
        (3, 2, 7, 4),
        (3, 3, 11, 6),
        (4, 2, 9, 4),
        (4, 3, 14, 6),
    ],
)
def test_fat_tree_times_of_the_reference_table(k, h, one, every):
    network = gossamer.network(f"fat-tree:k={k},h={h}")
    assert TREE.build(Case(network, Broadcast(1), Rules(ports="one-send"))).completion_time == one == (k + 1) * h - 1
    assert TREE.build(Case(network, Broadcast(1), Rules())).completion_time == every == 2 * h


@pytest.mark.parametrize("d", range(1, 9))
def test_one_port_on_a_hypercube_takes_its_dimension(d):
    network, model = gossamer.network(f"hypercube:{d}"), Rules(ports="one")
    assert TREE.build(Case(network, Broadcast(2**d - 1), model)).completion_time == d
    assert TREE.offer(Case(network, Broadcast(2**d - 1), model)).optimal


def test_branches_without_a_terminal_are_left_out():
    graph = nx.path_graph(5)
    for v in (3, 4):
        graph.nodes[v]["terminal"] = False
    schedule = TREE.build(Case(from_networkx(graph), Broadcast(0), Rules()))
    assert (schedule.completion_time, schedule.stored_hops) == (2, 2)


def test_says_which_node_the_root_does_not_reach():
    network = from_networkx(nx.DiGraph([(0, 1), (2, 0)]))
    with pytest.raises(NotApplicableError, match="finds no path from the root to node 2"):
        TREE.build(Case(network, Broadcast(0), Rules()))
    assert gossamer.verify(TREE.build(Case(network, Broadcast(2), Rules())))
