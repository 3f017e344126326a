"""What would gain, and how usual algorithms compare: changed questions are planned, rings and trees are built.

A change is planned by the planner, as any question is. What its lower bound shows to gain nothing is not planned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.mpi_library_algorithms import (
    bruck_tree,
    doubling_tree,
    exchanged_in_rounds,
    parallel_aggregated_tree,
    ring_tree,
)
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import disjoint_hamiltonian_cycles
from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.errors import GossamerError, TaskError
from gossamer.graphs.round_routing import SentPackets
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.planning.allreduce_variants import exact_bounds
from gossamer.planning.chunk_counts import open_to_choice
from gossamer.planning.explaining.bottlenecks import Binding
from gossamer.planning.planner import lower_bounds, plan
from gossamer.questions.cases import Case
from gossamer.questions.costs import AskedCost, Clock, LinearCost, StepCost, TimeCost, unclocked
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Gather,
    Grouped,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    Together,
    TotalExchange,
    in_packets,
    packets_of,
)
from gossamer.questions.tasks.byte_counts import sizing_of
from gossamer.schedules import Schedule
from gossamer.verification import verify

__all__ = ["AskedAgain", "Beside", "Gain", "asked_again", "beside", "changed", "gains"]

Longs = npt.NDArray[np.int64]
Say = Callable[[str], None]

_LARGE = 400_000
"""Terminals times links from which on nothing is planned unless a time is allowed for it."""
_LITTLE = Fraction(1, 200)
"""Share of the time below which a change is said to gain nothing."""


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

    def bound(self) -> Bound | None:
        """Return the largest lower bound, in seconds or in the unit of the cost; None if there is none."""
        if isinstance(self.cost, TimeCost):
            found = exact_bounds(self.network, self.task, self.rules, self.cost)
            return max(found, key=lambda bound: bound.value, default=None)
        found = list(
            lower_bounds(self.network, self.task, switching=self.switching, rules=self.rules, cost=self.cost)
        )
        return found[0] if found else None

    def planned(self, say: Say) -> tuple[Fraction, str]:
        """Return what the planner's best takes, in seconds or in the unit of the cost, and by which algorithm."""
        found = plan(
            self.network, self.task, switching=self.switching, rules=self.rules, cost=self.cost, progress=say
        )
        return found.completion_time if found.seconds is None else found.seconds, found.algorithm


