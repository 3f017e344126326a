"""Paths of packets on an array or torus, chosen so that the most loaded link carries as little as possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.path_and_hop_tables import Paths
from gossamer.jit import njit
from gossamer.jit.heap import pop_node, rise
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network

__all__ = ["BalancingLimits", "balanced_paths", "without_loops"]

# The path of packet p is ``path[begin[p]:end[p]]``. `load` int32[L] counts the paths over each link, and `cost`
# float64[] says, by its load, what a link costs one more path; any greater load costs as much as the last entry.


@njit(cache=True, nogil=True, inline="always")
def _differences(u, v, sides, wraps, strides, column, steps, up, down, change):
    """Write the dimensions in which u and v differ, with distance, directions and change of node number."""
    k = 0
    for c in range(sides.size):
        a, b = u // strides[c] % sides[c], v // strides[c] % sides[c]
        if a == b:
            continue
        upward = b - a if b > a else b - a + sides[c]
        column[k], change[k] = c, (b - a) * strides[c]
        if wraps[c]:
            downward = sides[c] - upward
            steps[k], up[k], down[k] = min(upward, downward), upward <= downward, downward <= upward
        else:
            steps[k], up[k], down[k] = abs(b - a), b > a, b < a
        k += 1
    return k


@njit(cache=True, nogil=True, small=100_000)
def _along_dimensions(
    origin, target, begin, end, path, load, cost, visit, sides, wraps, strides, links, link_target, placed
):  # fmt: skip
    """Put the packets of `visit`, one by one, on the cheapest of their shortest dimension-ordered paths.

    The cheapest order of k dimensions is a cheapest path through the 2**k sets of dimensions corrected. Antipodal
    digits of a ring are corrected in either direction. `placed` says whether the packets have paths, which are given
    up one at a time.
    """
    d = sides.size
    column, steps, change = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    up, down = np.empty(d, np.bool_), np.empty(d, np.bool_)
    total = np.empty(1 << d, np.float64)
    last, last_way = np.empty(1 << d, np.int64), np.empty(1 << d, np.int64)
    node = np.empty(1 << d, np.int64)
    top = cost.size - 1
    for p in visit:
        if placed:
            for h in range(begin[p], end[p]):
                load[path[h]] -= 1
        k = _differences(origin[p], target[p], sides, wraps, strides, column, steps, up, down, change)
        full = (1 << k) - 1
        for done in range(1, full + 1):
            total[done] = np.inf
        total[0], node[0] = 0.0, origin[p]
        for done in range(full):
            for j in range(k):
                if done >> j & 1:
                    continue
                then = done | 1 << j
                node[then] = node[done] + change[j]
                c = column[j]
                for way in range(2):
                    if not (up[j] if way == 0 else down[j]):
                        continue
                    x, spent = node[done], total[done]
                    for _ in range(steps[j]):
                        e = links[x, c, way]
                        spent += cost[min(load[e], top)]
                        if spent >= total[then]:
                            break
                        x = link_target[e]
                    if spent < total[then]:
                        total[then], last[then], last_way[then] = spent, j, way
        done, h = full, end[p]
        while done:
            j, way = last[done], last_way[done]
            done ^= 1 << j
            h -= steps[j]
            x, c = node[done], column[j]
            for i in range(h, h + steps[j]):
                e = links[x, c, way]
                path[i] = e
                load[e] += 1
                x = link_target[e]


@njit(cache=True, nogil=True, small=100_000)
def _monotone(origin, target, begin, end, path, load, cost, visit, sides, wraps, strides, links, link_target):
    """Move the packets of `visit`, one by one, to the cheapest of all their shortest paths.

    The nodes on shortest paths make a box with one corner at the origin; they are visited in the order of their place
    in it. Antipodal digits of a ring make several boxes, which are all looked at.
    """
    d, nodes = sides.size, links.shape[0]
    column, steps, change = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    up, down = np.empty(d, np.bool_), np.empty(d, np.bool_)
    way, weight, digit = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    total, node, last = np.empty(nodes, np.float64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    longest = 0
    for p in visit:
        longest = max(longest, end[p] - begin[p])
    best = np.empty(longest, np.int64)
    top = cost.size - 1
    for p in visit:
        for h in range(begin[p], end[p]):
            load[path[h]] -= 1
        k = _differences(origin[p], target[p], sides, wraps, strides, column, steps, up, down, change)
        ties, size, hops = 0, 1, 0
        for j in range(k):
            ties += up[j] and down[j]
            weight[j] = size
            size *= steps[j] + 1
            hops += steps[j]
        least = np.inf
        for choice in range(1 << ties):
            bit = 0
            for j in range(k):
                digit[j] = 0
                way[j] = 0 if up[j] else 1
                if up[j] and down[j]:
                    way[j] = choice >> bit & 1
                    bit += 1
            for q in range(1, size):
                total[q] = np.inf
            total[0], node[0] = 0.0, origin[p]
            for q in range(size - 1):
                x = node[q]
                for j in range(k):
                    if digit[j] == steps[j]:
                        continue
                    e = links[x, column[j], way[j]]
                    spent = total[q] + cost[min(load[e], top)]
                    then = q + weight[j]
                    if spent < total[then]:
                        total[then], last[then], node[then] = spent, j, link_target[e]
                for j in range(k):  # the next place in the box
                    digit[j] += 1
                    if digit[j] <= steps[j]:
                        break
                    digit[j] = 0
            if total[size - 1] < least:
                least = total[size - 1]
                q = size - 1
                for i in range(hops - 1, -1, -1):
                    j = last[q]
                    q -= weight[j]
                    best[i] = links[node[q], column[j], way[j]]
        for i in range(hops):
            path[begin[p] + i] = best[i]
            load[best[i]] += 1


@njit(cache=True, nogil=True, small=100_000)
def _anywhere(
    origin, target, begin, end, path, used, load, cost, visit, crowded, searches, first_link, link_source, link_target
):  # fmt: skip
    """Move the packets of `visit` that cross a link of load `crowded` or more to their cheapest path over any links.

    `path` has `used` entries; a path longer than the one that it replaces is written behind them while there is room.
    At most `searches` packets are looked at. Return the new number of entries used, and the packets looked at.
    """
    nodes = first_link.size - 1
    distance, by = np.empty(nodes, np.float64), np.empty(nodes, np.int64)
    heap, place = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    top = cost.size - 1
    searched = 0
    for p in visit:
        hot = False
        for h in range(begin[p], end[p]):
            if load[path[h]] >= crowded:
                hot = True
        if not hot:
            continue
        if searched == searches:
            break
        searched += 1
        now = 0.0
        for h in range(begin[p], end[p]):
            load[path[h]] -= 1
            now += cost[min(load[path[h]], top)]
        u, v = origin[p], target[p]
        for x in range(nodes):
            distance[x], place[x] = np.inf, -1
        distance[u], heap[0], place[u] = 0.0, u, 0
        size = 1
        while size:
            x = pop_node(heap, place, size, distance)
            size -= 1
            if x == v or distance[x] >= now:
                break
            for e in range(first_link[x], first_link[x + 1]):
                y = link_target[e]
                spent = distance[x] + cost[min(load[e], top)]
                if spent < distance[y]:
                    distance[y], by[y] = spent, e
                    if place[y] < 0:
                        heap[size], place[y] = y, size
                        size += 1
                    rise(heap, place, place[y], distance)
        if distance[v] < now:
            hops, x = 0, v
            while x != u:
                hops += 1
                x = link_source[by[x]]
            fits = hops <= end[p] - begin[p]
            if fits or used + hops <= path.size:
                if not fits:
                    begin[p] = used
                    used += hops
                end[p] = begin[p] + hops
                x = v
                for h in range(end[p] - 1, begin[p] - 1, -1):
                    path[h] = by[x]
                    x = link_source[by[x]]
        for h in range(begin[p], end[p]):
            load[path[h]] += 1
    return used, searched


@njit(cache=True, nogil=True, small=100_000)
def _forget_loops(begin, end, path, link_source, link_target, at):
    """Cut out of every path what lies between two visits to a node, and what follows its last node's first visit.

    `at` int64[N] must be -1 and is so again at the end.
    """
    for p in range(begin.size):
        if end[p] == begin[p]:
            continue
        kept = begin[p]
        at[link_source[path[kept]]] = kept
        for h in range(begin[p], end[p]):
            path[kept] = path[h]
            kept += 1
            x = link_target[path[h]]
            if at[x] >= 0:
                for i in range(at[x], kept):
                    y = link_target[path[i]]
                    if y != x:
                        at[y] = -1
                kept = at[x]
            else:
                at[x] = kept
        end[p] = kept
        at[link_source[path[begin[p]]]] = -1
        for h in range(begin[p], kept):
            at[link_target[path[h]]] = -1


@njit(cache=True, nogil=True, small=100_000)
def _pack(begin, end, path, first, packed):
    """Write the paths one after the other, with int64[P + 1] `first` where each begins."""
    at = 0
    for p in range(begin.size):
        first[p] = at
        for h in range(begin[p], end[p]):
            packed[at] = path[h]
            at += 1
    first[begin.size] = at


# Balanced paths: packets are placed one by one where links are least loaded, and placed again.
#
# A link that carries ``l`` paths costs one more path ``((l + 1) / c)**q`` with the congestion c. With q = 12 paths
# spread out; the larger q, the more the most loaded links alone count. Packets choose first among the orders in which
# dimensions can be corrected, then among all shortest paths, and at last those on the most loaded links among all
# paths.

_BLUNT, _SHARPEST = 12.0, 400.0
_VAIN_ROUNDS = 8
_SEARCHED_NODES = 100_000_000
"""The most nodes looked at in one round of searches for paths over any links."""


class BalancingLimits(NamedTuple):
    """How often packets are placed again.

    * `orders` (int): rounds in which each packet chooses among the orders of its dimensions, at least 1.
    * `shortest` (int): rounds in which each packet chooses among its shortest paths.
    * `anywhere` (int): rounds in which packets on the most loaded links choose among all paths.
    """

    orders: int
    shortest: int
    anywhere: int

    @classmethod
    def of(cls, hops: int) -> BalancingLimits:
        """Return the rounds for so many hops in all.

        >>> BalancingLimits.of(10_000), BalancingLimits.of(30_000_000)
        (BalancingLimits(orders=8, shortest=8, anywhere=24), BalancingLimits(orders=4, shortest=1, anywhere=1))
        """
        if hops <= 1_000_000:
            return cls(8, 8, 24)
        if hops <= 8_000_000:
            return cls(6, 2, 4)
        return cls(4, 1, 1)


def balanced_paths(
    network: Network,
    origin: IntArray,
    target: IntArray,
    *,
    seed: int = 0,
    effort: BalancingLimits | None = None,
    load: npt.NDArray[np.int32] | None = None,
) -> Paths:
    """Choose a path for every packet so that the most loaded link carries few.

    * `network` (Network): an array or torus.
    * `origin`, `target` (int32[P]): the two ends of each path.
    * `seed` (int): for the order in which packets are placed.
    * `effort` (BalancingLimits): default: `BalancingLimits.of` the hops of shortest paths.
    * `load` (int32[L]): packets that each link carries besides these. Default: none.

    Returns: shortest paths, except for packets that could leave a most loaded link by another way.

    A packet of k dimensions, s steps each, costs k 2**(k-1) s looks at a load in each round of `orders`, about
    k (s+1)**k in one of `shortest`, and O(N log N) in one of `anywhere`. 4 bytes a hop are held for the paths, as many
    for the best found so far, and 20 a packet.

    Source: Gossamer.

    >>> from gossamer.networks import array
    >>> net = array(3, 3)
    >>> paths = balanced_paths(net, np.zeros(8, np.int32), np.arange(1, 9, dtype=np.int32))
    >>> int(paths.load(net.link_count).max()), paths.longest
    (4, 4)
    """
    assert network.grid is not None
    sides, wraps = np.array(network.grid.sides), np.array(network.grid.wraps)
    grid = (sides, wraps, np.array(network.grid.strides), grid_links(network), network.link_target)
    first = np.zeros(origin.size + 1, np.int64)
    np.cumsum(_distances(network, origin, target), out=first[1:])
    hops = int(first[-1])
    effort = effort or BalancingLimits.of(hops)
    room = (4 * hops if hops <= 1_000_000 else hops // 4) if effort.anywhere else 0
    now = _Placing(first[:-1].copy(), first[1:].copy(), np.empty(hops + room, np.int32), _loads(network, load))
    best = _Best(now, hops)
    random = np.random.default_rng(seed)
    guess = int(now.load.max(initial=0)) + hops // max(network.link_count, 1) + 1
    sharpness = np.geomspace(_BLUNT, max(_BLUNT, min(_SHARPEST, 4.0 * guess)), max(effort.orders, effort.shortest, 2))
    for turn in range(effort.orders):
        cost = _power(guess if turn == 0 else now.congestion, sharpness[turn])
        visit = random.permutation(origin.size)
        _along_dimensions(origin, target, *now.arrays, cost, visit, *grid, turn > 0)
        best.keep(now)
    for q in sharpness[-effort.shortest :] if effort.shortest and np.count_nonzero(sides > 2) > 1 else ():
        cost = _power(now.congestion, q)
        _monotone(origin, target, *now.arrays, cost, random.permutation(origin.size), *grid)
        best.keep(now)
    used = hops
    links = (network.first_link, network.link_source, network.link_target)
    reached, vain = best.congestion, 0
    for turn, cost in enumerate(_exponentials(now, effort.anywhere)):
        crowded = now.congestion - turn % 2
        used, _ = _anywhere(
            origin, target, now.begin, now.end, now.path, used, now.load, cost, random.permutation(origin.size),
            crowded, _SEARCHED_NODES // network.node_count, *links,
        )  # fmt: skip
        best.keep(now, used)
        vain = vain + 1 if best.congestion == reached else 0
        reached = best.congestion
        if vain == _VAIN_ROUNDS:
            break
    return _packed(best.kept.begin, best.kept.end, best.kept.path)


def without_loops(network: Network, paths: Paths) -> Paths:
    """Return the paths without what lies between two visits to a node.

    O(hops) time; paths without loops stay as they are.

    >>> from gossamer.networks import linear_array
    >>> there_and_back = Paths(np.array([0, 3]), np.array([0, 2, 0], np.int32))
    >>> without_loops(linear_array(3), there_and_back).link.tolist()
    [0]
    """
    begin, end, link = paths.first[:-1], paths.first[1:].copy(), paths.link.copy()
    at = np.full(network.node_count, -1, np.int64)
    _forget_loops(begin, end, link, network.link_source, network.link_target, at)
    return _packed(begin, end, link)


def _packed(begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], path: IntArray) -> Paths:

    first, packed = np.empty(begin.size + 1, np.int64), np.empty(int((end - begin).sum()), np.int32)
    _pack(begin, end, path, first, packed)
    return Paths(first, packed)


class _Placing(NamedTuple):
    """The paths as they are being placed."""

    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    path: IntArray
    load: IntArray

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], IntArray, IntArray]:
        return self.begin, self.end, self.path, self.load

    @property
    def congestion(self) -> int:
        return int(self.load.max(initial=0))


class _Best:
    """The paths of least congestion so far."""

    def __init__(self, now: _Placing, hops: int) -> None:
        self.congestion = 2**31
        self.used = hops
        self.kept = now

    def keep(self, now: _Placing, used: int | None = None) -> None:
        """Copy the paths if they are better."""
        used = self.used if used is None else used
        if now.congestion < self.congestion:
            self.congestion, self.used = now.congestion, used
            self.kept = _Placing(now.begin.copy(), now.end.copy(), now.path[:used].copy(), now.load)


def _loads(network: Network, load: npt.NDArray[np.int32] | None) -> IntArray:
    return np.zeros(network.link_count, np.int32) if load is None else load.astype(np.int32)


def _distances(network: Network, origin: IntArray, target: IntArray) -> npt.NDArray[np.int64]:
    """Return the hops between the ends, int64[P]."""
    assert network.grid is not None
    total = np.zeros(origin.size, np.int64)
    grid = network.grid
    for side, wraps, stride in zip(grid.sides, grid.wraps, grid.strides, strict=True):
        apart = np.abs(origin // stride % side - target // stride % side)
        total += np.minimum(apart, side - apart) if wraps else apart
    return total


def _power(congestion: int, sharpness: float) -> npt.NDArray[np.float64]:
    """Return the cost of one more path by load, with a trifle for each link so that nothing is free."""
    relative = np.arange(1, 2 * congestion + 3) / max(congestion, 1)
    return np.exp(np.minimum(sharpness * np.log(relative), 300.0)) + 1e-9 * relative


def _exponentials(now: _Placing, turns: int) -> Iterator[npt.NDArray[np.float64]]:
    """Yield costs that fall by a factor for each path below the congestion of the moment, ever faster."""
    for factor in np.geomspace(0.5, 3.0, turns):
        below = np.arange(2 * now.congestion + 3) - now.congestion + 1
        yield np.exp(np.minimum(factor * below, 300.0)) + 0.03
