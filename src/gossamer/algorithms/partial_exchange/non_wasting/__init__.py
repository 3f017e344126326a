"""The non-wasting scheduler: packets with given paths, every link busy while a packet waits for it."""

from __future__ import annotations

from gossamer.algorithms.partial_exchange.non_wasting.paths import Hops, Paths
from gossamer.algorithms.partial_exchange.non_wasting.scheduler import ORDERS, Order, non_wasting, tightened

__all__ = ["ORDERS", "Hops", "Order", "Paths", "non_wasting", "tightened"]
