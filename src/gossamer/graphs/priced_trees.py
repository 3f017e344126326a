"""Trees for many packets, grown over links whose prices rise with their loads, so that no link carries too much.

A packet for one node gets a path, a packet for several a tree with few links (Takahashi and Matsuyama 1980): the
node that is nearest to what is there is attached to it, again and again. All trees are grown several times, one after
the other, each over the links as loaded by all others; a load of a times the largest costs a to the power of q, and q
rises.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources
from gossamer.jit import njit
from gossamer.jit.heap import pop_node, rise
from gossamer.networks.network import IntArray

# No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they are sooner compiled.


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _price(load, scale, power):
    """Return what one more slot costs where the load is a share of the scale."""
    share = load / scale
    exponent = power * math.log(share if share > 1e-9 else 1e-9)
    return math.exp(exponent if exponent < 500.0 else 500.0) + 1e-7


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def prices(load, use, scale, power, price):
    """Write the price of each resource at its load with one more use."""
    for i in range(load.size):
        price[i] = _price(load[i] + use[i], scale, power)


@njit(cache=True, nogil=True, _nrt=False)
def charge(e, times, roads, market):
    """Put a packet on a link and into its ports so many times, -1 to take it off, and bring the prices up to date.

    `roads` are the ends of the links, what a packet takes of each and of a node's port, the shared ports, and whether
    nodes that send and that receive are limited; `market` the loads, the prices, and the scale and power of these: all
    as in `grow`.
    """
    tail, head, use, occupancy, ports, send_limited, receive_limited = roads
    loads, price, scale, power = market
    loads[0][e] += times * use[e]
    price[0][e] = _price(loads[0][e] + use[e], scale, power)
    if send_limited and occupancy[e] > 0:
        u = tail[e]
        loads[1][u] += times * occupancy[e]
        price[1][u] = _price(loads[1][u] + occupancy[e], scale, power)
    if receive_limited and occupancy[e] > 0:
        v = head[e]
        loads[2][v] += times * occupancy[e]
        price[2][v] = _price(loads[2][v] + occupancy[e], scale, power)
    sends_by, receives_by, share = ports
    if share.size > 0:
        for x in (sends_by[e], receives_by[e]):
            if x >= 0:
                loads[3][x] += times * share[x]
                price[3][x] = _price(loads[3][x] + share[x], scale, power)


@njit(cache=True, nogil=True, _nrt=False)
def cost_of(e, cost, roads, price):
    """Return a cost with what a link and its nodes' ports cost added."""
    tail, head, use, occupancy, _, send_limited, receive_limited = roads
    cost += use[e] * price[0][e]
    if send_limited:
        cost += occupancy[e] * price[1][tail[e]]
    if receive_limited:
        cost += occupancy[e] * price[2][head[e]]
    return cost


@njit(cache=True, nogil=True, _nrt=False)
def toll(e, ports, price):
    """Return what the shared ports of a link cost."""
    sends_by, receives_by, share = ports
    cost = 0.0
    for x in (sends_by[e], receives_by[e]):
        if x >= 0:
            cost += share[x] * price[x]
    return cost


