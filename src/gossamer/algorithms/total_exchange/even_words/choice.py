"""Words for all offsets by an integer program: one of several words each, no class of links above the fluid optimum."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.schedules import Symmetry

__all__ = ["Effort", "Fluid", "Pool", "chosen", "drawn_words", "fluid_optimum"]

Letters = npt.NDArray[np.int8]
Reals = npt.NDArray[np.float64]

_PASSES = 150
_MOST_LETTERS = 60_000_000
_NOISE = 1e-6
_NEAR = 0.75
"""The share of the passes at prices near the best; in the others they may be three times as high."""


class Fluid(NamedTuple):
    """The exchange whose messages may be cut at will.

    Attributes
    ----------
    time : float
        Its steps, which no exchange on the network beats.
    price : float64[degree]
        What a letter costs, by generator: cheapest words are those that, cut at will, take the steps rounded up with
        the fewest letters; at least 1.
    """

    time: float
    price: Reals


class Effort(NamedTuple):
    """How hard words are chosen: of how many of each offset, and the most nodes of a tree search and its seconds."""

    words: int
    nodes: int
    seconds: float


class Pool(NamedTuple):
    """Cheap words of every offset.

    Attributes
    ----------
    letters : int8[W, most]
        A word in each row.
    length : int64[W]
        Its letters.
    row : int64[W]
        Origin times nodes plus offset; rows that differ in the order of letters of one class only are alike.
    kind : int64[W]
        Equal numbers where row and load are equal.
    load : int64[K, R*degree]
        Letters of each class of links, by kind.
    owner : int64[K]
        The row, by kind.
    place : int64[K]
        0 for the cheapest kind of a row, then 1, 2, and so on; of equal ones any first.
    """

    letters: Letters
    length: Elements
    row: Elements
    kind: Elements
    load: Elements
    owner: Elements
    place: Elements


def fluid_optimum(network: Network) -> Fluid:
    """Return the optimum of the exchange with messages that are cut at will, on a Cayley network.

    Notes
    -----
    A linear program of N*degree variables: a unit flows from the identity to every element, and the largest flow over
    the links of a generator is minimized. A mean over all translations makes any exchange such a flow, so that no
    exchange is faster. The prices are the dual of a second one, for the least flow in that time, rounded up.

    Examples
    --------
    >>> import gossamer
    >>> round(fluid_optimum(gossamer.network("ring:6")).time, 6)
    4.5
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    n, degree = network.node_count, network.degree
    count = n * degree
    link = np.arange(count)
    source, generator = link // degree, link % degree
    ends = np.concatenate([network.link_target, source])
    signs = np.repeat([1.0, -1.0], count)
    balance: Any = sparse.csr_array((signs, (ends, np.concatenate([link, link]))), shape=(n, count + 1))
    wanted = np.ones(n)
    wanted[0] = 1 - n
    kinds = np.arange(degree)
    load: Any = sparse.csr_array(
        (
            np.concatenate([np.ones(count), -np.ones(degree)]),
            (np.concatenate([generator, kinds]), np.concatenate([link, np.full(degree, count)])),
        ),
        shape=(degree, count + 1),
    )
    room, bounds = np.zeros(degree), np.tile([0.0, np.inf], (count + 1, 1))
    cost = np.append(np.zeros(count), 1.0)
    solve: Any = linprog
    time = float(solve(cost, load, room, balance, wanted, bounds, "highs-ds").fun)
    bounds[-1] = ceil(time - 1e-6)
    few = solve(np.append(np.ones(count), 0.0), load, room, balance, wanted, bounds, "highs-ds")
    return Fluid(time, 1.0 - few.ineqlin.marginals)


