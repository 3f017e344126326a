"""What the mappings of Algorithm Q take and give: cells of regions, and targets with the routes there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray

__all__ = ["Cells", "Flags", "Mapping", "Routes", "Whole", "halves"]

Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class Cells(NamedTuple):
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
    ) -> Cells:
        """Return the cells of given (rows, columns), (i, j) and (down, right), arrays that broadcast together.

        >>> Cells.of((5, 5), ([0, 1], 0), (True, False)).i.tolist()
        [0, 1]
        """
        numbers = [np.asarray(value, np.int64).reshape(-1) for value in (*shape, *place)]
        flags = [np.asarray(value, np.bool_).reshape(-1) for value in part]
        r, c, i, j, down, right = np.broadcast_arrays(*numbers, *flags)
        return cls(r, c, i, j, down, right)

    def upright(self) -> tuple[Cells, Flags]:
        """Return the cells with the regions of r < c transposed, and which ones are, bool[M]."""
        r, c, i, j, down, right = self
        wide = r < c
        return Cells(
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


Mapping: TypeAlias = Callable[[Cells], Routes]
"""From where messages are to where they go."""


def halves(side: int) -> tuple[int, int]:
    """Return the sizes L and S of the two parts of a side; the larger one comes first.

    >>> halves(7), halves(8)
    ((4, 3), (4, 4))
    """
    return side - side // 2, side // 2
