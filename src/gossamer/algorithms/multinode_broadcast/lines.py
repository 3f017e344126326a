"""Several broadcasts from each node of a linear array or ring: Theorem 2 and the remark after it.

Varvarigos and Bertsekas 1994, section 2.
*Insertion*: in every slot a node passes on, in the same direction, what it received in the slot before; if it
received nothing, it inserts a message of its own. The two directions work independently. Every other packet passes a
waiting node at most once, so with K messages a packet waits at most K-1 slots. *Rounds*: in round w = 0, 1, ..., W-1
every node that still has a w-th message broadcasts it, so that every start is known ahead; W is the most messages of a
node.

On a line a message goes both ways from its node, to the ends. On a ring it goes half the way round either way, or, if
it may be split, one half of it goes all the way up and the other one all the way down.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.multinode_broadcast.rounds import round_slots
from gossamer.algorithms.preconditions import refuse_hops, refuse_ports
from gossamer.errors import TaskError
from gossamer.graphs.rotation import links_along
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultipleBroadcast
from gossamer.schedules import Phase, Schedule

__all__ = ["MULTIPLE_BROADCAST", "insertion", "insertion_bound", "rounds", "rounds_time"]


def insertion(case: Case) -> Schedule:
    """Build several broadcasts on a line or ring by the insertion rule.

    Parameters
    ----------
    case : Case
        A multiple broadcast of K messages, at most W of one node, with all ports on a linear array or ring of p nodes;
        dimensions of side 1 do not count. On a ring, messages are cut in halves if they may be split.

    Returns
    -------
    Schedule
        Of one phase, ``insertion``; its time is at most `insertion_bound`.

    Notes
    -----
    Whole messages on a ring of even p go p/2 hops one way and p/2 - 1 the other, by turns. Time and memory linear in
    the K(p-1) hops (twice that with halves) and in p for each slot.

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 2.

    Examples
    --------
    >>> import gossamer
    >>> task = MultipleBroadcast([2, 0, 1, 3])
    >>> insertion(Case(gossamer.network("array:4"), task)).completion_time
    Fraction(5, 1)
    >>> insertion(Case(gossamer.network("ring:4"), task, gossamer.Rules(split=True))).completion_time
    Fraction(4, 1)
    """
    return _schedule(case, in_rounds=False)


def rounds(case: Case) -> Schedule:
    """Build several broadcasts on a line or ring in rounds, in which every node broadcasts at most one message.

    Parameters
    ----------
    case : Case
        As for `insertion`.

    Returns
    -------
    Schedule
        Of one phase, ``rounds``; its time is `rounds_time`.

    References
    ----------
    Varvarigos and Bertsekas 1994, remark after Theorem 2 and Lemma 1; errata X2 and X3.

    Examples
    --------
    >>> import gossamer
    >>> task = MultipleBroadcast([0, 2, 2])
    >>> rounds(Case(gossamer.network("ring:3"), task, gossamer.Rules(split=True))).completion_time
    Fraction(2, 1)
    """
    return _schedule(case, in_rounds=True)


def _schedule(case: Case, in_rounds: bool) -> Schedule:
    from gossamer.algorithms.multinode_broadcast import _kernels

    name = "rounds" if in_rounds else "insertion"
    p, wraps, parts, messages = _line(case)
    counts = np.array(messages, np.int64)
    if p == 1:
        return Schedule.of(case, [], [], [], phases=[Phase(name, 0)])
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    place = np.repeat(np.arange(p, dtype=np.int64), counts)
    turn = np.arange(place.size) - first[place]  # message j of its node
    if not wraps:
        reach = np.stack([p - 1 - place, place])
    elif parts == 2:
        reach = np.full((2, place.size), p - 1)
    else:
        swapped = np.zeros_like(turn) if in_rounds else turn % 2
        reach = np.where(np.stack([swapped, 1 - swapped]) == 0, p // 2, (p - 1) // 2)
    length = round_slots(p, wraps, parts)
    release = turn * length if in_rounds else np.zeros_like(turn)
    columns = tuple(np.empty(int(reach.sum()), np.int32) for _ in range(3))
    _kernels.insert(*columns, first, release, reach.astype(np.int64), parts, links_along(case.network)[:, 0])
    slots = int(columns[0][-1]) + 1 if columns[0].size else 0
    if in_rounds:
        slots = int(counts.max()) * length
    return Schedule.of(case, *columns, parts=parts, phases=[Phase(name, slots, Fraction(1, parts))])


def insertion_bound(p: int, wraps: bool, counts: tuple[int, ...], halves: bool = True) -> Fraction:
    """Return an upper bound on the time of the insertion rule, in steps.

    Parameters
    ----------
    p : int
        Nodes.
    wraps : bool
        Whether they form a ring, of at least 3 nodes.
    counts : tuple of int, p
        Messages of each node: K in all, at most W of one.
    halves : bool
        Whether messages are cut in halves on a ring.

    Notes
    -----
    Line: ``min(K+p-2, W(p-1))``. Ring: ``(K+p-2)/2`` with halves, else ``K-1 + floor(p/2)``. The printed bounds,
    ``K+p-1`` and half of it, hold but are not tight (erratum X8).

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 2.

    Examples
    --------
    >>> insertion_bound(4, False, (2, 0, 1, 3)), insertion_bound(4, True, (2, 0, 1, 3))
    (Fraction(8, 1), Fraction(4, 1))
    """
    K, W = sum(counts), max(counts, default=0)
    if p == 1 or not K:
        return Fraction(0)
    if not wraps:
        return Fraction(min(K + p - 2, W * (p - 1)))
    return Fraction(K + p - 2, 2) if halves else Fraction(K - 1 + p // 2)


def rounds_time(p: int, wraps: bool, counts: tuple[int, ...], halves: bool = True) -> Fraction:
    """Return the exact time of the rounds, in steps.

    Parameters
    ----------
    p, wraps, counts, halves
        As for `insertion_bound`.

    Notes
    -----
    Line: ``W(p-1)``. Ring: ``W(p-1)/2`` with halves, else ``W floor(p/2)``.

    References
    ----------
    Varvarigos and Bertsekas 1994, remark after Theorem 2; erratum X2.

    Examples
    --------
    >>> rounds_time(5, True, (1,) * 5), rounds_time(5, True, (1,) * 5, halves=False), rounds_time(5, False, (1,) * 5)
    (Fraction(2, 1), Fraction(2, 1), Fraction(4, 1))
    """
    if p == 1:
        return Fraction(0)
    parts = 2 if wraps and halves else 1
    return Fraction(max(counts, default=0) * round_slots(p, wraps, parts), parts)


class _Line(NamedTuple):
    """The number of nodes, whether they form a ring, the parts of a message, and the messages of each node."""

    nodes: int
    wraps: bool
    parts: int
    counts: tuple[int, ...]


def _line(case: Case) -> _Line:
    if not isinstance(case.task, MultipleBroadcast):
        raise TaskError(f"this carries out {MultipleBroadcast.name}, not {case.task.name}")
    grid = case.network.grid
    wraps = grid is not None and any(grid.wraps)
    return _Line(case.network.node_count, wraps, 1 if case.whole or not wraps else 2, case.task.counts)


def _proposing(
    builder: Callable[[Case], Schedule], time: Callable[..., Fraction], at_most: bool
) -> Callable[[Case], Offer[Schedule] | Refusal]:
    """Return the `propose` of an algorithm for lines and rings that takes `time`, or at most that."""

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        grid = case.network.grid
        if grid is None or sum(side > 1 for side in grid.sides) > 1:
            return Refusal("needs a linear array or a ring")
        p, wraps, parts, counts = _line(case)
        promised = time(p, wraps, counts, halves=parts == 2)
        refusal = refuse_ports(case.rules) or refuse_hops(sum(counts) * (p - 1) * parts)
        return refusal or Offer(lambda: builder(case), promised, at_most)

    return propose


MULTIPLE_BROADCAST = (
    Algorithm(
        name="insertion",
        tasks=(MultipleBroadcast,),
        propose=_proposing(insertion, insertion_bound, at_most=True),
        networks="linear arrays and rings",
        source="Varvarigos and Bertsekas 1994, Theorem 2",
        summary="passes on what arrived in the slot before, and inserts a message where nothing did",
    ),
    Algorithm(
        name="rounds",
        tasks=(MultipleBroadcast,),
        propose=_proposing(rounds, rounds_time, at_most=False),
        networks="linear arrays and rings",
        source="Varvarigos and Bertsekas 1994, remark after Theorem 2",
        summary="one message of each node after the other, all nodes at once",
    ),
)
