"""Every task by its classical and its modern names, those of MPI and of the collective libraries among them.

A name is known however it is written: ``allgather``, ``all_gather``, ``AllGather``, ``MPI_Allgather``,
``ncclAllGather``. A name of MPI or NCCL means here what it means there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gossamer.errors import TaskError, nearest
from gossamer.tasks.exchanges import PartialExchange, PartialGather, TotalExchange
from gossamer.tasks.messages import Task
from gossamer.tasks.multinode import (
    Allreduce,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    ReduceScatter,
)
from gossamer.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.tasks.routing import OneToManyRouting, Permutation

__all__ = ["ALIASES", "OTHER_TASKS", "TASKS", "OtherTask", "kind_of"]

TASKS: dict[str, type[Task]] = {
    t.name: t
    for t in (
        Broadcast,
        Scatter,
        Gather,
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        GroupMultinodeBroadcast,
        MultipleBroadcast,
        TotalExchange,
        PartialExchange,
        PartialGather,
        Permutation,
        OneToManyRouting,
        Reduce,
        ReduceScatter,
        PartialReduceScatter,
        MultipleReduce,
        Allreduce,
    )
}
"""Every task by its classical name."""


ALIASES: dict[str, str] = {
    "bcast": "broadcast",
    "allgather": "multinode-broadcast",
    "gossip": "multinode-broadcast",
    "group-allgather": "group-multinode-broadcast",
    "allgatherv": "multiple-broadcast",
    "alltoall": "total-exchange",
    "restricted-broadcasting": "one-to-many-routing",
    "MPI_Reduce_scatter_block": "reduce-scatter",
    "MPI_Reduce_scatter": "multiple-reduce",
    "reduce-scatterv": "multiple-reduce",
}
"""Modern and other names of the tasks. ``MPI_Reduce_scatter`` has counts per rank; that of the others has none."""


class OtherTask(NamedTuple):
    """A task that has a name elsewhere and that is none of `TASKS`."""

    meaning: str
    near: tuple[str, ...]


OTHER_TASKS: dict[str, OtherTask] = {
    "alltoallv": OtherTask("an alltoall with a count for every pair of ranks", ("total-exchange", "partial-exchange")),
    "alltoallw": OtherTask("an alltoall with a count for every pair of ranks", ("total-exchange", "partial-exchange")),
    "gatherv": OtherTask("a gather with a count for every rank", ("gather", "multiple-broadcast")),
    "scatterv": OtherTask("a scatter with a count for every rank", ("scatter",)),
}
"""What names of MPI and the collective libraries mean for which there is no task, and the tasks that are near."""


def _folded(name: str) -> str:
    """Return a name without case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name.lower())


_KNOWN = {_folded(name): name for name in TASKS} | {_folded(alias): name for alias, name in ALIASES.items()}


def kind_of(name: str) -> type[Task]:
    """Return the class of the task called `name`, a classical or a modern name; TaskError if there is none.

    Case, spaces, hyphens, underscores, and the prefixes of MPI and NCCL do not matter.

    Examples
    --------
    >>> [kind_of(name).name for name in ("AllGather", "MPI_Bcast", "ncclReduceScatter")]
    ['multinode-broadcast', 'broadcast', 'reduce-scatter']
    """
    key = _folded(str(name))
    bare = re.sub("^(mpi|ncclx|nccl)", "", key)
    if key in _KNOWN or bare in _KNOWN:
        return TASKS[_KNOWN.get(key) or _KNOWN[bare]]
    if bare in OTHER_TASKS:
        meaning, near = OTHER_TASKS[bare]
        raise TaskError(f"{name!r} is {meaning}; no task here takes such counts; near it: {', '.join(near)}")
    names = [*TASKS, *ALIASES]
    hint = nearest(str(name).strip(), names) or f"; known tasks: {', '.join(names)}"
    raise TaskError(f"unknown task {name!r}{hint}")
