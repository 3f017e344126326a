"""``gossamer draw`` and ``gossamer explore``."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.console import hush_libraries, progress
from gossamer.cli.verify import OWN, Foreign, read_schedule
from gossamer.errors import FileFormatError, ScheduleError

__all__ = ["check_page", "draw", "explore", "in_text"]


def draw(
    file: Path,
    output: Path,
    kind: str | None,
    foreign: Foreign = OWN,
) -> None:
    """Draw a schedule file, or a foreign one on a network."""
    from gossamer import plots
    from gossamer.writing import check_writable

    if output.suffix.lower() == ".html":
        if kind:
            raise FileFormatError("--kind goes with .svg, .png or .pdf; an .html is the explorer")
        explore([file], output, foreign)
        return

    moving = output.suffix.lower().removeprefix(".") in plots.MOVING_FORMATS
    if moving and kind:
        raise FileFormatError(f"--kind {kind} goes with .svg, .png or .pdf; {output.suffix} shows messages in motion")
    if not moving and output.suffix.lower().removeprefix(".") not in plots.FORMATS:
        allowed = ", ".join(f".{f}" for f in (*plots.FORMATS, *plots.MOVING_FORMATS, "html"))
        raise FileFormatError(f"{str(output)!r} is of no known kind; a picture is one of {allowed}")
    check_writable(output)  # refuse before the work
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, foreign)
        stage(f"drawing {output}")
        if moving:
            plots.animate(schedule, output)
        else:
            plots.draw(schedule, output, kind)
    print(f"wrote {output}")


def in_text(file: Path, output: Path | None, foreign: Foreign = OWN) -> None:
    """Draw a schedule file in text; colored where the output is a terminal that has colors."""
    import os
    import shutil
    import sys

    from gossamer.plots import text_picture

    if output is not None:
        raise FileFormatError("--to terminal writes no file: leave out --output")
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, foreign)
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    print(text_picture(schedule, shutil.get_terminal_size().columns, color=not plain), end="")


def check_page(path: Path) -> None:
    """Refuse a page that cannot be written, before the work."""
    hush_libraries()
    from gossamer.writing import check_writable

    if path.suffix.lower() != ".html":
        raise FileFormatError(f"the page {str(path)!r} must end in .html")
    check_writable(path)


def explore(files: list[Path], output: Path, foreign: Foreign = OWN) -> None:
    """Write a page that shows one schedule file, or two side by side; foreign ones on a network."""
    from gossamer.explorer import explore

    if len(files) > 2:
        raise ScheduleError(f"the explorer shows one schedule, or two side by side, not {len(files)}")
    check_page(output)
    with progress() as stage:
        found = []
        for file in files:
            stage(f"reading {file}")
            found.append(read_schedule(file, foreign))
        stage(f"writing {output}")
        explore(found, output)
    print(f"wrote {output}")
