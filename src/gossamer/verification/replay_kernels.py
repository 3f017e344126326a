"""Compiled kernels that check and measure schedules; plain arrays in and out.

Conventions: hops are sorted by slot. ``kind`` has the discipline of each packet (0 copy, 1 move, 2 combine), or one
entry where all packets have the same. Bit tables have one row of ``row_bytes`` bytes a packet and one bit a node.
Where nodes and links stand for their orbits, ``orbit`` has the orbit of each node, or one entry where there is one
orbit, and ``link_class`` the orbit of each link, or nothing where links are numbered by generators. Where each stands
for itself, ``orbit`` is None, and the code that is compiled then knows of no orbits.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

COPY, MOVE, COMBINE = 0, 1, 2

# rows of the counters; the first rows are found by `replay`, the rest by `unmet` and `buffer_peak`
CAUSALITY, CAPACITY, SEND, RECEIVE, DUPLICATE, LOST, DELIVERY, BUFFER = range(8)
COUNTED = 8


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _bit(table, row_bytes, p, v):
    return (table[p * row_bytes + (v >> 3)] >> (v & 7)) & 1


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _set(table, row_bytes, p, v):
    table[p * row_bytes + (v >> 3)] |= np.uint8(1 << (v & 7))


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _clear(table, row_bytes, p, v):
    table[p * row_bytes + (v >> 3)] &= np.uint8(~(1 << (v & 7)) & 255)


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _kind(kind, p):
    return kind[p] if kind.size > 1 else kind[0]


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _class(orbit, v):
    if orbit is None:
        return v
    return orbit[v] if orbit.size > 1 else 0


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def each_cell_once(row_of, part, origin, origin_of_message, parts, first, seen):
    """Say whether every packet is a part of a known message, at its origin, and no other packet is the same part.

    The parts of message row m are cells first[m]..first[m+1]-1 of `seen`, which must be false; `parts` cells each where
    `first` is empty.
    """
    for p in range(row_of.size):
        m = row_of[p]
        if m < 0 or origin[p] != origin_of_message[p]:
            return False
        low = first[m] if first.size else m * parts
        cell = low + part[p]
        if not low <= cell < (first[m + 1] if first.size else low + parts) or seen[cell]:
            return False
        seen[cell] = True
    return True


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def message_spans(slot, packet, row_of, first, last):
    """Write the first and the last slot in which each message hops; `first` and `last` keep their values elsewhere."""
    for h in range(slot.size):
        if packet[h] >= 0:
            row = row_of[packet[h]]
            if slot[h] < first[row]:
                first[row] = slot[h]
            last[row] = slot[h]


@njit(cache=True, nogil=True, small=100_000)
def replay(
    slot, link, packet, link_source, link_target, capacity, orbit, link_class, degree, classes, node_classes,
    send_limited, receive_limited, kind, origin, contributing, location, held, sent, row_bytes,
    limit, found_kind, found_hop, counts,
):  # fmt: skip
    """Replay all hops; write up to `limit` violations as (kind, hop) and count all of them. Return the number written.

    A node from `contributing` on that sent a copied packet on since it got it last may get it again; nodes below have
    a share of every reduction; any other node that has one is marked in `held`.
    `location` int32[P], `held` and `sent` uint8 bit tables must be at their initial state and end at the final one.
    """
    hops = slot.size
    link_last = np.full(classes, -1, np.int32)
    link_used = np.zeros(classes, np.int32) if capacity.size > 1 or capacity[0] > 1 else np.zeros(0, np.int32)
    counted_links = link_used.size > 0
    send_last = np.full(node_classes if send_limited else 0, -1, np.int32)
    receive_last = np.full(node_classes if receive_limited else 0, -1, np.int32)
    widest = 0
    i = 0
    while i < hops:
        j = i
        while j < hops and slot[j] == slot[i]:
            j += 1
        if j - i > widest:
            widest = j - i
        i = j
    valid = np.zeros(widest, np.bool_)
    written = 0
    a = 0
    while a < hops:
        t = slot[a]
        b = a
        # departures: resources, and whether the sender holds what it sends
        while b < hops and slot[b] == t:
            ln = link[b]
            p = packet[b]
            u = link_source[ln]
            w, c = u, ln
            if orbit is not None:
                w = _class(orbit, u)  # and link (u, g) of a Cayley network has number u*degree + g
                c = link_class[ln] if link_class.size else w * degree + ln - u * degree
            if link_last[c] != t:
                link_last[c] = t
                if counted_links:
                    link_used[c] = 1
            else:
                over = True
                if counted_links:
                    link_used[c] += 1
                    over = link_used[c] > (capacity[ln] if capacity.size > 1 else capacity[0])
                if over:
                    counts[CAPACITY] += 1
                    if written < limit:
                        found_kind[written] = CAPACITY
                        found_hop[written] = b
                        written += 1
            if send_limited:
                if send_last[w] == t:
                    counts[SEND] += 1
                    if written < limit:
                        found_kind[written] = SEND
                        found_hop[written] = b
                        written += 1
                send_last[w] = t
            if receive_limited:
                v = link_target[ln]
                w = _class(orbit, v)
                if receive_last[w] == t:
                    counts[RECEIVE] += 1
                    if written < limit:
                        found_kind[written] = RECEIVE
                        found_hop[written] = b
                        written += 1
                receive_last[w] = t
            wrong = -1
            if p >= 0:
                k = _kind(kind, p)
                if k == MOVE:
                    if location[p] != u:
                        wrong = CAUSALITY
                elif k == COPY:
                    if not _bit(held, row_bytes, p, u):
                        wrong = CAUSALITY
                    elif u >= contributing:
                        _set(sent, row_bytes, p, u)
                elif u == origin[p] or (u >= contributing and not _bit(held, row_bytes, p, u)):
                    wrong = CAUSALITY
                elif _bit(sent, row_bytes, p, u):
                    wrong = DUPLICATE
                else:
                    _set(sent, row_bytes, p, u)
            valid[b - a] = wrong < 0
            if wrong >= 0:
                counts[wrong] += 1
                if written < limit:
                    found_kind[written] = wrong
                    found_hop[written] = b
                    written += 1
            b += 1
        # arrivals
        for h in range(a, b):
            p = packet[h]
            if p < 0 or not valid[h - a]:
                continue
            ln = link[h]
            v = link_target[ln]
            k = _kind(kind, p)
            wrong = -1
            if k == MOVE:
                if location[p] != link_source[ln]:
                    wrong = DUPLICATE
                else:
                    location[p] = v
            elif k == COPY:
                if not _bit(held, row_bytes, p, v):
                    _set(held, row_bytes, p, v)
                elif v >= contributing and _bit(sent, row_bytes, p, v):
                    _clear(sent, row_bytes, p, v)
                else:
                    wrong = DUPLICATE
            else:
                _set(held, row_bytes, p, v)
                if _bit(sent, row_bytes, p, v):
                    wrong = LOST
            if wrong >= 0:
                counts[wrong] += 1
                if written < limit:
                    found_kind[written] = wrong
                    found_hop[written] = h
                    written += 1
        a = b
    return written


@njit(cache=True, nogil=True, small=100_000)
def unmet(
    kind, origin, message_of, target_start, targets, to_all, nodes, contributing, location, held, sent, row_bytes,
    limit, found_packet, found_node,
):  # fmt: skip
    """Find the goals that are not met after a replay: (packet, node) that should hold it, or never sent its share.

    Returns (number written, number of all).
    """
    written, total = 0, 0
    for p in range(origin.size):
        k = _kind(kind, p)
        m = message_of[p]
        if k == MOVE:
            v = targets[target_start[m]]
            if location[p] != v:
                total += 1
                if written < limit:
                    found_packet[written], found_node[written] = p, v
                    written += 1
        elif k == COPY and not to_all:
            for i in range(target_start[m], target_start[m + 1]):
                v = targets[i]
                if not _bit(held, row_bytes, p, v):
                    total += 1
                    if written < limit:
                        found_packet[written], found_node[written] = p, v
                        written += 1
        elif k == COPY:
            v = 0
            while v < contributing:
                if (v & 7) == 0 and held[p * row_bytes + (v >> 3)] == 255:
                    v += 8
                    continue
                if not _bit(held, row_bytes, p, v):
                    total += 1
                    if written < limit:
                        found_packet[written], found_node[written] = p, v
                        written += 1
                v += 1
        else:
            for v in range(nodes):
                owes = v < contributing or _bit(held, row_bytes, p, v)
                if v != origin[p] and owes and not _bit(sent, row_bytes, p, v):
                    total += 1
                    if written < limit:
                        found_packet[written], found_node[written] = p, v
                        written += 1
    return written, total


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def buffer_peak(
    slot, link, packet, link_source, link_target, orbit, node_classes,
    kind, origin, message_of, target_start, targets, to_all, after, terminals, count_all,
    pending, waiting, arrived, returned, shares, row_bytes, buffer_limit, limit, found_node, found_slot, found_held,
    holding, first_arrival,
):  # fmt: skip
    """Measure the most packets that a node holds at a slot boundary, in one pass backwards in time.

    Only meaningful for schedules that `replay` accepts. `pending` uint8[P], `waiting` and `arrived` uint8 bit tables
    must be zero; `arrived` is empty where nothing is combined, `after` int64[m] where no message depends on another.
    `returned` int32[P] must be 2**31 - 1, and is empty where all packets that a node holds count, or where no packet
    may come back to its origin. `shares` has a bit for each contributor of each reduction, or is empty where all
    terminals contribute. Boundary t lies before slot t.

    Returns (peak, its node class, its boundary, number of stretches over the limit). A stretch is a maximal run of
    boundaries at which a node class holds more than `buffer_limit`; the earliest `limit` of them are written, in any
    order: node class, first boundary, packets held then.
    """
    hops = slot.size
    held, held_after = holding[0], holding[1]  # the latter at the boundary last looked at, which is a later one
    # reductions: which hop first brings something to a node, that is when a partial result begins to wait there
    for h in range(first_arrival.size):
        p = packet[h]
        if p >= 0 and _kind(kind, p) == COMBINE:
            v = link_target[link[h]]
            if not _bit(arrived, row_bytes, p, v):
                _set(arrived, row_bytes, p, v)
                first_arrival[h] = True
    # the slot in which a packet first comes back to its origin: what leaves there later is in transit
    for h in range(hops if returned.size else 0):
        p = packet[h]
        if p >= 0 and link_target[link[h]] == origin[p] and slot[h] < returned[p]:
            returned[p] = slot[h]
    peak, where, when, over = 0, -1, 0, 0
    if count_all:  # the final state: who holds what for good
        for p in range(origin.size):
            m = message_of[p]
            if _kind(kind, p) == COMBINE:
                v = origin[p]
                held[_class(orbit, v)] += 1
                continue
            own = after.size == 0 or after[m] < 0  # the origin of a reduction's result holds it as that already
            for i in range(0 if to_all else target_start[m], terminals if to_all else target_start[m + 1]):
                v = i if to_all else targets[i]
                if own or v != origin[p]:
                    held[_class(orbit, v)] += 1
                    if _kind(kind, p) == COPY:
                        _set(waiting, row_bytes, p, v)
        for w in range(node_classes):
            if held[w] > peak:
                peak, where, when = held[w], w, slot[hops - 1] + 1 if hops else 0
    for w in range(node_classes):
        held_after[w] = held[w]
    b = hops
    while b > 0:
        t = slot[b - 1]
        a = b
        while a > 0 and slot[a - 1] == t:
            a -= 1
        for h in range(a, b):  # undo arrivals
            p = packet[h]
            if p < 0:
                continue
            v = link_target[link[h]]
            w = _class(orbit, v)
            if _kind(kind, p) == MOVE:
                if count_all or pending[p]:
                    held[w] -= 1
            elif _kind(kind, p) == COPY:
                if _bit(waiting, row_bytes, p, v):
                    held[w] -= 1
                    _clear(waiting, row_bytes, p, v)
            elif (
                first_arrival[h]
                and v != origin[p]
                and not (count_all and (_bit(shares, row_bytes, p, v) if shares.size else v < terminals))
            ):
                held[w] -= 1
        for h in range(a, b):  # undo departures
            p = packet[h]
            if p < 0:
                continue
            u = link_source[link[h]]
            w = _class(orbit, u)
            came = u != origin[p] or (returned.size > 0 and returned[p] < t)
            if _kind(kind, p) == MOVE:
                pending[p] = 1
                if count_all or came:
                    held[w] += 1
            elif _kind(kind, p) == COPY:
                own = count_all and (after.size == 0 or after[message_of[p]] < 0)
                if (own or came) and not _bit(waiting, row_bytes, p, u):
                    _set(waiting, row_bytes, p, u)
                    held[w] += 1
            elif count_all or _bit(arrived, row_bytes, p, u):
                held[w] += 1
        for h in range(2 * a, 2 * b):  # look at both ends of every link used
            v = link_source[link[h >> 1]] if h & 1 else link_target[link[h >> 1]]
            w = _class(orbit, v)
            if held[w] > peak:
                peak, where, when = held[w], w, t
            if buffer_limit > 0:
                if held_after[w] > buffer_limit and held[w] <= buffer_limit:
                    if limit > 0:
                        i = over % limit
                        found_node[i], found_slot[i], found_held[i] = w, t + 1, held_after[w]
                    over += 1
                held_after[w] = held[w]
        b = a
    for w in range(node_classes if buffer_limit > 0 else 0):
        if held[w] > buffer_limit:
            if limit > 0:
                i = over % limit
                found_node[i], found_slot[i], found_held[i] = w, 0, held[w]
            over += 1
    return peak, where, when, over
