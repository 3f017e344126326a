"""The timeline of a job: when each collective happens, beside how long it takes alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gossamer.jobs import JobOutcome
from gossamer.plots.appearance import write
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_job", "job_figure"]

_TOGETHER, _ALONE = CATEGORICAL[2], CATEGORICAL[1]


def draw_job(found: JobOutcome, path: str | os.PathLike[str]) -> None:
    """Write the timeline of a job to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    title = f"{len(found.collectives)} collectives on {found.outcome.case.network.spec}"
    write_picture(lambda: job_figure(found, title), path, picture_format(path), title)


def job_figure(found: JobOutcome, title: str) -> Figure:
    """Return a figure with two bars a collective: from its first hop to its last among the others, and alone."""
    from matplotlib.figure import Figure

    rows = len(found.collectives)
    width, height = 8.0, 1.2 + 0.45 * rows
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    axes = figure.subplots()
    micro = float(found.clock.slot_seconds) * 1e6
    for i, c in enumerate(found.collectives):
        label = "" if i else "together with the others"
        axes.barh(i - 0.18, (c.end - c.begin) * micro, 0.36, c.begin * micro, color=_TOGETHER, label=label)
        label = "" if i else "alone, begun at the same time"
        axes.barh(i + 0.2, float(c.alone) * micro, 0.2, c.begin * micro, color=_ALONE, label=label)
    axes.axvline(float(found.outcome.bound) * micro, color=MUTED, linewidth=1, linestyle="--")
    axes.set_yticks(range(rows), [c.name for c in found.collectives], fontsize=8, color=INK)
    axes.invert_yaxis()
    axes.set_xlabel("time, us; the dashed line is the lower bound of all together", fontsize=8, color=MUTED)
    axes.tick_params(labelsize=8, colors=MUTED)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.legend(
        fontsize=7.5, frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(0, -0.55 / height - 0.12)
    )
    write(figure, 0.02, 1 - 0.15 / height, title, 11, va="top")
    figure.subplots_adjust(left=0.18, right=0.97, top=1 - 0.5 / height, bottom=min(0.45, 0.75 / height + 0.1))
    return figure
