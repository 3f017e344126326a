"""Broadcasts at random times in intervals: Varvarigos and Bertsekas 1994, section 5."""

from __future__ import annotations

from gossamer.simulation.random_arrivals.intervals.broadcasts import IntervalBroadcasts
from gossamer.simulation.random_arrivals.intervals.scheme import (
    IntervalRun,
    IntervalScheme,
    interval_reason,
    interval_scheme,
)

__all__ = ["IntervalBroadcasts", "IntervalRun", "IntervalScheme", "interval_reason", "interval_scheme"]
