"""Compiled kernels of cases: the earliest times at which packets can be where, over links with time."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["earliest", "lengths_of_ways"]


@njit(cache=True, nogil=True, _nrt=False)
def _push(heap, size, key):
    """Add a key to a binary heap of so many; return its new size."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > key:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key
    return size + 1


@njit(cache=True, nogil=True, _nrt=False)
def _pop(heap, size):
    """Take the least key off a binary heap of so many, one fewer afterwards; return it."""
    least, last = heap[0], heap[size - 1]
    size -= 1
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    return least


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def earliest(first, target, hold, latency, kind, kind_hold, stores, start, far, heap, time, usable, depart):
    """Find when a packet that is at the nodes of `start` in slot 0 can leave over each link and be usable at each node.

    A link e is held `hold[e]` slots and has `latency[e]`; a node that stores sends on what is usable, another one what
    came over a link of kind k as soon as its head is there, and so late that its tail can follow. `kind_hold` int64[K]
    are the holds of the kinds. `time` int64[N*(K+1)] is room for states, the last of a node for what is usable there;
    `heap` int64[] for ``L*(K+1) + N`` keys. `usable` int64[N] and `depart` int64[L] are written, `far` where never.
    """
    kinds = kind_hold.size + 1
    states = time.size
    for state in range(time.size):
        time[state] = far
    for u in range(usable.size):
        usable[u] = far
    for e in range(depart.size):
        depart[e] = far
    size = 0
    for i in range(start.size):
        state = start[i] * kinds + kinds - 1
        if time[state] != 0:
            time[state] = 0
            usable[start[i]] = 0
            size = _push(heap, size, state)
    while size > 0:
        key = _pop(heap, size)
        size -= 1
        now, state = key // states, key % states
        if time[state] < now:
            continue
        u, k = state // kinds, state % kinds
        came = 0 if k == kinds - 1 else kind_hold[k]
        for e in range(first[u], first[u + 1]):
            t = now + max(0, came - hold[e])
            if t >= depart[e]:
                continue
            depart[e] = t
            v = target[e]
            whole = t + hold[e] + latency[e]
            usable[v] = min(usable[v], whole)
            if stores[v]:
                then, there = whole, v * kinds + kinds - 1
            else:
                then, there = t + latency[e], v * kinds + kind[e]
            if then < time[there]:
                time[there] = then
                size = _push(heap, size, then * states + there)


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def lengths_of_ways(
    first, tail, target, length, sources, row, wanted, amount, heap, distance, link_to, order, carried, load
):
    """Route demands over shortest ways; return the sum of ``amount * distance``, -1 if there is no way.

    Link e leads from `tail[e]` to `target[e]`. Source i wants ``amount[j]`` at the nodes ``wanted[j]`` for j from
    ``row[i]`` to ``row[i+1]``; with one row only, all sources want the same. `length` int64[L] >= 0. `load` float64[L]
    is added to by what each link carries. The other arrays are room: `heap` int64[L+N], `distance`, `link_to`, `order`
    int64[N], `carried` float64[N].
    """
    n = first.size - 1
    far = np.int64(1) << 60
    total = np.int64(0)
    for i in range(sources.size):
        source = sources[i]
        begin, end = (row[i], row[i + 1]) if row.size > 2 else (row[0], row[1])
        for u in range(n):
            distance[u], carried[u] = far, 0.0
        distance[source] = 0
        link_to[source] = -1
        size, reached = _push(heap, 0, source), 0
        while size > 0:
            key = _pop(heap, size)
            size -= 1
            now, u = key // n, key % n
            if carried[u] < 0.0 or distance[u] < now:
                continue
            carried[u] = -1.0  # settled; becomes a sum below
            order[reached] = u
            reached += 1
            for e in range(first[u], first[u + 1]):
                v = target[e]
                if now + length[e] < distance[v]:
                    distance[v] = now + length[e]
                    link_to[v] = e
                    size = _push(heap, size, distance[v] * n + v)
        for u in range(n):
            carried[u] = 0.0
        for j in range(begin, end):
            v = wanted[j]
            if distance[v] >= far:
                return np.int64(-1)
            carried[v] += amount[j]
            total += amount[j] * distance[v]
        for j in range(reached - 1, 0, -1):
            v = order[j]
            if carried[v] > 0.0:
                e = link_to[v]
                load[e] += carried[v]
                carried[tail[e]] += carried[v]
    return total
