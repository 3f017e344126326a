"""Kunde's routing: sort blocks by the column of the destination, then go along rows and columns.

With e x e blocks of n/e rows, the messages of a block for one column are next to each other in the order of the columns
after sorting, so that few are in one row of it: of all messages in a row of the array, at most 2e-1 go to one column.
They do not pile up at the turn as in greedy routing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_ports
from gossamer.algorithms.routing.greedy import refuse_paths, sources_and_targets
from gossamer.algorithms.routing.mesh_sort import sort_blocks, sort_steps
from gossamer.graphs.lock_step import LockStep, legs_between, moves_along
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule
from gossamer.schedules.sinks import Sink, record

__all__ = ["KUNDE", "KUNDE_SPLIT", "kunde", "kunde_split", "most_held"]


def kunde(case: Case, blocks: int = 2) -> Schedule:
    """Build Kunde's routing with `blocks` x `blocks` sorted blocks.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on a two-dimensional array whose sides are multiples of `blocks`; a node without
        a message counts as holding the largest key. All ports; a buffer of at least ``2*blocks + 1`` packets,
        everything counted.
    blocks : int
        The source's epsilon.

    Returns
    -------
    Schedule
        Phases ``sort``, ``rows`` (at most c-1 slots) and ``columns`` (at most r-1). Every step of the sorter takes a
        slot, whether or not it moves a packet.

    Notes
    -----
    Sorting n x n in S(n) steps, this takes S(n/e) + 2n - 2. With 4-way mergesort, S(n) = 7n - 10 for powers of two from
    4 on: 5.5n - 12 in all for e = 2, 3.75n - 12 for e = 4. The source also gives 3.5n and 2.75n, with terms of lower
    order, from sorting in 3n + O(n^(3/4)) steps; at practical sizes that takes longer (Han 1990, section 1.4.2).

    Buffers, everything that a node holds counted: at the end of phase ``rows`` a node holds at most 2e-1 messages that
    turn; during it two more may pass. In a column, those that go up do not grow in number beyond what was there (or
    one), nor do those that go down, and one may have arrived: at most 2e+1 at any time. The source says 2e,
    which is exceeded on 8 x 8 with e = 2 (see the tests).

    References
    ----------
    Kunde 1988; Han 1990, section 1.4.2 and Table 5.3.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="transpose")
    >>> p = gossamer.plan("array:8x8", task, algorithm="kunde-2")
    >>> p.claim, p.completion_time, [phase.name for phase in p.schedule.phases]
    (Fraction(32, 1), Fraction(29, 1), ['sort', 'rows', 'columns'])
    """
    return record(case, partial(route_sorted, blocks, case))


def route_sorted(blocks: int, case: Case, sink: Sink) -> None:
    """Hand the hops of Kunde's routing to a sink."""
    source, target = sources_and_targets(case)
    network, grid = case.network, case.network.grid
    assert grid is not None
    # Sort every block by the column of the destination.
    key = np.full(network.node_count, grid.sides[1], np.int32)  # no message: the largest
    key[source] = target % grid.sides[1]
    held = np.full(network.node_count, -1, np.int32)
    held[source] = np.arange(source.size)
    sort_blocks(network, blocks, key, held, sink, "sort")
    node = np.empty(source.size, np.int32)
    there = np.flatnonzero(held >= 0)
    node[held[there]] = there
    # Then go along the rows, and along the columns.
    engine = LockStep(network, sink)
    row, column = legs_between(grid, node, target, (1, 0))
    node, _ = engine.move(moves_along(node, [row]), "rows", rank="leg")
    engine.move(moves_along(node, [column]), "columns", rank="leg")


def most_held(blocks: int) -> int:
    """Return how many messages a node holds at most at any time, its own and the delivered one counted.

    >>> most_held(2), most_held(4)
    (5, 9)
    """
    return 2 * blocks + 1


