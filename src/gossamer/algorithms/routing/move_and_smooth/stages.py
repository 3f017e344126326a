"""The stages of move-and-smooth algorithms, with their actual and guaranteed lengths, and what an algorithm offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.algorithms.routing.move_and_smooth.smoothing import (
    MovingItems,
    PhaseLengths,
    branch_order,
    branching,
    column_bound,
    count_length,
    move,
    row_bound,
    smooth,
    smooth_lengths,
)
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.hop_sinks import Sink, record

__all__ = [
    "H_K_STRIPS",
    "Q_K_PARTITION",
    "H",
    "MoveAndSmooth",
    "Stage",
    "Times",
    "deliver",
    "even_power",
    "family",
    "follow",
    "guaranteed_times",
    "h_stages",
    "k_partition",
    "k_strips",
    "power_of_two",
    "q_move_length",
    "q_stages",
    "refuse_rules",
    "refuse_sides",
    "route",
    "split_and_move",
]

# The stages of move-and-smooth routing: split every region, move to the right part, smooth; at last deliver directly.
#
# Algorithms Q and H differ in how many axes a stage splits. The stages of an array and their guaranteed lengths depend
# on its sides alone.


@dataclass(frozen=True)
class Stage:
    """One split of all regions, or the direct delivery at the end.

    Attributes
    ----------
    before, after : Regions
        The regions; the same at the direct delivery, where they are lines.
    split : tuple of int
        The axes that are split, in the order in which a packet travels along them.
    move : int
        Guaranteed length of the move.
    b : int
        The most packets at a node after the move.
    smooth : PhaseLengths or None
        Guaranteed lengths of the smoothing, None where none is needed.
    axes : tuple of int
        The axes of the smoothing in its order.
    """

    before: Regions
    after: Regions
    split: tuple[int, ...]
    move: int
    b: int = 1
    smooth: PhaseLengths | None = None
    axes: tuple[int, ...] = ()

    @property
    def delivers(self) -> bool:
        """Whether this is the direct delivery."""
        return self.before == self.after

    @property
    def name(self) -> str:
        """Name of the phase in which packets move."""
        return f"{'deliver' if self.delivers else 'move'} {'x'.join(map(str, self.before.largest))}"


@dataclass(frozen=True)
class Times:
    """Steps in which packets of messages travel, and steps of counting."""

    data: int
    control: int


def guaranteed_times(stages: Iterable[Stage]) -> Times:
    """Return the guaranteed steps of all stages together."""
    data = control = 0
    for stage in stages:
        data += stage.move
        if stage.smooth is not None:
            data += stage.smooth.data
            control += stage.smooth.count
    return Times(data, control)


def split_and_move(traffic: MovingItems, stage: Stage) -> int:
    """Move each item to the same cell of each part of its region that has one of its destinations; return the steps.

    A cell that a smaller part lacks is replaced by its last one. Packets travel along the axes of ``stage.split`` in
    their order, copies of one packet together as far as their routes agree.
    """
    parts = [_part_tables(stage, axis) for axis in stage.split]
    code = np.zeros(traffic.destination.size, np.int32)
    for axis, (part, _, ends) in zip(stage.split, parts, strict=True):
        code = code * np.int32(ends.shape[1]) + part[traffic.coordinate(traffic.destination, axis)]
    old, code = traffic.divide(code)
    hops = np.empty((code.size, len(stage.split)), np.int32)
    for leg in range(len(stage.split) - 1, -1, -1):
        _, relative, ends = parts[leg]
        x = traffic.coordinate(traffic.node, stage.split[leg])
        to = code % np.int32(ends.shape[1])
        code //= np.int32(ends.shape[1])
        first, size = ends[x, to, 0], ends[x, to, 1]
        hops[:, leg] = first + np.minimum(relative[x], size - 1) - x
    return _travel(traffic, stage, old, hops)


def _part_tables(stage: Stage, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each coordinate: its part of the region, its place there, and first coordinate and size of all parts."""
    before, after = stage.before, stage.after
    start = after.number(axis)[before.first(axis)]  # number of the region's first part
    part = after.number(axis) - start
    relative = np.arange(part.size, dtype=np.int32) - after.first(axis)
    cuts = np.array(after.cuts[axis], np.int32)
    many = int(part.max()) + 1
    number = np.minimum(start[:, None] + np.arange(many, dtype=np.int32), cuts.size - 2)
    return part, relative, np.stack([cuts[number], cuts[number + 1] - cuts[number]], axis=2)


