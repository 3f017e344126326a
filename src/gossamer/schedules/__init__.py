"""The schedule, its verification, metrics, transformations and files."""

from __future__ import annotations

from gossamer.schedules.checker import verify
from gossamer.schedules.files import load, save
from gossamer.schedules.metrics import BufferPeak, buffer_peak, link_busy, link_load, link_utilization
from gossamer.schedules.packets import CONTROL, Packets, Phase
from gossamer.schedules.schedule import Schedule
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.timelines import Timeline, timeline
from gossamer.schedules.torus_on_array import torus_on_array
from gossamer.schedules.transform import expand, relabel, reverse, then
from gossamer.schedules.violations import KINDS, Verification, Violation
from gossamer.schedules.words import Hop

__all__ = [
    "CONTROL",
    "KINDS",
    "BufferPeak",
    "Hop",
    "Packets",
    "Phase",
    "Schedule",
    "Symmetry",
    "Timeline",
    "Verification",
    "Violation",
    "buffer_peak",
    "expand",
    "link_busy",
    "link_load",
    "link_utilization",
    "load",
    "relabel",
    "reverse",
    "save",
    "then",
    "timeline",
    "torus_on_array",
    "verify",
]
