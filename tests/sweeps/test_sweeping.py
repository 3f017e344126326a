"""Sweeps: each point once whatever happens, the same file on every engine, and failures that end nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gossamer
from gossamer.errors import FileFormatError, ModelError
from gossamer.processes.memory import available
from gossamer.studies.sweeps import asked_point, merge, read_results, sweep
from gossamer.studies.sweeps.store import journal_of
from swept_points import Deadly, Large, Line, Square

GRID = {
    "network": ["ring:4", "torus:2x4"],
    "task": ["allgather", "broadcast"],
    "bytes": [64, 4096],
    "bandwidth": "1GB/s",
}


def test_a_point_is_the_same_when_everything_that_matters_is():
    one = asked_point({"network": "ring:4", "task": "allgather", "bytes": "1KiB", "bandwidth": "1GB/s"})
    same = asked_point({"bandwidth": "1GB/s", "bytes": 1024, "task": "allgather", "network": "ring:4", "kind": "plan"})
    assert one.describe() == same.describe()
    assert one.describe()["semantics"] == 1
    assert one.describe() != asked_point({**one.words, "seed": 1}).describe()


def test_a_changed_file_makes_another_point(tmp_path):
    path = tmp_path / "net.txt"
    path.write_text("0 1\n1 2\n2 0\n")
    words = {"network": str(path), "task": "broadcast"}
    before = asked_point(words).describe()
    path.write_text("0 1\n1 2\n2 3\n3 0\n")
    os.utime(path, ns=(0, 0))
    assert asked_point(words).describe()["files"] != before["files"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"network": "ring:4"}, "needs 'task'"),
        ({"network": "ring:4", "task": "allgather", "bites": 3}, r"has no 'bites' \(did you mean 'bytes'\?\)"),
        ({"kind": "plans", "network": "ring:4"}, r"kind must be .* \(did you mean 'plan'\?\)"),
        ({"network": "ring:4", "task": "allgater"}, "allgater"),
        ({"network": "ring:4", "task": "allgather", "bytes": "1.5"}, "whole number of bytes"),
        ({"network": "ring:4", "task": "allgather", "seed": object()}, "seed of a point must be a number, a text"),
        ({"network": gossamer.network("ring:4"), "task": "allgather"}, "the network of a point is a spec"),
        (3, "a point is a mapping"),
    ],
)
def test_what_is_no_point_is_refused_before_anything_is_run(given, why):
    with pytest.raises(gossamer.GossamerError, match=why):
        sweep([given], engine="in-process")


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_writes_the_file_that_this_process_writes(engine, tmp_path):
    if engine == "dask":
        pytest.importorskip("distributed")
    files = []
    for name in ("in-process", engine):
        found = sweep(GRID, tmp_path / f"{name}.parquet", engine=name, jobs=2)
        assert found.counts == {"done": 8}
        files.append((tmp_path / f"{name}.parquet").read_bytes())
    assert files[0] == files[1]


def test_two_halves_merged_equal_the_whole(tmp_path):
    points = [Line(n) for n in range(40)]
    parts = {"whole": points, "first": points[20:], "second": points[:25]}
    for name, some in parts.items():
        sweep(some, tmp_path / f"{name}.parquet", engine="in-process")
    merge([tmp_path / "first.parquet", tmp_path / "second.parquet"], tmp_path / "both.parquet")
    assert (tmp_path / "both.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_different_results_for_one_point_are_not_merged(tmp_path):
    class Other(Line):
        def run(self, progress):
            return {"square": -1}

    sweep([Line(1)], tmp_path / "a.parquet", engine="in-process")
    sweep([Other(1)], tmp_path / "b.parquet", engine="in-process")
    with pytest.raises(FileFormatError, match="different results for one point"):
        merge([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()


KILLED = """
import sys
from swept_points import Line
from gossamer.studies.sweeps import sweep
points = [Line(n, seconds=0.01, marks=sys.argv[2]) for n in range(120)]
sweep(points, sys.argv[1], engine=sys.argv[3], jobs=2)
"""


@pytest.mark.parametrize(("engine", "most"), [("in-process", 10), ("processes", 2)])
def test_a_sweep_killed_at_random_moments_and_gone_on_with_gives_the_same_file(engine, most, tmp_path):
    marks, path = tmp_path / "marks", tmp_path / "killed.parquet"
    marks.touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    command = [sys.executable, "-c", KILLED, str(path), str(marks), engine]
    kills, rng = 0, random.Random(17)
    finished = set()
    for _ in range(40):
        before = marks.stat().st_size
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None and marks.stat().st_size == before:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.12))
        if process.poll() is None and kills < most:
            process.send_signal(signal.SIGKILL)
            kills += 1
        status = process.wait()
        now = {row["identity"] for row in read_results(path).to_pylist()}
        assert finished <= now  # nothing that was finished is lost
        finished = now
        if status == 0:
            break
    assert kills == most
    assert not journal_of(path).exists()
    runs = [int(line) for line in marks.read_text().split()]
    assert set(runs) == set(range(120))
    assert len(runs) <= 120 + kills * (1 if engine == "in-process" else 2 * 7)  # only what was under way came twice
    sweep([Line(n) for n in range(120)], tmp_path / "whole.parquet", engine="in-process")
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_finished_sweep_runs_nothing_again(tmp_path):
    marks = tmp_path / "marks"
    points = [Line(n, marks=str(marks)) for n in range(5)]
    first = sweep(points, tmp_path / "s.parquet", engine="in-process")
    content = (tmp_path / "s.parquet").read_bytes()
    again = sweep([*points, Line(6)], tmp_path / "s.parquet", engine="in-process")
    assert marks.read_text().split() == ["0", "1", "2", "3", "4"]
    assert list(again)[:5] == list(first)
    assert again["square"][5] == 36
    assert (tmp_path / "s.parquet").read_bytes() != content


def test_failures_are_kept_with_their_reasons_and_tried_again_when_asked(tmp_path):
    path, points = tmp_path / "s.parquet", [Line(n) for n in range(8)]
    wrong = [*points[:3], Line(3, ZeroDivisionError)]

    class Broken(Line):
        def run(self, progress):
            return {"x": 1 / 0}

    found = sweep([*points[:3], Broken(3), *points[4:]], path, engine="in-process")
    assert found.counts == {"done": 6, "refused": 1, "failed": 1}
    assert ("failed", "ZeroDivisionError: division by zero", 1) in found.failures
    assert ("refused", "5 is not wanted", 1) in found.failures
    assert sweep(points, path, engine="in-process").counts == found.counts
    assert sweep(points, path, engine="in-process", retry="failed").counts == {"done": 7, "refused": 1}
    sweep(points, tmp_path / "t.parquet", engine="in-process")
    assert path.read_bytes() == (tmp_path / "t.parquet").read_bytes()
    assert wrong[3].describe() == points[3].describe()


def test_a_worker_that_dies_is_named_and_its_point_tried_again(tmp_path):
    said = []
    points = [*[Square(n) for n in range(2)], Deadly(7, marks=str(tmp_path / "a")), Deadly(8, marks=str(tmp_path / "b"),
              times=9)]  # fmt: skip
    found = sweep([p for p in points if isinstance(p, Deadly)], engine="processes", jobs=2, progress=said.append)
    assert found["status"] == ["done", "failed"]
    assert found["reason"] == ["", "its process died 3 times, the last time of SIGKILL"]
    assert len(found.deaths) == 4
    assert any("died, SIGKILL, at the square of 7" in text for text in found.deaths)
    assert any("died, SIGKILL" in text for text in said)


def test_a_point_that_needs_too_much_memory_is_refused_and_the_others_are_not():
    small = Large(1, size=1 << 20)
    surprise, told = Large(2, size=1 << 30), Large(3, needs=(1 << 30, 0.1))
    for engine in ("in-process", "processes"):
        points = [small, told] if engine == "in-process" else [small, surprise, told]
        found = sweep(points, engine=engine, jobs=2, memory="600MB")
        assert found["status"] == ["done", *["too large"] * (len(points) - 1)]
        assert "it needs about 1.07 GB of memory, and a point may have 600 MB" in found["reason"]
    assert "it needs more than the 600 MB of memory that a point may have" in found["reason"]
    assert 0 < available() < 1 << 50


def test_one_process_at_a_time_writes_a_file(tmp_path):
    from gossamer.studies.sweeps.store import Store

    with Store(tmp_path / "s.parquet"), pytest.raises(FileFormatError, match="another process is writing"):
        sweep([Line(1)], tmp_path / "s.parquet", engine="in-process")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileFormatError, match=r"ends in \.parquet"):
        sweep([Line(1)], tmp_path / "s.csv")


def test_files_of_other_kinds_are_refused(tmp_path):
    gossamer.plan("ring:4", "allgather").save(tmp_path / "plan.parquet")
    (tmp_path / "text.parquet").write_text("no")
    (tmp_path / "x.parquet.journal").write_text('{"identity": 3}\n')
    for name, why in (("plan", "no column 'identity'"), ("text", "cannot read"), ("x", "no journal of a sweep: line 1"),
                      ("none", "no such file")):  # fmt: skip
        with pytest.raises(FileFormatError, match=why):
            read_results(tmp_path / f"{name}.parquet")


def test_a_torn_last_line_of_a_journal_is_dropped(tmp_path):
    path = tmp_path / "s.parquet"
    sweep([Line(1), Line(2)], path, engine="in-process")
    whole = path.read_bytes()
    sweep([Line(1)], tmp_path / "t.parquet", engine="in-process")
    journal_of(tmp_path / "t.parquet").write_bytes(b'{"identity": "ab')
    sweep([Line(1), Line(2)], tmp_path / "t.parquet", engine="in-process")
    assert (tmp_path / "t.parquet").read_bytes() == whole


def test_scheduler_and_memory_go_with_their_engines():
    with pytest.raises(ModelError, match="scheduler goes with the engine 'dask'"):
        sweep(GRID, scheduler="tcp://nowhere:1")
    with pytest.raises(ModelError, match="retry must be 'none', 'failed' or 'all'"):
        sweep(GRID, retry="some")
    with pytest.raises(ModelError, match="memory must be a whole number of bytes"):
        sweep(GRID, memory="much")


def test_results_are_rows_that_pandas_reads():
    pandas = pytest.importorskip("pandas")
    found = sweep(GRID, engine="in-process")
    assert len(pandas.DataFrame(found)) == len(found.to_pandas()) == 8
    assert "<table" in found._repr_html_()
    assert repr(found) == "<SweepResults: 8 done>"
    with pytest.raises(ModelError, match=r"no column 'tim' \(did you mean 'time'\?\)"):
        found["tim"]