def deliver(traffic: MovingItems, stage: Stage) -> int:
    """Send each item straight to its destinations, which are on its line; return the steps."""
    (axis,) = stage.split
    old, target = traffic.divide(traffic.coordinate(traffic.destination, axis))
    hops = (target - traffic.coordinate(traffic.node, axis)).reshape(-1, 1)
    return _travel(traffic, stage, old, hops)


def _travel(traffic: MovingItems, stage: Stage, old: np.ndarray, hops: np.ndarray) -> int:
    if old.size and bool((old[1:] == old[:-1]).any()):
        order = branch_order(old, hops)
        traffic.arrange(order)
        old, hops = old[order], hops[order]
    moves = branching(traffic.packet, traffic.node, old, stage.split, hops)
    return move(traffic, moves, stage.name, stage.move)


def follow(traffic: MovingItems, stages: Sequence[Stage], smoothing: bool = True) -> None:
    """Route the traffic through all stages.

    Parameters
    ----------
    traffic : MovingItems
        At most one item at a node.
    stages : sequence of Stage
        Of this array.
    smoothing : bool
        False leaves the smoothing out, to see what it is for.
    """
    for stage in stages:
        if stage.delivers:
            deliver(traffic, stage)  # regions are lines: straight to the destinations
            continue
        # Step 1: move: a copy to each part of the region with a destination (Han 1990, 3.2, 4.2)
        split_and_move(traffic, stage)
        # Step 2: smooth: at most one item a node again (3.3, 4.3); then the parts are the regions
        if smoothing and stage.smooth is not None:
            smooth(traffic, stage.after, stage.axes, stage.b, stage.smooth)


Sides: TypeAlias = tuple[int, ...]

Run: TypeAlias = Callable[[MovingItems, Sequence[Stage]], None]
"""What routes traffic through stages."""


def power_of_two(side: int) -> bool:
    """Whether a side is a power of two, 1 included."""
    return side & (side - 1) == 0


