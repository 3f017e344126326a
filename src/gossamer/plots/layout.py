"""Where the nodes of a network stand in the plane, and in which shape each link is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.groups import AbelianGroup, CubeRotationGroup, PermutationGroup
from gossamer.networks.network import Network

__all__ = ["ARC", "STRAIGHT", "STUB", "Layout", "Points", "circle", "lay_out"]

Points = npt.NDArray[np.float64]

STRAIGHT, ARC, STUB = np.uint8(0), np.uint8(1), np.uint8(2)
"""Shapes of links: a straight line, an arc to the right of the way, or two stubs, one at each end."""

CIRCLE_LIMIT = 256
"""Up to this many nodes of one dimension stand on a circle; more of them in rows."""
TREE_LIMIT = 64
"""Up to this many leaves stand in one row; more of them on a circle."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A drawing plan. Neighboring nodes are about one unit apart; x grows to the right and y upwards.

    Attributes
    ----------
    positions : float64[N, 2]
        Places of the nodes, all different.
    shape : uint8[L]
        ``STRAIGHT``, ``ARC`` or ``STUB`` for each link.
    direction : float64[L, 2]
        Unit vector along which a link leaves its source and comes in at its target.
    blocks : tuple of (float, float, str)
        Names of blocks of nodes, with the place of the middle of their upper edge.
    notes : tuple of str
        What a reader must know to read the picture.
    """

    positions: Points
    shape: npt.NDArray[np.uint8]
    direction: Points
    blocks: tuple[tuple[float, float, str], ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, network: Network, positions: Points, shape: npt.ArrayLike = STRAIGHT, *notes: str) -> Layout:
        """Return a layout in which every link heads straight for its target."""
        way = positions[network.link_target] - positions[network.link_source]
        length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-12)
        shapes = np.broadcast_to(np.asarray(shape, np.uint8), length.shape)
        return cls(positions, shapes, way / length[:, None], (), notes)


def lay_out(network: Network) -> Layout:
    """Return the places of the nodes and the shapes of the links, by what is known of the network.

    Arrays and tori stand in rows and columns, their further dimensions as rows and columns of blocks; rings and
    circulants on a circle; fat trees by levels; products and Cayley networks as blocks of smaller ones; any
    other network where the distances on paper are nearest to the distances in hops.

    Notes
    -----
    Deterministic. O(L) time for the known families; for other networks see `gossamer.plots.stress.stress_positions`.

    Examples
    --------
    >>> import gossamer
    >>> lay_out(gossamer.network("array:2x3")).positions.tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    from gossamer.plots import cayley_layouts, nested

    if network.levels is not None:
        return _tree(network)
    if network.grid is not None:
        wraps = network.grid.wraps
        if len(wraps) == 1 and wraps[0] and network.node_count <= CIRCLE_LIMIT:
            return Layout.of(network, circle(network.node_count))
        if set(network.grid.sides) == {2} and network.group is not None:
            return nested.by_bits(network, len(network.grid.sides))
        return nested.by_digits(network, network.grid.sides, wraps)
    if isinstance(network.group, AbelianGroup):
        moduli = network.group.moduli
        if len(moduli) == 1 and network.node_count <= CIRCLE_LIMIT:
            return Layout.of(network, circle(network.node_count))
        return nested.by_digits(network, moduli)
    if network.factors:
        return nested.by_factors(network)
    if isinstance(network.group, CubeRotationGroup):
        return cayley_layouts.by_words(network, network.group.bits)
    if isinstance(network.group, PermutationGroup) and network.group.symbols > 2:
        return cayley_layouts.by_last_symbol(network, network.group)
    sides = _sides_of(network)
    if sides is not None and network.coordinates is not None:
        return nested.by_digits(network, sides, digits=network.coordinates)

    from gossamer.plots.stress import stress_positions

    return Layout.of(network, stress_positions(network))


def circle(count: int) -> Points:
    """Return `count` places on a circle around the origin, clockwise from the top, one unit from each other."""
    if count == 1:
        return np.zeros((1, 2))
    angle = 2 * np.pi * np.arange(count) / count
    radius = 0.5 / math.sin(math.pi / count)
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)


def _sides_of(network: Network) -> tuple[int, ...] | None:
    """Return the sides of a grid on which a network with coordinates can stand, None if there is no sensible one."""
    place = network.coordinates
    if place is None or place.shape[1] == 0 or len(np.unique(place, axis=0)) < len(place) or int(place.min()) < 0:
        return None
    sides = tuple(int(s) for s in place.max(axis=0) + 1)
    cells = np.prod([float(s) for s in sides])
    return sides if cells <= 4 * network.node_count + 16 else None


def _tree(network: Network) -> Layout:
    """Place a fat tree: leaves in a row, or on a circle if there are many, and each inner node amid its leaves."""
    levels, place = network.levels, network.coordinates
    if levels is None or place is None:
        raise NetworkError(f"network {network.spec!r} has no levels: it is not known to be a fat tree")
    level, number = place[:, 0].astype(np.int64), place[:, 1]
    leaves = network.terminal_count
    span = float(levels.arity) ** level
    along = (number + 0.5) * span - 0.5
    if leaves <= TREE_LIMIT:
        rise = max(1.3, 0.45 * leaves / max(levels.height, 1))
        return Layout.of(network, np.stack([along, level * rise], axis=1))
    radius = leaves / (2 * np.pi) * (1 - level / levels.height)
    angle = 2 * np.pi * (along + 0.5) / leaves
    positions = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    return Layout.of(network, positions, STRAIGHT, "Root in the middle, leaves on the rim.")
