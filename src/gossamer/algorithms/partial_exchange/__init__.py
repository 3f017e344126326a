"""Partial exchange: each of a set of active nodes sends a different message to every other node."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.partial_exchange.balanced_orders import BALANCED_ORDERS
from gossamer.algorithms.partial_exchange.rows_and_columns import ROWS_AND_COLUMNS
from gossamer.algorithms.partial_exchange.spread import SPREAD

__all__ = ["PARTIAL_EXCHANGE"]

PARTIAL_EXCHANGE: tuple[Algorithm, ...] = (ROWS_AND_COLUMNS, BALANCED_ORDERS, SPREAD)
"""The algorithms for partial exchange; balanced orders are for total exchange too."""
