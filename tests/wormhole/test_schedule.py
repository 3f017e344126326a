"""Wormhole schedules: columns, times, equality, and what the constructor refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.errors import ScheduleError, TaskError
from gossamer.questions.costs import LinearCost
from gossamer.wormhole import Payloads, PayloadTable, Pieces, StepPhase, WormholeSchedule
from wormhole.strategies import faulty, valid

MODEL = LinearCost(startup=100, per_byte=2, message_bytes=10, counter_bytes=3, hop_time="1/2")


def example(**changes) -> WormholeSchedule:
    """Three steps on a 4 x 3 torus: two messages, a control message, nothing."""
    network, task = gossamer.network("torus:4x3"), gossamer.task("partial-multinode-broadcast", active=[0, 5])
    table = PayloadTable()
    one, both = table.row([0]), table.row([2, 3])
    pieces = Pieces.of(task.messages(network), 10, 3)
    fields = {
        "network": network,
        "task": task,
        "cost": MODEL,
        "step": [0, 0, 1],
        "source": [0, 5, 1],
        "displacement": [[3, 1], [0, -1], [-2, 0]],
        "payload": [one, both, -1],
        "payloads": table.payloads(),
        "packets": pieces,
        "phases": [StepPhase("first", 1), StepPhase("second", 2)],
    }
    return WormholeSchedule(**{**fields, **changes})


def test_sizes_and_times():
    s = example()
    assert s.packets.size.tolist() == [4, 3, 3] * 2
    assert s.length.tolist() == [4, 7, 3]  # pieces of 4; of 3 and 4; a counter
    assert s.hops.tolist() == [4, 1, 2]
    assert s.target.tolist() == [10, 4, 7]
    assert (s.step_count, s.startups, s.message_count, s.volume) == (3, 2, 3, 10)
    # in step 0 the longer message makes fewer hops: 7*2 + 1/2 against 4*2 + 4/2
    assert s.step_cost == (Fraction(229, 2), Fraction(107), Fraction(0))
    assert s.completion_time == Fraction(443, 2)
    assert s.channel_utilization == Fraction(4 * 4 + 7 + 6, 48 * 10)


def test_a_phase_can_make_its_steps_last():
    s = example(phases=[StepPhase("first", 1, 5), StepPhase("second", 2, 9)])
    assert s.step_length.tolist() == [7, 9, 9]
    assert s.step_cost == (Fraction(229, 2), Fraction(118), Fraction(118))
    assert s.startups == 3


def test_times_do_not_overflow():
    model = LinearCost(startup=1, per_byte=Fraction(2**60 + 1, 3), message_bytes=2**31 - 1)
    s = example(cost=model, packets=None, payload=[-1] * 3, payloads=PayloadTable().payloads(), control_bytes=[9] * 3)
    assert s.completion_time == 2 * (1 + 9 * Fraction(2**60 + 1, 3))


def test_the_default_phase_holds_every_step():
    s = example(phases=None)
    assert s.phases == (StepPhase("partial-multinode-broadcast", 2),)


def test_no_messages():
    network, task = gossamer.network("torus:1x1"), gossamer.task("broadcast")
    s = WormholeSchedule(network, task, MODEL, [], [], [], [], payloads=PayloadTable().payloads())
    assert (s.completion_time, s.step_count, s.channel_utilization) == (0, 0, 0)
    assert gossamer.verify(s)


def test_control_messages_have_the_models_length_unless_told():
    assert example().control_bytes.tolist() == [0, 0, 3]
    assert example(control_bytes=[0, 0, 40]).length.tolist() == [4, 7, 40]


def test_columns_cannot_be_changed():
    s = example()
    for column in (s.step, s.displacement, s.payloads.packet, s.packets.size):
        with pytest.raises(ValueError, match="read-only"):
            column[...] = 0


def test_messages_of_a_phase():
    s = example()
    assert s.phase_messages("first") == slice(0, 2)
    assert s.phase_messages(1) == slice(2, 3)
    with pytest.raises(ScheduleError, match="no phase is called 'third'; the phases are first, second"):
        s.phase_messages("third")
    with pytest.raises(ScheduleError, match="phase 2 is outside the 2 phases"):
        s.phase_messages(2)


@settings(max_examples=40, deadline=None)
@given(valid())
def test_order_within_a_step_and_numbers_of_payloads_do_not_matter(schedule):
    order = np.lexsort((np.random.default_rng(0).random(schedule.message_count), schedule.step))
    sets = PayloadTable()
    sets.row([0])  # a set that nobody carries, and the others in another order
    rows = {k: sets.row(schedule.payloads.row(k)) for k in reversed(range(schedule.payloads.count))}
    rows[-1] = -1
    other = schedule.replace(
        source=schedule.source[order],
        displacement=schedule.displacement[order],
        payload=[rows[int(p)] for p in schedule.payload[order]],
        control_bytes=schedule.control_bytes[order],
        payloads=sets.payloads(),
    )
    assert other == schedule


@settings(max_examples=40, deadline=None)
@given(faulty())
def test_equality_sees_every_column(schedule):
    assert schedule == schedule.replace()
    if schedule.message_count:
        assert schedule != schedule.replace(displacement=schedule.displacement + 1)
        assert schedule != schedule.replace(cost=LinearCost(startup=11, message_bytes=10))
    assert schedule != schedule.replace(phases=[StepPhase("else", schedule.step_count)])
    assert schedule != "schedule"


def test_repr_says_what_it_is():
    assert repr(example()) == (
        "<wormhole schedule of partial-multinode-broadcast on torus:4x3: 443/2 in 2 start-ups, 3 messages>"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"step": [1, 0, 1]}, "column 'step' must be ascending"),
        ({"step": [0, 0]}, "columns step, source, displacement, payload must have one length, got 2, 3, 3, 3"),
        ({"step": [0, 0, 3]}, "a message is in step 3, but the phases have 3 steps"),
        ({"step": [-1, 0, 0]}, "column 'step' must be 0..2147483646, got -1..0"),
        ({"step": [0.0, 0.0, 1.0]}, "column 'step' must hold integers, got float64"),
        ({"source": [0, 12, 1]}, "column 'source' must be 0..11, got 0..12"),
        ({"payload": [0, 2, -1]}, "column 'payload' must be -1..1, got -1..2"),
        ({"displacement": [[1], [1], [1]]}, "displacements on torus:4x3 need 2 columns, got 1"),
        ({"displacement": [1, 2, 3]}, "column 'displacement' must have 2 dimensions, got shape (3,)"),
        ({"displacement": [[2**31, 0]] * 3}, "column 'displacement' has values outside -2147483648..2147483647"),
        ({"control_bytes": [0, 0]}, "column 'control_bytes' needs 3 rows, got 2"),
        ({"control_bytes": [0, 0, 0]}, "control_bytes of message 2 is 0; a control message has 1 byte or more"),
        ({"control_bytes": [1, 0, 4]}, "control_bytes of message 0 is 1; a message with a payload has 0"),
        (
            {"phases": [StepPhase("x", -1)]},
            "the number of steps of phase 'x' must be a whole number in 0..2147483647, got -1",
        ),
        (
            {"phases": [StepPhase("x", 3, -2)]},
            "the length of phase 'x' must be a whole number in 0..2147483647, got -2",
        ),
        (
            {"payloads": Payloads(np.array([0, 2, 3]), np.array([1, 0, 2], np.int32))},
            "the pieces of payload 0 must be listed once each in ascending order",
        ),
        (
            {"payloads": Payloads(np.array([0, 1, 3]), np.array([1, 2, 2], np.int32))},
            "the pieces of payload 1 must be listed once each in ascending order",
        ),
        (
            {"payloads": Payloads(np.array([0, 1, 2]), np.array([1, 6], np.int32))},
            "a payload holds a piece outside 0..5",
        ),
        (
            {"payloads": Payloads(np.array([0, 2, 1]), np.array([1], np.int32))},
            "payload starts must ascend from 0 to the number of entries 1",
        ),
        (
            {"packets": Pieces(*(np.array([x]) for x in (0, 0, 0, -1)))},
            "the size of a piece must be 0 or more bytes, got -1",
        ),
        ({"packets": Pieces(*(np.array([x]) for x in (12, 0, 0, 1)))}, "a piece's origin is outside 0..11"),
    ],
)
def test_malformed_columns_are_refused_in_one_line(changes, text):
    with pytest.raises(ScheduleError) as error:
        example(**changes)
    assert str(error.value) == text


def test_tasks_and_networks_that_do_not_fit_are_refused():
    with pytest.raises(ScheduleError, match="displacements on star:4 need 1 columns, got 2"):
        example(network=gossamer.network("star:4"))
    with pytest.raises(TaskError, match=r"active node 12 is outside 0\.\.11"):
        example(task=gossamer.task("partial-multinode-broadcast", active=[12]))
    with pytest.raises(TaskError, match="wormhole messages have one length each and wait for no other collective"):
        example(task=gossamer.task("broadcast", packets=2))


def test_payload_tables_keep_equal_sets_once():
    table = PayloadTable()
    given = np.array([1, 4, 9], np.int32)
    assert [table.row(given), table.row([9, 1, 4, 4]), table.row({2}), table.row(range(2, 3))] == [0, 0, 1, 1]
    given[0] = 0  # the caller may go on using its array
    assert table.payloads().row(0).tolist() == [1, 4, 9]
    assert len(table) == 2
    with pytest.raises(ScheduleError, match="a payload must hold at least one piece"):
        table.row([])
    with pytest.raises(ScheduleError, match=r"payload 2 is outside 0\.\.1"):
        table.payloads().row(2)


def test_pieces_are_of_nearly_equal_size():
    task, network = gossamer.task("allgather"), gossamer.network("ring:3")
    pieces = Pieces.of(task.messages(network), 11, 4)
    assert pieces.size.reshape(3, 4).tolist() == [[3, 3, 3, 2]] * 3
    assert pieces.message.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    with pytest.raises(ScheduleError, match="a message is cut into at least 1 piece, got 0"):
        Pieces.of(task.messages(network), 11, 0)
