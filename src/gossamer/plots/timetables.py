"""Pictures of small schedules in full: which message crosses each link in each slot, and which wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.plots.appearance import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Dress,
    Look,
    by_number,
    caption,
    further,
    heading,
    look,
    text_width,
    tint,
    write,
)
from gossamer.plots.panels import Figure, Inside, page
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import link_load, verify

__all__ = ["LinkCrossing", "crossings", "queue_figure", "timetable_figure"]

_ROW, _COLUMN, _TEXT = 0.3, 0.5, 7.5
_MOST_CELLS = 3_000


class LinkCrossing(NamedTuple):
    """One packet on one link: since when it waited at the link's source, when it crosses, what it is, and how long."""

    since: int
    slot: int
    packet: int
    origin: int
    target: int | None
    slots: int = 1


def crossings(schedule: Schedule, link: int) -> list[LinkCrossing]:
    """Return what crosses a link, by slots.

    Examples
    --------
    >>> import gossamer
    >>> found = gossamer.plan("array:3", "total-exchange").schedule
    >>> [(c.since, c.slot, c.origin, c.target) for c in crossings(found, 1)]
    [(0, 0, 1, 2), (1, 1, 0, 2)]
    """
    explicit = schedule.expand()
    network, messages = explicit.network, explicit.messages
    into = np.flatnonzero(network.link_target[explicit.link] == network.link_source[link])
    usable = hop_ends(network, explicit.parts, explicit.slot[into], explicit.link[into])
    since = dict(zip(explicit.packet[into].tolist(), usable.tolist(), strict=True))
    targets: dict[int, int] = {}
    if messages.targets is not None and messages.target_start is not None and len(messages.targets) == messages.count:
        targets = dict(zip(messages.ids.tolist(), messages.targets.tolist(), strict=True))
    sent = np.flatnonzero(explicit.link == link)
    found = []
    for slot, packet in zip(explicit.slot[sent].tolist(), explicit.packet[sent].tolist(), strict=True):
        origin = int(explicit.packets.origin[packet])
        target = targets.get(int(explicit.packets.message[packet]))
        lasting = int(network.link_occupancy[link])
        found.append(LinkCrossing(since.get(packet, 0), slot, packet, origin, target, lasting))
    return found


