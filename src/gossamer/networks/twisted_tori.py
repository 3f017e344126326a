"""Tori whose ends are joined otherwise: with a shift along other dimensions, or at optical switches.

In a twisted torus going around a dimension leads aside along others. Cubes of nodes whose faces meet at optical
switches are joined as a group tells: each switch joins the ports of one index of all cubes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, is_list, whole_number
from gossamer.networks.finite_groups import LatticeGroup
from gossamer.networks.group_specs import NamedGroup, group_named
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates

_TWISTED = "twisted-torus"


def twisted_torus(sides: Sequence[int], twists: Sequence[Sequence[int]] | None = None) -> Network:
    """Return the torus in which going once around a dimension leads aside along others.

    Parameters
    ----------
    sides : sequence of int
        Nodes along each dimension, at least 1; the first is most significant in the node number.
    twists : sequence of sequences of int, optional
        Row j has the shift along each dimension i, ``0..sides[i]-1``, of going once upwards around dimension j. No
        dimension is shifted by itself, directly or through others. Default, for sides of n and of 2n: a dimension
        of side n shifts those of side 2n by n.

    Returns
    -------
    Network
        Spec ``twisted-torus:sides=AxB...``, with ``twists=ROW/ROW...`` if they are not the default. A Cayley network
        of a `LatticeGroup`; generators +1 and -1 in the first dimension, then in the second, and so on. Those that are
        equal to another, or to no step at all, are left out.

    Raises
    ------
    NetworkError
        If there are no sides, a parameter is out of range, or the network is too large.

    Notes
    -----
    By default ``2n x n`` is the rectangular twisted torus, ``2n x n x n`` and ``2n x 2n x n`` are the face-centered and
    the body-centered cubic lattice graphs, the shapes of twisted slices of TPU machines. All links of these are alike,
    and the diameters are n, ``floor(3n/2)`` and ``floor(3n/2)``, where tori have ``n + floor(n/2)``,
    ``n + 2*floor(n/2)`` and ``2n + floor(n/2)``. O(L) time.

    References
    ----------
    Camara et al. 2010; Camarero, Martinez and Beivide 2015; in machines: Jouppi et al. 2023.

    Examples
    --------
    >>> twisted_torus((8, 4)).diameter, twisted_torus((8, 4, 4)).diameter
    (4, 6)
    >>> twisted_torus((13, 1), ((0, 0), (5, 0))).generators.tolist()
    [1, 12, 5, 8]
    """
    group = _group(sides, twists)
    size = _twisted_size(sides, twists)
    rows = None if group.twists == _default(group.sides) else "/".join(",".join(map(str, r)) for r in group.twists)
    values = {"sides": "x".join(map(str, group.sides)), "twists": rows}
    node, stride, digits = np.arange(size.nodes), size.nodes, []
    for side in group.sides:
        stride //= side
        digits.append(node // stride % side)
    return cayley_network(
        spec_parameters.canonical(_TWISTED, values, twists=None),
        group,
        _generators(group),
        structures=[Coordinates(np.stack(digits, axis=1))],
    )


def _default(sides: tuple[int, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return the twists of sides n and 2n, None for other sides."""
    n = min(sides)
    if set(sides) != {n, 2 * n}:
        return None
    return tuple(tuple(n if (s, t) == (n, 2 * n) else 0 for t in sides) for s in sides)


def _group(sides: Sequence[int], twists: Sequence[Sequence[int]] | None) -> LatticeGroup:
    if not is_list(sides) or not sides:
        raise NetworkError(f"{_TWISTED}: sides must be a sequence of at least one whole number")
    sides = tuple(whole_number(s, _TWISTED, "a side") for s in sides)
    if twists is None:
        known = _default(sides)
        if known is None:
            told = "x".join(map(str, sides))
            raise NetworkError(f"{_TWISTED}: sides {told} are not some n and some 2n, so the twists must be given")
        return LatticeGroup(sides, known)
    given = [row for row in twists if is_list(row)] if is_list(twists) else None
    if given is None or len(given) < len(twists):
        raise NetworkError(f"{_TWISTED}: twists must be a row of whole numbers for each side, got {shown(twists)}")
    if {len(given), *map(len, given)} != {len(sides)}:
        raise NetworkError(f"{_TWISTED}: {len(sides)} sides need {len(sides)} rows of {len(sides)} twists")
    rows = tuple(
        tuple(whole_number(t, _TWISTED, "a twist", 0, side - 1) for t, side in zip(row, sides, strict=True))
        for row in given
    )
    group = LatticeGroup(sides, rows)
    if len(group.turns) < len(sides):
        missing = min(set(range(len(sides))) - set(group.turns))
        raise NetworkError(f"{_TWISTED}: dimension {missing} is shifted by itself, directly or through others")
    return group


def _generators(group: LatticeGroup) -> list[int]:
    units = np.eye(len(group.sides), dtype=np.int64)
    return [int(group.number(list(step))) for unit in units for step in (unit, -unit)]


def _twisted_size(sides: Sequence[int], twists: Sequence[Sequence[int]] | None = None) -> Size:
    group = _group(sides, twists)
    checked_size(_TWISTED, math.prod(group.sides), math.prod(group.sides) - 1)  # connected: not fewer links than that
    return checked_size(_TWISTED, group.order, group.order * len(set(_generators(group)) - {0}))


