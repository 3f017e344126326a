"""Communication tasks: who holds what at the start, and who must hold what at the end.

Each kind of task has a module; `task` gives any of them by name.
"""

from __future__ import annotations

from gossamer.tasks.asking import task, task_from_dict
from gossamer.tasks.chunked import Chunked, chunked
from gossamer.tasks.exchanges import PartialExchange, PartialGather, TotalExchange
from gossamer.tasks.messages import COMBINE, COPY, MOVE, Messages, Task
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
from gossamer.tasks.names import ALIASES, OTHER_TASKS, TASKS, kind_of
from gossamer.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.tasks.routing import OneToManyRouting, Permutation

__all__ = [
    "ALIASES",
    "COMBINE",
    "COPY",
    "MOVE",
    "OTHER_TASKS",
    "TASKS",
    "Allreduce",
    "Broadcast",
    "Chunked",
    "Gather",
    "GroupMultinodeBroadcast",
    "Messages",
    "MultinodeBroadcast",
    "MultipleBroadcast",
    "MultipleReduce",
    "OneToManyRouting",
    "PartialExchange",
    "PartialGather",
    "PartialMultinodeBroadcast",
    "PartialReduceScatter",
    "Permutation",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "Task",
    "TotalExchange",
    "chunked",
    "kind_of",
    "task",
    "task_from_dict",
]
