"""Total exchange (alltoall) among the leaves of a fat tree."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.total_exchange.fat_trees.forwarding import DIGITWISE, UP_FIRST
from gossamer.algorithms.total_exchange.fat_trees.offsets import OFFSETS
from gossamer.algorithms.total_exchange.fat_trees.phases import PHASES

__all__ = ["TOTAL_EXCHANGE_FAT_TREES"]

TOTAL_EXCHANGE_FAT_TREES: tuple[Algorithm, ...] = (DIGITWISE, OFFSETS, PHASES, UP_FIRST)
"""The algorithms for total exchange in fat trees."""
