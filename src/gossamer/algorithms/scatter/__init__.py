"""Scatter: one node sends a different message to each other node."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.scatter.area_division import AREA_DIVISION
from gossamer.algorithms.scatter.balanced_branches import BALANCED_BRANCHES
from gossamer.algorithms.scatter.flow_over_time import FLOW_OVER_TIME
from gossamer.algorithms.scatter.furthest_first import EXTENDED_RING_PATHS, FURTHEST_FIRST

__all__ = ["SCATTER"]

SCATTER: tuple[Algorithm, ...] = (
    FURTHEST_FIRST,
    AREA_DIVISION,
    EXTENDED_RING_PATHS,
    BALANCED_BRANCHES,
    FLOW_OVER_TIME,
)
"""The algorithms for scatter."""