def timetable_figure(
    schedule: Schedule,
    links: Sequence[int] | None = None,
    first: int = 0,
    **dressing: Unpack[Dress],
) -> Figure:
    """Draw which message crosses each link in each slot.

    Parameters
    ----------
    schedule : Schedule
        A valid schedule, small enough to be read: a cell is half an inch wide.
    links : sequence of int, optional
        The links, from top to bottom; all by default.
    first : int
        The number of the first node in the picture, for sources that count from 1.
    **dressing : Dress
        As for all figures. With `ax`: draw the cells alone there.

    Returns
    -------
    matplotlib.figure.Figure
        A row for each link and a column for each slot, counted from 0. A cell holds source and destination of a
        personalized message, or the source of one that is copied, and has the color of its source.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    NotApplicableError
        If there would be more than 3,000 cells.

    Examples
    --------
    >>> import gossamer
    >>> figure = timetable_figure(gossamer.plan("array:3", "total-exchange").schedule)
    >>> figure.axes[0].get_yticklabels()[0].get_text()
    '0 → 1'
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    rows = list(range(schedule.network.link_count)) if links is None else list(links)
    _check_size(schedule, len(rows))
    rows_of = [crossings(schedule, link) for link in rows]
    names = [_link_name(schedule, link, first) for link in rows]
    if (ax := dress.ax) is not None:
        _paint_rows(ax, schedule, rows_of, names, first, _TEXT)
        return ax.figure  # type: ignore[no-any-return]
    left = 0.35 + max((text_width(name, _TEXT) for name in names), default=0.0)
    column = _COLUMN if dress.width is None else (dress.width - left - 0.1) / max(schedule.slot_count, 1)
    wide = dress.width or max(5.6, left + column * schedule.slot_count + 0.3)
    personal = any(c.target is not None for row in rows_of for c in row)
    note = "A cell: source → destination of the message" if personal else "A cell: source of the message"
    note = f"{note} that crosses the link in the slot; the color is that of the source."
    figure, height, _, foot = page(schedule, note, wide, (0.75 if dress.bare else 1.75) + _ROW * len(rows), dress)
    box = (left / wide, (foot + 0.42) / height, column * schedule.slot_count / wide, _ROW * len(rows) / height)
    _paint_rows(figure.add_axes(box), schedule, rows_of, names, first, _TEXT * min(1.0, column / _COLUMN))
    return figure


def _paint_rows(axes: Any, schedule: Schedule, rows_of: list[list[LinkCrossing]], names: list[str], first: int,
                size: float) -> None:  # fmt: skip
    colors = _colors(schedule)
    for y, row in enumerate(rows_of):
        for crossing in row:
            _cell(axes, crossing.slot, y, crossing, colors, first, size, wide=crossing.slots)
    _frame(axes, schedule.slot_count, len(names))
    axes.set_yticks([y + 0.5 for y in range(len(names))], names, fontsize=_TEXT, color=INK, parse_math=False)


def _check_size(schedule: Schedule, rows: int) -> None:
    cells = rows * schedule.slot_count
    if cells > _MOST_CELLS:
        raise NotApplicableError(
            f"a picture of every message by link and slot would have {cells:,} cells; at most {_MOST_CELLS:,} can be "
            "read: draw the occupancy instead"
        )


def queue_figure(
    schedule: Schedule,
    links: Sequence[int] | None = None,
    first: int = 0,
    **dressing: Unpack[Dress],
) -> Figure:
    """Draw the messages that wait for each of a few links in each slot, those that leave first at the bottom.

    Parameters
    ----------
    schedule, first, **dressing
        As for `timetable_figure`. With `ax`: draw the queues there.
    links : sequence of int, optional
        The links; the busiest two by default.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each link. A column is a slot: the message that crosses in it below the line, above it those that
        cross later, in their order.

    Raises
    ------
    VerificationError
        If the schedule is not valid.

    Examples
    --------
    >>> import gossamer
    >>> figure = queue_figure(gossamer.plan("ring:6", "total-exchange").schedule, [0, 2])
    >>> len(figure.axes)
    2
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    if links is None:
        links = np.sort(np.argsort(-link_load(schedule), kind="stable")[:2]).tolist()
    _check_size(schedule, len(links))
    waiting = []
    for link in links:
        found = crossings(schedule, link)
        queues = [[c for c in found if c.since <= slot <= c.slot] for slot in range(schedule.slot_count)]
        waiting.append(queues)
    deep = max((len(q) for queues in waiting for q in queues), default=1)
    slots = max(schedule.slot_count, 1)
    area = None if dress.ax is None else Inside(dress.ax)
    if area is not None:
        dress = Look("paper", area.width)
    column = _COLUMN if dress.width is None else ((dress.width - 0.2) / len(links) - 0.2) / slots
    panel = (0.75 if dress.width is None else 0.2) + column * slots
    wide = dress.width or max(5.6, 0.4 + panel * len(links))
    note = (
        "A column: the messages that wait for the link in a slot, source → destination; the lowest one crosses in this "
        "slot, and the color is that of the source."
    )
    height = (0.95 if dress.bare else 1.95) + _ROW * deep + further(schedule, note, wide, dress)
    row = _ROW if area is None else _ROW * area.height / height
    height = height if area is None else area.height
    figure: Any = Figure(figsize=(wide, height), facecolor=PAPER) if area is None else area
    heading(figure, schedule, wide, height, dress)
    foot = caption(figure, note, wide, height, dress)
    colors = _colors(schedule)
    size = _TEXT * min(1.0, column / _COLUMN)
    for k, (link, queues) in enumerate(zip(links, waiting, strict=True)):
        box = (column * slots / wide, row * deep / height)
        axes = figure.add_axes(((0.2 + panel * k) / wide, (foot + 0.42) / height, *box))
        for slot, queue in enumerate(queues):
            for y, crossing in enumerate(queue):
                _cell(axes, slot, y, crossing, colors, first, size, crosses=crossing.slot == slot)
        _frame(axes, slots, deep, up=True)
        axes.set_yticks([])
        axes.set_title(_link_name(schedule, link, first), fontsize=8.5, color=MUTED, loc="left", parse_math=False)
    drawn: Figure = figure if area is None else area.figure
    return drawn


def _link_name(schedule: Schedule, link: int, first: int) -> str:
    network = schedule.network
    ends = (int(network.link_source[link]), int(network.link_target[link]))
    if network.levels is not None or (network.coordinates is not None and network.coordinates.shape[1] > 1):
        return " → ".join(network.node_name(v) for v in ends)
    return " → ".join(str(v + first) for v in ends)


def _colors(schedule: Schedule) -> list[str]:
    """Return the pale color of each node, for what begins there."""
    return [tint(color) for color in by_number(schedule.network.node_count)]


def _cell(axes: Any, x: int, y: int, crossing: LinkCrossing, colors: list[str], first: int, size: float, *,
          crosses: bool = True, wide: int = 1) -> None:  # fmt: skip
    from matplotlib.patches import Rectangle

    color = colors[crossing.origin]
    rim = INK if crosses else FAINT
    inset = Rectangle((x + 0.04, y + 0.06), wide - 0.08, 0.88, facecolor=color, edgecolor=rim, linewidth=0.8)
    axes.add_patch(inset)
    text = str(crossing.origin + first)
    if crossing.target is not None:
        text += f" → {crossing.target + first}"
    write(axes, x + wide / 2, y + 0.5, text, size, ha="center", va="center", color=INK if crosses else MUTED)


def _frame(axes: Any, columns: int, rows: int, up: bool = False) -> None:
    axes.set_xlim(0, columns)
    axes.set_ylim(*((0, rows) if up else (rows, 0)))
    shown = range(0, columns, -(-columns // 24) or 1)
    axes.set_xticks([x + 0.5 for x in shown], [str(x) for x in shown], fontsize=_TEXT)
    axes.set_xlabel("slot", fontsize=_TEXT, color=MUTED)
    axes.tick_params(length=0, colors=MUTED)
    axes.spines[:].set_visible(False)
