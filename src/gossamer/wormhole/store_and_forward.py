"""Schedules of packet-switched networks as wormhole schedules: every slot a step, every hop a message of one hop."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import CONTROL as CONTROL_HOP
from gossamer.schedules import Schedule
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.payloads import CONTROL, Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps

__all__ = [
    "PACKET_SWITCHED",
    "add_hops",
    "add_phase",
    "as_steps",
    "from_store_and_forward",
    "link_displacement",
    "packet_switched",
]


def link_displacement(channels: Channels, links: npt.ArrayLike) -> npt.NDArray[np.int32]:
    """Return the signed displacement of links, int32[k, d]; on a torus side of 2 it is +1.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("torus:3x3")
    >>> link_displacement(Channels(net), [net.link_between(0, 6), net.link_between(0, 1)]).tolist()
    [[-1, 0], [0, 1]]
    """
    rows = np.asarray(links, np.int64)
    here, there = channels.network.link_source[rows], channels.network.link_target[rows]
    moved = channels.coordinates(there) - channels.coordinates(here)
    if not channels.on_grid:
        return moved.astype(np.int32)
    up = (moved == 1) | ((moved == 1 - np.array(channels.sides)) & np.array(channels.wraps))
    return np.where(moved == 0, 0, np.where(up, 1, -1)).astype(np.int32)


def add_hops(steps: Steps, channels: Channels, slot: IntArray, link: IntArray, payload: npt.ArrayLike) -> None:
    """Add hops of a packet-switched schedule as messages; `slot` counts from the start of the phase."""
    steps.add(slot, channels.network.link_source[link], link_displacement(channels, link), payload)


def add_phase(
    steps: Steps, channels: Channels, schedule: Schedule, number: int, payload: npt.NDArray[np.integer]
) -> None:
    """Add a phase of an explicit packet-switched schedule; `payload` int[P] is the payload row of each packet."""
    phase, rows = schedule.phases[number], schedule.phase_hops(number)
    packet = schedule.packet[rows]
    carried = np.full(packet.size, CONTROL, np.int64)
    carried[packet != CONTROL_HOP] = payload[packet[packet != CONTROL_HOP]]
    add_hops(steps, channels, schedule.slot[rows] - np.int32(phase.first_slot), schedule.link[rows], carried)
    steps.end_phase(phase.name, phase.slots, phase.control)


def from_store_and_forward(schedule: Schedule, cost: LinearCost) -> WormholeSchedule:
    """Return the wormhole schedule whose steps are the slots of a packet-switched schedule.

    Parameters
    ----------
    schedule : Schedule
        Of any task whose messages have one length.
    cost : LinearCost
        Costs; every slot pays a start-up, which is what packet switching saves by its name only.

    Returns
    -------
    WormholeSchedule
        With the phases of `schedule`. A slot without hops costs nothing.

    Raises
    ------
    NetworkError
        If the network is no array or torus and has more than 2,048 nodes.

    Notes
    -----
    O(hops) time; invariant schedules are expanded. Wormhole messages end at terminals and take one of
    parallel links, so that hops to switches, or on the others, make a schedule that is not valid.

    Examples
    --------
    >>> import gossamer
    >>> plan = gossamer.plan("torus:4x4", "allgather")
    >>> from_store_and_forward(plan.schedule, LinearCost(startup=1, per_byte=0)).completion_time
    Fraction(4, 1)
    """
    return as_steps(WormholeCase(schedule.network, schedule.task, cost), schedule)


def as_steps(case: WormholeCase, schedule: Schedule) -> WormholeSchedule:
    """Return the schedule of a case whose steps are the slots of a packet-switched schedule of its task."""
    explicit = schedule.expand() if schedule.invariant else schedule
    pieces = Pieces.of(case.messages, case.cost.message_bytes, explicit.parts)
    # rows of the packet table need not be in the order of `Pieces.of`
    table = explicit.packets
    row_of = np.searchsorted(case.messages.ids, table.message) * explicit.parts + table.part
    steps = Steps(case.channels.dimensions)
    payload = np.array([steps.table.row([piece]) for piece in range(pieces.count)], np.int64)
    for number in range(len(explicit.phases)):
        add_phase(steps, case.channels, explicit, number, payload[row_of])
    return steps.schedule(case, pieces)


def packet_switched(case: WormholeCase) -> WormholeSchedule:
    """Return the packet-switched partial multinode broadcast with split packets, a start-up for every slot."""
    schedule = rotated_dimensions_split(Case(case.network, case.task, Rules(split=True)))
    return as_steps(case, schedule)


def _least(case: WormholeCase) -> Fraction:
    """Count the slots in which the parts come in one by one: a message has a part for each dimension or more."""
    others = max(case.sources - 1, 0)
    links = max(int(case.network.in_degree.min()), 1)
    channels = max(int(case.channels.in_degree.min()), 1)
    slots = -(-others * sum(side > 1 for side in case.channels.sides) // links)
    return slots * case.cost.startup + others * Fraction(case.cost.message_bytes, channels) * case.cost.per_byte


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    refusal = too_many_messages(case.sources * case.network.node_count * 2 * case.channels.dimensions)
    return refusal or Offer(lambda: packet_switched(case), least=_least(case), hop_seconds=7e-7)


PACKET_SWITCHED = (
    WormholeAlgorithm(
        name="packet-switched",
        tasks=(MultinodeBroadcast, PartialMultinodeBroadcast),
        propose=_propose,
        networks="arrays and tori",
        source="Varvarigos and Bertsekas 1994, Theorem 6; every slot as a step",
        summary="ranks, packs and broadcasts along rotated dimensions, hop by hop",
    ),
)
"""The packet-switched partial multinode broadcast at the linear cost of wormhole steps."""
