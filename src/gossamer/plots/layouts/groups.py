"""Layout of networks whose nodes come in groups: a circle of circles."""

from __future__ import annotations

import numpy as np

from gossamer.networks.network import Network
from gossamer.networks.structures import Groups
from gossamer.plots.layouts.layout import Layout, circle

__all__ = ["by_groups"]

_GAP = 1.5


def by_groups(network: Network, groups: Groups) -> Layout:
    """Place the nodes of a group on a circle, terminals beside their switch, and the groups on a circle."""
    place = network.coordinates
    order = np.arange(network.node_count) if place is None else np.lexsort(place.T[::-1])
    group = np.unique(groups.group, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(group)
    reach = max(float(np.abs(circle(int(size))).max()) for size in set(sizes.tolist()))
    centers = circle(sizes.size) * (2 * reach + _GAP)
    positions = np.empty((network.node_count, 2))
    for i, center in enumerate(centers):
        positions[order[group[order] == i]] = center + circle(int(sizes[i]))
    return Layout.of(network, positions)
