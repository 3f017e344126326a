"""Phases of control packets say so, and carry nothing else."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.schedules import CONTROL

CASES = [
    ("torus:4x4", "partial-multinode-broadcast", {"active": [0, 3, 5, 10]}, "rotated-dimensions-unsegmented"),
    ("array:3x4", "partial-multinode-broadcast", {"active": [0, 3, 5, 10]}, "rotated-dimensions-segmented"),
    ("array:4x4", "partial-reduce-scatter", {"active": [0, 3, 5, 10]}, "reversed-rotated-dimensions-unsegmented"),
    ("torus:4x4", "partial-exchange", {"active": [0, 3, 5, 10]}, "rows-and-columns"),
    ("array:8x8", "permutation", {"pattern": "transpose", "network": "array:8x8"}, "Q"),
    ("array:8x8", "permutation", {"pattern": "transpose", "network": "array:8x8"}, "H-clock"),
]


@pytest.mark.parametrize(("spec", "task", "fields", "algorithm"), CASES)
def test_control_phases_carry_control_packets_only_and_others_none(spec, task, fields, algorithm):
    schedule = gossamer.plan(
        spec, gossamer.task(task, **fields), rules=gossamer.Rules(split=True), algorithm=algorithm
    ).schedule
    for number, phase in enumerate(schedule.phases):
        packets = schedule.packet[schedule.phase_hops(number)]
        assert not packets.size or ((packets == CONTROL) == phase.control).all()
    assert any(phase.control for phase in schedule.phases)


def test_a_plan_tells_the_time_of_control_by_phases_not_by_their_names():
    plan = gossamer.plan(
        "torus:4x4",
        gossamer.task("partial-multinode-broadcast", active=[0, 3, 5]),
        algorithm="rotated-dimensions-unsegmented",
    )
    slots = sum(phase.slots for phase in plan.schedule.phases if phase.control)
    assert f"{slots} slots of control packets at t_p = 0 step" in dict(plan.rows(verbose=True))["of which"]


def test_wormhole_control_phases_carry_control_messages_only():
    for algorithm in ("atd-5", "tree-by-rank", "packed-ring-all-gather", "packet-switched"):
        plan = gossamer.plan(
            "torus:6x6",
            gossamer.task("partial-multinode-broadcast", active=[0, 3, 5]),
            algorithm=algorithm,
            switching="wormhole",
            cost=gossamer.LinearCost(message_bytes=64),
        )
        schedule = plan.schedule
        for number, phase in enumerate(schedule.phases):
            payload = schedule.payload[schedule.phase_messages(number)]
            assert not payload.size or ((payload == CONTROL) == phase.control).all()
        assert any(phase.control for phase in schedule.phases)
