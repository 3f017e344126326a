"""The compiled event loop of the queueing simulator; plain arrays in and out.

Every service takes one unit of time, so services end in the order in which they began: the event list is a FIFO ring
and the next arrival, and there is no heap of events. One *instant* is all that happens at one time: first the services
that end, in the order in which they began, then the arrivals, then every link that is idle or has become idle takes
the copy of its queue that comes first, in the order in which the links were touched.

The kernel reads `QueueRules`, `Trees`, `Choices` and `Requests`, and changes `Queues`, `InFlight`, `Statistics` and,
where a run is recorded, a `Log`. Free copies and free broadcasts are linked through the columns ``next`` and ``age``.

In large networks most of the time goes into waiting for memory. As the order of events is known, what the services a
few places further on in the ring will touch is asked for ahead.
"""

# NumPy's integers pass for int here:
# mypy: disable-error-code="arg-type,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gossamer.jit import njit
from gossamer.jit.intrinsics import ask_for, lowest, natural

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

# values of the rules
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


class QueueRules(NamedTuple):
    """What is asked of the kernel."""

    links: int  # how a step names its link: AS_GIVEN, BY_DEGREE or BY_TABLE
    ties: int  # FIRST_COME, OLDEST or LONGEST inside a class
    choose: int  # OBLIVIOUS, GLOBAL, LOCAL, GUARDED or NEIGHBORS
    parts: int  # copies that a node must get
    first_cell: int  # the first cell in which delays count for waits and histograms
    until: int  # ARRIVALS_USED; ALL_DONE: nothing is in flight; MEASURED_DONE: no measured broadcast is unfinished
    fan: int  # copies at most that one event queues
    words: int  # of the class mask of a queue
    mixture: float  # part of the broadcasts for which a guarded choice is drawn
    guard: float  # copies waiting per outgoing link of a node above which it is drawn, too


class Trees(NamedTuple):
    """The trees of a scheme; K places of the list of children, D dimensions."""

    rows: Any  # int32[K, 4] first child, children, step, class * 2 + counted
    key: Any  # int64[K] class, then remaining height
    below: Any  # int64[K, D] transmissions in each dimension of the subtree
    link_table: Any  # int32[nodes, degree]
    link_source: Any  # int32[links]
    dimension: Any  # int32[steps]


class Choices(NamedTuple):
    """The trees among which a source chooses; S sources (1 for all alike), C choices, P parts, D dimensions."""

    source_nodes: Any  # the node of each source
    entry_first: Any  # int64[S, C, P] first place of what the source sends
    entry_last: Any  # int64[S, C, P] one more than the last
    total: Any  # int64[S, C] transmissions of a broadcast
    receivers: Any  # int64[S, C]
    probability: Any  # float64[S, C]
    demand: Any  # int64[S, C, D] transmissions in each dimension
    weight: Any  # float64[D]


class Requests(NamedTuple):
    """The broadcasts to come, n of them, in order of time."""

    time: Any  # float64[n]
    source: Any  # int32[n]
    choice: Any  # int32[n] the choice drawn
    cell: Any  # int32[n] where the delays count, or -1
    uniform: Any  # float64[n, 2] in [0, 1), for choices that look at the load


class Queues(NamedTuple):
    """The queues of the links and the copies in them; arrays are changed in place.

    A line of `queue` is state, services, target, words of the class mask, then head and tail of each class. With other
    ties than first come, the words are missing and the only head is the root of a pairing heap.
    """

    queue: Any  # int32[links, 3 + ...]
    touched: Any  # int32[links] the links touched in this instant
    copies: Any  # int32[., 4] place, broadcast, next, first child in the heap of each copy that waits
    copy_key: Any  # int64[.] of the heap
    copy_order: Any  # int64[.] in which the copies came


