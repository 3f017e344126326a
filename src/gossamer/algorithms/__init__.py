"""Builders of schedules, one folder a task."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.registry import ALGORITHMS

__all__ = ["ALGORITHMS", "Algorithm"]
