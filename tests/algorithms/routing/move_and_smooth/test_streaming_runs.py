"""Streamed runs are the runs that are recorded: same hops, same steps, same buffers."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

import gossamer
from algorithms.routing.move_and_smooth.instances import algorithm, broadcasts
from gossamer.algorithms.routing.move_and_smooth import route_streaming, streaming
from gossamer.bounds import bounds
from gossamer.cases import Case
from gossamer.cli import main
from gossamer.errors import NotApplicableError
from gossamer.model import Model
from gossamer.schedules.metrics import buffer_peak
from gossamer.schedules.sinks import CheckingSink


@pytest.fixture(params=["array:16x16", "array:11x7", "array:4x4x4"])
def case(request):
    network = gossamer.network(request.param)
    draw = np.random.default_rng(5)
    return network, gossamer.task("permutation", destination=draw.permutation(network.node_count).tolist())


@pytest.mark.parametrize("name", ["Q", "H"])
@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_a_streamed_run_is_the_recorded_one(case, name, chunk, monkeypatch):
    network, task = case
    monkeypatch.setattr(streaming, "CheckingSink", partial(CheckingSink, chunk_hops=chunk))
    model = Model(control_time=1, buffer=9, buffer_counts="all")
    said = []
    run = route_streaming(network, task, model, name, said.append)
    schedule = algorithm(name).build(Case(network, task, model))
    assert run.completion_time == schedule.completion_time
    assert run.claim == algorithm(name).offer(Case(network, task, model)).time
    assert [(p.name, p.steps) for p in run.phases] == [(p.name, p.slots) for p in schedule.phases]
    assert run.found.hops + run.found.control_hops == schedule.hop_count
    peak = buffer_peak(schedule, "all")
    assert run.found.buffer.packets == peak.packets
    assert run.found.delivered == network.node_count
    distance = bounds(Case(network, task, model))[0]
    assert (run.bound, run.witness) == (distance.value, f"{distance.name}: {distance.witness}")
    assert said
    values = run.to_dict()
    assert values["verified"]
    assert values["phases"][0]["guaranteed"] == run.phases[0].guaranteed
    assert dict(run.rows())["delivered"] == f"{network.node_count:,} messages"
    assert run._repr_html_().startswith("<table>")


def test_what_cannot_be_streamed_is_said():
    network = gossamer.network("array:4x4")
    task = gossamer.task("permutation", destination=list(range(16)))
    with pytest.raises(NotApplicableError, match="no streaming for algorithm 'packing'"):
        route_streaming(network, task, algorithm="packing")
    with pytest.raises(NotApplicableError, match="needs an array"):
        route_streaming(gossamer.network("ring:16"), task)
    with pytest.raises(NotApplicableError, match="cannot stream its hops"):
        route_streaming(network, broadcasts(network, 3, np.random.default_rng(0)))
    with pytest.raises(NotApplicableError, match="more than the buffer of 2"):
        route_streaming(network, task, Model(buffer=2, buffer_counts="all"), "H")


def test_the_command_line_streams(capsys):
    words = ["plan", "array:16x16", "permutation", "--pattern", "reversal", "--algorithm", "Q", "--stream"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "delivered        256 messages" in out
    assert "move 30 of 30, count 15 of 15" in out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["completion_time"] == 30
    assert main([*words, "-o", "x.parquet"]) == 2
    assert "nothing to write with --output" in capsys.readouterr().err
    assert main(["plan", "torus:4x4", "permutation", "--pattern", "random", "--stream"]) == 2
    assert "needs an array" in capsys.readouterr().err


def test_a_streamed_run_of_nothing_meets_its_bound():
    run = route_streaming(gossamer.network("array:4x4"), gossamer.task("permutation", destination=[-1] * 16))
    assert run.bound == run.completion_time == 0
    assert repr(run) == "<StreamedRun permutation on array:4x4: 0 steps, bound 0, Q>"
    assert dict(run.rows())["completion time"] == "0 steps - meets the bound: optimal"
