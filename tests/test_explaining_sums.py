"""Partial sums in words, in the explorer, and after failures."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError, ScheduleError, TaskError
from gossamer.explorer import explore
from gossamer.explorer.scenes import scene
from gossamer.plots import draw
from gossamer.questions.tasks import Grouped, PartialSumAllreduce, chunked


def partial_sums(net, rows, task=None, **rules):
    slot, source, target, packet = np.array(sorted(rows)).T
    link = net.links_between(source, target)
    return gossamer.Schedule(net, task or PartialSumAllreduce(), gossamer.Rules(**rules), slot, link, packet)


@pytest.fixture
def line():
    """On array:4, by hand: everything to node 1, which sends some of it too early, and back."""
    rows = [
        (0, 0, 1, 0),
        (0, 3, 2, 0),
        (1, 1, 0, 0),
        (1, 1, 2, 0),
        (2, 2, 1, 0),
        (3, 1, 0, 0),
        (3, 2, 3, 0),
        (4, 1, 0, 0),
    ]
    return partial_sums(gossamer.network("array:4"), rows)


def test_words_say_what_becomes_of_a_sum(line):
    lines = [gossamer.explain(line, slot=t).lines for t in range(5)]
    assert lines[0] == (
        "(0) sends its contribution to (1), which combines it with its own",
        "(3) sends its contribution to (2), which combines it with its own",
    )
    assert lines[1] == (
        "(1) sends its sum of 2 contributions to (0), which takes it instead of its own",
        "(1) sends its sum of 2 contributions to (2), which combines it with its own",
    )
    assert lines[2] == ("(2) sends the whole sum to (1), which takes it instead of its own",)
    assert lines[4] == ("(1) sends the whole sum to (0), which has all of it already",)
    assert gossamer.explain(line, rank=1).lines[:3] == (
        "slot 0: gets the contribution of (0), which it combines with its own, from (0)",
        "slot 1: sends its sum of 2 contributions to (0), (2)",
        "slot 2: gets the whole sum, which it takes instead of its own, from (2)",
    )
    told = gossamer.explain(line, message=0)
    assert told.title == "message 0, the sum for all"
    assert told.lines[2] == "slot 1: (1) sends its sum of 2 contributions to (0), which takes it instead of its own"
    assert told.lines[-1] == "the sum is where it has to be after slot 3"


def test_words_of_relays_switches_groups_and_parts():
    ring = gossamer.network("ring:4")
    rows = [(0, 0, 1, 0), (1, 1, 2, 0), (2, 2, 1, 0), (3, 1, 0, 0)]
    groups = partial_sums(ring, rows, Grouped(PartialSumAllreduce(), [[0, 2]]))
    assert gossamer.explain(groups, slot=1).lines == (
        "(1) sends the contribution of (0) to (2), which combines it with its own",
    )
    assert gossamer.explain(groups, slot=0).lines == ("(0) sends its contribution to (1), which takes it",)
    assert gossamer.explain(groups, message=0).title == "message 0, the sum for all 2 of a group"
    halves = [(t, v, v ^ (1 if t != p else 2), p) for t in range(2) for p in range(2) for v in range(4)]
    parts = partial_sums(gossamer.network("hypercube:2"), halves, chunked(PartialSumAllreduce(), 2))
    assert (
        "(0,0) sends its contribution of part 1 to (0,1), which combines it with its own"
        in gossamer.explain(parts, slot=0).lines
    )
    hub = gossamer.Network("hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3, links_only=True)
    rows = [(0, 0, 3, 0), (1, 3, 1, 0), (2, 1, 3, 0), (3, 3, 2, 0), (4, 2, 3, 0), (5, 3, 0, 0), (5, 3, 1, 0)]
    switched = partial_sums(hub, rows)
    assert gossamer.explain(switched, slot=0).lines == ("0 sends its contribution to 3, which passes it on",)


def test_words_of_what_passes_through_and_of_older_sums():
    net = gossamer.network("array:4")
    # node 1 passes the contribution of 0 on to 2, and sends its own sum, as of slot 0, in slot 3
    rows = [(0, 0, 1, -1), (1, 1, 2, 0), (1, 3, 2, -1), (3, 1, 2, -2), (4, 2, 1, -1), (5, 1, 0, -1), (5, 2, 3, -1)]
    slot, source, target, repeats = np.array(rows).T
    made = {"slot": slot, "link": net.links_between(source, target), "packet": 0 * slot, "repeats": repeats}
    found = gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), **made)
    assert gossamer.verify(found), gossamer.verify(found)
    assert gossamer.explain(found, slot=0).lines == ("(0) sends its contribution to (1), which passes it on",)
    assert gossamer.explain(found, slot=1).lines[0] == (
        "(1) sends the contribution of (0) to (2), which combines it with its own"
    )
    mine = gossamer.lower(found).rank(1)
    assert mine.kind.tolist() == [0, 1, 0, 1, 0]  # its own sum leaves at once
    rows = [(0, 0, 1, -1), (1, 3, 2, -1), (2, 2, 1, -1), (3, 1, 2, -3), (4, 1, 0, -1), (5, 2, 3, -1)]
    slot, source, target, repeats = np.array(rows).T
    made = {"slot": slot, "link": net.links_between(source, target), "packet": 0 * slot, "repeats": repeats}
    found = gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), **made)
    assert gossamer.verify(found), gossamer.verify(found)
    assert gossamer.explain(found, slot=3).lines == (
        "(1) sends its sum of 2 contributions as of slot 1 to (2), which combines it with its own",
    )


def test_sums_are_drawn_and_explored(tmp_path, line):
    for name in ("x.png", "x.svg"):
        draw(line, tmp_path / name)
        assert (tmp_path / name).stat().st_size
    explore(line, tmp_path / "x.html")
    shown = scene(line)
    assert shown.columns["kind"].tolist() == [3]
    assert shown.columns["carried"].tolist() == [1, 1, 2, 2, 4, 4, 4, 4]
    assert shown.columns["held"].size
    assert scene(gossamer.plan("ring:5", "allreduce").schedule).columns["carried"].size == 0


def test_what_has_no_reverse_says_so(line):
    with pytest.raises(TaskError, match="partial-sum-allreduce has no dual by time reversal"):
        line.reverse()
    net = gossamer.network("complete:3")
    twice = partial_sums(net, [(0, 1, 2, 0), (1, 2, 1, 0), (2, 1, 0, 0)], gossamer.task("reduce"))
    with pytest.raises(ScheduleError, match="a partial sum of packet 0 is sent more than once"):
        twice.reverse()


@pytest.mark.parametrize("packets", [1, 3])
def test_sums_are_planned_anew_where_a_link_failed(packets):
    net = gossamer.network("hypercube:3")
    task = chunked(PartialSumAllreduce(), packets)
    rows = [(packets * t + p, v, v ^ 1 << t, p) for t in range(3) for v in range(8) for p in range(packets)]
    sound = partial_sums(net, rows, task)
    assert gossamer.verify(sound)
    found = gossamer.replan(sound, net.without(links=[(0, 1)]))
    assert found.verification.ok
    assert found.schedule.task == task


def test_sums_that_used_no_failed_link_stay_as_they_are(line):
    ring = gossamer.network("ring:4")
    rows = [
        (int(t), int(u), int(v), 0)
        for t, u, v in zip(
            line.slot, line.network.link_source[line.link], line.network.link_target[line.link], strict=True
        )
    ]
    sound = partial_sums(ring, rows)
    found = gossamer.replan(sound, ring.without(links=[(3, 0)]))
    assert found.completion_time == sound.completion_time
    reduced = partial_sums(ring, [(0, 1, 2, 0), (1, 2, 1, 0), (1, 3, 0, 0), (2, 1, 0, 0)], gossamer.task("reduce"))
    assert gossamer.verify(reduced)
    with pytest.raises(NotApplicableError, match="a node sends partial sums to several others"):
        gossamer.replan(reduced, ring.without(links=[(1, 2)]))
