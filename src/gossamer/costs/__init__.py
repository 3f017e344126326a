"""What schedules cost: steps of packets, seconds, or start-ups and bytes; their rules are in `gossamer.rules`."""

from gossamer.costs.clock import Clock
from gossamer.costs.linear import LinearCost
from gossamer.costs.steps import StepCost
from gossamer.costs.time import TimeCost

__all__ = ["AskedCost", "Clock", "Cost", "LinearCost", "StepCost", "TimeCost"]

Cost = StepCost | LinearCost
"""Any cost of a case; a `Clock` is a `StepCost`."""

AskedCost = Cost | TimeCost
"""Any cost that a user asks for; a `TimeCost` becomes a `Clock` on a network."""
