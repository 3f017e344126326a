"""Cubes of nodes whose faces meet at optical switches: each switch joins the ports of one index of all cubes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size, is_list, whole_number
from gossamer.networks.group_specs import NamedGroup, group_named
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates

__all__ = ["SWITCHED_CUBES", "switched_cubes"]

NAME = "switched-cubes"
_MOST_CUBES = 4_096


def switched_cubes(side: int, group: str, x: Sequence[int], y: Sequence[int], z: Sequence[int]) -> Network:
    """Return cubes that optical switches join: inside a lattice, and one switch for each port index and dimension.

    Parameters
    ----------
    side : int
        Nodes along each dimension of a cube, at least 3.
    group : str
        The cubes are the elements of this group (`gossamer.networks.group_specs`), such as ``abelian(2,2,2)``.
    x, y, z : sequence of int
        A group element for each of the ``side**2`` switches of a dimension, in the order of the two other coordinates:
        the upper face of cube A at that index is joined to the lower face of cube ``A*element``. One number stands for
        all switches of the dimension.

    Returns
    -------
    Network
        ``side**3`` nodes a cube, degree 6, spec ``switched-cubes:side=4,group=abelian(2,2,2),x=4,y=2,z=1``. Node
        ``(A, i, j, k)`` has number ``((A*side + i)*side + j)*side + k``.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the number of elements is neither 1 nor ``side**2``.

    Notes
    -----
    Left multiplication of all cubes by an element is an automorphism. O(N) time.

    References
    ----------
    Machines of this kind: Jouppi et al. 2023.

    Examples
    --------
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
        spec_parameters.canonical(NAME, values),
        node.size,
        np.repeat(node, 6).astype(np.int32),
        target.reshape(-1).astype(np.int32),
        structures=[Coordinates(np.stack([block, *place], axis=1).astype(np.int32))],
    )


def _checked(side: int, group: str, joins: Sequence[Sequence[int]]) -> tuple[NamedGroup, list[list[int]]]:
    whole_number(side, NAME, "side", 3, 64)
    named = group_named(group)
    rows = []
    for name, row in zip("xyz", joins, strict=True):
        if not is_list(row) or len(row) not in (1, side * side):
            raise NetworkError(f"{NAME}: {name} needs 1 element or {side * side}, one for each switch")
        known = [whole_number(g, NAME, f"an element of {name}", 0, named.group.order - 1) for g in row]
        rows.append(known * (side * side // len(known)))
    return named, rows


def _size(side: int, group: str, x: Sequence[int], y: Sequence[int], z: Sequence[int]) -> Size:
    named, _ = _checked(side, group, (x, y, z))
    if named.group.order > _MOST_CUBES:
        raise NetworkError(f"{NAME}: at most {_MOST_CUBES} cubes are joined, got {named.group.order}")
    nodes = named.group.order * side**3
    return checked_size(NAME, nodes, 6 * nodes)


def _elements(family: Family, text: str) -> list[int]:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})*", text):
        raise NetworkError(f"{family.name}: expected elements such as 4 or 4.2.1.0, got {shown(text)}")
    return [int(part) for part in text.split(".")]


def _text(family: Family, text: str) -> str:
    return text


SWITCHED_CUBES = Family(
    name=NAME,
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
