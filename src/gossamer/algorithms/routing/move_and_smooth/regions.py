"""How a level of the recursion divides an array: every axis into intervals, every product of intervals a region."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray

__all__ = ["Flags", "Mapping", "RegionCells", "Regions", "Routes", "Whole", "halves"]

# What the mappings of Algorithm Q take and give: cells of regions, and targets with the routes there.

Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class RegionCells(NamedTuple):
    """Where messages are, each in its region, and the part of the region that each goes to.

    Attributes
    ----------
    rows, columns : int64[M]
        Sides r and c of each message's region.
    i, j : int64[M]
        Row and column of the message, relative to the region.
    down, right : bool[M]
        Which part it goes to: the lower rather than the upper, the right rather than the left one.
    """

    rows: Whole
    columns: Whole
    i: Whole
    j: Whole
    down: Flags
    right: Flags

    @classmethod
    def of(
        cls,
        shape: tuple[npt.ArrayLike, npt.ArrayLike],
        place: tuple[npt.ArrayLike, npt.ArrayLike],
        part: tuple[npt.ArrayLike, npt.ArrayLike],
    ) -> RegionCells:
        """Return the cells of given (rows, columns), (i, j) and (down, right), arrays that broadcast together.

        >>> RegionCells.of((5, 5), ([0, 1], 0), (True, False)).i.tolist()
        [0, 1]
        """
        numbers = [np.asarray(value, np.int64).reshape(-1) for value in (*shape, *place)]
        flags = [np.asarray(value, np.bool_).reshape(-1) for value in part]
        r, c, i, j, down, right = np.broadcast_arrays(*numbers, *flags)
        return cls(r, c, i, j, down, right)

    def upright(self) -> tuple[RegionCells, Flags]:
        """Return the cells with the regions of r < c transposed, and which ones are, bool[M]."""
        r, c, i, j, down, right = self
        wide = r < c
        return RegionCells(
            np.where(wide, c, r), np.where(wide, r, c), np.where(wide, j, i), np.where(wide, i, j),
            np.where(wide, right, down), np.where(wide, down, right),
        ), wide  # fmt: skip


@dataclass(frozen=True, eq=False)
class Routes:
    """Targets of messages within their regions, and the ways there.

    Attributes
    ----------
    row, column : int32[M]
        The target cell, counted from the region's top left cell.
    axis : int8[M, 3]
        Direction of each leg: 0 along a column (the row changes), 1 along a row.
    hops : int32[M, 3]
        Signed length of each leg.
    not_before : int32[M, 3]
        The earliest step of the move, from 1, in which the last hop of the leg may be made; 0 if in any.
    """

    row: IntArray
    column: IntArray
    axis: npt.NDArray[np.int8]
    hops: IntArray
    not_before: IntArray


Mapping: TypeAlias = Callable[[RegionCells], Routes]
"""From where messages are to where they go."""


def halves(side: int) -> tuple[int, int]:
    """Return the sizes L and S of the two parts of a side; the larger one comes first.

    >>> halves(7), halves(8)
    ((4, 3), (4, 4))
    """
    return side - side // 2, side // 2


@dataclass(frozen=True)
class Regions:
    """The regions of one level: products of intervals of coordinates.

    Attributes
    ----------
    cuts : tuple of tuples of int
        For each axis the first coordinate of every interval, ascending, and the side at the end.
    smaller : tuple of tuples of bool
        For each axis, whether an interval is a smaller part of one that did not divide evenly in the last split.

    Examples
    --------
    >>> Regions.whole((5, 4)).split(0, 2).cuts
    ((0, 3, 5), (0, 4))
    """

    cuts: tuple[tuple[int, ...], ...]
    smaller: tuple[tuple[bool, ...], ...]

    @classmethod
    def whole(cls, sides: Iterable[int]) -> Regions:
        """Return the one region that is the whole array."""
        cuts = tuple((0, side) for side in sides)
        return cls(cuts, tuple((False,) for _ in cuts))

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self.cuts)

    def sizes(self, axis: int) -> list[int]:
        """Return the distinct sizes of the intervals of an axis, the largest first."""
        return sorted(set(np.diff(self.cuts[axis]).tolist()), reverse=True)

    @property
    def largest(self) -> tuple[int, ...]:
        """The largest size along each axis."""
        return tuple(self.sizes(a)[0] for a in range(self.axes))

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the distinct shapes of the regions."""
        return list(product(*(self.sizes(a) for a in range(self.axes))))

    def kinds(self) -> list[tuple[tuple[int, bool], ...]]:
        """Return the distinct (size, smaller part of an odd split) of the regions along each axis."""
        return list(
            product(
                *(
                    sorted(set(zip(np.diff(cuts).tolist(), small, strict=True)))
                    for cuts, small in zip(self.cuts, self.smaller, strict=True)
                )
            )
        )

    def split(self, axis: int, parts: int = 2) -> Regions:
        """Return the regions after every interval of an axis was cut in parts, larger ones first; single ones stay."""
        cuts, smaller = [0], []
        for a, b in zip(self.cuts[axis], self.cuts[axis][1:], strict=False):
            size, many = b - a, min(parts, b - a)
            for p in range(many):
                cuts.append(cuts[-1] + (size - p + many - 1) // many)
                smaller.append(many > 1 and cuts[-1] - cuts[-2] < (size + many - 1) // many)
        return Regions(
            tuple(tuple(cuts) if a == axis else c for a, c in enumerate(self.cuts)),
            tuple(tuple(smaller) if a == axis else (False,) * (len(c) - 1) for a, c in enumerate(self.cuts)),
        )

    @cached_property
    def _coordinates(self) -> list[tuple[IntArray, IntArray, IntArray]]:
        tables = []
        for cuts in self.cuts:
            size = np.diff(cuts).astype(np.int32)
            number = np.repeat(np.arange(size.size, dtype=np.int32), size)
            tables.append((number, np.array(cuts, np.int32)[number], size[number]))
        return tables

    def number(self, axis: int) -> IntArray:
        """Return the number of the interval in which each coordinate of an axis lies, int32[side]."""
        return self._coordinates[axis][0]

    def first(self, axis: int) -> IntArray:
        """Return the first coordinate of the interval of each coordinate of an axis, int32[side]."""
        return self._coordinates[axis][1]

    def size(self, axis: int) -> IntArray:
        """Return the size of the interval of each coordinate of an axis, int32[side]."""
        return self._coordinates[axis][2]

    def ordered(
        self, leading: tuple[int, ...], following: tuple[int, ...], mirrored: int | None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the nodes line by line, region by region.

        Parameters
        ----------
        leading, following : tuples of int
            Axes, the most significant first: nodes are sorted by region, then by the coordinates of `leading`, then of
            `following`. A line runs along the last axis; lines that agree in `leading` form a group.
        mirrored : int or None
            An axis along which every region has two halves, the first the smaller one. Each half is a region of its
            own, and in the second one all coordinates run backwards.

        Returns
        -------
        node : int32[N]
        line_first : int64[lines+1]
            Line l is ``node[line_first[l]:line_first[l+1]]``.
        fresh : bool[lines]
            Whether a line begins a group.

        Notes
        -----
        O(N) if all regions have one shape and are not mirrored in unequal halves, O(N log N) otherwise.
        """
        sides = [c[-1] for c in self.cuts]
        local = [np.arange(side) - self.first(a) for a, side in enumerate(sides)]
        second = local[mirrored] >= self.size(mirrored) // 2 if mirrored is not None else np.zeros(1, bool)
        place, unit = 1, {}
        for a in (*leading, *following)[::-1]:
            unit[a] = place
            place *= self.largest[a]
        line_axis = following[-1]
        line, group = self.largest[line_axis], 1
        for a in following:
            group *= self.largest[a]
        total: npt.NDArray[np.int64] = np.zeros(sides, np.int64)
        at = [(-1 if a == mirrored else 1) for a in range(self.axes)]
        flips = second.reshape(at) if mirrored is not None else None
        for a in range(self.axes):
            shape = [(-1 if b == a else 1) for b in range(self.axes)]
            forward = (local[a] * unit[a]).reshape(shape)
            backward = ((self.size(a) - 1 - local[a]) * unit[a]).reshape(shape)
            total = total + (forward if flips is None else np.where(flips, backward, forward))
        if flips is not None:
            total = total + flips * place
            place *= 2
        for a in range(self.axes):
            shape = [(-1 if b == a else 1) for b in range(self.axes)]
            total = total + (self.number(a).astype(np.int64) * place).reshape(shape)
            place *= len(self.cuts[a]) - 1
        key = total.reshape(-1)
        order = np.argsort(key, kind="stable").astype(np.int32)
        key = key[order]
        lines = key // line
        starts = np.flatnonzero(np.r_[True, lines[1:] != lines[:-1]])
        groups = key[starts] // group
        fresh = np.r_[True, groups[1:] != groups[:-1]]
        return order, np.r_[starts, key.size].astype(np.int64), fresh
