"""Greedy routing in dimension order: along the row to the column, then along the column, as soon as links are free.

Of the messages that want one link, the one with the furthest to go along the line goes first. On an r x c array a
message never waits in its row, because each node starts one message and all start at once; in a column the k-th message
from the far end waits at most for the k-1 that go further, because destinations differ. So c-1 steps and then r-1 are
enough, whatever happens at the turn; but a node may have to keep most of the messages of its row.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.routing.packing import sources_and_targets
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.lock_step import LockStep, legs_between, moves_along
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.schedules.sinks import Sink, record
from gossamer.tasks import Permutation, Task

__all__ = ["GREEDY", "greedy", "grid_reason", "route_greedily"]


def greedy(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the greedy routing in dimension order, last dimension first.

    Parameters
    ----------
    network : Network
        An array or torus of any dimension.
    task : Permutation
        Full or partial.
    model : Model
        All ports, no limit of the buffers.
    seed : int
        Ignored.

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
    Han 1990, section 1.4.2 (the two phase method, 2n-2 steps), after Krizanc, Rajasekaran and Tsantilas 1988.

    Examples
    --------
    >>> import gossamer
    >>> p = gossamer.plan("array:4x4", "permutation", pattern="transpose", algorithm="greedy")
    >>> p.completion_time, p.optimal
    (Fraction(6, 1), True)
    """
    return record(network, task, model, partial(route_greedily, network, task))


def route_greedily(network: Network, task: Task, sink: Sink) -> None:
    """Hand the hops of the greedy routing to a sink."""
    source, target = sources_and_targets(task)
    grid = network.grid
    assert grid is not None
    legs = legs_between(grid, source, target, range(grid.dimensions)[::-1])
    LockStep(network, sink).move(moves_along(source, legs), "greedy", rank="leg")


def grid_reason(network: Network, task: Task, model: Model, paths: float = 1, held: int | None = None) -> str | None:
    """Say why greedy routing along shortest paths (`paths` of them, one after the other) does not cover a case.

    `held` is what `all_ports_reason` takes.
    """
    if network.grid is None:
        return "needs an array or a torus"
    source, target = sources_and_targets(task)
    legs = legs_between(network.grid, source, target, range(network.grid.dimensions))
    hops = int(paths * sum(int(np.abs(leg, dtype=np.int64).sum()) for _, leg in legs))
    return all_ports_reason(model, held) or too_many_hops(hops)


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    if network.grid is None or any(network.grid.wraps) or sum(side > 1 for side in network.grid.sides) > 2:
        return None
    return Fraction(sum(side - 1 for side in network.grid.sides))


GREEDY = separate(
    name="greedy",
    task=Permutation,
    builder=greedy,
    reason=grid_reason,
    claim=_claim,
    networks="arrays and tori",
    source="folklore; Han 1990, section 1.4.2",
    summary="row, then column (last dimension first), the furthest message of a line first; unbounded buffers",
    claim_is_bound=True,
)
