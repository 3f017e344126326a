"""The picture of occupancy: which links carry packets in which slots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import FileFormatError
from gossamer.networks.network import Network
from gossamer.plots.appearance import (
    CONTROL_COLOR,
    FAINT,
    INK,
    MUTED,
    PAPER,
    SCREEN,
    UNWRITTEN,
    Dress,
    Look,
    by_number,
    caption,
    heading,
    look,
    measured,
    sequential,
    text_width,
    write,
)
from gossamer.plots.link_groups import LinkGroups, link_groups
from gossamer.plots.node_names import shortened
from gossamer.questions.costs import Clock
from gossamer.schedules import CONTROL, Phase, Schedule
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Hops counted by links and slots, in bins that a picture can show.

Counts = npt.NDArray[np.int64]

ROWS, COLUMNS = 600, 900
"""The most rows and columns; more links or slots share them."""
_CHUNK = 10_000_000


@dataclass(frozen=True, eq=False)
class Occupancy:
    """Hops counted by links and slots.

    * `packets`, `control` (int64[R, C]): hops of message packets, and of control packets, on the links of a row in the
      slots of a column, each in all slots in which it occupies its link. Of an invariant schedule the stored hops on
      each orbit of links.
    * `room` (int64[R, C]): hops for which there is capacity.
    * `groups`: name, first row and number of rows of each group of links, from top to bottom.
    * `row_of` (int64[lines]): row of each link, or of each orbit of links.
    * `slots`: slots in a column (the last one may have fewer).
    """

    packets: Counts
    control: Counts
    room: Counts
    groups: tuple[tuple[str, int, int], ...]
    row_of: Counts
    slots: int

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """Share of the capacity in use, float64[R, C]."""
        return (self.packets + self.control) / np.maximum(self.room, 1)

    @property
    def binned(self) -> bool:
        """Whether some row or column stands for several links or slots."""
        return self.slots > 1 or len(self.row_of) > len(self.packets)


def occupancy(schedule: Schedule, rows: int = ROWS, columns: int = COLUMNS) -> Occupancy:
    """Count the hops of a schedule by links and slots, in at most about `rows` times `columns` bins.

    Links are in order of their groups (dimension and direction, generator, level), then of their numbers; no row
    holds links of two groups unless there are more groups than rows.

    O(hops + links + bins). Of an invariant schedule the lines are the orbits of links, and nothing is expanded.

    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> count = occupancy(s)
    >>> count.groups, count.packets.tolist()
    ((('dim 0 +', 0, 2), ('dim 0 −', 2, 2)), [[1, 0], [0, 1], [0, 0], [0, 0]])
    """
    schedule = schedule.unrolled()
    network, symmetry = schedule.network, schedule.symmetry
    known = by_source(network) if symmetry is None else link_groups(network)
    if symmetry is None:
        group, capacity = known.group, np.asarray(network.link_capacity, np.int64)
    else:
        _, first = np.unique(symmetry.link_orbit(np.arange(network.link_count)), return_index=True)  # a link of each
        group, capacity = known.group[first], np.asarray(network.link_capacity, np.int64)[first]
    row_of, groups = _rows(group, known.names, rows)
    count = max(sum(n for _, _, n in groups), 1)
    slots = max(1, -(-schedule.slot_count // columns))
    width = max(1, -(-schedule.slot_count // slots))
    bins = np.zeros((2, count * width), np.int64)
    for a in range(0, schedule.stored_hops, _CHUNK):
        part = slice(a, a + _CHUNK)
        line = schedule.link[part] if symmetry is None else symmetry.link_orbit(schedule.link[part])
        if not network.plain:
            bins[0] += _spread(schedule, part, row_of[line], (count, width, slots)).reshape(-1)
            continue
        cell = row_of[line] * width + schedule.slot[part] // slots
        control = schedule.packet[part] == CONTROL
        bins[1] += np.bincount(cell[control], minlength=count * width)
        bins[0] += np.bincount(cell[~control], minlength=count * width)
    lasting = np.full(width, slots, np.int64)
    lasting[-1] = max(schedule.slot_count - slots * (width - 1), 1)
    room = np.bincount(row_of, capacity, minlength=count).astype(np.int64)[:, None] * lasting
    packets, control_hops = bins.reshape(2, count, width)
    return Occupancy(packets, control_hops, room, groups, row_of, slots)


def by_source(network: Network) -> LinkGroups:
    """Return the groups of a network's links, by the nodes that they leave where nothing else is known of them.

    >>> import gossamer
    >>> by_source(gossamer.network("kautz:2,2")).names[:2]
    ('from 0', 'from 1')
    """
    known = link_groups(network)
    if len(known.names) > 1 or network.link_count == 0:
        return known
    nodes, group = np.unique(network.link_source, return_inverse=True)
    return LinkGroups(tuple(f"from {network.node_name(v)}" for v in nodes.tolist()), group.astype(np.int32))


def _spread(schedule: Schedule, part: slice, row: Counts, shape: tuple[int, int, int]) -> Counts:
    """Count the slots of each column in which hops occupy links, int64[R, C]; `shape` is R, C and slots in a column.

    The slots that a hop has used up grow by one a slot from its first slot to its last; the differences of their sums
    at the ends of columns are what is asked for.
    """
    count, width, slots = shape
    starts = schedule.slot[part].astype(np.int64)
    lasting = schedule.network.link_occupancy[schedule.link[part]]
    grid = np.zeros(count * (width + 2), np.int64)
    for when, sign in ((starts, 1), (np.minimum(starts + lasting, width * slots), -1)):
        cell = row * (width + 2) + when // slots
        first = slots - when % slots  # slots left in the column
        for place, amount in ((cell, first), (cell + 1, slots - first)):
            grid += sign * np.bincount(place, amount, minlength=grid.size).astype(np.int64)
    return np.cumsum(grid.reshape(count, width + 2), axis=1)[:, :width]


def _rows(
    group: npt.NDArray[np.int32], names: tuple[str, ...], limit: int
) -> tuple[Counts, tuple[tuple[str, int, int], ...]]:
    """Return the row of each line, and the groups of rows."""
    if len(names) > limit:
        names, order = ("by generator",), np.argsort(group, kind="stable")
        rank = np.empty(group.size, np.int64)
        rank[order] = np.arange(group.size)
        return rank // -(-group.size // limit), ((names[0], 0, -(-group.size // -(-group.size // limit))),)
    row_of = np.zeros(group.size, np.int64)
    groups, first = [], 0
    for g, name in enumerate(names):
        members = np.flatnonzero(group == g)
        rows = members.size if group.size <= limit else max(1, members.size * limit // group.size)
        each = -(-members.size // rows) if rows else 1
        row_of[members] = first + np.arange(members.size) // each
        rows = -(-members.size // each)
        groups.append((name, first, rows))
        first += rows
    return row_of, tuple(groups)


@dataclass(frozen=True, eq=False)
class Origins:
    """Where the packets of each cell began: `node` float64[R, C], 0 where there are none, of `nodes` nodes."""

    node: npt.NDArray[np.float64]
    nodes: int


def origins(schedule: Schedule, count: Occupancy) -> Origins:
    """Return the origin of the last packet of each cell.

    >>> import gossamer
    >>> s = gossamer.plan("array:3", "total-exchange").schedule
    >>> origins(s, occupancy(s)).node.astype(int).tolist()
    [[0, 0], [1, 0], [1, 2], [2, 2]]
    """
    schedule = schedule.unrolled()
    symmetry = schedule.symmetry
    line = schedule.link if symmetry is None else symmetry.link_orbit(schedule.link)
    node = np.zeros(count.packets.shape)
    if schedule.packets.count:
        mine = schedule.packet != CONTROL
        began = schedule.packets.origin[schedule.packet[mine]]
        node[count.row_of[line[mine]], schedule.slot[mine] // count.slots] = began
    return Origins(node, schedule.network.terminal_count)


COLORS = ("share", "origin")
"""What the colors of an occupancy may say."""

_EXPANDED = 500_000
"""An invariant schedule of at most so many hops is written out to show where its packets began."""
_NAMED_ROWS = 40
_PARTED = 80
_LEVELS = 4
_EACH = 8
"""Up to this many origins have a number each below their colors."""
_STRIP, _PITCH = 0.55, 0.155


def occupancy_figure(schedule: Schedule, *, color: str = "share", **dressing: Unpack[Dress]) -> Figure:
    """Draw which links carry packets in which slots: links from top to bottom by groups, slots from left to right.

    Parameters
    ----------
    schedule : Schedule
        A valid schedule. An invariant one is drawn from its stored orbit: a row is an orbit of links; in the colors of
        origins a small one is written out.
    color : {"share", "origin"}
        What the colors say: the share of the capacity in use, or the node where the packet began. Cells that stand
        for several packets have that of the last.
    **dressing : Dress
        As for all figures. With `ax`: draw the image alone there.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, unknown to pyplot, or that of `ax`. The strip on top is the share of all links' capacity
        in use. Vertical lines part the phases; control packets have a color of their own. Slots are counted from 0, as
        in files and in what the checker says.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    FileFormatError
        If color, style or width are none.

    Notes
    -----
    Above 600 links or 900 slots a cell is the mean over several, as the axes say. O(hops + links).

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> occupancy_figure(s).axes[1].get_xlabel()
    'slot'
    """
    from matplotlib.figure import Figure

    if color not in COLORS:
        raise FileFormatError(f"the color of an occupancy must be {' or '.join(COLORS)}, got {color!r}")
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    if color == "origin" and schedule.hop_count <= _EXPANDED:
        schedule = schedule.expand()
    sheet = occupancy_sheet(schedule, dress=dress, color=color)
    if (ax := dress.ax) is not None:
        _paint_image(ax, sheet, max(schedule.slot_count, 1), schedule)
        ax.set_xlabel(_slot_axis(schedule, sheet.counts))
        ax.set_ylabel(_row_axis(sheet))
        figure: Figure = ax.figure
        return figure
    figure = Figure(figsize=(sheet.width, sheet.height), facecolor=PAPER)
    paint_occupancy(figure, schedule, sheet)
    return figure


class OccupancySheet(NamedTuple):
    """The page of a picture in inches: its size, the room left of the image; the counts, and names of single links.

    Below another picture it has no heading of its own.
    """

    width: float
    height: float
    counts: Occupancy
    left: float
    line_names: tuple[str, ...]
    group_names: tuple[str, ...]
    headed: bool
    dress: Look = SCREEN
    origins: Origins | None = None
    note: str = ""


def occupancy_sheet(
    schedule: Schedule, headed: bool = True, dress: Look = SCREEN, color: str = "share"
) -> OccupancySheet:
    """Return the page for the picture of a schedule's occupancy, with the counts."""
    count = occupancy(schedule)
    rows, columns = count.packets.shape
    image = rows * (0.3 if rows <= 12 else 0.16) if rows <= _NAMED_ROWS else float(np.clip(rows * 0.02, 4.0, 5.6))
    names, groups, notes = _row_names(schedule, count, dress)
    labels = max((_inches(name, 8) for name in groups), default=0.0)
    inner = max((_inches(name, 7) for name in names), default=0.0)
    left = 0.62 + labels + (inner + 0.1 if names else 0.0)
    width = dress.width or max(left + float(np.clip(0.3 * columns, 3.4, 7.0)) + 0.3, 6.4)
    levels = 1 + max((level for _, level in _phase_names(schedule, width - left - 0.3)[0]), default=-1)
    height = (1.45 if dress.bare else 2.35 if headed else 1.85) + _STRIP + image + levels * _PITCH
    began = origins(schedule, count) if color == "origin" else None
    sheet = OccupancySheet(width, height, count, left, names, groups, headed, dress, began, notes)
    words = " ".join(_notes(schedule, count, 1, notes))
    more = caption(UNWRITTEN, words, width, 1.0, dress) - (0.08 if dress.bare else 0.28)
    more += (heading(UNWRITTEN, schedule, width, 1.0, dress) - (0.1 if dress.bare else 0.62)) if headed else 0.0
    return sheet._replace(height=height + max(more, 0.0))


