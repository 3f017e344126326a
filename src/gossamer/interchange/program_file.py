"""The program file, which the C executor and the adapter for PyTorch read; see `gossamer.programs.files`."""

from __future__ import annotations

from pathlib import Path

from gossamer.interchange.format import Format, Plan
from gossamer.programs.files import write_program

__all__ = ["PROGRAM"]


def _write(plan: Plan, path: Path) -> None:
    write_program(plan.program, path)


PROGRAM = Format("program", "the operations of every rank in one small binary file", _write)
