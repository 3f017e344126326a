"""Permutation routing, and what partial broadcasts share with it: rotated dimensions, ranks by prefix, packing."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.disjoint_paths import DISJOINT_PATHS
from gossamer.algorithms.routing.greedy import GREEDY
from gossamer.algorithms.routing.kunde import KUNDE, KUNDE_SPLIT
from gossamer.algorithms.routing.monotone import MONOTONE, PACKING
from gossamer.algorithms.routing.move_and_smooth import MOVE_AND_SMOOTH
from gossamer.algorithms.routing.valiant_brebner import RANDOMIZED

__all__ = ["ROUTING"]

ROUTING: tuple[Algorithm, ...] = (
    PACKING, MONOTONE, GREEDY, *KUNDE, *KUNDE_SPLIT, *RANDOMIZED, *MOVE_AND_SMOOTH, DISJOINT_PATHS,
)  # fmt: skip
"""The algorithms for permutation routing."""
