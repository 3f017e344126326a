"""Lock-step movement: items travel leg by leg, and of those that want one link the farthest goes first.

An *item* is one copy of a packet. A move of a packet that is copied on the way is given as several rows of
`ItemMoves` with the same packet number: row j with ``after[j] = i`` and ``after_hops[j] = k`` is a copy that row i
leaves behind once it has made k hops; row j then starts there, in the next step, with its own legs (none, if it stays
there). Copies that part at the start are rows of their own, without `after`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.schedules.hop_sinks import Chunk, Sink

__all__ = ["ItemMoves", "Leg", "LockStep", "Rank", "legs_between", "moves_along"]

# Conventions: an *item* is one copy of a packet, at ``node[i]``. ``links`` is the table of `grid_links`, flat: the link
# from node u up axis a has the entry ``(u*axes + a)*2``, the one down the next. The engine stops before a step that
# might not fit the columns and can be called again; ``clock`` keeps where it is: steps done, active entries, stamp of
# the last step.

_ON_LEG, _IN_ALL = 2, 3
"""Columns of the rows by which items that want one link are ranked: the hops left on the leg, and on all legs."""


@njit(cache=True, nogil=True, small=100_000)
def _advance(
    clock, rows, far, node, packet, axis, hops, not_before, first_child, next_child, child_after, links, axes,
    strides, around, link_target, best, want, woken, step, link, carried,
):  # fmt: skip
    """Move items along their legs in lock step while hops fit the columns; return the hops written, or -1.

    -1 means that an item would leave the network. `rows` int32[M, 8] are the active items: node, way (twice the axis,
    and 1 if down), hops left on the leg and in all, packet, item, leg, hops made; the first rows are made by `depart`.
    Who has the most in column `far` of them, `ON_LEG` or `IN_ALL`, goes first. `strides` int32[2*axes] says by how
    much a hop each way changes the node's number, unless the network may lead `around` a ring. `best` int64[L] has the
    stamp of a link's last use and the row that won it then. `node` gets where items end.
    """
    count, filled, legs = clock[1], 0, hops.shape[1]
    gated, copied = not_before.size > 0, first_child.size > 0
    while count > 0 and filled + count <= step.size:
        t = clock[0] + 1
        clock[2] += 1
        tick = clock[2]
        stamp = tick << 32
        for j in range(count):
            if gated and rows[j, 2] == 1 and not_before[rows[j, 5], rows[j, 6]] > t:
                want[j] = -1
                continue
            ln = links[rows[j, 0] * (2 * axes) + rows[j, 1]]
            if ln < 0:
                return -1
            want[j] = ln
            b = best[ln]
            if b >> 32 == tick:
                o = b & 0x7FFFFFFF
                ahead = rows[j, far] - rows[o, far]
                if ahead == 0:
                    ahead = rows[o, 4] - rows[j, 4]
                if ahead == 0:
                    ahead = rows[o, 5] - rows[j, 5]
                if ahead < 0:
                    continue
            best[ln] = stamp | j
        kept, new = 0, 0
        for j in range(count):
            ln = want[j]
            if ln >= 0 and best[ln] == stamp | j:
                step[filled], link[filled], carried[filled] = clock[0], ln, rows[j, 4]
                filled += 1
                rows[j, 0] = link_target[ln] if around else rows[j, 0] + strides[rows[j, 1]]
                rows[j, 2] -= 1
                rows[j, 3] -= 1
                rows[j, 7] += 1
                if copied:
                    i = rows[j, 5]
                    c = first_child[i]
                    while c >= 0 and child_after[c] == rows[j, 7]:
                        node[c] = rows[j, 0]
                        woken[new] = c
                        new += 1
                        c = next_child[c]
                    first_child[i] = c
                if rows[j, 3] == 0:
                    node[rows[j, 5]] = rows[j, 0]
                    continue
                if rows[j, 2] == 0:
                    i, g = rows[j, 5], rows[j, 6] + 1
                    while g < legs and hops[i, g] == 0:
                        g += 1
                    rows[j, 1] = 2 * axis[i, g] + (1 if hops[i, g] < 0 else 0)
                    rows[j, 2] = abs(hops[i, g])
                    rows[j, 6] = g
            if kept != j:
                for k in range(8):
                    rows[kept, k] = rows[j, k]
            kept += 1
        for j in range(new):
            kept = _depart(rows, kept, node, packet, axis, hops, woken[j])
        count = kept
        clock[0], clock[1] = t, count
    return filled


@njit(cache=True, nogil=True, small=100_000)
def _depart(rows, count, node, packet, axis, hops, i):
    """Add item i to the active rows if it has hops to make; return their number."""
    total, leg = 0, -1
    for g in range(hops.shape[1] - 1, -1, -1):
        if hops[i, g] != 0:
            total += abs(hops[i, g])
            leg = g
    if leg < 0:
        return count
    rows[count, 0], rows[count, 1] = node[i], 2 * axis[i, leg] + (1 if hops[i, leg] < 0 else 0)
    rows[count, 2], rows[count, 3] = abs(hops[i, leg]), total
    rows[count, 4], rows[count, 5], rows[count, 6], rows[count, 7] = packet[i], i, leg, 0
    return count + 1


@njit(cache=True, nogil=True, small=100_000)
def _departures(rows, node, packet, axis, hops, parent):
    """Make the rows of all items that start at once; return their number."""
    count = 0
    for i in range(node.size):
        if parent.size == 0 or parent[i] < 0:
            count = _depart(rows, count, node, packet, axis, hops, i)
    return count


# The engine of lock-step movement on an array or torus, whose hops go to a sink.

Rank: TypeAlias = Literal["leg", "route"]
"""Whether the farthest is the one with most hops to the end of its leg, or to the end of its route."""


@dataclass(eq=False)
class ItemMoves:
    """What travels in one phase, one row an item. Legs are made in the order of their columns; 0 hops: no leg.

    * `packet` (int32[M]): packet of each row.
    * `start` (int32[M]): where it is before the move; of a row with `after`, anything.
    * `axis` (int8[M, L]): axis of each leg.
    * `hops` (int32[M, L]): hops of each leg, negative towards smaller coordinates.
    * `not_before` (int32[M, L]): earliest step, counted from 1 in this move, in which the last hop of the leg may be
      made; 0: any.
    * `after`, `after_hops` (int32[M]): row that leaves this copy behind (-1: none), and its own hops before, at least
      1.
    """

    packet: IntArray
    start: IntArray
    axis: npt.NDArray[np.int8]
    hops: IntArray
    not_before: IntArray | None = None
    after: IntArray | None = None
    after_hops: IntArray | None = None


class LockStep:
    """Moves items on an array or torus, phase by phase, and hands their hops to a sink.

    `network` (Network): an array or torus. `sink` (Sink): where the hops go.

    `network`, `sink`: as given. `links` (int32[N * d * 2]): the link from each node up and down along each axis, -1
    where an array ends.
    """

    def __init__(self, network: Network, sink: Sink) -> None:
        self.network = network
        self.sink = sink
        self.links = grid_links(network).reshape(-1)
        grid = network.grid
        assert grid is not None  # or there were no table of links
        self._strides = np.array([way * stride for stride in grid.strides for way in (1, -1)], np.int32)
        self._around = any(grid.wraps)
        self._best = np.zeros(network.link_count, np.int64)
        self._tick = 0

    def move(
        self, moves: ItemMoves, name: str, *, rank: Rank = "route", guaranteed: int | None = None
    ) -> tuple[IntArray, int]:
        """Make one phase in which every row travels to the end of its legs.

        * `moves` (ItemMoves): what travels.
        * `name` (str): of the phase.
        * `rank` ({"route", "leg"}): who goes first over a link that several want: the one with most hops to the end of
          its route, or of its leg; of equal ones the smallest packet number.
        * `guaranteed` (int): steps that the phase takes at most, whatever the instance.

        Returns: `node` (int32[M]): where each row ends. `steps` (int): steps of the phase. Raises `ScheduleError` if a
        leg leaves the array.

        In each step each directed link carries one packet. O(hops + waits).

        Two packets meet on a line; the one with farther to go crosses the common link first.

        >>> import gossamer
        >>> from gossamer.schedules.hop_sinks import RecordingSink
        >>> engine = LockStep(gossamer.network("array:4"), RecordingSink())
        >>> node = np.array([0, 1], np.int32)
        >>> moves = ItemMoves(node, node, np.zeros((2, 1), np.int8), np.array([[3], [1]], np.int32))
        >>> ends, steps = engine.move(moves, "move")
        >>> ends.tolist(), steps
        ([3, 2], 3)
        """
        node = moves.start.astype(np.int32)
        steps = self.sink.phase(name, self._chunks(moves, node, name, rank), guaranteed=guaranteed)
        return node, steps

    def _chunks(self, moves: ItemMoves, node: IntArray, name: str, rank: Rank) -> Iterator[Chunk]:
        """Yield the hops; `node` becomes where the rows end."""
        network, rows = self.network, moves.packet.size
        none = np.zeros(0, np.int32)
        hops, axis = np.ascontiguousarray(moves.hops, np.int32), np.ascontiguousarray(moves.axis, np.int8)
        parent, after = moves.after, moves.after_hops
        first_child = next_child = child_after = woken = none
        if parent is not None and after is not None and bool((parent >= 0).any()):
            child_after = after.astype(np.int32)
            first_child, next_child = _children(parent, child_after)
            woken = np.empty(rows, np.int32)
        active = np.empty((rows, 8), np.int32)
        count = _departures(active, node, moves.packet, axis, hops, none if parent is None else parent)
        clock = np.array([0, count, self._tick], np.int64)
        want = np.empty(rows, np.int32)
        gates = np.zeros((0, 0), np.int32) if moves.not_before is None else moves.not_before.astype(np.int32)
        size = int(np.abs(hops).sum(dtype=np.int64))
        if self.sink.chunk_hops is not None:
            size = min(size, max(self.sink.chunk_hops, rows))
        while clock[1]:
            columns = self.sink.columns(size)
            filled = _advance(
                clock, active, _ON_LEG if rank == "leg" else _IN_ALL, node, moves.packet, axis, hops,
                gates, first_child, next_child, child_after, self.links, self._strides.size // 2, self._strides,
                self._around, network.link_target, self._best, want, woken, *columns,
            )  # fmt: skip
            if filled < 0:
                raise ScheduleError(f"{name}: a packet would leave {network.spec}")
            yield columns[0][:filled], columns[1][:filled], columns[2][:filled]
        self._tick = int(clock[2])


def _children(parent: IntArray, after: IntArray) -> tuple[IntArray, IntArray]:
    """Return the list of the copies that each row leaves behind, in the order of their hops: its head and links."""
    first, following = np.full(parent.size, -1, np.int32), np.full(parent.size, -1, np.int32)
    copies = np.flatnonzero(parent >= 0)
    copies = copies[np.lexsort((after[copies], parent[copies]))].astype(np.int32)
    of = parent[copies]
    starts = np.r_[True, of[1:] != of[:-1]]
    first[of[starts]] = copies[starts]
    following[copies[:-1]] = np.where(starts[1:], -1, copies[1:])
    return first, following


# Legs: how far packets go along one axis after the other.

Leg: TypeAlias = tuple[int, IntArray]
"""An axis, and how far each packet goes along it: int32[m], negative for down."""


def legs_between(grid: Grid, start: IntArray, end: IntArray, axes: Sequence[int]) -> list[Leg]:
    """Return the legs of shortest paths from nodes to nodes that correct the coordinates in the given order.

    Half way around a ring, packets at even coordinates go up and those at odd ones down.

    * `grid` (Grid): of the network.
    * `start`, `end` (int32[m]): nodes.
    * `axes` (sequence of int): dimensions, each at most once.

    >>> from gossamer.networks import torus
    >>> for axis, hops in legs_between(torus(4, 6).grid, np.array([0, 1]), np.array([5, 10]), [1, 0]):
    ...     print(axis, hops.tolist())
    1 [-1, -3]
    0 [0, 1]
    """
    legs = []
    for axis in axes:
        side, stride = grid.sides[axis], grid.strides[axis]
        hops = end // stride % side - start // stride % side
        if grid.wraps[axis]:
            up = hops % side
            hops = np.where(2 * up + start // stride % side % 2 > side, up - side, up)
        legs.append((axis, hops.astype(np.int32)))
    return legs


def moves_along(node: IntArray, legs: Sequence[Leg]) -> ItemMoves:
    """Return the moves of packets 0..m-1 from the given nodes, int32[m], over their legs."""
    packet = np.arange(node.size, dtype=np.int32)
    axis = np.broadcast_to(np.array([axis for axis, _ in legs], np.int8), (node.size, len(legs)))
    hops = np.stack([hops for _, hops in legs], axis=1)
    return ItemMoves(packet, node, axis, hops)
