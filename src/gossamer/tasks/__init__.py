"""Communication tasks: who holds what at the start, and who must hold what at the end.

Each kind of task has a module; `task` gives any of them by name.
"""

from __future__ import annotations

from gossamer.tasks.asking import as_task, task, task_from_dict
from gossamer.tasks.chunked import Chunked, chunked
from gossamer.tasks.demand_table import DemandTable, as_table
from gossamer.tasks.exchanges import PartialExchange, PartialGather, TotalExchange
from gossamer.tasks.grouped import Grouped, along_dimensions
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
from gossamer.tasks.names import ALIASES, TASKS, kind_of
from gossamer.tasks.neighbors import NeighborExchange
from gossamer.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.tasks.routing import OneToManyRouting, Permutation
from gossamer.tasks.table_files import read_table, write_table
from gossamer.tasks.together import Together
from gossamer.tasks.uneven import UnevenExchange, UnevenGather, UnevenScatter

__all__ = [
    "ALIASES",
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
    "kind_of",
    "read_table",
    "task",
    "task_from_dict",
    "write_table",
]
