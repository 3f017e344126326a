"""Tasks by name: with their fields, with destinations that follow a pattern, or as a file describes them."""

from __future__ import annotations

import dataclasses
from typing import Any

from gossamer.errors import TaskError, shown
from gossamer.networks import as_network
from gossamer.questions.tasks.chunked import chunked
from gossamer.questions.tasks.grouped import Grouped
from gossamer.questions.tasks.names import kind_of
from gossamer.questions.tasks.patterns import one_to_many, permutation
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.questions.tasks.task import Task
from gossamer.questions.tasks.together import Together

__all__ = ["as_task", "task", "task_from_dict"]


def task(name: str, **fields: Any) -> Task:
    """Return the task called `name`, a classical or a modern name, with the given fields.

    Parameters
    ----------
    name : str
        A key of ``TASKS`` or of ``ALIASES``; case, hyphens, underscores, ``MPI_`` and ``nccl`` do not matter.
    **fields
        ``root``, ``active``, ``counts``, ``destination`` or ``destinations``, as the task asks. A routing task takes,
        instead of its destinations, ``network=`` and ``pattern=``, a name of
        `gossamer.questions.tasks.patterns.PATTERNS`, and if need be ``density=``, the share of its messages that are
        kept, and ``seed=``. With ``network=``, the root may be given by its coordinates or its name. ``packets=`` gives
        every message so many packets (default 1), and ``groups=``, lists of nodes, carries the task out in each of
        these groups at once.

    Raises
    ------
    TaskError
        If the name is unknown, or a field is missing, superfluous or illegal.

    Examples
    --------
    >>> task("allgather")
    MultinodeBroadcast()
    >>> task("broadcast", root=3), task("broadcast", network="torus:4x4", root=(1, 2))
    (Broadcast(root=3), Broadcast(root=6))
    >>> task("permutation", network="ring:3", pattern="neighbor")
    Permutation(destination=(1, 2, 0))
    """
    if "groups" in fields:
        groups = fields.pop("groups")
        return Grouped(task(name, **fields), groups)
    if "packets" in fields:
        packets = fields.pop("packets")
        return chunked(task(name, **fields), packets)
    kind = kind_of(name)
    if "pattern" in fields:
        return _patterned(kind, **fields)
    if {"network", "root"} <= fields.keys():
        fields["root"] = as_network(fields.pop("network")).node(fields["root"])
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


def _patterned(kind: type[Task], **fields: Any) -> Task:
    """Return the routing task whose destinations follow a pattern."""
    makers = {Permutation: permutation, OneToManyRouting: one_to_many}
    if kind not in makers:
        raise TaskError(f"task {kind.name} takes no pattern; {Permutation.name} and {OneToManyRouting.name} do")
    if "network" not in fields:
        raise TaskError(f"a pattern of {kind.name} needs the network: network='torus:8x8'")
    network, pattern = as_network(fields.pop("network")), fields.pop("pattern")
    for field in fields:
        if field not in ("density", "seed"):
            raise TaskError(f"a pattern of {kind.name} takes density and seed, not {field!r}")
    return makers[kind](pattern, network, **fields)


def as_task(asked: Task | str) -> Task:
    """Return a task that is asked by its name, or is one; TaskError if it is neither.

    Examples
    --------
    >>> as_task("allgather") == as_task(task("multinode-broadcast"))
    True
    """
    if isinstance(asked, str):
        return task(asked)
    if not isinstance(asked, Task):
        raise TaskError(f"a task must be a name, such as allgather, or a task of gossamer.task, got {shown(asked)}")
    return asked


def task_from_dict(fields: dict[str, Any]) -> Task:
    """Return the task that `Task.to_dict` described; TaskError if it describes none."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise TaskError(f"a task is described by its name and its fields, got {fields!r}")
    rest = dict(fields)
    name = rest.pop("name")
    if name == Together.name:
        tasks = [dict(t) for t in rest.pop("tasks")]
        names = [t.pop("called") for t in tasks]
        return Together(tuple(map(task_from_dict, tasks)), tuple(names), **rest)
    return task(name, **rest)