def _inches(text: str, size: float) -> float:
    return measured(text, size)[0] / 72


def _row_names(schedule: Schedule, count: Occupancy, dress: Look) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the names of single links, if they are few, and of the groups, shortened where they take too much room."""
    rows = len(count.packets)
    groups = [name for name, _, _ in count.groups]
    sources = bool(groups) and groups[0].startswith("from ")
    names: list[str] = []
    if not count.binned and schedule.symmetry is None and rows <= _NAMED_ROWS:
        line = np.argsort(count.row_of)
        names = [schedule.network.link_name(int(i)).replace("->", "\N{RIGHTWARDS ARROW}") for i in line]
        groups = [] if sources else groups
    groups = groups if len(groups) > 1 else []
    room = 0.45 * (dress.width or 9.0) - 0.72

    def wide(*texts: list[str]) -> float:
        return sum(
            max((_inches(text, size) for text in each), default=0.0) for each, size in zip(texts, (7, 8), strict=True)
        )

    if wide(names, groups) <= room:
        return tuple(names), tuple(groups), ""
    short, note = _short_links(schedule, count) if names else ([], "")
    if wide(short, groups) <= room:
        return tuple(short), tuple(groups), f"Nodes are named {note}."
    less, note = shortened(groups)
    if wide([], less) <= room:
        return (), tuple(less), f"Links are named {note or 'by their groups'}."
    return (), (), "No room for the names of links."


def _short_links(schedule: Schedule, count: Occupancy) -> tuple[list[str], str]:
    """Return the names of links with shorter names of their nodes, and what these are."""
    network = schedule.network
    full = [network.node_name(v) for v in range(network.node_count)]
    ends, note = shortened(full)
    if ends == full or max(map(len, ends)) > 8:
        ends, note = [str(v) for v in range(network.node_count)], "by number"
    pairs = zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)
    names = [f"{ends[a]} \N{RIGHTWARDS ARROW} {ends[b]}" for a, b in pairs]
    return [names[i] for i in np.argsort(count.row_of).tolist()], note


def paint_occupancy(figure: Any, schedule: Schedule, sheet: OccupancySheet) -> None:
    """Paint the picture on a figure, or part of one, of the size of the sheet."""
    count, width, height = sheet.counts, sheet.width, sheet.height
    span = width - sheet.left - 0.3
    labels, missing = _phase_names(schedule, span)
    top = heading(figure, schedule, width, height, sheet.dress) if sheet.headed else 0.1
    top += 0.06 + _PITCH * (1 + max((level for _, level in labels), default=-1))
    notes = _notes(schedule, count, missing, sheet.note)
    image_height = height - top - _STRIP - 0.1 - caption(UNWRITTEN, " ".join(notes), width, 1.0, sheet.dress) - 0.85
    if skipped := _skipped(sheet, image_height):
        notes.append(f"{quantity(skipped, 'name')} between those shown {'has' if skipped == 1 else 'have'} no room.")
    foot = caption(figure, " ".join(notes), width, height, sheet.dress)
    bottom = foot + 0.85
    image_height = height - top - _STRIP - 0.1 - bottom

    def axes_at(low: float, high: float) -> Any:
        return figure.add_axes((sheet.left / width, low / height, span / width, high / height))

    strip = axes_at(bottom + image_height + 0.1, _STRIP)
    image = axes_at(bottom, image_height)
    slots = max(schedule.slot_count, 1)
    _paint_strip(strip, count, slots)
    scale = _paint_image(image, sheet, slots, schedule)
    _label_rows(image, figure, sheet, image_height, bottom)
    image.set_xlabel(_slot_axis(schedule, count), fontsize=8.5, color=INK, labelpad=3)
    for axes in (strip, image):
        axes.tick_params(labelsize=7.5, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
        for side in axes.spines.values():
            side.set(color=MUTED, linewidth=0.6)
    for side in ("top", "right"):
        strip.spines[side].set_visible(False)
    _paint_phases(strip, image, schedule, labels, span)
    _paint_key(figure, scale, sheet, foot)


# -- the image -----------------------------------------------------------------------------------------------


def _paint_image(axes: Any, sheet: OccupancySheet, slots: int, schedule: Schedule) -> Any:
    """Draw the cells: packets on the common scale, control packets in their own color; return the scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize

    count = sheet.counts
    rows = len(count.packets)
    scale = ScalarMappable(Normalize(0, 1), sequential())
    shown = count.share
    if sheet.origins is not None:
        scale = ScalarMappable(
            Normalize(-0.5, sheet.origins.nodes - 0.5), ListedColormap(by_number(sheet.origins.nodes))
        )
        shown = sheet.origins.node
    orange = LinearSegmentedColormap.from_list("control", ["#e58a3f", CONTROL_COLOR])
    ours = (count.packets == 0) | (count.packets < count.control)
    theirs = (count.control == 0) | ~ours
    plain = Normalize(0, 1)
    for data, mask, colors, norm, name in (
        (shown, ours, scale.cmap, scale.norm, "packets"), (count.share, theirs, orange, plain, "control"),
    ):  # fmt: skip
        axes.imshow(
            np.ma.array(data, mask=mask), cmap=colors, norm=norm, aspect="auto", interpolation="nearest",
            extent=(0, count.packets.shape[1] * count.slots, rows, 0), gid=name,
        )  # fmt: skip
    axes.set(xlim=(0, slots), ylim=(rows, 0))
    if slots <= _PARTED and count.slots == 1 and not isinstance(schedule.cost, Clock):
        axes.vlines(np.arange(1, slots), 0, rows, color=PAPER, linewidth=0.8)
    if rows <= _PARTED:
        axes.hlines(np.arange(1, rows), 0, slots, color=PAPER, linewidth=0.8 if rows <= _NAMED_ROWS else 0.4)
    for _, first, _ in count.groups[1:] if len(count.groups) <= _NAMED_ROWS else ():
        axes.axhline(first, color=MUTED, linewidth=0.5)
    slot_ticks(axes, schedule)
    return scale


