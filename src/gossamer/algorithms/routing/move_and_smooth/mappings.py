"""Where a message goes in the move step of Algorithm Q on a region with odd sides, and by which way.

A region of r rows and c columns is cut into four quadrants: II (top left) has the larger halves L_r = ceil(r/2) and
L_c = ceil(c/2), IV (bottom right) the smaller ones S_r and S_c, I is top right and III bottom left. Cells that have no
counterpart in the quadrant that their message goes to need a rule. The thesis has three of them for odd squares of
side n = 2s+1; variants A and C extend the first and the third one to every r x c.

Every route has at most three legs: along the column, along the row, along the column again.
"""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.regions import Flags, Mapping, RegionCells, Routes, Whole
from gossamer.errors import NotApplicableError
from gossamer.networks.network import IntArray

__all__ = ["MAPPINGS", "first_mapping", "multiplicity", "second_mapping", "third_mapping", "variant_a", "variant_c"]


def variant_a(cells: RegionCells) -> Routes:
    """Map by variant A, the first mapping of the thesis extended to every r x c.

    Along an odd side, cell k of the larger part goes to max(k-1, 0) of the smaller one, and cell k of the smaller part
    to k+1 of the larger one: S steps, or S+1 for the first cell. Along an even side the relative place is kept.
    Messages go along the column first; those of row 0 of a region with odd r go along the row first. Regions with
    r < c are transposed.

    Parameters
    ----------
    cells : RegionCells
        Of regions of any shapes.

    Notes
    -----
    A cell is the target of at most 4 cells if both sides are even, 6 if one is odd, and 9 if both are. O(M).

    References
    ----------
    Han 1990, section 3.6.3, first mapping.

    Examples
    --------
    >>> routes = variant_a(RegionCells.of((5, 5), ([0, 0, 1], [0, 1, 1]), (True, True)))
    >>> routes.row.tolist(), routes.column.tolist()
    ([3, 3, 3], [3, 3, 3])
    >>> routes.hops.tolist()
    [[0, 3, 3], [0, 2, 3], [2, 2, 0]]
    """
    return _in_both_directions(_a, cells)


def variant_c(cells: RegionCells) -> Routes:
    """Map by variant C, the third mapping of the thesis extended to every r x c.

    Along an odd side, cell k of the larger part goes to min(k, S-1) of the smaller one if only this half changes, to
    max(k-1, 0) if both do; cell k of the smaller part goes to k. The exceptions of `third_mapping` apply where both
    sides are odd and both S >= 5. Messages go along the column first. South gate: the last of S_r+1 steps south is
    made after step S_r+S_c, behind the leg along the row. Regions with r < c are transposed.

    Parameters
    ----------
    cells : RegionCells
        As for `variant_a`.

    Notes
    -----
    A cell is the target of at most 5 cells if both sides are odd and at least 11. O(M).

    References
    ----------
    Han 1990, section 3.6.3, third mapping.

    Examples
    --------
    >>> routes = variant_c(RegionCells.of((5, 5), ([0, 0, 2], [0, 0, 0]), (True, [True, False, False])))
    >>> routes.row.tolist(), routes.column.tolist()
    ([3, 3, 4], [3, 0, 0])
    >>> routes.hops.tolist(), routes.not_before.tolist()
    ([[2, 3, 1], [2, 0, 1], [2, 0, 0]], [[0, 0, 5], [0, 0, 5], [0, 0, 0]])
    """
    return _in_both_directions(_c, cells)


def first_mapping(cells: RegionCells) -> Routes:
    """Map by the first mapping, for odd squares only: up to 9 messages in one cell.

    The top row and the left column are special. Ordinary messages go s steps along each axis, those of the left
    column s+1 steps along the row, those of the top row s+1 along the column. On an odd square this is variant A.

    Parameters
    ----------
    cells : RegionCells
        As for `variant_a`.

    Raises
    ------
    NotApplicableError
        If a region is not a square with an odd side of at least 3.

    References
    ----------
    Han 1990, section 3.6.3, first mapping.

    Examples
    --------
    >>> first_mapping(RegionCells.of((5, 5), (4, 4), (False, False))).row.tolist()
    [2]
    """
    _odd_side(cells, "first", 3)
    return variant_a(cells)


