"""Cayley networks: a node for each element of a group, a link from ``u`` to ``u*g`` for each generator ``g``.

The named families follow the presentations of the digest of seed 004, section 3. Tiny sizes are allowed: generators
that coincide or become the identity are dropped, so that ``ccc:2`` is an 8-ring and ``star:2`` a single edge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks._parameters import check_links, whole_number
from gossamer.networks.groups import CubeRotationGroup, Group, PermutationGroup
from gossamer.networks.network import Grid, Network

__all__ = [
    "bubble_sort",
    "butterfly",
    "cayley",
    "cube_connected_cycles",
    "pancake",
    "star",
]


def cayley(name: str, group: Group, generators: Iterable[int]) -> Network:
    """Return the Cayley network of a group of your own.

    Parameters
    ----------
    name : str
        A free name; it does not parse back, so the network is `links_only`.
    group : Group
        A group on the element numbers 0..order-1 with identity 0.
    generators : iterable of int
        Element numbers, closed under inverses and generating the group. The identity and repetitions are dropped;
        the order kept is the order of the links of every node.

    Returns
    -------
    Network
        With `group`; link ``u*degree + g`` goes from u to ``u*generators[g]``.

    Raises
    ------
    NetworkError
        If a generator is out of range, the inverse of one is missing, or they generate only a subgroup.

    Notes
    -----
    Node symmetric: left translations are automorphisms that keep the generator of each link (seed 004, 4.4.2).
    O(N degree) time.

    Examples
    --------
    >>> from gossamer.networks import AbelianGroup, cayley
    >>> cayley("twisted square", AbelianGroup((2, 4)), [1, 3, 4])
    <Network twisted square: 8 nodes, 24 links>
    """
    elements = [whole_number(g, name, "a generator", 0, group.order - 1) for g in generators]
    inverses = group.inverse(np.array(elements, np.int64)).tolist()
    for g, inverse in zip(elements, inverses, strict=True):
        if inverse not in elements:
            raise NetworkError(f"{name}: generator {g} is given without its inverse {inverse}")
    network = cayley_network(name, group, elements, links_only=True)
    reached = _reached(network)
    if reached < network.node_count:
        raise NetworkError(f"{name}: the generators reach only {reached} of {network.node_count} elements")
    return network


def cayley_network(
    spec: str,
    group: Group,
    generators: Iterable[int],
    *,
    grid: Grid | None = None,
    coordinates: npt.ArrayLike | None = None,
    links_only: bool = False,
) -> Network:
    """Build a Cayley network from generators known to be closed under inverses and to generate the group."""
    elements = [g for g in dict.fromkeys(int(g) for g in generators) if g != 0]
    n, degree = group.order, len(elements)
    check_links(spec.partition(":")[0], n * degree)
    node = np.arange(n, dtype=np.int64)
    target = np.empty((n, degree), np.int32)
    for column, g in enumerate(elements):
        target[:, column] = group.compose(node, g)
    source = np.repeat(np.arange(n, dtype=np.int32), degree)
    return Network(
        spec, n, source, target.reshape(-1), group=group, grid=grid, coordinates=coordinates, links_only=links_only
    )


def _reached(network: Network) -> int:
    """Count the nodes that can be reached from node 0, a frontier at a time."""
    table = network.link_target.reshape(network.node_count, -1)
    seen = np.zeros(network.node_count, bool)
    seen[0] = True
    frontier = np.zeros(1, np.int32)
    while frontier.size:
        near = np.unique(table[frontier])
        frontier = near[~seen[near]]
        seen[frontier] = True
    return int(seen.sum())


# -- networks of permutations --------------------------------------------------------------------------------


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
    1989; seed 004, 4.4.

    Examples
    --------
    >>> star(4)
    <Network star:4: 24 nodes, 72 links>
    """
    m = _symbols("star", symbols)
    moves = [_swap(m, 0, i) for i in range(1, m)]
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
    Akers, Krishnamurthy 1989; seed 004, 4.4.

    Examples
    --------
    >>> pancake(4).diameter
    4
    """
    m = _symbols("pancake", symbols)
    moves = [[*range(i - 1, -1, -1), *range(i, m)] for i in range(2, m + 1)]
    return _permutation_network(f"pancake:{m}", m, moves)


def bubble_sort(symbols: int) -> Network:
    """Return the bubble-sort graph B_m: arrangements of m symbols, adjacent by swapping neighbours.

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
    Akers, Krishnamurthy 1989; seed 004, 4.4.

    Examples
    --------
    >>> bubble_sort(4).diameter
    6
    """
    m = _symbols("bubble-sort", symbols)
    moves = [_swap(m, i, i + 1) for i in range(m - 1)]
    return _permutation_network(f"bubble-sort:{m}", m, moves)


def _symbols(family: str, symbols: int) -> int:
    m = whole_number(symbols, family, "m")
    check_links(family, math.factorial(min(m, 20)) * (m - 1))
    return m


def _swap(m: int, i: int, j: int) -> list[int]:
    arrangement = list(range(m))
    arrangement[i], arrangement[j] = arrangement[j], arrangement[i]
    return arrangement


def _permutation_network(spec: str, m: int, moves: list[list[int]]) -> Network:
    group = PermutationGroup(m)
    return cayley_network(spec, group, [int(group.rank(move)) for move in moves])


# -- networks of words and rotations -------------------------------------------------------------------------


def cube_connected_cycles(bits: int) -> Network:
    """Return the cube-connected cycles CCC_d: a hypercube with a cycle of d nodes at each corner.

    Parameters
    ----------
    bits : int
        d, 1..22; 1 gives a single edge, 2 a ring of 8 nodes.

    Returns
    -------
    Network
        ``d*2**d`` nodes of degree 3, spec ``ccc:d``, coordinates (word, place on the cycle). Generators: one place
        on, one place back, across the hypercube.

    Raises
    ------
    NetworkError
        If d is out of range.

    Notes
    -----
    O(N) time.

    References
    ----------
    Preparata, Vuillemin, "The cube-connected cycles", Comm. ACM 24, 1981; seed 004, 4.4.

    Examples
    --------
    >>> cube_connected_cycles(4)
    <Network ccc:4: 64 nodes, 192 links>
    """
    d = _bits("ccc", bits, 3)
    return _rotation_network(f"ccc:{d}", d, [1 % d, -1 % d, d])


def butterfly(bits: int) -> Network:
    """Return the wrapped butterfly BF_d: d ranks of 2**d nodes, each rank joined to the next straight and across.

    Parameters
    ----------
    bits : int
        d, 1..22; 1 gives a single edge; 2 has degree 3 instead of 4, because two of its edges coincide.

    Returns
    -------
    Network
        ``d*2**d`` nodes of degree 4, spec ``butterfly:d``, coordinates (word, rank). Generators: straight to the
        next rank, straight back, across to the next rank, and the inverse of that.

    Raises
    ------
    NetworkError
        If d is out of range.

    Notes
    -----
    Words are written relative to the rank: the straight and the crossing link to the next rank are ``(0,+1)`` and
    ``(e_0,+1)`` of the group. Diameter ``floor(3d/2)`` for d >= 3. O(N) time.

    References
    ----------
    Seed 004, 4.4; presentation in its digest, section 3.

    Examples
    --------
    >>> butterfly(4).diameter
    6
    """
    d = _bits("butterfly", bits, 4)
    across = d + 1 % d
    return _rotation_network(f"butterfly:{d}", d, [1 % d, -1 % d, across, int(CubeRotationGroup(d).inverse(across))])


def _bits(family: str, bits: int, degree: int) -> int:
    d = whole_number(bits, family, "d")
    check_links(family, degree * d << min(d, 64))
    return d


def _rotation_network(spec: str, d: int, generators: list[int]) -> Network:
    node = np.arange(d << d, dtype=np.int32)
    coordinates = np.stack([node // d, node % d], axis=1)
    return cayley_network(spec, CubeRotationGroup(d), generators, coordinates=coordinates)
