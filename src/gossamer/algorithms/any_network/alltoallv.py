"""Uneven exchanges in milliseconds: shortest paths that share the loads, then list scheduling.

Loads of experts change every few hundred milliseconds, so that a schedule for them must be there at once. Most of such
traffic is held up by a few nodes or servers; shortest ways that share the links there evenly are as good as any.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import timed
from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import LinkResources, scheduled
from gossamer.graphs.priced_trees import Forest
from gossamer.jit import njit
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, COPY, DemandTable, Grouped, UnevenExchange
from gossamer.schedules import Schedule

__all__ = ["SHARED_SHORTEST_WAYS", "exchanged_at_once", "propose_at_once", "short_ways"]


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
        found, depth, lowest, kept = 0, 0, np.inf, 0
        u = origin[p]
        place[0] = u
        tried[0] = 0
        while depth >= 0:
            u = place[depth]
            if away[row, u] == 0:
                found += 1
                cost = _price(way, depth, use, source, target, hold, limits, link_load, send_load, receive_load, scale)
                if cost < lowest:
                    lowest, kept = cost, depth
                    for i in range(depth):
                        best[i] = way[i]
                if found == choices:
                    break
                depth -= 1
                continue
            degree = first[u + 1] - first[u]
            moved = False
            while tried[depth] < degree:
                e = first[u] + (tried[depth] + turn[p]) % degree
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
        for i in range(kept):
            links[start + i] = best[i]
        for i in range(kept, room):
            links[start + i] = -1
        _put(links, start, start + kept, 1.0, source, target, link_load, send_load, receive_load)


# Shortest ways for many packets, each the least loaded of a few: quick, and good where a few bottlenecks decide.

_ROUNDS = 3
_CHOICES = 12

Times = npt.NDArray[np.int32]


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
