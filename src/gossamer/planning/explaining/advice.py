"""What would help: the question of a schedule, and changed questions that are planned.

A change is planned by the planner, as any question is. What its lower bound shows to gain little is not planned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.errors import GossamerError, TaskError
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.planning.allreduce_variants import exact_bounds
from gossamer.planning.chunk_counts import open_to_choice
from gossamer.planning.explaining.binding import Binding
from gossamer.planning.explaining.critical_path import link_rate
from gossamer.planning.planner import lower_bounds, plan
from gossamer.questions.costs import AskedCost, Clock, LinearCost, TimeCost, unclocked
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Grouped,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    Task,
    Together,
    in_packets,
    packets_of,
)
from gossamer.questions.tasks.byte_counts import sizing_of
from gossamer.schedules import Schedule
from gossamer.verification import link_busy

__all__ = ["AskedAgain", "Gain", "asked_again", "changed", "gains"]

Longs = npt.NDArray[np.int64]
Say = Callable[[str], None]

_LARGE = 400_000
"""Terminals times links from which on nothing is planned unless a time is allowed for it."""
_LITTLE = Fraction(1, 100)
"""Share of the time below which a change is not planned, where its bound shows that no more can be gained."""


class AskedAgain(NamedTuple):
    """A question out of its schedule, as the planner takes it.

    Attributes
    ----------
    network, task, switching, rules, cost
        The arguments of `gossamer.plan`.
    time : Fraction
        What the schedule takes: in seconds, or in the unit of its cost.
    """

    network: Network
    task: Task
    switching: str
    rules: Rules | None
    cost: AskedCost
    time: Fraction

    @property
    def seconds(self) -> bool:
        """Whether times are in seconds."""
        return isinstance(self.cost, TimeCost)

    def bounds(self) -> list[Bound]:
        """Return lower bounds in seconds or in the unit of the cost, the largest that holds for the question first."""
        if isinstance(self.cost, TimeCost):
            found = exact_bounds(self.network, self.task, self.rules, self.cost)
            return sorted(found, key=lambda bound: -bound.value)
        return list(lower_bounds(self.network, self.task, switching=self.switching, rules=self.rules, cost=self.cost))

    def bound(self) -> Bound | None:
        """Return the largest lower bound; None if there is none."""
        return next(iter(self.bounds()), None)

    def planned(self, say: Say) -> tuple[Fraction, str]:
        """Return what the planner's best takes, in seconds or in the unit of the cost, and by which algorithm."""
        found = plan(self.network, self.task, switching=self.switching, rules=self.rules, cost=self.cost, progress=say)
        return found.completion_time if found.seconds is None else found.seconds, found.algorithm


def asked_again(schedule: Any, asked: Task | None = None) -> AskedAgain:
    """Return the question that a schedule answers.

    `schedule`: Schedule or WormholeSchedule. `asked` (Task): the task that was asked for, where it is known. Default:
    the schedule's, or the allreduce that it is a form of.

    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MB", bandwidth="1GB/s", latency="2us")
    >>> again = asked_again(gossamer.plan("ring:4", "allreduce", cost=cost).schedule)
    >>> again.task, again.cost.bytes, again.cost.latency
    (Allreduce(), 1000000, Fraction(1, 500000))
    """
    network, cost, total = schedule.network, schedule.cost, schedule.completion_time
    if not isinstance(schedule, Schedule):
        return AskedAgain(network, schedule.task, "wormhole", schedule.rules, cost, total)
    if not isinstance(cost, Clock):
        task = schedule.task
        if schedule.rules.segmented and isinstance(task, Chunked) and isinstance(task.task, PartialSumAllreduce):
            task = Allreduce() if task.packets == network.terminal_count else task
        return AskedAgain(network, task, "store-and-forward", schedule.rules, cost, total)
    task = asked or _asked_task(schedule)
    plain = unclocked(network, cost, 1)
    whole = sizing_of(task, network).split
    size = cost.asked_bytes if whole and cost.asked_bytes else cost.buffer_bytes if whole else cost.message_bytes
    again = TimeCost(size, bandwidth=plain.bandwidth, latency=plain.latency, overhead=cost.overhead)
    return AskedAgain(plain.network, task, "store-and-forward", schedule.rules, again, cost.seconds(total))


def _asked_task(schedule: Schedule) -> Task:
    """Return the task of a plan in seconds as it was asked for: the allreduce that it is a form of."""
    task, clock = schedule.task, schedule.cost
    if isinstance(task, Together):
        match task.tasks:
            case (Reduce(root=a), Broadcast(root=b)) if a == b and task.waits == ((1, 0),):
                return Allreduce()
        raise TaskError("several collectives at once")
    one = in_packets(task, 1)
    inner = one.task if isinstance(one, Grouped) else one
    assert isinstance(clock, Clock)
    all_whole = isinstance(inner, MultinodeBroadcast) and clock.buffer_bytes == clock.message_bytes
    if isinstance(inner, PartialSumAllreduce) or (all_whole and schedule.network.terminal_count > 1):
        return Grouped(Allreduce(), one.groups) if isinstance(one, Grouped) else Allreduce()
    return one


