"""Compiled kernel that fills the (slot, generator) cells of a Cayley network; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["fill"]

NEWEST = 16  # candidates that a cell compares


@njit(cache=True, nogil=True, inline="always")
def _random(state, below):
    """Advance the xorshift generator in state[0]; return a number in 0..below-1."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(33)) % below


@njit(cache=True, nogil=True, small=100_000)
def fill(target, inverse, duration, attempt, slot, pool, hop_slot, hop_link):
    """Give every element but the identity a cell (slot, generator); return the number of slots that have cells.

    `target` int32[N*degree] is the network's, `inverse` int64[degree] the column of each generator's inverse,
    `duration` int64[degree] the slots that a hop by it takes: 1, or 2 for a generator that is used in every other
    slot, from the first on. Attempt 0 takes candidates in their order, the others shuffle. Work arrays: `slot` int32[N]
    and `pool` int32[degree, N]; results, in order of slots: `hop_slot` and `hop_link` int32[N-1].
    """
    nodes, degree = slot.size, inverse.size
    state = np.full(1, 88172645463325252 + attempt * 2654435761, np.uint64)
    slot[:] = -1
    slot[0] = 0
    # pool[g, :size[g]] are the reached elements u that may still have u*g unreached, oldest first
    pool[:, 0] = 0
    size = np.ones(degree, np.int64)
    taken = np.empty(degree, np.int64)  # the element that each generator reaches in this slot
    late = np.full(degree, -1, np.int64)  # the element that it began to reach in the slot before
    giver = np.empty(degree, np.int64)  # the generator that takes over what this one has, -1 at the start of a path
    queue = np.empty(degree, np.int64)
    reached, t, first = 1, 0, 0
    while reached < nodes:
        t += 1
        taken[:] = -1
        if attempt:
            first = _random(state, degree)
        for i in range(degree):
            start = (first + i) % degree
            if duration[start] > 1 and t % 2 == 0:
                continue
            giver[:] = -2
            giver[start] = -1
            queue[0] = start
            length, k = 1, 0
            v, g = -1, -1
            while k < length and v < 0:
                g = queue[k]
                k += 1
                most, seen = -1, 0
                z = size[g] - 1
                while z >= 0 and seen < NEWEST and most < degree - 1:
                    if attempt:
                        j = _random(state, z + 1)
                        pool[g, z], pool[g, j] = pool[g, j], pool[g, z]
                    w = target[pool[g, z] * np.int64(degree) + g]
                    if slot[w] < 0:
                        seen += 1
                        opened = 0
                        for h in range(degree):
                            opened += slot[target[w * np.int64(degree) + h]] < 0
                        if opened > most:
                            v, most = w, opened
                    else:
                        size[g] -= 1
                        pool[g, z] = pool[g, size[g]]
                    z -= 1
                if v < 0:  # none is free: whose element of this slot could be reached by g instead?
                    for h in range(degree):
                        if giver[h] == -2 and taken[h] >= 0:
                            s = slot[target[taken[h] * np.int64(degree) + inverse[g]]]
                            if 0 <= s < t:
                                giver[h] = g
                                queue[length] = h
                                length += 1
            if v >= 0:
                while g >= 0:
                    slot[v] = t + duration[g] - 1
                    v, taken[g] = taken[g], v
                    g = giver[g]
        for g in range(degree):
            v = taken[g]
            if v >= 0:
                hop_slot[reached - 1] = t - 1
                hop_link[reached - 1] = target[v * np.int64(degree) + inverse[g]] * np.int64(degree) + g
                reached += 1
            if duration[g] > 1:
                v, late[g] = late[g], v
            if v >= 0:
                for h in range(degree):
                    pool[h, size[h]] = v
                    size[h] += 1
    return t
