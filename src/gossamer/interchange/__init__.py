"""Schedules in other tools' formats, in and out.

A writer takes a verified schedule with its program and its timeline (`format`) and gives a file or a folder; a reader
takes a file and a network and gives a schedule, which is then verified (`imported_schedules` has what readers share,
`threadblocks` what waits for what in a program). A new format is a file and a line in `registry`. What NCCL loads is no
schedule: rings, and which of its algorithms takes least for how many bytes (`nccl`).
"""

from __future__ import annotations

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.nccl import tuner_rows, write_nccl_graph, write_tuner
from gossamer.interchange.registry import FORMATS, MESSAGE_BYTES, export, import_schedule, program_schedule

__all__ = [
    "FORMATS",
    "MESSAGE_BYTES",
    "Format",
    "Plan",
    "export",
    "import_schedule",
    "program_schedule",
    "tuner_rows",
    "write_nccl_graph",
    "write_tuner",
]
