"""Smoothing: spread the items of every region until no node holds more than one (Han 1990, sections 3.3 and 4.6).

The nodes of a region first count (control packets), then balance the rows along all axes but the last one by the eager
rule, then spread the columns along the last axis. The half with the larger coordinates of the last axis does what the
other one does, turned by 180 degrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.lines import column_bound, row_bound
from gossamer.algorithms.routing.move_and_smooth.moving import Traffic, move
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.errors import ScheduleError
from gossamer.graphs.lock_step import Moves
from gossamer.schedules.schedule import CONTROL
from gossamer.schedules.sinks import Chunk

__all__ = ["Lengths", "count_length", "smooth", "smooth_lengths"]


@dataclass(frozen=True)
class Lengths:
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


def smooth_lengths(regions: Regions, axes: tuple[int, ...], b: int) -> Lengths:
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
    Lengths(count=10, rows=(9,), column=6)
    """
    shapes = regions.shapes()
    return Lengths(
        max(count_length(shape, axes) for shape in shapes),
        tuple(max(row_bound(b, size) for size in regions.sizes(a)) for a in axes[:-1]),
        max(column_bound(b, size) for size in regions.sizes(axes[-1])),
    )


def smooth(
    traffic: Traffic,
    regions: Regions,
    axes: tuple[int, ...],
    b: int,
    lengths: Lengths | None = None,
) -> Lengths:
    """Smooth every region: afterwards no node holds more than one item. Return the actual lengths of the phases.

    Parameters
    ----------
    traffic : Traffic
        At most b items at a node, and in no region more items than nodes.
    regions : Regions
        Of any sizes.
    axes : tuple of int
        All axes: row movements go along all but the last, in this order, the column movement along the last.
    b : int
        The most items at a node.
    lengths : Lengths, optional
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
    >>> from gossamer.schedules.sinks import RecordingSink
    >>> case = Case(gossamer.network("array:2x2"), gossamer.task("permutation", destination=[0, 1, 2, 3]))
    >>> traffic = Traffic.of(case, RecordingSink())
    >>> traffic.node[:] = 0
    >>> smooth(traffic, Regions.whole((2, 2)), (1, 0), 4)
    Lengths(count=1, rows=(2,), column=1)
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
    return Lengths(lengths.count, tuple(rows), column)


def _count(traffic: Traffic, regions: Regions, axes: tuple[int, ...]) -> Iterator[Chunk]:
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
    traffic: Traffic, regions: Regions, leading: tuple[int, ...], following: tuple[int, ...], last: int
) -> Iterator[Chunk]:
    """Yield the hops of a row movement along the last axis of `following`; change where the items are."""
    from gossamer.algorithms.routing.move_and_smooth import _kernels

    network, axis = traffic.network, following[-1]
    order, line_first, fresh = regions.ordered(leading, following, last)
    flow = np.zeros(order.size, np.int32)
    used, hops = _kernels.row_flows(order, line_first, fresh, traffic.held(), flow)
    active = np.flatnonzero(flow).astype(np.int32)
    head = np.full(network.node_count, -1, np.int32)
    following_item = np.empty(traffic.node.size, np.int32)
    _kernels.item_lists(traffic.node, head, following_item)
    clock = np.array([0, used], np.int64)
    size = hops
    if traffic.sink.chunk_hops is not None:
        size = min(hops, max(traffic.sink.chunk_hops, used))
    moving = np.empty(used, np.int32)
    node = traffic.node.copy()
    traffic.node = node
    while clock[1]:
        columns = traffic.sink.columns(size)
        filled = _kernels.row_steps(
            clock, active, flow, order, node, traffic.packet, head, following_item, traffic.engine.links,
            len(traffic.sides), axis, moving, *columns,
        )  # fmt: skip
        if filled < 0:
            raise ScheduleError("row movement stands still: a line has no packets to send")
        yield columns[0][:filled], columns[1][:filled], columns[2][:filled]


def _spread(traffic: Traffic, regions: Regions, axes: tuple[int, ...], name: str, guaranteed: int) -> int:
    """Make the column movement along the last axis."""
    from gossamer.algorithms.routing.move_and_smooth import _kernels

    order, line_first, _ = regions.ordered(axes[:-1], axes[-1:], None)
    head = np.full(traffic.network.node_count, -1, np.int32)
    following = np.empty(traffic.node.size, np.int32)
    _kernels.item_lists(traffic.node, head, following)
    hops = np.zeros((traffic.node.size, 1), np.int32)
    if _kernels.column_targets(order, line_first, head, following, hops.reshape(-1)) < 0:
        raise ScheduleError("column movement: a line has more packets than nodes")
    axis = np.full(hops.shape, axes[-1], np.int8)
    return move(traffic, Moves(traffic.packet, traffic.node, axis, hops), name, guaranteed)
