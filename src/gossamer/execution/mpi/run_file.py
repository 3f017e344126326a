"""Run a schedule file on the ranks of this process's MPI, and compare it with MPI's own collective."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.execution.mpi.collectives import MPICollective

__all__ = ["MPITiming", "run_file"]


@dataclass(frozen=True)
class MPITiming:
    """What running messages of one size came to.

    Attributes
    ----------
    message_bytes : int
        Bytes of a message.
    seconds : float
        The least time of all repetitions, of the slowest rank.
    own_seconds : float or None
        The same of MPI's own collective; None where it was not asked for.
    equal : bool or None
        Whether every rank got what MPI's own collective gives.
    """

    message_bytes: int
    seconds: float
    own_seconds: float | None = None
    equal: bool | None = None


def run_file(
    comm: Any,
    path: str | os.PathLike[str],
    sizes: Sequence[int],
    *,
    check: bool = False,
    repeat: int = 5,
    nodes: str | os.PathLike[str] | None = None,
) -> tuple[str, list[MPITiming]]:
    """Run a schedule file with real data; collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Rank r runs node r, or the node that the file `nodes` says.
    path : path
        The schedule.
    sizes : sequence of int
        Bytes of a message, rounded up to whole 8-byte integers.
    check : bool
        Whether to compare with MPI's own collective.
    repeat : int
        Repetitions.
    nodes : path, optional
        A line for each rank with its node; see `gossamer.execution.mpi.collectives.read_nodes`.

    Returns
    -------
    tuple of str and list of Run
        What was run, in words, and a result for each size, on all ranks.

    Raises
    ------
    GossamerError
        On all ranks.
    """
    known: dict[str, Any] = {}

    def plan() -> Any:
        from gossamer.execution.mpi.collectives import numbered_by_ranks, read_nodes
        from gossamer.schedules import load

        schedule = load(path)
        known["text"] = f"{schedule.task.describe()} on {schedule.network.spec}"
        if nodes is not None:
            schedule = numbered_by_ranks(schedule, read_nodes(nodes, schedule.network))
        known["fields"] = schedule.task.to_dict()
        return schedule

    collective = MPICollective(comm, plan)
    fields = comm.bcast(known.get("fields"), root=0)
    own = _own(comm, fields) if check else None
    found = [_run(comm, collective, size, own, repeat) for size in sizes]
    collective.free()
    return comm.bcast(known.get("text"), root=0), found


def _run(
    comm: Any, collective: MPICollective, size: int, own: Callable[[Any, Any], None] | None, repeat: int
) -> MPITiming:
    elements = max(1, -(-size // 8))
    sizes, parts = collective._tables.sizes, collective._tables.parts
    rng = np.random.default_rng(comm.rank)
    given = rng.integers(0, 2**40, sizes[0] // parts * elements)
    got, other = (np.full(sizes[1] // parts * elements, -1, np.int64) for _ in range(2))
    execution = collective.init(given if given.size else None, got if got.size else None)
    seconds = _time(comm, execution.run, repeat)
    execution.free()
    if own is None:
        return MPITiming(8 * elements, seconds)
    own_seconds = _time(comm, lambda: own(given, other), repeat)
    return MPITiming(
        8 * elements, seconds, own_seconds, bool(comm.allreduce(int(np.array_equal(got, other)), op=_least()))
    )


def _time(comm: Any, work: Callable[[], None], repeat: int) -> float:
    """Return the least time in seconds that the slowest rank takes."""
    import time

    best = float("inf")
    for _ in range(repeat):
        comm.Barrier()
        began = time.perf_counter()
        work()
        best = min(best, comm.allreduce(time.perf_counter() - began, op=_most()))
    return best


def _own(comm: Any, fields: dict[str, Any]) -> Callable[[Any, Any], None]:
    """Return MPI's own collective for a task; NotApplicableError where it has none."""
    root = fields.get("root", 0)
    if "packets" in fields or fields["name"] not in _OWN:
        known = ", ".join(_OWN)
        raise NotApplicableError(f"--check compares with MPI's own collectives ({known}); {fields['name']} is none")
    return _OWN[fields["name"]](comm, root)


def _broadcast(comm: Any, root: int) -> Callable[[Any, Any], None]:
    def work(given: Any, got: Any) -> None:
        if comm.rank == root:
            got[...] = given
        comm.Bcast(got, root)

    return work


_OWN: dict[str, Callable[[Any, int], Callable[[Any, Any], None]]] = {
    "multinode-broadcast": lambda comm, root: lambda given, got: comm.Allgather(given, got),
    "total-exchange": lambda comm, root: lambda given, got: comm.Alltoall(given, got),
    "reduce-scatter": lambda comm, root: lambda given, got: comm.Reduce_scatter_block(given, got),
    "allreduce": lambda comm, root: lambda given, got: comm.Allreduce(given, got),
    "broadcast": _broadcast,
    "reduce": lambda comm, root: lambda given, got: comm.Reduce(given, got if comm.rank == root else None, root=root),
    "gather": lambda comm, root: lambda given, got: comm.Gather(given, got if comm.rank == root else None, root),
    "scatter": lambda comm, root: lambda given, got: comm.Scatter(given if comm.rank == root else None, got, root),
}


def _least() -> Any:
    from mpi4py import MPI

    return MPI.MIN


def _most() -> Any:
    from mpi4py import MPI

    return MPI.MAX
