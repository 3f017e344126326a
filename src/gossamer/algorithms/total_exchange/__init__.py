"""Total exchange (alltoall): every node sends a different message to every other."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.total_exchange.array_rounds import ARRAY_ROUNDS
from gossamer.algorithms.total_exchange.busiest_first import BUSIEST_FIRST
from gossamer.algorithms.total_exchange.edge_colored import EDGE_COLORED, EDGE_COLORED_ON_ARRAY
from gossamer.algorithms.total_exchange.even_words import EVEN_WORDS
from gossamer.algorithms.total_exchange.node_invariant import GREEDY_OFFSETS, NODE_INVARIANT_FIFO, SUCCESSIVE_OFFSETS
from gossamer.algorithms.total_exchange.orbit_paths import ORBIT_PATHS
from gossamer.algorithms.total_exchange.products import HOMOGENEOUS_PRODUCT, PRODUCT_ROUNDS, TWO_PHASE_PRODUCT
from gossamer.algorithms.total_exchange.ring_shift import MESSAGE_SHIFT, PARITY_SHIFT

__all__ = ["TOTAL_EXCHANGE"]

TOTAL_EXCHANGE: tuple[Algorithm, ...] = (
    EDGE_COLORED,
    PARITY_SHIFT,
    MESSAGE_SHIFT,
    ARRAY_ROUNDS,
    EDGE_COLORED_ON_ARRAY,
    HOMOGENEOUS_PRODUCT,
    PRODUCT_ROUNDS,
    EVEN_WORDS,
    GREEDY_OFFSETS,
    SUCCESSIVE_OFFSETS,
    NODE_INVARIANT_FIFO,
    TWO_PHASE_PRODUCT,
    BUSIEST_FIRST,
    ORBIT_PATHS,
)
"""The algorithms for total exchange."""
