"""Many cases: points that know how to run themselves, engines that run them, a file that keeps what came of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.sweeps.asked import AskedPoint, asked_point
    from gossamer.sweeps.broadcasts import BroadcastPoint, delay_load
    from gossamer.sweeps.engines import ENGINES
    from gossamer.sweeps.grids import grid
    from gossamer.sweeps.kinds import KINDS
    from gossamer.sweeps.loads import read_loads
    from gossamer.sweeps.points import Line, Point, StoredPoint
    from gossamer.sweeps.results import SweepResults
    from gossamer.sweeps.running import run_points
    from gossamer.sweeps.store import merge, read_results
    from gossamer.sweeps.sweeping import sweep
    from gossamer.sweeps.tables import TABLE_FORMATS, table_format, write_table
    from gossamer.sweeps.traffic import TrafficPoint, latency_load

# where each name lives; imported when first used, so that a worker process imports only what its points need
_HOME = {
    "AskedPoint": "gossamer.sweeps.asked",
    "BroadcastPoint": "gossamer.sweeps.broadcasts",
    "ENGINES": "gossamer.sweeps.engines",
    "KINDS": "gossamer.sweeps.kinds",
    "Line": "gossamer.sweeps.points",
    "Point": "gossamer.sweeps.points",
    "StoredPoint": "gossamer.sweeps.points",
    "SweepResults": "gossamer.sweeps.results",
    "TABLE_FORMATS": "gossamer.sweeps.tables",
    "TrafficPoint": "gossamer.sweeps.traffic",
    "asked_point": "gossamer.sweeps.asked",
    "delay_load": "gossamer.sweeps.broadcasts",
    "grid": "gossamer.sweeps.grids",
    "latency_load": "gossamer.sweeps.traffic",
    "merge": "gossamer.sweeps.store",
    "read_loads": "gossamer.sweeps.loads",
    "read_results": "gossamer.sweeps.store",
    "run_points": "gossamer.sweeps.running",
    "sweep": "gossamer.sweeps.sweeping",
    "table_format": "gossamer.sweeps.tables",
    "write_table": "gossamer.sweeps.tables",
}

__all__ = [
    "ENGINES",
    "KINDS",
    "TABLE_FORMATS",
    "AskedPoint",
    "BroadcastPoint",
    "Line",
    "Point",
    "StoredPoint",
    "SweepResults",
    "TrafficPoint",
    "asked_point",
    "delay_load",
    "grid",
    "latency_load",
    "merge",
    "read_loads",
    "read_results",
    "run_points",
    "sweep",
    "table_format",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gossamer.sweeps' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value
