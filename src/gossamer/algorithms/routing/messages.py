"""What the routing algorithms ask of a permutation: its sources, its targets, and how many hops they are apart."""

from __future__ import annotations

import itertools

import numpy as np

from gossamer.algorithms.preconditions import refuse_hops
from gossamer.errors import TaskError
from gossamer.graphs.lock_step import legs_between
from gossamer.networks.network import Grid, IntArray
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules.schedule import MAX_HOPS

__all__ = ["refuse_paths", "sources_and_targets"]


def sources_and_targets(case: Case) -> tuple[IntArray, IntArray]:
    """Return the nodes that send a message in a permutation, ascending, and where each message goes, int32[m] both.

    Raises
    ------
    TaskError
        If the task is another one.

    Examples
    --------
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

    Parameters
    ----------
    grid : Grid
        Of the network.
    *stops : int32[m]
        Nodes; a path leads from each row of one to the same row of the next.
    times : int
        How many such paths a message goes.
    """
    if times * stops[0].size * (len(stops) - 1) * sum(grid.sides) <= MAX_HOPS:  # no path is as long as that
        return None
    hops = 0
    for start, end in itertools.pairwise(stops):
        legs = legs_between(grid, start, end, range(grid.dimensions))
        hops += sum(int(np.abs(far, dtype=np.int64).sum()) for _, far in legs)
    return refuse_hops(times * hops)
