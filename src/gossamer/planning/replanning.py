"""Replanning: a schedule repaired after links failed or became slower, or planned anew where that is as good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.repair import repaired
from gossamer.bounds import Bounds, counted_bounds, node_bounds
from gossamer.bounds.bound import asked_first, largest, largest_first
from gossamer.errors import NotApplicableError
from gossamer.networks import as_network
from gossamer.networks.network import Failed, IntArray, Network
from gossamer.planning import switching as switchings
from gossamer.planning.allreduce_variants import asked_scopes
from gossamer.planning.offer_search import ProgressCallback, Question, Search, best_of
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.planning.switching import Switching
from gossamer.planning.switching.resource_limits import Candidate
from gossamer.planning.switching.resource_limits import limits as resource_limits
from gossamer.programs.layout import plain_task
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.cases.algorithm_offers import about_hops
from gossamer.questions.cases.demands import HubDemand
from gossamer.questions.costs import Clock, in_slots_of
from gossamer.questions.tasks import Broadcast, PartialSumAllreduce, Reduce, chunked
from gossamer.reading import seed as read_seed
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import summed_packets

__all__ = ["replan"]


def replan(
    schedule: Schedule | Outcome,
    network: Network | Any,
    *,
    repair_only: bool = False,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Return a schedule after links failed or became slower: repaired, or planned anew where that is better.

    Parameters
    ----------
    schedule : Schedule or Outcome
        What was planned on the sound network, store and forward, in unsegmented messages.
    network : Network
        What is left of it, `Network.without` links or some of several cables; or all of it, some links with lower
        capacities or speeds, more slots or longer latencies, and none with better ones.
    repair_only : bool
        Take the repair as it is: for most tasks in a tenth of the time or less, but it may come out later than what is
        planned anew, an allreduce by up to a half.
    seed : int
        For the order in which packets are rerouted, and for what is planned anew.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Outcome
        Verified, and no later than what `gossamer.plan` gives for the same task in the same packets, unless
        `repair_only`. Beside the bounds of an outcome that is repaired, which no failure makes smaller, and those of
        the network that is left: of its nodes alone, then what is counted, then all, until one of them is met.

    Notes
    -----
    What is tried follows from estimates, not from clocks. Floods for a small network come first; they take as long as a
    repair. A schedule is repaired where that is estimated to take no more than a third of planning anew, and it is no
    allreduce, whose repair rarely is as short. What is then not at a bound is planned anew as well, and the shorter
    schedule is kept.

    What a node sends of partial sums it has added to what it got on other paths, so such a schedule is not led round a
    link: where one that it uses failed or is slower, an allreduce without roots is planned anew.

    Raises
    ------
    GossamerError
        If the network is not what is left of the schedule's, some target is cut off, or the schedule is of a kind that
        is not repaired.

    Examples
    --------
    >>> import gossamer
    >>> sound = gossamer.plan("torus:4x4", "allgather")
    >>> gossamer.replan(sound, sound.case.network.without(links=[(0, 1)])).ratio
    1.0
    """
    found = schedule.schedule if isinstance(schedule, Outcome) else schedule
    if not isinstance(found, Schedule):
        raise NotApplicableError("only store-and-forward schedules that were kept are repaired; plan again")
    left = as_network(network)
    if isinstance(found.cost, Clock):
        left = in_slots_of(left, found.cost)
    link, slower = _links_left(found.network, left)
    kind = switchings.named(found.switching)
    case = kind.case(left, found.task, found.rules, found.cost, read_seed(seed))
    search = Search(Question(kind, case, case, None), progress)
    known = schedule.bounds if isinstance(schedule, Outcome) and int((link >= 0).sum()) == left.link_count else ()
    told = [replace(bound, witness=f"before links failed: {bound.witness}") for bound in known]
    # what nodes must send and receive holds up what is copied, not what goes far
    copied = any(demand.shared for demand in case.demands)
    limits = Bounds(largest_first((*told, *(node_bounds(case) if copied else ())))) if told else counted_bounds(case)
    case.tell_floor(largest(limits))
    sums = bool(summed_packets(found).any())
    if sums:
        candidates = list(_sums_anew(kind, case, found, np.where(slower, np.int32(-1), link)))
    else:
        offer = Offer(lambda: repaired(found, case, link), effort="search")
        name = found.algorithm if found.algorithm.endswith(_REPAIRED) else f"{found.algorithm}{_REPAIRED}"
        candidates = [*_flooded_anew(kind, case), Candidate(name, offer)]
        if not repair_only and not _worth_repairing(search):
            candidates.pop()
    best: Outcome | None = None
    for candidate in candidates:
        if best is None or best.completion_time > largest(limits):
            now = search.carried_out(candidate, limits, stream=False)
            best = now if best is None or now.completion_time < best.completion_time else best
        if told and best.completion_time > largest(limits):  # all that is counted, where the first does not do
            limits, told = Bounds(largest_first((*told, *counted_bounds(case)))), []
            case.tell_floor(largest(limits))
    if not sums and not repair_only and (best is None or best.completion_time > largest(limits)):
        limits = Bounds(largest_first({*limits, *search.bounds(at_first=True)}))
        if best is None or best.completion_time > largest(limits):
            best, limits = _planned_anew(search, limits, best)
    assert best is not None
    return replace(best, bounds=Bounds(asked_first(limits, asked_scopes(case, limits))))


