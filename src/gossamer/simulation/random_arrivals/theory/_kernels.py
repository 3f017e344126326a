"""Compiled kernel of the queues that no order of service can keep shorter; plain arrays in and out."""

from __future__ import annotations

import math

import numpy as np

from gossamer.jit import njit

__all__ = ["count_waiting"]


@njit(cache=True, nogil=True, small=10_000)
def count_waiting(first, target, earliest, settled, moments, window, at_node, on_link):
    """Count the copies that must still wait for each link, of broadcasts whose tree could be done.

    The copies of link e are ``first[e]:first[e+1]``, sorted by `earliest`, when they can be sent at the earliest;
    `settled` is when the last copy of their broadcast could have arrived. Times are in transmissions. At each moment
    those with ``settled <= moment`` are counted: as many as are left when the link has served nothing else since any
    moment before; a busy period longer than `window` copies is looked back into no further. Adds to `at_node` int64[N,
    M] at the link's end, and keeps in `on_link` int64[M] the most of one link.
    """
    for e in range(first.size - 1):
        end = first[e]
        begin = end
        free = -np.inf  # when the link has served all copies up to `end`
        for j in range(moments.size):
            t = moments[j]
            while end < first[e + 1] and earliest[end] < t:
                if earliest[end] >= free:
                    begin = end
                    free = earliest[end]
                free += 1
                end += 1
            if free <= t:
                continue
            count = 0
            most = 0.0
            for i in range(end - 1, max(begin, end - window) - 1, -1):
                if settled[i] <= t:
                    count += 1
                    most = max(most, count - (t - earliest[i]))
            left = math.ceil(most - 1e-6)
            at_node[target[e], j] += left
            on_link[j] = max(on_link[j], left)
