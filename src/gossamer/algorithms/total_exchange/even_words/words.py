"""Words for all offsets of a Cayley network that use its generators evenly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.total_exchange.even_words.choice import Effort, Pool, chosen, drawn_words, steps_of
from gossamer.networks.groups import Elements
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.schedules import Symmetry

__all__ = ["Words", "chosen_words", "even_words", "small_subgroups", "subgroups_by_signs"]

_PASSES, _FREE_PASSES = 120, 240
_MOST_SIGNS = 10
_DRAWN, _TRIED = 24, 3
_WORK = 60_000_000
"""Letters looked at, over which fewer passes are made."""


class Words(NamedTuple):
    """A word for each packet of an invariant schedule.

    Attributes
    ----------
    symmetry : Symmetry
        The translations under which the schedule is invariant; its representatives are the origins r.
    left : int64[R, N]
        The node ``r*x`` for each origin and element.
    letters : int8[R*N, most]
        The generators on the way from r to ``r*y``, row ``r*N + y``, `length` of them.
    length : int64[R*N]
        Letters of each word, 0 for the identity.
    load : int64[R*degree]
        Letters of each class of links: orbit of the node that they leave times the degree plus the generator.
    least : int
        A largest load below which no words are, as far as is known.
    """

    symmetry: Symmetry
    left: Elements
    letters: npt.NDArray[np.int8]
    length: Elements
    load: Elements
    least: int

    @property
    def largest_load(self) -> int:
        """Slots that the busiest class of links needs."""
        return int(self.load.max(initial=0))


def even_words(case: Case, by: tuple[int, ...] | None = None) -> Words:
    """Return a word for every offset, such that the largest load of a generator is as small as it was found.

    Parameters
    ----------
    case : Case
        A total exchange on a connected Cayley network of N nodes and degree d.
    by : tuple of int, optional
        Elements that generate the subgroup under which the words look the same. Default: the whole group.

    Returns
    -------
    Words
        Shortest words, and longer ones if shortest words load some generators more than others.

    Notes
    -----
    Prices of generators rise with their loads; a pass finds the cheapest word of every offset, a breadth-first search,
    and takes those that lower the sum of high powers of the loads or leave it as it is. Passes end when the largest
    load is the sum of the distances over the degree, or what the prices prove to be needed.
    O(R N (d + diameter)) a pass.
    """
    from gossamer.algorithms.total_exchange.even_words import _kernels

    network = case.network
    symmetry = Symmetry(network, by)
    search = network.breadth_first(0)
    n, degree = network.node_count, network.degree
    origins = symmetry.representatives
    left = _translated(symmetry)
    onward, before = steps_of(network)
    diameter = int(search.distance.max())
    letters = np.zeros((origins.size * n, 2 * diameter + 4), np.int8)
    length = np.zeros(origins.size * n, np.int64)
    load = np.zeros(origins.size * degree, np.int64)
    total = int(search.distance.sum(dtype=np.int64)) * origins.size
    goal = -(-total // load.size)
    mean = max(total / load.size, 1.0)
    passes = max(8, min(_PASSES, _WORK // (origins.size * n * (degree + diameter))))
    needed = goal
    for free, most in ((False, passes), (True, max(8, 2 * passes))):
        _, least = _kernels.settle_words(
            onward, before, search.order, search.distance, left, symmetry.orbit, free, most, goal, mean,
            case.seed + 1, letters, length, load,
        )  # fmt: skip
        needed = max(goal, int(np.ceil(least - 1e-6)))
        if int(load.max()) <= needed:
            break
    return Words(symmetry, left, letters, length, load, needed)


def chosen_words(
    case: Case, most: int, price: npt.NDArray[np.float64], by: tuple[int, ...] | None, effort: Effort, draws: int
) -> Iterator[Words]:
    """Yield words of which no class of links has more than so many letters, `draws` times, or none at all.

    Parameters
    ----------
    case : Case
        A total exchange on a connected Cayley network.
    most : int
        The most letters.
    price : float64[degree]
        Prices of letters at which cheapest words are drawn (`choice.fluid_optimum`).
    by : tuple of int or None
        Elements that generate the subgroup under which the words look the same; None: the whole group.
    effort : Effort
        Of the integer program that chooses the words.
    draws : int
        How often words of equal loads are drawn anew.

    Notes
    -----
    At the prices of the fluid optimum all words that it uses are cheapest. So some cheap words of every offset are
    drawn, at prices that differ a little from pass to pass, and an integer program chooses one of each.
    """
    symmetry = Symmetry(case.network, by)
    left = _translated(symmetry)
    pool = drawn_words(case.network, symmetry, left, price, case.seed)
    kinds = None if pool is None else chosen(pool, most, effort)
    if pool is None or kinds is None:
        return
    rng = np.random.default_rng(case.seed)
    for _ in range(draws):
        yield _words_of(pool, kinds, symmetry, left, most, rng)


def _words_of(
    pool: Pool, kinds: Elements, symmetry: Symmetry, left: Elements, most: int, rng: np.random.Generator
) -> Words:
    """Return words of the kinds chosen, one at random of those that are alike."""
    mixed = rng.permutation(pool.kind.size)
    one = np.zeros(len(pool.owner), np.int64)
    one[pool.kind[mixed]] = mixed
    drawn, rows = one[kinds], pool.owner[kinds]
    letters = np.zeros((left.size, pool.letters.shape[1]), np.int8)
    length = np.zeros(left.size, np.int64)
    letters[rows], length[rows] = pool.letters[drawn], pool.length[drawn]
    return Words(symmetry, left, letters, length, pool.load[kinds].sum(axis=0), most)


def _translated(symmetry: Symmetry) -> Elements:
    """Return ``r*x`` for each origin r and element x."""
    return symmetry.translate(symmetry.representatives[:, None], np.arange(symmetry.network.node_count)[None, :])


def subgroups_by_signs(network: Network) -> list[tuple[int, ...]]:
    """Return subgroups of index 2, and then of index 4, of the group of a connected Cayley network.

    Each by elements that generate it. A sign gives each generator +1 or -1 such that every closed walk has an even
    number of -1; a subgroup is what one sign, or two, take to +1. O(N degree^2) time.

    >>> import gossamer
    >>> [len(subgroups_by_signs(gossamer.network(spec))) for spec in ("star:4", "torus:4x4", "complete:5")]
    [1, 4, 0]
    """
    n, degree = network.node_count, network.degree
    onward = network.link_target.reshape(n, degree)
    search = network.breadth_first(0)
    parity = np.zeros((n, degree), bool)  # how often each generator stands in the word of a node, modulo 2
    for x in search.order[1:]:
        link = int(search.parent_link[x])
        parity[x] = parity[link // degree]
        parity[x, link % degree] ^= True
    rows = (parity[:, None, :] ^ parity[onward]) ^ np.eye(degree, dtype=bool)[None]
    equations = _independent(np.unique(rows.reshape(-1, degree), axis=0))
    every = ((sign >> np.arange(degree)) & 1 for sign in range(1, 1 << min(degree, _MOST_SIGNS)))
    signs = [bits for bits in every if not any((row & bits).sum() % 2 for row in equations)]
    one = [_kernel_generators(network, bits[None]) for bits in signs]
    two = [_kernel_generators(network, np.stack(pair)) for pair in itertools.combinations(signs, 2)]
    return [*one, *dict.fromkeys(two)]


def small_subgroups(network: Network, seed: int = 0) -> list[tuple[int, ...]]:
    """Return proper subgroups that few random elements generate, those of the smallest index first."""
    n = network.node_count
    rng = np.random.default_rng(seed)
    found: dict[bytes, tuple[int, tuple[int, ...]]] = {}
    for i in range(_DRAWN):
        by = tuple(int(x) for x in np.unique(rng.integers(1, n, 1 + i % 2))) if i else ()
        symmetry = Symmetry(network, by)
        if symmetry.orbit_count > 1:
            found.setdefault(symmetry.elements.tobytes(), (symmetry.orbit_count, by))
    return [by for _, by in sorted(found.values())][:_TRIED]


def _independent(rows: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.int64]]:
    """Return rows that span the same space modulo 2 and are independent."""
    basis: list[npt.NDArray[np.int64]] = []
    for row in rows.astype(np.int64):
        left = row.copy()
        for known in basis:
            if left[int(np.argmax(known))]:
                left ^= known
        if left.any():
            basis.append(left)
    return basis


def _kernel_generators(network: Network, signs: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return generators of the elements that all signs, int64[k, degree], take to +1 (Schreier)."""
    group = network.group
    assert group is not None
    generators = network.generators
    colors = [tuple(column) for column in signs.T.tolist()]
    chosen: dict[tuple[int, ...], int] = {(0,) * len(signs): 0}  # an element of each coset
    frontier = list(chosen)
    while frontier:
        following = []
        for color in frontier:
            for g, step in zip(generators.tolist(), colors, strict=True):
                after = tuple(a ^ b for a, b in zip(color, step, strict=True))
                if after not in chosen:
                    chosen[after] = int(group.compose(chosen[color], g))
                    following.append(after)
        frontier = following
    found: set[int] = set()
    for color, element in chosen.items():
        for g, step in zip(generators.tolist(), colors, strict=True):
            coset = chosen[tuple(a ^ b for a, b in zip(color, step, strict=True))]
            found.add(int(group.compose(group.compose(element, g), group.inverse(coset))))
    return tuple(sorted(found - {0}))
