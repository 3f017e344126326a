"""Compiled kernels that write the hops of a torus schedule on an array; plain arrays in and out.

A hop over link e of the torus is made over link ``first[e]`` of the array in the first of two slots and over
``second[e]`` in the second one; -1 where it needs no link in that slot. Bit tables have one row of ``row_bytes`` bytes
a packet and one bit a node.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["choose", "empty", "write"]

COPY, COMBINE = 0, 2


@njit(cache=True, nogil=True, inline="always")
def _fresh(table, row_bytes, p, v):
    """Set the bit of packet p and node v; return whether it was clear."""
    at, mask = p * row_bytes + (v >> 3), np.uint8(1 << (v & 7))
    if table[at] & mask:
        return False
    table[at] |= mask
    return True


@njit(cache=True, nogil=True, small=100_000)
def choose(slot, link, packet, kind, first, second, source, target, touched, row_bytes, kept):
    """Mark the hops to make: bit 0 of ``kept[h]`` over ``first``, bit 1 over ``second``. Return their number.

    Of the hops that bring a copied packet to one node the first is kept, and of those that take a contribution from one
    node the last. `touched` must have the bit of every packet at its origin, where a copied packet never arrives and
    whence a contribution never leaves.
    """
    hops, number = slot.size, 0
    combined = False
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):
                e = second[link[h]] if half else first[link[h]]
                if e < 0:
                    continue
                p = packet[h]
                if p >= 0 and kind[p] == COMBINE:
                    combined = True
                elif p < 0 or kind[p] != COPY or _fresh(touched, row_bytes, p, target[e]):
                    kept[h] |= 1 << half
                    number += 1
        a = b
    b = hops if combined else 0
    while b > 0:
        a = b
        while a > 0 and slot[a - 1] == slot[b - 1]:
            a -= 1
        for half in range(1, -1, -1):
            for h in range(a, b):
                e = second[link[h]] if half else first[link[h]]
                p = packet[h]
                if e >= 0 and p >= 0 and kind[p] == COMBINE and _fresh(touched, row_bytes, p, source[e]):
                    kept[h] |= 1 << half
                    number += 1
        b = a
    return number


@njit(cache=True, nogil=True, small=100_000)
def empty(slot, link, packet, kind, first, second, source, target, has, row_bytes, kept):
    """Take back the kept hops of contributions whose sender has none, and return their number.

    `has` begins with the bits of those who contribute to each packet, and ends with all whom a contribution came to.
    """
    hops, number = slot.size, 0
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):  # what arrives in a slot leaves in a later one
                p = packet[h]
                if kept[h] >> half & 1 and p >= 0 and kind[p] == COMBINE:
                    u = source[second[link[h]] if half else first[link[h]]]
                    if not has[p * row_bytes + (u >> 3)] >> (u & 7) & 1:
                        kept[h] ^= 1 << half
                        number += 1
            for h in range(a, b):
                p = packet[h]
                if kept[h] >> half & 1 and p >= 0 and kind[p] == COMBINE:
                    _fresh(has, row_bytes, p, target[second[link[h]] if half else first[link[h]]])
        a = b
    return number


@njit(cache=True, nogil=True, small=100_000)
def write(slot, link, packet, first, second, kept, to_slot, to_link, to_packet):
    """Write the hops that were kept, sorted by slot: slot t becomes slots 2t and 2t+1."""
    hops, n = slot.size, 0
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):
                if kept[h] >> half & 1:
                    to_slot[n] = 2 * slot[h] + half
                    to_link[n] = second[link[h]] if half else first[link[h]]
                    to_packet[n] = packet[h]
                    n += 1
        a = b
