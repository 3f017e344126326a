"""The engine: order, counts, the failing point, and how a sweep stops."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from gossamer.errors import ModelError, NotApplicableError
from gossamer.sweeps import run_points


@dataclass(frozen=True)
class Square:
    number: int
    wrong: type[Exception] | None = None

    @property
    def title(self):
        return f"the square of {self.number}"

    def run(self, progress):
        progress(f"squaring {self.number}")
        if self.wrong is not None:
            raise self.wrong("no such number")
        return self.number**2


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_points(jobs):
    assert run_points([Square(n) for n in (5, 1, 4, 2)], jobs=jobs) == [25, 1, 16, 4]
    assert run_points([], jobs=jobs) == []


def test_progress_counts_the_points_that_are_done():
    said = []
    run_points([Square(2), Square(3)], progress=said.append)
    assert said == [
        "0 of 2 points, the square of 2", "0 of 2 points, squaring 2", "1 of 2 points, the square of 3",
        "1 of 2 points, squaring 3",
    ]  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_point_that_fails_is_named(jobs):
    points = [Square(2), Square(3, NotApplicableError), Square(4)]
    with pytest.raises(NotApplicableError, match=r"^the square of 3: no such number$"):
        run_points(points, jobs=jobs)
    with pytest.raises(ZeroDivisionError) as found:
        run_points([Square(2), Square(3, ZeroDivisionError)], jobs=jobs)
    assert found.value.__notes__ == ["while simulating the square of 3"]


def test_a_point_alone_fails_without_its_name():
    with pytest.raises(ModelError, match=r"^no such number$"):
        run_points([Square(3, ModelError)])


class Endless:
    title = "an endless point"

    def __init__(self):
        self.ended = threading.Event()

    def run(self, progress):
        try:
            while True:
                progress("still running")
                time.sleep(0.001)
        finally:
            self.ended.set()


def test_points_under_way_end_when_another_fails():
    endless = Endless()
    with pytest.raises(ModelError, match="the square of 3"):
        run_points([endless, Square(3, ModelError)], jobs=2)
    assert endless.ended.is_set()


def test_an_interrupt_ends_the_points_under_way():
    endless, calls = Endless(), []

    def interrupt(_):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_points([endless, Endless()], jobs=2, progress=interrupt)
    assert endless.ended.is_set()


def test_jobs_must_be_one_or_more():
    with pytest.raises(ModelError, match=r"jobs must be a whole number in 1\.\.\d+, got 0"):
        run_points([], jobs=0)
