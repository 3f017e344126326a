"""What `explain` says is what the schedule does, and the bound that it names is the schedule's."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import NetworkError, ScheduleError, VerificationError


def schedule(spec="torus:3x3", task="alltoall"):
    return gossamer.plan(spec, task).schedule


def test_slots_hold_every_hop_once():
    s = schedule().expand()
    found = [gossamer.explain(s, slot=t) for t in range(s.slot_count)]
    assert [h.link for f in found for h in f.hops] == s.link.tolist()
    assert all(len(f.lines) == len(f.hops) for f in found)


def test_ranks_send_and_get_what_touches_them():
    s = schedule("array:2x3", "allgather").expand()
    ends = np.array([s.network.link_source[s.link], s.network.link_target[s.link]])
    for v in range(6):
        found = gossamer.explain(s, rank=v)
        assert len(found.hops) == int((ends == v).any(axis=0).sum())
    assert gossamer.explain(s, rank="0,1").title == gossamer.explain(s, rank=(0, 1)).title
    assert gossamer.explain(s, rank=1).title.startswith("node (0,1): sends ")


def test_the_way_of_a_message_is_a_path_and_waits_are_counted():
    s = schedule("array:3x3", "alltoall")
    for m in (8, 72):
        found = gossamer.explain(s, message=m)
        assert [h.target for h in found.hops[:-1]] == [h.source for h in found.hops[1:]]
        assert (found.hops[0].source, found.hops[-1].target) == divmod(m, 9)
        slots = [h.slot for h in found.hops]
        waits = slots[-1] + 1 - len(slots)
        assert any(f"waited for {waits} slot" in line for line in found.lines) == bool(waits)


def test_sums_come_together_and_results_spread():
    s = schedule("torus:3x3", "allreduce")
    up, down = gossamer.explain(s, message=4), gossamer.explain(s, message=13)
    assert up.lines[0].endswith("sends what it has to " + up.lines[0].rsplit(" to ")[1])
    assert up.lines[-1].startswith("the sum is where it has to be after slot ")
    assert down.title == "message 13, the result at (1,1)"
    assert {h.source for h in up.hops} == set(range(9)) - {4} == {h.target for h in down.hops}


@pytest.mark.parametrize(
    ("spec", "task", "words"),
    [
        ("array:3", "gather", "no schedule is faster than 2 steps: a message of node (2) must reach node (0)"),
        ("torus:4x4", "alltoall", "no schedule is faster than 8 steps"),
    ],
)
def test_why_names_the_witness_of_the_bound(spec, task, words):
    found = gossamer.explain(schedule(spec, task))
    assert found.why[0].startswith(words)
    assert found.bound == gossamer.lower_bounds(spec, task)[0]
    assert found.bound.witness in found.why[0]
    assert len(found.why) == 1


def test_a_schedule_above_its_bound_says_so():
    s = gossamer.plan("ring:5", "broadcast").schedule
    late = s.replace(slot=s.slot + 1, phases=None)
    why = gossamer.explain(late).why
    assert why[0].startswith("this takes 3 steps; none of the schedules of unsegmented messages takes less than 2: ")
    assert why[1] == "whether the 1 step above that can be saved is not known"


def test_what_cannot_be_explained_is_refused():
    s = schedule("ring:4", "broadcast")
    for asked, reason in (
        ({"slot": 2}, "the slot must be 0..1, got 2"),
        ({"message": 3}, "broadcast on ring:4 has no message 3; there are 0..0"),
        ({"slot": 0, "rank": 1}, "one thing is explained: a slot, a rank, a message or all slots"),
    ):
        with pytest.raises(ScheduleError) as error:
            gossamer.explain(s, **asked)
        assert str(error.value) == reason
    with pytest.raises(NetworkError, match="node 9 is outside"):
        gossamer.explain(s, rank=9)
    with pytest.raises(VerificationError):
        gossamer.explain(s.replace(slot=s.slot[:1], link=s.link[:1], packet=s.packet[:1]))
    with pytest.raises(ScheduleError, match="a schedule is needed"):
        gossamer.explain(3)


def test_the_command_prints_a_part_and_counts_the_rest(capsys, tmp_path):
    path = tmp_path / "plan.parquet"
    schedule("torus:3x3", "allgather").save(path)
    assert main(["explain", str(path), "--slot", "0", "--limit", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("slot 0 of 0..1, ")
    assert out[0].endswith(": 36 hops on 36 of 36 links")
    assert out[3] == "  ... and 34 more; --limit shows them"
    assert out[4].startswith("no schedule is faster than 2 steps: ")
    assert main(["explain", str(path), "--rank", "0,1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["title"].startswith("node (0,1): sends ")
    assert told["bound"]["value"] == "2"
    assert told["hops"][0]["slot"] == 0
    assert main(["explain", str(path), "--message", "99"]) == 2
    told = "gossamer: multinode-broadcast on torus:3x3 has no message 99; there are 0..8"
    assert capsys.readouterr().err == f"{told}; try: gossamer explain -h\n"
