"""Schedules: which packet crosses which link when, as columns, plain or as an orbit of hops.

`Schedule` is the schedule; builders make it by `hop_sinks`, `transform` and `torus_on_array` make one from another,
`timelines` and `hop_descriptions` show it; `wormhole` has the same for wormhole messages. `files` keep schedules of
every switching, in the formats of `table_files`; another class of schedules needs a `FileForm`. Whether a schedule is
valid is said by `gossamer.verification`.
"""

from __future__ import annotations

from gossamer.schedules.files import save
from gossamer.schedules.hop_descriptions import Hop
from gossamer.schedules.packets import CONTROL, Packets, Phase, Repetition
from gossamer.schedules.schedule import RepairedSchedule, RunSchedule, Schedule, load
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.timelines import Timeline, timeline
from gossamer.schedules.torus_on_array import torus_on_array
from gossamer.schedules.transform import expand, relabel, repeated_on_torus, reverse, then

__all__ = [
    "CONTROL",
    "Hop",
    "Packets",
    "Phase",
    "RepairedSchedule",
    "Repetition",
    "RunSchedule",
    "Schedule",
    "Symmetry",
    "Timeline",
    "expand",
    "load",
    "relabel",
    "repeated_on_torus",
    "reverse",
    "save",
    "then",
    "timeline",
    "torus_on_array",
]
