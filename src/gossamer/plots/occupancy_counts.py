"""Hops counted by links and slots, in bins that a picture can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.plots.link_groups import link_groups
from gossamer.schedules import CONTROL, Schedule

__all__ = ["COLUMNS", "ROWS", "Counts", "Occupancy", "Origins", "occupancy", "origins"]

Counts = npt.NDArray[np.int64]

ROWS, COLUMNS = 600, 900
"""The most rows and columns; more links or slots share them."""
_CHUNK = 10_000_000


@dataclass(frozen=True, eq=False)
class Occupancy:
    """Hops counted by links and slots.

    Attributes
    ----------
    packets, control : int64[R, C]
        Hops of message packets, and of control packets, on the links of a row in the slots of a column, each in all
        slots in which it occupies its link. Of an invariant schedule the stored hops on each orbit of links.
    room : int64[R, C]
        Hops for which there is capacity.
    groups : tuple of (str, int, int)
        Name, first row and number of rows of each group of links, from top to bottom.
    row_of : int64[lines]
        Row of each link, or of each orbit of links.
    slots : int
        Slots in a column (the last one may have fewer).
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

    Notes
    -----
    O(hops + links + bins). Of an invariant schedule the lines are the orbits of links, and nothing is expanded.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> count = occupancy(s)
    >>> count.groups, count.packets.tolist()
    ((('dim 0 +', 0, 2), ('dim 0 −', 2, 2)), [[1, 0], [0, 1], [0, 0], [0, 0]])
    """
    network, symmetry = schedule.network, schedule.symmetry
    known = link_groups(network)
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

    Examples
    --------
    >>> import gossamer
    >>> s = gossamer.plan("array:3", "total-exchange").schedule
    >>> origins(s, occupancy(s)).node.astype(int).tolist()
    [[0, 0], [1, 0], [1, 2], [2, 2]]
    """
    symmetry = schedule.symmetry
    line = schedule.link if symmetry is None else symmetry.link_orbit(schedule.link)
    node = np.zeros(count.packets.shape)
    if schedule.packets.count:
        mine = schedule.packet != CONTROL
        began = schedule.packets.origin[schedule.packet[mine]]
        node[count.row_of[line[mine]], schedule.slot[mine] // count.slots] = began
    return Origins(node, schedule.network.terminal_count)
