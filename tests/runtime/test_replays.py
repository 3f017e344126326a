"""Replays: a schedule takes its slots, in LogGP exactly and in SimGrid within microseconds."""

from __future__ import annotations

import json
import shutil

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ModelError, NotApplicableError, ScheduleError
from gossamer.execution import machine_model_replay
from gossamer.execution.machine_model_replay import loggp_time, own_collective, replay, smpi_own_times, smpi_time
from gossamer.interchange import export
from gossamer.networks import from_networkx
from gossamer.questions.costs import TimeCost
from interchange import goal_replay

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "allreduce"),
    ("hypercube:4", "alltoall"),
    ("star:4", "allgather"),
    ("array:3x4", "scatter"),
    ("array:5", "alltoall"),
]


def planned_sums(network):
    """Return an allreduce by partial sums in chunks on links that take time; on arrays sums pass other ranks."""
    cost = gossamer.TimeCost(bytes="64KiB", bandwidth="50GB/s", latency="2us", form="sums")
    return gossamer.plan(network, "allreduce", cost=cost).schedule


@pytest.mark.parametrize("network", ["hypercube:3", "torus:4x4", "array:5", "ring:9"])
def test_partial_sums_are_replayed(tmp_path, network):
    schedule = planned_sums(network)
    program = gossamer.lower(schedule)
    assert program.hops == schedule.hop_count
    export(schedule, tmp_path / "x.goal", "goal", message_bytes=101 * program.parts)
    last, _ = goal_replay.replay(goal_replay.parse((tmp_path / "x.goal").read_text()))
    # what waits until a block has left waits in the replay of the text until it begins to
    assert last <= loggp_time(program, 101) <= 1.05 * last
    # each rank has to get each chunk once at the least, over at most so many links at once
    assert last >= program.parts * 100 / schedule.network.degree


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
@pytest.mark.parametrize("network", ["hypercube:3", "array:5"])
def test_simgrid_replays_partial_sums(network):
    one = 100_000 / 125e6 + 1e-6
    plain = gossamer.plan(network, "partial-sum-allreduce").schedule
    seconds = smpi_time(gossamer.lower(plain), 100_000)
    # on the array a round waits for sums of earlier rounds that share a link with others
    assert seconds <= (plain.slot_count if network == "hypercube:3" else 2 * plain.slot_count) * one + 10e-6
    schedule = planned_sums(network)
    busiest = np.bincount(schedule.link).max()
    assert smpi_time(gossamer.lower(schedule), 100_000) >= busiest * 100_000 / 125e6


@pytest.mark.parametrize(("network", "task"), CASES)
def test_loggp_agrees_with_the_replay_of_the_exported_text(tmp_path, network, task):
    schedule = gossamer.plan(network, task).schedule
    program = gossamer.lower(schedule)
    export(schedule, tmp_path / "x.goal", "goal", message_bytes=101 * schedule.parts)
    last, _ = goal_replay.replay(goal_replay.parse((tmp_path / "x.goal").read_text()))
    assert loggp_time(program, 101) == last <= schedule.slot_count * 100


def test_the_parameters_of_loggp():
    program = gossamer.lower(gossamer.plan("array:3", "broadcast").schedule)  # two hops, one after the other
    assert loggp_time(program, 1) == 0
    assert loggp_time(program, 1, L=5, o=2) == 2 * (5 + 2 * 2)
    assert loggp_time(program, 11, L=5, o=2, G=0.5) == 2 * (5 + 2 * 2 + 5)
    both = gossamer.lower(gossamer.plan("array:2", gossamer.task("allgatherv", counts=(3, 0))).schedule)
    assert loggp_time(both, 1, g=7) == 14  # the third leaves two gaps after the first
    for words in ({"L": -1}, {"G": float("nan")}, {"o": "1"}):
        with pytest.raises(ModelError):
            loggp_time(both, 1, **words)
    with pytest.raises(ModelError, match="a block has 1 byte or more, got 0"):
        loggp_time(both, 0)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
