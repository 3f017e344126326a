"""Where the nodes of a network stand in the plane: one family of layouts a file, over the record in `layout`."""

from __future__ import annotations

import numpy as np

from gossamer.networks.finite_groups import AbelianGroup, CubeRotationGroup, PermutationGroup
from gossamer.networks.network import Network
from gossamer.networks.structures import Groups, Tiers
from gossamer.plots.layouts.graphs import (
    by_factors,
    by_groups,
    by_last_symbol,
    by_levels,
    by_tiers,
    by_words,
    stress_positions,
)
from gossamer.plots.layouts.grids import by_bits, by_digits
from gossamer.plots.layouts.layout import ARC, STRAIGHT, STUB, Box, Layout, Points, around_nodes, circle, oblique
from gossamer.plots.layouts.machines import by_distance_from_terminals

__all__ = ["ARC", "STRAIGHT", "STUB", "Box", "Layout", "Points", "circle", "lay_out", "oblique"]

# Which layout a network gets, by what is known of it.

CIRCLE_LIMIT = 256
"""Up to this many nodes of one dimension stand on a circle; more of them in rows."""


def lay_out(network: Network) -> Layout:
    """Return the places of the nodes and the shapes of the links, by what is known of the network.

    Arrays and tori stand in rows and columns, their further dimensions as rows and columns of blocks; rings and
    circulants on a circle; trees by levels; other terminals in a row below their switches, by distance, in boxes;
    groups of routers on circles; products and Cayley networks as blocks of smaller ones; any other network where the
    distances on paper are nearest to the distances in hops.

    Notes
    -----
    Deterministic. O(L) time for the known families; for other networks see
    `gossamer.plots.layouts.graphs.stress_positions`.

    Examples
    --------
    >>> import gossamer
    >>> lay_out(gossamer.network("array:2x3")).positions.tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    return around_nodes(network, _laid_out(network))


def _laid_out(network: Network) -> Layout:
    if network.levels is not None:
        return by_levels(network)
    groups = network.find(Groups)
    machine = by_distance_from_terminals(network) if groups is None else None
    if machine is not None:
        return machine
    tiers = network.find(Tiers)
    if tiers is not None:
        return by_tiers(network, tiers)
    if groups is not None:
        return by_groups(network, groups)
    if network.grid is not None:
        wraps = network.grid.wraps
        if len(wraps) == 1 and wraps[0] and network.node_count <= CIRCLE_LIMIT:
            return Layout.of(network, circle(network.node_count))
        if set(network.grid.sides) == {2} and network.group is not None:
            return by_bits(network, len(network.grid.sides))
        return by_digits(network, network.grid.sides, wraps)
    if isinstance(network.group, AbelianGroup):
        moduli = network.group.moduli
        if len(moduli) == 1 and network.node_count <= CIRCLE_LIMIT:
            return Layout.of(network, circle(network.node_count))
        return by_digits(network, moduli)
    if network.factors:
        return by_factors(network, [lay_out(factor) for factor in network.factors])
    if isinstance(network.group, CubeRotationGroup):
        return by_words(network, network.group.bits)
    if isinstance(network.group, PermutationGroup) and network.group.symbols > 2:
        return by_last_symbol(network, network.group)
    sides = _sides_of(network)
    if sides is not None and network.coordinates is not None:
        return by_digits(network, sides, digits=network.coordinates)
    return Layout.of(network, stress_positions(network))


def _sides_of(network: Network) -> tuple[int, ...] | None:
    """Return the sides of a grid on which a network with coordinates can stand, None if there is no sensible one."""
    place = network.coordinates
    if place is None or place.shape[1] == 0 or len(np.unique(place, axis=0)) < len(place) or int(place.min()) < 0:
        return None
    sides = tuple(int(s) for s in place.max(axis=0) + 1)
    cells = np.prod([float(s) for s in sides])
    return sides if cells <= 4 * network.node_count + 16 else None
