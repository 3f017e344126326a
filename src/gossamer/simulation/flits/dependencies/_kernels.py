"""Compiled kernel of the dependencies of a schedule; plain arrays in and out."""

from __future__ import annotations

from gossamer.jit import njit


@njit(cache=True, nogil=True, _nrt=False)
def dependents(
    first_event, event, payload, payload_first, payload_piece, origin, combined, control, giver, stamp, mark,
    first, into, fill,
):  # fmt: skip
    """Count, or with `fill` write, for each message the messages that wait for its arrival; return a message or -1.

    Node v has the events ``event[first_event[v]:first_event[v+1]]`` in order of steps, sends before receipts:
    ``2*m + 0`` for a send of message m, ``2*m + 1`` for its receipt. A message waits for the first arrival at its
    source of every piece that it carries and that is not `combined`, and for every control message that came before; a
    control message waits for all that came before. `giver` int32[P], `stamp` int32[P] and `mark` int32[M] are scratch,
    filled with -1.
    Counts are added to ``first[m + 1]``; with `fill`, `first` holds the next place of each message. The message
    returned carries a piece that its source does not have.
    """
    for v in range(first_event.size - 1):
        for e in range(first_event[v], first_event[v + 1]):
            m = event[e] >> 1
            if event[e] & 1:
                if not control[m]:
                    for k in range(payload_first[payload[m]], payload_first[payload[m] + 1]):
                        p = payload_piece[k]
                        if stamp[p] != v:
                            stamp[p] = v
                            giver[p] = m
                continue
            for f in range(first_event[v], e):
                if event[f] & 1 and (control[m] or control[event[f] >> 1]):
                    g = event[f] >> 1
                    if fill:
                        into[first[g]] = m
                        first[g] += 1
                    else:
                        first[g + 1] += 1
                    mark[g] = m
            if control[m]:
                continue
            for k in range(payload_first[payload[m]], payload_first[payload[m] + 1]):
                p = payload_piece[k]
                if origin[p] == v or combined[p]:
                    continue
                if stamp[p] != v:
                    return m
                g = giver[p]
                if mark[g] != m:
                    mark[g] = m
                    if fill:
                        into[first[g]] = m
                        first[g] += 1
                    else:
                        first[g + 1] += 1
    return -1
