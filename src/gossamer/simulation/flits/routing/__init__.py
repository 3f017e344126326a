"""Routing functions of the flit simulator, and the proof that they cannot deadlock."""

from __future__ import annotations

from gossamer.simulation.flits.routing.deadlock_freedom import DeadlockFreedom, deadlock_freedom
from gossamer.simulation.flits.routing.registry import ROUTINGS, routing, routing_on
from gossamer.simulation.flits.routing.routing_function import Routing

__all__ = ["ROUTINGS", "DeadlockFreedom", "Routing", "deadlock_freedom", "routing", "routing_on"]
