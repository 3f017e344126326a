"""Cayley networks of words and rotations: cube-connected cycles and wrapped butterflies.

The smallest are allowed: generators that coincide or become the identity are dropped, so that ``ccc:2`` is an 8-ring.
"""

from __future__ import annotations

import numpy as np

from gossamer.networks._parameters import check_links, whole_number
from gossamer.networks.cayley import cayley_network
from gossamer.networks.groups import CubeRotationGroup
from gossamer.networks.network import Network

__all__ = ["butterfly", "cube_connected_cycles"]


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
        on, one place back, and across: the node at place p flips bit p of the word.

    Raises
    ------
    NetworkError
        If d is out of range.

    Notes
    -----
    O(N) time.

    References
    ----------
    Preparata, Vuillemin, "The cube-connected cycles", Comm. ACM 24, 1981; Dimakopoulos 1996, section 4.4.

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
    The crossing link from rank p flips bit p of the word. Diameter ``floor(3d/2)`` for d >= 3. O(N) time.

    References
    ----------
    Dimakopoulos 1996, section 4.4.

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
