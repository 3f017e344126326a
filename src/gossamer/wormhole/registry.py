"""The table of wormhole algorithms: what the planner, the tables and the property tests iterate over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gossamer.algorithms.registry import algorithms_for
from gossamer.errors import NotApplicableError
from gossamer.networks import array, torus
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Grouped, PartialSumAllreduce
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.aggregation_distribution import ATD
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.combining_personalized import COMBINING, exchange_of_sums
from gossamer.wormhole.direct_messages import DIRECT, direct_messages
from gossamer.wormhole.flooding import FLOODING, TWO_STEP, flooding_offers
from gossamer.wormhole.multinode_broadcast_on_disjoint_trees import EDST
from gossamer.wormhole.packet_schedules import PACKET_SWITCHED, SLOT_BY_SLOT, as_steps, refuse_hops_at_switches
from gossamer.wormhole.ring_all_gather import PACKED, RINGS
from gossamer.wormhole.searched_exchange_patterns import PATTERNS
from gossamer.wormhole.sequential_broadcasts import SEQUENTIAL
from gossamer.wormhole.time_reversal import reductions_from

__all__ = ["WORMHOLE_ALGORITHMS", "WormholeAlgorithm", "each_group", "group_dimensions", "in_every_group"]

# Collectives in groups with wormhole messages: the algorithms of one group in all at once, and direct messages.
#
# Groups along dimensions of an array or torus are arrays and tori themselves: what an algorithm builds for one is
# carried out in each, and messages of different groups never meet. Other groups send every message straight to its
# targets, or are flooded, or take the schedules of packets, a step for each slot; on any network. Paths may lead
# through nodes of no group.

_PACKETS = ("each-group-alone", "congestion-priced-trees", "load-balanced-shortest-paths")
"""Algorithms for packets whose slots are taken as steps."""

_MOST = 4_000_000


def group_dimensions(groups: Sequence[Sequence[int]], channels: Channels) -> tuple[int, ...] | None:
    """Return the dimensions of an array or torus along which all groups lie, whole and in order; None if they do not.

    >>> import gossamer
    >>> channels = Channels(gossamer.network("torus:2x3"))
    >>> group_dimensions([[0, 1, 2], [3, 4, 5]], channels), group_dimensions([[1, 0, 2]], channels)
    ((1,), None)
    """
    if not channels.on_grid:
        return None
    found: set[tuple[int, ...]] = set()
    for group in groups:
        places = channels.coordinates(np.array(group, np.int64))
        moving = tuple(np.flatnonzero((places != places[0]).any(axis=0)).tolist())
        sides = [channels.sides[d] for d in moving]
        if not moving or len(group) != int(np.prod(sides)):
            return None
        rank = np.ravel_multi_index(tuple(places[:, d] for d in moving), sides)
        if not np.array_equal(rank, np.arange(len(group))):
            return None
        found.add(moving)
    nodes = [node for group in groups for node in group]
    return found.pop() if len(found) == 1 and len(set(nodes)) == len(nodes) else None


def _alone(channels: Channels, dimensions: tuple[int, ...]) -> Network | None:
    """Return the array or torus that a group along some dimensions is; None if it is neither."""
    wraps = {channels.wraps[d] for d in dimensions}
    if len(wraps) != 1:
        return None
    sides = [channels.sides[d] for d in dimensions]
    return torus(*sides) if wraps.pop() else array(*sides)


def in_every_group(case: WormholeCase, alone: WormholeSchedule, dimensions: tuple[int, ...]) -> WormholeSchedule:
    """Return the schedule that carries out in each group that of one group.

    `alone`: of the task on the array or torus that a group is; groups lie along the `dimensions`.
    """
    assert isinstance(case.task, Grouped)
    nodes = np.array(case.task.groups, np.int64)
    count, pieces, sets = nodes.shape[0], alone.packets, alone.payloads
    moves = np.zeros((alone.step.size, case.channels.dimensions), np.int32)
    moves[:, list(dimensions)] = alone.displacement
    group = np.repeat(np.arange(count), alone.step.size)
    order = np.argsort(np.tile(alone.step, count), kind="stable")
    payload = np.tile(alone.payload, count)
    payload = np.where(payload == CONTROL, CONTROL, payload + group * sets.count)
    first = np.concatenate(
        [sets.first[:-1] + g * sets.packet.size for g in range(count)] + [[count * sets.packet.size]]
    )
    member = np.tile(sets.packet, count) + np.repeat(np.arange(count), sets.packet.size) * pieces.count
    packets = Pieces(
        nodes[:, pieces.origin].reshape(-1).astype(np.int32),
        (pieces.message[None, :] + np.array(case.task.first_ids, np.int64)[:, None]).reshape(-1),
        np.tile(pieces.piece, count),
        np.tile(pieces.size, count),
    )
    return WormholeSchedule.of(
        case,
        np.tile(alone.step, count)[order],
        nodes[:, alone.source].reshape(-1).astype(np.int32)[order],
        np.tile(moves, (count, 1))[order],
        payload[order].astype(np.int32),
        payloads=Payloads(first.astype(np.int64), member.astype(np.int32)),
        packets=packets,
        phases=alone.phases,
        control_bytes=np.tile(alone.control_bytes, count)[order],
    )


def _steps_of(case: WormholeCase, build: Callable[[], Schedule]) -> WormholeSchedule:
    return as_steps(case, build())


def _spread(case: WormholeCase, build: Callable[[], WormholeSchedule], dimensions: tuple[int, ...]) -> WormholeSchedule:
    return in_every_group(case, build(), dimensions)


def _offers(case: WormholeCase, algorithms: Sequence[WormholeAlgorithm]) -> list[Offer[WormholeSchedule]] | Refusal:
    assert isinstance(case.task, Grouped)
    messages = case.messages
    if messages.sizes is not None or messages.waits:
        return Refusal("sends messages of one length that wait for nothing")
    reach = sum(case.channels.sides) if case.channels.on_grid else int(case.channels.distances.max())
    refusal = too_many_messages(messages.count * reach, _MOST)
    if refusal:
        return refusal
    sums = isinstance(case.task.task, PartialSumAllreduce)
    straight, by = (exchange_of_sums, "exchange-of-sums") if sums else (direct_messages, "direct messages")
    offers = [Offer(partial(straight, case), effort="search", options={"by": by})]
    dimensions = group_dimensions(case.task.groups, case.channels)
    sub = None if dimensions is None else _alone(case.channels, dimensions)
    if dimensions is not None and sub is not None:
        inner = WormholeCase(sub, case.task.task, case.cost, seed=case.seed)
        for algorithm in algorithms:
            if isinstance(inner.task, algorithm.tasks) and not isinstance(found := algorithm.offers(inner), Refusal):
                offers += [
                    replace(
                        offer, build=partial(_spread, case, offer.build, dimensions), optimal=False, stream=None,
                        options={"by": algorithm.name, **offer.options},
                    )
                    for offer in found
                    if offer.effort != "solver"
                ]  # fmt: skip
    if sums:
        return offers
    floods = flooding_offers(case)
    if not isinstance(floods, Refusal):
        offers += [replace(offer, options={"by": "wormhole-flooding", **offer.options}) for offer in floods]
    if refuse_hops_at_switches(case) is not None:
        return offers
    plain = Case(case.network, case.task, seed=case.seed)
    for packets in algorithms_for(type(case.task)):
        if packets.name in _PACKETS:
            try:
                chosen = packets.offer(plain)
            except NotApplicableError:
                continue
            offers.append(Offer(partial(_steps_of, case, chosen.build), effort="search", options={"by": packets.name}))
    return offers


def each_group(algorithms: Sequence[WormholeAlgorithm]) -> WormholeAlgorithm:
    """Return the algorithm that carries out a task in groups by those of one group.

    >>> import gossamer
    >>> rows = gossamer.task("broadcast", groups=[[0, 1, 2], [3, 4, 5]])
    >>> gossamer.plan("torus:2x3", rows, switching="wormhole").algorithm
    'each-group'
    """
    return WormholeAlgorithm(
        name="each-group",
        tasks=(Grouped,),
        propose=lambda case: _offers(case, algorithms),
        networks="any network",
        source="the algorithms of one group; gossamer",
        summary="what one group does alone, in all groups at once; otherwise messages straight to targets, or flooded",
        anywhere=True,
    )


_TURNED: tuple[WormholeAlgorithm, ...] = (*ATD, *RINGS, *PACKED, *EDST, *SEQUENTIAL)

_ALONE: tuple[WormholeAlgorithm, ...] = (
    *_TURNED,
    *PACKET_SWITCHED,
    *(derived for algorithm in _TURNED for derived in reductions_from(algorithm)),
    *SLOT_BY_SLOT,
    *DIRECT,
    *FLOODING,
    *TWO_STEP,
    *PATTERNS,
    *COMBINING,
)

WORMHOLE_ALGORITHMS: tuple[WormholeAlgorithm, ...] = (*_ALONE, each_group(_ALONE))
"""Every wormhole algorithm."""
