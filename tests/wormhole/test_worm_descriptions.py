"""Wormhole schedules told: worms in words, as tables, and explained."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ScheduleError, VerificationError
from gossamer.questions.costs import LinearCost

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:2x4", "alltoall"),
    ("array:3x3", "alltoall"),
    ("torus:4x4", "broadcast"),
    ("star:4", "alltoall"),
    ("torus:8x8", gossamer.task("partial-multinode-broadcast", active=(0, 9, 18))),
]


def planned(spec, task):

    return gossamer.plan(spec, task, switching="wormhole").schedule


def small():
    """Return 3 messages: 0 to 3 over 1 and 2, then 0 to 1 and 3 to 2."""
    return gossamer.plan("array:4", "broadcast", switching="wormhole", cost=LinearCost(message_bytes=4)).schedule


@pytest.fixture(scope="module", params=CASES, ids=[f"{a}-{getattr(b, 'name', b)}" for a, b in CASES])
def schedule(request):
    return planned(*request.param)


def test_tables_hold_every_message_and_its_way(schedule):
    table = schedule.to_arrow()
    assert table.num_rows == schedule.message_count
    assert all(column.null_count == 0 for column in table.columns)
    for name in ("step", "source", "target", "length"):
        np.testing.assert_array_equal(table[name].to_numpy(), getattr(schedule, name))
    assert table["end"].to_numpy().max() == float(schedule.completion_time)
    assert [len(way) for way in table["channels"].to_pylist()] == schedule.hops.tolist()
    for row, (message, pieces, control) in enumerate(
        zip(*(table[name].to_pylist() for name in ("message", "pieces", "control")), strict=True)
    ):
        held = schedule.pieces_of(row)
        assert (pieces, control) == (held.size, not held.size)
        of = set(schedule.packets.message[held].tolist())
        assert message == (of.pop() if len(of) == 1 else -1)


def test_frames_have_the_columns_of_the_table(schedule):
    pytest.importorskip("pandas")
    frame = schedule.to_frame()
    assert list(frame.columns) == schedule.to_arrow().column_names
    assert len(frame) == schedule.message_count


def test_worms_are_the_messages_in_order_and_their_ways_lead_to_their_targets(schedule):
    worms = list(schedule.worms())
    assert [(w.step, w.source, w.target, w.length) for w in worms] == list(
        zip(*(getattr(schedule, n).tolist() for n in ("step", "source", "target", "length")), strict=True)
    )
    for worm in worms:
        assert schedule.channels.end(worm.channels[-1]) == worm.target
        assert str(worm).startswith(f"step {worm.step}: {schedule.network.node_name(worm.source)} sends ")


def test_what_a_worm_carries_is_said():
    task = gossamer.task("partial-multinode-broadcast", active=(0, 9, 18))
    found = gossamer.plan("torus:8x8", task, switching="wormhole", algorithm="atd-5").schedule
    worms = [str(w) for w in found.worms()]
    assert any("sends a control message to" in w for w in worms)
    whole = gossamer.plan("torus:4x4", "allgather", switching="wormhole", algorithm="ring-all-gather").schedule
    assert any(w.text == "step 2: (0,0) sends messages 0, 1, 2, 3 to (1,0)" for w in whole.worms())
    assert any("sends piece 5 of message 0 of (0,0) to" in str(w) for w in planned("torus:4x4", "broadcast").worms())


def test_steps_ranks_and_messages_explain_every_worm(schedule):
    steps = [gossamer.explain(schedule, slot=t) for t in range(schedule.step_count)]
    assert sum(len(found.hops) for found in steps) == schedule.message_count
    ends = np.array([schedule.source, schedule.target])
    for v in range(0, schedule.network.node_count, 5):
        found = gossamer.explain(schedule, rank=v)
        assert len(found.hops) == int((ends == v).any(axis=0).sum())
    ids = schedule.messages.ids
    for m in ids[:: max(ids.size // 5, 1)].tolist():
        found = gossamer.explain(schedule, message=m)
        carried = [bool((schedule.packets.message[list(w.pieces)] == m).any()) for w in schedule.worms()]
        assert len(found.hops) == sum(carried)
        assert found.lines[-1] == f"it is where it has to be after step {found.hops[-1].step}"


def test_messages_that_pass_a_router_are_counted():
    schedule = small()
    titles = [gossamer.explain(schedule, rank=v).title.partition("; ")[2] for v in range(4)]
    assert titles == [f"{n} pass through its router" for n in (0, 1, 1, 0)]


def test_a_step_of_wormhole_schedules_is_called_so():
    schedule = small()
    first = "this takes 208 time units; no schedule takes less than 10333/50"
    assert gossamer.explain(schedule).why[0].startswith(first)
    with pytest.raises(ScheduleError, match=r"the step .*0\.\.1"):
        gossamer.explain(schedule, slot=2)
    with pytest.raises(ScheduleError, match="one thing is explained: a step, a rank, a message or all steps"):
        gossamer.explain(schedule, slot=0, rank=1)
    with pytest.raises(ScheduleError, match="broadcast on array:4 has no message 7"):
        gossamer.explain(schedule, message=7)
    with pytest.raises(VerificationError):
        gossamer.explain(schedule.replace(step=np.zeros_like(schedule.step)))


def test_the_command_explains_a_wormhole_file(tmp_path, capsys):
    small().save(tmp_path / "plan.parquet")
    main(["explain", str(tmp_path / "plan.parquet"), "--step", "1"])
    said = capsys.readouterr().out
    assert "(3) sends message 0 of (0) to (2)" in said
    main(["explain", str(tmp_path / "plan.parquet"), "--json"])
    assert json.loads(capsys.readouterr().out)["bound"]["value"]