def slot_ticks(axes: Any, schedule: Schedule) -> None:
    """Put the numbers of slots in the middle of their columns when they are few, else at round places; or times."""
    from matplotlib.ticker import MaxNLocator

    slots = max(schedule.slot_count, 1)
    many = max(2, int(axes.get_window_extent().width / axes.figure.dpi / 0.55))
    if isinstance(schedule.cost, Clock):
        each, (scale, _) = float(schedule.cost.slot_seconds), time_unit(schedule)
        ticks: Any = MaxNLocator(min(8, many)).tick_values(0, slots * each / scale)
        ticks = ticks[(ticks >= 0) & (ticks <= slots * each / scale * (1 + 1e-9))]
        axes.set_xticks(ticks * scale / each, [f"{tick:g}" for tick in ticks])
    elif slots <= 30:
        apart = next(k for k in (1, 2, 5, 10) if slots / k <= max(2, 2.2 * many))
        shown = np.arange(0, slots, apart)
        axes.set_xticks(shown + 0.5, [str(t) for t in shown])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(min(8, many), integer=True))
        axes.xaxis.set_major_formatter("{x:,.0f}")


def time_unit(schedule: Schedule) -> tuple[float, str]:
    """Return the seconds of the unit in which the times of a schedule are told, and its name.

    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MiB", bandwidth="50GB/s")
    >>> time_unit(gossamer.plan("ring:4", "allgather", cost=cost).schedule)
    (1e-06, 'us')
    """
    whole = float(schedule.cost.seconds(schedule.completion_time)) if isinstance(schedule.cost, Clock) else 0.0
    return next((unit for unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if whole >= unit[0]), (1e-9, "ns"))


