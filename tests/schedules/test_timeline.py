"""The timeline says what crosses from where to where, from when to when, for both switchings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.errors import ScheduleError
from gossamer.questions.costs import LinearCost
from gossamer.schedules import CONTROL, Phase, Schedule, timeline
from gossamer.schedules.packets import Packets
from gossamer.verification import verify
from gossamer.wormhole import PayloadTable, StepPhase, WormholeSchedule
from schedules import twin
from schedules.strategies import schedules

COLUMNS = ("start", "end", "source", "target", "message", "part", "phase")


def rows(made) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(made, name).tolist() for name in COLUMNS), strict=True))


def test_hops_have_the_times_of_their_slots_whatever_the_lengths_of_phases():
    net = gossamer.network("array:3")  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->1
    phases = [Phase("learn", 2, Fraction(1, 6), control=True), Phase("go", 3, Fraction(1, 2)), Phase("rest", 1)]
    s = Schedule(
        net, gossamer.task("broadcast"), gossamer.Rules(split=True),
        [0, 1, 2, 3, 3, 5], [3, 2, 0, 0, 1, 1], [CONTROL, CONTROL, 0, 1, 0, 1],
        cost=gossamer.StepCost("1/6"), parts=2, phases=phases,
    )  # fmt: skip
    assert verify(s)
    made = timeline(s)
    assert (made.tick, made.length, made.phases) == (Fraction(1, 6), 17, ("learn", "go", "rest"))
    assert rows(made) == [
        (0, 1, 2, 1, -1, -1, 0),
        (1, 2, 1, 0, -1, -1, 0),
        (2, 5, 0, 1, 0, 0, 1),
        (5, 8, 0, 1, 0, 1, 1),
        (5, 8, 1, 2, 0, 0, 1),
        (11, 17, 1, 2, 0, 1, 2),
    ]
    dtypes = [getattr(made, name).dtype for name in COLUMNS]
    assert dtypes == [np.int64, np.int64, np.int32, np.int32, np.int64, np.int32, np.int32]


def test_a_piece_travels_with_its_message_over_the_time_of_the_step():
    net, table = gossamer.network("torus:4"), PayloadTable()
    both, one = table.row([0, 1]), table.row([1])
    model = LinearCost(startup=3, per_byte="1/2", message_bytes=4, counter_bytes=2)
    task = gossamer.task("partial-multinode-broadcast", active=[0])
    s = WormholeSchedule(
        net, task, model, [0, 1, 1, 2], [0, 0, 0, 1], [[1], [1], [-1], [1]], [-1, both, both, one],
        payloads=table.payloads(), packets=gossamer.wormhole.Pieces.of(task.messages(net), 4, 2),
        phases=[StepPhase("count", 1, control=True), StepPhase("idle", 0), StepPhase("send", 2)],
    )  # fmt: skip
    made = timeline(s)
    assert (made.tick, made.length, made.phases) == (Fraction(1), 4 + 5 + 4, ("count", "idle", "send"))
    assert rows(made) == [
        (0, 4, 0, 1, -1, -1, 0),
        (4, 9, 0, 1, 0, 0, 2),
        (4, 9, 0, 1, 0, 1, 2),
        (4, 9, 0, 3, 0, 0, 2),
        (4, 9, 0, 3, 0, 1, 2),
        (9, 13, 1, 2, 0, 1, 2),
    ]
    assert made.length * made.tick == s.completion_time


def test_an_invariant_schedule_shows_every_translate():
    s = gossamer.plan("ring:5", "allgather").schedule
    assert s.invariant
    made = timeline(s)
    assert sorted(rows(made)) == sorted(rows(timeline(s.expand())))
    assert made.count == s.hop_count == 20


@settings(max_examples=60)
@given(schedules())
def test_every_hop_is_one_row_in_order_and_the_last_ends_with_the_schedule(schedule):
    made, rules = timeline(schedule), twin.Rules(schedule)
    assert made.count == schedule.hop_count
    assert (np.diff(made.start) >= 0).all()
    assert made.length * made.tick == schedule.completion_time
    for row, slot in zip(rows(made), schedule.slot.tolist(), strict=True):
        start, end, u, v, message, part, phase = row
        assert end * made.tick == schedule.time_of(slot)
        assert (end - start) * made.tick == schedule.phases[phase].slot_length
        assert any(
            (u, v) == hop[:2] and (rules.table[hop[3]][:2] if hop[3] != CONTROL else (-1, -1)) == (message, part)
            for hop in rules.slots[slot]
        )


def test_schedules_without_rows():
    alone = gossamer.network("complete:1")
    nothing = Schedule(alone, gossamer.task("total-exchange"), gossamer.Rules(), [], [], [])
    assert (timeline(nothing).count, timeline(nothing).length) == (0, 0)
    control = Schedule(
        gossamer.network("array:2"), gossamer.task("permutation", destination=[-1, -1]), gossamer.Rules(),
        [0], [0], [CONTROL], packets=Packets([], [], []), phases=[Phase("free", 1, Fraction(0), control=True)],
    )  # fmt: skip
    assert rows(timeline(control)) == [(0, 0, 0, 1, -1, -1, 0)]


def test_what_is_no_schedule_and_what_is_too_long_are_refused():
    with pytest.raises(ScheduleError, match="only schedules have a timeline, got 'plan'"):
        timeline("plan")
    s = gossamer.plan("array:3", "broadcast").schedule
    far = s.replace(phases=[Phase("a", 2), Phase("b", 2**31 - 3, Fraction(2**33, 3))])
    with pytest.raises(ScheduleError, match="too many ticks of 1/3 for a timeline"):
        timeline(far)
