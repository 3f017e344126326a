"""Pictures of a network that was found: how far nodes are from each other, and which are adjacent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

import numpy as np

from gossamer.networks import Network
from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import INK, MUTED, sequential
from gossamer.plots.panels import Panels, plain
from gossamer.reading import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["distances_figure", "draw_distances"]


def draw_distances(network: Network, path: str | os.PathLike[str], other: Network | None = None) -> None:
    """Write a picture of the adjacency of a network, and of how many nodes are at each distance.

    Parameters
    ----------
    network : Network
        Up to 20,000 nodes.
    path : path
        ``.svg``, ``.png`` or ``.pdf``.
    other : Network, optional
        A network to compare with, such as the torus.

    Raises
    ------
    ModelError
        If the network is too large.
    """
    whole(network.node_count, "nodes of a picture", 1, 20_000)
    write_picture(
        lambda: distances_figure(network, other), path, picture_format(path), f"distances on {network.spec[:80]}"
    )


def distances_figure(network: Network, other: Network | None = None, **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of two panels: which nodes are adjacent, and how many are at each distance from node 0."""
    panels = Panels(2, look(**dressing), size=(4.0, 3.2))
    left, right = panels.axes
    left.scatter(network.link_target, network.link_source, s=max(0.15, 400 / network.node_count), c=INK, linewidths=0)
    left.set(xlim=(-0.5, network.node_count - 0.5), ylim=(network.node_count - 0.5, -0.5), aspect="equal")
    both = [network] if other is None else [network, other]
    for place, net in enumerate(both):
        counts = np.bincount(net.distances(0))
        where = np.arange(counts.size) + (place - (len(both) - 1) / 2) * 0.4
        color = sequential()(0.75) if place == 0 else MUTED
        right.bar(where, counts, width=0.8 / len(both), color=color, label=net.spec[:40])
    right.legend(fontsize=7, frameon=False)
    plain(left, title="links, by node")
    plain(right, "hops from node 0", title="nodes at each distance")
    return panels.finished(network.spec[:80])
