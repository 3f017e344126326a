"""Multinode broadcast (allgather) among the leaves of a fat tree."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.multinode_broadcast.fat_trees.forwarding import FLOODING, UP_FIRST
from gossamer.algorithms.multinode_broadcast.fat_trees.rising_star_exchanges import RISING_STAR_EXCHANGES
from gossamer.algorithms.multinode_broadcast.fat_trees.star_exchanges import CLIMBING_STAR_EXCHANGES, STAR_EXCHANGES

__all__ = ["CLIMBING_STAR_EXCHANGES", "MULTINODE_BROADCAST_FAT_TREES", "RISING_STAR_EXCHANGES", "UP_FIRST"]

MULTINODE_BROADCAST_FAT_TREES: tuple[Algorithm, ...] = (FLOODING, STAR_EXCHANGES)
"""The algorithms for multinode broadcast in fat trees with ports ``all``; `UP_FIRST` is for ports ``one-send``.

`CLIMBING_STAR_EXCHANGES` and `RISING_STAR_EXCHANGES` stand apart: they cannot be run backwards."""
