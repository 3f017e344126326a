"""Still pictures of a wormhole plan: worms on channels, a panel a step, and the timetable of the channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import NotApplicableError, ScheduleError
from gossamer.plots.appearance import (
    CONTROL_COLOR,
    FAINT,
    INK,
    MUTED,
    PAPER,
    Dress,
    by_number,
    look,
    text_width,
    write,
)
from gossamer.plots.layouts import lay_out
from gossamer.plots.layouts.layout import Lines, arrowheads, link_lines
from gossamer.plots.link_groups import NodePairs, routes
from gossamer.plots.panels import page
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.verification.wormhole import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MOST_NODES, _MOST_PANELS, _COLUMNS = 400, 6, 3
_RADIUS, _ASIDE = 0.16, 0.09
_APART, _TITLE = 0.3, 0.46
"""Inches between panels, and of what stands above each."""
_NAMED, _NAMED_CHANNELS = 36, 48
_RASTER = 4000
"""With more bars than this they are pixels also in a vector file."""


class _Ways(NamedTuple):
    """The links of each message in order, ``way[first[m]:first[m+1]]``, the node where it began, -1 of control."""

    first: Ints
    way: Ints
    origin: Ints

    def rows(self, messages: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return message and link of every channel that some messages take."""
        sizes = (self.first[1:] - self.first[:-1])[messages]
        inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(messages, sizes), self.way[np.repeat(self.first[messages], sizes) + inside]


