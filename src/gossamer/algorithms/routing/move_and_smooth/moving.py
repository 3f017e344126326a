"""The traffic of move-and-smooth routing: items, the copies that they divide into, and the moves that share routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.graphs.lock_step import LockStep, Moves
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case
from gossamer.schedules.sinks import Sink

__all__ = ["Traffic", "branch_order", "branching", "move"]


@dataclass(eq=False)
class Traffic:
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
    def of(cls, case: Case, sink: Sink) -> Traffic:
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
    """Make one move step: row i of `moves`, which is item i, travels to the end of its legs. Return the steps.

    The item with most hops to its end goes first, of equal ones the smallest packet number.
    """
    traffic.node, steps = traffic.engine.move(moves, name, guaranteed=guaranteed)
    return steps
