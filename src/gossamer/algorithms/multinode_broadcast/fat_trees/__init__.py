"""Multinode broadcast (allgather) among the leaves of a fat tree."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.multinode_broadcast.fat_trees.forwarding import FLOODING, UP_FIRST
from gossamer.algorithms.multinode_broadcast.fat_trees.star_exchanges import STAR_EXCHANGES

__all__ = ["MULTINODE_BROADCAST_FAT_TREES", "UP_FIRST"]

MULTINODE_BROADCAST_FAT_TREES: tuple[Algorithm, ...] = (FLOODING, STAR_EXCHANGES)
"""The algorithms for multinode broadcast in fat trees with ports ``all``; `UP_FIRST` is for ports ``one-send``."""
