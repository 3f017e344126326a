"""Delay against load, of several schemes in one figure."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, INK, MARKERS, MUTED, PAPER
from gossamer.plots.panels import Panels, plain
from gossamer.simulation.random_arrivals.delays import Delays, by_scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["delay_figure", "draw_delays"]

_COLORS = (*CATEGORICAL, MUTED)
_ROW = 8.5
"""Points from a row of arrows to the next."""
_LEAST_TICKS = 3
_BESIDE = 6.0
"""Inches of a figure with room for names beside its panels."""


def draw_delays(points: Sequence[Delays], path: str | os.PathLike[str], title: str = "") -> None:
    """Write `delay_figure` to an SVG, PNG or PDF file, whole or not at all; FileFormatError if it cannot be."""
    title = title or f"Broadcast requests at random on {points[0].network}"
    write_picture(lambda: delay_figure(points, title), path, picture_format(path), title)


def delay_figure(points: Sequence[Delays], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of reception and broadcast delay against load, one curve a scheme, with its lower bound.

    Bars are 95% confidence intervals, dashes the lower bounds in the scheme's color, dotted upright lines the limits
    of stability below 1. A load at which a scheme is unstable has an arrow above the curves. `heading` is the title
    unless there is another.
    """
    panels = Panels(2, look(**dressing), size=(5.75, 3.6))
    schemes = list(by_scheme(points))
    for panel, what in zip(panels.axes, ("reception", "broadcast"), strict=True):
        for number, (_, theirs) in enumerate(schemes):
            _paint(panel, theirs, what, _style(number))
        _scale(panel)
        lost = [s for s in enumerate(schemes) if _unstable(s[1][1], what)]
        for place, (number, (_, theirs)) in enumerate(lost):
            _mark_unstable(panel, _unstable(theirs, what), _style(number)["color"], place)
        plain(panel, "load factor")
        said = {"fontsize": 9, "color": INK, "loc": "left", "pad": 8 + _ROW * len(lost)}
        panel.set_title(f"mean {what} delay, steps", **said)
        panel.set_xlim(0, 1)
    _name(panels, [name for name, _ in schemes])
    return panels.finished(heading, note=_note(panels.axes, points))


def _style(number: int) -> dict[str, Any]:
    """Return color and marks of a scheme: hollow ones once the colors are used up."""
    color = _COLORS[number % len(_COLORS)]
    hollow = number >= len(_COLORS)
    return {"color": color, "marker": MARKERS[number % len(MARKERS)], "markerfacecolor": PAPER if hollow else color}


def _name(panels: Panels, names: Sequence[str]) -> None:
    """Name every scheme, also one that is unstable at all loads."""
    from matplotlib.lines import Line2D

    signs = [Line2D([], [], linewidth=1.3, markersize=4, label=name, **_style(k)) for k, name in enumerate(names)]
    panels.name(handles=signs, beside=panels.width >= _BESIDE)


def _scale(panel: Any) -> None:
    """Let delays grow by ratio, with at least three numbers at the axis."""
    from matplotlib.ticker import MaxNLocator

    panel.set_yscale("log")
    low, high = panel.get_ylim()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        if len(ticks) < _LEAST_TICKS:
            ticks = [round(m * 10.0**d, 6) for d in decades for m in steps if low <= m * 10.0**d <= high]
    if len(ticks) < _LEAST_TICKS:
        ticks = [round(t, 6) for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)


def _note(panels: Any, points: Sequence[Delays]) -> str:
    """Return what the signs mean that are there."""
    lines = [line for panel in panels for line in panel.get_lines()]
    said = ["bars: 95% confidence"] if any(panel.containers for panel in panels) else []
    said += ["dashes: lower bounds"] if any(line.get_linestyle() == "--" for line in lines) else []
    said += ["dotted: limits of stability below 1"] if any(line.get_linestyle() == ":" for line in lines) else []
    return "; ".join([*said, *(["arrows: unstable at that load"] if any(not p.stable for p in points) else [])])


def _paint(panel: Any, points: Sequence[Delays], what: str, style: dict[str, Any]) -> None:
    shown = sorted((p for p in points if not math.isnan(getattr(p, what).mean)), key=lambda p: p.load)
    color = style["color"]
    if not shown:
        return
    loads = [p.load for p in shown]
    means = [getattr(p, what).mean for p in shown]
    bars = [w if math.isfinite(w) else 0.0 for w in (getattr(p, what).half_width for p in shown)]
    panel.errorbar(loads, means, yerr=bars, markersize=4, linewidth=1.3, capsize=2, **style)
    bounds = [getattr(p, f"{what}_bound") for p in shown]
    if not all(math.isnan(bound) for bound in bounds):
        panel.plot(loads, bounds, color=color, linewidth=0.9, linestyle="--", alpha=0.8)
    limit = points[0].limit.load
    if limit < 0.9999:
        panel.axvline(limit, color=color, linewidth=0.8, linestyle=":")


def _unstable(points: Sequence[Delays], what: str) -> list[float]:
    """Return the loads at which the delays of a scheme do not settle, if it measures them at all."""
    loads = [p.load for p in points if not p.stable]
    measured = any(not math.isnan(getattr(p, what).mean) for p in points) or len(loads) == len(points)
    return loads if measured else []


def _mark_unstable(panel: Any, loads: Sequence[float], color: str, row: int) -> None:
    """Draw an arrow for each load, in a row of its own above the curves."""
    from matplotlib.transforms import ScaledTranslation

    above = ScaledTranslation(0, (6 + _ROW * row) / 72, panel.figure.dpi_scale_trans)
    place = panel.get_xaxis_transform() + above
    panel.plot(loads, [1] * len(loads), color=color, marker=r"$\uparrow$", markersize=6, linestyle="none",
               transform=place, clip_on=False)  # fmt: skip
