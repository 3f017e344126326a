"""Allreduce along trees whose roots are free: any node that can add up and copy, idle ones too.

Each chunk is summed along a tree that leads to its root and goes out along another that leads away from it; chunks go
at the same time. Which trees, and what share of the buffer goes along each, is a linear program: its variables are
pairs of trees, found at the prices of links that the program itself says (column generation).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.dependent_collectives import grown_halves, halves_of, joined
from gossamer.algorithms.any_network.priced_routing import branching
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, StartTimes, scheduled
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth
from gossamer.networks.network import IntArray, Network
from gossamer.questions import tasks
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks.task import Ids
from gossamer.schedules import Phase, Schedule

__all__ = ["FREE_ROOT_TREES", "free_root_trees", "sums_along", "tree_chunks"]

_WORK = 2_000_000
"""Links looked at in a round of the program at the most."""
_ROUNDS, _CLOSE, _KEPT = 60, 2e-3, 4
"""Rounds at the most, how near to the least time the program ends, and pairs of trees a group that a round adds."""
_SOLVED = 1_500_000
"""Entries of the matrices of all rounds at the most."""
_ALIKE = 1e-3
"""Share of what a buffer is worth up to which costs of trees are alike."""
_DEPTH_COST = 0.02
"""What a slot on the way costs, in prices of a slot of an average link."""
_DEPTH_COSTS = 0.1, 0.02, 2.0
"""The same, in slots of a most loaded link, where trees of chunks are grown; the last one if there are few hops."""
_FEW_HOPS = 40_000
"""Hops of all chunks up to which roots in the middle are tried, too."""
_EVEN, _NEAR = 1.02, 1.01
"""Times the least load, and the least time, that are near enough for fewer chunks."""
_FEW, _MOST_CHUNKS, _MOST_HOPS = 32, 1024, 50_000
"""Up to how many chunks every number is looked at, and chunks, and hops of all chunks, at the most."""

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _RootedSums(tasks.Task):
    """Sums, one a packet, each reduced to a node and sent out from it: ranks of the groups, group and root of each."""

    groups: Groups
    group: tuple[int, ...]
    root: tuple[int, ...]

    name = "rooted-sums"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> tasks.Messages:
        """Return the reductions, then the broadcasts of their results."""
        count = len(self.root)
        rows = [np.array(self.groups[g], np.int32) for g in self.group] * 2
        return tasks.Messages(
            np.arange(2 * count, dtype=np.int64),
            np.array(self.root * 2, np.int32),
            np.repeat(np.array([tasks.COMBINE, tasks.COPY]), count),
            np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64),
            np.concatenate(rows),
            np.append(np.full(count, -1), np.arange(count)).astype(np.int64),
        )

    def renamed_ids(self, network: Network, ids: Ids, by: Any) -> Ids:
        """Keep the numbers."""
        return ids


class _Packing(NamedTuple):
    """Pairs of trees, one to a root and one from it, and the share of its group's buffer that goes along each.

    `group`, `root`, int64[C]. `weight`, float64[C]. `load`, float64[R, C]: slots for which a packet takes each link or
    port. `hops`, `slots`, float64[C]: of the longest way there and back, and what a packet takes for its transfers.
    """

    group: Longs
    root: Longs
    weight: Floats
    load: Floats
    hops: Floats
    slots: Floats

    def some(self, kept: Longs) -> _Packing:
        """Return some of the pairs."""
        return _Packing._make(column[..., kept] for column in self)

    def joined(self, other: _Packing) -> _Packing:
        """Return these pairs and others."""
        return _Packing._make(np.append(a, b, axis=-1) for a, b in zip(self, other, strict=True))

    def counts(self, chunks: int) -> Longs:
        """Return how many of a group's chunks go along each pair, int64[C], by largest remainders."""
        share = self.weight * chunks
        counts = np.floor(share + 1e-6).astype(np.int64)
        for g in range(int(self.group.max(initial=-1)) + 1):
            own = np.flatnonzero(self.group == g)
            left = chunks - int(counts[own].sum())
            counts[own[np.argsort(counts[own] - share[own], kind="stable")[:left]]] += 1
        return counts

    def time(self, chunks: int, delay: float) -> _Time:
        """Return what so many chunks take, in slots of a buffer, over links with a latency of about `delay`."""
        counts = self.counts(chunks)
        busiest = float((self.load @ counts).max(initial=0.0)) / chunks
        wait = (
            float(self.hops @ counts) / chunks * delay
        )  # trees are grown again for the chunks, and none is much deeper
        return _Time(busiest, busiest + wait, busiest + wait + float(self.slots @ counts) / chunks**2)


