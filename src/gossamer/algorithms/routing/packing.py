"""Mesh packing as a routing: the message of the i-th source goes to node i (Varvarigos and Bertsekas 1994)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.errors import TaskError
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.paths.packing import leg_chunks, packing_legs
from gossamer.paths.rotation import links_along, rotations
from gossamer.schedules import Schedule
from gossamer.schedules.sinks import Sink, record
from gossamer.tasks import Permutation, Task

__all__ = ["PACKING", "model_reason", "packing", "sources_and_targets"]


def packing(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the routing in which the i-th source sends its packet to node i.

    Parameters
    ----------
    network : Network
        An array or torus; of a torus only the links of the array are used. The sides may differ.
    task : Permutation
        With messages of some nodes, the i-th of them (from 0) to node i.
    model : Model
        All ports.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        Of one phase, ``packing``, of ``sum(sides - 1)`` slots, d(p-1) for equal sides.

    Notes
    -----
    No packet ever waits for another one. A node knows its rank, because it is its destination; where it does not, a
    prefix phase (`gossamer.paths.prefix`) comes first. O(hops).

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 3 (Mesh Packing Routing), after Nassimi and Sahni.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=[-1, 0, -1, -1, 1, 2, -1, -1, 3])
    >>> s = packing(gossamer.network("array:3x3"), task, Model())
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(4, 1), True)
    """
    return record(network, task, model, partial(route_packing, network, task))


def route_packing(network: Network, task: Task, sink: Sink) -> None:
    """Hand the hops of packing to a sink."""
    source, _ = sources_and_targets(task)
    if network.node_count == 1:
        sink.phase("packing", iter(()), length=0)
        return
    rotation = rotations(network.grid)[0]  # type: ignore[arg-type]
    legs = list(packing_legs(rotation, rotation.name[source]))
    steps = [side - 1 for side in rotation.sides]
    paths = [(rotation, np.arange(source.size, dtype=np.int32), legs)]
    sink.phase("packing", leg_chunks(sink, paths, links_along(network), steps), length=sum(steps))


def sources_and_targets(task: Task) -> tuple[IntArray, IntArray]:
    """Return the nodes that send a message in a permutation, ascending, and where each message goes, int32[m] both.

    Raises
    ------
    TaskError
        If the task is another one.

    Examples
    --------
    >>> [nodes.tolist() for nodes in sources_and_targets(Permutation([2, -1, 0]))]
    [[0, 2], [2, 0]]
    """
    if not isinstance(task, Permutation):
        raise TaskError(f"this carries out {Permutation.name}, not {task.name}")
    destination = np.array(task.destination, np.int32)
    source = np.flatnonzero(destination >= 0).astype(np.int32)
    return source, destination[source]


def model_reason(network: Network, model: Model) -> str | None:
    """Say why packing does not cover a network or model, or None if it does.

    A node holds at most three packets at a time: one that stays, one that goes up and one that goes down.
    """
    if network.grid is None:
        return "needs an array or a torus"
    return all_ports_reason(model, held=3)


def _reason(network: Network, task: Task, model: Model) -> str | None:
    source, target = sources_and_targets(task)
    wrong = np.flatnonzero(target != np.arange(target.size))
    if wrong.size:
        i = int(wrong[0])
        return f"sends the message of the i-th source to node i, but source {i}, node {source[i]}, sends to {target[i]}"
    return model_reason(network, model)


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    return None if network.grid is None else Fraction(sum(side - 1 for side in network.grid.sides))


PACKING = separate(
    name="packing",
    task=Permutation,
    builder=packing,
    reason=_reason,
    claim=_claim,
    networks="arrays and tori",
    source="Varvarigos and Bertsekas 1994, Theorem 3, after Nassimi and Sahni",
    summary="corrects the digits of the nodes, least significant first; for messages of i-th sources to nodes i",
)
