"""Compiled kernels of the non-wasting scheduler; plain arrays in and out.

Packet p goes over the links ``path[first[p]:first[p + 1]]``. The queue of a link is one list of packets for each
level; 64 levels share a word that says which of their lists hold a packet, and 64 words share a word of the link.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["levels_backwards", "levels_of_hops_left", "levels_of_packets", "mirror", "run", "slots_along_paths"]


@njit(cache=True, nogil=True, inline="always")
def _lowest(word):
    """Return the place of the lowest 1 in a word that is not 0."""
    place = 0
    if word & np.uint64(0xFFFFFFFF) == 0:
        place += 32
        word >>= np.uint64(32)
    if word & np.uint64(0xFFFF) == 0:
        place += 16
        word >>= np.uint64(16)
    if word & np.uint64(0xFF) == 0:
        place += 8
        word >>= np.uint64(8)
    if word & np.uint64(0xF) == 0:
        place += 4
        word >>= np.uint64(4)
    if word & np.uint64(0x3) == 0:
        place += 2
        word >>= np.uint64(2)
    if word & np.uint64(0x1) == 0:
        place += 1
    return place


@njit(cache=True, nogil=True, inline="always")
def _push(words, words_of, head, following, link, level, p):
    following[p] = head[link, level]
    head[link, level] = p
    word = level >> 6
    words[link, word] |= np.uint64(1) << np.uint64(level & 63)
    words_of[link] |= np.uint64(1) << np.uint64(word)


@njit(cache=True, nogil=True, small=100_000)
def run(first, path, level, levels, links, slot, link, packet, when):
    """Send the first packet of every queue in every slot; write the hops by slot and return the number of slots.

    Parameters
    ----------
    first : int64[P + 1], path : int32[H], level : uint16[H]
        Paths, and the level at which a packet waits for each link of its path; the lowest goes first, in one level the
        one that came last (of those there at the start, the one with the lowest number).
    levels : int
        Number of levels, at most 4096.
    slot, link, packet : int32[H]
        Written.
    when : int32[H] or empty
        Written with the slot of each hop of `path`.
    """
    packets = first.size - 1
    at = np.empty((packets, 2), np.int64)
    head = np.empty((links, levels), np.int32)
    head[:, :] = -1
    following = np.empty(packets, np.int32)
    words = np.zeros((links, (levels + 63) // 64), np.uint64)
    words_of = np.zeros(links, np.uint64)
    busy = np.empty(links, np.int32)
    count = 0
    for p in range(packets - 1, -1, -1):
        h = first[p]
        at[p, 0], at[p, 1] = h, first[p + 1]
        if h < first[p + 1]:
            e = path[h]
            if words_of[e] == 0:
                busy[count] = e
                count += 1
            _push(words, words_of, head, following, e, level[h], p)
    t, out = 0, 0
    while count:
        begin, kept = out, 0
        for i in range(count):
            e = busy[i]
            word = _lowest(words_of[e])
            bit = _lowest(words[e, word])
            k = (word << 6) | bit
            p = head[e, k]
            head[e, k] = following[p]
            if following[p] < 0:
                words[e, word] ^= np.uint64(1) << np.uint64(bit)
                if words[e, word] == 0:
                    words_of[e] ^= np.uint64(1) << np.uint64(word)
            slot[out], link[out], packet[out] = t, e, p
            out += 1
            if words_of[e]:
                busy[kept] = e
                kept += 1
        count = kept
        for i in range(begin, out):
            p = packet[i]
            h = at[p, 0]
            if when.size:
                when[h] = t
            h += 1
            at[p, 0] = h
            if h < at[p, 1]:
                e = path[h]
                if words_of[e] == 0:
                    busy[count] = e
                    count += 1
                _push(words, words_of, head, following, e, level[h], p)
        t += 1
    return t


@njit(cache=True, nogil=True, small=100_000)
def levels_of_hops_left(first, longest, levels, most_first, level):
    """Write the level of each hop by the hops that are left before it, 1..longest."""
    for p in range(first.size - 1):
        for h in range(first[p], first[p + 1]):
            left = first[p + 1] - h
            level[h] = ((longest - left) if most_first else (left - 1)) * levels // longest


@njit(cache=True, nogil=True, small=100_000)
def levels_of_packets(first, level_of, level):
    """Write the level of each packet to all its hops."""
    for p in range(first.size - 1):
        for h in range(first[p], first[p + 1]):
            level[h] = level_of[p]


@njit(cache=True, nogil=True, small=100_000)
def slots_along_paths(first, slot, packet, when):
    """Write the slots of the hops, which are sorted by slot, path by path."""
    at = first[:-1].copy()
    for i in range(slot.size):
        p = packet[i]
        when[at[p]] = slot[i]
        at[p] += 1


@njit(cache=True, nogil=True, small=100_000)
def levels_backwards(first, when, slots, levels, level):
    """Write the levels for the opposite direction of time along mirrored paths: what came last goes first."""
    for p in range(first.size - 1):
        a, b = first[p], first[p + 1]
        for h in range(a, b):
            level[a + b - 1 - h] = np.int64(slots - 1 - when[h]) * levels // slots


@njit(cache=True, nogil=True, small=100_000)
def mirror(first, values, mirrored):
    """Write the values along each path in the opposite order."""
    for p in range(first.size - 1):
        a, b = first[p], first[p + 1]
        for h in range(a, b):
            mirrored[a + b - 1 - h] = values[h]
