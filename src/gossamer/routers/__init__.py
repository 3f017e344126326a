"""A flit-level simulator of wormhole routers: any network, schedules, random traffic and traces, cycle by cycle."""

from __future__ import annotations

from gossamer.routers.deadlock import Deadlock
from gossamer.routers.destinations import destinations
from gossamer.routers.energy import ENERGY_COSTS, Energy
from gossamer.routers.fabric import Fabric
from gossamer.routers.ideal import ideal_throughput
from gossamer.routers.recording import FlitRecording, record_run, record_traffic
from gossamer.routers.routing import ROUTINGS, Freedom, deadlock_freedom, routing
from gossamer.routers.saturation import Saturation, saturation_throughput
from gossamer.routers.schedule_run import ScheduleRun, simulate_schedule
from gossamer.routers.settings import PRESETS, Routers
from gossamer.routers.trace import Trace, read_trace, write_trace
from gossamer.routers.traffic import simulate_trace, simulate_traffic
from gossamer.routers.traffic_run import TrafficRun
from gossamer.routers.traffic_settings import TrafficSettings

__all__ = [
    "ENERGY_COSTS",
    "PRESETS",
    "ROUTINGS",
    "Deadlock",
    "Energy",
    "Fabric",
    "FlitRecording",
    "Freedom",
    "Routers",
    "Saturation",
    "ScheduleRun",
    "Trace",
    "TrafficRun",
    "TrafficSettings",
    "deadlock_freedom",
    "destinations",
    "ideal_throughput",
    "read_trace",
    "record_run",
    "record_traffic",
    "routing",
    "saturation_throughput",
    "simulate_schedule",
    "simulate_trace",
    "simulate_traffic",
    "write_trace",
]
