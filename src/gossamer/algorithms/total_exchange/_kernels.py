"""Compiled kernels of the total exchanges."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["balance", "walk"]


@njit(cache=True, nogil=True)
def balance(order, distance, inverse, inverse_generator, before, offset, generator):
    """Write a shortest word for every offset, letter by letter; each letter is the least used one that fits.

    Pairs y, -y first (the word of -y is that of y with every letter inverted), own inverses last, far ones first.
    """
    degree = before.shape[1]
    load = np.zeros(degree, np.int64)
    place = 0
    for own in range(2):
        for i in range(order.size - 1, 0, -1):
            y = order[i]
            z = inverse[y]
            if (z == y) != (own == 1) or z < y:
                continue
            x = y
            while distance[x] > 0:
                best = -1
                for g in range(degree):
                    if distance[before[x, g]] != distance[x] - 1:
                        continue
                    if best < 0 or load[g] + load[inverse_generator[g]] < load[best] + load[inverse_generator[best]] or (
                        own == 1
                        and load[g] + load[inverse_generator[g]] == load[best] + load[inverse_generator[best]]
                        and load[g] < load[best]
                    ):
                        best = g
                offset[place], generator[place] = y, best
                load[best] += 1
                place += 1
                if own == 0:
                    offset[place], generator[place] = z, inverse_generator[best]
                    load[inverse_generator[best]] += 1
                    place += 1
                x = before[x, best]


@njit(cache=True, nogil=True)
def walk(offset, generator, link_target, degree, source):
    """Write the node from which each letter leads on; letters of one offset are adjacent and in the order of time."""
    u = 0
    for i in range(offset.size):
        if i == 0 or offset[i] != offset[i - 1]:
            u = 0
        source[i] = u
        u = link_target[u * degree + generator[i]]
