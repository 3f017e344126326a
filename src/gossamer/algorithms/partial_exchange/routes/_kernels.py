"""Compiled kernels that choose paths by the load of links; plain arrays in and out.

A path is ``path[begin[p]:end[p]]``, `load` int32[L] counts the paths over each link, and `cost` float64[] says what a
link costs a further path, by its load; greater loads cost as much as the last entry.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["detour", "pack", "place"]


@njit(cache=True, nogil=True)
def place(
    origin, target, begin, end, path, load, cost, visit, sides, wraps, strides, links, link_target, placed
):  # fmt: skip
    """Put the packets of `visit`, one by one, on the cheapest of their shortest dimension-ordered paths.

    The cheapest order of k dimensions is a cheapest path from no dimension to all of them through the subsets of
    dimensions corrected. Antipodal digits of a ring may be corrected in either direction. `placed` says whether the
    packets have paths already, which are then given up one at a time.
    """
    d = sides.size
    column = np.empty(d, np.int64)
    steps = np.empty(d, np.int64)
    ways = np.empty((d, 2), np.bool_)
    change = np.empty(d, np.int64)
    total = np.empty(1 << d, np.float64)
    last = np.empty(1 << d, np.int64)
    last_way = np.empty(1 << d, np.int64)
    node = np.empty(1 << d, np.int64)
    top = cost.size - 1
    for p in visit:
        if placed:
            for h in range(begin[p], end[p]):
                load[path[h]] -= 1
        u, v = origin[p], target[p]
        k = 0
        for c in range(d):
            a, b = u // strides[c] % sides[c], v // strides[c] % sides[c]
            if a == b:
                continue
            up = b - a if b > a else b - a + sides[c]
            down = sides[c] - up
            column[k], change[k] = c, (b - a) * strides[c]
            if wraps[c]:
                steps[k], ways[k, 0], ways[k, 1] = min(up, down), up <= down, down <= up
            else:
                steps[k], ways[k, 0], ways[k, 1] = abs(b - a), b > a, b < a
            k += 1
        full = (1 << k) - 1
        for corrected in range(full + 1):
            total[corrected] = np.inf
        total[0], node[0] = 0.0, u
        for corrected in range(full):
            for j in range(k):
                if corrected >> j & 1:
                    continue
                then = corrected | 1 << j
                node[then] = node[corrected] + change[j]
                for way in range(2):
                    if not ways[j, way]:
                        continue
                    x, c, sum_ = node[corrected], column[j], total[corrected]
                    for _ in range(steps[j]):
                        e = links[x, c, way]
                        sum_ += cost[min(load[e], top)]
                        if sum_ >= total[then]:
                            break
                        x = link_target[e]
                    if sum_ < total[then]:
                        total[then], last[then], last_way[then] = sum_, j, way
        corrected, h = full, end[p]
        while corrected:
            j, way = last[corrected], last_way[corrected]
            corrected ^= 1 << j
            h -= steps[j]
            x, c = node[corrected], column[j]
            for i in range(h, h + steps[j]):
                e = links[x, c, way]
                path[i] = e
                load[e] += 1
                x = link_target[e]


@njit(cache=True, nogil=True)
def _sift_up(heap, place, i, distance):
    v = heap[i]
    while i > 0:
        j = (i - 1) >> 1
        if distance[heap[j]] <= distance[v]:
            break
        heap[i] = heap[j]
        place[heap[i]] = i
        i = j
    heap[i] = v
    place[v] = i


@njit(cache=True, nogil=True)
def _pop(heap, place, size, distance):
    """Take the nearest node off a heap of `size` nodes."""
    nearest, v = heap[0], heap[size - 1]
    size -= 1
    i = 0
    while True:
        j = 2 * i + 1
        if j >= size:
            break
        if j + 1 < size and distance[heap[j + 1]] < distance[heap[j]]:
            j += 1
        if distance[heap[j]] >= distance[v]:
            break
        heap[i] = heap[j]
        place[heap[i]] = i
        i = j
    heap[i] = v
    place[v] = i
    return nearest


@njit(cache=True, nogil=True)
def detour(origin, target, begin, end, path, used, load, cost, visit, limit, first_link, link_target, link_source):
    """Give the packets of `visit` that cross a link of load `limit` or more their cheapest path over any links.

    `path` has `used` entries; a path longer than the old one is written behind them while there is room. Return the
    number of entries used and the number of searches.
    """
    nodes = first_link.size - 1
    distance = np.empty(nodes, np.float64)
    by = np.empty(nodes, np.int32)
    heap = np.empty(nodes, np.int32)
    where = np.empty(nodes, np.int32)
    top = cost.size - 1
    searches = 0
    for p in visit:
        crowded = False
        for h in range(begin[p], end[p]):
            crowded |= load[path[h]] >= limit
        if not crowded:
            continue
        old = 0.0
        for h in range(begin[p], end[p]):
            load[path[h]] -= 1
            old += cost[min(load[path[h]], top)]
        searches += 1
        u, v = origin[p], target[p]
        for x in range(nodes):
            distance[x] = np.inf
            where[x] = -1
        distance[u] = 0.0
        heap[0] = u
        where[u] = 0
        size = 1
        while size:
            x = _pop(heap, where, size, distance)
            size -= 1
            if x == v or distance[x] >= old:
                break
            for e in range(first_link[x], first_link[x + 1]):
                y = link_target[e]
                sum_ = distance[x] + cost[min(load[e], top)]
                if sum_ < distance[y]:
                    if where[y] < 0:
                        where[y] = size
                        heap[size] = y
                        size += 1
                    distance[y] = sum_
                    by[y] = e
                    _sift_up(heap, where, where[y], distance)
        if distance[v] < old:
            hops = 0
            x = v
            while x != u:
                hops += 1
                x = link_source[by[x]]
            if hops <= end[p] - begin[p] or used + hops <= path.size:
                if hops > end[p] - begin[p]:
                    begin[p] = used
                    used += hops
                end[p] = begin[p] + hops
                x = v
                for h in range(end[p] - 1, begin[p] - 1, -1):
                    path[h] = by[x]
                    x = link_source[by[x]]
        for h in range(begin[p], end[p]):
            load[path[h]] += 1
    return used, searches


@njit(cache=True, nogil=True)
def pack(begin, end, path, first, packed):
    """Write the paths one after the other."""
    at = 0
    for p in range(begin.size):
        first[p] = at
        for h in range(begin[p], end[p]):
            packed[at] = path[h]
            at += 1
    first[begin.size] = at
