"""Programs of other tools on links with speeds: in seconds, over switches, with shared links and ports in turns."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import gossamer
from gossamer.atomic_files import seconds_text
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.interchange import export, import_schedule, program_schedule
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import Speeds
from gossamer.planning.plan_resizing import least_seconds
from interchange.msccl_algorithms import ALGORITHMS, msccl_xml
from interchange.msccl_loader import load

MICRO = 1e-6


def leaves(fast=100e9, slow=50e9):
    """Return two leaf switches with two ranks each, and a cable between them: bytes a second, 1 us and 2 us."""
    cables = [(0, 4, fast, 1), (1, 4, fast, 1), (2, 5, fast, 1), (3, 5, fast, 1), (4, 5, slow, 2)]
    links = sorted([(u, v, b, t) for u, v, b, t in cables] + [(v, u, b, t) for u, v, b, t in cables])
    source, target, rate, wait = map(np.array, zip(*links, strict=True))
    speeds = Speeds(rate.astype(np.float64), wait * MICRO)
    return Network(
        "leaves", 6, source.astype(np.int32), target.astype(np.int32), terminal_count=4, structures=[speeds],
        links_only=True,
    )  # fmt: skip


def with_speeds(spec, rate, wait):
    network = gossamer.network(spec)
    count = network.link_count
    return network.with_structures([*network.structures, Speeds(np.full(count, rate), np.full(count, wait))])


def seconds(schedule):
    assert gossamer.verify(schedule), gossamer.verify(schedule)
    return float(schedule.cost.seconds(schedule.completion_time))


@pytest.mark.parametrize("form", [{}, {"in_place": True, "scratch": True}])
@pytest.mark.parametrize("size", [10**3, 10**6, 10**9])
def test_doubling_over_two_leaves_takes_what_its_rounds_take(tmp_path, size, form):
    """In the first round partners are at one leaf; in the second, two messages follow each other over the cable.

    Slices of 2 MiB follow each other, so that the second round of each passes while the next one is in the first.
    """
    (tmp_path / "x.xml").write_text(msccl_xml(ALGORITHMS["recursive doubling"](4), 4, **form))
    found = import_schedule(tmp_path / "x.xml", leaves(), bytes=size)
    part = size / math.ceil(size / 2**21)
    near, far = 2 * MICRO + part / 100e9, 4 * MICRO + 2 * size / 50e9
    assert near + far <= seconds(found) * (1 + 1e-12)
    assert seconds(found) == pytest.approx(near + far, rel=0.01)
    assert seconds(found) >= float(least_seconds(found).value)


@pytest.mark.parametrize("shared", [False, True])
def test_sends_take_turns_at_a_shared_port(tmp_path, shared):
    plain = gossamer.network("complete:4")
    export(gossamer.plan(plain, "allgather").schedule, tmp_path / "x.xml", "msccl-xml")
    network = with_speeds("complete:4", 1e9, 2e-6)
    if shared:
        network = network.with_ports(SharedPorts(network.link_source, network.link_target, bandwidth=np.full(4, 1e9)))
    found = import_schedule(tmp_path / "x.xml", network, bytes=10**6)
    assert seconds(found) == pytest.approx(2e-6 + (3 if shared else 1) * 1e-3, rel=0.01)


def test_the_next_send_waits_for_the_link_and_not_for_the_arrival(tmp_path):
    """A threadblock goes on as soon as what it sends has left, however long that is on its way."""
    schedule = gossamer.plan("array:2", gossamer.task("broadcast"), rules=gossamer.Rules(segmented=True)).schedule
    chunks = 8
    text = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="8" ngpus="2" coll="broadcast" inplace="0">'
    for v, (to, from_, kind) in enumerate([(1, -1, "s"), (-1, 0, "r")]):
        buffer = "i" if v == 0 else "o"
        steps = "".join(
            f'<step s="{c}" type="{kind}" srcbuf="{buffer}" srcoff="{c}" dstbuf="{buffer}" dstoff="{c}" cnt="1" '
            'depid="-1" deps="-1" hasdep="0"/>'
            for c in range(chunks)
        )
        copies = "" if v else (
            '<tb id="1" send="-1" recv="-1" chan="0"><step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" '
            f'dstoff="0" cnt="{chunks}" depid="-1" deps="-1" hasdep="0"/></tb>'
        )  # fmt: skip
        text += f'<gpu id="{v}" i_chunks="{chunks * (v == 0)}" o_chunks="{chunks}" s_chunks="0">'
        text += f'<tb id="0" send="{to}" recv="{from_}" chan="0">{steps}</tb>{copies}</gpu>'
    (tmp_path / "x.xml").write_text(text + "</algo>")
    found = import_schedule(tmp_path / "x.xml", with_speeds("array:2", 1e9, 1e-3), bytes=8000)
    assert schedule.completion_time == 1
    assert seconds(found) == pytest.approx(1e-3 + 8e-6, rel=0.01)


@pytest.mark.parametrize(("task", "most"), [("alltoall", 1.05), ("allgather", 4 / 3)])
def test_what_was_exported_takes_about_as_long(tmp_path, task, most):
    """A program does not say what is urgent, so that chunks that must go on may wait for others."""
    rules, cost = gossamer.Rules(cut_through=True, replication=False), gossamer.TimeCost("1MiB")
    plan = gossamer.plan("dgx-a100:1", task, rules=rules, cost=cost).schedule
    export(plan, tmp_path / "x.xml", "msccl-xml", limits=False)
    assert plan.generations == 1
    found = import_schedule(tmp_path / "x.xml", "dgx-a100:1", bytes="1MiB")
    assert seconds(found) <= most * float(plan.cost.seconds(plan.completion_time))
    assert seconds(found) >= float(least_seconds(found).value)


@pytest.mark.parametrize("to", ["msccl-json", "goal"])
def test_other_formats_are_in_seconds_too(tmp_path, to):
    suffix, task = ("json", None) if to == "msccl-json" else ("goal", "allgather")
    export(gossamer.plan("complete:4", "allgather").schedule, tmp_path / f"x.{suffix}", to)
    found = import_schedule(tmp_path / f"x.{suffix}", with_speeds("complete:4", 1e9, 2e-6), task, bytes="1MB")
    assert seconds(found) == pytest.approx(2e-6 + 1e-3, rel=0.01)
    # a cable between the leaves takes four messages in turns
    found = import_schedule(tmp_path / f"x.{suffix}", leaves(), task, bytes="1MB")
    assert seconds(found) == pytest.approx(4e-6 + 4 * 2e-5, rel=0.05)
    export(gossamer.plan("ring:4", "allgather").schedule, tmp_path / f"y.{suffix}", to)
    found = import_schedule(tmp_path / f"y.{suffix}", with_speeds("ring:4", 1e9, 2e-6), task, bytes="1MB")
    assert seconds(found) == pytest.approx(2 * (2e-6 + 1e-3), rel=0.01)


def test_ranks_pass_nothing_on(tmp_path):
    (tmp_path / "x.xml").write_text(msccl_xml(ALGORITHMS["Swing"](16), 16))
    with pytest.raises(FileFormatError, match=r"rank 0 sends to 11, but .* and no path through switches"):
        import_schedule(tmp_path / "x.xml", "dgx-a100:2")
    with pytest.raises(FileFormatError, match=r"judged in steps on complete:16, whose links have no speeds"):
        import_schedule(tmp_path / "x.xml", "complete:16", bytes="1MB")
    with pytest.raises(FileFormatError, match="bytes must be"):
        import_schedule(tmp_path / "x.xml", "dgx-a100:2", bytes="many")


@pytest.fixture
def run(capsys):
    def run(*words):
        status = main([str(word) for word in words])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


PUBLISHED = {
    "recursive doubling": 2.800,
    "recursive doubling in 3 chunks": 2.837,
    "halving-doubling": 2.900,
}
"""Milliseconds of 64 MiB on two servers of 8 GPUs: what crosses between them goes over a NIC of 25 GB/s a GPU.

