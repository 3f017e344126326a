"""The table of algorithms: what the planner, the docs, the battery and the benchmarks iterate over.

Builders are listed for the forward tasks; their duals by time reversal and the allreduces follow from them.
"""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network import (
    DOWN_TREES,
    EXACT,
    OVERLAPPED_TREES,
    PRICED_PATHS,
    PRICED_TREES,
    TREES_TOGETHER,
)
from gossamer.algorithms.any_network.alltoallv import SHARED_SHORTEST_WAYS
from gossamer.algorithms.broadcast import BROADCAST
from gossamer.algorithms.derived import DUALS, allreduce_from, dual
from gossamer.algorithms.groups import each_group
from gossamer.algorithms.multinode_broadcast.arc import ARC
from gossamer.algorithms.multinode_broadcast.cayley import MULTINODE_BROADCAST_CAYLEY
from gossamer.algorithms.multinode_broadcast.fat_trees import (
    CLIMBING_STAR_EXCHANGES,
    MULTINODE_BROADCAST_FAT_TREES,
    RISING_STAR_EXCHANGES,
    UP_FIRST,
)
from gossamer.algorithms.multinode_broadcast.folded_tree import FOLDED_TREE
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import HAMILTONIAN_CYCLE
from gossamer.algorithms.multinode_broadcast.heaviest_direction import HEAVIEST_DIRECTION
from gossamer.algorithms.multinode_broadcast.lines import MULTIPLE_BROADCAST
from gossamer.algorithms.multinode_broadcast.matched_flooding import MATCHED_FLOODING
from gossamer.algorithms.multinode_broadcast.partial import ROTATED_DIMENSIONS
from gossamer.algorithms.multinode_broadcast.rotated_quadrant import ROTATED_QUADRANT, ROTATED_QUADRANT_ON_ARRAY
from gossamer.algorithms.overlapped_halves import OVERLAPPED_HALVES
from gossamer.algorithms.partial_exchange import PARTIAL_EXCHANGE
from gossamer.algorithms.routing import ROUTING
from gossamer.algorithms.scatter import SCATTER
from gossamer.algorithms.total_exchange import TOTAL_EXCHANGE
from gossamer.algorithms.total_exchange.fat_trees import TOTAL_EXCHANGE_FAT_TREES
from gossamer.questions.tasks import MultinodeBroadcast

__all__ = ["ALGORITHMS"]

_FORWARD: tuple[Algorithm, ...] = (
    *BROADCAST,
    *SCATTER,
    *MULTINODE_BROADCAST_CAYLEY,
    *MULTINODE_BROADCAST_FAT_TREES,
    FOLDED_TREE,
    ROTATED_QUADRANT,
    ROTATED_QUADRANT_ON_ARRAY,
    *ROTATED_DIMENSIONS,
    GREEDY_FLOODING,
    HAMILTONIAN_CYCLE,
    HEAVIEST_DIRECTION,
    MATCHED_FLOODING,
    *MULTIPLE_BROADCAST,
    *TOTAL_EXCHANGE,
    *PARTIAL_EXCHANGE,
    *TOTAL_EXCHANGE_FAT_TREES,
    *ROUTING,
)

_ONE_WAY: tuple[Algorithm, ...] = (UP_FIRST,)
"""Algorithms in which nodes receive freely and send one packet: no allreduce runs them backwards under their rules."""

_TURNED: tuple[Algorithm, ...] = (*_FORWARD, *_ONE_WAY, PRICED_TREES, DOWN_TREES)
"""Algorithms that are also run backwards in time."""

_ALONE: tuple[Algorithm, ...] = (
    *_FORWARD,
    *_ONE_WAY,
    CLIMBING_STAR_EXCHANGES,
    RISING_STAR_EXCHANGES,
    ARC,
    PRICED_TREES,
    DOWN_TREES,
    PRICED_PATHS,
    SHARED_SHORTEST_WAYS,
    OVERLAPPED_TREES,
    OVERLAPPED_HALVES,
    TREES_TOGETHER,
    *(
        dual(a, DUALS[task])
        for a in (*_FORWARD, *_ONE_WAY, PRICED_TREES, DOWN_TREES)
        for task in a.tasks
        if task in DUALS
    ),
    *(allreduce_from(a) for a in _FORWARD if MultinodeBroadcast in a.tasks),
)

_SOLVED: tuple[Algorithm, ...] = (EXACT, *(dual(EXACT, DUALS[task]) for task in EXACT.tasks if task in DUALS))
"""What a solver does, by itself only."""

ALGORITHMS: tuple[Algorithm, ...] = (*_ALONE, *_SOLVED, each_group(_ALONE))
