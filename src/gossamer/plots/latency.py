"""Latency against load, one curve a network."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gossamer.errors import FileFormatError
from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, INK, MARKERS, MUTED
from gossamer.plots.panels import Panels, plain
from gossamer.simulation.flits.traffic_result import TrafficRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_latency", "latency_figure"]

_HIGHEST = 8
"""The latency axis ends at so many times the lowest latency."""


def draw_latency(curves: Mapping[str, Sequence[TrafficRun]], path: str | os.PathLike[str], title: str) -> None:
    """Write mean latency and throughput against load to an SVG, PNG or PDF file, whole or not at all.

    Parameters
    ----------
    curves : mapping of str to sequence of TrafficRun
        The runs of each curve, by its name.
    path : path
        The file; its suffix says the format.
    title : str
        Above the picture.

    Raises
    ------
    FileFormatError
        If the suffix is unknown, there is no run, or the file cannot be written.
    """
    suffix = picture_format(path)
    if not any(curves.values()):
        raise FileFormatError("a picture of latency against load needs at least one run")
    write_picture(lambda: latency_figure(curves, title), path, suffix, title)


def latency_figure(curves: Mapping[str, Sequence[TrafficRun]], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of two panels: latency of the runs that keep up, and throughput of all, against the load.

    At the top of the left panel an arrow marks a load at which the network does not keep up, a cross one at which it
    is deadlocked. `heading` is the title unless there is another.
    """
    panels = Panels(2, look(**dressing))
    left, right = panels.axes
    lowest, largest = math.inf, 0.0
    for k, (name, runs) in enumerate(curves.items()):
        color = CATEGORICAL[k % len(CATEGORICAL)]
        kept = sorted((r for r in runs if not r.saturated and not r.deadlock), key=lambda r: r.load)
        bars = [0 if math.isnan(r.half_width) else r.half_width for r in kept]
        style = {"color": color, "linewidth": 1.5, "markersize": 3.5, "label": name}
        fmt = f"{MARKERS[k % len(MARKERS)]}-"
        left.errorbar([r.load for r in kept], [r.latency for r in kept], yerr=bars, fmt=fmt, capsize=2, **style)
        _mark_lost(left, runs, color, k)
        every = sorted(runs, key=lambda r: r.load)
        right.plot([r.load for r in every], [r.throughput for r in every], fmt, **style)
        lowest = min([lowest, *(r.latency for r in kept)])
        largest = max([largest, *(r.load for r in every)])
    right.plot([0, largest], [0, largest], color=MUTED, linewidth=1, linestyle="--", label="all that is offered")
    if math.isfinite(lowest):
        left.set_ylim(0, _HIGHEST * lowest)
    for panel, label in ((left, "mean latency, cycles"), (right, "throughput, flits per node and cycle")):
        panel.set_xlim(0, 1.03 * largest)
        plain(panel, "load, flits per node and cycle", label)
    if any(r.saturated or r.deadlock for runs in curves.values() for r in runs):
        words = "arrows: saturated; crosses: deadlocked"
        left.text(0.02, 0.02, words, fontsize=7, color=MUTED, transform=left.transAxes)
    right.set_ylim(bottom=0)
    (right if panels.dress.ax is None else left).legend(fontsize=7.5, frameon=False, labelcolor=INK)
    return panels.finished(heading)


def _mark_lost(panel: Any, runs: Sequence[TrafficRun], color: str, number: int) -> None:
    """Mark, at the top, the loads that have no latency because the network is saturated or deadlocked."""
    at_top = panel.get_xaxis_transform()
    stuck = [r.load for r in runs if r.deadlock]
    saturated = [r.load for r in runs if r.saturated and not r.deadlock]
    for loads, marker in ((saturated, r"$\uparrow$"), (stuck, "x")):
        height = [0.97 - 0.05 * number] * len(loads)
        panel.plot(loads, height, color=color, marker=marker, markersize=7, linestyle="none", transform=at_top)