@pytest.mark.parametrize(
    "network", ["torus:8x8", "torus:4x4x4", "hypercube:6", "star:5", nx.random_regular_graph(3, 16, seed=2)], ids=str
)
def test_simgrid_takes_the_slots_within_ten_microseconds(network):
    schedule = gossamer.plan(gossamer.network(network), "allgather").schedule
    seconds = smpi_time(gossamer.lower(schedule), 100_000)
    assert seconds <= schedule.slot_count * (100_000 / 125e6 + 1e-6) + 10e-6


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
@pytest.mark.parametrize(
    ("network", "task", "split", "size", "most"),
    [
        ("torus:8x8", "allgather", False, 100_000, 1.16),
        ("torus:8x8", "allgather", True, 1_000_000, 1.125),
        ("torus:8x8", "allreduce", False, 100_000, 1.16),
        ("torus:8x8", "alltoall", False, 100_000, 1.14),
        ("torus:4x4x4", "allgather", False, 100_000, 1.19),
        ("hypercube:6", "allgather", False, 100_000, 1.19),
        ("hypercube:6", "alltoall", False, 100_000, 1.14),
    ],
)
def test_the_default_model_takes_little_more_than_the_bound(network, task, split, size, most):
    schedule = gossamer.plan(network, task, rules=gossamer.Rules(split=split)).schedule
    found = replay(schedule, [size], model="smpi-default")[0]
    assert 1 <= found.seconds / found.bound_seconds <= most


def test_the_bound_of_messages_in_chunks_counts_their_bytes_once():
    whole, cut = (gossamer.plan("torus:4x4", gossamer.task("alltoall", packets=k)).schedule for k in (1, 3))
    bounds = [replay(schedule, [1_000_000])[0].bound_seconds for schedule in (whole, cut)]
    assert bounds[0] == pytest.approx(bounds[1])


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
def test_algorithms_of_mpi_are_slower_on_a_torus_and_failures_are_told():
    schedule = gossamer.plan("torus:4x4", "allgather").schedule
    found = replay(schedule, [50_000], model="smpi-default", own=True)[0]
    assert found.own["loosely_lr"] is None
    assert found.own["ring"] > 2 * found.seconds
    assert found.own["choice of mpich"] in found.own.values()
    assert found.best_own > found.seconds


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
@pytest.mark.parametrize("task", ["reduce-scatter", "broadcast", "reduce", "gather", "scatter", "alltoall"])
def test_every_collective_of_mpi_has_algorithms_that_replay(task):
    network = gossamer.network("ring:4")
    algorithms = own_collective(gossamer.task(task)).algorithms
    found = smpi_own_times(network, gossamer.task(task), 1000)
    assert 2 * sum(found[a] is not None for a in algorithms) >= len(algorithms), found
    assert len(set(found.values())) > 1 or len(algorithms) < 3


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
def test_links_have_the_speeds_of_their_network(tmp_path):
    path = tmp_path / "two.edges"
    path.write_text("columns source target bandwidth latency\n0 1 1MB/s 1ms\n1 2 2MB/s 2ms\n")
    network = gossamer.network(str(path))
    schedule = gossamer.plan(network, "gather", cost=gossamer.StepCost()).schedule
    found = replay(schedule, [1_000_000], model="smpi")[0]
    assert 1.5 < found.seconds < 2.6
    with pytest.raises(NotApplicableError, match=r"the links of .* differ, and LogGP has one bandwidth and latency"):
        replay(schedule, [1000])


def test_replays_are_refused_that_do_not_fit():
    schedule = gossamer.plan("ring:4", "allgather").schedule
    for words in ({"model": "fast"}, {"own": True}, {"model": "smpi", "overhead": 1.0}):
        with pytest.raises(ScheduleError):
            replay(schedule, [8], **words)
    rooted = gossamer.plan("ring:4", gossamer.task("multinode-broadcast")).schedule
    assert own_collective(rooted.task).name == "allgather"
    with pytest.raises(NotApplicableError, match="MPI has no collective for permutation"):
        own_collective(gossamer.task("permutation", destination=[1, 0]))


def test_pictures_and_platforms_are_written(tmp_path, capsys):
    path, picture, folder = (tmp_path / name for name in ("plan.parquet", "time.svg", "machine"))
    gossamer.plan("torus:4x4", "allgather").save(path)
    words = ["simulate", path, "--bytes", "1KiB:64KiB", "-o", picture, "--platform", folder, "--bandwidth", "1GB/s"]
    assert main([str(w) for w in words]) == 0
    assert "allgather on torus:4x4, loggp" in picture.read_text()
    assert 'bw="1e+09Bps"' in (folder / "platform.xml").read_text()
    assert capsys.readouterr().out.count(" B ") == 4


def test_without_simgrid_what_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotApplicableError, match="smpirun is not installed; on Debian: apt-get install"):
        smpi_time(gossamer.lower(gossamer.plan("ring:3", "allgather").schedule), 8)


