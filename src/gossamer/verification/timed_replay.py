"""The replay of schedules whose hops take time, or go through switches with rules of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.schedules.hop_table import HopTable, hop_ends, latencies, occupancies, slots_needed
from gossamer.verification.partial_sums import (
    COMBINED,
    COUNTED_TWICE,
    PASSED_ON,
    REPLACED,
    add_member,
    settle,
    words_of,
)
from gossamer.verification.replay_inputs import ReplayState

# Conventions: hops are sorted by slot. A hop that starts in slot t occupies its link in slots ``t .. t + occupancy -
# 1`` and ends in slot ``t + occupancy + latency``, from which on what it brings is usable. ``occupancy`` and
# ``latency`` (in slots of a part) have an entry for each link, or one where all links have the same; so has ``kind``
# for packets. ``orbit`` has the orbit of each node that nodes and links stand for, or is None where each stands for
# itself. What is wrong with a hop is a set of bits in ``wrong`` uint8[H].
#
# Each packet is replayed by itself, as links and ports alone are what packets share. Its hops are then rows of a small
# table ``h``, by slot, and what nodes have of it are rows of a table ``n``.

_COPY, _MOVE, _COMBINE, _ALLCOMBINE, _GENERAL = 0, 1, 2, 3, 4  # GENERAL: a reduction to a root by partial sums

_CAUSALITY, _CAPACITY, _SEND, _RECEIVE, _DUPLICATE, _LOST, _UNFINISHED, _SHARED = 1, 2, 4, 8, 16, 32, 64, 128
_STOPPED = _CAUSALITY | _DUPLICATE  # a hop that did not leave

_HELD, _SENT = 1, 2
_NEVER, _EVER = 2**62, -1
_KEPT = -(2**62)  # in place of the slot of a sum that is carried as it stood then

# columns of h: first slot, slot in which the tail leaves, ends, may be sent on; ends of the link; next in a list;
# what is wrong; what the arrival of a partial sum does; the hop that this one repeats, or -1, or -2 less the slot whose
# sum it carries; next in a list of hops that carry older sums; when the tail of what it carries is at its source; the
# terminal that what it carries left in the same slot, or -1
_START, _GONE, _END, _USABLE, _SOURCE, _TARGET, _AFTER, _WRONG, _FATE, _REPEATS, _NEXT, _THERE, _LEFT = range(13)
_HOP_COLUMNS = 13

# columns of n: the packet at hand, HELD and SENT, when its tail is there, arrivals that are all there and not used up,
# a list of those whose tails are still coming; for the order within a slot: the slot's stamp, hops to wait for, a list
# and of hops that carry a sum as it stood before; when something came last, and the terminal that all of it left then
_STAMP, _FLAGS, _TAIL, _WHOLE, _COMING, _GROUP, _WAITS, _LEAVING, _OLDER, _SINCE, _FROM = range(11)
_NODE_COLUMNS = 11


class _Journey(NamedTuple):
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
def _by_packet_kernel(packet, place, order):
    """Sort hops by packet, those of a packet by slot.

    `place` int64[P] has the first place of each packet in `order` and ends at the one after its last.
    """
    for h in range(packet.size):
        if packet[h] >= 0:
            order[place[packet[h]]] = h
            place[packet[h]] += 1


@njit(cache=True, nogil=True, small=100_000)
def _message_spans(journey, packet, row_of, first, last):
    """Write the first and the last slot of each message's hops, int64; both keep their values elsewhere."""
    slot, link, occupancy, latency = journey.slot, journey.link, journey.occupancy, journey.latency
    for h in range(packet.size):
        if packet[h] >= 0:
            row = row_of[packet[h]]
            first[row] = min(first[row], slot[h])
            last[row] = max(last[row], slot[h] + np.int64(_of(occupancy, link[h])) + _of(latency, link[h]) - 1)


@njit(cache=True, nogil=True, small=100_000)
def _busy_links(journey, orbit, link_class, degree, room, slots, wrong):
    """Mark hops on links that carry as many packets as they can, and hops that end after the last of `slots` slots.

    `room` int64[classes+1] has the first place of each link, or orbit of links, in a list with a place for each packet
    that may be on it at once, or at least for each of its hops.
    """
    slot, link, occupancy, latency = journey.slot, journey.link, journey.occupancy, journey.latency
    free = np.zeros(room[room.size - 1], np.int64)  # when the latest hops on each link have left it
    count = np.zeros(room.size - 1, np.int64)
    for h in range(slot.size):
        e, t = link[h], slot[h]
        c = e
        if orbit is not None:
            u = e // degree  # what a Cayley network numbers link (u, g) by
            c = link_class[e] if link_class.size else (orbit[u] if orbit.size > 1 else 0) * degree + e - u * degree
        most = room[c + 1] - room[c]
        at = room[c] + (count[c] % most if most > 1 else 0)
        if count[c] >= most and free[at] > t:
            wrong[h] |= _CAPACITY
        free[at] = t + np.int64(_of(occupancy, e))
        count[c] += 1
        if slot[h] + np.int64(_of(occupancy, e)) + _of(latency, e) > slots:
            wrong[h] |= _UNFINISHED


@njit(cache=True, nogil=True, small=100_000)
def _busy_ports(journey, rows, receiving, orbit, busy, wrong):
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
            wrong[h] |= _RECEIVE if receiving else _SEND
        busy[v] = max(busy[v], t + _of(occupancy, e))