Doubling needs 64 MiB / (25 GB/s) = 2.684 ms for that, besides which slices of the other rounds pass; in
halving-doubling each threadblock waits for the last one, so that slices follow each other.
"""


@pytest.mark.parametrize(
    ("network", "task", "size", "apart"),
    [
        ("dgx-a100:2,gpus=4", "allreduce", "1GiB", 0.02),
        ("dgx-a100:2,gpus=4", "broadcast", "1GiB", 0.02),
        ("mi300x", "allreduce", "1GiB", 0.02),
        ("tpu-v5e:4x4", "allreduce", "64MiB", 0.2),
    ],
)
def test_a_plan_that_repeats_is_a_program_that_takes_as_long(tmp_path, network, task, size, apart):
    """Threadblocks run ahead of each other, generation by generation, as the plan does."""
    plan = gossamer.plan(network, task, cost=gossamer.TimeCost(size)).schedule
    assert plan.generations > 1
    export(plan, tmp_path / "x.xml", "msccl-xml")
    load(tmp_path / "x.xml")  # within all limits
    found = import_schedule(tmp_path / "x.xml", network, bytes=size)
    own = float(plan.cost.seconds(plan.completion_time))
    assert seconds(found) == pytest.approx(own, rel=apart)
    assert seconds(found) >= float(least_seconds(found).value)
    again = program_schedule(tmp_path / "x.xml", "msccl-xml", plan)
    assert seconds(again) == seconds(found)


def test_one_threadblock_for_each_link_holds_up_the_next_generation(tmp_path, monkeypatch):
    plan = gossamer.plan("dgx-a100:2,gpus=4", "allreduce", cost=gossamer.TimeCost("1GiB")).schedule
    monkeypatch.setattr("gossamer.interchange.msccl._window", lambda plan: 2**40)
    export(plan, tmp_path / "x.xml", "msccl-xml")
    found = import_schedule(tmp_path / "x.xml", "dgx-a100:2,gpus=4", bytes="1GiB")
    assert seconds(found) > 2 * float(plan.cost.seconds(plan.completion_time))


def test_export_says_what_a_program_takes_that_is_slower_than_its_plan(tmp_path, run):
    for size, said in (("1GiB", False), ("16MiB", True)):
        plan = gossamer.plan("tpu-v5e:4x4", "broadcast", cost=gossamer.TimeCost(size))
        plan.save(tmp_path / "x.parquet")
        status, out, _ = run("export", tmp_path / "x.parquet", "--to", "msccl-xml", "-o", tmp_path / "x.xml")
        assert status == 0
        told = json.loads(run("verify", tmp_path / "x.xml", "tpu-v5e:4x4", "--bytes", size, "--json")[1])
        own = float(plan.schedule.cost.seconds(plan.schedule.completion_time))
        assert (told["completion_seconds"] > 1.03 * own) == said
        assert (f"as a program: {seconds_text(told['completion_seconds'])}, " in out) == said
        assert (
            f" x the {seconds_text(own)} of the plan; what loads it moves up to 2 MiB of a chunk at once" in out
        ) == said


def test_threadblocks_that_share_a_connection_are_carried_out_once(tmp_path):
    """Nothing would keep the slices of one apart from those of the other."""
    step = (
        '<step s="0" type="{0}" srcbuf="{1}" srcoff="{2}" dstbuf="{1}" dstoff="{2}" cnt="1" depid="{3}" deps="{3}" '
        'hasdep="1"/>'
    )
    text = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="broadcast" inplace="1">'
    for v, kind in enumerate("sr"):
        buffer = "i" if v == 0 else "o"
        text += f'<gpu id="{v}" i_chunks="{2 * (v == 0)}" o_chunks="2" s_chunks="0">'
        for tb in range(2):
            ends = 'send="1" recv="-1"' if v == 0 else 'send="-1" recv="0"'
            text += f'<tb id="{tb}" {ends} chan="0">{step.format(kind, buffer, tb, tb - 1)}</tb>'
        text += "</gpu>"
    (tmp_path / "x.xml").write_text(text + "</algo>")
    found = import_schedule(tmp_path / "x.xml", with_speeds("array:2", 1e9, 1e-3), bytes="64MiB")
    assert (found.hop_count, bool(gossamer.verify(found))) == (2, True)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_allreduces_are_verified_and_explained_alike(tmp_path, run, name):
    (tmp_path / "hand.xml").write_text(msccl_xml(ALGORITHMS[name](16), 16))
    status, out, err = run("verify", tmp_path / "hand.xml", "dgx-a100:2", "--json")
    assert status == 0
    assert "64 MiB, as no --bytes is given" in err
    told = json.loads(out)
    assert told["valid"]
    assert told["completion_seconds"] * 1e3 == pytest.approx(PUBLISHED[name], abs=2e-3)
    ratio = f"{told['completion_seconds'] / told['bound_seconds']:.4g} x the bound"
    status, out, _ = run("explain", tmp_path / "hand.xml", "dgx-a100:2", "--quick")
    assert status == 0
    assert ratio in out.split("\n\n")[0].replace("\n", " ")
    assert run("verify", tmp_path / "hand.xml", "--network", "dgx-a100:2")[1].count("valid: ") == 1


def test_sizes_and_what_is_missing(tmp_path, run):
    (tmp_path / "hand.xml").write_text(msccl_xml(ALGORITHMS["recursive doubling"](8), 8))
    status, out, _ = run("verify", tmp_path / "hand.xml", "dgx-a100", "--bytes", "1MiB:16MiB")
    assert (status, out.count("MiB"), out.count(" yes")) == (0, 3, 3)
    for words in (("verify",), ("explain",)):
        status, _, err = run(*words, tmp_path / "hand.xml")
        assert (status, err.count("\n")) == (2, 1)
        assert "is a program of 8 ranks of another tool, which is judged on a network: name it" in err
    (tmp_path / "bad.xml").write_text("hello")
    status, _, err = run("verify", tmp_path / "bad.xml")
    assert status == 2
    assert "is not XML" in err
    status, _, err = run("verify", tmp_path / "hand.xml", "ring:8", "--network", "complete:8")
    assert (status, "a schedule is of one network" in err) == (2, True)