# What would help: changed questions.


@dataclass(frozen=True)
class Gain:
    """A change, and what the planner's best takes with it.

    Attributes
    ----------
    change : str
        What is changed.
    time : Fraction or None
        What it then takes, in seconds or in the unit of the cost; None where it was not planned.
    before : Fraction
        What the schedule takes, in the same unit.
    algorithm : str
        The algorithm of the plan.
    skipped : str
        Why it was not planned, or an empty text.
    asked : AskedAgain
        The changed question.
    share : Fraction
        By which the planned time is multiplied to compare it: packets of another size count in steps of other lengths.
    """

    change: str
    time: Fraction | None
    before: Fraction
    algorithm: str
    skipped: str
    asked: AskedAgain
    share: Fraction = Fraction(1)

    @property
    def saved(self) -> Fraction | None:
        """The time saved, below 0 where it takes longer; None where it was not planned."""
        return None if self.time is None else self.before - self.time

    @property
    def percent(self) -> float | None:
        """The share of the time that is saved, in percent."""
        return None if self.saved is None else float(100 * self.saved / self.before) if self.before else 0.0


class _Change(NamedTuple):
    """A change in words with the changed question; a reason where it is none."""

    words: str
    asked: AskedAgain
    share: Fraction = Fraction(1)
    reason: str = ""


class _LateError(Exception):
    """No time is left."""


def gains(asked: AskedAgain, schedule: Any, binds: Binding, budget: float | None, say: Say) -> tuple[Gain, ...]:
    """Plan what may gain, and return it with what it takes.

    * `asked` (AskedAgain): the question of the schedule.
    * `schedule`: Schedule or WormholeSchedule.
    * `binds` (Binding): what binds it.
    * `budget` (float or None): seconds after which no plan is begun, and one that is being made is left out; None for
      the usual minute, in which large networks are left out.
    * `say` (callable): told what is planned.
    """
    clock = time.process_time if budget is None else time.monotonic  # a busy machine leaves out nothing
    began, allowed = clock(), 60.0 if budget is None else budget
    affordable = budget is not None or asked.network.terminal_count * asked.network.link_count <= _LARGE
    found: list[Gain] = []
    hopeful: list[tuple[Fraction, int, _Change]] = []

    def stop(stage: str) -> None:
        say(stage)
        if clock() - began > allowed:
            raise _LateError

    def add(change: _Change, reason: str, taken: Fraction | None = None, algorithm: str = "") -> None:
        told = None if taken is None else taken * change.share
        found.append(Gain(change.words, told, asked.time, algorithm, reason, change.asked, change.share))

    for change in changed(asked, schedule, binds, cables=affordable):
        reason = change.reason
        if not reason and not affordable:
            reason = f"not planned on {quantity(asked.network.terminal_count, 'node')} without --budget"
        try:
            if not reason:
                stop(f"bounding: {change.words}")
                bound = change.asked.bound()
                least = Fraction(0) if bound is None else bound.value * change.share
                reason = _hopeless(asked, least)
        except _LateError:
            reason = _NO_TIME
        except GossamerError as error:
            reason = str(error).partition("; ")[0]
        if reason:
            add(change, reason)
        else:
            hopeful.append((least, len(hopeful), change))
    for _, _, change in sorted(hopeful):
        try:
            stop(f"planning: {change.words}")
            add(change, "", *change.asked.planned(stop))
        except _LateError:
            add(change, _NO_TIME)
        except GossamerError as error:
            add(change, str(error).partition("; ")[0])
    return tuple(sorted(found, key=lambda gain: (gain.time is None, -(gain.saved or 0))))


_NO_TIME = "not planned in the time allowed; --budget allows more"


def _hopeless(asked: AskedAgain, least: Fraction) -> str:
    """Return why a change that takes at least so long cannot gain much; an empty text if it may."""
    if not asked.time:
        return ""
    most = 1 - least / asked.time
    if most <= 0:
        return "gains nothing, by its bound"
    return f"gains {float(100 * most):.2g} % at most, by its bound" if most < _LITTLE else ""


def changed(asked: AskedAgain, schedule: Any, binds: Binding, cables: bool = True) -> Iterator[_Change]:
    """Yield the changes that are looked at: of packets, rules, links, latencies; cables if afforded."""
    yield from _cut_otherwise(asked, schedule)
    rules = asked.rules
    if rules is not None and rules.ports != "all":
        yield _Change("all-port instead of one-port", asked._replace(rules=replace(rules, ports="all")))
    yield from _faster_links(asked, schedule, binds, cables)
    yield from _half_latency(asked)


