"""Compiled list scheduling of hops that wait for each other, on links with times; plain arrays in and out.

A hop may begin when all hops before it have brought what they carry, in the graph that `first` and `following` hold:
hop h is before ``following[first[h]:first[h + 1]]``, which are later hops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gossamer.jit import njit

__all__ = ["Desk", "heights", "list_schedule", "turned_round"]


class Desk(NamedTuple):
    """What list scheduling works on: no kernel that is compiled without references to arrays makes its own."""

    port_free: Any  # int64[]: when each place of a port is free again
    port_turn: Any  # int64[P]
    left_port: Any  # int64[P]: how long the hops to come occupy each port
    low: Any  # int64[L + 1]: where the heap of each link is
    size: Any  # int64[L]: of the heap
    turn: Any  # int64[L]
    left_send: Any  # int64[N]: how long the hops to come occupy a node that sends, and one that receives
    left_receive: Any  # int64[N]
    sending: Any  # int64[N]: until when a node sends, and receives
    receiving: Any  # int64[N]
    heap: Any  # int32[H]: hops that may begin, of each link those of the lowest ranks first
    ready: Any  # int64[H]: when all before a hop have come
    follower: Any  # int32[H]: the next in a list of the calendar
    calendar: Any  # int32[S]: a hop that may begin in that slot, or -1
    active: Any  # int64[L]: the links for which hops wait
    moved: Any  # int64[L]
    listed: Any  # bool[L]
    top: Any  # float64[L]: the rank of the first hop of an active link
    key: Any  # float64[L]
    moved_key: Any  # float64[L]

    @classmethod
    def of(cls, hops: int, links: int, nodes: int, longest: int, places: int, ports: int) -> Desk:
        """Return room for so many hops, links, nodes, slots from start to end of a hop, and places in so many ports."""
        longs = [np.zeros(size, np.int64) for size in (places, ports, ports, links + 1, links, links, *[nodes] * 4)]
        heap, follower = np.empty((2, hops), np.int32)
        calendar = np.full(longest + 1, -1, np.int32)
        active, moved = np.empty((2, links), np.int64)
        rest = active, moved, np.zeros(links, np.bool_), *np.empty((3, links))
        return cls._make([*longs, heap, np.zeros(hops, np.int64), follower, calendar, *rest])


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _lag(a, b, target, occupancy, latency, cut):
    """Return the slots from the start of a hop over link a to that of one over link b that waits for it."""
    return latency[a] + (max(0, occupancy[a] - occupancy[b]) if cut[target[a]] else occupancy[a])


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def heights(link, first, following, target, occupancy, latency, cut, height, weight):
    """Write the slots from the start of each hop to the end of all that wait for it, and how many these are."""
    for h in range(link.size - 1, -1, -1):
        e = link[h]
        most, total = occupancy[e] + latency[e], 1
        for i in range(first[h], first[h + 1]):
            s = following[i]
            most = max(most, _lag(e, link[s], target, occupancy, latency, cut) + height[s])
            total += weight[s]
        height[h], weight[h] = most, total


@njit(cache=True, nogil=True, small=100_000)
def turned_round(first, following, need, behind, before):
    """Write the graph with hop h called H-1-h and every edge turned round: `behind` int64[H+1], `before` int32[]."""
    hops = need.size
    behind[0] = 0
    for h in range(hops):
        behind[h + 1] = behind[h] + need[hops - 1 - h]
    place = behind[:-1].copy()
    for h in range(hops - 1, -1, -1):
        for i in range(first[h], first[h + 1]):
            g = hops - 1 - following[i]
            before[place[g]] = hops - 1 - h
            place[g] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _push(heap, low, size, e, h, rank):
    i = size[e]
    size[e] += 1
    base = low[e]
    while i > 0:
        above = (i - 1) >> 1
        if rank[heap[base + above]] <= rank[h]:
            break
        heap[base + i] = heap[base + above]
        i = above
    heap[base + i] = h


@njit(cache=True, nogil=True, _nrt=False)
def _pop(heap, low, size, e, rank):
    base = low[e]
    top = heap[base]
    size[e] -= 1
    n = size[e]
    h = heap[base + n]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= n:
            break
        if below + 1 < n and rank[heap[base + below + 1]] < rank[heap[base + below]]:
            below += 1
        if rank[heap[base + below]] >= rank[h]:
            break
        heap[base + i] = heap[base + below]
        i = below
    heap[base + i] = h
    return top


@njit(cache=True, nogil=True, _nrt=False)
def _sorted_links(
    active, count, top, left_send, left_receive, left_port, source, target, sends_by, receives_by, key, moved, moved_key
):
    """Put the links of which a port is most in demand first, then those with the packet that is most urgent.

    A merge sort, from the bottom up: in most slots the links are nearly in order. `moved` and `moved_key` are room.
    """
    for i in range(count):
        e = active[i]
        most = max(left_send[source[e]], left_receive[target[e]])
        if left_port.size:
            if sends_by[e] >= 0:
                most = max(most, left_port[sends_by[e]])
            if receives_by[e] >= 0:
                most = max(most, left_port[receives_by[e]])
        key[i] = top[i] - np.float64(most) * 1e12
    width = 1
    while width < count:
        for low in range(0, count - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, count)
            if key[middle - 1] <= key[middle]:
                continue
            for i in range(low, middle):
                moved[i], moved_key[i] = active[i], key[i]
            i, j, k = low, middle, low
            while i < middle:
                if j < high and key[j] < moved_key[i]:
                    active[k], key[k] = active[j], key[j]
                    j += 1
                else:
                    active[k], key[k] = moved[i], moved_key[i]
                    i += 1
                k += 1
        width *= 2


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def list_schedule(
    link, rank, first, following, need, source, target, occupancy, latency, ring, room,
    send_limited, receive_limited, ports, cut, start, desk,
):  # fmt: skip
    """Start on every free link, with free ports, the waiting hop of the lowest rank; return when all is over.

    Parameters
    ----------
    link, rank : int32[H], int64[H]
        The link of each hop, and its place in the order in which hops leave, all different.
    first, following, need : int64[H + 1], int32[], int32[H]
        The hops that wait for each hop, and the number of those for which it waits; `need` is used up.
    source, target, occupancy, latency : int32[L], int32[L], int64[L], int64[L]
        Links, with times in slots.
    ring, room : int64[L + 1], int64[]
        Place of each link in `room`, which is 0 and has as many entries a link as it carries packets at once.
    ports : PortTable
        Ports that links share.
    cut : bool[N]
        Whether a node passes packets on as they come.
    start : int64[H]
        Written.
    desk : Desk
        Fresh room to work in.
    """
    sends_by, receives_by, hold, port_ring = ports[0], ports[1], ports[2], ports[3]
    shared = hold.size > 0
    port_free, port_turn, left_port, calendar = desk.port_free, desk.port_turn, desk.left_port, desk.calendar
    low, size, turn, left_send, left_receive = desk.low, desk.size, desk.turn, desk.left_send, desk.left_receive
    sending, receiving, heap, ready, follower = desk.sending, desk.receiving, desk.heap, desk.ready, desk.follower
    active, moved, listed = desk.active, desk.moved, desk.listed
    top, key, moved_key = desk.top, desk.key, desk.moved_key
    hops, links, span = link.size, source.size, calendar.size
    for h in range(hops):
        e = link[h]
        low[e + 1] += 1
        if send_limited:
            left_send[source[e]] += occupancy[e]
        if receive_limited:
            left_receive[target[e]] += occupancy[e]
        if shared:
            if sends_by[e] >= 0:
                left_port[sends_by[e]] += hold[sends_by[e]]
            if receives_by[e] >= 0:
                left_port[receives_by[e]] += hold[receives_by[e]]
    for e in range(links):
        low[e + 1] += low[e]
    count, waiting, begun = 0, 0, 0
    t = np.int64(0)
    over = np.int64(0)
    limited = send_limited or receive_limited or shared
    for p in range(hold.size):
        left_port[p] //= max(port_ring[p + 1] - port_ring[p], 1)
    for h in range(hops - 1, -1, -1):
        if need[h] == 0:
            follower[h] = calendar[0]
            calendar[0] = h
            waiting += 1
    while begun < hops:
        again = True
        soonest = np.int64(2**62)
        while again:
            again = False
            h = calendar[t % span]
            calendar[t % span] = -1
            while h >= 0:
                e = link[h]
                _push(heap, low, size, e, h, rank)
                if not listed[e]:
                    listed[e] = True
                    active[count] = e
                    count += 1
                waiting -= 1
                h = follower[h]
            if limited:
                for i in range(count):
                    top[i] = rank[heap[low[active[i]]]]
                _sorted_links(
                    active, count, top, left_send, left_receive, left_port, source, target, sends_by, receives_by,
                    key, moved, moved_key,
                )  # fmt: skip
            kept = 0
            soonest = np.int64(2**62)
            for i in range(count):
                e = active[i]
                u, v, o, wait = source[e], target[e], occupancy[e], latency[e]
                while size[e]:
                    place = ring[e] + turn[e]
                    free = room[place]
                    if send_limited:
                        free = max(free, sending[u])
                    if receive_limited:
                        free = max(free, receiving[v] - wait)
                    if shared:
                        x, y = sends_by[e], receives_by[e]
                        if x >= 0:
                            free = max(free, port_free[port_ring[x] + port_turn[x]])
                        if y >= 0:
                            free = max(free, port_free[port_ring[y] + port_turn[y]] - o - wait + hold[y])
                    if free > t:
                        soonest = min(soonest, free)
                        break
                    h = _pop(heap, low, size, e, rank)
                    start[h] = t
                    begun += 1
                    room[place] = t + o
                    turn[e] = (turn[e] + 1) % (ring[e + 1] - ring[e])
                    if send_limited:
                        sending[u] = t + o
                        left_send[u] -= o
                    if receive_limited:
                        receiving[v] = t + wait + o
                        left_receive[v] -= o
                    if shared:
                        if x >= 0:
                            port_free[port_ring[x] + port_turn[x]] = t + hold[x]
                            port_turn[x] = (port_turn[x] + 1) % (port_ring[x + 1] - port_ring[x])
                        if y >= 0:
                            port_free[port_ring[y] + port_turn[y]] = t + o + wait
                            port_turn[y] = (port_turn[y] + 1) % (port_ring[y + 1] - port_ring[y])
                    over = max(over, t + o + wait)
                    for j in range(first[h], first[h + 1]):
                        s = following[j]
                        ready[s] = max(ready[s], t + _lag(e, link[s], target, occupancy, latency, cut))
                        need[s] -= 1
                        if need[s] == 0:
                            follower[s] = calendar[ready[s] % span]
                            calendar[ready[s] % span] = s
                            waiting += 1
                            again = again or ready[s] == t
                if size[e]:
                    active[kept] = e
                    kept += 1
                else:
                    listed[e] = False
            count = kept
        t += 1
        if waiting:
            while t < soonest and calendar[t % span] < 0:
                t += 1
        elif soonest > t:
            t = soonest
    return over
