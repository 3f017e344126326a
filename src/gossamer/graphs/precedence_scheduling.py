"""List scheduling of hops that wait for each other: paths, trees and reductions on any links, in any port model.

No link idles, as far as its ports allow, while a hop may begin on it. Which hop of those that wait goes first is
decided by several rules, and the shortest schedule is kept; going backwards and forwards in time shortens it further.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.path_and_hop_tables import PortTable, hold_ports, ports_free
from gossamer.jit import njit
from gossamer.jit.heap import pop, push
from gossamer.networks.network import IntArray, Network
from gossamer.questions.rules import Rules

# A hop may begin when all hops before it have brought what they carry, in the graph that `first` and `following` hold:
# hop h is before ``following[first[h]:first[h + 1]]``, which are later hops. Where ~s stands for hop s, it may begin
# when hop h has left its source.


class _Workspace(NamedTuple):
    """What list scheduling works on: no kernel that is compiled without references to arrays makes its own."""

    port_free: Any  # int64[]: when each place of a port is free again
    port_turn: Any  # int64[P]
    left_port: Any  # int64[P]: how long the hops to come occupy each port
    low: Any  # int64[L + 1]: where the heap of each link is
    size: Any  # int64[L]: of the heap
    turn: Any  # int64[L]
    left_send: Any  # int64[N]: how long the hops to come occupy a node that sends, and one that receives
    left_receive: Any  # int64[N]
    sending: Any  # int64[N]: until when a node sends, and receives
    receiving: Any  # int64[N]
    heap: Any  # int32[H]: ranks of the hops that may begin, a heap for each link
    hop_of: Any  # int32[H]: the hop of each rank
    ready: Any  # int64[H]: when all before a hop have come
    follower: Any  # int32[H]: the next in a list of the calendar
    calendar: Any  # int32[S]: a hop that may begin in that slot, or -1
    asleep: Any  # int32[L]: the next in a list of links that are busy, where they share nothing
    wakes: Any  # int32[S]: a link that is free again in that slot, or -1
    active: Any  # int64[L]: the links for which hops wait
    moved: Any  # int64[L]
    listed: Any  # bool[L]
    top: Any  # float64[L]: the rank of the first hop of an active link
    key: Any  # float64[L]
    moved_key: Any  # float64[L]

    @classmethod
    def of(cls, hops: int, links: int, nodes: int, longest: int, places: int, ports: int) -> _Workspace:
        """Return room for so many hops, links, nodes, slots from start to end of a hop, and places in so many ports."""
        longs = [np.zeros(size, np.int64) for size in (places, ports, ports, links + 1, links, links, *[nodes] * 4)]
        heap, hop_of, follower = np.empty((3, hops), np.int32)
        calendar, wakes = np.full((2, longest + 1), -1, np.int32)
        active, moved = np.empty((2, links), np.int64)
        rest = active, moved, np.zeros(links, np.bool_), *np.empty((3, links))
        asleep = np.empty(links, np.int32)
        return cls._make([*longs, heap, hop_of, np.zeros(hops, np.int64), follower, calendar, asleep, wakes, *rest])


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _lag(a, b, source, target, occupancy, latency, cut):
    """Return the slots from the start of a hop over link a to that of one over link b that waits for it."""
    passes = cut[target[a]] and target[a] == source[b]
    return latency[a] + (max(0, occupancy[a] - occupancy[b]) if passes else occupancy[a])


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _heights(link, first, following, source, target, occupancy, latency, cut, height, weight):
    """Write the slots from the start of each hop to the end of all that wait for it, and how many these are."""
    for h in range(link.size - 1, -1, -1):
        e = link[h]
        most, total = occupancy[e] + latency[e], 1
        for i in range(first[h], first[h + 1]):
            s = following[i]
            if s < 0:
                s = ~s
                most = max(most, occupancy[e] + height[s])
            else:
                most = max(most, _lag(e, link[s], source, target, occupancy, latency, cut) + height[s])
            total += weight[s]
        height[h], weight[h] = most, total


@njit(cache=True, nogil=True, small=100_000)
def _turned_round(first, following, need, behind, before):
    """Write the graph with hop h called H-1-h and every edge turned round: `behind` int64[H+1], `before` int32[]."""
    hops = need.size
    behind[0] = 0
    for h in range(hops):
        behind[h + 1] = behind[h] + need[hops - 1 - h]
    place = behind[:-1].copy()
    for h in range(hops - 1, -1, -1):
        for i in range(first[h], first[h + 1]):
            g = hops - 1 - following[i]
            before[place[g]] = hops - 1 - h
            place[g] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _sorted_links(
    active, count, top, left_send, left_receive, left_port, source, target, sends_by, receives_by, key, moved, moved_key
):
    """Put the links of which a port is most in demand first, then those with the packet that is most urgent.

    A merge sort, from the bottom up: in most slots the links are nearly in order. `moved` and `moved_key` are room.
    """
    for i in range(count):
        e = active[i]
        most = max(left_send[source[e]], left_receive[target[e]])
        if left_port.size:
            if sends_by[e] >= 0:
                most = max(most, left_port[sends_by[e]])
            if receives_by[e] >= 0:
                most = max(most, left_port[receives_by[e]])
        key[i] = top[i] - np.float64(most) * 1e12
    width = 1
    while width < count:
        for low in range(0, count - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, count)
            if key[middle - 1] <= key[middle]:
                continue
            for i in range(low, middle):
                moved[i], moved_key[i] = active[i], key[i]
            i, j, k = low, middle, low
            while i < middle:
                if j < high and key[j] < moved_key[i]:
                    active[k], key[k] = active[j], key[j]
                    j += 1
                else:
                    active[k], key[k] = moved[i], moved_key[i]
                    i += 1
                k += 1
        width *= 2


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _list_schedule(
    link, length, rank, first, following, need, source, target, occupancy, latency, ring, room,
    send_limited, receive_limited, ports, cut, start, desk,
):  # fmt: skip
    """Start on every free link, with free ports, the waiting hop of the lowest rank; return when all is over.

    * `link`, `rank`, int32[H], int64[H]: the link of each hop, and its place in the order in which hops leave, all
      different.
    * `length`, int64[H] or int64[1]: packets in a row that each hop carries; more than one only where no ports are
      shared, among nodes that store.
    * `first`, `following`, `need`, int64[H + 1], int32[], int32[H]: the hops that wait for each hop, and the number of
      those for which it waits; `need` is used up.
    * `source`, `target`, `occupancy`, `latency`, int32[L], int32[L], int64[L], int64[L]: links, with times in slots.
    * `ring`, `room`, int64[L + 1], int64[]: place of each link in `room`, which is 0 and has as many entries a link as
      it carries packets at once.
    * `ports`: ports that links share.
    * `cut`, bool[N]: whether a node passes packets on as they come.
    * `start`, int64[H]: written.
    * `desk`: fresh room to work in.
    """
    sends_by, receives_by, hold, port_ring = ports[0], ports[1], ports[2], ports[3]
    shared = hold.size > 0
    port_free, port_turn, left_port, calendar = desk.port_free, desk.port_turn, desk.left_port, desk.calendar
    low, size, turn, left_send, left_receive = desk.low, desk.size, desk.turn, desk.left_send, desk.left_receive
    sending, receiving, heap, ready, follower = desk.sending, desk.receiving, desk.heap, desk.ready, desk.follower
    active, moved, listed = desk.active, desk.moved, desk.listed
    top, key, moved_key, asleep, wakes = desk.top, desk.key, desk.moved_key, desk.asleep, desk.wakes
    hops, links, span, hop_of = link.size, source.size, calendar.size, desk.hop_of
    for h in range(hops):
        e = link[h]
        hop_of[rank[h]] = h
        low[e + 1] += 1
        busy = occupancy[e] * (length[h] if length.size > 1 else length[0])
        if send_limited:
            left_send[source[e]] += busy
        if receive_limited:
            left_receive[target[e]] += busy
        if shared:
            if sends_by[e] >= 0:
                left_port[sends_by[e]] += hold[sends_by[e]]
            if receives_by[e] >= 0:
                left_port[receives_by[e]] += hold[receives_by[e]]
    for e in range(links):
        low[e + 1] += low[e]
    count, waiting, begun, sleeping = 0, 0, 0, 0
    t = np.int64(0)
    over = np.int64(0)
    limited = send_limited or receive_limited or shared
    for p in range(hold.size):
        left_port[p] //= max(port_ring[p + 1] - port_ring[p], 1)
    for h in range(hops - 1, -1, -1):
        if need[h] == 0:
            follower[h] = calendar[0]
            calendar[0] = h
            waiting += 1
    while begun < hops:
        again = True
        soonest = np.int64(2**62)
        while again:
            again = False
            h = calendar[t % span]
            calendar[t % span] = -1
            while h >= 0:
                e = link[h]
                size[e] = push(heap, low[e], size[e], rank[h])
                if not listed[e]:
                    listed[e] = True
                    active[count] = e
                    count += 1
                waiting -= 1
                h = follower[h]
            e = wakes[t % span]
            wakes[t % span] = -1
            while e >= 0:
                active[count] = e
                count += 1
                sleeping -= 1
                e = asleep[e]
            if limited:
                for i in range(count):
                    top[i] = heap[low[active[i]]]
                _sorted_links(
                    active, count, top, left_send, left_receive, left_port, source, target, sends_by, receives_by,
                    key, moved, moved_key,
                )  # fmt: skip
            kept = 0
            soonest = np.int64(2**62)
            for i in range(count):
                e = active[i]
                u, v, o, wait = source[e], target[e], occupancy[e], latency[e]
                while size[e]:
                    place = ring[e] + turn[e]
                    free = room[place]
                    if send_limited:
                        free = max(free, sending[u])
                    if receive_limited:
                        free = max(free, receiving[v] - wait)
                    if shared:
                        free = max(free, ports_free(e, o + wait, ports, port_free, port_turn))
                    if free > t:
                        if limited:
                            soonest = min(soonest, free)
                        else:  # nothing but the link itself holds it up: nobody looks at it until then
                            asleep[e] = wakes[free % span]
                            wakes[free % span] = e
                            sleeping += 1
                        break
                    h = hop_of[pop(heap, low[e], size[e])]
                    size[e] -= 1
                    start[h] = t
                    begun += 1
                    busy = o * (length[h] if length.size > 1 else length[0])
                    room[place] = t + busy
                    turn[e] = (turn[e] + 1) % (ring[e + 1] - ring[e])
                    if send_limited:
                        sending[u] = t + busy
                        left_send[u] -= busy
                    if receive_limited:
                        receiving[v] = t + wait + busy
                        left_receive[v] -= busy
                    if shared:
                        hold_ports(e, t, o + wait, ports, port_free, port_turn)
                    over = max(over, t + busy + wait)
                    for j in range(first[h], first[h + 1]):
                        s = following[j]
                        if s < 0:
                            s = ~s
                            ready[s] = max(ready[s], t + busy)
                        else:
                            lag = _lag(e, link[s], source, target, occupancy, latency, cut) + busy - o
                            ready[s] = max(ready[s], t + lag)
                        need[s] -= 1
                        if need[s] == 0:
                            follower[s] = calendar[ready[s] % span]
                            calendar[ready[s] % span] = s
                            waiting += 1
                            again = again or ready[s] == t
                if not size[e]:
                    listed[e] = False
                elif limited:
                    active[kept] = e
                    kept += 1
            count = kept
        t += 1
        if waiting or sleeping:
            while t < soonest and calendar[t % span] < 0 and wakes[t % span] < 0:
                t += 1
        elif soonest > t:
            t = soonest
    return over


_KEPT = 4
"""Schedules of given orders that are shortened."""

_MOVED, _BY = 0.05, (2.0, 4.0, 8.0)
"""The share of packets that are moved in time at once, and by how many slots about, in turn."""
_SHAKEN, _SHAKES, _FEWEST = 3_000_000, 1_000, 10
"""Hops scheduled in all by moving packets, how often at the most, and how seldom it is not begun."""

_PAYS = 60_000
"""Hops that it takes Python a third as long to schedule as to compile what does."""

Longs = npt.NDArray[np.int64]

ONE_EACH: Longs = np.ones(1, np.int64)
"""The packets of each hop where none carries more than one."""


class HopGraph(NamedTuple):
    """Hops and what waits for what.

    `link`, `packet`, int32[H]: the link and the packet of each hop. `first`, `following`, int64[H + 1], int32[]: the
    hops ``following[first[h]:first[h+1]]``, all of them later than h, wait for what hop h brings. Of ~s in place of s
    hop s waits until hop h has left its source; a graph with such hops is not turned round. `length`, int64[H] or
    int64[1]: packets in a row that a hop carries, for `in_turn`.
    """

    link: IntArray
    packet: IntArray
    first: Longs
    following: IntArray
    length: Longs = ONE_EACH

    def takes(self, roads: LinkResources) -> Longs:
        """Return the slots from the start of each hop to its end, int64[H]."""
        return (roads.occupancy[self.link] * self.length) + roads.latency[self.link]

    @classmethod
    def of_parents(cls, link: IntArray, packet: IntArray, parent: IntArray) -> HopGraph:
        """Return the graph of hops that wait for one earlier hop each, -1 for none.

        >>> graph = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([4, 5, 6], [0, 0, 0], [-1, 0, 0])))
        >>> graph.first.tolist(), graph.following.tolist()
        ([0, 2, 2, 2], [1, 2])
        """
        children = np.flatnonzero(parent >= 0)
        return cls.of_edges(link, packet, parent[children].astype(np.int64), children)

    @property
    def need(self) -> IntArray:
        """How many hops each hop waits for, int32[H]."""
        return np.bincount(self.edges()[1], minlength=self.link.size).astype(np.int32)

    @classmethod
    def of_edges(cls, link: IntArray, packet: IntArray, before: Longs, behind: Longs) -> HopGraph:
        """Return the graph of hops of which ``behind[i]`` waits for the earlier hop ``before[i]``."""
        first = np.zeros(link.size + 1, np.int64)
        np.cumsum(np.bincount(before, minlength=link.size), out=first[1:])
        return cls(link, packet, first, behind[np.argsort(before, kind="stable")].astype(np.int32))

    def edges(self) -> tuple[Longs, Longs]:
        """Return the hops that others wait for and, for each, one that waits: before and behind."""
        behind = np.where(self.following < 0, ~self.following, self.following).astype(np.int64)
        return np.repeat(np.arange(self.link.size), np.diff(self.first)), behind

    def turned_round(self) -> HopGraph:
        """Return the graph of the hops in opposite order, each waiting for those that waited for it."""
        behind, before = np.empty(self.link.size + 1, np.int64), np.empty(self.following.size, np.int32)
        _turned_round(self.first, self.following, self.need, behind, before)
        return HopGraph(self.link[::-1].copy(), self.packet[::-1].copy(), behind, before, self.length[::-1].copy())


class LinkResources(NamedTuple):
    """The links and ports on which hops are scheduled.

    `source`, `target`, int32[L]. `occupancy`, `latency`, `capacity`, int64[L]: times in slots, latencies of the parts
    that are sent; packets at once. `cut`, bool[N]: whether a node passes packets on as they come. `ports`: ports that
    links share.
    """

    source: IntArray
    target: IntArray
    occupancy: Longs
    latency: Longs
    capacity: Longs
    send_limited: bool
    receive_limited: bool
    cut: npt.NDArray[np.bool_]
    ports: PortTable

    @classmethod
    def of(cls, network: Network, rules: Rules, parts: int = 1) -> LinkResources:
        """Return the links of a network under rules, for messages of so many parts."""
        limited = rules.send_limited or rules.receive_limited
        capacity = np.ones(network.link_count, np.int64) if limited else network.link_capacity.astype(np.int64)
        return cls(
            network.link_source,
            network.link_target,
            network.link_occupancy.astype(np.int64),
            network.link_latency.astype(np.int64) * parts,
            capacity,
            rules.send_limited,
            rules.receive_limited,
            (np.arange(network.node_count) >= network.terminal_count) & rules.cut_through,
            PortTable.of(network),
        )

    def turned_round(self) -> LinkResources:
        """Return the links in opposite direction."""
        return self._replace(
            source=self.target,
            target=self.source,
            send_limited=self.receive_limited,
            receive_limited=self.send_limited,
            ports=self.ports.turned_round(),
        )


class StartTimes(NamedTuple):
    """When hops begin, int64[H], and the slots that all take together."""

    slots: int
    start: Longs


def heights(graph: HopGraph, roads: LinkResources) -> tuple[Longs, Longs]:
    """Return the slots from the start of each hop to the end of all that wait for it, and how many these are."""
    height, weight = np.empty(graph.link.size, np.int64), np.empty(graph.link.size, np.int64)
    _heights(
        graph.link,
        graph.first,
        graph.following,
        roads.source,
        roads.target,
        roads.occupancy,
        roads.latency,
        roads.cut,
        height,
        weight,
    )
    return height, weight


def scheduled(
    graph: HopGraph,
    roads: LinkResources,
    *,
    least: int = 0,
    tries: int = 3,
    rounds: int = 2,
    orders: Sequence[npt.NDArray[np.float64]] | None = None,
    seed: int = 0,
) -> StartTimes:
    """Return the shortest schedule found for hops that wait for each other.

    * `graph`: the hops.
    * `roads`: where.
    * `least`: stop at so many slots.
    * `tries`: rules that are tried: most slots still to go, most hops still to come, packet by packet, and random ones.
    * `rounds`: how often the best is scheduled backwards and forwards again.
    * `orders`, sequence of float64[H]: tried instead of the rules: the hop with the least value goes first, and of
      several the one that is most slots away from the end.
    * `seed`: for ties and random orders.

    O(H log H) time for each try and each direction; about 60 bytes a hop. Copies of a packet that go through the same
    switches in one slot, some one way and some the other, are told apart by nobody: of such ways one waits until the
    other is over, and all is scheduled again.

    Source: Gossamer; going back and forth by Valls, Ballestin and Quintanilla 2005.

    >>> import gossamer
    >>> roads = LinkResources.of(gossamer.network("array:3"), gossamer.Rules())
    >>> hops = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([0, 2, 0], [0, 0, 1], [-1, 0, -1])))
    >>> scheduled(hops, roads).start.tolist()
    [0, 1, 1]
    """
    if not graph.link.size:
        return StartTimes(0, np.zeros(0, np.int64))
    best = _shortest(graph, roads, least, tries, rounds, orders, seed)
    hop = np.arange(graph.link.size)  # the hop that each was called at first
    while (parted := _parted(graph, roads, best.start)) is not None:
        graph, order = parted
        hop = hop[order]
        orders = None if orders is None else [values[order] for values in orders]
        best = _shortest(graph, roads, least, tries, rounds, orders, seed)
    start = np.empty_like(best.start)
    start[hop] = best.start
    return StartTimes(best.slots, start)


def in_turn(graph: HopGraph, roads: LinkResources, rank: Longs, enough: int, rounds: int = 2) -> StartTimes:
    """Return a schedule in which hops of the least rank go first; scheduled back and forth if it takes over `enough`.

    `rank`, int64[H]: all different. `rounds`: how often back and forth, at most. Among nodes that store.

    >>> import gossamer
    >>> roads = LinkResources.of(gossamer.network("array:3"), gossamer.Rules())
    >>> hops = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([0, 2, 0], [0, 0, 1], [-1, 0, -1])))
    >>> in_turn(hops, roads, np.array([1, 2, 0]), 3).start.tolist()
    [1, 2, 0]
    """
    best = _run(graph, roads, rank)
    return best if best.slots <= enough or not rank.size else _tightened(graph, roads, best, enough, rounds)


def _shortest(
    graph: HopGraph,
    roads: LinkResources,
    least: int,
    tries: int,
    rounds: int,
    orders: Sequence[npt.NDArray[np.float64]] | None,
    seed: int,
) -> StartTimes:
    found: list[StartTimes] = []
    runs = tries + 2 * rounds if orders is None else len(orders) + 2 * rounds * _KEPT
    for rank in _ranks(graph, roads, tries, orders, np.random.default_rng(seed)):
        found.append(_run(graph, roads, rank))
        if found[-1].slots <= least:
            return found[-1]
        _foreseen(runs * graph.link.size)
    found.sort(key=lambda starts: starts.slots)
    best = found[0]
    for start in found[: 1 if orders is None else _KEPT]:
        tight = _tightened(graph, roads, start, least, rounds)
        if tight.slots < best.slots:
            best = tight
    return best


def _parted(graph: HopGraph, roads: LinkResources, start: Longs) -> tuple[HopGraph, Longs] | None:
    """Return hops that wait for more, and which hop each was, if hops of a packet in one slot run in a circle.

    A way of a packet begins and ends at nodes that do not cut through. Where ways through the same switches make a
    circle, each but the first waits for the end of the one before.
    """
    source, target = roads.source[graph.link], roads.target[graph.link]
    among = roads.cut[source] & roads.cut[target] & (roads.latency[graph.link] == 0)
    left = np.flatnonzero(among)
    group = graph.packet.astype(np.int64) * (int(start.max()) + 1) + start
    while left.size:
        leaves, comes = (group[left] * roads.cut.size + ends[left] for ends in (source, target))
        kept = left[np.isin(leaves, comes) & np.isin(comes, leaves)]
        if kept.size == left.size:
            break
        left = kept
    if not left.size:
        return None
    hops = graph.link.size
    before, behind = graph.edges()
    inner = roads.cut[source[behind]] & (target[before] == source[behind])
    way, known = np.arange(hops), np.full(hops, -1)  # the hop with which the way of each begins
    way[behind[inner]] = -1
    while not np.array_equal(way, known):
        known = way.copy()
        np.maximum.at(way, behind[inner], known[before[inner]])
    met = np.unique(np.stack([group[left], way[left]]), axis=1)
    together = met[0, 1:] == met[0, :-1]
    ends = np.flatnonzero(~roads.cut[target])
    waits = {
        (end, later)
        for earlier, later in zip(met[1, :-1][together].tolist(), met[1, 1:][together].tolist(), strict=True)
        for end in ends[way[ends] == earlier].tolist()
    } - set(zip(before.tolist(), behind.tolist(), strict=True))
    if not waits:
        return None
    more = np.array(sorted(waits), np.int64)
    order = np.lexsort((np.arange(hops), way))
    place = np.empty_like(order)
    place[order] = np.arange(hops)
    before, behind = (place[np.append(x, more[:, k])] for k, x in enumerate((before, behind)))
    return HopGraph.of_edges(graph.link[order], graph.packet[order], before, behind), order


def _ranks(
    graph: HopGraph,
    roads: LinkResources,
    tries: int,
    orders: Sequence[npt.NDArray[np.float64]] | None,
    draw: np.random.Generator,
) -> Iterator[Longs]:
    height, weight = heights(graph, roads)
    if orders is not None:
        for order in orders:
            yield _ranked(-weight, -height, order)
        return
    for i in range(tries):
        if i > 4 and i % 2:  # small cases only
            yield _ranked(-(height + draw.random(height.size) * (height.max() + 1) * draw.random()))
        elif i % 4 == 0:
            yield _ranked(-weight, -height)
        elif i % 4 == 1:
            yield _ranked(draw.permutation(height.size), -height)
        elif i % 4 == 2:
            yield _ranked(-height, -weight)
        else:
            yield _ranked(-height, draw.permutation(int(graph.packet.max()) + 1)[graph.packet])


def _ranked(*keys: npt.NDArray[np.generic]) -> Longs:
    """Return the place of each hop in the order of the keys, the last the most important."""
    rank = np.empty(keys[0].size, np.int64)
    rank[np.lexsort(keys)] = np.arange(rank.size)
    return rank


def _run(graph: HopGraph, roads: LinkResources, rank: Longs, need: IntArray | None = None) -> StartTimes:

    links = roads.source.size
    used = np.bincount(graph.link, minlength=links)
    ring = np.zeros(links + 1, np.int64)
    np.cumsum(np.minimum(roads.capacity, np.maximum(used, 1)), out=ring[1:])
    longest = int(graph.takes(roads).max(initial=1))
    ports = roads.ports
    desk = _Workspace.of(graph.link.size, links, roads.cut.size, longest, int(ports.ring[-1]), ports.hold.size)
    start = np.empty(graph.link.size, np.int64)
    slots = _list_schedule(
        graph.link, graph.length, rank, graph.first, graph.following, graph.need, roads.source, roads.target,
        roads.occupancy, roads.latency, ring, np.zeros(int(ring[-1]), np.int64), roads.send_limited,
        roads.receive_limited, ports, roads.cut, start, desk,
    )  # fmt: skip
    return StartTimes(int(slots), start)


def _foreseen(hops: int) -> None:
    """Have compiled what schedules hops if that pays for so many."""
    if hops > _PAYS:
        from gossamer.jit import often

        often(_list_schedule)


def _tightened(graph: HopGraph, roads: LinkResources, best: StartTimes, least: int, rounds: int) -> StartTimes:
    """Schedule backwards what ended last first, then forwards what then begins first, again and again."""
    if not rounds:
        return best
    turned, against = graph.turned_round(), roads.turned_round()
    takes = graph.takes(roads)
    now = best
    for _ in range(rounds):
        if best.slots <= least:
            break
        now = _backwards(turned, against, now, takes)
        if now.slots < best.slots:
            best = now
        now = _run(graph, roads, _ranked(now.start))
        if now.slots < best.slots:
            best = now
    return best


def _backwards(turned: HopGraph, against: LinkResources, now: StartTimes, takes: Longs) -> StartTimes:
    """Return the schedule in which, from the end on, what ends last goes first, and every hop as late as it can."""
    back = _run(turned, against, _ranked(-(now.start + takes)[::-1]))
    return StartTimes(back.slots, back.slots - back.start[::-1] - takes)


def shaken(
    graph: HopGraph, roads: LinkResources, best: StartTimes, *, least: int = 0, seed: int = 0, most: int = _SHAKES
) -> StartTimes:
    """Return a schedule found from a known one by moving some packets in time and scheduling all hops again.

    * `graph`, `roads`: the hops, and where.
    * `best`: the schedule that is known.
    * `least`: stop at so many slots.
    * `seed`: for the packets that are moved, and how far.
    * `most`: steps, at the most.

    A step goes forwards, backwards and forwards in time, and the search goes on from what is no longer than before. By
    default at most 1,000 steps of O(H log H), and about 3,000,000 hops scheduled in all; very many hops are left as
    they are.

    >>> import gossamer
    >>> roads = LinkResources.of(gossamer.network("array:3"), gossamer.Rules())
    >>> hops = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([0, 2, 0], [0, 0, 1], [-1, 0, -1])))
    >>> shaken(hops, roads, StartTimes(3, np.array([1, 2, 0]))).start.tolist()
    [0, 1, 1]
    """
    count = min(most, _SHAKEN // (3 * graph.link.size)) if graph.link.size else 0
    if count < _FEWEST or best.slots <= least:
        return best
    _foreseen(3 * count * graph.link.size)
    turned, against = graph.turned_round(), roads.turned_round()
    takes = graph.takes(roads)
    draw, packets = np.random.default_rng(seed), int(graph.packet.max()) + 1
    moved = max(1, round(_MOVED * packets))
    now = best
    for i in range(count):
        shift = np.zeros(packets)
        shift[draw.choice(packets, moved, replace=False)] = draw.normal(0.0, _BY[i % len(_BY)], moved)
        forwards = _run(graph, roads, _ranked(now.start + shift[graph.packet]))
        late = _backwards(turned, against, forwards, takes)
        shortest = min(_run(graph, roads, _ranked(late.start)), late, forwards, key=lambda starts: starts.slots)
        now = shortest if shortest.slots <= now.slots else now
        best = now if now.slots < best.slots else best
        if best.slots <= least:
            break
    return best