def _cut_otherwise(asked: AskedAgain, schedule: Any) -> Iterator[_Change]:
    if asked.switching == "wormhole":
        return
    rules = asked.rules or Rules()
    task, packets = asked.task, packets_of(schedule.task)
    if asked.seconds:
        cut = packets > 1 or schedule.repetition is not None
        words = f"one more packet a message than {packets:,}"
        if isinstance(task, Grouped) or not open_to_choice(task, rules):
            return
        if isinstance(task, Allreduce):
            yield _Change("the best form and number of packets", asked)
        elif not cut:
            yield _Change("2 packets a message instead of 1", asked._replace(task=in_packets(task, 2)))
        elif packets <= 256:
            yield _Change(words, asked._replace(task=in_packets(task, packets + 1)))
        else:
            yield _Change(words, asked, reason="hardly a change: packets are small already")
        return
    inner = task.task if isinstance(task, Chunked) else task
    if (
        not rules.segmented
        and rules.buffer is None
        and not isinstance(inner, Grouped | Together)
        and open_to_choice(inner, rules)
    ):
        words = f"{quantity(packets + 1, 'packet')} a message instead of {packets}"
        share = Fraction(packets, packets + 1)
        yield _Change(words, asked._replace(task=in_packets(inner, packets + 1)), share)
    if not rules.segmented and rules.buffer is None and not isinstance(task, Chunked):
        yield _Change("segmented messages", asked._replace(rules=replace(rules, segmented=True)))


