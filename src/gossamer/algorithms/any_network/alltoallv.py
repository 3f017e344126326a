"""Uneven exchanges in milliseconds: shortest paths that share the loads, then list scheduling.

Loads of experts change every few hundred milliseconds, so that a schedule for them must be there at once. Most of such
traffic is held up by a few nodes or servers; shortest ways that share the links there evenly are as good as any.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import timed
from gossamer.errors import NetworkError
from gossamer.graphs.path_and_hop_tables import index_ranges
from gossamer.graphs.precedence_scheduling import ONE_EACH, HopGraph, LinkResources, in_turn, scheduled
from gossamer.graphs.priced_trees import Forest
from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.cases.links import FAR, Links
from gossamer.questions.tasks import COMBINE, COPY, DemandTable, Grouped, UnevenExchange
from gossamer.schedules import RunSchedule, Schedule


@njit(cache=True, nogil=True)
def _put(links, begin, end, amount, source, target, link_load, send_load, receive_load):
    """Add an amount to the loads of the links of a way."""
    for i in range(begin, end):
        e = links[i]
        link_load[e] += amount
        send_load[source[e]] += amount
        receive_load[target[e]] += amount


@njit(cache=True, nogil=True)
def _price(way, length, use, source, target, hold, limits, link_load, send_load, receive_load, scale):
    """Return what a way costs at the present loads: the 8th powers of the slots for which its links are taken."""
    cost = 0.0
    for i in range(length):
        e = way[i]
        x = (link_load[e] + 1.0) * use[e] / scale
        x *= x
        x *= x
        cost += x * x
        if limits[0]:
            x = (send_load[source[e]] + 1.0) * hold[e] / scale
            x *= x
            x *= x
            cost += x * x
        if limits[1]:
            x = (receive_load[target[e]] + 1.0) * hold[e] / scale
            x *= x
            x *= x
            cost += x * x
    return cost


@njit(cache=True, nogil=True)
def _next_way(depth, room, row, away, first, target, delay, turn, way, place, tried):
    """Go on with a search of shortest ways from a depth on; return the links of the next one, or -1.

    Arrays as for `_choose`; the way is in `way`, and the search goes on one link before its end.
    """
    while depth >= 0:
        u = place[depth]
        if away[row, u] == 0:
            return depth
        degree = first[u + 1] - first[u]
        moved = False
        while tried[depth] < degree:
            e = first[u] + (tried[depth] + turn) % degree
            tried[depth] += 1
            if depth < room and away[row, target[e]] + delay[e] == away[row, u]:
                way[depth] = e
                depth += 1
                place[depth] = target[e]
                tried[depth] = 0
                moved = True
                break
        if not moved:
            depth -= 1
    return -1


@njit(cache=True, nogil=True, small=100_000)
def _choose(
    visit, origin, end, away, first, target, source, delay, use, hold, limits, choices, turn, begin, links,
    way, best, place, tried, link_load, send_load, receive_load, scale, again,
):  # fmt: skip
    """Let packets take, in the order of `visit`, the cheapest of the first few shortest ways that a search finds.

    * `visit`, int64[P]: the order.
    * `origin`, `end`, int32[P]: where each packet is, and the row of its target in `away`.
    * `away`, int32[T, N]: the slots from each node to each target.
    * `first`, `target`, `source`, `delay`, `use`, `hold`, int64[N + 1], int32[L], int32[L], int32[L], float64[L],
      float64[L]: links sorted by source: their ends, slots from start to end, slots that a packet takes of one, and of
      a port.
    * `limits`, bool[2]: whether nodes send, and receive, one packet at a time.
    * `choices`: the ways that are looked at.
    * `turn`, int64[P]: at which of its links each node begins the search for a packet.
    * `begin`, `links`, int64[P + 1], int32[]: the way of packet p is ``links[begin[p]:begin[p + 1]]``, of fewer links
      if it ends in -1. Written.
    * `way`, `best`, `place`, `tried`, int32[longest], int32[longest], int64[longest], int64[longest]: room.
    * `link_load`, `send_load`, `receive_load`, float64[L], float64[N], float64[N]: packets; changed.
    * `scale`: a load of price 1.
    * `again`: whether packets have ways that they give up.
    """
    for at in range(visit.size):
        p = visit[at]
        row, start, room = end[p], begin[p], begin[p + 1] - begin[p]
        if again:
            length = 0
            while length < room and links[start + length] >= 0:
                length += 1
            _put(links, start, start + length, -1.0, source, target, link_load, send_load, receive_load)
        found, lowest, kept = 0, np.inf, 0
        place[0] = origin[p]
        tried[0] = 0
        depth = _next_way(0, room, row, away, first, target, delay, turn[p], way, place, tried)
        while depth >= 0:
            found += 1
            cost = _price(way, depth, use, source, target, hold, limits, link_load, send_load, receive_load, scale)
            if cost < lowest:
                lowest, kept = cost, depth
                for i in range(depth):
                    best[i] = way[i]
            if found == choices:
                break
            depth = _next_way(depth - 1, room, row, away, first, target, delay, turn[p], way, place, tried)
        for i in range(kept):
            links[start + i] = best[i]
        for i in range(kept, room):
            links[start + i] = -1
        _put(links, start, start + kept, 1.0, source, target, link_load, send_load, receive_load)


# Shortest ways for many packets, each the least loaded of a few: quick, and good where a few bottlenecks decide.

_ROUNDS = 3
_CHOICES = 12

Times = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def short_ways(
    roads: LinkResources, origin: npt.NDArray[np.int32], row: npt.NDArray[np.int32], away: Times, seed: int
) -> tuple[Forest, float]:
    """Return a shortest way for each packet, chosen by loads, and the most slots for which a link or port is taken.

    `roads`: links, sorted by source, between nodes that store. `origin`, `row`, int32[P]: where each packet is, and
    which row of `away` tells of its target. `away`, int32[T, N]: the slots from each node to each target. `seed`: for
    the orders in which packets choose.

    Raises NetworkError if a packet cannot get to its target.

    In each of 3 rounds every packet takes the cheapest of 12 shortest ways, links costing the 8th power of their loads.
    O(P times the length of ways).

    >>> import gossamer
    >>> net = gossamer.network("ring:4")
    >>> away = np.array([net.distances(v) for v in range(4)], np.int32)
    >>> ways, load = short_ways(LinkResources.of(net, gossamer.Rules()), *np.array([[0, 0], [2, 2]], np.int32), away, 0)
    >>> ways.hops, load
    (4, 1.0)
    """
    nodes, draw = roads.cut.size, np.random.default_rng(seed)
    delay = (roads.occupancy + roads.latency).astype(np.int32)
    far = away[row, origin]
    if far.size and int(far.max()) >= np.iinfo(np.int32).max // 2:
        raise NetworkError("some packet cannot get to its target")
    room = far // delay.min(initial=np.iinfo(np.int32).max)  # no way has more links
    begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)])
    links = np.full(int(begin[-1]), -1, np.int32)
    first = np.searchsorted(roads.source, np.arange(nodes + 1)).astype(np.int64)
    loads = np.zeros(roads.source.size), np.zeros(nodes), np.zeros(nodes)
    use, hold = roads.occupancy / roads.capacity, roads.occupancy.astype(np.float64)
    limits = np.array([roads.send_limited, roads.receive_limited])
    longest = int(room.max(initial=0)) + 1
    scale = 1.0
    for turn in range(_ROUNDS):
        _choose(
            draw.permutation(origin.size), origin, row, away, first, roads.target, roads.source, delay, use, hold,
            limits, _CHOICES, draw.integers(0, 1 << 30, origin.size), begin, links, np.empty(longest, np.int32),
            np.empty(longest, np.int32), np.empty(longest, np.int64), np.empty(longest, np.int64), *loads, scale,
            turn > 0,
        )  # fmt: skip
        scale = _largest(roads, loads, use)
    kept = np.flatnonzero(links >= 0)
    ends = np.searchsorted(kept, begin)
    parent = np.arange(-1, kept.size - 1, dtype=np.int32) - np.repeat(ends[:-1], np.diff(ends)).astype(np.int32)
    return Forest(ends[:-1], ends[1:], links[kept], parent), scale


def _largest(roads: LinkResources, loads: tuple[npt.NDArray[np.float64], ...], use: npt.NDArray[np.float64]) -> float:
    """Return the most slots for which a link or a limited port is taken."""
    found = float((loads[0] * use).max(initial=0.0))
    for limited, ends in ((roads.send_limited, roads.source), (roads.receive_limited, roads.target)):
        if limited:
            taken = np.bincount(ends, loads[0] * roads.occupancy, roads.cut.size)
            found = max(found, float(taken.max(initial=0.0)))
    return max(found, 1.0)


# Paths between all terminals that are kept, for tables that come one after the other.


@njit(cache=True, nogil=True, small=100_000)
def _ways_of_pairs(pairs, away, first, target, delay, choices, way, place, tried, count, begin, links):
    """Write a few shortest ways between every two terminals of some pairs, one pair after the other.

    * `pairs`, int64[P]: ``u * T + v`` of each.
    * `away`, int32[T, N], and `first`, `target`, `delay`, `way`, `place`, `tried`: as for `_choose`.
    * `choices`: ways of a pair at most.
    * `count`, int64[P]: ways of each pair; written.
    * `begin`, `links`, int64[], int32[]: where the links of each way begin; the links. Written, if they have room.
    """
    terminals, paths, used = away.shape[0], 0, 0
    for i in range(pairs.size):
        u, v = pairs[i] // terminals, pairs[i] % terminals
        count[i] = 0
        if u == v or away[v, u] >= 1073741823:
            continue
        place[0] = u
        tried[0] = 0
        depth = _next_way(0, way.size, v, away, first, target, delay, pairs[i], way, place, tried)
        while depth >= 0:
            if links.size:
                begin[paths] = used
                for k in range(depth):
                    links[used + k] = way[k]
            paths += 1
            used += depth
            count[i] += 1
            if count[i] == choices:
                break
            depth = _next_way(depth - 1, way.size, v, away, first, target, delay, pairs[i], way, place, tried)
    return used


_HOP = 0.02
"""The price of a hop over links that carry nothing, so that what has room enough takes no detour."""


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _take(visit, pair, length, first, begin, links, resource, share, load, scale, choice):
    """Let packets take, in the order of `visit`, the cheapest of the paths of their pairs at the present loads.

    * `visit`, `pair`, int64[P]: the order; the pair of each packet.
    * `length`, int64[P] or int64[1]: how many packets each stands for.
    * `first`, `begin`, `links`: the paths, as in `KnownPaths`.
    * `resource`, `share`, int64[L, R], float64[L, R]: the links and ports that a hop uses, -1 for none, and the slots
      that it takes of each.
    * `load`, float64[]: slots that are taken of each; changed.
    * `scale`: the load of price 1.
    * `choice`, int64[P]: the path of each packet, -1 for none so far; written.
    """
    for i in range(visit.size):
        p = visit[i]
        many = length[p] if length.size > 1 else length[0]
        low, high = first[pair[p]], first[pair[p] + 1]
        if choice[p] >= 0:
            if high - low == 1:
                continue
            for j in range(begin[choice[p]], begin[choice[p] + 1]):
                for r in range(resource.shape[1]):
                    if resource[links[j], r] >= 0:
                        load[resource[links[j], r]] -= many * share[links[j], r]
        lowest, best = np.inf, low
        for k in range(low, high if high - low > 1 else low):
            cost = 0.0
            for j in range(begin[k], begin[k + 1]):
                cost += _HOP
                for r in range(resource.shape[1]):
                    if resource[links[j], r] >= 0:
                        x = (load[resource[links[j], r]] + many * share[links[j], r]) / scale
                        x *= x
                        x *= x
                        cost += x * x
            if cost < lowest:
                lowest, best = cost, k
        choice[p] = best
        for j in range(begin[best], begin[best + 1]):
            for r in range(resource.shape[1]):
                if resource[links[j], r] >= 0:
                    load[resource[links[j], r]] += many * share[links[j], r]


_ENTRIES = 40_000_000
"""Links of all paths that are kept, at most."""
_GATEWAYS, _DETOURS = 16, 4_000_000
"""Links between two parts of a network that detours use, and detours, at most."""


class KnownPaths(NamedTuple):
    """Some paths between every two terminals of a network, for exchanges that differ in counts alone.

    * `first` (int64[T * T + 1]): the paths from terminal u to v are those from ``first[u * T + v]`` up to the next;
      none from u to u.
    * `begin`: int64[K + 1].
    * `link` (int32[]): path k crosses ``link[begin[k]:begin[k + 1]]``.
    """

    first: Longs
    begin: Longs
    link: IntArray

    @classmethod
    def of(cls, links: Links) -> KnownPaths | None:
        """Return up to 12 shortest paths between every two terminals, and detours; None if these are too many.

        A detour leaves a server, or a rack, by another of its terminals: by each link to the other server that is as
        good as the best, so that what one terminal has to send is not held up by its own NIC.

        >>> import gossamer
        >>> known = KnownPaths.of(Case(gossamer.network("ring:4"), gossamer.task("alltoall")).links)
        >>> np.diff(known.first).tolist()[:4], known.begin.tolist()[:4], known.link.tolist()[:4]
        ([0, 1, 2, 1], [0, 1, 3, 5], [0, 0, 2, 1])
        """
        size = links.terminal_count
        longest = _longest_way(links)
        if size * size * longest > _ENTRIES:
            return None
        away = _away(links, np.arange(size))
        choices = min(_CHOICES, _ENTRIES // (size * size * longest))
        count, begin, link = _shortest_ways(links, np.arange(size * size), away, longest, choices)
        found = cls(np.append(0, np.cumsum(count)), begin, link)
        for part in links.partitions:
            found = found._with_detours(part[:size], away, links)
        return found

    def _with_detours(self, part: Longs, away: Times, links: Links) -> KnownPaths:
        """Return the paths with those that leave the part of their terminal by another terminal of it."""
        size = part.size
        members = [np.flatnonzero(part == k) for k in np.unique(part)]
        rows: list[npt.NDArray[np.int64]] = []
        if len(members) < 2 or len(members) == size or len(members) ** 2 > _DETOURS // _GATEWAYS:
            return self
        for here in members:
            for there in members:
                if here is there or here.size * there.size == 1:
                    continue
                between = away[np.ix_(there, here)]
                b, a = (found[:_GATEWAYS] for found in np.nonzero(between == between.min()))
                u, v, k = (x.reshape(-1) for x in np.meshgrid(here, there, np.arange(a.size), indexing="ij"))
                rows.append(np.stack([u, here[a[k]], there[b[k]], v]))
        u, a, b, v = np.concatenate(rows, axis=1)
        time = away[a, u].astype(np.int64) + away[b, a] + away[v, b]
        longer = np.flatnonzero((time > away[v, u]) & (time < np.iinfo(np.int32).max // 2))
        if not longer.size or longer.size > _DETOURS:
            return self
        u, a, b, v = u[longer], a[longer], b[longer], v[longer]
        legs = self.first[np.stack([u * size + a, a * size + b, b * size + v], axis=1)]  # the first path of each
        still = np.stack([u == a, a == b, b == v], axis=1)
        low, high = self.begin[legs], np.where(still, self.begin[legs], self.begin[np.minimum(legs + 1, self.paths)])
        which, place = index_ranges(low.reshape(-1), high.reshape(-1))
        path, link = which // 3, self.link[place]
        twice = np.sort(path * links.node_count + links.target[link])  # a path that comes to a node twice is none
        good = np.ones(u.size, np.bool_)
        good[twice[1:][twice[1:] == twice[:-1]] // links.node_count] = False
        good[path[links.target[link] == u[path]]] = False
        path, link, pair = path[good[path]], link[good[path]], (u * size + v)[good]
        length = np.bincount(path, minlength=u.size)[good]
        return self._with(pair, length, link)

    def _with(self, pair: Longs, length: Longs, link: IntArray) -> KnownPaths:
        """Return the paths with others: of which pair each is, how many links it has, and all their links."""
        pairs = np.append(np.repeat(np.arange(self.first.size - 1), np.diff(self.first)), pair)
        low = np.append(self.begin[:-1], self.begin[-1] + np.cumsum(length) - length)
        order = np.argsort(pairs, kind="stable")
        high = (low + np.append(np.diff(self.begin), length))[order]
        all_links = np.append(self.link, link)[index_ranges(low[order], high)[1]]
        first = np.append(0, np.cumsum(np.bincount(pairs, minlength=self.first.size - 1)))
        return KnownPaths(first, np.append(0, np.cumsum(high - low[order])), all_links)

    def without(self, number: Longs, links: Links) -> KnownPaths:
        """Return the paths that are left after links failed, and shortest ones for pairs that are left with none.

        `number`, int64[L]: what each link is called now, -1 where it failed. `links`: those that are left.

        >>> import gossamer
        >>> ring = gossamer.network("ring:4")
        >>> number = np.array([0, 1, -1, 2, 3, -1, 4, 5])  # no links between nodes 1 and 2
        >>> left = ring.without(links=[(1, 2)])
        >>> known = KnownPaths.of(Case(ring, gossamer.task("alltoall")).links)
        >>> known = known.without(number, Case(left, gossamer.task("alltoall")).links)
        >>> [left.link_target[known.link[known.begin[k] : known.begin[k + 1]]].tolist() for k in known.first[[4, 6]]]
        [[0], [0, 3, 2]]
        """
        lost = np.searchsorted(self.begin, np.flatnonzero(number[self.link] < 0), "right") - 1
        good = np.ones(self.paths, np.bool_)
        good[lost] = False
        length = np.diff(self.begin)
        gone = np.searchsorted(self.first, np.flatnonzero(~good), "right") - 1
        count = np.diff(self.first) - np.bincount(gone, minlength=self.first.size - 1)
        link = number[self.link[np.repeat(good, length)]].astype(np.int32)
        left = KnownPaths(np.append(0, np.cumsum(count)), np.append(0, np.cumsum(length[good])), link)
        bare = np.flatnonzero((count == 0) & (np.diff(self.first) > 0))
        if not bare.size:
            return left
        size = links.terminal_count
        away = _away(links, np.unique(bare % size))
        far = away[bare % size, bare // size]
        longest = int(far[far < _UNREACHED].max(initial=1)) // int((links.occupancy + links.latency).min(initial=FAR))
        ways, begin, more = _shortest_ways(links, bare, away, max(1, longest), _CHOICES)
        return left._with(np.repeat(bare, ways), np.diff(begin), more)

    @property
    def paths(self) -> int:
        """How many there are."""
        return self.begin.size - 1


_UNREACHED = np.iinfo(np.int32).max // 2
"""Slots to what cannot be reached."""


def _away(links: Links, targets: Longs) -> Times:
    """Return the slots from each node to each of some terminals, int32[T, N]; far from the others."""
    away = np.full((links.terminal_count, links.node_count), _UNREACHED, np.int32)
    for v in targets.tolist():
        away[v] = np.minimum(links.turned.travel(np.array([v])).usable, _UNREACHED)
    return away


def _shortest_ways(
    links: Links, pairs: Longs, away: Times, longest: int, choices: int
) -> tuple[Longs, Longs, IntArray]:
    """Return how many shortest ways some pairs have, of so many at most, where the links of each begin, and the links.

    `longest`: links of a way at most.
    """
    delay = (links.occupancy + links.latency).astype(np.int32)
    columns = pairs, away, links.first, links.target.astype(np.int32), delay, choices
    room = np.empty(longest, np.int32), *np.empty((2, longest + 1), np.int64)
    count, none = np.empty(pairs.size, np.int64), np.empty(0, np.int32)
    used = _ways_of_pairs(*columns, *room, count, np.empty(0, np.int64), none)
    begin, link = np.empty(int(count.sum()) + 1, np.int64), np.empty(used, np.int32)
    _ways_of_pairs(*columns, *room, count, begin, link)
    begin[-1] = used
    return count, begin, link


def _longest_way(links: Links) -> int:
    """Return the most links that a shortest way can have: those of the slowest way, if all were the fastest."""
    ways = (links.travel(np.array([v])).usable[: links.terminal_count] for v in range(links.terminal_count))
    far = max(int(way[way < FAR].max()) for way in ways)
    return max(1, far // int((links.occupancy + links.latency).min(initial=FAR)))


def _resources(roads: LinkResources) -> tuple[Longs, npt.NDArray[np.float64]]:
    """Return which links and ports a hop over each link uses, -1 for none, and for how long: int64[L, R], float64."""
    count, nodes = roads.source.size, roads.cut.size
    columns: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.floating[Any]]]] = [
        (np.arange(count), roads.occupancy / roads.capacity)
    ]
    for limited, ends, below in ((roads.send_limited, roads.source, count), (roads.receive_limited, roads.target, 0)):
        if limited:
            columns.append((below + (0 if below else count + nodes) + ends.astype(np.int64), roads.occupancy * 1.0))
    if roads.ports.hold.size:
        for side in (roads.ports.sending, roads.ports.receiving):
            number = np.where(side < 0, -1, count + 2 * nodes + side)
            columns.append((number, np.append(roads.ports.shares, 0.0)[side]))
    kinds, shares = zip(*columns, strict=True)
    return np.stack(kinds, axis=1).astype(np.int64), np.stack(shares, axis=1).astype(np.float64)


_NEAR = 1.025
"""Times the least: a schedule so short is not shortened."""


def exchanged_on(case: Case, known: KnownPaths, roads: LinkResources, least: int, runs: int = 0) -> Schedule:
    """Build the schedule of an exchange on paths that are known, for networks whose switches store.

    Each packet takes the path whose links and ports carry least. The packets of a pair are spread evenly over the time
    that their busiest link is busy, from a moment of its own on; who is latest by that goes first. What is not close to
    `least`, slots that any schedule takes, is scheduled again from its end.

    `runs`: if given, packets of a pair travel in rows, about so many in all and one a pair at the least, and what is
    said here of packets is of these. No ports are shared then.

    Raises NetworkError if some target cannot be reached.

    O(packets times the links of their paths, and H log H) for H hops.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoallv", counts=[[0, 0, 4, 0], *[[0] * 4] * 3]))
    >>> exchanged_on(case, KnownPaths.of(case.links), LinkResources.of(case.network, case.rules), 3).completion_time
    Fraction(3, 1)
    """
    draw, size = np.random.default_rng(case.seed), case.network.terminal_count
    if runs:
        assert isinstance(case.task, UnevenExchange)
        sent = case.task.table.reshape(-1)
        pair, many = _in_runs(sent, runs)
    else:
        demand, many = demand_of(case), ONE_EACH
        pair = demand.origin.astype(np.int64) * size + demand.target
    if pair.size and int((known.first[pair + 1] - known.first[pair]).min()) == 0:
        raise NetworkError("some packet cannot get to its target")
    resource, share = _resources(roads)
    load = np.zeros(max(int(resource.max(initial=0)) + 1, 1))
    choice = np.full(pair.size, -1)
    scale = float(max(least, 1))
    # Step 1: each packet takes the path whose links and ports are least loaded, three times (a run twice)
    for _ in range(_ROUNDS - bool(runs)):
        _take(draw.permutation(pair.size), pair, many, *known, resource, share, load, scale, choice)
        top = float(load.max())
        if top <= least:
            break
        scale = max(top, 1.0)
    begin, end = known.begin[choice], known.begin[choice + 1]
    packet, place = index_ranges(begin, end)
    link = known.link[place]
    # Step 2: who has gone less far, of the share that its busiest link has carried by then, goes first
    last = np.append(np.diff(packet) > 0, True)[: packet.size]
    first = np.append(0, np.cumsum(~last))
    following = np.flatnonzero(~last).astype(np.int32) + np.int32(1)
    graph = HopGraph(link, packet.astype(np.int32), first, following, many[packet] if runs else many)
    busy = np.maximum.reduceat(load[resource[link]].max(axis=1), np.cumsum(end - begin) - (end - begin))
    order = np.argsort(-busy * (1.0 - _spread_evenly(pair, draw)), kind="stable")
    length = end - begin
    ahead = np.empty(pair.size, np.int64)
    ahead[order] = np.cumsum(length[order]) - length[order]
    rank = np.arange(link.size) + np.repeat(ahead - (np.cumsum(length) - length), length)
    starts = in_turn(graph, roads, rank, int(max(least * _NEAR, top)), 1 if runs else 2)
    if not runs:
        return timed(case, starts, graph.link, graph.packet)
    counts: Any = np.bincount(pair, minlength=size * size).reshape(size, size)
    kept = timed(case.again(UnevenExchange(counts), reached=True), starts, graph.link, graph.packet)
    return RunSchedule(kept, many, case.task)


def _in_runs(sent: Longs, runs: int) -> tuple[Longs, Longs]:
    """Return the pair and the packets of each run, int64[R]: about so many runs, those of a pair as even as can be.

    >>> [found.tolist() for found in _in_runs(np.array([0, 5, 1, 6]), 5)]
    [[1, 1, 2, 3, 3], [3, 2, 1, 3, 3]]
    """
    pairs = np.flatnonzero(sent)
    each = sent[pairs]
    number = np.clip(np.rint(each * (runs / each.sum())).astype(np.int64), 1, each)
    of = np.repeat(np.arange(pairs.size), number)
    place = np.arange(of.size) - np.repeat(np.cumsum(number) - number, number)
    return pairs[of], (each // number)[of] + (place < (each % number)[of])


def _spread_evenly(pair: Longs, draw: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return for each packet, those of a pair in a row, its moment in 0..1: evenly spaced, from a random one on."""
    start = np.flatnonzero(np.diff(pair, prepend=-1))
    count = np.diff(np.append(start, pair.size))
    moment = np.arange(pair.size) - np.repeat(start, count) + np.repeat(draw.random(start.size), count)
    spaced: npt.NDArray[np.float64] = moment / np.repeat(count, count)
    return spaced


