"""Broadcasts of several packets down arc-disjoint trees: near the bound on irregular networks; what is refused."""

from __future__ import annotations

import networkx as nx
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.arc_disjoint_trees import DOWN_TREES, down_trees
from gossamer.bounds import best_bound
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case

TASK = gossamer.task("broadcast", packets=64)


@pytest.mark.parametrize(
    ("graph", "over"),
    [(nx.tutte_graph(), 3), (nx.random_regular_graph(4, 256, seed=1), 2), (nx.petersen_graph(), 1)],
    ids=["tutte", "random", "petersen"],
)
def test_a_broadcast_is_near_its_bound(graph, over):
    """Flooding takes 34 slots on Tutte's graph, and 25 on the random one."""
    case = Case(from_networkx(graph, "graph"), TASK)
    found = down_trees(case)
    assert gossamer.verify(found).ok
    assert found.completion_time <= best_bound(case).value + over


def test_capacities_one_way_links_and_switches_are_used():
    graph = nx.DiGraph(nx.cycle_graph(6, create_using=nx.DiGraph))
    graph.add_edges_from((i, (i + 2) % 6) for i in range(6))
    wide = nx.Graph([(0, "a", {"capacity": 3}), (1, "a", {"capacity": 3}), (2, "a", {"capacity": 2}), (0, 2)])
    nx.set_node_attributes(wide, {"a": False}, "terminal")
    for network in (from_networkx(graph, "one way"), from_networkx(wide, "a switch")):
        found = down_trees(Case(network, TASK, Rules().on(network)))
        assert gossamer.verify(found).ok
        assert found.completion_time <= 40


def test_the_planner_reverses_it_and_says_what_it_does_not_do():
    plan = gossamer.plan("dragonfly:4,2", gossamer.task("reduce", packets=64), algorithm="reversed-arc-disjoint-trees")
    assert plan.completion_time <= plan.bound + 2
    network = gossamer.network("ring:5")
    for task, rules in ((TASK, Rules(ports="one")), (gossamer.task("allgather", packets=2), Rules())):
        assert not DOWN_TREES.covers(Case(network, task, rules))
