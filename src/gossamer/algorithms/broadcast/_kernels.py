"""Compiled kernel of the one-port broadcast on a tree; plain arrays in and out."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["one_port_times"]


@njit(cache=True, nogil=True)
def one_port_times(order, parent_link, link_source, needed, time):
    """Fill `needed` and `time` int32[N]: slots that a node's subtree takes, and when each node has the message.

    `order` holds each node after its parent, the children of a node in a row and in the order of their parents.
    A node serves its children by decreasing `needed`; of equal ones the first in `order` goes first.
    """
    end = order.size
    for i in range(order.size - 1, -1, -1):  # the children of order[i] end before `end`
        v = order[i]
        first = end
        while first > i + 1 and link_source[parent_link[order[first - 1]]] == v:
            first -= 1
        children = order[first:end]
        ranks = np.argsort(-needed[children], kind="mergesort")
        needed[v] = 0
        for k in range(children.size):
            c = children[ranks[k]]
            needed[v] = max(needed[v], needed[c] + k + 1)
            time[c] = k + 1
        end = first
    time[order[0]] = 0
    for i in range(1, order.size):
        v = order[i]
        time[v] += time[link_source[parent_link[v]]]
