"""The engine of every sweep: points in, results out, in their order, several at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from gossamer.errors import GossamerError
from gossamer.reading import whole
from gossamer.sweeps.points import Point, Progress

__all__ = ["run_points"]

Found = TypeVar("Found")

_MOST_JOBS = 1024


class _Stopped(BaseException):
    """The sweep ended while a point was under way."""


class _Sweep:
    """What the points of one sweep share: how many are done, and whether to go on."""

    def __init__(self, size: int, progress: Progress | None) -> None:
        self._size, self._done, self._progress = size, 0, progress
        self._lock, self._stopped = threading.Lock(), threading.Event()

    def stop(self) -> None:
        """Make every point that is under way end at its next word of progress."""
        self._stopped.set()

    def tell(self, text: str) -> None:
        """Pass on what a point says."""
        if self._stopped.is_set():
            raise _Stopped
        if self._progress is not None:
            self._progress(text if self._size == 1 else f"{self._done} of {self._size} points, {text}")

    def run(self, point: Point[Found]) -> Found:
        """Run a point; an error names it."""
        self.tell(point.title)
        try:
            found = point.run(self.tell)
        except GossamerError as error:
            if self._size == 1:
                raise
            raise type(error)(f"{point.title}: {error}") from error
        except Exception as error:
            error.add_note(f"while simulating {point.title}")
            raise
        with self._lock:
            self._done += 1
        return found


def run_points(
    points: Sequence[Point[Found]], *, jobs: int | None = 1, progress: Progress | None = None
) -> list[Found]:
    """Run points and return what came of them, in their order.

    Parameters
    ----------
    points : sequence of Point
        What to simulate.
    jobs : int or None
        Points at once, in threads: the kernels leave the interpreter's lock. None: one a processor.
    progress : callable, optional
        Told what is being simulated, and how many points are done.

    Raises
    ------
    ModelError
        If `jobs` is out of range.
    GossamerError
        What a point raised, with the title of the point before it. The other points are then not begun, and those under
        way end as soon as they can, as they do on an interrupt.
    """
    jobs = min(os.cpu_count() or 1, _MOST_JOBS) if jobs is None else whole(jobs, "jobs", 1, _MOST_JOBS)
    sweep = _Sweep(len(points), progress)
    if jobs == 1:
        return [sweep.run(point) for point in points]
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(sweep.run, point) for point in points]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failed = [f for f in futures if f in done and f.exception() is not None]
            return [future.result() for future in failed or futures]
        finally:
            sweep.stop()
            pool.shutdown(cancel_futures=True)