def _paint_strip(axes: Any, count: Occupancy, slots: int) -> None:
    """Draw the share of the capacity of all links in use."""
    room = np.maximum(count.room.sum(axis=0), 1)
    data, control = count.packets.sum(axis=0) / room, count.control.sum(axis=0) / room
    edges = np.minimum(np.arange(data.size + 1) * count.slots, slots)
    axes.stairs(data, edges, fill=True, color=sequential()(1.0), linewidth=0)
    axes.stairs(data + control, edges, baseline=data, fill=True, color=CONTROL_COLOR, linewidth=0)
    most = float((data + control).max())
    top = min(level for level in (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0) if level >= min(most, 1.0))
    axes.set(xlim=(0, slots), ylim=(0, top), xticks=[])
    axes.set_yticks([0, top / 2, top], ["0", f"{50 * top:g}", f"{100 * top:g} %"])
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=FAINT, linewidth=0.5)


def _label_rows(axes: Any, figure: Any, sheet: OccupancySheet, image_height: float, bottom: float) -> None:
    """Name the groups of links, and each link where there is room."""
    count = sheet.counts
    rows = len(count.packets)
    axes.set_yticks([])
    inner = 0.0
    if sheet.line_names:
        axes.set_yticks(np.arange(rows) + 0.5, sheet.line_names, fontsize=7, parse_math=False)
        inner = 0.1 + max(_inches(name, 7) for name in sheet.line_names)
    for name, middle in _placed_groups(sheet, image_height):
        x, y = (sheet.left - inner - 0.08) / sheet.width, (bottom + image_height - middle) / sheet.height
        write(figure, x, y, name, 8, ha="right", va="center")
    write(figure, 0.2 / sheet.width, (bottom + image_height / 2) / sheet.height, _row_axis(sheet), 8.5, rotation=90,
          ha="center", va="center")  # fmt: skip


