"""The table of move-and-smooth algorithms."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth.h import H_K_STRIPS, H
from gossamer.algorithms.routing.move_and_smooth.q import Q_K_PARTITION
from gossamer.algorithms.routing.move_and_smooth.q_any import Q_ANY

__all__ = ["MOVE_AND_SMOOTH"]

MOVE_AND_SMOOTH: tuple[Algorithm, ...] = (*Q_ANY, *Q_K_PARTITION, *H, *H_K_STRIPS)
"""Algorithms Q and H and their relatives, each for permutations and for one-to-many routing."""
