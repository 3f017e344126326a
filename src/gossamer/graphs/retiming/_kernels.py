"""Compiled kernels of retiming; plain arrays in and out. Hops are in an order in which they can be carried out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["earliest", "predecessors", "spread"]

COPY, MOVE, COMBINE = 0, 1, 2


@njit(cache=True, nogil=True, small=100_000)
def spread(slot, link, first, parallel, occupancy, latency, capacity, chosen):
    """Choose one of parallel links for each hop: the one on which it ends first if none waits for anything else.

    Parameters
    ----------
    slot, link : int32[H]
        Hops by slot, and the link of the plain network over which they go.
    first, parallel : int64[M + 1], int64[L]
        The links that stand for link i of the plain network are ``parallel[first[i]:first[i+1]]``.
    occupancy, latency, capacity : int64[L]
        Of the links, in slots.
    chosen : int32[H]
        Written.
    """
    share = np.zeros(parallel.size, np.int64)  # hops times occupancy on each link so far
    for h in range(slot.size):
        best, least = np.int64(-1), np.int64(0)
        for i in range(first[link[h]], first[link[h] + 1]):
            e = parallel[i]
            end = max(np.int64(slot[h]), share[e] // capacity[e]) + occupancy[e] + latency[e]
            if best < 0 or end < least:
                best, least = e, end
        share[best] = max(share[best], np.int64(slot[h]) * capacity[best]) + occupancy[best]
        chosen[h] = best


@njit(cache=True, nogil=True, small=100_000)
def predecessors(first, hops, slot, link, kind, origin, source, target, one_each, listed, before, earlier, last):
    """Find for each hop what must have come to its sender; return whether each does.

    Parameters
    ----------
    first, hops : int64[P + 1], int64[H]
        Hops by packet, those of a packet by slot.
    slot, link : int32[H]
    kind, origin : uint8[P], int32[P]
    source, target : int32[L]
    one_each : uint8[2, N]
        For copies and for contributions, whether each departure from a node takes an arrival of its own.
    listed : bool
        Whether a node that sent a copy on may get it again.
    before : int64[H]
        Written: the hop that must be over before a hop begins, -1 if none; for contributions the head of a list.
    earlier : int64[H]
        Written: the hop before it in the list of arrivals.
    last : int64[H]
        Written: a departure that a hop, which brings a copy again, may not precede; -1 if none.
    """
    nodes = one_each.shape[1]
    head = np.full(nodes, -1, np.int64)  # arrivals: the first one, or the last one of contributions
    tail = np.full(nodes, -1, np.int64)
    left = np.full(nodes, -1, np.int64)  # the last departure
    for p in range(first.size - 1):
        k = kind[p]
        a = first[p]
        while a < first[p + 1]:
            b = a
            while b < first[p + 1] and slot[hops[b]] == slot[hops[a]]:
                h = hops[b]
                u = source[link[h]]
                found = head[u]
                if k == MOVE:
                    found = hops[b - 1] if b > first[p] else -1
                    if (found < 0 and u != origin[p]) or (found >= 0 and target[link[found]] != u):
                        return False
                elif k == COPY and u == origin[p] and (found < 0 or not listed):
                    found = -1
                elif one_each[0 if k == COPY else 1, u]:
                    if found < 0:
                        return False
                    head[u] = earlier[found]
                elif k == COPY and found < 0:
                    return False
                before[h] = found
                left[u] = h
                b += 1
            for i in range(a, b):
                h = hops[i]
                v = target[link[h]]
                last[h], earlier[h] = -1, -1
                if k == COPY and listed and (head[v] >= 0 or v == origin[p]):
                    last[h] = left[v]
                if k == COMBINE and not one_each[1, v]:
                    earlier[h] = head[v]
                    head[v] = h
                elif head[v] < 0 or (k == COPY and listed and not one_each[0, v]):
                    head[v] = h  # what leaves later waits for the latest arrival, so that the next one finds it gone
                else:
                    earlier[tail[v]] = h
                tail[v] = h
            a = b
        for i in range(first[p], first[p + 1]):
            e = link[hops[i]]
            head[source[e]], head[target[e]], left[source[e]], left[target[e]] = -1, -1, -1, -1
    return True


@njit(cache=True, nogil=True, small=100_000)
def earliest(
    order, link, packet, before, earlier, last, kind, one_each, source, target, link_class, node_class,
    occupancy, latency, ring, room, send_limited, receive_limited, ports, cut, row_of, after, start,
):  # fmt: skip
    """Write the earliest start of each hop, in the given order on each link and port; return when all is over.

    Parameters
    ----------
    order : int64[H]
        The hops in an order in which they can be carried out.
    before, earlier, last : int64[H]
        Of `predecessors`.
    link_class, node_class : int32[L], int32[N]
        What shares a link or a port: the link and the node themselves, or their orbits.
    occupancy, latency : int32[L], int64[L]
        In slots.
    ring : int64[C + 1]
        Place of each class of links in `room`; its size is the capacity.
    room : int64[]
        Minus infinity; the ends of the last hops on each link.
    ports : PortTable
        Ports that links share.
    cut : bool[N]
        Whether a node passes packets on as they come.
    row_of, after : int32[P], int64[m]
        The message of each packet, and the one that must be complete before it; `after` is empty if there is none.
    start : int64[H]
        Written.
    """
    turn = np.zeros(ring.size - 1, np.int64)
    latest = np.zeros(ring.size - 1, np.int64)
    nodes = node_class.size
    sending = np.zeros(nodes, np.int64)
    receiving = np.zeros(nodes, np.int64)
    done = np.zeros(after.size, np.int64)
    sends_by, receives_by, hold, port_ring = ports[0], ports[1], ports[2], ports[3]
    shared = hold.size > 0
    free, next_free = np.zeros(port_ring[-1], np.int64), np.zeros(hold.size, np.int64)
    over = 0
    for h in order:
        e, p = link[h], packet[h]
        u, v, c = source[e], target[e], link_class[e]
        o, wait = occupancy[e], latency[e]
        t = latest[c]
        a = before[h]
        while a >= 0:
            came = link[a]
            ready = start[a] + latency[came]
            ready += max(0, occupancy[came] - o) if cut[u] else occupancy[came]
            t = max(t, ready)
            if kind[p] != COMBINE or one_each[1, u]:
                break
            a = earlier[a]
        if last[h] >= 0:
            t = max(t, start[last[h]])
        place = ring[c] + turn[c]
        t = max(t, room[place])
        if send_limited:
            t = max(t, sending[node_class[u]])
        if receive_limited:
            t = max(t, receiving[node_class[v]] - wait)
        if after.size and after[row_of[p]] >= 0:
            t = max(t, done[after[row_of[p]]])
        if shared:
            x, y = sends_by[e], receives_by[e]
            if x >= 0:
                t = max(t, free[port_ring[x] + next_free[x]])
            if y >= 0:
                t = max(t, free[port_ring[y] + next_free[y]] - o - wait + hold[y])
            if x >= 0:
                free[port_ring[x] + next_free[x]] = t + hold[x]
                next_free[x] = (next_free[x] + 1) % (port_ring[x + 1] - port_ring[x])
            if y >= 0:
                free[port_ring[y] + next_free[y]] = t + o + wait
                next_free[y] = (next_free[y] + 1) % (port_ring[y + 1] - port_ring[y])
        start[h] = t
        latest[c] = t
        room[place] = t + o
        turn[c] = (turn[c] + 1) % (ring[c + 1] - ring[c])
        if send_limited:
            sending[node_class[u]] = t + o
        if receive_limited:
            receiving[node_class[v]] = t + wait + o
        if after.size:
            done[row_of[p]] = max(done[row_of[p]], t + o + wait)
        over = max(over, t + o + wait)
    return over
