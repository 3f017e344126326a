"""All-gather along one dimension after the other: everybody forwards what arrived in the last step, both ways.

Along a ring of n nodes a phase takes floor(n/2) steps, along a line n-1. Cut in d parts, one for each rotation of the
order of the dimensions, the messages use every dimension in every phase. After a phase all nodes of a line know what
any of them knew; the next phase carries these collections.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split
from gossamer.graphs.concentration_routing import rotations
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import CONTROL as CONTROL_HOP
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.packet_schedules import add_phase

__all__ = [
    "PACKED",
    "RINGS",
    "add_ring_phases",
    "held_by_node",
    "packed_ring_all_gather",
    "phase_steps",
    "ring_all_gather",
    "ring_cost",
]

_NOTHING = -2

Ints = npt.NDArray[np.int64]


def _used(channels: Channels) -> list[int]:
    """Return the dimensions of 2 nodes or more."""
    return [a for a, side in enumerate(channels.sides) if side > 1]


def _orders(channels: Channels, parts: int) -> list[list[int]]:
    """Return for each part the order of the dimensions: the last first, rotated by one from part to part."""
    dimensions = _used(channels)[::-1]
    return [dimensions[c:] + dimensions[:c] for c in range(parts)]


def phase_steps(channels: Channels, dimension: int) -> tuple[int, int]:
    """Return how many steps messages go up and down along a dimension: n/2 and (n-1)/2 rounded down, or n-1 on lines.

    Examples
    --------
    >>> import gossamer
    >>> [phase_steps(Channels(gossamer.network(spec)), 0) for spec in ("torus:5", "torus:6", "array:6")]
    [(2, 2), (3, 2), (5, 5)]
    """
    n = channels.sides[dimension]
    return (n // 2, (n - 1) // 2) if channels.wraps[dimension] else (n - 1, n - 1)


def held_by_node(pieces: Pieces, at: npt.NDArray[np.integer], nodes: int) -> list[list[npt.NDArray[np.integer]]]:
    """Return for each piece number and each node the pieces of that number which are at the node `at` says."""
    held: list[list[npt.NDArray[np.integer]]] = []
    for number in range(int(pieces.piece.max()) + 1):
        rows = np.flatnonzero(pieces.piece == number)
        order = rows[np.argsort(at[rows], kind="stable")]
        held.append(list(np.split(order, np.searchsorted(at[order], np.arange(1, nodes)))))
    return held


def add_ring_phases(
    steps: Steps, channels: Channels, held: Sequence[Sequence[npt.NDArray[np.integer]]], orders: Sequence[Sequence[int]]
) -> None:
    """Add the phases of the all-gather to `steps`.

    Parameters
    ----------
    steps : Steps
        Receives the messages; phases ``along dimension ...``.
    channels : Channels
        Of the network.
    held : for each part, for each node, int array
        Pieces of the part that a node brings, ascending; every piece at one node.
    orders : for each part, sequence of int
        The dimensions in the order in which the part uses them; in every phase all parts use different ones.

    Notes
    -----
    O(messages + N * pieces / shortest side) time.
    """
    nodes = channels.network.node_count
    digits = channels.coordinates(np.arange(nodes))
    known: list[list[npt.NDArray[np.integer]]] = [list(each) for each in held]
    for turn in range(len(orders[0])):
        longest = 0
        for part, order in enumerate(orders):
            a = order[turn]
            side, stride = channels.sides[a], channels.strides[a]
            row = np.array([steps.table.row(k) if k.size else _NOTHING for k in known[part]], np.int64)
            up, down = phase_steps(channels, a)
            longest = max(longest, up, down)
            move = np.zeros(channels.dimensions, np.int32)
            for sign, last in ((1, up), (-1, down)):
                move[a] = sign
                for t in range(last):
                    from_digit = digits[:, a] - sign * t
                    to_digit = digits[:, a] + sign
                    origin = np.arange(nodes) + (from_digit % side - digits[:, a]) * stride
                    sends = row[origin] != _NOTHING
                    if not channels.wraps[a]:
                        sends &= (from_digit >= 0) & (from_digit < side) & (to_digit >= 0) & (to_digit < side)
                    senders = np.flatnonzero(sends)
                    steps.add(t, senders, move.copy(), row[origin[senders]])
            known[part] = _joined(known[part], digits[:, a], stride, side)
        names = ", ".join(str(a) for a in dict.fromkeys(order[turn] for order in orders))
        steps.end_phase(f"along dimension {names}", longest)


def _joined(known: list[npt.NDArray[np.integer]], digit: Ints, stride: int, side: int) -> list[npt.NDArray[np.integer]]:
    """Return what each node knows after all nodes of each line told each other."""
    joined: list[npt.NDArray[np.integer]] = [np.zeros(0, np.int64)] * len(known)
    for first in np.flatnonzero(digit == 0).tolist():
        line = [first + stride * x for x in range(side)]
        together = np.sort(np.concatenate([known[v] for v in line])).astype(np.int64)
        for v in line:
            joined[v] = together
    return joined


class _Parts(NamedTuple):
    """The pieces of the messages, and the order of the dimensions for each of their parts."""

    pieces: Pieces
    orders: list[list[int]]


def _parts(case: WormholeCase, rotated: bool) -> _Parts:
    parts = max(len(_used(case.channels)), 1) if rotated else 1
    return _Parts(Pieces.of(case.messages, case.cost.message_bytes, parts), _orders(case.channels, parts))


def ring_all_gather(case: WormholeCase, *, rotated: bool = True) -> WormholeSchedule:
    """Build the all-gather along the dimensions.

    Along a ring everybody sends what it has to both neighbors and passes on what came; along a torus this goes on in
    one dimension after the other, with ever more to send. Each message is cut into as many parts as there are
    dimensions, and each part takes them in another order, so that all channels are busy.

    Parameters
    ----------
    case : WormholeCase
        A (partial) multinode broadcast of s messages on an array or torus of any sides.
    rotated : bool
        Whether messages are cut in d parts that take the dimensions in rotated orders, or stay whole.

    Returns
    -------
    WormholeSchedule
        Completion time: `ring_cost`. All messages make one hop.

    References
    ----------
    Folklore: an all-gather along the dimensions, one after the other.

    Examples
    --------
    >>> import gossamer
    >>> cost = LinearCost(startup=1, per_byte=1, message_bytes=2)
    >>> s = ring_all_gather(WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"), cost))
    >>> s.startups, s.volume, bool(gossamer.wormhole.verify(s))
    (4, 10, True)
    """
    pieces, orders = case.once(_parts, case, rotated)
    steps = Steps(case.channels.dimensions)
    held = held_by_node(pieces, pieces.origin, case.network.node_count)
    add_ring_phases(steps, case.channels, held, orders)
    return steps.schedule(case, pieces)


def ring_cost(
    channels: Channels, load: npt.NDArray[np.int64], orders: Sequence[Sequence[int]], cost: LinearCost
) -> Fraction:
    """Return the exact time of `add_ring_phases`.

    Parameters
    ----------
    channels : Channels
        Of the network.
    load : int64[parts, N]
        Bytes of each part that each node brings.
    orders
        As for `add_ring_phases`.
    cost : LinearCost
        Costs.

    Notes
    -----
    Along rings every collection that a node brings into a phase is on its way in every step; along lines the last
    steps carry only what the ends of the line brought.
    """
    total = Fraction(0)
    shape = channels.sides
    for turn in range(len(orders[0])):
        longest: dict[int, int] = {}
        for part, order in enumerate(orders):
            a = order[turn]
            along = np.moveaxis(load[part].reshape(shape), a, -1).reshape(-1, shape[a])
            up, down = phase_steps(channels, a)
            for t in range(max(up, down)):
                if channels.wraps[a]:
                    sent = along
                else:  # at distance t from its origin a collection must have a place to go
                    n = shape[a]
                    x = np.arange(n)
                    sent = along[:, (x + t + 1 < n) | (x - t - 1 >= 0)]
                longest[t] = max(longest.get(t, 0), int(sent.max(initial=0)))
            joined = np.broadcast_to(along.sum(axis=1, keepdims=True), along.shape)
            back = tuple(np.array(shape)[[i for i in range(len(shape)) if i != a] + [a]])
            load[part] = np.moveaxis(joined.reshape(back), -1, a).reshape(-1)
        total += sum((cost.step_cost(size, 1) for size in longest.values() if size), Fraction(0))
    return total


def _time(case: WormholeCase, rotated: bool) -> Fraction:
    """Return the time of `ring_all_gather`."""
    pieces, orders = case.once(_parts, case, rotated)
    load = np.zeros((len(orders), case.network.node_count), np.int64)
    np.add.at(load, (pieces.piece, pieces.origin), pieces.size)
    return ring_cost(case.channels, load, orders, case.cost)


def _propose(case: WormholeCase, *, rotated: bool) -> Offer[WormholeSchedule] | Refusal:
    channels = case.channels
    used = _used(channels)
    refusal = too_many_messages(2 * case.network.node_count * sum(max(phase_steps(channels, a)) for a in used))
    if refusal is not None:
        return refusal
    if rotated and case.cost.message_bytes < len(used):
        return Refusal(f"cuts messages in {len(used)} parts, so they need as many bytes")
    return Offer(lambda: ring_all_gather(case, rotated=rotated), time=_time(case, rotated))


def _algorithm(rotated: bool) -> WormholeAlgorithm:
    return WormholeAlgorithm(
        name="ring-all-gather" if rotated else "ring-all-gather-whole",
        tasks=(MultinodeBroadcast, PartialMultinodeBroadcast),
        propose=partial(_propose, rotated=rotated),
        networks="arrays and tori",
        source="folklore",
        summary="everybody forwards both ways along one dimension after the other, "
        + ("d parts in rotated orders" if rotated else "unsegmented messages"),
    )


RINGS = (_algorithm(True), _algorithm(False))
"""The all-gathers along the dimensions."""


# All-gather along the dimensions after the messages were spread evenly: packet-switched packing, then rings.
#
# The nodes are ranked by a parallel prefix operation and part c of the message of rank r moves to the node with rotated
# name r (Varvarigos and Bertsekas 1994, algorithm A_c); then everybody forwards along one dimension after the other.
# Whatever the active nodes, a line now brings its fair share into each phase; `ring_all_gather` may find all of them in
# one line.


def packed_ring_all_gather(case: WormholeCase) -> WormholeSchedule:
    """Build the all-gather of packed messages.

    Parameters
    ----------
    case : WormholeCase
        A partial multinode broadcast of s messages on an array or torus; who is active need not be known.

    Returns
    -------
    WormholeSchedule
        Phases ``prefix`` (control messages), ``packing``, and one phase ``along dimension ...`` for each dimension.
        Steps on an n x n torus: ``4(n-1)`` and ``2(n-1)``, then ``floor(n/2)`` with at most ``m/2`` and as many with
        ``m/2 * ceil(s/n)`` bytes.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 3.1; the rings are Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 1, 2, 3])
    >>> cost = LinearCost(startup=1, per_byte=1, message_bytes=2, counter_bytes=1)
    >>> s = packed_ring_all_gather(WormholeCase(gossamer.network("torus:4x4"), task, cost))
    >>> [(p.name, p.steps) for p in s.phases]
    [('prefix', 12), ('packing', 6), ('along dimension 0, 1', 2), ('along dimension 1, 0', 2)]
    """
    network, channels = case.network, case.channels
    steps = Steps(channels.dimensions)
    if network.node_count == 1:
        return steps.schedule(case)
    d = sum(side > 1 for side in channels.sides)
    ranked = rotated_dimensions_split(Case(network, case.task, Rules(segmented=True)), parts=d)
    pieces = Pieces.of(case.messages, case.cost.message_bytes, d)
    payload = np.array([steps.table.row([piece]) for piece in range(pieces.count)], np.int64)
    at = pieces.origin.astype(np.int64)
    for number in (0, 1):  # prefix, packing
        add_phase(steps, channels, ranked, number, payload)
        rows = ranked.phase_hops(number)
        packet, link = ranked.packet[rows], ranked.link[rows]
        moved = packet != CONTROL_HOP
        at[packet[moved]] = network.link_target[link[moved]]  # by slot, so the last hop of a packet stands
    assert network.grid is not None
    used = [a for a, side in enumerate(channels.sides) if side > 1][::-1]
    orders = [[used[column] for column in turn.columns[::-1]] for turn in rotations(network.grid)]
    add_ring_phases(steps, channels, held_by_node(pieces, at, network.node_count), orders)
    return steps.schedule(case, pieces)


def _propose_packed(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    d = sum(side > 1 for side in case.channels.sides)
    if case.cost.message_bytes < d:
        return Refusal(f"cuts messages in {d} parts, so they need as many bytes")
    refusal = too_many_messages(case.sources * case.network.node_count * max(d, 1))
    return refusal or Offer(lambda: packed_ring_all_gather(case))


PACKED = (
    WormholeAlgorithm(
        name="packed-ring-all-gather",
        tasks=(PartialMultinodeBroadcast,),
        propose=_propose_packed,
        networks="arrays and tori",
        source="Varvarigos and Bertsekas 1994, section 3.1, with rings",
        summary="ranks and packs the messages, then everybody forwards both ways along the dimensions",
    ),
)
"""The all-gather of packed messages."""
