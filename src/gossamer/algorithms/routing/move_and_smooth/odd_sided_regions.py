"""Move-and-smooth on regions of any sides, odd ones by maps to even ones, and the table of all these algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth.mappings import multiplicity, variant_a, variant_c
from gossamer.algorithms.routing.move_and_smooth.regions import Mapping, RegionCells, Regions, halves
from gossamer.algorithms.routing.move_and_smooth.smoothing import (
    MovingItems,
    PhaseLengths,
    branch_order,
    branching,
    count_length,
    move,
    smooth,
)
from gossamer.algorithms.routing.move_and_smooth.stages import (
    H_K_STRIPS,
    Q_K_PARTITION,
    H,
    Stage,
    family,
    follow,
    q_stages,
    refuse_sides,
)
from gossamer.graphs.lock_step_movement import ItemMoves
from gossamer.networks.network import IntArray

# Algorithm Q on every r x c array, by variants A and C of the mappings for odd sides.
#
# All regions of a level move and smooth in lock-step, whatever their shapes: a side n is cut into ceil(n/2) and
# floor(n/2), so at most four shapes meet in a level. The shorter sides become single first; then every region is a
# line, and what is left goes straight to its destinations.
#
# The guaranteed lengths hold for every instance. A move takes at most ceil(r/2) + ceil(c/2) steps, one more for variant
# C if the longer side is odd. What a smoothing can meet follows from how many cells share a target: see
# `worst_lengths`.

VARIANTS: dict[str, Mapping] = {"A": variant_a, "C": variant_c}
"""The mappings that cover every r x c, by name."""


@dataclass(frozen=True)
class MappedStage(Stage):
    """A stage whose move follows one of the `VARIANTS`, so that regions with odd sides may be split."""

    variant: str = "C"


def any_stages(sides: tuple[int, ...], variant: str) -> tuple[Stage, ...]:
    """Return the stages of Algorithm Q on an array of two dimensions, with guaranteed lengths.

    `sides`: the sides r and c. `variant`, {"A", "C"}: how cells of odd regions are mapped.

    On a square whose side is a power of two they are those of the thesis or a step shorter; on others their sum can be
    more than 5.5n. O(rc).

    >>> for stage in any_stages((6, 3), "C"):
    ...     print(stage.name, stage.move, stage.smooth)
    move 6x3 5 PhaseLengths(count=2, rows=(2,), column=2)
    move 3x2 4 PhaseLengths(count=0, rows=(0,), column=1)
    deliver 2x1 1 None
    """
    axes = (1, 0) if sides[0] >= sides[1] else (0, 1)
    short, long = axes
    regions, stages = Regions.whole(sides), list[Stage]()
    while regions.largest[short] > 1:
        after = regions.split(0).split(1)
        shapes = [(r, c) for r, c in regions.shapes()]
        loads = [load for shape in shapes for load in _quadrant_loads(variant, *shape)]
        lengths = None
        if max(after.largest) > 1:
            worst = [worst_lengths(load if short else load.T) for load in loads]
            count = max(count_length(shape, axes) for shape in after.shapes())
            lengths = PhaseLengths(count, (max(row for row, _ in worst),), max(column for _, column in worst))
        steps = max(_move_length(variant, *shape) for shape in shapes)
        most = max(int(load.max()) for load in loads)
        stages.append(MappedStage(regions, after, axes[::-1], steps, most, lengths, axes, variant))
        regions = after
    if regions.largest[long] > 1:
        stages.append(Stage(regions, regions, (long,), regions.largest[long] - 1))
    return tuple(stages)


def worst_lengths(load: IntArray) -> tuple[int, int]:
    """Return the steps that row and column movement take at most in a region, given what each cell can hold.

    `load`, int32[R, C]: the most items in each cell before; a region never has more items than cells.

    Returns: `row`, `column`.

    Row movement: the flow over link k is largest if the k cells to its left are full, the others are empty, and the
    extra items lie on the right after it; that is Lemma 2.3 with a bound for each cell. Column movement: an item that
    is in row p or above before ends at most in row ``min(B_p, R) - 1``, B_p being what rows 0..p can hold, and of the
    items that go so far one comes in each step; that is Theorem 2.3 with a bound for each row. O(R C).

    Source: Han 1990, Lemma 2.3 and Theorem 2.3.

    As Theorems 2.1 and 2.3 say for b = 4, 8 x 8 cells:

    >>> worst_lengths(np.full((8, 8), 4, np.int32))
    (9, 6)
    """
    rows, columns = load.shape
    row, column = columns - 1, (rows + 1) // 2 - 1
    k = np.arange(1, columns)
    for turned in (load, load[::-1, ::-1]):
        full = np.minimum(np.cumsum(turned, axis=1, dtype=np.int64), rows * columns)
        flow = full[:, :-1] // columns * (columns - k) + np.minimum(full[:, :-1] % columns, columns - k)
        row = max(row, int(flow.max(initial=0)))
        held = np.cumsum(-(-full[:, -1] // columns))
        column = max(column, int((np.minimum(held, rows) - 1 - np.arange(rows)).max()))
    return row, column


def _move_length(variant: str, r: int, c: int) -> int:
    """Return the steps of the move of a region, at most.

    First legs never wait: they begin in different cells in the first step. On a row, items that go at least to one
    link are held up there by each other only, since who has farthest to go goes first; from the last gap on one of
    them crosses it in each step. Counting all that can arrive gives this length.
    """
    gate = max(r, c) % 2 if variant == "C" and max(r, c) > 1 else 0
    return sum(halves(side)[0] for side in (r, c) if side > 1) + gate


def buffers_seen(stages: Sequence[Stage]) -> int:
    """Return the most items that a node was seen to hold at a time in any run; nothing proves it.

    `stages`: as from `any_stages`, or of Algorithm Q on sides that are powers of two.

    After a move a cell can hold what its region has room for, of the items that have it as their target; with one on
    top for those that pass if all sides are even, 5 in all for two axes, and 6 for variant A if a side is odd.

    >>> [buffers_seen(any_stages((n, n), "A")) for n in (5, 15, 64)]
    [6, 9, 5]
    >>> [buffers_seen(any_stages((n, n), "C")) for n in (5, 14, 22, 64)]
    [5, 7, 5, 5]
    """
    most = 3
    for stage in stages:
        if isinstance(stage, MappedStage):
            odd = any((r % 2 or c % 2) and max(r, c) > 1 for r, c in stage.before.shapes())
            most = max(most, 6 if odd and stage.variant == "A" else 5, stage.b)
        elif not stage.delivers:
            most = max(most, stage.b + 1)
    return most


def _quadrant_loads(variant: str, rows: int, columns: int) -> tuple[IntArray, ...]:
    """Return for each quadrant what its cells can hold after the move; a quadrant has no more items than cells."""
    load = multiplicity(VARIANTS[variant], rows, columns)
    a, b = halves(rows)[0], halves(columns)[0]
    quadrants = (load[:a, :b], load[:a, b:], load[a:, :b], load[a:, b:])
    return tuple(np.minimum(quadrant, quadrant.size) for quadrant in quadrants if quadrant.size)


def run(traffic: MovingItems, stages: Sequence[Stage]) -> None:
    """Route the traffic through all stages, mapped ones by their variants and others as usual.

    `traffic`: at most one item at a node. `stages`: of this array.

    O(hops + N log N).
    """
    for stage in stages:
        if not isinstance(stage, MappedStage):
            follow(traffic, [stage])
            continue
        # move: a copy to each quadrant with a destination (3.2); smooth: at most one item a node again (3.3)
        move_by_mapping(traffic, stage.before, VARIANTS[stage.variant], stage.name, stage.move)
        if stage.smooth is not None:
            smooth(traffic, stage.after, stage.axes, stage.b, stage.smooth)


def move_by_mapping(
    traffic: MovingItems, regions: Regions, mapping: Mapping, name: str = "move", guaranteed: int | None = None
) -> int:
    """Move each item to its target in each quadrant of its region that has one of its destinations; return the steps.

    * `traffic`: at most one item at a node.
    * `regions`: that are cut in quadrants, of any shapes that the mapping covers.
    * `mapping`: gives targets and routes.
    * `name`: of the phase.
    * `guaranteed`: steps that the phase takes at most, whatever the instance.

    Copies of one packet travel as one as far as their routes agree. O(hops).

    >>> import gossamer
    >>> from gossamer.questions.cases import Case
    >>> from gossamer.schedules.hop_sinks import RecordingSink
    >>> net = gossamer.network("array:5x5")
    >>> task = gossamer.task("permutation", destination=range(24, -1, -1))
    >>> move_by_mapping(MovingItems.of(Case(net, task), RecordingSink()), Regions.whole((5, 5)), variant_a)
    6
    """

    def inside(nodes: IntArray, axis: int) -> tuple[IntArray, IntArray]:
        at = traffic.coordinate(nodes, axis)
        return at - regions.first(axis)[at], regions.size(axis)[at]

    part = np.zeros(traffic.destination.size, np.int32)
    for axis in (0, 1):
        at, side = inside(traffic.destination, axis)
        part += (at >= side - side // 2) * np.int32(2 - axis)
    old, part = traffic.divide(part)
    i, rows = inside(traffic.node, 0)
    j, columns = inside(traffic.node, 1)
    routes = mapping(RegionCells.of((rows, columns), (i, j), (part >= 2, part % 2 == 1)))
    axis_of_leg, hops, not_before = routes.axis, routes.hops, routes.not_before
    if bool((old[1:] == old[:-1]).any()):
        order = branch_order(old, hops)
        traffic.arrange(order)
        old, axis_of_leg, hops, not_before = old[order], axis_of_leg[order], hops[order], not_before[order]
    moves: ItemMoves = branching(traffic.packet, traffic.node, old, (0, 1, 0), hops)
    moves.axis, moves.not_before = axis_of_leg, not_before
    return move(traffic, moves, name, guaranteed)


def _refuse(sides: tuple[int, ...]) -> str | None:
    return None if len(sides) == 2 else "needs an array of two dimensions"


def _q_stages(sides: tuple[int, ...]) -> Sequence[Stage]:
    return q_stages(sides) if refuse_sides(sides) is None else any_stages(sides, "C")


def _refuse_q(sides: tuple[int, ...]) -> str | None:
    wrong = refuse_sides(sides)
    return None if wrong is None or len(sides) == 2 else f"{wrong}, or an array of two dimensions"


Q_ANY: tuple[Algorithm, ...] = (
    *family(
        "Q",
        stages=_q_stages,
        refuse=_refuse_q,
        buffers=buffers_seen,
        run=run,
        networks="arrays of two dimensions; in more, with equal sides that are powers of two",
        source="Han 1990, chapter 3 (Theorems 3.3, 3.4, 3.6.2-3.6.4)",
        summary="halves the array along all axes at once, moves each packet to its part, and smooths; 5 buffers in 2-D "
        "(7 on some squares, 8 on some long arrays, with odd regions)",
    ),
    *family(
        "Q-A",
        stages=partial(any_stages, variant="A"),
        refuse=_refuse,
        buffers=buffers_seen,
        run=run,
        networks="arrays of two dimensions",
        source="Han 1990, section 3.6.3, first mapping, extended to every r x c",
        summary="Algorithm Q with simple targets in regions with odd sides; up to 9 buffers",
    ),
    *family(
        "Q-C",
        stages=partial(any_stages, variant="C"),
        refuse=_refuse,
        buffers=buffers_seen,
        run=run,
        networks="arrays of two dimensions",
        source="Han 1990, section 3.6.3, third mapping, extended to every r x c",
        summary="Algorithm Q with targets that spread the load in regions with odd sides; up to 7 buffers on squares",
    ),
)
"""Algorithm Q on arrays with any sides, for permutations and for messages with several destinations."""


MOVE_AND_SMOOTH: tuple[Algorithm, ...] = (*Q_ANY, *Q_K_PARTITION, *H, *H_K_STRIPS)
"""Algorithms Q and H and their relatives, each for permutations and for one-to-many routing."""