class _Time(NamedTuple):
    """What the most loaded link takes, and all at least, and about."""

    busiest: float
    at_least: float
    about: float


class _Trees:
    """Pairs of trees for any root of each group at given prices."""

    def __init__(self, network: Network, rules: Rules, groups: Groups) -> None:
        self.roads = LinkResources.of(network, rules)
        self.branches = tuple(branching(network, rules, inward) for inward in (True, False))
        fit = np.flatnonzero(self.branches[0] & self.branches[1])
        every = fit if fit.size * len(groups) * network.link_count <= _WORK else np.zeros(0, np.int64)
        pairs = [(g, v) for g, row in enumerate(groups) for v in np.union1d(every, row).tolist()]
        self.group, self.root = np.array(pairs, np.int64).T
        rows = [np.array(groups[g], np.int32) for g in self.group.tolist()]
        first = np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64)
        self.demand = PacketDemand(self.root.astype(np.int32), first, np.concatenate(rows))
        roads, growth = self.roads, TreeGrowth(self.roads)
        self.scale = 1e9 * float(growth.use.max(initial=1.0)) + 1e9
        self.growth = growth
        self.sizes = [load.size for load in growth.loads]
        self.limits = roads.send_limited, roads.receive_limited

    def found(self, price: Floats) -> _Packing:
        """Return a pair of trees for each group and root, none with a share yet."""
        growth, roads = self.growth, self.roads
        usual = float(price[: self.sizes[0]].mean()) if price.size else 0.0
        load = np.zeros((price.size, self.root.size))
        hops, slots = np.zeros((2, self.root.size))
        for inward, branches in zip((True, False), self.branches, strict=True):
            for own, part in zip(growth.loads, np.split(price, np.cumsum(self.sizes)[:-1]), strict=True):
                own[:] = part * self.scale  # so that a packet more is nothing, and prices are as given
            forest = growth.grow(
                self.demand, branches, None, power=1.0, depth_cost=_DEPTH_COST * usual, inward=inward, scale=self.scale
            )
            packet = np.repeat(np.arange(self.root.size), forest.end - forest.begin)
            link = forest.link[: packet.size] if packet.size else np.zeros(0, np.int32)
            np.add.at(load, (link, packet), growth.use[link])
            ends = (roads.source, self.limits[0]), (roads.target, self.limits[1])
            for k, (end, limited) in enumerate(ends):
                if limited:
                    at = self.sizes[0] + k * self.sizes[1]
                    np.add.at(load, (at + end[link], packet), roads.occupancy[link])
            for side in roads.ports.sending, roads.ports.receiving:
                some = np.flatnonzero(side[link] >= 0) if roads.ports.shares.size else np.zeros(0, np.int64)
                port = side[link[some]]
                np.add.at(load, (sum(self.sizes[:3]) + port, packet[some]), roads.ports.shares[port])
            far, deep = self._longest(forest, link, packet)
            slots += far
            hops += deep
        return _Packing(self.group, self.root, np.zeros(self.root.size), load, hops, slots)

    def _longest(self, forest: Forest, link: IntArray, packet: Longs) -> tuple[Floats, Floats]:
        """Return slots and hops on the longest way of each tree."""
        parent = forest.parent[: link.size]
        up = np.append(np.where(parent < 0, link.size, parent + forest.begin[packet]), link.size)
        total = np.zeros((2, link.size + 1))
        total[0, :-1], total[1, :-1] = self.growth.use[link], 1
        while bool((up < link.size).any()):  # each time with as many hops before it again
            total, up = total + total[:, up], up[up]
        result = np.zeros((2, self.root.size))
        for row, values in zip(result, total[:, :-1], strict=True):
            np.maximum.at(row, packet, values)
        return result[0], result[1]


