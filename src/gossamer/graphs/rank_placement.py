"""Which rank goes on which terminal: orders that follow the dimensions of job and network, and a search by swaps."""

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

__all__ = ["Axes", "annealed", "axes_of_graph", "axes_of_groups", "hop_sum", "host_sides", "placements_along_axes"]

Ints = npt.NDArray[np.int64]
Distances = npt.NDArray[np.integer]

_MOST = 400
"""Placements along axes that are made."""
_NEAR = 8
"""Nearest terminals of each terminal, beside which ranks are tried."""


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

    Parameters
    ----------
    near : sparse matrix, int64[T, T]
        How much each rank exchanges with each other.
    far : int[T, T]
        Hops between terminals, or what they cost.
    place : int64[T]
        The terminal of each rank at first.
    rng : numpy.random.Generator
        For the draws.
    swaps : int
        Swaps that are tried.
    warm : float
        The first temperature, in hops of the mean amount; low ones keep what is good.
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

    Examples
    --------
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


def host_sides(network: Network) -> tuple[tuple[int, ...], Ints]:
    """Return the sides of a network and the terminal at each place in the order of coordinates, int64[T].

    The sides of an array or torus, under any numbering; of others those of servers or levels are not looked for: all
    terminals in their order.
    """
    t = network.terminal_count
    if t == network.node_count:
        if network.grid is not None:
            return tuple(network.grid.sides), np.arange(t)
        known = recognition(network)
        if known.original is not None and known.original.grid is not None and known.place is not None:
            return tuple(known.original.grid.sides), np.argsort(known.place).astype(np.int64)
    return (t,), np.arange(t)


def placements_along_axes(axes: Axes, sides: tuple[int, ...], terminal_at: Ints) -> Iterator[Ints]:
    """Yield placements int64[T] of ranks on terminals, both with coordinates, the most compact ones first."""
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
