"""Many cases: points that know how to run themselves, engines that run them, a file that keeps what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.lazy_imports import lazy

if TYPE_CHECKING:
    from gossamer.studies.sweeps.executors import ENGINES, run_points
    from gossamer.studies.sweeps.load_sweeps import BroadcastPoint, TrafficPoint, delay_load, latency_load, read_loads
    from gossamer.studies.sweeps.point_grids import AskedPoint, asked_point, grid
    from gossamer.studies.sweeps.point_kinds import KINDS
    from gossamer.studies.sweeps.point_protocol import Line, Point, StoredPoint
    from gossamer.studies.sweeps.run_sweep import TABLE_FORMATS, SweepResults, sweep, table_format, write_table
    from gossamer.studies.sweeps.store import merge, read_results

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

__getattr__ = lazy(
    __name__,
    load_sweeps="BroadcastPoint TrafficPoint delay_load latency_load read_loads",
    executors="ENGINES run_points",
    point_grids="AskedPoint asked_point grid",
    point_kinds="KINDS",
    point_protocol="Line Point StoredPoint",
    store="merge read_results",
    run_sweep="SweepResults TABLE_FORMATS sweep table_format write_table",
)
