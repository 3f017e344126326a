"""The checker finds what a slow twin finds, and says it with names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ScheduleError
from gossamer.networks import Network
from gossamer.questions.costs import LinearCost
from gossamer.schedules import Schedule
from gossamer.wormhole import KINDS, Payloads, PayloadTable, Pieces, StepPhase, WormholeSchedule, verify
from wormhole.strategies import faulty, in_pieces, valid
from wormhole.twin import verdict

MODEL = LinearCost(startup=10, message_bytes=8)


def made(spec, task, rows, *, pieces=None, **options) -> WormholeSchedule:
    """A schedule from rows (step, source, displacement, pieces or None for control)."""
    table = PayloadTable()
    sets = [-1 if row[3] is None else table.row(row[3]) for row in rows]
    step, source, moves = ([row[i] for row in rows] for i in range(3))
    return WormholeSchedule(
        gossamer.network(spec),
        task,
        MODEL,
        step,
        source,
        moves,
        sets,
        payloads=table.payloads(),
        packets=pieces,
        **options,
    )


@settings(max_examples=60, deadline=None)
@given(valid())
def test_valid_schedules_pass_both_checkers(schedule):
    found = verify(schedule)
    assert found
    assert found.hops == int(np.abs(schedule.displacement).sum())
    assert not verdict(schedule)


@pytest.mark.uncompiled
@settings(max_examples=250, deadline=None)
@given(faulty())
def test_faults_are_counted_as_by_the_twin(schedule):
    found = verify(schedule, limit=1000)
    event(", ".join(found.counts) or "still valid")
    assert found.counts == verdict(schedule)
    assert len(found.violations) == found.total
    for kind in KINDS:
        assert sum(v.kind == kind for v in found.violations) == found.counts.get(kind, 0)
    assert all("\n" not in str(v) for v in found.violations)


@settings(max_examples=30, deadline=None)
@given(faulty(), st.integers(0, 3))
def test_the_limit_changes_what_is_named_and_not_what_is_counted(schedule, limit):
    some, all_ = verify(schedule, limit), verify(schedule, 1000)
    assert some.counts == all_.counts
    assert some.violations == all_.violations[: len(some.violations)]
    assert len(some.violations) <= limit
    with pytest.raises(ScheduleError, match="limit must be 0 or more, got -1"):
        verify(schedule, -1)


@settings(max_examples=60, deadline=None)
@given(valid(), st.data())
def test_wrong_pieces_are_counted_as_by_the_twin(schedule, data):
    table = schedule.packets
    columns = {name: getattr(table, name).copy() for name in ("origin", "message", "piece", "size")}
    name = data.draw(st.sampled_from(list(columns)))
    row = data.draw(st.integers(0, table.count - 1))
    columns[name][row] = data.draw(st.integers(0, schedule.network.node_count - 1))
    changed = schedule.replace(packets=Pieces(**columns))
    assert verify(changed).counts == verdict(changed)


def test_two_messages_on_one_channel_are_both_named():
    task = gossamer.task("broadcast")
    found = verify(made("torus:4x4", task, [(0, 0, [1, 2], [0]), (0, 4, [0, 1], None)]))
    assert str(found.violations[0]) == (
        "channel: step 0: message 1 (1,0)->(1,1) by 0,+1 and message 0 (0,0)->(1,2) by +1,+2 "
        "both use channel (1,0)->(1,1)"
    )
    assert (found.violations[0].slot, found.violations[0].nodes, found.violations[0].link) == (0, (4, 5), 18)


def test_a_source_without_what_it_sends_is_named_with_the_piece():
    task = gossamer.task("broadcast")
    found = verify(made("torus:4x4", task, [(0, 1, [1, -1], [0])]))
    assert str(found.violations[0]) == (
        "causality: step 0: message 0 (0,1)->(1,0) by +1,-1 carries piece 0 of message 0, "
        "which node (0,1) does not hold yet"
    )


def test_dimension_zero_is_traveled_first():
    task = gossamer.task("broadcast")
    rows = [(0, 0, [1, 1], [0]), (0, 1, [1, 0], None)]  # (0,0)->(1,0)->(1,1) does not meet (0,1)->(1,1)
    assert "channel" not in verify(made("torus:4x4", task, rows)).counts


def test_opposite_channels_of_a_ring_of_two_are_two_channels():
    task = gossamer.task("broadcast")
    net = gossamer.network("torus:2")
    pieces = Pieces.of(task.messages(net), MODEL.message_bytes, 2)
    rows = [(0, 0, [1], [0]), (0, 0, [-1], [1])]
    assert verify(made("torus:2", task, rows, pieces=pieces))
    assert verify(made("array:2", task, rows, pieces=pieces)).counts == {"displacement": 1, "delivery": 1}


def test_what_arrives_can_be_sent_on_in_the_next_step_only():
    task = gossamer.task("broadcast")
    late = made("array:3", task, [(0, 0, [1], [0]), (1, 1, [1], [0])])
    soon = made("array:3", task, [(0, 0, [1], [0]), (0, 1, [1], [0])])
    assert verify(late)
    assert verify(soon).counts == {"causality": 1, "delivery": 1}


@pytest.mark.parametrize(
    ("spec", "way", "reason"),
    [
        ("torus:4x3", [0, 0], "is displaced by 0,0, so it goes nowhere"),
        ("torus:4x3", [4, 0], "is displaced by +4,0, but a side has 4 nodes, so that at most 3 hops are allowed in it"),
        (
            "torus:4x3",
            [1, -3],
            "is displaced by +1,-3, but a side has 3 nodes, so that at most 2 hops are allowed in it",
        ),
        ("array:4x3", [-1, 0], "is displaced by -1,0, which leaves array:4x3"),
        ("array:4x3", [0, -(2**31)], "but a side has 3 nodes, so that at most 2 hops are allowed in it"),
    ],
)
def test_illegal_displacements_are_explained(spec, way, reason):
    found = verify(made(spec, gossamer.task("broadcast"), [(0, 0, way, [0])]), limit=1)
    assert found.counts["displacement"] == 1
    assert str(found.violations[0]).startswith("displacement: step 0: message 0 of node (0,0) is displaced by ")
    assert str(found.violations[0]).endswith(reason)


def test_missing_deliveries_name_node_and_piece():
    task = gossamer.task("broadcast", root=1)
    net = gossamer.network("ring:3")
    pieces = Pieces.of(task.messages(net), MODEL.message_bytes, 2)
    found = verify(made("ring:3", task, [(0, 1, [1], [0, 1]), (0, 1, [-1], [1])], pieces=pieces))
    assert str(found.violations[0]) == "delivery: node (0) never gets piece 0 of message 1"
    assert found.total == 1


def test_personalized_messages_reach_their_targets():
    task = gossamer.task("scatter")
    assert verify(made("ring:3", task, [(0, 0, [1], [0]), (0, 0, [-1], [1])]))
    assert verify(made("ring:3", task, [(0, 0, [1], [1]), (0, 0, [-1], [0])])).counts == {"delivery": 2}


def test_payloads_must_hold_something_and_pieces_be_the_tasks():
    task = gossamer.task("broadcast")
    valid = made("ring:3", task, [(0, 0, [1], [0]), (0, 0, [-1], [0])])
    empty = valid.replace(payloads=Payloads(np.array([0, 0]), np.zeros(0, np.int32)))
    assert str(verify(empty).violations[0]) == "wrong payload: step 0: message 0 (0)->(1) by +1 carries nothing"
    assert verify(empty).counts == {"wrong payload": 2}
    for table, text in (
        (([1], [0], [0], [8]), "row 0, a piece of message 0, cannot start at node 1"),
        (([0], [0], [1], [8]), "row 0 is piece 1 of message 0; the pieces of a message are numbered 0, 1, 2, ..."),
        (([0], [0], [0], [7]), "the pieces of message 0 have 7 bytes together; the message has 8"),
        (([0], [2], [0], [8]), "row 0 is a piece of message 2, which the task does not have"),
    ):
        found = verify(valid.replace(packets=Pieces(*map(np.array, table))))
        assert text in str(found.violations[0])
        assert found.counts.keys() == {"wrong payload"}


def test_a_message_may_carry_more_than_64_pieces():
    task, every = gossamer.task("broadcast"), list(range(130))
    pieces = Pieces.of(task.messages(gossamer.network("ring:3")), MODEL.message_bytes, 130)
    assert verify(made("ring:3", task, [(0, 0, [1], every), (0, 0, [-1], every)], pieces=pieces))
    most = [(0, 0, [1], every), (0, 0, [-1], every[:-1])]
    assert verify(made("ring:3", task, most, pieces=pieces)).counts == {"delivery": 1}


def test_pieces_of_zero_bytes_are_allowed_where_a_message_is_short():
    task = gossamer.task("broadcast")
    short = made("ring:3", task, [(0, 0, [1], [0]), (0, 0, [-1], [0])]).replace(
        cost=replace(MODEL, message_bytes=2), packets=None
    )
    cut = in_pieces(short, 3)
    assert cut.packets.size.tolist() == [1, 1, 0]
    assert verify(cut)


def test_gossamer_verify_takes_both_kinds_of_schedule():
    wormhole = made("ring:3", gossamer.task("broadcast"), [(0, 0, [1], [0]), (0, 0, [-1], [0])])
    stored = gossamer.plan("ring:3", "broadcast").schedule
    assert isinstance(stored, Schedule)
    assert gossamer.verify(wormhole)
    assert gossamer.verify(stored)
    with pytest.raises(ScheduleError, match="a schedule is needed, got str"):
        gossamer.verify("ring:3")


def test_phases_do_not_change_the_verdict():
    rows = [(0, 0, [1], [0]), (0, 0, [-1], [0])]
    task = gossamer.task("broadcast")
    assert verify(made("ring:3", task, rows, phases=[StepPhase("a", 0), StepPhase("b", 1, 50), StepPhase("c", 2)]))


LEAF = "leaf-spine:leaves=1,spines=1,hosts=3"  # three hosts at one switch, and a switch above it


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("rows", "counts", "text"),
    [
        ([(0, 0, [1], [0]), (1, 1, [1], [0])], {}, ""),
        (
            [(0, 0, [1], [0]), (0, 0, [2], [0])],
            {"channel": 1},
            "message 1 (0,0)->(0,2) by +2 and message 0 (0,0)->(0,1) by +1 both use channel (0,0)->(1,0)",
        ),
        (
            [(0, 0, [1], [0]), (0, 0, [2], [0]), (0, 0, [2], [0])],
            {"channel": 2},
            "message 2 (0,0)->(0,2) by +2 and message 0 (0,0)->(0,1) by +1 both use channel (0,0)->(1,0)",
        ),
        ([(0, 0, [0], None)], {"displacement": 1, "delivery": 2}, "is displaced by 0, so it goes nowhere"),
        (
            [(0, 0, [4], None)],
            {"displacement": 1, "delivery": 2},
            "is displaced by +4, to a node that is no terminal or that it cannot reach",
        ),
        ([(0, 0, [-1], [0])], {"displacement": 1, "delivery": 2}, "is displaced by -1, to a node that is no terminal"),
    ],
)
def test_messages_elsewhere_than_on_grids(rows, counts, text):
    found = verify(made(LEAF, gossamer.task("broadcast"), rows))
    assert found.counts == counts
    assert text in str(found)
    assert verify(made(LEAF, gossamer.task("broadcast"), rows), limit=0).counts == counts


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("ports", "text"),
    [
        ("one", "node 0 sends message 1 0->2 by +2 and message 0 0->1 by +1"),
        ("one-send", "node 0 sends message 1 0->2 by +2 and message 0 0->1 by +1"),
        ("one-receive", "node 2 receives message 2 1->2 by +1 and message 1 0->2 by +2"),
    ],
)
def test_messages_at_one_port_are_both_named(ports, text):
    rows = [(0, 0, [1], [0]), (0, 0, [2], [0]), (0, 1, [1], None)]
    schedule = made("kautz:2,2", gossamer.task("broadcast"), rows, ports=ports)
    found = verify(schedule)
    assert found.violations[0].text == f"step 0: {text}"
    assert found.counts["ports"] == (2 if ports == "one" else 1)
    assert verify(schedule, limit=0).counts == found.counts


@pytest.mark.uncompiled
def test_a_task_without_messages_needs_none():
    network = gossamer.network("ring:3")
    nothing = gossamer.task("permutation", destination=[-1, -1, -1])
    rows = [(0, 0, [1], None)]
    assert verify(made("ring:3", nothing, rows, pieces=Pieces.of(nothing.messages(network), MODEL.message_bytes, 1)))
    found = verify(made("ring:3", nothing, rows, pieces=Pieces(*(np.array([x]) for x in (0, 0, 0, 8)))))
    assert found.counts == {"wrong payload": 1}
    assert "row 0 is a piece of message 0, which the task does not have" in str(found)


@pytest.mark.uncompiled
def test_links_of_one_way_lead_to_no_node_behind_them():
    line = Network("line", 3, [0, 1], [1, 2], links_only=True)
    sets = Payloads(np.array([0, 1]), np.zeros(1, np.int32))
    task = gossamer.task("broadcast", root=1)
    found = verify(WormholeSchedule(line, task, MODEL, [0, 0], [1, 1], [[1], [-1]], [0, 0], payloads=sets))
    assert found.counts == {"displacement": 1, "delivery": 1}
    assert "is displaced by -1, to a node that is no terminal or that it cannot reach" in str(found)