def _placed_groups(sheet: OccupancySheet, high: float) -> list[tuple[str, float]]:
    """Return the names of groups that have room, with their inches from the top of the image."""
    pitch = high / max(len(sheet.counts.packets), 1)
    free, placed = -1.0, []
    if not sheet.group_names:
        return []
    for name, (_, first, size) in zip(sheet.group_names, sheet.counts.groups, strict=True):
        middle = (first + size / 2) * pitch
        if middle - free >= 0.14:
            free = middle
            placed.append((name, middle))
    return placed


def _skipped(sheet: OccupancySheet, high: float) -> int:
    return len(sheet.group_names) - len(_placed_groups(sheet, high))


def _row_axis(sheet: OccupancySheet) -> str:
    count = sheet.counts
    most = -(-len(count.row_of) // max(len(count.packets), 1))
    return "links" if len(count.row_of) == len(count.packets) else f"links, about {most} to a row"


def _slot_axis(schedule: Schedule, count: Occupancy) -> str:
    if isinstance(schedule.cost, Clock):
        return f"time, {time_unit(schedule)[1]}"
    label = "slot" if count.slots == 1 else f"slot, {count.slots} to a column"
    lengths = {p.slot_length for p in schedule.phases if p.slots}
    if len(lengths) == 1 and lengths != {1}:
        label += f" (of {_steps(lengths.pop())})"
    return label


def _steps(length: Fraction) -> str:
    return f"{length} step" if 0 < length <= 1 else f"{length} steps"


def _notes(schedule: Schedule, count: Occupancy, missing: int, note: str = "") -> list[str]:
    notes = ["Top: share of all links' capacity in use.", *([note] if note else [])]
    symmetry = schedule.symmetry
    if symmetry is not None:
        notes.append(f"Invariant schedule: a row is an orbit of {quantity(symmetry.order, 'link')}, used alike.")
    if count.binned:
        notes.append("A cell is the mean over its links and slots.")
    if count.control.any() and (count.control * count.packets).any():
        notes.append("Cells with both kinds of packets have the color of the more frequent.")
    if missing:
        notes.append(f"{quantity(missing, 'phase')} too short to be named.")
    return notes


# -- phases and key ------------------------------------------------------------------------------------------


def _phase_names(schedule: Schedule, span: float) -> tuple[list[tuple[Phase, int]], int]:
    """Return the phases whose names find room above the strip, each with its level, and how many do not."""
    phases = [p for p in schedule.phases if p.slots]
    if len(phases) < 2:
        return [], 0
    lengths = {p.slot_length for p in phases}
    ends = [-1.0] * _LEVELS
    placed: list[tuple[Phase, int]] = []
    for phase in phases:
        name = phase.name if len(lengths) == 1 else f"{phase.name} ({_steps(phase.slot_length)} each)"
        x, wide = phase.first_slot / schedule.slot_count * span, text_width(name, 7.5) + 0.12
        x = min(x, span - wide)
        level = next((k for k in range(_LEVELS) if ends[k] <= x + 1e-9), None)
        if level is not None and x >= 0:
            ends[level] = x + wide
            placed.append((replace(phase, name=name), level))
    return placed, len(phases) - len(placed)


def _paint_phases(strip: Any, image: Any, schedule: Schedule, labels: list[tuple[Phase, int]], span: float) -> None:
    starts = [p.first_slot for p in schedule.phases if p.slots][1:]
    if len(starts) <= 60:
        for axes in (strip, image):
            for start in starts:
                axes.axvline(start, color=INK, linewidth=0.8, zorder=3)
    for phase, level in labels:
        rise = 1.06 + level * _PITCH / _STRIP
        x = phase.first_slot / schedule.slot_count
        wide = (text_width(phase.name, 7.5) + 0.12) / span
        at = min(x, 1 - wide)
        write(strip, at + 0.04 / span, rise, phase.name, 7.5, transform=strip.transAxes, va="bottom", clip_on=False,
              bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6})  # fmt: skip
        if phase.first_slot:
            strip.plot([x, x], [1, rise + 0.8 * _PITCH / _STRIP], transform=strip.transAxes, color=INK, linewidth=0.8,
                       clip_on=False)  # fmt: skip


