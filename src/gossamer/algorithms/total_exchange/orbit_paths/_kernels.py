"""Compiled kernel of the paths of one packet of each orbit."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["place"]


@njit(cache=True, nogil=True, small=100_000)
def place(
    first_in, in_links, link_source, link_class, capacity, order, distance, origin_row, target, again, visit, price,
    begin, path, load,
):  # fmt: skip
    """Give each packet the cheapest of its shortest paths, one packet after the other.

    Parameters
    ----------
    first_in, in_links : int64[N + 1], int32[L]
        The links to each node.
    link_source, link_class : int32[L]
        Where each link begins, and its orbit.
    capacity : int64[C]
        Packets that a link of each orbit carries at once.
    order, distance : int32[R, N]
        The nodes by distance from each origin, and the distances.
    origin_row, target : int32[P]
        The row of the origin of each packet, and where it goes.
    again : bool
        Whether packets have paths, which are given up first.
    visit : int64[P]
        The order of the packets.
    price : float64[]
        What one more packet costs on a link with so many for each that it carries at once.
    begin : int64[P + 1]
        The path of packet p is ``path[begin[p]:begin[p + 1]]``.
    path : int32[]
        Links, written.
    load : int64[C]
        Packets on each link, changed.
    """
    n = distance.shape[1]
    cost, last = np.empty(n, np.float64), np.empty(n, np.int32)
    for p in visit:
        row, v = origin_row[p], target[p]
        if again:
            for i in range(begin[p], begin[p + 1]):
                load[link_class[path[i]]] -= 1
        far = distance[row, v]
        cost[order[row, 0]] = 0.0
        for k in range(1, n):
            w = order[row, k]
            if distance[row, w] > far or (distance[row, w] == far and w != v):
                continue
            cost[w] = np.inf
            for i in range(first_in[w], first_in[w + 1]):
                e = in_links[i]
                u = link_source[e]
                if distance[row, u] + 1 == distance[row, w]:
                    c = link_class[e]
                    through = cost[u] + price[min(load[c] // capacity[c], price.size - 1)]
                    if through < cost[w]:
                        cost[w] = through
                        last[w] = e
        for i in range(begin[p + 1] - 1, begin[p] - 1, -1):
            path[i] = last[v]
            load[link_class[path[i]]] += 1
            v = link_source[path[i]]
