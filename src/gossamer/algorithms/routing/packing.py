"""Mesh packing as a routing: the message of the i-th source goes to node i (Varvarigos and Bertsekas 1994)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_ports
from gossamer.algorithms.routing.messages import refuse_paths, sources_and_targets
from gossamer.graphs.packing import leg_chunks, packing_legs
from gossamer.graphs.rotation import links_along, rotations
from gossamer.networks.network import Grid
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.sinks import Sink, record

__all__ = ["PACKING", "packing", "refuse_network", "route_packing", "without_wraps"]


def packing(case: Case) -> Schedule:
    """Build the packing: the i-th message (from 0) goes to node i.

    Parameters
    ----------
    case : Case
        A permutation on an array or torus, with messages of some nodes, the i-th of them (from 0) to node i; all ports.
        Of a torus only the links of the array are used. The sides may differ.

    Returns
    -------
    Schedule
        Of one phase, ``packing``, of ``sum(sides - 1)`` slots, d(p-1) for equal sides.

    Notes
    -----
    No packet ever waits for another one. A node knows its rank, because it is its destination; where it does not, a
    prefix phase (`gossamer.graphs.parallel_prefix`) comes first. O(hops).

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 3 (Mesh Packing Routing), after Nassimi and Sahni.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=[-1, 0, -1, -1, 1, 2, -1, -1, 3])
    >>> s = packing(Case(gossamer.network("array:3x3"), task))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(4, 1), True)
    """
    return record(case, partial(route_packing, case))


def route_packing(case: Case, sink: Sink) -> None:
    """Hand the hops of packing to a sink."""
    network = case.network
    if network.node_count == 1:
        sink.phase("packing", iter(()), length=0)
        return
    source, _ = sources_and_targets(case)
    rotation = rotations(network.grid)[0]  # type: ignore[arg-type]
    legs = list(packing_legs(rotation, rotation.name[source]))
    steps = [side - 1 for side in rotation.sides]
    paths = [(rotation, np.arange(source.size, dtype=np.int32), legs)]
    sink.phase("packing", leg_chunks(sink, paths, links_along(network), steps), length=sum(steps))


def without_wraps(grid: Grid) -> Grid:
    """Return the grid of the array in a torus, or the array itself."""
    return Grid(grid.sides, (False,) * grid.dimensions)


def refuse_network(case: Case) -> Refusal | None:
    """Refuse for packing, or not.

    A node holds at most three packets at a time: one that stays, one that goes up and one that goes down.
    """
    if case.network.grid is None:
        return Refusal("needs an array or a torus")
    return refuse_ports(case.rules, held=3)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    source, target = sources_and_targets(case)
    wrong = np.flatnonzero(target != np.arange(target.size))
    if wrong.size:
        i = int(wrong[0])
        return Refusal(
            f"sends the message of the i-th source to node i, but source {i}, node {source[i]}, sends to {target[i]}"
        )
    refused = refuse_network(case)
    if refused is not None or case.network.grid is None:
        return refused or Refusal("needs an array or a torus")
    return Offer(
        partial(packing, case),
        Fraction(sum(side - 1 for side in case.network.grid.sides)),
        stream=partial(route_packing, case),
        too_large=refuse_paths(without_wraps(case.network.grid), source, target),
    )


PACKING = Algorithm(
    name="packing",
    tasks=(Permutation,),
    propose=_propose,
    networks="arrays and tori",
    source="Varvarigos and Bertsekas 1994, Theorem 3, after Nassimi and Sahni",
    summary="corrects the digits of the nodes, least significant first; for messages of i-th sources to nodes i",
)
