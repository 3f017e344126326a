"""Lower bounds: the closed forms where they apply, and no valid schedule below them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NetworkError, TaskError
from gossamer.questions.costs import LinearCost
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.bounds import bounds, spreading
from gossamer.wormhole.contraction_trees import ceil_log
from wormhole.strategies import valid

MODEL = LinearCost(startup=100, per_byte="1/2", message_bytes=24)


def value(name, *case) -> Fraction:
    return next(b.value for b in bounds(WormholeCase(*case)) if b.name == name)


@pytest.mark.parametrize("sides", [(5,), (9,), (5, 5), (6, 4), (25, 25), (3, 4, 5), (7, 1), (2, 2)])
def test_on_tori_startups_grow_by_the_logarithm_to_the_degree_plus_one(sides):
    network = gossamer.network("torus:" + "x".join(map(str, sides)))
    d = sum(s > 1 for s in sides)
    nodes = network.node_count
    for task in ("broadcast", "allgather"):
        assert value("start-ups", network, gossamer.task(task), MODEL) == 100 * ceil_log(2 * d + 1, nodes)
    receive = value("node receives", network, gossamer.task("allgather"), MODEL)
    assert receive == Fraction(-(-(nodes - 1) * 24 // (2 * d)), 2)
    some = gossamer.task("partial-multinode-broadcast", active=range(nodes - 1))
    assert value("node receives", network, some, MODEL) == Fraction(-(-(nodes - 1) * 24 // (2 * d)), 2)
    assert value("node sends", network, some, MODEL) == Fraction(-(-24 // (2 * d)), 2)


def test_startups_and_transmission_add_up():
    network, task = gossamer.network("torus:10x10"), gossamer.task("partial-multinode-broadcast", active=range(20))
    cost = LinearCost(startup=100, message_bytes=1024)
    found = bounds(WormholeCase(network, task, cost))[:3]
    assert [b.name for b in found] == [
        "steps and their channels", "steps and their lengths", "start-ups and transmission",
    ]  # fmt: skip
    first = found[-1]
    assert first.value == 3 * 100 + 20 * 1024 // 4
    assert str(first) == ("5420 time units, start-ups and transmission: 3 start-ups of 100 and 5,120 bytes at 1 a byte")


def test_corners_of_arrays_have_half_the_channels():
    network = gossamer.network("array:5x5")
    assert value("node receives", network, gossamer.task("allgather"), MODEL) == 24 * 24 // 2 * Fraction(1, 2)
    witness = next(
        b.witness for b in bounds(WormholeCase(network, gossamer.task("broadcast"), MODEL)) if b.name == "start-ups"
    )
    assert witness == "from node (0,0) a message spreads at most 1, 3, 13, 25 nodes wide"
    # 1 + 2, then 2 + 4 + 4 more, where a torus node would reach 25 in two steps
    assert value("start-ups", network, gossamer.task("broadcast", root=12), MODEL) == 200


@settings(max_examples=100)
@given(st.integers(1, 6), st.integers(1, 500))
def test_spreading_over_equal_degrees_is_a_logarithm(degree, nodes):
    assert len(spreading(degree, np.full(nodes, degree), nodes)) - 1 == ceil_log(degree + 1, nodes)


def test_spreading_needs_channels():
    with pytest.raises(TaskError, match="a message cannot spread to 2 nodes over channels that are not there"):
        spreading(0, np.zeros(2, np.int64), 2)


@settings(max_examples=60, deadline=None)
@given(valid())
def test_no_valid_schedule_is_below_a_bound(schedule):
    found = bounds(WormholeCase(schedule.network, schedule.task, schedule.cost))
    assert list(found) == sorted(found, key=lambda b: -b.value)
    assert schedule.completion_time >= found[0].value
    by_name = {b.name: b.value for b in found}
    if schedule.cost.startup and "start-ups" in by_name:
        assert schedule.startups * schedule.cost.startup >= by_name["start-ups"]
    assert schedule.volume * schedule.cost.per_byte >= by_name.get("node receives", 0)


def test_distance_counts_where_hops_cost():
    model = LinearCost(startup=1, per_byte=0, hop_time=10)
    first = bounds(WormholeCase(gossamer.network("array:9"), gossamer.task("broadcast", root=2), model))[0]
    assert (first.name, first.value) == ("start-ups and distance", 2 + 60)
    assert value("start-ups and distance", gossamer.network("torus:9"), gossamer.task("broadcast"), model) == 2 + 40


def test_personalized_tasks_are_bounded_by_what_the_root_sends():
    network, task = gossamer.network("torus:4x4"), gossamer.task("scatter")
    assert value("node sends", network, task, MODEL) == 15 * 24 // 4 * Fraction(1, 2)
    assert value("start-ups", network, task, MODEL) == 200  # after one step 5 nodes have something, not 16


def test_nothing_to_do_and_nothing_to_pay():
    alone, task = gossamer.network("torus:1x1"), gossamer.task("allgather")
    assert [(b.name, b.value) for b in bounds(WormholeCase(alone, task, MODEL))] == [("nothing to do", 0)]
    free = LinearCost(startup=0, per_byte=0)
    assert [(b.name, b.value) for b in bounds(WormholeCase(gossamer.network("ring:4"), task, free))] == [
        ("no costs", 0)
    ]


def test_what_cannot_be_bounded_is_refused():
    with pytest.raises(NetworkError, match="wormhole messages need links that carry one packet at a time"):
        bounds(
            WormholeCase(gossamer.network("fat-tree:k=2,h=2,capacity=exponential"), gossamer.task("allgather"), MODEL)
        )
    with pytest.raises(TaskError, match="wormhole messages have one length each, those of broadcast have several"):
        bounds(WormholeCase(gossamer.network("ring:4"), gossamer.task("broadcast", packets=2), MODEL))
