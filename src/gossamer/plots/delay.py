"""Delay against load, of several schemes in one figure."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gossamer.dynamic.delays import Delays, by_scheme
from gossamer.plots.appearance import write
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MARKERS, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["delay_figure", "draw_delays"]


def draw_delays(points: Sequence[Delays], path: str | os.PathLike[str], title: str = "") -> None:
    """Write `delay_figure` to an SVG, PNG or PDF file, whole or not at all; FileFormatError if it cannot be."""
    title = title or f"Broadcast requests at random on {points[0].network}"
    write_picture(lambda: delay_figure(points, title), path, picture_format(path), title)


def delay_figure(points: Sequence[Delays], title: str) -> Figure:
    """Return a figure of reception and broadcast delay against load, one curve a scheme, with its lower bound.

    Bars are 95% confidence intervals, dashes the lower bounds in the scheme's color, dotted upright lines the limits
    of stability below 1. A load at which a scheme is unstable has an arrow at the top.
    """
    from matplotlib.figure import Figure

    width, height = 11.5, 4.4
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    panels: Any = figure.subplots(1, 2, sharex=True)
    for panel, what in zip(panels, ("reception", "broadcast"), strict=True):
        for number, (name, theirs) in enumerate(by_scheme(points)):
            color, marker = CATEGORICAL[number % len(CATEGORICAL)], MARKERS[number % len(MARKERS)]
            _paint(panel, theirs, name, what, color, marker)
            _mark_unstable(panel, theirs, what, color, number)
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        panel.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:.0e}"[0] in "25" else "")
        panel.set_title(f"mean {what} delay, steps", fontsize=9, color=INK, loc="left")
        panel.set_xlabel("load factor", fontsize=8, color=MUTED)
        panel.set_xlim(0, 1)
        panel.tick_params(which="both", labelsize=7.5, colors=MUTED)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(FAINT)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=7.5, frameon=False, loc="center left", bbox_to_anchor=(0.81, 0.55))
    write(figure, 0.02, 0.965, title, 11, va="top")
    note = (
        "bars: 95% confidence; dashes: lower bounds; dotted: limits of stability below 1; arrows at the top: unstable"
    )
    write(figure, 0.02, 0.02, note, 7.5, color=MUTED, va="bottom")
    figure.subplots_adjust(left=0.05, right=0.80, top=0.84, bottom=0.15, wspace=0.16)
    return figure


def _paint(panel: Any, points: Sequence[Delays], name: str, what: str, color: str, marker: str) -> None:
    shown = sorted((p for p in points if not math.isnan(getattr(p, what).mean)), key=lambda p: p.load)
    if not shown:
        return
    loads = [p.load for p in shown]
    means = [getattr(p, what).mean for p in shown]
    bars = [w if math.isfinite(w) else 0.0 for w in (getattr(p, what).half_width for p in shown)]
    panel.errorbar(
        loads, means, yerr=bars, color=color, marker=marker, markersize=4, linewidth=1.3, capsize=2, label=name
    )
    bounds = [getattr(p, f"{what}_bound") for p in shown]
    panel.plot(loads, bounds, color=color, linewidth=0.9, linestyle="--", alpha=0.8)
    limit = points[0].limit.load
    if limit < 0.9999:
        panel.axvline(limit, color=color, linewidth=0.8, linestyle=":")


def _mark_unstable(panel: Any, points: Sequence[Delays], what: str, color: str, number: int) -> None:
    """Draw an arrow above each load at which the delays of a scheme do not settle, if it measures them at all."""
    loads = [p.load for p in points if not p.stable]
    measured = any(not math.isnan(getattr(p, what).mean) for p in points) or len(loads) == len(points)
    if loads and measured:
        height = [0.985 - 0.04 * number] * len(loads)
        at_top = panel.get_xaxis_transform()
        panel.plot(loads, height, color=color, marker=r"$\uparrow$", markersize=7, linestyle="none", transform=at_top)