def test_the_command_prints_times_beside_those_of_the_slots(capsys, tmp_path):
    path = str(tmp_path / "plan.parquet")
    gossamer.plan("torus:4x4", "allgather").save(path)
    assert main(["simulate", path, "--bytes", "100kB,1MB", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    for row in told["runs"]:
        assert row["seconds"] == pytest.approx(row["slots_seconds"], rel=1e-9)
    assert main(["simulate", path]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "allgather on torus:4x4: 4 slots, loggp"
    for words in (
        ["--bandwidth", "fast"],
        ["--latency", "-1us"],
        ["--model", "smpi", "--overhead", "1us"],
        ["--bytes", "1,x"],
    ):
        assert main(["simulate", path, *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid's smpirun is not installed")
def test_one_of_mpis_own_algorithms_can_be_chosen():
    network, task = gossamer.network("ring:4"), gossamer.task("allgather")
    assert list(smpi_own_times(network, task, 1000, only=["ring", "choice of mpich"])) == ["ring", "choice of mpich"]
    with pytest.raises(ScheduleError, match=r"no algorithm 'rnig' for multinode-broadcast \(did you mean 'ring'\?\)"):
        smpi_own_times(network, task, 1000, only=["rnig"])


@pytest.mark.parametrize("case", [("ring:8", "allgather"), ("torus:4x4", "broadcast"), ("torus:3x3", "reduce-scatter")])
def test_a_plan_in_seconds_takes_in_loggp_what_it_says_at_every_size(case):
    cost = TimeCost("64MiB", bandwidth="50GB/s", latency="1us")
    plan = gossamer.plan(*case, cost=cost).schedule
    own, *others = replay(plan), *replay(plan, [2**20, 2**26, 2**30])
    assert own[0] == others[1]
    for row in (*own, *others):
        assert row.seconds == pytest.approx(row.slots_seconds, rel=0.01)
        assert row.bound_seconds <= row.slots_seconds


def test_links_that_differ_have_their_own_times_in_loggp():
    graph = nx.DiGraph()
    for u, v, rate in ((0, 1, 4e9), (1, 0, 4e9), (1, 2, 1e9), (2, 1, 1e9)):
        graph.add_edge(u, v, bandwidth=rate, latency=1e-6)
    network = from_networkx(graph)
    plan = gossamer.plan(network, "broadcast", cost=TimeCost("4MB")).schedule
    (row,) = replay(plan)
    assert row.message_bytes == 4_000_000
    assert row.slots_seconds >= 4e-3
    assert row.seconds == pytest.approx(row.slots_seconds, rel=0.01)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_a_plan_in_seconds_takes_in_simgrid_what_it_says_at_three_sizes():
    plan = gossamer.plan("ring:8", "allgather", cost=TimeCost("64MiB", bandwidth="50GB/s", latency="1us")).schedule
    for row in replay(plan, [2**24, 2**26, 2**28], model="smpi"):
        assert row.slots_seconds <= row.seconds * 1.001
        assert row.seconds <= 1.05 * row.slots_seconds


def test_a_plan_in_seconds_goes_out_with_its_own_bytes(tmp_path):
    plan = gossamer.plan("ring:4", "allgather", cost=TimeCost("64KiB", bandwidth="1GB/s", whole=True)).schedule
    plan.save(tmp_path / "plan.parquet")
    export(plan, tmp_path / "own.goal", "goal")
    for words in ((), ("--bytes", "128KiB")):
        told = "".join(words)
        assert (
            main(
                ["export", str(tmp_path / "plan.parquet"), "--to", "goal", "-o", str(tmp_path / f"{told}.goal"), *words]
            )
            == 0
        )
    assert (tmp_path / ".goal").read_text() == (tmp_path / "own.goal").read_text()
    assert "send 65536b" in (tmp_path / "own.goal").read_text()
    large = (tmp_path / "--bytes128KiB.goal").read_text()
    assert "send 65536b" in large or "send 131072b" in large


def test_loggp_is_refused_before_programs_are_made_where_messages_cross_switches(monkeypatch):
    schedule = gossamer.plan("dgx-h100:2", "allgather", cost=gossamer.TimeCost("1MiB")).schedule
    monkeypatch.setattr(machine_model_replay, "_of_plan", lambda *given: pytest.fail("a program was made"))
    with pytest.raises(NotApplicableError, match=r"take --model smpi$"):
        machine_model_replay.replay(schedule)
