"""Total exchange (alltoall): every node sends a different message to every other."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.total_exchange.successive_offsets import SUCCESSIVE_OFFSETS

__all__ = ["TOTAL_EXCHANGE"]

TOTAL_EXCHANGE: tuple[Algorithm, ...] = (SUCCESSIVE_OFFSETS,)
"""The algorithms for total exchange."""
