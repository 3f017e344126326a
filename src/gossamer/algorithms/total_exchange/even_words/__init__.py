"""Total exchange on any Cayley network: evenly chosen words, then a job shop of unit hops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_irregular, refuse_ports
from gossamer.algorithms.total_exchange.even_words.choice import (
    Effort,
    Pool,
    chosen,
    drawn_words,
    fluid_optimum,
    steps_of,
)
from gossamer.graphs.edge_coloring import color_edges
from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

__all__ = [
    "EVEN_WORDS",
    "Words",
    "chosen_words",
    "even_words",
    "even_words_exchange",
    "generators_commute",
    "listed",
    "listed_as_open_shop",
    "small_subgroups",
    "subgroups_by_signs",
]

# Words for all offsets of a Cayley network that use its generators evenly.

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
    from gossamer.algorithms.total_exchange.even_words import choice

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
        _, least = choice.settle_words(
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


# Words over generators that commute: their letters may come in any order, and are listed as an open shop.


def generators_commute(network: Network) -> bool:
    """Return whether the generators of a Cayley network commute, and with them its whole group.

    >>> import gossamer
    >>> generators_commute(gossamer.network("torus:4x3")), generators_commute(gossamer.network("star:4"))
    (True, False)
    """
    onward = network.link_target.reshape(network.node_count, network.degree)
    twice = onward[onward[0]]  # of the identity, by two generators
    return bool((twice == twice.T).all())


def listed_as_open_shop(network: Network, words: Words) -> tuple[IntArray, IntArray, IntArray]:
    """Return slot, link and packet of every hop, int32[S]: as many slots as the largest load or the longest word.

    `words` are the same at every node of a Cayley network whose generators commute.

    Notes
    -----
    A letter is an edge between its word and its generator; edges of one color are served in one slot. By Koenig's
    theorem as many colors as the largest degree are enough: the most letters of a word or of a generator, so that no
    words over commuting generators need more slots than these. O(S log T) for S letters, besides the matchings.
    """
    degree = network.degree
    onward = network.link_target.reshape(network.node_count, degree)
    row: Elements = np.repeat(np.arange(words.length.size), words.length)
    place = np.arange(row.size) - np.repeat(np.cumsum(words.length) - words.length, words.length)
    letter = words.letters[row, place].astype(np.int64)
    color = color_edges(row, letter)
    order = np.lexsort((color, row))
    slot, letter = color[order], letter[order]
    at = np.zeros(words.length.size, np.int64)  # the element that each word has come to
    link = np.empty(row.size, np.int64)
    for k in range(int(words.length.max(initial=0))):
        now = np.flatnonzero(place == k)
        link[now] = at[row[now]] * degree + letter[now]
        at[row[now]] = onward[at[row[now]], letter[now]]
    timely = np.argsort(slot, kind="stable")
    return slot[timely].astype(np.int32), link[timely].astype(np.int32), (row[timely] - 1).astype(np.int32)


_MOST_NODES = 50_000
_TRIES = 40
_SUBGROUPS = 6
_MOST_COSETS = 20_000
_MOST_CHOSEN = 12_000
"""Nodes times degree up to which an integer program chooses the words."""
_EFFORTS = Effort(12, 400, 60.0), Effort(48, 3_000, 60.0)
_DRAWS, _ORDERS = 6, 10
_MOST_LISTED = 1_000_000_000
"""Slots times words times classes of links up to which words are listed by the queues that they feed, too."""
_HOP_SECONDS = 4e-6  # with its share of the words that are tried


def listed(case: Case, words: Words, tries: int = _TRIES) -> Schedule:
    """Return the schedule in which every class of links serves the word with most letters left, slot by slot.

    Where that takes more slots than the largest load, also the one in which letters count more whose queues are short;
    then an open shop, which takes no more (`open_shop`), where generators commute and words are the same at every node;
    else some in which words with as many letters left are served in random orders. The shortest is returned.

    Parameters
    ----------
    case : Case
        The total exchange of the words.
    words : Words
        Of `even_words`.
    tries : int
        Orders of equal words that are tried until the slots are the largest load.

    Returns
    -------
    Schedule
        Invariant under the translations of the words.

    Notes
    -----
    A job shop of unit operations: a word is a job, a class of links a machine. O(S + T degree) for S letters and T
    slots, a try; O(T R N C) by queues, for C classes.
    """
    from gossamer.algorithms.total_exchange.even_words import choice

    n, degree = case.network.node_count, case.network.degree
    onward = np.ascontiguousarray(case.network.link_target.reshape(n, degree))
    rng = np.random.default_rng(case.seed)
    best: tuple[int, ...] = ()
    hops = int(words.load.sum())
    by_queues = words.largest_load * words.length.size * words.load.size <= _MOST_LISTED
    for i in range(tries):
        columns = tuple(np.empty(hops, np.int32) for _ in range(3))
        if i == 1 and by_queues:
            slots = choice.list_by_queues(
                words.letters, words.length, words.left, words.symmetry.orbit, onward, words.load.size, *columns
            )
        else:
            order = rng.permutation(words.length.size) if i else np.arange(words.length.size)
            slots = choice.list_hops(
                words.letters, words.length, words.left, words.symmetry.orbit, onward, degree, order, *columns
            )
        if not best or slots < best[0]:
            best, kept = (slots,), columns
        if slots <= words.largest_load:
            break
        if i == 1 and words.symmetry.orbit_count == 1 and generators_commute(case.network):
            kept = listed_as_open_shop(case.network, words)
            break
    return Schedule.of(case, *kept, symmetry=words.symmetry)


def even_words_exchange(case: Case) -> Schedule:
    """Build the exchange on a Cayley network whose words use all generators evenly.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a connected Cayley network, its group abelian or not.

    Returns
    -------
    Schedule
        Invariant under the whole group, or under a subgroup of index 2 or 4 where that is faster.

    Notes
    -----
    Every element gets a word in the generators, and the words together use each generator as evenly as can be; then
    hops are listed (`listed`). No fewer slots are possible than the sum of distances over the degree. Words that are
    the same at every node may miss that by their signs alone: on the pancake network of 6 symbols the three generators
    that are odd permutations must have an even number of letters, and 3 x 659 is odd. Words that are the same at every
    even arrangement, and at every odd one, need not.

    References
    ----------
    Gossamer; invariant exchanges are of Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> import gossamer
    >>> even_words_exchange(Case(gossamer.network("star:4"), TotalExchange())).completion_time
    Fraction(21, 1)
    """
    words = case.once(even_words, case)
    best, least = listed(case, words), words.least
    if best.completion_time <= least:
        return best
    network = case.network
    made: Iterator[Words]
    if network.node_count * network.degree > _MOST_CHOSEN:
        made = (even_words(case, by) for by in _subgroups(network, case.seed))
    else:
        fluid = fluid_optimum(network)
        least = ceil(fluid.time - 1e-6)
        made = chain.from_iterable(
            chosen_words(case, least, fluid.price, by, effort, _DRAWS)
            for effort in _EFFORTS
            for by in (None, *_subgroups(network, case.seed))
        )
    while best.completion_time > least and (other := next(made, None)) is not None:
        found = listed(case, other, _ORDERS)
        if found.completion_time < best.completion_time:
            best = found
    return best


def _subgroups(network: Network, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield elements that generate subgroups under which words may look the same, large ones first."""
    n = network.node_count
    if 2 * n > _MOST_COSETS:
        return
    signs = subgroups_by_signs(network)[:_SUBGROUPS]
    yield from signs
    if n * network.degree <= _MOST_CHOSEN:
        few = (by for by in small_subgroups(network, seed) if by not in signs)
        yield from (by for by in few if Symmetry(network, by).orbit_count * n * network.degree <= _MOST_CHOSEN)


def _least(network: Network) -> int:
    """Return the sum of the distances from a node over the degree, rounded up."""
    return -(-int(network.distances(0).sum(dtype=np.int64)) // max(network.degree, 1))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if network.node_count > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = first_refusal(refuse_ports(case.rules), refuse_irregular(network))
    if refusal is not None:
        return refusal
    if network.node_count < 2 or network.terminal_count < network.node_count:
        return Refusal("needs two terminals, and no switches")
    least = Fraction(case.once(_least, network))
    return Offer(
        lambda: even_words_exchange(case), least=least, orbit=network.node_count, hop_bytes=54, hop_seconds=_HOP_SECONDS
    )


EVEN_WORDS = Algorithm(
    name="even-words",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="Cayley networks, abelian or not",
    source="gossamer",
    summary="words that use all generators evenly, then a job shop of unit hops, longest words first",
)
