"""Total exchange (alltoall): every node sends a different message to every other."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.total_exchange.array_rounds import ARRAY_ROUNDS
from gossamer.algorithms.total_exchange.edge_colored import EDGE_COLORED, EDGE_COLORED_ON_ARRAY
from gossamer.algorithms.total_exchange.even_ring import PARITY_SHIFT
from gossamer.algorithms.total_exchange.successive_offsets import SUCCESSIVE_OFFSETS

__all__ = ["TOTAL_EXCHANGE"]

TOTAL_EXCHANGE: tuple[Algorithm, ...] = (
    EDGE_COLORED,
    PARITY_SHIFT,
    ARRAY_ROUNDS,
    EDGE_COLORED_ON_ARRAY,
    SUCCESSIVE_OFFSETS,
)
"""The algorithms for total exchange."""
