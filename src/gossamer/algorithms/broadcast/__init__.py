"""Broadcast: one node sends the same message to all."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.shortest_path_tree import SHORTEST_PATH_TREE

__all__ = ["BROADCAST"]

BROADCAST: tuple[Algorithm, ...] = (SHORTEST_PATH_TREE,)
"""The algorithms for broadcast."""