class InFlight(NamedTuple):
    """What else changes as time goes on; arrays are changed in place."""

    state: Any  # int64[13]
    clock: Any  # float64[4] the time, the last request's, cells of both histograms per unit of time
    ring: Any  # int32[2^k, 4] place, broadcast, link, target of each copy in service
    ring_time: Any  # float64[2^k] when the service ends
    casts: Any  # int32[., 4] receivers left, copies, cell, age of each broadcast
    birth: Any  # float64[.] when it was generated
    got: Any  # uint8[., nodes] parts that each node has
    load: Any  # int64[1 or nodes or nodes + 1, D] transmissions to be made
    waiting: Any  # int64[nodes] copies that wait at each node


class Statistics(NamedTuple):
    """What is measured: of receptions in line 0, of broadcasts in line 1."""

    cell_sum: Any  # float64[2, cells] delays
    cell_count: Any  # int64[2, cells]
    histogram: Any  # int64[2, bins]
    wait_sum: Any  # float64[classes]
    wait_count: Any  # int64[classes]


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


# -- queues ------------------------------------------------------------------------------------------------------------


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


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _take_first(rules, rows, queues, link):
    """Take the copy that comes first from the queue of a link; return it, or -1, and its class."""
    queue, copies = queues.queue, queues.copies
    head_at = natural(QUEUE_HEADER + rules.words)
    c, rank = np.int64(-1), np.int64(0)
    if rules.ties != FIRST_COME:
        c = np.int64(queue[link, head_at])
        if c >= 0:
            queue[link, head_at] = _without_root(copies, queues.copy_key, queues.copy_order, c)
            rank = np.int64(rows[copies[c, 0], 3]) >> 1
    else:
        for w in range(rules.words):
            m = np.int64(queue[link, natural(QUEUE_HEADER + w)])
            if m != 0:
                rank = natural(w * MASK_BITS + lowest(m))
                c = natural(queue[link, natural(head_at + 2 * rank)])
                rest = np.int64(copies[c, 2])
                queue[link, natural(head_at + 2 * rank)] = rest
                queue[link, natural(QUEUE_HEADER + w)] = m ^ (m & -m & (rest >> 63))
                break
    return c, rank


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _queue_up(rules, key, queues, state, link, c, rank, age):
    """Put a copy into the queue of a link; one that is idle is to start."""
    queue, copies = queues.queue, queues.copies
    head_at = natural(QUEUE_HEADER + rules.words)
    if rules.ties != FIRST_COME:
        copies[c, 2] = copies[c, 3] = -1
        queues.copy_key[c] = key[copies[c, 0]] if rules.ties == LONGEST else (rank << CLASS_SHIFT) | age
        queues.copy_order[c] = state[ORDER]
        state[ORDER] += 1
        root = np.int64(queue[link, head_at])
        queue[link, head_at] = c if root < 0 else _merge(copies, queues.copy_key, queues.copy_order, root, c)
    else:
        # without branches: an empty queue's new copy is its own predecessor
        at = natural(head_at + 2 * rank)
        head = np.int64(queue[link, at])
        copies[natural(c if head < 0 else np.int64(queue[link, natural(at + 1)])), 2] = c
        copies[c, 2] = -1
        queue[link, at] = c if head < 0 else head
        queue[link, natural(at + 1)] = c
        queue[link, natural(QUEUE_HEADER + (rank >> WORD_SHIFT))] |= 1 << (rank & (MASK_BITS - 1))
    if queue[link, STATE] == IDLE:
        queue[link, STATE] = TO_START
        queues.touched[natural(state[TOUCHED])] = link
        state[TOUCHED] += 1


