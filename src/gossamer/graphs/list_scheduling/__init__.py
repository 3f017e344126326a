"""List scheduling of packets with given paths: every link is busy while a packet waits for it."""

from __future__ import annotations

from gossamer.graphs.list_scheduling.scheduler import ORDERS, Order, non_wasting, tightened

__all__ = ["ORDERS", "Order", "non_wasting", "tightened"]
