"""Bounds on one-port broadcast: Theorem 3.3 and its corollaries, two furthest nodes, few neighbors."""

from __future__ import annotations

import math
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds.broadcast_growth import (
    closed_form_time,
    degree_time,
    doubling_time,
    level_time,
    spread_bounds,
    tree_time,
)
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, Reduce, Scatter

ONE = Rules(ports="one")


def optimum(graph, root):
    """The least one-port time, by trying every set of nodes that can be informed after each step."""
    everyone, sets, steps = frozenset(graph), {frozenset([root])}, 0
    while everyone not in sets:
        following = set()
        for known in sets:
            options = [[w for w in graph[u] if w not in known] or [u] for u in known]
            following |= {known | set(choice) for choice in product(*options)}
        sets = {s for s in following if not any(s < t for t in following)}
        steps += 1
    return steps


def profile(graph, root):
    return np.bincount(list(nx.single_source_shortest_path_length(graph, root).values()))


def found(graph, root=0):
    return {b.name: int(b.value) for b in spread_bounds(Case(from_networkx(graph), Broadcast(root), ONE))}


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 8))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=10)) if a != b)
    return nx.convert_node_labels_to_integers(graph, ordering="sorted")


@given(graphs())
@settings(max_examples=60)
def test_no_bound_exceeds_the_least_time(graph):
    least = optimum(graph, 0)
    assert doubling_time(profile(graph, 0))[0] <= least
    assert all(steps <= least for steps in found(graph).values())
    links = max(d for _, d in graph.degree) - 1
    assert degree_time(profile(graph, 0), graph.degree[0], links, 0)[0] <= least


def r(length, step):
    """Most nodes informed in a step by a path of some length, by the recursion (3.1)."""
    if length > step:
        return 0
    if length == 0:
        return int(step == 0)
    if length == 1:
        return 1
    return sum(r(length - 1, j) for j in range(length - 1, step))


def test_lemma_3_2_counts_are_binomial():
    for step in range(1, 9):
        for length in range(1, step + 1):
            assert r(length, step) == math.comb(step - 1, length - 1)
    for d in range(7):
        for last in range(d, 8):
            total = sum(r(k, t) for k in range(d, last + 1) for t in range(k, last + 1))
            assert total == sum(math.comb(last, k) for k in range(d, last + 1))


def least_steps(d, nodes):
    """T_d of Theorem 3.3."""
    t = d
    while sum(math.comb(t, k) for k in range(d, t + 1)) < nodes:
        t += 1
    return t


@pytest.mark.parametrize("d", range(1, 12))
def test_corollary_3_4_never_exceeds_theorem_3_3(d):
    steps, t, within = [], d, 1
    for nodes in range(1, 5000):
        while within < nodes:
            t += 1
            within = sum(math.comb(t, k) for k in range(d, t + 1))
        steps.append(t)
    assert steps[70] == least_steps(d, 71)
    for nodes, most in enumerate(steps, start=1):
        value = closed_form_time(d, nodes)
        assert value <= most + 1e-9
        if nodes < 4 ** (d - 1):
            assert closed_form_time(d, nodes, stirling=True) <= value + 1e-9


def test_corollary_3_4_by_its_three_cases():
    assert closed_form_time(3, 16) == 5  # 2d-1
    assert closed_form_time(2, 60) == 6  # log2(4 + 60)
    assert math.isclose(closed_form_time(4, 10), 2 + (24 * 9) ** (1 / 5))
    assert closed_form_time(6, 1) == 3


def test_errata_9_4_corollary_3_4_is_false_for_d_0():
    assert math.log2(4 ** (0 - 1) + 2) > 1.16
    assert optimum(nx.complete_graph(2), 0) == 1


def test_errata_9_3_more_than_e_plus_1_furthest_nodes_do_not_force_e_plus_2_steps():
    graph = nx.complete_graph(4)
    assert profile(graph, 0).tolist() == [1, 3]  # e = 1, and 3 > e + 1
    assert optimum(graph, 0) == 2 < 1 + 2
    for e in range(1, 9):  # more than e + 2 do
        assert least_steps(e, e + 2) == e + 1
        assert least_steps(e, e + 3) == e + 2


