"""Compiled kernels: packets choose among a few shortest ways each, by the loads of links and ports."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["choose"]


@njit(cache=True, nogil=True)
def _put(links, begin, end, amount, source, target, link_load, send_load, receive_load):
    """Add an amount to the loads of the links of a way."""
    for i in range(begin, end):
        e = links[i]
        link_load[e] += amount
        send_load[source[e]] += amount
        receive_load[target[e]] += amount


@njit(cache=True, nogil=True)
def _price(way, length, use, source, target, hold, limits, link_load, send_load, receive_load, scale):
    """Return what a way costs at the present loads: the 8th powers of the slots for which its links are taken."""
    cost = 0.0
    for i in range(length):
        e = way[i]
        x = (link_load[e] + 1.0) * use[e] / scale
        x *= x
        x *= x
        cost += x * x
        if limits[0]:
            x = (send_load[source[e]] + 1.0) * hold[e] / scale
            x *= x
            x *= x
            cost += x * x
        if limits[1]:
            x = (receive_load[target[e]] + 1.0) * hold[e] / scale
            x *= x
            x *= x
            cost += x * x
    return cost


@njit(cache=True, nogil=True, small=100_000)
def choose(
    visit, origin, end, away, first, target, source, delay, use, hold, limits, choices, turn, begin, links,
    way, best, place, tried, link_load, send_load, receive_load, scale, again,
):  # fmt: skip
    """Let packets take, in the order of `visit`, the cheapest of the first few shortest ways that a search finds.

    Parameters
    ----------
    visit : int64[P]
        The order.
    origin, end : int32[P]
        Where each packet is, and the row of its target in `away`.
    away : int32[T, N]
        The slots from each node to each target.
    first, target, source, delay, use, hold : int64[N + 1], int32[L], int32[L], int32[L], float64[L], float64[L]
        Links sorted by source: their ends, slots from start to end, slots that a packet takes of one, and of a port.
    limits : bool[2]
        Whether nodes send, and receive, one packet at a time.
    choices : int
        The ways that are looked at.
    turn : int64[P]
        At which of its links each node begins the search for a packet.
    begin, links : int64[P + 1], int32[]
        The way of packet p is ``links[begin[p]:begin[p + 1]]``, of fewer links if it ends in -1. Written.
    way, best, place, tried : int32[longest], int32[longest], int64[longest], int64[longest]
        Room.
    link_load, send_load, receive_load : float64[L], float64[N], float64[N]
        Packets; changed.
    scale : float
        A load of price 1.
    again : bool
        Whether packets have ways that they give up.
    """
    for at in range(visit.size):
        p = visit[at]
        row, start, room = end[p], begin[p], begin[p + 1] - begin[p]
        if again:
            length = 0
            while length < room and links[start + length] >= 0:
                length += 1
            _put(links, start, start + length, -1.0, source, target, link_load, send_load, receive_load)
        found, depth, lowest, kept = 0, 0, np.inf, 0
        u = origin[p]
        place[0] = u
        tried[0] = 0
        while depth >= 0:
            u = place[depth]
            if away[row, u] == 0:
                found += 1
                cost = _price(way, depth, use, source, target, hold, limits, link_load, send_load, receive_load, scale)
                if cost < lowest:
                    lowest, kept = cost, depth
                    for i in range(depth):
                        best[i] = way[i]
                if found == choices:
                    break
                depth -= 1
                continue
            degree = first[u + 1] - first[u]
            moved = False
            while tried[depth] < degree:
                e = first[u] + (tried[depth] + turn[p]) % degree
                tried[depth] += 1
                if depth < room and away[row, target[e]] + delay[e] == away[row, u]:
                    way[depth] = e
                    depth += 1
                    place[depth] = target[e]
                    tried[depth] = 0
                    moved = True
                    break
            if not moved:
                depth -= 1
        for i in range(kept):
            links[start + i] = best[i]
        for i in range(kept, room):
            links[start + i] = -1
        _put(links, start, start + kept, 1.0, source, target, link_load, send_load, receive_load)
