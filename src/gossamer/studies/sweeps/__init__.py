"""Many cases: points that know how to run themselves, engines that run them, a file that keeps what came of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.studies.sweeps.asked import AskedPoint, asked_point
    from gossamer.studies.sweeps.broadcasts import BroadcastPoint, delay_load
    from gossamer.studies.sweeps.engines import ENGINES
    from gossamer.studies.sweeps.grids import grid
    from gossamer.studies.sweeps.kinds import KINDS
    from gossamer.studies.sweeps.loads import read_loads
    from gossamer.studies.sweeps.points import Line, Point, StoredPoint
    from gossamer.studies.sweeps.results import SweepResults
    from gossamer.studies.sweeps.running import run_points
    from gossamer.studies.sweeps.store import merge, read_results
    from gossamer.studies.sweeps.sweeping import sweep
    from gossamer.studies.sweeps.tables import TABLE_FORMATS, table_format, write_table
    from gossamer.studies.sweeps.traffic import TrafficPoint, latency_load

# where each name lives; imported when first used, so that a worker process imports only what its points need
_HOME = {
    "AskedPoint": "gossamer.studies.sweeps.asked",
    "BroadcastPoint": "gossamer.studies.sweeps.broadcasts",
    "ENGINES": "gossamer.studies.sweeps.engines",
    "KINDS": "gossamer.studies.sweeps.kinds",
    "Line": "gossamer.studies.sweeps.points",
    "Point": "gossamer.studies.sweeps.points",
    "StoredPoint": "gossamer.studies.sweeps.points",
    "SweepResults": "gossamer.studies.sweeps.results",
    "TABLE_FORMATS": "gossamer.studies.sweeps.tables",
    "TrafficPoint": "gossamer.studies.sweeps.traffic",
    "asked_point": "gossamer.studies.sweeps.asked",
    "delay_load": "gossamer.studies.sweeps.broadcasts",
    "grid": "gossamer.studies.sweeps.grids",
    "latency_load": "gossamer.studies.sweeps.traffic",
    "merge": "gossamer.studies.sweeps.store",
    "read_loads": "gossamer.studies.sweeps.loads",
    "read_results": "gossamer.studies.sweeps.store",
    "run_points": "gossamer.studies.sweeps.running",
    "sweep": "gossamer.studies.sweeps.sweeping",
    "table_format": "gossamer.studies.sweeps.tables",
    "write_table": "gossamer.studies.sweeps.tables",
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
        raise AttributeError(f"module 'gossamer.studies.sweeps' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value
