"""Compiled kernels that choose paths by the load of the links; plain arrays in and out.

The path of packet p is ``path[begin[p]:end[p]]``. `load` int32[L] counts the paths over each link, and `cost`
float64[] says, by its load, what a link costs one more path; any greater load costs as much as the last entry.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["along_dimensions", "anywhere", "forget_loops", "monotone", "pack"]


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
def along_dimensions(
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
def monotone(origin, target, begin, end, path, load, cost, visit, sides, wraps, strides, links, link_target):
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


@njit(cache=True, nogil=True)
def _rise(heap, place, i, distance):
    x = heap[i]
    while i > 0:
        above = (i - 1) >> 1
        if distance[heap[above]] <= distance[x]:
            break
        heap[i] = heap[above]
        place[heap[i]] = i
        i = above
    heap[i] = x
    place[x] = i


@njit(cache=True, nogil=True)
def _nearest(heap, place, size, distance):
    """Take the nearest node off a heap of `size` nodes."""
    nearest, x = heap[0], heap[size - 1]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[heap[below]] >= distance[x]:
            break
        heap[i] = heap[below]
        place[heap[i]] = i
        i = below
    heap[i] = x
    place[x] = i
    return nearest


@njit(cache=True, nogil=True, small=100_000)
def anywhere(
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
            x = _nearest(heap, place, size, distance)
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
                    _rise(heap, place, place[y], distance)
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
def forget_loops(begin, end, path, link_source, link_target, at):
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
def pack(begin, end, path, first, packed):
    """Write the paths one after the other, with int64[P + 1] `first` where each begins."""
    at = 0
    for p in range(begin.size):
        first[p] = at
        for h in range(begin[p], end[p]):
            packed[at] = path[h]
            at += 1
    first[begin.size] = at
