"""Cayley networks of words and rotations: cube-connected cycles and wrapped butterflies.

The smallest are allowed: generators that coincide or become the identity are dropped, so that ``ccc:2`` is an 8-ring.
"""

from __future__ import annotations

import numpy as np

from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import CubeRotationGroup
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates


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
    _ccc_size(bits)
    d = int(bits)
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
    _butterfly_size(bits)
    d = int(bits)
    across = d + 1 % d
    return _rotation_network(f"butterfly:{d}", d, [1 % d, -1 % d, across, int(CubeRotationGroup(d).inverse(across))])


def _ccc_size(bits: int) -> Size:
    d = whole_number(bits, "ccc", "d")
    nodes = d << min(d, 64)
    return checked_size("ccc", nodes, nodes * min(d, 3))


def _butterfly_size(bits: int) -> Size:
    d = whole_number(bits, "butterfly", "d")
    nodes = d << min(d, 64)
    return checked_size("butterfly", nodes, nodes * min(2 * d - 1, 4))


def _rotation_network(spec: str, d: int, generators: list[int]) -> Network:
    node = np.arange(d << d, dtype=np.int32)
    places = Coordinates(np.stack([node // d, node % d], axis=1))
    return cayley_network(spec, CubeRotationGroup(d), generators, structures=[places])


CCC = Family(
    name="ccc",
    function=cube_connected_cycles,
    size=_ccc_size,
    form=spec_parameters.numbers,
    parameters="d",
    summary="cube-connected cycles: a d-cube with a cycle of d nodes at each corner",
    example="ccc:4",
    source="Preparata and Vuillemin 1981; Dimakopoulos 1996, section 4.4",
    small=("ccc:3",),
    aliases=("cube-connected-cycles",),
)
BUTTERFLY = Family(
    name="butterfly",
    function=butterfly,
    size=_butterfly_size,
    form=spec_parameters.numbers,
    parameters="d",
    summary="wrapped butterfly: d ranks of 2^d nodes",
    example="butterfly:4",
    source="Dimakopoulos 1996, section 4.4",
    small=("butterfly:3",),
    aliases=("wrapped-butterfly",),
)
