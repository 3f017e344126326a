"""Compiled queues that are the same at every node."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["greedy_offsets", "relative_queue"]


@njit(cache=True, nogil=True)
def _append(head, tail, follower, bucket, item):
    """Put `item` at the tail of the list of `bucket`."""
    follower[item] = -1
    if head[bucket] < 0:
        head[bucket] = item
    else:
        follower[tail[bucket]] = item
    tail[bucket] = item


@njit(cache=True, nogil=True, small=100_000)
def relative_queue(first, distance, letter, onward, link_target, degree, discipline, draws, link, packet):
    """Serve the queue of the identity, one message a slot; write the link and the packet of each slot.

    `first` lists the offsets in the order of the queue, `letter` the generator by which an offset leaves and `onward`
    what then remains. Disciplines: 0 first in, first out; 1 last in, first out; 2 furthest and 3 closest first; 4 the
    place given by `draws` in [0, 1), one a slot.
    """
    n = distance.size
    buckets = 1
    if discipline == 2 or discipline == 3:
        buckets = int(distance.max()) + 1
    head = np.full(buckets, -1, np.int64)
    tail = np.full(buckets, -1, np.int64)
    follower = np.full(n, -1, np.int64)
    rest = np.arange(n)
    where = np.zeros(n, np.int64)
    waiting = np.empty(n, np.int64)
    count = 0
    for i in range(first.size):
        if discipline == 4:
            waiting[count] = first[i]
            count += 1
        else:
            _append(head, tail, follower, distance[first[i]] if buckets > 1 else 0, first[i])
    for t in range(link.size):
        if discipline == 4:
            i = int(draws[t] * count)
            y = waiting[i]
            count -= 1
            waiting[i] = waiting[count]
        else:
            b = buckets - 1 if discipline == 2 else 0
            while head[b] < 0:
                b += -1 if discipline == 2 else 1
            y = head[b]
            head[b] = follower[y]
        g = letter[rest[y]]
        link[t] = where[y] * degree + g
        packet[t] = y - 1
        where[y] = link_target[where[y] * degree + g]
        rest[y] = onward[rest[y]]
        if rest[y] == 0:
            continue
        if discipline == 4:
            waiting[count] = y
            count += 1
        elif discipline == 1:
            follower[y] = head[0]
            if head[0] < 0:
                tail[0] = y
            head[0] = y
        else:
            _append(head, tail, follower, distance[rest[y]] if buckets > 1 else 0, y)


@njit(cache=True, nogil=True, small=100_000)
def greedy_offsets(first, distance, onward, link_target, slot, link, packet):
    """Move every offset that finds a free generator on a shortest path, furthest first; return the slots.

    `onward` int32[N, degree] is what remains of an offset after a generator, -1 where that is no step closer. Of
    several free generators the one that was used least is taken.
    """
    n, degree = onward.shape
    buckets = int(distance.max()) + 1
    head = np.full(buckets, -1, np.int64)
    tail = np.full(buckets, -1, np.int64)
    follower = np.full(n, -1, np.int64)
    rest = np.arange(n)
    where = np.zeros(n, np.int64)
    for i in range(first.size):
        _append(head, tail, follower, distance[first[i]], first[i])
    used = np.zeros(degree, np.int64)
    taken = np.full(degree, -1, np.int64)
    moved = np.empty(degree, np.int64)
    at, t = 0, 0
    while at < slot.size:
        count = 0
        for b in range(buckets - 1, 0, -1):
            before, y = -1, head[b]
            while y >= 0 and count < degree:
                after = follower[y]
                best = -1
                for g in range(degree):
                    if onward[rest[y], g] >= 0 and taken[g] < t and (best < 0 or used[g] < used[best]):
                        best = g
                if best < 0:
                    before = y
                else:
                    if before < 0:
                        head[b] = after
                    else:
                        follower[before] = after
                    if after < 0:
                        tail[b] = before
                    taken[best] = t
                    used[best] += 1
                    slot[at], link[at], packet[at] = t, where[y] * degree + best, y - 1
                    at += 1
                    where[y] = link_target[where[y] * degree + best]
                    rest[y] = onward[rest[y], best]
                    moved[count] = y
                    count += 1
                y = after
        for i in range(count):
            if rest[moved[i]] != 0:
                _append(head, tail, follower, distance[rest[moved[i]]], moved[i])
        t += 1
    return t
