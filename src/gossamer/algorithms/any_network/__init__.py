"""Algorithms of `gossamer.algorithms.any_network`, for any network, any links and any switches."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.down_trees import propose_down_trees
from gossamer.algorithms.any_network.exact import propose_exact
from gossamer.algorithms.any_network.overlapped_allreduce import propose_allreduce
from gossamer.algorithms.any_network.priced_routing import propose_moves, propose_trees
from gossamer.algorithms.any_network.together import propose_together
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
    Permutation,
    Scatter,
    Together,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
)

__all__ = ["DOWN_TREES", "EXACT", "OVERLAPPED_TREES", "PRICED_PATHS", "PRICED_TREES", "TREES_TOGETHER"]

_GENERAL = (Chunked, Grouped, DemandTable, Together)
"""Tasks whose messages may be of any kind."""

PRICED_TREES = Algorithm(
    name="priced-trees",
    tasks=(
        Broadcast,
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        MultipleBroadcast,
        GroupMultinodeBroadcast,
        OneToManyRouting,
        *_GENERAL,
    ),
    propose=propose_trees,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="trees over links that cost the more the more they carry; what has furthest to go is sent first",
    passes_on=True,
    timed=True,
)

PRICED_PATHS = Algorithm(
    name="priced-paths",
    tasks=(
        Scatter,
        Gather,
        TotalExchange,
        PartialExchange,
        PartialGather,
        Permutation,
        UnevenExchange,
        UnevenScatter,
        UnevenGather,
        NeighborExchange,
        *_GENERAL,
    ),
    propose=propose_moves,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="paths over links that cost the more the more they carry; what has furthest to go is sent first",
    passes_on=True,
    timed=True,
)

OVERLAPPED_TREES = Algorithm(
    name="overlapped-trees",
    tasks=(Allreduce, Chunked),
    propose=propose_allreduce,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="combines along trees that lead to the roots and sends out each result at once along trees from them",
    passes_on=True,
    timed=True,
)

TREES_TOGETHER = Algorithm(
    name="trees-together",
    tasks=_GENERAL,
    propose=propose_together,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="trees for what is combined, copied and moved, grown together; each hop as soon as it can",
    passes_on=True,
    timed=True,
)

DOWN_TREES = Algorithm(
    name="arc-disjoint-trees",
    tasks=(Chunked,),
    propose=propose_down_trees,
    networks="any with plain links, and switches that copy",
    source="Edmonds 1973; gossamer for small depths and for what other trees bring; no promised time",
    summary="packets of a broadcast follow each other down as many trees without a common arc as there are",
    passes_on=True,
)

EXACT = Algorithm(
    name="exact",
    tasks=(*PRICED_TREES.tasks, *PRICED_PATHS.tasks[: -len(_GENERAL)], Allreduce),
    propose=propose_exact,
    networks="small ones (12 nodes for an alltoall, 16 for an allgather)",
    source="gossamer; constraint programming by OR-Tools",
    summary="the fewest steps, then the fewest hops, with a proof as a bound",
    passes_on=True,
    timed=True,
)
