"""Algorithm Q: halve a region along all axes at once, move, smooth, and go on in the parts (Han 1990, chapter 3)."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth.base import even_power, family, power_of_two
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.algorithms.routing.move_and_smooth.smoothing import smooth_lengths
from gossamer.algorithms.routing.move_and_smooth.stages import Stage

__all__ = ["Q_K_PARTITION", "q_move_length", "q_stages", "refuse_sides"]


def q_move_length(shape: tuple[int, ...], parts: int = 2) -> int:
    """Return the steps of a move of Algorithm Q in a region of the given shape, at most.

    In two dimensions ``(parts-1)/parts`` of half the region's circumference; in K > 2 dimensions with equal sides n,
    ``2**(K-2) * n`` (dimension order, farthest remaining first; Han 1990, section 3.6.2).

    >>> q_move_length((8, 8)), q_move_length((16, 2)), q_move_length((9, 9), 3), q_move_length((8, 8, 8))
    (8, 9, 18, 16)
    """
    sides = [side for side in shape if side > 1]
    if len(sides) > 2:
        return (1 << len(sides) - 2) * max(sides)
    if parts > 2 and len(sides) == 2:
        return (parts - 1) * max(sides)
    return sum(side - side // parts for side in sides)


def q_stages(sides: tuple[int, ...], parts: int = 2, last_smooth: bool = True) -> list[Stage]:
    """Return the stages of Algorithm Q on an array whose sides can be halved down to 1.

    Parameters
    ----------
    sides : tuple of int
        Powers of `parts`; more than two of them equal.
    parts : int
        Parts along each axis: 2, or k for k^2-partitioning.
    last_smooth : bool
        False leaves out the smoothing of regions that are lines, as 3.6.4 allows, which takes 6 buffers instead of 5.

    Notes
    -----
    A packet travels along the longest axis first, and columns are smoothed along that one.

    Examples
    --------
    >>> [(stage.name, stage.move, stage.smooth) for stage in q_stages((4, 4))]
    [('move 4x4', 4, Lengths(count=1, rows=(2,), column=1)), ('move 2x2', 2, None)]
    """
    order = tuple(sorted(range(len(sides)), key=lambda a: -sides[a]))
    regions, stages = Regions.whole(sides), []
    while sum(size > 1 for size in regions.largest) > 1:
        after = regions
        for axis in order:
            after = after.split(axis, parts)
        split = sum(size > 1 for size in regions.largest)
        b = parts**split
        left = sum(size > 1 for size in after.largest)
        lengths = smooth_lengths(after, order[::-1], b) if left > (0 if last_smooth else 1) else None
        stages.append(Stage(regions, after, order, q_move_length(regions.largest, parts), b, lengths, order[::-1]))
        regions = after
    return [*stages, *_delivery(regions)]


def _delivery(regions: Regions) -> Iterator[Stage]:
    long = [axis for axis, size in enumerate(regions.largest) if size > 1]
    if long:
        yield Stage(regions, regions, (long[0],), regions.largest[long[0]] - 1)


def refuse_sides(sides: tuple[int, ...]) -> str | None:
    """Say why Algorithm Q does not cover an array of these sides, or None."""
    many = [side for side in sides if side > 1]
    if len(many) > 1 and not all(map(power_of_two, many)):
        return "needs sides that are powers of two"
    if len(many) > 2 and len(set(many)) > 1:
        return "needs equal sides in more than two dimensions"
    return None


def _refuse_partition(sides: tuple[int, ...]) -> str | None:
    if len(sides) != 2 or sides[0] != sides[1] or even_power(sides[0]) is None:
        return "needs a square array whose side is a power of an even number k >= 4"
    return None


def _partition_stages(sides: tuple[int, ...]) -> list[Stage]:
    return q_stages(sides, even_power(sides[0]) or 2)


Q_K_PARTITION: tuple[Algorithm, ...] = family(
    "Q-k-partition",
    stages=_partition_stages,
    refuse=_refuse_partition,
    buffers=lambda stages: stages[0].b + 2,
    networks="n x n arrays with n = k^p, k even, k >= 4",
    source="Han 1990, section 3.6.1, with farthest-first as the only priority",
    summary="Algorithm Q with k parts along each axis; k^2 + 2 buffers",
)
