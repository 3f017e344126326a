"""Every schedule of packets that are stored and forwarded, with each of its slots as a step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np

from gossamer.algorithms.multinode_broadcast.greedy_flooding import greedy_flooding
from gossamer.algorithms.multinode_broadcast.partial import ROTATED_DIMENSIONS
from gossamer.algorithms.registry import ALGORITHMS
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.cases.resource_estimates import about_hops, needs
from gossamer.questions.tasks import (
    COMBINE,
    Allreduce,
    Broadcast,
    Gather,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    Permutation,
    Reduce,
    ReduceScatter,
    Scatter,
    TotalExchange,
)
from gossamer.schedules import Schedule
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.needs import receipts
from gossamer.wormhole.payloads import Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps
from gossamer.wormhole.store_and_forward import add_hops, as_steps

__all__ = ["SLOT_BY_SLOT", "flooded_in_pieces", "refuse_hops_at_switches"]

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
    flooded = greedy_flooding(Case(case.network, MultipleBroadcast(tuple(counts.tolist())), seed=case.seed))
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
    many = min(_MOST_PIECES, _FEW_HOPS // (count * max(1, nodes - 1)))
    most = min(max(_FEW_PIECES, many), cost.message_bytes)
    balance = most
    if cost.startup:
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
    for algorithm in ALGORITHMS:
        found = algorithm.offers(plain)
        if isinstance(found, Refusal) or algorithm.name == "greedy-flooding":
            continue
        first = found[0]
        if first.effort == "solver":
            continue
        # slots in which nothing moves cost nothing, and those of control packets little
        cheap = isinstance(case.task, (Permutation, PartialMultinodeBroadcast, PartialReduceScatter))
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


def _propose(case: WormholeCase) -> list[Offer[WormholeSchedule]] | Refusal:
    refusal = refuse_hops_at_switches(case)
    if refusal:
        return refusal
    whole = case.messages.targets is None
    copied = whole and not (case.messages.discipline == COMBINE).any()
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
            Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, MultipleBroadcast, Scatter, Gather, TotalExchange,
            PartialExchange, PartialGather, Permutation, Reduce, ReduceScatter, PartialReduceScatter, MultipleReduce,
            Allreduce,
        ),
        propose=_propose,
        networks="any network without switches",
        source="the algorithms for packets; every slot as a step",
        summary="schedules of packets, whole or in pieces, a step for each slot",
        anywhere=True,
    ),
)  # fmt: skip
"""Schedules of packets at the linear cost of wormhole steps."""
