"""The commands that show schedules: pictures, and pages to explore."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["draw", "explore"]


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


class Style(StrEnum):
    """How pictures are dressed."""

    screen = "screen"
    paper = "paper"


def draw(
    file: Annotated[Path, typer.Argument(help="Schedule file that plan --output wrote.", metavar="FILE")],
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
    style: Annotated[
        Style, typer.Option(help="paper: 3.3 inches wide, without the heading and notes that a caption gives.")
    ] = Style.screen,
    width: Annotated[str | None, typer.Option(help="Width, such as 3.3in, 84mm, 8.4cm or 240pt.", metavar="W")] = None,
    to: Annotated[To | None, typer.Option(help="Draw in the terminal, in text.")] = None,
    title: Annotated[str | None, typer.Option(help="Title instead of task and network.", metavar="TEXT")] = None,
) -> None:
    """Draw the load of every link, which is busy when, or the messages in motion."""
    from gossamer.cli import pictures

    if to is not None or output is None:
        pictures.in_text(file, output)
        return
    pictures.draw(file, output, kind.value if kind else None, style.value, width, title)


def explore(
    files: Annotated[
        list[Path], typer.Argument(help="Schedule file that plan --output wrote, or two side by side.", metavar="FILE")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write: .html.", metavar="FILE")],
) -> None:
    """Write a page on which schedules can be explored in a browser, without a server or a network."""
    from gossamer.cli import pictures

    pictures.explore(files, output)
