"""Mesh packing: the packet of rank i goes to the node of name i, without a conflict.

Varvarigos and Bertsekas 1994, Theorem 3, after Nassimi and Sahni: correct the digits least significant first, each
along the lines of its dimension. Two packets never stand at one node after a digit k was corrected: they would agree in
digits 0..k of their ranks and in the higher digits of their origins, so the origins would differ by less than
places[k+1] and the ranks by at least as much. The argument holds for digits of different bases. On one line, all
packets start at once from different nodes, so none ever waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.routing.rotation import Columns, RotatedClass, Rotation, links_along, rotations
from gossamer.errors import TaskError
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.schedules import Phase, Schedule
from gossamer.tasks import Permutation, Task

__all__ = [
    "PACKING",
    "Leg",
    "model_reason",
    "packing",
    "packing_legs",
    "sources_and_targets",
    "write_legs",
    "write_packing",
]

Leg: TypeAlias = tuple[int, IntArray, IntArray]
"""The digit that is corrected, where each packet is before (a name), and the steps that it goes up along the digit."""


def packing_legs(rotation: Rotation, origin: IntArray, digits: Iterable[int] | None = None) -> Iterator[Leg]:
    """Yield the legs of the packets' paths, one digit after the other.

    Parameters
    ----------
    rotation : Rotation
        The names.
    origin : int32[m]
        Name of the origin of the packet of each rank, ascending.
    digits : iterable of int, optional
        The order in which the digits are corrected; default 0..d-1, the only one that is free of conflicts.

    Yields
    ------
    digit : int
        The digit that is corrected.
    name : int32[m]
        Where each packet is before.
    move : int32[m]
        Steps it goes up (or down, if negative) along that digit.

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 3.

    Examples
    --------
    >>> from gossamer.networks import array
    >>> from gossamer.algorithms.routing.rotation import rotations
    >>> for leg in packing_legs(rotations(array(3, 3).grid)[0], np.array([2, 5])):
    ...     print(leg[0], leg[1].tolist(), leg[2].tolist())
    0 [2, 5] [-2, -1]
    1 [0, 4] [0, -1]
    """
    rank = np.arange(origin.size, dtype=np.int32)
    name = origin.astype(np.int32)
    for digit in range(rotation.dimensions) if digits is None else digits:
        place, side = rotation.places[digit], rotation.sides[digit]
        move = rank // place % side - name // place % side
        yield digit, name, move
        name = name + move * np.int32(place)


def write_packing(
    columns: Columns,
    at: int,
    first_slot: int,
    classes: Sequence[RotatedClass],
    links: IntArray,
    steps: int,
    halves: int = 1,
    digits: Sequence[int] | None = None,
) -> int:
    """Write the hops of the packing phase of all classes together, sorted by slot.

    Parameters
    ----------
    columns : tuple of int32 arrays
        Slot, link and packet of each hop, filled up to row `at`.
    at : int
        The row to start from.
    first_slot : int
        Slot in which the phase begins.
    classes : sequence of RotatedClass
        Of different shifts: they use different dimensions at any time.
    links : int32[N, d, 2]
        From `links_along`.
    steps : int
        Steps for each digit, at least the largest side less 1. The phase takes ``d * steps * halves`` slots.
    halves : int
        1, or 2 for packets p and p+1 that share a path; the second follows in the next slot.
    digits : sequence of int, optional
        Passed to `packing_legs`.

    Returns
    -------
    int
        The row after the last one written.

    Notes
    -----
    Time linear in the hops, at most ``m * sum(sides - 1)`` for m packets.
    """
    paths = [(each.rotation, each.packet, list(packing_legs(each.rotation, each.origin, digits))) for each in classes]
    return write_legs(columns, at, first_slot, paths, links, [steps] * links.shape[1], halves)


def write_legs(
    columns: Columns,
    at: int,
    first_slot: int,
    paths: Sequence[tuple[Rotation, IntArray, Sequence[Leg]]],
    links: IntArray,
    steps: Sequence[int],
    halves: int = 1,
) -> int:
    """Write the hops of packets that go leg by leg, all starting each leg at once; return the row after the last.

    Parameters
    ----------
    columns, at, first_slot, links, halves
        As for `write_packing`.
    paths : sequence of (Rotation, int32[m], legs)
        Names, packets, and their legs as from `packing_legs`, for each class.
    steps : sequence of int
        Steps for each leg, the same for all classes.

    Notes
    -----
    O(hops).
    """
    from gossamer.algorithms.routing import _kernels

    width = 2 * links.shape[1]
    for turn, together in enumerate(zip(*(legs for _, _, legs in paths), strict=True)):
        cells, strides, hops, packets = [], [], [], []
        for (rotation, packet, _), (digit, name, move) in zip(paths, together, strict=True):
            going = np.flatnonzero(move)
            node, way = rotation.node[name[going]], (move[going] < 0).astype(np.int64)
            cells.append(node * np.int64(width) + 2 * rotation.columns[digit] + way)
            strides.append(np.where(way, -1, 1) * (rotation.strides[digit] * width))
            hops.append(np.abs(move[going]))
            packets.append(packet[going])
        far = np.concatenate(hops)
        order = np.argsort(-far, kind="stable")
        at = _kernels.travel(
            *columns, at, first_slot, halves, np.concatenate(cells)[order],
            np.concatenate(strides)[order], far[order], np.concatenate(packets)[order], links.reshape(-1),
        )  # fmt: skip
        first_slot += steps[turn] * halves
    return int(at)


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
    prefix phase (`gossamer.algorithms.routing.prefix`) comes first. O(hops).

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
    source, _ = sources_and_targets(task)
    if network.node_count == 1:
        return Schedule(network, task, model, [], [], [], phases=[Phase("packing", 0)])
    rotation = rotations(network.grid)[0]  # type: ignore[arg-type]
    legs = list(packing_legs(rotation, rotation.name[source]))
    hops = sum(int(np.abs(move).sum()) for _, _, move in legs)
    columns = (np.empty(hops, np.int32), np.empty(hops, np.int32), np.empty(hops, np.int32))
    steps = [side - 1 for side in rotation.sides]
    packets = np.arange(source.size, dtype=np.int32)
    write_legs(columns, 0, 0, [(rotation, packets, legs)], links_along(network), steps)
    return Schedule(network, task, model, *columns, phases=[Phase("packing", sum(steps))])


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


PACKING = Algorithm(
    name="packing",
    task=Permutation,
    builder=packing,
    reason=_reason,
    claim=_claim,
    networks="arrays and tori",
    source="Varvarigos and Bertsekas 1994, Theorem 3, after Nassimi and Sahni",
    summary="corrects the digits of the nodes, least significant first; for messages of i-th sources to nodes i",
)
