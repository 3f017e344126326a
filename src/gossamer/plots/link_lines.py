"""From a layout to the lines of the links: each direction of an edge on its own side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.layouts import ARC, STRAIGHT, STUB, Layout, Points

__all__ = ["Lines", "arrowheads", "link_lines"]

Floats = npt.NDArray[np.float64]

STUB_LENGTH = 0.36
"""Length of a stub beyond the node's rim, in units of the layout."""
ARC_POINTS = 15


class Lines(NamedTuple):
    """Polylines with the same number of points: `points` float64[S, K, 2], and the link of each, int64[S]."""

    points: Floats
    link: npt.NDArray[np.int64]


def link_lines(network: Network, layout: Layout, radius: float, offset: float) -> list[Lines]:
    """Return the lines of all links: straight ones, stubs (two for a link) and arcs.

    Parameters
    ----------
    network : Network
        Whose links are drawn.
    layout : Layout
        A layout of it.
    radius : float
        Radius of a node; lines end there.
    offset : float
        How far to the right of the middle a line is, seen along its link.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.plots.layouts import lay_out
    >>> net = gossamer.network("array:2")
    >>> link_lines(net, lay_out(net), 0.25, 0.1)[0].points.round(2).tolist()
    [[[0.23, -0.1], [0.77, -0.1]], [[0.77, 0.1], [0.23, 0.1]]]
    """
    start, end = layout.positions[network.link_source], layout.positions[network.link_target]
    aside = _right(layout.direction) * offset
    # the rim of a node, at the offset from its middle
    rim = layout.direction * np.sqrt(max(radius**2 - offset**2, 0.0))
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
    groups.append(Lines(_arcs(start[link], end[link], radius), link))
    return [g for g in groups if g.link.size]


def arrowheads(lines: Lines, size: float, at: float = 0.6) -> Floats:
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


def _arcs(start: Points, end: Points, radius: float) -> Floats:
    """Return arcs that bulge to the right of the way, the more the longer they are."""
    way = end - start
    length = np.hypot(way[:, 0], way[:, 1])[:, None]
    bulge = 0.42 + 0.1 * np.maximum(length - 2, 0)
    control = (start + end) / 2 + _right(way / length) * bulge * 2
    first = np.hypot(*(control - start).T)[:, None]
    # parameters at which the curve leaves one rim and meets the other, to first order
    t0 = radius / (2 * first)
    t = t0 + (1 - 2 * t0) * np.linspace(0, 1, ARC_POINTS)[None, :]
    t = t[..., None]
    curve: Floats = t**2 * end[:, None]
    curve += (1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * control[:, None]
    return curve
