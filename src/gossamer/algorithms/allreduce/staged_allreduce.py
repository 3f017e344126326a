"""Allreduce by exchanges in stages, laid over a network: ways for what is sent, then list scheduling.

The ranks are the terminals, or those of each group, in a grid of the network's own sides where it has some. Sums that
pass other nodes on their way are added to nothing there. When hops begin is found by list scheduling, in which a node
sends a chunk after all that earlier stages bring it and before what later ones bring.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.allreduce.exchange_stages import (
    PATTERNS,
    ExchangePlan,
    Groups,
    Transfers,
    along_trees,
    binomial_tree,
    direct,
    double_binary_trees,
    doubling,
    exchange_plans,
    rank_sides,
    swing,
    through_blocks,
    transfers,
    trivance,
)
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import server_chains
from gossamer.atomic_files import quantity
from gossamer.errors import ScheduleError
from gossamer.graphs.path_and_hop_tables import index_ranges
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, StartTimes, scheduled
from gossamer.graphs.round_routing import Ways, shared_ways
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import ALLCOMBINE, Chunked, Grouped, PartialSumAllreduce, includes
from gossamer.schedules import Phase, Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import verify

_MOST_RANKS = 1024
_MOST_TRANSFERS = 400_000
"""Sums that a plan sends at the most; larger plans are not looked at."""
_PIECES, _MOST_CHUNKS = (1, 2, 4, 8, 16), 256
"""Into how many pieces each chunk may be cut that go through the steps one by one, and how many there are at most."""
_MOST_SUMS = 2_000_000
"""The same of sums that meet in blocks."""
_TRIED = 3
"""Plans of a pattern that are built; the best without halvings, and with as many as there are, if asked for."""

Longs = npt.NDArray[np.int64]


def _ways(network: Network, sent: Transfers, ranks: Longs, share: float) -> Ways:
    """Return ways of transfers among ranks, which are nodes, of packets that are a share of those that links count."""
    return shared_ways(network, sent.step, ranks[sent.source], ranks[sent.target], share)


class _Profile(NamedTuple):
    """What a plan asks of a network, in slots, where the whole buffer counts as one packet.

    `latency`: of all steps. `transfer`: of all steps, the longest that a sum takes on its way or a link for all that it
    carries in the step. `widest`: the longest of a step. `busiest`: that a link carries in all steps.
    """

    latency: float
    transfer: float
    widest: float
    busiest: float

    def slots(self, pieces: int) -> float:
        """Return about how long it takes in so many pieces of each chunk, which go through the steps one by one."""
        pipelined = self.latency + (self.transfer + (pieces - 1) * self.widest) / pieces
        return max(pipelined, self.busiest)


def _profile(network: Network, plan: ExchangePlan, ranks: Longs, share: float) -> _Profile | None:
    """Return what a plan among ranks asks; links count packets of which the whole buffer has 1 / `share`.

    O(transfers times hops).
    """
    sent = _sent(plan)
    if sent is None:
        return None
    ways = _ways(network, sent, ranks, share / sent.chunks)
    each = np.repeat(np.arange(sent.step.size), np.diff(ways.begin))
    taken = share / sent.chunks * network.link_occupancy / network.link_capacity
    steps = int(sent.step.max(initial=-1)) + 1
    latency, transfer = np.zeros((2, steps))
    np.maximum.at(latency, sent.step, np.bincount(each, network.link_latency[ways.path], sent.step.size))
    np.maximum.at(transfer, sent.step, np.bincount(each, taken[ways.path], sent.step.size))
    used, times = np.unique(sent.step[each] * network.link_count + ways.path, return_counts=True)
    full = times * taken[used % network.link_count]
    np.maximum.at(transfer, used // network.link_count, full)
    busiest = np.bincount(used % network.link_count, full).max(initial=0)
    return _Profile(float(latency.sum()), float(transfer.sum()), float(transfer.max(initial=0)), float(busiest))


@lru_cache(64)
def _sent(plan: ExchangePlan) -> Transfers | None:
    return transfers(plan)


def _sides(network: Network, count: int) -> Iterator[tuple[int, ...]]:
    """Yield grids of ranks: that of the network, a line, and blocks of neighbors where those are nearer."""
    own = rank_sides(network, count)
    yield own
    if len(own) > 1:
        return
    for block in range(2, count // 2 + 1):
        if count % block == 0 and (block & (block - 1) == 0 or block * block <= count):
            yield (count // block, block)


def _plans(network: Network, count: int, pattern: str) -> list[ExchangePlan]:
    """Return the plans of a pattern among so many ranks that are small enough."""
    found = [plan for sides in _sides(network, count) for plan in exchange_plans(pattern, sides)]
    return [plan for plan in found if _about_sent(plan, count) <= _MOST_TRANSFERS]


def _about_sent(plan: ExchangePlan, count: int) -> int:
    """Return about how many sums a plan sends, from above."""
    stages = count.bit_length()
    chunks = plan.turns * (min(count, 2 ** (2 * plan.halvings)) if plan.halvings else 1)
    widest = max(plan.sides) if plan.pattern == "direct" else 2
    return chunks * count * (widest if not plan.halvings else 2) * (stages if not plan.halvings else 1)


def likely_chunks(network: Network, groups: Sequence[Sequence[int]], most: int = 3) -> list[int]:
    """Return into how many chunks an allreduce is cut by the plans that promise the least time, the best first.

    `network`: with the times of its links for packets of the whole buffer. `groups`: the ranks of each. Of groups of
    one size the first stands for all. `most`: how many numbers to return at the most.

    O(transfers times hops) for each plan. What is promised is no bound in either direction: sums wait for each other.

    >>> import gossamer
    >>> likely_chunks(gossamer.network("hypercube:4").with_times(64, 100), [range(16)], 1)
    [64]
    """
    of_size = {len(row): np.array(row, np.int64) for row in reversed(groups)}
    if not 2 <= min(of_size) <= max(of_size) <= _MOST_RANKS:
        return []
    each = [_promised(network, ranks) for ranks in of_size.values()]
    times = {k: max(promised[k] for promised in each) for k in each[0] if all(k in promised for promised in each)}
    return sorted(times, key=lambda chunks: (round(times[chunks] / min(times.values()), 2), chunks))[:most]


def _promised(network: Network, ranks: Longs) -> dict[int, float]:
    """Return about how many slots the best plan among ranks takes, by the number of chunks."""
    times: dict[int, float] = {}
    for pattern in PATTERNS:
        for plan in _plans(network, ranks.size, pattern):
            profile, sent = _profile(network, plan, ranks, 1.0), _sent(plan)
            if profile is None or sent is None:
                continue
            for pieces in _PIECES:
                chunks = sent.chunks * pieces
                if pieces == 1 or (chunks <= _MOST_CHUNKS and sent.step.size * pieces <= _MOST_TRANSFERS):
                    times[chunks] = min(times.get(chunks, np.inf), profile.slots(pieces))
    return times


# When hops begin.


class _Sums(NamedTuple):
    """Sums that are sent, by step, and their hops, those of a sum one after the other.

    `step`, `source`, `target`, `packet`, int64[T]: source and target are nodes. `link`, int32[H]. `first`, int64[T +
    1]: the hops of sum i are ``link[first[i]:first[i + 1]]``.
    """

    step: Longs
    source: Longs
    target: Longs
    packet: Longs
    link: IntArray
    first: Longs

    def some(self, rows: Longs) -> tuple[_Sums, Longs]:
        """Return some of them, and which hops theirs are."""
        length = np.diff(self.first)[rows]
        _, hops = index_ranges(self.first[rows], self.first[rows] + length)
        step, source, target, packet = (column[rows] for column in self[:4])
        return _Sums(step, source, target, packet, self.link[hops], np.append(0, np.cumsum(length))), hops

    @property
    def steps(self) -> int:
        """More than the largest step."""
        return int(self.step.max(initial=0)) + 2

    @property
    def keys(self) -> tuple[Longs, Longs]:
        """Where and when each arrives and leaves: numbers that ascend by packet, node and step, int64[T] each."""
        nodes = int(max(self.source.max(initial=0), self.target.max(initial=0))) + 1
        came, left = ((self.packet * nodes + node) * self.steps + self.step for node in (self.target, self.source))
        return came, left

    @property
    def inner(self) -> Longs:
        """The hops that carry on what the hop before them brought."""
        follows = np.ones(self.link.size + 1, np.bool_)
        follows[self.first] = False
        return np.flatnonzero(follows[:-1])


def _graph(sums: _Sums, strict: int) -> HopGraph:
    """Return what waits for what: a send for what came in earlier stages.

    Where it is `strict`, 1 or more, what comes in later stages waits for the sends of a stage, and with 2 for all that
    comes in earlier ones, so that a node holds what it is to send before anything else comes.
    """
    begins, ends = sums.first[:-1], sums.first[1:] - 1
    came, left = sums.keys
    by_arrival = np.argsort(came, kind="stable")
    arrived = came[by_arrival]
    i, j = index_ranges(np.searchsorted(arrived, left // sums.steps * sums.steps), np.searchsorted(arrived, left))
    edges = [(sums.inner - 1, sums.inner), (ends[by_arrival[j]], begins[i])]
    if strict:  # what comes later, up to the step of the next send
        times = np.unique(left)  # of a packet and a node, by step
        at, same = np.searchsorted(times, left), times // sums.steps
        follows = np.append(False, same[1:] == same[:-1])
        after = np.where(np.append(follows[1:], False), np.append(times[1:], -1), (same + 1) * sums.steps - 1)
        i, j = index_ranges(np.searchsorted(arrived, left, "right"), np.searchsorted(arrived, after[at], "right"))
        edges.append((begins[i], ends[by_arrival[j]]))
    if strict > 1:
        i, j = index_ranges(np.searchsorted(arrived, came // sums.steps * sums.steps), np.searchsorted(arrived, came))
        edges.append((ends[by_arrival[j]], ends[i]))
    a, b = (np.concatenate(column) for column in zip(*edges, strict=True))
    first = np.zeros(sums.link.size + 1, np.int64)
    np.cumsum(np.bincount(a, minlength=sums.link.size), out=first[1:])
    packet = np.repeat(sums.packet, np.diff(sums.first)).astype(np.int32)
    return HopGraph(sums.link, packet, first, b[np.argsort(a, kind="stable")].astype(np.int32))


def _as_of(case: Case, sums: _Sums, starts: StartTimes, parts: int) -> Longs:
    """Return the slot whose sum each send carries where something of its stage or a later one came before, or -1."""
    came, left = sums.keys
    end = hop_ends(case.network, parts, starts.start, sums.link)[sums.first[1:] - 1]
    begin = starts.start[sums.first[:-1]]
    by_arrival = np.argsort(came, kind="stable")
    arrived, node = came[by_arrival], left // sums.steps
    low, middle = np.searchsorted(arrived, node * sums.steps), np.searchsorted(arrived, left)
    found = np.full(left.size, -1, np.int64)
    i, j = index_ranges(middle, np.searchsorted(arrived, (node + 1) * sums.steps))
    found[i[end[by_arrival[j]] <= begin[i]]] = 0
    i, j = index_ranges(low, middle)
    late = found[i] >= 0
    np.maximum.at(found, i[late], end[by_arrival[j[late]]])
    return found


def _as_schedule(case: Case, sums: _Sums, starts: StartTimes, parts: int, as_of: Longs | None) -> Schedule:
    """Return the schedule of hops with their starts; sums that pass a node are not added there."""
    order = np.argsort(starts.start, kind="stable")
    row = np.empty(order.size, np.int64)
    row[order] = np.arange(order.size)
    repeats = np.full(order.size, -1, np.int64)
    repeats[sums.inner] = row[sums.inner - 1]
    if as_of is not None:
        repeats[sums.first[:-1]] = np.where(as_of < 0, -1, -2 - as_of)
    phases = [Phase(case.task.name, starts.slots, Fraction(1, parts))]
    packet = np.repeat(sums.packet, np.diff(sums.first))
    return Schedule.of(
        case, starts.start[order].astype(np.int32), sums.link[order], packet[order].astype(np.int32),
        repeats=None if bool((repeats == -1).all()) else repeats[order], phases=phases, parts=parts,
    )  # fmt: skip


def _groups(case: Case) -> list[Longs]:
    """Return the ranks of each message."""
    messages, terminals = case.messages, case.network.terminal_count
    return [messages.targets_of(row, terminals).astype(np.int64) for row in range(messages.count)]


def staged_allreduce(case: Case, plans: Sequence[ExchangePlan], parts: int = 1) -> Schedule:
    """Build an allreduce by exchanges in stages.

    Who exchanges with whom in which stage is laid over the network. Sums take paths that share the links evenly, and a
    sum leaves as soon as all that earlier stages bring it is there.

    Parameters
    ----------
    case : Case
        A `PartialSumAllreduce`, of whole messages or in chunks, among all or in groups; any links, ports and switches.
    plans : sequence of ExchangePlan
        One for each message, of as many ranks as contribute to it and a number of chunks that divides its packets.
    parts : int
        Into how many parts messages are cut.

    Raises
    ------
    NetworkError
        If some rank cannot be reached from another.

    Notes
    -----
    O(hops log hops). If list scheduling lets a sum leave so late that something would count twice, what comes in later
    stages waits for it, and if need be it is sent as it stood before that came.

    References
    ----------
    Thakur, Rabenseifner and Gropp 2005; Sensi, Bonato, Saam and Hoefler 2024.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:3"), PartialSumAllreduce())
    >>> staged_allreduce(case, [ExchangePlan("doubling", (2, 2, 2), 0, 1)]).completion_time
    Fraction(3, 1)
    """
    sent = [transfers for transfers in map(_sent, plans) if transfers is not None]
    return summed_in_steps(case, sent, parts)


def summed_in_steps(case: Case, what: Sequence[Transfers], parts: int = 1) -> Schedule:
    """Build the schedule of sums that ranks send step by step, laid over a network.

    Parameters
    ----------
    case : Case
        As for `staged_allreduce`.
    what : sequence of Transfers
        What the ranks of each message send; the chunks divide its packets.
    parts : int
        Into how many parts messages are cut.

    Raises
    ------
    NetworkError
        If some rank cannot be reached from another.
    """
    columns: list[tuple[Longs, ...]] = []
    links: list[IntArray] = []
    first_packet = case.messages.first_packet() * parts
    # Step 1: list the sums that are sent, stage by stage, with paths over the network
    for row, (sent, ranks) in enumerate(zip(what, _groups(case), strict=True)):
        packets = int(first_packet[row + 1] - first_packet[row])
        times = packets // sent.chunks
        if times * sent.chunks != packets:
            raise ScheduleError(f"{packets} packets are not a multiple of the {sent.chunks} chunks of the plan")
        ways = _ways(case.network, sent, ranks, 1 / parts)
        length = np.diff(ways.begin)
        for copy in range(times):
            packet = first_packet[row] + sent.chunk * times + copy
            columns.append((sent.step, ranks[sent.source], ranks[sent.target], packet, length))
            links.append(ways.path)
    step, source, target, packet, length = (np.concatenate(c) for c in zip(*columns, strict=True))
    together = _Sums(step, source, target, packet, np.concatenate(links), np.append(0, np.cumsum(length)))
    sums, _ = together.some(np.argsort(step, kind="stable"))
    roads = LinkResources.of(case.network, case.rules, parts)
    # Step 2: a sum leaves as soon as all of earlier stages is added to it, and before later ones come
    for strict in (0, 1):
        starts = scheduled(_graph(sums, strict), roads, seed=case.seed)
        found = _as_schedule(case, sums, starts, parts, None)
        if verify(found, 1):
            return found
    # Step 3: if something would count twice, later ones wait, or the sum is sent as it stood before
    starts = scheduled(_graph(sums, 2), roads, seed=case.seed)
    return _as_schedule(case, sums, starts, parts, _as_of(case, sums, starts, parts))


def _propose(stages: Callable[[int], list[Groups] | None], case: Case) -> list[Offer[Schedule]] | Refusal:
    """Offer the plans of a pattern, named as the function of its stages, that promise the least time."""
    pattern = stages.__name__
    task = case.task
    if not includes(task, PartialSumAllreduce) or bool((case.messages.discipline != ALLCOMBINE).any()):
        return Refusal("is for allreduces by partial sums")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    groups = _groups(case)
    if max(map(len, groups), default=0) > _MOST_RANKS:
        return Refusal(f"is for at most {_MOST_RANKS:,} ranks")
    if max(map(len, groups), default=0) < 2:
        return [Offer(lambda: Schedule.of(case, [], [], []), Fraction(0))]
    if min(map(len, groups)) < 2:
        return Refusal("needs two ranks or more in each group")
    sizes = np.diff(case.messages.first_packet())
    best: list[list[tuple[float, ExchangePlan, int]]] = []
    for ranks, packets in zip(groups, sizes.tolist(), strict=True):
        own = []
        for plan in _plans(case.network, len(ranks), pattern):
            sent = _sent(plan)
            if sent is not None and (packets % sent.chunks == 0 or not case.whole):
                profile = _profile(case.network, plan, ranks, packets)
                assert profile is not None
                own.append((profile.slots(max(packets // sent.chunks, 1)), plan, sent.chunks))
        own.sort(key=lambda entry: entry[0])
        ends = [next((e for e in own[_TRIED:] if e[1].halvings == h), None)
                for h in {0, max((e[1].halvings for e in own), default=0)}
                if all(e[1].halvings != h for e in own[:_TRIED])]  # fmt: skip
        best.append([*own[:_TRIED], *(e for e in ends if e is not None)])
    if not all(best):
        short, few = next((len(row), int(k)) for row, k, own in zip(groups, sizes, best, strict=True) if not own)
        return Refusal(f"has no stages among {short} ranks for messages of {quantity(few, 'packet')}")
    if not case.whole and len(best) > 1:
        return Refusal("segments messages only among one group of ranks")
    offers = []
    for k in range(max(map(len, best))):
        chosen = [entry[min(k, len(entry) - 1)] for entry in best]
        parts = 1 if case.whole or sizes[0] % chosen[0][2] == 0 else chosen[0][2]
        plans = [entry[1] for entry in chosen]
        least = _least(case, plans, parts)

        def build(plans: list[ExchangePlan] = plans, parts: int = parts) -> Schedule:
            return staged_allreduce(case, plans, parts)

        how = plans[0].options
        offers.append(
            Offer(build, None, effort="search", least=least, options=how, on_request=k >= _TRIED, hop_bytes=200,
                  hop_seconds=2e-6)
        )  # fmt: skip
    return offers


def _least(case: Case, plans: Sequence[ExchangePlan], parts: int) -> Fraction:
    """Return how long the link that carries most takes for the sums of all messages, whenever they are sent."""
    network = case.network
    load = np.zeros(network.link_count, np.int64)
    for plan, ranks, packets in zip(plans, _groups(case), np.diff(case.messages.first_packet()).tolist(), strict=True):
        sent = _sent(plan)
        assert sent is not None
        ways = _ways(network, sent, ranks, 1 / parts)
        load += np.bincount(ways.path, minlength=load.size) * (packets * parts // sent.chunks)
    rounds = -(-load // network.link_capacity) * network.link_occupancy
    slots = np.where(load > 0, rounds + parts * network.link_latency.astype(np.int64), 0)
    return Fraction(int(slots.max(initial=0)), parts)


def _algorithm(name: str, stages: Callable[[int], list[Groups] | None], source: str, summary: str) -> Algorithm:
    return Algorithm(
        name=name,
        tasks=(PartialSumAllreduce, Chunked, Grouped),
        propose=partial(_propose, stages),
        networks="any strongly connected",
        source=source,
        summary=summary,
        passes_on=True,
        timed=True,
    )


def _propose_trees(trees: Callable[[int, Sequence[Longs]], list[Longs]], case: Case) -> Offer[Schedule] | Refusal:
    """Offer sums along trees of ranks, which communication libraries use whatever the network."""
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    count = case.network.terminal_count
    if not isinstance(task, PartialSumAllreduce):
        return Refusal("is for allreduces by partial sums among all nodes")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not case.whole:
        return Refusal("sends unsegmented messages")
    packets = int(case.messages.first_packet()[-1])
    if not 2 <= count <= _MOST_RANKS or 2 * count * packets > _MOST_TRANSFERS:
        return Refusal(f"is for 2 to {_MOST_RANKS:,} ranks that send at most {_MOST_TRANSFERS:,} packets")

    def build() -> Schedule:
        return summed_in_steps(case, [along_trees(trees(count, server_chains(case.network)), packets)])

    return Offer(build, effort="search", on_request=True, hop_bytes=200, hop_seconds=2e-6)


def exchange_in_blocks(case: Case, parts: int = 1) -> Schedule:
    """Build an allreduce on a torus in which sums meet in a block of neighbors, from where results go out.

    A sum that goes to one root and back crosses the torus twice. Here the root is a block of two nodes along each even
    dimension. Nobody is as far from it as from a single node, and its nodes exchange what each has from its side; then
    results go back the way that sums came. On the torus of 8 x 8 that is a chain of 14 hops in place of 16, and each
    chunk is sent 128 times, twice more than along a tree. Every node is the first of the block of some chunks.

    Parameters
    ----------
    case : Case
        A `PartialSumAllreduce` in chunks, as many for each node, on a torus with an even side of 4 or more, among all.
    parts : int
        Into how many parts messages are cut.

    Notes
    -----
    Chains of sum(n - 1) hops, over the sides n if all are even. O(hops log hops) time.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-sum-allreduce", packets=32)
    >>> slow = gossamer.network("torus:4x4").with_times(1, 50)  # 6 hops
    >>> exchange_in_blocks(Case(slow, task)).completion_time
    Fraction(308, 1)
    """
    nodes = case.network.node_count
    turns = case.messages.packet_count * parts // nodes
    return summed_in_steps(case, [through_blocks(rank_sides(case.network, nodes), turns)], parts)


def _propose_blocks(case: Case) -> Offer[Schedule] | Refusal:
    network, n = case.network, case.network.node_count
    grid = network.grid
    if not includes(case.task, PartialSumAllreduce) or bool((case.messages.discipline != ALLCOMBINE).any()):
        return Refusal("is for allreduces by partial sums")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if grid is None or not all(grid.wraps) or not any(side > 2 and side % 2 == 0 for side in grid.sides):
        return Refusal("needs a torus with an even side of 4 or more")
    if case.messages.count != 1 or _groups(case)[0].size < n:
        return Refusal("is for one group of all nodes")
    packets = case.messages.packet_count
    parts = n // math.gcd(packets, n)
    if parts > 1 and case.whole:
        return Refusal(f"cuts messages in {n} packets, or a multiple of these")
    if 2 * n * packets * parts > _MOST_SUMS:
        return Refusal(f"is for at most {_MOST_SUMS:,} sums that are sent")
    fastest = Fraction(int(network.link_occupancy.min(initial=1)), int(network.link_capacity.max(initial=1)))
    least = 2 * (n - 1) * packets * fastest / network.link_count
    return Offer(
        partial(exchange_in_blocks, case, parts), effort="search", least=least, hop_bytes=200, hop_seconds=2e-6
    )


EXCHANGE_IN_BLOCKS = Algorithm(
    name="exchange-in-blocks",
    tasks=(PartialSumAllreduce, Chunked),
    propose=_propose_blocks,
    networks="tori with an even side of 4 or more",
    source="gossamer",
    summary="sums meet in blocks of two nodes along each even dimension, and results go back the way that sums came",
    passes_on=True,
    timed=True,
)
"""Chains of fewer hops than to one root and back, for hardly more sums that are sent."""

TREE_ALLREDUCES = tuple(
    Algorithm(
        name=name,
        tasks=(PartialSumAllreduce, Chunked),
        propose=partial(_propose_trees, trees),
        networks="any strongly connected; by name",
        source=source,
        summary=summary,
        passes_on=True,
        timed=True,
    )
    for name, trees, source, summary in (
        ("double-binary-trees", double_binary_trees, "Sanders, Speck and Traeff 2009",
         "sums go up and results down two binary trees in turns"),
        ("binomial-tree-allreduce", binomial_tree, "Thakur, Rabenseifner and Gropp 2005, section 4",
         "a reduction to rank 0 and a broadcast from it, along a binomial tree"),
    )
)  # fmt: skip
"""Allreduces of communication libraries along trees of ranks, which are built where they are named."""

STAGED_ALLREDUCES = (
    _algorithm(
        "recursive-doubling", doubling, "Thakur, Rabenseifner and Gropp 2005, section 4",
        "sums are exchanged at doubling distances, the first stages halved where that pays",
    ),
    _algorithm(
        "swing-allreduce", swing, "Sensi, Bonato, Saam and Hoefler 2024",
        "sums are exchanged at distances 1, 1, 3, 5, 11 in turning directions",
    ),
    _algorithm(
        "direct-exchange", direct, "Chan, Heimlich, Purkayastha and van de Geijn 2007, section 4",
        "every rank of a line sends to all others of it at once",
    ),
    _algorithm(
        "trivance", trivance, "Juerss, Addanki and Schmid 2026",
        "every rank sends to both that are 1, 3, 9, 27 away, and adds up what both send",
    ),
)  # fmt: skip
"""Allreduces by exchanges in stages: one for each pattern."""