_SLACK = 2
"""A schedule of so many slots more than the largest load is not tried again."""

LARGEST = 20_000_000
"""Targets times nodes up to which all distances are kept."""


def exchanged_at_once(case: Case) -> Schedule:
    """Build a schedule of shortest ways, each packet on the least loaded of a few.

    Every packet has a few shortest paths and takes the one whose links carry least so far. Then the packets that must
    get through the busiest links are sent first, because everything else can wait for them.

    Parameters
    ----------
    case : Case
        A task whose packets are moved, on a network whose switches store.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    O(T L log N) for the distances to T targets, and O(H log H) for H hops: for 256 nodes and 60,000 hops some tens of
    milliseconds.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoallv", counts=[[0, 0, 4, 0], *[[0] * 4] * 3]))
    >>> exchanged_at_once(case).completion_time
    Fraction(3, 1)
    """
    demand, roads = demand_of(case), LinkResources.of(case.network, case.rules)
    targets, row = np.unique(demand.target, return_inverse=True)
    away = np.empty((targets.size, case.network.node_count), np.int32)
    back = case.links.turned
    # Step 1: the distances to each target
    for i, v in enumerate(targets.tolist()):
        away[i] = np.minimum(back.travel(np.array([v])).usable, np.iinfo(np.int32).max)
    # Step 2: each packet takes the shortest path whose links are least loaded
    forest, load = short_ways(roads, demand.origin, row.astype(np.int32), away, case.seed)
    graph = forest.graph()
    # Step 3: list scheduling: what must get through the busiest link goes first
    orders = [-_bottleneck(forest, roads), np.zeros(graph.link.size)]  # then what has furthest to go
    found = scheduled(graph, roads, least=int(load) + _SLACK, orders=orders, rounds=1, seed=case.seed)
    return timed(case, found, graph.link, graph.packet)


