"""Programs: what each rank of a schedule does, operation by operation, on buffers of its own.

`lower` makes a program of a schedule. Everything that runs a schedule, or hands it on to what runs it, reads only the
program and the timeline.
"""

from __future__ import annotations

from gossamer.programs.lowering import lower
from gossamer.programs.program import BUFFERS, INPUT, KINDS, OUTPUT, RECEIVE, REDUCE, SCRATCH, SEND, Operations, Program

__all__ = [
    "BUFFERS",
    "INPUT",
    "KINDS",
    "OUTPUT",
    "RECEIVE",
    "REDUCE",
    "SCRATCH",
    "SEND",
    "Operations",
    "Program",
    "lower",
]
