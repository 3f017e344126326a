"""Schedules repaired after links failed: valid, close to what planning anew gives, refused where they cannot be."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network import repair
from gossamer.bounds import counted_bounds
from gossamer.errors import GossamerError, NotApplicableError
from gossamer.networks import from_networkx


def cable(network, number):
    return [(int(network.link_source[number]), int(network.link_target[number]))]


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce", "reduce-scatter", "scatter", "broadcast"])
@pytest.mark.parametrize("spec", ["torus:6x6", "hypercube:4"])
def test_a_repaired_schedule_is_close_to_a_new_one(task, spec):
    sound = gossamer.plan(spec, task)
    left = sound.case.network.without(links=cable(sound.case.network, 5))
    found, new = gossamer.replan(sound, left), gossamer.plan(left, task)
    assert found.verification.ok
    assert found.completion_time <= new.completion_time + {"allreduce": 3, "alltoall": 1}.get(task, 0)
    assert found.bound <= new.bound  # counted only, and what was known of the sound network


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce", "broadcast"])
@pytest.mark.parametrize("spec", ["torus:4x5", "dragonfly:a=3,h=1", "kautz:2,3"])
def test_what_is_replanned_is_no_later_than_a_repair_or_a_new_plan(spec, task):
    sound = gossamer.plan(spec, task)
    left = sound.case.network.without(links=cable(sound.case.network, 2))
    found, new = gossamer.replan(sound, left), gossamer.plan(left, task)
    assert found.completion_time <= new.completion_time
    assert (
        task == "allreduce" or found.completion_time <= gossamer.replan(sound, left, repair_only=True).completion_time
    )
    assert found.bound <= found.completion_time
    assert found.optimal or found.bound >= new.bound  # where no bound is met, all are known


def test_schedules_are_repaired_again_and_again():
    found = gossamer.plan("torus:4x4", "alltoall")
    name = found.algorithm
    for number in (3, 11, 20):
        found = gossamer.replan(found, found.case.network.without(links=cable(found.case.network, number)))
        assert found.verification.ok
        assert found.algorithm == f"{name}, repaired"


@pytest.mark.parametrize("number", range(4))
def test_repairs_are_valid_on_any_network(number):
    """With switches that copy or do not, ports, links with times; the cable is one that nothing is cut off by."""
    draw = np.random.default_rng(number)
    graph = nx.random_regular_graph(4, 12, seed=number)
    nx.set_node_attributes(graph, {11: False, 10: bool(number % 2)}, "terminal")
    network = from_networkx(graph, "twelve nodes")
    network = network.with_times(draw.integers(1, 3, network.link_count), draw.integers(0, 2, network.link_count))
    switches = {"replication": number % 3 > 0, "reduction": number % 2 > 0, "cut_through": number == 3}
    rules = Rules(ports=("all", "one", "one-send")[number % 3], **switches)
    for task in ("allgather", "alltoall", "reduce-scatter", "allreduce", "gather", "broadcast"):
        sound = gossamer.plan(network, task, rules=rules, algorithm="best")
        for link in draw.integers(0, network.link_count, 1).tolist():
            assert gossamer.replan(sound, network.without(links=cable(network, link))).verification.ok


def test_a_link_that_nothing_crossed_changes_no_time():
    network = from_networkx(nx.Graph([(0, 1), (1, 2), (0, 2)]), "triangle")
    sound = gossamer.plan(network, "broadcast")
    left = network.without(links=[(1, 2)])
    assert gossamer.replan(sound, left).completion_time == sound.completion_time == 1


def test_what_is_not_repaired_is_one_line():
    sound = gossamer.plan("torus:4x4", "allgather")
    network = sound.case.network
    for left, why in (
        (network.without(nodes=[3]), "links failed, not nodes"),
        (gossamer.network("torus:4x4"), "is not what is left of torus:4x4"),
        (gossamer.network("ring:5").without(links=[(0, 1)]), "is not what is left of torus:4x4"),
    ):
        with pytest.raises(NotApplicableError, match=why):
            gossamer.replan(sound, left)
    tree = gossamer.plan("array:4", "broadcast")
    with pytest.raises(GossamerError, match="no path"):
        gossamer.replan(tree, tree.case.network.without(links=[(1, 2)]))
    with pytest.raises(NotApplicableError, match="store-and-forward"):
        gossamer.replan(gossamer.plan("torus:3x3", "broadcast", switching="wormhole"), network)


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce", "partial-sum-allreduce", "broadcast"])
def test_a_schedule_is_repaired_on_the_whole_network_where_a_link_takes_longer(task):
    sound = gossamer.plan("torus:4x4", task)
    slow = np.ones(sound.case.network.link_count, np.int32)
    slow[[5, 9]] = 3
    left = sound.case.network.with_times(slow, 0)
    found, new = gossamer.replan(sound, left), gossamer.plan(left, task)
    assert found.verification.ok
    assert found.case.network.link_occupancy[5] == 3
    assert max(sound.completion_time, new.bound) <= found.completion_time <= new.completion_time + 3
    again = gossamer.replan(found, left.without(links=[(0, 1)]))
    assert again.verification.ok


def test_links_that_became_faster_are_planned_again():
    network = gossamer.network("torus:4x4")
    times = np.full(network.link_count, 2, np.int32)
    slow = network.with_times(times, 0)
    quick = times.copy()
    quick[7] = 1
    with pytest.raises(NotApplicableError, match=r"\(0,1\)->\(0,0\) is faster; plan again"):
        gossamer.replan(gossamer.plan(slow, "allgather"), network.with_times(quick, 0))
    with pytest.raises(NotApplicableError, match="no link is slower; plan again"):
        gossamer.replan(gossamer.plan(slow, "allgather"), slow)


def test_bounds_of_a_worse_network_are_not_believed_of_a_better_one():
    """A link that had failed is back: what its lack cost does not hold any more."""
    sound = gossamer.network("torus:4x4")
    worse = gossamer.plan(sound.without(links=[(0, 1), (0, 4), (0, 3)]), "allgather")
    better = sound.without(links=[(5, 6)])
    found = gossamer.replan(worse, better)
    assert worse.bound == 15
    assert found.bound == gossamer.plan(better, "allgather").bound == 5
    assert not any("before links failed" in bound.witness for bound in found.bounds)


def test_a_repair_that_meets_what_its_nodes_take_asks_for_no_other_bounds():
    sound = gossamer.plan("torus:6x6", "allgather")
    found = gossamer.replan(sound, sound.case.network.without(links=cable(sound.case.network, 5)))
    assert found.optimal
    assert {b.name for b in found.bounds if not b.witness.startswith("before")} == {"node receives", "node sends"}
    kept = [b for b in found.bounds if b.witness.startswith("before links failed: ")]
    assert [b.value for b in kept] == [b.value for b in sound.bounds]


def test_a_repair_that_does_not_meet_them_is_beside_all_that_is_counted():
    network = gossamer.network("ring:8")
    sound = gossamer.plan(network, "alltoall")
    found = gossamer.replan(sound, network.without(links=[(0, 1), (1, 0)]))
    least = max(b.value for b in found.bounds if b.name.startswith("node"))
    assert found.bound > least
    assert found.bounds[0].value == counted_bounds(found.case)[0].value <= found.completion_time
    assert [b.value for b in found.bounds] == sorted((b.value for b in found.bounds), reverse=True)


def test_two_halves_of_a_repaired_allreduce_are_moved_in_time():
    network = gossamer.network("torus:8x8")
    sound = gossamer.plan(network, "allreduce", algorithm="two-way-greedy-flooding")
    found = gossamer.replan(sound, network.without(links=cable(network, 77)))
    assert found.verification.ok
    assert found.completion_time <= 38


def test_trees_of_a_repaired_allreduce_are_grown_anew_so_that_results_are_out_sooner(monkeypatch):
    networks = [gossamer.network(spec) for spec in ("torus:6x6", "dragonfly:4,2")]
    sound = [gossamer.plan(network, "allreduce") for network in networks]
    left = [network.without(links=cable(network, 41)) for network in networks]
    repairs = lambda: sum(  # noqa: E731
        gossamer.replan(s, n, repair_only=True).completion_time for s, n in zip(sound, left, strict=True)
    )
    found = repairs()
    monkeypatch.setattr(repair, "_ANEW", ())
    assert found < repairs()
