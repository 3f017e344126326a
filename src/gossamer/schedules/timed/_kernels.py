"""Compiled kernels that replay schedules on links that take time, and through switches with rules of their own.

Conventions: hops are sorted by slot. A hop that starts in slot t occupies its link in slots ``t .. t + occupancy - 1``
and ends in slot ``t + occupancy + latency``, from which on what it brings is usable. ``occupancy`` and ``latency`` (in
slots of a part) have an entry for each link, or one where all links have the same; so has ``kind`` for packets. With
``folded``, nodes and links stand for their orbits. What is wrong with a hop is a set of bits in ``wrong`` uint8[H].

Each packet is replayed by itself, as links and ports alone are what packets share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = [
    "Journey", "Nodes", "busy_links", "busy_ports", "by_packet", "message_spans", "replay", "stays", "when_ended",
    "when_usable",
]  # fmt: skip

COPY, MOVE, COMBINE = 0, 1, 2

CAUSALITY, CAPACITY, SEND, RECEIVE, DUPLICATE, LOST, UNFINISHED = 1, 2, 4, 8, 16, 32, 64
STOPPED = CAUSALITY | DUPLICATE  # a hop that did not leave

HELD, SENT = 1, 2
NEVER, EVER = 2**62, -1


class Journey(NamedTuple):
    """What hops where and when: columns and links."""

    slot: npt.NDArray[Any]
    link: npt.NDArray[Any]
    source: npt.NDArray[Any]
    target: npt.NDArray[Any]
    occupancy: npt.NDArray[Any]
    latency: npt.NDArray[Any]
    terminals: int
    cut_through: bool


class Nodes(NamedTuple):
    """What each node has of the packet at hand; an entry counts where its stamp is that of the packet.

    `flags` says whether it holds it and has sent it, `tail` is the first slot in which all of it is there. Where a
    switch must use up an arrival for each departure, `whole` counts arrivals that are all there, and `coming` begins a
    list, linked by `after`, of those that are not. `waits`, `group` and `leaving` order the hops of one slot.
    """

    stamp: npt.NDArray[Any]
    flags: npt.NDArray[Any]
    tail: npt.NDArray[Any]
    whole: npt.NDArray[Any]
    coming: npt.NDArray[Any]
    after: npt.NDArray[Any]
    group: npt.NDArray[Any]
    waits: npt.NDArray[Any]
    leaving: npt.NDArray[Any]


@njit(cache=True, nogil=True, inline="always")
def _of(values, i):
    return values[i] if values.size > 1 else values[0]


@njit(cache=True, nogil=True, inline="always")
def _end(j, h):
    return j.slot[h] + np.int64(_of(j.occupancy, j.link[h])) + _of(j.latency, j.link[h])


@njit(cache=True, nogil=True, inline="always")
def _usable(j, h):
    """Return the slot from which on a hop's packet may leave again: with its head where a switch cuts through."""
    if j.cut_through and j.target[j.link[h]] >= j.terminals:
        return j.slot[h] + _of(j.latency, j.link[h])
    return _end(j, h)


@njit(cache=True, nogil=True)
def when_usable(journey, usable):
    """Write `_usable` of each hop, int64[H]."""
    for h in range(usable.size):
        usable[h] = _usable(journey, h)


@njit(cache=True, nogil=True)
def when_ended(journey, ended):
    """Write `_end` of each hop, int64[H]."""
    for h in range(ended.size):
        ended[h] = _end(journey, h)


@njit(cache=True, nogil=True)
def by_packet(packet, rows, place, order):
    """Sort hops by packet, those of a packet as in `rows` (or in the order of the columns, where it is empty).

    `place` int64[P] has the first place of each packet in `order` and ends at the one after its last.
    """
    for i in range(packet.size):
        h = rows[i] if rows.size else i
        if packet[h] >= 0:
            order[place[packet[h]]] = h
            place[packet[h]] += 1


