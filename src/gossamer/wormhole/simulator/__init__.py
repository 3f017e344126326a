"""A flit-level simulator of wormhole routers: schedules and random traffic, cycle by cycle."""

from __future__ import annotations

from gossamer.wormhole.simulator.deadlock import Deadlock
from gossamer.wormhole.simulator.destinations import destinations, ideal_throughput
from gossamer.wormhole.simulator.saturation import Saturation, saturation_throughput
from gossamer.wormhole.simulator.schedule_run import ScheduleRun, simulate_schedule
from gossamer.wormhole.simulator.settings import Routers, TrafficSettings
from gossamer.wormhole.simulator.traffic import simulate_traffic
from gossamer.wormhole.simulator.traffic_run import TrafficRun

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
