"""What runs the points of a sweep: this process, several processes, or a cluster. The results are the same."""

from __future__ import annotations

import itertools
import os
import secrets
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from time import monotonic
from typing import Any, TypeVar

from gossamer.errors import GossamerError, ModelError
from gossamer.processes.memory import available
from gossamer.processes.search_trials import MOST
from gossamer.processes.work_items import Engine, Failure, Say, WorkItem, WorkResult, attempt, too_large
from gossamer.reading import choice, whole
from gossamer.reading.quantities import size
from gossamer.studies.sweeps.point_protocol import Point, Progress
from gossamer.version import __version__

__all__ = [
    "ENGINES",
    "Distributed",
    "Engine",
    "Failure",
    "InProcess",
    "Say",
    "WorkItem",
    "WorkResult",
    "engine_of",
    "read_jobs",
    "run_points",
]

# The engine that runs one point after the other, here.


class InProcess:
    """One point after the other in this process.

    `memory` (int): bytes that a point may have; one that certainly needs more is refused.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.deaths: list[str] = []

    def run(self, jobs: Iterable[WorkItem], say: Say) -> Iterator[WorkResult]:
        """Yield what came of each job, in their order."""
        for job in jobs:
            if job.needs > self.memory:
                yield too_large(job, self.memory)
                continue
            say(job.point.title)
            yield attempt(job, say)


# The engine of a cluster: Dask's workers, near or far.

_AHEAD = 4
"""Tasks that are handed out for each thread of the cluster."""
_TOGETHER, _MOST_TOGETHER = 0.2, 100
"""Points that together take so many seconds are one task, at most so many of them."""
_PATIENCE = "20s"


class Distributed:
    """The workers of a Dask cluster; needs the extra ``dask``.

    `scheduler` (str or None): address of the scheduler, such as ``tcp://10.0.0.1:8786``; None starts a cluster of this
    machine. `jobs` (int): workers of the cluster of this machine.

    `deaths` (list of str): points at which workers died again and again; what Dask tries again with success is not
    told.

    Raises `ModelError` if Dask is not there, the scheduler does not answer, has no workers, or these have another
    gossamer.
    """

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        self.scheduler, self.jobs = scheduler, jobs
        self.deaths: list[str] = []
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise ModelError(
                "the engine 'dask' needs Dask: install gossamer with the extra 'dask', and the same on the workers"
            ) from None

    def run(self, jobs: Iterable[WorkItem], say: Say) -> Iterator[WorkResult]:
        """Yield what came of each job as it is done; the connection ends with the iterator.

        Quick points are sent several at a time; those among which a worker died are tried again one by one.
        """
        from distributed import as_completed

        with ExitStack() as stack:
            client = self._connected(stack)
            memory, threads = _checked(client)
            source, token, numbers = iter(jobs), secrets.token_hex(4), itertools.count()
            completed: Any = as_completed([], loop=client.loop)
            under_way: dict[str, list[WorkItem]] = {}
            again: deque[WorkItem] = deque()
            refused: list[WorkResult] = []
            mean = 1.0

            def hand_out(tasks: int, together: int) -> None:
                while len(under_way) < tasks:
                    some = [again.popleft()] if again else list(itertools.islice(source, together))
                    if not some:
                        return
                    refused.extend(too_large(job, memory) for job in some if memory and job.needs > memory)
                    some = [job for job in some if not memory or job.needs <= memory]
                    if some:
                        key = f"gossamer-{token}-{next(numbers)}"
                        under_way[key] = some
                        completed.add(client.submit(_attempted, some, key=key, pure=False))

            while True:
                hand_out(_AHEAD * threads, max(1, min(_MOST_TOGETHER, int(_TOGETHER / mean))))
                yield from refused
                refused.clear()
                if not under_way:
                    return
                future = next(completed)
                some = under_way.pop(future.key)
                say(some[-1].point.title)
                found = self._finished(some, future, say)
                if found is None:
                    again.extend(some)
                    continue
                for done in found:
                    mean += (done.seconds - mean) / 8
                    yield done

    def _connected(self, stack: ExitStack) -> Any:
        """Return a client of the scheduler, or of a cluster that is started here."""
        from distributed import Client, LocalCluster

        try:
            where: Any = self.scheduler
            if where is None:
                cluster = LocalCluster(
                    n_workers=self.jobs, threads_per_worker=1, dashboard_address=":0", silence_logs=50
                )
                where = stack.enter_context(cluster)
            client = Client(where, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ModelError(f"no Dask scheduler answers at {self.scheduler!r}: {_line(error)}") from None
        return stack.enter_context(client)

    def _finished(self, some: list[WorkItem], future: Any, say: Say) -> list[WorkResult] | None:
        """Return what came of jobs that Dask has done with; None if they are to be tried one by one."""
        try:
            found: list[WorkResult] = future.result()
        except Exception as error:
            name = type(error).__name__
            if future.status not in ("error", "finished"):
                raise GossamerError("the connection to the Dask scheduler was lost") from None
            if len(some) > 1:
                return None
            text = f"{name}: {_line(error)}"
            if name == "KilledWorker":
                last = getattr(getattr(error, "last_worker", None), "address", "unknown")
                text = "its worker died again and again"
                self.deaths.append(f"the worker {last} died, and others before it, at {some[0].point.title}")
                say(self.deaths[-1])
            return [WorkResult(some[0].place, None, Failure("failed", text, error), 0.0)]
        future.release()
        return found


def _attempted(some: list[WorkItem]) -> list[WorkResult]:
    """Run jobs on a worker; an error comes back as its text, which is all that is kept of it."""
    found = []
    for job in some:
        done = attempt(job, lambda text: None)
        if done.failure is not None:
            done = done._replace(failure=Failure(done.failure.kind, done.failure.reason))
        found.append(done)
    return found


def _checked(client: Any) -> tuple[int, int]:
    """Return the memory of the largest worker, 0 if unknown, and the threads of all; refuse another gossamer."""
    client.wait_for_workers(1, timeout=_PATIENCE)
    versions = client.run(_version)
    for address, version in versions.items():
        if version != __version__:
            raise ModelError(
                f"the worker {address} has gossamer {version}, here it is {__version__}; results may differ"
            )
    try:
        known = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # before the argument was there
        known = client.scheduler_info()["workers"]
    memory = max((int(w.get("memory_limit") or 0) for w in known.values()), default=0)
    return memory, max(1, sum(int(w.get("nthreads", 1)) for w in known.values()))


def _version() -> str:
    return __version__


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


ENGINES = ("in-process", "processes", "dask")
"""Names of the engines."""


def read_jobs(jobs: int | None) -> int:
    """Return how many points run at once: one a processor by default."""
    return min(_processors(), MOST) if jobs is None else whole(jobs, "jobs", 1, MOST)


def engine_of(
    name: str, *, jobs: int | None = None, memory: int | str | None = None, scheduler: str | None = None
) -> Engine:
    """Return an engine.

    * `name` ({"in-process", "processes", "dask"}): one point after the other here; worker processes; the workers of a
      Dask cluster (the extra ``dask``).
    * `jobs` (int): points at once. Default: one a processor. In-process it is always one.
    * `memory` (int or str): bytes that all points together may have, such as ``"8GiB"``. Default: four fifths of what
      is free. Of a cluster it is the workers' own limit.
    * `scheduler` (str): address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``. Default: a cluster of this
      machine.

    Raises `ModelError` if a value is illegal, or does not go with the engine.
    """
    choice(name, "engine", ENGINES)
    if scheduler is not None and name != "dask":
        raise ModelError(f"scheduler goes with the engine 'dask', not {name!r}")
    count = read_jobs(jobs)
    most = available() if memory is None else size(memory, "memory")
    if name == "dask":
        if memory is not None:
            raise ModelError("memory does not go with the engine 'dask', whose workers have limits of their own")
        return Distributed(scheduler, count)
    if name == "processes":
        from gossamer.processes.pool import Processes

        return Processes(count, most)
    return InProcess(most)


def _processors() -> int:
    """Return the processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


# Points in, results out, in their order: what every loop over many cases goes through.

Found = TypeVar("Found")

_PATIENCE_OF_RUNS = 1.0
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

    def take(done: WorkResult) -> None:
        if done.failure is not None:
            raise _named(points[done.place], done, alone=len(points) == 1)
        results[done.place] = done.value
        if found is not None:
            found(done.place, done.value)

    work = [WorkItem(place, point) for place, point in enumerate(points)]
    first = engine or "in-process"
    began, soon = _worked(), engine is None and count > 1
    running = engine_of(first, jobs=count).run(iter(work), say)
    for done in running:
        take(done)
        if soon and _worked() - began > _PATIENCE_OF_RUNS and len(work) - len(results) > 1:
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


def _named(point: Point[Any], done: WorkResult, alone: bool) -> BaseException:
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
