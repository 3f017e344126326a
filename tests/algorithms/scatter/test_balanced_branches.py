"""Scatter down evened-out branches: a spanning tree, never worse than the one it starts from, near the degree bound."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.derived import dual
from gossamer.algorithms.scatter.balanced_branches import BALANCED_BRANCHES, balanced_branches_tree
from gossamer.algorithms.scatter.flow_over_time import FLOW_OVER_TIME
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, least_time
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Gather, Scatter

ALL = Rules()


def branch_sizes(tree):
    """Number of nodes behind each child of the root."""
    top = {int(tree.root): None}
    for v in tree.order[1:].tolist():
        u = int(tree.network.link_source[tree.parent_link[v]])
        top[v] = v if u == tree.root else top[u]
    return sorted(np.unique([t for t in top.values() if t is not None], return_counts=True)[1].tolist())


@st.composite
def networks(draw):
    n = draw(st.integers(1, 30))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=60)) if a != b)
    return from_networkx(graph)


@given(networks(), st.data())
@settings(max_examples=60)
def test_it_is_valid_and_never_slower_than_the_shortest_path_tree(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    schedule = BALANCED_BRANCHES.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time <= FURTHEST_FIRST.offer(Case(network, Scatter(root), ALL)).time
    assert schedule.completion_time >= FLOW_OVER_TIME.build(Case(network, Scatter(root), ALL)).completion_time


@given(networks(), st.data())
@settings(max_examples=40)
def test_the_tree_spans_and_its_largest_branch_is_the_time(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    tree = balanced_branches_tree(network, root)
    assert sorted(tree.order.tolist()) == list(range(network.node_count))
    assert (network.link_target[tree.parent_link[tree.order[1:]]] == tree.order[1:]).all()
    time = BALANCED_BRANCHES.build(Case(network, Scatter(root), ALL)).completion_time
    assert time == max(branch_sizes(tree), default=0)  # Theorem 3.7


@pytest.mark.parametrize(
    ("spec", "root"),
    [("hypercube:4", 0), ("hypercube:10", 0), ("hypercube:13", 0), ("torus:4x4x4", 35), ("array:8x8", 35), ("ccc:5", 0),
     ("array:60x60", 903), ("circulant:101,1,7", 0), ("product:(ring:5)x(star:4)", 0)],
)  # fmt: skip
def test_it_meets_the_bound_where_the_shortest_path_tree_does_not(spec, root):
    network = gossamer.network(spec)
    schedule = BALANCED_BRANCHES.build(Case(network, Scatter(root), ALL))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == least_time(Case(network, Scatter(root)))
    assert schedule.completion_time == math.ceil((network.node_count - 1) / len(network.out_links(root)))
    assert FURTHEST_FIRST.offer(Case(network, Scatter(root), ALL)).time > schedule.completion_time


def test_the_plan_uses_it_where_the_shortest_path_tree_is_too_slow():
    plan = gossamer.plan("hypercube:5", "scatter")
    assert (plan.schedule.algorithm, plan.completion_time, plan.optimal) == ("balanced-branches", 7, True)


@pytest.mark.uncompiled
def test_leaves_wander_through_a_branch_in_between():
    # three branches in a row of which the last has room: a comb at the first neighbor of the root
    graph = nx.Graph([(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6), (1, 7), (6, 2), (7, 2), (2, 8), (8, 3), (5, 8)])
    tree = balanced_branches_tree(from_networkx(graph), 0)
    assert branch_sizes(tree) == [2, 3, 3]


@given(networks(), st.data())
@settings(max_examples=30)
def test_reversed_it_gathers(network, data):
    root = data.draw(st.integers(0, network.node_count - 1))
    assert gossamer.verify(dual(BALANCED_BRANCHES, Gather).build(Case(network, Gather(root), ALL)))


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (gossamer.network("ring:5"), Rules(ports="one"), "is for all-port nodes; for one-port"),
        (gossamer.network("fat-tree:k=2,h=2"), ALL, "needs every node to be a terminal"),
        (from_networkx(nx.DiGraph([(0, 1), (1, 2), (2, 0)])), ALL, "needs an opposite for every link"),
        (gossamer.network("complete:1002"), ALL, "needs a root with at most 1,000 links"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        BALANCED_BRANCHES.build(Case(network, Scatter(0), model))
