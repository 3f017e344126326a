"""Compiled growth of trees over links that cost the more the more they carry; plain arrays in and out.

No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they are sooner compiled.
"""

from __future__ import annotations

import math

import numpy as np

from gossamer.jit import njit

__all__ = ["charge_ports", "grow", "prices", "toll"]


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
    """Take the nearest node off a heap of `size` nodes."""
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


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _price(load, scale, power):
    """Return what one more slot costs where the load is a share of the scale."""
    share = load / scale
    exponent = power * math.log(share if share > 1e-9 else 1e-9)
    return math.exp(exponent if exponent < 500.0 else 500.0) + 1e-7


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def prices(load, use, scale, power, price):
    """Write the price of each resource at its load with one more use."""
    for i in range(load.size):
        price[i] = _price(load[i] + use[i], scale, power)


@njit(cache=True, nogil=True, _nrt=False)
def _charge(e, times, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited):
    """Put a packet on a link and on its ports, or take it off, and bring the prices up to date."""
    loads[0][e] += times * use[e]
    price[0][e] = _price(loads[0][e] + use[e], scale, power)
    if send_limited and occupancy[e] > 0:
        u = tail[e]
        loads[1][u] += times * occupancy[e]
        price[1][u] = _price(loads[1][u] + occupancy[e], scale, power)
    if receive_limited and occupancy[e] > 0:
        v = head[e]
        loads[2][v] += times * occupancy[e]
        price[2][v] = _price(loads[2][v] + occupancy[e], scale, power)


@njit(cache=True, nogil=True, _nrt=False)
def charge_ports(e, times, ports, load, price, scale, power):
    """Put a packet into the shared ports of a link, or take it out, and bring their prices up to date."""
    sends_by, receives_by, share = ports
    for x in (sends_by[e], receives_by[e]):
        if x >= 0:
            load[x] += times * share[x]
            price[x] = _price(load[x] + share[x], scale, power)


@njit(cache=True, nogil=True, _nrt=False)
def toll(e, ports, price):
    """Return what the shared ports of a link cost."""
    sends_by, receives_by, share = ports
    cost = 0.0
    for x in (sends_by[e], receives_by[e]):
        if x >= 0:
            cost += share[x] * price[x]
    return cost


