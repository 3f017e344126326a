"""Smoothing: spread the items of every region until no node holds more than one (Han 1990, sections 3.3 and 4.6).

The nodes of a region first count (control packets), then balance the rows along all axes but the last one by the eager
rule, then spread the columns along the last axis. The half with the larger coordinates of the last axis does what the
other one does, turned by 180 degrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.errors import ScheduleError
from gossamer.graphs.lock_step_movement import ItemMoves, LockStep
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case
from gossamer.schedules.hop_sinks import Chunk, Sink
from gossamer.schedules.schedule import CONTROL

__all__ = [
    "MovingItems",
    "PhaseLengths",
    "branch_order",
    "branching",
    "column_bound",
    "count_length",
    "flow_numbers",
    "move",
    "row_bound",
    "row_movement",
    "smooth",
    "smooth_lengths",
]

# The two problems on a line of nodes with full-duplex links (Han 1990, chapter 2). *Row movement* balances a line: all
# nodes end with the mean, rounded down or up. *Column movement* spreads a line whose packets do not outnumber its nodes
# until each node holds at most one. Packets are interchangeable.


def row_bound(b: int, c: int) -> int:
    """Return the steps that row movement takes at most on c nodes with at most b packets each (Theorem 2.1).

    Examples
    --------
    >>> [row_bound(b, 8) for b in (1, 2, 3, 4, 5)]
    [7, 7, 8, 9, 12]
    """
    if c <= 1 or b < 1:
        return 0
    if b % 2:
        return max(c - 1, (b + 1) * c // 4)
    return max(c - 1, b * (b + 2) * c // (4 * (b + 1)))


def column_bound(b: int, r: int) -> int:
    """Return the steps that column movement takes at most on r nodes with at most b packets each (Theorem 2.3).

    Examples
    --------
    >>> column_bound(4, 8), column_bound(2, 8), column_bound(1, 4)
    (6, 4, 1)
    """
    return 0 if r <= 1 or b < 1 else max((r + 1) // 2 - 1, r - 1 - (r - 1) // b)


def flow_numbers(initial: Sequence[int], final: Sequence[int]) -> list[int]:
    """Return how many packets cross the link between nodes k-1 and k, k = 1..c-1: to the right, or left if negative.

    Raises
    ------
    ScheduleError
        If the numbers of packets before and after differ.

    Examples
    --------
    >>> flow_numbers([4, 4, 0, 0], [2, 2, 2, 2])
    [2, 4, 2]
    """
    if len(initial) != len(final) or sum(initial) != sum(final):
        raise ScheduleError(
            f"{sum(initial)} packets on {len(initial)} nodes cannot become {sum(final)} on {len(final)}"
        )
    flows, owed = [], 0
    for before, after in zip(initial[:-1], final[:-1], strict=True):
        owed += before - after
        flows.append(owed)
    return flows


def row_movement(initial: Sequence[int], final: Sequence[int]) -> tuple[int, int]:
    """Make a row movement by the eager rule; return the steps and the most packets that a node holds in between.

    In each step every node that still owes packets to a neighbor, and holds one, sends one.

    Examples
    --------
    >>> row_movement([4, 4, 4, 0, 0, 0, 0, 0], [1, 1, 1, 1, 2, 2, 2, 2])
    (9, 4)
    """
    held, flow = list(initial), flow_numbers(initial, final)
    steps, most = 0, max(held, default=0)
    while any(flow):
        free = list(held)
        for k, owed in enumerate(flow):
            a, b = (k, k + 1) if owed > 0 else (k + 1, k)
            if owed and free[a] > 0:
                free[a] -= 1
                held[a] -= 1
                held[b] += 1
                flow[k] -= 1 if owed > 0 else -1
        steps, most = steps + 1, max(most, *held)
    return steps, most


# Conventions: an *item* is one copy of a packet, at ``node[i]``. ``links`` is the table of `grid_links`, flat: the link
# from node u up axis a has the entry ``(u*axes + a)*2``, the one down the next. Kernels that write hops stop before a
# step that might not fit the columns and can be called again; ``clock`` keeps where they are: steps done, active
# entries, stamp of the last step.


@njit(cache=True, nogil=True, small=100_000)
def _branches(owner, legs, parent, after, offset):
    """Find where each copy of a packet leaves another one, for the copies of each owner in `branch_order`.

    `legs` int32[M, L] are signed hops. Writes `parent` (-1: starts on its own), `after`, hops of the parent before, and
    `offset`, hops of the route that others make for it.
    """
    for i in range(owner.size):
        parent[i], after[i], offset[i] = -1, 0, 0
        if i == 0 or owner[i] != owner[i - 1]:
            continue
        shared = 0
        for g in range(legs.shape[1]):
            a, b = legs[i - 1, g], legs[i, g]
            if a == b:
                shared += abs(a)
                continue
            if (a > 0 and b > 0) or (a < 0 and b < 0):
                shared += min(abs(a), abs(b))
            break
        p = i - 1
        while p >= 0 and shared <= offset[p]:
            p = parent[p]
        if shared > 0 and p >= 0:
            parent[i], after[i], offset[i] = p, shared - offset[p], shared


@njit(cache=True, nogil=True, small=100_000)
def _item_lists(node, head, following):
    """Make the list of the items at each node, in the order of their numbers; `head` must be -1 everywhere."""
    for i in range(node.size - 1, -1, -1):
        following[i] = head[node[i]]
        head[node[i]] = i


@njit(cache=True, nogil=True, small=100_000)
def _row_flows(order, line_first, fresh, held, flow):
    """Write the flow numbers of row movement; return the number of links used and of hops.

    Line l is ``order[line_first[l]:line_first[l+1]]``; `fresh` marks the lines before which nothing is counted. A flow
    at position p is over the link between ``order[p-1]`` and ``order[p]``, positive towards p.
    """
    used, hops, before = 0, 0, 0
    for ln in range(line_first.size - 1):
        a, b = line_first[ln], line_first[ln + 1]
        size = b - a
        if fresh[ln]:
            before = 0
        total = before
        for p in range(a, b):
            total += held[order[p]]
        low, high = before // size, total // size
        below, above = before % size, total % size
        owed = 0
        for p in range(a, b):
            flow[p] = owed
            if owed != 0:
                used += 1
                hops += abs(owed)
            k = p - a
            final = high + (1 if k < above else 0) - low - (1 if k < below else 0)
            owed += held[order[p]] - final
        before = total
    return used, hops


@njit(cache=True, nogil=True, small=100_000)
def _row_steps(
    clock, active, flow, order, node, packet, head, following, links, axes, axis, moving, step, link, carried,
):  # fmt: skip
    """Make row movements by the eager rule on all lines at once; return the hops written."""
    count, filled = clock[1], 0
    while count > 0 and filled + count <= step.size:
        first = filled
        kept = 0
        for j in range(count):
            p = active[j]
            u, v = order[p - 1], order[p]
            if flow[p] < 0:
                u, v = v, u
            i = head[u]
            if i >= 0:
                head[u] = following[i]
                moving[filled - first] = i
                node[i] = v
                step[filled], carried[filled] = clock[0], packet[i]
                link[filled] = links[(u * axes + axis) * 2 + (1 if v < u else 0)]
                filled += 1
                flow[p] += 1 if flow[p] < 0 else -1
            if flow[p] != 0:
                active[kept] = p
                kept += 1
        for j in range(filled - first):
            i = moving[j]
            following[i] = head[node[i]]
            head[node[i]] = i
        count = kept
        clock[0] += 1
        clock[1] = count
        if filled == first:
            return -1
    return filled


@njit(cache=True, nogil=True, small=100_000)
def _column_targets(order, line_first, head, following, hops):
    """Write how far each item goes up or down its line in the column movement; return the hops of all, or -1.

    -1 means that a line has more items than nodes. Item lists as from `item_lists`.
    """
    total = 0
    for ln in range(line_first.size - 1):
        a, b = line_first[ln], line_first[ln + 1]
        middle = a + (b - a) // 2
        target = a
        for p in range(a, middle):
            i = head[order[p]]
            while i >= 0:
                hops[i] = target - p
                total += abs(target - p)
                target += 1
                i = following[i]
        lowest = target
        target = b - 1
        for p in range(b - 1, middle - 1, -1):
            i = head[order[p]]
            while i >= 0:
                hops[i] = target - p
                total += abs(target - p)
                target -= 1
                i = following[i]
        if target < lowest - 1:
            return -1
    return total


# The traffic of move-and-smooth routing: items, the copies that they divide into, and the moves that share routes.


@dataclass(eq=False)
class MovingItems:
    """The items on their way, where they are, and which of them brings each destination its packet.

    Attributes
    ----------
    engine : LockStep
        Moves the items on an array, and hands their hops to a sink.
    packet, node : int32[M]
        Packet of each item, and where it is.
    destination, item : int32[D]
        The destinations of all packets, and the item that goes to each.
    """

    engine: LockStep
    packet: IntArray
    node: IntArray
    destination: IntArray
    item: IntArray

    @classmethod
    def of(cls, case: Case, sink: Sink) -> MovingItems:
        """Return the traffic at the start: one item at each origin, packets numbered as the task's messages."""
        messages = case.messages
        assert messages.target_start is not None
        assert messages.targets is not None
        packet = np.arange(messages.count, dtype=np.int32)
        item = np.repeat(packet, np.diff(messages.target_start))
        origin, destination = messages.origin.astype(np.int32), messages.targets.astype(np.int32)
        return cls(LockStep(case.network, sink), packet, origin, destination, item)

    @property
    def network(self) -> Network:
        """The array."""
        return self.engine.network

    @property
    def sink(self) -> Sink:
        """Where the hops go."""
        return self.engine.sink

    @property
    def sides(self) -> tuple[int, ...]:
        """Sides of the array."""
        assert self.network.grid is not None
        return self.network.grid.sides

    def coordinate(self, nodes: IntArray, axis: int) -> IntArray:
        """Return the coordinate of nodes along an axis, int32."""
        assert self.network.grid is not None
        return nodes // np.int32(self.network.grid.strides[axis]) % np.int32(self.sides[axis])

    def held(self) -> npt.NDArray[np.int32]:
        """Return the number of items at each node, int32[N]."""
        return np.bincount(self.node, minlength=self.network.node_count).astype(np.int32)

    def divide(self, part: IntArray) -> tuple[IntArray, IntArray]:
        """Make one copy of every item for each part that it has destinations in.

        Parameters
        ----------
        part : int32[D]
            A number for each destination, 0 or more: the part of the region in which it lies.

        Returns
        -------
        old : int32[M']
            The item of which each new item is a copy. New items are in the order of (old, part).
        part : int32[M']
            The part that each new item goes to.

        Notes
        -----
        Changes `packet`, `node` and `item`. O(D), or O(D log D) if packets have several destinations.
        """
        if self.destination.size == self.packet.size:  # one destination each
            of_item = np.empty_like(self.item)
            of_item[self.item] = part
            return np.arange(self.packet.size, dtype=np.int32), of_item
        key = self.item * (np.int64(part.max(initial=0)) + 1) + part
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        old = self.item[first]
        self.item = place.astype(np.int32)
        self.packet, self.node = self.packet[old], self.node[old]
        return old, part[first].astype(np.int32)

    def arrange(self, order: npt.NDArray[np.intp]) -> None:
        """Renumber the items: item ``order[i]`` becomes item i."""
        place = np.empty(order.size, np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        self.packet, self.node, self.item = self.packet[order], self.node[order], place[self.item]


def branch_order(owner: IntArray, hops: IntArray) -> npt.NDArray[np.intp]:
    """Return the order of rows in which the copies of one owner that share most of their routes are neighbors.

    Parameters
    ----------
    owner : int32[M]
        The item of which each row is a copy.
    hops : int32[M, L]
        Hops of each leg; the axis of a leg is the same in all rows.

    Examples
    --------
    >>> branch_order(np.zeros(3, np.int32), np.array([[0, 1], [2, 0], [2, 1]])).tolist()
    [2, 1, 0]
    """
    keys: list[npt.NDArray[Any]] = []
    for leg in hops.T[::-1]:
        keys += [-np.abs(leg), np.where(leg > 0, 0, np.where(leg < 0, 1, 2))]
    return np.lexsort((*keys, owner))


def branching(packet: IntArray, start: IntArray, owner: IntArray, axes: tuple[int, ...], hops: IntArray) -> ItemMoves:
    """Return moves in which the copies of one owner travel as one as far as their routes agree.

    Parameters
    ----------
    packet, start, owner : int32[M]
        Packet, node and owner of each row; rows of one owner must be neighbors in `branch_order`.
    axes : tuple of int, L
        The axis of each leg.
    hops : int32[M, L]
        Hops of each leg.

    Examples
    --------
    A packet for two other quarters of a 2 x 2 array, one below the other: the copy for node 3 leaves at node 2.

    >>> rows = np.zeros(2, np.int32)
    >>> moves = branching(rows, rows, rows, (0, 1), np.array([[1, 1], [1, 0]], np.int32))
    >>> moves.after.tolist(), moves.after_hops.tolist(), moves.hops.tolist()
    ([-1, 0], [0, 1], [[1, 1], [0, 0]])
    """
    axis = np.broadcast_to(np.array(axes, np.int8), hops.shape)
    if not bool((owner[1:] == owner[:-1]).any()):
        return ItemMoves(packet, start, axis, hops)
    parent, after, offset = (np.empty(owner.size, np.int32) for _ in range(3))
    _branches(owner, hops, parent, after, offset)
    far = np.abs(hops)
    done = np.cumsum(far, axis=1) - far  # before each leg
    left = far - np.clip(offset[:, None] - done, 0, far)
    return ItemMoves(packet, start, axis, (np.sign(hops) * left).astype(np.int32), None, parent, after)


def move(traffic: MovingItems, moves: ItemMoves, name: str = "move", guaranteed: int | None = None) -> int:
    """Make one move step: row i of `moves`, which is item i, travels to the end of its legs. Return the steps.

    The item with most hops to its end goes first, of equal ones the smallest packet number.
    """
    traffic.node, steps = traffic.engine.move(moves, name, guaranteed=guaranteed)
    return steps


@dataclass(frozen=True)
class PhaseLengths:
    """Steps of the phases of one smoothing: counting, the row movements, the column movement."""

    count: int
    rows: tuple[int, ...]
    column: int

    @property
    def data(self) -> int:
        """Steps in which packets of messages travel."""
        return sum(self.rows) + self.column


def count_length(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Return the steps of the counting waves in a region (Lemmas 3.1, 4.1 and 4.4).

    >>> count_length((8, 8), (1, 0)), count_length((8, 4), (1, 0)), count_length((1, 1), (1, 0))
    (10, 6, 0)
    """
    return sum(shape[a] - 1 for a in axes[:-1]) + (shape[axes[-1]] + 1) // 2 - 1


def smooth_lengths(regions: Regions, axes: tuple[int, ...], b: int) -> PhaseLengths:
    """Return the steps that smoothing takes at most from b items a node.

    Parameters
    ----------
    regions : Regions
        Regions with at most as many items as nodes each.
    axes : tuple of int
        Row movements go along all but the last, in this order, the column movement along the last.
    b : int
        The most items at a node before.

    Examples
    --------
    >>> smooth_lengths(Regions.whole((8, 8)), (1, 0), 4)
    PhaseLengths(count=10, rows=(9,), column=6)
    """
    shapes = regions.shapes()
    return PhaseLengths(
        max(count_length(shape, axes) for shape in shapes),
        tuple(max(row_bound(b, size) for size in regions.sizes(a)) for a in axes[:-1]),
        max(column_bound(b, size) for size in regions.sizes(axes[-1])),
    )


def smooth(
    traffic: MovingItems, regions: Regions, axes: tuple[int, ...], b: int, lengths: PhaseLengths | None = None
) -> PhaseLengths:
    """Smooth every region: afterwards no node holds more than one item. Return the actual lengths of the phases.

    Parameters
    ----------
    traffic : MovingItems
        At most b items at a node, and in no region more items than nodes.
    regions : Regions
        Of any sizes.
    axes : tuple of int
        All axes: row movements go along all but the last, in this order, the column movement along the last.
    b : int
        The most items at a node.
    lengths : PhaseLengths, optional
        Guaranteed lengths of the phases; default `smooth_lengths`.

    Raises
    ------
    ScheduleError
        If a node holds more than b items, or a region more than it has nodes.

    Notes
    -----
    Phases ``count``, ``row`` (with two rows or more numbered from 1) and ``column``, each with the largest region's
    sides. With u items in the half with the smaller coordinates along the last axis and v in the other, those at the
    first u and the last v nodes of the region hold one afterwards (nodes in the order of the axes, the last axis most
    significant). No node ever holds more than b items. O(hops + N log N) time.

    References
    ----------
    Han 1990, sections 3.3 (Lemmas 3.1-3.5, Theorem 3.2) and 4.6.2.

    Examples
    --------
    Four packets at the corner of a 2 x 2 array.

    >>> import gossamer
    >>> from gossamer.questions.cases import Case
    >>> from gossamer.schedules.hop_sinks import RecordingSink
    >>> case = Case(gossamer.network("array:2x2"), gossamer.task("permutation", destination=[0, 1, 2, 3]))
    >>> traffic = MovingItems.of(case, RecordingSink())
    >>> traffic.node[:] = 0
    >>> smooth(traffic, Regions.whole((2, 2)), (1, 0), 4)
    PhaseLengths(count=1, rows=(2,), column=1)
    >>> sorted(traffic.node.tolist())
    [0, 1, 2, 3]
    """
    most = int(traffic.held().max(initial=0))
    if most > b:
        raise ScheduleError(f"smoothing for {b} packets at a node meets {most} packets at one")
    lengths = lengths or smooth_lengths(regions, axes, b)
    label = "x".join(map(str, regions.largest))
    # counting: every node learns how many items come before it (3.3, Lemma 3.1)
    if lengths.count:
        traffic.sink.phase(f"count {label}", _count(traffic, regions, axes), length=lengths.count, control=True)
    # row movements: every row of a half gets its share, rounded down or up (3.3, Lemmas 3.2 and 3.3)
    rows = []
    for j, axis in enumerate(axes[:-1]):
        number = f" {j + 1}" if len(axes) > 2 else ""
        leading, following = axes[:j], (*axes[: j - len(axes) : -1], axis)
        chunks = _balance(traffic, regions, leading, following, axes[-1])
        rows.append(traffic.sink.phase(f"row{number} {label}", chunks, guaranteed=lengths.rows[j]))
    # column movement: at most one item stays at a node (3.3, Lemma 3.4)
    column = _spread(traffic, regions, axes, f"column {label}", lengths.column)
    return PhaseLengths(lengths.count, tuple(rows), column)


def _count(traffic: MovingItems, regions: Regions, axes: tuple[int, ...]) -> Iterator[Chunk]:
    """Yield the control hops of the counting waves.

    Along each axis but the last, waves go both ways as soon as the lines along the axis before are counted; along the
    last, one wave goes away from the outer border of each half.
    """
    network = traffic.network
    assert network.grid is not None
    links = traffic.engine.links.reshape(network.node_count, -1, 2)
    sides = network.grid.sides
    known = np.zeros((1,) * len(sides), np.int32)  # when a node knows the total of its line
    found = []
    for a in axes:
        shape = [(-1 if b == a else 1) for b in range(len(sides))]
        low = np.arange(sides[a], dtype=np.int32) - regions.first(a)
        high = regions.size(a) - 1 - low
        if a == axes[-1]:
            upper, lower = regions.size(a) // 2, (regions.size(a) + 1) // 2
            waves = ((low, (low < upper - 1), 0), (high, (high < lower - 1), 1))
        else:
            waves = ((low, high > 0, 0), (high, low > 0, 1))
        for when, sends, way in waves:
            step = np.broadcast_to(known + when.reshape(shape), sides).reshape(-1)
            sender = np.flatnonzero(np.broadcast_to(sends.reshape(shape), sides).reshape(-1))
            found.append((step[sender], links[sender, a, way]))
        known = known + np.maximum(low, high).reshape(shape)
    step = np.concatenate([f[0] for f in found])
    link = np.concatenate([f[1] for f in found])
    order = np.argsort(step.astype(np.int16) if step.max(initial=0) < 2**15 else step, kind="stable")
    columns = traffic.sink.columns(order.size)
    columns[0][:], columns[1][:], columns[2][:] = step[order], link[order], CONTROL
    yield columns


def _balance(
    traffic: MovingItems, regions: Regions, leading: tuple[int, ...], following: tuple[int, ...], last: int
) -> Iterator[Chunk]:
    """Yield the hops of a row movement along the last axis of `following`; change where the items are."""
    network, axis = traffic.network, following[-1]
    order, line_first, fresh = regions.ordered(leading, following, last)
    flow = np.zeros(order.size, np.int32)
    used, hops = _row_flows(order, line_first, fresh, traffic.held(), flow)
    active = np.flatnonzero(flow).astype(np.int32)
    head = np.full(network.node_count, -1, np.int32)
    following_item = np.empty(traffic.node.size, np.int32)
    _item_lists(traffic.node, head, following_item)
    clock = np.array([0, used], np.int64)
    size = hops
    if traffic.sink.chunk_hops is not None:
        size = min(hops, max(traffic.sink.chunk_hops, used))
    moving = np.empty(used, np.int32)
    node = traffic.node.copy()
    traffic.node = node
    while clock[1]:
        columns = traffic.sink.columns(size)
        filled = _row_steps(
            clock, active, flow, order, node, traffic.packet, head, following_item, traffic.engine.links,
            len(traffic.sides), axis, moving, *columns,
        )  # fmt: skip
        if filled < 0:
            raise ScheduleError("row movement stands still: a line has no packets to send")
        yield columns[0][:filled], columns[1][:filled], columns[2][:filled]


def _spread(traffic: MovingItems, regions: Regions, axes: tuple[int, ...], name: str, guaranteed: int) -> int:
    """Make the column movement along the last axis."""
    order, line_first, _ = regions.ordered(axes[:-1], axes[-1:], None)
    head = np.full(traffic.network.node_count, -1, np.int32)
    following = np.empty(traffic.node.size, np.int32)
    _item_lists(traffic.node, head, following)
    hops = np.zeros((traffic.node.size, 1), np.int32)
    if _column_targets(order, line_first, head, following, hops.reshape(-1)) < 0:
        raise ScheduleError("column movement: a line has more packets than nodes")
    axis = np.full(hops.shape, axes[-1], np.int8)
    return move(traffic, ItemMoves(traffic.packet, traffic.node, axis, hops), name, guaranteed)
