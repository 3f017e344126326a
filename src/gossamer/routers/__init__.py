"""A flit-level simulator of wormhole routers: schedules and random traffic, cycle by cycle."""

from __future__ import annotations

from gossamer.routers.deadlock import Deadlock
from gossamer.routers.destinations import destinations, ideal_throughput
from gossamer.routers.saturation import Saturation, saturation_throughput
from gossamer.routers.schedule_run import ScheduleRun, simulate_schedule
from gossamer.routers.settings import Routers, TrafficSettings
from gossamer.routers.traffic import simulate_traffic
from gossamer.routers.traffic_run import TrafficRun

__all__ = [
    "Deadlock",
    "Routers",
    "Saturation",
    "ScheduleRun",
    "TrafficRun",
    "TrafficSettings",
    "destinations",
    "ideal_throughput",
    "saturation_throughput",
    "simulate_schedule",
    "simulate_traffic",
]
