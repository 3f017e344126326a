"""Words over generators that commute: their letters may come in any order, and are listed as an open shop."""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.total_exchange.even_words.words import Words
from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.paths.edge_coloring import color_edges

__all__ = ["generators_commute", "listed_as_open_shop"]


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