@njit(cache=True, nogil=True, small=100_000)
def _busy_shared_ports(slot, link, rows, port, delay, held, room, wrong):
    """Mark hops through shared ports that pass as many packets as they can.

    * `slot`, `link`, int32[H].
    * `rows`, int64[H]: the hops by the slot in which they enter a port, `delay` after their start.
    * `port`, int32[L]: the port of each link, or -1.
    * `delay`, int64[L].
    * `held`, int32[P]: slots for which a packet is in each port.
    * `room`, int64[P+1]: the first place of each port in a list with a place for each packet that may be in it at once,
      or at least for each of its hops.
    * `wrong`, uint8[H]: marked.
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
            wrong[h] |= _SHARED
        entered[at] = t
        count[p] += 1


@njit(cache=True, nogil=True)
def _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, first, last, h):
    """Write the hops ``order[first:last]`` of a packet to `h`."""
    for i in range(first, last):
        row, k = order[i], i - first
        e, t = link[row], np.int64(slot[row])
        h[k, _START] = t
        h[k, _GONE] = t + _of(occupancy, e)
        h[k, _END] = h[k, _GONE] + _of(latency, e)
        passing = cut_through and target[e] >= terminals
        h[k, _USABLE] = t + _of(latency, e) if passing else h[k, _END]
        h[k, _SOURCE] = source[e]
        h[k, _TARGET] = target[e]
        h[k, _WRONG] = 0
        h[k, _FATE] = COMBINED
        h[k, _REPEATS] = -1


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
    if n[v, _STAMP] != p:
        n[v, _STAMP] = p
        n[v, _FLAGS] = 0
        n[v, _TAIL] = _NEVER
        n[v, _WHOLE] = 0
        n[v, _COMING] = -1
        n[v, _SINCE] = -1


@njit(cache=True, nogil=True)
def _take(h, n, k):
    """Use up an arrival at the switch from which hop k leaves, and say whether there is one.

    Of those whose tails are not there the one that comes last is taken, which is of the least use to others.
    """
    u = h[k, _SOURCE]
    best, before_best, before = -1, -1, -1
    i = n[u, _COMING]
    while i >= 0:
        following, tail = h[i, _AFTER], h[i, _END]
        if tail <= h[k, _START]:
            n[u, _WHOLE] += 1
            if before < 0:
                n[u, _COMING] = following
            else:
                h[before, _AFTER] = following
        else:
            if tail <= h[k, _GONE] and (best < 0 or tail > h[best, _END]):
                best, before_best = i, before
            before = i
        i = following
    if best >= 0:
        if before_best < 0:
            n[u, _COMING] = h[best, _AFTER]
        else:
            h[before_best, _AFTER] = h[best, _AFTER]
        return True
    if n[u, _WHOLE] > 0:
        n[u, _WHOLE] -= 1
        return True
    return False


@njit(cache=True, nogil=True)
def _contribute(h, n, k, origin, contributing):
    """Let the contribution of a node leave in hop k, or mark what is wrong; say whether it left."""
    u = h[k, _SOURCE]
    if u == origin or (u >= contributing and (n[u, _FLAGS] & _HELD == 0 or n[u, _TAIL] > h[k, _GONE])):
        h[k, _WRONG] |= _CAUSALITY
        return False
    if n[u, _FLAGS] & _SENT:
        h[k, _WRONG] |= _DUPLICATE
        return False
    n[u, _FLAGS] |= _SENT
    late = n[u, _COMING]
    while late >= 0:  # their tails cannot follow
        if h[late, _END] > h[k, _GONE]:
            h[late, _WRONG] |= _LOST
        late = h[late, _AFTER]
    return True


@njit(cache=True, nogil=True, inline="always")
def _depart(h, n, k, p, kind, origin, terminals, contributing, one_by_one, give_away):
    """Let a copied packet or a contribution leave in hop k, or mark what is wrong; say whether it left."""
    u = h[k, _SOURCE]
    _touch(n, p, u)
    left = True
    if one_by_one and u >= terminals and u != origin:
        left = _take(h, n, k)
    elif kind == _COMBINE:
        left = _contribute(h, n, k, origin, contributing)
    elif n[u, _FLAGS] & _HELD == 0 or n[u, _TAIL] > h[k, _GONE]:
        left = False
    elif give_away or u >= terminals:
        n[u, _FLAGS] |= _SENT
    if not left and h[k, _WRONG] & _DUPLICATE == 0:
        h[k, _WRONG] |= _CAUSALITY
    h[k, _LEFT] = u
    if u >= terminals:
        h[k, _LEFT] = n[u, _FROM] if n[u, _SINCE] == h[k, _START] else -1
    return left


@njit(cache=True, nogil=True, inline="always")
def _arrive(h, n, k, p, kind, origin, terminals, one_by_one, give_away):
    """Let a copied packet or a contribution be usable at the end of hop k, or mark what is wrong."""
    v = h[k, _TARGET]
    _touch(n, p, v)
    used_up = one_by_one and v >= terminals and v != origin
    flags = n[v, _FLAGS]
    left = h[k, _LEFT] if h[k, _USABLE] == h[k, _START] else -1
    if n[v, _SINCE] == h[k, _USABLE]:
        if n[v, _FROM] != left:
            n[v, _FROM] = -1
    else:
        n[v, _SINCE] = h[k, _USABLE]
        n[v, _FROM] = -1 if used_up and (n[v, _WHOLE] > 0 or n[v, _COMING] >= 0) else left
    if kind == _COPY and not used_up:
        given = flags & _SENT and (give_away or v >= terminals)
        if flags & _HELD and (not given or h[k, _LEFT] == v):  # not what is back in the slot in which it left
            h[k, _WRONG] |= _DUPLICATE
        n[v, _FLAGS] = _HELD
        n[v, _TAIL] = min(n[v, _TAIL], h[k, _END])
    else:
        n[v, _FLAGS] = flags | _HELD
        n[v, _TAIL] = min(n[v, _TAIL], h[k, _END])
        if not used_up and flags & _SENT:
            h[k, _WRONG] |= _LOST
        elif h[k, _END] > h[k, _USABLE]:
            h[k, _AFTER] = n[v, _COMING]
            n[v, _COMING] = k
        elif used_up:
            n[v, _WHOLE] += 1


@njit(cache=True, nogil=True)
def _take_sum(h, n, k, replication):
    """Return the partial sum that hop k takes from a switch that adds nothing: of an arrival, or -1.

    The earliest that has not left yet whose tail can follow, of several the first; where switches replicate and none is
    left, the last one again.
    """
    u = h[k, _SOURCE]
    best, before_best, before = -1, -1, -1
    i = n[u, _COMING]
    while i >= 0:
        if h[i, _END] <= h[k, _GONE] and (
            best < 0 or h[i, _END] < h[best, _END] or (h[i, _END] == h[best, _END] and i < best)
        ):
            best, before_best = i, before
        before = i
        i = h[i, _AFTER]
    if best < 0:
        last = n[u, _WHOLE] - 1
        return last if replication and last >= 0 and h[last, _END] <= h[k, _GONE] else -1
    if before_best < 0:
        n[u, _COMING] = h[best, _AFTER]
    else:
        h[before_best, _AFTER] = h[best, _AFTER]
    n[u, _WHOLE] = best + 1
    return best


@njit(cache=True, nogil=True, inline="always")
def _touch_sum(n, p, v, sums, contributing):
    """Begin with a packet at a node: its own contribution where all contribute, or nothing."""
    if n[v, _STAMP] != p:
        _touch(n, p, v)
        n[v, _TAIL] = _EVER
        n[v, _OLDER] = -1
        sums[v] = 0
        if v < contributing:
            add_member(sums, v, v)


@njit(cache=True, nogil=True)
def _load_repeats(h, n, size, repeats, order, first, p, sums, contributing):
    """Write which hop of the packet each of its hops repeats, itself where that is one of another packet.

    What is carried on from where it arrived passes through there.
    """
    for k in range(size if repeats.size else 0):
        row = repeats[order[first + k]]
        if row >= 0:
            j = np.searchsorted(order[first : first + size], row)
            h[k, _REPEATS] = j if order[first + j] == row else k
            if h[k, _REPEATS] == j and h[j, _TARGET] == h[k, _SOURCE]:
                h[j, _FATE], h[j, _AFTER] = PASSED_ON, -1
        elif row < -1:
            u = h[k, _SOURCE]
            _touch_sum(n, p, u, sums, contributing)
            h[k, _REPEATS], h[k, _NEXT] = row, n[u, _OLDER]
            n[u, _OLDER] = k


@njit(cache=True, nogil=True)
def _bring_sum(h, n, k, p, sums, contributing):
    """Put hop k into the list of what has come to its target and is not settled, which ascends."""
    v = h[k, _TARGET]
    if h[k, _WRONG] & _STOPPED or h[k, _FATE] == PASSED_ON:
        return
    _touch_sum(n, p, v, sums, contributing)
    before, i = -1, n[v, _COMING]
    while i >= 0 and i < k:
        before, i = i, h[i, _AFTER]
    h[k, _AFTER] = i
    if before < 0:
        n[v, _COMING] = k
    else:
        h[before, _AFTER] = k


@njit(cache=True, nogil=True)
def _settle_sums(h, n, v, usable, sums, carried):
    """Let what has come to a node that adds do there what it does, all at the same time."""
    k = n[v, _OLDER]
    while k >= 0:
        if h[k, _REPEATS] > _KEPT and -2 - h[k, _REPEATS] < usable:
            carried[k] = sums[v]
            h[k, _REPEATS], h[k, _THERE] = _KEPT, n[v, _TAIL]
        k = h[k, _NEXT]
    settle(n[v, _COMING], h[:, _AFTER], h[:, _FATE], carried, sums[v], carried[carried.shape[0] - 1])
    k = n[v, _COMING]
    while k >= 0:
        if h[k, _FATE] == COUNTED_TWICE:
            h[k, _WRONG] |= _DUPLICATE
        elif h[k, _FATE] == REPLACED:
            n[v, _TAIL] = h[k, _END]
        elif h[k, _FATE] == COMBINED:
            n[v, _TAIL] = max(n[v, _TAIL], h[k, _END])
        k = h[k, _AFTER]
    n[v, _COMING] = -1


@njit(cache=True, nogil=True)
def _depart_sum(h, n, k, p, terminals, contributing, one_by_one, replication, sums, carried):
    """Let hop k leave with the sum of its node or with what it repeats, or mark what is wrong; say whether it left.

    Where switches do not replicate, each arrival that passes through one leaves it once, and so does its sum, after
    which it holds nothing. Those and switches that do not add have no older sums.
    """
    u, j, t = h[k, _SOURCE], h[k, _REPEATS], h[k, _START]
    _touch_sum(n, p, u, sums, contributing)
    if n[u, _COMING] >= 0 and (j == -1 or -2 - j == t) and not (one_by_one and u >= terminals):
        _settle_sums(h, n, u, t, sums, carried)  # what has come in this slot
    once = u >= terminals and not replication
    there, passing, own = np.int64(_NEVER), False, False
    if j >= 0:
        known = j < k and h[j, _WRONG] & _CAUSALITY == 0
        if known and h[j, _TARGET] == u and h[j, _USABLE] <= t and not (once and h[j, _AFTER] >= 0):
            there, passing = h[j, _END], True
        elif known and h[j, _SOURCE] == u and h[j, _START] <= t and not once:
            there = h[j, _THERE]
        carried[k] = carried[j]
    elif j < -1 and (once or (one_by_one and u >= terminals)):
        carried[k] = 0
    elif j == _KEPT:
        there = h[k, _THERE]
    elif one_by_one and u >= terminals:
        i = _take_sum(h, n, k, replication)
        if i >= 0:
            there, carried[k] = h[i, _END], carried[i]
            h[k, _REPEATS], h[i, _FATE] = i, PASSED_ON
    else:
        there, own = n[u, _TAIL], True
        carried[k] = sums[u]
    if there > h[k, _GONE] or not np.any(carried[k] != 0):
        h[k, _WRONG] |= _CAUSALITY
        carried[k] = 0
        return False
    h[k, _THERE] = there
    if passing:
        h[j, _AFTER] = k
    if once and own:
        sums[u] = 0
        n[u, _TAIL] = _EVER
    return True


@njit(cache=True, nogil=True)
def _settle_all(h, n, rows, first, last, p, terminals, one_by_one, until, sums, carried):
    """Settle what hops rows[first:last], usable at the same time, brought: at nodes below `until` that add."""
    for i in range(first, last):
        v = h[rows[i], _TARGET]
        if v < until and n[v, _STAMP] == p and n[v, _COMING] >= 0 and not (one_by_one and v >= terminals):
            _settle_sums(h, n, v, h[rows[i], _USABLE], sums, carried)


@njit(cache=True, nogil=True)
def _in_order(h, n, a, b, terminals, stamp, following, repeating, queue):
    """Queue hops a..b-1, all in one slot, each after those that bring to its source in that slot what it may carry.

    A hop that repeats another waits for that one alone, and one with a sum of an earlier slot for none. What passes
    through a switch is not waited for there. `following` and `repeating` have room for lists of hops. Return how many
    were queued: not those that run in a circle, nor what follows them.
    """
    waiting = False
    for k in range(a, b):
        repeating[k] = -1
    for k in range(b - 1, a - 1, -1):
        u, j = h[k, _SOURCE], h[k, _REPEATS]
        if a <= j < k:
            following[k] = repeating[j]
            repeating[j] = k
            waiting = True
        if n[u, _GROUP] != stamp:
            n[u, _GROUP], n[u, _WAITS], n[u, _LEAVING] = stamp, 0, -1
        if j == -1 or -2 - j == h[k, _START]:
            following[k] = n[u, _LEAVING]
            n[u, _LEAVING] = k
    for k in range(a, b):
        v = h[k, _TARGET]
        if n[v, _GROUP] == stamp and v >= terminals and h[k, _USABLE] == h[k, _START] and h[k, _FATE] != PASSED_ON:
            n[v, _WAITS] += 1
            waiting = True
    queued = 0
    for k in range(a, b):
        j = h[k, _REPEATS]
        by_node = j == -1 or -2 - j == h[k, _START]
        if not waiting or (n[h[k, _SOURCE], _WAITS] == 0 if by_node else not a <= j < k):
            queue[queued] = k
            queued += 1
    done = 0
    while waiting and done < queued:
        k = queue[done]
        done += 1
        i = repeating[k]
        while i >= 0:
            queue[queued] = i
            queued += 1
            i = following[i]
        v = h[k, _TARGET]
        if n[v, _GROUP] == stamp and v >= terminals and h[k, _USABLE] == h[k, _START] and h[k, _FATE] != PASSED_ON:
            n[v, _WAITS] -= 1
            i = n[v, _LEAVING] if n[v, _WAITS] == 0 else -1
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
    if moved[0] == h[k, _SOURCE] and moved[1] <= h[k, _GONE]:
        moved[0] = -1  # it is on its way
        return True
    h[k, _WRONG] |= _CAUSALITY
    i = a
    while h[i, _START] == h[k, _START]:
        if h[i, _SOURCE] == h[k, _SOURCE] and h[i, _WRONG] & _STOPPED == 0:  # it left from there in this slot
            h[k, _WRONG] ^= _STOPPED
            break
        i += 1
    return False


@njit(cache=True, nogil=True)
def _met(n, p, v, kind, origin, terminals, contributing, one_by_one, moved):
    """Say whether packet p is where it should be at the end, as far as node v is concerned."""
    if kind == _MOVE:
        return moved[0] == v
    flags = n[v, _FLAGS] if n[v, _STAMP] == p else 0
    if kind == _COPY:
        return (flags & _HELD) != 0
    if v == origin or (v >= contributing and flags & _HELD == 0):
        return True
    if v >= terminals and one_by_one:
        return n[v, _WHOLE] == 0 and n[v, _COMING] < 0
    return (flags & _SENT) != 0


@njit(cache=True, nogil=True, inline="always")
def _widest(start):
    """Return how many hops a packet has at most."""
    widest = np.int64(0)
    for p in range(start.size - 1):
        widest = max(widest, start[p + 1] - start[p])
    return widest


@njit(cache=True, nogil=True, small=100_000)
def _replay(
    journey, n, start, order, kinds, origins, message_of, target_start, targets, to_all, replication, reduction,
    wrong, limit, found_packet, found_node, found_end,
):  # fmt: skip
    """Replay each packet that is no partial sum and compare where it is at the end with its goals.

    Hops of packet p stand in ``start[p]:start[p+1]`` of `order`, by slot. `n` int64[N, NODE_COLUMNS] is -1. Up to
    `limit` goals that are not met are written: packet, node, and where a moved packet ended. Return how many were
    written, and how many there are.
    """
    slot, link, source, target = journey.slot, journey.link, journey.source, journey.target
    occupancy, latency, terminals, cut_through = journey[4], journey[5], journey.terminals, journey.cut_through
    widest = _widest(start)
    h = np.empty((widest + 1, _HOP_COLUMNS), np.int64)
    arriving, queue, following, repeating = np.empty((4, widest), np.int64)
    moved = np.empty(2, np.int64)
    written, total, stamp = 0, 0, 0
    for p in range(origins.size):
        kind, origin = _of(kinds, p), origins[p]
        if kind >= _ALLCOMBINE:
            continue
        one_by_one = (kind == _COPY and not replication) or (kind == _COMBINE and not reduction)
        moved[0], moved[1] = origin, _EVER
        if kind == _COPY:
            _touch(n, p, origin)
            n[origin, _FLAGS] |= _HELD
            n[origin, _TAIL] = _EVER
        elif kind == _COMBINE and not to_all:
            for i in range(target_start[message_of[p]], target_start[message_of[p] + 1]):
                _touch(n, p, targets[i])
                n[targets[i], _FLAGS] |= _HELD
                n[targets[i], _TAIL] = _EVER
        size = start[p + 1] - start[p]
        _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, start[p], start[p + 1], h)
        h[size, _START] = _NEVER
        _sorted_by(h, size, _USABLE, arriving)
        a, r = 0, 0
        while a < size or r < size:
            t = h[a, _START]  # NEVER after the last hop
            while r < size and h[arriving[r], _USABLE] <= t and h[arriving[r], _START] < t:
                k = arriving[r]
                r += 1
                if h[k, _WRONG] & _STOPPED:
                    continue
                if kind == _MOVE:
                    moved[0], moved[1] = h[k, _TARGET], h[k, _END]
                else:
                    _arrive(h, n, k, p, kind, origin, terminals, one_by_one, not to_all)
            b = a
            while b < size and h[b, _START] == t:
                b += 1
            ordered = cut_through and b - a > 1
            queued = b - a
            if ordered:
                stamp += 1
                queued = _in_order(h, n, a, b, terminals, stamp, following, repeating, queue)
            for k in range(a, b):
                h[k, _WRONG] = _CAUSALITY  # until it is its turn
            for i in range(queued):
                k = queue[i] if ordered else a + i
                h[k, _WRONG] = 0
                if kind == _MOVE:
                    left = _move(h, k, a, moved)
                else:
                    left = _depart(h, n, k, p, kind, origin, terminals, journey.contributing, one_by_one, not to_all)
                if left and h[k, _USABLE] == t:
                    if kind == _MOVE:
                        moved[0], moved[1] = h[k, _TARGET], h[k, _END]
                    else:
                        _arrive(h, n, k, p, kind, origin, terminals, one_by_one, not to_all)
            while r < size and h[arriving[r], _USABLE] == t:
                r += 1  # these have arrived in the slot in which they left
            a = b
        for k in range(size):
            if h[k, _WRONG]:
                wrong[order[start[p] + k]] |= h[k, _WRONG]
        m = message_of[p]
        listed = kind != _COMBINE and not to_all
        first = target_start[m] if listed else 0
        until = target_start[m + 1] if listed else (terminals if kind == _COPY else n.shape[0])
        for i in range(first, until):
            v = targets[i] if listed else i
            if not _met(n, p, v, kind, origin, terminals, journey.contributing, one_by_one, moved):
                total += 1
                if written < limit:
                    found_packet[written], found_node[written], found_end[written] = p, v, moved[0]
                    written += 1
    return written, total


@njit(cache=True, nogil=True, small=100_000)
def _replay_sums(
    journey, n, start, order, kinds, origins, message_of, target_start, targets, to_all, replication, reduction,
    repeats, sums, fate, carries_on, sets, wrong, limit, found_packet, found_node, found_end,
):  # fmt: skip
    """Replay each partial sum and compare what is where at the end with its goals.

    Arguments as of `_replay`. `repeats` int32[H] says which hop each
    repeats, or is empty. `sums` uint64[N, W] has room for the partial sum of each node. What each arrival does is
    written to `fate` uint8[H], which hop each carries on to `carries_on` int32[H], and what it brings to `sets`
    uint64[H, W] if that is not empty. Of goals that are not met the last column says whose contribution is missing.
    """
    slot, link, source, target = journey.slot, journey.link, journey.source, journey.target
    occupancy, latency, terminals, cut_through = journey[4], journey[5], journey.terminals, journey.cut_through
    contributing = journey.contributing
    widest = _widest(start)
    h = np.empty((widest + 1, _HOP_COLUMNS), np.int64)
    arriving, queue, following, repeating = np.empty((4, widest), np.int64)
    carried = np.empty((widest + 2, sums.shape[1]), np.uint64)
    written, total, stamp = 0, 0, 0
    one_by_one = not reduction
    for p in range(origins.size):
        if _of(kinds, p) < _ALLCOMBINE:
            continue
        m = message_of[p]
        if not to_all:
            for i in range(target_start[m], target_start[m + 1]):
                _touch_sum(n, p, targets[i], sums, 0)
                add_member(sums, targets[i], targets[i])
        size = start[p + 1] - start[p]
        _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, start[p], start[p + 1], h)
        h[size, _START] = _NEVER
        _load_repeats(h, n, size, repeats, order, start[p], p, sums, contributing)
        _sorted_by(h, size, _USABLE, arriving)
        a, r = 0, 0
        while a < size or r < size:
            t = h[a, _START]  # NEVER after the last hop
            while r < size and h[arriving[r], _USABLE] <= t and h[arriving[r], _START] < t:
                first, usable = r, h[arriving[r], _USABLE]
                while r < size and h[arriving[r], _USABLE] == usable and h[arriving[r], _START] < t:
                    r += 1
                for i in range(r - 1, first - 1, -1):
                    _bring_sum(h, n, arriving[i], p, sums, contributing)
                until = terminals if cut_through and usable == t else n.shape[0]  # a switch may get more in this slot
                _settle_all(h, n, arriving, first, r, p, terminals, one_by_one, until, sums, carried)
            now = r
            while now > 0 and h[arriving[now - 1], _USABLE] == t:
                now -= 1
            b = a
            while b < size and h[b, _START] == t:
                b += 1
            ordered = cut_through and b - a > 1
            queued = b - a
            if ordered:
                stamp += 1
                queued = _in_order(h, n, a, b, terminals, stamp, following, repeating, queue)
            for k in range(a, b):
                h[k, _WRONG] = _CAUSALITY  # until it is its turn
                if h[k, _REPEATS] != _KEPT:
                    carried[k] = 0
            for i in range(queued):
                k = queue[i] if ordered else a + i
                h[k, _WRONG] = 0
                left = _depart_sum(h, n, k, p, terminals, contributing, one_by_one, replication, sums, carried)
                if left and h[k, _USABLE] == t:
                    _bring_sum(h, n, k, p, sums, contributing)
            while r < size and h[arriving[r], _USABLE] == t:
                r += 1  # these have arrived in the slot in which they left
            if cut_through:
                _settle_all(h, n, arriving, now, r, p, terminals, one_by_one, n.shape[0], sums, carried)
            a = b
        for k in range(size):
            row = order[start[p] + k]
            wrong[row] |= h[k, _WRONG]
            fate[row] = h[k, _FATE]
            carries_on[row] = order[start[p] + h[k, _REPEATS]] if h[k, _REPEATS] >= 0 else -1
            if sets.size:
                sets[row] = carried[k]
        many = _of(kinds, p) == _ALLCOMBINE
        first = target_start[m] if many and not to_all else 0
        until = 1 if not many else (terminals if to_all else target_start[m + 1])
        for i in range(first, until):
            v = origins[p] if not many else (i if to_all else targets[i])
            _touch_sum(n, p, v, sums, contributing)
            missing = -1
            for j in range(target_start[m] if not to_all else 0, target_start[m + 1] if not to_all else terminals):
                u = j if to_all else targets[j]
                if (sums[v, u >> 6] >> np.uint64(u & 63)) & np.uint64(1) == 0:
                    missing = u
                    break
            if missing >= 0:
                total += 1
                if written < limit:
                    found_packet[written], found_node[written], found_end[written] = p, v, missing
                    written += 1
    return written, total


@njit(cache=True, nogil=True, small=100_000)
def _stays(
    journey, n, start, order, kinds, origins, message_of, target_start, targets, to_all, after, replication, reduction,
    count_all, end, found,
):  # fmt: skip
    """Write when packets are in the buffers of nodes: node, first and last slot boundary; return how many stays.

    Of all packets but partial sums. Only meaningful for schedules that `replay` accepts. Arguments as there; `found`
    int32[3, hops + 2*packets]. Of nodes, TAIL is when the packet came and WHOLE when it left last; COMING begins a list
    of arrivals.
    """
    slot, link, source, target = journey.slot, journey.link, journey.source, journey.target
    occupancy, latency, terminals, cut_through = journey[4], journey[5], journey.terminals, journey.cut_through
    widest = np.int64(0)
    for p in range(origins.size):
        widest = max(widest, start[p + 1] - start[p])
    h, rows = np.empty((widest + 1, _HOP_COLUMNS), np.int64), np.empty(widest, np.int64)
    count = 0
    for p in range(origins.size):
        kind, origin, m = _of(kinds, p), origins[p], message_of[p]
        if kind >= _ALLCOMBINE:
            continue
        one_by_one = (kind == _COPY and not replication) or (kind == _COMBINE and not reduction)
        own = after.size == 0 or after[m] < 0  # the origin of a reduction's result holds it as that already
        size = start[p + 1] - start[p]
        _load(slot, link, source, target, occupancy, latency, terminals, cut_through, order, start[p], start[p + 1], h)
        h[size, _START] = _NEVER
        if one_by_one:
            _sorted_by(h, size, _END, rows)
            for i in range(size - 1, -1, -1):  # a list of the arrivals at each switch, the earliest first
                k = rows[i]
                v = h[k, _TARGET]
                _touch(n, p, v)
                h[k, _AFTER] = n[v, _COMING]
                n[v, _COMING] = k
        _sorted_by(h, size, _USABLE, rows)
        _touch(n, p, origin)
        n[origin, _WHOLE] = -1
        if count_all and kind != _COMBINE and own:
            n[origin, _TAIL] = 0
        if count_all and kind == _COMBINE and not to_all:  # contributors hold their shares from the start
            for i in range(target_start[m], target_start[m + 1]):
                _touch(n, p, targets[i])
                n[targets[i], _TAIL] = 0
        a, r = 0, 0
        while a < size or r < size:
            while r < size and h[rows[r], _USABLE] <= h[a, _START]:
                k = rows[r]
                r += 1
                v = h[k, _TARGET]
                _touch(n, p, v)
                if one_by_one and v >= terminals and v != origin:
                    continue
                if kind == _COMBINE:
                    n[v, _TAIL] = min(n[v, _TAIL], h[k, _END])
                    continue
                if n[v, _TAIL] <= n[v, _WHOLE]:
                    found[0, count], found[1, count], found[2, count] = v, n[v, _TAIL], n[v, _WHOLE]
                    count += 1
                n[v, _TAIL], n[v, _WHOLE] = h[k, _END], -1
            if a < size:
                u, t = h[a, _SOURCE], h[a, _START]
                a += 1
                _touch(n, p, u)
                if one_by_one and u >= terminals and u != origin:
                    came = h[n[u, _COMING], _END]
                    n[u, _COMING] = h[n[u, _COMING], _AFTER]
                elif kind == _COMBINE:
                    came = np.int64(0) if count_all and u < journey.contributing else n[u, _TAIL]
                else:
                    n[u, _WHOLE] = t
                    continue
                if came <= t:
                    found[0, count], found[1, count], found[2, count] = u, came, t
                    count += 1
        if kind == _COMBINE:
            if count_all:
                found[0, count], found[1, count], found[2, count] = origin, 0, end
                count += 1
            continue
        if count_all:  # those for whom it is keep it
            for i in range(0 if to_all else target_start[m], terminals if to_all else target_start[m + 1]):
                v = i if to_all else targets[i]
                if n[v, _STAMP] == p and n[v, _TAIL] < _NEVER:
                    n[v, _WHOLE] = end
        for k in range(-1, size):
            v = h[k, _TARGET] if k >= 0 else np.int64(origin)
            if n[v, _TAIL] <= n[v, _WHOLE]:
                found[0, count], found[1, count], found[2, count] = v, n[v, _TAIL], n[v, _WHOLE]
                count += 1
            n[v, _TAIL] = _NEVER
    return count


HOP_KINDS = (
    "causality",
    "link capacity",
    "send port",
    "receive port",
    "duplicate",
    "lost contribution",
    "unfinished",
    "shared port",
)
"""What may be wrong with a hop, in the order of the bits of the compiled kernels."""

Rows = npt.NDArray[np.integer]
_NONE = np.zeros(0, np.int64)


class Replayed(NamedTuple):
    """What a replay found.

    * `wrong`, uint8[H]: for each hop what is wrong with it, a bit for each of `HOP_KINDS`.
    * `unmet`, int64[3, n]: goals that are not met, up to the limit: packet, node, where a moved packet ended or whose
      contribution is missing.
    * `unmet_count`: all of them.
    * `fate`, uint8[H]: what the arrival of each partial sum does, as in `gossamer.verification.partial_sums`; of other
      hops 0. Empty where there are none.
    * `carries_on`, int32[H]: the hop that each carries on or repeats, as the schedule says or as a switch that adds
      nothing passes on what comes, -1 where it carries the sum of its node. Empty where there are no partial sums.
    """

    wrong: npt.NDArray[np.uint8]
    unmet: npt.NDArray[np.int64]
    unmet_count: int
    fate: npt.NDArray[np.uint8]
    carries_on: IntArray


def _journey(schedule: HopTable) -> _Journey:

    network = schedule.network
    return _Journey(
        schedule.slot,
        schedule.link,
        network.link_source,
        network.link_target,
        occupancies(network),
        latencies(network, schedule.parts),
        network.terminal_count,
        network.terminal_count if schedule.messages.targets is None else 0,
        schedule.rules.cut_through and network.terminal_count < network.node_count,
    )


def replay_timed(
    schedule: HopTable, state: ReplayState, limit: int, length: npt.NDArray[np.int64] | None = None
) -> Replayed:
    """Replay a schedule packet by packet, and the use of links and ports by itself.

    `length`, int64[P]: if given, each packet takes so many times as long as one on each link. Then no ports are shared,
    and nodes stand for themselves.

    O(hops log hops + packets * nodes) time; 5 bytes a hop besides the columns, and what sorting them takes. Partial
    sums take a bit for each pair of a node and a contributor, and each hop reads and writes a set of nodes.
    """
    network, rules = schedule.network, schedule.rules
    journey = _journey(schedule)
    wrong = np.zeros(schedule.stored_hops, np.uint8)
    busy = np.bincount(_classes(schedule, state), minlength=state.classes)
    room = np.zeros(state.classes + 1, np.int64)
    capacity = state.capacity
    if state.link_class.size and capacity.size > 1:  # that of the orbit
        capacity = np.zeros(state.classes, np.int32)
        capacity[state.link_class] = state.capacity
    np.cumsum(np.minimum(busy, capacity), out=room[1:])
    classes = state.orbit, state.link_class
    if length is not None:  # each hop is on a link of its own, which is the same as those of its class
        link, many = schedule.link, length[schedule.packet]
        journey = journey._replace(
            link=np.arange(link.size, dtype=np.int32), source=network.link_source[link],
            target=network.link_target[link], occupancy=(network.link_occupancy[link] * many).astype(np.int32),
            latency=network.link_latency[link].astype(np.int64),
        )  # fmt: skip
        classes = np.zeros(1, np.int32), link
    _busy_links(journey, *classes, state.degree, room, schedule.slot_count, wrong)
    for limited, receiving in ((rules.send_limited, False), (rules.receive_limited, True)):
        if limited:
            entering = _NONE
            if receiving and journey.latency.size > 1:
                entering = np.argsort(schedule.slot + journey.latency[journey.link], kind="stable")
            _busy_ports(journey, entering, receiving, state.orbit, np.zeros(state.node_classes, np.int64), wrong)

    if network.shared_ports is not None:
        _shared_ports(schedule, wrong)

    start, order = by_packet(schedule)
    unmet = np.zeros((3, limit), np.int64)
    told = (
        start, order, state.kind, state.origin, state.row_of, state.target_start, state.targets, state.to_all,
        rules.replication, rules.reduction,
    )  # fmt: skip
    written = total = 0
    if np.any(state.kind < _ALLCOMBINE):
        written, total = _replay(journey, _nodes(network.node_count), *told, wrong, limit, *unmet)
    words = words_of(network.terminal_count) if state.summed else 0
    fate = np.zeros(wrong.size if words else 0, np.uint8)
    carries_on = np.full(fate.size, -1, np.int32)
    if words:
        sums = np.zeros((network.node_count, words), np.uint64)
        more, all_of_sums = _replay_sums(
            journey, _nodes(network.node_count), *told, _repeats(schedule), sums, fate, carries_on, sums[:0], wrong,
            limit - written, *unmet[:, written:],
        )  # fmt: skip
        written, total = written + more, total + all_of_sums
    return Replayed(wrong, unmet[:, :written], int(total), fate, carries_on)


class CarriedSums(NamedTuple):
    """The partial sums of a packet on their way.

    `hops`, int64[K]: the packet's hops, by slot. `contributions`, bool[K, terminals]: whose contributions each carries;
    of a hop that cannot leave, none. `fate`, uint8[K]: what its arrival does, as in
    `gossamer.verification.partial_sums`. `held`, bool[K, terminals]: whose contributions its target has when it has
    come, and what comes at the same time.
    """

    hops: npt.NDArray[np.int64]
    contributions: npt.NDArray[np.bool_]
    fate: npt.NDArray[np.uint8]
    held: npt.NDArray[np.bool_]


def carried_sums(schedule: HopTable, packet: int) -> CarriedSums:
    """Return what the hops of one packet of a reduction carry, and what their arrivals do.

    O(hops of the schedule) to find those of the packet, then O(hops of the packet times nodes / 64).

    >>> import gossamer
    >>> from gossamer.questions.tasks import PartialSumAllreduce
    >>> net = gossamer.network("ring:4")
    >>> node = np.arange(4)
    >>> link = net.links_between(np.tile(node, 2), np.concatenate([node ^ 1, 3 - node]))
    >>> rows = [0] * 4 + [1] * 4, link, [0] * 8
    >>> doubling = gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), *rows)
    >>> carried_sums(doubling, 0).contributions[4].astype(int).tolist()
    [1, 1, 0, 0]
    """
    mine = np.flatnonzero(schedule.packet == packet)
    one = schedule.replace(
        slot=schedule.slot[mine],
        link=schedule.link[mine],
        packet=schedule.packet[mine],
        phases=schedule.phases,
        repeats=_among(schedule.repeats, mine),
    )
    state = ReplayState(one)
    network, rules = one.network, one.rules
    words = words_of(network.terminal_count)
    state.kind = np.broadcast_to(state.kind, state.origin.shape)
    state.kind = np.where(state.kind == _COMBINE, _GENERAL, state.kind).astype(np.uint8)
    sets, fate = np.zeros((mine.size, words), np.uint64), np.zeros(mine.size, np.uint8)
    start, order = by_packet(one)
    _replay_sums(
        _journey(one), _nodes(network.node_count), start, order, state.kind, state.origin, state.row_of,
        state.target_start, state.targets, state.to_all, rules.replication, rules.reduction,
        _repeats(one), np.zeros((network.node_count, words), np.uint64), fate, np.zeros(mine.size, np.int32), sets,
        np.zeros(mine.size, np.uint8), 0, *np.zeros((3, 0), np.int64),
    )  # fmt: skip
    bits = np.unpackbits(sets.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    carried = bits[:, : network.terminal_count].astype(np.bool_)
    own = one.messages.targets_of(int(state.row_of[packet]), network.terminal_count)
    return CarriedSums(mine, carried, fate, _held(one, carried, fate, own))


def _held(
    one: HopTable, carried: npt.NDArray[np.bool_], fate: npt.NDArray[np.uint8], own: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Return what the targets of one packet's hops have when these have come, where those in `own` contribute."""
    network = one.network
    has = np.zeros((network.node_count, network.terminal_count), np.bool_)
    has[own, own] = True
    target = network.link_target[one.link]
    usable = hop_ends(network, one.parts, one.slot, one.link)
    if one.rules.on(network).cut_through:
        head = one.slot + np.broadcast_to(latencies(network, one.parts), network.link_count)[one.link]
        usable = np.where(target >= network.terminal_count, head, usable)
    held = np.empty_like(carried)
    for time in np.unique(usable).tolist():
        now = np.flatnonzero(usable == time)
        for k in now[np.isin(fate[now], (COMBINED, REPLACED))].tolist():
            has[target[k]] |= carried[k]
        held[now] = has[target[now]]
    return held


