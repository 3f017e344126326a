"""A flit-level simulator of wormhole routers: any network, schedules, random traffic and traces, cycle by cycle."""

from __future__ import annotations

from gossamer.simulation.flits.arrivals import MessageTrace, read_trace, write_trace
from gossamer.simulation.flits.deadlock import Deadlock
from gossamer.simulation.flits.destinations import destinations
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.recording import FlitRecording, record_run, record_traffic
from gossamer.simulation.flits.routing import ROUTINGS, DeadlockFreedom, deadlock_freedom, routing
from gossamer.simulation.flits.saturation import Saturation, ideal_throughput, saturation_throughput
from gossamer.simulation.flits.schedule_run import ScheduleRun, simulate_schedule
from gossamer.simulation.flits.settings import ENERGY_COSTS, PRESETS, Energy, Routers, TrafficSettings
from gossamer.simulation.flits.traffic import simulate_trace, simulate_traffic
from gossamer.simulation.flits.traffic_result import TrafficRun

__all__ = [
    "ENERGY_COSTS",
    "PRESETS",
    "ROUTINGS",
    "Deadlock",
    "DeadlockFreedom",
    "Energy",
    "Fabric",
    "FlitRecording",
    "MessageTrace",
    "Routers",
    "Saturation",
    "ScheduleRun",
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