def _looks(network: Network, groups: Groups) -> int:
    """Return how many links trees from the ranks of all groups look at."""
    return sum(map(len, groups)) * network.link_count


def _unit(network: Network) -> int:
    """Return by what occupancies of links are divided in `_plain`."""
    return 1 if network.shared_ports is not None else int(np.gcd.reduce(network.link_occupancy))


def _plain(network: Network) -> Network:
    """Return the network without latencies, and with the shortest times of links that have the same ratios."""
    if network.shared_ports is not None:
        return network
    return network.with_times(network.link_occupancy // max(_unit(network), 1), 0)


@lru_cache(16)
def _packing(network: Network, rules: Rules, groups: Groups) -> _Packing:
    """Return pairs of trees and shares of least load, of packets as the network counts them."""
    from scipy.optimize import linprog

    trees = _Trees(network, rules, groups)
    count, size = len(groups), sum(trees.sizes)
    even = np.zeros(size)
    even[: trees.sizes[0]] = 1.0 / max(trees.sizes[0], 1)
    pairs = trees.found(even)
    chosen, dual, best, tried = np.arange(trees.root.size), even, even, even
    known: _Packing | None = None
    proved, solved = 0.0, 0
    for _ in range(_ROUNDS):
        new = pairs.some(chosen)
        known = new if known is None else known.joined(new)
        solved += known.load.size
        scale = float(known.load.max(initial=0.0)) or 1.0
        member = known.group == np.arange(count)[:, None]
        found = linprog(
            np.append(np.zeros(known.group.size), 1.0),
            A_ub=np.append(known.load / scale, np.full((size, 1), -1.0), axis=1),
            b_ub=np.zeros(size),
            A_eq=np.append(member, np.zeros((count, 1)), axis=1).astype(np.float64),
            b_eq=np.ones(count),
            method="highs",
        )
        if found.status != 0 or found.x is None:
            break
        value = float(found.x[-1]) * scale
        known = known._replace(weight=np.asarray(found.x[:-1]))
        dual, worth = np.maximum(-found.ineqlin.marginals, 0.0), found.eqlin.marginals * scale
        for tried in ((dual + best) / 2, dual):
            pairs = trees.found(tried)
            least = np.full(count, np.inf)
            np.minimum.at(least, trees.group, tried @ pairs.load)
            if float(least.sum()) > proved:
                proved, best = float(least.sum()), tried
            chosen = _cheapest(trees.group, dual @ pairs.load, pairs.hops, worth)
            if chosen.size:
                break
        if not chosen.size or value <= proved * (1 + _CLOSE) or solved > _SOLVED:
            break
    assert known is not None
    return known.some(np.flatnonzero(known.weight > 1e-9))


def _cheapest(group: Longs, cost: Floats, hops: Floats, worth: Floats) -> Longs:
    """Return the pairs of each group that cost least, of those that cost less than what its buffer is worth.

    Of those that cost about the same, those with the shortest ways; not where groups have the choice to help others.
    """
    found = []
    for g, most in enumerate(worth.tolist()):
        own = np.flatnonzero((group == g) & (cost < most * (1 - 1e-6)))
        order = np.argsort(cost[own], kind="stable")
        if worth.size == 1:
            order = np.lexsort((hops[own], np.floor(cost[own] / (abs(most) * _ALIKE + 1e-300))))
        found.append(own[order[:_KEPT]])
    return np.concatenate(found)


def _groups(case: Case) -> Groups:
    """Return the ranks of each message."""
    n = case.network.terminal_count
    return tuple(tuple(case.messages.targets_of(row, n).tolist()) for row in range(case.messages.count))


def free_root_trees(case: Case, parts: int = 1) -> Schedule:
    """Build an allreduce of sums along trees with free roots.

    Each chunk of the buffer is summed along a tree to some node and sent out along a tree from there. Which node that
    is, is free: nodes in the middle, or nodes that belong to another group and idle. A linear program chooses how many
    chunks use which tree so that the busiest link carries as little as possible.

    Parameters
    ----------
    case : Case
        A `PartialSumAllreduce`, of whole messages or in chunks, among all or in groups, which may share nodes; any
        links and ports, switches that store.
    parts : int
        Into how many parts messages are cut.

    Raises
    ------
    NetworkError
        If some rank cannot be reached from another.

    Notes
    -----
    At most 60 linear programs, with a tree for each group and root between them: O(G N L log N) each.

    References
    ----------
    Gossamer.

    Examples
    --------
    Two groups of four that help each other: a link carries a quarter of a buffer, which is the bound.

    >>> import gossamer
    >>> task = tasks.Grouped(tasks.chunked(tasks.PartialSumAllreduce(), 8), [[0, 1, 2, 3], [4, 5, 6, 7]])
    >>> free_root_trees(Case(gossamer.network("complete:8"), task)).completion_time
    Fraction(2, 1)
    """
    groups = _groups(case)
    # Step 1: a linear program over trees: which share of the buffer is summed at which node (column generation)
    packing = _packing(_plain(case.network), case.rules, groups)
    sizes = np.diff(case.messages.first_packet()) * parts
    shares, central = list[int](), list[int]()
    # Step 2: round the shares to chunks, each with its root; beside that, roots from which no rank is far
    for g, size in enumerate(sizes.tolist()):
        counts = packing.counts(size)
        mine = np.flatnonzero(packing.group == g)
        shares += np.repeat(packing.root[mine], counts[mine]).tolist()
        central += sorted(_central(case, groups[g], size))
    own = tuple(np.repeat(np.arange(len(groups)), sizes).tolist())
    few = 2 * len(own) * max(map(len, groups)) <= _FEW_HOPS
    roads = LinkResources.of(case.network, case.rules, parts)
    best: tuple[StartTimes, HopGraph, IntArray] | None = None
    for roots in dict.fromkeys((tuple(shares), tuple(central)) if few else (tuple(shares),)):
        rooted = case.related(task=_RootedSums(groups, own, roots), rules=case.rules)
        halves = halves_of(rooted)
        for depth_cost in _DEPTH_COSTS[: None if few else 2]:
            # Step 3: grow a tree to each root and one from it at common prices
            graph, packet = joined(rooted, grown_halves(rooted, roads, halves, depth_cost))
            # Step 4: every hop begins as soon as what it waits for is there and its link is free
            starts = scheduled(graph, roads, tries=6, rounds=4, seed=case.seed)
            if best is None or starts.slots < best[0].slots:
                best = starts, graph, packet % len(roots)
    assert best is not None
    return _as_schedule(case, *best, parts)


def _central(case: Case, ranks: tuple[int, ...], count: int) -> list[int]:
    """Return the ranks from which the furthest other is nearest, there and back: in turns, as many as are asked for."""
    members = np.array(ranks, np.int64)
    far = np.zeros(members.size, np.int64)
    for links in (case.links, case.links.turned):
        far += [int(links.travel(members[[i]]).usable[members].max()) for i in range(members.size)]
    return np.resize(members[np.argsort(far, kind="stable")], count).tolist()


def sums_along(case: Case, outward: Forest, inward: Forest) -> Schedule:
    """Return an allreduce of sums of all along trees from the roots, and others of the same roots that lead to these.

    Parameters
    ----------
    case : Case
        A `PartialSumAllreduce` in chunks, among all.
    outward, inward : Forest
        A tree each way for each chunk, with all nodes; hops of both are listed from the root outwards.
    """
    network = case.network
    roots = tuple(network.link_source[outward.link[outward.begin]].tolist())
    rooted = case.related(task=_RootedSums(_groups(case), (0,) * len(roots), roots), rules=case.rules)
    graph, packet = joined(rooted, {True: inward, False: outward})
    starts = scheduled(graph, LinkResources.of(network, case.rules), tries=3, rounds=1, seed=case.seed)
    return _as_schedule(case, starts, graph, packet % len(roots), 1)


def _as_schedule(case: Case, starts: StartTimes, graph: HopGraph, packet: IntArray, parts: int) -> Schedule:
    """Return the schedule of hops with their starts; what passes a switch that adds nothing up is said to."""
    order = np.argsort(starts.start, kind="stable")
    row = np.empty(order.size, np.int64)
    row[order] = np.arange(order.size)
    before = np.full(order.size, -1, np.int64)  # the hop that brings what a hop carries on, if it is one alone
    before[graph.following] = np.repeat(row, np.diff(graph.first))
    source = case.network.link_source[graph.link]
    passes = (source >= case.network.terminal_count) & (graph.need == 1)
    repeats = np.where(passes, before, -1)[order]
    return Schedule.of(
        case, starts.start[order].astype(np.int32), graph.link[order], packet[order].astype(np.int32),
        repeats=None if bool((repeats == -1).all()) else repeats.astype(np.int32),
        phases=[Phase(case.task.name, starts.slots, Fraction(1, parts))], parts=parts,
    )  # fmt: skip


def tree_chunks(network: Network, rules: Rules, groups: Groups, packets: int = 1) -> list[int]:
    """Return into how many chunks an allreduce along trees may best be cut: one number, or two.

    `network`: with the times of its links for packets. `groups`: the ranks of each. `packets`: of the whole buffer.

    >>> import gossamer
    >>> tree_chunks(gossamer.network("complete:8"), gossamer.Rules(), ((0, 1, 2, 3), (4, 5, 6, 7)))
    [8, 640]
    """
    if max(map(len, groups)) < 2 or _looks(network, groups) > _WORK:
        return []
    packing = _packing(_plain(network), rules.on(network), groups)
    delay = float(network.link_latency.mean() / _unit(network)) / packets
    longest = min(_MOST_CHUNKS, max(1, _MOST_HOPS // (2 * sum(map(len, groups)))))
    tried = {k for k in range(1, longest + 1) if k <= _FEW or k % 2 ** (k.bit_length() - 4) == 0}
    least = min(packing.time(k, delay).busiest for k in tried)
    even = next(k for k in sorted(tried) if packing.time(k, delay).busiest <= least * _EVEN)
    tried |= {even * k for k in (4, 16, 64) if even * k <= longest}
    times = {k: packing.time(k, delay) for k in sorted(tried)}
    most = min(time.about for time in times.values()) * _NEAR
    soon = next(k for k in times if times[k].about <= most)
    # fewer chunks that load links evenly may fit without gaps
    return [even, soon] if even < soon and times[even].at_least < times[soon].about else [soon]


def _propose(case: Case) -> Offer[Schedule] | list[Offer[Schedule]] | Refusal:
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not tasks.includes(case.task, tasks.PartialSumAllreduce) or bool(
        (case.messages.discipline != tasks.ALLCOMBINE).any()
    ):
        return Refusal("is for allreduces by partial sums")
    if case.rules.cut_through and case.network.terminal_count < case.network.node_count:
        return Refusal("is for switches that store what they pass on")
    groups = _groups(case)
    if max(map(len, groups)) < 2:
        return Refusal("needs two ranks or more in a group")
    hops = 2 * sum(map(len, groups)) * case.messages.packet_count // len(groups)
    if hops > 8 * _MOST_HOPS or _looks(case.network, groups) > _WORK:
        return Refusal(f"is for at most {8 * _MOST_HOPS:,} hops, and {_WORK:,} links times ranks")
    if case.whole:
        return Offer(lambda: free_root_trees(case), effort="search", hop_bytes=150, hop_seconds=1e-5)

    def offer(parts: int) -> Offer[Schedule]:
        options = {"parts": parts}
        return Offer(
            lambda: free_root_trees(case, parts), effort="search", options=options, hop_bytes=150, hop_seconds=1e-5
        )

    packets = case.messages.packet_count // len(groups)
    chunks = tree_chunks(case.network, case.rules, groups, packets)
    return [offer(parts) for parts in dict.fromkeys(-(-k // packets) for k in chunks)]


FREE_ROOT_TREES = Algorithm(
    name="tree-packing",
    tasks=(tasks.PartialSumAllreduce, tasks.Chunked, tasks.Grouped),
    propose=_propose,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="sums along trees to any nodes, idle ones too, and out from them, by a linear program over trees",
    passes_on=True,
    timed=True,
)
