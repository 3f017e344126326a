"""``gossamer draw`` and ``gossamer explore``: pictures of schedules, and pages to explore them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import print_written, progress
from gossamer.cli.files import check_page, read_schedule
from gossamer.cli.options import Collective, Foreign, OtherBytes, ScheduleFile, pictured, written
from gossamer.errors import FileFormatError, ScheduleError

__all__ = ["draw", "explore"]


class Picture(StrEnum):
    """What to draw."""

    load = "load"
    heat = "heat"
    occupancy = "occupancy"
    messages = "messages"
    both = "both"
    ranks = "ranks"
    tree = "tree"
    timetable = "timetable"
    queue = "queue"
    regions = "regions"
    worms = "worms"


PictureOutput = Annotated[
    Path | None,
    written(
        "Picture to write: .svg, .png, .pdf, or .tex for TikZ; .gif or .mp4 shows it in motion, .html is the "
        "explorer. Default: draw in the terminal, in text",
        several=False,
    ),
]


@pictured
def draw(
    file: ScheduleFile,
    output: PictureOutput = None,
    kind: Annotated[
        Picture | None,
        typer.Option(
            metavar="KIND",
            help="load of the links (heat: always as a heat map), occupancy (links x slots), messages (the same in the "
            "colors of their origins), both, ranks (when each sends and receives), tree (of a packet), timetable "
            "(every message by link and slot), queue (of the busiest links) or regions (of a scatter); of a wormhole "
            "plan worms, step by step, or occupancy of channels. Default load, and worms of a wormhole plan.",
        ),
    ] = None,
    network: Foreign = None,
    task: Collective = None,
    bytes: OtherBytes = None,
) -> None:
    """Draw the load of every link, which is busy when, or the messages in motion."""
    from gossamer import plots
    from gossamer.atomic_files import check_writable

    if output is None:
        _draw_in_text(file, network, task, bytes)
        return
    suffix = output.suffix.lower().removeprefix(".")
    if suffix == "html":
        if kind:
            raise FileFormatError("--kind goes with .svg, .png or .pdf; an .html is the explorer")
        _explore([file], output, network, task, bytes)
        return
    moving = suffix in plots.MOVING_FORMATS
    if moving and kind:
        raise FileFormatError(
            f"--kind {kind.value} goes with .svg, .png or .pdf; {output.suffix} shows messages in motion"
        )
    if not moving and suffix not in (*plots.FORMATS, "tex"):
        allowed = ", ".join(f".{f}" for f in (*plots.FORMATS, "tex", *plots.MOVING_FORMATS, "html"))
        raise FileFormatError(f"{str(output)!r} is of no known kind; a picture is one of {allowed}")
    check_writable(output)  # refuse before the work
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task, bytes)
        stage(f"drawing {output}")
        if moving:
            plots.animate(schedule, output)
        else:
            plots.draw(schedule, output, kind and kind.value)
    print_written(output)


def _draw_in_text(file: Path, network: str | None, task: str | None, other_bytes: str | None) -> None:
    """Draw a schedule file in text; colored where the output is a terminal that has colors."""
    import os
    import shutil
    import sys

    from gossamer.plots import text_picture

    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task, other_bytes)
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    print(text_picture(schedule, shutil.get_terminal_size().columns, color=not plain), end="")


def explore(
    files: Annotated[
        list[Path], typer.Argument(help="Schedule file that plan --output wrote, or two side by side.", metavar="FILE")
    ],
    output: Annotated[Path, written("Page to write: .html", several=False)],
) -> None:
    """Write a page on which schedules can be explored in a browser, without a server or internet access."""
    _explore(files, output)


def _explore(
    files: list[Path],
    output: Path,
    network: str | None = None,
    task: str | None = None,
    other_bytes: str | None = None,
) -> None:
    from gossamer.explorer import explore

    if len(files) > 2:
        raise ScheduleError(f"the explorer shows one schedule, or two side by side, not {len(files)}")
    check_page(output)
    with progress() as stage:
        found = []
        for file in files:
            stage(f"reading {file}")
            found.append(read_schedule(file, network, task, other_bytes))
        stage(f"writing {output}")
        explore(found, output)
    print_written(output)
