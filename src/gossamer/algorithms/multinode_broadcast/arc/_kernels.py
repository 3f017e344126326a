"""Compiled kernel of the ARC multinode broadcast."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["queue"]


@njit(cache=True, nogil=True)
def _onward(v, j, way, face, turn, at, last, links, out):
    """Write to `out` the links on which a packet leaves node v, where it came along dimension j; return how many.

    `j` is -1 at the source. The face is ``2 i + end``. Away from the source along i, over the face, and back along i.
    """
    d = last.size
    i, end = face // 2, face % 2
    outward = 1 if end == 0 else 0
    surface = 0 if end == 0 else last[i]
    count = 0
    if j == -1 or (j == i and way == outward and at[v, i] != surface):
        out[0] = links[v, i, outward]
        return 1
    if j == i and way != outward:
        beyond = at[v, i] + (1 if way == 0 else -1)
        if 0 < beyond < last[i]:
            out[0] = links[v, i, way]
            return 1
        return 0
    reached = -1  # place in the order of the other dimensions
    if j != i:
        reached = ((j - i - 1) % d - turn) % (d - 1)
        beyond = at[v, j] + (1 if way == 0 else -1)
        if 0 < beyond < last[j]:
            out[count] = links[v, j, way]
            count += 1
    for place in range(reached + 1, d - 1):
        k = (i + 1 + (place + turn) % (d - 1)) % d
        if at[v, k] + 1 < last[k]:
            out[count] = links[v, k, 0]
            count += 1
        if at[v, k] - 1 > 0:
            out[count] = links[v, k, 1]
            count += 1
    out[count] = links[v, i, 1 - outward]
    return count + 1


@njit(cache=True, nogil=True, small=100_000)
def queue(nodes, face, turn, at, last, links, link_target, slot, link, packet):
    """Let every link send, slot after slot, what waited longest at it; return the slots.

    `at` are coordinates, `last` the last one of each dimension, `links` int32[N, d, 2] as from `grid_links`. The hops
    are written to the columns, which have just room for them. A copy that waits has the place that its hop will have
    in a list of all copies.
    """
    hops = slot.size
    copies = np.empty(hops, np.int32)  # packet
    after = np.empty(hops, np.int64)  # next copy in the queue
    count = link_target.size
    first = np.full(count, -1, np.int64)
    final = np.full(count, -1, np.int64)
    of_link = np.empty((count, 2), np.int32)  # dimension and way
    for v in range(links.shape[0]):
        for j in range(links.shape[1]):
            for way in range(2):
                if links[v, j, way] >= 0:
                    of_link[links[v, j, way], 0] = j
                    of_link[links[v, j, way], 1] = way
    busy = np.empty(count, np.int64)
    busy_count = 0
    out = np.empty(2 * last.size + 1, np.int32)
    used = 0
    for p in range(nodes.size):
        _onward(nodes[p], -1, 0, face[p], turn[p], at, last, links, out)
        used, busy_count = _wait(out[0], p, used, copies, after, first, final, busy, busy_count)
    made, t = 0, 0
    while busy_count:
        begin = made
        kept = 0
        for b in range(busy_count):
            e = busy[b]
            c = first[e]
            slot[made], link[made], packet[made] = t, e, copies[c]
            made += 1
            first[e] = after[c]
            if first[e] >= 0:
                busy[kept] = e
                kept += 1
        busy_count = kept
        for h in range(begin, made):
            e, p = link[h], packet[h]
            n = _onward(link_target[e], of_link[e, 0], of_link[e, 1], face[p], turn[p], at, last, links, out)
            for k in range(n):
                used, busy_count = _wait(out[k], p, used, copies, after, first, final, busy, busy_count)
        t += 1
    return t


@njit(cache=True, nogil=True)
def _wait(e, p, used, copies, after, first, final, busy, busy_count):
    """Queue a copy of packet p at link e; return the copies and the busy links so far."""
    copies[used], after[used] = p, -1
    if first[e] < 0:
        first[e] = used
        busy[busy_count] = e
        busy_count += 1
    else:
        after[final[e]] = used
    final[e] = used
    return used + 1, busy_count