# -- statistics --------------------------------------------------------------------------------------------------------


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


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _count_delay(rules, clock, statistics, line, cell, delay):
    """Count the delay of a reception (line 0) or of a broadcast (line 1)."""
    statistics.cell_sum[line, cell] += delay
    statistics.cell_count[line, cell] += 1
    if cell >= rules.first_cell:
        histogram = statistics.histogram
        scale = clock[CELLS_PER_UNIT + line]
        if delay * scale >= histogram.shape[1]:
            scale = _widened(histogram, line, clock, delay)
        histogram[line, np.int64(delay * scale)] += 1


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _count_arrival(rules, flight, statistics, b, node):
    """Count that a copy of broadcast b reached a node that is to get one."""
    casts = flight.casts
    if rules.parts > 1:
        flight.got[b, node] += 1
        if flight.got[b, node] != rules.parts:
            return
    casts[b, 0] -= 1
    cell = np.int64(casts[b, 2])
    if cell < 0:
        return
    delay = flight.clock[NOW] - flight.birth[b]
    _count_delay(rules, flight.clock, statistics, 0, cell, delay)
    if casts[b, 0] == 0:
        _count_delay(rules, flight.clock, statistics, 1, cell, delay)
        if cell >= rules.first_cell:
            flight.state[OPEN] -= 1


# -- arrivals ----------------------------------------------------------------------------------------------------------


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


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _chosen(rules, choices, requests, flight, queue, link_source, degree, i, node, table):
    """Return the tree that request i takes: the one drawn, or the one that the load at its node asks for."""
    choose, load = rules.choose, flight.load
    line, many = np.int64(-1), 1
    if choose == GLOBAL:
        line = np.int64(0)
    elif choose == LOCAL or (
        choose == GUARDED and requests.uniform[i, 1] >= rules.mixture and flight.waiting[node] <= rules.guard * degree
    ):
        line = node
    elif choose == NEIGHBORS:
        line, many = np.int64(load.shape[0] - 1), _around(load, queue, link_source, node)
    if line < 0:
        return np.int64(requests.choice[i])
    uniform = requests.uniform[i, 0]
    return np.int64(
        _cheapest(choices.probability[table], choices.demand[table], choices.weight, load[line], many, uniform)
    )


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _enter(rules, trees, choices, requests, flight, queue, log):
    """Generate the broadcast of the next request; return it, its node, and the table and choice of its tree."""
    state, clock, casts = flight.state, flight.clock, flight.casts
    b, i, now = state[FREE_CAST], state[ENTERED], clock[NOW]
    source = np.int64(requests.source[i])
    node = np.int64(choices.source_nodes[source])
    if log is not None:
        at = log.counts[BIRTHS]
        log.counts[BIRTHS] = at + 1
        log.number[b], log.birth[at], log.source[at] = at, now, node
    table = source if choices.entry_first.shape[0] > 1 else np.int64(0)
    choice = _chosen(
        rules, choices, requests, flight, queue, trees.link_source, trees.link_table.shape[1], i, node, table
    )
    if rules.choose == GLOBAL:
        for d in range(flight.load.shape[1]):
            flight.load[0, d] += choices.demand[table, choice, d]
    if now > clock[LAST_BIRTH]:
        clock[LAST_BIRTH] = now
        state[AGE] += 1
    state[FREE_CAST] = casts[b, 3]
    flight.birth[b] = now
    casts[b, 0] = choices.receivers[table, choice]
    casts[b, 1] = 0
    casts[b, 2] = requests.cell[i]
    casts[b, 3] = state[AGE]
    if requests.cell[i] >= rules.first_cell:
        state[OPEN] += 1
    state[WORK] += choices.total[table, choice]
    if rules.parts > 1:
        for u in range(flight.got.shape[1]):
            flight.got[b, u] = 0
    state[ENTERED] = i + 1
    return b, node, table, choice


