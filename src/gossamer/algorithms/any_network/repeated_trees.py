"""Messages of many packets: the trees of a few packets of each message, used again and again.

A *generation* is a few packets of every message with their trees or paths. The busiest link needs so many slots for
it, the *period*; later generations follow by the same trees, a period apart. The time is then as many periods as there
are generations, and what one generation takes by itself: as near to what links can carry as one generation is, at the
cost of finding the trees of one generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.free_root_trees import sums_along
from gossamer.algorithms.any_network.packet_demands import demand_of, least_slots
from gossamer.algorithms.any_network.priced_routing import branching, forests, refusal, timed
from gossamer.graphs.disjoint_trees import Arcs, most_disjoint_trees
from gossamer.graphs.path_and_hop_tables import PortTable
from gossamer.graphs.precedence_scheduling import LinkResources, StartTimes, heights, scheduled
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, MOVE, Chunked, Grouped, packets_of
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import link_ways

_FEWEST = 16
"""Packets a message from which on trees are repeated."""
_SIZES = (*range(1, 17), 18, 20, 21, 24, 28, 30, 32, 36, 40, 48, 56, 60, 64, 80, 96, 128, 192, 256)
"""Packets of a message in a generation that are tried."""
_WORK, _MOST_WORK = 1_000_000, 400_000_000
"""Packets times links: all together, after which no larger generation is tried; and of one that is not tried at all."""
_LARGE_SIZES = (2, 4, 8)
"""The same where one packet of a sum takes long, or trees from one root are grown on a large network."""
_FITS, _SPARE, _MOST_EVEN, _MOST_SUMS = (1.03, 1.06, 1.13, 1.25), 0.025, 32, 40_000_000
"""Packets of sums on large networks are as many as load links by so much more than the least; the first is best. The
room that is left on a link, in packets; their number at the most, and packets times links of these."""
_CLOSE = 1.002
"""Times the bound: so near to it, no other generation is tried."""
_NEAR, _LINKS = 1.01, 4_000
"""The same for trees that share no link, on networks of so many links."""
_DEPTHS = (0.0, 0.03, 0.3)
"""What a slot of delay costs beside a slot of a most loaded link."""
_USUAL, _OTHERS, _VARIED = 0.003, (0.0, 0.001, 0.01, 0.03, 0.1), 4
"""The same for `even_trees`: first, and others for those that promise most, so many."""
_CENTERED, _TIMES = (0.003, 0.01, 0.03), (1, 2, 4)
"""The same for trees by way of centers, and packets for each of these."""
_MOST_TREES, _ARCS, _DRAWN, _FEW_ARCS = 62, 4_000_000, 3, 100_000
"""Trees that share no link, and links times these, at most; how often these are drawn, up to so many links."""
_ROOTS = 64
"""Nodes that are roots of sums at the most."""
_ROUNDS, _VAIN, _BLUNT, _STEEP = 24, 8, 4.0, 60.0
"""Rounds of `even_trees` at most, those that gain nothing, and the powers of their prices."""
_LONGER, _AGAIN = 2.5, 3
"""How many times more of these there are for the trees that promise most, so many."""
_SCHEDULED = 3
"""Generations of the least promise that are scheduled."""


Longs = npt.NDArray[np.int64]


class _Generation(NamedTuple):
    """Trees of so many packets of each message, and the slots that the busiest link needs for them, and all about."""

    packets: int
    trees: Forest
    period: float
    promise: float


def repeated_trees(case: Case) -> Schedule:
    """Build a schedule of generations that use the same trees, one after the other.

    A message of many packets needs no new trees for each of them: a few packets are routed well, and the others follow
    on the same trees, each group a fixed number of slots after the one before.

    Parameters
    ----------
    case : Case
        A task of 16 packets a message or more, which are copied or moved.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    Trees of 1, 2, 3, ... packets a message are grown by prices, until what all generations take at the busiest link,
    and the longest way, are together near the bound, or the work is spent. Then O(H log H) time for H hops, which are
    scheduled in the order of generations. No hop waits for one of an earlier generation but for its link, so that a
    schedule with the period of the busiest link exists (modulo scheduling without recurrences: Rau 1994).

    References
    ----------
    Gossamer; Rau 1994 for schedules that repeat.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), gossamer.task("allgather", packets=96))
    >>> repeated_trees(case).completion_time  # 11 packets over 4 links, 96 times
    Fraction(264, 1)
    """
    roads = LinkResources.of(case.network, case.rules)
    best: StartTimes | None = None
    # Step 1: grow trees for a few packets of each message (a generation), until the loads are near the bound
    for each in _generations(case, roads):
        graph = _tiled(each, case).graph()
        number = _numbers(case)[graph.packet]
        turn = np.floor_divide(number, each.packets)
        # Step 2: schedule one generation by itself
        alone = scheduled(each.trees.graph(), roads).start[_place(each, case)]
        # Step 3: the others follow a period apart; the period is what the busiest link needs
        orders = [turn * each.period + alone, number]
        starts = scheduled(graph, roads, orders=orders, rounds=1)
        if best is None or starts.slots < best.slots:
            best, link, packet = starts, graph.link, graph.packet
        if best.slots <= case.floor * _CLOSE:
            break
    assert best is not None
    return timed(case, best, link, packet)


def _generations(case: Case, roads: LinkResources) -> list[_Generation]:
    """Return the generations that promise most, the best first."""
    work, found = 0, list[_Generation]()
    for size in _SIZES:
        if 2 * size > packets_of(case.task) or work > _WORK:
            break
        for depth_cost in _DEPTHS:
            found.append(_grown(case, roads, size, depth_cost))
            work += size * int(_counts(case).sum()) * case.network.link_count
        found.sort(key=lambda each: each.promise)
        if found[0].promise <= case.floor * _CLOSE:
            break
    return found[:_SCHEDULED]


def _grown(case: Case, roads: LinkResources, packets: int, depth_cost: float) -> _Generation:
    """Return trees for so many packets of each message, of one that counts several times as many more."""
    messages = replace(case.messages, sizes=packets * _counts(case))
    moved = bool((messages.discipline == MOVE).all())
    times = packets_of(case.task) / packets
    least = ceil(case.floor / times)
    *_, (trees, period) = forests(case, demand_of(case, messages), moved, depth_cost, least)
    longest = int(heights(trees.graph(), roads)[0].max(initial=0))
    return _Generation(packets, trees, period, times * period + longest)


class EvenTrees(NamedTuple):
    """Trees to be repeated: packets of a message, their trees, and the slots that all packets promise to take."""

    packets: int
    trees: Forest
    promise: float


def even_trees(case: Case, least: Fraction = Fraction(0)) -> list[EvenTrees]:
    """Return trees for few packets of each message that use the busiest link little and are not deep.

    `case`: a task whose packets are copied, moved, or combined, of many packets a message; with others there are none.
    `least`: slots that no schedule takes less than; nothing more is tried so near to it.

    Returns: promising what the busiest link takes for all packets, and the latencies of the longest way; the least
    first.

    What one node has for all goes down as many trees without a common link as there are (Edmonds), if links are alike;
    sums come up along them, too. Else, and where that is not near the least, trees of 1, 2, 3, ... packets are grown by
    prices, as in `repeated_trees`, at several costs of depth, for some seconds at the most. Where switches make no
    copies, or add nothing up, packets of one root also go by way of a *center* each: what its root can send only once,
    others send on to all. So nobody sends much, and no way is long. Sums go to a root, any node, and out from it along
    the same tree.

    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), gossamer.task("allgather", packets=64))
    >>> even_trees(case)[0].packets, even_trees(case)[0].promise  # 11 packets over 4 links
    (4, 176.0)
    """
    asked = _forwards(case)
    if asked is None:
        return []
    growing = _SumGrowth(asked) if _sums(asked) else _EvenGrowth(asked)
    growing.share_no_link()
    found = growing.found()
    near = _NEAR if case.network.link_count >= _LINKS else _CLOSE
    if found and found[0].promise <= float(least) * near:
        return found
    one = asked.messages.count == 1 and not found and not _sums(asked)
    large = growing.worth(1) > (_WORK // sum(range(max(_LARGE_SIZES))) if one else _WORK // 64)
    large &= one or _sums(asked)
    sizes = _LARGE_SIZES if large else _SIZES
    if large and not one and least:
        sizes = _even_size(float(least) / growing.most, asked.network, _MOST_SUMS // growing.worth(1)) or sizes
    for packets in sizes:
        if growing.work > (4 if large else 1) * _WORK or packets > growing.most or growing.worth(packets) > _MOST_WORK:
            break
        growing.grow(packets, _USUAL)
    for packets in [each.packets for each in growing.found()[:_VARIED]]:
        for depth_cost in _OTHERS:
            if growing.work <= 2 * _WORK:
                growing.grow(packets, depth_cost)
    for centers in growing.centers():
        for times in _TIMES:
            for depth_cost in _CENTERED:
                if growing.work <= 4 * _WORK and times * centers.size <= growing.most:
                    growing.grow(times * centers.size, depth_cost, np.tile(centers, times))
    growing.grow_again()
    return growing.found()


def _even_size(least: float, network: Network, most: int) -> tuple[int, ...]:
    """Return a number of packets, at most so many, that load the slowest links little more than they must; or none.

    `least`: slots that the most loaded links are busy for a packet at least, on average; no link carries a part of one.

    >>> import gossamer
    >>> [_even_size(126 / links, gossamer.network("ring:8"), 32) for links in (496, 448, 384)]
    [(23,), (7,), (6,)]
    """
    hold = float((network.link_occupancy / network.link_capacity).max())
    over = {k: ceil(k * least / hold + _SPARE) * hold / (k * least) for k in range(1, min(most, _MOST_EVEN) + 1)}
    return next(((k,) for far in _FITS for k, times in over.items() if times <= far), ())


class _EvenGrowth:
    """Trees for few packets of each message of a case, as far as they have been grown.

    `most`: packets of a message at the most. `work`: links that were looked at, about.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.most, self.work = case, packets_of(case.task), 0
        self._moved = bool((case.messages.discipline == MOVE).all())
        self._roads = LinkResources.of(case.network, case.rules)
        self._waits = self._roads._replace(occupancy=np.zeros_like(self._roads.occupancy))
        self._branches = branching(case.network, case.rules) | self._moved
        self._found: list[tuple[EvenTrees, tuple[int, float, IntArray | None]]] = []

    def found(self) -> list[EvenTrees]:
        """Return all trees, those of the least promise first."""
        return [each for each, _ in self._in_order()]

    def _in_order(self) -> list[tuple[EvenTrees, tuple[int, float, IntArray | None]]]:
        return sorted(self._found, key=lambda pair: (pair[0].promise, pair[0].packets))

    def grow_again(self) -> None:
        """Grow the trees that promise most anew, in more rounds."""
        for _, asked in self._in_order()[: 0 if self._moved else _AGAIN]:
            if self.work <= 4 * _WORK:
                self.grow(*asked, longer=_LONGER)

    def centers(self) -> list[IntArray]:
        """Return the nodes by which the packets of one root may go, int32[] each: the near ones first, then more."""
        messages, network = self.case.messages, self.case.network
        if self._moved or messages.count != 1 or bool(self._branches.all()):
            return []
        root = int(messages.origin[0])
        far = self.case.links.travel(messages.origin.astype(np.int64)).usable[: network.terminal_count]
        near = [np.flatnonzero(far <= d).astype(np.int32) for d in np.unique(far)]
        return [nodes[nodes != root] for nodes in near if nodes.size > 1]

    def grow(self, packets: int, depth_cost: float, centers: IntArray | None = None, longer: float = 1) -> None:
        """Grow trees for so many packets of each message; with centers, one of them for each packet."""
        asked = packets, depth_cost, centers
        case = self.case
        demand = self._demand(packets)
        self.work += self._worth(demand)
        if self._moved:
            *_, (trees, period) = forests(case, demand, True, depth_cost, 0)
            self._found.append((EvenTrees(packets, trees, self._promise(packets, trees, period)), asked))
            return
        best: EvenTrees | None = None
        vain = 0
        for trees, period in self._rounds(demand, depth_cost, centers, longer):
            promise = self._promise(packets, trees, period)
            vain += 1
            if best is None or promise < best.promise - 1e-9:
                best, vain = EvenTrees(packets, trees, promise), 0
            if vain == _VAIN and longer == 1:
                break
        assert best is not None
        self._found.append((best, asked))

    def share_no_link(self) -> None:
        """Add trees from one root that have no link in common, where all links and nodes are alike but for that."""
        case, network = self.case, self.case.network
        alike = network.uniform_occupancy is not None and network.shared_ports is None and not case.limited
        messages = case.messages
        to_all = messages.targets is None or messages.targets.size == network.terminal_count
        if self._moved or not alike or messages.count != 1 or not to_all or not bool(self._branches.all()):
            return
        room = np.minimum(network.link_capacity, _MOST_TREES)
        if int(room.sum()) * int(network.out_degree.max(initial=1)) > _ARCS:
            return
        link = np.repeat(np.arange(network.link_count), room)
        arcs = Arcs.of(network.link_source[link], network.link_target[link], network.node_count)
        draw, root = np.random.default_rng(case.seed), self._root(arcs)
        for _ in range(_DRAWN if link.size < _FEW_ARCS else 1):
            found = most_disjoint_trees(arcs, root, draw, min(_MOST_TREES, self.most))
            if found is None:
                return
            trees, count = found
            depth = trees.depth[np.maximum(trees.tree, 0), arcs.head]
            order = np.lexsort((depth, trees.tree))[int((trees.tree < 0).sum()) :]
            size = np.bincount(trees.tree[order], minlength=count)
            begin = np.cumsum(size) - size
            place = np.full((count, network.node_count), -1, np.int32)  # of the hop that brings a packet to a node
            place[trees.tree[order], arcs.head[order]] = np.arange(order.size) - np.repeat(begin, size)
            parent = place[trees.tree[order], arcs.tail[order]]
            forest = Forest(begin, begin + size, link[order].astype(np.int32), parent)
            promise = self._promise(count, forest, self._period(forest))
            self._found.append((EvenTrees(count, forest, promise), (count, _USUAL, None)))

    def _root(self, arcs: Arcs) -> int:
        return int(self.case.messages.origin[0])

    def _period(self, trees: Forest) -> float:
        """Return for how many slots the busiest link is taken by a packet along each tree."""
        network = self.case.network
        used = np.bincount(trees.link, minlength=network.link_count)
        return float((used * network.link_occupancy / network.link_capacity).max(initial=0.0))

    _times = 1
    """How often the longest way is gone."""

    def worth(self, packets: int) -> int:
        """Return how many links are looked at for so many packets of each message, about."""
        return self._worth(self._demand(packets))

    def _worth(self, demand: PacketDemand) -> int:
        often = 1 if bool(self._branches.all()) else max(1, demand.target.size // max(1, demand.origin.size) // 4)
        return demand.origin.size * self.case.network.link_count * often

    def _demand(self, packets: int) -> PacketDemand:
        messages = self.case.messages
        return demand_of(self.case, replace(messages, sizes=np.full(messages.count, packets, np.int64)))

    def _promise(self, packets: int, trees: Forest, period: float) -> float:
        longest = int(heights(trees.graph(), self._waits)[0].max(initial=0))
        return self.most / packets * period + self._times * longest

    def _rounds(
        self, demand: PacketDemand, depth_cost: float, centers: IntArray | None, longer: float
    ) -> Iterator[tuple[Forest, float]]:
        """Yield trees and the slots of the busiest link, grown again and again."""
        growth, draw = TreeGrowth(self._roads), np.random.default_rng(self.case.seed)
        parts = [demand] if centers is None else _by_centers(demand, centers)
        trees: list[Forest | None] = [None] * len(parts)
        at_once = not bool(self._branches.all())
        least = float(least_slots(demand, self._roads, moved=False))
        growth.seldom(_ROUNDS * demand.origin.size)
        for power in np.geomspace(_BLUNT, longer * _STEEP, int(longer * _ROUNDS)):
            visit = draw.permutation(demand.origin.size)
            for i, part in enumerate(parts):
                trees[i] = growth.grow(
                    part, self._branches, trees[i], power=float(power), depth_cost=depth_cost, at_once=at_once,
                    visit=visit, scale=max(growth.congestion, least),
                )  # fmt: skip
            grown = [each for each in trees if each is not None]
            yield grown[0] if centers is None else _tied(*grown), growth.congestion


class _SumGrowth(_EvenGrowth):
    """Trees for sums, along which these go to a root and from it: cables count, whichever way they are used."""

    _times = 2

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        network, roads = case.network, self._roads
        n = network.terminal_count
        self._branches = np.arange(network.node_count) < n
        cable, (hold, room) = _cables(network)
        self._roads = roads._replace(
            ports=PortTable(cable, np.full_like(cable, -1), hold, np.append(0, np.cumsum(room)))
        )
        roots = np.linspace(0, n - 1, min(n, _ROOTS)).astype(np.int64)
        far = [int(case.links.travel(np.array([v], np.int64)).usable[:n].max()) for v in roots.tolist()]
        self._near_all = roots[np.argsort(far, kind="stable")].astype(np.int32)

    def centers(self) -> list[IntArray]:
        """Return nothing: roots are free."""
        return []

    def _root(self, arcs: Arcs) -> int:
        ways = np.diff(arcs.first_out)[self._near_all]
        return int(self._near_all[np.argmax(ways)])

    def _period(self, trees: Forest) -> float:
        return super()._period(trees._replace(link=np.append(trees.link, _back(self.case.network)[trees.link])))

    def _demand(self, packets: int) -> PacketDemand:
        roots = self._near_all[np.arange(packets) % self._near_all.size]
        n = self.case.network.terminal_count
        return PacketDemand(roots, np.arange(packets + 1) * n, np.tile(np.arange(n, dtype=np.int32), packets))


def _cables(network: Network) -> tuple[Longs, tuple[Longs, Longs]]:
    """Return the cable of each link, int64[L], and what a packet takes of it, and packets at once, int64[2, cables]."""
    ends = np.stack([network.link_source, network.link_target])
    pairs = np.stack([ends.min(axis=0), ends.max(axis=0), link_ways(network)])
    first, cable = np.unique(pairs, axis=1, return_index=True, return_inverse=True)[1:]
    cable = cable.reshape(-1).astype(np.int64)
    hold = np.zeros(first.size, np.int64)
    np.maximum.at(hold, cable, network.link_occupancy)
    room = np.full(first.size, np.iinfo(np.int32).max, np.int64)
    np.minimum.at(room, cable, network.link_capacity)
    return cable, (hold, room)


def _sums(case: Case) -> bool:
    """Return whether all packets are sums of all."""
    return case.messages.count == 1 and int(case.messages.discipline[0]) == ALLCOMBINE


def _by_centers(demand: PacketDemand, centers: IntArray) -> list[PacketDemand]:
    """Return the ways of packets to their centers, and what is to go on from these."""
    packet = np.repeat(np.arange(demand.origin.size), np.diff(demand.first))
    onward = (demand.target != demand.origin[packet]) & (demand.target != centers[packet])
    first = np.append(0, np.cumsum(np.bincount(packet[onward], minlength=centers.size)))
    there = PacketDemand(demand.origin, np.arange(centers.size + 1), centers)
    return [there, PacketDemand(centers, first, demand.target[onward])]


def _tied(ways: Forest, trees: Forest) -> Forest:
    """Return ways with the trees from their ends."""
    there, onward = ways.end - ways.begin, trees.end - trees.begin
    end = np.cumsum(there + onward)
    begin = end - there - onward
    link, parent = np.empty((2, int(end[-1]) if end.size else 0), np.int32)
    for first, size, own, before in ((begin, there, ways, 0 * there), (begin + there, onward, trees, there)):
        packet = np.repeat(np.arange(size.size), size)
        place = np.arange(packet.size) - np.repeat(np.cumsum(size) - size, size)
        link[first[packet] + place] = own.link[own.begin[packet] + place]
        parent[first[packet] + place] = own.parent[own.begin[packet] + place] + before[packet]
    return Forest(begin, end, link, parent)


def even_generation(case: Case, trees: Forest) -> Schedule:
    """Return the schedule of a case with few packets a message along the trees of `even_trees`, to be repeated.

    Alone it may take longer than others.
    """
    asked = _forwards(case)
    assert asked is not None
    if _sums(asked):
        return sums_along(asked, trees, trees._replace(link=_back(asked.network)[trees.link]))
    graph = trees.graph()
    found = timed(asked, scheduled(graph, LinkResources.of(asked.network, asked.rules)), graph.link, graph.packet)
    return found if asked is case else found.reverse()


def _back(network: Network) -> IntArray:
    """Return the link of the same cable the other way, int32[L]; -1 where there is none."""
    ways, n = link_ways(network), np.int64(network.node_count)
    keys = (network.link_source * n + network.link_target) * (ways.max(initial=0) + 1) + ways
    other = (network.link_target * n + network.link_source) * (ways.max(initial=0) + 1) + ways
    order = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys[order], other), max(order.size - 1, 0))
    return np.where(keys[order][place] == other, order[place], -1).astype(np.int32)


