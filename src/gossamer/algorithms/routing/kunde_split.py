"""Kunde's routing with messages in two halves: one half goes along rows while the other goes along columns.

Every step of Kunde's routing uses the links of one dimension only, whatever the permutation: the sorter's steps, then
the rows, then the columns. On a square array the second halves do the same with rows and columns exchanged, at the same
time, so that a message takes the steps of a half.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_ports
from gossamer.algorithms.routing.kunde import kunde, most_held
from gossamer.algorithms.routing.mesh_sort import sort_steps
from gossamer.algorithms.routing.messages import refuse_paths, sources_and_targets
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule

__all__ = ["KUNDE_SPLIT", "kunde_split"]

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


def _propose(blocks: int, case: Case) -> Offer[Schedule] | Refusal:
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


def _with_blocks(blocks: int) -> Algorithm:
    return Algorithm(
        name=f"kunde-split-{blocks}",
        tasks=(Permutation,),
        propose=partial(_propose, blocks),
        networks=f"square two-dimensional arrays of a side divisible by {blocks}",
        source="Kunde and Tensi, after Han 1990, section 1.4.2",
        summary=f"as kunde-{blocks} with both halves of every message at once, one with rows and columns exchanged",
    )


KUNDE_SPLIT = (_with_blocks(2), _with_blocks(4))
"""Kunde's routing of halves with 2 x 2 and with 4 x 4 blocks."""
