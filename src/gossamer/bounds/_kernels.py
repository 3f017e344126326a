"""Compiled kernels of the bounds floor: the depth-first search that finds cut nodes."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["depth_first"]


@njit(cache=True, nogil=True)
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
