"""The table of algorithms: what the planner, the docs, the battery and the benchmarks iterate over.

A line names where an algorithm (or a tuple of them) stands and the tasks that it is for, so that planning a task
imports the algorithms for that task and no others. Builders are listed for the forward tasks; their duals by time
reversal and the allreduces follow from them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.derived import DUALS, allreduce_from, dual
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    DemandTable,
    Gather,
    Grouped,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    NeighborExchange,
    OneToManyRouting,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialSumAllreduce,
    Permutation,
    Scatter,
    Task,
    Together,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
)

__all__ = ["algorithms_for", "current_name"]

if TYPE_CHECKING:
    ALGORITHMS: tuple[Algorithm, ...]


_RENAMED = {
    "priced-trees": "congestion-priced-trees",
    "priced-paths": "congestion-priced-paths",
    "shared-shortest-ways": "load-balanced-shortest-paths",
    "trees-together": "packed-trees",
    "repeated-trees": "periodic-trees",
    "overlapped-trees": "pipelined-trees",
    "overlapped-halves": "pipelined-reduce-scatter-allgather",
    "free-root-trees": "tree-packing",
    "rotated-dimensions-split": "rotated-dimensions-segmented",
    "rotated-dimensions-whole": "rotated-dimensions-unsegmented",
}
"""Names that algorithms had before, which go on naming them."""


def current_name(name: str) -> str:
    """Return the name that an algorithm has now; a name that is not known to have changed stays as it is.

    >>> current_name("priced-trees"), current_name("reversed-priced-trees"), current_name("H")
    ('congestion-priced-trees', 'reversed-congestion-priced-trees', 'H')
    """
    for prefix in ("", "reversed-", "two-way-"):
        bare = name.removeprefix(prefix)
        if name.startswith(prefix) and bare in _RENAMED:
            return f"{prefix}{_RENAMED[bare]}"
    return name


class _Line(NamedTuple):
    """Where algorithms stand below `gossamer.algorithms`, as module:NAME, and the tasks that each of them is for."""

    place: str
    tasks: tuple[type[Task], ...]


def _line(place: str, *tasks: type[Task]) -> _Line:
    return _Line(place, tasks)


_MOVED = (
    Scatter, Gather, TotalExchange, PartialExchange, PartialGather, Permutation, UnevenExchange, UnevenScatter,
    UnevenGather, NeighborExchange,
)  # fmt: skip
_COPIED = (
    Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, MultipleBroadcast, GroupMultinodeBroadcast,
    OneToManyRouting,
)  # fmt: skip
_GENERAL = (Chunked, Grouped, DemandTable, Together)

_FORWARD: tuple[_Line, ...] = (
    _line("broadcast.shortest_path_tree:SHORTEST_PATH_TREE", Broadcast),
    _line("broadcast.binomial_and_product_trees:BINOMIAL_TREE", Broadcast),
    _line("broadcast.binomial_and_product_trees:EXTENDED_RING_TREE", Broadcast),
    _line("broadcast.binomial_and_product_trees:PRODUCT_TREE", Broadcast),
    _line("broadcast.matching_rounds:MATCHING_ROUNDS", Broadcast),
    _line("scatter.furthest_first:FURTHEST_FIRST", Scatter),
    _line("scatter.area_division:AREA_DIVISION", Scatter),
    _line("scatter.furthest_first:EXTENDED_RING_PATHS", Scatter),
    _line("scatter.balanced_branches:BALANCED_BRANCHES", Scatter),
    _line("scatter.flow_over_time:FLOW_OVER_TIME", Scatter),
    _line("multinode_broadcast.cayley:TRANSLATED_TREE", MultinodeBroadcast),
    _line("multinode_broadcast.fat_trees:FLOODING", MultinodeBroadcast),
    _line("multinode_broadcast.fat_trees:STAR_EXCHANGES", MultinodeBroadcast),
    _line("multinode_broadcast.folded_tree:FOLDED_TREE", MultinodeBroadcast),
    _line("multinode_broadcast.rotated_quadrant:ROTATED_QUADRANT", MultinodeBroadcast),
    _line("multinode_broadcast.rotated_quadrant:ROTATED_QUADRANT_ON_ARRAY", MultinodeBroadcast),
    _line("multinode_broadcast.partial:ROTATED_DIMENSIONS", PartialMultinodeBroadcast, MultinodeBroadcast),
    _line(
        "multinode_broadcast.greedy_flooding:GREEDY_FLOODING",
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        MultipleBroadcast,
        Chunked,
    ),
    _line("multinode_broadcast.hamiltonian_cycle:HAMILTONIAN_CYCLE", MultinodeBroadcast),
    _line("any_network.mpi_library_algorithms:MULTI_RING", MultinodeBroadcast, Chunked),
    _line("multinode_broadcast.multiple_broadcasts_on_rings:HEAVIEST_DIRECTION", MultinodeBroadcast),
    _line("multinode_broadcast.matched_flooding:MATCHED_FLOODING", MultinodeBroadcast),
    _line("multinode_broadcast.multiple_broadcasts_on_rings:MULTIPLE_BROADCAST", MultipleBroadcast),
    _line("total_exchange.edge_colored:EDGE_COLORED", TotalExchange),
    _line("total_exchange.ring_queues:PARITY_SHIFT", TotalExchange),
    _line("total_exchange.ring_queues:MESSAGE_SHIFT", TotalExchange),
    _line("total_exchange.products:ARRAY_ROUNDS", TotalExchange),
    _line("total_exchange.edge_colored:EDGE_COLORED_ON_ARRAY", TotalExchange),
    _line("total_exchange.products:HOMOGENEOUS_PRODUCT", TotalExchange),
    _line("total_exchange.products:PRODUCT_ROUNDS", TotalExchange),
    _line("total_exchange.even_words:EVEN_WORDS", TotalExchange),
    _line("total_exchange.node_invariant:GREEDY_OFFSETS", TotalExchange),
    _line("total_exchange.node_invariant:SUCCESSIVE_OFFSETS", TotalExchange),
    _line("total_exchange.node_invariant:NODE_INVARIANT_FIFO", TotalExchange),
    _line("total_exchange.products:TWO_PHASE_PRODUCT", TotalExchange),
    _line("total_exchange.busiest_node_first:BUSIEST_FIRST", TotalExchange),
    _line("total_exchange.orbit_paths:ORBIT_PATHS", TotalExchange),
    _line("any_network.hierarchical_collectives:HIERARCHICAL_EXCHANGE", TotalExchange),
    _line("any_network.translated_paths:TRANSLATED_PATHS", TotalExchange),
    _line("any_network.sound_paths:SOUND_PATHS", TotalExchange),
    _line("any_network.mpi_library_algorithms:EXCHANGES", TotalExchange, Chunked),
    _line("any_network.mpi_library_algorithms:HALVING_SCATTER", Scatter, Chunked),
    _line("any_network.mpi_library_algorithms:BROADCASTS", Broadcast, Chunked),
    _line("partial_exchange.rows_and_columns:ROWS_AND_COLUMNS", PartialExchange),
    _line("partial_exchange.balanced_orders:BALANCED_ORDERS", PartialExchange, TotalExchange),
    _line("partial_exchange.spread_then_deliver:SPREAD", PartialExchange),
    _line("total_exchange.fat_trees:DIGITWISE", TotalExchange),
    _line("total_exchange.fat_trees:OFFSETS", TotalExchange),
    _line("total_exchange.fat_trees:PHASES", TotalExchange),
    _line("total_exchange.fat_trees:UP_FIRST", TotalExchange),
    _line("routing.monotone:PACKING", Permutation),
    _line("routing.monotone:MONOTONE", Permutation),
    _line("routing.greedy:GREEDY", Permutation),
    _line("routing.kunde:KUNDE", Permutation),
    _line("routing.kunde:KUNDE_SPLIT", Permutation),
    _line("routing.valiant_brebner:RANDOMIZED", Permutation),
    _line("routing.move_and_smooth.odd_sided_regions:MOVE_AND_SMOOTH", Permutation, OneToManyRouting),
    _line("routing.disjoint_paths:DISJOINT_PATHS", DemandTable, Permutation),
)

_ONE_WAY: tuple[_Line, ...] = (
    _line("any_network.translated_paths:TRANSLATED_TREES", MultinodeBroadcast),
    _line("multinode_broadcast.translated_flooding:TRANSLATED_FLOODING", MultinodeBroadcast),
    _line("multinode_broadcast.fat_trees:UP_FIRST", MultinodeBroadcast),
    _line("any_network.mpi_library_algorithms:ALLGATHERS", MultinodeBroadcast, Chunked),
    _line("any_network.hierarchical_collectives:HIERARCHICAL_ALLGATHER", MultinodeBroadcast, Chunked),
)
"""Algorithms that no allreduce runs backwards: one-port nodes receive freely, or allreduce has one of its own."""

_BOTH_WAYS = ("bine-trees",)
"""Those of the above that are run backwards and forwards for an allreduce that names them."""

_TREES: tuple[_Line, ...] = (
    _line("any_network.priced_routing:PRICED_TREES", *_COPIED, *_GENERAL),
    _line("any_network.arc_disjoint_trees:DOWN_TREES", Chunked),
    _line("any_network.repeated_trees:REPEATED_TREES", Chunked, Grouped),
)

_AS_THEY_ARE: tuple[_Line, ...] = (
    _line("multinode_broadcast.fat_trees:CLIMBING_STAR_EXCHANGES", MultinodeBroadcast),
    _line("multinode_broadcast.fat_trees:RISING_STAR_EXCHANGES", MultinodeBroadcast),
    _line("multinode_broadcast.mesh_interior_over_surface:ARC", GroupMultinodeBroadcast),
    *_TREES,
    _line("any_network.priced_routing:PRICED_PATHS", *_MOVED, *_GENERAL),
    _line("any_network.alltoallv:SHARED_SHORTEST_WAYS", UnevenExchange, DemandTable, Grouped),
    _line("any_network.alltoallv:LOAD_BALANCED_DETOURS", UnevenExchange, DemandTable, Grouped),
    _line("any_network.hierarchical_collectives:HIERARCHICAL_ALLREDUCE", Allreduce, Chunked),
    _line("multinode_broadcast.translated_flooding:TRANSLATED_ALLREDUCE", Allreduce),
    _line("any_network.translated_paths:TRANSLATED_REDUCTION", Allreduce),
    _line("any_network.hierarchical_collectives:HIERARCHICAL_BROADCAST", Broadcast, Chunked),
    _line("any_network.mpi_library_algorithms:BLOCK_BROADCASTS", Broadcast, Chunked),
    _line("any_network.overlapped_allreduce:OVERLAPPED_TREES", Allreduce, Chunked),
    _line("any_network.free_root_trees:FREE_ROOT_TREES", PartialSumAllreduce, Chunked, Grouped),
    _line("allreduce.staged_allreduce:STAGED_ALLREDUCES", PartialSumAllreduce, Chunked, Grouped),
    _line("allreduce.staged_allreduce:EXCHANGE_IN_BLOCKS", PartialSumAllreduce, Chunked),
    _line("allreduce.staged_allreduce:TREE_ALLREDUCES", PartialSumAllreduce, Chunked),
    _line("any_network.overlapped_allreduce:OVERLAPPED_HALVES", Allreduce),
    _line("any_network.dependent_collectives:TREES_TOGETHER", *_GENERAL),
)

_TURNED: tuple[_Line, ...] = (*_FORWARD, *_ONE_WAY, *_TREES)
"""Algorithms that are also run backwards in time."""

_SOLVED: tuple[_Line, ...] = (_line("any_network.exact:EXACT", *_COPIED, *_GENERAL, *_MOVED, Allreduce),)
"""What a solver does, by itself only."""


_known: dict[type[Task] | None, tuple[Algorithm, ...]] = {}
_two_way = cache(allreduce_from)


@cache
def _loaded(place: str) -> tuple[Algorithm, ...]:
    """Return the algorithm or algorithms at a place."""
    module, name = place.split(":")
    found = getattr(importlib.import_module(f"gossamer.algorithms.{module}"), name)
    return (found,) if isinstance(found, Algorithm) else tuple(found)


def _of(lines: Sequence[_Line], kind: type[Task] | None) -> Iterator[Algorithm]:
    """Yield the algorithms of some lines that are for a kind of task, or all."""
    for line in lines:
        if kind is None or issubclass(kind, line.tasks):
            yield from _loaded(line.place)


@cache
def _backwards(place: str) -> tuple[Algorithm, ...]:
    """Return the algorithms that run those at a place backwards in time."""
    return tuple(dual(a, DUALS[task]) for a in _loaded(place) for task in a.tasks if task in DUALS)


def _duals(lines: Sequence[_Line], kind: type[Task] | None) -> Iterator[Algorithm]:
    """Yield the algorithms that run those of some lines backwards for a kind of task, or for all."""
    for line in lines:
        turned = tuple(DUALS[task] for task in line.tasks if task in DUALS)
        if kind is None or issubclass(kind, turned):
            yield from (a for a in _backwards(line.place) if kind is None or issubclass(kind, a.tasks))


def _alone(kind: type[Task] | None) -> Iterator[Algorithm]:
    """Yield what each group may use: all but solvers, for a kind of task, or for all."""
    yield from _of((*_FORWARD, *_ONE_WAY, *_AS_THEY_ARE), kind)
    yield from _duals(_TURNED, kind)
    if kind is None or issubclass(kind, Allreduce | Chunked):
        lines = [line for line in _FORWARD if kind is not Chunked or Chunked in line.tasks]
        yield from (_two_way(a) for a in _of(lines, MultinodeBroadcast))
        yield from (_two_way(a, named=True) for a in _of(_ONE_WAY, MultinodeBroadcast) if a.name in _BOTH_WAYS)
    if kind is None or issubclass(kind, Grouped):
        yield from (_two_way(a, in_groups=True) for a in _of(_TREES[:1], Grouped))


def algorithms_for(kind: type[Task] | None) -> tuple[Algorithm, ...]:
    """Return the algorithms for a kind of task, or for all tasks if it is None; only these are imported.

    Examples
    --------
    >>> from gossamer.questions.tasks import Reduce
    >>> [a.name for a in algorithms_for(Reduce)][:2]
    ['reversed-shortest-path-tree', 'reversed-binomial-tree']
    """
    if kind not in _known:
        found = [*_alone(kind), *_of(_SOLVED, kind), *_duals(_SOLVED, kind)]
        if kind is None or issubclass(kind, Grouped):
            from gossamer.algorithms.derived import each_group

            alone = each_group(lambda task: tuple(_alone(type(task))))
            found += [alone, _two_way(alone, in_groups=True)]
        _known[kind] = tuple(found)
    return _known[kind]


def __getattr__(name: str) -> Any:
    if name != "ALGORITHMS":
        raise AttributeError(f"module 'gossamer.algorithms.registry' has no attribute {name!r}")
    return algorithms_for(None)
