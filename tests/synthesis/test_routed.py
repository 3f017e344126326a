"""Routed schedules: near their bounds on irregular networks, also where packets of an origin are routed together."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network import priced_routing as module
from gossamer.algorithms.any_network.overlapped_allreduce import _apart, overlapped_allreduce
from gossamer.algorithms.any_network.priced_routing import routed
from gossamer.bounds import best_bound
from gossamer.errors import NetworkError
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules


def checked(schedule):
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    return schedule


def karate():
    return nx.Graph(list(nx.karate_club_graph().edges))


def ratio(graph, task, build=routed, rules=None):
    case = Case(from_networkx(graph, "a graph"), gossamer.task(task), rules)
    return checked(build(case)).completion_time / best_bound(case).value


@pytest.mark.parametrize(
    ("graph", "most"),
    [
        (karate(), 1.03),
        (nx.petersen_graph(), 1.0),
        (nx.random_regular_graph(4, 64, seed=1), 1.04),
        (nx.tutte_graph(), 1.01),
        (nx.balanced_tree(2, 4), 1.0),
    ],
    ids=["karate", "petersen", "random", "tutte", "tree"],
)
def test_alltoall_is_near_its_bound(graph, most):
    assert ratio(graph, "alltoall") <= most


@pytest.mark.parametrize(("graph", "most"), [(karate(), 1.15), (nx.balanced_tree(2, 4), 1.5)])
def test_halves_of_an_allreduce_overlap(graph, most):
    assert ratio(graph, "allreduce", overlapped_allreduce) <= most


@pytest.mark.parametrize("ports", ["all", "one", "one-receive"])
def test_packets_of_an_origin_are_routed_together_in_large_cases(monkeypatch, ports):
    graph = nx.random_regular_graph(4, 32, seed=3)
    alone = ratio(graph, "alltoall", rules=Rules(ports=ports))
    monkeypatch.setattr(module, "_WORK", 1_000_000)
    assert ratio(graph, "alltoall", rules=Rules(ports=ports)) <= 1.1 * alone


def test_slow_links_carry_less():
    torus = gossamer.network("torus:8x8")
    slow = torus.with_times(np.tile([1, 1, 4, 4], 64), 0)
    assert checked(routed(Case(slow, gossamer.task("allgather")))).completion_time <= 29  # at least 63 / 2.5


def test_switches_that_do_not_copy_are_used_once_a_target():
    graph = nx.star_graph(["hub", 0, 1, 2, 3])
    nx.set_node_attributes(graph, {"hub": False}, "terminal")
    network = from_networkx(graph, "star")
    copied, passed = (
        checked(routed(Case(network, gossamer.task("broadcast"), Rules(replication=r)))) for r in (True, False)
    )
    assert copied.completion_time == 2
    assert passed.completion_time == 4  # along a chain or from the root: three packets enter the switch, one a slot
    assert passed.hop_count == 6


def test_unreachable_targets_are_one_line(monkeypatch):
    one_way = Network("one way", 3, [0, 1], [1, 2], links_only=True)
    task = gossamer.task("permutation", destination=[-1, 0, -1])
    with pytest.raises(NetworkError, match="no path from node 1"):
        routed(Case(one_way, task))


def test_packets_moved_in_time_shorten_an_allreduce_to_its_optimum():
    """A solver proves that no schedule has 10 slots; without moving packets it takes 12."""
    case = Case(from_networkx(nx.sedgewick_maze_graph(), "maze"), gossamer.task("allreduce"))
    found = overlapped_allreduce(case)
    assert gossamer.verify(found).ok
    assert found.completion_time == 11


def rails(servers, size):
    graph = nx.Graph()
    graph.add_nodes_from(range(servers * size))
    graph.add_nodes_from([f"server {i}" for i in range(servers)] + [f"rail {j}" for j in range(size)], terminal=False)
    for i in range(servers):
        graph.add_edges_from((f"server {i}", i * size + j, {"capacity": 4}) for j in range(size))
        graph.add_edges_from((f"rail {j}", i * size + j) for j in range(size))
    return from_networkx(graph)


@pytest.mark.parametrize(
    ("network", "task", "most"),
    [(rails(4, 8), "reduce-scatter", 9), (from_networkx(nx.ring_of_cliques(8, 8)), "allgather", 29)],
)
def test_a_known_bound_does_not_lengthen_a_schedule(network, task, most):
    """Trees were loaded as much as the bound allows, so that little room was left: 18 and 31 slots."""
    case = Case(network, gossamer.task(task))
    if task == "reduce-scatter":
        case = case.dual
    case.tell_floor(best_bound(case).value)
    assert routed(case).completion_time <= most


def test_results_leave_branches_of_a_tree_between_contributions_for_others():
    """In the order of the nodes, or in a random one, it took 84 slots."""
    network = from_networkx(nx.balanced_tree(2, 5))
    place = _apart(network)
    assert sorted(place) == list(range(63))
    tree = nx.bfs_tree(nx.balanced_tree(2, 5), 0)
    half = np.isin(np.arange(63), [1, *nx.descendants(tree, 1)])
    order = np.argsort(place)
    assert order[-1] == 0  # the middle
    assert (half[order[:-1:2]] != half[order[1:-1:2]]).all()
    found = overlapped_allreduce(Case(network, gossamer.task("allreduce")))
    assert gossamer.verify(found).ok
    assert found.completion_time <= 82
