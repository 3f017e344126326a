"""The move engine: items travel leg by leg in lock-step, and whoever has farthest to go crosses a link first.

An *item* is one copy of a packet. A move of a packet that is copied on the way is given as several rows of `Moves` with
the same packet number: row j with ``after[j] = i`` and ``after_hops[j] = k`` is a copy that row i leaves behind once it
has made k hops; row j then starts there, in the next step, with its own legs (none, if it stays there). Copies that
part at the start are rows of their own, without `after`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.tasks import Task

__all__ = ["Moves", "Sink", "Traffic", "branch_order", "branching", "move"]

Chunk: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Step within the phase (from 0, ascending), link and packet of some hops."""


class Sink(Protocol):
    """What takes the hops of the phases, one phase after the other."""

    chunk_hops: int | None
    """The most hops it wants at a time, None for a phase at once."""

    def columns(self, size: int) -> Chunk:
        """Return columns in which the next chunk is written, from the first row on."""
        ...

    def phase(self, name: str, chunks: Iterator[Chunk], guaranteed: int | None, control: bool) -> int:
        """Take the chunks of a phase to the end, and return the number of its steps.

        Each chunk is the beginning of the columns that were asked for last.
        """
        ...


@dataclass(eq=False)
class Traffic:
    """The items on their way, where they are, and which of them brings each destination its packet.

    Attributes
    ----------
    network : Network
        An array.
    sink : Sink
        Where the hops go.
    packet, node : int32[M]
        Packet of each item, and where it is.
    destination, item : int32[D]
        The destinations of all packets, and the item that goes to each.
    """

    network: Network
    sink: Sink
    packet: IntArray
    node: IntArray
    destination: IntArray
    item: IntArray
    links: IntArray = field(repr=False)
    strides: IntArray = field(repr=False)
    best: npt.NDArray[np.int64] = field(repr=False)
    tick: int = 0

    @classmethod
    def of(cls, network: Network, task: Task, sink: Sink) -> Traffic:
        """Return the traffic at the start: one item at each origin, packets numbered as the task's messages."""
        messages = task.messages(network)
        assert network.grid is not None
        assert messages.target_start is not None
        assert messages.targets is not None
        packet = np.arange(messages.count, dtype=np.int32)
        return cls(
            network, sink, packet, messages.origin.astype(np.int32), messages.targets.astype(np.int32),
            np.repeat(packet, np.diff(messages.target_start)), grid_links(network).reshape(-1),
            np.array(network.grid.strides, np.int32), np.zeros(network.link_count, np.int64),
        )  # fmt: skip

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


@dataclass(eq=False)
class Moves:
    """What travels in one move step, one row an item. Legs are made in the order of their columns; 0 hops: no leg.

    Attributes
    ----------
    packet : int32[M]
        Packet of each row.
    start : int32[M]
        Where it is before the move; of a row with `after`, anything.
    axis : int8[M, L]
        Axis of each leg.
    hops : int32[M, L]
        Hops of each leg, negative towards smaller coordinates.
    not_before : int32[M, L], optional
        Earliest step, counted from 1 in this move, in which the last hop of the leg may be made; 0: any.
    after, after_hops : int32[M], optional
        Row that leaves this copy behind (-1: none), and its own hops before, at least 1.
    """

    packet: IntArray
    start: IntArray
    axis: npt.NDArray[np.int8]
    hops: IntArray
    not_before: IntArray | None = None
    after: IntArray | None = None
    after_hops: IntArray | None = None


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


def branching(packet: IntArray, start: IntArray, owner: IntArray, axes: tuple[int, ...], hops: IntArray) -> Moves:
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
    from gossamer.algorithms.routing.move_and_smooth import _kernels

    axis = np.broadcast_to(np.array(axes, np.int8), hops.shape)
    if not bool((owner[1:] == owner[:-1]).any()):
        return Moves(packet, start, axis, hops)
    parent, after, offset = (np.empty(owner.size, np.int32) for _ in range(3))
    _kernels.branches(owner, hops, parent, after, offset)
    far = np.abs(hops)
    done = np.cumsum(far, axis=1) - far  # before each leg
    left = far - np.clip(offset[:, None] - done, 0, far)
    return Moves(packet, start, axis, (np.sign(hops) * left).astype(np.int32), None, parent, after)


def move(traffic: Traffic, moves: Moves, name: str = "move", guaranteed: int | None = None) -> int:
    """Make one move step: every row travels to the end of its legs. Return the number of steps.

    Parameters
    ----------
    traffic : Traffic
        Its `node` becomes the end of each row; row i of `moves` is item i.
    moves : Moves
        What travels.
    name : str
        Of the phase.
    guaranteed : int, optional
        Steps that the phase takes at most, whatever the instance.

    Raises
    ------
    ScheduleError
        If a leg leaves the array.

    Notes
    -----
    In each step each directed link carries one packet: the one with most hops to its own end, of equal ones the
    smallest packet number. O(hops + waits).

    Examples
    --------
    Two packets meet on a line; the one with farther to go crosses the common link first.

    >>> import gossamer
    >>> from gossamer.algorithms.routing.move_and_smooth.recording import Recording
    >>> line = gossamer.network("array:4")
    >>> traffic = Traffic.of(line, gossamer.task("permutation", destination=[3, 2, -1, -1]), Recording())
    >>> node = np.array([0, 1], np.int32)
    >>> move(traffic, Moves(node, node, np.zeros((2, 1), np.int8), np.array([[3], [1]], np.int32)))
    3
    >>> traffic.node.tolist()
    [3, 2]
    """
    from gossamer.algorithms.routing.move_and_smooth import _kernels

    network = traffic.network
    rows = moves.packet.size
    none = np.zeros(0, np.int32)
    node = moves.start.astype(np.int32)
    hops, axis = np.ascontiguousarray(moves.hops, np.int32), np.ascontiguousarray(moves.axis, np.int8)
    parent, after = moves.after, moves.after_hops
    first_child = next_child = child_after = woken = none
    if parent is not None and after is not None and bool((parent >= 0).any()):
        child_after = after.astype(np.int32)
        first_child, next_child = _children(parent, child_after)
        woken = np.empty(rows, np.int32)
    active = np.empty((rows, 8), np.int32)
    count = _kernels.departures(active, node, moves.packet, axis, hops, none if parent is None else parent)
    clock = np.array([0, count, traffic.tick], np.int64)
    want = np.empty(rows, np.int32)
    gates = np.zeros((0, 0), np.int32) if moves.not_before is None else moves.not_before.astype(np.int32)
    room = int(np.abs(hops).sum(dtype=np.int64))

    def chunks() -> Iterator[Chunk]:
        size = room
        if traffic.sink.chunk_hops is not None:
            size = min(room, max(traffic.sink.chunk_hops, rows))
        while clock[1]:
            columns = traffic.sink.columns(size)
            filled = _kernels.travel(
                clock, active, node, moves.packet, axis, hops, gates, first_child, next_child, child_after,
                traffic.links, len(traffic.sides), traffic.strides, traffic.best, want, woken, *columns,
            )  # fmt: skip
            if filled < 0:
                raise ScheduleError(f"{name}: a packet would leave {network.spec}")
            yield columns[0][:filled], columns[1][:filled], columns[2][:filled]

    steps = traffic.sink.phase(name, chunks(), guaranteed, False)
    traffic.tick = int(clock[2])
    traffic.node = node
    return steps


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
