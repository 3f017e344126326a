"""Programs of single ranks are those that the programs of all ranks have for them, and so are the files."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError, ScheduleError, TooLargeError
from gossamer.interchange import FORMATS, export
from gossamer.programs.files import description, read_rank
from gossamer.programs.single_ranks import between_ranks, lower_ranks
from programs.test_executor import some_plan

HEAD = "columns source target bandwidth latency\n"
FAT_TREE = (
    HEAD
    + "switches l[0-3] a[0-3] c[0-3]\n"
    + "".join(
        [f"h{v} l{v // 2} 50GB/s 1us\n" for v in range(8)]
        + [f"l{x} a{x // 2 * 2 + a} 50GB/s 1us\n" for x in range(4) for a in range(2)]
        + [f"a{x} c{x % 2 * 2 + c} 50GB/s 1us\n" for x in range(4) for c in range(2)]
    )
)
"""Two pods of two leaves with two hosts each, two aggregation switches a pod, four core switches."""


def same(one, other, where):
    for field in dataclasses.fields(one):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), (*where, field.name)


def check(schedule, where):
    """Compare all ranks, with switches left out and as ranks; return what kind of schedule it was."""
    terminals = schedule.network.terminal_count
    forms = [(gossamer.lower(between_ranks(schedule)), lower_ranks(schedule, range(terminals)))]
    if terminals < schedule.network.node_count:
        forms.append((gossamer.lower(schedule), lower_ranks(schedule, range(terminals), switches=True)))
    for every, single in forms:
        for told in ("ranks", "parts", "slots", "hops"):
            assert getattr(every, told) == getattr(single, told), (*where, told)
        assert every.sizes[:terminals].tolist() == single.sizes[:terminals].tolist(), where
        for mine in single:
            same(mine, every.rank(mine.rank), (*where, mine.rank))
    return schedule.invariant, schedule.repetition is not None, terminals < schedule.network.node_count


@pytest.mark.parametrize("part", [0, *(pytest.param(p, marks=pytest.mark.slow) for p in (1, 2))])
def test_programs_of_single_ranks_are_those_among_all(part):
    for seed in range(8 * part, 8 * part + 8):
        check(some_plan(np.random.default_rng(seed)), (seed,))


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(
    ("task", "size"),
    [
        *((task, "64KiB") for task in ("allgather", "reduce-scatter", "allreduce", "alltoall", "scatter")),
        *((task, "64MiB") for task in ("allgather", "reduce-scatter", "alltoall", "scatter")),
        ("allreduce", "8MiB"),
    ],
)
def test_ranks_of_hierarchies_are_those_among_all(tmp_path, task, size):
    path = tmp_path / "tree.edges"
    path.write_text(FAT_TREE)
    rules = gossamer.Rules(replication=False, reduction=False)
    by = "hierarchical-trees" if task in ("allgather", "reduce-scatter") else "best"
    plan = gossamer.plan(path, task, cost=gossamer.TimeCost(size), rules=rules, algorithm=by)
    kind = check(plan.schedule, (task, size))
    assert kind[2]
    assert kind[0] or by == "best"  # one orbit stored


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce"])
def test_ranks_of_tori_in_seconds_are_those_among_all(task):
    cost = gossamer.TimeCost("1MiB", bandwidth="50GB/s", latency="1us", whole=task == "alltoall")
    assert check(gossamer.plan("torus:4x4", task, cost=cost).schedule, (task,))[0] == (task == "alltoall")


def parts_of_ranks(name, path):
    """Return the text that each rank has in a file or a folder of a format, and what is around it."""
    if path.is_dir():
        files = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
        return {int(m[1]): data for f, data in files.items() if (m := re.search(r"(\d+)\.(et|txt)$", f))}
    if name == "mscclpp":
        found = json.loads(path.read_text())
        return {gpu["id"]: gpu for gpu in found.pop("gpus")} | {-1: found}
    text = path.read_text()
    pieces = re.split(r"(?=<gpu )" if name == "msccl-xml" else r"(?=\nrank )", text.replace("</algo>", ""))
    return {int(re.search(r"\d+", piece)[0]): piece.strip() for piece in pieces[1:]} | {-1: pieces[0]}


@pytest.mark.parametrize("name", [f.name for f in FORMATS.values() if f.by_rank and f.name not in ("c", "program")])
@pytest.mark.parametrize("network", ["torus:3x3", "dgx-a100:2,gpus=2"])
def test_files_of_some_ranks_have_what_files_of_all_have_for_them(tmp_path, name, network):
    rules = gossamer.Rules(replication=False, reduction=False) if "dgx" in network else None
    schedule = gossamer.plan(network, "allgather", rules=rules).schedule
    chosen = [0, 3]
    export(schedule, tmp_path / "all", name)
    export(schedule, tmp_path / "some", name, ranks=chosen)
    every, some = (parts_of_ranks(name, tmp_path / each) for each in ("all", "some"))
    assert sorted(some) == sorted(each for each in every if each in (-1, *chosen))
    assert all(some[each] == every[each] for each in some)


def test_a_program_file_of_some_ranks_has_no_others(tmp_path):
    schedule = gossamer.plan("torus:3x3", "alltoall").schedule
    export(schedule, tmp_path / "all.program", "program")
    export(schedule, tmp_path / "some.program", "program", ranks=[7, 2])
    for rank in (2, 7):
        same(read_rank(tmp_path / "some.program", rank), read_rank(tmp_path / "all.program", rank), (rank,))
    assert description(tmp_path / "some.program") == description(tmp_path / "all.program")
    with pytest.raises(FileFormatError, match=r"was written for some ranks, 2, 7; not for 3$"):
        read_rank(tmp_path / "some.program", 3)


@pytest.mark.parametrize("name", [f.name for f in FORMATS.values() if not f.by_rank])
def test_formats_of_whole_schedules_refuse_single_ranks(tmp_path, name):
    schedule = gossamer.plan("ring:4", "allgather").schedule
    with pytest.raises(NotApplicableError, match=rf"^{name} holds all of a schedule; .* written as .*program"):
        export(schedule, tmp_path / "a", name, ranks=[0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ranks", [[], [4], [-1]])
def test_ranks_that_are_not_there_are_refused(tmp_path, ranks):
    schedule = gossamer.plan("ring:4", "allgather").schedule
    with pytest.raises(ScheduleError, match="rank"):
        export(schedule, tmp_path / "a", "program", ranks=ranks)


def test_what_memory_does_not_hold_is_refused_before_it_is_written_out(tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.interchange.registry.free_memory", lambda: 5_000)
    schedule = gossamer.plan("torus:4x4", "alltoall").schedule
    assert schedule.invariant
    export(schedule, tmp_path / "a", "program")  # one orbit is made
    with pytest.raises(TooLargeError, match=r"^512 transfers .* csv holds all of them; programs of some ranks"):
        export(schedule, tmp_path / "b", "csv")
    explicit = schedule.expand()
    with pytest.raises(TooLargeError, match=r"^512 transfers written out need about 41 kB .*; ranks= \(--rank 0 on"):
        export(explicit, tmp_path / "b", "program")
    export(explicit, tmp_path / "c", "program", ranks=[3])
    same(read_rank(tmp_path / "c", 3), read_rank(tmp_path / "a", 3), (3,))
