"""Split messages on any network: a schedule of as many packets a message as it has parts, each part by its own way.

The parts of a message take different ways, which is what a fluid does: where the bound counts fractions, as many parts
as its denominator often meet it. What is a pipeline, a broadcast above all, needs so many that its filling no longer
counts. Twice as many are tried until the bound is near.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network import PRICED_PATHS, PRICED_TREES
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING
from gossamer.algorithms.refusals import refuse_buffers
from gossamer.bounds import counted_bounds
from gossamer.cases import Case, Offer, Refusal
from gossamer.schedules import Phase, Schedule, then
from gossamer.tasks import Allreduce, Broadcast, Chunked, MultinodeBroadcast, ReduceScatter, Scatter, TotalExchange

__all__ = ["IN_PARTS", "IN_PARTS_TWO_WAY", "in_parts", "in_parts_two_way"]

_NEAR = Fraction(102, 100)
_GAIN = Fraction(99, 100)
"""More parts are tried as long as they take no more than that share of the time."""
_HOPS = 60_000
"""Packets times nodes up to which parts are tried."""
_LOOKS = 100_000
"""Packets times links up to which trees and paths are grown by prices."""
_MOST = 512


def in_parts(case: Case) -> Schedule:
    """Build a schedule of messages in parts, of as many parts as bring it within 2 % of what is counted.

    Parameters
    ----------
    case : Case
        A broadcast, scatter, multinode broadcast or exchange under rules that let messages be split, on links without
        latency.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    About O(hops) for each number of parts where packets are copied, and rounds of O(packets * links) where they move.

    References
    ----------
    Gossamer. Edmonds 1973 says how fast parts can be broadcast.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("kautz:2,2"), gossamer.task("allgather"), gossamer.Rules(split=True))
    >>> in_parts(case).completion_time, gossamer.lower_bounds(case.network, "allgather", rules=case.rules)[0].value
    (Fraction(5, 2), Fraction(5, 2))
    """
    floor = max(case.floor, counted_bounds(case)[0].value)
    best: Schedule | None = None
    for parts in _numbers(case, floor):
        found = _of(case, parts, floor)
        gains = best is None or found.completion_time <= _GAIN * best.completion_time
        if best is None or found.completion_time < best.completion_time:
            best = found
        if best.completion_time <= _NEAR * floor or not gains:
            break
    assert best is not None
    return best


def _numbers(case: Case, floor: Fraction) -> Iterator[int]:
    """Yield numbers of parts: the denominator of the bound, then more and more."""
    most = max(1, min(_MOST, _HOPS // max(1, case.messages.packet_count * case.network.node_count)))
    if not isinstance(case.task, Broadcast | Scatter):
        most = min(most, 8 if isinstance(case.task, TotalExchange) else 64)
    first = floor.denominator if floor.denominator <= min(16, most) else 1
    if isinstance(case.task, Broadcast | Scatter):
        first = most if most < 16 else most // 8  # a pipeline fills
    number = first
    yield number
    while 2 * number <= most:
        number = most if isinstance(case.task, Broadcast | Scatter) else 2 * number
        yield number


def _of(case: Case, parts: int, floor: Fraction) -> Schedule:
    """Return the shortest schedule of so many parts."""
    task = Chunked(case.task, parts) if parts > 1 else case.task
    whole = case.related(task=task, rules=replace(case.rules, split=False))
    whole.tell_floor(Fraction(ceil(floor * parts)))
    best: Schedule | None = None
    for algorithm in (GREEDY_FLOODING, PRICED_TREES, PRICED_PATHS):
        offers = algorithm.offers(whole)
        large = whole.messages.packet_count * case.network.link_count > _LOOKS
        if isinstance(offers, Refusal) or (best is not None and (large or best.completion_time <= _NEAR * whole.floor)):
            continue
        found = offers[0].build()
        if best is None or found.completion_time < best.completion_time:
            best = found
    assert best is not None
    phases = [Phase(case.task.name, best.slot_count, Fraction(1, parts))]
    return Schedule.of(case, best.slot, best.link, best.packet, parts=parts, phases=phases)


def in_parts_two_way(case: Case) -> Schedule:
    """Build an allreduce of split messages: a reduce-scatter and an allgather of the same number of parts.

    Parameters
    ----------
    case : Case
        An allreduce under rules that let messages be split, on links without latency.

    Notes
    -----
    As `in_parts`, twice.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("kautz:2,2"), gossamer.task("allreduce"), gossamer.Rules(split=True))
    >>> in_parts_two_way(case).completion_time
    Fraction(5, 1)
    """
    gather = in_parts(case.related(task=MultinodeBroadcast()))
    turned = case.related(task=ReduceScatter()).dual
    reduce = _of(turned, gather.parts, counted_bounds(turned)[0].value).reverse()
    return then(reduce, gather)


def _propose_two_way(case: Case) -> Offer[Schedule] | Refusal:
    halves = case.related(task=ReduceScatter()).dual, case.related(task=MultinodeBroadcast())
    for half in halves:
        found = _propose(half)
        if isinstance(found, Refusal):
            return found
    return Offer(lambda: in_parts_two_way(case), effort="search", hop_bytes=200, hop_seconds=1.5e-5)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if not case.rules.split:
        return Refusal("needs rules that let messages be split")
    if case.network.uniform_latency != 0 or case.rules.cut_through or case.network.shared_ports is not None:
        return Refusal("needs links without latency and ports of their own, and switches that store")
    if case.control_time:
        return Refusal("needs control packets that take no time")
    refusal = refuse_buffers(case.rules)
    if refusal is not None:
        return refusal
    whole = case.related(rules=replace(case.rules, split=False))
    offers = [algorithm.offers(whole) for algorithm in (GREEDY_FLOODING, PRICED_TREES, PRICED_PATHS)]
    if all(isinstance(offer, Refusal) for offer in offers):
        return Refusal("needs a case that flooding, priced trees or priced paths cover in whole messages")
    return Offer(lambda: in_parts(case), effort="search", hop_bytes=150, hop_seconds=1e-5)


IN_PARTS = Algorithm(
    name="in-parts",
    tasks=(Broadcast, Scatter, MultinodeBroadcast, TotalExchange),
    propose=_propose,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="each part of a message by its own way, in as many parts as come near the bound",
    passes_on=True,
    timed=True,
)

IN_PARTS_TWO_WAY = Algorithm(
    name="two-way-in-parts",
    tasks=(Allreduce,),
    propose=_propose_two_way,
    networks=IN_PARTS.networks,
    source=IN_PARTS.source,
    summary="a reduce-scatter and an allgather in parts",
    passes_on=True,
    timed=True,
)