def _worth_repairing(search: Search) -> bool:
    """Return whether a repair is estimated to take far less than planning anew, and may be as good."""
    case = search.planned
    if any(isinstance(demand, HubDemand) for demand in case.demands) and len(case.demands) > 1:
        return False  # results wait for contributions: what is planned anew overlaps them
    estimates = [search.needs(candidate) for candidate in search.candidates("best", {}, "search")]
    anew = sum(needs.seconds for needs in estimates if needs is not None)
    hops, packets = case.once(about_hops, case)
    return _HOP_SECONDS * hops + _LOOK_SECONDS * packets * case.network.link_count <= anew / _FAR_LESS


_HOP_SECONDS, _LOOK_SECONDS = 1.5e-6, 2e-8
"""What a repair takes for a hop, and for a packet and link, when packets are led elsewhere."""
_FAR_LESS = 3


def _planned_anew(search: Search, limits: Bounds, best: Outcome | None) -> tuple[Outcome, Bounds]:
    """Return the shorter of an outcome and of what is planned anew, and all bounds that are known then."""
    allowed = resource_limits(None, None)
    chosen = search.fitting(search.candidates("best", {}, "search"), allowed)
    new = best_of(search, chosen, allowed, False, limits)
    shorter = new if best is None or new.completion_time < best.completion_time else best
    return shorter, Bounds(largest_first({*limits, *new.bounds}))


def _flooded_anew(kind: Switching[Any, Any], case: Case) -> Iterator[Candidate[Any]]:
    """Yield what floods a small network anew, which is as quick as a repair."""
    if case.network.terminal_count * case.network.node_count > _FLOODED:
        return
    for algorithm in kind.algorithms(type(case.task)):
        if algorithm.name in _FLOODING:
            offers = algorithm.offers(case)
            if not isinstance(offers, Refusal):
                yield Candidate(algorithm.name, offers[0])


def _sums_anew(kind: Switching[Any, Any], case: Case, found: Schedule, link: IntArray) -> Iterator[Candidate[Any]]:
    """Yield the schedule of partial sums itself where no link that it uses failed, else what is planned anew."""
    explicit = found.expand()
    if (link[explicit.link] >= 0).all():
        kept = explicit.replace(network=case.network, link=link[explicit.link])
        yield Candidate(found.algorithm, Offer(lambda: kept))
        return
    task = plain_task(case.task)
    if not isinstance(task, PartialSumAllreduce):
        raise NotApplicableError("a node sends partial sums to several others, which cannot be rerouted; plan again")
    for algorithm in kind.algorithms(type(task)):
        offers = algorithm.offers(case)
        if not isinstance(offers, Refusal):
            yield Candidate(algorithm.name, offers[0])
    yield Candidate("reduction to a node and broadcast", Offer(lambda: _by_way_of_a_node(case, found), effort="search"))


