"""Builders of schedules, one folder a task; `registry` is the table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.registry import algorithms_for

if TYPE_CHECKING:
    from gossamer.algorithms.registry import ALGORITHMS

__all__ = ["ALGORITHMS", "Algorithm", "algorithms_for"]


def __getattr__(name: str) -> Any:
    if name != "ALGORITHMS":
        raise AttributeError(f"module 'gossamer.algorithms' has no attribute {name!r}")
    return algorithms_for(None)