def _forwards(case: Case) -> Case | None:
    """Return the case, or its dual if contributions are combined; None if there are no trees or paths for it."""
    if _sums(case):
        plain = not case.limited and case.network.shared_ports is None and not case.rules.cut_through
        targets = case.messages.targets
        all_of_them = targets is None or targets.size == case.network.terminal_count
        return case if plain and all_of_them and bool((_back(case.network) >= 0).all()) else None
    kinds = case.messages.discipline
    if kinds.size and bool((kinds == COMBINE).all()):
        case = case.dual
        kinds = case.messages.discipline
    if not kinds.size or refusal(case, moved=bool((kinds == MOVE).all())) is not None:
        return None
    return case


def _counts(case: Case) -> Longs:
    """Return how many messages of the task each message is, int64[M]: more than one where it is of uneven counts."""
    sizes = case.messages.sizes
    if sizes is None:
        return np.ones(case.messages.count, np.int64)
    return np.asarray(sizes // packets_of(case.task), np.int64)


def _numbers(case: Case) -> npt.NDArray[np.float64]:
    """Return the place of each packet in its message, float64[P]: from 0 to the packets of a message of the task."""
    counts = _counts(case)
    sizes = counts * packets_of(case.task)
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(place / np.repeat(counts, sizes))


def _like(each: _Generation, case: Case) -> Longs:
    """Return the packet of a generation whose tree each packet of the case has."""
    counts = _counts(case)
    sizes, stored = counts * packets_of(case.task), counts * each.packets
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.repeat(np.cumsum(stored) - stored, sizes) + place % np.repeat(stored, sizes))


