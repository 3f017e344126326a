"""Which rank goes on which terminal: orders along dimensions, tiles of tori, embeddings, and a search by swaps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.networks.recognition import recognition

__all__ = [
    "PARTIAL",
    "Axes",
    "Host",
    "annealed",
    "axes_of_graph",
    "axes_of_groups",
    "embedded",
    "hop_sum",
    "host_grid",
    "placements_along_axes",
    "placements_by_tiles",
    "placements_sheared",
]

Ints = npt.NDArray[np.int64]
Distances = npt.NDArray[np.integer]

_MOST = 400
"""Placements along axes that are made."""
_NEAR = 8
"""Nearest terminals of each terminal, beside which ranks are tried."""
_TILES = 40
"""Tilings of a torus of which placements are made, those of the least distances inside a tile."""
PARTIAL = 300_000
"""Partial placements that the search for an embedding looks at."""


@njit(cache=True, nogil=True)
def _anneal(first, other, amount, far, nearest, place, rank_at, random, warm, cold):
    """Swap the ranks of two terminals again and again, where that costs more less and less often.

    Rank r exchanges ``amount[i]``, both ways, with rank ``other[i]`` for i from ``first[r]`` to ``first[r + 1]``.
    `place` int64[T] has the terminal of each rank and `rank_at` the rank of each terminal; `random` float64[k, 4] are
    the draws of k swaps. The temperature falls from `warm` to `cold`; in the last fifth nothing that costs more is
    accepted. Return by how much the sum of amounts times distances fell.
    """
    t, swaps = first.size - 1, random.shape[0]
    fall = np.exp(np.log(cold / warm) / max(1, swaps * 4 // 5))
    heat, gained = warm, 0.0
    for k in range(swaps):
        heat *= fall
        r = int(random[k, 0] * t)
        degree = first[r + 1] - first[r]
        if degree > 0 and random[k, 1] < 0.7:  # to a terminal near one that it has to do with
            q = other[first[r] + int(random[k, 1] / 0.7 * degree)]
            s = rank_at[nearest[place[q], int(random[k, 2] * nearest.shape[1])]]
        else:
            s = int(random[k, 2] * t)
        if r == s:
            continue
        a, b = place[r], place[s]
        change = 0.0
        for i in range(first[r], first[r + 1]):
            q = other[i]
            if q != s:
                change += amount[i] * (far[b, place[q]] - far[a, place[q]])
        for i in range(first[s], first[s + 1]):
            q = other[i]
            if q != r:
                change += amount[i] * (far[a, place[q]] - far[b, place[q]])
        if change <= 0.0 or (k < swaps * 4 // 5 and random[k, 3] < np.exp(-change / heat)):
            place[r], place[s] = b, a
            rank_at[a], rank_at[b] = s, r
            gained -= change
    return gained


def hop_sum(near: Any, far: Distances, place: Ints) -> int:
    """Return the sum of amounts, a sparse matrix by ranks, times distances where ranks are on the terminals `place`."""
    rows = np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
    return int((near.data * far[place[rows], place[near.indices]]).sum())


def annealed(
    near: Any, far: Distances, place: Ints, rng: np.random.Generator, *, swaps: int, warm: float = 2.0
) -> Ints:
    """Return a placement that a search by swaps finds from another one; never one with a larger `hop_sum`.

    * `near` (sparse matrix, int64[T, T]): how much each rank exchanges with each other.
    * `far` (int[T, T]): hops between terminals, or what they cost.
    * `place` (int64[T]): the terminal of each rank at first.
    * `rng` (numpy.random.Generator): for the draws.
    * `swaps` (int): swaps that are tried.
    * `warm` (float): the first temperature, in hops of the mean amount; low ones keep what is good.
    """
    both = (near + near.T).tocsr()
    symmetric = np.maximum(far, far.T) if not np.array_equal(far, far.T) else far
    count = min(_NEAR, far.shape[0] - 1)
    nearest = np.argsort(symmetric, axis=1, kind="stable")[:, 1 : count + 1].astype(np.int32)
    now = np.array(place, np.int64)
    rank_at = np.argsort(now)
    unit = float(both.data.mean()) if both.nnz else 1.0
    block = 1 << 18
    heats = np.geomspace(warm * unit, 0.05 * unit, -(-swaps // block) + 1)
    for heat, cooler in itertools.pairwise(heats.tolist()):
        draws = rng.random((min(block, swaps), 4))
        _anneal(
            both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data.astype(np.float64), symmetric,
            nearest, now, rank_at, draws, heat, cooler,
        )  # fmt: skip
    return now if hop_sum(near, far, now) <= hop_sum(near, far, place) else np.array(place, np.int64)


# Orders along dimensions.
#
# The ranks of a job often have coordinates: the number of a group and the place in it, or a place in a ring, a mesh, a
# torus. The terminals of a network have coordinates too. Each side of the job is divided among the sides of the
# network; where two sides of the job share one side of the network, one of them runs faster. A side that is divided is
# run through back and forth, so that neighbors stay neighbors, or around a cycle of its box if it is closed.


class Axes(NamedTuple):
    """Coordinates of ranks: `sides`, the `closed` ones of which are rings, and `places` int64[T, k]."""

    sides: tuple[int, ...]
    closed: tuple[bool, ...]
    places: Ints


def axes_of_groups(partitions: Sequence[Sequence[Sequence[int]]], terminals: int) -> Axes | None:
    """Return the coordinates of ranks that divisions into groups of equal size give, None if they give none.

    >>> axes_of_groups([[[0, 1], [2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]]], 6).sides
    (3, 2)
    >>> axes_of_groups([[[0, 1, 2], [3, 4, 5]]], 6).places[:, 0].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    numbers = []
    for groups in partitions:
        number = np.full(terminals, -1, np.int64)
        for g, group in enumerate(groups):
            number[list(group)] = g
        sizes = {len(group) for group in groups}
        if len(sizes) == 1 and number.min() >= 0 and len(groups) * sizes.pop() == terminals:
            numbers.append(number)
    for chosen in (numbers[:3], numbers[:2], numbers[:1]):
        if not chosen:
            return None
        places = np.stack(chosen, axis=1)
        sides = tuple(int(column.max()) + 1 for column in places.T)
        if len(chosen) == 1:
            inner = np.zeros(terminals, np.int64)
            order = np.argsort(places[:, 0], kind="stable")
            inner[order] = np.arange(terminals) % (terminals // sides[0])
            places, sides = np.stack([places[:, 0], inner], axis=1), (sides[0], terminals // sides[0])
        if math.prod(sides) == terminals and np.unique(places, axis=0).shape[0] == terminals:
            return Axes(sides, (False,) * len(sides), places)
    return None


def axes_of_graph(near: Any) -> Axes | None:
    """Return the coordinates of ranks that exchange as the nodes of equal arrays or tori do."""
    from scipy.sparse.csgraph import connected_components

    t = near.shape[0]
    graph = ((near + near.T) > 0).tocsr()
    count, part = connected_components(graph, directed=False)
    sizes = np.bincount(part, minlength=count)
    if count == t or np.unique(sizes).size > 1:
        return None
    found: list[tuple[tuple[int, ...], tuple[bool, ...]]] = []
    inner: Ints | None = None
    for k in range(count):
        ranks = np.flatnonzero(part == k)
        mine = graph[ranks][:, ranks].tocoo()
        order = np.lexsort((mine.col, mine.row))
        source, target = mine.row[order].astype(np.int32), mine.col[order].astype(np.int32)
        known = recognition(Network("ranks", ranks.size, source, target, links_only=True))
        grid = None if known.original is None else known.original.grid
        if grid is None or known.place is None:
            return None
        if inner is None:
            inner = np.zeros((t, grid.dimensions), np.int64)
        found.append((tuple(grid.sides), tuple(grid.wraps)))
        if found[-1] != found[0]:
            return None
        inner[ranks] = known.place[:, None] // np.array(grid.strides) % np.array(grid.sides)
    assert inner is not None
    sides, closed = found[0]
    if count == 1:
        return Axes(sides, closed, inner)
    return Axes((count, *sides), (False, *closed), np.concatenate([part[:, None].astype(np.int64), inner], axis=1))


class Host(NamedTuple):
    """The grid that a network is: `sides`, whether they are closed, and the terminal at each place, int64[T]."""

    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    terminal_at: Ints


def host_grid(network: Network) -> Host:
    """Return the sides of a network and the terminal at each place in the order of coordinates.

    The sides of an array or torus, under any numbering; of others those of servers or levels are not looked for: all
    terminals in their order.
    """
    t = network.terminal_count
    if t == network.node_count:
        if network.grid is not None:
            return Host(tuple(network.grid.sides), tuple(network.grid.wraps), np.arange(t))
        known = recognition(network)
        if known.original is not None and known.original.grid is not None and known.place is not None:
            grid = known.original.grid
            return Host(tuple(grid.sides), tuple(grid.wraps), np.argsort(known.place).astype(np.int64))
    return Host((t,), (False,), np.arange(t))


def placements_along_axes(axes: Axes, host: Host) -> Iterator[Ints]:
    """Yield placements int64[T] of ranks on terminals, both with coordinates, the most compact ones first."""
    sides, _, terminal_at = host
    strides = np.cumprod((1, *sides[:0:-1]))[::-1]
    made = 0
    for pieces in _divisions(axes.sides, sides):
        for order in itertools.permutations(range(len(axes.sides))):
            node = np.zeros(terminal_at.size, np.int64)
            step = list(strides)
            for axis in order:  # the first runs fastest along every side of the network
                box = pieces[axis]
                at = _along(box, axes.closed[axis])[axes.places[:, axis]]
                for d, piece in enumerate(box):
                    node += at[:, d] * step[d]
                    step[d] *= piece
            yield terminal_at[node]
            made += 1
            if made == _MOST:
                return


def _divisions(job: Sequence[int], host: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield, for each side of a job, its piece of each side of a network, such that the pieces fill the sides."""
    if not job:
        if all(side == 1 for side in host):
            yield ()
        return
    for box in _boxes(job[0], host):
        rest = tuple(side // piece for side, piece in zip(host, box, strict=True))
        for others in _divisions(job[1:], rest):
            yield (box, *others)


def _boxes(size: int, sides: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the boxes of a size whose sides divide others, the most compact ones first.

    >>> _boxes(4, (4, 4))
    [(2, 2), (1, 4), (4, 1)]
    """
    if not sides:
        return [()] if size == 1 else []
    found = [
        (piece, *others)
        for piece in range(1, size + 1)
        if size % piece == 0 and sides[0] % piece == 0
        for others in _boxes(size // piece, sides[1:])
    ]
    return sorted(found, key=lambda box: (sum(box), box))


def _along(box: tuple[int, ...], closed: bool) -> Ints:
    """Return the places of a box, back and forth; around a cycle of it if they are `closed` and there is a simple one.

    >>> _along((2, 3), False).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 2], [1, 1], [1, 0]]
    >>> _along((3, 2), True).tolist()
    [[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1]]
    """
    wide = [d for d, piece in enumerate(box) if piece > 1]
    even = next((d for d in wide if box[d] % 2 == 0), None)
    if closed and len(wide) >= 2 and even is not None:
        # all but the first place of another side are run through back and forth, and the way back is through that place
        back = next(d for d in wide if d != even)
        trimmed = tuple(piece - (d == back) for d, piece in enumerate(box))
        order = [d for d in range(len(box)) if d != even]
        there = _snake(tuple(trimmed[d] for d in (even, *order)))
        forth = np.empty_like(there)
        for place, d in enumerate((even, *order)):
            forth[:, d] = there[:, place] + (d == back)
        if len(wide) == 2:
            line = np.zeros((box[even], len(box)), np.int64)
            line[:, even] = np.arange(box[even])[::-1]
            return np.roll(np.concatenate([forth, line]), 1, axis=0)
    return _snake(box)


def _snake(box: tuple[int, ...]) -> Ints:
    """Return the places of a box so that each is a neighbor of the one before, int64[size, k]."""
    if not box:
        return np.zeros((1, 0), np.int64)
    inner = _snake(box[1:])
    rows = []
    for x in range(box[0]):
        mine = inner if x % 2 == 0 else inner[::-1]
        rows.append(np.concatenate([np.full((mine.shape[0], 1), x, np.int64), mine], axis=1))
    return np.concatenate(rows)


# Groups on a torus: a sublattice of the torus has as many places as there are groups; the places that are nearer to 0
# than to its other places are a tile, and its translates are the groups. Tiles may be hexagons, which can be
# more compact than boxes.


def placements_by_tiles(axes: Axes, host: Host) -> Iterator[Ints]:
    """Yield placements int64[T] where ranks of one first coordinate are on a tile of a torus, the most compact first.

    `axes` (Axes): of groups: the number of the group, and the place in it. `host` (Host): a torus; of others nothing is
    yielded.

    >>> axes = axes_of_groups([[range(8 * g, 8 * g + 8) for g in range(8)]], 64)
    >>> place = next(placements_by_tiles(axes, Host((8, 8), (True, True), np.arange(64))))
    >>> x = np.stack(np.divmod(place[:8], 8), axis=1)
    >>> apart = np.abs(x[:, None] - x)
    >>> int(np.minimum(apart, 8 - apart).sum(axis=2).max())  # hops between two ranks of a group
    3
    """
    if len(axes.sides) != 2 or not all(host.wraps) or min(axes.sides) == 1:
        return
    sides = np.array(host.sides, np.int64)
    at = np.stack(np.unravel_index(np.arange(int(sides.prod())), host.sides), axis=1).astype(np.int64)
    orders = [_by_distance(at, center, sides) for center in itertools.product((0, 1), repeat=len(sides))]
    found: list[tuple[int, int, int, Ints, Ints]] = []
    for basis in _sublattices(axes.sides[1], host.sides):
        coset = _cosets(at, basis)
        for order in orders:
            tile = order[np.unique(coset[order], return_index=True)[1]]
            apart = np.abs(at[tile][:, None] - at[tile])
            apart = np.minimum(apart, sides - apart).sum(axis=2)
            found.append(
                (int(apart.sum()), int(apart.max()), -int((apart == 1).sum()), tile, np.flatnonzero(coset == 0))
            )
    found.sort(key=lambda each: each[:3])
    for *_, tile, lattice in found[:_TILES]:
        here = (at[lattice[axes.places[:, 0]]] + at[tile[axes.places[:, 1]]]) % sides
        yield host.terminal_at[np.ravel_multi_index(tuple(here.T), host.sides)]


def _by_distance(at: Ints, center: Sequence[int], sides: Ints) -> Ints:
    """Return the places of a torus by their distance from the node 0, or a point halfway to others, int64[n]."""
    twice = (2 * at - center + sides) % (2 * sides) - sides
    return np.lexsort((np.arange(len(at)), (twice**2).sum(axis=1), np.abs(twice).sum(axis=1)))


def _sublattices(index: int, sides: Sequence[int]) -> Iterator[Ints]:
    """Yield the bases of the lattices of an index that contain the sides of a torus, in Hermite normal form."""
    if not sides:
        if index == 1:
            yield np.zeros((0, 0), np.int64)
        return
    k = len(sides)
    for first in range(1, index + 1):
        if index % first:
            continue
        for inner in _sublattices(index // first, sides[1:]):
            for rest in itertools.product(*(range(int(inner[d, d])) for d in range(k - 1))):
                basis = np.zeros((k, k), np.int64)
                basis[0, 0], basis[0, 1:], basis[1:, 1:] = first, rest, inner
                if not _cosets(np.diag(np.array(sides, np.int64)), basis).any():
                    yield basis


def _cosets(at: Ints, basis: Ints) -> Ints:
    """Return the number of the coset of a lattice in which each vector is, int64[n]; 0 for those of the lattice."""
    left = at.copy()
    number = np.zeros(len(at), np.int64)
    for d in range(basis.shape[0]):
        times, rest = np.divmod(left[:, d], basis[d, d])
        left -= times[:, None] * basis[d]
        number = number * basis[d, d] + rest
    return number


def placements_sheared(axes: Axes, host: Host) -> Iterator[Ints]:
    """Yield placements int64[T] of a p x q mesh on a grid of p s x q / s: in s layers, or as a band that winds around.

    Layers: the rows of the mesh are s rows apart, and each of its columns runs to and fro between them, so that
    neighbors are 1 or s hops apart; those of a torus too if s is 2. A band, on a torus: each time around it moves on by
    its width p, a row every q / (s p) columns: neighbors are 2 hops apart at most if that is 1 column or more, also
    those of a torus: rings across the band are folded.

    >>> axes = Axes((4, 16), (False, False), np.stack(np.divmod(np.arange(64), 16), axis=1))
    >>> place, layers, *_ = placements_sheared(axes, Host((8, 8), (True, True), np.arange(64)))
    >>> place.reshape(4, 16)[0].tolist()
    [0, 1, 10, 11, 20, 21, 30, 31, 32, 33, 42, 43, 52, 53, 62, 63]
    >>> layers.reshape(4, 16)[0].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 15, 14, 13, 12, 11, 10, 9, 8]
    """
    if len(axes.sides) != 2 or len(host.sides) != 2:
        return
    for along, around in ((0, 1), (1, 0)):
        width, length = axes.sides[along], axes.sides[around]
        for high, wide in ((0, 1), (1, 0)):
            rows, columns = host.sides[high], host.sides[wide]
            if width < 2 or rows % width or rows == width or length * width != rows * columns:
                continue
            i, j = axes.places[:, along], axes.places[:, around]
            folded = np.minimum(2 * i, 2 * (width - 1 - i) + 1) if axes.closed[along] else i
            if all(host.wraps):
                yield _placed_at(host, high, (folded + j * width // columns) % rows, j % columns)
            layer, across = j // columns, j % columns
            i = i if host.wraps[high] else folded
            yield _placed_at(host, high, i * (rows // width) + layer, np.where(layer % 2, columns - 1 - across, across))


def _placed_at(host: Host, high: int, row: Ints, column: Ints) -> Ints:
    """Return the terminals of a two-dimensional grid in rows, along the dimension `high`, and columns."""
    at = (row, column) if high == 0 else (column, row)
    return host.terminal_at[np.ravel_multi_index(at, host.sides)]


@njit(cache=True, nogil=True)
def _embed(order, first, other, degree, near_first, near, starts, most):
    """Put ranks in `order` on free terminals so that all that exchange are on terminals that are near each other.

    Rank r exchanges with ``other[first[r]:first[r + 1]]``, terminal v is near to ``near[near_first[v]:...]``, sorted.
    The first rank goes on one of `starts`. A terminal that is taken keeps as many free ones near it as its rank still
    needs. Return the terminal of each rank, -1 for those that are not placed; and the partial placements that were
    looked at, more than `most` if the search was given up.
    """
    ranks, t = order.size, near_first.size - 1
    place, rank_at = np.full(first.size - 1, -1, np.int64), np.full(t, -1, np.int64)
    free, wants = np.empty(t, np.int64), degree.copy()
    for v in range(t):
        free[v] = near_first[v + 1] - near_first[v]
    tried = np.zeros(ranks, np.int64)  # candidates that were tried at each depth
    looked = depth = 0
    while depth < ranks:
        r = order[depth]
        if place[r] >= 0:  # back from a deeper level: take it off again
            v = place[r]
            place[r], rank_at[v] = -1, -1
            for i in range(near_first[v], near_first[v + 1]):
                free[near[i]] += 1
            for i in range(first[r], first[r + 1]):
                wants[other[i]] += 1
        anchor = -1
        for i in range(first[r], first[r + 1]):
            if place[other[i]] >= 0:
                anchor = place[other[i]]
                break
        count = near_first[anchor + 1] - near_first[anchor] if anchor >= 0 else (starts.size if depth == 0 else t)
        put = False
        while tried[depth] < count and not put:
            k = tried[depth]
            tried[depth] += 1
            v = near[near_first[anchor] + k] if anchor >= 0 else (starts[k] if depth == 0 else k)
            if rank_at[v] >= 0 or near_first[v + 1] - near_first[v] < degree[r] or free[v] < wants[r]:
                continue
            fits = True
            for i in range(first[r], first[r + 1]):
                at = place[other[i]]
                if at >= 0:
                    there = near[near_first[v] : near_first[v + 1]]
                    j = np.searchsorted(there, at)
                    if j == there.size or there[j] != at:
                        fits = False
                        break
            if not fits:
                continue
            looked += 1
            place[r], rank_at[v] = v, r
            for i in range(near_first[v], near_first[v + 1]):
                free[near[i]] -= 1
            for i in range(first[r], first[r + 1]):
                wants[other[i]] -= 1
            put = True
            for i in range(near_first[v], near_first[v + 1]):
                s = rank_at[near[i]]
                if s >= 0 and free[near[i]] < wants[s]:
                    put = False
                    break
            if not put:
                place[r], rank_at[v] = -1, -1
                for i in range(near_first[v], near_first[v + 1]):
                    free[near[i]] += 1
                for i in range(first[r], first[r + 1]):
                    wants[other[i]] += 1
        if looked > most:
            return place, looked
        if put:
            depth += 1
            if depth < ranks:
                tried[depth] = 0
        elif depth == 0:
            return np.full(first.size - 1, -1, np.int64), looked
        else:
            depth -= 1
    return place, looked


def embedded(near: Any, close: Any, starts: Ints, most: int = PARTIAL) -> tuple[Ints | None, int]:
    """Return a placement where all ranks that exchange are on terminals that are close, if a search finds one.

    Parameters
    ----------
    near : sparse matrix, int64[T, T]
        Which ranks exchange, in any direction.
    close : sparse matrix, bool[T, T]
        Which terminals are close, symmetric.
    starts : int64[k]
        Terminals on which the first rank is tried; one of each that a symmetry takes into each other is enough.
    most : int
        Partial placements after which the search is given up.

    Returns
    -------
    place : int64[T] or None
        The terminal of each rank.
    looked : int
        Partial placements that were looked at. Where `place` is None and these are not more than `most`, there is no
        such placement: the search was complete.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> ring = csr_array(np.roll(np.eye(6, dtype=int), 1, axis=1))
    >>> path = csr_array(np.eye(6, k=1, dtype=int))
    >>> embedded(path, ring + ring.T, np.array([0]))[0].tolist()
    [5, 0, 1, 2, 3, 4]
    >>> embedded(ring, path + path.T, np.arange(6))
    (None, 16)
    """
    pairs = ((near + near.T) > 0).tocsr()
    close = close.tocsr()
    close.sort_indices()
    t = pairs.shape[0]
    degree = np.diff(pairs.indptr).astype(np.int64)
    order = _most_placed_first(pairs, degree)
    idle = np.flatnonzero(degree == 0)
    first, other, near_first = (each.astype(np.int64) for each in (pairs.indptr, pairs.indices, close.indptr))
    place, looked = _embed(order, first, other, degree, near_first, close.indices.astype(np.int64), starts, most)
    if looked > most or (place[order] < 0).any():
        return None, int(looked)
    place[idle] = np.setdiff1d(np.arange(t), place[order])
    return place, int(looked)


def _most_placed_first(pairs: Any, degree: Ints) -> Ints:
    """Return the ranks that exchange in an order where each has as many partners before it as it can, int64[k]."""
    import heapq

    before = np.zeros(degree.size, np.int64)
    done = degree == 0
    order: list[int] = []
    heap = [(0, -int(degree[r]), r) for r in range(degree.size) if not done[r]]
    heapq.heapify(heap)
    while heap:
        count, _, r = heapq.heappop(heap)
        if done[r] or -count != before[r]:
            continue
        done[r] = True
        order.append(r)
        for q in pairs.indices[pairs.indptr[r] : pairs.indptr[r + 1]].tolist():
            if not done[q]:
                before[q] += 1
                heapq.heappush(heap, (-int(before[q]), -int(degree[q]), q))
    return np.array(order, np.int64)
