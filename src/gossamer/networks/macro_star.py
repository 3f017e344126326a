"""Macro-star networks: star graphs of blocks of symbols, with few links at a node."""

from __future__ import annotations

import math

from gossamer.networks import forms
from gossamer.networks._parameters import checked_size, whole_number
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size
from gossamer.networks.groups import PermutationGroup
from gossamer.networks.network import Network

__all__ = ["MACRO_STAR", "macro_star"]


def macro_star(l: int, n: int) -> Network:  # noqa: E741 - the symbols of the source
    """Return the macro-star network MS(l, n): arrangements of l*n+1 symbols, one outside and l blocks of n.

    Parameters
    ----------
    l : int
        Blocks, at least 1.
    n : int
        Symbols in a block, at least 1.

    Returns
    -------
    Network
        ``(l*n+1)!`` nodes of degree ``n+l-1``, spec ``macro-star:l,n``. Generator i-1 swaps the first symbol with the
        i-th of the first block, i = 1..n; generator n+i-2 swaps block i with the first, i = 2..l.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    ``macro-star:1,n`` is the star graph of n+1 symbols. O(N (l*n)^2) time.

    References
    ----------
    Yeh and Varvarigos 1998.

    Examples
    --------
    >>> macro_star(2, 2)
    <Network macro-star:2,2: 120 nodes, 360 links>
    """
    _macro_star_size(l, n)
    l, n = int(l), int(n)  # noqa: E741
    moves = [_swapped(l * n + 1, [0], [i]) for i in range(1, n + 1)]
    block = list(range(1, n + 1))
    moves += [_swapped(l * n + 1, block, [i * n + b for b in block]) for i in range(1, l)]
    group = PermutationGroup(l * n + 1)
    return cayley_network(f"macro-star:{l},{n}", group, [int(group.rank(move)) for move in moves])


def _swapped(symbols: int, one: list[int], other: list[int]) -> list[int]:
    """Return the arrangement of the symbols in order with two runs of positions swapped."""
    arrangement = list(range(symbols))
    for i, j in zip(one, other, strict=True):
        arrangement[i], arrangement[j] = j, i
    return arrangement


def _macro_star_size(l: int, n: int) -> Size:  # noqa: E741
    blocks, block = whole_number(l, "macro-star", "l"), whole_number(n, "macro-star", "n")
    nodes = math.factorial(min(blocks * block + 1, 20))
    return checked_size("macro-star", nodes, nodes * (block + blocks - 1))


MACRO_STAR = Family(
    name="macro-star",
    function=macro_star,
    size=_macro_star_size,
    form=forms.numbers,
    parameters="l,n",
    summary="arrangements of l blocks of n symbols and one: the first swaps with one of block 1, block 1 with another",
    example="macro-star:2,2",
    source="Yeh and Varvarigos 1998",
    small=("macro-star:2,1",),
)
