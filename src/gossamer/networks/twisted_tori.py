"""Twisted tori: tori whose ends are joined with a shift along other dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.cayley import cayley_network
from gossamer.networks.family import Family, Size, checked_size, is_list, whole_number
from gossamer.networks.finite_groups import LatticeGroup
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates

__all__ = ["TWISTED_TORUS", "twisted_torus"]

NAME = "twisted-torus"


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
        spec_parameters.canonical(NAME, values, twists=None),
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
        raise NetworkError(f"{NAME}: sides must be a sequence of at least one whole number")
    sides = tuple(whole_number(s, NAME, "a side") for s in sides)
    if twists is None:
        known = _default(sides)
        if known is None:
            told = "x".join(map(str, sides))
            raise NetworkError(f"{NAME}: sides {told} are not some n and some 2n, so the twists must be given")
        return LatticeGroup(sides, known)
    given = [row for row in twists if is_list(row)] if is_list(twists) else None
    if given is None or len(given) < len(twists):
        raise NetworkError(f"{NAME}: twists must be a row of whole numbers for each side, got {shown(twists)}")
    if {len(given), *map(len, given)} != {len(sides)}:
        raise NetworkError(f"{NAME}: {len(sides)} sides need {len(sides)} rows of {len(sides)} twists")
    rows = tuple(
        tuple(whole_number(t, NAME, "a twist", 0, side - 1) for t, side in zip(row, sides, strict=True))
        for row in given
    )
    group = LatticeGroup(sides, rows)
    if len(group.turns) < len(sides):
        missing = min(set(range(len(sides))) - set(group.turns))
        raise NetworkError(f"{NAME}: dimension {missing} is shifted by itself, directly or through others")
    return group


def _generators(group: LatticeGroup) -> list[int]:
    units = np.eye(len(group.sides), dtype=np.int64)
    return [int(group.number(list(step))) for unit in units for step in (unit, -unit)]


def _twisted_size(sides: Sequence[int], twists: Sequence[Sequence[int]] | None = None) -> Size:
    group = _group(sides, twists)
    checked_size(NAME, math.prod(group.sides), math.prod(group.sides) - 1)  # connected: not fewer links than that
    return checked_size(NAME, group.order, group.order * len(set(_generators(group)) - {0}))


def _rows(family: Family, text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(spec_parameters.integers(family, row) for row in text.split("/"))


TWISTED_TORUS = Family(
    name=NAME,
    function=twisted_torus,
    size=_twisted_size,
    form=spec_parameters.named({"sides": spec_parameters.side_numbers, "twists": _rows}, twists=None),
    parameters="sides=AxB...,twists=ROW/ROW/...",
    summary="torus whose ends are joined with a shift; by default sides of n shift those of 2n by n, as in TPUs",
    example="twisted-torus:sides=8x4x4",
    source="Camara et al. 2010; Camarero, Martinez and Beivide 2015",
    small=("twisted-torus:sides=4x2", "twisted-torus:sides=4x3,twists=0,0/1,0"),
)