@given(st.integers(2, 9), st.integers(0, 10**6))
@settings(max_examples=100)
def test_corollary_3_5_on_random_trees(n, seed):
    graph = nx.convert_node_labels_to_integers(nx.random_labeled_tree(n, seed=seed), ordering="sorted")
    exact = tree_time(Case(from_networkx(graph), Broadcast(0), ONE), 0, None)
    levels = profile(graph, 0)
    assert max(level_time(d, int(levels[d])) for d in range(1, levels.size)) == found(graph)["tree level"] <= exact


@given(st.integers(1, 30), st.integers(0, 10**6))
def test_level_time_is_the_least_t(distance, nodes):
    t = level_time(distance, nodes)
    assert math.comb(t, distance) >= nodes
    assert t == 0 or (nodes and math.comb(t - 1, distance) < nodes)


def test_a_binomial_tree_has_as_many_nodes_at_a_level_as_corollary_3_5_allows():
    d = 6
    graph = nx.empty_graph(2**d)
    graph.add_edges_from((x, x & (x - 1)) for x in range(1, 2**d))
    assert tree_time(Case(from_networkx(graph), Broadcast(0), ONE), 0, None) == d
    assert {level_time(k, math.comb(d, k)) for k in range(1, d + 1)} == {d}


def test_two_furthest_nodes_cost_a_step_more():
    assert found(nx.cycle_graph(7))["two furthest nodes"] == 4
    assert "two furthest nodes" not in found(nx.cycle_graph(6))
    assert optimum(nx.cycle_graph(7), 0) == 4


def reach_by_counting(root_links, node_links, steps):
    """Nodes informed by each step, if everybody informs as many as possible, by depth."""
    active = [(0, 0)]
    for t in range(1, steps + 1):
        sent = []
        for start, depth in active:
            if t - start <= (root_links if depth == 0 else node_links):
                sent.append((t, depth + 1))
        active += sent
    return active


@given(st.integers(1, 4), st.integers(1, 3), st.lists(st.integers(1, 30), min_size=1, max_size=6))
@settings(max_examples=100)
def test_few_neighbors_are_counted_as_in_the_largest_tree(root_links, node_links, levels):
    levels = np.array([1, *levels])
    steps, d, nodes = degree_time(levels, root_links, node_links, 0)
    far = np.cumsum(levels[::-1])[::-1]
    if steps > 14:
        return

    def enough(t):
        depths = [depth for _, depth in reach_by_counting(root_links, node_links, t)]
        return all(sum(x >= k for x in depths) >= far[k] for k in range(far.size))

    assert enough(steps)
    assert steps == 0 or not enough(steps - 1)
    assert nodes == far[d]


def test_few_neighbors_raise_the_bound_of_a_regular_network():
    network = from_networkx(nx.random_regular_graph(4, 200, seed=1))
    bounds = {b.name: b for b in spread_bounds(Case(network, Broadcast(0), ONE))}
    bound = bounds["doubling with few neighbors"]
    assert (bound.value, doubling_time(np.bincount(network.distances(0)))[0]) == (9, 8)
    assert bound.witness.endswith("a node passes it on at most once a step, to at most 3 neighbors")


@pytest.mark.parametrize(
    ("task", "model"), [(Broadcast(0), Rules()), (Scatter(0), ONE), (Broadcast(0), Rules(ports="one", split=True))]
)
def test_only_whole_messages_that_are_passed_on_once_a_step_are_bounded(task, model):
    assert not list(spread_bounds(Case(gossamer.network("ring:9"), task, model)))


def test_on_one_way_links_a_node_informs_all_its_neighbors():
    """It has the message from a node to which no link of its own leads, so that there is none to spare."""
    network = gossamer.network("kautz:2,4")
    plan = gossamer.plan(network, "broadcast", rules=Rules(ports="one-send"))
    assert plan.bound <= plan.completion_time < network.node_count // 2


def test_a_reduction_has_the_bounds_of_its_broadcast():
    network = gossamer.network("fat-tree:k=3,h=2")
    forth, back = (
        {b.name: b.value for b in spread_bounds(Case(network, task, ONE))} for task in (Broadcast(1), Reduce(1))
    )
    assert forth == back
    assert forth["tree level"] > 0
