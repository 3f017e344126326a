"""The table of kinds of points: what `gossamer.sweep`, studies and the docs go through."""

from __future__ import annotations

from gossamer.sweeps.kinds.failing import FAULTS
from gossamer.sweeps.kinds.kind import Kind, PointNeeds
from gossamer.sweeps.kinds.plans import BOUNDS, PLAN
from gossamer.sweeps.kinds.simulations import DYNAMIC, LIMIT, SATURATION, TRAFFIC

__all__ = ["KINDS", "Kind", "PointNeeds"]

KINDS: dict[str, Kind] = {k.name: k for k in (PLAN, BOUNDS, FAULTS, DYNAMIC, LIMIT, TRAFFIC, SATURATION)}
"""Kinds of points, by name."""
