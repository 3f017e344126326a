"""Compiled kernel that packs paths into steps; plain arrays in and out."""

from __future__ import annotations

from gossamer.jit import njit


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def pack(first, channel, order, busy, step):
    """Give each path the first step in which its channels are free; return the steps, -1 if `busy` has too few.

    Path p takes ``channel[first[p]:first[p+1]]``; `order` says who comes first; `busy` uint8[steps, C] is filled, and
    ``step[p]``.
    """
    used = 0
    for k in range(order.size):
        p = order[k]
        s = 0
        while s < busy.shape[0]:
            free = True
            for x in range(first[p], first[p + 1]):
                if busy[s, channel[x]] != 0:
                    free = False
                    break
            if free:
                break
            s += 1
        if s == busy.shape[0]:
            return -1
        for x in range(first[p], first[p + 1]):
            busy[s, channel[x]] = 1
        step[p] = s
        used = max(used, s + 1)
    return used
