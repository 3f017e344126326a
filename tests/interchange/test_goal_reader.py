"""GOAL files read as schedules: round trips, algorithms written by hand, and files that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError, GossamerError
from gossamer.interchange import export, import_schedule
from interchange.msccl_algorithms import ALGORITHMS, msccl_xml
from interchange.test_importing import CASES


@pytest.mark.parametrize(("network", "task", "fields"), CASES)
@pytest.mark.parametrize("split", [False, True])
def test_what_was_exported_comes_back_valid_and_no_slower(tmp_path, network, task, fields, split):
    schedule = gossamer.plan(network, gossamer.task(task, **fields), rules=gossamer.Rules(split=split)).schedule
    path = tmp_path / "x.goal"
    export(schedule, path, "goal", message_bytes=4096)
    found = import_schedule(path, network, task)
    assert gossamer.verify(found), gossamer.verify(found)
    assert (found.task, found.parts) == (schedule.task, schedule.parts)
    assert found.hop_count == schedule.hop_count
    assert found.slot_count <= schedule.slot_count
    if found.parts == 1:  # which of several equal parts is which, nobody can tell
        rows, back = gossamer.timeline(schedule), gossamer.timeline(found)
        where = [np.lexsort((r.message, r.target, r.source)) for r in (rows, back)]
        for a in ("source", "target", "message"):
            np.testing.assert_array_equal(getattr(rows, a)[where[0]], getattr(back, a)[where[1]])


def around(n, waits="requires", size=8):
    """An allgather round a ring one way, as others would write it."""
    lines = [f"num_ranks {n}"]
    for v in range(n):
        lines.append(f"rank {v} {{")
        for i in range(n - 1):
            lines += [f"s{i}: send {size}b to {(v + 1) % n} tag {i}", f"r{i}: recv {size}b from {(v - 1) % n} tag {i}"]
            if i:
                lines += [f"c{i}: calc 10 cpu 0", f"c{i} requires r{i - 1}", f"s{i} {waits} c{i}"]
        lines.append("}")
    return "\n".join(lines)


def test_the_ring_of_others_is_judged(tmp_path, capsys):
    path = tmp_path / "ring.goal"
    path.write_text(around(5))
    found = import_schedule(path, "ring:5", "allgather")
    assert gossamer.verify(found)
    assert found.completion_time == 4
    assert [h.target for h in gossamer.explain(found, message=2).hops] == [3, 4, 0, 1]
    assert main(["verify", str(path), "--network", "ring:5", "--task", "allgather", "--compare"]) == 0
    out = capsys.readouterr().out
    assert "lower bound 2 " in out
    assert "slower than what is planned here: 2 steps by " in out
    # the same text is a reduce-scatter as well: every rank adds its own to what it sends on
    sums = import_schedule(path, "ring:5", "reduce_scatter")
    assert gossamer.verify(sums)
    assert sums.completion_time == 4


def test_a_foreign_schedule_becomes_a_file_that_all_commands_take(tmp_path, capsys):
    path, plan = tmp_path / "ring.goal", tmp_path / "plan.parquet"
    path.write_text(around(4))
    assert main(["import", str(path), "--network", "ring:4", "--task", "allgather", "-o", str(plan)]) == 0
    assert gossamer.verify(gossamer.load(plan))
    assert main(["draw", str(path), "--network", "ring:4", "--task", "allgather", "-o", str(tmp_path / "x.svg")]) == 0
    assert main(["explain", str(path), "--network", "ring:4", "--task", "allgather", "--rank", "1"]) == 0
    assert "slot 0: sends message 1 of 1 to 2" in capsys.readouterr().out.replace("(", "").replace(")", "")
    assert main(["verify", str(path), "--task", "allgather"]) == 2
    assert "--task goes with --network" in capsys.readouterr().err


WRONG = [
    ("", "is not GOAL: line 1 is not 'num_ranks N'"),
    ("num_ranks 3\nrank 0 {\n}\nrank 2 {", "line 4: expected 'rank 1 {', got 'rank 2 {'"),
    ("num_ranks 3\nrank 0 {\n}", "has no rank 1"),
    ("num_ranks 1\nrank 0 {", "ends within rank 0"),
    ("num_ranks 3\nrank 0 {\na: send 8b from 1\n}", "line 3: no statement of GOAL: 'a: send 8b from 1'"),
    ("num_ranks 3\nrank 0 {\na: send 8b to 3\n}", "line 3: rank 0 cannot exchange messages with 3; ranks are 0..2"),
    ("num_ranks 3\nrank 0 {\na: send 8b to 0\n}", "line 3: rank 0 cannot exchange messages with 0"),
    ("num_ranks 3\nrank 0 {\na requires b\n}", "line 3: no operation of rank 0 above it is called 'a'"),
    ("num_ranks 3\nrank 0 {\na: calc 1\na: calc 2\n}", "line 4: rank 0 has two operations 'a'"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_texts_that_are_no_goal_are_refused(tmp_path, text, reason):
    path = tmp_path / "x.goal"
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        import_schedule(path, "ring:3", "allgather")
    assert reason in str(error.value)


RING = around(3)
ODD = [
    (RING.replace("recv 8b from 2 tag 1", "recv 8b from 2 tag 7"), "ring:3", "rank 0 never receives s1 of rank 2"),
    (RING.replace("r1: recv 8b from 2 tag 1", ""), "ring:3", "rank 0 never receives s1 of rank 2"),
    (RING.replace("s1: send 8b to 1 tag 1", "s1: calc 0"), "ring:3", "nobody sends what r1 of rank 1 receives"),
    (RING.replace("send 8b to 1 tag 1", "send 9b to 1 tag 1"), "ring:3", "has messages of 2 sizes (8 to 9 bytes)"),
    (RING.replace("c1 requires r0", "c1 requires s1"), "ring:3", "waits forever for what it requires"),
    (RING, "array:3", "rank 2 sends to 0, but array:3 has no link 2 -> 0"),
    (RING, "ring:4", "has 3 ranks; ring:4 has 4 terminals"),
    (RING.replace("c1 requires r0", "", 1), "ring:3", "begin or end at rank 0 do not add up to whole"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "network", "reason"), ODD)
def test_operations_that_do_not_fit_are_named(tmp_path, text, network, reason):
    path = tmp_path / "x.goal"
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        import_schedule(path, network, "allgather")
    assert reason in str(error.value), error.value


def goal(*ranks):
    """Return a text of the statements of each rank, which are separated by semicolons."""
    inside = "\n".join(f"rank {v} {{\n{text.replace('; ', chr(10))}\n}}" for v, text in enumerate(ranks))
    return f"num_ranks {len(ranks)}\n{inside}\n"


def test_a_send_that_begins_with_another_goes_in_the_same_slot(tmp_path):
    path = tmp_path / "x.goal"
    first = "a: send 8b to 1 tag 0; b: send 8b to 2 tag 1; b irequires a"
    path.write_text(goal(first, "r: recv 8b from 0 tag 0", "r: recv 8b from 0 tag 1"))
    found = import_schedule(path, "ring:3", "broadcast")
    assert gossamer.verify(found)
    assert found.slot.tolist() == [0, 1]  # it is free to begin when the other one has begun


TO_TWO = goal(
    "r: recv 8b from 1 tag 0; s: send 8b to 2 tag 1; t: send 8b to 1 tag 2; s requires r; t requires r",
    "s: send 8b to 0 tag 0; r: recv 8b from 0 tag 2",
    "r: recv 8b from 0 tag 1",
)
OF_TWO = goal(
    "r: recv 8b from 1 tag 0; q: recv 8b from 2 tag 1; s: send 8b to 1 tag 2; s requires r; s requires q",
    "s: send 8b to 0 tag 0; r: recv 8b from 0 tag 2",
    "s: send 8b to 0 tag 1",
)
ALL_AT_ZERO = goal(
    "; ".join(
        f"r{i}: recv 8b from 1 tag {i}; q{i}: recv 8b from 2 tag {i}; s{i}: send 8b to 1 tag {i}; "
        f"t{i}: send 8b to 2 tag {i}"
        f"; s{i} requires r{i}; s{i} requires q{i}; t{i} requires r{i}; t{i} requires q{i}"
        for i in range(3)
    ),
    *["; ".join(f"s{i}: send 8b to 0 tag {i}; r{i}: recv 8b from 0 tag {i}" for i in range(3))] * 2,
)
TWICE = goal(
    "s: send 8b to 1 tag 0; t: send 8b to 2 tag 1; r: recv 8b from 2 tag 5",
    "r: recv 8b from 0 tag 0; s: send 8b to 2 tag 2; s requires r",
    "r: recv 8b from 0 tag 1; q: recv 8b from 1 tag 2; s: send 8b to 0 tag 5; s requires q",
)


@pytest.mark.parametrize(
    ("text", "task", "reason"),
    [
        (TO_TWO, "reduce", "rank 0 sends on 2 messages at"),
        (TO_TWO, "alltoall", "rank 0 sends on 2 messages at"),
        (OF_TWO, "allgather", "rank 0 waits for 2 messages at"),
        (TWICE, "allgather", "a message comes to, or leaves, rank 0 twice"),
    ],
)
def test_messages_that_no_collective_has_are_named(tmp_path, text, task, reason):
    path = tmp_path / "x.goal"
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        import_schedule(path, "ring:3", task)
    assert reason in str(error.value), error.value


def test_a_text_of_too_many_operations_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.interchange.goal._MOST_READ", 5)
    (tmp_path / "x.goal").write_text(RING)
    with pytest.raises(FileFormatError, match="has more than 5 operations"):
        import_schedule(tmp_path / "x.goal", "ring:3", "allgather")


def test_the_search_for_whole_messages_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.interchange.goal._TRIES", 0)
    path = tmp_path / "x.goal"
    path.write_text(goal(
        "a: send 8b to 1 tag 0; b: send 8b to 2 tag 1", "r: recv 8b from 0 tag 0", "r: recv 8b from 0 tag 1"
    ))  # fmt: skip
    with pytest.raises(FileFormatError, match="do not add up to whole"):
        import_schedule(path, "ring:3", "broadcast")


def test_the_task_must_be_named_and_known(tmp_path):
    path = tmp_path / "x.goal"
    path.write_text(RING)
    with pytest.raises(FileFormatError, match="does not say which collective it is; name the task: allgather, "):
        import_schedule(path, "ring:3")
    with pytest.raises(FileFormatError, match="is of collective 'allsort'"):
        import_schedule(path, "ring:3", "allsort")
    with pytest.raises(FileFormatError, match=r"ring\.xml' says itself which collective it is"):
        import_schedule(tmp_path / "ring.xml", "ring:3", "allgather")


@given(st.data())
def test_no_change_of_a_file_is_taken_for_a_valid_schedule_or_ends_badly(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("goal") / "x.goal"
    lines = RING.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    change = data.draw(st.sampled_from(["drop", "double", "swap", "word"]))
    if change == "drop":
        del lines[at]
    elif change == "double":
        lines.insert(at, lines[at])
    elif change == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = data.draw(st.text(max_size=12))
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        found = import_schedule(path, "ring:3", data.draw(st.sampled_from(["allgather", "alltoall", "allreduce"])))
    except GossamerError as error:
        refusal = str(error)
    else:
        refusal = "" if not gossamer.verify(found) or found.hop_count == 6 else "valid,\n but too short"
    assert "\n" not in refusal


def test_sums_without_roots_are_partial_sums(tmp_path):
    path = tmp_path / "x.goal"
    path.write_text(ALL_AT_ZERO)
    found = import_schedule(path, "ring:3", "allreduce")
    assert found.task.describe() == "allreduce, 3 packets a message"
    assert gossamer.verify(found)
    path.write_text(OF_TWO)
    judged = gossamer.verify(import_schedule(path, "ring:3", "allreduce"))
    assert judged.counts == {"delivery": 1}  # rank 2 gets nothing


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("n", [8, 12])
def test_algorithms_written_by_hand_go_there_and_back(tmp_path, name, n):
    (tmp_path / "x.xml").write_text(msccl_xml(ALGORITHMS[name](n), n))
    schedule = import_schedule(tmp_path / "x.xml", f"complete:{n}")
    export(schedule, tmp_path / "x.goal", "goal")
    back = import_schedule(tmp_path / "x.goal", f"complete:{n}", "allreduce")
    assert gossamer.verify(back), gossamer.verify(back)
    assert (back.task, back.hop_count) == (schedule.task, schedule.hop_count)
    assert back.slot_count <= schedule.slot_count


@pytest.mark.parametrize(("network", "back"), [("hypercube:3", True), ("complete:9", True), ("array:5", False)])
def test_planned_sums_come_back_unless_they_pass_through_ranks(tmp_path, network, back):
    cost = gossamer.TimeCost(bytes="64KiB", bandwidth="50GB/s", latency="2us", form="sums")
    schedule = gossamer.plan(network, "allreduce", cost=cost).schedule
    export(schedule, tmp_path / "x.goal", "goal")
    if not back:
        with pytest.raises(FileFormatError, match="does not say which messages bring parts of one sum"):
            import_schedule(tmp_path / "x.goal", network, "allreduce")
        return
    found = import_schedule(tmp_path / "x.goal", network, "allreduce")
    assert gossamer.verify(found)
    assert (found.task, found.hop_count) == (schedule.task, schedule.hop_count)
