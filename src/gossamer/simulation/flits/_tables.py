"""Compiled kernels that write messages to the table of a simulation and read them off; plain arrays in and out."""

from __future__ import annotations

from gossamer.jit import njit
from gossamer.simulation.flits._kernels import (  # fmt: skip
    ADAPTIVE,
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


@njit(cache=True, nogil=True, _nrt=False, small=60_000)
def write(
    message, used, rows, source, target, flits, route, size, second, begin, terminals, drawn, by_link, ways_first, ways
):  # fmt: skip
    """Write messages that are still to be released to `rows` of the table; int64[M] each.

    A route begins at ``begin[...]`` by source, target, and the bits that are `drawn` int64[draws, M], the first lowest;
    where `begin` is empty, in the places of the row, of which there are `size`. Another begins `second` places behind
    it, or none at 0. The source queue is that of the source or, `by_link`, of its first link; on the way of an adaptive
    function, of `ways_first` and `ways`, the first of all.
    """
    for k in range(rows.size):
        m, u, v = rows[k], source[k], target[k]
        at = m * size + 1
        if begin.size > 0:
            entry = u * terminals + v
            for bit in range(drawn.shape[0] - 1, -1, -1):
                entry = 2 * entry + drawn[bit, k]
            at = begin[entry]
        queue = u
        if by_link:
            step = route[at]
            if step == ADAPTIVE:
                step = ways[ways_first[u, v], 0]
            queue = step >> 8
        used[m] = True
        message[m, SOURCE] = queue
        message[m, FLITS] = flits[k]
        message[m, ROUTE] = at
        message[m, WAITING] = 0
        message[m, SUCCESSOR] = -1
        message[m, OTHER] = at + second if second > 0 else -1
        message[m, TARGET] = v
        message[m, CREATED] = 0
        message[m, FINISHED] = -1
        message[m, ORIGIN] = u


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def take_delivered(message, used, delivered, counters, low, high, rows, found):
    """Fill `rows` int32[...] with those of `delivered` that have come by now, and free them.

    `found` int64[4, ...] are creation, latency, source and target of those that were created in cycles low..high-1.
    Returns how many there are, and how many of them were created then.
    """
    n, kept, inside = 0, 0, 0
    for k in range(counters[ENDED]):
        m = delivered[k]
        if message[m, FINISHED] >= counters[NOW]:
            delivered[kept] = m
            kept += 1
            continue
        used[m] = False
        rows[n] = m
        n += 1
        created = message[m, CREATED]
        if low <= created < high:
            found[0, inside] = created
            found[1, inside] = message[m, FINISHED] - created
            found[2, inside] = message[m, ORIGIN]
            found[3, inside] = message[m, TARGET]
            inside += 1
    counters[ENDED] = kept
    return n, inside


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
