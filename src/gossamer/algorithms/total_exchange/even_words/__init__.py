"""Total exchange on any Cayley network: evenly chosen words, then a job shop of unit hops."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import ceil

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_irregular, refuse_ports
from gossamer.algorithms.total_exchange.even_words.choice import Effort, fluid_optimum
from gossamer.algorithms.total_exchange.even_words.words import (
    Words,
    chosen_words,
    even_words,
    small_subgroups,
    subgroups_by_signs,
)
from gossamer.graphs.edge_coloring import color_edges
from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

__all__ = ["EVEN_WORDS", "even_words", "even_words_exchange", "generators_commute", "listed", "listed_as_open_shop"]

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
    from gossamer.algorithms.total_exchange.even_words import _kernels

    n, degree = case.network.node_count, case.network.degree
    onward = np.ascontiguousarray(case.network.link_target.reshape(n, degree))
    rng = np.random.default_rng(case.seed)
    best: tuple[int, ...] = ()
    hops = int(words.load.sum())
    by_queues = words.largest_load * words.length.size * words.load.size <= _MOST_LISTED
    for i in range(tries):
        columns = tuple(np.empty(hops, np.int32) for _ in range(3))
        if i == 1 and by_queues:
            slots = _kernels.list_by_queues(
                words.letters, words.length, words.left, words.symmetry.orbit, onward, words.load.size, *columns
            )
        else:
            order = rng.permutation(words.length.size) if i else np.arange(words.length.size)
            slots = _kernels.list_hops(
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
