"""Compiled kernels of the flit simulator; plain arrays in and out.

A node has input ports: one for each channel that enters it (port 2i+s for dimension i and direction s, 0 up, 1 down)
and, from 2d on, its injection ports. A port has V queues: the buffers of the channel's virtual channels, or lanes of
injection. Queue ``(node*ports + port)*V + v``. A virtual channel is named by the queue that it fills.

What a router decides in a cycle depends only on what was so when the cycle began: a flit that crosses a channel in
cycle c can leave its new queue from c + 1 + router_delay on, and the slot it left can be filled from
c + 1 + credit_delay on. So the order in which routers are visited does not matter.

No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they run a quarter faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit

NEVER = 2**62
FREE, EJECT = -1, -2  # values of OUT: no way out yet, or out of the network

# what `run` returns: the time is up or nothing is left to do; or flits wait and none can move
UNTIL, STUCK = 0, 1

# columns of the tables
COUNT, FRONT, OUT, LEFT, OWNER, PORT, NODE, LANE = range(8)  # queue
MESSAGE, READY, OPENS = range(3)  # slot
FILLED, TURN = range(2)  # port
ENTRY, PORT_TURN, GRANT_TURN, LANE_TURN, CROSSED = range(5)  # output
WORK, LISTED, COORDINATE = range(3)  # node; coordinates from COORDINATE on
SOURCE, AT_PORT, FLITS, CREATED, STARTED, FINISHED, FOLLOWING, WAITING, SUCCESSOR, REMAINING = range(10)  # message

# rules
(
    DIMENSIONS,  # d
    PORTS,  # input ports of a node
    LANES,  # V
    DEPTH,  # B
    ROUTER_DELAY,
    CREDIT_DELAY,
    INJECTION_LANES,
    NODE_EJECTION,  # 1: a node ejects one flit a cycle; 0: one flit a port
    DATELINE,  # 0 none, 1 plain, 2 balanced
    STARTUP,  # cycles after which a released message starts
) = range(10)
RULES = 10

# counters
(
    CURRENT,  # the cycle
    ACTIVE,  # routers in the list of active ones
    HOPS,  # flits that crossed a channel
    EJECTED,  # flits that left the network
    DELIVERED,  # messages whose last flit left the network
    BLOCKED,  # cycles that flits at the front waited because another message had the way
    STALLED,  # cycles that flits at the front waited for a free slot
    QUEUED,  # cycles that messages waited in a source queue
    IN_FLIGHT,  # messages released and not delivered
    RECORDED,  # rows of `record`
    RELEASED_FIRST,  # first and last entry of the list of messages that dependencies released
    RELEASED_LAST,
    IDLE,  # cycles in a row without any movement
) = range(13)
COUNTERS = 13


class State(NamedTuple):
    """Everything that a simulation holds; all arrays are int64 and changed in place.

    In the tables, rows come first. LEFT counts the flits of the front message that have still to leave, once OUT is
    set; a lane of injection has COUNT 1 while it has a message. Times are cycles: READY, from which on a flit may
    leave; OPENS, from which on a slot may be filled. TURN, PORT_TURN, GRANT_TURN and LANE_TURN say who is first: the
    lane of a port, the port that an output serves, the queue that gets a virtual channel, the virtual channel given.
    """

    rules: Any  # [RULES]
    sides: Any  # [d]
    wraps: Any  # [d], 1 for a ring
    queue: Any  # [N*ports*V, 8]
    slot: Any  # [N*ports*V*B, 3]
    port: Any  # [N*ports, 2]
    output: Any  # [N*(2d+1), 5]: the channels of each node, then its ejection
    node: Any  # [N, 2+d]
    active: Any  # [2N]
    backlog: Any  # [N*injection ports, 2] first and last message of each source queue, -1
    message: Any  # [S, 9+d]: REMAINING and the columns after it are the hops that the head has still to be granted
    dependent_first: Any  # [S+1], or [1] where there are no dependencies
    dependent: Any
    released: Any  # [S] messages released by others, in order of time
    wanted: Any  # [2d+1, 4] best priority, queue, and the virtual channels it may have
    found: Any  # [ports*V]
    record: Any  # [R, 5] cycle, OUT, queue, message, flit
    counters: Any  # [COUNTERS]


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def _activate(node, active, counters, v):
    if node[v, LISTED] == 0:
        node[v, LISTED] = 1
        active[counters[ACTIVE]] = v
        counters[ACTIVE] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _fill_lane(queue, slot, port, node, message, counters, ports, depth, router_delay, q, m, c):
    """Put message m in a lane of injection, where it can be routed from cycle c on."""
    created = message[m, CREATED]
    slot[q * depth, MESSAGE] = m
    slot[q * depth, READY] = max(created + router_delay, c)
    queue[q, COUNT] = 1
    queue[q, OUT] = FREE
    queue[q, LEFT] = message[m, FLITS]
    message[m, STARTED] = max(c, created)
    v = queue[q, NODE]
    port[v * ports + queue[q, PORT], FILLED] += 1
    node[v, WORK] += 1
    counters[QUEUED] += message[m, STARTED] - created


@njit(cache=True, nogil=True, _nrt=False)
def _inject(rules, queue, slot, port, node, active, backlog, message, counters, m, c):
    """Release message m at its source in cycle c."""
    ports, d2, depth = rules[PORTS], 2 * rules[DIMENSIONS], rules[DEPTH]
    v = message[m, SOURCE]
    place = v * (ports - d2) + message[m, AT_PORT]
    first = (v * ports + d2 + message[m, AT_PORT]) * rules[LANES]
    message[m, CREATED] = c
    message[m, FOLLOWING] = -1
    counters[IN_FLIGHT] += 1
    _activate(node, active, counters, v)
    if backlog[place, 0] < 0:
        for q in range(first, first + rules[INJECTION_LANES]):
            if queue[q, COUNT] == 0:
                _fill_lane(queue, slot, port, node, message, counters, ports, depth, rules[ROUTER_DELAY], q, m, c)
                return
        backlog[place, 0] = m
    else:
        message[backlog[place, 1], FOLLOWING] = m
    backlog[place, 1] = m


@njit(cache=True, nogil=True, _nrt=False)
def _released(message, released, counters, startup, m, c):
    """Take one from what message m waits for; after the last, it starts `startup` cycles later."""
    message[m, WAITING] -= 1
    if message[m, WAITING] == 0:
        message[m, CREATED] = c + startup
        released[counters[RELEASED_LAST]] = m
        counters[RELEASED_LAST] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _route(message, node, queue, sides, wraps, dateline, lanes, q, m):
    """Return the channel 0..2d-1 that message m takes next (-1: none, it has arrived) and its virtual channels."""
    v = queue[q, NODE]
    for i in range(sides.size):
        hops = message[m, REMAINING + i]
        if hops != 0:
            o = 2 * i + (1 if hops < 0 else 0)
            if wraps[i] == 0 or dateline == 0:
                return o, 0, lanes
            x, side, half = node[v, COORDINATE + i], sides[i], (lanes + 1) // 2
            if (hops > 0 and x == side - 1) or (hops < 0 and x == 0):
                return o, half, lanes  # the channel that closes the ring: behind the dateline
            if queue[q, PORT] == o:  # straight on: it keeps its half
                return (o, half, lanes) if queue[q, LANE] >= half else (o, 0, half)
            if dateline == 1 or x + hops >= side or x + hops < 0:
                return o, 0, half
            return o, 0, lanes
    return -1, 0, 0


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def _allocate(rules, sides, wraps, queue, slot, output, node, message, wanted, found, v, n):
    """Grant one virtual channel of each channel to one of the n found queues that want it, in turn."""
    lanes, depth, d2, dateline = rules[LANES], rules[DEPTH], 2 * rules[DIMENSIONS], rules[DATELINE]
    queues = rules[PORTS] * lanes
    outputs = v * (d2 + 1)
    for o in range(d2):
        wanted[o, 1] = -1
    some = False
    for k in range(n):
        q = found[k]
        if queue[q, OUT] != FREE:
            continue
        m = slot[q * depth + queue[q, FRONT], MESSAGE]
        o, low, high = _route(message, node, queue, sides, wraps, dateline, lanes, q, m)
        if o < 0:
            queue[q, OUT] = EJECT
            queue[q, LEFT] = message[m, FLITS]
            continue
        entry = output[outputs + o, ENTRY]
        for w in range(entry + low, entry + high):
            if queue[w, OWNER] < 0:
                turn = q - v * queues - output[outputs + o, GRANT_TURN]
                if turn < 0:
                    turn += queues
                if wanted[o, 1] < 0 or turn < wanted[o, 0]:
                    wanted[o, 0] = turn
                    wanted[o, 1] = q
                    wanted[o, 2] = low
                    wanted[o, 3] = high
                    some = True
                break
    if some:
        for o in range(d2):
            q = wanted[o, 1]
            if q < 0:
                continue
            entry = output[outputs + o, ENTRY]
            w = output[outputs + o, LANE_TURN]
            while w < wanted[o, 2] or w >= wanted[o, 3] or queue[entry + w, OWNER] >= 0:
                w = w + 1 if w + 1 < lanes else 0
            m = slot[q * depth + queue[q, FRONT], MESSAGE]
            queue[entry + w, OWNER] = q
            queue[q, OUT] = entry + w
            queue[q, LEFT] = message[m, FLITS]
            message[m, REMAINING + o // 2] += 1 if o % 2 else -1
            output[outputs + o, LANE_TURN] = w + 1 if w + 1 < lanes else 0
            turn = q - v * queues + 1
            output[outputs + o, GRANT_TURN] = turn if turn < queues else 0


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def _choose(rules, queue, slot, port, output, wanted, found, v, n, c):
    """Let each port choose one of its queues and each output one of the ports; write the winners to `found`.

    Return the number of winners and of queues that wait for a free slot.
    """
    lanes, depth, ports, d2 = rules[LANES], rules[DEPTH], rules[PORTS], 2 * rules[DIMENSIONS]
    outputs = v * (d2 + 1)
    for o in range(d2 + 1):
        wanted[o, 1] = -1
    stalled, k, winners = 0, 0, 0
    while k < n:
        p = queue[found[k], PORT]
        first = port[v * ports + p, TURN]
        best, chosen = lanes, -1
        while k < n and queue[found[k], PORT] == p:
            q = found[k]
            k += 1
            way = queue[q, OUT]
            if way == FREE:
                continue
            if way >= 0:
                spot = queue[way, FRONT] + queue[way, COUNT]
                if spot >= depth:
                    spot -= depth
                if slot[way * depth + spot, OPENS] > c:
                    stalled += 1
                    continue
            turn = queue[q, LANE] - first
            if turn < 0:
                turn += lanes
            if turn < best:
                best, chosen = turn, q
        if chosen < 0:
            continue
        way = queue[chosen, OUT]
        if way == EJECT and rules[NODE_EJECTION] == 0:
            found[winners] = chosen  # winners <= k: the entry has been read
            winners += 1
            continue
        o = d2 if way == EJECT else queue[way, PORT]
        turn = p - output[outputs + o, PORT_TURN]
        if turn < 0:
            turn += ports
        if wanted[o, 1] < 0 or turn < wanted[o, 0]:
            wanted[o, 0] = turn
            wanted[o, 1] = chosen
    for o in range(d2 + 1):
        q = wanted[o, 1]
        if q >= 0:
            p = queue[q, PORT]
            output[outputs + o, PORT_TURN] = p + 1 if p + 1 < ports else 0
            output[outputs + o, CROSSED] += 1
            found[winners] = q
            winners += 1
    return winners, stalled


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def _move(
    rules, queue, slot, port, node, active, backlog, message, dependent_first, dependent, released, record, counters,
    v, q, c,
):  # fmt: skip
    """Send the front flit of queue q of node v on its way."""
    lanes, depth, ports, d2 = rules[LANES], rules[DEPTH], rules[PORTS], 2 * rules[DIMENSIONS]
    p = queue[q, PORT]
    place = q * depth + queue[q, FRONT]
    m = slot[place, MESSAGE]
    way = queue[q, OUT]
    port[v * ports + p, TURN] = queue[q, LANE] + 1 if queue[q, LANE] + 1 < lanes else 0
    queue[q, LEFT] -= 1
    last = queue[q, LEFT] == 0
    if counters[RECORDED] < record.shape[0]:
        row = counters[RECORDED]
        counters[RECORDED] += 1
        record[row, 0] = c
        record[row, 1] = way
        record[row, 2] = q
        record[row, 3] = m
        record[row, 4] = message[m, FLITS] - queue[q, LEFT] - 1
    if way == EJECT:
        counters[EJECTED] += 1
        if last:
            message[m, FINISHED] = c + 1
            counters[DELIVERED] += 1
            counters[IN_FLIGHT] -= 1
            if dependent_first.size > 1:
                for k in range(dependent_first[m], dependent_first[m + 1]):
                    _released(message, released, counters, rules[STARTUP], dependent[k], c + 1)
    else:
        spot = queue[way, FRONT] + queue[way, COUNT]
        if spot >= depth:
            spot -= depth
        spot += way * depth
        slot[spot, MESSAGE] = m
        slot[spot, READY] = c + 1 + rules[ROUTER_DELAY]
        slot[spot, OPENS] = NEVER
        if queue[way, COUNT] == 0:
            target = queue[way, NODE]
            port[target * ports + queue[way, PORT], FILLED] += 1
            node[target, WORK] += 1
            _activate(node, active, counters, target)
        queue[way, COUNT] += 1
        counters[HOPS] += 1
        if last:
            queue[way, OWNER] = -1
    if last:
        queue[q, OUT] = FREE
    if p < d2:
        slot[place, OPENS] = c + 1 + rules[CREDIT_DELAY]
        queue[q, FRONT] = queue[q, FRONT] + 1 if queue[q, FRONT] + 1 < depth else 0
        queue[q, COUNT] -= 1
        if queue[q, COUNT] == 0:
            port[v * ports + p, FILLED] -= 1
            node[v, WORK] -= 1
    elif last:
        queue[q, COUNT] = 0
        port[v * ports + p, FILLED] -= 1
        node[v, WORK] -= 1
        if released.size and message[m, SUCCESSOR] >= 0:
            _released(message, released, counters, rules[STARTUP], message[m, SUCCESSOR], c + 1)
        source = v * (ports - d2) + p - d2
        following = backlog[source, 0]
        if following >= 0:
            backlog[source, 0] = message[following, FOLLOWING]
            _fill_lane(
                queue, slot, port, node, message, counters, ports, depth, rules[ROUTER_DELAY], q, following, c + 1
            )  # fmt: skip


@njit(cache=True, nogil=True, _nrt=False)
def _cycle(
    rules, sides, wraps, queue, slot, port, output, node, active, backlog, message, dependent_first, dependent,
    released, wanted, found, record, counters, c,
):  # fmt: skip
    """Let every active router work for one cycle; return the number of flits moved."""
    lanes, depth, ports = rules[LANES], rules[DEPTH], rules[PORTS]
    total, kept, here = 0, 0, counters[ACTIVE]
    for i in range(here):
        v = active[i]
        if node[v, WORK] == 0:
            node[v, LISTED] = 0
            continue
        active[kept] = v
        kept += 1
        n = 0
        unrouted = False
        for p in range(v * ports, (v + 1) * ports):
            if port[p, FILLED] > 0:
                for q in range(p * lanes, (p + 1) * lanes):
                    if queue[q, COUNT] > 0 and slot[q * depth + queue[q, FRONT], READY] <= c:
                        found[n] = q
                        n += 1
                        unrouted |= queue[q, OUT] == FREE
        if n == 0:
            continue
        if unrouted:
            _allocate(rules, sides, wraps, queue, slot, output, node, message, wanted, found, v, n)
        moved, stalled = _choose(rules, queue, slot, port, output, wanted, found, v, n, c)
        for k in range(moved):
            _move(
                rules, queue, slot, port, node, active, backlog, message, dependent_first, dependent, released,
                record, counters, v, found[k], c,
            )  # fmt: skip
        total += moved
        counters[STALLED] += stalled
        counters[BLOCKED] += n - moved - stalled
    for i in range(here, counters[ACTIVE]):  # activated in this cycle
        active[kept] = active[i]
        kept += 1
    counters[ACTIVE] = kept
    return total


@njit(cache=True, nogil=True, _nrt=False)
def run(
    rules, sides, wraps, queue, slot, port, output, node, active, backlog, message, dependent_first, dependent,
    released, wanted, found, record, counters, when, which, until,
):  # fmt: skip
    """Simulate from cycle ``counters[CURRENT]`` to `until`, or to the end of all work; return UNTIL or STUCK.

    The first arguments are those of a `State`. Message ``which[k]`` is released in cycle ``when[k]``, ascending;
    messages released by others follow.
    """
    c = counters[CURRENT]
    k = 0
    patience = rules[ROUTER_DELAY] + rules[CREDIT_DELAY] + 3
    while c < until:
        while k < when.size and when[k] <= c:
            _inject(rules, queue, slot, port, node, active, backlog, message, counters, which[k], c)
            k += 1
        while counters[RELEASED_FIRST] < counters[RELEASED_LAST]:
            m = released[counters[RELEASED_FIRST]]
            if message[m, CREATED] > c:
                break
            counters[RELEASED_FIRST] += 1
            _inject(rules, queue, slot, port, node, active, backlog, message, counters, m, c)
        if counters[ACTIVE] == 0:
            following = until
            if k < when.size:
                following = min(following, when[k])
            if counters[RELEASED_FIRST] < counters[RELEASED_LAST]:
                following = min(following, message[released[counters[RELEASED_FIRST]], CREATED])
            elif k >= when.size:
                break
            c = following
            continue
        moved = _cycle(
            rules, sides, wraps, queue, slot, port, output, node, active, backlog, message, dependent_first, dependent,
            released, wanted, found, record, counters, c,
        )  # fmt: skip
        if moved > 0:
            counters[IDLE] = 0
        else:
            counters[IDLE] += 1
            if counters[IDLE] > patience:
                counters[CURRENT] = c
                return STUCK
        c += 1
    counters[CURRENT] = c
    return UNTIL


@njit(cache=True, nogil=True, _nrt=False)
def holder(queue, way):
    """Return the queue with the next flit of the message that holds virtual channel `way`."""
    q = queue[way, OWNER]
    while queue[q, COUNT] == 0:
        q = queue[q, OWNER]
    return q


@njit(cache=True, nogil=True, _nrt=False)
def wait(state, q):
    """Return the range of virtual channels of which the front message of queue q needs one; -1 if it has arrived."""
    rules, queue = state.rules, state.queue
    m = state.slot[q * rules[DEPTH] + queue[q, FRONT], MESSAGE]
    o, low, high = _route(
        state.message, state.node, queue, state.sides, state.wraps, rules[DATELINE], rules[LANES], q, m
    )  # fmt: skip
    if o < 0:
        return -1, -1
    entry = state.output[queue[q, NODE] * (2 * rules[DIMENSIONS] + 1) + o, ENTRY]
    return entry + low, entry + high


@njit(cache=True, nogil=True, _nrt=False)
def mark_live(state, live):
    """Mark the queues whose front flit can leave at some time if all others do their best; bool[Q], false at first.

    A queue with flits that stays unmarked is part of a deadlock or waits behind one.
    """
    queue, slot, depth = state.queue, state.slot, state.rules[DEPTH]
    changed = True
    while changed:
        changed = False
        for q in range(queue.shape[0]):
            if live[q] or queue[q, COUNT] == 0:
                continue
            way = queue[q, OUT]
            if way == EJECT:
                able = True
            elif way >= 0:
                spot = way * depth + (queue[way, FRONT] + queue[way, COUNT]) % depth
                able = slot[spot, OPENS] != NEVER or live[way]
            else:
                low, high = wait(state, q)
                able = low < 0
                for w in range(low, high):
                    able |= queue[w, OWNER] < 0 or live[holder(queue, w)]
            if able:
                live[q] = True
                changed = True


@njit(cache=True, nogil=True, _nrt=False)
def next_in_wait(state, q):
    """Return a queue that queue q, whose front flit cannot leave, waits for."""
    if state.queue[q, OUT] >= 0:
        return state.queue[q, OUT]
    low, _ = wait(state, q)
    return holder(state.queue, low)


@njit(cache=True, nogil=True, _nrt=False)
def dependents(
    first_event, event, payload, payload_first, payload_piece, origin, control, giver, stamp, mark,
    first, into, fill,
):  # fmt: skip
    """Count, or with `fill` write, for each message the messages that wait for its arrival; return a message or -1.

    Node v has the events ``event[first_event[v]:first_event[v+1]]`` in order of steps, sends before receipts:
    ``2*m + 0`` for a send of message m, ``2*m + 1`` for its receipt. A message waits for the first arrival at its
    source of every piece that it carries, and for every control message that came before; a control message waits
    for all that came before. `giver` int32[P], `stamp` int32[P] and `mark` int32[M] are scratch, filled with -1.
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
                if origin[p] == v:
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
