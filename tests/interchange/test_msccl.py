"""MSCCL XML moves real blocks within the limits of its loaders; the JSON of msccl-tools says the same schedule."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.interchange import export, import_schedule
from interchange.msccl_loader import load, run
from programs.oracle import inputs_of, wanted

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "alltoall"),
    ("hypercube:3", "allreduce"),
    ("star:4", "reduce-scatter"),
    ("array:2x4", "reduce"),
    ("ring:5", "gather"),
    ("array:8", "alltoall"),
]


@pytest.mark.parametrize(("network", "task"), CASES)
@pytest.mark.parametrize("split", [False, True])
def test_a_loader_moves_every_block_to_its_place(tmp_path, network, task, split):
    schedule = gossamer.plan(network, task, rules=gossamer.Rules(split=split)).schedule
    export(schedule, tmp_path / "x.xml", "msccl-xml")
    algo, gpus = load(tmp_path / "x.xml")
    program = gossamer.lower(schedule)
    inputs = inputs_of(program)
    for seed in range(2):
        for got, want in zip(run(gpus, inputs, seed), wanted(program, inputs), strict=True):
            np.testing.assert_array_equal(got, want)
    assert algo.get("coll") in ("allgather", "alltoall", "allreduce", "reduce_scatter", "reduce", "gather")


def test_a_link_with_more_than_64_blocks_gets_more_channels(tmp_path):
    schedule = gossamer.plan("array:18", "alltoall").schedule  # 81 blocks over the middle link
    export(schedule, tmp_path / "x.xml", "msccl-xml")
    algo, gpus = load(tmp_path / "x.xml")
    assert algo.get("nchannels") == "2"
    program = gossamer.lower(schedule)
    inputs = inputs_of(program)
    for got, want in zip(run(gpus, inputs), wanted(program, inputs), strict=True):
        np.testing.assert_array_equal(got, want)


def test_many_copies_are_spread_over_threadblocks(tmp_path):
    schedule = gossamer.plan("array:2", gossamer.task("allgatherv", counts=(70, 3))).schedule
    export(schedule, tmp_path / "x.xml", "msccl-xml")
    _, gpus = load(tmp_path / "x.xml")
    program = gossamer.lower(schedule)
    inputs = inputs_of(program)
    for got, want in zip(run(gpus, inputs), wanted(program, inputs), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("network", "task", "limit"),
    [
        (nx.star_graph(33), "broadcast", r"33 peers on a channel; an MSCCL loader takes 32"),
        ("complete:70", "alltoall", r"69 peers on a channel"),
        (
            "array:2",
            gossamer.task("allgatherv", counts=(2049, 0)),
            r"rank 0 would have 33 channels of 64 steps; an MSCCL",
        ),
        ("torus:8x8x8", "alltoall", r"XML nodes; an MSCCL loader takes 4,096 a rank"),
        ("ring:1030", "broadcast", r"at most 1,024 GPUs; ring:1030 has 1,030 nodes"),
    ],
)
def test_a_limit_that_is_broken_is_named(tmp_path, network, task, limit):
    schedule = gossamer.plan(gossamer.network(network), task).schedule
    with pytest.raises(NotApplicableError, match=limit):
        export(schedule, tmp_path / "x.xml", "msccl-xml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("network", "task", "fields"),
    [
        ("torus:4x4", "allgather", {}),
        ("hypercube:3", "alltoall", {}),
        ("array:2x3", "broadcast", {"root": 2}),
        ("array:2x3", "scatter", {"root": 2}),
        ("array:2x3", "gather", {"root": 1}),
    ],
)
def test_steps_of_msccl_tools_fulfil_their_collective(tmp_path, network, task, fields):
    schedule = gossamer.plan(network, gossamer.task(task, **fields), rules=gossamer.Rules(split=True)).schedule
    export(schedule, tmp_path / "x.json", "msccl-json")
    algorithm = json.loads((tmp_path / "x.json").read_text())
    assert algorithm["msccl_type"] == "algorithm"
    links = algorithm["topology"]["links"]
    held = {int(v): set(chunks) for v, chunks in algorithm["input_map"].items()}
    for chunk in algorithm["collective"]["chunks"]:
        assert all(chunk["addr"] in held[v] for v in chunk["pre"])
    sends = 0
    for step in algorithm["steps"]:
        used, arriving = {}, []
        for chunk, source, target in step["sends"]:
            assert chunk in held[source]
            used[source, target] = used.get((source, target), 0) + 1
            arriving.append((target, chunk))
            sends += 1
        assert all(n <= links[target][source] * step["rounds"] for (source, target), n in used.items())
        for target, chunk in arriving:
            held[target].add(chunk)
    for chunk in algorithm["collective"]["chunks"]:
        assert all(chunk["addr"] in held[v] for v in chunk["post"])
    assert all(set(chunks) <= held[int(v)] for v, chunks in algorithm["output_map"].items())
    assert sends == schedule.hop_count
    assert algorithm["instance"]["chunks"] == schedule.parts


def test_reductions_have_no_place_in_the_json_of_msccl_tools(tmp_path):
    with pytest.raises(NotApplicableError, match="not for allreduce"):
        export(gossamer.plan("ring:4", "allreduce").schedule, tmp_path / "x.json", "msccl-json")


def test_of_a_plan_that_repeats_one_generation_is_written(tmp_path):
    """What reads the file repeats it for as much as there is to send."""
    steady = Generation(gossamer.plan("ring:4", gossamer.task("allgather", packets=2)).schedule).repeated(500)
    export(steady, tmp_path / "steady.xml", "msccl-xml")
    export(steady.unrolled(1), tmp_path / "one.xml", "msccl-xml")
    assert (tmp_path / "steady.xml").read_bytes() == (tmp_path / "one.xml").read_bytes()
    assert gossamer.verify(import_schedule(tmp_path / "steady.xml", "ring:4"))
    export(steady, tmp_path / "all.goal", "goal")
    assert (tmp_path / "all.goal").read_text().count("send") == steady.hop_count
