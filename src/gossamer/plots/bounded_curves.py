"""Measured curves between their bounds, one panel each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, CONTROL_COLOR, FAINT, MUTED
from gossamer.plots.panels import Panels, plain
from gossamer.studies.reproductions.table import Curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves_figure", "draw_curves"]

_MEASURED = CATEGORICAL[0]


def draw_curves(curves: Sequence[Curve], path: str | os.PathLike[str], title: str) -> None:
    """Write the panels of `curves` to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    write_picture(lambda: curves_figure(curves, title), path, picture_format(path), title)


def curves_figure(curves: Sequence[Curve], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with one panel a curve: measured points on the band between lower and upper bound.

    Both axes are logarithmic, but that of the load of a simulation. `heading` is the title unless there is another.
    """
    from matplotlib.ticker import FuncFormatter

    panels = Panels(len(curves), look(**dressing), size=(4.5, 2.6))
    for panel, curve in zip(panels.axes, curves, strict=True):
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
        plain(panel, curve.x_label, curve.unit, curve.title)
    panels.axes[0].legend(fontsize=7.5, frameon=False)
    return panels.finished(heading)
