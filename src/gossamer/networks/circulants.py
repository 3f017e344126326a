"""Circulant networks: Cayley networks of the integers modulo n, from the ring to the complete network.

Hypercycles are products of extended rings; their two ends are tori and generalized hypercubes.
"""

from __future__ import annotations

import math
import re

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import AbelianGroup
from gossamer.networks.grids import ring_grid
from gossamer.networks.network import Network
from gossamer.networks.product import product


def circulant(n: int, *jumps: int) -> Network:
    """Return the circulant network: node i is adjacent to i+s and i-s modulo n for each jump s.

    Parameters
    ----------
    n : int
        Number of nodes, at least 2.
    *jumps : int
        Distinct jumps in 1..n-1, where s and n-s count as the same; together with n they must have no common divisor.

    Returns
    -------
    Network
        Spec ``circulant:n,s,...`` with the jumps brought to at most n/2 and sorted. Generators +s, -s for each jump
        (only +s when s = n/2).

    Raises
    ------
    NetworkError
        If a jump is missing, out of range or repeated, or the network would not be connected.

    Notes
    -----
    O(L) time.

    References
    ----------
    Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> circulant(13, 5, 1)
    <Network circulant:13,1,5: 13 nodes, 52 links>
    """
    folded = _jumps(n, jumps)
    return _circulant("circulant:" + ",".join(map(str, [n, *folded])), n, folded)


def extended_ring(n: int, rho: int) -> Network:
    """Return the extended ring E_n^rho: node i is adjacent to the nodes at most rho places away on a ring of n.

    Parameters
    ----------
    n : int
        Number of nodes, at least 2.
    rho : int
        Reach, 1..floor(n/2). 1 gives the ring and floor(n/2) the complete network.

    Returns
    -------
    Network
        Spec ``extended-ring:n,rho``. Generators +1, -1, +2, -2, ..., +rho, -rho (no -rho when rho = n/2).

    Raises
    ------
    NetworkError
        If n or rho is out of range.

    Notes
    -----
    Degree 2 rho, or 2 rho - 1 when rho = n/2; diameter ``ceil(floor(n/2)/rho)``; status ``(q+1)(n-1-rho*q)`` with
    ``q = floor((n-1)/(2 rho))`` (4.13). O(L) time.

    References
    ----------
    Dimakopoulos 1996, sections 2.3 and 4.4.4.

    Examples
    --------
    >>> extended_ring(14, 2).diameter
    4
    """
    _extended_ring_size(n, rho)
    return _circulant(f"extended-ring:{n},{rho}", int(n), list(range(1, rho + 1)))


def complete(n: int) -> Network:
    """Return the complete network K_n: every node is adjacent to every other.

    Parameters
    ----------
    n : int
        Number of nodes, at least 1.

    Returns
    -------
    Network
        Spec ``complete:n``. Generators 1, 2, ..., n-1.

    Raises
    ------
    NetworkError
        If n is out of range.

    Notes
    -----
    Diameter 1; status n-1 (4.11). O(n^2) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3.

    Examples
    --------
    >>> complete(4).link_target.tolist()
    [1, 2, 3, 2, 3, 0, 3, 0, 1, 0, 1, 2]
    """
    n = _complete_size(n).nodes
    grids = [ring_grid(n)] if n <= 3 else []
    return cayley_network(f"complete:{n}", AbelianGroup((n,)), range(1, n), structures=grids)


def _circulant(spec: str, n: int, jumps: list[int]) -> Network:
    generators = [g for s in jumps for g in (s, -s % n)]
    grids = [ring_grid(n)] if jumps == [1] else []
    return cayley_network(spec, AbelianGroup((n,)), generators, structures=grids)


def _jumps(n: int, jumps: tuple[int, ...]) -> list[int]:
    """Return the jumps brought to at most n/2 and sorted, if they make a connected network."""
    n = whole_number(n, "circulant", "n", low=2)
    if not jumps:
        raise NetworkError("circulant: at least one jump is needed, as in circulant:13,1,5")
    folded: dict[int, int] = {}
    for jump in jumps:
        s = whole_number(jump, "circulant", "a jump", 1, n - 1)
        if min(s, n - s) in folded:
            raise NetworkError(f"circulant: jump {s} repeats jump {folded[min(s, n - s)]} modulo {n}")
        folded[min(s, n - s)] = s
    divisor = math.gcd(n, *folded)
    if divisor > 1:
        raise NetworkError(f"circulant: not connected, because n={n} and every jump are multiples of {divisor}")
    return sorted(folded)


def _circulant_size(n: int, *jumps: int) -> Size:
    folded = _jumps(n, jumps)
    return checked_size("circulant", n, n * sum(1 if 2 * s == n else 2 for s in folded))


def _extended_ring_size(n: int, rho: int) -> Size:
    n = whole_number(n, "extended-ring", "n", low=2)
    reach = whole_number(rho, "extended-ring", "rho")
    if reach > n // 2:
        raise NetworkError(f"extended-ring: rho must be in 1..{n // 2} for n={n}, got {reach} (nearest: {n // 2})")
    return checked_size("extended-ring", n, n * min(2 * reach, n - 1))


def _complete_size(n: int) -> Size:
    n = whole_number(n, "complete", "n")
    return checked_size("complete", n, n * (n - 1))


EXTENDED_RING = Family(
    name="extended-ring",
    function=extended_ring,
    size=_extended_ring_size,
    form=spec_parameters.numbers,
    parameters="n,rho",
    summary="ring of n nodes, each adjacent to those at most rho places away",
    example="extended-ring:14,2",
    source="Dimakopoulos 1996, section 2.3",
    small=("extended-ring:14,2",),
)
CIRCULANT = Family(
    name="circulant",
    function=circulant,
    size=_circulant_size,
    form=spec_parameters.numbers,
    parameters="n,jump...",
    summary="n nodes, node i adjacent to i+s and i-s for each jump s",
    example="circulant:13,1,5",
    source="Dimakopoulos 1996, section 4.4",
    small=("circulant:13,1,5",),
)
COMPLETE = Family(
    name="complete",
    function=complete,
    size=_complete_size,
    form=spec_parameters.numbers,
    parameters="n",
    summary="n nodes, all adjacent",
    example="complete:8",
    source="Dimakopoulos 1996, section 2.3",
    small=("complete:1", "complete:6"),
)


# Products of extended rings.


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