_CENTERS = 64
"""Nodes among which the one is looked for from which no other is far."""


def _by_way_of_a_node(case: Case, found: Schedule) -> Schedule:
    """Return an allreduce that adds up all packets at a node, and broadcasts the sums from there."""
    network, packets = case.network, case.messages.packet_count
    root = min(range(min(network.terminal_count, _CENTERS)), key=network.eccentricity)
    rules = replace(found.rules, segmented=False)
    halves = [
        plan(network, chunked(half(root), packets), rules=rules, cost=found.cost, seed=case.seed).schedule.expand()
        for half in (Reduce, Broadcast)
    ]
    first, second = halves
    slot = np.concatenate([first.slot, second.slot + np.int32(first.slot_count)])
    packet = [np.where(one.packet < 0, one.packet, one.packets.part[one.packet]) for one in halves]
    return found.expand().replace(
        network=network,
        slot=slot,
        link=np.concatenate([first.link, second.link]),
        packet=np.concatenate(packet),
        repeats=None,
        phases=[replace(p, name=f"{one.task.name}: {p.name}") for one in halves for p in one.phases],
    )


_FLOODING = ("greedy-flooding", "reversed-greedy-flooding", "two-way-greedy-flooding")
_FLOODED = 100_000
"""Packets to be brought somewhere up to which flooding anew takes some hundredths of a second."""


def _links_left(network: Network, left: Network) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the number in what is left of a network of each of its links, and which of these are slower now.

    The number is -1 for those that failed, or have lost some of their capacity.
    """
    failed, before, asked = left.find(Failed), network.find(Failed), network
    numbers = np.arange(network.link_count, dtype=np.int32)
    if failed is not None and before is not None and not _same_links(failed.sound, network):
        network, numbers = before.sound, before.links  # some had failed already
    if failed is not None and _same_links(failed.sound, network):
        links = failed.links
    elif _same_links(left, asked):
        network = asked
        numbers = links = np.arange(asked.link_count, dtype=np.int32)
    else:
        raise NotApplicableError(f"{left.spec} is not what is left of {network.spec} after links failed")
    if left.node_count != network.node_count or left.terminal_count != network.terminal_count:
        raise NotApplicableError("a schedule is repaired after links failed, not nodes; plan again")
    number = np.full(network.link_count, -1, np.int32)
    number[links] = np.where(left.link_capacity < network.link_capacity[links], -1, np.arange(left.link_count))
    place = np.full(network.link_count, -1)
    place[links] = np.arange(left.link_count)
    now = place[numbers]
    kept = now >= 0
    changes = [
        (old[kept] - new[now[kept]]) * sign
        for old, new, sign in (
            (asked.link_occupancy, left.link_occupancy, -1),
            (asked.link_latency, left.link_latency, -1),
            (asked.link_capacity, left.link_capacity, 1),
        )
    ]
    worse = np.any([change > 0 for change in changes], axis=0)
    better = np.any([change < 0 for change in changes], axis=0)
    if failed is None and (better.any() or not worse.any()):
        fault = f"{left.link_name(int(np.flatnonzero(better)[0]))} is faster" if better.any() else "no link is slower"
        raise NotApplicableError(f"{left.spec} is not what is left of {asked.spec}: {fault}; plan again")
    slower = np.zeros(asked.link_count, bool)
    slower[np.flatnonzero(kept)] = worse
    return np.asarray(number[numbers], np.int32), slower


def _same_links(one: Network, other: Network) -> bool:
    """Return whether two networks have the same nodes and the same links, whatever these carry."""
    return (one.node_count, one.terminal_count) == (other.node_count, other.terminal_count) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("link_source", "link_target")
    )


_REPAIRED = ", repaired"
