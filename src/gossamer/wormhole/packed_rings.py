"""All-gather along the dimensions after the messages were spread evenly: packet-switched packing, then rings.

The nodes are ranked by a parallel prefix operation and part c of the message of rank r moves to the node with rotated
name r (Varvarigos and Bertsekas 1994, algorithm A_c); then everybody forwards along one dimension after the other.
Whatever the active nodes, a line now brings its fair share into each phase; `ring_all_gather` may find all of them in
one line.
"""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split
from gossamer.graphs.rotation import rotations
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.schedules import CONTROL as CONTROL_HOP
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.payloads import Pieces
from gossamer.wormhole.rings import add_ring_phases, held_by_node
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps
from gossamer.wormhole.store_and_forward import add_phase

__all__ = ["PACKED", "packed_ring_all_gather"]


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
    ranked = rotated_dimensions_split(Case(network, case.task, Rules(split=True)), parts=d)
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


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    d = sum(side > 1 for side in case.channels.sides)
    if case.cost.message_bytes < d:
        return Refusal(f"cuts messages in {d} parts, so they need as many bytes")
    refusal = too_many_messages(case.sources * case.network.node_count * max(d, 1))
    return refusal or Offer(lambda: packed_ring_all_gather(case))


PACKED = (
    WormholeAlgorithm(
        name="packed-ring-all-gather",
        tasks=(PartialMultinodeBroadcast,),
        propose=_propose,
        networks="arrays and tori",
        source="Varvarigos and Bertsekas 1994, section 3.1, with rings",
        summary="ranks and packs the messages, then everybody forwards both ways along the dimensions",
    ),
)
"""The all-gather of packed messages."""
