"""Schedules of packet-switched networks as wormhole schedules: every slot a step, every hop a message of one hop."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.greedy_flooding import greedy_flooding
from gossamer.algorithms.multinode_broadcast.partial import ROTATED_DIMENSIONS, rotated_dimensions_split
from gossamer.algorithms.registry import algorithms_for
from gossamer.networks.network import IntArray
from gossamer.questions import tasks
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.cases.algorithm_offers import about_hops, needs
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.schedules import CONTROL as CONTROL_HOP
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.bounds import receipts

__all__ = [
    "PACKET_SWITCHED",
    "SLOT_BY_SLOT",
    "add_hops",
    "add_phase",
    "as_steps",
    "flooded_in_pieces",
    "from_store_and_forward",
    "link_displacement",
    "packet_switched",
    "refuse_hops_at_switches",
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
    explicit = schedule.expand()
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
    schedule = rotated_dimensions_split(Case(case.network, case.task, Rules(segmented=True)))
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
        tasks=(tasks.MultinodeBroadcast, tasks.PartialMultinodeBroadcast),
        propose=_propose,
        networks="arrays and tori",
        source="Varvarigos and Bertsekas 1994, Theorem 6; every slot as a step",
        summary="ranks, packs and broadcasts along rotated dimensions, hop by hop",
    ),
)
"""The packet-switched partial multinode broadcast at the linear cost of wormhole steps."""


# Every schedule of packets that are stored and forwarded, with each of its slots as a step.

_FEW_PIECES, _MOST_PIECES = 64, 512
_FEW_HOPS = 600_000
"""More than a few pieces are tried where they make no more messages than this."""
_MOST_HOPS = 4_000_000
_COUNTING = frozenset(algorithm.name for algorithm in ROTATED_DIMENSIONS)
"""Algorithms for packets that send control packets first, by which nodes learn who takes part, even where all do."""


def flooded_in_pieces(case: WormholeCase, pieces: int) -> WormholeSchedule:
    """Cut every message in pieces and flood them: in each step each channel carries a piece that its end lacks.

    Parameters
    ----------
    case : WormholeCase
        A broadcast of one or more messages to all nodes.
    pieces : int
        Pieces of a message, at most one a byte; of equal size as far as bytes go.

    Notes
    -----
    About k S + D steps for k pieces, where whole messages take S + D steps, of a start-up and a k-th of a message each.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("broadcast"))
    >>> flooded_in_pieces(case, 1).step_count, flooded_in_pieces(case, 8).step_count
    (4, 5)
    """
    origin = case.messages.origin
    nodes = case.network.node_count
    cut = Pieces.of(case.messages, case.cost.message_bytes, pieces)
    counts = np.bincount(origin, minlength=nodes) * pieces
    flooded = greedy_flooding(Case(case.network, tasks.MultipleBroadcast(tuple(counts.tolist())), seed=case.seed))
    steps = Steps(case.channels.dimensions)
    row = np.array([steps.table.row([piece]) for piece in range(cut.count)], np.int64)
    # the k-th packet of a node is the k-th piece of it
    mine = np.argsort(cut.origin, kind="stable")
    theirs = np.argsort(flooded.packets.origin, kind="stable")
    piece_of = np.zeros(cut.count, np.int64)
    piece_of[theirs] = mine
    add_hops(steps, case.channels, flooded.slot, flooded.link, row[piece_of[flooded.packet]])
    steps.end_phase("flooding", int(flooded.slot.max(initial=-1)) + 1)
    return steps.schedule(case, cut)


def _pieces_offers(case: WormholeCase) -> list[Offer[WormholeSchedule]]:
    """Offer floods of as many pieces as promise to be best: the balance of start-ups and bytes, and about."""
    count, nodes, cost = case.messages.count, case.network.node_count, case.cost
    degree = max(1, int(case.channels.in_degree.min()))
    reach = sum(side // 2 for side in case.channels.sides)
    if not case.channels.on_grid:
        reach = int(case.channels.distances.max(axis=1).min())
    bytes_time = cost.message_bytes * cost.per_byte
    many = min(_MOST_PIECES, _FEW_HOPS // max(1, count * (nodes - 1)))
    most = min(max(_FEW_PIECES, many), cost.message_bytes)
    balance = most
    if count and cost.startup:
        balance = isqrt(max(1, int(reach * bytes_time * degree / (count * cost.startup))))
    missing = count - np.bincount(case.messages.origin, minlength=nodes)
    tried = sorted({max(1, min(most, k)) for k in (1, balance // 2, balance, balance + 1, 2 * balance)})
    offers = []
    for k in tried:
        if count * k * (nodes - 1) > _MOST_HOPS:
            continue
        slots = max(reach, int((-(-missing * k // np.maximum(case.channels.in_degree, 1))).max()))
        least = slots * (cost.startup + Fraction(cost.message_bytes // k) * cost.per_byte)
        offers.append(
            Offer(
                partial(flooded_in_pieces, case, k),
                least=least,
                effort="search",
                options={"pieces": k},
                hop_seconds=6e-7 * k,
            )
        )
    return offers


def _whole_offers(case: WormholeCase) -> list[Offer[WormholeSchedule]]:
    """Offer what the algorithms for packets build, a step for each slot."""
    plain = Case(case.network, case.task, seed=case.seed)
    each = case.cost.startup + case.cost.message_bytes * case.cost.per_byte
    offers = []
    for algorithm in algorithms_for(type(case.task)):
        found = algorithm.offers(plain)
        if isinstance(found, Refusal) or algorithm.name == "greedy-flooding":
            continue
        first = found[0]
        if first.effort == "solver":
            continue
        # slots in which nothing moves cost nothing, and those of control packets little
        cheap = isinstance(case.task, (tasks.Permutation, tasks.PartialMultinodeBroadcast, tasks.PartialReduceScatter))
        cheap |= algorithm.name.removeprefix("two-way-").removeprefix("reversed-") in _COUNTING
        least = Fraction(0) if cheap else first.floor * each
        build, options = _converted(case, first.build), {"packets": algorithm.name}
        hops = plain.once(about_hops, plain)[0]
        seconds = (needs(plain, first).seconds + 4e-7 * hops) / max(1, case.once(receipts, case))
        offers.append(Offer(build, least=least, effort=first.effort, options=options, hop_seconds=seconds))
    return offers


def _converted(case: WormholeCase, build: Callable[[], Schedule]) -> Callable[[], WormholeSchedule]:
    return lambda: as_steps(case, build())


def refuse_hops_at_switches(case: WormholeCase) -> Refusal | None:
    """Return why the hops of packets cannot be wormhole messages on a network, or None where they can.

    >>> import gossamer
    >>> refuse_hops_at_switches(WormholeCase(gossamer.network("leaf-spine:2,2,2"), gossamer.task("broadcast")))
    Refusal(why='needs a network without switches, at which wormhole messages cannot end')
    """
    net = case.network
    if case.channels.on_grid:
        return None
    if net.terminal_count < net.node_count:
        return Refusal("needs a network without switches, at which wormhole messages cannot end")
    if np.unique(net.link_source.astype(np.int64) * net.node_count + net.link_target).size < net.link_count:
        return Refusal("needs a network without parallel links")
    return None


def _propose_slots(case: WormholeCase) -> list[Offer[WormholeSchedule]] | Refusal:
    refusal = refuse_hops_at_switches(case)
    if refusal:
        return refusal
    whole = case.messages.targets is None
    copied = whole and not (case.messages.discipline == tasks.COMBINE).any()
    hops = case.messages.count * (case.network.node_count if whole else sum(case.channels.sides))
    refusal = too_many_messages(hops, _MOST_HOPS)
    if refusal:
        return refusal
    offers = (_pieces_offers(case) if copied else []) + _whole_offers(case)
    return offers or Refusal("finds no schedule of packets for the task")


SLOT_BY_SLOT = (
    WormholeAlgorithm(
        name="slot-by-slot",
        tasks=(
            tasks.Broadcast, tasks.MultinodeBroadcast, tasks.PartialMultinodeBroadcast, tasks.MultipleBroadcast,
            tasks.Scatter, tasks.Gather, tasks.TotalExchange, tasks.PartialExchange, tasks.PartialGather,
            tasks.Permutation, tasks.Reduce, tasks.ReduceScatter, tasks.PartialReduceScatter, tasks.MultipleReduce,
            tasks.Allreduce,
        ),
        propose=_propose_slots,
        networks="any network without switches",
        source="the algorithms for packets; every slot as a step",
        summary="schedules of packets, whole or in pieces, a step for each slot",
        anywhere=True,
    ),
)  # fmt: skip
"""Schedules of packets at the linear cost of wormhole steps."""
