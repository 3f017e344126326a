"""Collectives in groups with wormhole messages."""

from __future__ import annotations

import random

import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import along_dimensions, task
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.registry import group_dimensions

TASKS = ("broadcast", "allgather", "scatter", "gather", "alltoall")
COST = LinearCost(startup=10, message_bytes=64)


def planned(network, asked, **search):
    return gossamer.plan(network, asked, switching="wormhole", cost=COST, **search)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(("spec", "dimensions", "alone"), [
    ("torus:4x5", [0], "torus:4"), ("torus:4x5", [1], "torus:5"), ("array:3x4", [1], "array:4"),
    ("torus:2x3x3", [1, 2], "torus:3x3"),
])  # fmt: skip
def test_groups_along_dimensions_take_what_one_takes_alone(name, spec, dimensions, alone):
    network = gossamer.network(spec)
    together = planned(network, task(name, groups=along_dimensions(network, dimensions)))
    one = planned(alone, name)
    assert together.verification.ok
    assert together.completion_time <= one.completion_time  # through other groups it may be faster


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("groups", [[[0, 5, 10], [1, 2, 3, 9]], [[3, 2, 1, 0]], [[0, 1], [1, 2], [2, 0]]])
def test_groups_anywhere_are_planned_and_not_below_their_bounds(name, groups):
    outcome = planned("torus:4x4", task(name, groups=groups))
    assert outcome.verification.ok
    assert outcome.completion_time >= outcome.bound > 0
    outside = set(range(16)) - {node for group in groups for node in group}
    assert not outside & set(outcome.schedule.messages.targets.tolist())


def test_messages_of_several_packets_in_groups_are_refused():
    with pytest.raises(NotApplicableError, match="of one length"):
        planned("torus:4x4", task("broadcast", groups=[[0, 1]], packets=2))


def test_dimensions_of_groups():
    channels = Channels(gossamer.network("torus:3x4"))
    rows = along_dimensions(gossamer.network("torus:3x4"), [1])
    assert group_dimensions(rows, channels) == (1,)
    assert group_dimensions([[0, 4, 8]], channels) == (0,)
    for groups in (
        (*rows[:1], (4, 6, 5, 7)),
        (*rows, (0, 4, 8)),
        ((0, 1, 2),),
        ((5,),),
        ((0, 1, 2, 3), (0, 1, 2, 3)),
    ):
        assert group_dimensions(groups, channels) is None


def test_no_bound_of_copies_to_some_exceeds_what_a_chain_of_copies_takes():
    """One message to all of a row, passed on from node to node, or sent to each: never below a bound."""
    rng = random.Random(1)
    for _ in range(30):
        network = gossamer.network(rng.choice(["torus:4x4", "array:4x4", "torus:8"]))
        group = rng.sample(range(network.node_count), rng.randint(2, 6))
        case = WormholeCase(network, task("broadcast", groups=[group]), COST)
        outcome = gossamer.plan(network, case.task, switching="wormhole", cost=COST)
        assert outcome.completion_time >= max(b.value for b in bounds(case))
    line = gossamer.network("array:6")
    far = WormholeCase(line, task("broadcast", groups=[[0, 4, 5]]), LinearCost(startup=0, message_bytes=10))
    cut = {b.name: b.value for b in bounds(far)}["channels"]
    assert cut == np.ceil(10)  # a copy crosses each cut once, though two targets lie behind it