# -- service -----------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _send(rules, trees, queues, flight, statistics, b, node, first, more, log):
    """Queue copies of broadcast b at a node: those of `more` places from `first` on."""
    state, copies, casts = flight.state, queues.copies, flight.casts
    now, measured = flight.clock[NOW], casts[b, 2] >= rules.first_cell
    degree = np.int64(trees.link_table.shape[1])
    c = state[FREE_COPY]
    for k in range(more):
        row = natural(first + k)
        link = np.int64(trees.rows[row, 2])
        if rules.links == BY_DEGREE:
            link += node * degree
        elif rules.links == BY_TABLE:
            link = np.int64(trees.link_table[node, link])
        link, c = natural(link), natural(c)
        following = np.int64(copies[c, 2])
        copies[c, 0] = row
        copies[c, 1] = b
        if log is not None:
            log.queued[c], log.link[c] = now, link
        rank = natural(np.int64(trees.rows[row, 3]) >> 1)
        _queue_up(rules, trees.key, queues, state, link, c, rank, casts[b, 3])
        if measured:
            statistics.wait_sum[rank] -= now
        if rules.choose >= LOCAL:
            flight.waiting[node] += 1
            for d in range(flight.load.shape[1]):
                flight.load[node, d] += trees.below[row, d]
        c = following
    state[FREE_COPY] = c
    state[FREE_COPIES] -= more
    casts[b, 1] += more


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _start(rules, trees, queues, flight, statistics, log):
    """Let each link touched in this instant take up the copy that comes first in its queue."""
    state, queue, copies, ring = flight.state, queues.queue, queues.copies, flight.ring
    now, mask = flight.clock[NOW], np.int64(flight.ring_time.size - 1)
    end = state[RING_FIRST] + state[RING_COUNT]
    first, free = end, state[FREE_COPY]
    for t in range(state[TOUCHED]):
        link = natural(queues.touched[t])
        c, rank = _take_first(rules, trees.rows, queues, link)
        if c < 0:
            queue[link, STATE] = IDLE
            continue
        c = natural(c)
        queue[link, STATE] = BUSY
        queue[link, SERVICES] += 1
        place, b = natural(copies[c, 0]), natural(copies[c, 1])
        if log is not None:
            log.link[c] = -1
            if now + 1.0 > log.since[0]:
                row = log.counts[ROWS]
                log.counts[ROWS] = row + 1
                log.time[row, 0], log.time[row, 1] = log.queued[c], now
                log.which[row, 0], log.which[row, 1] = link, log.number[b]
        copies[c, 2] = free
        free = c
        if flight.casts[b, 2] >= rules.first_cell:
            statistics.wait_sum[rank] += now
            statistics.wait_count[rank] += 1
        if rules.choose >= LOCAL:
            node = natural(trees.link_source[link])
            flight.waiting[node] -= 1
            for d in range(flight.load.shape[1]):
                flight.load[node, d] -= trees.below[place, d]
        at = natural(end & mask)
        ring[at, 0] = place
        ring[at, 1] = b
        ring[at, 2] = link
        ring[at, 3] = queue[link, TARGET]
        flight.ring_time[at] = now + 1.0
        end += 1
    state[TOUCHED] = 0
    state[FREE_COPY] = free
    state[FREE_COPIES] += end - first
    state[RING_COUNT] += end - first


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _prefetch(rules, rows, degree, queues, ring, first):
    """Ask for what services further on in the ring will touch: the next copy of a queue, a queue, queues beyond."""
    queue, mask = queues.queue, np.int64(ring.shape[0] - 1)
    ask_for(queue, np.int64(ring[(first + 11) & mask, 2]))
    link = np.int64(ring[(first + 5) & mask, 2])
    at = np.int64(QUEUE_HEADER + rules.words)
    if rules.ties == FIRST_COME:
        at += 2 * (lowest(np.int64(queue[link, QUEUE_HEADER]) | (1 << MASK_BITS)) & (MASK_BITS - 1))
    ask_for(queues.copies, max(np.int64(queue[link, at]), 0))
    soon = (first + 8) & mask
    place = np.int64(ring[soon, 0])
    shift = np.int64(ring[soon, 3]) * degree if rules.links == BY_DEGREE else np.int64(0)
    for child in range(rows[place, 0], rows[place, 0] + rows[place, 1]):
        ask_for(queue, shift + rows[child, 2])


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _end(rules, trees, queues, flight, statistics):
    """End the service that began first; return its broadcast, the node reached, and the place of the tree."""
    state, ring, casts = flight.state, flight.ring, flight.casts
    at = natural(state[RING_FIRST])
    place, b = natural(ring[at, 0]), natural(ring[at, 1])
    link, node = natural(ring[at, 2]), natural(ring[at, 3])
    state[RING_FIRST] = (at + 1) & np.int64(flight.ring_time.size - 1)
    state[RING_COUNT] -= 1
    if rules.links != BY_TABLE and queues.queue.size > FAR:
        _prefetch(rules, trees.rows, trees.link_table.shape[1], queues, ring, state[RING_FIRST])
    queues.queue[link, STATE] = TO_START
    queues.touched[natural(state[TOUCHED])] = link
    state[TOUCHED] += 1
    state[DONE] += 1
    state[WORK] -= 1
    if rules.choose == GLOBAL:
        flight.load[0, trees.dimension[link if rules.links == AS_GIVEN else np.int64(trees.rows[place, 2])]] -= 1
    if trees.rows[place, 3] & 1:
        _count_arrival(rules, flight, statistics, b, node)
    casts[b, 1] -= 1
    return b, node, place


