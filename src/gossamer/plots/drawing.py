"""From a schedule to a picture file."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.errors import FileFormatError, nearest
from gossamer.plots.appearance import PAPER
from gossamer.plots.load import load_sheet, paint_load
from gossamer.plots.occupancy import occupancy_sheet, paint_occupancy
from gossamer.reading import number
from gossamer.schedules import Schedule, verify
from gossamer.writing import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "KINDS", "draw", "picture_format", "settings", "write_picture"]

FORMATS = ("svg", "png", "pdf")
"""What a picture file's name may end in."""
KINDS = ("load", "occupancy", "both")
"""The pictures: of the network, of links and slots, or the one above the other."""

_UNROUNDED = r"<metadata>.*?</metadata>|<!--.*?-->|(?:scale|matrix)\([^)]*\)"
_NUMBER = re.compile(rf"{_UNROUNDED}|(?P<coordinate>-?\d+\.\d{{3,}})", re.DOTALL)


def draw(schedule: Schedule, path: str | os.PathLike[str], kind: str = "load", dpi: float = 160) -> None:
    """Write a picture of a valid schedule to a file, which appears whole or not at all.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant; it is verified first.
    path : path
        The file; its suffix ``.svg``, ``.png`` or ``.pdf`` says the format.
    kind : {"load", "occupancy", "both"}
        The load of each link on the network, the occupancy of links by slots, or both on one page.
    dpi : float
        Pixels per inch of a PNG file, and of the parts of the others that are drawn as pixels; 20..1200.

    Raises
    ------
    FileFormatError
        If the suffix or the kind is unknown, `dpi` is out of range, or the file cannot be written.
    VerificationError
        If the schedule is not valid.

    Notes
    -----
    The same schedule gives the same bytes with the same version of matplotlib.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "load.svg"
    >>> draw(s, path)
    >>> path.read_text().startswith("<?xml")
    True
    """
    if kind not in KINDS:
        hint = nearest(str(kind), KINDS)
        raise FileFormatError(
            f"the kind of a picture must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {kind!r}{hint}"
        )
    suffix = picture_format(path)
    number(dpi, "dpi", 20, 1200, error=FileFormatError)
    verify(schedule).raise_if_invalid()
    title = f"{kind}: {schedule.task.describe()} on {schedule.network.spec}"
    write_picture(lambda: _figure(schedule, kind), path, suffix, title, dpi)


def picture_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a picture file's suffix names.

    Raises
    ------
    FileFormatError
        If it is none of `FORMATS`.

    Examples
    --------
    >>> picture_format("load.SVG")
    'svg'
    """
    target = Path(path)
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        given = f"the suffix {target.suffix!r}" if target.suffix else "no suffix"
        allowed = ", ".join(f".{f}" for f in FORMATS)
        raise FileFormatError(f"{str(target)!r} has {given}; a picture is one of {allowed}")
    return suffix


def write_picture(
    make: Callable[[], Figure], path: str | os.PathLike[str], suffix: str, title: str, dpi: float = 160
) -> None:
    """Make a figure under our own settings and write it, whole or not at all; the same figure is the same file."""
    undated: dict[str, dict[str, str | None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with settings():
        figure = make()
        with whole_file(path) as part:
            figure.savefig(part, format=suffix, dpi=dpi, metadata={"Title": title, **undated[suffix]})
            if suffix == "svg":
                part.write_text(_rounded(part.read_text(encoding="utf-8")), encoding="utf-8")


def _rounded(svg: str) -> str:
    """Return a drawing with its coordinates to a hundredth of a point: the last digits differ between machines.

    >>> _rounded('<path d="M 7.200001 -0.000004" transform="translate(1.999999 3) scale(0.015625)"/>')
    '<path d="M 7.2 0" transform="translate(2 3) scale(0.015625)"/>'
    """

    def short(found: re.Match[str]) -> str:
        if not found["coordinate"]:
            return found[0]
        return f"{round(float(found[0]), 2) + 0.0:.2f}".rstrip("0").rstrip(".")

    return _NUMBER.sub(short, svg)


def _figure(schedule: Schedule, kind: str) -> Figure:
    from matplotlib.figure import Figure

    if kind == "both":
        load, occupancy = load_sheet(schedule), occupancy_sheet(schedule, headed=False)
        width = max(load.width, occupancy.width)
        figure = Figure(figsize=(width, load.height + occupancy.height), facecolor=PAPER)
        parts: Any = figure.subfigures(2, 1, height_ratios=[load.height, occupancy.height], hspace=0)
        upper, lower = parts
        paint_load(upper, schedule, load._replace(width=width))
        paint_occupancy(lower, schedule, occupancy._replace(width=width))
        return figure
    if kind == "load":
        load = load_sheet(schedule)
        figure = Figure(figsize=(load.width, load.height), facecolor=PAPER)
        paint_load(figure, schedule, load)
        return figure
    occupancy = occupancy_sheet(schedule)
    figure = Figure(figsize=(occupancy.width, occupancy.height), facecolor=PAPER)
    paint_occupancy(figure, schedule, occupancy)
    return figure


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Set aside the user's matplotlib settings, the random ids in SVG files, and warnings of letters no font has."""
    import matplotlib
    from matplotlib import style

    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "gossamer"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
