"""Compiled kernel of greedy flooding."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["flood"]


@njit(cache=True, nogil=True)
def _lowest(word):
    """Return the place of the lowest set bit."""
    place = 0
    while not word & np.uint64(0xFF):
        word >>= np.uint64(8)
        place += 8
    while not word & np.uint64(1):
        word >>= np.uint64(1)
        place += 1
    return place


@njit(cache=True, nogil=True)
def _chosen(has, will, u, v, start, words, spread, looks):
    """Return the least spread of the first few packets, from word `start` on, that u has and v lacks; -1 if none."""
    best = -1
    seen = 0
    for i in range(words):
        w = start + i
        if w >= words:
            w -= words
        fresh = has[u, w] & ~will[v, w]
        while fresh:
            p = w * 64 + _lowest(fresh)
            fresh &= fresh - np.uint64(1)
            if best < 0 or spread[p] < spread[best]:
                best = p
            seen += 1
            if seen >= looks:
                return best
    return best


@njit(cache=True, nogil=True)
def flood(
    link_source, link_target, capacity, nodes, terminals, origin, one_send, one_receive, looks, seed, slot, link, packet
):
    """Let every link, in a random order each slot, carry a packet that its target lacks; return the number of hops.

    A node passes on what it had before the slot. Return -1 if a slot brings nothing new although a terminal lacks a
    packet: no path leads there. `slot`, `link`, `packet` must have room for a hop to every node for every packet.
    """
    np.random.seed(seed)
    count = origin.size
    words = (count + 63) // 64
    has = np.zeros((nodes, words), np.uint64)  # before the slot
    will = np.zeros((nodes, words), np.uint64)  # with what the slot brings
    spread = np.ones(count, np.int64)
    missing = np.int64(terminals) * count
    for p in range(count):
        bit = np.uint64(1) << np.uint64(p % 64)
        has[origin[p], p // 64] |= bit
        will[origin[p], p // 64] |= bit
        if origin[p] < terminals:
            missing -= 1
    order = np.arange(link_source.size)
    sent = np.full(nodes, -1, np.int64)
    received = np.full(nodes, -1, np.int64)
    made = 0
    t = 0
    while missing:
        begin = made
        for i in range(order.size - 1, 0, -1):
            j = np.random.randint(0, i + 1)
            order[i], order[j] = order[j], order[i]
        for e in order:
            u, v = link_source[e], link_target[e]
            room = capacity[e] if capacity.size > 1 else capacity[0]
            for _ in range(room):
                if (one_send and sent[u] == t) or (one_receive and received[v] == t):
                    break
                p = _chosen(has, will, u, v, np.random.randint(0, words), words, spread, looks)
                if p < 0:
                    break
                will[v, p // 64] |= np.uint64(1) << np.uint64(p % 64)
                spread[p] += 1
                sent[u] = t
                received[v] = t
                if v < terminals:
                    missing -= 1
                slot[made], link[made], packet[made] = t, e, p
                made += 1
        if made == begin:
            return -1
        for h in range(begin, made):
            v, p = link_target[link[h]], packet[h]
            has[v, p // 64] |= np.uint64(1) << np.uint64(p % 64)
        t += 1
    return made