def _among(repeats: IntArray | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Return which of some rows each of them repeats, or -1."""
    if repeats is None:
        return None
    place = np.minimum(np.searchsorted(rows, repeats[rows]), max(rows.size - 1, 0))
    known = rows[place] == repeats[rows]
    return np.where(known, place, np.minimum(repeats[rows], -1))


def _repeats(schedule: HopTable) -> IntArray:
    return np.zeros(0, np.int32) if schedule.repeats is None else schedule.repeats


def _shared_ports(schedule: HopTable, wrong: npt.NDArray[np.uint8]) -> None:
    """Mark the hops at which a shared port, of the sender or of the receiver, passes more packets than it can."""
    network = schedule.network
    ports = network.shared_ports
    assert ports is not None
    capacity, held = np.asarray(ports.capacity), np.asarray(ports.occupancy)
    ends = network.link_occupancy + network.link_latency.astype(np.int64) * schedule.parts
    for port, delay in (
        (ports.sending, np.zeros(network.link_count, np.int64)),
        (ports.receiving, ends - np.append(held, 0)[ports.receiving]),
    ):
        used = np.bincount(port[schedule.link] + 1, minlength=ports.count + 1)[1:]
        room = np.zeros(ports.count + 1, np.int64)
        np.cumsum(np.minimum(capacity, used), out=room[1:])
        rows = np.argsort(schedule.slot + delay[schedule.link], kind="stable")
        _busy_shared_ports(schedule.slot, schedule.link, rows, port, delay, held, room, wrong)


def by_packet(schedule: HopTable) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Return hops by packet, and the place of the first of each: those of packet p stand in start[p]..start[p+1]-1."""
    packets = schedule.packets.count
    start = np.zeros(packets + 1, np.int64)
    np.cumsum(np.bincount(schedule.packet + 1, minlength=packets + 1)[1:], out=start[1:])
    order = np.empty(int(start[-1]), np.int32)
    _by_packet_kernel(schedule.packet, start[:-1].copy(), order)
    return start, order


def stays(schedule: HopTable, state: ReplayState, count_all: bool) -> IntArray:
    """Return when packets are in the buffers of nodes: rows of node, first and last slot boundary, int32[3, n].

    `schedule`: a schedule that `gossamer.verify` accepts. `count_all`: whether a node's own and delivered packets
    count, too.

    O(hops log hops) time; 12 bytes a hop besides those of the replay.
    """
    after = schedule.messages.after
    start, order = by_packet(schedule)
    found = np.empty((3, order.size + 2 * schedule.packets.count), np.int32)
    end = slots_needed(schedule.network, schedule.parts, schedule.slot, schedule.link)
    count = 0
    if np.any(state.kind < _ALLCOMBINE):
        count = _stays(
            _journey(schedule), _nodes(schedule.network.node_count), start, order, state.kind, state.origin,
            state.row_of, state.target_start, state.targets, state.to_all, _NONE if after is None else after,
            schedule.rules.replication, schedule.rules.reduction, count_all, end, found,
        )  # fmt: skip
    if not state.summed:
        return found[:, :count]
    return np.concatenate([found[:, :count], _stays_of_sums(schedule, state, count_all, end)], axis=1)


def _stays_of_sums(schedule: HopTable, state: ReplayState, count_all: bool, end: int) -> IntArray:
    """Return when partial sums are in buffers: from the first arrival at a node until the sum leaves last.

    Of what a node ends with and what it brings only when all is counted.
    """
    network = schedule.network
    kind = np.broadcast_to(state.kind, state.origin.shape)
    hops = np.flatnonzero((schedule.packet >= 0) & (kind[schedule.packet] >= _ALLCOMBINE))
    packet, link = schedule.packet[hops].astype(np.int64), schedule.link[hops]
    left = np.full((state.origin.size, network.node_count), -1, np.int64)
    came = np.full(left.shape, _NEVER, np.int64)
    np.maximum.at(left, (packet, network.link_source[link]), schedule.slot[hops])
    ends = hop_ends(network, schedule.parts, schedule.slot[hops], link)
    np.minimum.at(came, (packet, network.link_target[link]), ends)
    for p in np.flatnonzero(kind >= _ALLCOMBINE).tolist() if count_all else ():
        m = state.row_of[p]
        members = schedule.messages.targets_of(int(m), network.terminal_count)
        came[p, members] = 0
        if kind[p] == _ALLCOMBINE:
            left[p, members] = end
        else:
            came[p, state.origin[p]], left[p, state.origin[p]] = 0, end
    at = np.nonzero(came <= left)
    return np.stack([at[1], came[at], left[at]]).astype(np.int32)


def _classes(schedule: HopTable, state: ReplayState) -> Rows:
    """Return the link, or the orbit of links, of each hop."""
    return schedule.link if schedule.symmetry is None else schedule.symmetry.link_orbit(schedule.link)


def _nodes(count: int) -> npt.NDArray[np.int64]:

    return np.full((count, _NODE_COLUMNS), -1, np.int64)


def message_spans(schedule: HopTable, state: ReplayState) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first and the last slot of the hops of each message; 2**31 - 1 and -1 where it has none."""
    rows = schedule.messages.count
    first, last = np.full(rows, 2**31 - 1, np.int64), np.full(rows, -1, np.int64)
    _message_spans(_journey(schedule), schedule.packet, state.row_of, first, last)
    return first, last
