"""Compiled kernels of store and forward in fat trees; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["exchange_paths", "serve_queues"]


@njit(cache=True, nogil=True)
def _toward(first_link, link_target, first, size, v, leaf):
    """Return the link from node v towards a leaf: down if the leaf is below v, else its first link, which leads up."""
    below = leaf - first[v]
    if below < 0 or below >= size[v]:
        return first_link[v]
    child = size[link_target[first_link[v + 1] - 1]]  # leaves below a child; the last links lead to the children
    return first_link[v + 1] - size[v] // child + below // child


@njit(cache=True, nogil=True, small=100_000)
def serve_queues(
    first_link, link_target, reverse_link, link_capacity, leaves, first, size, destination, one_send,
    head, tail, queue, slot, link, packet,
):  # fmt: skip
    """Fill the columns slot by slot; see `gossamer.algorithms.fat_trees.serve_queues`.

    The queue of link e is ``queue[head[e]:tail[e]]``; `head` and `tail` int64[L] advance in place. `destination` is
    empty where every packet goes to all leaves.
    """
    nodes = first_link.size - 1
    turn = np.zeros(nodes, np.int32)  # the child to be served next
    pending = np.zeros(nodes, np.int64)  # packets that wait at each node
    for v in range(leaves):
        for e in range(first_link[v], first_link[v + 1]):
            pending[v] += tail[e] - head[e]
    rows = 0
    t = 0
    while rows < slot.size:
        begin = rows
        for v in range(nodes):
            if pending[v] == 0:
                continue
            a, b = first_link[v], first_link[v + 1]
            sent = rows
            if one_send:
                chosen = -1
                if v < nodes - 1:
                    if head[a] < tail[a]:
                        chosen = a
                    a += 1
                if chosen < 0:
                    for j in range(b - a):
                        c = (turn[v] + j) % (b - a)
                        if head[a + c] < tail[a + c]:
                            chosen = a + c
                            turn[v] = c + 1
                            break
                a, b = chosen, chosen + 1
            for e in range(a, b):
                most = 1 if one_send else link_capacity[e]
                for i in range(head[e], min(head[e] + most, tail[e])):
                    slot[rows], link[rows], packet[rows] = t, e, queue[i]
                    head[e] += 1
                    rows += 1
            pending[v] -= rows - sent
        for row in range(begin, rows):  # what came in this slot can leave in the next
            v = link_target[link[row]]
            p = packet[row]
            if v < leaves:
                continue
            if destination.size:
                e = _toward(first_link, link_target, first, size, v, destination[p])
                queue[tail[e]] = p
                tail[e] += 1
                pending[v] += 1
                continue
            for e in range(first_link[v], first_link[v + 1]):
                if e != reverse_link[link[row]]:
                    queue[tail[e]] = p
                    tail[e] += 1
                    pending[v] += 1
        t += 1


@njit(cache=True, nogil=True, small=100_000)
def exchange_paths(first_link, link_target, leaves, first, size, start, rest, hops, room, slot, link, packet):
    """Write the hops of packets that leave in slot `start` and wait `rest` slots where they turn, sorted by slot.

    Packets go from each leaf to each other one, by origin and then by destination; `hops` int64[P] is the length of
    their paths. `room` int64[slots+1] must be zero.
    """
    for p in range(start.size):
        turn = start[p] + hops[p] // 2
        room[start[p]] += 1
        room[turn] -= 1
        room[turn + rest[p]] += 1
        room[start[p] + rest[p] + hops[p]] -= 1
    begin, active = 0, 0
    for t in range(room.size):  # from packets that start or end to the first row of each slot
        active += room[t]
        room[t] = begin
        begin += active
    for p in range(start.size):
        v = p // (leaves - 1)
        b = p % (leaves - 1)
        if b >= v:
            b += 1
        for i in range(hops[p]):
            t = start[p] + i
            if 2 * i >= hops[p]:
                t += rest[p]
            row = room[t]
            room[t] += 1
            slot[row], packet[row] = t, p
            link[row] = _toward(first_link, link_target, first, size, v, b)
            v = link_target[link[row]]
