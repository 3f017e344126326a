"""Commands and groups of them: help by purpose with an example each, and the nearest command for a misspelt one."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import typer
import typer.core

from gossamer.cli.console import styled
from gossamer.cli.options import HEADINGS
from gossamer.errors import nearest

__all__ = ["EXAMPLES", "PURPOSES", "TOUR", "Command", "Commands", "dressed", "group"]

# What the commands are for: their purposes in the help, each command with an example that runs.

PURPOSES: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Plan",
        {
            "plan": "gossamer plan torus:8x8 allgather -o plan.parquet",
            "compare": "gossamer compare hypercube:4 alltoall",
            "bounds": "gossamer bounds torus:8x8 alltoall",
            "replan": "gossamer replan plan.parquet --without links:0-1",
            "faults": "gossamer faults ring:8 allgather",
        },
    ),
    (
        "Look up",
        {
            "list": "gossamer list algorithms star:4 --task alltoall",
            "network": "gossamer network dragonfly:4,2",
            "demands": "gossamer demands ring:4 alltoall -o table.csv",
        },
    ),
    (
        "See and check a schedule",
        {
            "verify": "gossamer verify plan.parquet",
            "draw": "gossamer draw plan.parquet -o load.svg",
            "explore": "gossamer explore plan.parquet -o page.html",
            "explain": "gossamer explain plan.parquet -o advice.html",
        },
    ),
    (
        "Run it, hand it on, take it in",
        {
            "run": "mpiexec -n 16 gossamer run plan.parquet",
            "export": "gossamer export plan.parquet --to msccl-xml -o plan.xml",
            "import": "gossamer import plan.xml --network torus:8x8 -o back.parquet",
        },
    ),
    (
        "Simulate and study",
        {
            "simulate": "gossamer simulate plan.parquet --bytes 1MB",
            "deadlock": "gossamer deadlock torus:4x4",
            "design": "gossamer design --nodes 16 --degree 4 --task allgather",
            "sweep": "gossamer sweep --network 'ring:{4..8}' --task allgather -o rings.parquet",
            "reproduce": "gossamer reproduce han",
        },
    ),
    (
        "This program",
        {
            "compile": "gossamer compile",
            "doctor": "gossamer doctor",
            "manual": "gossamer manual -o gossamer.1",
        },
    ),
)
"""The commands by what they are for, in the order of the help, each with an example."""

WITHIN = {
    "simulate schedule": "gossamer simulate plan.parquet --bytes 1MB",
    "simulate wormhole": "gossamer simulate wormhole worms.parquet",
    "simulate arrivals": "gossamer simulate arrivals hypercube:4 --load 0.5 --steps 2000",
    "simulate traffic": "gossamer simulate traffic torus:4x4 --load 0.2",
    "simulate saturation": "gossamer simulate saturation torus:4x4",
    "sweep run": "gossamer sweep --network 'ring:{4..8}' --task allgather -o rings.parquet",
    "sweep report": "gossamer sweep report rings.parquet",
    "sweep merge": "gossamer sweep merge rings.parquet more.parquet -o all.parquet",
}
"""Examples of the commands within a group."""

EXAMPLES = {name: example for _, commands in PURPOSES for name, example in commands.items()} | WITHIN
"""An example for each command."""

TOUR = """\
gossamer plans collective communication on interconnection networks: explicit
schedules, each proved valid by an independent checker, beside a lower bound.

First steps:

  gossamer plan torus:8x8 allgather -o plan.parquet    a schedule beside its bound
  gossamer explore plan.parquet -o page.html           watch it in a browser
  gossamer explain plan.parquet                        what binds, what would gain
  gossamer compare torus:8x8 alltoall                  which algorithms there are

Four doors:

  I have a cluster    gossamer network FILE                       what its tools print
                      gossamer plan FILE allreduce --bytes 64MiB
  I write a library   gossamer verify THEIRS.xml --network torus:4x4
                      gossamer export plan.parquet --to msccl-xml -o plan.xml
  I need a figure     gossamer draw plan.parquet -o load.pdf
  I read a paper      gossamer reproduce han

All commands: gossamer -h. What is installed here: gossamer doctor.
"""
"""What the command prints alone."""


WIDTH = 110
"""Columns that help takes at most, however wide the terminal is."""
_BESIDE = 14
"""The column in which what commands do begins."""


def dressed(app: typer.Typer) -> typer.Typer:
    """Give every command of an application, and of its groups, the help of `Command`."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            dressed(group.typer_instance)
    return app


def _path(context: Any) -> str:
    """Return the words that name a command, without the name of the program."""
    return str(context.command_path).partition(" ")[2]


class Command(typer.core.TyperCommand):
    """A command whose options stand under headings, with an example below."""

    def format_options(self, context: Any, formatter: Any) -> None:
        """Write what the command takes: arguments, then options under `HEADINGS`."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for parameter in self.get_params(context):
            row = parameter.get_help_record(context)
            if row is not None:
                plain = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or plain, []).append(row)
        for heading, rows in sections.items():
            if rows:
                with formatter.section(styled(heading, "bold")):
                    formatter.write_dl(rows)

    def format_epilog(self, context: Any, formatter: Any) -> None:
        """Write an example."""
        example = EXAMPLES.get(_path(context))
        if example:
            with formatter.section(styled("Example", "bold")):
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Commands(typer.core.TyperGroup):
    """A group that prints a tour or its help when no command is given, and hints at the nearest of its commands."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Print the tour of the program when there is nothing to parse; of a group its help, and end with status 2."""
        if not arguments and not context.resilient_parsing:
            print(context.get_help() if context.parent else TOUR.rstrip())
            context.exit(2 if context.parent else 0)
        parsed: list[str] = super().parse_args(context, arguments)
        return parsed

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the commands by purpose, each with its first sentence and an example."""
        inside = _path(context)
        groups = PURPOSES if not inside else (("Commands", dict.fromkeys(self.list_commands(context), "")),)
        for purpose, names in groups:
            with formatter.section(styled(purpose, "bold")):
                for name in names:
                    command = self.get_command(context, name)
                    sentence = "" if command is None else command.get_short_help_str(limit=300)
                    lines = textwrap.wrap(sentence.removesuffix("."), formatter.width - _BESIDE)
                    lines.append(f"$ {EXAMPLES[f'{inside} {name}'.strip()]}")
                    formatter.write(f"  {name:<{_BESIDE - 2}}{lines[0]}\n")
                    formatter.write("".join(f"{'':{_BESIDE}}{line}\n" for line in lines[1:]))

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return the command that is meant; the error of an unknown one names the nearest."""
        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            known = self.list_commands(context)
            hint = nearest(name, known) or f"; there are: {', '.join(known)}"
            context.fail(f"no command {name!r}{hint}")
        return super().resolve_command(context, arguments)


def _misspelt(word: str, known: list[str]) -> bool:
    """Whether a word is nearly a command, and no file."""
    return not Path(word).suffix and bool(nearest(word, known)) and not Path(word).exists()


class _FirstIfNone(Commands):
    """A group whose first command is meant where none is named."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Put the first command before what is no command of the group, nor one that is misspelt."""
        known = self.list_commands(context)
        if arguments and arguments[0] not in (*known, "-h", "--help") and not _misspelt(arguments[0], known):
            arguments = [known[0], *arguments]
        return super().parse_args(context, arguments)


def group(name: str, help: str) -> typer.Typer:
    """Return a group of commands, whose first is meant where none is named."""
    return typer.Typer(
        name=name,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=help,
        cls=_FirstIfNone,
        rich_markup_mode=None,
    )
