"""Every task by its classical and its modern name."""

from __future__ import annotations

import dataclasses
from typing import Any

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

__all__ = ["ALIASES", "TASKS", "kind_of", "task", "task_from_dict"]

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
    "allgather": "multinode-broadcast",
    "gossip": "multinode-broadcast",
    "allgatherv": "partial-multinode-broadcast",
    "group-allgather": "group-multinode-broadcast",
    "alltoall": "total-exchange",
    "restricted-broadcasting": "one-to-many-routing",
}
"""Modern and other names of the tasks."""


def kind_of(name: str) -> type[Task]:
    """Return the class of the task called `name`, a classical or a modern name; TaskError if there is none.

    Examples
    --------
    >>> kind_of("AllGather").name
    'multinode-broadcast'
    """
    key = str(name).strip().lower().replace("_", "-")
    key = ALIASES.get(key, key)
    if key not in TASKS:
        hint = nearest(key, [*TASKS, *ALIASES]) or f"; known tasks: {', '.join([*TASKS, *ALIASES])}"
        raise TaskError(f"unknown task {name!r}{hint}")
    return TASKS[key]


def task(name: str, **fields: Any) -> Task:
    """Return the task called `name`, a classical or a modern name, with the given fields.

    Parameters
    ----------
    name : str
        A key of ``TASKS`` or of ``ALIASES``; case and underscores do not matter.
    **fields
        ``root``, ``active``, ``counts``, ``destination`` or ``destinations``, as the task asks.

    Raises
    ------
    TaskError
        If the name is unknown, or a field is missing, superfluous or illegal.

    Examples
    --------
    >>> task("allgather")
    MultinodeBroadcast()
    >>> task("broadcast", root=3)
    Broadcast(root=3)
    """
    kind = kind_of(name)
    key = kind.name
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for field in fields:
        if field not in known:
            allowed = f"it takes {', '.join(known)}" if known else "it takes none"
            raise TaskError(f"task {key} has no field {field!r}; {allowed}")
    needed = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]  # type: ignore[arg-type]
    for field in needed:
        if field not in fields:
            raise TaskError(f"task {key} needs {field!r}")
    return kind(**fields)


def task_from_dict(fields: dict[str, Any]) -> Task:
    """Return the task that `Task.to_dict` described; TaskError if it describes none."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise TaskError(f"a task is described by its name and its fields, got {fields!r}")
    rest = dict(fields)
    return task(rest.pop("name"), **rest)
