"""Schedules as tables of other libraries, and hops in words."""

from __future__ import annotations

import sys

import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.schedules import CONTROL, Phase, Schedule, timeline


@pytest.mark.parametrize("spec", ["torus:4x4", "array:2x3"])
@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce"])
def test_tables_hold_what_the_timeline_does(spec, task):
    schedule = gossamer.plan(spec, task).schedule
    table, rows = schedule.to_arrow(), timeline(schedule)
    assert table["slot"].to_pylist() == rows.start.tolist()
    assert table["usable"].to_pylist() == rows.end.tolist()
    for name in ("source", "target", "message", "part"):
        assert table[name].to_pylist() == getattr(rows, name).tolist()
    assert [rows.phases[i] for i in rows.phase] == table["phase"].to_pylist()
    assert not any(column.null_count for column in table.columns)
    assert [(h.slot, h.source, h.target, h.message, h.part) for h in schedule.hops()] == list(
        zip(*(table[n].to_pylist() for n in ("slot", "source", "target", "message", "part")), strict=True)
    )


def test_control_packets_and_parts_have_words():
    network, task, rules = gossamer.network("array:2"), gossamer.task("broadcast"), gossamer.Rules(split=True)
    phases = [Phase("learn", 1, control=True), Phase("go", 2)]
    s = Schedule(network, task, rules, [0, 1, 2], [1, 0, 0], [CONTROL, 0, 1], parts=2, phases=phases)
    assert [str(hop) for hop in s.hops()] == [
        "slot 0: (1) sends a control packet to (0)",
        "slot 1: (0) sends part 0 of message 0 of (0) to (1)",
        "slot 2: (0) sends part 1 of message 0 of (0) to (1)",
    ]
    assert s.to_arrow()["origin"].to_pylist() == [-1, 0, 0]
    assert s.to_arrow()["phase"].to_pylist() == ["learn", "go", "go"]


def test_links_that_take_time_say_until_when():
    s = gossamer.plan(gossamer.network("array:2").with_times(2, 1), "broadcast").schedule
    assert [str(h) for h in s.hops()] == ["slots 0 to 2: (0) sends message 0 of (0) to (1)"]
    assert s.to_arrow()["usable"].to_pylist() == [3]


def test_a_frame_has_the_columns_of_the_table():
    pytest.importorskip("pandas")
    s = gossamer.plan("ring:5", "allgather").schedule
    frame = s.to_frame()
    assert list(frame.columns) == s.to_arrow().column_names
    assert len(frame) == s.hop_count
    assert frame["message"].dtype == "int64"


def test_without_pandas_a_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotApplicableError, match="to_frame needs pandas: pip install pandas"):
        gossamer.plan("ring:3", "broadcast").schedule.to_frame()
