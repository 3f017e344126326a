"""A layout: where the nodes of a network stand in the plane, and the lines that its links are drawn as."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

Points = npt.NDArray[np.float64]

STRAIGHT, ARC, STUB = np.uint8(0), np.uint8(1), np.uint8(2)
"""Shapes of links: a straight line, an arc to the right of the way, or two stubs, one at each end."""
_CLEAR = 0.2
"""A line nearer than this to the middle of a node seems to end there."""
_PAIRS = 100_000
"""With more links times nodes nobody follows a single line."""


class Box(NamedTuple):
    """A server or a rack: its name, the nodes that stand in it, int64[k], and whether its switch is inside a server."""

    name: str
    nodes: npt.NDArray[np.int64]
    server: bool


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
    boxes : tuple of Box
        Servers and racks.
    bars : tuple of int
        Switches that are drawn as bars as long as their boxes.
    hangs : float64[N] or None
        Degrees at which there is room for a name beside each node, NaN where there is none.
    ends : (float64[L, 2], float64[L, 2]) or None
        Where the middle lines of links begin and end, if not in the middle of nodes.
    upward : bool
        Whether arcs bulge upwards, whichever way their links lead.
    """

    positions: Points
    shape: npt.NDArray[np.uint8]
    direction: Points
    blocks: tuple[tuple[float, float, str], ...] = ()
    notes: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    bars: tuple[int, ...] = ()
    hangs: Points | None = None
    ends: tuple[Points, Points] | None = None
    upward: bool = False

    def line_ends(self, network: Network) -> tuple[Points, Points]:
        """Return where the middle lines of links begin and end, float64[L, 2] each."""
        if self.ends is not None:
            return self.ends
        return self.positions[network.link_source], self.positions[network.link_target]

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
    begin, end = layout.line_ends(network)
    start = begin[straight]
    way = end[straight] - start
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


# From a layout to the lines of the links: each direction of an edge on its own side, parallel links side by side.

STUB_LENGTH = 0.36
"""Length of a stub beyond the node's rim, in units of the layout."""
ARC_POINTS = 15


class Lines(NamedTuple):
    """Polylines with the same number of points: `points` float64[S, K, 2], and the link of each, int64[S]."""

    points: Points
    link: npt.NDArray[np.int64]


def link_lines(network: Network, layout: Layout, radius: float, offset: float) -> list[Lines]:
    """Return the lines of all links: straight ones, stubs (two for a link) and arcs.

    * `network`: whose links are drawn.
    * `layout`: a layout of it.
    * `radius`: radius of a node; lines end there.
    * `offset`: how far to the right of the middle a line is, seen along its link; of parallel links each is further out
      than the one before.

    >>> import gossamer
    >>> from gossamer.plots.layouts import lay_out
    >>> net = gossamer.network("array:2")
    >>> link_lines(net, lay_out(net), 0.25, 0.1)[0].points.round(2).tolist()
    [[[0.23, -0.1], [0.77, -0.1]], [[0.77, 0.1], [0.23, 0.1]]]
    """
    start, end = layout.line_ends(network)
    lane = _lanes(network, radius, offset)
    aside = _right(layout.direction) * lane[:, None]
    # the rim of a node, at the offset from its middle
    rim = layout.direction * np.sqrt(np.maximum(radius**2 - lane**2, 0.0))[:, None]
    groups = []

    link = np.flatnonzero(layout.shape == STRAIGHT)
    points = np.stack([start + rim + aside, end - rim + aside], axis=1)[link]
    groups.append(Lines(points, link))

    link = np.flatnonzero(layout.shape == STUB)
    reach = rim + layout.direction * STUB_LENGTH
    out = np.stack([start + rim + aside, start + reach + aside], axis=1)[link]
    into = np.stack([end - reach + aside, end - rim + aside], axis=1)[link]
    groups.append(Lines(np.concatenate([out, into]), np.concatenate([link, link])))

    link = np.flatnonzero(layout.shape == ARC)
    groups.append(Lines(_arcs(start[link], end[link], radius, lane[link] - offset, upward=layout.upward), link))
    return [g for g in groups if g.link.size]


def arrowheads(lines: Lines, size: float, at: float = 0.6) -> Points:
    """Return a triangle in the middle of each line that points along it, float64[S, 3, 2]."""
    k = max(1, round(at * (lines.points.shape[1] - 1)))
    before, after = lines.points[:, k - 1], lines.points[:, k]
    share = at if lines.points.shape[1] == 2 else 0.5
    way = after - before
    way = way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-12)[:, None]
    middle = before + (after - before) * share
    side = _right(way) * (0.42 * size)
    return np.stack([middle + way * (0.5 * size), middle - way * (0.5 * size) + side,
                     middle - way * (0.5 * size) - side], axis=1)  # fmt: skip


def _right(way: Points) -> Points:
    return np.stack([way[:, 1], -way[:, 0]], axis=1)


def _lanes(network: Network, radius: float, offset: float) -> Points:
    """Return how far to the right of the middle each link is: parallel links side by side, float64[L]."""
    key = network.link_source.astype(np.int64) * network.node_count + network.link_target
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], key[order])
    place, many = np.empty(key.size, np.int64), np.empty(key.size, np.int64)
    place[order] = np.arange(key.size) - first
    many[order] = np.searchsorted(key[order], key[order], side="right") - first
    apart = np.minimum(1.3 * offset, (0.92 * radius - offset) / np.maximum(many - 1, 1))
    return np.asarray(offset + place * apart, np.float64)


def _arcs(start: Points, end: Points, radius: float, aside: Points, *, upward: bool = False) -> Points:
    """Return arcs that bulge to the right of the way, or all of them upwards, the more the longer they are."""
    way = end - start
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-12)[:, None]
    right = _right(way / length)
    bulge = 0.42 + 0.1 * np.maximum(length - 2, 0) + aside[:, None]
    if upward:
        back = right[:, 1:] < 0
        bulge = np.minimum(bulge, 2.0) + np.where(back, 0.12, 0.0)
        right = np.where(back, -right, right)
    control = (start + end) / 2 + right * bulge * 2
    first = np.hypot(*(control - start).T)[:, None]
    # parameters at which the curve leaves one rim and meets the other, to first order
    t0 = radius / (2 * first)
    t = t0 + (1 - 2 * t0) * np.linspace(0, 1, ARC_POINTS)[None, :]
    t = t[..., None]
    curve: Points = t**2 * end[:, None]
    curve += (1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * control[:, None]
    return curve
