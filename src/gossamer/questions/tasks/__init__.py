"""Communication tasks: who holds what at the start, and who must hold what at the end.

Each kind of task has a module; `task` gives any of them by name.
"""

from __future__ import annotations

from gossamer.questions.tasks.chunked import Chunked, chunked
from gossamer.questions.tasks.composite_tasks import Together
from gossamer.questions.tasks.demand_table import DemandTable, as_table, read_table, write_table
from gossamer.questions.tasks.exchanges import (
    NeighborExchange,
    PartialExchange,
    PartialGather,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
)
from gossamer.questions.tasks.group_tasks import Grouped, along_dimensions, in_packets, includes, packets_of
from gossamer.questions.tasks.multinode import (
    Allreduce,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    PartialSumAllreduce,
    ReduceScatter,
)
from gossamer.questions.tasks.parsing import ALIASES, TASKS, as_task, kind_of, task, task_from_dict
from gossamer.questions.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.questions.tasks.task import ALLCOMBINE, COMBINE, COPY, MOVE, Messages, Task

__all__ = [
    "ALIASES",
    "ALLCOMBINE",
    "COMBINE",
    "COPY",
    "MOVE",
    "TASKS",
    "Allreduce",
    "Broadcast",
    "Chunked",
    "DemandTable",
    "Gather",
    "GroupMultinodeBroadcast",
    "Grouped",
    "Messages",
    "MultinodeBroadcast",
    "MultipleBroadcast",
    "MultipleReduce",
    "NeighborExchange",
    "OneToManyRouting",
    "PartialExchange",
    "PartialGather",
    "PartialMultinodeBroadcast",
    "PartialReduceScatter",
    "PartialSumAllreduce",
    "Permutation",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "Task",
    "Together",
    "TotalExchange",
    "UnevenExchange",
    "UnevenGather",
    "UnevenScatter",
    "along_dimensions",
    "as_table",
    "as_task",
    "chunked",
    "in_packets",
    "includes",
    "kind_of",
    "packets_of",
    "read_table",
    "task",
    "task_from_dict",
    "write_table",
]