@njit(cache=True, nogil=True)
def message_spans(journey, packet, row_of, first, last):
    """Write the first and the last slot of each message's hops, int64; both keep their values elsewhere."""
    for h in range(packet.size):
        if packet[h] >= 0:
            row = row_of[packet[h]]
            first[row] = min(first[row], journey.slot[h])
            last[row] = max(last[row], _end(journey, h) - 1)


@njit(cache=True, nogil=True)
def busy_links(journey, folded, orbit, degree, room, slots, wrong):
    """Mark hops on links that carry as many packets as they can, and hops that end after the last of `slots` slots.

    `room` int64[classes+1] has the first place of each link, or orbit of links, in a list with a place for each packet
    that may be on it at once, or at least for each of its hops.
    """
    begun = np.zeros(room[room.size - 1], np.int64)  # when the latest hops on each link began
    count = np.zeros(room.size - 1, np.int64)
    for h in range(journey.slot.size):
        e, t = journey.link[h], journey.slot[h]
        c = e
        if folded:
            u = e // degree
            c = (orbit[u] if orbit.size > 1 else 0) * degree + e - u * degree
        most = room[c + 1] - room[c]
        at = room[c] + count[c] % most
        if count[c] >= most and begun[at] > t - _of(journey.occupancy, e):
            wrong[h] |= CAPACITY
        begun[at] = t
        count[c] += 1
        if _end(journey, h) > slots:
            wrong[h] |= UNFINISHED


@njit(cache=True, nogil=True)
def busy_ports(journey, rows, receiving, folded, orbit, busy, wrong):
    """Mark hops at nodes whose port another packet is in; `rows` has them by the slot in which they enter the port.

    `busy` int64[nodes or orbits] is 0 and ends as the slot in which each port is free again.
    """
    for i in range(journey.slot.size):
        h = rows[i] if rows.size else i
        e = journey.link[h]
        t = np.int64(journey.slot[h])
        v = journey.source[e]
        if receiving:
            t += _of(journey.latency, e)
            v = journey.target[e]
        if folded:
            v = orbit[v] if orbit.size > 1 else 0
        if t < busy[v]:
            wrong[h] |= RECEIVE if receiving else SEND
        busy[v] = max(busy[v], t + _of(journey.occupancy, e))


@njit(cache=True, nogil=True, inline="always")
def _touch(n, p, v):
    if n.stamp[v] != p:
        n.stamp[v] = p
        n.flags[v] = 0
        n.tail[v] = NEVER
        n.whole[v] = 0
        n.coming[v] = -1


@njit(cache=True, nogil=True)
def _take(j, n, u, t, until):
    """Use up an arrival at switch u for a departure in slot t whose tail leaves in `until`; say whether there is one.

    Of those whose tails are not there the one that comes last is taken, which is of the least use to others.
    """
    best, before_best, latest = -1, -1, np.int64(-1)
    before, h = -1, n.coming[u]
    while h >= 0:
        following, tail = n.after[h], _end(j, h)
        if tail <= t:
            n.whole[u] += 1
            if before < 0:
                n.coming[u] = following
            else:
                n.after[before] = following
        else:
            if tail <= until and tail > latest:
                best, before_best, latest = h, before, tail
            before = h
        h = following
    if best >= 0:
        if before_best < 0:
            n.coming[u] = n.after[best]
        else:
            n.after[before_best] = n.after[best]
        return True
    if n.whole[u] > 0:
        n.whole[u] -= 1
        return True
    return False


