"""Compiled one-port exchange: paths with balanced loads, and the matchings of the slots."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["balance_paths", "busiest_first"]


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
def balance_paths(first_link, link_target, order, distance, terminals, sweeps, onward):
    """Fill `onward` int32[n, N] with the link from each node towards each terminal, on shortest paths.

    `order` int32[n, N] lists the nodes by distance to each terminal. The messages of a node for one terminal go to the
    neighbor that has least to send so far; in later sweeps the paths to one terminal after the other are chosen anew.
    """
    n = first_link.size - 1
    load = np.zeros(n, np.int64)
    flow = np.empty(n, np.int64)
    for sweep in range(sweeps):
        for d in range(terminals):
            if sweep:
                _pass(link_target, order[d], terminals, onward[d], d, flow, load, -1)
            flow[:] = 0
            for i in range(n - 1, 0, -1):
                v = order[d, i]
                flow[v] += 1 if v < terminals else 0
                best = -1
                for e in range(first_link[v], first_link[v + 1]):
                    w = link_target[e]
                    if distance[d, w] == distance[d, v] - 1 and (best < 0 or load[w] < load[link_target[best]]):
                        best = e
                onward[d, v] = best
                load[v] += flow[v]
                flow[link_target[best]] += flow[v]


@njit(cache=True, nogil=True)
def _pass(link_target, order, terminals, onward, d, flow, load, times):
    """Add what every node sends of the messages for terminal d, `times` times, to the load."""
    flow[:] = 0
    for i in range(order.size - 1, 0, -1):
        v = order[i]
        flow[v] += 1 if v < terminals else 0
        load[v] += times * flow[v]
        flow[link_target[onward[v]]] += flow[v]


@njit(cache=True, nogil=True, small=100_000)
def busiest_first(first_link, link_target, onward, distance, slot, link, packet):
    """Send with one port, the nodes with most left to send first; return the slots.

    A node sends to the free neighbor that has most left to receive, and of the packets for it one with the furthest
    to go. `onward` int32[n, N] is the link from each node towards each terminal, `distance` int32[n, N] the hops.
    """
    terminals, n = onward.shape
    links = link_target.size
    buckets = int(distance.max()) + 1
    head = np.full(links * buckets, -1, np.int64)
    tail = np.full(links * buckets, -1, np.int64)
    furthest = np.zeros(links, np.int64)
    packets = terminals * (terminals - 1)
    follower = np.full(packets, -1, np.int64)
    sends = np.zeros(n, np.int64)
    receives = np.zeros(n, np.int64)
    for p in range(packets):
        s, d = p // (terminals - 1), p % (terminals - 1)
        if d >= s:
            d += 1
        e = onward[d, s]
        _append(head, tail, follower, e * buckets + distance[d, s], p)
        furthest[e] = max(furthest[e], distance[d, s])
        v = s
        while v != d:
            sends[v] += 1
            v = link_target[onward[d, v]]
            receives[v] += 1
    taken = np.full(n, -1, np.int64)
    moved = np.empty(n, np.int64)
    sent = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    at, t = 0, 0
    while at < slot.size:
        count = 0
        order = np.argsort(-sends, kind="mergesort")
        for i in range(n):
            v = order[i]
            if sends[v] == 0:
                break
            best = -1
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if furthest[e] == 0 or taken[w] == t:
                    continue
                if (
                    best < 0
                    or receives[w] > receives[link_target[best]]
                    or (receives[w] == receives[link_target[best]] and furthest[e] > furthest[best])
                ):
                    best = e
            if best < 0:
                continue
            bucket = best * buckets + furthest[best]
            p = head[bucket]
            head[bucket] = follower[p]
            while furthest[best] > 0 and head[best * buckets + furthest[best]] < 0:
                furthest[best] -= 1
            slot[at], link[at], packet[at] = t, best, p
            at += 1
            taken[link_target[best]] = t
            moved[count], sent[count], reached[count] = p, v, link_target[best]
            count += 1
        for i in range(count):
            p, v = moved[i], reached[i]
            s, d = p // (terminals - 1), p % (terminals - 1)
            if d >= s:
                d += 1
            sends[sent[i]] -= 1
            receives[v] -= 1
            if v != d:
                e = onward[d, v]
                _append(head, tail, follower, e * buckets + distance[d, v], p)
                furthest[e] = max(furthest[e], distance[d, v])
        t += 1
    return t
