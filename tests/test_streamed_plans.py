"""Plans that keep no hops: the facts of the plans that keep them, under the same names."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ModelError, NotApplicableError
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import OneToManyRouting

HELD = Rules(buffer=9, buffer_counts="all")


def task_of(network):
    return gossamer.task("permutation", destination=np.random.default_rng(5).permutation(network.node_count).tolist())


@pytest.mark.parametrize("algorithm", ["Q", "H", "greedy", "kunde-2", "valiant-brebner", "best"])
def test_streamed_and_kept_plans_tell_the_same_facts(algorithm):
    network, cost = gossamer.network("array:16x16"), gossamer.StepCost(1)
    rules = None if algorithm in ("greedy", "valiant-brebner", "best") else HELD
    kept, streamed = (
        gossamer.plan(network, task_of(network), rules=rules, cost=cost, algorithm=algorithm, seed=3, stream=stream)
        for stream in (False, True)
    )
    assert kept.schedule is not None
    assert streamed.schedule is None
    facts, same = kept.to_dict(), streamed.to_dict()
    spent = {name for name in facts if name.endswith(("_seconds", "_bytes"))}
    for name in facts.keys() & same.keys() - spent - {"phases"}:
        assert facts[name] == same[name], name
    for name in ("hops", "control_hops", "held_peak", "completion_time", "bound", "claim", "verified", "slots"):
        assert name in same, name
    assert min(same["build_seconds"], same["verify_seconds"]) >= 0  # by one clock
    assert "buffer_peak" not in same  # what is in transit depends on hops to come
    assert [(p["name"], p["slots"], p["control"]) for p in facts["phases"]] == [
        (p["name"], p["slots"], p["control"]) for p in same["phases"]
    ]


def test_what_cannot_be_streamed_is_said():
    network = gossamer.network("array:4x4")
    with pytest.raises(NotApplicableError, match="it sends the message of the i-th source to node i, but"):
        gossamer.plan(network, task_of(network), algorithm="packing", stream=True)
    with pytest.raises(NotApplicableError, match="Q cannot stream its hops"):
        gossamer.plan(network, OneToManyRouting(((1, 2), *[()] * 15)), stream=True)
    with pytest.raises(NotApplicableError, match="shortest-path-tree cannot stream its hops"):
        gossamer.plan(network, "broadcast", stream=True)
    with pytest.raises(NotApplicableError, match="more than the buffer of 2"):
        gossamer.plan(network, task_of(network), rules=Rules(buffer=2, buffer_counts="all"), algorithm="H", stream=True)
    with pytest.raises(ModelError, match="so must a buffer limit: buffer_counts='all'"):
        gossamer.plan(network, task_of(network), rules=Rules(buffer=9), algorithm="H", stream=True)


def test_the_command_line_streams(capsys):
    words = ["plan", "array:16x16", "permutation", "--pattern", "reversal", "--algorithm", "Q", "--stream"]
    assert main([*words, "-v"]) == 0
    out = capsys.readouterr().out
    assert "delivered        256 messages" in out
    assert "move 30 of at most 30, count 15 of at most 15" in out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["completion_time"] == 30
    assert main([*words, "-o", "x.parquet"]) == 2
    assert "nothing to write with --output" in capsys.readouterr().err
    assert main(["plan", "torus:4x4", "permutation", "--pattern", "random", "--algorithm", "Q", "--stream"]) == 2
    assert "needs an array" in capsys.readouterr().err
    assert (
        main(["plan", "torus:4x4", "permutation", "--pattern", "random", "--algorithm", "greedy", "--stream", "-v"])
        == 0
    )
    assert "by phase         greedy " in capsys.readouterr().out


def test_a_streamed_run_of_nothing_meets_its_bound():
    task = gossamer.task("permutation", destination=[-1] * 16)
    run = gossamer.plan("array:4x4", task, algorithm="Q", stream=True)
    assert run.bound == run.completion_time == 0
    assert run.optimal
