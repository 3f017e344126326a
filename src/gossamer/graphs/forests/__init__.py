"""Trees for many packets, grown over links whose prices rise with their loads, so that no link carries too much.

A packet for one node gets a path, a packet for several a tree with few links (Takahashi and Matsuyama 1980): the
node that is nearest to what is there is attached to it, again and again. All trees are grown several times, one after
the other, each over the links as loaded by all others; a load of a times the largest costs a to the power of q, and q
rises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.graphs.precedence import HopGraph, Roads
from gossamer.networks.network import IntArray

__all__ = ["Demand", "Forest", "Growth"]

_LOOK_SECONDS = 3e-6
"""Seconds for a packet and a link, where nothing is compiled."""

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Demand(NamedTuple):
    """Packets and where they must get.

    Attributes
    ----------
    origin : int32[P]
        Where each packet is.
    first, target : int64[P + 1], int32[]
        Packet p must get to the nodes ``target[first[p]:first[p + 1]]``.
    """

    origin: IntArray
    first: Longs
    target: IntArray


class Forest(NamedTuple):
    """A tree for each packet.

    Attributes
    ----------
    begin, end : int64[P]
        The hops of packet p are the entries begin[p]..end[p]-1.
    link, parent : int32[]
        The link of each, and the place in the tree of the hop that brings what it carries on; -1 at the root.
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


class Growth:
    """Trees of several demands that share links, grown again and again.

    Parameters
    ----------
    roads : Roads
        Links and ports.
    names : sequence of str
        Names of the nodes for errors.

    Examples
    --------
    >>> import gossamer
    >>> growth = Growth(Roads.of(gossamer.network("ring:4"), gossamer.Rules()))
    >>> demand = Demand(np.zeros(1, np.int32), np.array([0, 3]), np.array([1, 2, 3], np.int32))
    >>> growth.grow(demand, np.ones(4, bool), None, power=4.0).hops, growth.congestion
    (3, 1.0)
    """

    def __init__(self, roads: Roads) -> None:
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
        from gossamer.graphs.forests import _kernels

        found = tuple(np.empty(load.size) for load in self.loads)
        ones = np.ones(self.loads[1].size)
        for load, use, price in zip(self.loads, (self.use, ones, ones, self.ports[2]), found, strict=True):
            _kernels.prices(load, use, scale, power, price)
        return found  # type: ignore[return-value]  # four

    def seldom(self, packets: int) -> None:
        """Say that trees are grown next for so many packets, each of them counted as often as it gets a new one."""
        from gossamer.graphs.forests import _kernels
        from gossamer.jit import seldom

        seldom(_kernels.grow, _LOOK_SECONDS * packets * self.roads.source.size)

    @property
    def congestion(self) -> float:
        """The most slots for which a link or a port is occupied."""
        return float(max(load.max(initial=0.0) for load in self.loads))

    def grow(
        self,
        demand: Demand,
        branches: npt.NDArray[np.bool_],
        old: Forest | None,
        *,
        power: float,
        depth_cost: float = 0.0,
        hot: float = 0.0,
        inward: bool = False,
        visit: Longs | None = None,
        scale: float | None = None,
    ) -> Forest:
        """Return new trees for a demand, whose old ones are given up one by one.

        Parameters
        ----------
        demand : Demand
            The packets.
        branches : bool[N]
            Whether a node sends several copies of what it received once.
        old : Forest or None
            The trees so far, which are part of the loads.
        power : float
            How steeply prices rise with the load.
        depth_cost : float
            What a slot of delay costs; a slot of a most loaded link costs 1.
        hot : float
            Keep trees that use nothing of that load or more.
        inward : bool
            Whether trees lead to the origins rather than from them.
        visit : int64[P], optional
            The order of the packets.
        scale : float, optional
            The load of price 1. Default: the congestion.

        Raises
        ------
        NetworkError
            If no path leads to a target.

        Notes
        -----
        O((L + targets * path) log N) for each packet.
        """
        from gossamer.graphs.forests import _kernels

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
            reached, used = _kernels.grow(
                visit, reached, demand.origin, demand.first, demand.target, first, out, tail, head, branches, self.use,
                self.occupancy, self.delay, self.ports, depth_cost, loads, price, scale, power, *limits, hot,
                old.begin, old.end, old.link, old.parent, begin, end, link, parent, used, room,
            )  # fmt: skip
            if reached < 0:
                raise NetworkError(f"no path from node {int(demand.origin[used])} to some target")
            if reached < packets:
                link, parent = (np.concatenate([a, np.empty(a.size // 2 + 2 * most, np.int32)]) for a in (link, parent))
        return Forest(begin, end, link[:used], parent[:used])
