"""The compiled kernel of the LogGP replay."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["replay"]


@njit(cache=True, nogil=True, small=100_000)
def replay(send, receive, link, needs_send, needs_receive, links, operations, latency, overhead, gap, transfer):
    """Return when the last operation is complete; hops are in the order of slots.

    `send` and `receive` are the operations at the ends of each hop, `needs_send` and `needs_receive` those that must
    be complete before, or -1. `transfer` is the time that a block is on its way besides the latency.
    """
    done = np.zeros(operations)
    free = np.zeros(links)
    last = 0.0
    for h in range(send.size):
        start = free[link[h]]
        if needs_send[h] >= 0:
            start = max(start, done[needs_send[h]])
        free[link[h]] = start + max(gap, transfer)
        done[send[h]] = start + overhead + transfer
        done[receive[h]] = start + 2 * overhead + latency + transfer
        if needs_receive[h] >= 0:  # what it adds to, or what must have left its place
            done[receive[h]] = max(done[receive[h]], done[needs_receive[h]])
        last = max(last, done[receive[h]])
    return last
