"""Pictures of a network that was found: how far nodes are from each other, and which are adjacent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gossamer.networks import Network
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import INK, MUTED, sequential
from gossamer.reading import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_distances"]


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
    write_picture(lambda: _figure(network, other), path, picture_format(path), f"distances on {network.spec[:80]}")


def _figure(network: Network, other: Network | None) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(network.link_target, network.link_source, s=max(0.15, 400 / network.node_count), c=INK, linewidths=0)
    left.set(xlim=(-0.5, network.node_count - 0.5), ylim=(network.node_count - 0.5, -0.5), aspect="equal")
    left.set_title("links, by node", fontsize=9, color=INK)
    both = [network] if other is None else [network, other]
    for place, net in enumerate(both):
        counts = np.bincount(net.distances(0))
        where = np.arange(counts.size) + (place - (len(both) - 1) / 2) * 0.4
        color = sequential()(0.75) if place == 0 else MUTED
        right.bar(where, counts, width=0.8 / len(both), color=color, label=net.spec[:40])
    right.set_xlabel("hops from node 0", fontsize=8.5, color=INK)
    right.set_title("nodes at each distance", fontsize=9, color=INK)
    right.legend(fontsize=7, frameon=False)
    for axes in (left, right):
        axes.tick_params(labelsize=7.5, length=2, color=MUTED, labelcolor=INK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure
