"""Compiled kernels that replay schedules on links that take time, and through switches with rules of their own.

Conventions: hops are sorted by slot. A hop that starts in slot t occupies its link in slots ``t .. t + occupancy - 1``
and ends in slot ``t + occupancy + latency``, from which on what it brings is usable. ``occupancy`` and ``latency`` (in
slots of a part) have an entry for each link, or one where all links have the same; so has ``kind`` for packets.
``orbit`` has the orbit of each node that nodes and links stand for, or is None where each stands for itself. What is
wrong with a hop is a set of bits in ``wrong`` uint8[H].

Each packet is replayed by itself, as links and ports alone are what packets share. Its hops are then rows of a small
table ``h``, by slot, and what nodes have of it are rows of a table ``n``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit

__all__ = [
    "NODE_COLUMNS",
    "Journey",
    "busy_links",
    "busy_ports",
    "busy_shared_ports",
    "by_packet",
    "message_spans",
    "replay",
    "stays",
]

COPY, MOVE, COMBINE = 0, 1, 2

CAUSALITY, CAPACITY, SEND, RECEIVE, DUPLICATE, LOST, UNFINISHED, SHARED = 1, 2, 4, 8, 16, 32, 64, 128
STOPPED = CAUSALITY | DUPLICATE  # a hop that did not leave

HELD, SENT = 1, 2
NEVER, EVER = 2**62, -1

# columns of h: first slot, slot in which the tail leaves, ends, may be sent on; ends of the link; next in a list; wrong
START, GONE, END, USABLE, SOURCE, TARGET, AFTER, WRONG = range(8)
HOP_COLUMNS = 8

# columns of n: the packet at hand, HELD and SENT, when its tail is there, arrivals that are all there and not used up,
# a list of those whose tails are still coming; for the order within a slot: the slot's stamp, hops to wait for, a list
STAMP, FLAGS, TAIL, WHOLE, COMING, GROUP, WAITS, LEAVING = range(8)
NODE_COLUMNS = 8


class Journey(NamedTuple):
    """What hops where and when: columns and links; nodes from `terminals` on are switches.

    Nodes below `contributing` have a share of every reduction; it is 0 where the contributors of each are listed.
    """

    slot: npt.NDArray[Any]
    link: npt.NDArray[Any]
    source: npt.NDArray[Any]
    target: npt.NDArray[Any]
    occupancy: npt.NDArray[Any]
    latency: npt.NDArray[Any]
    terminals: int
    contributing: int
    cut_through: bool


@njit(cache=True, nogil=True, inline="always")
def _of(values, i):
    return values[i] if values.size > 1 else values[0]


@njit(cache=True, nogil=True, small=100_000)
def by_packet(packet, place, order):
    """Sort hops by packet, those of a packet by slot.

    `place` int64[P] has the first place of each packet in `order` and ends at the one after its last.
    """
    for h in range(packet.size):
        if packet[h] >= 0:
            order[place[packet[h]]] = h
            place[packet[h]] += 1


@njit(cache=True, nogil=True, small=100_000)
def message_spans(journey, packet, row_of, first, last):
    """Write the first and the last slot of each message's hops, int64; both keep their values elsewhere."""
    slot, link, occupancy, latency = journey.slot, journey.link, journey.occupancy, journey.latency
    for h in range(packet.size):
        if packet[h] >= 0:
            row = row_of[packet[h]]
            first[row] = min(first[row], slot[h])
            last[row] = max(last[row], slot[h] + np.int64(_of(occupancy, link[h])) + _of(latency, link[h]) - 1)


@njit(cache=True, nogil=True, small=100_000)
def busy_links(journey, orbit, link_class, degree, room, slots, wrong):
    """Mark hops on links that carry as many packets as they can, and hops that end after the last of `slots` slots.

    `room` int64[classes+1] has the first place of each link, or orbit of links, in a list with a place for each packet
    that may be on it at once, or at least for each of its hops.
    """
    slot, link, occupancy, latency = journey.slot, journey.link, journey.occupancy, journey.latency
    begun = np.zeros(room[room.size - 1], np.int64)  # when the latest hops on each link began
    count = np.zeros(room.size - 1, np.int64)
    for h in range(slot.size):
        e, t = link[h], slot[h]
        c = e
        if orbit is not None:
            u = e // degree  # what a Cayley network numbers link (u, g) by
            c = link_class[e] if link_class.size else (orbit[u] if orbit.size > 1 else 0) * degree + e - u * degree
        most = room[c + 1] - room[c]
        at = room[c] + (count[c] % most if most > 1 else 0)
        if count[c] >= most and begun[at] > t - _of(occupancy, e):
            wrong[h] |= CAPACITY
        begun[at] = t
        count[c] += 1
        if slot[h] + np.int64(_of(occupancy, e)) + _of(latency, e) > slots:
            wrong[h] |= UNFINISHED


@njit(cache=True, nogil=True, small=100_000)
def busy_ports(journey, rows, receiving, orbit, busy, wrong):
    """Mark hops at nodes whose port another packet is in; `rows` has them by the slot in which they enter the port.

    `rows` is empty where that is the order of the columns. `busy` int64[nodes or orbits] is 0 and ends as the slot in
    which each port is free again.
    """
    slot, link, occupancy, latency = journey.slot, journey.link, journey.occupancy, journey.latency
    ends = journey.target if receiving else journey.source
    for i in range(slot.size):
        h = rows[i] if rows.size else i
        e = link[h]
        t = slot[h] + (_of(latency, e) if receiving else 0)
        v = ends[e]
        if orbit is not None:
            v = orbit[v] if orbit.size > 1 else 0
        if t < busy[v]:
            wrong[h] |= RECEIVE if receiving else SEND
        busy[v] = max(busy[v], t + _of(occupancy, e))


@njit(cache=True, nogil=True, small=100_000)
def busy_shared_ports(slot, link, rows, port, delay, held, room, wrong):
    """Mark hops through shared ports that pass as many packets as they can.

    Parameters
    ----------
    slot, link : int32[H]
    rows : int64[H]
        The hops by the slot in which they enter a port, `delay` after their start.
    port : int32[L]
        The port of each link, or -1.
    delay : int64[L]
    held : int32[P]
        Slots for which a packet is in each port.
    room : int64[P+1]
        The first place of each port in a list with a place for each packet that may be in it at once, or at least for
        each of its hops.
    wrong : uint8[H]
        Marked.
    """
    entered = np.zeros(room[room.size - 1], np.int64)  # when the latest packets came into each port
    count = np.zeros(room.size - 1, np.int64)
    for h in rows:
        e = link[h]
        p = port[e]
        if p < 0:
            continue
        t = slot[h] + delay[e]
        most = room[p + 1] - room[p]
        at = room[p] + count[p] % most
        if count[p] >= most and entered[at] > t - held[p]:
            wrong[h] |= SHARED
        entered[at] = t
        count[p] += 1


@njit(cache=True, nogil=True)
def _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, first, last, h):
    """Write the hops ``order[first:last]`` of a packet to `h`."""
    for i in range(first, last):
        row, k = order[i], i - first
        e, t = link[row], np.int64(slot[row])
        h[k, START] = t
        h[k, GONE] = t + _of(occupancy, e)
        h[k, END] = h[k, GONE] + _of(latency, e)
        passing = cut_through and target[e] >= terminals
        h[k, USABLE] = t + _of(latency, e) if passing else h[k, END]
        h[k, SOURCE] = source[e]
        h[k, TARGET] = target[e]
        h[k, WRONG] = 0


@njit(cache=True, nogil=True)
def _sorted_by(h, size, column, rows):
    """Write the hops 0..size-1 in the ascending order of a column to `rows`."""
    ascending = True
    for k in range(size):
        rows[k] = k
        if k and h[k, column] < h[k - 1, column]:
            ascending = False
    if not ascending:
        order = np.argsort(h[:size, column].copy(), kind="mergesort")
        for k in range(size):
            rows[k] = order[k]


@njit(cache=True, nogil=True, inline="always")
def _touch(n, p, v):
    if n[v, STAMP] != p:
        n[v, STAMP] = p
        n[v, FLAGS] = 0
        n[v, TAIL] = NEVER
        n[v, WHOLE] = 0
        n[v, COMING] = -1


@njit(cache=True, nogil=True)
def _take(h, n, k):
    """Use up an arrival at the switch from which hop k leaves, and say whether there is one.

    Of those whose tails are not there the one that comes last is taken, which is of the least use to others.
    """
    u = h[k, SOURCE]
    best, before_best, before = -1, -1, -1
    i = n[u, COMING]
    while i >= 0:
        following, tail = h[i, AFTER], h[i, END]
        if tail <= h[k, START]:
            n[u, WHOLE] += 1
            if before < 0:
                n[u, COMING] = following
            else:
                h[before, AFTER] = following
        else:
            if tail <= h[k, GONE] and (best < 0 or tail > h[best, END]):
                best, before_best = i, before
            before = i
        i = following
    if best >= 0:
        if before_best < 0:
            n[u, COMING] = h[best, AFTER]
        else:
            h[before_best, AFTER] = h[best, AFTER]
        return True
    if n[u, WHOLE] > 0:
        n[u, WHOLE] -= 1
        return True
    return False


@njit(cache=True, nogil=True)
def _contribute(h, n, k, origin, contributing):
    """Let the contribution of a node leave in hop k, or mark what is wrong; say whether it left."""
    u = h[k, SOURCE]
    if u == origin or (u >= contributing and (n[u, FLAGS] & HELD == 0 or n[u, TAIL] > h[k, GONE])):
        h[k, WRONG] |= CAUSALITY
        return False
    if n[u, FLAGS] & SENT:
        h[k, WRONG] |= DUPLICATE
        return False
    n[u, FLAGS] |= SENT
    late = n[u, COMING]
    while late >= 0:  # their tails cannot follow
        if h[late, END] > h[k, GONE]:
            h[late, WRONG] |= LOST
        late = h[late, AFTER]
    return True


@njit(cache=True, nogil=True, inline="always")
def _depart(h, n, k, p, kind, origin, terminals, contributing, one_by_one, give_away):
    """Let a copied packet or a contribution leave in hop k, or mark what is wrong; say whether it left."""
    u = h[k, SOURCE]
    _touch(n, p, u)
    left = True
    if one_by_one and u >= terminals and u != origin:
        left = _take(h, n, k)
    elif kind == COMBINE:
        left = _contribute(h, n, k, origin, contributing)
    elif n[u, FLAGS] & HELD == 0 or n[u, TAIL] > h[k, GONE]:
        left = False
    elif give_away or u >= terminals:
        n[u, FLAGS] |= SENT
    if not left and h[k, WRONG] & DUPLICATE == 0:
        h[k, WRONG] |= CAUSALITY
    return left


@njit(cache=True, nogil=True, inline="always")
def _arrive(h, n, k, p, kind, origin, terminals, one_by_one, give_away):
    """Let a copied packet or a contribution be usable at the end of hop k, or mark what is wrong."""
    v = h[k, TARGET]
    _touch(n, p, v)
    used_up = one_by_one and v >= terminals and v != origin
    flags = n[v, FLAGS]
    if kind == COPY and not used_up:
        if flags & HELD and not (flags & SENT and (give_away or v >= terminals)):
            h[k, WRONG] |= DUPLICATE
        n[v, FLAGS] = HELD
        n[v, TAIL] = min(n[v, TAIL], h[k, END])
    else:
        n[v, FLAGS] = flags | HELD
        n[v, TAIL] = min(n[v, TAIL], h[k, END])
        if not used_up and flags & SENT:
            h[k, WRONG] |= LOST
        elif h[k, END] > h[k, USABLE]:
            h[k, AFTER] = n[v, COMING]
            n[v, COMING] = k
        elif used_up:
            n[v, WHOLE] += 1


@njit(cache=True, nogil=True)
def _in_order(h, n, a, b, terminals, stamp, following, queue):
    """Queue hops a..b-1, all in one slot, each after those that bring to its source in that slot.

    Return how many were queued: not those that run in a circle, nor what follows them.
    """
    waiting = False
    for k in range(b - 1, a - 1, -1):
        u = h[k, SOURCE]
        if n[u, GROUP] != stamp:
            n[u, GROUP], n[u, WAITS], n[u, LEAVING] = stamp, 0, -1
        following[k] = n[u, LEAVING]
        n[u, LEAVING] = k
    for k in range(a, b):
        v = h[k, TARGET]
        if n[v, GROUP] == stamp and v >= terminals and h[k, USABLE] == h[k, START]:
            n[v, WAITS] += 1
            waiting = True
    queued = 0
    for k in range(a, b):
        if not waiting or n[h[k, SOURCE], WAITS] == 0:
            queue[queued] = k
            queued += 1
    done = 0
    while waiting and done < queued:
        k = queue[done]
        done += 1
        v = h[k, TARGET]
        if n[v, GROUP] == stamp and v >= terminals and h[k, USABLE] == h[k, START]:
            n[v, WAITS] -= 1
            i = n[v, LEAVING] if n[v, WAITS] == 0 else -1
            while i >= 0:
                queue[queued] = i
                queued += 1
                i = following[i]
    return queued


