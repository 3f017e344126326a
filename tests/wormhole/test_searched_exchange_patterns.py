"""Exchanges by patterns that are searched for: valid on any network, and near the bound where start-ups are dear."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.questions.cases import Refusal
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.searched_exchange_patterns import PATTERNS, _Found, _Patterns

ALGORITHM = PATTERNS[0]
COST = LinearCost(startup=1000, message_bytes=64)


def case(spec: str, task: str = "allgather", cost: LinearCost = COST, **rules: str) -> WormholeCase:
    return WormholeCase(gossamer.network(spec), gossamer.task(task), cost, Rules(**rules))


@pytest.mark.parametrize("name", ["allgather", "reduce-scatter", "allreduce", "alltoall"])
@pytest.mark.parametrize("spec", ["array:2x3", "ring:5", "torus:2x4", "kautz:2,2", "star:3", "fat-tree:2,2"])
def test_all_is_delivered_on_any_network(spec, name):
    asked = case(spec, name)
    schedule = ALGORITHM.build(asked)
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time >= bounds(asked)[0].value


@pytest.mark.parametrize("spec", ["ring:9", "torus:4x5", "array:4x4", "hypercube:4", "kautz:2,2"])
def test_steps_of_every_kind_take_channels_once_and_receipts_come_once(spec):
    asked = case(spec)
    patterns, random = _Patterns(asked, False), np.random.default_rng(0)
    kinds = set()
    for _ in range(60):
        way = patterns.drawn(random)
        kinds.add(way[0])
        source, target = patterns.step(way)
        assert source.size
        used = asked.channels.paths(source, asked.channels.shortest(source, target))[1]
        assert np.unique(used).size == used.size
    assert len(kinds) > 2
    found = patterns.carried((("near",),) * int(patterns.length.max()), 4)
    assert isinstance(found, _Found)
    n = asked.network.node_count
    assert ((found.via >= 0).sum(axis=1) == n - 1).all()
    load = np.bincount(found.via[found.via >= 0], minlength=found.step.size)
    assert sum(load[found.step == t].max() for t in np.unique(found.step)) == found.total


def test_a_pattern_that_leaves_nodes_out_says_how_many_receipts_it_lacks():
    patterns = _Patterns(case("ring:7"), False)
    assert patterns.carried((("near",), ("near",)), 1) == 7 * 2


def test_what_it_declines():
    for asked, why in (
        (case("torus:3x3", ports="one"), "is for all-port nodes"),
        (
            case("torus:3x3", cost=LinearCost(startup=1, message_bytes=4096)),
            "is of use only where start-ups take long beside the bytes",
        ),
        (case("torus:15x15"), "searches where nodes times messages are at most 40,000, not 50,625"),
    ):
        assert ALGORITHM.offers(asked) == Refusal(why)


def test_a_hypercube_takes_less_than_its_dimensions():
    plan = gossamer.plan("hypercube:5", "allgather", switching="wormhole", cost=COST)
    assert plan.algorithm == "exchange-patterns"
    assert plan.schedule.step_count == 3
    assert plan.schedule.completion_time <= plan.bounds[0].value * 3 / 2


def test_a_total_exchange_skips_nodes_where_start_ups_are_dear():
    plan = gossamer.plan("ring:12", "alltoall", switching="wormhole", cost=COST)
    assert plan.algorithm == "exchange-patterns"
    assert plan.schedule.step_count < 6


@pytest.mark.parametrize("name", ["allgather", "reduce-scatter"])
def test_patterns_of_any_messages_take_the_fewest_steps_of_a_small_array(name):
    asked = case("array:5x5", name)
    schedule = ALGORITHM.build(asked)
    verify(schedule).raise_if_invalid()
    assert schedule.step_count == 4
    assert bounds(asked)[0].value <= schedule.completion_time <= bounds(asked)[0].value * 4 / 3
