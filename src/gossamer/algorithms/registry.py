"""The table of algorithms: what the planner, the docs, the battery and the benchmarks iterate over.

Builders are listed for the forward tasks; their duals by time reversal and the allreduces follow from them.
"""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm, allreduce_from, dual
from gossamer.algorithms.broadcast import BROADCAST
from gossamer.algorithms.multinode_broadcast.cayley import MULTINODE_BROADCAST_CAYLEY
from gossamer.algorithms.multinode_broadcast.folded_tree import FOLDED_TREE
from gossamer.algorithms.multinode_broadcast.partial import PARTIAL_MULTINODE_BROADCAST, ROTATED_MULTINODE_BROADCAST
from gossamer.algorithms.multinode_broadcast.rotated_quadrant import ROTATED_QUADRANT, ROTATED_QUADRANT_ON_ARRAY
from gossamer.algorithms.scatter import SCATTER
from gossamer.algorithms.total_exchange import TOTAL_EXCHANGE
from gossamer.tasks import (
    Broadcast,
    Gather,
    MultinodeBroadcast,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
)

__all__ = ["ALGORITHMS"]

_FORWARD: tuple[Algorithm, ...] = (
    *BROADCAST,
    *SCATTER,
    *MULTINODE_BROADCAST_CAYLEY,
    FOLDED_TREE,
    ROTATED_QUADRANT,
    ROTATED_QUADRANT_ON_ARRAY,
    *PARTIAL_MULTINODE_BROADCAST,
    *ROTATED_MULTINODE_BROADCAST,
    *TOTAL_EXCHANGE,
)

_DUAL: dict[type[Task], type[Task]] = {
    Broadcast: Reduce,
    Scatter: Gather,
    MultinodeBroadcast: ReduceScatter,
    PartialMultinodeBroadcast: PartialReduceScatter,
    PartialExchange: PartialGather,
}

ALGORITHMS: tuple[Algorithm, ...] = (
    *_FORWARD,
    *(dual(a, _DUAL[a.task]) for a in _FORWARD if a.task in _DUAL),
    *(allreduce_from(a) for a in _FORWARD if a.task is MultinodeBroadcast),
)
