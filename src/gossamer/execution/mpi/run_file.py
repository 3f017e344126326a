"""Run a schedule file on the ranks of this process's MPI, and compare it with MPI's own collective."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.execution.mpi.collectives import MPICollective
from gossamer.execution.socket_runs import COLLECTIVES, Timing

__all__ = ["run_file"]


def run_file(
    comm: Any,
    path: str | os.PathLike[str],
    sizes: Sequence[int] | None = None,
    *,
    check: bool = False,
    repeat: int = 5,
    nodes: str | os.PathLike[str] | None = None,
) -> tuple[str, list[Timing]]:
    """Run a schedule file with real data; collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Rank r runs node r, or the node that the file `nodes` says.
    path : path
        The schedule.
    sizes : sequence of int, optional
        Bytes of a message, rounded up to whole 8-byte integers. Default: those that a plan in seconds is for, else
        1 MiB.
    check : bool
        Whether to compare with MPI's own collective, in groups on communicators of their members.
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

    Notes
    -----
    A schedule of groups is compared with MPI's own collective on a communicator of the members of each, one group after
    the other where a rank is in several.
    """
    known: dict[str, Any] = {}

    def plan() -> Any:
        from gossamer.execution.mpi.collectives import numbered_by_ranks, read_nodes
        from gossamer.interchange.format import between_ranks
        from gossamer.questions.costs import Clock
        from gossamer.schedules import load

        schedule = load(path)
        known["text"] = f"{schedule.task.describe()} on {schedule.network.spec}"
        if nodes is not None:
            schedule = between_ranks(schedule)  # whose nodes are all ranks
            schedule = numbered_by_ranks(schedule, read_nodes(nodes, schedule.network))
        known["fields"] = schedule.task.to_dict()
        known["bytes"] = schedule.cost.message_bytes if isinstance(schedule.cost, Clock) else 2**20
        return schedule

    collective = MPICollective(comm, plan)
    fields = comm.bcast(known.get("fields"), root=0)
    own = _OwnCollective(comm, fields) if check else None
    if sizes is None:
        sizes = [comm.bcast(known.get("bytes"), root=0)]
    found = [_run(comm, collective, size, own, repeat) for size in sizes]
    collective.free()
    if own is not None:
        own.free()
    return comm.bcast(known.get("text"), root=0), found


def _run(comm: Any, collective: MPICollective, size: int, own: _OwnCollective | None, repeat: int) -> Timing:
    elements = max(1, -(-size // 8))
    sizes, parts = collective._tables.sizes, collective._tables.parts
    rng = np.random.default_rng(comm.rank)
    given = rng.integers(0, 2**40, sizes[0] // parts * elements)
    got, other = (np.full(sizes[1] // parts * elements, -1, np.int64) for _ in range(2))
    execution = collective.init(given if given.size else None, got if got.size else None)
    seconds = _time(comm, execution.run, repeat)
    execution.free()
    if own is None:
        return Timing(8 * elements, seconds)
    rows = given.reshape(-1, elements), other.reshape(-1, elements)
    own_seconds = _time(comm, lambda: own(*rows), repeat)
    return Timing(
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


class _OwnCollective:
    """MPI's own collective for a task: in groups, on a communicator of the members of each.

    NotApplicableError where MPI has none.
    """

    def __init__(self, comm: Any, fields: dict[str, Any]) -> None:
        from mpi4py import MPI

        name, root = fields["name"], fields.get("root", 0)
        if name not in _OWN:
            known = ", ".join(_OWN)
            raise NotApplicableError(f"--check compares with MPI's own collectives ({known}); {name} is none")
        self._work, kind = _OWN[name], COLLECTIVES[name]
        self._root = root
        self._parts: list[tuple[Any, slice, slice]] = []  # of each group of this rank: its messages in the buffers
        at = [0, 0]
        for members in fields.get("groups", [range(comm.size)]):
            among = comm.Create(comm.Get_group().Incl(list(members)))
            if among == MPI.COMM_NULL:
                continue
            sizes = [size(among.size, among.rank == root) for size in (kind.given, kind.got)]
            self._parts.append((among, *(slice(a, a + size) for a, size in zip(at, sizes, strict=True))))
            at = [a + size for a, size in zip(at, sizes, strict=True)]

    def __call__(self, given: Any, got: Any) -> None:
        """Carry it out, with messages as long as the buffers say."""
        for among, brought, gotten in self._parts:
            self._work(among, self._root, given[brought].reshape(-1), got[gotten].reshape(-1))

    def free(self) -> None:
        """Give the communicators back."""
        for among, _, _ in self._parts:
            among.Free()


def _broadcast(comm: Any, root: int, given: Any, got: Any) -> None:
    if comm.rank == root:
        got[...] = given
    comm.Bcast(got, root)


_OWN: dict[str, Callable[[Any, int, Any, Any], None]] = {
    "multinode-broadcast": lambda comm, root, given, got: comm.Allgather(given, got),
    "total-exchange": lambda comm, root, given, got: comm.Alltoall(given, got),
    "reduce-scatter": lambda comm, root, given, got: comm.Reduce_scatter_block(given, got),
    "allreduce": lambda comm, root, given, got: comm.Allreduce(given, got),
    "partial-sum-allreduce": lambda comm, root, given, got: comm.Allreduce(given, got),
    "broadcast": _broadcast,
    "reduce": lambda comm, root, given, got: comm.Reduce(given, got if comm.rank == root else None, root=root),
    "gather": lambda comm, root, given, got: comm.Gather(given, got if comm.rank == root else None, root),
    "scatter": lambda comm, root, given, got: comm.Scatter(given if comm.rank == root else None, got, root),
}
"""MPI's call for each task."""


def _least() -> Any:
    from mpi4py import MPI

    return MPI.MIN


def _most() -> Any:
    from mpi4py import MPI

    return MPI.MAX