def _half_latency(asked: AskedAgain) -> Iterator[_Change]:
    network, cost = asked.network, asked.cost
    speeds = network.find(Speeds)
    if isinstance(cost, LinearCost):
        yield _Change("half the start-up", asked._replace(cost=replace(cost, startup=cost.startup / 2)))
    elif isinstance(cost, TimeCost):
        if speeds is not None and float(speeds.latency.max(initial=0)):
            others = [s for s in network.structures if not isinstance(s, Speeds)]
            slow = network.with_structures([*others, Speeds(speeds.bandwidth, speeds.latency / 2)])
            yield _Change("half the latency of all links", asked._replace(network=slow))
        elif cost.latency:
            yield _Change("half the latency of all links", asked._replace(cost=replace(cost, latency=cost.latency / 2)))
    elif int(network.link_latency.max(initial=0)) > 1:
        slow = network.with_times(network.link_occupancy, network.link_latency // 2)
        yield _Change("half the latency of all links", asked._replace(network=slow))


def _faster_links(asked: AskedAgain, schedule: Any, binds: Binding, cables: bool) -> Iterator[_Change]:
    """Yield twice the bandwidth for the links that bind, or all of their kind, and one more cable."""
    network = asked.network
    if asked.switching == "wormhole":
        return
    faster = "twice as fast" if network.find(Speeds) is not None else "doubled"
    both = _both_ways(network, binds.links)
    if 0 < both.size < network.link_count:
        opposites = ", and their opposites," if both.size > binds.links.size else ""
        yield _Change(f"the {quantity(binds.links.size, 'link')} that bind{opposites} {faster}", _twice(asked, both))
    busiest = np.array([int(np.argmax(link_busy(schedule) / network.link_capacity))] if network.link_count else [], int)
    for kind in _kinds_of(network, both if both.size else busiest):
        if kind.size == network.link_count:
            yield _Change(f"all {quantity(kind.size, 'link')} {faster}", _twice(asked, kind))
        elif not np.array_equal(kind, both):
            rate = link_rate(network, int(kind[0]), schedule.cost)
            yield _Change(f"all {quantity(kind.size, 'link')} of {rate} {faster}", _twice(asked, kind))
    best: tuple[Fraction, _Change] | None = None
    for u, v, like in _cables(network, binds) if cables else ():
        ends = f"{network.node_name(u)} and {network.node_name(v)}"
        change = _Change(
            f"one more cable between {ends}", asked._replace(network=_with_links(network, cable=(u, v, like)))
        )
        bound = change.asked.bound()
        if bound is not None and (best is None or bound.value < best[0]):
            best = bound.value, change
    if best is not None:
        yield best[1]
    elif not binds.links.size:
        yield _Change("one more cable", asked, reason="the bound names no links between which it would be")


def _both_ways(network: Network, links: Longs) -> Longs:
    """Return links with their opposites, where they have them."""
    return np.union1d(links, network.reverse_link[links]) if network.two_way else links


def _kinds_of(network: Network, links: Longs) -> list[Longs]:
    """Return, for each kind of some links, all links that carry as much and take as long; the slowest first."""
    speeds = network.find(Speeds)
    columns: list[npt.NDArray[Any]] = [network.link_capacity, network.link_occupancy, network.link_latency]
    columns = columns if speeds is None else [network.link_capacity, speeds.bandwidth, speeds.latency]
    rate = columns[0] / columns[1] if speeds is None else columns[0] * columns[1]
    _, kind = np.unique(np.stack(columns), axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    of = sorted({int(k): float(rate[e]) for e, k in zip(links.tolist(), kind[links], strict=True)}.items(),
                key=lambda entry: entry[1])  # fmt: skip
    return [np.flatnonzero(kind == k) for k, _ in of[:_KINDS]]


def _twice(asked: AskedAgain, links: Longs) -> AskedAgain:
    return asked._replace(network=_with_links(asked.network, twice=links))


_KINDS = 2
"""Kinds of links that are made faster, each for itself."""
_PAIRS = 8
"""Pairs of nodes between which one more cable is looked at."""


def _cables(network: Network, binds: Binding) -> Iterator[tuple[int, int, int]]:
    """Yield pairs of nodes across what binds, each with a link that the new ones are like."""
    links = binds.links.tolist()
    speeds = network.find(Speeds)
    rate = network.link_capacity * (1 / network.link_occupancy if speeds is None else speeds.bandwidth)
    seen: set[tuple[int, int]] = set()
    for kind in dict.fromkeys(rate[links].tolist()):
        for link in [e for e in links if float(rate[e]) == kind][: _PAIRS // 2]:
            pair = int(network.link_source[link]), int(network.link_target[link])
            if pair not in seen and pair[::-1] not in seen and len(seen) < _PAIRS:
                seen.add(pair)
                yield *pair, link
    if binds.nodes.size and binds.nodes.size < network.node_count:
        inside = np.zeros(network.node_count, np.bool_)
        inside[binds.nodes] = True
        near, far = np.flatnonzero(inside), np.flatnonzero(~inside)
        fastest = max(links, key=lambda e: float(rate[e]))
        joined = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
        for u, v in ((int(near[0]), int(far[0])), (int(near[-1]), int(far[-1]))):
            if (u, v) not in joined and (u, v) not in seen:
                yield u, v, fastest


def _with_links(network: Network, twice: Longs | None = None, cable: tuple[int, int, int] | None = None) -> Network:
    """Return a network some links of which are twice as fast, or that has one more cable like a link of it."""
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    capacity, occupancy, latency = (
        x.astype(np.int64).copy() for x in (network.link_capacity, network.link_occupancy, network.link_latency)
    )
    speeds, ports = network.find(Speeds), network.shared_ports
    rates = None if speeds is None else [speeds.bandwidth.copy(), speeds.latency.copy()]
    sides = None if ports is None else [ports.sending.copy(), ports.receiving.copy()]
    words, order = "faster", np.arange(source.size)
    if twice is not None:
        if rates is None:
            capacity[twice] *= 2
        else:
            rates[0][twice] *= 2
    if cable is not None:
        u, v, like = cable
        words = f"{network.node_name(u)}+{network.node_name(v)}"
        there = np.flatnonzero((source == u) & (target == v) | (source == v) & (target == u))
        if there.size and (rates is None or there.size <= 2):  # beside a cable: as much room again
            capacity[there] += capacity[there] if rates is not None or there.size > 2 else 1
        else:
            place = [like, like]
            source, target = np.append(source, [u, v]), np.append(target, [v, u])
            capacity, occupancy, latency = (np.append(x, x[place]) for x in (capacity, occupancy, latency))
            rates = None if rates is None else [np.append(x, x[place]) for x in rates]
            sides = None if sides is None else [np.append(x, [-1, -1]) for x in sides]
            order = np.lexsort((target, source))
    even = cable is None and twice is not None and twice.size == network.link_count
    kept = [s for s in network.structures if not isinstance(s, Speeds | SharedPorts | RatedLinks)
            and (even or s.of_nodes)]  # fmt: skip
    if rates is not None:
        kept.append(Speeds(rates[0][order], rates[1][order]))
    if ports is not None and sides is not None:
        kept.append(SharedPorts(
            sides[0][order], sides[1][order], ports.capacity, ports.occupancy, ports.bandwidth, ports.names
        ))  # fmt: skip
    return Network(
        f"{network.spec} {words}", network.node_count, source[order].astype(np.int32), target[order].astype(np.int32),
        capacity[order].astype(np.int32), link_occupancy=occupancy[order].astype(np.int32),
        link_latency=latency[order].astype(np.int32), terminal_count=network.terminal_count, structures=kept,
        labels=network.labels or [network.node_name(v) for v in range(network.node_count)], links_only=True,
    )  # fmt: skip
