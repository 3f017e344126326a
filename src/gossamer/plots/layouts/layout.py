"""A layout: where the nodes of a network stand in the plane, and in which shape each link is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

__all__ = ["ARC", "STRAIGHT", "STUB", "Layout", "Points", "around_nodes", "circle", "oblique"]

Points = npt.NDArray[np.float64]

STRAIGHT, ARC, STUB = np.uint8(0), np.uint8(1), np.uint8(2)
"""Shapes of links: a straight line, an arc to the right of the way, or two stubs, one at each end."""
_CLEAR = 0.2
"""A line nearer than this to the middle of a node seems to end there."""
_PAIRS = 100_000
"""With more links times nodes nobody follows a single line."""


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


def around_nodes(network: Network, layout: Layout) -> Layout:
    """Return the layout with an arc for each straight link that would run through a third node; O(L N)."""
    straight = np.flatnonzero(layout.shape == STRAIGHT)
    if straight.size * network.node_count > _PAIRS:
        return layout
    start = layout.positions[network.link_source[straight]]
    way = layout.positions[network.link_target[straight]] - start
    length = np.maximum(np.hypot(*way.T), 1e-12)[:, None]
    x, y = np.moveaxis(way / length, 1, 0)[:, :, None]
    right, up = np.moveaxis(layout.positions[None] - start[:, None], 2, 0)
    along, off = right * x + up * y, np.abs(right * y - up * x)
    through = ((along > _CLEAR) & (along < length - _CLEAR) & (off < _CLEAR)).any(axis=1)
    shape = layout.shape.copy()
    shape[straight[through]] = ARC
    return replace(layout, shape=shape)


def circle(count: int) -> Points:
    """Return `count` places on a circle around the origin, clockwise from the top, one unit from each other."""
    if count == 1:
        return np.zeros((1, 2))
    angle = 2 * np.pi * np.arange(count) / count
    radius = 0.5 / math.sin(math.pi / count)
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)


# Networks of three dimensions as bodies: the way a cube is drawn on a blackboard.

_DEPTH = np.array([0.5, 0.42])
_DEEPEST, _APART = 3, 1.3


def oblique(network: Network) -> Layout | None:
    """Return an array or hypercube of three dimensions as a body, its shortest side going backwards; else None.

    Examples
    --------
    >>> import gossamer
    >>> cube = oblique(gossamer.network("hypercube:3"))
    >>> (cube.positions / 1.3).round(2).tolist()[:3]
    [[0.0, 0.0], [0.5, 0.42], [1.0, 0.0]]
    >>> oblique(gossamer.network("array:4x4")) is None
    True
    """
    grid = network.grid
    if grid is None or len(grid.sides) != 3 or any(w and s > 2 for w, s in zip(grid.wraps, grid.sides, strict=True)):
        return None
    digits = np.stack(np.unravel_index(np.arange(network.node_count), grid.sides), axis=1).astype(float)
    deep = 2 - int(np.argmin(grid.sides[::-1]))
    if grid.sides[deep] > _DEEPEST:
        return None
    down, right = (d for d in range(3) if d != deep)
    flat = np.stack([digits[:, right], -digits[:, down]], axis=1)
    return Layout.of(network, _APART * (flat + digits[:, deep, None] * _DEPTH))
