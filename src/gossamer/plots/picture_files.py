"""From a schedule to a picture file."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError, NotApplicableError, nearest
from gossamer.networks.hierarchy import hierarchy
from gossamer.plots.appearance import PAPER, Dress, Look, dressed, look, rounded, settings
from gossamer.reading import number
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "KINDS", "draw", "picture_format", "settings", "write_picture"]

TIER_LIMIT = 5_000
"""Nodes from which on the load of a hierarchy is drawn tier by tier."""
FORMATS = ("svg", "png", "pdf")
"""What a picture file's name may end in."""
KINDS = ("load", "heat", "occupancy", "messages", "both", "ranks", "tree", "timetable", "queue", "regions", "worms")
"""The pictures: load on the network or as a heat map; links and slots, by share or by origin; load above occupancy;
when each rank sends and receives; the tree of a packet; every message by link and slot; queues of the busiest links;
the areas of a scatter; the steps of a wormhole plan. Of such a plan there are only these last and the occupancy of its
channels."""


def draw(
    schedule: Schedule | WormholeSchedule,
    path: str | os.PathLike[str],
    kind: str | None = None,
    dpi: float = 160,
    **dressing: Unpack[Dress],
) -> None:
    """Write a picture of a valid schedule to a file, which appears whole or not at all.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Explicit or invariant; it is verified first.
    path : path
        The file; its suffix ``.svg``, ``.png`` or ``.pdf`` says the format; ``.tex`` is the load of a small network as
        TikZ.
    kind : str, optional
        One of `KINDS`; ``load`` by default, and ``worms`` for a wormhole plan.
        The load of each link, on the network or, if it is crowded, as a heat map, which ``heat`` is always, and of
        hierarchies of over 5,000 nodes tier by tier; the
        occupancy of links by slots, ``messages`` in the colors of their origins; load and occupancy on one page; when
        each rank sends and receives; the tree by which the first packet spreads; every message by link and slot; the
        queues of the two busiest links;
        the areas of a scatter by area division; the steps of a wormhole plan, worms on channels.
    dpi : float
        Pixels per inch of a PNG file, and of the parts of the others that are drawn as pixels; 20..1200.
    **dressing : Dress
        Style, width and title, as for all figures; not `ax`, as a file has axes of its own.

    Raises
    ------
    FileFormatError
        If suffix, kind or style are unknown, `dpi` or `width` are out of range, or the file cannot be written.
    VerificationError
        If the schedule is not valid.
    TaskError, NotApplicableError
        If there is no such picture of this schedule, which is said in a sentence.

    Notes
    -----
    The same schedule gives the same bytes with the same version of matplotlib. Text is text in SVG and TrueType in
    PDF. An SVG turns dark where its reader's screen is.

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
    wormhole = isinstance(schedule, WormholeSchedule)
    kind = kind or ("worms" if wormhole else "load")
    if kind not in KINDS:
        hint = nearest(str(kind), KINDS)
        raise FileFormatError(
            f"the kind of a picture must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {kind!r}{hint}"
        )
    as_tikz = Path(path).suffix.lower() == ".tex"
    if not as_tikz:
        picture_format(path)
    dress = look(**dressing)
    if dress.ax is not None:
        raise NotApplicableError(
            "a picture file has axes of its own: ax goes with the figures, such as load_figure(schedule, ax=ax)"
        )
    number(dpi, "dpi", 20, 1200, error=FileFormatError)
    if kind not in (_OF_WORMS if wormhole else _FIGURES.keys() | {"both", "messages"}):
        words = f"a wormhole plan; choose {' or '.join(_OF_WORMS)}" if wormhole else "a schedule without worms"
        raise NotApplicableError(f"there is no picture {kind!r} of {words}")
    if not isinstance(schedule, WormholeSchedule):
        verify(schedule).raise_if_invalid()  # the others are verified as they are drawn
    if as_tikz:
        from gossamer.plots.tikz import write_tikz

        if isinstance(schedule, WormholeSchedule) or kind != "load":
            raise NotApplicableError(f"TikZ is written of the load of links, not of {kind!r}")
        write_tikz(schedule, path, dress.width)
        return
    said = dress.title or f"{kind}: {schedule.task.describe()} on {schedule.network.spec}"
    write_picture(lambda: _figure(schedule, kind, dress), path, said, dpi)


def picture_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a picture file's suffix names.

    Raises `FileFormatError` if it is none of `FORMATS`.

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


def write_picture(make: Callable[[], Figure], path: str | os.PathLike[str], title: str, dpi: float = 160) -> None:
    """Make a figure under our own settings and write it, whole or not at all; the same figure is the same file."""
    suffix = picture_format(path)
    undated: dict[str, dict[str, str | None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with settings():
        drawing = io.BytesIO()  # matplotlib's own writers leave half a PDF without an error where a disk is full
        make().savefig(drawing, format=suffix, dpi=dpi, metadata={"Title": title, **undated[suffix]})
    content = drawing.getvalue()
    if suffix == "svg":
        content = dressed(rounded(content.decode("utf-8"))).encode("utf-8")
    with whole_file(path) as part:
        part.write_bytes(content)


def _figure(schedule: Schedule | WormholeSchedule, kind: str, dress: Look) -> Figure:
    from matplotlib.figure import Figure

    words: dict[str, Any] = {"style": dress.style, "width": dress.width, "title": dress.title}
    if kind == "both":
        from gossamer.plots.link_load import load_sheet, paint_load
        from gossamer.plots.link_occupancy import occupancy_sheet, paint_occupancy

        assert not isinstance(schedule, WormholeSchedule)
        load, occupancy = load_sheet(schedule, dress), occupancy_sheet(schedule, headed=False, dress=dress)
        width = max(load.width, occupancy.width)
        figure = Figure(figsize=(width, load.height + occupancy.height), facecolor=PAPER)
        parts: Any = figure.subfigures(2, 1, height_ratios=[load.height, occupancy.height], hspace=0)
        upper, lower = parts
        paint_load(upper, schedule, load._replace(width=width))
        paint_occupancy(lower, schedule, occupancy._replace(width=width))
        return figure
    tiers = hierarchy(schedule.network) if kind == "load" and schedule.network.node_count > TIER_LIMIT else None
    if tiers is not None:
        from gossamer.plots.tiers import tiers_figure

        assert not isinstance(schedule, WormholeSchedule)
        return tiers_figure(tiers, schedule, **words)
    if kind == "messages":
        kind, words["color"] = "occupancy", "origin"
    name = (_OF_WORMS if isinstance(schedule, WormholeSchedule) else _FIGURES)[kind]
    made: Figure = getattr(importlib.import_module("gossamer.plots"), name)(schedule, **words)
    return made


_FIGURES = {
    "load": "load_figure", "heat": "heat_figure", "occupancy": "occupancy_figure", "ranks": "ranks_figure",
    "tree": "tree_figure",
    "timetable": "timetable_figure", "queue": "queue_figure", "regions": "regions_figure",
}  # fmt: skip
"""The functions of `gossamer.plots` that draw each kind."""
_OF_WORMS = {"worms": "worms_figure", "occupancy": "channels_figure"}
