"""Permutation routing, and what the algorithms of seed 000 share: rotated dimensions, ranks by prefix, packing."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.monotone import MONOTONE
from gossamer.algorithms.routing.packing import PACKING

__all__ = ["ROUTING"]

ROUTING: tuple[Algorithm, ...] = (PACKING, MONOTONE)
"""The algorithms for permutation routing."""
