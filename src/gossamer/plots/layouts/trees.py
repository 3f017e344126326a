"""Layouts of fat trees and of tiers of switches: terminals in a row or on a circle, switches amid theirs."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.networks.structures import Tiers
from gossamer.plots.layouts.layout import STRAIGHT, Layout

__all__ = ["by_levels", "by_tiers"]

TREE_LIMIT = 64
"""Up to this many leaves stand in one row; more of them on a circle."""


def by_levels(network: Network) -> Layout:
    """Place a fat tree: leaves in a row, or on a circle if there are many, and each inner node amid its leaves."""
    levels, place = network.levels, network.coordinates
    if levels is None or place is None:
        raise NetworkError(f"network {network.spec!r} has no levels: it is not known to be a fat tree")
    level, number = place[:, 0].astype(np.int64), place[:, 1]
    leaves = network.terminal_count
    span = np.array(levels.leaves, float)[level]
    along = (number + 0.5) * span - 0.5
    if leaves <= TREE_LIMIT:
        rise = max(1.3, 0.45 * leaves / max(levels.height, 1))
        return Layout.of(network, np.stack([along, level * rise], axis=1))
    radius = leaves / (2 * np.pi) * (1 - level / levels.height)
    angle = 2 * np.pi * (along + 0.5) / leaves
    positions = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    return Layout.of(network, positions, STRAIGHT, "Root in the middle, leaves on the rim.")


def by_tiers(network: Network, tiers: Tiers) -> Layout:
    """Place switches in rows, each spread over the same width, or on circles if there are many terminals.

    On circles the larger tiers are further out.
    """
    widest = max(tiers.sizes)
    share = np.concatenate([(np.arange(size) + 0.5) / size for size in tiers.sizes])
    if widest <= TREE_LIMIT:
        rise = max(1.5, 0.35 * widest / max(max(tiers.rows), 1))
        row = np.repeat(tiers.rows, tiers.sizes)
        return Layout.of(network, np.stack([share * widest - 0.5, row * rise], axis=1))
    order = sorted(range(len(tiers.sizes)), key=lambda tier: (-tiers.sizes[tier], tiers.rows[tier]))
    gap = max(1.2, widest / (2 * np.pi * len(order)))
    reach, at = 0.0, np.zeros(len(order))
    for tier in reversed(order):  # from the middle outwards, at least a unit between neighbors
        at[tier] = reach if tiers.sizes[tier] == 1 else max(reach, 0.5 / np.sin(np.pi / tiers.sizes[tier]))
        reach = at[tier] + gap
    radius, angle = np.repeat(at, tiers.sizes), 2 * np.pi * share
    positions = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    names = ", ".join(tiers.names[tier] for tier in order)
    return Layout.of(network, positions, STRAIGHT, f"From the rim to the middle: {names}.")
