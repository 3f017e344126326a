"""Ports that links share as arcs on the rims of nodes: an arc spans the links of a node that go through one port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.lines import Lines

__all__ = ["PortArcs", "port_arcs"]

_PAD, _GRAIN = 0.16, 0.1
"""Radians by which an arc is longer than its links lie apart, and between its points."""


class PortArcs(NamedTuple):
    """Arcs: the points of each, float64[k, 2], its port, and whether that serves several nodes."""

    points: list[npt.NDArray[np.float64]]
    port: list[int]
    common: list[bool]


def port_arcs(network: Network, positions: npt.NDArray[np.float64], lines: Sequence[Lines], radius: float) -> PortArcs:
    """Return an arc for each node and port through which links of the node go, the nodes in order.

    Parameters
    ----------
    network : Network
        Whose links are drawn; without shared ports there are no arcs.
    positions : float64[N, 2]
        Middles of the nodes.
    lines : sequence of Lines
        The lines of all links.
    radius : float
        Of the arcs.

    Notes
    -----
    The shortest arc that spans the links. O(L log L).

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.plots.layouts import lay_out
    >>> from gossamer.plots.lines import link_lines
    >>> net = gossamer.network("array:3")
    >>> shared = net.with_ports(gossamer.networks.SharedPorts(net.link_source, net.link_target))
    >>> layout = lay_out(shared)
    >>> port_arcs(shared, layout.positions, link_lines(shared, layout, 0.25, 0.1), 0.3).port
    [0, 1, 2]
    """
    ports = network.shared_ports
    found = PortArcs([], [], [])
    if ports is None or not lines:
        return found
    link = np.concatenate([group.link for group in lines])
    rows = []
    for side, node, point in ((ports.sending, network.link_source, 0), (ports.receiving, network.link_target, -1)):
        ends = np.concatenate([group.points[:, point] for group in lines]) - positions[node[link]]
        through = side[link] >= 0
        angle = np.arctan2(ends[:, 1], ends[:, 0])
        rows.append((node[link][through], side[link][through], angle[through]))
    node, port, angle = (np.concatenate([row[i] for row in rows]) for i in range(3))
    pairs, group = np.unique(node.astype(np.int64) * ports.count + port, return_inverse=True)
    served = np.bincount(pairs % ports.count, minlength=ports.count)
    for i, pair in enumerate(pairs.tolist()):
        first, last = _span(angle[group == i])
        turn = np.linspace(first, last, max(2, int((last - first) / _GRAIN)))
        middle = positions[pair // ports.count]
        found.points.append(middle + radius * np.column_stack([np.cos(turn), np.sin(turn)]))
        found.port.append(pair % ports.count)
        found.common.append(bool(served[pair % ports.count] > 1))
    return found


def _span(angle: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return where the shortest arc over some angles begins and ends, a little longer than they lie apart."""
    turns = np.sort(angle)
    gaps = np.diff(np.append(turns, turns[0] + 2 * np.pi))
    k = int(np.argmax(gaps))
    first = float(turns[(k + 1) % turns.size])
    return first - _PAD, first + 2 * np.pi - float(gaps[k]) + _PAD
