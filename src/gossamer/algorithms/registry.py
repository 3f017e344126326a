"""The table of algorithms: what the planner, the docs, the battery and the benchmarks iterate over."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm, allreduce_from, dual

__all__ = ["ALGORITHMS"]

_FORWARD: tuple[Algorithm, ...] = ()

ALGORITHMS: tuple[Algorithm, ...] = _FORWARD