def _paint_key(figure: Any, scale: Any, sheet: OccupancySheet, foot: float) -> None:
    """Explain the colors: a scale where shares occur, single patches where links are just used or not."""
    width, height, count = sheet.width, sheet.height, sheet.counts
    x, y, tall = float(sheet.left), foot + 0.22, 0.11
    patches = []
    used = count.share[count.packets > 0]
    origin = sheet.origins is not None
    if origin or (used.size and not (used == 1).all()):
        words = ("the node where the packet began", "origin") if origin else ("of the capacity in use", "of capacity")
        fits = [(left, long, text, size) for text in words for left, long, size in
                ((x, 1.8, 8.5), (0.3, 1.8, 8.5), (0.3, 1.2, 7.0), (0.3, 0.9, 7.0))
                if left + long + 0.2 + _inches(text, size) < width - 0.1]  # fmt: skip
        x, long, text, size = fits[0] if fits else (0.3, 0.7, words[1], 7.0)
        axes = figure.add_axes((x / width, y / height, long / width, tall / height))
        bar = figure.colorbar(scale, cax=axes, orientation="horizontal", ticks=_key_ticks(sheet))
        bar.outline.set_visible(False)
        if not origin:
            bar.ax.set_xticklabels(["0", "50", "100 %"])
        bar.ax.tick_params(labelsize=7.5, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
        write(figure, (x + long + 0.18) / width, (y + tall / 2) / height, text, size, va="center")
        x += long + 0.3 + _inches(text, size) + 0.25
    else:
        patches.append((scale.to_rgba(1.0), "packet"))
    if count.control.any():
        patches.append((CONTROL_COLOR, "control packet"))
    for color, text in patches:
        if x + 0.24 + _inches(text, 8.5) > width - 0.05:
            x, y = 0.3, y + 0.16
        axes = figure.add_axes((x / width, y / height, 0.16 / width, tall / height), facecolor=color)
        axes.set(xticks=[], yticks=[])
        for side in axes.spines.values():
            side.set_visible(False)
        write(figure, (x + 0.24) / width, (y + tall / 2) / height, text, va="center")
        x += 0.24 + _inches(text, 8.5) + 0.3


def _key_ticks(sheet: OccupancySheet) -> list[float]:
    """Return where the scale has numbers."""
    if sheet.origins is None:
        return [0, 0.5, 1]
    last = sheet.origins.nodes - 1
    narrow = sheet.dress.width is not None and sheet.dress.width < 5
    return [float(v) for v in (range(last + 1) if last < _EACH and not narrow else sorted({0, last // 2, last}))]