def second_mapping(cells: RegionCells) -> Routes:
    """Map by the second mapping, for odd squares with n >= 7: up to 6 messages in one cell.

    The middle row and the middle column, of relative number s, are special; their messages spread over several
    columns of the smaller quadrants. All messages go along the column first.

    Parameters
    ----------
    cells : RegionCells
        As for `variant_a`.

    Raises
    ------
    NotApplicableError
        If a region is not a square with an odd side of at least 7: quadrant IV then has no column s-3.

    References
    ----------
    Han 1990, section 3.6.3, second mapping.

    Examples
    --------
    >>> routes = second_mapping(RegionCells.of((7, 7), ([3, 3, 0], [1, 3, 3]), (True, True)))
    >>> routes.row.tolist(), routes.column.tolist()
    ([5, 6, 4], [4, 6, 5])
    """
    _odd_side(cells, "second", 7)
    r, _, i, j, down, right = cells
    s = r // 2
    low, far = i > s, j > s  # in the lower, in the right half
    x, y = i - np.where(low, s + 1, 0), j - np.where(far, s + 1, 0)
    ii, one, three = ~low & ~far, ~low & far, low & ~far
    row, column = x.copy(), y.copy()
    for here, to_row, to_column in (
        # from II to IV: the middle row, the middle column, and where they cross
        (ii & down & right & (x == s), y, s - 3),
        (ii & down & right & (y == s), x, s - 2),
        (ii & down & right & (x == s) & (y == s), s - 1, s - 1),
        # from II to I, and to III: the middle column, the middle row
        (ii & ~down & right & (y == s), x, s - 1),
        (ii & down & ~right & (x == s) & (y < s), y, s - 1),
        (ii & down & ~right & (x == s) & (y == s), s - 1, s),
        # from I downwards, and from III to the right: the middle row, the middle column
        (one & down & (x == s), s - 1 - y, np.zeros_like(s)),
        (three & ~down & right & (y == s), x, s - 2),
        (three & down & right & (y == s), x, s - 1),
    ):
        row, column = np.where(here, to_row, row), np.where(here, to_column, column)
    target_row, target_column = row + np.where(down, s + 1, 0), column + np.where(right, s + 1, 0)
    return _routes(i, j, target_row, target_column)


def third_mapping(cells: RegionCells) -> Routes:
    """Map by the third mapping, for odd squares with n >= 7: up to 5 messages in one cell if n >= 11.

    As `variant_c`, always with the exceptions for quadrant IV: from II (1,0), (1,1) and (2,1) keep their place,
    (s,1) goes to (s-2,1), (1,s) to (1,s-2); from I (s-1,s-1) goes to (s-2,s-2). They take load off cells that several
    rules share. With n = 7 eight cells share a target all the same, with n = 9 six.

    Parameters
    ----------
    cells : RegionCells
        As for `variant_a`.

    Raises
    ------
    NotApplicableError
        If a region is not a square with an odd side of at least 7: quadrant IV then has no cell (2,1).

    References
    ----------
    Han 1990, section 3.6.3, third mapping.

    Examples
    --------
    >>> routes = third_mapping(RegionCells.of((11, 11), ([1, 2, 5], [1, 1, 1]), (True, True)))
    >>> routes.row.tolist(), routes.column.tolist()
    ([7, 8, 9], [7, 7, 7])
    """
    _odd_side(cells, "third", 7)
    return _third(cells, least=3)


MAPPINGS: dict[str, Mapping] = {
    "1": first_mapping,
    "2": second_mapping,
    "3": third_mapping,
    "A": variant_a,
    "C": variant_c,
}
"""The mappings by name: those of the thesis by number, those extended to every r x c by letter."""


def multiplicity(mapping: Mapping, rows: int, columns: int) -> IntArray:
    """Return of how many cells of a region each cell can be the target, int32[rows, columns], its own included.

    Parameters
    ----------
    mapping : Mapping
        One of `MAPPINGS`.
    rows, columns : int
        Sides of the region.

    Notes
    -----
    The most messages that the cell can hold after the move, whatever their destinations. O(rows * columns).

    Examples
    --------
    >>> multiplicity(variant_a, 5, 5)
    array([[1, 2, 2, 3, 2],
           [2, 4, 4, 6, 4],
           [2, 4, 4, 6, 4],
           [3, 6, 6, 9, 6],
           [2, 4, 4, 6, 4]], dtype=int32)
    """
    i, j = (grid.reshape(-1) for grid in np.indices((rows, columns)))
    count = np.zeros(rows * columns, np.int64)
    for down in (False, True)[: min(rows, 2)]:
        for right in (False, True)[: min(columns, 2)]:
            routes = mapping(RegionCells.of((rows, columns), (i, j), (down, right)))
            count += np.bincount(routes.row * columns + routes.column, minlength=count.size)
    return count.reshape(rows, columns).astype(np.int32)