@njit(cache=True, nogil=True)
def _depart(j, n, h, p, kind, origin, one_by_one, give_away, wrong):
    """Let a copied packet or a contribution leave in hop h, or mark what is wrong; say whether it left."""
    e = j.link[h]
    u, t = j.source[e], np.int64(j.slot[h])
    until = t + _of(j.occupancy, e)
    _touch(n, p, u)
    if one_by_one and u >= j.terminals and u != origin:
        if _take(j, n, u, t, until):
            return True
        wrong[h] |= CAUSALITY
        return False
    here = (n.flags[u] & HELD) != 0 and n.tail[u] <= until
    if kind == COPY:
        if not here:
            wrong[h] |= CAUSALITY
            return False
        if give_away:
            n.flags[u] |= SENT
        return True
    if u == origin or (u >= j.terminals and not here):
        wrong[h] |= CAUSALITY
        return False
    if n.flags[u] & SENT:
        wrong[h] |= DUPLICATE
        return False
    n.flags[u] |= SENT
    late = n.coming[u]
    while late >= 0:  # their tails cannot follow
        if _end(j, late) > until:
            wrong[late] |= LOST
        late = n.after[late]
    return True


@njit(cache=True, nogil=True)
def _arrive(j, n, h, p, kind, origin, one_by_one, give_away, wrong):
    """Let a copied packet or a contribution be usable at the end of hop h, or mark what is wrong."""
    v = j.target[j.link[h]]
    tail = _end(j, h)
    coming = tail > _usable(j, h)
    _touch(n, p, v)
    if one_by_one and v >= j.terminals and v != origin:
        n.flags[v] |= HELD
        if coming:
            n.after[h] = n.coming[v]
            n.coming[v] = h
        else:
            n.whole[v] += 1
    elif kind == COPY:
        if n.flags[v] & HELD and not (give_away and n.flags[v] & SENT):
            wrong[h] |= DUPLICATE
        n.flags[v] = HELD
        n.tail[v] = min(n.tail[v], tail)
    else:
        n.flags[v] |= HELD
        n.tail[v] = min(n.tail[v], tail)
        if n.flags[v] & SENT:
            wrong[h] |= LOST
        elif coming:
            n.after[h] = n.coming[v]
            n.coming[v] = h


@njit(cache=True, nogil=True)
def _in_order(j, n, order, a, b, stamp, following, queue):
    """Queue the hops ``order[a:b]`` of a packet in one slot, each after those that bring to its source in that slot.

    Return how many were queued: not those that run in a circle, nor what follows them.
    """
    waiting = False
    t = j.slot[order[a]]
    for i in range(b - 1, a - 1, -1):
        u = j.source[j.link[order[i]]]
        if n.group[u] != stamp:
            n.group[u], n.waits[u], n.leaving[u] = stamp, 0, -1
        following[i - a] = n.leaving[u]
        n.leaving[u] = i - a
    for i in range(a, b):
        h = order[i]
        v = j.target[j.link[h]]
        if n.group[v] == stamp and v >= j.terminals and _usable(j, h) == t:
            n.waits[v] += 1
            waiting = True
    if not waiting:
        for i in range(b - a):
            queue[i] = i
        return b - a
    queued = 0
    for i in range(b - a):
        if n.waits[j.source[j.link[order[a + i]]]] == 0:
            queue[queued] = i
            queued += 1
    done = 0
    while done < queued:
        h = order[a + queue[done]]
        done += 1
        v = j.target[j.link[h]]
        if n.group[v] == stamp and v >= j.terminals and _usable(j, h) == t:
            n.waits[v] -= 1
            i = n.leaving[v] if n.waits[v] == 0 else -1
            while i >= 0:
                queue[queued] = i
                queued += 1
                i = following[i]
    return queued


@njit(cache=True, nogil=True)
def _move(j, h, moved, wrong):
    """Let a moved packet leave in hop h, or mark what is wrong; say whether it left. `moved` has its place and tail."""
    e = j.link[h]
    if moved[0] != j.source[e] or moved[1] > np.int64(j.slot[h]) + _of(j.occupancy, e):
        wrong[h] |= CAUSALITY
        return False
    moved[0] = -1  # it is on its way
    return True


