"""Time against bytes, one curve an algorithm, beside the lower bound."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MARKERS, MUTED
from gossamer.plots.panels import Panels, plain
from gossamer.studies.sweeps.sizes import SizeComparison, crossover_text
from gossamer.writing import bytes_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_sizes", "sizes_figure"]


def draw_sizes(comparison: SizeComparison, path: str | os.PathLike[str]) -> None:
    """Write time and bandwidth against bytes to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    case = comparison.comparisons[0].case
    title = f"{case.task.describe()} on {case.network.spec}"
    write_picture(lambda: sizes_figure(comparison, title), path, picture_format(path), title)


def sizes_figure(comparison: SizeComparison, heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of two panels over bytes: how far above the bound each algorithm is, and the best bandwidth.

    At most six algorithms are drawn, those that are best somewhere first. `heading` is the title unless
    there is another.
    """
    panels = Panels(2, look(**dressing))
    left, right = panels.axes
    sizes = comparison.sizes
    for k, name in enumerate(comparison.algorithms[: len(CATEGORICAL)]):
        points = [
            (size, outcome.ratio)
            for size, ranked in zip(sizes, comparison.comparisons, strict=True)
            if (outcome := next((o for o in ranked.outcomes if o.algorithm == name), None)) is not None
            and outcome.ratio is not None
        ]
        style = {"color": CATEGORICAL[k], "marker": MARKERS[k], "linewidth": 1.4, "markersize": 4}
        left.plot([x for x, _ in points], [y for _, y in points], label=name, **style)
    left.axhline(1, color=MUTED, linewidth=1, linestyle="--")
    for crossover in comparison.crossovers:
        left.axvline(crossover.bytes, color=FAINT, linewidth=1, zorder=0)
    for what, label, mark in (("bandwidth", "algorithm", "o-"), ("bus_bandwidth", "bus", "s--")):
        rates = [(x, float(r) / 1e9) for x, o in zip(sizes, comparison.best, strict=True) if (r := getattr(o, what))]
        if rates:
            right.plot(*zip(*rates, strict=True), mark, color=CATEGORICAL[0], linewidth=1.4, markersize=4, label=label)
    for panel, label in ((left, "time / lower bound"), (right, "bandwidth of the best, GB/s")):
        panel.set_xscale("log", base=2)
        shown = sizes[:: max(1, -(-len(sizes) // 6))]
        panel.set_xticks(shown, [bytes_text(size) for size in shown])
        panel.set_xticks([], minor=True)
        plain(panel, "bytes", label)
        panel.legend(fontsize=7.5, frameon=False, labelcolor=INK)
    right.set_ylim(bottom=0)
    return panels.finished(heading, "; ".join(map(crossover_text, comparison.crossovers[:2])))
