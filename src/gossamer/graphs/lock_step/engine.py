"""The engine of lock-step movement on an array or torus, whose hops go to a sink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.schedules.sinks import Chunk, Sink

__all__ = ["LockStep", "Moves", "Rank"]

Rank: TypeAlias = Literal["leg", "route"]
"""Whether the farthest is the one with most hops to the end of its leg, or to the end of its route."""


@dataclass(eq=False)
class Moves:
    """What travels in one phase, one row an item. Legs are made in the order of their columns; 0 hops: no leg.

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


class LockStep:
    """Moves items on an array or torus, phase by phase, and hands their hops to a sink.

    Parameters
    ----------
    network : Network
        An array or torus.
    sink : Sink
        Where the hops go.

    Attributes
    ----------
    network, sink
        As given.
    links : int32[N * d * 2]
        The link from each node up and down along each axis, -1 where an array ends.
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
        self, moves: Moves, name: str, *, rank: Rank = "route", guaranteed: int | None = None
    ) -> tuple[IntArray, int]:
        """Make one phase in which every row travels to the end of its legs.

        Parameters
        ----------
        moves : Moves
            What travels.
        name : str
            Of the phase.
        rank : {"route", "leg"}
            Who goes first over a link that several want: the one with most hops to the end of its route, or of its
            leg; of equal ones the smallest packet number.
        guaranteed : int, optional
            Steps that the phase takes at most, whatever the instance.

        Returns
        -------
        node : int32[M]
            Where each row ends.
        steps : int
            Steps of the phase.

        Raises
        ------
        ScheduleError
            If a leg leaves the array.

        Notes
        -----
        In each step each directed link carries one packet. O(hops + waits).

        Examples
        --------
        Two packets meet on a line; the one with farther to go crosses the common link first.

        >>> import gossamer
        >>> from gossamer.schedules.sinks import RecordingSink
        >>> engine = LockStep(gossamer.network("array:4"), RecordingSink())
        >>> node = np.array([0, 1], np.int32)
        >>> moves = Moves(node, node, np.zeros((2, 1), np.int8), np.array([[3], [1]], np.int32))
        >>> ends, steps = engine.move(moves, "move")
        >>> ends.tolist(), steps
        ([3, 2], 3)
        """
        node = moves.start.astype(np.int32)
        steps = self.sink.phase(name, self._chunks(moves, node, name, rank), guaranteed=guaranteed)
        return node, steps

    def _chunks(self, moves: Moves, node: IntArray, name: str, rank: Rank) -> Iterator[Chunk]:
        """Yield the hops; `node` becomes where the rows end."""
        from gossamer.graphs.lock_step import _kernels

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
        count = _kernels.departures(active, node, moves.packet, axis, hops, none if parent is None else parent)
        clock = np.array([0, count, self._tick], np.int64)
        want = np.empty(rows, np.int32)
        gates = np.zeros((0, 0), np.int32) if moves.not_before is None else moves.not_before.astype(np.int32)
        size = int(np.abs(hops).sum(dtype=np.int64))
        if self.sink.chunk_hops is not None:
            size = min(size, max(self.sink.chunk_hops, rows))
        while clock[1]:
            columns = self.sink.columns(size)
            filled = _kernels.advance(
                clock, active, _kernels.ON_LEG if rank == "leg" else _kernels.IN_ALL, node, moves.packet, axis, hops,
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
