"""Sinks: phases of given, actual and guaranteed lengths, kept or checked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.errors import ScheduleError
from gossamer.planning.switching.store_and_forward import CheckingSink
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.schedules.hop_sinks import RecordingSink
from gossamer.schedules.packets import CONTROL

LINE = gossamer.network("array:3")  # links 0->1, 1->2, 1->0, 2->1
TASK = gossamer.task("permutation", destination=[2, -1, -1])
CASE = Case(LINE, TASK, gossamer.Rules(), StepCost(Fraction(1, 4)))


def chunks(sink, *hops):
    """Yield one chunk a hop, as (step, link, packet)."""
    for hop in hops:
        columns = sink.columns(4)  # more than is used
        for column, value in zip(columns, hop, strict=True):
            column[0] = value
        yield tuple(column[:1] for column in columns)


def fill(sink):
    """Count in a phase of three steps, then send the packet in two phases of one step."""
    assert sink.phase("count", chunks(sink, (1, 3, CONTROL)), length=3, control=True) == 3
    assert sink.phase("nothing", iter(()), guaranteed=0) == 0
    assert sink.phase("one", chunks(sink, (0, 0, 0)), guaranteed=2) == 1
    assert sink.phase("two", chunks(sink, (0, 1, 0))) == 1
    return sink


def test_a_recording_ends_phases_with_their_last_hops_or_takes_their_lengths():
    schedule = fill(RecordingSink()).schedule(CASE)
    assert [(p.name, p.slots, p.slot_length) for p in schedule.phases] == [
        ("count", 3, Fraction(1, 4)), ("one", 1, 1), ("two", 1, 1),
    ]  # fmt: skip
    assert np.column_stack([schedule.slot, schedule.link, schedule.packet]).tolist() == [
        [1, 3, CONTROL], [3, 0, 0], [4, 1, 0],
    ]  # fmt: skip
    assert gossamer.verify(schedule)


def test_under_the_clock_phases_take_what_is_guaranteed():
    schedule = fill(RecordingSink(clock=True)).schedule(CASE)
    assert [p.slots for p in schedule.phases] == [3, 2, 1]
    assert schedule.slot.tolist() == [1, 3, 5]


def test_a_checking_sink_finds_the_same_time_and_the_same_hops():
    said = []
    sink = fill(CheckingSink(CASE, said.append))
    found = sink.checker.finish()
    assert found
    assert (found.hops, found.control_hops, found.delivered) == (2, 1, 1)
    assert sink.completion_time == fill(RecordingSink()).schedule(CASE).completion_time == Fraction(11, 4)
    assert "two, step 1: 3 hops so far" in said


@pytest.mark.parametrize("sink", [RecordingSink(), CheckingSink(CASE)], ids=["recording", "checking"])
def test_chunks_may_be_empty(sink):
    empty = tuple(np.zeros(0, np.int32) for _ in range(3))
    assert sink.phase("move", iter([empty, *chunks(sink, (0, 0, 0)), empty])) == 1


@pytest.mark.parametrize("sink", [RecordingSink(), CheckingSink(CASE)], ids=["recording", "checking"])
def test_a_phase_longer_than_its_length_is_refused(sink):
    with pytest.raises(ScheduleError, match="phase 'count' takes 3 steps, not 2"):
        sink.phase("count", chunks(sink, (2, 3, CONTROL)), length=2, control=True)


def test_a_phase_longer_than_guaranteed_is_refused_under_the_clock_only():
    ends, clock = RecordingSink(), RecordingSink(clock=True)
    assert ends.phase("move", chunks(ends, (2, 0, 0)), guaranteed=2) == 3
    with pytest.raises(ScheduleError, match="takes 3 steps, 2 are guaranteed"):
        clock.phase("move", chunks(clock, (2, 0, 0)), guaranteed=2)
