"""What schedules cost: steps of packets, or start-ups and bytes. What they must respect stands in `gossamer.rules`."""

from gossamer.costs.linear import LinearCost
from gossamer.costs.steps import StepCost

__all__ = ["Cost", "LinearCost", "StepCost"]

Cost = StepCost | LinearCost
"""Any cost."""
