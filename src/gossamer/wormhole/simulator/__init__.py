"""A flit-level simulator of wormhole routers: schedules and random traffic, cycle by cycle."""

from __future__ import annotations

from gossamer.wormhole.simulator.deadlock import Deadlock
from gossamer.wormhole.simulator.destinations import destinations, ideal_throughput
from gossamer.wormhole.simulator.schedule_run import ScheduleRun, simulate_schedule
from gossamer.wormhole.simulator.settings import Routers
from gossamer.wormhole.simulator.sweep import Saturation, latency_load, loads, saturation_throughput, write_csv
from gossamer.wormhole.simulator.traffic import simulate_traffic
from gossamer.wormhole.simulator.traffic_run import TrafficRun

__all__ = [
    "Deadlock",
    "Routers",
    "Saturation",
    "ScheduleRun",
    "TrafficRun",
    "destinations",
    "ideal_throughput",
    "latency_load",
    "loads",
    "saturation_throughput",
    "simulate_schedule",
    "simulate_traffic",
    "write_csv",
]
