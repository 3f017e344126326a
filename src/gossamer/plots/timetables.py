"""Timetables: which message crosses each link when, which wait for it, and when each rank sends and receives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.plots.appearance import (
    CATEGORICAL,
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
    measured,
    tint,
    write,
)
from gossamer.plots.link_occupancy import slot_ticks, time_unit
from gossamer.plots.node_names import LEAST_SIZE, shortened
from gossamer.plots.panels import Figure, Inside, page
from gossamer.questions.costs import Clock
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import link_load, verify

_ROW, _COLUMN, _TEXT = 0.3, 0.5, 7.5
_ONE_BELOW_ANOTHER = 3
"""Packets in a slot of a link whose cells still have words."""
_MOST_CELLS, _MOST_SLOTS = 3_000, 200


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
    words = ""
    if dress.width is not None and any(measured(name, _TEXT)[0] / 72 > 0.4 * dress.width for name in names):
        ends = [(int(schedule.network.link_source[k]), int(schedule.network.link_target[k])) for k in rows]
        names, words = [f"{a + first} → {b + first}" for a, b in ends], " Nodes are named by number."
    if (ax := dress.ax) is not None:
        _paint_rows(ax, schedule, rows_of, names, first, _TEXT)
        return ax.figure  # type: ignore[no-any-return]
    left = 0.3 + max((measured(name, _TEXT)[0] / 72 for name in names), default=0.0)
    column = _COLUMN if dress.width is None else (dress.width - left - 0.1) / max(schedule.slot_count, 1)
    wide = dress.width or max(5.6, left + column * schedule.slot_count + 0.3)
    personal = any(c.target is not None for row in rows_of for c in row)
    note = "A cell: source → destination of the message" if personal else "A cell: source of the message"
    note = f"{note} that crosses the link then; the color is that of the source.{words}"
    size, unread = _cell_text(rows_of, column, first)
    note += unread
    figure, height, _, foot = page(schedule, note, wide, (0.75 if dress.bare else 1.75) + _ROW * len(rows), dress)
    box = (left / wide, (foot + 0.42) / height, column * schedule.slot_count / wide, _ROW * len(rows) / height)
    _paint_rows(figure.add_axes(box), schedule, rows_of, names, first, size)
    return figure


def _cell_text(rows_of: Sequence[Sequence[LinkCrossing]], column: float, first: int) -> tuple[float, str]:
    """Return the type size at which all cells can be read, so many inches to a slot; 0 and a note where none is."""
    rooms = [c.slots * column * 65 / max(measured(_words(c, first), 1.0)[0], 0.1) for row in rows_of for c in row]
    room = min(rooms, default=_TEXT)
    return (min(_TEXT, room), "") if room >= LEAST_SIZE else (0.0, " No room for words in the cells.")


def _words(crossing: LinkCrossing, first: int) -> str:
    """Return what is written in a cell."""
    text = str(crossing.origin + first)
    return text if crossing.target is None else f"{text} → {crossing.target + first}"


def _paint_rows(axes: Any, schedule: Schedule, rows_of: list[list[LinkCrossing]], names: list[str], first: int,
                size: float) -> None:  # fmt: skip
    colors = _colors(schedule)
    for y, row in enumerate(rows_of):
        together = Counter(crossing.slot for crossing in row)
        before: Counter[int] = Counter()
        for crossing in row:
            share = (before[crossing.slot], together[crossing.slot])
            before[crossing.slot] += 1
            _cell(axes, crossing.slot, y, crossing, colors, first, size, wide=crossing.slots, share=share)
    _frame(axes, schedule, len(names))
    axes.set_yticks([y + 0.5 for y in range(len(names))], names, fontsize=_TEXT, color=INK, parse_math=False)


def _check_size(schedule: Schedule, rows: int) -> None:
    cells = rows * schedule.slot_count
    if schedule.slot_count > _MOST_SLOTS:
        raise NotApplicableError(
            f"a picture of every message by link and slot would have {schedule.slot_count:,} columns; at most "
            f"{_MOST_SLOTS} can be read: draw the occupancy or the ranks instead"
        )
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
    if not links:
        raise NotApplicableError(f"{schedule.network.spec} has no links, so that nothing waits")
    column = _COLUMN if dress.width is None else ((dress.width - 0.2) / len(links) - 0.2) / slots
    panel = (0.75 if dress.width is None else 0.2) + column * slots
    wide = dress.width or max(5.6, 0.4 + panel * len(links))
    note = (
        "A column: the messages that wait for the link in a slot, source → destination; the lowest one crosses in this "
        "slot, and the color is that of the source."
    )
    size, unread = _cell_text([[c._replace(slots=1) for c in q] for queues in waiting for q in queues], column, first)
    note += unread
    height = (0.95 if dress.bare else 1.95) + _ROW * deep + further(schedule, note, wide, dress)
    row = _ROW if area is None else _ROW * area.height / height
    height = height if area is None else area.height
    figure: Any = Figure(figsize=(wide, height), facecolor=PAPER) if area is None else area
    heading(figure, schedule, wide, height, dress)
    foot = caption(figure, note, wide, height, dress)
    colors = _colors(schedule)
    for k, (link, queues) in enumerate(zip(links, waiting, strict=True)):
        box = (column * slots / wide, row * deep / height)
        axes = figure.add_axes(((0.2 + panel * k) / wide, (foot + 0.42) / height, *box))
        for slot, queue in enumerate(queues):
            for y, crossing in enumerate(queue):
                _cell(axes, slot, y, crossing, colors, first, size, crosses=crossing.slot == slot)
        _frame(axes, schedule, deep, up=True)
        axes.set_yticks([])
        name, points = _fitting(_link_name(schedule, link, first), panel - 0.2)
        axes.set_title(name, fontsize=points, color=MUTED, loc="left", parse_math=False)
    drawn: Figure = figure if area is None else area.figure
    return drawn


_WIDE, _SMALLEST = 0.58, 6.0
"""The width of a letter over its height, about, and the points of the smallest name of a link."""


def _fitting(name: str, inches: float) -> tuple[str, float]:
    """Return a name of two ends, shortened where it must be, and the points in which it fits on so many inches.

    >>> _fitting("leaf-switch-of-rack-one → node002 HCA-1", 1.5)
    ('leaf-switch-o… → node002 HCA-1', 6.2)
    """
    room = 72 * inches / _WIDE
    if len(name) * _SMALLEST > room:
        each = max(int(room / _SMALLEST - 3) // 2 - 1, 3)
        name = " → ".join(end if len(end) <= each + 1 else f"{end[:each]}…" for end in name.split(" → "))
    return name, min(8.5, round(room / max(len(name), 1), 1))


def _link_name(schedule: Schedule, link: int, first: int) -> str:
    network = schedule.network
    ends = (int(network.link_source[link]), int(network.link_target[link]))
    if (
        network.labels is not None
        or network.levels is not None
        or (network.coordinates is not None and network.coordinates.shape[1] > 1)
    ):
        return " → ".join(network.node_name(v) for v in ends)
    return " → ".join(str(v + first) for v in ends)


def _colors(schedule: Schedule) -> list[str]:
    """Return the pale color of each node, for what begins there."""
    return [tint(color) for color in by_number(schedule.network.node_count)]


def _cell(axes: Any, x: int, y: int, crossing: LinkCrossing, colors: list[str], first: int, size: float, *,
          crosses: bool = True, wide: int = 1, share: tuple[int, int] = (0, 1)) -> None:  # fmt: skip
    """Paint a cell; of several packets in one slot each has a share of its height."""
    from matplotlib.patches import Rectangle

    color = colors[crossing.origin]
    rim = INK if crosses else FAINT
    high = 0.88 / share[1]
    low = y + 0.06 + share[0] * high
    axes.add_patch(Rectangle((x + 0.04, low), wide - 0.08, high, facecolor=color, edgecolor=rim, linewidth=0.8))
    if size and share[1] <= _ONE_BELOW_ANOTHER:
        size = max(min(size, 0.9 * high * _ROW * 72), LEAST_SIZE)
        write(axes, x + wide / 2, low + high / 2, _words(crossing, first), size, ha="center", va="center",
              color=INK if crosses else MUTED)  # fmt: skip


def _frame(axes: Any, schedule: Schedule, rows: int, up: bool = False) -> None:
    axes.set_xlim(0, max(schedule.slot_count, 1))
    axes.set_ylim(*((0, max(rows, 1)) if up else (max(rows, 1), 0)))
    slot_ticks(axes, schedule)
    axes.set_xlabel(f"time, {time_unit(schedule)[1]}" if isinstance(schedule.cost, Clock) else "slot", fontsize=_TEXT,
                    color=MUTED)  # fmt: skip
    axes.tick_params(length=0, colors=MUTED, labelsize=_TEXT)
    axes.spines[:].set_visible(False)


# When each rank sends and receives: a row a rank, two lanes, and time to the right.

_MOST_RANKS, _MOST_BARS = 512, 400_000
_SENDS, _RECEIVES = CATEGORICAL[0], CATEGORICAL[1]


class RankBars(NamedTuple):
    """When ranks are busy: `rank` int64[B], `start` and `end` float64[B] in seconds or steps, of one direction."""

    rank: npt.NDArray[np.int64]
    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]


def rank_bars(schedule: Schedule) -> tuple[RankBars, RankBars]:
    """Return when each rank sends and when it receives, times that touch or overlap joined.

    A rank sends as long as a packet takes up its link, and receives from when the first byte is there: later by the
    latency of the link.

    >>> import gossamer
    >>> sends, receives = rank_bars(gossamer.plan("array:3", "broadcast").schedule)
    >>> sends.rank.tolist(), sends.start.tolist(), receives.end.tolist()
    ([0, 1], [0.0, 1.0], [1.0, 2.0])
    """
    explicit = schedule.expand()
    network, phases = explicit.network, [p for p in explicit.phases if p.slots]
    edges, at = [Fraction(0)], [0]
    for phase in phases:
        edges.append(edges[-1] + phase.slots * phase.slot_length)
        at.append(at[-1] + phase.slots)
    unit = float(explicit.cost.slot_seconds) if isinstance(explicit.cost, Clock) else 1.0

    def when(slot: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        last = len(at) - 1
        beyond = np.maximum(slot - at[last], 0) * float(phases[-1].slot_length if phases else 1)
        return (np.interp(slot, at, [float(edge) for edge in edges]) + beyond) * unit

    slot = explicit.slot.astype(np.int64)
    busy, late = (
        np.asarray(column, np.int64)[explicit.link] for column in (network.link_occupancy, network.link_latency)
    )
    found = []
    for node, first in ((network.link_source, slot), (network.link_target, slot + late)):
        rank = node[explicit.link].astype(np.int64)
        mine = rank < network.terminal_count
        found.append(_joined(rank[mine], when(first[mine]), when((first + busy)[mine])))
    return found[0], found[1]


def _joined(rank: npt.NDArray[np.int64], start: npt.NDArray[np.float64], end: npt.NDArray[np.float64]) -> RankBars:
    """Return the bars of each rank without overlaps: the running maximum of ends says where one is over."""
    if not rank.size:
        return RankBars(rank, start, end)
    order = np.lexsort((end, start, rank))
    rank, start, end = rank[order], start[order], end[order]
    span = float(end.max()) + 1.0
    shifted = np.maximum.accumulate(end + rank * span)
    new = np.append(True, start[1:] + rank[1:] * span > shifted[:-1] + 1e-12 * span)
    first = np.flatnonzero(new)
    last = np.append(first[1:], rank.size) - 1
    return RankBars(rank[first], start[first], shifted[last] - rank[first] * span)


def ranks_figure(schedule: Schedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw when each rank sends and receives: a row a rank, time to the right.

    Parameters
    ----------
    schedule : Schedule
        A valid schedule of at most 512 ranks.
    **dressing : Dress
        As for all figures. With `ax`: draw the rows alone there.

    Returns
    -------
    matplotlib.figure.Figure
        In the row of a rank the upper lane is what it sends, the lower one what it receives. Time is in seconds, with
        the unit that suits, where slots have a length, else in steps. Switches have no rows.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    NotApplicableError
        If there are more ranks.

    Examples
    --------
    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MiB", bandwidth="50GB/s")
    >>> figure = ranks_figure(gossamer.plan("ring:4", "allgather", cost=cost).schedule)
    >>> figure.axes[0].get_xlabel()
    'time, us'
    """
    dress = look(**dressing)
    network = schedule.network
    ranks = network.terminal_count
    if ranks > _MOST_RANKS or schedule.hop_count > _MOST_BARS * 10:
        raise NotApplicableError(f"a picture of ranks and time has at most {_MOST_RANKS} rows, not {ranks:,}: draw the "
                                 "occupancy instead")  # fmt: skip
    verify(schedule).raise_if_invalid()
    bars = rank_bars(schedule)
    full = [network.node_name(v).removeprefix("(").removesuffix(")") for v in range(ranks)]
    limit = 0.3 * (dress.width or 8.8) * 72
    short, said = shortened(full)
    names, words = next(
        (pair for pair in ((full, ""), (short, said)) if max(measured(name, 7)[0] for name in pair[0]) < limit),
        ([str(v) for v in range(ranks)], "by number"),
    )
    if (ax := dress.ax) is not None:
        _paint_ranks(ax, schedule, bars, names)
        return ax.figure  # type: ignore[no-any-return]
    wide = dress.width or 8.8
    row = float(np.clip(7.0 / max(ranks, 1), 0.055, 0.3))
    tall = max(row * ranks, 0.5)
    left = 0.5 + max(measured(name, 7)[0] for name in names) / 72
    every = _every(row)
    notes = ["Blue, upper: the rank sends; orange, lower: it receives."]
    notes += [f"Ranks are named {words}."] if words else []
    notes += [f"One name of every {every} is shown."] if every > 1 else []
    figure, height, _, foot = page(
        schedule, " ".join(notes), wide, tall + (0.75 if dress.bare else 1.6), dress, key=" ".join(notes)
    )
    axes = figure.add_axes((left / wide, (foot + 0.45) / height, (wide - left - 0.2) / wide, tall / height))
    _paint_ranks(axes, schedule, bars, names)
    write(figure, 0.16 / wide, (foot + 0.45 + tall / 2) / height, "rank", 8, rotation=90, va="center", ha="center")
    return figure