@njit(cache=True, nogil=True)
def _move(h, k, a, moved):
    """Let a moved packet leave in hop k of a slot that begins with hop a, or mark what is wrong; say whether it left.

    `moved` has its place and when its tail is there.
    """
    if moved[0] == h[k, SOURCE] and moved[1] <= h[k, GONE]:
        moved[0] = -1  # it is on its way
        return True
    h[k, WRONG] |= CAUSALITY
    i = a
    while h[i, START] == h[k, START]:
        if h[i, SOURCE] == h[k, SOURCE] and h[i, WRONG] & STOPPED == 0:  # it left from there in this slot
            h[k, WRONG] ^= STOPPED
            break
        i += 1
    return False


@njit(cache=True, nogil=True)
def _met(n, p, v, kind, origin, terminals, contributing, one_by_one, moved):
    """Say whether packet p is where it should be at the end, as far as node v is concerned."""
    if kind == MOVE:
        return moved[0] == v
    flags = n[v, FLAGS] if n[v, STAMP] == p else 0
    if kind == COPY:
        return (flags & HELD) != 0
    if v == origin or (v >= contributing and flags & HELD == 0):
        return True
    if v >= terminals and one_by_one:
        return n[v, WHOLE] == 0 and n[v, COMING] < 0
    return (flags & SENT) != 0


@njit(cache=True, nogil=True, small=100_000)
def replay(
    journey, n, start, order, kinds, origins, message_of, target_start, targets, to_all, replication, reduction,
    wrong, limit, found_packet, found_node, found_end,
):  # fmt: skip
    """Replay each packet and compare where it is at the end with its goals.

    Hops of packet p stand in ``start[p]:start[p+1]`` of `order`, by slot. `n` int64[N, NODE_COLUMNS] is -1. Up to
    `limit` goals that are not met are written: packet, node, and where a moved packet ended. Return how many were
    written, and how many there are.
    """
    slot, link, source, target = journey.slot, journey.link, journey.source, journey.target
    occupancy, latency, terminals, cut_through = journey[4], journey[5], journey.terminals, journey.cut_through
    widest = np.int64(0)
    for p in range(origins.size):
        widest = max(widest, start[p + 1] - start[p])
    h = np.empty((widest + 1, HOP_COLUMNS), np.int64)
    arriving, queue, following = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    moved = np.empty(2, np.int64)
    written, total, stamp = 0, 0, 0
    for p in range(origins.size):
        kind, origin = _of(kinds, p), origins[p]
        one_by_one = (kind == COPY and not replication) or (kind == COMBINE and not reduction)
        moved[0], moved[1] = origin, EVER
        if kind == COPY:
            _touch(n, p, origin)
            n[origin, FLAGS] |= HELD
            n[origin, TAIL] = EVER
        elif kind == COMBINE and not to_all:
            for i in range(target_start[message_of[p]], target_start[message_of[p] + 1]):
                _touch(n, p, targets[i])
                n[targets[i], FLAGS] |= HELD
                n[targets[i], TAIL] = EVER
        size = start[p + 1] - start[p]
        _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, start[p], start[p + 1], h)
        h[size, START] = NEVER
        _sorted_by(h, size, USABLE, arriving)
        a, r = 0, 0
        while a < size or r < size:
            t = h[a, START]  # NEVER after the last hop
            while r < size and h[arriving[r], USABLE] <= t and h[arriving[r], START] < t:
                k = arriving[r]
                r += 1
                if h[k, WRONG] & STOPPED:
                    continue
                if kind == MOVE:
                    moved[0], moved[1] = h[k, TARGET], h[k, END]
                else:
                    _arrive(h, n, k, p, kind, origin, terminals, one_by_one, not to_all)
            b = a
            while b < size and h[b, START] == t:
                b += 1
            ordered = cut_through and b - a > 1
            queued = b - a
            if ordered:
                stamp += 1
                queued = _in_order(h, n, a, b, terminals, stamp, following, queue)
            for k in range(a, b):
                h[k, WRONG] = CAUSALITY  # until it is its turn
            for i in range(queued):
                k = queue[i] if ordered else a + i
                h[k, WRONG] = 0
                if kind == MOVE:
                    left = _move(h, k, a, moved)
                else:
                    left = _depart(h, n, k, p, kind, origin, terminals, journey.contributing, one_by_one, not to_all)
                if left and h[k, USABLE] == t:
                    if kind == MOVE:
                        moved[0], moved[1] = h[k, TARGET], h[k, END]
                    else:
                        _arrive(h, n, k, p, kind, origin, terminals, one_by_one, not to_all)
            while r < size and h[arriving[r], USABLE] == t:
                r += 1  # these have arrived in the slot in which they left
            a = b
        for k in range(size):
            if h[k, WRONG]:
                wrong[order[start[p] + k]] |= h[k, WRONG]
        m = message_of[p]
        listed = kind != COMBINE and not to_all
        first = target_start[m] if listed else 0
        until = target_start[m + 1] if listed else (terminals if kind == COPY else n.shape[0])
        for i in range(first, until):
            v = targets[i] if listed else i
            if not _met(n, p, v, kind, origin, terminals, journey.contributing, one_by_one, moved):
                total += 1
                if written < limit:
                    found_packet[written], found_node[written], found_end[written] = p, v, moved[0]
                    written += 1
    return written, total