def _rows(family: Family, text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(spec_parameters.integers(family, row) for row in text.split("/"))


TWISTED_TORUS = Family(
    name=_TWISTED,
    function=twisted_torus,
    size=_twisted_size,
    form=spec_parameters.named({"sides": spec_parameters.side_numbers, "twists": _rows}, twists=None),
    parameters="sides=AxB...,twists=ROW/ROW/...",
    summary="torus whose ends are joined with a shift; by default sides of n shift those of 2n by n, as in TPUs",
    example="twisted-torus:sides=8x4x4",
    source="Camara et al. 2010; Camarero, Martinez and Beivide 2015",
    small=("twisted-torus:sides=4x2", "twisted-torus:sides=4x3,twists=0,0/1,0"),
)


_SWITCHED = "switched-cubes"
_MOST_CUBES = 4_096


def switched_cubes(side: int, group: str, x: Sequence[int], y: Sequence[int], z: Sequence[int]) -> Network:
    """Return cubes that optical switches join: inside a lattice, and one switch for each port index and dimension.

    * `side`: nodes along each dimension of a cube, at least 3.
    * `group`: the cubes are the elements of this group (`gossamer.networks.group_specs`), such as ``abelian(2,2,2)``.
    * `x`, `y`, `z`: a group element for each of the ``side**2`` switches of a dimension, in the order of the two other
      coordinates: the upper face of cube A at that index is joined to the lower face of cube ``A*element``. One number
      stands for all switches of the dimension.

    Returns: ``side**3`` nodes a cube, degree 6, spec ``switched-cubes:side=4,group=abelian(2,2,2),x=4,y=2,z=1``. Node
    ``(A, i, j, k)`` has number ``((A*side + i)*side + j)*side + k``. Raises `NetworkError` if a parameter is out of
    range, or the number of elements is neither 1 nor ``side**2``.

    Left multiplication of all cubes by an element is an automorphism. O(N) time.

    Source: Machines of this kind: Jouppi et al. 2023.

    >>> switched_cubes(4, "abelian(2,2,2)", [4], [2], [1]).diameter  # the torus of 8 x 8 x 8 nodes
    12
    """
    named, joins = _checked(side, group, (x, y, z))
    count, cube = named.group.order, side**3
    _size(side, group, x, y, z)
    node = np.arange(count * cube, dtype=np.int64)
    block, place = node // cube, [node // side**2 % side, node // side % side, node % side]
    columns = []
    every = np.arange(count)
    for d in range(3):
        stride = side ** (2 - d)
        other = [place[e] for e in range(3) if e != d]
        index = other[0] * side + other[1]
        up = np.stack([named.group.compose(every, int(g)) for g in joins[d]])
        down = np.stack([named.group.compose(every, int(named.group.inverse(g))) for g in joins[d]])
        last, first = place[d] == side - 1, place[d] == 0
        around = (side - 1) * stride
        columns.append(np.where(last, up[index, block] * cube + node % cube - around, node + stride))
        columns.append(np.where(first, down[index, block] * cube + node % cube + around, node - stride))
    target = np.stack(columns, axis=1)
    told = ["x", "y", "z"]
    values: dict[str, object] = {"side": side, "group": named.text}
    for name, row in zip(told, joins, strict=True):
        values[name] = ".".join(map(str, row[:1] if len(set(row)) == 1 else row))
    return Network(
        spec_parameters.canonical(_SWITCHED, values),
        node.size,
        np.repeat(node, 6).astype(np.int32),
        target.reshape(-1).astype(np.int32),
        structures=[Coordinates(np.stack([block, *place], axis=1).astype(np.int32))],
    )


def _checked(side: int, group: str, joins: Sequence[Sequence[int]]) -> tuple[NamedGroup, list[list[int]]]:
    whole_number(side, _SWITCHED, "side", 3, 64)
    named = group_named(group)
    rows = []
    for name, row in zip("xyz", joins, strict=True):
        if not is_list(row) or len(row) not in (1, side * side):
            raise NetworkError(f"{_SWITCHED}: {name} needs 1 element or {side * side}, one for each switch")
        known = [whole_number(g, _SWITCHED, f"an element of {name}", 0, named.group.order - 1) for g in row]
        rows.append(known * (side * side // len(known)))
    return named, rows


def _size(side: int, group: str, x: Sequence[int], y: Sequence[int], z: Sequence[int]) -> Size:
    named, _ = _checked(side, group, (x, y, z))
    if named.group.order > _MOST_CUBES:
        raise NetworkError(f"{_SWITCHED}: at most {_MOST_CUBES} cubes are joined, got {named.group.order}")
    nodes = named.group.order * side**3
    return checked_size(_SWITCHED, nodes, 6 * nodes)


def _elements(family: Family, text: str) -> list[int]:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})*", text):
        raise NetworkError(f"{family.name}: expected elements such as 4 or 4.2.1.0, got {shown(text)}")
    return [int(part) for part in text.split(".")]


def _text(family: Family, text: str) -> str:
    return text


SWITCHED_CUBES = Family(
    name=_SWITCHED,
    function=switched_cubes,
    size=_size,
    form=spec_parameters.named(
        {"side": spec_parameters.integer, "group": _text, "x": _elements, "y": _elements, "z": _elements}
    ),
    parameters="side=S,group=GROUP,x=G.G...,y=G.G...,z=G.G...",
    summary="cubes of S^3 nodes, their faces joined by a switch for each port index; the cubes are a group",
    example="switched-cubes:side=4,group=abelian(2,2,2),x=4,y=2,z=1",
    source="Jouppi et al. 2023",
    small=("switched-cubes:side=3,group=abelian(2),x=1,y=0,z=0",),
)
