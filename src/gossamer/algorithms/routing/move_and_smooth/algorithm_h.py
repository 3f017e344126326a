"""Algorithm H: halve along one axis, move, smooth, then along the next one (Han 1990, chapter 4); 3 buffers."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth.base import even_power, family
from gossamer.algorithms.routing.move_and_smooth.lines import column_bound, row_bound
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.algorithms.routing.move_and_smooth.smoothing import Lengths, count_length, smooth_lengths
from gossamer.algorithms.routing.move_and_smooth.stages import Stage

__all__ = ["H_K_STRIPS", "H", "h_stages"]


def h_stages(sides: tuple[int, ...], parts: int = 2) -> list[Stage]:
    """Return the stages of Algorithm H.

    Parameters
    ----------
    sides : tuple of int
        Any; for more than two parts powers of `parts`.
    parts : int
        2, or k for k strips.

    Notes
    -----
    The shortest axis is split first, of equal ones the last; columns are smoothed along the longest.

    Examples
    --------
    >>> [(stage.name, stage.move, stage.smooth.data if stage.smooth else 0) for stage in h_stages((4, 4))]
    [('move 4x4', 2, 3), ('move 4x2', 2, 2), ('move 2x2', 1, 1), ('move 2x1', 1, 0)]
    """
    order = tuple(sorted(range(len(sides)), key=lambda a: (sides[a], -a)))
    regions, stages = Regions.whole(sides), []
    while sum(size > 1 for size in regions.largest) > 1:
        for axis in order:
            size = regions.largest[axis]
            if size == 1:
                continue
            after = regions.split(axis, parts)
            uneven = any(map(any, after.smaller))
            b = parts + 1 if uneven else parts
            lengths = None
            if max(after.largest) > 1:
                lengths = _uneven_lengths(after, order) if uneven else smooth_lengths(after, order, parts)
            stages.append(Stage(regions, after, (axis,), size - size // parts, b, lengths, order))
            regions = after
    for axis, size in enumerate(regions.largest):
        if size > 1:
            stages.append(Stage(regions, regions, (axis,), size - 1))
    return stages


def _uneven_lengths(regions: Regions, axes: tuple[int, ...]) -> Lengths:
    """Return the lengths of a smoothing after intervals of odd size were halved (Han 1990, section 4.6.4).

    Only the last line of a smaller part can hold 3 packets a node. In two dimensions the lengths follow from where
    that line is; in more they are those for 3 packets anywhere.
    """
    count = max(count_length(shape, axes) for shape in regions.shapes())
    if len(axes) > 2:
        rows = tuple(max(row_bound(3, size) for size in regions.sizes(a)) for a in axes[:-1])
        return Lengths(count, rows, max(column_bound(3, size) for size in regions.sizes(axes[-1])))
    row = column = 0
    for kind in regions.kinds():
        (c, thin), (r, flat) = kind[axes[0]], kind[axes[1]]
        if c > 1:
            row = max(row, c if flat or (thin and c == 2) else c - 1)
        if r > 1:
            column = max(column, r // 2 + (r % 2 if thin or flat else 0))
    return Lengths(count, (row,), column)


def _refuse_strips(sides: tuple[int, ...]) -> str | None:
    if len(sides) != 2 or sides[0] != sides[1] or even_power(sides[0]) is None:
        return "needs a square array whose side is a power of an even number k >= 4"
    return None


H: tuple[Algorithm, ...] = family(
    "H",
    stages=h_stages,
    refuse=lambda sides: None,
    buffers=lambda stages: 3,
    networks="arrays",
    source="Han 1990, chapter 4 (Theorems 4.5-4.7, 4.6.2, 4.6.4, 4.6.5)",
    summary="halves the array along one axis after the other, moving and smoothing in between; 3 buffers",
)

H_K_STRIPS: tuple[Algorithm, ...] = family(
    "H-k-strips",
    stages=lambda sides: h_stages(sides, even_power(sides[0]) or 2),
    refuse=_refuse_strips,
    buffers=lambda stages: stages[0].b + 1,
    networks="n x n arrays with n = k^p, k even, k >= 4",
    source="Han 1990, section 4.6.3",
    summary="Algorithm H with k strips instead of halves; k + 1 buffers",
)