def _bottleneck(forest: Forest, roads: LinkResources) -> npt.NDArray[np.float64]:
    """Return for each hop the largest load of its link and those after it: who must get through there goes first."""
    taken = np.bincount(forest.link, minlength=roads.source.size) * roads.occupancy / roads.capacity
    step = float(taken.max(initial=0.0)) + 1.0
    back = taken[forest.link][::-1] + step * np.cumsum((forest.parent < 0)[::-1])  # each way above those before it
    back -= np.where((forest.parent < 0)[::-1], step, 0.0)
    found: npt.NDArray[np.float64] = np.maximum.accumulate(back)[::-1] % step
    return found


def propose_at_once(case: Case) -> Offer[Schedule] | Refusal:
    """Offer shortest ways for what is moved."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not case.whole or not bool(case.links.stores.all()):
        return Refusal("sends unsegmented messages through nodes that store them")
    if case.network.terminal_count * case.network.node_count > LARGEST:
        return Refusal(f"keeps the distances of at most {LARGEST:,} pairs of nodes")
    kinds = case.messages.discipline
    if case.messages.waits or bool(((kinds == COMBINE) | (kinds == COPY)).any()):
        return Refusal("is for packets that are moved")
    return Offer(lambda: exchanged_at_once(case), effort="closed form", least=Fraction(0))


# The algorithm of `gossamer.algorithms.any_network.alltoallv`, for uneven exchanges that cannot wait for a search.

SHARED_SHORTEST_WAYS = Algorithm(
    name="load-balanced-shortest-paths",
    tasks=(UnevenExchange, DemandTable, Grouped),
    propose=propose_at_once,
    networks="any with switches that store, in which the targets can be reached",
    source="gossamer; no promised time",
    summary="shortest paths that share the loads; what must get through a bottleneck is sent first",
    passes_on=True,
    timed=True,
)


def propose_detours(case: Case) -> Offer[Schedule] | Refusal:
    """Offer paths between all terminals, detours among them, for what is moved."""
    found = propose_at_once(case)
    if isinstance(found, Refusal):
        return found
    if case.network.terminal_count > _MOST_KNOWN:
        return Refusal(f"keeps the paths between at most {_MOST_KNOWN} terminals")
    return Offer(lambda: exchanged_with_detours(case), effort="search", least=Fraction(0), hop_seconds=1e-6)


def exchanged_with_detours(case: Case) -> Schedule:
    """Build a schedule of shortest paths and detours by the other terminals of a server, each packet on the best.

    Raises NetworkError if some target cannot be reached.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoallv", counts=[[0, 0, 4, 0], *[[0] * 4] * 3]))
    >>> exchanged_with_detours(case).completion_time
    Fraction(3, 1)
    """
    # Step 1: shortest paths between all terminals, and ways by which a packet leaves its server from another terminal
    known = KnownPaths.of(case.links)
    if known is None:
        raise NetworkError(f"the paths between the terminals of {case.network.spec} are too many to keep")
    roads = LinkResources.of(case.network, case.rules)
    return exchanged_on(case, known, roads, int(-(-case.floor // 1)))


_MOST_KNOWN = 512

LOAD_BALANCED_DETOURS = Algorithm(
    name="load-balanced-detours",
    tasks=(UnevenExchange, DemandTable, Grouped),
    propose=propose_detours,
    networks="any with switches that store, in which the targets can be reached",
    source="gossamer; no promised time",
    summary="shortest paths and detours by other terminals of a server share the loads; pairs take turns evenly",
    passes_on=True,
    timed=True,
)