def worms_figure(schedule: WormholeSchedule, steps: Sequence[int] | None = None, **dressing: Unpack[Dress]) -> Figure:
    """Draw every message of some steps as a worm along the channels that it takes.

    Parameters
    ----------
    schedule : WormholeSchedule
        Valid, on a network of at most 400 nodes.
    steps : sequence of int, optional
        Which steps, counted from 0. Default: all with messages, of more than six the first, the last and some between.
    **dressing : Dress
        As for all figures. With `ax`: draw the first of the steps there, without heading and notes.

    Returns
    -------
    matplotlib.figure.Figure
        A panel a step. A worm has the color of the node where what it carries began, and ends in an arrow; control
        messages are orange.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    NotApplicableError
        If the network is larger.
    ScheduleError
        If there is no such step.

    Examples
    --------
    >>> import gossamer
    >>> plan = gossamer.plan("torus:5x5", "broadcast", switching="wormhole")
    >>> len(worms_figure(plan.schedule, [0, 1]).axes)
    2
    """
    dress = look(**dressing)
    network, count = schedule.network, schedule.step_count
    if network.node_count > _MOST_NODES:
        raise NotApplicableError(
            f"worms are drawn on networks of at most {_MOST_NODES} nodes, and {network.spec} has "
            f"{network.node_count:,}: the explorer shows more"
        )
    verify(schedule).raise_if_invalid()
    busy = np.unique(schedule.step).tolist()
    chosen = [busy[k] for k in _chosen(len(busy))] if steps is None else list(steps)
    wrong = [step for step in chosen if not 0 <= step < count]
    if wrong:
        raise ScheduleError(f"step {wrong[0]} is none of the schedule's, 0..{count - 1}")
    layout, ways = lay_out(network), _ways(schedule)
    lines = link_lines(network, layout, _RADIUS, _ASIDE)
    seen = np.concatenate([layout.positions, *(g.points.reshape(-1, 2) for g in lines)])
    low, high = seen.min(axis=0) - 0.5, seen.max(axis=0) + 0.5
    if (ax := dress.ax) is not None:
        _panel(ax, low, high)
        box = ax.get_window_extent()
        unit = float((np.array([box.width, box.height]) / (high - low)).min()) * 72 / ax.figure.dpi
        _paint(ax, schedule, chosen[0], lines, layout.positions, ways, unit)
        return ax.figure  # type: ignore[no-any-return]
    across = min(_COLUMNS if dress.width is None or dress.width > 5 else 2, max(len(chosen), 1))
    wide = dress.width or 0.4 + across * (3.3 if network.node_count > 9 else 2.4)
    side = (wide - 0.3) / across
    ratio = float((high - low)[1] / (high - low)[0])
    tall = min(side * ratio, 1.5 * side) + _TITLE
    down = -(-len(chosen) // across)
    note = "A worm has the color of the node where what it carries began."
    if steps is None and len(chosen) < count:
        note += f" {len(chosen)} of {quantity(count, 'step')} are shown."
    figure, height, top, _ = page(schedule, note, wide, (0.3 if dress.bare else 1.25) + tall * down, dress)
    for place, step in enumerate(chosen):
        row, column = divmod(place, across)
        left, bottom = 0.15 + column * side, height - top - (row + 1) * tall
        axes = figure.add_axes((left / wide, bottom / height, (side - _APART) / wide, (tall - _TITLE) / height))
        _panel(axes, low, high)
        unit = min((side - _APART) / float((high - low)[0]), (tall - _TITLE) / float((high - low)[1])) * 72
        _paint(axes, schedule, step, lines, layout.positions, ways, unit)
    return figure


def channels_figure(schedule: WormholeSchedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw which message holds which channel when.

    Parameters
    ----------
    schedule : WormholeSchedule
        Valid.
    **dressing : Dress
        As for all figures. With `ax`: draw the timetable there, without heading and notes.

    Returns
    -------
    matplotlib.figure.Figure
        Time to the right; a row a channel that is used, those of one dimension and direction together. A bar has the
        color of the node where what the message carries began.

    Raises
    ------
    VerificationError
        If the schedule is not valid.

    Examples
    --------
    >>> import gossamer
    >>> figure = channels_figure(gossamer.plan("torus:5", "allgather", switching="wormhole").schedule)
    >>> len(figure.axes[0].get_yticklabels())
    10
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    ways, network = _ways(schedule), schedule.network
    message, link = ways.rows(np.arange(schedule.message_count))
    used = np.unique(link)
    group = _groups(schedule, used)
    order = np.lexsort((used, group))
    place = np.zeros(network.link_count, np.int64)
    place[used[order]] = np.arange(used.size)
    if (ax := dress.ax) is not None:
        _paint_times(ax, schedule, message, place[link], ways)
        _name_rows(ax, schedule, used[order], group[order])
        return ax.figure  # type: ignore[no-any-return]
    wide = dress.width or 8.8
    tall = float(np.clip(0.17 * used.size, 1.0, 6.5 if dress.width is None else 1.2 * dress.width))
    words = "A bar: a message holds the channel. Its color is the node where what it carries began, "
    words += f"from {network.node_name(0)}, dark red, over blue to {network.node_name(network.node_count - 1)}, olive."
    figure, height, top, foot = page(schedule, words, wide, tall + (0.6 if dress.bare else 1.75), dress)
    top, foot = top + 0.12, foot + 0.42
    names = [_channel_name(schedule, int(x)) for x in used] if used.size <= _NAMED_CHANNELS else ["dim 0 +"]
    left = 0.3 + max((text_width(name, 6.5) for name in names), default=0.5)
    box = (left / wide, foot / height, (wide - left - 0.2) / wide, (height - top - foot) / height)
    axes = figure.add_axes(box)
    _paint_times(axes, schedule, message, place[link], ways)
    _name_rows(axes, schedule, used[order], group[order])
    return figure


def _panel(axes: Any, low: Floats, high: Floats) -> None:
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_aspect("equal")
    axes.axis("off")


def channel_use(schedule: WormholeSchedule) -> tuple[Ints, Ints, Ints]:
    """Return message, link and origin, -1 of control, of every channel that a message takes, int64[R] each."""
    ways = _ways(schedule)
    message, link = ways.rows(np.arange(schedule.message_count))
    return message, link, ways.origin[message]


def _chosen(count: int) -> list[int]:
    """Return all steps, or of many the first, the last and some between."""
    if count <= _MOST_PANELS:
        return list(range(count))
    return [round(k * (count - 1) / (_MOST_PANELS - 1)) for k in range(_MOST_PANELS)]


def _ways(schedule: WormholeSchedule) -> _Ways:
    rows, pairs = schedule.timeline(), NodePairs(schedule.network)
    first, way, _ = routes(schedule, rows, pairs)
    sizes = np.append(np.diff(schedule.payloads.first), 1)[schedule.payload]
    head = np.cumsum(sizes) - sizes  # the first piece of each message
    links = pairs.first[way]
    hops = (first[1:] - first[:-1])[head]
    inside = np.arange(int(hops.sum())) - np.repeat(np.cumsum(hops) - hops, hops)
    known = schedule.task.messages(schedule.network)
    number = rows.message[head]
    at = np.searchsorted(known.ids, np.maximum(number, 0))
    origin = np.where(number < 0, -1, known.origin[np.minimum(at, known.ids.size - 1)])
    starts = np.append(np.cumsum(hops) - hops, hops.sum())
    return _Ways(starts.astype(np.int64), links[np.repeat(first[head], hops) + inside], origin.astype(np.int64))


def _colors(schedule: WormholeSchedule, origin: Ints) -> list[str]:
    hues = by_number(schedule.network.node_count)
    return [CONTROL_COLOR if v < 0 else hues[v] for v in origin.tolist()]


def _phase(schedule: WormholeSchedule, step: int) -> str:
    return next((p.name for p in schedule.phases if p.first_step <= step < p.first_step + p.steps), "")


def _paint(axes: Any, schedule: WormholeSchedule, step: int, lines: list[Lines],
           places: Floats, ways: _Ways, unit: float) -> None:  # fmt: skip
    """Paint the worms of a step; `unit` is the points of the page for one of the layout."""
    from matplotlib.collections import LineCollection, PolyCollection

    network = schedule.network
    messages = np.flatnonzero(schedule.step == step)
    message, link = ways.rows(messages)
    of = np.full(network.link_count, -1)
    of[link] = message
    last = np.zeros(network.link_count, np.bool_)
    last[ways.way[ways.first[messages + 1] - 1]] = True
    wide = float(np.clip(0.07 * unit, 0.8, 2.6))
    for group in lines:
        held = of[group.link]
        idle, taken = group.points[held < 0], group.points[held >= 0]
        colors = _colors(schedule, ways.origin[held[held >= 0]])
        axes.add_collection(LineCollection(list(idle), colors=FAINT, linewidths=0.5, zorder=1))
        axes.add_collection(LineCollection(list(taken), colors=colors, linewidths=wide, capstyle="round", zorder=2))
        ends = Lines(group.points, group.link)
        kept = (held >= 0) & last[group.link] & _into(group, network, places)
        heads = arrowheads(Lines(ends.points[kept], ends.link[kept]), 0.3, 0.75)
        axes.add_collection(
            PolyCollection(list(heads), facecolors=_colors(schedule, ways.origin[held[kept]]), linewidths=0, zorder=3)
        )
    sources = np.unique(schedule.source[messages])
    rim = np.full(network.node_count, MUTED, object)
    axes.scatter(*places.T, s=(2 * _RADIUS * unit) ** 2, c=PAPER, edgecolors=list(rim), linewidths=0.5, zorder=4)
    axes.scatter(*places[sources].T, s=(1.0 * _RADIUS * unit) ** 2, c=MUTED, linewidths=0, zorder=5)
    name = f"step {step}: {_phase(schedule, step)}"
    axes.set_title(name, fontsize=8, color=INK, loc="left", pad=5)
    names = [network.node_name(v) for v in range(network.node_count)] if network.node_count <= _NAMED else []
    size = min(0.2 * unit, 6.5)
    if size >= 5 and max((72 * text_width(name, size) for name in names), default=unit) < 0.85 * unit:
        boxes = np.array([[72 * text_width(name, size), 1.2 * size] for name in names]) / unit
        for name, (x, y) in zip(names, _clear_of_lines(places, lines, boxes).tolist(), strict=True):
            write(axes, x, y, name, size, color=MUTED, ha="center", va="center", zorder=6)


def _clear_of_lines(places: Floats, lines: list[Lines], boxes: Floats) -> Floats:
    """Return the middle of the name of each node, float64[N, 2]: beside the node where the fewest lines are.

    `boxes` are widths and heights of the names. All names are on the same side if they stand as clear there.
    """
    share = np.linspace(0, 1, 12)[:, None]
    parts = [(g.points[:, :-1, None], g.points[:, 1:, None]) for g in lines]
    ink = np.concatenate([places, *((a + share * (b - a)).reshape(-1, 2) for a, b in parts)])
    sides = np.array([[1, -1], [1, 1], [-1, 1], [-1, -1], [1, 0], [-1, 0], [0, 1], [0, -1]])
    middles = places[:, None] + sides * (_RADIUS + 0.03 + boxes[:, None] / 2)
    near = np.abs(middles[:, :, None] - ink) < boxes[:, None, None] / 2 + 0.05
    covered = near.all(axis=3).sum(axis=2)  # [N, 8]
    best = covered.argmin(axis=1)
    alike = int(covered.sum(axis=0).argmin())
    best[covered[:, alike] == covered.min(axis=1)] = alike
    chosen: Floats = middles[np.arange(len(places)), best]
    return chosen


def _into(group: Lines, network: Any, places: Floats) -> npt.NDArray[np.bool_]:
    """Return which lines end at the target of their link: of two stubs only the second."""
    target = places[network.link_target[group.link]]
    return np.asarray(np.hypot(*(group.points[:, -1] - target).T) < 2 * _RADIUS)


def _channel_name(schedule: WormholeSchedule, link: int) -> str:
    network = schedule.network
    ends = (int(end[link]) for end in (network.link_source, network.link_target))
    return " \N{RIGHTWARDS ARROW} ".join(network.node_name(v) for v in ends)


def _groups(schedule: WormholeSchedule, links: Ints) -> Ints:
    """Return twice the dimension of each link, and one more if it leads downwards in it; 0 where there is no grid."""
    network = schedule.network
    if network.grid is None:
        return np.zeros(links.size, np.int64)
    a, b = (
        np.stack(np.unravel_index(ends[links], network.grid.sides), axis=1).astype(np.int64)
        for ends in (network.link_source, network.link_target)
    )
    change = b - a
    dimension = np.argmax(change != 0, axis=1)
    by = change[np.arange(links.size), dimension]
    down = (by == -1) | (by > 1)  # also from 0 to the end of a ring
    return np.asarray(2 * dimension + down)


def _paint_times(axes: Any, schedule: WormholeSchedule, message: Ints,
                 place: Ints, ways: _Ways) -> None:  # fmt: skip
    """Paint a bar for each channel that a message holds."""
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    bounds = np.concatenate([[0.0], np.cumsum([float(cost) for cost in schedule.step_cost])])
    start, end = bounds[schedule.step[message]], bounds[schedule.step[message] + 1]
    y = place.astype(float)
    corners = np.stack([np.stack([start, y - 0.42], 1), np.stack([end, y - 0.42], 1), np.stack([end, y + 0.42], 1),
                        np.stack([start, y + 0.42], 1)], axis=1)  # fmt: skip
    bars = PolyCollection(
        list(corners), facecolors=_colors(schedule, ways.origin[message]), edgecolors=PAPER, linewidths=0.3
    )
    bars.set_rasterized(message.size > _RASTER)
    axes.add_collection(bars)
    end_of_all = float(schedule.completion_time) or 1.0
    axes.set_xlim(0, end_of_all)
    axes.set_xticks([t for t in MaxNLocator(5).tick_values(0, end_of_all) if 0 <= t <= end_of_all])
    axes.set_ylim(float(place.max(initial=0)) + 0.7, -0.7)
    axes.set_xlabel("time", fontsize=8, color=MUTED)
    axes.tick_params(labelsize=7, colors=MUTED)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    for at in bounds[1:-1] if bounds.size <= 200 else ():
        axes.axvline(at, color=FAINT, linewidth=0.5, zorder=0)


def _name_rows(axes: Any, schedule: WormholeSchedule, links: Ints,
               group: Ints) -> None:  # fmt: skip
    """Name every channel, or of many the dimensions and directions."""
    if links.size <= _NAMED_CHANNELS:
        size = float(np.clip(400 / max(links.size, 1), 4.5, 6.5))
        axes.set_yticks(range(links.size), [_channel_name(schedule, int(x)) for x in links], fontsize=size)
        return
    names, first = np.unique(group, return_index=True)
    ends = np.append(first[1:], links.size)
    labels = [f"dim {k // 2} {'−' if k % 2 else '+'}" for k in names.tolist()]
    if schedule.network.grid is None:
        labels = ["channels"]
    axes.set_yticks((first + ends - 1) / 2, labels, fontsize=7)
    for at in first[1:]:
        axes.axhline(at - 0.5, color=MUTED, linewidth=0.6)