def _propose(blocks: int, case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    if grid is None or grid.dimensions != 2 or any(grid.wraps):
        return Refusal("needs a two-dimensional array")
    if any(side % blocks for side in grid.sides):
        return Refusal(f"needs sides that are multiples of {blocks}")
    steps = sort_steps((grid.sides[0], grid.sides[1]), blocks) + sum(side - 1 for side in grid.sides)
    return refuse_ports(case.rules, held=most_held(blocks)) or Offer(
        partial(kunde, case, blocks),
        Fraction(steps),
        at_most=True,
        stream=partial(route_sorted, blocks, case),
        too_large=refuse_paths(grid, *sources_and_targets(case), times=4),
    )


def _with_blocks(blocks: int) -> Algorithm:
    return Algorithm(
        name=f"kunde-{blocks}",
        tasks=(Permutation,),
        propose=partial(_propose, blocks),
        networks=f"two-dimensional arrays of sides divisible by {blocks}",
        source="Kunde 1988, after Han 1990, section 1.4.2; sorting: Schimmler 1987 (4-way mergesort)",
        summary=f"sorts {blocks} x {blocks} blocks by column of destination, then row and column; "
        f"at most {most_held(blocks)} messages at a node",
    )


KUNDE = (_with_blocks(2), _with_blocks(4))
"""Kunde's routing with 2 x 2 and with 4 x 4 blocks."""


# Kunde's routing with messages in two halves: one half goes along rows while the other goes along columns.
#
# Every step of Kunde's routing uses the links of one dimension only, whatever the permutation: the sorter's steps, then
# the rows, then the columns. On a square array the second halves do the same with rows and columns exchanged, at the
# same time, so that a message takes the steps of a half.

_HALVES = 2


def kunde_split(case: Case, blocks: int = 2) -> Schedule:
    """Build Kunde's routing of both halves of every message, with `blocks` x `blocks` sorted blocks.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on a square array whose side is a multiple of `blocks`; messages may be split.
        All ports; a buffer of at least ``2 * (2*blocks + 1)`` halves, everything counted.
    blocks : int
        As in `kunde`.

    Returns
    -------
    Schedule
        Phases ``sort``, ``rows`` and ``columns``, named for the first halves; slots of half a step.

    Notes
    -----
    Half the steps of `kunde`. Time and memory linear in the hops.

    References
    ----------
    Kunde and Tensi, after Han 1990, section 1.4.2.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="transpose")
    >>> p = gossamer.plan("array:8x8", task, algorithm="kunde-split-2", rules=gossamer.Rules(split=True))
    >>> p.claim, p.completion_time, [phase.name for phase in p.schedule.phases]
    (Fraction(16, 1), Fraction(29, 2), ['sort', 'rows', 'columns'])
    """
    grid = case.network.grid
    assert grid is not None
    side = grid.sides[0]
    turned = np.arange(side * side).reshape(side, side).T.reshape(-1)  # node (i, j) of the other half is (j, i)
    source, target = sources_and_targets(case)
    destination = np.full(side * side, -1, np.int64)
    destination[turned[source]] = turned[target]
    first = kunde(Case(case.network, case.task), blocks)
    second = kunde(Case(case.network, Permutation(tuple(destination.tolist()))), blocks).relabel(turned)
    columns, phases, end = [], [], 0
    for k, phase in enumerate(first.phases):
        for half, made in enumerate((first, second)):
            start = made.phases[k].first_slot
            low, high = np.searchsorted(made.slot, [start, start + made.phases[k].slots])
            origin = made.packets.origin[made.packet[low:high]]
            packet = np.searchsorted(source, origin) * _HALVES + half
            columns.append((made.slot[low:high] - start + end, made.link[low:high], packet))
        slots = max(made.phases[k].slots for made in (first, second))
        phases.append(Phase(phase.name, slots, Fraction(1, _HALVES)))
        end += slots
    slots_of, links, packets = (np.concatenate(some).astype(np.int32) for some in zip(*columns, strict=True))
    order = np.lexsort((links, slots_of))
    return Schedule.of(case, slots_of[order], links[order], packets[order], parts=_HALVES, phases=phases)


def _propose_split(blocks: int, case: Case) -> Offer[Schedule] | Refusal:
    if not case.rules.split:
        return Refusal("needs messages that may be split")
    grid = case.network.grid
    if grid is None or grid.dimensions != 2 or any(grid.wraps) or grid.sides[0] != grid.sides[1]:
        return Refusal("needs a square two-dimensional array")
    side = grid.sides[0]
    if side % blocks:
        return Refusal(f"needs a side that is a multiple of {blocks}")
    steps = sort_steps((side, side), blocks) + 2 * (side - 1)
    return refuse_ports(case.rules, held=_HALVES * most_held(blocks)) or Offer(
        partial(kunde_split, case, blocks),
        Fraction(steps, _HALVES),
        at_most=True,
        too_large=refuse_paths(grid, *sources_and_targets(case), times=8),
    )


def _with_split_blocks(blocks: int) -> Algorithm:
    return Algorithm(
        name=f"kunde-split-{blocks}",
        tasks=(Permutation,),
        propose=partial(_propose_split, blocks),
        networks=f"square two-dimensional arrays of a side divisible by {blocks}",
        source="Kunde and Tensi, after Han 1990, section 1.4.2",
        summary=f"as kunde-{blocks} with both halves of every message at once, one with rows and columns exchanged",
    )


KUNDE_SPLIT = (_with_split_blocks(2), _with_split_blocks(4))
"""Kunde's routing of halves with 2 x 2 and with 4 x 4 blocks."""
