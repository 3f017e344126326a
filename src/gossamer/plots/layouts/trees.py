"""Layout of fat trees: leaves in a row or on a circle, inner nodes amid their leaves."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.plots.layouts.layout import STRAIGHT, Layout

__all__ = ["by_levels"]

TREE_LIMIT = 64
"""Up to this many leaves stand in one row; more of them on a circle."""


def by_levels(network: Network) -> Layout:
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
