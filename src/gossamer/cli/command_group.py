"""Commands and groups of them: help by purpose with an example each, and the nearest command for a misspelt one."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import typer
import typer.core

from gossamer.cli.console import styled
from gossamer.cli.options import AT_FIRST, HEADINGS
from gossamer.errors import nearest, shown

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
            "routes": "gossamer routes torus:4x4 -o tables.lft",
            "place": "gossamer place ring:16 torus:4x4 -o rankfile",
        },
    ),
    (
        "Look at a schedule",
        {
            "verify": "gossamer verify plan.parquet",
            "certify": "gossamer certify plan.parquet -o plan.cert.json",
            "draw": "gossamer draw plan.parquet -o load.svg",
            "explore": "gossamer explore plan.parquet -o page.html",
            "explain": "gossamer explain plan.parquet -o advice.html",
        },
    ),
    (
        "Run, export and import",
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

MORE_COMMANDS = (
    "replan",
    "faults",
    "demands",
    "routes",
    "place",
    "deadlock",
    "design",
    "reproduce",
    "compile",
    "manual",
)
"""The commands that only ``gossamer -h all`` describes: a newcomer does not need them."""

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
gossamer plans collective communication on interconnection networks: schedules
that an independent checker has verified, each beside a lower bound.

First steps:

  gossamer plan torus:8x8 allgather -o plan.parquet    a schedule and its lower bound
  gossamer explore plan.parquet -o page.html           watch it in a browser
  gossamer explain plan.parquet                        what limits it, what would help
  gossamer compare torus:8x8 alltoall                  the algorithms that apply

Start here:

  I have a cluster    gossamer network FILE                       a file of its topology
                      gossamer plan FILE allreduce --bytes 64MiB
  I write a library   gossamer verify THEIRS.xml --network torus:4x4
                      gossamer export plan.parquet --to msccl-xml -o plan.xml
  I need a figure     gossamer draw plan.parquet -o load.pdf
  I read a paper      gossamer reproduce han

All commands: gossamer -h. What is installed: gossamer doctor.
"""
"""What the command prints alone."""


WIDTH = 110
"""Columns that help takes at most, however wide the terminal is."""
_SCREEN = 34
"""Lines from which on the help of a command shows only the options of `AT_FIRST`, each in a line."""
_QUESTIONS = ("plan", "compare", "bounds", "faults", "demands", "list")
"""The commands whose options mean what `AT_FIRST` says."""
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


def _help_words(context: Any, arguments: list[str]) -> list[str]:
    """Return arguments with ``-h all`` or ``--help-all`` as ``--help``, and keep in the context that all is asked for.

    >>> from types import SimpleNamespace
    >>> context = SimpleNamespace(meta={})
    >>> _help_words(context, ["ring:4", "-h", "all"]), context.meta
    (['ring:4', '--help'], {'gossamer.help': 'all'})
    """
    for place, word in enumerate(arguments):
        if word == "--help-all" or (word in ("-h", "--help") and arguments[place + 1 : place + 2] == ["all"]):
            context.meta["gossamer.help"] = "all"
            return [*arguments[:place], "--help"]
    return arguments


class _Row(NamedTuple):
    """An argument or option in a help: its name, the heading above it, how it is typed, what it does."""

    name: str
    heading: str
    typed: str
    told: str


def _at_first(command: str, rows: list[_Row], width: int) -> list[_Row]:
    """Return the arguments and the options of `AT_FIRST`, each with words that fit in one line."""
    found = []
    order = dict.fromkeys([*HEADINGS, *(row.heading for row in rows)])
    for row in sorted(rows, key=lambda row: [*order].index(row.heading)):
        argument = row.heading == "Arguments"
        if not argument and row.name not in AT_FIRST and row.name != "help" and "[required]" not in row.told:
            continue
        choices = re.search("<(\\w[^>]{11,})>", row.typed)
        typed = row.typed if choices is None else row.typed.replace(choices[0], "NAME")
        told = (AT_FIRST.get(row.name) if command in _QUESTIONS else "") or (
            choices[1].replace("|", ", ") if choices else row.told.removesuffix("  [required]").removesuffix(".")
        )
        found.append(_Row(row.name, "Arguments" if argument else "Options", typed, told))
    left = max(len(row.typed) for row in found) + 5
    return [row._replace(told=_in_one_line(row.told, width - left)) for row in found]


def _in_one_line(text: str, width: int) -> str:
    """Return a text, its first clause, or the beginning of that: what fits.

    >>> _in_one_line("Nodes, such as 512; or a range.", 20), _in_one_line("Nodes, such as 512; or a range.", 10)
    ('Nodes, such as 512', 'Nodes, ...')
    """
    words = text if len(text) <= width else re.split(r"; |\. |: |  \[", text)[0]
    return textwrap.shorten(words, width, placeholder=" ...")


