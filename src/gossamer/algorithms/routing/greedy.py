"""Greedy routing in dimension order: along the row to the column, then along the column, as soon as links are free.

Of the messages that want one link, the one with the furthest to go along the line goes first. On an r x c array a
message never waits in its row, because each node starts one message and all start at once; in a column the k-th message
from the far end waits at most for the k-1 that go further, because destinations differ. So c-1 steps and then r-1 are
enough, whatever happens at the turn; but a node may have to keep most of the messages of its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.routing.packing import sources_and_targets
from gossamer.model import Model
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.schedules import Phase, Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.tasks import Permutation, Task

__all__ = ["GREEDY", "Leg", "greedy", "grid_reason", "legs_between", "send"]

Leg: TypeAlias = tuple[int, IntArray]
"""An axis, and how far each packet goes along it: int32[m], negative for down."""


def legs_between(grid: Grid, start: IntArray, end: IntArray, axes: Sequence[int]) -> list[Leg]:
    """Return the legs of shortest paths from nodes to nodes that correct the coordinates in the given order.

    Half way around a ring, packets at even coordinates go up and those at odd ones down.

    Parameters
    ----------
    grid : Grid
        Of the network.
    start, end : int32[m]
        Nodes.
    axes : sequence of int
        Dimensions, each at most once.

    Examples
    --------
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


def send(
    network: Network, node: IntArray, runs: Sequence[Sequence[Leg]]
) -> tuple[tuple[IntArray, IntArray, IntArray], list[int]]:
    """Send one packet from each of the given nodes over its legs, furthest first, one packet a link and slot.

    Parameters
    ----------
    network : Network
        An array or torus.
    node : int32[m]
        Where packets 0..m-1 are.
    runs : sequence of sequences of legs
        The legs of a run begin when the run before has ended; within a run a packet goes on as soon as it can.

    Returns
    -------
    columns : tuple of int32 arrays
        Slot, link and packet of each hop, sorted by slot.
    slots : list of int
        How many slots each run takes.

    Notes
    -----
    O(packets in transit) for each slot.

    Examples
    --------
    >>> from gossamer.networks import array
    >>> columns, slots = send(array(3), np.array([0, 1], np.int32), [[(0, np.array([2, 1], np.int32))]])
    >>> slots, columns[2].tolist()
    ([2], [0, 1, 0])
    """
    from gossamer.algorithms.routing import _kernels

    total = sum(int(np.abs(hops, dtype=np.int64).sum()) for run in runs for _, hops in run)
    columns = (np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int32))
    links, where, moved = grid_links(network), node.astype(np.int32), np.arange(node.size, dtype=np.int32)
    at = now = 0
    slots = []
    for run in runs:
        axis = np.array([a for a, _ in run], np.int8)
        hops = np.stack([h for _, h in run], axis=1).astype(np.int32)
        at, end = _kernels.compete(
            *columns, at, now, where, moved, np.broadcast_to(axis, hops.shape).copy(), hops,
            links.reshape(-1), network.link_target, 2 * links.shape[1],
        )  # fmt: skip
        slots.append(int(end) - now)
        now = int(end)
    return columns, slots


def greedy(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the greedy routing in dimension order, last dimension first.

    Parameters
    ----------
    network : Network
        An array or torus of any dimension.
    task : Permutation
        Full or partial.
    model : Model
        All ports, no limit of the buffers.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        Of one phase, ``greedy``, of at most ``r + c - 2`` slots on an r x c array. Nothing is promised on tori and in
        three dimensions or more, where several messages of a line may go to one place of it.

    Notes
    -----
    A node may come to hold about two thirds of the messages of a row; all of them, if columns began only when the rows
    had ended. O(hops + waiting packets summed over the slots).

    References
    ----------
    Han 1990, section 1.4.2 (the two phase method, 2n-2 steps), after Krizanc, Rajasekaran and Tsantilas 1988.

    Examples
    --------
    >>> import gossamer
    >>> p = gossamer.plan("array:4x4", "permutation", pattern="transpose", algorithm="greedy")
    >>> p.completion_time, p.optimal
    (Fraction(6, 1), True)
    """
    source, target = sources_and_targets(task)
    grid = network.grid
    assert grid is not None
    legs = legs_between(grid, source, target, range(grid.dimensions)[::-1])
    columns, (slots,) = send(network, source, [legs])
    return Schedule(network, task, model, *columns, phases=[Phase("greedy", slots)])


def grid_reason(network: Network, task: Task, model: Model, paths: float = 1, held: int | None = None) -> str | None:
    """Say why greedy routing along shortest paths (`paths` of them, one after the other) does not cover a case.

    `held` is what `all_ports_reason` takes.
    """
    if network.grid is None:
        return "needs an array or a torus"
    source, target = sources_and_targets(task)
    legs = legs_between(network.grid, source, target, range(network.grid.dimensions))
    hops = int(paths * sum(int(np.abs(leg, dtype=np.int64).sum()) for _, leg in legs))
    return all_ports_reason(model, held) or too_many_hops(hops)


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    if network.grid is None or any(network.grid.wraps) or sum(side > 1 for side in network.grid.sides) > 2:
        return None
    return Fraction(sum(side - 1 for side in network.grid.sides))


GREEDY = separate(
    name="greedy",
    task=Permutation,
    builder=greedy,
    reason=grid_reason,
    claim=_claim,
    networks="arrays and tori",
    source="folklore; Han 1990, section 1.4.2",
    summary="row, then column (last dimension first), the furthest message of a line first; unbounded buffers",
    claim_is_bound=True,
)
