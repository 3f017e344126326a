"""Layout of products: copies of the last factor in the places of the factors before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.networks.groups import AbelianGroup
from gossamer.networks.network import Network
from gossamer.plots.layouts.grids import ARC_LIMIT, by_digits
from gossamer.plots.layouts.layout import STRAIGHT, STUB, Layout

__all__ = ["by_factors"]

_GAP = 1.5


def by_factors(network: Network, factor_layouts: Sequence[Layout]) -> Layout:
    """Place a product: the last factor as it stands alone, copied to where the nodes of the factors before stand."""
    factors = network.factors
    if all(_one_dimensional(f) for f in factors):
        return by_digits(network, [f.node_count for f in factors])
    last, block = factors[-1], factor_layouts[-1]
    positions = block.positions
    for outer in reversed(factor_layouts[:-1]):
        pitch = float(np.ptp(positions, axis=0).max()) + 1 + _GAP
        positions = (outer.positions[:, None, :] * pitch + positions[None, :, :]).reshape(-1, 2)
    source, inner = network.link_source, last.node_count
    within = np.flatnonzero(source // inner == network.link_target // inner)
    # the last factor's links are the last of every node, in their own order
    own = last.first_link[source[within] % inner + 1] - (network.first_link[source[within] + 1] - within)
    few = len(source) - len(within) <= 2 * ARC_LIMIT
    straight = Layout.of(network, positions)
    shape = np.full(len(source), STRAIGHT if few else STUB)
    shape[within] = block.shape[own]
    direction = straight.direction.copy()
    direction[within] = block.direction[own]
    note = () if few else ("Stubs that leave a block are links to the same place in another block.",)
    return Layout(positions, shape, direction, (), (*block.notes, *note))


def _one_dimensional(network: Network) -> bool:
    if network.grid is not None:
        return network.grid.dimensions == 1
    return isinstance(network.group, AbelianGroup) and len(network.group.moduli) == 1