def drawn_words(network: Network, symmetry: Symmetry, left: Elements, price: Reals, seed: int) -> Pool | None:
    """Return words that are cheap at about the prices given, several of each offset; None where they would be too many.

    Parameters
    ----------
    network : Network
        A connected Cayley network.
    symmetry : Symmetry
        The translations under which words look the same.
    left : int64[R, N]
        ``r*x`` for each origin r and element x.
    price : float64[degree]
        Of `fluid_optimum`.
    seed : int
        For the prices of each pass, which differ from these by chance.
    """
    from gossamer.algorithms.total_exchange.even_words import _kernels

    onward, before = steps_of(network)
    n, degree = onward.shape
    most = 3 * int(network.breadth_first(0).distance.max()) + 8
    passes = min(_PASSES, _MOST_LETTERS // (left.size * most))
    if passes < 20:
        return None
    rng = np.random.default_rng(seed)
    classes = len(left) * degree
    spread = 10.0 ** np.where(rng.random((passes, 1)) < _NEAR, rng.uniform(-4, -0.7, (passes, 1)), 0.3)
    paid = np.tile(price, len(left)) * (1 + spread * rng.random((passes, classes)))
    letters = np.zeros((len(left) * passes, n, most), np.int8)
    length = np.zeros((len(left) * passes, n), np.int64)
    load = np.zeros((len(left) * passes, n, classes), np.int16)
    for r, at in enumerate(left):
        part = slice(r * passes, (r + 1) * passes)
        _kernels.draw_words(
            onward, before, at, symmetry.orbit, paid, _NOISE, seed + r, letters[part], length[part], load[part]
        )
    own = np.repeat(np.arange(len(left)), passes)[:, None] * n + np.arange(n)[None, :]
    fits = np.flatnonzero(length.reshape(-1))  # neither the identity nor longer than there is room for
    row, counts = own.reshape(-1)[fits], load.reshape(-1, classes)[fits].astype(np.int64)
    mixed = counts @ rng.integers(1, 1 << 40, classes)
    by = np.lexsort((mixed, row))
    new = np.ones(by.size, bool)
    new[1:] = (row[by][1:] != row[by][:-1]) | (mixed[by][1:] != mixed[by][:-1])
    kind = np.empty(by.size, np.int64)
    kind[by] = np.cumsum(new) - 1
    first = by[new]
    owner, loads = row[first], counts[first]
    cost = np.round(loads @ np.tile(price, len(left)), 6)
    cheap = np.lexsort((rng.random(owner.size), cost, owner))  # of equal ones any
    begin = np.flatnonzero(np.diff(owner[cheap], prepend=-1))
    place = np.empty(cheap.size, np.int64)
    place[cheap] = np.arange(cheap.size) - np.repeat(begin, np.diff(np.append(begin, cheap.size)))
    words = letters.reshape(-1, most)[fits]
    return Pool(words, length.reshape(-1)[fits], row, kind, loads, owner, place)


def chosen(pool: Pool, most: int, effort: Effort) -> Elements | None:
    """Return the kinds of words, one for each offset, with which no class of links has more letters than `most`.

    None if there are none among those offered, or none were found.
    """
    import scipy.sparse as sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    offered = np.flatnonzero(pool.place < effort.words)
    owner, load = pool.owner[offered], pool.load[offered]
    rows, place = np.unique(owner, return_inverse=True)
    count = owner.size
    one: Any = sparse.csr_array((np.ones(count), (place, np.arange(count))), shape=(rows.size, count))
    every: Any = sparse.csr_array(load.T.astype(float))
    found = milp(
        np.zeros(count),
        constraints=[LinearConstraint(one, 1, 1), LinearConstraint(every, -np.inf, most)],
        integrality=np.ones(count, np.int64),
        bounds=Bounds(0, 1),
        options={"time_limit": effort.seconds, "node_limit": effort.nodes},
    )
    return None if found.x is None else offered[found.x > 0.5]


def steps_of(network: Network) -> tuple[IntArray, IntArray]:
    """Return where each generator leads from each element of a Cayley network, and from where: int32[N, degree]."""
    n, degree = network.node_count, network.degree
    onward = np.ascontiguousarray(network.link_target.reshape(n, degree))
    before = np.empty_like(onward)
    for g in range(degree):
        before[onward[:, g], g] = np.arange(n)
    return onward, before
