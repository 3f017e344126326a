"""Link loads of networks too large to draw: a bar for each group of links, or a histogram where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.plots.appearance import SCREEN, Look, caption, heading, load_unit, text_width, write
from gossamer.plots.link_groups import LinkGroups, link_groups
from gossamer.plots.palette import INK, MUTED, PAPER, sequential
from gossamer.schedules import Schedule
from gossamer.writing import quantity

__all__ = ["bars_size", "paint_bars"]

_SHOWN = 48
"""The most groups with a bar."""
_ROW = 0.3


def bars_size(schedule: Schedule, dress: Look = SCREEN) -> tuple[float, float]:
    """Return width and height of the picture in inches."""
    groups = len(link_groups(schedule.network).names)
    return dress.width or 7.8, 1.95 + (2.4 if groups == 1 else _ROW * min(groups, _SHOWN))


def paint_bars(figure: Any, schedule: Schedule, load: npt.NDArray[np.float64], width: float, height: float,
               dress: Look = SCREEN) -> None:  # fmt: skip
    """Show mean, least and largest load of each group of links, or how many links have which load."""
    groups = link_groups(schedule.network)
    names = groups.names[:_SHOWN]
    notes = [f"The network is too large to draw its {quantity(load.size, 'link')}."]
    if len(groups.names) > 1:
        notes.append("Bars: mean over the links of a group; whiskers: least and largest load.")
    if len(names) < len(groups.names):
        notes.append(f"The first {len(names)} of {len(groups.names)} groups are shown.")
    top = heading(figure, schedule, width, height, dress)
    foot = caption(figure, " ".join(notes), width, height, dress)
    left = 0.35 + max(text_width(name, 8.5) for name in names) if len(groups.names) > 1 else 0.95
    span, rise = width - left - 0.3, height - top - foot - 0.68
    axes = figure.add_axes((left / width, (foot + 0.55) / height, span / width, rise / height))
    axes.tick_params(labelsize=8, length=2, width=0.6, color=MUTED, labelcolor=INK)
    if len(groups.names) > 1:
        _bars(axes, groups, load, names)
    else:
        _histogram(axes, load)
    axes.set_xlabel(load_unit(schedule), fontsize=8.5, color=INK)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set(color=MUTED, linewidth=0.6)


def _bars(axes: Any, groups: LinkGroups, load: npt.NDArray[np.float64], names: tuple[str, ...]) -> None:
    links = np.bincount(groups.group, minlength=len(groups.names))
    mean = np.bincount(groups.group, load, minlength=links.size) / np.maximum(links, 1)
    least, most = np.full(links.size, load.max(initial=0)), np.zeros(links.size)
    np.minimum.at(least, groups.group, load)
    np.maximum.at(most, groups.group, load)
    row = np.arange(len(names))
    axes.barh(row, mean[: row.size], height=0.62, color=sequential()(1.0))
    axes.hlines(row, least[: row.size], most[: row.size], color=INK, linewidth=1.1)
    for r in range(len(names)):
        text = (
            _number(mean[r]) if least[r] == most[r] else f"{mean[r]:,.1f} ({_number(least[r])} to {_number(most[r])})"
        )
        write(axes, max(float(most[r]), float(mean[r])), r, f" {text}", 7.5, va="center")
    axes.set(xlim=(0, max(1.0, float(load.max(initial=0))) * 1.3), ylim=(row.size - 0.4, -0.6), yticks=row)
    axes.set_yticklabels(names, fontsize=8.5, parse_math=False)
    axes.tick_params(axis="y", length=0)


def _number(load: float) -> str:
    return f"{load:,.0f}" if load == round(load) else f"{load:,.1f}"


def _histogram(axes: Any, load: npt.NDArray[np.float64]) -> None:
    most = int(np.ceil(load.max(initial=0)))
    wide = max(1, -(-(most + 1) // 60))
    edges = np.arange(0, most + wide + 1, wide) - 0.5
    counts, _ = np.histogram(load, edges)
    axes.stairs(counts, edges, fill=True, color=sequential()(1.0), edgecolor=PAPER)
    axes.set(xlim=(edges[0], edges[-1]))
    axes.set_ylabel("links" if wide == 1 else f"links, {wide} loads to a bar", fontsize=8.5, color=INK)
    axes.yaxis.set_major_formatter("{x:,.0f}")
