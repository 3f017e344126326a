"""Linear arrays, rings, and their products: d-dimensional arrays (meshes), tori, hypercubes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, one_or_each, whole_number
from gossamer.networks.finite_groups import AbelianGroup
from gossamer.networks.network import Factors, IntArray, Network
from gossamer.networks.product import product
from gossamer.networks.structures import CayleyGroup, Grid

Each = int | Sequence[int]
"""One number for the links of all dimensions, or one for those of each."""

_LEAST = {"capacity": 1, "occupancy": 1, "latency": 0}
"""What may be said of the links of a dimension: the least, which is the default."""


def linear_array(n: int) -> Network:
    """Return the linear array of n nodes: node i is adjacent to i-1 and i+1.

    Parameters
    ----------
    n : int
        Number of nodes, at least 1.

    Returns
    -------
    Network
        Spec ``array:n``. The links of a node go to i+1, then to i-1. One or two nodes make a Cayley network.

    Raises
    ------
    NetworkError
        If n is out of range.

    Notes
    -----
    Diameter n-1; average status ``(n^2-1)/3``. O(n) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3; Varvarigos and Bertsekas 1994, section 1.

    Examples
    --------
    >>> linear_array(4).link_target.tolist()
    [1, 2, 0, 3, 1, 2]
    """
    n = whole_number(n, "array", "n")
    _grid_size("array", (n,))
    node = np.arange(n, dtype=np.int32)
    ends = np.stack([node + 1, node - 1], axis=1)
    inside = (ends >= 0) & (ends < n)
    return Network(
        f"array:{n}",
        n,
        np.repeat(node, inside.sum(axis=1)),
        ends[inside],
        structures=[Grid((n,), (False,)), *([CayleyGroup(AbelianGroup((n,)))] if n <= 2 else [])],
    )


def ring(n: int) -> Network:
    """Return the ring of n nodes: node i is adjacent to i+1 and i-1 modulo n.

    Parameters
    ----------
    n : int
        Number of nodes, at least 1. One node has no links; two nodes are joined by a single edge.

    Returns
    -------
    Network
        Spec ``ring:n``. Generators +1, then -1.

    Raises
    ------
    NetworkError
        If n is out of range.

    Notes
    -----
    Diameter ``floor(n/2)``; status ``ceil((n^2-1)/4)`` (4.12). O(n) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3.

    Examples
    --------
    >>> ring(5).generators.tolist()
    [1, 4]
    """
    n = _ring_size(n).nodes
    return cayley_network(f"ring:{n}", AbelianGroup((n,)), [1 % n, -1 % n], structures=[ring_grid(n)])


def ring_grid(n: int) -> Grid:
    """Return the grid of a ring of n nodes, which wraps if it has at least 3 nodes."""
    return Grid((n,), (n >= 3,))


def array(*sides: int, capacity: Each = 1, occupancy: Each = 1, latency: Each = 0) -> Network:
    """Return the array (mesh) with the given sides: the product of linear arrays.

    Parameters
    ----------
    *sides : int
        Nodes along each dimension, at least 1; the first is most significant in the node number.
    capacity, occupancy, latency : int or sequence of int
        As for `torus`.

    Returns
    -------
    Network
        Spec ``array:AxBx...``; with one side, the linear array itself. An array with every side 2 is a hypercube and
        a Cayley network. Sides of 1 add a coordinate that is always 0.

    Raises
    ------
    NetworkError
        If there are no sides, a side is below 1, or the network is too large.

    Notes
    -----
    Diameter: the sum of the sides less one each. O(L) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3; Varvarigos and Bertsekas 1994, section 1.

    Examples
    --------
    >>> array(3, 4)
    <Network array:3x4: 12 nodes, 34 links>
    """
    return _grid_network("array", sides, capacity, occupancy, latency)


def torus(*sides: int, capacity: Each = 1, occupancy: Each = 1, latency: Each = 0) -> Network:
    """Return the torus with the given sides: the product of rings.

    Parameters
    ----------
    *sides : int
        Nodes along each dimension, at least 1; the first is most significant in the node number.
    capacity, occupancy, latency : int or sequence of int
        Packets that a link carries at once (1 by default), slots for which one occupies it (1) and slots until it is
        usable at the far end after that (0); one number for all dimensions, or one for each.

    Returns
    -------
    Network
        Spec ``torus:AxBx...``; with one side, the ring itself. Where links are not all of capacity 1, or take time,
        ``torus:AxBx...,capacity=CxD...,occupancy=...,latency=...`` with what is not at its default. A Cayley network;
        generators +1 and -1 in the first dimension, then in the second, and so on.

    Raises
    ------
    NetworkError
        If there are no sides, a number is out of range, or the network is too large.

    Notes
    -----
    A dimension of side 2 is a single edge (one link each way), as in an array, not two parallel ones; a dimension of
    side 1 has no links. Diameter: the sum of ``floor(side/2)``. O(L) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3; Varvarigos and Bertsekas 1994, section 1.

    Examples
    --------
    >>> torus(4, 4).degree, torus(4, 2).degree
    (4, 3)
    >>> torus(8, 8, 4, occupancy=(1, 1, 3)).link_occupancy[:6].tolist()
    [1, 1, 1, 1, 3, 3]
    """
    return _grid_network("torus", sides, capacity, occupancy, latency)


def hypercube(dimensions: int) -> Network:
    """Return the hypercube Q_d: 2**d nodes, adjacent if their numbers differ in one bit.

    Parameters
    ----------
    dimensions : int
        d, 0..23. The 0-cube is a single node, stored as an array of side 1.

    Returns
    -------
    Network
        Spec ``hypercube:d``. Generators ``2**(d-1), ..., 2, 1``.

    Raises
    ------
    NetworkError
        If d is out of range.

    Notes
    -----
    Degree and diameter d; status ``d*2**(d-1)``. O(d 2**d) time.

    References
    ----------
    Dimakopoulos 1996, section 2.3.

    Examples
    --------
    >>> hypercube(3).generators.tolist()
    [4, 2, 1]
    """
    size = _hypercube_size(dimensions)
    d = size.links // size.nodes
    sides = [2] * d or [1]
    return product(*map(linear_array, sides), spec=f"hypercube:{d}")


def grid_links(network: Network) -> IntArray:
    """Return the link from each node of an array or torus one step up and one step down along each dimension.

    Returns: int32[N, d, 2]: link numbers, [..., 0] up and [..., 1] down; -1 where there is none.

    O(d L) time.

    >>> grid_links(ring(4))[:, 0].tolist()
    [[0, 1], [2, 3], [4, 5], [6, 7]]
    """
    grid = network.grid
    if grid is None:
        raise NetworkError(f"network {network.spec!r} is not an array or torus")
    table = np.full((network.node_count, grid.dimensions, 2), -1, np.int32)
    for i, (side, wraps, stride) in enumerate(zip(grid.sides, grid.wraps, grid.strides, strict=True)):
        step = network.link_target // stride % side - network.link_source // stride % side
        around = side - 1 if wraps else side
        for way, (near, far) in enumerate(((1, -around), (-1, around))):
            links = np.flatnonzero((step == near) | (step == far))
            table[network.link_source[links], i, way] = links
    return table


def _grid_network(family: str, sides: Sequence[int], capacity: Each, occupancy: Each, latency: Each) -> Network:
    _grid_size(family, sides, capacity, occupancy, latency)
    side_network = ring if family == "torus" else linear_array
    shape = "x".join(map(str, map(int, sides)))
    plain = side_network(sides[0]) if len(sides) == 1 else product(*map(side_network, sides), spec=f"{family}:{shape}")
    given = {"capacity": capacity, "occupancy": occupancy, "latency": latency}
    each = {name: one_or_each(family, value, len(sides), "side", name, _LEAST[name]) for name, value in given.items()}
    told = [f"{name}={_told(each[name])}" for name, least in _LEAST.items() if set(each[name]) != {least}]
    if not told:
        return plain
    assert plain.coordinates is not None
    dimension = (plain.coordinates[plain.link_source] != plain.coordinates[plain.link_target]).argmax(axis=1)
    columns = {name: np.array(numbers, np.int32)[dimension] for name, numbers in each.items()}
    wide = set(each["capacity"]) != {1}
    return Network(
        ",".join([f"{family}:{shape}", *told]),
        plain.node_count,
        plain.link_source,
        plain.link_target,
        columns["capacity"],
        link_occupancy=columns["occupancy"],
        link_latency=columns["latency"],
        structures=[s for s in plain.structures if not (wide and isinstance(s, Factors))],  # factors have capacity 1
    )


def _told(numbers: tuple[int, ...]) -> str:
    return str(numbers[0]) if len(set(numbers)) == 1 else "x".join(map(str, numbers))


def _grid_size(family: str, sides: Sequence[int], capacity: Each = 1, occupancy: Each = 1, latency: Each = 0) -> Size:
    if not sides:
        raise NetworkError(f"{family}: at least one side is needed")
    sides = tuple(whole_number(s, family, "a side") for s in sides)
    for name, value in (("capacity", capacity), ("occupancy", occupancy), ("latency", latency)):
        one_or_each(family, value, len(sides), "side", name, _LEAST[name])
    n = math.prod(sides)
    wraps = family == "torus"
    return checked_size(family, n, sum(n // s * 2 * (s if wraps and s > 2 else s - 1) for s in sides))


def _ring_size(n: int) -> Size:
    n = whole_number(n, "ring", "n")
    return checked_size("ring", n, 2 * n if n > 2 else 2 * (n - 1))


def _hypercube_size(dimensions: int) -> Size:
    d = whole_number(dimensions, "hypercube", "d", low=0)
    return checked_size("hypercube", 1 << min(d, 64), d << min(d, 64))


def _sides_and_links(family: Family, text: str) -> list[object]:
    """Read ``AxBx...``, and what the links of each dimension are like."""
    sides, *rest = re.split(r",(?=[a-z]+=)", spec_parameters.plain(text), maxsplit=1)
    if not rest:
        return [tuple(spec_parameters.sides(family, sides))]
    read = spec_parameters.named(dict.fromkeys(_LEAST, spec_parameters.side_numbers), **_LEAST)
    return [tuple(spec_parameters.sides(family, sides)), *read(family, rest[0])]


ARRAY = Family(
    name="array",
    function=lambda sides, capacity=1, occupancy=1, latency=0: _grid_network(
        "array", sides, capacity, occupancy, latency
    ),
    size=lambda sides, *links: _grid_size("array", sides, *links),
    form=_sides_and_links,
    parameters="AxBx...,capacity=1|CxD...,occupancy=1|OxP...,latency=0|LxM...",
    summary="d-dimensional array (mesh) of any sides, with links of each dimension as wide and slow as you like",
    example="array:8x8",
    source="Varvarigos and Bertsekas 1994, section 1; Dimakopoulos 1996, section 2.3",
    small=("array:1", "array:2", "array:7", "array:4x4", "array:3x5", "array:2x3x4", "array:1x6"),
    aliases=("mesh", "linear-array"),
)
TORUS = Family(
    name="torus",
    function=lambda sides, capacity=1, occupancy=1, latency=0: _grid_network(
        "torus", sides, capacity, occupancy, latency
    ),
    size=lambda sides, *links: _grid_size("torus", sides, *links),
    form=_sides_and_links,
    parameters="AxBx...,capacity=1|CxD...,occupancy=1|OxP...,latency=0|LxM...",
    summary="d-dimensional torus of any sides, links as for arrays; a side of 2 is a single edge; one side: a ring",
    example="torus:16x16x16",
    source="Varvarigos and Bertsekas 1994, section 1; Dimakopoulos 1996, section 2.3",
    small=("torus:3x3", "torus:4x4", "torus:2x5", "torus:3x4x5", "torus:2x2x2", "torus:3x4,capacity=1x2"),
)
RING = Family(
    name="ring",
    function=ring,
    size=_ring_size,
    form=spec_parameters.numbers,
    parameters="n",
    summary="ring of n nodes",
    example="ring:12",
    source="Dimakopoulos 1996, section 2.3",
    small=("ring:1", "ring:2", "ring:3", "ring:8", "ring:9"),
)
HYPERCUBE = Family(
    name="hypercube",
    function=hypercube,
    size=_hypercube_size,
    form=spec_parameters.numbers,
    parameters="d",
    summary="binary d-cube",
    example="hypercube:10",
    source="Dimakopoulos 1996, section 2.3",
    small=("hypercube:1", "hypercube:4"),
)