@njit(cache=True, nogil=True)
def _leave(j, n, order, a, b, p, kind, origin, one_by_one, give_away, moved, stamp, room, wrong):
    """Let the hops ``order[a:b]`` of a packet in one slot leave, and arrive where they are usable at once.

    `room` holds lists of the hops: two for their order, one for those that left.
    """
    following, queue, left = room
    t = j.slot[order[a]]
    size, ordered = b - a, j.cut_through and b - a > 1
    queued = _in_order(j, n, order, a, b, stamp, following, queue) if ordered else size
    if queued < size:
        for i in range(a, b):
            wrong[order[i]] |= CAUSALITY  # until it is its turn
    went = 0
    for k in range(queued):
        h = order[a + queue[k]] if ordered else order[a + k]
        wrong[h] &= ~np.uint8(CAUSALITY)
        if kind == MOVE:
            if not _move(j, h, moved, wrong):
                for i in range(went):
                    if j.source[j.link[left[i]]] == j.source[j.link[h]]:  # from where it left in this slot
                        wrong[h] = (wrong[h] & ~np.uint8(CAUSALITY)) | DUPLICATE
                continue
            left[went] = h
            went += 1
        elif not _depart(j, n, h, p, kind, origin, one_by_one, give_away, wrong):
            continue
        if _usable(j, h) == t:
            if kind == MOVE:
                moved[0], moved[1] = j.target[j.link[h]], _end(j, h)
            else:
                _arrive(j, n, h, p, kind, origin, one_by_one, give_away, wrong)


@njit(cache=True, nogil=True)
def _met(j, n, p, v, kind, origin, one_by_one, moved):
    """Say whether packet p is where it should be at the end, as far as node v is concerned."""
    if kind == MOVE:
        return moved[0] == v
    flags = n.flags[v] if n.stamp[v] == p else 0
    if kind == COPY:
        return (flags & HELD) != 0
    if v == origin or (v >= j.terminals and not flags & HELD):
        return True
    if v >= j.terminals and one_by_one:
        return n.whole[v] == 0 and n.coming[v] < 0
    return (flags & SENT) != 0


@njit(cache=True, nogil=True)
def replay(
    journey, nodes, start, order, arriving, kinds, origins, message_of, target_start, targets, to_all,
    replication, reduction, wrong, limit, found_packet, found_node, found_end,
):  # fmt: skip
    """Replay each packet and compare where it is at the end with its goals.

    Hops of packet p stand in ``start[p]:start[p+1]`` of `order`, by slot, and of `arriving`, by when they are usable.
    Up to `limit` goals that are not met are written: packet, node, and where a moved packet ended. Return how many
    were written, and how many there are.
    """
    j, n = journey, nodes
    widest = np.int64(0)
    for p in range(origins.size):
        widest = max(widest, start[p + 1] - start[p])
    room = (np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64))
    moved = np.empty(2, np.int64)
    written, total, stamp = 0, 0, 0
    for p in range(origins.size):
        kind, origin = _of(kinds, p), origins[p]
        one_by_one = (kind == COPY and not replication) or (kind == COMBINE and not reduction)
        moved[0], moved[1] = origin, EVER
        if kind == COPY:
            _touch(n, p, origin)
            n.flags[origin] |= HELD
            n.tail[origin] = EVER
        a, r, last = start[p], start[p], start[p + 1]
        while a < last or r < last:
            t = np.int64(j.slot[order[a]]) if a < last else NEVER
            while r < last and _usable(j, arriving[r]) <= t and j.slot[arriving[r]] < t:
                h = arriving[r]
                r += 1
                if wrong[h] & STOPPED:
                    continue
                if kind == MOVE:
                    moved[0], moved[1] = j.target[j.link[h]], _end(j, h)
                else:
                    _arrive(j, n, h, p, kind, origin, one_by_one, not to_all, wrong)
            if a < last:
                b = a
                while b < last and j.slot[order[b]] == t:
                    b += 1
                stamp += 1
                _leave(j, n, order, a, b, p, kind, origin, one_by_one, not to_all, moved, stamp, room, wrong)
                a = b
                while r < last and j.slot[arriving[r]] == t and _usable(j, arriving[r]) == t:
                    r += 1
        m = message_of[p]
        listed = kind != COMBINE and not to_all
        first = target_start[m] if listed else 0
        until = target_start[m + 1] if listed else (j.terminals if kind == COPY else n.stamp.size)
        for i in range(first, until):
            v = targets[i] if listed else i
            if not _met(j, n, p, v, kind, origin, one_by_one, moved):
                total += 1
                if written < limit:
                    found_packet[written], found_node[written], found_end[written] = p, v, moved[0]
                    written += 1
    return written, total


