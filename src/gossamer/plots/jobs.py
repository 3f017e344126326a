"""The timeline of a job: when each collective happens, beside how long it takes alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from gossamer.planning.jobs import JobOutcome
from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, INK, MUTED
from gossamer.plots.panels import Panels, plain

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


def job_figure(found: JobOutcome, heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with two bars a collective: from its first hop to its last among the others, and alone.

    `heading` is the title unless there is another.
    """
    rows = len(found.collectives)
    panels = Panels(1, look(**dressing), size=(8.0, 0.9 + 0.45 * rows))
    axes = panels.axes[0]
    micro = float(found.clock.slot_seconds) * 1e6
    for i, c in enumerate(found.collectives):
        label = "" if i else "together with the others"
        axes.barh(i - 0.18, (c.end - c.begin) * micro, 0.36, c.begin * micro, color=_TOGETHER, label=label)
        label = "" if i else "alone, begun at the same time"
        axes.barh(i + 0.2, float(c.alone) * micro, 0.2, c.begin * micro, color=_ALONE, label=label)
    axes.axvline(float(found.outcome.bound) * micro, color=MUTED, linewidth=1, linestyle="--")
    plain(axes, "time, us; the dashed line is the lower bound of all together")
    axes.set_yticks(range(rows), [c.name for c in found.collectives], fontsize=8, color=INK)
    axes.invert_yaxis()
    panels.name()
    return panels.finished(heading)
