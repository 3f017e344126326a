"""Points in, results out, in their order: what every loop over many cases goes through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, TypeVar

from gossamer.errors import GossamerError
from gossamer.studies.sweeps.engines import Done, Job, engine_of, read_jobs
from gossamer.studies.sweeps.points import Point, Progress

__all__ = ["run_points"]

Found = TypeVar("Found")

_PATIENCE = 1.0
"""Seconds of work after which processes are started: for less they are not worth their start."""


def run_points(
    points: Sequence[Point[Found]],
    *,
    jobs: int | None = 1,
    engine: str | None = None,
    progress: Progress | None = None,
    found: Callable[[int, Found], None] | None = None,
) -> list[Found]:
    """Run points and return what came of them, in their order.

    Parameters
    ----------
    points : sequence of Point
        What to run.
    jobs : int or None
        Points at once. None: one a processor. The results are the same.
    engine : str, optional
        One of `gossamer.studies.sweeps.ENGINES`. Default: this process, and with several `jobs` worker processes as
        well, once the first second is over, without what compiling took: that is no sign of much work.
    progress : callable, optional
        Told what is being run, and how many points are done.
    found : callable, optional
        Told the place and the result of each point as it is done.

    Raises
    ------
    ModelError
        If `jobs` is out of range.
    GossamerError
        What a point raised, with the title of the point before it. The other points are then not begun, and those under
        way are ended, as they are on an interrupt.
    """
    count = read_jobs(jobs)
    results: dict[int, Found] = {}

    def say(text: str) -> None:
        if progress is not None:
            progress(text if len(points) == 1 else f"{len(results)} of {len(points)} points, {text}")

    def take(done: Done) -> None:
        if done.failure is not None:
            raise _named(points[done.place], done, alone=len(points) == 1)
        results[done.place] = done.value
        if found is not None:
            found(done.place, done.value)

    work = [Job(place, point) for place, point in enumerate(points)]
    first = engine or "in-process"
    began, soon = _worked(), engine is None and count > 1
    running = engine_of(first, jobs=count).run(iter(work), say)
    for done in running:
        take(done)
        if soon and _worked() - began > _PATIENCE and len(work) - len(results) > 1:
            break
    left = [job for job in work if job.place not in results]
    if left:
        for done in engine_of("processes", jobs=min(count, len(left))).run(left, say):
            take(done)
    return [results[place] for place in range(len(points))]


def _worked() -> float:
    """Return a time in seconds that stands still while kernels are compiled."""
    compiling = sys.modules.get("gossamer.jit")
    return monotonic() - (compiling.seconds_compiled() if compiling else 0.0)


def _named(point: Point[Any], done: Done, alone: bool) -> BaseException:
    """Return the error of a point, with its title."""
    assert done.failure is not None  # asked of failures only
    error = done.failure.error
    if error is None or (isinstance(error, MemoryError) and not isinstance(error, GossamerError)):
        error = GossamerError(done.failure.reason)
    if alone:
        return error
    if isinstance(error, GossamerError):
        named = type(error)(f"{point.title}: {error}")
        named.__cause__ = error
        return named
    error.add_note(f"while running {point.title}")
    return error
