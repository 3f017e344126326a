"""What every format has in common, and the plain ones: traces, values, rows of text."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError, ScheduleError, VerificationError
from gossamer.interchange import FORMATS, export
from gossamer.interchange.format import RowText, between_ranks
from gossamer.interchange.goal import read_operations
from gossamer.interchange.smpi import write_platform
from gossamer.programs.files import read_rank
from gossamer.schedules.hop_table import hop_ends
from interchange.msccl_loader import run
from programs.oracle import check_program, inputs_of, wanted


@pytest.fixture(scope="module")
def allgather():
    return gossamer.plan("torus:3x3", "allgather").schedule


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_writes_what_it_says_and_the_same_twice(tmp_path, allgather, name):
    for path in (tmp_path / "a", tmp_path / "b"):
        export(allgather, path, name)
    written = [
        {str(p.relative_to(f)) if p != f else p.name: p.read_bytes() for p in (f, *f.rglob("*")) if p.is_file()}
        for f in (tmp_path / "a", tmp_path / "b")
    ]
    assert [*written[0].values()] == [written[1][n if n in written[1] else "b"] for n in written[0]]
    assert (tmp_path / "a").is_dir() == FORMATS[name].folder
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b"}


@pytest.mark.parametrize("name", FORMATS)
def test_an_invalid_schedule_is_not_handed_on(tmp_path, allgather, name):
    wrong = allgather.expand()
    wrong = wrong.replace(slot=wrong.slot[:-1], link=wrong.link[:-1], packet=wrong.packet[:-1])
    with pytest.raises(VerificationError):
        export(wrong, tmp_path / "a", name)
    assert not list(tmp_path.iterdir())


GROUPS = [[0, 1, 2], [5, 3]]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("task", ["allgather", "reduce-scatter"])
def test_a_format_without_a_word_for_groups_refuses_them(tmp_path, name, task):
    schedule = gossamer.plan("ring:6", gossamer.task(task, groups=GROUPS)).schedule
    if not FORMATS[name].groups:
        for limits in (True, False):
            with pytest.raises(NotApplicableError, match=rf"^{name} has no word for groups, .* in 2 groups of 2 to 3"):
                export(schedule, tmp_path / "a", name, limits=limits)
        assert not list(tmp_path.iterdir())
    else:
        export(schedule, tmp_path / "a", name)


@pytest.mark.parametrize("name", ["msccl-xml", "mscclpp", "msccl-json"])
def test_a_group_of_everyone_is_no_group_and_in_another_order_is_one(tmp_path, name):
    everyone = gossamer.plan("ring:4", gossamer.task("allgather", groups=[[0, 1, 2, 3]])).schedule
    export(everyone, tmp_path / "a", name)
    export(everyone.replace(task=gossamer.task("allgather")), tmp_path / "b", name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    turned = gossamer.plan("ring:4", gossamer.task("allgather", groups=[[1, 2, 3, 0]])).schedule
    with pytest.raises(NotApplicableError, match="has no word for groups"):
        export(turned, tmp_path / "c", name)


def test_traces_of_groups_move_what_their_members_exchange(tmp_path):
    schedule = gossamer.plan("ring:6", gossamer.task("allgather", groups=GROUPS)).schedule
    export(schedule, tmp_path / "goal", "goal", message_bytes=10)
    ranks, operations = read_operations(tmp_path / "goal")
    assert (ranks, len(operations)) == (6, 2 * schedule.hop_count)
    export(schedule, tmp_path / "smpi", "smpi", message_bytes=10)
    rows = [(tmp_path / "smpi" / f"rank-{v}.txt").read_text().split("\n") for v in range(6)]
    moved = [sum(" isend " in row or " irecv " in row for row in each) for each in rows]
    assert sum(moved) == 2 * schedule.hop_count
    assert moved == [sum(op.rank == v for op in operations) for v in range(6)]
    export(schedule, tmp_path / "program", "program")
    sizes = [(mine.input_size, mine.output_size) for mine in (read_rank(tmp_path / "program", v) for v in range(6))]
    assert sizes == [(1, 3), (1, 3), (1, 3), (1, 2), (0, 0), (1, 2)]
    export(schedule, tmp_path / "json", "json")
    assert json.loads((tmp_path / "json").read_text())["task"]["groups"] == GROUPS


def test_bad_requests_are_refused_in_one_line(tmp_path, allgather):
    with pytest.raises(ScheduleError, match=r"unknown format 'gaol' \(did you mean 'goal'\?\)"):
        export(allgather, tmp_path / "a", "gaol")
    for size in (0, -1, 1.5, "many", (), 2**63):
        with pytest.raises(ScheduleError, match="the bytes of a message"):
            export(allgather, tmp_path / "a", "goal", message_bytes=size)
    with pytest.raises(ScheduleError, match="a schedule is exported, got 7"):
        export(7, tmp_path / "a", "goal")
    with pytest.raises(FileFormatError, match="cannot write"):
        export(allgather, tmp_path / "none" / "a", "csv")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    with pytest.raises(FileFormatError, match="is a folder that is not empty"):
        export(allgather, tmp_path / "full", "smpi")
    with pytest.raises(FileFormatError, match="is a file; a folder is written"):
        export(allgather, tmp_path / "full" / "mine", "smpi")
    assert [p.name for p in tmp_path.iterdir()] == ["full"]


PROGRAMS = [name for name, format in FORMATS.items() if not format.switches and name != "msccl-json"]


def test_a_switch_that_copies_or_adds_runs_no_rank(tmp_path):
    schedule = gossamer.plan("fat-tree:k=2,h=2,capacity=constant", "allgather").schedule
    adding = gossamer.plan("leaf-spine:2,2,2", "reduce-scatter", rules=gossamer.Rules(reduction=True)).schedule
    for name in PROGRAMS:
        copies, adds = r"switch \S+ sends several copies of .* --no-replication", r"switch \S+ adds what comes to it, "
        if name == "mscclpp":  # one switch could
            copies = adds = r"a switch channel is over the switches .* has others; plan with --no-replication"
        with pytest.raises(NotApplicableError, match=copies):
            export(schedule, tmp_path / "a", name)
        with pytest.raises(NotApplicableError, match=adds):
            export(adding, tmp_path / "a", name)
    assert not list(tmp_path.iterdir())


THROUGH = [
    ("leaf-spine:2,2,2", "alltoall", {}),
    ("leaf-spine:2,2,2", "allgather", {"cut_through": True}),
    ("leaf-spine:3,2,2", "allreduce", {}),
    ("fat-tree:k=2,h=2,capacity=constant", "reduce-scatter", {}),
    ("dgx-a100:1", "allreduce", {"cut_through": True}),
]


@pytest.mark.parametrize(("network", "task", "rules"), THROUGH)
def test_programs_have_ranks_only_and_do_what_the_schedule_does(tmp_path, network, task, rules):
    """What crosses switches one by one is a transfer between two ranks."""
    asked = {"cost": gossamer.TimeCost("1MiB")} if network.startswith("dgx") else {}
    schedule = gossamer.plan(network, task, rules=gossamer.Rules(replication=False, **rules), **asked).schedule
    ranks = schedule.network.terminal_count
    assert ranks < schedule.network.node_count
    found = between_ranks(schedule)
    assert gossamer.verify(found), gossamer.verify(found)
    assert (found.network.node_count, found.completion_time) == (ranks, schedule.completion_time)
    program = gossamer.lower(found)
    check_program(program)
    inputs = inputs_of(program)
    export(schedule, tmp_path / "x.xml", "msccl-xml", limits=False)
    algo = ElementTree.parse(tmp_path / "x.xml").getroot()
    gpus = algo.findall("gpu")
    assert int(algo.get("ngpus")) == len(gpus) == ranks
    if schedule.generations == 1:
        for got, want in zip(run(gpus, inputs), wanted(program, inputs), strict=True):
            np.testing.assert_array_equal(got, want)
    export(schedule, tmp_path / "x.json", "mscclpp", limits=False)
    assert len(json.loads((tmp_path / "x.json").read_text())["gpus"]) == ranks
    export(schedule, tmp_path / "x", "chakra")
    assert len(list((tmp_path / "x").iterdir())) == ranks
    export(schedule, tmp_path / "c", "c")
    assert read_rank(tmp_path / "c" / "plan.program", ranks - 1).rank == ranks - 1


def test_rows_and_events_are_the_timeline(tmp_path, allgather):
    rows = gossamer.timeline(allgather)
    for name in ("csv", "json", "perfetto"):
        export(allgather, tmp_path / name, name)
    with (tmp_path / "csv").open() as file:
        table = list(csv.DictReader(file))
    told = json.loads((tmp_path / "json").read_text())
    for i, column in enumerate(told["columns"]):
        expected = getattr(rows, column).tolist()
        assert [int(r[column]) for r in table] == expected
        assert [r[i] for r in told["rows"]] == expected
    assert (told["network"], told["completion_time"], told["nodes"]) == ("torus:3x3", "2", 9)
    events = json.loads((tmp_path / "perfetto").read_text())["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    assert [(e["ts"], e["pid"], e["tid"]) for e in slices] == list(
        zip(rows.start.tolist(), rows.source.tolist(), rows.target.tolist(), strict=True)
    )
    assert sum(e["name"] == "process_name" for e in events) == 9


def test_control_hops_are_shown_as_such(tmp_path):
    schedule = gossamer.plan("array:4x4", gossamer.task("partial-exchange", active=(1, 5, 9))).schedule
    export(schedule, tmp_path / "p", "perfetto")
    names = {e["name"] for e in json.loads((tmp_path / "p").read_text())["traceEvents"]}
    assert ("control" in names) == bool(np.any(schedule.packet < 0))


def test_traces_post_receives_before_sends_and_wait_once_a_slot(tmp_path, allgather):
    export(allgather, tmp_path / "x", "smpi", message_bytes=1000)
    assert (tmp_path / "x" / "trace.txt").read_text().split() == [f"rank-{v}.txt" for v in range(9)]
    sent, received = [], []
    for v in range(9):
        lines = (tmp_path / "x" / f"rank-{v}.txt").read_text().splitlines()
        assert (lines[0], lines[-1]) == (f"{v} init", f"{v} finalize")
        slots = "\n".join(lines[1:-1]).split(f"{v} waitall")
        assert len(slots) == allgather.slot_count + 1
        assert not slots[-1]
        for slot in slots[:-1]:
            kinds = [line.split()[1] for line in slot.split("\n") if line]
            assert kinds == sorted(kinds)  # irecv before isend
        for line in lines[1:-1]:
            if match := re.fullmatch(rf"{v} (isend|irecv) (\d+) 0 1000", line):
                (sent if match[1] == "isend" else received).append(
                    (v, int(match[2])) if match[1] == "isend" else (int(match[2]), v)
                )
    assert sorted(sent) == sorted(received)
    assert len(sent) == allgather.hop_count


def test_platforms_of_tori_are_turned_round_and_others_list_their_links(tmp_path):
    write_platform(gossamer.network("torus:4x8"), tmp_path, bandwidth=1e9, latency=2e-6)
    text = (tmp_path / "platform.xml").read_text()
    assert 'topo_parameters="8,4"' in text
    assert 'bw="1e+09Bps" lat="2e-06s"' in text
    write_platform(gossamer.network("star:3"), tmp_path)
    text = (tmp_path / "platform.xml").read_text()
    assert text.count("<host ") == 6
    assert text.count("<link ") == text.count("<route ") == 12
    assert text.rindex("<link ") < text.index("<route ")
    assert (tmp_path / "hosts.txt").read_text().split() == [f"node-{v}" for v in range(6)]


def test_the_program_beside_the_c_executor_is_that_of_the_schedule(tmp_path, allgather):
    export(allgather, tmp_path / "x", "c")
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"gossamer.h", "gossamer.c", "main.c", "plan.program"}
    np.testing.assert_array_equal(
        read_rank(tmp_path / "x" / "plan.program", 4).peer, gossamer.lower(allgather).rank(4).peer
    )


@pytest.mark.uncompiled
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-(2**62), 2**62), st.integers(0, 9)), max_size=30))
def test_rows_are_what_formatting_says(rows):
    texts = ("a{0} b{1}\n", "é{1},{0},{1};")
    which, one, two = ([r[i] for r in rows] for i in range(3))
    got = b"".join(RowText(*texts).rows(np.array(which, np.int64), [np.array(one, np.int64), np.array(two, np.int64)]))
    assert got.decode() == "".join(texts[w].format(a, b) for w, a, b in rows)


@pytest.mark.parametrize("network", ["hypercube:3", "array:5"])
def test_partial_sums_stand_in_every_trace_hop_by_hop(tmp_path, network):
    """Of chunks on links that take time; on the array sums pass other ranks, where they are not added."""
    cost = gossamer.TimeCost(bytes="64KiB", bandwidth="50GB/s", latency="2us", form="sums")
    schedule = gossamer.plan(network, "allreduce", cost=cost).schedule
    net = schedule.network
    assert (schedule.repeats is not None) == (network == "array:5")
    hops = sorted(
        zip(
            schedule.slot.tolist(), hop_ends(net, 1, schedule.slot, schedule.link).tolist(),
            net.link_source[schedule.link].tolist(), net.link_target[schedule.link].tolist(),
            schedule.packet.tolist(), strict=True,
        )
    )  # fmt: skip
    for name in ("csv", "json", "perfetto", "smpi"):
        export(schedule, tmp_path / name, name, message_bytes=1000 * schedule.packets.count)
    with (tmp_path / "csv").open() as file:
        rows = [[int(row[c]) for c in ("start", "end", "source", "target", "part")] for row in csv.DictReader(file)]
    assert sorted(map(tuple, rows)) == hops
    rows = json.loads((tmp_path / "json").read_text())["rows"]
    assert sorted((*row[:4], row[5]) for row in rows) == hops
    slices = [e for e in json.loads((tmp_path / "perfetto").read_text())["traceEvents"] if e["ph"] == "X"]
    assert sorted((e["ts"], e["ts"] + e["dur"], e["pid"], e["tid"], e["args"]["part"]) for e in slices) == hops
    ends = {"isend": [], "irecv": []}
    for v in range(net.node_count):
        for words in map(str.split, (tmp_path / "smpi" / f"rank-{v}.txt").read_text().splitlines()):
            if words[1] in ends:
                ends[words[1]].append((v, int(words[2])) if words[1] == "isend" else (int(words[2]), v))
                assert words[3:] == ["0", "1000"]
    assert sorted(ends["isend"]) == sorted(ends["irecv"]) == sorted(hop[2:4] for hop in hops)


WORDLESS = {
    "partial-sum-allreduce": {}, "allreduce": {}, "reduce": {}, "multiple-broadcast": {"counts": [0, 2, 2, 0]},
    "permutation": {"destination": [1, 0, 3, 2]}, "neighbor-exchange": {},
}  # fmt: skip


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("name", WORDLESS)
def test_a_format_without_a_word_for_a_task_refuses_it_whatever_limits_are_asked_for(tmp_path, name, limits):
    schedule = gossamer.plan("ring:4", gossamer.task(name, **WORDLESS[name])).schedule
    with pytest.raises(NotApplicableError, match=rf"^msccl-json has words for .*; not for {name}$"):
        export(schedule, tmp_path / "x", "msccl-json", limits=limits)
    assert not list(tmp_path.iterdir())
    for format in FORMATS:
        if format not in ("msccl-json", "astra-sim"):
            export(schedule, tmp_path / format, format, limits=limits)
