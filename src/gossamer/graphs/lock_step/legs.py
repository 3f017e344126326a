"""Legs: how far packets go along one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from gossamer.graphs.lock_step.engine import Moves
from gossamer.networks.network import Grid, IntArray

__all__ = ["Leg", "legs_between", "moves_along"]

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


def moves_along(node: IntArray, legs: Sequence[Leg]) -> Moves:
    """Return the moves of packets 0..m-1 from the given nodes, int32[m], over their legs."""
    packet = np.arange(node.size, dtype=np.int32)
    axis = np.broadcast_to(np.array([axis for axis, _ in legs], np.int8), (node.size, len(legs)))
    hops = np.stack([hops for _, hops in legs], axis=1)
    return Moves(packet, node, axis, hops)
