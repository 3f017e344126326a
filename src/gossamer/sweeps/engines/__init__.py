"""What runs the points of a sweep: this process, several processes, or a cluster. The results are the same."""

from __future__ import annotations

import os

from gossamer.errors import ModelError
from gossamer.processes.job import Done, Engine, Failure, Job, Say
from gossamer.processes.memory import available
from gossamer.processes.tries import MOST
from gossamer.reading import choice, whole
from gossamer.reading.quantities import size
from gossamer.sweeps.engines.in_process import InProcess

__all__ = ["ENGINES", "Done", "Engine", "Failure", "Job", "Say", "engine_of", "read_jobs"]

ENGINES = ("in-process", "processes", "dask")
"""Names of the engines."""


def read_jobs(jobs: int | None) -> int:
    """Return how many points run at once: one a processor by default."""
    return min(_processors(), MOST) if jobs is None else whole(jobs, "jobs", 1, MOST)


def engine_of(
    name: str, *, jobs: int | None = None, memory: int | str | None = None, scheduler: str | None = None
) -> Engine:
    """Return an engine.

    Parameters
    ----------
    name : {"in-process", "processes", "dask"}
        One point after the other here; worker processes; the workers of a Dask cluster (the extra ``dask``).
    jobs : int, optional
        Points at once. Default: one a processor. In-process it is always one.
    memory : int or str, optional
        Bytes that all points together may have, such as ``"8GiB"``. Default: four fifths of what is free. Of a
        cluster it is the workers' own limit.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``. Default: a cluster of this machine.

    Raises
    ------
    ModelError
        If a value is illegal, or does not go with the engine.
    """
    choice(name, "engine", ENGINES)
    if scheduler is not None and name != "dask":
        raise ModelError(f"scheduler goes with the engine 'dask', not {name!r}")
    count = read_jobs(jobs)
    most = available() if memory is None else size(memory, "memory")
    if name == "dask":
        from gossamer.sweeps.engines.distributed import Distributed

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
