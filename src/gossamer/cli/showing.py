"""The commands that show schedules: pictures, and pages to explore."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import Json

__all__ = ["draw", "explain", "explore", "import_foreign", "verify"]

ScheduleFile = Annotated[Path, typer.Argument(help="Schedule file that plan --output wrote.", metavar="FILE")]

Foreign = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="Network of a schedule of another tool (MSCCL .xml, msccl-tools .json, .goal); node r is rank r.",
        metavar="NETWORK",
    ),
]
Collective = Annotated[
    str | None, typer.Option("--task", help="Task of a .goal file, which does not say it.", metavar="TASK")
]


class Picture(StrEnum):
    """What to draw."""

    load = "load"
    heat = "heat"
    occupancy = "occupancy"
    messages = "messages"
    both = "both"
    tree = "tree"
    timetable = "timetable"
    queue = "queue"
    regions = "regions"
    worms = "worms"


class To(StrEnum):
    """Where to draw without a file."""

    terminal = "terminal"


def draw(
    file: ScheduleFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Picture to write: .svg, .png or .pdf; .gif or .mp4 shows it in motion, .html is the explorer.",
            metavar="FILE",
        ),
    ] = None,
    kind: Annotated[
        Picture | None,
        typer.Option(
            help="Load of the links (heat: always as a heat map), links x slots (messages: in the colors of their "
            "origins), load and occupancy, the tree of a packet, every message by link and slot, the queues of the "
            "busiest links, or the areas of a scatter. Of a wormhole plan worms, step by step, or the occupancy of "
            "channels. Default load, and worms of a wormhole plan."
        ),
    ] = None,
    to: Annotated[To | None, typer.Option(help="Draw in the terminal, in text.")] = None,
    network: Foreign = None,
    task: Collective = None,
) -> None:
    """Draw the load of every link, which is busy when, or the messages in motion."""
    from gossamer.cli import pictures

    if to is not None or output is None:
        pictures.in_text(file, output, (network, task))
        return
    pictures.draw(file, output, kind.value if kind else None, (network, task))


def explore(
    files: Annotated[
        list[Path], typer.Argument(help="Schedule file that plan --output wrote, or two side by side.", metavar="FILE")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write: .html.", metavar="FILE")],
) -> None:
    """Write a page on which schedules can be explored in a browser, without a server or a network."""
    from gossamer.cli import pictures

    pictures.explore(files, output)


def explain(
    file: ScheduleFile,
    slot: Annotated[
        int | None,
        typer.Option("--slot", "--step", help="Who sends what to whom in this slot, or wormhole step.", metavar="N"),
    ] = None,
    rank: Annotated[
        str | None, typer.Option(help="What this node sends and gets: a number, or coordinates.", metavar="NODE")
    ] = None,
    message: Annotated[int | None, typer.Option(help="The way of the message of this number.", metavar="N")] = None,
    limit: Annotated[int, typer.Option(help="Lines to print; the rest are counted.")] = 100,
    network: Foreign = None,
    task: Collective = None,
    json: Json = False,
) -> None:
    """Say what happens slot by slot, in a slot, at a node or to a message, and why it cannot be faster."""
    from gossamer.cli import verify as files

    files.explain(file, (network, task), {"slot": slot, "rank": rank, "message": message}, limit, json)


def verify(
    file: ScheduleFile,
    limit: Annotated[int, typer.Option(help="Violations to name; the rest are counted.")] = 20,
    network: Foreign = None,
    task: Collective = None,
    compare: Annotated[bool, typer.Option("--compare", help="Plan the same here, and say what is faster.")] = False,
    json: Json = False,
) -> None:
    """Check a schedule file; exit status 1 if invalid."""
    from gossamer.cli import verify as files

    raise typer.Exit(files.verify(file, limit, json, (network, task), compare))


def import_foreign(
    file: Annotated[
        Path, typer.Argument(help="Schedule of another tool: MSCCL .xml, msccl-tools .json, .goal.", metavar="FILE")
    ],
    network: Annotated[str, typer.Option(help="Its network; node r is rank r.", metavar="NETWORK")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Schedule file to write (.parquet, .txt).", metavar="FILE")
    ],
    task: Collective = None,
) -> None:
    """Make a schedule file of a schedule of another tool, if it is valid; then every command takes it."""
    from gossamer.cli import verify as files

    files.import_foreign(file, (network, task), output)