def even_power(side: int) -> int | None:
    """Return the smallest even k of at least 4 of which `side` is a power, or None.

    The first power counts up to 8 only: there, one move would do everything, with a buffer for every part.

    >>> [even_power(n) for n in (4, 16, 36, 64, 9, 2, 32)]
    [4, 4, 6, 4, None, None, None]
    """
    for k in range(4, side + 1 if side <= 8 else side // 4 + 1, 2):
        power = k
        while power < side:
            power *= k
        if power == side:
            return k
    return None


def refuse_rules(case: Case, buffers: int) -> Refusal | None:
    """Refuse for move-and-smooth routing with so many buffers, or not."""
    network = case.network
    if network.grid is None or any(network.grid.wraps):
        return Refusal("needs an array")
    if network.uniform_capacity != 1:
        return Refusal("needs links of capacity 1")
    return refuse_ports(case.rules, buffers)


def route(case: Case, run: Run, stages: Sequence[Stage], sink: Sink) -> None:
    """Route the case's messages through stages, and hand the hops to a sink.

    The array is divided into regions, and these again, until regions are single nodes. In each stage the messages move
    to the region, of the new ones, in which their destinations lie (move). There some nodes have many of them and some
    have none, so that they are evened out to one at a node (smooth) before the next stage. So a few buffers a node are
    enough for any permutation.
    """
    run(MovingItems.of(case, sink), stages)


@dataclass(frozen=True)
class MoveAndSmooth:
    """What an algorithm of the family proposes.

    Attributes
    ----------
    refuse : callable
        Says of the sides of an array why they are not covered, or None.
    stages : callable
        From the sides of an array that is covered to its stages.
    buffers : callable
        From these stages to the most packets that a node holds.
    run : callable
        Routes traffic through stages.
    clock : bool
        Whether phases take their guaranteed lengths, as under a distributed clock, rather than end with their last hop.
    """

    refuse: Callable[[Sides], str | None]
    stages: Callable[[Sides], Sequence[Stage]]
    buffers: Callable[[Sequence[Stage]], int]
    run: Run
    clock: bool

    def __call__(self, case: Case) -> Offer[Schedule] | Refusal:
        """Return the offer for a case, or a refusal."""
        if case.network.grid is None:
            return Refusal("needs an array")
        sides = case.network.grid.sides
        why = self.refuse(sides)
        if why is not None:
            return Refusal(why)
        stages = case.once(self.stages, sides)
        refused = refuse_rules(case, self.buffers(stages))
        if refused is not None:
            return refused
        times = guaranteed_times(stages)
        hand_over = partial(route, case, self.run, stages)
        return Offer(
            partial(record, case, hand_over, clock=self.clock),
            times.data + times.control * case.control_time,
            at_most=not self.clock,
            stream=None if self.clock or not isinstance(case.task, Permutation) else hand_over,
            too_large=refuse_hops(case.network.node_count * sum(stage.move for stage in stages)),
        )


def family(
    name: str,
    *,
    stages: Callable[[Sides], Sequence[Stage]],
    refuse: Callable[[Sides], str | None],
    buffers: Callable[[Sequence[Stage]], int],
    networks: str,
    source: str,
    summary: str,
    run: Run = follow,
) -> tuple[Algorithm, ...]:
    """Return the algorithms with the given stages, `name` and ``name-clock``, for permutations and one-to-many routing.

    Phases of `name` end with their last hop, those of ``name-clock`` take their guaranteed lengths.
    """
    tasks = (Permutation, OneToManyRouting)
    clocked = f"{name} with phases of guaranteed length, as under a distributed clock"
    return (
        Algorithm(name, tasks, MoveAndSmooth(refuse, stages, buffers, run, False), networks, source, summary),
        Algorithm(f"{name}-clock", tasks, MoveAndSmooth(refuse, stages, buffers, run, True), networks, source, clocked),
    )


# Algorithm H: halve along one axis, move, smooth, then along the next one (Han 1990, chapter 4); 3 buffers.


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


def _uneven_lengths(regions: Regions, axes: tuple[int, ...]) -> PhaseLengths:
    """Return the lengths of a smoothing after intervals of odd size were halved (Han 1990, section 4.6.4).

    Only the last line of a smaller part can hold 3 packets a node. In two dimensions the lengths follow from where
    that line is; in more they are those for 3 packets anywhere.
    """
    count = max(count_length(shape, axes) for shape in regions.shapes())
    if len(axes) > 2:
        rows = tuple(max(row_bound(3, size) for size in regions.sizes(a)) for a in axes[:-1])
        return PhaseLengths(count, rows, max(column_bound(3, size) for size in regions.sizes(axes[-1])))
    row = column = 0
    for kind in regions.kinds():
        (c, thin), (r, flat) = kind[axes[0]], kind[axes[1]]
        if c > 1:
            row = max(row, c if flat or (thin and c == 2) else c - 1)
        if r > 1:
            column = max(column, r // 2 + (r % 2 if thin or flat else 0))
    return PhaseLengths(count, (row,), column)


def _refuse_other_than_powers(sides: tuple[int, ...]) -> str | None:
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
    refuse=_refuse_other_than_powers,
    buffers=lambda stages: stages[0].b + 1,
    networks="n x n arrays with n = k^p, k even, k >= 4",
    source="Han 1990, section 4.6.3",
    summary="Algorithm H with k strips instead of halves; k + 1 buffers",
)


# Algorithm Q: halve a region along all axes at once, move, smooth, and go on in the parts (Han 1990, chapter 3).


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
    [('move 4x4', 4, PhaseLengths(count=1, rows=(2,), column=1)), ('move 2x2', 2, None)]
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


Q_K_PARTITION: tuple[Algorithm, ...] = family(
    "Q-k-partition",
    stages=lambda sides: q_stages(sides, even_power(sides[0]) or 2),
    refuse=_refuse_other_than_powers,
    buffers=lambda stages: stages[0].b + 2,
    networks="n x n arrays with n = k^p, k even, k >= 4",
    source="Han 1990, section 3.6.1, with farthest-first as the only priority",
    summary="Algorithm Q with k parts along each axis; k^2 + 2 buffers",
)


# Algorithms Q and H with any number of parts k: k^2-partitioning and k strips (Han 1990, sections 3.6.1 and 4.6.3).


def k_partition(case: Case, k: int, clock: bool = False) -> Schedule:
    """Build the routing by Algorithm Q with k parts along each axis.

    Parameters
    ----------
    case : Case
        A permutation or one-to-many routing on an n x n array, n a power of k; all ports.
    k : int
        Parts along each axis, at least 2; odd ones too.
    clock : bool
        Whether phases take their guaranteed lengths.

    Raises
    ------
    NotApplicableError
        If the case or the number of parts does not fit.

    Notes
    -----
    For even k at most ``(5k+3)/4 n`` steps, and ``1.5/(k-1) n`` of counting; ``k^2 + 2`` buffers in all runs.

    References
    ----------
    Han 1990, section 3.6.1; farthest first is the only priority (erratum H4).

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=list(range(80, -1, -1)))
    >>> schedule = k_partition(Case(gossamer.network("array:9x9"), task), 3)
    >>> [(p.name, p.slots) for p in schedule.phases][:2], bool(gossamer.verify(schedule))
    ([('move 9x9', 12), ('count 3x3', 3)], True)
    """
    return _build(case, k, clock, q_stages, k * k + 2)


def k_strips(case: Case, k: int, clock: bool = False) -> Schedule:
    """Build the routing by Algorithm H with k strips.

    Parameters
    ----------
    case, k, clock
        As for `k_partition`.

    Raises
    ------
    NotApplicableError
        If the case or the number of parts does not fit.

    Notes
    -----
    ``k + 1`` buffers for even k, ``k + 2`` for odd k.

    References
    ----------
    Han 1990, section 4.6.3 (erratum H5).

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=list(range(80, -1, -1)))
    >>> schedule = k_strips(Case(gossamer.network("array:9x9"), task), 3)
    >>> schedule.completion_time, bool(gossamer.verify(schedule))
    (Fraction(16, 1), True)
    """
    return _build(case, k, clock, h_stages, k + 1 + k % 2)


def _build(
    case: Case, k: int, clock: bool, stages: Callable[[tuple[int, ...], int], Sequence[Stage]], buffers: int
) -> Schedule:
    sides = case.network.grid.sides if case.network.grid is not None else ()
    wrong: object = refuse_rules(case, buffers)
    if not isinstance(case.task, Permutation | OneToManyRouting):
        wrong = f"the task is {case.task.name}, not permutation or one-to-many-routing"
    elif k < 2:
        wrong = f"there must be 2 parts or more, got {k}"
    elif wrong is None and (len(sides) != 2 or sides[0] != sides[1] or not _is_power(sides[0], k)):
        wrong = f"it needs a square array whose side is a power of {k}, got {case.network.spec}"
    if wrong is not None:
        raise NotApplicableError(f"routing with {k} parts: {wrong}")
    return record(case, partial(route, case, follow, stages(sides, k)), clock=clock)


def _is_power(side: int, k: int) -> bool:
    while side % k == 0:
        side //= k
    return side == 1
