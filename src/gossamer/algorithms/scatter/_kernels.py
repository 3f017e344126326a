"""Compiled kernels of the all-port scatter; plain arrays in and out."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["balance", "branch_rates"]


@njit(cache=True, nogil=True)
def balance(order, distance, first, link, link_source, terminals, rate, parent_link, branch):
    """Choose a parent for each node so that the branches at the root have few terminals; see `balanced_tree`.

    `order` is breadth-first. Node v may be reached by ``link[first[v]:first[v+1]]``. `rate` int64[branches] is the
    capacity of the root's links. `branch` int32[N] must hold the branches of the nodes at distance 1, -1 elsewhere.
    """
    branches = rate.size
    size = np.zeros(branches, np.int64)
    stamp = np.full(branches, -1, np.int64)
    options = np.zeros(order.size, np.int64)
    room = np.zeros(branches + 2, np.int64)
    turn = np.empty(order.size, np.int32)
    a = 1
    while a < order.size:
        b = a
        room[:] = 0
        while b < order.size and distance[order[b]] == distance[order[a]]:
            v = order[b]
            if branch[v] < 0:
                for i in range(first[v], first[v + 1]):
                    c = branch[link_source[link[i]]]
                    if stamp[c] != v:
                        stamp[c] = v
                        options[b] += 1
            room[options[b] + 1] += 1
            b += 1
        for k in range(1, branches + 2):
            room[k] += room[k - 1]
        for i in range(a, b):  # fewest options first
            turn[a + room[options[i]]] = order[i]
            room[options[i]] += 1
        for i in range(a, b):
            v = turn[i]
            if branch[v] < 0:
                for k in range(first[v], first[v + 1]):
                    c = branch[link_source[link[k]]]
                    if branch[v] < 0 or size[c] * rate[branch[v]] < size[branch[v]] * rate[c]:
                        branch[v] = c
                        parent_link[v] = link[k]
            if v < terminals:
                size[branch[v]] += 1
        a = b


@njit(cache=True, nogil=True)
def branch_rates(order, parent_link, link_source, link_capacity, branch, rate):
    """Fill `branch` int32[N] of every node of a tree and lower `rate` to the least capacity in each branch.

    `order` holds each node after its parent; the i-th link of the root is branch i.
    """
    root = order[0]
    branch[root] = -1
    for i in range(1, order.size):
        v = order[i]
        u = link_source[parent_link[v]]
        if u != root:
            branch[v] = branch[u]
        rate[branch[v]] = min(rate[branch[v]], link_capacity[parent_link[v]])
