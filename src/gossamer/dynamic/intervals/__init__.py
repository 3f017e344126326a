"""Broadcasts at random times by partial multinode broadcasts in intervals (Varvarigos, Bertsekas 1994, section 5)."""

from __future__ import annotations

from gossamer.dynamic.intervals.scheme import IntervalRun, IntervalScheme, interval_scheme

__all__ = ["IntervalRun", "IntervalScheme", "interval_scheme"]
