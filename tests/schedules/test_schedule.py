"""The schedule: columns, phases, equality, and what its constructor refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, ScheduleError, TaskError
from gossamer.schedules import CONTROL, Packets, Phase, Schedule
from schedules.strategies import schedules

LINE = gossamer.network("array:3")  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->1
BROADCAST = gossamer.task("broadcast")


def schedule(slot=(0, 1), link=(0, 1), packet=(0, 0), task=BROADCAST, **options) -> Schedule:
    return Schedule(LINE, task, gossamer.Rules(), slot, link, packet, **options)


def test_columns_are_32_bit_read_only_arrays():
    s = schedule(*(np.zeros(2, dtype) for dtype in (np.int32, np.int64, np.uint8)))
    for column in (s.slot, s.link, s.packet, s.packets.origin, s.packets.part):
        assert column.dtype == np.int32
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    assert s.packets.message.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        s.packets.message[0] = 1


def test_an_array_taken_over_cannot_change_the_schedule_behind_its_back():
    slot = np.array([0, 1], np.int32)
    schedule(slot=slot)
    with pytest.raises(ValueError, match="read-only"):
        slot[1] = 0


def test_empty_schedule_takes_no_time():
    s = schedule([], [], [])
    assert (s.slot_count, s.completion_time, s.hop_count, s.stored_hops, s.packet_count) == (0, 0, 0, 0, 1)
    assert repr(s) == "<schedule of broadcast on array:3: 0 steps, 0 hops>"


def test_default_packets_are_all_parts_of_all_messages():
    s = Schedule(LINE, gossamer.task("scatter"), gossamer.Rules(split=True), [], [], [], parts=3)
    assert s.packets.message.tolist() == [1, 1, 1, 2, 2, 2]
    assert s.packets.part.tolist() == [0, 1, 2, 0, 1, 2]
    assert s.packets.origin.tolist() == [0] * 6
    assert s.packets == Packets.of(s.messages, 3)
    assert s.packets != Packets.of(s.messages)
    assert s.packets != "packets"


def test_a_hop_takes_12_bytes_and_a_packet_16():
    assert schedule().nbytes == 2 * 12 + 16


def test_phases_follow_each_other():
    phases = [Phase("learn", 2, Fraction(1, 4)), Phase("nothing", 0), Phase("move", 3, Fraction(1, 2), first_slot=99)]
    s = schedule([0, 2, 2, 4], [0, 0, 3, 1], [CONTROL, 0, CONTROL, 0], phases=phases)
    assert [(p.first_slot, p.last_slot, p.duration) for p in s.phases] == [
        (0, 1, Fraction(1, 2)), (2, 1, Fraction(0)), (2, 4, Fraction(3, 2)),
    ]  # fmt: skip
    assert (s.slot_count, s.completion_time) == (5, Fraction(2))
    assert [s.phase_hops(i) for i in range(3)] == [slice(0, 1), slice(1, 1), slice(1, 4)]
    assert s.phase_hops("move") == slice(1, 4)
    assert [s.time_of(t) for t in range(5)] == [Fraction(1, 4), Fraction(1, 2), 1, Fraction(3, 2), 2]


def test_default_phase_has_the_name_of_the_task_and_slots_of_a_part():
    assert schedule().phases == (Phase("broadcast", 2),)
    assert schedule(parts=2).phases == (Phase("broadcast", 2, Fraction(1, 2)),)


@settings(max_examples=50)
@given(schedules())
def test_phases_partition_the_hops_and_the_time(s):
    rows = [range(s.stored_hops)[s.phase_hops(i)] for i in range(len(s.phases))]
    assert [h for r in rows for h in r] == list(range(s.stored_hops))
    times = [s.time_of(t) for t in range(s.slot_count)]
    assert times == sorted(times)
    assert (times[-1] if times else 0) == s.completion_time
    for phase, r in zip(s.phases, rows, strict=True):
        assert all(phase.first_slot <= s.slot[h] <= phase.last_slot for h in r)


@settings(max_examples=50)
@given(schedules(), st.randoms(use_true_random=False))
def test_order_within_a_slot_does_not_matter_for_equality(s, rng):
    order = sorted(range(s.stored_hops), key=lambda h: (s.slot[h], rng.random()))
    columns = {name: getattr(s, name)[order] for name in ("slot", "link", "packet")}
    assert s.replace(**columns) == s
    assert s.replace(algorithm="another") == s


def test_schedules_that_differ_in_anything_else_are_different():
    s = schedule(phases=[Phase("flood", 2)])
    others = [
        s.replace(slot=[0, 0]),
        s.replace(link=[0, 3]),
        s.replace(packet=[0, CONTROL]),
        s.replace(task=gossamer.task("reduce")),
        s.replace(rules=gossamer.Rules(ports="one")),
        s.replace(parts=2),
        s.replace(packets=Packets([1], [0], [0])),
        s.replace(phases=[Phase("flood", 3)]),
        s.replace(phases=[Phase("flood", 2, Fraction(2))]),
        Schedule(gossamer.network("ring:3"), BROADCAST, gossamer.Rules(), [0, 1], [0, 1], [0, 0]),
    ]
    for other in others:
        assert s != other
    assert s == s.replace()
    assert s != "a schedule"
    with pytest.raises(TypeError):
        hash(s)


BAD_COLUMNS = [
    (([0, 1], [0], [0, 0]), "columns slot, link, packet must have one length, got 2, 1, 2"),
    (([[0]], [0], [0]), "column 'slot' must be one-dimensional, got shape (1, 1)"),
    (([0.5], [0], [0]), "column 'slot' must hold integers, got float64"),
    (([True], [0], [0]), "column 'slot' must hold integers, got bool"),
    ((["a"], [0], [0]), "column 'slot' must hold integers, got <U1"),
    (([2**31], [0], [0]), "column 'slot' has values outside -2147483648..2147483647"),
    (([1, 0], [0, 1], [0, 0]), "column 'slot' must be ascending"),
    (([-1, 0], [0, 1], [0, 0]), "slots must be 0..2147483646, got -1..0"),
    (([2**31 - 1], [0], [0]), "slots must be 0..2147483646, got 2147483647..2147483647"),
    (([0], [4], [0]), "column 'link' must be 0..3, got 4..4"),
    (([0], [-1], [0]), "column 'link' must be 0..3, got -1..-1"),
    (([0], [0], [1]), "column 'packet' must be -1..0, got 1..1"),
    (([0], [0], [-2]), "column 'packet' must be -1..0, got -2..-2"),
]
BAD_OPTIONS = [
    ({"parts": 0}, "parts must be a whole number in 1..2147483647, got 0"),
    ({"parts": 1.5}, "parts must be a whole number in 1..2147483647, got 1.5"),
    ({"parts": "2"}, "parts must be a whole number in 1..2147483647, got '2'"),
    ({"parts": 10**12}, "parts must be a whole number in 1..2147483647, got 1000000000000"),
    ({"packets": Packets([0, 0], [0], [0])}, "columns origin, message, part must have one length"),
    ({"packets": Packets([3], [0], [0])}, "a packet's origin is outside 0..2"),
    ({"packets": Packets([-1], [0], [0])}, "a packet's origin is outside 0..2"),
    ({"packets": Packets([0], ["x"], [0])}, "column 'message' must hold integers, got <U1"),
    ({"phases": []}, "a hop is in slot 1, but the phases have 0 slots"),
    ({"phases": [Phase("a", 1)]}, "a hop is in slot 1, but the phases have 1 slots"),
    (
        {"phases": [Phase("a", -1), Phase("b", 3)]},
        "the number of slots of phase 'a' must be a whole number in 0..2147483647, got -1",
    ),
    (
        {"phases": [Phase("a", 2.5)]},
        "the number of slots of phase 'a' must be a whole number in 0..2147483647, got 2.5",
    ),
    (
        {"phases": [Phase("a", 2**31 - 1), Phase("b", 1)]},
        "the number of slots of all phases must be a whole number in 0..2147483647, got 2147483648",
    ),
    (
        {"phases": [Phase("a", 2, Fraction(-1))]},
        "the slot length of phase 'a' must be 0 or more steps, got Fraction(-1, 1)",
    ),
    ({"phases": [Phase("a", 2, "long")]}, "the slot length of phase 'a' must be 0 or more steps, got 'long'"),
    ({"phases": [Phase("a", 2, float("inf"))]}, "the slot length of phase 'a' must be 0 or more steps, got inf"),
]


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS)
def test_malformed_columns_are_refused(columns, message):
    with pytest.raises(ScheduleError) as error:
        schedule(*columns)
    assert str(error.value) == message


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_malformed_options_are_refused(options, message):
    with pytest.raises(ScheduleError) as error:
        schedule(**options)
    assert str(error.value) == message


def test_a_task_must_fit_the_network():
    with pytest.raises(TaskError, match=r"^root node 3 is outside 0\.\.2 of array:3$"):
        schedule(task=gossamer.task("broadcast", root=3))


def test_missing_slots_and_phases_are_named():
    s = schedule(phases=[Phase("up", 1), Phase("down", 1)])
    for wrong, message in (
        (lambda: s.time_of(2), "slot 2 is outside the 2 slots of the schedule"),
        (lambda: s.time_of(-1), "slot -1 is outside the 2 slots of the schedule"),
        (lambda: s.phase_hops("left"), "no phase is called 'left'; the phases are up, down"),
        (lambda: s.phase_hops(2), "phase 2 is outside the 2 phases of the schedule"),
    ):
        with pytest.raises(GossamerError) as error:
            wrong()
        assert str(error.value) == message
        assert type(error.value) is ScheduleError
