"""Many cases: points that know how to run themselves, engines that run them, a file that keeps what came of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.studies.sweeps.broadcasts import BroadcastPoint, TrafficPoint, delay_load, latency_load, read_loads
    from gossamer.studies.sweeps.engines import ENGINES, run_points
    from gossamer.studies.sweeps.grids import AskedPoint, asked_point, grid
    from gossamer.studies.sweeps.kinds import KINDS
    from gossamer.studies.sweeps.points import Line, Point, StoredPoint
    from gossamer.studies.sweeps.results import TABLE_FORMATS, SweepResults, table_format, write_table
    from gossamer.studies.sweeps.store import merge, read_results
    from gossamer.studies.sweeps.sweeping import sweep

# where each name lives; imported when first used, so that a worker process imports only what its points need
_HOME = {
    "AskedPoint": "gossamer.studies.sweeps.grids",
    "BroadcastPoint": "gossamer.studies.sweeps.broadcasts",
    "ENGINES": "gossamer.studies.sweeps.engines",
    "KINDS": "gossamer.studies.sweeps.kinds",
    "Line": "gossamer.studies.sweeps.points",
    "Point": "gossamer.studies.sweeps.points",
    "StoredPoint": "gossamer.studies.sweeps.points",
    "SweepResults": "gossamer.studies.sweeps.results",
    "TABLE_FORMATS": "gossamer.studies.sweeps.results",
    "TrafficPoint": "gossamer.studies.sweeps.broadcasts",
    "asked_point": "gossamer.studies.sweeps.grids",
    "delay_load": "gossamer.studies.sweeps.broadcasts",
    "grid": "gossamer.studies.sweeps.grids",
    "latency_load": "gossamer.studies.sweeps.broadcasts",
    "merge": "gossamer.studies.sweeps.store",
    "read_loads": "gossamer.studies.sweeps.broadcasts",
    "read_results": "gossamer.studies.sweeps.store",
    "run_points": "gossamer.studies.sweeps.engines",
    "sweep": "gossamer.studies.sweeps.sweeping",
    "table_format": "gossamer.studies.sweeps.results",
    "write_table": "gossamer.studies.sweeps.results",
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
