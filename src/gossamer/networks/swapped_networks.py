"""Hierarchical swapped networks and cyclic networks: words over a small network, the nucleus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.router_networks import router_network
from gossamer.reading import choice

SWAPPED_NAME, CYCLIC_NAME = "hierarchical-swapped", "cyclic-network"
SHIFTS = ("ring", "complete")


def hierarchical_swapped(l: int, nucleus: Network) -> Network:  # noqa: E741 - the symbols of the source
    """Return the hierarchical swapped network HSN(l, G): words of l nodes of a nucleus G.

    Parameters
    ----------
    l : int
        Length of the words ``x_l ... x_2 x_1``, 1..64.
    nucleus : Network
        G, of M nodes, all terminals, with links of capacity 1.

    Returns
    -------
    Network
        ``M**l`` nodes, spec ``hierarchical-swapped:l,(SPEC)``. The coordinates are ``(x_l, ..., x_1)``, the first most
        significant in the node number. The links of a node are those of x_1 in G; then, for i = 2..l, one to the word
        in which x_1 and x_i are swapped, if they are different.

    Raises
    ------
    NetworkError
        If a parameter is out of range, the nucleus has switches or wider links, or the network is too large.

    Notes
    -----
    Diameter ``l*D + l-1`` with D that of the nucleus. O(L log L) time.

    References
    ----------
    Yeh and Parhami 1996.

    Examples
    --------
    >>> from gossamer.networks import hypercube
    >>> hierarchical_swapped(2, hypercube(2)), hierarchical_swapped(2, hypercube(2)).diameter
    (<Network hierarchical-swapped:2,(hypercube:2): 16 nodes, 44 links>, 5)
    """
    _refuse_nucleus(SWAPPED_NAME, nucleus)
    _swapped_size(l, Size(nucleus.node_count, nucleus.link_count))
    word = _words(nucleus.node_count, int(l))
    orders = [[i, *range(1, i), 0, *range(i + 1, l)] for i in range(1, l)]
    return _word_network(f"{SWAPPED_NAME}:{int(l)},({nucleus.spec})", nucleus, word, orders)


def cyclic_network(l: int, nucleus: Network, shifts: str = "ring") -> Network:  # noqa: E741
    """Return the cyclic network CN(l, G): words of l nodes of a nucleus G, which rotate.

    Parameters
    ----------
    l : int
        Length of the words ``x_l ... x_2 x_1``, 1..64.
    nucleus : Network
        G, of M nodes, all terminals, with links of capacity 1.
    shifts : {'ring', 'complete'}
        By how many places words rotate: by one to the left and one to the right, or by any number.

    Returns
    -------
    Network
        ``M**l`` nodes, spec ``cyclic-network:l,(SPEC)``, with ``shifts=complete`` for these. The coordinates are
        ``(x_l, ..., x_1)``, the first most significant in the node number. The links of a node are those of x_1 in G;
        then those to the rotated words that differ from it and from each other.

    Raises
    ------
    NetworkError
        If a parameter is out of range, the nucleus has switches or wider links, or the network is too large.

    Notes
    -----
    Degree at most that of the nucleus and 2 (ring) or l-1 (complete). O(L log L) time.

    References
    ----------
    Yeh and Parhami 1997.

    Examples
    --------
    >>> from gossamer.networks import hypercube
    >>> cyclic_network(3, hypercube(2)), cyclic_network(3, hypercube(2)).degree
    (<Network cyclic-network:3,(hypercube:2): 64 nodes, 248 links>, 4)
    """
    _refuse_nucleus(CYCLIC_NAME, nucleus)
    _cyclic_size(l, Size(nucleus.node_count, nucleus.link_count), shifts)
    word = _words(nucleus.node_count, int(l))
    orders = [[(i + by) % l for i in range(l)] for by in _rotations(int(l), shifts)]
    told = "" if shifts == "ring" else f",shifts={shifts}"
    return _word_network(f"{CYCLIC_NAME}:{int(l)},({nucleus.spec}){told}", nucleus, word, orders)


def _words(symbols: int, length: int) -> npt.NDArray[np.int64]:
    """Return the letters ``x_1, x_2, ..., x_l`` of every node, int64[l, N]."""
    node = np.arange(symbols**length)
    return np.stack([node // symbols**i % symbols for i in range(length)])


def _word_network(spec: str, nucleus: Network, word: npt.NDArray[np.int64], orders: Sequence[Sequence[int]]) -> Network:
    """Return the network of words, with links in the nucleus and to the words with their letters in other orders."""
    symbols, nodes = nucleus.node_count, word.shape[1]
    above = np.arange(0, nodes, symbols)[:, None]
    pieces = [((above + nucleus.link_source).ravel(), (above + nucleus.link_target).ravel(), 1)]
    node = np.arange(nodes)
    value = symbols ** np.arange(len(word))
    seen = [node]
    for order in orders:
        target = value @ word[list(order)]
        new = np.all([target != other for other in seen], axis=0)
        pieces.append((node[new], target[new], 1))
        seen.append(target)
    return router_network(
        spec, nodes, pieces, places=word[::-1].T, groups=node // symbols, links_only=nucleus.links_only
    )


def _rotations(l: int, shifts: str) -> Sequence[int]:  # noqa: E741
    """Return by how many places words of l letters rotate."""
    return range(1, l) if shifts == "complete" else list(dict.fromkeys((1 % l, -1 % l)))


def _refuse_nucleus(family: str, nucleus: Network) -> None:
    if not isinstance(nucleus, Network):
        raise NetworkError(f"{family}: the nucleus must be a network, got {shown(nucleus)}")
    if nucleus.terminal_count != nucleus.node_count or nucleus.uniform_capacity != 1 or not nucleus.plain:
        raise NetworkError(f"{family}: the nucleus {nucleus.spec!r} must have only terminals and plain links")


def _power(family: str, l: object, nucleus: Size) -> tuple[int, int]:  # noqa: E741
    """Return the length of the words and the nodes, if these are not too many."""
    length = whole_number(l, family, "l", high=64)
    nodes = nucleus.nodes**length
    checked_size(family, nodes, nodes // nucleus.nodes * nucleus.links)
    return length, nodes


def _swapped_size(l: int, nucleus: Size) -> Size:  # noqa: E741
    length, nodes = _power(SWAPPED_NAME, l, nucleus)
    swaps = (length - 1) * (nodes - nodes // nucleus.nodes)
    return checked_size(SWAPPED_NAME, nodes, nodes // nucleus.nodes * nucleus.links + swaps)


def _cyclic_size(l: int, nucleus: Size, shifts: str = "ring") -> Size:  # noqa: E741
    choice(shifts, f"{CYCLIC_NAME}: shifts", SHIFTS, error=NetworkError)
    length, nodes = _power(CYCLIC_NAME, l, nucleus)
    divisors = [d for d in range(1, length + 1) if length % d == 0] if nodes > 1 else []
    aperiodic: dict[int, int] = {}  # words of the least period d
    for d in divisors:
        aperiodic[d] = nucleus.nodes**d - sum(aperiodic[e] for e in divisors if e < d and d % e == 0)
    most = length if shifts == "complete" else 3
    rotated = sum(count * (min(d, most) - 1) for d, count in aperiodic.items())
    return checked_size(CYCLIC_NAME, nodes, nodes // nucleus.nodes * nucleus.links + rotated)


def _length_and_spec(family: Family, text: str) -> list[object]:
    """Read ``l,(SPEC)``, and what follows as the values of further parameters."""
    match = re.fullmatch(r"([^,()]*),\s*\((.*)\)\s*(?:,([^()]*))?", text, re.DOTALL)
    if match is None:
        raise NetworkError(f"{family.name}: expected {family.parameters}, got {shown(text)}")
    found: list[Any] = [spec_parameters.integer(family, match[1]), spec_parameters.Nested(match[2])]
    if match[3] is None:
        return found
    if family.name != CYCLIC_NAME:
        raise NetworkError(f"{family.name}: too many parameters in {shown(text)}; {family.usage()}")
    return [*found, *spec_parameters.named({"shifts": spec_parameters.word})(family, match[3])]


HIERARCHICAL_SWAPPED = Family(
    name=SWAPPED_NAME,
    function=hierarchical_swapped,
    size=_swapped_size,
    form=_length_and_spec,
    parameters="l,(SPEC)",
    summary="words of l nodes of a nucleus; the last moves in the nucleus, or is swapped with another",
    example="hierarchical-swapped:3,(hypercube:2)",
    source="Yeh and Parhami 1996",
    small=("hierarchical-swapped:2,(complete:3)",),
)
CYCLIC = Family(
    name=CYCLIC_NAME,
    function=cyclic_network,
    size=_cyclic_size,
    form=_length_and_spec,
    parameters="l,(SPEC),shifts=ring|complete",
    summary="words of l nodes of a nucleus; the last moves in the nucleus, or the word rotates",
    example="cyclic-network:3,(hypercube:2)",
    source="Yeh and Parhami 1997",
    small=("cyclic-network:3,(array:2)",),
)
