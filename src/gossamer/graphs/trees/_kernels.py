"""Compiled kernels for rooted trees: pruning and paths; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["grow", "path_hops", "prune"]


@njit(cache=True, nogil=True, small=100_000)
def prune(order, parent_link, link_source, terminals, kept):
    """Mark in `kept` uint8[N] the nodes of a tree that are terminals or lead to one; `order` is by depth."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        if v < terminals:
            kept[v] = 1
        if kept[v] and parent_link[v] >= 0:
            kept[link_source[parent_link[v]]] = 1


@njit(cache=True, nogil=True, small=100_000)
def path_hops(parent_link, link_source, destination, depth, start, room, slot, link, packet):
    """Write the hops of packet i, which leaves the root in slot start[i] and moves on in every slot.

    `room` int64[slots+1] must be zero. Columns come out sorted by slot and, within a slot, by packet.
    """
    for i in range(destination.size):
        room[start[i]] += 1
        room[start[i] + depth[i]] -= 1
    first, active = 0, 0
    for t in range(room.size):  # from packets that start or end to the first row of each slot
        active += room[t]
        room[t] = first
        first += active
    for i in range(destination.size):
        v = destination[i]
        for t in range(start[i] + depth[i] - 1, start[i] - 1, -1):
            row = room[t]
            room[t] += 1
            slot[row], link[row], packet[row] = t, parent_link[v], i
            v = link_source[parent_link[v]]


@njit(cache=True, nogil=True, small=100_000)
def grow(root, parent, order, depth):
    """Fill `order` and `depth` int32[N] breadth-first from the parents (-1 outside the tree and at the root).

    Returns the number of nodes reached. `depth` must hold -1.
    """
    first = np.zeros(parent.size + 2, np.int64)
    for v in range(parent.size):
        first[parent[v] + 2] += 1  # nodes without a parent are counted before node 0
    for u in range(1, first.size):
        first[u] += first[u - 1]
    child = np.empty(parent.size, np.int32)
    room = first[:-1].copy()
    for v in range(parent.size):
        child[room[parent[v] + 1]] = v
        room[parent[v] + 1] += 1
    order[0] = root
    depth[root] = 0
    head, tail = 0, 1
    while head < tail:
        u = order[head]
        head += 1
        for i in range(first[u + 1], first[u + 2]):
            order[tail] = child[i]
            depth[child[i]] = depth[u] + 1
            tail += 1
    return tail