@njit(cache=True, nogil=True, _nrt=False)
def _warm(e, ports, load, hot):
    """Return whether a shared port of a link has that load or more."""
    sends, receives = ports[0][e], ports[1][e]
    return (sends >= 0 and load[sends] >= hot) or (receives >= 0 and load[receives] >= hot)


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def grow(
    visit, begin_at, origin, first_target, targets, first, out, tail, head, branches, use, occupancy, delay, ports,
    depth_cost, loads, price, scale, power, send_limited, receive_limited, hot, at_once,
    old_begin, old_end, old_link, old_parent, begin, end, link, parent, used, room,
):  # fmt: skip
    """Grow a tree for each packet of `visit` from number `begin_at` on, the old one given up first.

    * `visit`, int64[V].
    * `origin`, `first_target`, `targets`, int32[P], int64[P + 1], int32[]: where each packet is, and where it must get.
    * `first`, `out`, int64[N + 1], int32[L]: the links that lead on from each node; `tail` and `head` are their ends.
    * `branches`, bool[N]: whether a node sends several copies of what it received once.
    * `use`, `occupancy`, `delay`, float64[L]: what a packet takes of a link (a share of its capacity), of a node's
      port, and of time.
    * `ports`, int64[L], int64[L], float64[S]: shared ports through which each link sends and receives, -1 for none, and
      what a packet takes of each.
    * `depth_cost`: what a slot of delay costs, in units of the price of a slot of a full link.
    * `loads`, `price`, 4 arrays, float64[L], float64[N], float64[N], float64[S]: of links, of the nodes' ports at which
      packets leave, of those at which they come, and of shared ports.
    * `scale`, `power`: a load of `scale` costs 1, and a load a times as large a ** power.
    * `hot`: trees that use nothing of that load or more are kept as they are.
    * `at_once`: whether a way counts as soon as it is part of a tree, so that later ones of the tree are dearer on its
      links.
    * `old_begin`, `old_end`, `old_link`, `old_parent`, `begin`, `end`, `link`, `parent`: trees: the hops of packet p
      are begin[p]..end[p]-1 of `link`, each with the hop of the same packet that brings what it carries on, counted
      from begin[p], or -1.
    * `used`: entries of `link` that are used.
    * `room`, 2 arrays float64[N] and 6 arrays int64[N]: to work in.

    Returns: the place in `visit` that was reached, less than its size where there was no more room; entries used. Or -1
    and the packet, if it does not get to a target.
    """
    nodes = first.size - 1
    roads = tail, head, use, occupancy, ports, send_limited, receive_limited
    market = loads, price, scale, power
    key, depth, by, at, heap, place, wanted, way = room  # at: the hop by which a packet came, -1: origin, -2: none
    passing = 0
    for x in range(nodes):
        depth[x], wanted[x] = 0.0, -1
        passing += 0 if branches[x] else 1
    shared = ports[2].size > 0
    for i in range(begin_at, visit.size):
        p = visit[i]
        size_before = old_end[p] - old_begin[p]
        wants = first_target[p + 1] - first_target[p]
        spare = nodes + wants * passing
        if used + (spare if spare > size_before else size_before) > link.size:
            return i, used
        warm = hot <= 0.0
        for h in range(old_begin[p], old_end[p]):
            e = old_link[h]
            if not warm:
                warm = loads[0][e] >= hot or (send_limited and loads[1][tail[e]] >= hot)
                warm = warm or (receive_limited and loads[2][head[e]] >= hot)
                warm = warm or (shared and _warm(e, ports, loads[3], hot))
        begin[p] = used
        if not warm:
            for h in range(old_begin[p], old_end[p]):
                link[used], parent[used] = old_link[h], old_parent[h]
                used += 1
            end[p] = used
            continue
        for h in range(old_begin[p], old_end[p]):
            charge(old_link[h], -1.0, roads, market)
        missing = 0
        for j in range(first_target[p], first_target[p + 1]):
            if targets[j] != origin[p]:
                wanted[targets[j]] = p
                missing += 1
        for x in range(nodes):
            key[x], place[x], at[x] = np.inf, -1, -2
        u = origin[p]
        key[u], at[u], depth[u] = 0.0, -1, 0.0
        heap[0], place[u] = u, 0
        size = 1
        while missing and size:
            x = pop_node(heap, place, size, key)
            size -= 1
            if wanted[x] == p and at[x] == -2:
                # attach the way that leads here
                hops, y = 0, x
                while at[y] == -2:
                    e = by[y]
                    way[hops] = e
                    hops += 1
                    y = tail[e]
                hop = at[y]
                for j in range(hops - 1, -1, -1):
                    e = way[j]
                    y = head[e]
                    link[used], parent[used] = e, hop
                    hop = used - begin[p]
                    used += 1
                    depth_here = depth[tail[e]] + delay[e]
                    if branches[y]:
                        at[y] = hop
                        depth[y] = depth_here
                        key[y] = depth_cost * depth_here
                        if wanted[y] == p:
                            missing -= 1
                        if place[y] < 0:
                            heap[size], place[y] = y, size
                            size += 1
                        rise(heap, place, place[y], key)
                    else:
                        depth[y] = depth_here
                if at_once:
                    for j in range(hops):
                        charge(way[j], 1.0, roads, market)
                    if passing:  # links are used again: look anew, from all that is there
                        size = 0
                        for y in range(nodes):
                            key[y], place[y] = np.inf, -1
                            if at[y] != -2:
                                key[y] = depth_cost * depth[y]
                                heap[size], place[y] = y, size
                                size += 1
                                rise(heap, place, place[y], key)
                continue
            for j in range(first[x], first[x + 1]):
                e = out[j]
                y = head[e]
                if at[y] != -2:
                    continue
                cost = cost_of(e, depth_cost * delay[e], roads, price)
                if shared:
                    cost += toll(e, ports, price[3])
                if key[x] + cost < key[y]:
                    key[y], by[y] = key[x] + cost, e
                    if place[y] < 0:
                        heap[size], place[y] = y, size
                        size += 1
                    rise(heap, place, place[y], key)
        for j in range(first_target[p], first_target[p + 1]):
            wanted[targets[j]] = -1
        end[p] = used
        for h in range(begin[p], end[p] if not at_once else begin[p]):
            charge(link[h], 1.0, roads, market)
        if missing:
            return -1, p
    return visit.size, used


