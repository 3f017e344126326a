"""Failures in words, as people type them: ``links:0-1,5-6``, ``nodes:17``, ``random-links:2%``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks.network import Network
from gossamer.reading import seed as read_seed

__all__ = ["KINDS", "cables", "without"]

KINDS = ("links", "nodes", "terminals", "random-links", "random-nodes", "random-terminals")
"""What may stand before the colon."""


def without(network: Network, words: Iterable[str], seed: int = 0) -> Network:
    """Return what is left of a network when what is named fails.

    Parameters
    ----------
    network : Network
        The sound network.
    words : iterable of str
        ``links:0-1,5-6``: cables between two nodes, both ways; ``links:0->1``: one way. ``nodes:17``: nodes that go,
        ``terminals:17``: nodes that stay as switches. ``random-links:2%``, ``random-nodes:3``, ``random-terminals:1``:
        so many at random, or a share of all, rounded to the nearest number. Nodes are numbers, names or coordinates in
        parentheses.
    seed : int
        For the random ones.

    Returns
    -------
    Network
        As `Network.without` makes it; the network itself if there are no words.

    Raises
    ------
    NetworkError
        If a text is of no such form, or there is no such link or node, or no terminal is left.

    Examples
    --------
    >>> from gossamer.networks import torus
    >>> without(torus(4, 4), ["links:(0,0)-(0,1)", "random-nodes:1"])
    <Network torus:4x4 without link (0,0)-(0,1) and node (3,1): 15 nodes, 54 links>
    """
    links: list[int | tuple[int, int]] = []
    nodes: list[int] = []
    terminals: list[int] = []
    rng = np.random.default_rng(read_seed(seed))
    given = list(words)
    for text in given:
        kind, colon, rest = text.strip().partition(":")
        if kind not in KINDS or not colon or not rest.strip():
            hint = nearest(kind, KINDS)
            raise NetworkError(f"what fails must be such as links:0-1, nodes:17 or random-links:2%, got {shown(text)}"
                               f"{hint}; there are: {', '.join(KINDS)}")  # fmt: skip
        if kind == "links":
            links += [link for word in _split(rest) for link in _links(network, word)]
        elif kind == "random-links":
            ends = cables(network)
            links += [(int(u), int(v)) for u, v in ends[_drawn(rng, rest, len(ends), text)]]
        else:
            chosen = terminals if kind.endswith("terminals") else nodes
            if kind.startswith("random"):
                among = network.terminal_count if chosen is terminals else network.node_count
                chosen += _drawn(rng, rest, among, text).tolist()
            else:
                chosen += [network.node(word) for word in _split(rest)]
    return network.without(links, nodes, terminals) if given else network


def cables(network: Network) -> npt.NDArray[np.int64]:
    """Return the two nodes of each pair that links join, whatever their number and ways: int64[cables, 2], in order.

    >>> from gossamer.networks import ring
    >>> cables(ring(3)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    low = np.minimum(network.link_source, network.link_target).astype(np.int64)
    high = np.maximum(network.link_source, network.link_target)
    pairs = np.unique(low * network.node_count + high)
    return np.stack([pairs // network.node_count, pairs % network.node_count], axis=1)


def _split(text: str) -> list[str]:
    """Return the words between commas that are in no parentheses."""
    return [word.strip() for word in re.split(r",(?![^()]*\))", text)]


def _links(network: Network, word: str) -> list[int | tuple[int, int]]:
    """Return the links ``u->v`` or the cable ``u-v``; a hyphen may also be part of a name."""
    u, arrow, v = word.partition("->")
    if arrow:
        source, target = network.node(u.strip()), network.node(v.strip())
        network.link_between(source, target)  # refuses what is not there
        return [i for i in network.out_links(source) if network.link_target[i] == target]
    known = None if network.labels is None else set(network.labels)
    for place in (m.start() for m in re.finditer("-", word)):
        u, v = word[:place].strip(), word[place + 1 :].strip()
        if known is None or (_is_node(u, known) and _is_node(v, known)):
            return [(network.node(u), network.node(v))]
    raise NetworkError(f"a link that fails must be two nodes such as 0-1, or 0->1 for one way, got {shown(word)}")


def _is_node(text: str, labels: set[str]) -> bool:
    return text in labels or text.isdecimal()


def _drawn(rng: np.random.Generator, text: str, count: int, whole: str) -> npt.NDArray[np.int64]:
    """Return so many of a number of things, at random and in order: a number, or a share in percent."""
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(%?)\s*", text)
    amount = Fraction(match[1]) if match else Fraction(-1)
    if match and match[2]:
        amount = Fraction(int(amount * count / 100 + Fraction(1, 2))) if amount <= 100 else Fraction(-1)
    if amount.denominator != 1 or not 0 <= amount <= count:
        raise NetworkError(
            f"what fails at random must be a number up to {count} or a share such as 2%, got {shown(whole)}"
        )
    return np.sort(rng.choice(count, int(amount), replace=False))
