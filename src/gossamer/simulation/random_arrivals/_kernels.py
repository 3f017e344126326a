"""The compiled event loop of the queueing simulator; plain arrays in and out.

Every service takes one unit of time, so services end in the order in which they began: the event list is a FIFO ring
and the next arrival, and there is no heap of events. One *instant* is all that happens at one time: first the services
that end, in the order in which they began, then the arrivals, then every link that is idle or has become idle takes
the copy of its queue that comes first, in the order in which the links were touched.

Tables (see `machine.py`): ``rows`` int32[K, 4] is (first child, children, step, class * 2 + counted) of each place of
the list of children. ``queue`` int32[L, ...] is (state, services, target, words of the class mask, then head and
tail of each class) of each link; with other ties than first come, the words are missing and the only head is the root
of a pairing heap. ``copies`` int32[., 4] is (place, broadcast, next, first child in the heap) of each copy that waits,
``ring`` int32[., 4] is (place, broadcast, link, target) of each copy in service, ``casts`` int32[., 4] is (receivers
left, copies, cell, age) of each broadcast. Free entries are linked through ``next`` and ``age``.

In large networks most of the time goes into waiting for memory. As the order of events is known, what the services a
few places further on in the ring will touch is asked for ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gossamer.jit import njit
from gossamer.jit.intrinsics import ask_for

__all__ = ["MASK_BITS", "QUEUE_HEADER", "Log", "run"]

# why `run` came back
WANTS_ARRIVALS, WANTS_COPIES, WANTS_CASTS, FINISHED, WANTS_ROOM = range(5)

# entries of the integer and of the float state
(
    RING_FIRST,
    RING_COUNT,
    TOUCHED,
    FREE_COPY,
    FREE_COPIES,
    FREE_CAST,
    OPEN,
    MOST,
    DONE,
    WORK,
    ORDER,
    AGE,
    ENTERED,
) = range(13)
NOW, LAST_BIRTH, CELLS_PER_UNIT = range(3)  # the last one for receptions; broadcasts follow

# what is asked of the kernel
LINKS, TIES, CHOOSE, PARTS, FIRST_CELL, UNTIL, FAN, WORDS = range(8)
AS_GIVEN, BY_DEGREE, BY_TABLE = range(3)
FIRST_COME, OLDEST, LONGEST = range(3)
ARRIVALS_USED, ALL_DONE, MEASURED_DONE = range(3)
OBLIVIOUS, GLOBAL, LOCAL, GUARDED, NEIGHBORS = range(5)

IDLE, BUSY, TO_START = 0, 1, 2
STATE, SERVICES, TARGET, QUEUE_HEADER = 0, 1, 2, 3
WORD_SHIFT = 4
MASK_BITS = 1 << WORD_SHIFT
CLASS_SHIFT = 44
FAR = 50_000
"""Entries of the table of queues from which on memory is asked for ahead."""

ROWS, BIRTHS = 0, 1  # entries of the counts of a log

LOWEST_BIT = np.zeros(32, np.int64)
for _bit in range(32):
    LOWEST_BIT[((1 << _bit) * 0x077CB531 & 0xFFFFFFFF) >> 27] = _bit


class Log(NamedTuple):
    """What a recorded run writes down; without one the kernel is compiled as if there were no such thing."""

    since: Any  # float64[1]: transmissions that end by then are left out
    counts: Any  # int64[2] rows and broadcasts written
    time: Any  # float64[R, 2] when a copy was queued, and when its transmission began
    which: Any  # int32[R, 2] its link, its broadcast
    birth: Any  # float64[B] when each broadcast was generated
    source: Any  # int32[B] at which node
    queued: Any  # float64[copies] when the copy in each entry was queued
    link: Any  # int32[copies] at which link
    number: Any  # int32[casts] number of the broadcast in each entry


@njit(cache=True, nogil=True, _nrt=False)
def _prefetch_ahead(ring, soon, later, queue, head_at, ties, copies):
    """Ask for what two services further on in the ring will need: the next copy of a queue, and a queue."""
    ask_for(queue, np.int64(ring[later, 2]))
    link = np.int64(ring[soon, 2])
    at = head_at
    if ties == FIRST_COME:
        m = np.int64(queue[link, QUEUE_HEADER])
        low = m & -m
        at += 2 * LOWEST_BIT[((low * 0x077CB531) & 0xFFFFFFFF) >> 27]
    ask_for(copies, max(np.int64(queue[link, at]), 0))


@njit(cache=True, nogil=True, _nrt=False)
def _merge(copies, key, order, a, b):
    """Join two pairing heaps; the root with the smaller (key, order) stays root."""
    if key[b] < key[a] or (key[b] == key[a] and order[b] < order[a]):
        a, b = b, a
    copies[b, 2] = copies[a, 3]
    copies[a, 3] = b
    return a


@njit(cache=True, nogil=True, _nrt=False)
def _without_root(copies, key, order, root):
    """Return the root of what is left of a pairing heap."""
    x, pairs = np.int64(copies[root, 3]), np.int64(-1)
    while x >= 0:
        y = np.int64(copies[x, 2])
        if y < 0:
            copies[x, 2] = pairs
            pairs = x
            break
        rest = np.int64(copies[y, 2])
        x = _merge(copies, key, order, x, y)
        copies[x, 2] = pairs
        pairs = x
        x = rest
    root = np.int64(-1)
    while pairs >= 0:
        rest = np.int64(copies[pairs, 2])
        copies[pairs, 2] = -1
        root = pairs if root < 0 else _merge(copies, key, order, root, pairs)
        pairs = rest
    return root


@njit(cache=True, nogil=True, _nrt=False)
def _widened(histogram, line, clock, delay):
    """Join the cells of a histogram in pairs until there is one for this delay; return the cells per unit of time."""
    bins = histogram.shape[1]
    while delay * clock[CELLS_PER_UNIT + line] >= bins:
        for i in range(bins // 2):
            histogram[line, i] = histogram[line, 2 * i] + histogram[line, 2 * i + 1]
        for i in range(bins // 2, bins):
            histogram[line, i] = 0
        clock[CELLS_PER_UNIT + line] *= 0.5
    return clock[CELLS_PER_UNIT + line]


@njit(cache=True, nogil=True, _nrt=False)
def _around(load, queue, link_source, node):
    """Add up the loads of a node and its neighbors in the last row of `load`; return how many nodes that are."""
    row, many = load.shape[0] - 1, 1
    for d in range(load.shape[1]):
        load[row, d] = load[node, d]
    link, last = 0, link_source.size
    while link < last:  # the first link of the node
        middle = (link + last) // 2
        if link_source[middle] < node:
            link = middle + 1
        else:
            last = middle
    while link < link_source.size and link_source[link] == node:
        for d in range(load.shape[1]):
            load[row, d] += load[queue[link, TARGET], d]
        link += 1
        many += 1
    return many


@njit(cache=True, nogil=True, _nrt=False)
def _cheapest(probability, demand, weight, load, many, uniform):
    """Return the choice that minimizes sum_i (load_i / many + a_i)^2 weight_i; ties by `uniform` in [0, 1)."""
    best, ties = np.inf, 0
    for turn in range(2):
        pick = np.int64(uniform * ties)
        for c in range(demand.shape[0]):
            if probability[c] <= 0.0:
                continue
            cost = 0.0
            for i in range(demand.shape[1]):
                cost += (load[i] / many + demand[c, i]) ** 2 * weight[i]
            if turn == 0:
                if cost < best * (1 - 1e-12):
                    best, ties = cost, 1
                elif cost <= best * (1 + 1e-12):
                    ties += 1
            elif cost <= best * (1 + 1e-12):
                if pick == 0:
                    return c
                pick -= 1
    return 0


@njit(cache=True, nogil=True, _nrt=False)
def run(
    settings, mixture, guard,
    rows, key_of_row, below, link_table, link_source, dimension, source_nodes,
    entry_first, entry_last, entry_total, receivers, probability, demand, weight,
    arrival_time, arrival_source, arrival_choice, arrival_cell, arrival_uniform,
    state, clock, queue, ring, ring_time, touched, copies, copy_key, copy_order, casts, birth, got,
    load, waiting, cell_sum, cell_count, histogram, wait_sum, wait_count, log=None,
):  # fmt: skip
    """Simulate until the arrivals given are used up, or a table is full; return why, with everything in `state`.

    ``state[ENTERED]`` counts the arrivals used. ``settings[UNTIL]`` is ARRIVALS_USED, or ALL_DONE to go on until
    nothing is in flight, or MEASURED_DONE to stop as soon as no broadcast of a measured cell is unfinished.
    Everything is written to a `Log` if one is given.
    """
    links, ties, choose, parts = settings[LINKS], settings[TIES], settings[CHOOSE], settings[PARTS]
    first_cell, until, fan, words = settings[FIRST_CELL], settings[UNTIL], settings[FAN], settings[WORDS]
    ring_first, ring_count, touched_count = state[RING_FIRST], state[RING_COUNT], state[TOUCHED]
    free_copy, free_copies, free_cast = state[FREE_COPY], state[FREE_COPIES], state[FREE_CAST]
    open_casts, most, done, work = state[OPEN], state[MOST], state[DONE], state[WORK]
    order, age, i = state[ORDER], state[AGE], state[ENTERED]
    now, last_birth = clock[NOW], clock[LAST_BIRTH]
    mask = np.int64(ring_time.size - 1)
    degree = np.int64(link_table.shape[1])
    head_at = QUEUE_HEADER + words
    local = choose >= LOCAL
    far = links != BY_TABLE and queue.size > FAR
    bins = histogram.shape[1]
    scale_0, scale_1 = clock[CELLS_PER_UNIT], clock[CELLS_PER_UNIT + 1]
    n = arrival_time.size

    while True:
        if until == MEASURED_DONE and open_casts == 0:
            why = FINISHED
            break
        if i >= n and until != ALL_DONE:
            why = WANTS_ARRIVALS
            break
        ends = ring_time[ring_first] if ring_count > 0 else np.inf
        comes = arrival_time[i] if i < n else np.inf
        if min(ends, comes) > now:
            # the instant is over: touched links take up their next copies
            if log is not None:  # noqa: SIM102 - the compiler sees `None` in a condition of its own only
                if log.counts[ROWS] + touched_count > log.which.shape[0]:
                    why = WANTS_ROOM
                    break
            for t in range(touched_count):
                link = np.int64(touched[t])
                c = np.int64(-1)
                rank = np.int64(0)
                if ties != FIRST_COME:
                    c = np.int64(queue[link, head_at])
                    if c >= 0:
                        queue[link, head_at] = _without_root(copies, copy_key, copy_order, c)
                        rank = np.int64(rows[copies[c, 0], 3]) >> 1
                else:
                    for w in range(words):
                        m = np.int64(queue[link, QUEUE_HEADER + w])
                        if m != 0:
                            low = m & -m
                            rank = w * MASK_BITS + LOWEST_BIT[((low * 0x077CB531) & 0xFFFFFFFF) >> 27]
                            c = np.int64(queue[link, head_at + 2 * rank])
                            rest = np.int64(copies[c, 2])
                            queue[link, head_at + 2 * rank] = rest
                            queue[link, QUEUE_HEADER + w] = m ^ (low & (rest >> 63))
                            break
                if c < 0:
                    queue[link, STATE] = IDLE
                    continue
                queue[link, STATE] = BUSY
                queue[link, SERVICES] += 1
                place, b = np.int64(copies[c, 0]), np.int64(copies[c, 1])
                if log is not None:
                    log.link[c] = -1
                    if now + 1.0 > log.since[0]:
                        at = log.counts[ROWS]
                        log.counts[ROWS] = at + 1
                        log.time[at, 0], log.time[at, 1] = log.queued[c], now
                        log.which[at, 0], log.which[at, 1] = link, log.number[b]
                copies[c, 2] = free_copy
                free_copy = c
                free_copies += 1
                if casts[b, 2] >= first_cell:
                    wait_sum[rank] += now
                    wait_count[rank] += 1
                if local:
                    node = np.int64(link_source[link])
                    waiting[node] -= 1
                    for d in range(load.shape[1]):
                        load[node, d] -= below[place, d]
                at = (ring_first + ring_count) & mask
                ring[at, 0] = place
                ring[at, 1] = b
                ring[at, 2] = link
                ring[at, 3] = queue[link, TARGET]
                ring_time[at] = now + 1.0
                ring_count += 1
            touched_count = 0
            if ring_count > 0:
                ends = ring_time[ring_first]
            now = min(ends, comes)
            if now == np.inf:
                now = clock[NOW]
                why = FINISHED
                break
            clock[NOW] = now
        if free_copies < fan:
            why = WANTS_COPIES
            break
        slices = 1
        first = more = table = choice = np.int64(0)
        if ends <= now:
            # a service ends: the copy is at the target of its link
            place = np.int64(ring[ring_first, 0])
            b = np.int64(ring[ring_first, 1])
            link = np.int64(ring[ring_first, 2])
            node = np.int64(ring[ring_first, 3])
            ring_first = (ring_first + 1) & mask
            ring_count -= 1
            if far:
                _prefetch_ahead(ring, (ring_first + 5) & mask, (ring_first + 11) & mask, queue, head_at, ties, copies)
                soon = (ring_first + 8) & mask
                beyond = np.int64(ring[soon, 0])
                shift = np.int64(ring[soon, 3]) * degree if links == BY_DEGREE else np.int64(0)
                for child in range(rows[beyond, 0], rows[beyond, 0] + rows[beyond, 1]):
                    ask_for(queue, shift + rows[child, 2])
            queue[link, STATE] = TO_START
            touched[touched_count] = link
            touched_count += 1
            done += 1
            work -= 1
            cell = np.int64(casts[b, 2])
            if choose == GLOBAL:
                load[0, dimension[link if links == AS_GIVEN else np.int64(rows[place, 2])]] -= 1
            if rows[place, 3] & 1:
                whole = True
                if parts > 1:
                    got[b, node] += 1
                    whole = got[b, node] == parts
                if whole:
                    casts[b, 0] -= 1
                    if cell >= 0:
                        delay = now - birth[b]
                        cell_sum[0, cell] += delay
                        cell_count[0, cell] += 1
                        if cell >= first_cell:
                            if delay * scale_0 >= bins:
                                scale_0 = _widened(histogram, 0, clock, delay)
                            histogram[0, np.int64(delay * scale_0)] += 1
                        if casts[b, 0] == 0:
                            cell_sum[1, cell] += delay
                            cell_count[1, cell] += 1
                            if cell >= first_cell:
                                open_casts -= 1
                                if delay * scale_1 >= bins:
                                    scale_1 = _widened(histogram, 1, clock, delay)
                                histogram[1, np.int64(delay * scale_1)] += 1
            first = np.int64(rows[place, 0])
            more = np.int64(rows[place, 1])
            casts[b, 1] -= 1
            entering = False
        else:
            # a broadcast is generated
            if free_cast < 0:
                why = WANTS_CASTS
                break
            b = free_cast
            source = np.int64(arrival_source[i])
            node = np.int64(source_nodes[source])
            if log is not None:
                at = log.counts[BIRTHS]
                if at == log.birth.size:
                    why = WANTS_ROOM
                    break
                log.counts[BIRTHS] = at + 1
                log.number[b], log.birth[at], log.source[at] = at, now, node
            free_cast = np.int64(casts[b, 3])
            table = source if entry_first.shape[0] > 1 else np.int64(0)
            choice = np.int64(arrival_choice[i])
            line, many = np.int64(-1), 1
            if choose == GLOBAL:
                line = np.int64(0)
            elif choose == LOCAL or (
                choose == GUARDED and arrival_uniform[i, 1] >= mixture and waiting[node] <= guard * degree
            ):
                line = node
            elif choose == NEIGHBORS:
                line, many = np.int64(load.shape[0] - 1), _around(load, queue, link_source, node)
            if line >= 0:
                choice = _cheapest(probability[table], demand[table], weight, load[line], many, arrival_uniform[i, 0])
            if choose == GLOBAL:
                for d in range(load.shape[1]):
                    load[0, d] += demand[table, choice, d]
            birth[b] = now
            if now > last_birth:
                last_birth = now
                age += 1
            cell = np.int64(arrival_cell[i])
            casts[b, 0] = receivers[table, choice]
            casts[b, 1] = 0
            casts[b, 2] = cell
            casts[b, 3] = age
            if cell >= first_cell:
                open_casts += 1
            work += entry_total[table, choice]
            if parts > 1:
                for u in range(got.shape[1]):
                    got[b, u] = 0
            slices = parts
            entering = True
            i += 1

        for part in range(slices):
            if entering:
                first = entry_first[table, choice, part]
                more = np.int64(entry_last[table, choice, part] - first)
            for row in range(first, first + more):
                link = np.int64(rows[row, 2])
                if links == BY_DEGREE:
                    link += node * degree
                elif links == BY_TABLE:
                    link = np.int64(link_table[node, link])
                c = free_copy
                free_copy = np.int64(copies[c, 2])
                copies[c, 0] = row
                copies[c, 1] = b
                copies[c, 2] = -1
                if log is not None:
                    log.queued[c], log.link[c] = now, link
                rank = np.int64(rows[row, 3]) >> 1
                if ties != FIRST_COME:
                    copies[c, 3] = -1
                    copy_key[c] = key_of_row[row] if ties == LONGEST else (rank << CLASS_SHIFT) | casts[b, 3]
                    copy_order[c] = order
                    order += 1
                    root = np.int64(queue[link, head_at])
                    queue[link, head_at] = c if root < 0 else _merge(copies, copy_key, copy_order, root, c)
                else:
                    # without branches: an empty queue's new copy is its own predecessor
                    at = head_at + 2 * rank
                    head = np.int64(queue[link, at])
                    copies[c if head < 0 else np.int64(queue[link, at + 1]), 2] = c
                    copies[c, 2] = -1
                    queue[link, at] = c if head < 0 else head
                    queue[link, at + 1] = c
                    queue[link, QUEUE_HEADER + (rank >> WORD_SHIFT)] |= 1 << (rank & (MASK_BITS - 1))
                if queue[link, STATE] == IDLE:
                    queue[link, STATE] = TO_START
                    touched[touched_count] = link
                    touched_count += 1
                if cell >= first_cell:
                    wait_sum[rank] -= now
                if local:
                    waiting[node] += 1
                    for d in range(load.shape[1]):
                        load[node, d] += below[row, d]
            casts[b, 1] += more
            free_copies -= more
        most = max(most, ring_count - free_copies)
        if casts[b, 1] == 0:
            casts[b, 3] = free_cast
            free_cast = b

    state[RING_FIRST], state[RING_COUNT], state[TOUCHED] = ring_first, ring_count, touched_count
    state[FREE_COPY], state[FREE_COPIES], state[FREE_CAST] = free_copy, free_copies, free_cast
    state[OPEN], state[MOST], state[DONE], state[WORK] = open_casts, most, done, work
    state[ORDER], state[AGE], state[ENTERED] = order, age, i
    clock[LAST_BIRTH] = last_birth
    return why
