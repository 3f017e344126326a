"""The picture of a torus divided in four areas around the source of a scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gossamer.algorithms.scatter.area_division import area_division
from gossamer.errors import TaskError
from gossamer.plots.appearance import (
    CATEGORICAL,
    INK,
    MUTED,
    PAPER,
    Dress,
    look,
    tint,
    write,
)
from gossamer.plots.panels import page
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["regions_figure"]

COLORS = tuple(tint(color) for color in CATEGORICAL[:4])
"""Of areas A, B, C and D."""
_CELL = 0.52


def regions_figure(schedule: Schedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw the areas of a scatter by area division on a torus, their trees, and when each message arrives.

    Parameters
    ----------
    schedule : Schedule
        Built by ``area-division``.
    **dressing : Dress
        As for all figures. With `ax`: draw the areas there, without heading and notes.

    Returns
    -------
    matplotlib.figure.Figure
        The torus as a plane with the source in the middle: a cell a node, colored by its area, with the step in
        which its message arrives; lines are the links of the trees, dashed over the wrap-around.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    TaskError
        If it was built by another algorithm.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("scatter", root=0)
    >>> figure = regions_figure(gossamer.plan("torus:5x5", task, algorithm="area-division").schedule)
    >>> max(int(text.get_text()) for text in figure.axes[0].texts if text.get_text().isdigit())
    6
    """
    grid = schedule.network.grid
    if schedule.algorithm != "area-division" or grid is None:
        raise TaskError(f"areas are drawn of schedules of area-division, not of {schedule.algorithm or 'unnamed'} ones")
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    n, m = grid.sides
    areas = area_division(n, m)
    arrival = _arrivals(schedule)
    r, c = divmod(int(schedule.packets.origin[0]), m)
    node = (r - areas.j) % n * m + (c - areas.i) % m
    if (ax := dress.ax) is not None:
        _paint(ax, areas, node, arrival)
        return ax.figure  # type: ignore[no-any-return]
    cell = _CELL if dress.width is None else (dress.width - 0.2) / (m + 0.6)
    wide = dress.width or max(5.6, m * cell + 1.0)
    sizes = ", ".join(f"{'ABCD'[k]} {int((areas.region == k).sum())}" for k in range(4))
    note = f"Numbers: steps in which the messages arrive from the source, the dot. Nodes in areas: {sizes}."
    made = page(schedule, note, wide, n * cell + (0.6 if dress.bare else 1.9), dress)
    top, foot, height = made.top + 0.1, made.foot + 0.1, made.height
    _paint(made.figure.add_axes((0.05, foot / height, 0.9, (height - top - foot) / height)), areas, node, arrival)
    return made.figure


def _paint(axes: Any, areas: Any, node: Any, arrival: dict[int, int]) -> None:
    """Paint the cells of all nodes, the trees and the letters of the areas."""
    for i, j, k, ui, uj, v in zip(*areas, node, strict=True):
        _paint_cell(axes, (i, j), int(k), str(arrival[v]) if k >= 0 else "")
        if k >= 0:
            _paint_way(axes, (ui, uj), (i, j))
    for k, place in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
        look_of = {"color": MUTED, "ha": "left", "va": "top", "zorder": 4}
        write(axes, place[0] - 0.46, place[1] + 0.46, "ABCD"[k], 7.5, weight="bold", **look_of)
    axes.set_xlim(areas.i.min() - 0.8, areas.i.max() + 0.8)
    axes.set_ylim(areas.j.min() - 0.8, areas.j.max() + 0.8)
    axes.set_aspect("equal")
    axes.axis("off")


def _arrivals(schedule: Schedule) -> dict[int, int]:
    """Return the step, counted from 1, in which each node gets its message."""
    last = np.zeros(schedule.packets.count, np.int64)
    np.maximum.at(last, schedule.packet, hop_ends(schedule.network, schedule.parts, schedule.slot, schedule.link))
    target = schedule.messages.targets
    assert target is not None
    return dict(zip(target.tolist(), last.tolist(), strict=True))


def _paint_cell(axes: Any, place: tuple[int, int], region: int, text: str) -> None:
    from matplotlib.patches import Rectangle

    color = COLORS[region] if region >= 0 else PAPER
    corner = (place[0] - 0.5, place[1] - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor=PAPER, linewidth=1.5, zorder=1))
    if region >= 0:
        disc = {"boxstyle": "circle,pad=0.22", "facecolor": color, "edgecolor": "none"}
        write(axes, *place, text, 8, ha="center", va="center", zorder=3, bbox=disc)
    else:
        axes.plot(*place, "o", color=INK, markersize=9, zorder=3)


def _paint_way(axes: Any, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Paint a link from a node to its child; one over the wrap-around as two dashed ends."""
    (a, b), (x, y) = start, end
    if abs(x - a) <= 1 and abs(y - b) <= 1:
        axes.plot([a, x], [b, y], color=INK, linewidth=1.2, zorder=2)
        return
    out = np.array([-np.sign(x - a), -np.sign(y - b)]) * 0.75
    for place, way in ((np.array(start), out), (np.array(end), -out)):
        axes.plot(*np.stack([place, place + way], axis=1), "--", color=INK, linewidth=1.2, zorder=2)
