"""Builders of schedules, one folder a task; `registry` is the table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.registry import algorithms_for
from gossamer.lazy import lazy

if TYPE_CHECKING:
    from gossamer.algorithms.registry import ALGORITHMS

__all__ = ["ALGORITHMS", "Algorithm", "algorithms_for"]

__getattr__ = lazy(__name__, registry="ALGORITHMS")