@njit(cache=True, nogil=True)
def stays(
    journey, nodes, start, order, arriving, ending, kinds, origins, message_of, target_start, targets, to_all, after,
    replication, reduction, count_all, end, found,
):  # fmt: skip
    """Write when packets are in the buffers of nodes: node, first and last slot boundary; return how many stays.

    Only meaningful for schedules that `replay` accepts. Hops of packet p stand in ``start[p]:start[p+1]`` of `order` by
    slot, of `arriving` by when they are usable, of `ending` by when they end. `found` int32[3, hops + 2*packets].
    Of nodes, `tail` has when the packet came and `whole` when it left last; `coming` begins a list of arrivals.
    """
    j, n = journey, nodes
    count = 0
    for p in range(origins.size):
        kind, origin, m = _of(kinds, p), origins[p], message_of[p]
        one_by_one = (kind == COPY and not replication) or (kind == COMBINE and not reduction)
        own = after.size == 0 or after[m] < 0  # the origin of a reduction's result holds it as that already
        a, r, last = start[p], start[p], start[p + 1]
        if one_by_one:
            for i in range(last - 1, start[p] - 1, -1):  # arrivals at switches, the earliest first
                v = j.target[j.link[ending[i]]]
                _touch(n, p, v)
                n.after[ending[i]] = n.coming[v]
                n.coming[v] = ending[i]
        _touch(n, p, origin)
        n.whole[origin] = -1
        if count_all and kind != COMBINE and own:
            n.tail[origin] = 0
        while a < last or r < last:
            t = np.int64(j.slot[order[a]]) if a < last else NEVER
            while r < last and _usable(j, arriving[r]) <= t:
                h = arriving[r]
                r += 1
                v = j.target[j.link[h]]
                _touch(n, p, v)
                if one_by_one and v >= j.terminals and v != origin:
                    continue
                if kind == COMBINE:
                    n.tail[v] = min(n.tail[v], _end(j, h))
                    continue
                if n.tail[v] <= n.whole[v]:
                    found[0, count], found[1, count], found[2, count] = v, n.tail[v], n.whole[v]
                    count += 1
                n.tail[v], n.whole[v] = _end(j, h), -1
            if a < last:
                h = order[a]
                a += 1
                u = j.source[j.link[h]]
                _touch(n, p, u)
                if one_by_one and u >= j.terminals and u != origin:
                    came = _end(j, n.coming[u])
                    n.coming[u] = n.after[n.coming[u]]
                elif kind == COMBINE:
                    came = np.int64(0) if count_all and u < j.terminals else n.tail[u]
                else:
                    n.whole[u] = t
                    continue
                if came <= t:
                    found[0, count], found[1, count], found[2, count] = u, came, t
                    count += 1
        if kind == COMBINE:
            if count_all:
                found[0, count], found[1, count], found[2, count] = origin, 0, end
                count += 1
            continue
        if count_all:  # those for whom it is keep it
            for i in range(0 if to_all else target_start[m], j.terminals if to_all else target_start[m + 1]):
                v = i if to_all else targets[i]
                if n.stamp[v] == p and n.tail[v] < NEVER:
                    n.whole[v] = end
        for i in range(start[p] - 1, last):
            v = j.target[j.link[order[i]]] if i >= start[p] else origin
            if n.tail[v] <= n.whole[v]:
                found[0, count], found[1, count], found[2, count] = v, n.tail[v], n.whole[v]
                count += 1
            n.tail[v] = NEVER
    return count
