"""Points in, results out: order, counts, the failing point, and how a run stops."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gossamer import jit as compiling
from gossamer.errors import ModelError, NotApplicableError
from gossamer.studies.sweeps import executors as running
from gossamer.studies.sweeps import run_points
from gossamer.studies.sweeps.executors import engine_of
from swept_points import Endless, Square


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_results_come_in_the_order_of_the_points(engine):
    assert run_points([Square(n) for n in (5, 1, 4, 2)], jobs=3, engine=engine) == [25, 1, 16, 4]
    assert run_points([], engine=engine) == []


def test_progress_counts_the_points_that_are_done():
    said = []
    run_points([Square(2), Square(3)], progress=said.append)
    assert said == [
        "0 of 2 points, the square of 2", "0 of 2 points, squaring 2", "1 of 2 points, the square of 3",
        "1 of 2 points, squaring 3",
    ]  # fmt: skip


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_a_point_that_fails_is_named(engine):
    points = [Square(2), Square(3, NotApplicableError), Square(4)]
    with pytest.raises(NotApplicableError, match=r"^the square of 3: no such number$"):
        run_points(points, engine=engine, jobs=2)
    with pytest.raises(ZeroDivisionError) as found:
        run_points([Square(2), Square(3, ZeroDivisionError)], engine=engine, jobs=2)
    assert found.value.__notes__ == ["while running the square of 3"]


def test_a_point_alone_fails_without_its_name():
    with pytest.raises(ModelError, match=r"^no such number$"):
        run_points([Square(3, ModelError)])


def gone(process):
    """Whether a process ends within some seconds."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_points_under_way_end_on_an_error_and_on_an_interrupt(tmp_path):
    marks = [tmp_path / name for name in ("first", "second")]

    def interrupt(_):
        if all(path.exists() and path.read_text() for path in marks):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_points([Endless(0, marks=str(path)) for path in marks], engine="processes", jobs=2, progress=interrupt)
    assert all(gone(int(path.read_text())) for path in marks)
    assert os.getpid() not in [int(path.read_text()) for path in marks]


def test_jobs_and_engine_are_checked():
    with pytest.raises(ModelError, match=r"jobs must be a whole number in 1\.\.\d+, got 0"):
        run_points([], jobs=0)
    with pytest.raises(ModelError, match="engine must be 'in-process', 'processes' or 'dask', got 'threads'"):
        run_points([], engine="threads")


@pytest.mark.parametrize("compiled", [False, True])
def test_time_of_compiling_is_no_sign_of_much_work(compiled, monkeypatch):
    seconds = 0.0

    def clock():
        nonlocal seconds
        seconds += 2.0  # each point takes so long
        return seconds

    begun = []
    monkeypatch.setattr(running, "monotonic", clock)
    monkeypatch.setattr(compiling, "seconds_compiled", lambda: seconds if compiled else 0.0)
    monkeypatch.setattr(running, "engine_of", lambda name, jobs: begun.append(name) or engine_of("in-process", jobs=1))
    assert run_points([Square(n) for n in range(4)], jobs=2) == [0, 1, 4, 9]
    assert begun == (["in-process"] if compiled else ["in-process", "processes"])
