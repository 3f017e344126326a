"""The planner for wormhole switching, and the battery that every registered algorithm passes."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest

import gossamer
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast, along_dimensions
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.testing import tasks_of
from gossamer.wormhole import load, save, searched_exchange_patterns, verify
from gossamer.wormhole import multinode_broadcast_on_disjoint_trees as broadcasts
from gossamer.wormhole import multinode_broadcast_on_disjoint_trees as task_on_trees
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

COSTS = (LinearCost(), LinearCost(startup="7/2", per_byte="1/3", message_bytes=50, hop_time="0.5"))
NETWORKS = ("torus:6x6", "array:4x3", "ring:5", "torus:4x2", "torus:3x3x3", "array:1x4", "torus:1x1")


def cases(algorithm):
    """The cases that the algorithm covers among small networks and tasks, under either cost in turn."""
    for spec, kind in itertools.product(NETWORKS, algorithm.tasks):
        network = gossamer.network(spec)
        for task, cost in zip(itertools.islice(tasks_of(kind, network), 2), COSTS, strict=False):
            case = WormholeCase(network, task, cost, seed=1)
            if algorithm.covers(case):
                yield case


def checked(algorithm, case):
    """The schedule of the algorithm's first offer, against everything that the offer says."""
    where = f"{algorithm.name}: {case.task.describe()} on {case.network.spec}"
    offer, schedule = algorithm.offer(case), algorithm.build(case)
    found = verify(schedule)
    assert found, f"{where}: {found}"
    assert schedule.completion_time >= max(bounds(case)[0].value, offer.least), where
    if offer.time is not None:
        assert schedule.completion_time <= offer.time if offer.at_most else schedule.completion_time == offer.time
    if case.network.node_count <= 16:
        again = WormholeCase(case.network, case.task, case.cost, seed=1)
        assert algorithm.build(again) == schedule, where
    return schedule


@pytest.mark.parametrize("algorithm", WORMHOLE_ALGORITHMS, ids=lambda a: a.name)
def test_every_algorithm_passes_the_battery(algorithm, tmp_path, monkeypatch):
    # what is found after a short search is checked, too
    monkeypatch.setattr(searched_exchange_patterns, "_PATIENCE", 100)
    monkeypatch.setattr(searched_exchange_patterns, "_ROUNDS", (2_000_000, 5_000_000))
    schedules = [checked(algorithm, case) for case in cases(algorithm)]
    assert schedules
    assert schedules[-1].algorithm == algorithm.name
    save(schedules[-1], tmp_path / "plan.parquet")
    assert load(tmp_path / "plan.parquet") == schedules[-1]


@pytest.mark.parametrize("spec", ["ring:4", "array:1", "torus:1x1", "star:3", "leaf-spine:2,2,1"])
@pytest.mark.parametrize("name", ["multiple-broadcast", "multiple-reduce"])
def test_nothing_to_send_takes_no_time_by_any_algorithm(spec, name):
    network = gossamer.network(spec)
    task = gossamer.task(name, counts=[0] * network.terminal_count)
    found = gossamer.compare(network, task, switching="wormhole")
    assert {row["time"] for row in found} == {0}
    assert not found.stopped
    assert gossamer.plan(network, task, switching="wormhole", cost=LinearCost(startup=0)).completion_time == 0


def test_names_are_unique():
    names = [a.name for a in WORMHOLE_ALGORITHMS]
    assert len(set(names)) == len(names)


def test_the_best_is_as_good_as_every_algorithm():
    network, task = gossamer.network("torus:4x4"), gossamer.task("partial-multinode-broadcast", active=range(0, 16, 4))
    for startup in (1, 100, 10**5):
        model = LinearCost(startup=startup, message_bytes=100)
        best = gossamer.plan(network, task, switching="wormhole", cost=model)
        times = {
            row["algorithm"]: row["time"]
            for row in reversed(list(gossamer.compare(network, task, switching="wormhole", cost=model)))
        }
        assert best.completion_time == min(times.values()) == times[best.algorithm]


@pytest.mark.parametrize("name", ["allgather", "allreduce", "alltoall"])
@pytest.mark.parametrize(("spec", "ports", "grouped"), [
    ("torus:3x3", "all", False), ("array:2x3", "all", True), ("kautz:2,2", "one-send", False),
])  # fmt: skip
def test_the_best_is_not_above_any_candidate(spec, ports, grouped, name):
    """Every offer of every algorithm is built: none is invalid, below its own `least`, or faster than the plan."""
    network = gossamer.network(spec)
    asks = gossamer.task(name, groups=along_dimensions(network, [1])) if grouped else gossamer.task(name)
    cost = LinearCost(startup=10, message_bytes=12)
    best = gossamer.plan(network, asks, switching="wormhole", cost=cost, rules=Rules(ports=ports)).completion_time
    case = WormholeCase(network, asks, cost, Rules(ports=ports))
    made = 0
    for algorithm in (a for a in WORMHOLE_ALGORITHMS if a.covers(case)):
        for offer in (o for o in algorithm.offers(case) if o.effort != "solver"):
            schedule, told = offer.build(), (algorithm.name, offer.options)
            assert verify(schedule), told
            assert best <= schedule.completion_time, told
            assert offer.least <= schedule.completion_time, told
            if offer.time is not None:
                assert schedule.completion_time <= offer.time, told
            made += 1
    assert made > 1


