"""Greedy routing in dimension order: along the row to the column, then along the column, as soon as links are free.

Of the messages that want one link, the one with the furthest to go along the line goes first. On an r x c array a
message never waits in its row, because each node starts one message and all start at once; in a column the k-th message
from the far end waits at most for the k-1 that go further, because destinations differ. So c-1 steps and then r-1 are
enough, whatever happens at the turn; but a node may have to keep most of the messages of its row.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.errors import TaskError
from gossamer.graphs.lock_step_movement import LockStep, legs_between, moves_along
from gossamer.networks.network import Grid, IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.hop_sinks import Sink, record
from gossamer.schedules.schedule import MAX_HOPS

# What the routing algorithms ask of a permutation: its sources, its targets, and how many hops they are apart.


def sources_and_targets(case: Case) -> tuple[IntArray, IntArray]:
    """Return the nodes that send a message in a permutation, ascending, and where each message goes, int32[m] both.

    Raises TaskError if the task is another one.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:3"), Permutation([2, -1, 0]))
    >>> [nodes.tolist() for nodes in sources_and_targets(case)]
    [[0, 2], [2, 0]]
    """
    if not isinstance(case.task, Permutation):
        raise TaskError(f"this carries out {Permutation.name}, not {case.task.name}")
    assert case.messages.targets is not None
    return case.messages.origin.astype(np.int32), case.messages.targets.astype(np.int32)


def refuse_paths(grid: Grid, *stops: IntArray, times: int = 1) -> Refusal | None:
    """Refuse to write out the hops of shortest paths over the given stops, taken so many times, or not.

    `grid`: of the network. `stops`, int32[m]: nodes; a path leads from each row of one to the same row of the next.
    `times`: how many such paths a message goes.
    """
    if times * stops[0].size * (len(stops) - 1) * sum(grid.sides) <= MAX_HOPS:  # no path is as long as that
        return None
    hops = 0
    for start, end in itertools.pairwise(stops):
        legs = legs_between(grid, start, end, range(grid.dimensions))
        hops += sum(int(np.abs(far, dtype=np.int64).sum()) for _, far in legs)
    return refuse_hops(times * hops)


def greedy(case: Case) -> Schedule:
    """Build the greedy routing in dimension order, last dimension first.

    Each message goes along its row to the right column, and then along the column. Where several wait for a link, the
    one with the furthest to go on this line is first. That is fast, but many messages may meet at a node where they
    turn.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on an array or torus of any dimension; all ports, no limit of the buffers.

    Returns
    -------
    Schedule
        Of one phase, ``greedy``, of at most ``r + c - 2`` slots on an r x c array. Nothing is promised on tori and in
        three dimensions or more, where several messages of a line may go to one place of it.

    Notes
    -----
    A node may come to hold about two thirds of the messages of a row; all of them, if columns began only when the rows
    had ended. O(hops + waiting packets summed over the slots).

    References
    ----------
    After the two phase method of Han 1990, section 1.4.2 (2n-2 steps; Krizanc, Rajasekaran and Tsantilas 1988), whose
    columns wait for all rows. Here a message turns at once, which takes no longer and fewer buffers.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", network="array:4x4", pattern="transpose")
    >>> p = gossamer.plan("array:4x4", task, algorithm="greedy")
    >>> p.completion_time, p.optimal
    (Fraction(6, 1), True)
    """
    return record(case, partial(route_greedily, case))


def route_greedily(case: Case, sink: Sink) -> None:
    """Hand the hops of the greedy routing to a sink."""
    source, target = sources_and_targets(case)
    grid = case.network.grid
    assert grid is not None
    # Step 1: split each way into legs, one a dimension, the last dimension first
    legs = legs_between(grid, source, target, range(grid.dimensions)[::-1])
    # Step 2: all messages move in every slot; of those that want a link the one with most of its leg left goes first
    LockStep(case.network, sink).move(moves_along(source, legs), "greedy", rank="leg")


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    if grid is None:
        return Refusal("needs an array or a torus")
    flat = not any(grid.wraps) and sum(side > 1 for side in grid.sides) <= 2
    return refuse_ports(case.rules) or Offer(
        partial(greedy, case),
        Fraction(sum(side - 1 for side in grid.sides)) if flat else None,
        at_most=True,
        stream=partial(route_greedily, case),
        too_large=refuse_paths(grid, *sources_and_targets(case)),
    )


GREEDY = Algorithm(
    name="greedy",
    tasks=(Permutation,),
    propose=_propose,
    networks="arrays and tori",
    source="folklore; Han 1990, section 1.4.2",
    summary="row, then column (last dimension first), the furthest message of a line first; unbounded buffers",
)
