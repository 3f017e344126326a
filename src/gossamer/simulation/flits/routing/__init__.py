"""Routing functions of the flit simulator, and the proof that they cannot deadlock."""

from __future__ import annotations

from gossamer.simulation.flits.routing.freedom import DeadlockFreedom, deadlock_freedom
from gossamer.simulation.flits.routing.function import Routing
from gossamer.simulation.flits.routing.table import ROUTINGS, routing, routing_on

__all__ = ["ROUTINGS", "DeadlockFreedom", "Routing", "deadlock_freedom", "routing", "routing_on"]
