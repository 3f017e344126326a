"""Schedules: which packet crosses which link when, as columns, plain or as an orbit of hops.

`Schedule` is the schedule; builders make it by `sinks`, `transform` and `torus_on_array` make one from another,
`timelines`, `frames` and `words` show it, `files` keep it; `wormhole` has the same for wormhole messages. Whether one
is valid is said by `gossamer.verification`. Another form of file is an entry of the table in `files`.
"""

from __future__ import annotations

from gossamer.schedules.files import save
from gossamer.schedules.packets import CONTROL, Packets, Phase
from gossamer.schedules.schedule import Schedule, load
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.timelines import Timeline, timeline
from gossamer.schedules.torus_on_array import torus_on_array
from gossamer.schedules.transform import expand, relabel, reverse, then
from gossamer.schedules.words import Hop

__all__ = [
    "CONTROL",
    "Hop",
    "Packets",
    "Phase",
    "Schedule",
    "Symmetry",
    "Timeline",
    "expand",
    "load",
    "relabel",
    "reverse",
    "save",
    "then",
    "timeline",
    "torus_on_array",
]
