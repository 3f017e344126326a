"""List scheduling of hops that wait for each other: paths, trees and reductions on any links, in any port model.

No link idles, as far as its ports allow, while a hop may begin on it. Which hop of those that wait goes first is
decided by several rules, and the shortest schedule is kept; going backwards and forwards in time shortens it further.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.port_table import PortTable
from gossamer.networks.network import IntArray, Network
from gossamer.questions.rules import Rules

__all__ = ["HopGraph", "Roads", "Starts", "heights", "scheduled", "shaken"]

_KEPT = 4
"""Schedules of given orders that are shortened."""

_MOVED, _BY = 0.05, (2.0, 4.0, 8.0)
"""The share of packets that are moved in time at once, and by how many slots about, in turn."""
_SHAKEN, _SHAKES, _FEWEST = 3_000_000, 1_000, 10
"""Hops scheduled in all by moving packets, how often at the most, and how seldom it is not begun."""

_PAYS = 60_000
"""Hops that it takes Python a third as long to schedule as to compile what does."""

Longs = npt.NDArray[np.int64]


class HopGraph(NamedTuple):
    """Hops and what waits for what.

    Attributes
    ----------
    link, packet : int32[H]
        The link and the packet of each hop.
    first, following : int64[H + 1], int32[]
        The hops ``following[first[h]:first[h+1]]``, all of them later than h, wait for hop h.
    """

    link: IntArray
    packet: IntArray
    first: Longs
    following: IntArray

    @classmethod
    def of_parents(cls, link: IntArray, packet: IntArray, parent: IntArray) -> HopGraph:
        """Return the graph of hops that wait for one earlier hop each, -1 for none.

        >>> graph = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([4, 5, 6], [0, 0, 0], [-1, 0, 0])))
        >>> graph.first.tolist(), graph.following.tolist()
        ([0, 2, 2, 2], [1, 2])
        """
        children = np.flatnonzero(parent >= 0)
        first = np.zeros(link.size + 1, np.int64)
        np.cumsum(np.bincount(parent[children], minlength=link.size), out=first[1:])
        following = children[np.argsort(parent[children], kind="stable")]
        return cls(link, packet, first, following.astype(np.int32))

    @property
    def need(self) -> IntArray:
        """How many hops each hop waits for, int32[H]."""
        return np.bincount(self.following, minlength=self.link.size).astype(np.int32)

    def turned_round(self) -> HopGraph:
        """Return the graph of the hops in opposite order, each waiting for those that waited for it."""
        from gossamer.graphs.precedence import _kernels

        behind, before = np.empty(self.link.size + 1, np.int64), np.empty(self.following.size, np.int32)
        _kernels.turned_round(self.first, self.following, self.need, behind, before)
        return HopGraph(self.link[::-1].copy(), self.packet[::-1].copy(), behind, before)


class Roads(NamedTuple):
    """The links and ports on which hops are scheduled.

    Attributes
    ----------
    source, target : int32[L]
    occupancy, latency, capacity : int64[L]
        Times in slots, latencies of the parts that are sent; packets at once.
    send_limited, receive_limited : bool
    cut : bool[N]
        Whether a node passes packets on as they come.
    ports : PortTable
        Ports that links share.
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
    def of(cls, network: Network, rules: Rules, parts: int = 1) -> Roads:
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

    def turned_round(self) -> Roads:
        """Return the links in opposite direction."""
        return self._replace(
            source=self.target,
            target=self.source,
            send_limited=self.receive_limited,
            receive_limited=self.send_limited,
            ports=self.ports.turned_round(),
        )


class Starts(NamedTuple):
    """When hops begin, int64[H], and the slots that all take together."""

    slots: int
    start: Longs


