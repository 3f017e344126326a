"""Scatter: one node sends a different message to each other node."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST

__all__ = ["SCATTER"]

SCATTER: tuple[Algorithm, ...] = (FURTHEST_FIRST,)
"""The algorithms for scatter."""
