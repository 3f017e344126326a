"""Cayley networks of permutations: star, pancake and bubble-sort graphs."""

from __future__ import annotations

import math
from collections.abc import Callable

from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import PermutationGroup
from gossamer.networks.network import Network

__all__ = ["BUBBLE_SORT", "MACRO_STAR", "PANCAKE", "STAR", "bubble_sort", "macro_star", "pancake", "star"]

# Macro-star networks: star graphs of blocks of symbols, with few links at a node.


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
    return _permutation_network(f"macro-star:{l},{n}", l * n + 1, moves)


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
    form=spec_parameters.numbers,
    parameters="l,n",
    summary="arrangements of l blocks of n symbols and one: the first swaps with one of block 1, block 1 with another",
    example="macro-star:2,2",
    source="Yeh and Varvarigos 1998",
    small=("macro-star:2,1",),
)


def star(symbols: int) -> Network:
    """Return the star graph S_m: arrangements of m symbols, adjacent by swapping the first with another.

    Parameters
    ----------
    symbols : int
        m, 1..11; 1 gives a single node and 2 a single edge.

    Returns
    -------
    Network
        ``m!`` nodes of degree m-1, spec ``star:m``. Generator i-1 swaps positions 0 and i.

    Raises
    ------
    NetworkError
        If m is out of range.

    Notes
    -----
    Diameter ``floor(3(m-1)/2)``. O(m! m^2) time.

    References
    ----------
    Akers, Krishnamurthy, "A group-theoretic model for symmetric interconnection networks", IEEE Trans. Computers 38,
    1989; Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> star(4)
    <Network star:4: 24 nodes, 72 links>
    """
    m = _symbols("star", symbols)
    moves = [_swapped(m, [0], [i]) for i in range(1, m)]
    return _permutation_network(f"star:{m}", m, moves)


def pancake(symbols: int) -> Network:
    """Return the pancake graph P_m: arrangements of m symbols, adjacent by reversing a prefix.

    Parameters
    ----------
    symbols : int
        m, 1..11; 1 gives a single node and 2 a single edge.

    Returns
    -------
    Network
        ``m!`` nodes of degree m-1, spec ``pancake:m``. Generator i-2 reverses the first i symbols, i = 2..m.

    Raises
    ------
    NetworkError
        If m is out of range.

    Notes
    -----
    O(m! m^2) time.

    References
    ----------
    Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> pancake(4).diameter
    4
    """
    m = _symbols("pancake", symbols)
    moves = [[*range(i - 1, -1, -1), *range(i, m)] for i in range(2, m + 1)]
    return _permutation_network(f"pancake:{m}", m, moves)


def bubble_sort(symbols: int) -> Network:
    """Return the bubble-sort graph B_m: arrangements of m symbols, adjacent by swapping neighbors.

    Parameters
    ----------
    symbols : int
        m, 1..11; 1 gives a single node and 2 a single edge.

    Returns
    -------
    Network
        ``m!`` nodes of degree m-1, spec ``bubble-sort:m``. Generator i swaps positions i and i+1.

    Raises
    ------
    NetworkError
        If m is out of range.

    Notes
    -----
    The distance is the number of inversions, the diameter ``m(m-1)/2``. O(m! m^2) time.

    References
    ----------
    Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> bubble_sort(4).diameter
    6
    """
    m = _symbols("bubble-sort", symbols)
    moves = [_swapped(m, [i], [i + 1]) for i in range(m - 1)]
    return _permutation_network(f"bubble-sort:{m}", m, moves)


def _symbols(family: str, symbols: int) -> int:
    _size(family, symbols)
    return int(symbols)


def _size(family: str, symbols: int) -> Size:
    m = whole_number(symbols, family, "m")
    nodes = math.factorial(min(m, 20))
    return checked_size(family, nodes, nodes * (m - 1))


def _permutation_network(spec: str, m: int, moves: list[list[int]]) -> Network:
    group = PermutationGroup(m)
    return cayley_network(spec, group, [int(group.rank(move)) for move in moves])


def _family(name: str, function: Callable[[int], Network], adjacent: str) -> Family:
    return Family(
        name=name,
        function=function,
        size=lambda m: _size(name, m),
        form=spec_parameters.numbers,
        parameters="m",
        summary=f"arrangements of m symbols, adjacent by {adjacent}",
        example=f"{name}:5",
        source="Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4",
        small=(f"{name}:4",),
    )


STAR = _family("star", star, "swapping the first with another")
PANCAKE = _family("pancake", pancake, "reversing a prefix")
BUBBLE_SORT = _family("bubble-sort", bubble_sort, "swapping neighbors")
