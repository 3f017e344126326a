"""Mesh monotone routing: the destinations are in the order of the sources (Varvarigos and Bertsekas 1994, Theorem 4).

Pack the messages into nodes 0, 1, 2, ..., and then run backwards the packing of the destinations. Both legs are needed:
correcting the digits straight to the destinations can make two packets meet (errata, Theorem 4).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.algorithms.routing.greedy import refuse_paths, sources_and_targets
from gossamer.graphs.concentration_routing import Leg, Rotation, leg_chunks, links_along, packing_legs, rotations
from gossamer.graphs.parallel_prefix import prefix_chunks, prefix_phase
from gossamer.networks.network import Grid, IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.hop_sinks import Sink, record

# Mesh packing as a routing: the message of the i-th source goes to node i (Varvarigos and Bertsekas 1994).


def packing(case: Case) -> Schedule:
    """Build the packing: the i-th message (from 0) goes to node i.

    The messages of some nodes are to be pushed together at the beginning, in order, without gaps. Each corrects one
    digit of its place at a time, the last one first; because all keep their order, no two of them ever want the same
    link at the same time.

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
    # Step 1: correct the digits of the nodes one after the other, the least significant first
    legs = list(packing_legs(rotation, rotation.name[source]))
    # Step 2: each digit takes as many slots as its side has links; nobody waits
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


def _propose_packing(case: Case) -> Offer[Schedule] | Refusal:
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
    propose=_propose_packing,
    networks="arrays and tori",
    source="Varvarigos and Bertsekas 1994, Theorem 3, after Nassimi and Sahni",
    summary="corrects the digits of the nodes, least significant first; for messages of i-th sources to nodes i",
)


def unpacking_legs(rotation: Rotation, target: IntArray) -> list[Leg]:
    """Return the legs that take the packet of rank i from node i to the i-th target: those of packing, backwards.

    `rotation`: the names. `target`, int32[m]: names of the targets, ascending.

    >>> from gossamer.networks import array
    >>> for digit, name, move in unpacking_legs(rotations(array(3, 3).grid)[0], np.array([2, 5])):
    ...     print(digit, name.tolist(), move.tolist())
    1 [0, 1] [0, 1]
    0 [0, 4] [2, 1]
    """
    legs = packing_legs(rotation, target)
    return [(digit, name + move * np.int32(rotation.places[digit]), -move) for digit, name, move in legs][::-1]


def monotone(case: Case) -> Schedule:
    """Build the routing of messages whose destinations are in the order of their sources.

    Destinations in the order of the sources can be reached in two moves: push the messages together at the beginning,
    which is easy (packing), and then do the same backwards in time, from the packed places to the destinations.

    Parameters
    ----------
    case : Case
        A permutation, partial or full, with ascending destinations on an array or torus; all ports. Of a torus only the
        links of the array are used. The sides may differ.

    Returns
    -------
    Schedule
        Phases ``prefix`` (in which the sources find out their ranks, ``2 * sum(sides - 1)`` slots of t_p), ``packing``
        and ``unpacking`` (``sum(sides - 1)`` slots each): ``2d(p-1)`` steps for equal sides, besides the prefix.

    Notes
    -----
    The printed dimension of phase j = d..2d-1 is 2d-j; it is 2d-1-j. No packet ever waits for another one. O(hops).

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 4 (Mesh Monotone Routing), after Nassimi and Sahni; prefix: section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=[-1, 3, -1, -1, 4, 7, -1, -1, 8])
    >>> s = monotone(Case(gossamer.network("array:3x3"), task))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(8, 1), True)
    """
    return record(case, partial(route_in_order, case))


def route_in_order(case: Case, sink: Sink) -> None:
    """Hand the hops of the routing to a sink."""
    network = case.network
    source, target = sources_and_targets(case)
    if network.node_count == 1:
        return
    rotation = rotations(network.grid)[0]  # type: ignore[arg-type]
    links = links_along(network)
    packets = np.arange(source.size, dtype=np.int32)
    steps = [side - 1 for side in rotation.sides]
    # The sources find out their ranks.
    prefix = prefix_phase("prefix", [rotation], links, steps)
    sink.phase(prefix.name, prefix_chunks(sink, prefix), length=prefix.slots, control=True)
    # Pack the messages, and unpack them: the packing of the targets, backwards.
    for name, legs, lengths in (
        ("packing", list(packing_legs(rotation, rotation.name[source])), steps),
        ("unpacking", unpacking_legs(rotation, rotation.name[target]), steps[::-1]),
    ):
        chunks = leg_chunks(sink, [(rotation, packets, legs)], links, lengths)
        sink.phase(name, chunks, length=sum(lengths))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    source, target = sources_and_targets(case)
    down = np.flatnonzero(np.diff(target) < 0)
    if down.size:
        (a, b), (v, w) = source[down[0] : down[0] + 2], target[down[0] : down[0] + 2]
        return Refusal(f"needs destinations in the order of the sources, but nodes {a} and {b} send to {v} and {w}")
    refused = refuse_network(case)
    if refused is not None or case.network.grid is None:
        return refused or Refusal("needs an array or a torus")
    grid = case.network.grid
    return Offer(
        partial(monotone, case),
        2 * (1 + case.control_time) * sum(side - 1 for side in grid.sides),
        stream=partial(route_in_order, case),
        too_large=refuse_paths(without_wraps(grid), source, np.arange(source.size, dtype=np.int32), target),
    )


MONOTONE = Algorithm(
    name="monotone",
    tasks=(Permutation,),
    propose=_propose,
    networks="arrays and tori",
    source="Varvarigos and Bertsekas 1994, Theorem 4, after Nassimi and Sahni",
    summary="packs the messages, then packs the destinations backwards; for destinations in the order of the sources",
)