def test_plans_say_what_they_cost():
    model = gossamer.LinearCost(startup=10, message_bytes=100)
    plan = gossamer.plan("torus:4x4", "allgather", algorithm="sequential-broadcasts", switching="wormhole", cost=model)
    rows = dict(plan.rows(verbose=True))
    assert rows["network"] == "torus:4x4: 16 nodes, 64 links"
    assert rows["time"] == "7,040 time units; 16.96 x the bound"
    assert rows["lower bound"] == (
        "415 time units (steps and their channels: with the best number of steps, 4, far messages take many channels)"
    )
    assert rows["start-ups"] == "64"
    assert rows["by phase"].endswith("and 4 more phases")
    told = json.loads(json.dumps(plan.to_dict()))
    assert (told["switching"], told["startups"], told["completion_time"]) == ("wormhole", 64, 7040)
    assert told["transmission_bytes"] == 6400
    assert plan.ratio == pytest.approx(7040 / 415)
    assert not plan.optimal
    assert "<th" in plan._repr_html_()
    assert repr(plan).startswith("allgather on torus:4x4: 7,040 time units; 16.96 x the bound: with the best ")


def test_plans_are_saved(tmp_path):
    plan = gossamer.plan("ring:5", "broadcast", switching="wormhole", cost=gossamer.LinearCost())
    plan.save(tmp_path / "plan.parquet")
    assert gossamer.load(tmp_path / "plan.parquet") == plan.schedule


def test_partition_sides_are_honored():
    plan = gossamer.plan("torus:6x6", "allgather", switching="wormhole", cost=gossamer.LinearCost(), options={"h": 3})
    assert plan.options == {"h": 3}
    assert plan.algorithm.startswith("atd")


@pytest.mark.parametrize("h", [4, 0, -3, "2", None])
def test_partition_sides_that_do_not_divide_are_named(h):
    with pytest.raises(NotApplicableError) as error:
        gossamer.plan("torus:6x6", "allgather", switching="wormhole", algorithm="atd-5", options={"h": h})
    assert str(error.value).startswith("algorithm 'atd-5' does not cover allgather on torus:6x6: it takes h = ")
    assert str(error.value).endswith(f" here, not {h!r}")


def test_what_is_not_covered_is_told_in_one_line():
    model = gossamer.LinearCost()
    with pytest.raises(NotApplicableError, match="no wormhole algorithm for neighbor-exchange yet"):
        gossamer.plan("torus:4x4", "neighbor-exchange", switching="wormhole", cost=model)
    with pytest.raises(NotApplicableError, match=r"no wormhole algorithm 'sequental' .* \(did you mean 'sequential"):
        gossamer.plan("torus:4x4", "allgather", algorithm="sequental", switching="wormhole", cost=model)
    with pytest.raises(
        NetworkError, match="wormhole messages need links that carry one packet at a time, got fat-tree"
    ):
        gossamer.plan("fat-tree:k=2,h=2,capacity=exponential", "allgather", switching="wormhole", cost=model)
    with pytest.raises(NotApplicableError, match=r"algorithm 'sequential-broadcasts' does not cover .*: it takes no h"):
        gossamer.plan(
            "torus:4x4", "allgather", algorithm="sequential-broadcasts", switching="wormhole", options={"h": 2}
        )
    with pytest.raises(NotApplicableError, match="no wormhole algorithm covers allgather on array:4x4 with "):
        gossamer.plan("array:4x4", "allgather", switching="wormhole", cost=model, options={"h": 2})


def test_best_tries_every_side_of_a_partition():
    """Twenty random nodes, dear start-ups: the closed form, an upper bound, would prefer rings."""
    chosen = [1, 3, 6, 15, 22, 26, 42, 46, 52, 53, 55, 57, 59, 61, 68, 70, 73, 83, 92, 93]
    network, task = gossamer.network("torus:10x10"), gossamer.task("partial-multinode-broadcast", active=chosen)
    model = LinearCost(startup=10_000)
    best = gossamer.plan(network, task, switching="wormhole", cost=model)

    def by(name, **options):
        return gossamer.plan(network, task, algorithm=name, switching="wormhole", cost=model, options=options)

    pieces = [by("atd-piece", h=h) for h in (1, 2, 5, 10)]
    rings = by("ring-all-gather")
    found = min(p.completion_time for p in (*pieces, rings))
    assert best.completion_time <= found < rings.completion_time


def test_a_plan_asks_each_shared_quantity_once(monkeypatch):
    asked = Counter()

    def count(owner, name):
        function = getattr(owner, name)

        def counting(*arguments, **options):
            asked[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    count(Channels, "__init__")
    count(task_on_trees, "shallow_trees")
    count(broadcasts, "_best_cut")
    plan = gossamer.plan("torus:10x10", MultinodeBroadcast(), switching="wormhole")
    assert asked == {"__init__": 1, "shallow_trees": 1, "_best_cut": 1}
    case = WormholeCase(plan.schedule.network, MultinodeBroadcast())
    count(MultinodeBroadcast, "messages")
    bounds(case)
    # packet-switched schedules are of the other switching, which asks for itself
    other = ("packet-switched", "slot-by-slot")
    covering = [a for a in WORMHOLE_ALGORITHMS if a.name not in other and a.covers(case)]
    schedules = [offer.build() for a in covering for offer in a.offers(case)]
    assert len(schedules) == 3 * 4 + 7 + 3  # every h, the others, and floods in 1 to 3 pieces
    assert (asked["messages"], asked["__init__"]) == (1, 2)