def _odd_side(cells: RegionCells, name: str, least: int) -> None:
    r, c = cells.rows, cells.columns
    wrong = np.flatnonzero((r != c) | (r % 2 == 0) | (r < least))
    if wrong.size:
        side = f"{r[wrong[0]]}x{c[wrong[0]]}"
        raise NotApplicableError(f"the {name} mapping is for squares with an odd side of at least {least}, not {side}")


def _routes(
    i: Whole, j: Whole, row: Whole, column: Whole, row_first: Flags | None = None, gate: Whole | None = None
) -> Routes:
    """Return the routes to the target cells; where `gate` is not 0, the last step south is the third leg."""
    down, across = row - i, column - j
    first = np.zeros(i.size, np.bool_) if row_first is None else row_first
    step = np.zeros(i.size, np.int64) if gate is None else gate
    last = np.where(first, down, step > 0)
    hops = np.stack([down - last, across, last], axis=1).astype(np.int32)
    not_before = np.zeros_like(hops)
    not_before[:, 2] = step
    axis = np.empty(hops.shape, np.int8)
    axis[:] = (0, 1, 0)
    return Routes(row.astype(np.int32), column.astype(np.int32), axis, hops, not_before)


def _in_both_directions(mapping: Mapping, cells: RegionCells) -> Routes:
    """Apply a mapping for r >= c, transposing the other regions."""
    upright, wide = cells.upright()
    routes = mapping(upright)
    row, column = np.where(wide, routes.column, routes.row), np.where(wide, routes.row, routes.column)
    return Routes(row, column, routes.axis ^ wide[:, np.newaxis], routes.hops, routes.not_before)


def _a(cells: RegionCells) -> Routes:
    r, c, i, j, down, right = cells

    def target(side: Whole, k: Whole, second: Flags) -> Whole:
        large, odd = side - side // 2, side % 2
        there = np.where(second, large + np.maximum(k - odd, 0), k - large + odd)
        return np.where((k >= large) == second, k, there)

    return _routes(i, j, target(r, i, down), target(c, j, right), (r % 2 == 1) & (i == 0))


def _c(cells: RegionCells) -> Routes:
    return _third(cells, least=5)


def _third(cells: RegionCells, least: int) -> Routes:
    """Map for r >= c, with the exceptions where both sides are odd and S_c is at least `least`."""
    r, c, i, j, down, right = cells
    s, t = r // 2, c // 2
    low, far = i >= r - s, j >= c - t
    both = (low != down) & (far != right)

    def target(side: Whole, k: Whole, second: Flags) -> Whole:
        small = side // 2
        large, odd = side - small, side % 2
        straight, diagonal = np.minimum(k, small - 1), np.maximum(k - odd, 0)
        there = np.where(second, large + np.where(both, diagonal, straight), k - large)
        return np.where((k >= large) == second, k, there)

    row, column = target(r, i, down), target(c, j, right)
    to_four = (r % 2 == 1) & (c % 2 == 1) & (t >= least) & down & right & ~low
    two, one, y = to_four & ~far, to_four & far, j - (c - t)
    for here, to_row, to_column in (  # the exceptions, from II and from I
        (two & (j == 0) & (i == 1), i, j),
        (two & (j == 1) & ((i == 1) | (i == 2)), i, j),
        (two & (j == 1) & (i == s), s - 2, j),
        (two & (j == t) & (i == 1), i, t - 2),
        (one & (y == t - 1) & (i == s - 1), s - 2, t - 2),
    ):
        row = np.where(here, r - s + to_row, row)
        column = np.where(here, c - t + to_column, column)
    gate = np.where(row - i > s, s + t + 1, 0)
    return _routes(i, j, row, column, None, gate)
