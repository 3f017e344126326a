"""Replays: a schedule takes its slots, in LogGP exactly and in SimGrid within microseconds."""

from __future__ import annotations

import json
import shutil

import networkx as nx
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ModelError, NotApplicableError
from gossamer.interchange import export
from gossamer.runtime import loggp_time, smpi_time
from interchange.goal_replay import parse, replay

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "allreduce"),
    ("hypercube:4", "alltoall"),
    ("star:4", "allgather"),
    ("array:3x4", "scatter"),
    ("array:5", "alltoall"),
]


@pytest.mark.parametrize(("network", "task"), CASES)
def test_loggp_agrees_with_the_replay_of_the_exported_text(tmp_path, network, task):
    schedule = gossamer.plan(network, task).schedule
    program = gossamer.lower(schedule)
    export(schedule, tmp_path / "x.goal", "goal", message_bytes=101 * schedule.parts)
    last, _ = replay(parse((tmp_path / "x.goal").read_text()))
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
    assert capsys.readouterr().out.splitlines()[0] == "multinode-broadcast on torus:4x4, 4 slots, loggp"
    for words in (
        ["--bandwidth", "fast"],
        ["--latency", "-1us"],
        ["--model", "smpi", "--overhead", "1us"],
        ["--bytes", "1,x"],
    ):
        assert main(["simulate", path, *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1