def _write_sections(formatter: Any, rows: list[_Row]) -> None:
    """Write rows under their headings, in the order of these."""
    headings = dict.fromkeys([*HEADINGS, *(row.heading for row in rows)])
    for heading in headings:
        listed = [(row.typed, row.told) for row in rows if row.heading == heading]
        if listed:
            with formatter.section(styled(heading, "bold")):
                formatter.write_dl(listed)


class Command(typer.core.TyperCommand):
    """A command whose options stand under headings, with an example below."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Take ``-h all`` for help with all options."""
        return list(super().parse_args(context, _help_words(context, arguments)))

    def collect_usage_pieces(self, context: Any) -> list[str]:
        """Return the words of the usage line, without braces around what is required."""
        pieces = super().collect_usage_pieces(context)
        return [re.sub("[{}]", "", p).replace("......", "...").replace("[[", "[").replace("]]", "]") for p in pieces]

    def format_options(self, context: Any, formatter: Any) -> None:
        """Write what the command takes: arguments, then options under `HEADINGS`; of many those used most."""
        rows = self._rows(context)
        if context.meta.get("gossamer.help") != "all":
            whole = type(formatter)(width=formatter.width)
            _write_sections(whole, rows)
            few = _at_first(_path(context), rows, formatter.width)
            if whole.getvalue().count("\n") > _SCREEN and len(few) < len(rows):
                _write_sections(formatter, few)
                formatter.write(f"\n  All {len(rows)} options: gossamer {_path(context)} -h all\n")
                return
        _write_sections(formatter, rows)

    def _rows(self, context: Any) -> list[_Row]:
        """Return the arguments and options, each with its heading."""
        found = []
        for parameter in self.get_params(context):
            row = parameter.get_help_record(context)
            if row is not None:
                plain = "Arguments" if parameter.param_type_name == "argument" else "Options"
                heading = getattr(parameter, "rich_help_panel", None) or plain
                found.append(_Row(str(parameter.name), heading, row[0].replace(" <str>", ""), row[1]))
        return found

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
        if arguments and arguments[0].startswith("-"):
            arguments = _help_words(context, arguments)
        if not arguments and not context.resilient_parsing:
            print(context.get_help() if context.parent else TOUR.rstrip())
            context.exit(2 if context.parent else 0)
        parsed: list[str] = super().parse_args(context, arguments)
        return parsed

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the commands by purpose, each with its first sentence and an example; those used most, or all."""
        inside = _path(context)
        more = () if inside or context.meta.get("gossamer.help") == "all" else MORE_COMMANDS
        groups = PURPOSES if not inside else (("Commands", dict.fromkeys(self.list_commands(context), "")),)
        for purpose, names in groups:
            with formatter.section(styled(purpose, "bold")):
                for name in names:
                    if name in more:
                        continue
                    command = self.get_command(context, name)
                    sentence = "" if command is None else command.get_short_help_str(limit=300)
                    lines = textwrap.wrap(sentence.removesuffix("."), formatter.width - _BESIDE)
                    lines.append(f"$ {EXAMPLES[f'{inside} {name}'.strip()]}")
                    formatter.write(f"  {name:<{_BESIDE - 2}}{lines[0]}\n")
                    formatter.write("".join(f"{'':{_BESIDE}}{line}\n" for line in lines[1:]))
        if more:
            told = f"More commands: gossamer -h all ({', '.join(more)})."
            formatter.write("\n" + "".join(f"{line}\n" for line in textwrap.wrap(told, formatter.width)))

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return the command that is meant; the error of an unknown one names the nearest."""
        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            known = self.list_commands(context)
            inside = _path(context)
            some = [n for n in known if inside or n not in MORE_COMMANDS]
            hint = nearest(name, known) or f"; there are: {', '.join(some)}"
            context.fail(f"no command {shown(name)}{hint}")
        return super().resolve_command(context, arguments)


def _misspelt(word: str, known: list[str]) -> bool:
    """Whether a word is nearly a command, and no file."""
    return not Path(word).suffix and bool(nearest(word, known)) and not Path(word).exists()


class _FirstIfNone(Commands):
    """A group whose first command is meant where none is named."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Put the first command before what is no command of the group, nor one that is misspelt."""
        known = self.list_commands(context)
        if (
            arguments
            and arguments[0] not in (*known, "-h", "--help", "--help-all")
            and not _misspelt(arguments[0], known)
        ):
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
