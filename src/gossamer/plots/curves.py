"""Measured curves between their bounds, one panel each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gossamer.experiments.table import Curve
from gossamer.plots.appearance import write
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, CONTROL_COLOR, FAINT, INK, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves_figure", "draw_curves"]

_MEASURED = CATEGORICAL[0]
_COLUMNS = 2


def draw_curves(curves: Sequence[Curve], path: str | os.PathLike[str], title: str) -> None:
    """Write the panels of `curves` to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    write_picture(lambda: curves_figure(curves, title), path, picture_format(path), title)


def curves_figure(curves: Sequence[Curve], title: str) -> Figure:
    """Return a figure with one panel a curve: measured points on the band between lower and upper bound.

    Both axes are logarithmic, but that of the load of a simulation.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    rows = -(-len(curves) // _COLUMNS)
    width, height = 9.0, 0.7 + 2.6 * rows
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).reshape(-1)
    for panel, curve in zip(panels, curves, strict=False):
        lower, upper, measured = ([float(v) for v in side] for side in (curve.lower, curve.upper, curve.measured))
        words = "simulated" if curve.simulated else "measured, verified"
        panel.fill_between(curve.x, lower, upper, color=FAINT, alpha=0.5, linewidth=0)
        panel.plot(curve.x, upper, color=CONTROL_COLOR, linewidth=1, label="promised at most")
        panel.plot(curve.x, measured, "o-", color=_MEASURED, linewidth=1.5, markersize=4, label=words)
        panel.plot(curve.x, lower, color=MUTED, linewidth=1, linestyle="--", label="lower bound")
        panel.set_yscale("log", base=2)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        if curve.simulated:
            panel.set_xlim(0, 100)
        else:
            panel.set_xscale("log", base=2)
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_title(curve.title, fontsize=9, color=INK, loc="left")
        panel.set_xlabel(curve.x_label, fontsize=8, color=MUTED)
        panel.set_ylabel(curve.unit, fontsize=8, color=MUTED)
        panel.tick_params(labelsize=7.5, colors=MUTED)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(FAINT)
    for panel in panels[len(curves) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize=7.5, frameon=False)
    write(figure, 0.02, 1 - 0.18 / height, title, 11, va="top")
    figure.subplots_adjust(left=0.07, right=0.98, top=1 - 0.75 / height, bottom=0.5 / height, hspace=0.55, wspace=0.2)
    return figure
