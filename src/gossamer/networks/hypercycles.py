"""Hypercycles: products of extended rings, and their two ends, tori and generalized hypercubes."""

from __future__ import annotations

import math
import re

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.circulants import complete, extended_ring
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.product import product

__all__ = ["GENERALIZED_HYPERCUBE", "HYPERCYCLE", "generalized_hypercube", "hypercycle"]


def hypercycle(*rings: tuple[int, int]) -> Network:
    """Return the hypercycle: the product of extended rings.

    Parameters
    ----------
    *rings : pairs of int
        ``(n, rho)`` of each extended ring, n at least 2 and rho in 1..floor(n/2).

    Returns
    -------
    Network
        Spec ``hypercycle:n,rhoxn,rho...``; with one pair, the extended ring itself. A Cayley network.

    Raises
    ------
    NetworkError
        If there are no pairs, one is out of range, or the network is too large.

    Notes
    -----
    With every rho equal to 1 it is a torus, with every rho equal to floor(n/2) a generalized hypercube. O(L) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3.

    Examples
    --------
    >>> hypercycle((5, 2), (7, 3))
    <Network hypercycle:5,2x7,3: 35 nodes, 350 links>
    """
    _hypercycle_size(*rings)
    factors = [extended_ring(n, rho) for n, rho in rings]
    if len(factors) == 1:
        return factors[0]
    return product(*factors, spec="hypercycle:" + "x".join(f"{n},{rho}" for n, rho in rings))


def generalized_hypercube(*sides: int) -> Network:
    """Return the generalized hypercube: the product of complete networks.

    Parameters
    ----------
    *sides : int
        Nodes along each dimension, at least 1; the first is most significant in the node number.

    Returns
    -------
    Network
        Spec ``generalized-hypercube:AxBx...``; with one side, the complete network itself. A Cayley network.

    Raises
    ------
    NetworkError
        If there are no sides, a side is below 1, or the network is too large.

    Notes
    -----
    Degree: the sum of the sides less one each; the distance is the number of differing coordinates; status
    ``N*(k - sum 1/side)`` for k sides. O(L) time.

    References
    ----------
    Bhuyan, Agrawal, "Generalized hypercube and hyperbus structures for a computer network", IEEE Trans. Computers 33,
    1984; Dimakopoulos 1996, section 2.3.

    Examples
    --------
    >>> generalized_hypercube(4, 4, 3).diameter
    3
    """
    _generalized_hypercube_size(*sides)
    factors = [complete(s) for s in sides]
    if len(factors) == 1:
        return factors[0]
    return product(*factors, spec="generalized-hypercube:" + "x".join(map(str, map(int, sides))))


def _hypercycle_size(*rings: tuple[int, int]) -> Size:
    if not rings:
        raise NetworkError("hypercycle: at least one extended ring n,rho is needed")
    pairs = []
    for pair in rings:
        try:
            n, rho = pair
        except (TypeError, ValueError):
            raise NetworkError(f"hypercycle: each extended ring is a pair (n, rho), got {shown(pair)}") from None
        pairs.append((whole_number(n, "hypercycle", "n", low=2), whole_number(rho, "hypercycle", "rho")))
    nodes = math.prod(n for n, _ in pairs)
    return checked_size("hypercycle", nodes, sum(nodes * min(2 * rho, n - 1) for n, rho in pairs))


def _generalized_hypercube_size(*sides: int) -> Size:
    if not sides:
        raise NetworkError("generalized-hypercube: at least one side is needed")
    sides = tuple(whole_number(s, "generalized-hypercube", "a side") for s in sides)
    nodes = math.prod(sides)
    return checked_size("generalized-hypercube", nodes, nodes * sum(s - 1 for s in sides))


def _pairs(family: Family, text: str) -> list[object]:
    """Read ``n,rhoxn,rho...``."""
    pairs: list[object] = []
    for part in re.split("[x×*]", spec_parameters.plain(text)):
        numbers = part.split(",")
        if len(numbers) != 2:
            raise NetworkError(f"{family.name}: each extended ring is n,rho, got {shown(part)}; {family.usage()}")
        pairs.append((spec_parameters.integer(family, numbers[0]), spec_parameters.integer(family, numbers[1])))
    return pairs


HYPERCYCLE = Family(
    name="hypercycle",
    function=hypercycle,
    size=_hypercycle_size,
    form=_pairs,
    parameters="n,rhoxn,rhox...",
    summary="product of extended rings",
    example="hypercycle:5,2x7,3",
    source="Dimakopoulos 1996, section 2.3",
    small=("hypercycle:5,2x4,1",),
)
GENERALIZED_HYPERCUBE = Family(
    name="generalized-hypercube",
    function=generalized_hypercube,
    size=_generalized_hypercube_size,
    form=spec_parameters.sides,
    parameters="AxBx...",
    summary="product of complete networks",
    example="generalized-hypercube:4x4x3",
    source="Dimakopoulos 1996, section 2.3",
    small=("generalized-hypercube:4x3x2",),
)
