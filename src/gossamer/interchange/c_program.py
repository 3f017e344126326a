"""C that carries out the schedule over MPI: an executor, compiled once, and the program file that it reads.

A program of straight-line code for every hop would take longer to compile than to run; a table does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from gossamer.interchange.format import Format, Plan
from gossamer.programs.files import write_program

__all__ = ["SOURCES", "C"]

SOURCES = ("gossamer.h", "gossamer.c", "main.c")


def _limits(plan: Plan) -> Iterator[str]:
    network = plan.schedule.network
    if network.terminal_count < network.node_count:
        name = network.node_name(network.terminal_count)
        yield f"a switch runs no rank; {network.spec} has {network.node_count - network.terminal_count}, such as {name}"


def _write(plan: Plan, folder: Path) -> None:
    for name in SOURCES:
        text = files("gossamer.interchange").joinpath("c", name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    write_program(plan.program, folder / "plan.program")


C = Format("c", "an executor in C for MPI programs, with its program file", _write, _limits, folder=True)
