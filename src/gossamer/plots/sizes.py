"""Time against bytes, one curve an algorithm, beside the lower bound."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gossamer.plots.appearance import write
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MARKERS, MUTED, PAPER
from gossamer.sweeps.sizes import SizeComparison, crossover_text
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


def sizes_figure(comparison: SizeComparison, title: str) -> Figure:
    """Return a figure of two panels over bytes: how far above the bound each algorithm is, and the best bandwidth.

    At most six algorithms are drawn, those that are best somewhere first.
    """
    from matplotlib.figure import Figure

    width, height = 9.0, 3.9
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    left, right = figure.subplots(1, 2)
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
        panel.set_xlabel("bytes", fontsize=8, color=MUTED)
        panel.set_ylabel(label, fontsize=8, color=MUTED)
        panel.tick_params(labelsize=7.5, colors=MUTED)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(FAINT)
        panel.legend(fontsize=7.5, frameon=False, labelcolor=INK)
    right.set_ylim(bottom=0)
    write(figure, 0.02, 1 - 0.18 / height, title, 11, va="top")
    words = "; ".join(map(crossover_text, comparison.crossovers[:2]))
    write(figure, 0.02, 1 - 0.42 / height, words, 8, va="top", color=MUTED)
    figure.subplots_adjust(left=0.07, right=0.98, top=1 - 0.75 / height, bottom=0.5 / height, wspace=0.2)
    return figure
