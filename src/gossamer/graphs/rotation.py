"""The d algorithms A_c of Varvarigos and Bertsekas 1994: algorithm A_0 after the dimensions were renamed cyclically.

Digit l of a node is the paper's: 0 is the least significant. Dimensions of side 1 have no links and no digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network

__all__ = ["Columns", "RotatedClass", "Rotation", "links_along", "rotations"]

Columns: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""The columns slot, link and packet that the phases of a schedule write one after the other."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """The names of the nodes under which algorithm A_c is algorithm A_0.

    Digit l of a name is digit ``(l + c) mod d`` of the node: the name is the cyclic right shift of the node's digits by
    c places. All digits may have different bases.

    Attributes
    ----------
    shift : int
        The class c.
    sides : tuple of int
        Base of each digit of a name, least significant first.
    wraps : tuple of bool
        Whether the nodes that differ in a digit only form a ring (gamma = 2) or a line (gamma = 1).
    places : tuple of int, length d+1
        Value of a one in each digit: ``places[l] = sides[0] * ... * sides[l-1]``.
    strides : tuple of int
        Difference in node number of one step along each digit.
    columns : tuple of int
        Column of each digit in `links_along`, ``(l + c) mod d``.
    node : int32[N]
        The node of each name.
    name : int32[N]
        The name of each node.
    """

    shift: int
    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    places: tuple[int, ...]
    strides: tuple[int, ...]
    columns: tuple[int, ...]
    node: IntArray
    name: IntArray

    @property
    def dimensions(self) -> int:
        """Number of digits d."""
        return len(self.sides)


@dataclass(frozen=True, eq=False)
class RotatedClass:
    """The packets that algorithm A_c routes, in the order of the rotated names of their origins.

    Attributes
    ----------
    rotation : Rotation
        The names.
    origin : int32[m]
        Name of the origin of the packet of each rank, ascending.
    packet : int32[m]
        The packet of each rank; the first of consecutive ones when it is cut in halves.
    """

    rotation: Rotation
    origin: IntArray
    packet: IntArray

    @property
    def size(self) -> int:
        """Number of packets m, counting halves once."""
        return int(self.packet.size)


def _kept(grid: Grid) -> list[int]:
    """Return the dimensions of side 2 and more, digit 0 first."""
    return [i for i in reversed(range(grid.dimensions)) if grid.sides[i] > 1]


def rotations(grid: Grid) -> list[Rotation]:
    """Return the rotations 0..d-1 of a grid with d dimensions of side 2 and more.

    Notes
    -----
    O(d N) time and 8 d N bytes.

    References
    ----------
    Varvarigos and Bertsekas 1994, proof of Theorem 6 and its footnote.

    Examples
    --------
    In the 3 x 2 array, node 3 = (1, 1); its rotated name has digits (1, 1) too, but of bases 2 and 3:

    >>> for r in rotations(Grid((3, 2), (False, False))):
    ...     print(r.sides, r.name.tolist())
    (2, 3) [0, 1, 2, 3, 4, 5]
    (3, 2) [0, 3, 1, 4, 2, 5]
    """
    kept = _kept(grid)
    sides, wraps, strides = ([values[i] for i in kept] for values in (grid.sides, grid.wraps, grid.strides))
    count = math.prod(sides)
    found = []
    for c in range(len(kept)):
        columns = [*range(c, len(kept)), *range(c)]
        turned = [sides[a] for a in columns]
        places = [math.prod(turned[:digit]) for digit in range(len(kept) + 1)]
        node = np.zeros(count, np.int32)
        for digit, a in enumerate(columns):
            node.reshape(-1, turned[digit], places[digit])[...] += (np.arange(turned[digit]) * strides[a])[:, None]
        name = np.empty(count, np.int32)
        name[node] = np.arange(count, dtype=np.int32)
        found.append(
            Rotation(
                c,
                tuple(turned),
                tuple(wraps[a] for a in columns),
                tuple(places),
                tuple(strides[a] for a in columns),
                tuple(columns),
                node,
                name,
            )
        )
    return found


def links_along(network: Network) -> IntArray:
    """Return the link from each node one step up and one step down along each digit.

    Returns
    -------
    int32[N, d, 2]
        Link numbers, -1 where an array ends; d counts the dimensions of side 2 and more, least significant first.

    Notes
    -----
    O(d L) time.

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> links_along(ring(4))[:, 0].tolist()
    [[0, 1], [2, 3], [4, 5], [6, 7]]
    """
    kept = _kept(network.grid) if network.grid else []
    return grid_links(network)[:, kept] if kept else np.empty((network.node_count, 0, 2), np.int32)


def stacked(classes: Sequence[RotatedClass]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return nodes by name, sizes, origins and packets of classes, one row each, for the kernels."""
    size = np.array([each.size for each in classes], np.int32)
    origin = np.zeros((len(classes), int(size.max(initial=0))), np.int32)
    packet = np.zeros_like(origin)
    for row, each in enumerate(classes):
        origin[row, : each.size], packet[row, : each.size] = each.origin, each.packet
    return np.stack([each.rotation.node for each in classes]), size, origin, packet