_LOOK_SECONDS = 3e-6
"""Seconds for a packet and a link, where nothing is compiled."""

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class PacketDemand(NamedTuple):
    """Packets and where they must get.

    `origin`, int32[P]: where each packet is. `first`, `target`, int64[P + 1], int32[]: packet p must get to the nodes
    ``target[first[p]:first[p + 1]]``.
    """

    origin: IntArray
    first: Longs
    target: IntArray


class Forest(NamedTuple):
    """A tree for each packet.

    `begin`, `end`, int64[P]: the hops of packet p are the entries begin[p]..end[p]-1. `link`, `parent`, int32[]: the
    link of each, and the place in the tree of the hop that brings what it carries on; -1 at the root.
    """

    begin: Longs
    end: Longs
    link: IntArray
    parent: IntArray

    @property
    def hops(self) -> int:
        """Number of hops of all trees."""
        return int((self.end - self.begin).sum())

    def graph(self) -> HopGraph:
        """Return the hops, those of a packet in a row, each waiting for the one that brings what it carries on."""
        size = self.end - self.begin
        first = np.zeros(size.size + 1, np.int64)
        np.cumsum(size, out=first[1:])
        place = np.arange(first[-1]) + np.repeat(self.begin - first[:-1], size)
        parent = self.parent[place]
        parent = np.where(parent < 0, -1, parent + np.repeat(first[:-1], size)).astype(np.int64)
        packet = np.repeat(np.arange(size.size, dtype=np.int32), size)
        return HopGraph.of_parents(self.link[place], packet, parent)


