"""How fast one message spreads under a port limit."""

from __future__ import annotations

from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds.broadcast_growth import broadcast_bounds, doubling_time, tree_time
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, OneToManyRouting, Reduce, Scatter


@given(st.lists(st.integers(1, 40), max_size=12))
def test_doubling_time_is_the_largest_t_d(nodes):
    profile = np.array([1, *nodes])

    def t(d):
        return next(t for t in range(d, 99) if sum(comb(t, n) for n in range(d, t + 1)) >= profile[d:].sum())

    steps, distance, count = doubling_time(profile)
    assert steps == max(t(d) for d in range(profile.size)) == t(distance)
    assert count == profile[distance:].sum()


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("complete:4", 2), ("complete:9", 4), ("array:7", 6), ("hypercube:5", 5), ("ring:6", 3), ("ring:7", 4),
     ("torus:5x5", 5), ("star:4", 5)],
)  # fmt: skip
def test_doubling_on_known_networks(spec, steps):
    network = gossamer.network(spec)
    found = [b.value for b in broadcast_bounds(Case(network, Broadcast(0), Rules(ports="one")))]
    assert max(found) == steps


def test_two_nodes_at_the_largest_distance_cost_a_step_more():
    network = from_networkx(nx.Graph([(0, 1), (1, 2), (2, 3), (2, 4)]))
    doubling, tree = broadcast_bounds(Case(network, Broadcast(0), Rules(ports="one")))
    assert (doubling.value, tree.value) == (4, 4)


@pytest.mark.parametrize(("k", "h"), [(2, 2), (3, 2), (2, 4), (5, 3)])
def test_trees_take_the_time_of_the_recursion(k, h):
    case = Case(gossamer.network(f"fat-tree:k={k},h={h}"), Broadcast(1), Rules(ports="one-send"))
    assert tree_time(case, 1, None) == (k + 1) * h - 1
    assert tree_time(Case(gossamer.network("ring:4"), Broadcast(0), Rules()), 0, None) == 0


def test_branches_of_a_tree_without_targets_take_no_time():
    case = Case(gossamer.network("array:9"), OneToManyRouting([[]] * 4 + [[2, 5]] + [[]] * 4), Rules(ports="one"))
    assert tree_time(case, 4, np.array([2, 5])) == 2
    assert {b.name: b.value for b in broadcast_bounds(case)} == {"doubling": 2, "tree broadcast": 2}


def test_only_messages_that_are_copied_under_a_port_limit_double():
    network = gossamer.network("complete:5")
    for task, ports, names in (
        (Broadcast(0), "all", []),
        (Scatter(0), "one", []),
        (Reduce(0), "one-send", []),  # who receives all at once combines in one step
        (Reduce(0), "one", ["doubling"]),
        (MultinodeBroadcast(), "one-send", ["doubling"]),
    ):
        assert [b.name for b in broadcast_bounds(Case(network, task, Rules(ports=ports)))] == names
    assert not list(broadcast_bounds(Case(network, Broadcast(0), Rules(ports="one", split=True))))
