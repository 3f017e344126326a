"""Layouts of Cayley networks: of words and rotations by words or ranks, of arrangements by their last symbols."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.networks.groups import PermutationGroup
from gossamer.networks.network import Network
from gossamer.plots.layouts.grids import ARC_LIMIT, bit_pairs, grid_positions
from gossamer.plots.layouts.layout import ARC, STRAIGHT, STUB, Layout, circle

__all__ = ["by_last_symbol", "by_words"]

RANKS_LIMIT = 5
"""Butterflies of up to this many bits are drawn rank by rank."""
_GAP = 1.5


def by_words(network: Network, bits: int) -> Layout:
    """Place cube-connected cycles and butterflies: by ranks if small and without links inside a rank, else by words."""
    node = np.arange(network.node_count)
    word, place = node // bits, node % bits
    generators = network.generators
    if bits <= RANKS_LIMIT and bool((generators % bits != 0).all()):
        rise = np.maximum(1.5, 0.8 * 2.0 ** np.arange(bits - 1))  # links go further aside from rank to rank
        positions = np.stack([word.astype(float), -np.append(0, np.cumsum(rise))[place]], axis=1)
        layout = Layout.of(network, positions)
        step = place[network.link_target] - place[network.link_source]
        around = np.abs(step) == bits - 1 if bits > 2 else np.zeros(len(step), bool)
        aside = np.sign(word[network.link_target] - word[network.link_source])
        direction = np.where(around[:, None], np.stack([0.6 * aside, -np.sign(-step)], axis=1), layout.direction)
        direction /= np.hypot(direction[:, 0], direction[:, 1])[:, None]
        notes = ("Rows are ranks; stubs lead from the last rank back to the first.",) if around.any() else ()
        return Layout(positions, np.where(around, STUB, STRAIGHT), direction, (), notes)
    cell = circle(bits)
    size = float(np.ptp(cell, axis=0).max()) + 1.0
    sides, digits, _ = bit_pairs(word, bits)
    corners, _ = grid_positions(sides, digits, 0.25)
    positions = corners * (size + 0.2) + cell[place]
    across = word[network.link_source] != word[network.link_target]
    way = np.abs(corners[network.link_target] - corners[network.link_source]).max(axis=1)
    far = across & (way > 1.01)
    if int(across.sum()) <= ARC_LIMIT:
        return Layout.of(network, positions, np.where(far, ARC, STRAIGHT))
    note = "Each circle is a word of the hypercube; stubs are links to another circle."
    return Layout.of(network, positions, np.where(across, STUB, STRAIGHT), note)


def by_last_symbol(network: Network, group: PermutationGroup) -> Layout:
    """Place a network of arrangements: those with the same last symbol in one block, and so on down to hexagons."""
    symbols = group.symbols
    arrangement = group.arrangement(np.arange(network.node_count)).astype(np.int64)
    order = _hexagon(network, group)
    lower = arrangement[:, :3].argsort(axis=1).argsort(axis=1)  # the first three symbols, as an arrangement of three
    position = np.zeros((network.node_count, 2))
    place = order[PermutationGroup(3).rank(lower)]
    position += circle(6)[place]
    reach = 1.0
    for k in range(3, symbols):
        value = (arrangement[:, :k] < arrangement[:, k : k + 1]).sum(axis=1)
        ring = circle(k + 1) * (2 * reach + _GAP)
        position += ring[value]
        reach += float(np.hypot(*ring[0]))
    inside = (arrangement[network.link_source, 3:] == arrangement[network.link_target, 3:]).all(axis=1)
    if symbols <= 4:
        return Layout.of(network, position)
    note = "Hexagons share all symbols after the third; stubs are links to another hexagon."
    return Layout.of(network, position, np.where(inside, STRAIGHT, STUB), note)


def _hexagon(network: Network, group: PermutationGroup) -> npt.NDArray[np.int64]:
    """Return the place on the hexagon of each arrangement of three symbols: neighbors stand side by side."""
    moves = [m[:3] for m in group.arrangement(network.generators) if (m[3:] == np.arange(3, group.symbols)).all()]
    place = np.arange(6)
    if len(moves) == 2:
        at = np.arange(3)
        for step in range(6):
            place[int(PermutationGroup(3).rank(at))] = step
            at = at[moves[step % 2]]
    return place
