"""Compiled kernels that move packets along straight paths or sort them; they write hops, sorted by slot, into columns.

A *cell* is a place in the flat table of links: ``(node * d + digit column) * 2 + way``, way 0 up and 1 down.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["compare_exchange", "compete"]


@njit(cache=True, nogil=True)
def compete(slot, link, packet, at, first_slot, node, moved, axis, hops, links, target, width):
    """Send packets leg by leg; of those that want one link, the furthest from the end of its leg goes first.

    Packet ``moved[i]`` starts at ``node[i]`` and makes ``hops[i, j]`` (down, if negative) along ``axis[i, j]`` for
    each leg j in turn; ties go to the lower i. ``links`` has `width` cells a node. `node` and `hops` are used up.
    Returns the row after the last one written and the slot after the last one used.
    """
    count, legs = hops.shape
    best = np.full(links.size, -1, np.int64)
    leg = np.zeros(count, np.int64)
    active = np.empty(count, np.int64)
    going = 0
    for i in range(count):
        while leg[i] < legs and hops[i, leg[i]] == 0:
            leg[i] += 1
        if leg[i] < legs:
            active[going] = i
            going += 1
    now = first_slot
    while going:
        for a in range(going):
            i = active[a]
            left = hops[i, leg[i]]
            cell = node[i] * width + 2 * axis[i, leg[i]] + (left < 0)
            best[cell] = max(best[cell], abs(left) * count + count - 1 - i)
        kept = 0
        for a in range(going):
            i = active[a]
            left = hops[i, leg[i]]
            cell = node[i] * width + 2 * axis[i, leg[i]] + (left < 0)
            if best[cell] == abs(left) * count + count - 1 - i:
                best[cell] = -1
                slot[at] = now
                link[at] = links[cell]
                packet[at] = moved[i]
                at += 1
                node[i] = target[links[cell]]
                hops[i, leg[i]] -= 1 if left > 0 else -1
                while leg[i] < legs and hops[i, leg[i]] == 0:
                    leg[i] += 1
            if leg[i] < legs:
                active[kept] = i
                kept += 1
        going = kept
        now += 1
    return at, now


@njit(cache=True, nogil=True)
def compare_exchange(slot, link, packet, at, first_slot, steps, key, held, stride, pairs, descending, up, down, write):
    """Make steps of odd-even transposition: nodes u and u+stride exchange what they hold if it is out of order.

    Parameters
    ----------
    key, held : int32[N]
        Key and packet (-1 for none) of each node, rearranged.
    pairs : int32[2, p]
        Lower ends u of the pairs of even and of odd steps, -1 for none.
    descending : bool[N]
        Whether the larger key belongs to u.
    up, down : int32[N]
        Link from each node to the node above, and below.
    write : bool
        Whether to write the hops, or only to count them.
    """
    for t in range(steps):
        for u in pairs[t & 1]:
            if u < 0:
                break
            v = u + stride
            if (key[v] > key[u]) if descending[u] else (key[u] > key[v]):
                key[u], key[v] = key[v], key[u]
                a, b = held[u], held[v]
                held[u], held[v] = b, a
                if a >= 0:
                    if write:
                        slot[at] = first_slot + t
                        link[at] = up[u]
                        packet[at] = a
                    at += 1
                if b >= 0:
                    if write:
                        slot[at] = first_slot + t
                        link[at] = down[v]
                        packet[at] = b
                    at += 1
    return at
