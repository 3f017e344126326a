"""MSCCL++ execution plans move real blocks within the limits of their executor."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.interchange import export
from interchange.mscclpp_loader import MOST, Machine, load
from programs.oracle import inputs_of, wanted

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "alltoall"),
    ("hypercube:3", "allreduce"),
    ("star:4", "reduce-scatter"),
    ("array:2x4", "reduce"),
    ("array:2x4", "scatter"),
    ("ring:5", "gather"),
    ("ring:7", "allreduce"),
    ("array:8", "alltoall"),
    ("array:2x3", gossamer.task("allgatherv", counts=(3, 0, 1, 4, 0, 2))),
    (nx.petersen_graph(), "allreduce"),
]


def carried_out(tmp_path, schedule):
    """Export a schedule, and check that two calls in a row give every rank what it must have; return the plan."""
    export(schedule, tmp_path / "x.json", "mscclpp")
    plan = load(tmp_path / "x.json")
    program, machine = gossamer.lower(schedule), Machine(plan)
    for seed in range(2):
        inputs = inputs_of(program, seed)
        for got, want in zip(machine.run(inputs, seed), wanted(program, inputs), strict=True):
            np.testing.assert_array_equal(got[: want.size], want)
    return plan


@pytest.mark.parametrize(("network", "task"), CASES)
@pytest.mark.parametrize("split", [False, True])
def test_an_executor_moves_every_block_to_its_place(tmp_path, network, task, split):
    network = gossamer.network(network)
    plan = carried_out(tmp_path, gossamer.plan(network, task, rules=gossamer.Rules(split=split)).schedule)
    names = {"allgather": "allgather", "alltoall": "alltoall", "reduce-scatter": "reducescatter"}
    assert plan["collective"] == names.get(task, plan["collective"])
    assert not plan["inplace"]


def test_a_link_with_many_blocks_gets_more_threadblocks_and_channels(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("array:18", "alltoall").schedule)
    middle = plan["gpus"][8]
    assert max(len(tb["ops"]) for tb in middle["threadblocks"]) <= MOST["ops"]
    assert middle["channels"][0]["connected_to"].count(9) > 2


def test_what_is_only_passed_on_lies_in_scratch_and_what_stays_is_put_where_it_stays(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("array:4", "allgather").schedule)
    assert [gpu["scratch_chunks"] for gpu in plan["gpus"]] == [0] * 4
    plan = carried_out(tmp_path, gossamer.plan("array:4", "gather").schedule)
    assert [gpu["scratch_chunks"] for gpu in plan["gpus"]] == [0, 2, 1, 0]


def test_offsets_fit_32_bits(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("ring:6", "alltoall").schedule)
    largest = max(gpu[f"{b}_chunks"] for gpu in plan["gpus"] for b in ("input", "output", "scratch"))
    chunk = plan["max_message_size"] // 6
    assert chunk * largest < 2**32 <= (chunk + 16) * largest


@pytest.mark.parametrize(
    ("network", "task", "limit"),
    [
        ("complete:64", "alltoall", "rank 0 would have 127 threadblocks, which wait for each other; a GPU of 108"),
        ("fat-tree:k=2,h=2", "broadcast", "sends several copies of what comes to it, and a switch runs no rank"),
    ],
)
def test_a_limit_that_is_broken_is_named(tmp_path, network, task, limit):
    schedule = gossamer.plan(gossamer.network(network), task).schedule
    with pytest.raises(NotApplicableError, match=limit):
        export(schedule, tmp_path / "x.json", "mscclpp")
    assert not list(tmp_path.iterdir())


def test_the_loader_sees_a_plan_that_is_wrong(tmp_path):
    export(gossamer.plan("array:3", "gather").schedule, tmp_path / "x.json", "mscclpp")
    text = (tmp_path / "x.json").read_text()
    for old, new in (
        (',{"name":"sem_acquire","semaphore_ids":[0]},{"name":"nop"}', ""),
        ('"name":"pwsf"', '"name":"put"'),
        (',{"name":"nop"},{"name":"sem_release","semaphore_ids":[0]}', ""),
    ):
        assert old in text
        (tmp_path / "wrong.json").write_text(text.replace(old, new, 1))
        with pytest.raises(AssertionError):
            many_times(tmp_path / "wrong.json")


def many_times(path):
    machine = Machine(load(path))
    for seed in range(20):
        machine.run([np.arange(1)] * 3, seed)
