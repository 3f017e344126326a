"""Bounds of fat trees: per level, the routing nodes, and the time on the way."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound, bounds
from gossamer.bounds.fat_trees import least_with_holes, least_with_ways
from gossamer.networks import Levels, fat_tree, to_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast, PartialExchange, TotalExchange

SHAPES = [(k, h) for k in range(2, 7) for h in range(1, 6) if k**h <= 128]
ONE_SEND = Rules(ports="one-send")

trees = st.sampled_from(SHAPES).flatmap(
    lambda s: st.lists(st.integers(1, 50), min_size=s[1], max_size=s[1]).map(lambda c: fat_tree(*s, sorted(c)))
)


def value(network, task, model, name):
    return next((b.value for b in bounds(Case(network, task, model), quick=True) if b.name == name), None)


@given(trees)
def test_branch_bound_is_6_4_at_every_level(network):
    k, h, capacities = network.levels.arity, network.levels.height, network.levels.capacities
    per_level = [-(-(k ** (i - 1)) * (k**h - k ** (i - 1)) // capacities[i - 1]) + 2 * i - 1 for i in range(1, h + 1)]
    assert value(network, TotalExchange(), Rules(), "branch cut") == max(per_level)


@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_routing_node_bounds_are_theorems_6_3_and_6_6(k, h):
    n = k**h
    exchange = max(2 * n * k**i - k ** (2 * i) - k ** (2 * i - 1) + 2 * i - 1 for i in range(1, h + 1))
    assert value(fat_tree(k, h), TotalExchange(), ONE_SEND, "routing node sends") == exchange
    if h >= 2:
        assert exchange >= n * n * (2 * k + 1) * (k - 1) // k**3 + 2 * h - 3  # Theorem 6.6 is level h-1
        broadcast = value(fat_tree(k, h), MultinodeBroadcast(), ONE_SEND, "routing node sends")
        assert broadcast == k * n + (k + 1) * (h - 2) + 1


@pytest.mark.parametrize(("k", "h"), SHAPES)
@pytest.mark.parametrize("capacity", ["constant", "exponential"])
def test_a_multinode_broadcast_needs_n_steps_and_one_more_for_two_children(k, h, capacity):
    n = k**h
    least = best_bound(Case(fat_tree(k, h, capacity), MultinodeBroadcast(), Rules())).value
    assert least == (n + 1 if k == 2 and h >= 2 else n)
    assert best_bound(Case(fat_tree(k, h, capacity), TotalExchange(), Rules())).value >= least


@pytest.mark.parametrize(("k", "h", "level", "least"), [(4, 2, 1, 18), (2, 2, 1, 5), (2, 3, 1, 11), (3, 2, 1, 10)])
def test_hole_bound_values(k, h, level, least):
    assert least_with_holes(Levels.uniform(k, h), level) == least


@given(st.sampled_from(SHAPES), st.integers(1, 9), st.data())
def test_hole_bound_is_the_least_solution_of_its_inequality(shape, c, data):
    k, h = shape
    i = data.draw(st.integers(1, h))
    n, P = k**h, 2 * (h - i + 1)
    solutions = [T for T in range(P, 4 * n + 4 * h) if (c * T - n + 1) * ((T - 1) // (P - 1)) >= n - k ** (h - i)]
    assert least_with_holes(Levels.uniform(k, h), i, c) == max(P, -(-(n - 1) // c), min(solutions))


@pytest.mark.parametrize(("k", "highest"), [(2, 14), (3, 9), (4, 9)])
def test_theorem_6_10_survives_the_correction_of_6_6(k, highest):
    """Erratum 9.11; it is weaker than the bound by the average distance, too."""
    for h in range(2, highest + 1):
        theorem = math.ceil(k**h + 2 * h - 2 * math.log(h, k) - 2 - 1e-9)
        levels = Levels.uniform(k, h)
        assert theorem <= max(least_with_holes(levels, i) for i in range(1, h + 1)) <= least_with_ways(levels)


@given(trees)
def test_way_bound_adds_up_the_ways(network):
    """Against sums over all steps and distances."""
    c, n = network.levels.capacities[0], network.terminal_count
    ways = sum(int(d) - 1 for d in network.distances(0)[1:n])
    leaves = sorted(step for step in range(1, n) for _ in range(c))[: n - 1]

    def room(T):
        return sum(T + 1 - step for step in leaves) - sum(leaves)

    least = least_with_ways(network.levels, c)
    assert room(least) >= ways > room(least - 1)


@given(trees)
@settings(max_examples=25)
def test_exchange_of_all_as_active_nodes_has_the_same_bounds(network):
    active = PartialExchange(range(network.terminal_count))
    assert best_bound(Case(network, active, Rules())).value == best_bound(Case(network, TotalExchange(), Rules())).value


def test_time_on_the_way_is_told_with_its_witness():
    bound = best_bound(Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), TotalExchange(), Rules()))
    assert str(bound) == (
        "11 steps, time on the way, for schedules of unsegmented messages: each leaf sends and receives 7 messages, "
        "at most 1 a step, and its messages go 34 hops in all"
    )


ARITIES = [(2, 3), (3, 2), (2, 2, 3), (3, 2, 2), (2, 4, 2), (5, 2)]


@pytest.mark.parametrize("arities", ARITIES)
def test_levels_of_several_arities_are_counted_leaf_by_leaf(arities):
    """The branch bound and the routing nodes of every level, from the pairs whose path in the tree uses them."""
    capacities = tuple(range(1, len(arities) + 1))
    network = fat_tree(arities, capacity=capacities)
    graph = to_networkx(network)
    n, level = network.terminal_count, network.coordinates[:, 0]
    branches, nodes = Counter(), Counter()
    for a, b in itertools.permutations(range(n), 2):
        path = nx.shortest_path(graph, a, b)
        branches.update(itertools.pairwise(path))
        nodes.update(path[1:-1])
    widths = {(u, v): c for u, v, c in graph.edges(data="capacity")}
    cut = max(-(-m // widths[e]) + 2 * max(level[e[0]], level[e[1]]) - 1 for e, m in branches.items())
    assert value(network, TotalExchange(), Rules(), "branch cut") == cut
    through = max(m + 2 * level[v] - 1 for v, m in nodes.items())
    assert value(network, TotalExchange(), ONE_SEND, "routing node sends") == through
    ways = sum(int(d) - 1 for d in network.distances(0)[1:n])
    least = least_with_ways(network.levels)
    assert (n - 1) * (least + 1) - n * (n - 1) >= ways > (n - 1) * least - n * (n - 1)


@pytest.mark.solver
@pytest.mark.parametrize("capacities", [(1, 1), (1, 2), (1, 4), (2, 2)])
def test_bound_is_the_optimum_of_four_leaves(capacities):
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    from bounds.oracle import schedule_within

    network, task = fat_tree(2, 2, capacities), TotalExchange()
    least = int(best_bound(Case(network, task, Rules())).value)
    assert schedule_within(network, task, Rules(), least - 1) is None
    assert gossamer.verify(schedule_within(network, task, Rules(), least))
