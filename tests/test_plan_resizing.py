"""Plans for other sizes: valid for every number of bytes, never below a bound, and as fast as a plan of its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.cli import main
from gossamer.errors import GossamerError, ModelError, ScheduleError
from gossamer.planning.plan_resizing import least_seconds, resized
from gossamer.questions.costs import Clock, TimeCost
from gossamer.questions.tasks import packets_of

TWO_SERVERS = "examples/machines/two_servers.edges"
TASKS = ("broadcast", "reduce", "allgather", "reduce-scatter", "alltoall", "scatter", "gather", "allreduce")
SIZES = ("1", "1KiB", "48kB", "1MiB", "200MB", "1GiB", "1TiB")


def seconds(schedule):
    return schedule.cost.seconds(schedule.completion_time)


@settings(max_examples=20)
@given(
    st.sampled_from(("ring:6", "torus:3x3", "array:2x4", "hypercube:3", "fat-tree:2,2", "star:4")),
    st.sampled_from(TASKS), st.sampled_from(("1KiB", "1MiB", "1GiB")), st.sampled_from(SIZES),
    st.sampled_from(("0", "2us")), st.booleans(), st.booleans(),
)  # fmt: skip
def test_every_size_is_valid_beside_its_bound(network, task, planned, asked, latency, whole, grouped):
    if grouped:
        task = gossamer.task(task, groups=[[0, 1], [3, 2]])
    cost = TimeCost(planned, bandwidth="50GB/s", latency=latency, whole=whole)
    plan = gossamer.plan(network, task, cost=cost).schedule
    try:
        other = resized(plan, asked)
    except ScheduleError as error:
        assert "not repeated" in str(error)  # noqa: PT017
        return
    assert gossamer.verify(other), str(gossamer.verify(other))
    clock = other.cost
    assert clock.packet_bytes * packets_of(other.task) >= clock.message_bytes
    least = least_seconds(other)
    if least is not None:
        assert seconds(other) >= least.value
    again = resized(other, asked)
    assert seconds(again) <= seconds(other) * Fraction(102, 100)


def test_partial_sums_leave_as_they_did_with_larger_packets_or_are_refused():
    cost = TimeCost("1KiB", bandwidth="50GB/s", latency="2us")
    assert gossamer.verify(resized(gossamer.plan("array:2x4", "allreduce", cost=cost).schedule, "1MiB"))
    with pytest.raises(ScheduleError, match="partial sums that leave before others come are not repeated"):
        resized(gossamer.plan("array:3x3", "allreduce", cost=cost).schedule, "1MiB")


@pytest.mark.parametrize("task", ["broadcast", "allgather", "reduce-scatter", "scatter", "alltoall"])
def test_a_plan_of_a_mebibyte_is_near_the_bound_at_a_tebibyte(task):
    plan = gossamer.plan(TWO_SERVERS, task, cost=TimeCost("64MiB")).schedule
    large = resized(plan, "1TiB")
    assert gossamer.verify(large)
    assert seconds(large) <= least_seconds(large).value * Fraction(103, 100)


@pytest.mark.parametrize("task", ["broadcast", "reduce", "allgather", "reduce-scatter", "allreduce", "alltoall"])
def test_a_gibibyte_on_two_servers_is_near_the_bound(task):
    plan = gossamer.plan(TWO_SERVERS, task, cost=TimeCost("1GiB"))
    assert plan.ratio <= 1.025
    assert plan.schedule.stored_hops <= 150_000
    assert plan.verification.ok
    assert plan.bound_seconds <= plan.seconds


def test_a_plan_of_generations_says_so():
    plan = gossamer.plan(TWO_SERVERS, "broadcast", cost=TimeCost("1GiB"))
    schedule = plan.schedule
    assert schedule.repetition is not None
    assert (
        plan.forms[0].words == f"{gossamer.questions.tasks.packets_of(schedule.task):,} packets a message "
        f"({schedule.generations:,} times {schedule.repetition.packets})"
    )
    assert dict(plan.rows(verbose=True))["generations"].startswith(f"{schedule.generations:,} of ")
    assert plan.to_dict()["generations"] == schedule.generations
    assert plan.claim is None


def test_a_plan_of_generations_is_explained_by_the_first():
    schedule = gossamer.plan(TWO_SERVERS, "broadcast", cost=TimeCost("1GiB")).schedule
    found = gossamer.explain(schedule, slots=True)
    assert f", the first of {schedule.generations:,} generations, one every " in found.title
    assert len(found.lines) == schedule.generation_slots


def test_whole_messages_and_chunks_stay_as_asked():
    for cost, task in (
        (TimeCost("1GiB", whole=True), "broadcast"),
        (TimeCost("1GiB"), gossamer.task("broadcast", packets=40)),
    ):
        schedule = gossamer.plan(TWO_SERVERS, task, cost=cost).schedule
        assert schedule.repetition is None


@pytest.mark.parametrize("asked", ["0", "-1", "lots", "1.5", str(2**62)])
def test_odd_sizes_are_refused(asked):
    plan = gossamer.plan("ring:4", "broadcast", cost=TimeCost("1MiB", bandwidth="1GB/s")).schedule
    with pytest.raises(ModelError):
        resized(plan, asked)


def test_a_plan_in_steps_has_no_bytes():
    with pytest.raises(ScheduleError, match="counts steps"):
        resized(gossamer.plan("ring:4", "broadcast").schedule, "1MiB")


def test_the_command_answers_for_other_sizes(tmp_path, capsys):
    def run(*words):
        """The exit status, and what was printed."""
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out + err

    plan, other = tmp_path / "plan.parquet", tmp_path / "other.parquet"
    assert run("plan", TWO_SERVERS, "broadcast", "--bytes", "64MiB", "-o", plan)[0] == 0
    status, shown = run("verify", plan, "--bytes", "4GiB", "-o", other)
    assert status == 0
    assert re.search(r"1\.0\d* x the lower bound .*, however messages are segmented", shown)
    assert gossamer.load(other) == resized(gossamer.load(plan), "4GiB")
    assert run("verify", other)[0] == 0
    status, shown = run("verify", plan, "--bytes", "1KiB:1GiB:1024", "--json")
    rows = json.loads(shown[: shown.rindex("]") + 1])
    assert [row["bytes"] for row in rows] == [2**10, 2**20, 2**30]
    assert all(row["valid"] and row["ratio"] >= 1 for row in rows)
    status, table = run("verify", plan, "--bytes", "1KiB,1GiB")
    assert table.splitlines()[1].split() == [
        "bytes",
        "time",
        "bandwidth",
        "x",
        "bound",
        "packets",
        "generations",
        "valid",
    ]
    for words in (
        ("verify", plan, "-o", other), ("verify", plan, "--bytes", "1KiB,1MiB", "-o", other),
        ("verify", plan, "--bytes", "1KiB,1MiB", "--compare"), ("verify", plan, "--bytes", "0"),
        ("verify", plan, "--bytes", "1MiB", "-o", tmp_path / "x.svg"),
    ):  # fmt: skip
        assert run(*words)[0] == 2, words
    assert run("explain", plan, "--bytes", "1KiB", "--rank", "0")[0] == 0
    assert run("draw", plan, "--bytes", "1KiB", "-o", tmp_path / "x.svg")[0] == 0
    steps = tmp_path / "steps.parquet"
    gossamer.plan("ring:4", "broadcast").save(steps)
    status, refused = run("verify", steps, "--bytes", "1MiB")
    assert status == 2
    assert "counts steps" in refused


def test_files_without_bandwidths_answer_in_proportion():
    plan = gossamer.plan("ring:4", "broadcast", cost=TimeCost("1MB", bandwidth="1GB/s", latency="10us")).schedule
    names = ("slot_seconds", "packet_bytes", "message_bytes", "buffer_bytes")
    bare = plan.replace(cost=Clock(**{name: getattr(plan.cost, name) for name in names}))
    ours, theirs = (resized(each, "10MB") for each in (plan, bare))
    assert gossamer.verify(theirs)
    assert seconds(ours) <= seconds(theirs) <= seconds(ours) * Fraction(103, 100)


def test_errors_are_of_the_family():
    with pytest.raises(GossamerError):
        resized(gossamer.plan("ring:4", "broadcast").schedule, 5)


def test_outcomes_are_taken_as_schedules():
    plan = gossamer.plan("ring:4", "allgather", cost=gossamer.TimeCost("1MiB", bandwidth="50GB/s"))
    large = gossamer.resized(plan, "1GiB")
    assert large == gossamer.resized(plan.schedule, "1GiB")
    assert str(gossamer.verify(plan)) == str(gossamer.verify(plan.schedule))
    assert gossamer.verify(large)
    streamed = replace(plan, schedule=None)
    with pytest.raises(GossamerError, match="the schedule was checked as it was made and not kept"):
        gossamer.verify(streamed)
    with pytest.raises(GossamerError, match="a store-and-forward schedule is resized, got 'plan'"):
        gossamer.resized("plan", "1GiB")


def test_what_is_shown_of_objects_is_short():
    plan = gossamer.plan("torus:4x4", "allgather")
    assert repr(plan.case) == "<Case: allgather on torus:4x4>"
    assert repr(plan.bounds).startswith("<Bounds: ")
    assert len(repr(plan.bounds)) < 150
    assert repr(type(plan.bounds)()) == "<Bounds: none>"
