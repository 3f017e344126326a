"""Many simulations: points that know how to run themselves, one engine that runs them, one writer of the lines."""

from __future__ import annotations

from gossamer.sweeps.broadcasts import BroadcastPoint, delay_load
from gossamer.sweeps.engine import run_points
from gossamer.sweeps.loads import read_loads
from gossamer.sweeps.points import Line, Point
from gossamer.sweeps.tables import TABLE_FORMATS, table_format, write_table
from gossamer.sweeps.traffic import TrafficPoint, latency_load

__all__ = [
    "TABLE_FORMATS",
    "BroadcastPoint",
    "Line",
    "Point",
    "TrafficPoint",
    "delay_load",
    "latency_load",
    "read_loads",
    "run_points",
    "table_format",
    "write_table",
]
