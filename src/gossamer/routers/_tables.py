"""Compiled kernels that write messages to the table of a simulation and read them off; plain arrays in and out."""

from __future__ import annotations

from gossamer.compiling import njit
from gossamer.routers._kernels import (
    CREATED,
    ENDED,
    FINISHED,
    FLITS,
    NOW,
    ORIGIN,
    OTHER,
    ROUTE,
    SOURCE,
    SUCCESSOR,
    TARGET,
    WAITING,
)


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def write(message, rows, source, route, flits, origin, target, other):
    """Write messages that are still to be released to `rows` of the table; int64[M] each."""
    for k in range(rows.size):
        m = rows[k]
        message[m, SOURCE] = source[k]
        message[m, ROUTE] = route[k]
        message[m, FLITS] = flits[k]
        message[m, ORIGIN] = origin[k]
        message[m, TARGET] = target[k]
        message[m, OTHER] = other[k]
        message[m, WAITING] = 0
        message[m, SUCCESSOR] = -1
        message[m, CREATED] = 0
        message[m, FINISHED] = -1


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def take_delivered(message, used, delivered, counters, rows):
    """Fill `rows` int64[...] with those of `delivered` that have come by now, free them, and return how many."""
    n, kept = 0, 0
    for k in range(counters[ENDED]):
        m = delivered[k]
        if message[m, FINISHED] < counters[NOW]:
            used[m] = False
            rows[n] = m
            n += 1
        else:
            delivered[kept] = m
            kept += 1
    counters[ENDED] = kept
    return n


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def count_latencies(created, latency, source, target, first, cycles, histogram, sums, counts, flows, ends):
    """Count messages: latencies by value and by batch of creation, and by source and target or, without, by either.

    `created`, `latency`, `source` and `target` int64[M]; `histogram` int64[...], longer than all latencies; `sums` and
    `counts` float64[B]; of `flows` float64[2, T, T] or [2, 0, T] and `ends` float64[2, 2, T], sent and received, the
    first halves are numbers of messages and the others sums of latencies.
    """
    batches = sums.size
    for k in range(created.size):
        value = latency[k]
        histogram[value] += 1
        batch = (created[k] - first) * batches // cycles
        sums[batch] += value
        counts[batch] += 1
        u, v = source[k], target[k]
        if flows.shape[1] > 0:
            flows[0, u, v] += 1
            flows[1, u, v] += value
        elif ends.shape[2] > 0:
            ends[0, 0, u] += 1
            ends[0, 1, u] += value
            ends[1, 0, v] += 1
            ends[1, 1, v] += value