@njit(cache=True, nogil=True, _nrt=False)
def run(rules, trees, choices, requests, queues, flight, statistics, log):
    """Simulate until the requests given are used up, or a table is full; return why.

    ``state[ENTERED]`` counts the requests used. Everything is written to the log unless it is None; the kernel without
    one is compiled as if there were no such thing.
    """
    state, clock, casts = flight.state, flight.clock, flight.casts
    n = requests.time.size
    while True:
        if rules.until == MEASURED_DONE and state[OPEN] == 0:
            return FINISHED
        i = state[ENTERED]
        if i >= n and rules.until != ALL_DONE:
            return WANTS_ARRIVALS
        ends = flight.ring_time[natural(state[RING_FIRST])] if state[RING_COUNT] > 0 else np.inf
        comes = requests.time[i] if i < n else np.inf
        if min(ends, comes) > clock[NOW]:
            # the instant is over: touched links take up their next copies
            if log is not None:  # noqa: SIM102 - the compiler sees `None` in a condition of its own only
                if log.counts[ROWS] + state[TOUCHED] > log.which.shape[0]:
                    return WANTS_ROOM
            _start(rules, trees, queues, flight, statistics, log)
            if state[RING_COUNT] > 0:
                ends = flight.ring_time[natural(state[RING_FIRST])]
            if min(ends, comes) == np.inf:
                return FINISHED
            clock[NOW] = min(ends, comes)
        if state[FREE_COPIES] < rules.fan:
            return WANTS_COPIES
        entering = ends > clock[NOW]
        table = choice = np.int64(0)
        if entering:
            if state[FREE_CAST] < 0:
                return WANTS_CASTS
            if log is not None:  # noqa: SIM102
                if log.counts[BIRTHS] == log.birth.size:
                    return WANTS_ROOM
            b, node, table, choice = _enter(rules, trees, choices, requests, flight, queues.queue, log)
            first = more = np.int64(0)
        else:
            b, node, place = _end(rules, trees, queues, flight, statistics)
            first, more = np.int64(trees.rows[place, 0]), np.int64(trees.rows[place, 1])
        for part in range(rules.parts if entering else 1):
            if entering:
                first = np.int64(choices.entry_first[table, choice, part])
                more = np.int64(choices.entry_last[table, choice, part]) - first
            _send(rules, trees, queues, flight, statistics, b, node, first, more, log)
        state[MOST] = max(state[MOST], state[RING_COUNT] - state[FREE_COPIES])
        if casts[b, 1] == 0:
            casts[b, 3] = state[FREE_CAST]
            state[FREE_CAST] = b
