"""Time against the size of messages, of a schedule that is replayed and of MPI's own algorithms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from gossamer.execution.replay import Replay
from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, INK, MARKERS, MUTED
from gossamer.plots.panels import Panels, plain
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


def replays_figure(replays: Sequence[Replay], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of time over bytes: the schedule, the best five of MPI's own, and the lower bound.

    `heading` is the title unless there is another.
    """
    from matplotlib.ticker import NullFormatter

    panels = Panels(1, look(**dressing), size=(6.4, 3.8))
    panel = panels.axes[0]
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
    plain(panel, "bytes of a message", "microseconds")
    panel.legend(fontsize=7.5, frameon=False, labelcolor=INK)
    return panels.finished(heading)
