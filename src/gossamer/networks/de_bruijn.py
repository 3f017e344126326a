"""De Bruijn networks: one-way links that shift a word and append a digit, for any number of nodes by arithmetic."""

from __future__ import annotations

import math

import numpy as np

from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.network import Network

# Kautz networks: one-way links, the most nodes for a degree and a diameter; any number of nodes by arithmetic.


def kautz(degree: int, diameter: int) -> Network:
    """Return the Kautz network K(d, D): d links leave and enter every node, and D hops reach all.

    Parameters
    ----------
    degree : int
        d, at least 2.
    diameter : int
        D, at least 1. 1 gives the complete network of d+1 nodes.

    Returns
    -------
    Network
        ``d**D + d**(D-1)`` nodes, spec ``kautz:d,D``. Node i has one-way links to ``-d*i-1, ..., -d*i-d`` modulo the
        number of nodes, in this order; none is a loop.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Isomorphic to the words of D letters out of d+1 without equal neighbors, with a link to each word shifted by one
    place. Diameter D, d disjoint paths between any two nodes. O(L) time.

    References
    ----------
    W. H. Kautz, "Bounds on directed (d,k) graphs", Theory of Cellular Logic Networks and Machines, 1968; the
    arithmetic: Imase and Itoh 1983.

    Examples
    --------
    >>> kautz(2, 3)
    <Network kautz:2,3: 12 nodes, 24 links>
    >>> kautz(2, 3).diameter
    3
    """
    size = _kautz_size(degree, diameter)
    return _shifts(f"kautz:{degree},{diameter}", -int(degree), size.nodes)


def generalized_kautz(degree: int, nodes: int) -> Network:
    """Return the generalized Kautz network GK(d, n): node i has links to ``-d*i-1, ..., -d*i-d`` modulo n.

    Parameters
    ----------
    degree : int
        d, at least 2.
    nodes : int
        n, at least d.

    Returns
    -------
    Network
        Spec ``generalized-kautz:d,n``. One-way links in the order above; loops are left out. There are none when d+1
        divides n.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Diameter at most ``ceil(log_d n)``; with ``n = d**D + d**(D-1)`` it is the Kautz network itself. O(L) time.

    References
    ----------
    M. Imase, M. Itoh, "A design for directed graphs with minimum diameter", IEEE Trans. Computers 32, 1983.

    Examples
    --------
    >>> generalized_kautz(4, 64).diameter
    3
    """
    size = _generalized_kautz_size(degree, nodes)
    return _shifts(f"generalized-kautz:{degree},{nodes}", -int(degree), size.nodes)


def _shifts(spec: str, d: int, n: int) -> Network:
    """Return the network with links from i to ``d*i, d*i + 1, ...``, or to ``d*i - 1, d*i - 2, ...`` with d below 0."""
    node = np.arange(n, dtype=np.int64)
    target = (d * node[:, None] + (np.arange(d) if d > 0 else np.arange(-1, d - 1, -1))) % n
    present = target != node[:, None]
    return Network(spec, n, np.repeat(node, present.sum(axis=1)).astype(np.int32), target[present].astype(np.int32))


def _kautz_size(degree: int, diameter: int) -> Size:
    d = whole_number(degree, "kautz", "d", low=2)
    nodes = (d + 1) * d ** (min(whole_number(diameter, "kautz", "D"), 64) - 1)
    return checked_size("kautz", nodes, d * nodes)


