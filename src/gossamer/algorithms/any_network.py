"""Algorithms of `gossamer.synthesis`, for any network, any links and any switches."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.synthesis.routed import propose_moves, propose_trees
from gossamer.tasks import (
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

__all__ = ["PRICED_PATHS", "PRICED_TREES"]

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
