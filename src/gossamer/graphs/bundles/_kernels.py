"""Compiled choice of paths for many packets of each origin: a tree for all of them at once, then the best of a few.

Plain arrays in and out. No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) to
choose takes a sixth of the time.
"""

from __future__ import annotations

import math

import numpy as np

from gossamer.graphs.forests._kernels import charge_ports, toll
from gossamer.jit import njit

__all__ = ["choose", "forest", "sweep"]


@njit(cache=True, nogil=True, inline="always")
def _price(load, scale, power):
    return math.exp(min(power * math.log(max(load / scale, 1e-9)), 500.0)) + 1e-7


@njit(cache=True, nogil=True, inline="always")
def _charge(e, times, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited):
    loads[0][e] += times * use[e]
    price[0][e] = _price(loads[0][e] + use[e], scale, power)
    if send_limited:
        u = tail[e]
        loads[1][u] += times * occupancy[e]
        price[1][u] = _price(loads[1][u] + occupancy[e], scale, power)
    if receive_limited:
        v = head[e]
        loads[2][v] += times * occupancy[e]
        price[2][v] = _price(loads[2][v] + occupancy[e], scale, power)


@njit(cache=True, nogil=True, inline="always")
def _cost(e, tail, head, use, occupancy, price, send_limited, receive_limited):
    cost = use[e] * price[0][e]
    if send_limited:
        cost += occupancy[e] * price[1][tail[e]]
    if receive_limited:
        cost += occupancy[e] * price[2][head[e]]
    return cost


@njit(cache=True, nogil=True, _nrt=False)
def _rise(heap, place, i, key):
    x = heap[i]
    while i > 0:
        above = (i - 1) >> 1
        if key[heap[above]] <= key[x]:
            break
        heap[i] = heap[above]
        place[heap[i]] = i
        i = above
    heap[i] = x
    place[x] = i


@njit(cache=True, nogil=True, _nrt=False)
def _nearest(heap, place, size, key):
    nearest, x = heap[0], heap[size - 1]
    place[nearest] = -1
    if size == 1:
        return nearest
    i = 0
    while True:
        below = 2 * i + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[heap[below]] >= key[x]:
            break
        heap[i] = heap[below]
        place[heap[i]] = i
        i = below
    heap[i] = x
    place[x] = i
    return nearest


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def sweep(
    visit, source, first_packet, target, first, out, tail, head, use, occupancy, delay, ports, depth_cost,
    loads, price, scale, power, send_limited, receive_limited, old, new, key, count, place, heap, order,
):  # fmt: skip
    """Give each source a new tree of cheapest paths to all nodes; return a source that misses a target, or -1.

    Parameters
    ----------
    visit : int64[S]
        The order of the sources.
    source, first_packet, target : int32[S], int64[S + 1], int32[P]
        The packets of source i are for ``target[first_packet[i]:first_packet[i + 1]]``.
    old, new : int32[S, N]
        The link by which a tree comes to each node, -1 at the source; `old` is empty in the first round.
    key, count : float64[N]
        Room; `count` is 0, and is again.
    place, heap, order : int64[N]
        Room.
    """
    nodes, shared = first.size - 1, ports[2].size > 0
    for i in visit:
        s = source[i]
        if old.shape[0]:  # give up the old tree
            for j in range(first_packet[i], first_packet[i + 1]):
                x = target[j]
                while x != s:
                    e = old[i, x]
                    _charge(
                        e, -1.0, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited
                    )
                    if shared:
                        charge_ports(e, -1.0, ports, loads[3], price[3], scale, power)
                    x = tail[e]
        for x in range(nodes):
            key[x], place[x], new[i, x] = np.inf, -1, -1
        key[s], heap[0], place[s] = 0.0, s, 0
        size, seen = 1, 0
        while size:
            x = _nearest(heap, place, size, key)
            size -= 1
            order[seen] = x
            seen += 1
            for j in range(first[x], first[x + 1]):
                e = out[j]
                y = head[e]
                cost = key[x] + depth_cost * delay[e]
                cost += _cost(e, tail, head, use, occupancy, price, send_limited, receive_limited)
                if shared:
                    cost += toll(e, ports, price[3])
                if cost < key[y]:
                    key[y], new[i, y] = cost, e
                    if place[y] < 0:
                        heap[size], place[y] = y, size
                        size += 1
                    _rise(heap, place, place[y], key)
        for j in range(first_packet[i], first_packet[i + 1]):
            if key[target[j]] == np.inf:
                return i
            count[target[j]] += 1.0
        for k in range(seen - 1, 0, -1):
            x = order[k]
            if count[x] > 0.0:
                e = new[i, x]
                _charge(
                    e, count[x], tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited
                )
                if shared:
                    charge_ports(e, count[x], ports, loads[3], price[3], scale, power)
                count[tail[e]] += count[x]
                count[x] = 0.0
        count[s] = 0.0
    return -1


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def choose(
    visit, source, owner, target, trees, tail, head, use, occupancy, delay, ports, depth_cost,
    loads, price, scale, power, send_limited, receive_limited, choice,
):  # fmt: skip
    """Let each packet of `visit` take the cheapest of the paths to its target in several trees of its source.

    `owner` int32[P] is the place of each packet's source, `trees` int32[R, S, N], and `choice` int32[P] is changed.
    """
    shared = ports[2].size > 0
    for p in visit:
        i = owner[p]
        s = source[i]
        x = target[p]
        while x != s:
            e = trees[choice[p], i, x]
            _charge(e, -1.0, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited)
            if shared:
                charge_ports(e, -1.0, ports, loads[3], price[3], scale, power)
            x = tail[e]
        least, best = np.inf, choice[p]
        for r in range(trees.shape[0]):
            total, x = 0.0, target[p]
            while x != s and total < least:
                e = trees[r, i, x]
                total += depth_cost * delay[e]
                total += _cost(e, tail, head, use, occupancy, price, send_limited, receive_limited)
                if shared:
                    total += toll(e, ports, price[3])
                x = tail[e]
            if total < least:
                least, best = total, r
        choice[p] = best
        x = target[p]
        while x != s:
            e = trees[best, i, x]
            _charge(e, 1.0, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited)
            if shared:
                charge_ports(e, 1.0, ports, loads[3], price[3], scale, power)
            x = tail[e]


@njit(cache=True, nogil=True, small=100_000)
def forest(source, owner, target, trees, tail, choice, begin, end, link, parent):
    """Write the chosen paths, one after the other; only count their hops where `link` is empty. Return the hops."""
    used = 0
    for p in range(owner.size):
        i = owner[p]
        begin[p] = used
        x, hops = target[p], 0
        while x != source[i]:
            x = tail[trees[choice[p], i, x]]
            hops += 1
        if link.size:
            x = target[p]
            for k in range(hops - 1, -1, -1):
                e = trees[choice[p], i, x]
                link[used + k], parent[used + k] = e, k - 1
                x = tail[e]
        used += hops
        end[p] = used
    return used
