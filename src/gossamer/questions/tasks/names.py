"""Every task by its classical and its modern names, those of MPI and of the collective libraries among them.

A name is known however it is written: ``allgather``, ``all_gather``, ``AllGather``, ``MPI_Allgather``,
``ncclAllGather``. A name of MPI or NCCL means here what it means there.
"""

from __future__ import annotations

import re

from gossamer.errors import TaskError, nearest
from gossamer.questions.tasks.demand_table import DemandTable
from gossamer.questions.tasks.exchanges import PartialExchange, PartialGather, TotalExchange
from gossamer.questions.tasks.multinode import (
    Allreduce,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    ReduceScatter,
)
from gossamer.questions.tasks.neighbors import NeighborExchange
from gossamer.questions.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.questions.tasks.task import Task
from gossamer.questions.tasks.uneven import UnevenExchange, UnevenGather, UnevenScatter

__all__ = ["ALIASES", "TASKS", "kind_of"]

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
        UnevenExchange,
        UnevenScatter,
        UnevenGather,
        NeighborExchange,
        DemandTable,
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
    "alltoallv": "uneven-exchange",
    "alltoallw": "uneven-exchange",
    "scatterv": "uneven-scatter",
    "gatherv": "uneven-gather",
    "neighbor-alltoall": "neighbor-exchange",
    "halo-exchange": "neighbor-exchange",
}
"""Modern and other names of the tasks. ``MPI_Reduce_scatter`` has counts per rank; that of the others has none."""


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
    names = [*TASKS, *ALIASES]
    hint = nearest(str(name).strip(), names) or f"; known tasks: {', '.join(names)}"
    raise TaskError(f"unknown task {name!r}{hint}")
