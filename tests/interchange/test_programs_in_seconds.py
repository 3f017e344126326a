"""Programs of other tools on links with speeds: in seconds, over switches, with shared links and ports in turns."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.interchange import export, import_schedule
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import Speeds
from gossamer.planning.plan_resizing import least_seconds
from interchange.msccl_algorithms import ALGORITHMS, msccl_xml

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
    """In the first round partners are at one leaf; in the second, two messages follow each other over the cable."""
    (tmp_path / "x.xml").write_text(msccl_xml(ALGORITHMS["recursive doubling"](4), 4, **form))
    found = import_schedule(tmp_path / "x.xml", leaves(), bytes=size)
    near, far = 2 * MICRO + size / 100e9, 4 * MICRO + 2 * size / 50e9
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
    "recursive doubling": 3.363,
    "recursive doubling in 3 chunks": 3.361,
    "halving-doubling": 2.89,
}
"""Milliseconds of 64 MiB on two servers of 8 GPUs: what crosses between them goes over a NIC of 25 GB/s a GPU."""


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
