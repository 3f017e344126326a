"""Compiled kernels of the bounds floor: the depth-first search that finds cut nodes, and clusters that grow."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["depth_first", "grow_clusters"]


@njit(cache=True, nogil=True, small=100_000)
def depth_first(first_link, link_target, order, place, parent, low, size):
    """Search a network of two-way links depth-first from node 0; all arrays int64[N] are filled.

    `order` nodes by visit, `place` their places in it (-1 where unreachable), `parent` (-1 at node 0), `low` the least
    place that the branch below a node is joined to, `size` the nodes of that branch. Return the nodes reached.
    """
    place[:] = -1
    parent[:] = -1
    size[:] = 1
    following = first_link[:-1].copy()
    place[0], low[0], order[0] = 0, 0, 0
    reached = 1
    node = 0
    while node >= 0:
        if following[node] < first_link[node + 1]:
            other = link_target[following[node]]
            following[node] += 1
            if place[other] < 0:
                place[other] = low[other] = reached
                order[reached] = other
                parent[other] = node
                reached += 1
                node = other
            elif other != parent[node]:
                low[node] = min(low[node], place[other])
        else:
            above = parent[node]
            if above >= 0:
                low[above] = min(low[above], low[node])
                size[above] += size[node]
            node = above
    return np.int64(reached)


@njit(cache=True, nogil=True)
def grow_clusters(first_link, link_target, active, seeds, largest, inside, joined, beside, best):
    """Grow a set from each seed by the node that makes ``active * (N - nodes) / links leaving`` largest.

    `inside`, `joined` int64[N] must be 0: `inside` ends as the number of the last search that took a node in, `joined`
    counts its links into the set of the search in `beside`. `best` int64[N] is written with the nodes of the best
    set of at most `largest` nodes, the number of which is returned.
    """
    n = first_link.size - 1
    edge = np.empty(n, np.int64)
    members = np.empty(largest, np.int64)
    highest, size = -1.0, 0
    for i in range(seeds.size):
        search = i + 1
        count, width, links, hubs, v = 0, 0, 0, 0, seeds[i]
        beside[v], joined[v] = search, 0
        while True:
            inside[v] = search
            members[count] = v
            count += 1
            hubs += active[v]
            links += first_link[v + 1] - first_link[v] - 2 * joined[v]
            if links > 0 and hubs * (n - count) / links > highest:
                highest, size = hubs * (n - count) / links, count
                for k in range(count):
                    best[k] = members[k]
            if count == largest:
                break
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if inside[w] == search:
                    continue
                if beside[w] != search:
                    beside[w], joined[w] = search, 0
                    edge[width] = w
                    width += 1
                joined[w] += 1
            chosen, ratio = -1, -1.0
            for k in range(width):
                w = edge[k]
                left = links + first_link[w + 1] - first_link[w] - 2 * joined[w]
                if left > 0 and (hubs + active[w]) * (n - count - 1) / left > ratio:
                    chosen, ratio = k, (hubs + active[w]) * (n - count - 1) / left
            if chosen < 0:
                break
            v = edge[chosen]
            width -= 1
            edge[chosen] = edge[width]
    return size