def _tiled(each: _Generation, case: Case) -> Forest:
    """Return the trees of all packets."""
    like, trees = _like(each, case), each.trees
    return Forest(trees.begin[like], trees.end[like], trees.link, trees.parent)


def _place(each: _Generation, case: Case) -> Longs:
    """Return the hop of the generation that each hop of `_tiled` repeats."""
    like, trees = _like(each, case), each.trees
    size = (trees.end - trees.begin)[like]
    first = np.cumsum(size) - size
    before = np.cumsum(trees.end - trees.begin) - (trees.end - trees.begin)
    return np.asarray(np.arange(size.sum()) + np.repeat(before[like] - first, size))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if packets_of(case.task) < _FEWEST:
        return Refusal(f"repeats the trees of messages of {_FEWEST} packets or more")
    kinds = case.messages.discipline
    found = refusal(case, moved=bool(kinds.size and (kinds == MOVE).all()))
    return found or Offer(lambda: repeated_trees(case), effort="search", hop_bytes=100, hop_seconds=3e-6)


REPEATED_TREES = Algorithm(
    name="periodic-trees",
    tasks=(Chunked, Grouped),
    propose=_propose,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="the trees of a few packets of each message, used again and again: for messages of many packets",
    passes_on=True,
    timed=True,
)