class TreeGrowth:
    """Trees of several demands that share links, grown again and again.

    `roads`: links and ports.

    >>> import gossamer
    >>> growth = TreeGrowth(LinkResources.of(gossamer.network("ring:4"), gossamer.Rules()))
    >>> demand = PacketDemand(np.zeros(1, np.int32), np.array([0, 3]), np.array([1, 2, 3], np.int32))
    >>> growth.grow(demand, np.ones(4, bool), None, power=4.0).hops, growth.congestion
    (3, 1.0)
    """

    def __init__(self, roads: LinkResources) -> None:
        self.roads = roads
        self.use: Floats = roads.occupancy / roads.capacity
        self.occupancy: Floats = roads.occupancy.astype(np.float64)
        self.delay: Floats = self.occupancy + roads.latency
        shares = roads.ports.shares
        self.ports = roads.ports.sending, roads.ports.receiving, shares
        nodes = roads.cut.size
        self.loads = (np.zeros(roads.source.size), np.zeros(nodes), np.zeros(nodes), np.zeros(shares.size))
        self._ends = roads.source.copy(), roads.target.copy()  # kernels are compiled once for arrays of one kind
        self._forward = self._sorted(roads.source, nodes)
        self._backward = self._sorted(roads.target, nodes)

    @staticmethod
    def _sorted(ends: IntArray, nodes: int) -> tuple[Longs, IntArray]:
        first = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(ends, minlength=nodes), out=first[1:])
        return first, np.argsort(ends, kind="stable").astype(np.int32)

    @property
    def onward(self) -> tuple[Longs, IntArray]:
        """The links that leave each node, ``links[first[u]:first[u + 1]]``: first and links."""
        return self._forward

    def prices(self, scale: float, power: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return what one more packet costs a slot: on links, at nodes that send and receive, and in shared ports."""
        found = tuple(np.empty(load.size) for load in self.loads)
        ones = np.ones(self.loads[1].size)
        for load, use, price in zip(self.loads, (self.use, ones, ones, self.ports[2]), found, strict=True):
            prices(load, use, scale, power, price)
        return found  # type: ignore[return-value]  # four

    def seldom(self, packets: int) -> None:
        """Say that trees are grown next for so many packets, each of them counted as often as it gets a new one."""
        from gossamer.jit import seldom

        seldom(grow, _LOOK_SECONDS * packets * self.roads.source.size)

    @property
    def congestion(self) -> float:
        """The most slots for which a link or a port is occupied."""
        return float(max(load.max(initial=0.0) for load in self.loads))

    def grow(
        self,
        demand: PacketDemand,
        branches: npt.NDArray[np.bool_],
        old: Forest | None,
        *,
        power: float,
        depth_cost: float = 0.0,
        hot: float = 0.0,
        at_once: bool = False,
        inward: bool = False,
        visit: Longs | None = None,
        scale: float | None = None,
    ) -> Forest:
        """Return new trees for a demand, whose old ones are given up one by one.

        * `demand`: the packets.
        * `branches`, bool[N]: whether a node sends several copies of what it received once.
        * `old`: the trees so far, which are part of the loads.
        * `power`: how steeply prices rise with the load.
        * `depth_cost`: what a slot of delay costs; a slot of a most loaded link costs 1.
        * `hot`: keep trees that use nothing of that load or more.
        * `at_once`: whether the ways of one tree, too, get dearer as links are used: where nodes that pass things on
          make no copies, a tree may use a link often. Then ways are looked for again for each target.
        * `inward`: whether trees lead to the origins rather than from them.
        * `visit`, int64[P]: the order of the packets.
        * `scale`: the load of price 1. Default: the congestion.

        Raises NetworkError if no path leads to a target.

        O((L + targets * path) log N) for each packet.
        """
        roads, packets = self.roads, demand.origin.size
        scale = max(scale or self.congestion, 1.0)
        tail, head = self._ends[:: -1 if inward else 1]
        limits = roads.send_limited, roads.receive_limited
        link_load, send_load, receive_load, shared = self.loads
        loads = (link_load, receive_load, send_load, shared) if inward else self.loads
        limits = limits[::-1] if inward else limits
        price = self.prices(scale, power)
        price = (price[0], price[2], price[1], price[3]) if inward else price
        if old is None:
            nothing = np.zeros(packets, np.int64)
            old = Forest(nothing, nothing, np.zeros(0, np.int32), np.zeros(0, np.int32))
        begin, end = np.zeros(packets, np.int64), np.zeros(packets, np.int64)
        most = int(np.diff(demand.first).max(initial=0)) * np.count_nonzero(~branches) + branches.size
        link = np.empty(old.hops + old.hops // 8 + 4 * most + demand.target.size * 4, np.int32)
        parent = np.empty_like(link)
        visit = np.arange(packets) if visit is None else visit
        first, out = self._backward if inward else self._forward
        reached, used = 0, 0
        room = (*np.empty((2, branches.size)), *np.empty((6, branches.size), np.int64))
        while reached < packets:
            reached, used = grow(
                visit, reached, demand.origin, demand.first, demand.target, first, out, tail, head, branches, self.use,
                self.occupancy, self.delay, self.ports, depth_cost, loads, price, scale, power, *limits, hot, at_once,
                old.begin, old.end, old.link, old.parent, begin, end, link, parent, used, room,
            )  # fmt: skip
            if reached < 0:
                raise NetworkError(f"no path from node {int(demand.origin[used])} to some target")
            if reached < packets:
                link, parent = (np.concatenate([a, np.empty(a.size // 2 + 2 * most, np.int32)]) for a in (link, parent))
        return Forest(begin, end, link[:used], parent[:used])