@njit(cache=True, nogil=True, small=100_000)
def stays(
    journey, n, start, order, kinds, origins, message_of, target_start, targets, to_all, after, replication, reduction,
    count_all, end, found,
):  # fmt: skip
    """Write when packets are in the buffers of nodes: node, first and last slot boundary; return how many stays.

    Only meaningful for schedules that `replay` accepts. Arguments as there; `found` int32[3, hops + 2*packets]. Of
    nodes, TAIL is when the packet came and WHOLE when it left last; COMING begins a list of arrivals.
    """
    slot, link, source, target = journey.slot, journey.link, journey.source, journey.target
    occupancy, latency, terminals, cut_through = journey[4], journey[5], journey.terminals, journey.cut_through
    widest = np.int64(0)
    for p in range(origins.size):
        widest = max(widest, start[p + 1] - start[p])
    h, rows = np.empty((widest + 1, HOP_COLUMNS), np.int64), np.empty(widest, np.int64)
    count = 0
    for p in range(origins.size):
        kind, origin, m = _of(kinds, p), origins[p], message_of[p]
        one_by_one = (kind == COPY and not replication) or (kind == COMBINE and not reduction)
        own = after.size == 0 or after[m] < 0  # the origin of a reduction's result holds it as that already
        size = start[p + 1] - start[p]
        _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, start[p], start[p + 1], h)
        h[size, START] = NEVER
        if one_by_one:
            _sorted_by(h, size, END, rows)
            for i in range(size - 1, -1, -1):  # a list of the arrivals at each switch, the earliest first
                k = rows[i]
                v = h[k, TARGET]
                _touch(n, p, v)
                h[k, AFTER] = n[v, COMING]
                n[v, COMING] = k
        _sorted_by(h, size, USABLE, rows)
        _touch(n, p, origin)
        n[origin, WHOLE] = -1
        if count_all and kind != COMBINE and own:
            n[origin, TAIL] = 0
        if count_all and kind == COMBINE and not to_all:  # contributors hold their shares from the start
            for i in range(target_start[m], target_start[m + 1]):
                _touch(n, p, targets[i])
                n[targets[i], TAIL] = 0
        a, r = 0, 0
        while a < size or r < size:
            while r < size and h[rows[r], USABLE] <= h[a, START]:
                k = rows[r]
                r += 1
                v = h[k, TARGET]
                _touch(n, p, v)
                if one_by_one and v >= terminals and v != origin:
                    continue
                if kind == COMBINE:
                    n[v, TAIL] = min(n[v, TAIL], h[k, END])
                    continue
                if n[v, TAIL] <= n[v, WHOLE]:
                    found[0, count], found[1, count], found[2, count] = v, n[v, TAIL], n[v, WHOLE]
                    count += 1
                n[v, TAIL], n[v, WHOLE] = h[k, END], -1
            if a < size:
                u, t = h[a, SOURCE], h[a, START]
                a += 1
                _touch(n, p, u)
                if one_by_one and u >= terminals and u != origin:
                    came = h[n[u, COMING], END]
                    n[u, COMING] = h[n[u, COMING], AFTER]
                elif kind == COMBINE:
                    came = np.int64(0) if count_all and u < journey.contributing else n[u, TAIL]
                else:
                    n[u, WHOLE] = t
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
            for i in range(0 if to_all else target_start[m], terminals if to_all else target_start[m + 1]):
                v = i if to_all else targets[i]
                if n[v, STAMP] == p and n[v, TAIL] < NEVER:
                    n[v, WHOLE] = end
        for k in range(-1, size):
            v = h[k, TARGET] if k >= 0 else np.int64(origin)
            if n[v, TAIL] <= n[v, WHOLE]:
                found[0, count], found[1, count], found[2, count] = v, n[v, TAIL], n[v, WHOLE]
                count += 1
            n[v, TAIL] = NEVER
    return count