def _every(row: float) -> int:
    """Return of how many rows, each so many inches high, one has room for a name."""
    return max(1, -(-9 // max(int(row * 72), 1)))


def _paint_ranks(axes: Any, schedule: Schedule, bars: tuple[RankBars, RankBars], names: Sequence[str]) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    scale, unit = time_unit(schedule) if isinstance(schedule.cost, Clock) else (1.0, "steps")
    for (rank, start, end), color, low, high in zip(bars, (_SENDS, _RECEIVES), (0.08, 0.52), (0.48, 0.92), strict=True):
        corners = np.stack([start / scale, end / scale, end / scale, start / scale], axis=1)
        heights = rank[:, None] + np.array([low, low, high, high])
        thin: dict[str, Any] = {"linewidths": 0.3 if rank.size < 2_000 else 0.0, "rasterized": rank.size > 20_000}
        shapes = list(np.stack([corners, heights], axis=2))
        axes.add_collection(PolyCollection(shapes, facecolors=color, edgecolors=PAPER, **thin))
    cost = schedule.cost
    whole = float(cost.seconds(schedule.completion_time) if isinstance(cost, Clock) else schedule.completion_time)
    axes.set(xlim=(0, whole / scale or 1.0), ylim=(len(names), 0))
    box = axes.get_window_extent()
    every = _every(box.height / axes.figure.dpi / max(len(names), 1))
    axes.set_yticks(
        np.arange(0, len(names), every) + 0.5, list(names)[::every], fontsize=7, color=INK, parse_math=False
    )
    last = axes.get_xlim()[1]
    ticks: Any = MaxNLocator(max(2, min(8, int(box.width / axes.figure.dpi / 0.6)))).tick_values(0, last)
    ticks = ticks[(ticks >= 0) & (ticks <= last)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(f"time, {unit}", fontsize=8, color=INK)
    axes.tick_params(length=2, width=0.6, color=MUTED, labelsize=7)
    axes.hlines(np.arange(1, len(names)), *axes.get_xlim(), color=FAINT, linewidth=0.4, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=MUTED, linewidth=0.6)
