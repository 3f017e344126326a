"""The table of kinds of points: what `gossamer.sweep`, studies and the docs go through."""

from __future__ import annotations

from gossamer.studies.sweeps.kinds.failing import FAULTS
from gossamer.studies.sweeps.kinds.kind import Kind, PointNeeds
from gossamer.studies.sweeps.kinds.plans import BOUNDS, PLAN
from gossamer.studies.sweeps.kinds.simulations import DYNAMIC, LIMIT, SATURATION, TRAFFIC

__all__ = ["KINDS", "Kind", "PointNeeds"]

KINDS: dict[str, Kind] = {k.name: k for k in (PLAN, BOUNDS, FAULTS, DYNAMIC, LIMIT, TRAFFIC, SATURATION)}
"""Kinds of points, by name."""
