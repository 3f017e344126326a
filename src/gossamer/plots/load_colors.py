"""The colors of loads, and the bar that explains them: alike on the network and on a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.plots.appearance import load_unit, text_width, write
from gossamer.plots.palette import FAINT, INK, MUTED, sequential
from gossamer.schedules import Schedule

__all__ = ["color_bar", "load_scale"]

_LEVELS = 8
"""Up to this many whole loads have a color each."""


def load_scale(load: npt.NDArray[np.float64]) -> tuple[Any, str]:
    """Return the mapping from loads to colors, and what scale that is if it is not the plain one.

    >>> load_scale(np.array([0.0, 1.0, 2.0]))[0].norm.boundaries.tolist()
    [0.5, 1.5, 2.5]
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, Normalize, PowerNorm

    levels, most = _levels(load), max(float(load.max(initial=0)), 1.0)
    colors = sequential().with_extremes(under=FAINT)
    if levels:
        return ScalarMappable(BoundaryNorm(np.arange(0.5, levels + 1), colors.N), colors), ""
    used = load[load > 0]
    if used.size > 20 and np.quantile(used, 0.9) < most / 6:
        return ScalarMappable(PowerNorm(0.5, 1e-9, most), colors), "on a square-root scale"
    return ScalarMappable(Normalize(1e-9, most), colors), ""


def _levels(load: npt.NDArray[np.float64]) -> int:
    """Return how many loads other than 0 have a color of their own, 0 where colors run into each other."""
    most = max(int(load.max(initial=0)), 1)
    return most if most <= _LEVELS and bool((load == np.rint(load)).all()) else 0


def color_bar(
    figure: Any, scale: Any, load: npt.NDArray[np.float64], schedule: Schedule, place: tuple[float, float, float]
) -> None:
    """Explain the colors at a place: the width and height of the figure, and where the bar begins, in inches."""
    from matplotlib.ticker import MaxNLocator

    width, height, bottom = place
    levels = _levels(load)
    if not load.any():
        write(figure, 0.2 / width, (bottom + 0.055) / height, "No message packet crosses a link.", va="center")
        return
    length = min(2.6, 0.45 * levels) if levels else 2.6
    axes = figure.add_axes((0.25 / width, bottom / height, length / width, 0.11 / height))
    bar = figure.colorbar(scale, cax=axes, orientation="horizontal")
    bar.outline.set_visible(False)
    if levels:
        bar.set_ticks(range(1, levels + 1))
    else:
        bar.ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=load.max() > 5))
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=7.5, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
    aside = 0.25 + length + 0.15
    text = load_unit(schedule)
    if aside + text_width(text, 8.5) < width - 0.1:
        write(figure, aside / width, (bottom + 0.055) / height, text, va="center")
    else:
        text = text if text_width(text, 7) < width - 0.2 else text.replace(" over the whole schedule", "")
        write(figure, 0.2 / width, (bottom + 0.15) / height, text, 7, va="bottom")