def heights(graph: HopGraph, roads: Roads) -> tuple[Longs, Longs]:
    """Return the slots from the start of each hop to the end of all that wait for it, and how many these are."""
    from gossamer.graphs.precedence import _kernels

    height, weight = np.empty(graph.link.size, np.int64), np.empty(graph.link.size, np.int64)
    _kernels.heights(
        graph.link,
        graph.first,
        graph.following,
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
    roads: Roads,
    *,
    least: int = 0,
    tries: int = 3,
    rounds: int = 2,
    orders: Sequence[npt.NDArray[np.float64]] | None = None,
    seed: int = 0,
) -> Starts:
    """Return the shortest schedule found for hops that wait for each other.

    Parameters
    ----------
    graph : HopGraph
        The hops.
    roads : Roads
        Where.
    least : int
        Stop at so many slots.
    tries : int
        Rules that are tried: most slots still to go, most hops still to come, packet by packet, and random ones.
    rounds : int
        How often the best is scheduled backwards and forwards again.
    orders : sequence of float64[H], optional
        Tried instead of the rules: the hop with the least value goes first, and of several the one that is most slots
        away from the end.
    seed : int
        For ties and random orders.

    Notes
    -----
    O(H log H) time for each try and each direction; about 60 bytes a hop.

    References
    ----------
    Gossamer; going back and forth by Valls, Ballestin and Quintanilla 2005.

    Examples
    --------
    >>> import gossamer
    >>> roads = Roads.of(gossamer.network("array:3"), gossamer.Rules())
    >>> hops = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([0, 2, 0], [0, 0, 1], [-1, 0, -1])))
    >>> scheduled(hops, roads).start.tolist()
    [0, 1, 1]
    """
    if not graph.link.size:
        return Starts(0, np.zeros(0, np.int64))
    found: list[Starts] = []
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


def _ranks(
    graph: HopGraph,
    roads: Roads,
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


def _run(graph: HopGraph, roads: Roads, rank: Longs, need: IntArray | None = None) -> Starts:
    from gossamer.graphs.precedence import _kernels

    links = roads.source.size
    used = np.bincount(graph.link, minlength=links)
    ring = np.zeros(links + 1, np.int64)
    np.cumsum(np.minimum(roads.capacity, np.maximum(used, 1)), out=ring[1:])
    longest = int((roads.occupancy + roads.latency)[used > 0].max(initial=1))
    ports = roads.ports
    desk = _kernels.Desk.of(graph.link.size, links, roads.cut.size, longest, int(ports.ring[-1]), ports.hold.size)
    start = np.empty(graph.link.size, np.int64)
    slots = _kernels.list_schedule(
        graph.link, rank, graph.first, graph.following, graph.need, roads.source, roads.target, roads.occupancy,
        roads.latency, ring, np.zeros(int(ring[-1]), np.int64), roads.send_limited, roads.receive_limited,
        ports, roads.cut, start, desk,
    )  # fmt: skip
    return Starts(int(slots), start)


def _foreseen(hops: int) -> None:
    """Have compiled what schedules hops if that pays for so many."""
    if hops > _PAYS:
        from gossamer.graphs.precedence import _kernels
        from gossamer.jit import often

        often(_kernels.list_schedule)


def _tightened(graph: HopGraph, roads: Roads, best: Starts, least: int, rounds: int) -> Starts:
    """Schedule backwards what ended last first, then forwards what then begins first, again and again."""
    if not rounds:
        return best
    turned, against = graph.turned_round(), roads.turned_round()
    takes = (roads.occupancy + roads.latency)[graph.link]
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


def _backwards(turned: HopGraph, against: Roads, now: Starts, takes: Longs) -> Starts:
    """Return the schedule in which, from the end on, what ends last goes first, and every hop as late as it can."""
    back = _run(turned, against, _ranked(-(now.start + takes)[::-1]))
    return Starts(back.slots, back.slots - back.start[::-1] - takes)


def shaken(
    graph: HopGraph, roads: Roads, best: Starts, *, least: int = 0, seed: int = 0, most: int = _SHAKES
) -> Starts:
    """Return a schedule found from a known one by moving some packets in time and scheduling all hops again.

    Parameters
    ----------
    graph, roads : HopGraph, Roads
        The hops, and where.
    best : Starts
        The schedule that is known.
    least : int
        Stop at so many slots.
    seed : int
        For the packets that are moved, and how far.
    most : int
        Steps, at the most.

    Notes
    -----
    A step goes forwards, backwards and forwards in time, and the search goes on from what is no longer than before. By
    default at most 1,000 steps of O(H log H), and about 3,000,000 hops scheduled in all; very many hops are left as
    they are.

    Examples
    --------
    >>> import gossamer
    >>> roads = Roads.of(gossamer.network("array:3"), gossamer.Rules())
    >>> hops = HopGraph.of_parents(*(np.array(x, np.int32) for x in ([0, 2, 0], [0, 0, 1], [-1, 0, -1])))
    >>> shaken(hops, roads, Starts(3, np.array([1, 2, 0]))).start.tolist()
    [0, 1, 1]
    """
    count = min(most, _SHAKEN // (3 * graph.link.size)) if graph.link.size else 0
    if count < _FEWEST or best.slots <= least:
        return best
    _foreseen(3 * count * graph.link.size)
    turned, against = graph.turned_round(), roads.turned_round()
    takes = (roads.occupancy + roads.latency)[graph.link]
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