@njit(cache=True, nogil=True, _nrt=False)
def _warm(e, ports, load, hot):
    """Return whether a shared port of a link has that load or more."""
    sends, receives = ports[0][e], ports[1][e]
    return (sends >= 0 and load[sends] >= hot) or (receives >= 0 and load[receives] >= hot)


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def grow(
    visit, begin_at, origin, first_target, targets, first, out, tail, head, branches, use, occupancy, delay, ports,
    depth_cost, loads, price, scale, power, send_limited, receive_limited, hot,
    old_begin, old_end, old_link, old_parent, begin, end, link, parent, used, room,
):  # fmt: skip
    """Grow a tree for each packet of `visit` from number `begin_at` on, the old one given up first.

    Parameters
    ----------
    visit : int64[V]
    origin, first_target, targets : int32[P], int64[P + 1], int32[]
        Where each packet is, and where it must get.
    first, out : int64[N + 1], int32[L]
        The links that lead on from each node; `tail` and `head` are their ends.
    branches : bool[N]
        Whether a node sends several copies of what it received once.
    use, occupancy, delay : float64[L]
        What a packet takes of a link (a share of its capacity), of a node's port, and of time.
    ports : int64[L], int64[L], float64[S]
        Shared ports through which each link sends and receives, -1 for none, and what a packet takes of each.
    depth_cost : float
        What a slot of delay costs, in units of the price of a slot of a full link.
    loads, price : 4 arrays, float64[L], float64[N], float64[N], float64[S]
        Of links, of the nodes' ports at which packets leave, of those at which they come, and of shared ports.
    scale, power : float
        A load of `scale` costs 1, and a load a times as large a ** power.
    hot : float
        Trees that use nothing of that load or more are kept as they are.
    old_begin, old_end, old_link, old_parent, begin, end, link, parent
        Trees: the hops of packet p are begin[p]..end[p]-1 of `link`, each with the hop of the same packet that brings
        what it carries on, counted from begin[p], or -1.
    used : int
        Entries of `link` that are used.
    room : 2 arrays float64[N] and 6 arrays int64[N]
        To work in.

    Returns
    -------
    (int, int)
        The place in `visit` that was reached, less than its size where there was no more room; entries used. Or -1 and
        the packet, if it does not get to a target.
    """
    nodes = first.size - 1
    key, depth, by, at, heap, place, wanted, way = room  # at: the hop by which a packet came, -1: origin, -2: none
    passing = 0
    for x in range(nodes):
        depth[x], wanted[x] = 0.0, -1
        passing += 0 if branches[x] else 1
    shared = ports[2].size > 0
    for i in range(begin_at, visit.size):
        p = visit[i]
        size_before = old_end[p] - old_begin[p]
        wants = first_target[p + 1] - first_target[p]
        spare = nodes + wants * passing
        if used + (spare if spare > size_before else size_before) > link.size:
            return i, used
        warm = hot <= 0.0
        for h in range(old_begin[p], old_end[p]):
            e = old_link[h]
            if not warm:
                warm = loads[0][e] >= hot or (send_limited and loads[1][tail[e]] >= hot)
                warm = warm or (receive_limited and loads[2][head[e]] >= hot)
                warm = warm or (shared and _warm(e, ports, loads[3], hot))
        begin[p] = used
        if not warm:
            for h in range(old_begin[p], old_end[p]):
                link[used], parent[used] = old_link[h], old_parent[h]
                used += 1
            end[p] = used
            continue
        for h in range(old_begin[p], old_end[p]):
            _charge(
                old_link[h], -1.0, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited
            )
            if shared:
                charge_ports(old_link[h], -1.0, ports, loads[3], price[3], scale, power)
        missing = 0
        for j in range(first_target[p], first_target[p + 1]):
            if targets[j] != origin[p]:
                wanted[targets[j]] = p
                missing += 1
        for x in range(nodes):
            key[x], place[x], at[x] = np.inf, -1, -2
        u = origin[p]
        key[u], at[u], depth[u] = 0.0, -1, 0.0
        heap[0], place[u] = u, 0
        size = 1
        while missing and size:
            x = _nearest(heap, place, size, key)
            size -= 1
            if wanted[x] == p and at[x] == -2:
                # attach the way that leads here
                hops, y = 0, x
                while at[y] == -2:
                    e = by[y]
                    way[hops] = e
                    hops += 1
                    y = tail[e]
                hop = at[y]
                for j in range(hops - 1, -1, -1):
                    e = way[j]
                    y = head[e]
                    link[used], parent[used] = e, hop
                    hop = used - begin[p]
                    used += 1
                    depth_here = depth[tail[e]] + delay[e]
                    if branches[y]:
                        at[y] = hop
                        depth[y] = depth_here
                        key[y] = depth_cost * depth_here
                        if wanted[y] == p:
                            missing -= 1
                        if place[y] < 0:
                            heap[size], place[y] = y, size
                            size += 1
                        _rise(heap, place, place[y], key)
                    else:
                        depth[y] = depth_here
                continue
            for j in range(first[x], first[x + 1]):
                e = out[j]
                y = head[e]
                if at[y] != -2:
                    continue
                cost = use[e] * price[0][e] + depth_cost * delay[e]
                if send_limited:
                    cost += occupancy[e] * price[1][x]
                if receive_limited:
                    cost += occupancy[e] * price[2][y]
                if shared:
                    cost += toll(e, ports, price[3])
                if key[x] + cost < key[y]:
                    key[y], by[y] = key[x] + cost, e
                    if place[y] < 0:
                        heap[size], place[y] = y, size
                        size += 1
                    _rise(heap, place, place[y], key)
        for j in range(first_target[p], first_target[p + 1]):
            wanted[targets[j]] = -1
        end[p] = used
        for h in range(begin[p], end[p]):
            _charge(link[h], 1.0, tail, head, use, occupancy, loads, price, scale, power, send_limited, receive_limited)
            if shared:
                charge_ports(link[h], 1.0, ports, loads[3], price[3], scale, power)
        if missing:
            return -1, p
    return visit.size, used
