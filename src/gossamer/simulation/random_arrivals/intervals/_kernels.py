"""Compiled kernel of the interval scheme: arrivals, queues of waiting packets, intervals of known length."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["run_intervals"]

QUIET = 1000
"""Intervals without a packet after which the rest of them is skipped."""


@njit(cache=True, nogil=True)
def run_intervals(length, rate, seed, warm, batches, per_batch, waiting_limit, means, totals):
    """Serve one packet of every node that has one in each interval; write the mean delay of each batch.

    Parameters
    ----------
    length : float64[N + 1]
        Length of an interval with M active nodes.
    rate : float
        Arrivals per node and unit of time, Poisson.
    seed : int
        Of the arrivals.
    warm, batches, per_batch : int
        Packets served before measuring, batches, packets a batch.
    waiting_limit : int
        Most packets that may wait.
    means : float64[batches]
        Receives the mean delay of the packets of each batch; a packet's delay ends with the interval that serves it.
    totals : float64[5]
        Receives the intervals, the sum of M, the time, the most packets waiting, and the packets served.

    Returns
    -------
    int
        Batches measured; fewer than `batches` if more than `waiting_limit` packets came to wait.
    """
    np.random.seed(seed)
    nodes = length.size - 1
    arrived = np.empty(waiting_limit + 1)
    after = np.empty(waiting_limit + 1, np.int64)  # the next packet of the same node, or the next free place
    for i in range(waiting_limit + 1):
        after[i] = i + 1
    free = 0
    head = np.full(nodes, -1, np.int64)
    tail = np.full(nodes, -1, np.int64)
    clock = 0.0
    waiting = 0
    served = 0
    batch = 0
    in_batch = 0
    total = 0.0
    comes = np.random.exponential(1.0 / (rate * nodes))
    while batch < batches:
        active = 0
        for v in range(nodes):
            if head[v] >= 0:
                active += 1
        if active == 0 and comes - clock > QUIET * length[0]:
            skipped = np.floor((comes - clock) / length[0]) - 1
            clock += skipped * length[0]
            totals[0] += skipped
        end = clock + length[active]
        if active:
            for v in range(nodes):
                place = head[v]
                if place < 0:
                    continue
                head[v] = after[place]
                if head[v] < 0:
                    tail[v] = -1
                delay = end - arrived[place]
                after[place] = free
                free = place
                waiting -= 1
                served += 1
                if served > warm and batch < batches:
                    total += delay
                    in_batch += 1
                    if in_batch == per_batch:
                        means[batch] = total / per_batch
                        batch += 1
                        in_batch = 0
                        total = 0.0
        while comes <= end:
            if waiting == waiting_limit:
                totals[2] = comes
                totals[3] = waiting
                totals[4] = served
                return batch
            v = np.random.randint(nodes)
            place = free
            free = after[place]
            arrived[place] = comes
            after[place] = -1
            if tail[v] >= 0:
                after[tail[v]] = place
            else:
                head[v] = place
            tail[v] = place
            waiting += 1
            totals[3] = max(totals[3], waiting)
            comes += np.random.exponential(1.0 / (rate * nodes))
        totals[0] += 1
        totals[1] += active
        clock = end
    totals[2] = clock
    totals[4] = served
    return batch
