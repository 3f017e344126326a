"""All-gather along the dimensions after the messages were spread evenly: packet-switched packing, then rings.

The nodes are ranked by a parallel prefix operation and part c of the message of rank r moves to the node with rotated
name r (Varvarigos and Bertsekas 1994, algorithm A_c); then everybody forwards along one dimension after the other.
Whatever the active nodes, a line now brings its fair share into each phase; `ring_all_gather` may find all of them in
one line.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split
from gossamer.costs import LinearCost
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.rotation import rotations
from gossamer.schedules import CONTROL as CONTROL_HOP
from gossamer.tasks import PartialMultinodeBroadcast, Task
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.payloads import Pieces
from gossamer.wormhole.rings import add_ring_phases, held_by_node
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps
from gossamer.wormhole.store_and_forward import add_phase

__all__ = ["PACKED", "packed_ring_all_gather"]


def packed_ring_all_gather(network: Network, task: Task, cost: LinearCost, *, seed: int = 0) -> WormholeSchedule:
    """Build the all-gather of packed messages.

    Parameters
    ----------
    network : Network
        An array or torus.
    task : PartialMultinodeBroadcast
        The s broadcasts; who is active need not be known.
    cost : LinearCost
        Costs.
    seed : int
        Ignored.

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
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 1, 2, 3])
    >>> cost = LinearCost(startup=1, per_byte=1, message_bytes=2, counter_bytes=1)
    >>> s = packed_ring_all_gather(gossamer.network("torus:4x4"), task, cost)
    >>> [(p.name, p.steps) for p in s.phases]
    [('prefix', 12), ('packing', 6), ('along dimension 0, 1', 2), ('along dimension 1, 0', 2)]
    """
    channels = Channels(network)
    steps = Steps(channels.dimensions)
    if network.node_count == 1:
        return steps.schedule(network, task, cost)
    d = sum(side > 1 for side in channels.sides)
    ranked = rotated_dimensions_split(network, task, Model(split=True), parts=d)
    pieces = Pieces.of(task.messages(network), cost.message_bytes, d)
    payload = np.array([steps.table.row([piece]) for piece in range(pieces.count)], np.int64)
    at = pieces.origin.astype(np.int64)
    for number in (0, 1):  # prefix, packing
        add_phase(steps, ranked, number, payload)
        rows = ranked.phase_hops(number)
        packet, link = ranked.packet[rows], ranked.link[rows]
        moved = packet != CONTROL_HOP
        at[packet[moved]] = network.link_target[link[moved]]  # by slot, so the last hop of a packet stands
    assert network.grid is not None
    used = [a for a, side in enumerate(channels.sides) if side > 1][::-1]
    orders = [[used[column] for column in turn.columns[::-1]] for turn in rotations(network.grid)]
    add_ring_phases(steps, channels, held_by_node(pieces, at, network.node_count), orders)
    return steps.schedule(network, task, cost, pieces)


def _reason(network: Network, task: Task, cost: LinearCost) -> str | None:
    d = sum(side > 1 for side in Channels(network).sides)
    if cost.message_bytes < d:
        return f"cuts messages in {d} parts, so they need as many bytes"
    hops = len(task.messages(network).ids) * network.node_count * max(d, 1)
    return too_many_messages(hops)


def _claim(network: Network, task: Task, cost: LinearCost) -> Fraction | None:
    return None


PACKED = (
    WormholeAlgorithm(
        name="packed-ring-all-gather",
        task=PartialMultinodeBroadcast,
        builder=packed_ring_all_gather,
        reason=_reason,
        claim=_claim,
        networks="arrays and tori",
        source="Varvarigos and Bertsekas 1994, section 3.1, with rings",
        summary="ranks and packs the messages, then everybody forwards both ways along the dimensions",
    ),
)
"""The all-gather of packed messages."""
