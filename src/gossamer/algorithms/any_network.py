"""Algorithms of `gossamer.synthesis`, for any network, any links and any switches."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.synthesis.overlapped import propose_allreduce
from gossamer.synthesis.routed import propose_moves, propose_trees
from gossamer.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Gather,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    OneToManyRouting,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    Permutation,
    Scatter,
    TotalExchange,
)

__all__ = ["OVERLAPPED_TREES", "PRICED_PATHS", "PRICED_TREES"]

PRICED_TREES = Algorithm(
    name="priced-trees",
    tasks=(
        Broadcast,
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        MultipleBroadcast,
        GroupMultinodeBroadcast,
        OneToManyRouting,
        Chunked,
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
    tasks=(Scatter, Gather, TotalExchange, PartialExchange, PartialGather, Permutation, Chunked),
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
