"""Programs: what each rank of a schedule does, operation by operation, on buffers of its own.

`lower` takes a schedule and gives a program (`program`), `lower_ranks` that of a few ranks of a large one; messages lie
in buffers as `layout` says, and `files` writes a program for other languages. What runs a schedule, or hands it on to
what runs it, reads only the program and the timeline.
"""

from __future__ import annotations

from gossamer.programs.lowering import lower
from gossamer.programs.program import BUFFERS, INPUT, KINDS, OUTPUT, RECEIVE, REDUCE, SCRATCH, SEND, Operations, Program
from gossamer.programs.single_ranks import lower_ranks

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
    "lower_ranks",
]
