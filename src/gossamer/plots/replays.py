"""Time against the size of messages, of a schedule that is replayed and of MPI's own algorithms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gossamer.plots.appearance import write
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MARKERS, MUTED, PAPER
from gossamer.runtime import Replay
from gossamer.writing import bytes_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_replays", "replays_figure"]

_CURVES = 5


def draw_replays(replays: Sequence[Replay], path: str | os.PathLike[str], title: str) -> None:
    """Write time against the size of messages to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    write_picture(lambda: replays_figure(replays, title), path, picture_format(path), title)


def replays_figure(replays: Sequence[Replay], title: str) -> Figure:
    """Return a figure of time over bytes: the schedule, the best five of MPI's own, and the lower bound."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    width, height = 6.4, 4.4
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    panel = figure.subplots()
    sizes = [row.message_bytes for row in replays]

    def draw(name: str, times: Sequence[float | None], k: int) -> None:
        points = [(size, t * 1e6) for size, t in zip(sizes, times, strict=True) if t]
        x, y = [at for at, _ in points], [t for _, t in points]
        panel.plot(x, y, label=name, color=CATEGORICAL[k], marker=MARKERS[k], linewidth=1.4, markersize=4)

    draw("this schedule", [row.seconds for row in replays], 0)
    last = replays[-1].own
    ranked = sorted((t, name) for name, t in last.items() if t is not None)
    for k, (_, name) in enumerate(ranked[:_CURVES], 1):
        draw(name, [row.own.get(name) for row in replays], k)
    bound = [(row.message_bytes, row.bound_seconds * 1e6) for row in replays if row.bound_seconds]
    if bound:
        panel.plot(*zip(*bound, strict=True), color=MUTED, linewidth=1, linestyle="--", label="lower bound")
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.yaxis.set_minor_formatter(NullFormatter())
    shown = sizes[:: max(1, -(-len(sizes) // 7))]
    panel.set_xticks(shown, [bytes_text(size) for size in shown])
    panel.set_xticks([], minor=True)
    panel.set_xlabel("bytes of a message", fontsize=8, color=MUTED)
    panel.set_ylabel("microseconds", fontsize=8, color=MUTED)
    panel.tick_params(labelsize=7.5, colors=MUTED)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(FAINT)
    panel.legend(fontsize=7.5, frameon=False, labelcolor=INK)
    write(figure, 0.02, 1 - 0.2 / height, title, 11, va="top")
    figure.subplots_adjust(left=0.13, right=0.97, top=1 - 0.5 / height, bottom=0.5 / height)
    return figure
