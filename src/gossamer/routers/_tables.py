"""Compiled kernels that write messages to the table of a simulation and read them off; plain arrays in and out."""

from __future__ import annotations

from gossamer.compiling import njit
from gossamer.routers._kernels import CREATED, FINISHED, FLITS, OTHER, ROUTE, SOURCE, TARGET


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def write(message, rows, source, route, flits, target, other):
    """Write messages that are still to be released to `rows` of the table; int64[M] each."""
    for k in range(rows.size):
        m = rows[k]
        message[m, SOURCE] = source[k]
        message[m, ROUTE] = route[k]
        message[m, FLITS] = flits[k]
        message[m, TARGET] = target[k]
        message[m, OTHER] = other[k]
        message[m, FINISHED] = -1
        message[m, CREATED] = 0


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def take_delivered(message, used, now, rows):
    """Fill `rows` int64[...] with those in use that were delivered before cycle `now`, free them, return how many."""
    n = 0
    for m in range(used.size):
        if used[m] and 0 <= message[m, FINISHED] < now:
            used[m] = False
            rows[n] = m
            n += 1
    return n


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def created_within(message, rows, low, high, source_of, target_of, found):
    """Fill `found` int64[4, M] with creation, latency, source and target of messages; return how many.

    Counted are those of `rows` that were created in cycles low..high-1.
    """
    n = 0
    for k in range(rows.size):
        m = rows[k]
        created = message[m, CREATED]
        if low <= created < high:
            found[0, n] = created
            found[1, n] = message[m, FINISHED] - created
            found[2, n] = source_of[m]
            found[3, n] = target_of[m]
            n += 1
    return n