def _generalized_kautz_size(degree: int, nodes: int) -> Size:
    d, n = _checked("generalized-kautz", degree, nodes)
    # a loop is a solution i, j of (d+1) i + j = 0 modulo n: each j in 1..d that gcd(d+1, n) divides has as many
    common = math.gcd(d + 1, n)
    return checked_size("generalized-kautz", n, d * n - common * (d // common))


def _checked(family: str, degree: int, nodes: int) -> tuple[int, int]:
    d = whole_number(degree, family, "d", low=2)
    return d, whole_number(nodes, family, "n", low=d)


KAUTZ = Family(
    name="kautz",
    function=kautz,
    size=_kautz_size,
    form=spec_parameters.numbers,
    parameters="d,D",
    summary="Kautz network of degree d and diameter D, with one-way links",
    example="kautz:2,4",
    source="Kautz 1968",
    small=("kautz:2,2",),
)
GENERALIZED_KAUTZ = Family(
    name="generalized-kautz",
    function=generalized_kautz,
    size=_generalized_kautz_size,
    form=spec_parameters.numbers,
    parameters="d,n",
    summary="n nodes, a one-way link from i to -d*i-1, ..., -d*i-d modulo n; loops are left out",
    example="generalized-kautz:3,10",
    source="Imase and Itoh 1983",
    small=("generalized-kautz:2,7",),
)


def de_bruijn(degree: int, diameter: int) -> Network:
    """Return the de Bruijn network B(d, D): words of D digits below d, with a link to each word shifted by one place.

    Parameters
    ----------
    degree : int
        d, at least 2: how many digits may be appended, and the links that leave a node.
    diameter : int
        D, at least 1: the length of the words.

    Returns
    -------
    Network
        ``d**D`` nodes, spec ``de-bruijn:d,D``. The number of a node is its word read in base d, so that node i has
        one-way links to ``d*i, ..., d*i + d-1`` modulo ``d**D``, in this order. The d loops (words of a single digit)
        are left out, for a packet has no use for them: those nodes have a link less.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Diameter D: the most nodes but for a constant that d and D allow. O(L) time.

    References
    ----------
    N. G. de Bruijn, "A combinatorial problem", Proc. Koninklijke Nederlandse Akademie v. Wetenschappen 49, 1946.

    Examples
    --------
    >>> de_bruijn(2, 3).link_target.tolist()
    [1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6]
    """
    size = _de_bruijn_size(degree, diameter)
    return _shifts(f"de-bruijn:{degree},{diameter}", int(degree), size.nodes)


def generalized_de_bruijn(degree: int, nodes: int) -> Network:
    """Return the generalized de Bruijn network GB(d, n): node i has links to ``d*i, ..., d*i + d-1`` modulo n.

    Parameters
    ----------
    degree : int
        d, at least 2.
    nodes : int
        n, at least d.

    Returns
    -------
    Network
        Spec ``generalized-de-bruijn:d,n``. One-way links in the order above; loops are left out.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Diameter at most ``ceil(log_d n)``; with ``n = d**D`` it is the de Bruijn network itself. O(L) time.

    References
    ----------
    M. Imase, M. Itoh, "Design to minimize diameter on building-block network", IEEE Trans. Computers 30, 1981.

    Examples
    --------
    >>> generalized_de_bruijn(3, 10).diameter
    3
    """
    size = _generalized_size(degree, nodes)
    return _shifts(f"generalized-de-bruijn:{degree},{nodes}", int(degree), size.nodes)


def _de_bruijn_size(degree: int, diameter: int) -> Size:
    d = whole_number(degree, "de-bruijn", "d", low=2)
    nodes = d ** min(whole_number(diameter, "de-bruijn", "D"), 64)
    return checked_size("de-bruijn", nodes, d * nodes - d)


def _generalized_size(degree: int, nodes: int) -> Size:
    d, n = _checked("generalized-de-bruijn", degree, nodes)
    # a loop is a solution i, j of (d-1) i + j = 0 modulo n: each j below d that gcd(d-1, n) divides has as many
    common = math.gcd(d - 1, n)
    loops = common * -(-d // common)
    return checked_size("generalized-de-bruijn", n, d * n - loops)


DE_BRUIJN = Family(
    name="de-bruijn",
    function=de_bruijn,
    size=_de_bruijn_size,
    form=spec_parameters.numbers,
    parameters="d,D",
    summary="words of D digits below d, a one-way link from each to its d shifts; loops are left out",
    example="de-bruijn:2,4",
    source="de Bruijn 1946",
    small=("de-bruijn:2,3",),
)
GENERALIZED_DE_BRUIJN = Family(
    name="generalized-de-bruijn",
    function=generalized_de_bruijn,
    size=_generalized_size,
    form=spec_parameters.numbers,
    parameters="d,n",
    summary="n nodes, a one-way link from i to d*i, ..., d*i+d-1 modulo n; loops are left out",
    example="generalized-de-bruijn:3,10",
    source="Imase and Itoh 1981",
    small=("generalized-de-bruijn:3,10",),
)