def asked_again(schedule: Any, asked: Task | None = None) -> AskedAgain:
    """Return the question that a schedule answers.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
    asked : Task, optional
        The task that was asked for, where it is known. Default: the schedule's, or the allreduce that it is a form of.

    Examples
    --------
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
        if schedule.rules.split and isinstance(task, Chunked) and isinstance(task.task, PartialSumAllreduce):
            task = Allreduce() if task.packets == network.terminal_count else task
        return AskedAgain(network, task, "store-and-forward", schedule.rules, cost, total)
    task = asked or _asked_task(schedule)
    plain, _, rate, latency = unclocked(network, cost, 1)
    whole = sizing_of(task, network).split
    size = cost.asked_bytes if whole and cost.asked_bytes else cost.buffer_bytes if whole else cost.message_bytes
    again = TimeCost(size, bandwidth=rate, latency=latency)
    return AskedAgain(plain, task, "store-and-forward", schedule.rules, again, cost.seconds(total))


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


# What would gain: changed questions.


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


def gains(asked: AskedAgain, schedule: Any, binds: Binding, least: Bound | None, budget: float | None,
          say: Say) -> tuple[Gain, ...]:  # fmt: skip
    """Plan what may gain, and return it with what it takes.

    Parameters
    ----------
    asked : AskedAgain
        The question of the schedule.
    schedule : Schedule or WormholeSchedule
    binds : Binding
        What binds it.
    least : Bound or None
        The bound of the question.
    budget : float or None
        Seconds after which no plan is begun, and one that is being made is left out; None for the usual minute, in
        which large networks are left out.
    say : callable
        Told what is planned.
    """
    began, allowed = time.monotonic(), 60.0 if budget is None else budget
    size = asked.network.terminal_count * asked.network.link_count
    found: list[Gain] = []

    def stop(stage: str) -> None:
        say(stage)
        if time.monotonic() - began > allowed:
            raise _LateError

    for change in changed(asked, schedule, binds):
        def skipped(reason: str, change: _Change = change) -> None:
            found.append(Gain(change.words, None, asked.time, "", reason, change.asked, change.share))

        if change.reason:
            skipped(change.reason)
            continue
        try:
            stop(f"bounding: {change.words}")
            if (reason := _hopeless(asked, change, least)) or (
                reason := f"not planned on {quantity(asked.network.terminal_count, 'node')} without --budget"
                if size > _LARGE and budget is None else ""
            ):  # fmt: skip
                skipped(reason)
                continue
            stop(f"planning: {change.words}")
            taken, algorithm = change.asked.planned(stop)
        except _LateError:
            skipped(f"not planned within {allowed:g} s; --budget allows more")
        except GossamerError as error:
            skipped(str(error).partition("; ")[0])
        else:
            found.append(
                Gain(change.words, taken * change.share, asked.time, algorithm, "", change.asked, change.share)
            )
    return tuple(sorted(found, key=lambda gain: (gain.time is None, -(gain.saved or 0))))


def _hopeless(asked: AskedAgain, change: _Change, least: Bound | None) -> str:
    """Return why a change cannot gain, by its bound; an empty text if it may."""
    new = change.asked.bound()
    if new is None or (new.scope and asked.seconds):
        return ""
    if new.value * change.share >= asked.time * (1 - _LITTLE):
        same = least is not None and new.value * change.share >= least.value
        return "gains nothing: the bound stays" if same else "gains nothing: its bound is no less than this time"
    return ""


def changed(asked: AskedAgain, schedule: Any, binds: Binding) -> Iterator[_Change]:
    """Yield the changes that are looked at: of packets, rules, links and latencies."""
    yield from _cut_otherwise(asked, schedule)
    rules = asked.rules
    if rules is not None and rules.ports != "all":
        yield _Change("all-port instead of one-port", asked._replace(rules=replace(rules, ports="all")))
    yield from _faster_links(asked, binds)
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
            yield _Change("another form or cut, planned again", asked)
        elif not cut:
            yield _Change("2 packets a message instead of 1", asked._replace(task=in_packets(task, 2)))
        elif packets <= 256:
            yield _Change(words, asked._replace(task=in_packets(task, packets + 1)))
        else:
            yield _Change(words, asked, reason="hardly a change: packets are small already")
        return
    inner = task.task if isinstance(task, Chunked) else task
    if not rules.split and rules.buffer is None and not isinstance(inner, Grouped | Together) and open_to_choice(
        inner, rules
    ):
        words = f"{quantity(packets + 1, 'packet')} a message instead of {packets}"
        share = Fraction(packets, packets + 1)
        yield _Change(words, asked._replace(task=in_packets(inner, packets + 1)), share)
    if not rules.split and rules.buffer is None and not isinstance(task, Chunked):
        yield _Change("segmented messages", asked._replace(rules=replace(rules, split=True)))


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
            yield _Change(
                "half the latency of all links", asked._replace(cost=replace(cost, latency=cost.latency / 2))
            )
    elif int(network.link_latency.max(initial=0)) > 1:
        slow = network.with_times(network.link_occupancy, network.link_latency // 2)
        yield _Change("half the latency of all links", asked._replace(network=slow))


def _faster_links(asked: AskedAgain, binds: Binding) -> Iterator[_Change]:
    """Yield twice the bandwidth for the links that bind, or all of their kind, and one more cable."""
    network = asked.network
    if asked.switching == "wormhole":
        return
    if not binds.links.size:
        yield _Change("faster links or one more cable", asked, reason="the bound names no links that bind")
        return
    both = _both_ways(network, binds.links)
    if both.size < network.link_count:
        words = f"the {quantity(both.size, 'link')} that bind, and their opposites, twice as fast"
        words = words.replace(", and their opposites,", "") if not network.two_way else words
        yield _Change(words, asked._replace(network=_with_links(network, twice=both)))
    kind = _like(network, both)
    if kind.size > both.size or kind.size == network.link_count:
        every = "all" if kind.size == network.link_count else "all such"
        words = f"{every} {quantity(kind.size, 'link')} twice as fast"
        yield _Change(words, asked._replace(network=_with_links(network, twice=kind)))
    best: tuple[Fraction, _Change] | None = None
    for u, v, like in _cables(network, binds):
        ends = f"{network.node_name(u)} and {network.node_name(v)}"
        change = _Change(
            f"one more cable between {ends}", asked._replace(network=_with_links(network, cable=(u, v, like)))
        )
        bound = change.asked.bound()
        if bound is not None and (best is None or bound.value < best[0]):
            best = bound.value, change
    if best is not None:
        yield best[1]


def _both_ways(network: Network, links: Longs) -> Longs:
    """Return links with their opposites, where they have them."""
    return np.union1d(links, network.reverse_link[links]) if network.two_way else links


def _like(network: Network, links: Longs) -> Longs:
    """Return the links that carry as much as the slowest of some, and take as long."""
    speeds = network.find(Speeds)
    columns = [network.link_capacity, network.link_occupancy, network.link_latency]
    columns = columns if speeds is None else [network.link_capacity, speeds.bandwidth, speeds.latency]
    rate = columns[0] / columns[1] if speeds is None else columns[0] * columns[1]
    one = int(links[np.argmin(rate[links])])
    return np.flatnonzero(np.all([column == column[one] for column in columns], axis=0))


_PAIRS = 8
"""Pairs of nodes between which one more cable is looked at."""


def _cables(network: Network, binds: Binding) -> Iterator[tuple[int, int, int]]:
    """Yield pairs of nodes across what binds, each with a link that the new ones are like."""
    links = binds.links.tolist()
    speeds = network.find(Speeds)
    rate = network.link_capacity * (1 / network.link_occupancy if speeds is None else speeds.bandwidth)
    seen: set[tuple[int, int]] = set()
    for link in sorted(links, key=lambda e: -float(rate[e])):
        kind = float(rate[link]), 0
        if (kind in seen and len(seen) > _PAIRS // 2) or len(seen) >= _PAIRS:
            continue
        pair = int(network.link_source[link]), int(network.link_target[link])
        if pair not in seen and pair[::-1] not in seen:
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


def _with_links(
    network: Network, twice: Longs | None = None, cable: tuple[int, int, int] | None = None
) -> Network:
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
        labels=network.labels, links_only=True,
    )  # fmt: skip


# How usual algorithms compare: rings and trees among ranks, laid over the network and verified.


@dataclass(frozen=True)
class Beside:
    """A usual algorithm on the same network.

    Attributes
    ----------
    name : str
        What is sent to whom.
    usual : str
        Who uses it, and when.
    time : Fraction or None
        In seconds or in the unit of the cost; None where it does not run here.
    packets : int
        Packets a message that take least of those tried.
    skipped : str
        Why it does not run here, or an empty text.
    """

    name: str
    usual: str
    time: Fraction | None
    packets: int = 1
    skipped: str = ""


_MOST_SENT = 200_000
"""Packets that ranks send at the most."""
_CUTS = (1, 8, 64, 512)
"""Packets a message that are tried, in seconds."""


def beside(asked: AskedAgain, budget: float, say: Say) -> tuple[tuple[Beside, ...], str]:
    """Return how rings, trees and exchanges among ranks compare on the network, and a remark if there are none.

    Parameters
    ----------
    asked : AskedAgain
        The question.
    budget : float
        Seconds after which no further one is built.
    say : callable
        Told what is built.
    """
    task = asked.task.task if isinstance(asked.task, Chunked) else asked.task
    if asked.switching == "wormhole":
        return (), "rings and trees of libraries are compared for store-and-forward schedules only"
    if isinstance(task, Grouped | Together):
        return (), "rings and trees of libraries are compared for one collective among all nodes only"
    if asked.rules is not None and (asked.rules.buffer is not None or asked.rules.reduction):
        return (), "rings and trees of libraries are not compared under a limit of buffers or with sums in switches"
    began, found = time.monotonic(), list[Beside]()
    for name, usual, parts in _usual(asked, task):
        say(f"building: {name}")
        if time.monotonic() - began > budget:
            found.append(Beside(name, usual, None, skipped="left out for lack of time"))
            continue
        try:
            found.append(_timed(asked, name, usual, parts))
        except GossamerError as error:
            found.append(Beside(name, usual, None, skipped=str(error).partition("; ")[0]))
    remark = "" if found else f"no usual ring or tree is known for {task.name}"
    return tuple(sorted(found, key=lambda each: (each.time is None, each.time or 0))), remark


_Sent = Callable[[int], Longs | None]
"""From a number of ranks to who sends in which round what of each root."""
_Half = tuple[Task, list[_Sent] | str]
"""A collective, and the patterns that its packets take in turns, or an algorithm by name."""


def _usual(asked: AskedAgain, task: Task) -> Iterator[tuple[str, str, list[_Half]]]:
    """Yield usual algorithms: a name, who uses them, and the halves that follow one another."""
    n = asked.network.terminal_count
    size = asked.cost.bytes if isinstance(asked.cost, TimeCost) else 0
    power, gather, trees = n & (n - 1) == 0, MultinodeBroadcast(), [_binary_tree, _mirrored_tree]

    def here(yes: bool) -> str:
        return ", as here" if yes and size else ""

    match task:  # sizes as in MPICH: Thakur, Rabenseifner and Gropp 2005
        case MultinodeBroadcast() | ReduceScatter():
            small = size * n < 512 * 1024 if power else size * n < 80 * 1024
            yield "ring", f"NCCL; MPI for long messages{here(not small)}", [(task, [ring_tree])]
            yield "recursive doubling", f"MPI for short messages{here(small and power)}", [(task, [doubling_tree])]
            words = f"MPI for short messages of other numbers of ranks{here(small and not power)}"
            yield "Bruck", words, [(task, [bruck_tree])]
            yield "binomial trees (PAT)", "NCCL, one rank a server", [(task, [parallel_aggregated_tree])]
        case Allreduce():
            yield "ring", "NCCL for long messages", [(ReduceScatter(), [ring_tree]), (gather, [ring_tree])]
            words, far = f"MPI for long messages (Rabenseifner){here(size > 2048)}", [_halving_tree]
            yield "halving and doubling", words, [(ReduceScatter(), far), (gather, far)]
            words = "NCCL for short messages; a tree a rank, down after up"
            yield "double binary trees", words, [(ReduceScatter(), trees), (gather, trees)]
            one: list[_Sent] = [parallel_aggregated_tree]
            yield "binomial tree", "reduce, then broadcast", [(Reduce(), one), (Broadcast(), one)]
        case Broadcast() | Reduce():
            yield "ring", "NCCL", [(task, [_one_way_ring])]
            words = f"MPI for short messages{here(size < 12 * 1024)}"
            yield "binomial tree", words, [(task, [parallel_aggregated_tree])]
            words, both = f"MPI for long messages{here(size >= 12 * 1024)}", [ring_tree]
            if isinstance(task, Broadcast):
                halves: list[_Half] = [(Scatter(task.root), "halving-scatter"), (gather, both)]
                yield "scatter and ring", words, halves
            else:
                halves = [(ReduceScatter(), both), (Gather(task.root), "reversed-halving-scatter")]
                yield "ring and gather", words, halves
        case Scatter():
            yield "binomial tree", "MPI", [(task, "halving-scatter")]
        case Gather():
            yield "binomial tree", "MPI", [(task, "reversed-halving-scatter")]
        case TotalExchange():
            yield "pairwise exchange", "NCCL; MPI for long messages", [(task, "pairwise-exchange")]
            yield "Bruck", "MPI for short messages", [(task, "bruck-exchange")]


def _one_way_ring(count: int) -> Longs:
    """Return one way round a ring.

    >>> _one_way_ring(3)[1].tolist()
    [[0, 1, 2], [1, 2, 0]]
    """
    root, k = np.arange(count)[:, None], np.arange(count - 1)[None, :]
    return np.stack([np.broadcast_to(k, (count, count - 1)), (root + k) % count, (root + k + 1) % count], axis=2)


def _binary_tree(count: int, mirrored: bool = False) -> Longs:
    """Return a binary tree in the order of ranks for each root; mirrored, nodes inside are leaves of the other.

    >>> _binary_tree(4)[0].tolist()
    [[0, 0, 2], [1, 2, 1], [1, 2, 3]]
    """
    rows: list[tuple[int, int, int]] = []

    def grow(parent: int, low: int, high: int, depth: int) -> None:
        if low < high:
            middle = (low + high) // 2
            rows.append((depth, parent, middle))
            grow(middle, low, middle, depth + 1)
            grow(middle, middle + 1, high, depth + 1)

    grow(0, 1, count, 0)
    tree = np.array(sorted(rows), np.int64).reshape(-1, 3)
    if mirrored:
        tree[:, 1:] = -tree[:, 1:] % count
    found = np.repeat(tree[None], count, axis=0)
    found[:, :, 1:] = (found[:, :, 1:] + np.arange(count)[:, None, None]) % count
    return found


def _halving_tree(count: int) -> Longs | None:
    """Return the furthest partners of recursive doubling first, so that most data is sent near; as Rabenseifner does.

    >>> _halving_tree(4)[1].tolist()
    [[0, 1, 3], [1, 1, 0], [1, 3, 2]]
    """
    if count & (count - 1):
        return None
    far = [1 << k for k in range((count - 1).bit_length())][::-1]
    rows = [(k, p, p + d) for k, d in enumerate(far) for p in range(0, count, 2 * d)]
    found = np.repeat(np.array(rows, np.int64).reshape(1, -1, 3), count, axis=0)
    found[:, :, 1:] ^= np.arange(count)[:, None, None]
    return found


def _mirrored_tree(count: int) -> Longs:
    """Return the other tree of a pair."""
    return _binary_tree(count, mirrored=True)


def _timed(asked: AskedAgain, name: str, usual: str, halves: list[_Half]) -> Beside:
    """Return what an algorithm takes with as many packets a message as take least of some."""
    given = packets_of(asked.task)
    best: tuple[Fraction, int] | None = None
    for cut in _CUTS if asked.seconds else (given,):
        total = Fraction(0)
        try:
            for task, patterns in halves:
                each = _half(asked, in_packets(task, cut), patterns)
                if each is None:
                    return Beside(name, usual, None, skipped="needs a number of ranks that is a power of two")
                total += each
        except TaskError:
            if best is None:
                raise
            break
        if best is not None and total >= best[0] * (1 - _LITTLE):
            best = min(best, (total, cut))
            break
        best = total, cut
    assert best is not None
    return Beside(name, usual, *best)


def _half(asked: AskedAgain, task: Task, patterns: list[_Sent] | str) -> Fraction | None:
    """Return what a collective by patterns, or by an algorithm of that name, takes, verified; None if there is none."""
    cost, inner = asked.cost, task.task if isinstance(task, Chunked) else task
    blocks = isinstance(asked.task, Allreduce | Broadcast | Reduce) and not isinstance(inner, Broadcast | Reduce)
    if isinstance(cost, TimeCost) and blocks:  # a block of the buffer for each rank
        cost = replace(cost, bytes=-(-cost.bytes // asked.network.terminal_count))
    if isinstance(patterns, str):
        cost = replace(cost, whole=True) if isinstance(cost, TimeCost) else cost
        found = plan(asked.network, task, rules=asked.rules, cost=cost, algorithm=patterns)
        return found.completion_time if found.seconds is None else found.seconds
    network = asked.network
    clock: StepCost = StepCost(getattr(cost, "control_time", 0))
    if isinstance(cost, TimeCost):
        network, clock = cost.on(network, task)
    case = Case(network, task, replace(asked.rules or Rules(), split=False).on(network), clock)
    backwards = isinstance(inner, Reduce | ReduceScatter)
    forward = case.dual if backwards else case
    sent = _sends(forward, patterns)
    if sent is None:
        return None
    schedule = exchanged_in_rounds(forward, sent)
    schedule = schedule.reverse() if backwards else schedule
    verify(schedule).raise_if_invalid()
    taken = schedule.completion_time
    return clock.seconds(taken) if isinstance(clock, Clock) else taken


def _sends(case: Case, patterns: list[_Sent]) -> SentPackets | None:
    """Return what ranks send: packets take patterns and orders of the ranks in turns."""
    network, task = case.network, case.task
    n, packets = network.terminal_count, packets_of(task)
    inner = task.task if isinstance(task, Chunked) else task
    roots = np.array([inner.root]) if isinstance(inner, Broadcast) else np.arange(n)
    if roots.size * (n - 1) * packets > _MOST_SENT:
        raise TaskError(f"ranks send over {_MOST_SENT:,} packets")
    trees = [pattern(n) for pattern in patterns]
    orders = _orders(network, rings=patterns[0] in (ring_tree, _one_way_ring))
    columns = []
    for k, tree in enumerate(trees):
        if tree is None:
            return None
        for turn, order in enumerate(orders):
            place = np.empty(n, np.int64)
            place[order] = np.arange(n)
            for p in range(packets):
                mine = np.flatnonzero((roots + p) % (len(trees) * len(orders)) == k * len(orders) + turn)
                if mine.size:
                    rows = tree[place[roots[mine]]]
                    columns.append((rows[..., 0], order[rows[..., 1]], order[rows[..., 2]],
                                    np.repeat(mine * packets + p, n - 1).reshape(mine.size, -1)))  # fmt: skip
    step, source, target, packet = (
        np.concatenate([np.reshape(part, -1) for part in c]).astype(np.int64) for c in zip(*columns, strict=True)
    )
    by_step = np.argsort(step, kind="stable")
    return SentPackets(step[by_step], source[by_step], target[by_step], packet[by_step])


def _orders(network: Network, rings: bool) -> list[Longs]:
    """Return orders of the ranks: cycles of a grid, or server by server from each accelerator on, as NCCL's channels.

    >>> import gossamer
    >>> [order.tolist() for order in _orders(gossamer.network("torus:2x3"), True)]
    [[0, 1, 2, 5, 4, 3]]
    """
    n, every = network.terminal_count, np.arange(network.terminal_count)
    grid = network.grid
    if grid is not None and n == network.node_count:
        return [cycle.astype(np.int64) for cycle in disjoint_hamiltonian_cycles(grid)] if rings else [every]
    size = _server_size(network)
    if size in (1, n):
        return [every]
    found = []
    for turn in range(size):
        lines = every.reshape(-1, size)[:, (turn + np.arange(size)) % size].copy()
        if rings:  # what leaves a server at an accelerator enters the next one at the same
            lines[1::2] = lines[1::2, ::-1]
        found.append(lines.reshape(-1))
    return found


def _server_size(network: Network) -> int:
    """Return how many ranks, numbered one after the other, the fastest links join; 1 where that is no even number."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    speeds, nodes = network.find(Speeds), network.node_count
    rate = network.link_capacity / network.link_occupancy if speeds is None else speeds.bandwidth
    if not rate.size or float(rate.min()) == float(rate.max()):
        return 1
    fast = np.flatnonzero(rate >= float(rate.max()) * (1 - 1e-9))
    graph = coo_array((np.ones(fast.size), (network.link_source[fast], network.link_target[fast])), (nodes, nodes))
    of = connected_components(graph.tocsr(), directed=False)[1][: network.terminal_count]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    sizes = np.diff(np.append(first, of.size))
    same = np.unique(of).size == first.size and bool((sizes == sizes[0]).all())
    return int(sizes[0]) if same else 1
