"""Layouts by what a network is: Cayley networks by words, others by levels, tiers, factors, groups or by distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.finite_groups import AbelianGroup, PermutationGroup
from gossamer.networks.network import Network
from gossamer.networks.structures import Groups, Tiers
from gossamer.plots.layouts.grids import ARC_LIMIT, bit_pairs, by_digits, grid_positions
from gossamer.plots.layouts.layout import ARC, STRAIGHT, STUB, Layout, Points, circle

# Layout of networks whose nodes come in groups: a circle of circles.


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


# Layout of products: copies of the last factor in the places of the factors before.


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


# Layouts of fat trees and of tiers of switches: terminals in a row or on a circle, switches amid theirs.

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


# Places for the nodes of any network, such that distances on paper follow distances in hops.

PIVOTS = 100
"""Networks with more nodes than EXACT are measured from this many nodes only, chosen far from each other."""
EXACT = 500
ROUNDS = 80
_ROOM = 0.55


def stress_positions(network: Network) -> Points:
    """Return places that make the stress small, float64[N, 2], neighbors about one unit apart.

    The stress is the sum over pairs of nodes of ``(|x_i - x_j| - d_ij)^2 / d_ij^2``, with d the distance in hops in
    either direction. It starts from classical scaling; nodes on top of each other are moved apart at the end.

    O(rounds * N * min(N, pivots)) time; no random numbers.

    Source: Gansner, Koren, North, "Graph drawing by stress majorization", GD 2004; Brandes, Pich, "Eigensolver methods
    for progressive multidimensional scaling of large data", GD 2006.

    >>> import gossamer
    >>> path = gossamer.network("array:3")
    >>> bool(np.ptp(stress_positions(path), axis=0).max() > 1.9)
    True
    """
    n = network.node_count
    if n <= 2:
        return circle(n)
    pivots, distance = _distances(network)
    x = _classical_scaling(distance)
    # each node against every pivot and against its neighbors
    source, target = network.link_source, network.link_target
    own, other = np.concatenate([source, target]), np.concatenate([target, source])
    weight = np.where(distance > 0, 1.0 / np.maximum(distance, 1e-9) ** 2, 0.0)
    wanted = weight * distance
    total = weight.sum(axis=1) + np.bincount(own, minlength=n)
    for _ in range(ROUNDS):
        fixed = x[pivots]
        length = np.hypot(x[:, :1] - fixed[:, 0], x[:, 1:] - fixed[:, 1])
        push = wanted / np.maximum(length, 1e-9)
        pull = (weight - push) @ fixed + push.sum(axis=1, keepdims=True) * x
        link = x[own] - x[other]
        place = x[other] + link / np.maximum(np.hypot(link[:, 0], link[:, 1]), 1e-9)[:, None]
        for axis in range(2):
            pull[:, axis] += np.bincount(own, place[:, axis], minlength=n)
        x = 0.4 * x + 0.6 * pull / total[:, None]
    return _roomy(_apart(x))


def _distances(network: Network) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the pivots and the hops between every node and every pivot, float64[N, pivots]."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = network.node_count
    ones = np.ones(network.link_count, np.int8)
    matrix = csr_array((ones, (network.link_source, network.link_target)), shape=(n, n))

    def hops(start: Any) -> npt.NDArray[np.float64]:
        found = np.asarray(dijkstra(matrix, directed=False, unweighted=True, indices=start))
        reached = np.isfinite(found)
        return np.where(reached, found, 2.0 + float(found[reached].max()))

    if n <= EXACT:
        return np.arange(n), hops(np.arange(n)).T
    pivots = [int(np.argmax(np.bincount(network.link_source, minlength=n)))]
    columns = [hops(pivots[0])]
    nearest = columns[0]
    while len(pivots) < PIVOTS:
        pivots.append(int(np.argmax(nearest)))
        columns.append(hops(pivots[-1]))
        nearest = np.minimum(nearest, columns[-1])
    return np.array(pivots), np.stack(columns, axis=1)


def _classical_scaling(distance: npt.NDArray[np.float64]) -> Points:
    """Return the plane that shows the distances to the pivots best, sized to match them."""
    square = distance**2
    centered = square - square.mean(axis=0) - square.mean(axis=1, keepdims=True) + square.mean()
    values, vectors = np.linalg.eigh(centered.T @ centered)  # squares of the singular values, ascending
    flat = np.zeros((len(distance), 2))
    keep = min(2, len(values))
    size = np.maximum(values[::-1][:keep], 1e-12) ** 0.25
    flat[:, :keep] = centered @ vectors[:, ::-1][:, :keep] / size
    flat *= np.where(flat[np.abs(flat).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    spread = np.sqrt((flat**2).sum(axis=1).mean())
    flat *= np.sqrt((square.mean()) / 2) / max(float(spread), 1e-9)
    # a little disorder, the same every time, so that nodes with equal distances do not stay together
    golden = np.arange(len(flat)) * 2.399963
    return flat + 0.05 * np.stack([np.cos(golden), np.sin(golden)], axis=1)


def _roomy(x: Points) -> Points:
    """Enlarge the picture until most nodes are at least a unit from their nearest neighbor."""
    from scipy.spatial import cKDTree

    nearest = np.asarray(cKDTree(x).query(x, k=2)[0])[:, 1]
    return x / min(1.0, max(float(np.quantile(nearest, 0.1)), 0.3))


def _apart(x: Points) -> Points:
    """Push nodes apart that are closer than _ROOM, a few times over the whole picture."""
    from scipy.spatial import cKDTree

    for _ in range(60):
        pairs = cKDTree(x).query_pairs(_ROOM, output_type="ndarray")
        if not len(pairs):
            break
        a, b = pairs[:, 0], pairs[:, 1]
        way = x[a] - x[b]
        length = np.hypot(way[:, 0], way[:, 1])
        flat = length < 1e-9
        turn = 2.399963 * (a + 1)[flat]
        way[flat] = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        length[flat] = 1.0
        push = way / length[:, None] * (0.26 * np.maximum(_ROOM - np.where(flat, 0, length), 0.02))[:, None]
        for axis in range(2):
            x[:, axis] += np.bincount(a, push[:, axis], minlength=len(x))
            x[:, axis] -= np.bincount(b, push[:, axis], minlength=len(x))
    return x


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
