"""Compiled kernels of the flit simulator; plain arrays in and out.

A *channel* carries one flit a cycle, or one in EACH cycles, from an output port to an input port: a link of the
network, or what joins a terminal to its router (injection) or a router to its terminal (ejection). Where EACH is more,
flits that passed the switch wait for the channel in their order, as long as there are slots at its end. At its end
each channel has V queues, the buffers of its virtual channels: queue ``channel*V + v``, B slots. Input ports are named
by the channel that fills them.

A cycle, for the whole network at once:

1. each source sends a flit of its message, as long as the buffer of its injection channel has room;
2. what the time wheel holds happens: flits arrive, heads have found their way, slots are known to be free;
3. heads ask for a virtual channel of their next channel, each for one; each virtual channel takes one of the heads;
4. each input port chooses one of its queues whose front flit may go, each output one of the ports; those flits leave.

Every choice is in turn (round robin), and a turn moves on when it was granted: separable input-first allocation with
one iteration. A turn is one more than the last place that was granted; behind the last place it is the first again.
Nothing is polled: WANT has a bit for each queue of a port whose front flit may go, a head without a free virtual
channel waits in the list of its channel, a flit without a free slot until the slot opens. No decision depends on
another of the same step; the order in which queues are visited matters to flits that one output takes in a cycle, and
to messages that are released in one cycle, which follow each other in it.

No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they run a quarter faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gossamer.jit import njit
from gossamer.jit.intrinsics import assume, lowest, natural

_SMALL = 2_000_000
NEVER = 2**31 - 1
"""Opening time of a slot with a flit; runs end before."""
FREE = -1  # value of OUT: no way out yet
EJECT = -1  # last step of a route where each input port has an ejection of its own
ADAPTIVE = -2  # the one step of a route that is chosen on the way
KEEP = 255  # class of virtual channels: the half in which the message is

# what `run` returns: the time is up or nothing is left to do; or flits wait and none can move
UNTIL, STUCK = 0, 1

# what happens at a time of the wheel
ARRIVE, ROUTED, RETRY = range(3)

# columns of the tables
(
    COUNT, FRONT, BACK, OUT, OWNER, HELD, WAITED, ASK_TURN, GRANT_TURN, NUMBER, LANE, CHANNEL, SINCE, STALL, GATE, NEXT
) = range(16)  # queue  # fmt: skip
(
    TO, FROM, IN_PLACE, OUT_PLACE, INPUTS, OUTPUTS, LATENCY, EJECTION, WANT, TAKEN, CROSSED, LISTED, LAST, WAITERS, EACH
) = range(15)  # channel  # fmt: skip
BACKLOG, BACKLOG_END, CURRENT, LEFT, SENDING, LAST_LANE, BUSY = range(7)  # source
FLIT, OPENS, PLACE, STEP = range(4)  # slot
OFFSET, IN_TURN, OUT_TURN, BEST = range(4)  # turn
(
    SOURCE, FLITS, ROUTE, FOLLOWING, WAITING, SUCCESSOR, OTHER, TARGET, CREATED, STARTED, FINISHED, ORIGIN
) = range(12)  # message  # fmt: skip
PORTS, SOURCES, HEADS, GRANTED, WANTED = range(5)  # lists, and counters of their entries

# widths of the tables; rows of queues and channels are a cache line of 64 bytes each
QUEUES, SLOTS, CHANNELS, ORIGINS, TURNS, MESSAGES = 16, 4, 16, 8, 4, 12

# rules
(
    LANES,  # V
    DEPTH,  # B
    ROUTING_DELAY,
    ALLOCATION_DELAY,
    SWITCH_DELAY,
    CREDIT_DELAY,
    INPUT_SPEEDUP,
    OUTPUT_SPEEDUP,
    STARTUP,  # cycles after which a released message starts
    LINKS,  # channels 0..LINKS-1 are links, then come injections
    EJECTIONS,  # the first ejection
    WHEEL,  # slots of the time wheel less one; their number is a power of two
    THRESHOLD,  # by how much a longer way must promise to be faster
    RECORDING,
    ESCAPE,  # virtual channels, as bits, that a message does not leave for others
    WAITING_OUT,  # whether flits wait at outputs: these take several a cycle, or links one in several cycles
    CLASSES,  # the virtual channels of class k are the bits of rules[CLASSES + k]
) = range(17)

# counters, behind those of the lists
(
    NOW,  # the cycle
    HOPS,  # flits that crossed a link
    EJECTED,  # flits that left the network
    DELIVERED,  # messages whose last flit left the network
    BLOCKED,  # cycles that flits at the front waited because another message had the way
    STALLED,  # cycles that flits at the front waited for a free slot
    QUEUED,  # cycles that messages waited in a source queue
    IN_FLIGHT,  # messages released and not delivered
    RECORDED,  # rows of `record`
    RELEASED_FIRST,  # first and last entry of the list of messages that dependencies released
    RELEASED_LAST,
    EVENTS,  # in the time wheel
    ALLOCATIONS,  # virtual channels granted
    DETOURS,  # messages that took the longer way
    ENDED,  # entries of `delivered`
) = range(5, 20)
COUNTERS = 20


class State(NamedTuple):
    """Everything that a simulation holds; arrays are changed in place.

    In the tables, rows come first. COUNT are the flits that have arrived at a queue, HELD those with the ones on their
    way to it, OWNER the queue whose message holds it, OUT the queue that its front message holds. SINCE is when the
    front flit could have left, STALL since when it waits for a slot (-1: it does not), GATE when it may ask for the
    switch. A slot is known to be free from cycle OPENS on. TAKEN are the virtual channels held, as bits.
    """

    rules: Any  # int64[CLASSES + K]
    queue: Any  # int32[Q, 16]
    slot: Any  # int32[Q*B, 4] 2*message + (1 for the last flit), opening time; of heads the place in `route`, the step
    channel: Any  # int32[C, 16]; EACH: the cycles that a flit takes
    source: Any  # int32[I, 8] by injection; BACKLOG and CURRENT -1 for none
    turn: Any  # int32[C*speedup, 4]
    wheel: Any  # int32[2*slots, 1 + ...] for each cycle how many, then 4*queue + what happens; then heads, queues alone
    lists: Any  # int32[5, ...]
    message: Any  # int32[S, 12]; SOURCE: the injection, ORIGIN and TARGET: terminals
    route: Any  # int32 steps 256*channel + class
    candidate_first: Any  # int32[R, targets+1] or empty: the ways of an adaptive routing function
    candidate: Any  # int32[..., 2] 256*channel + class, and its rank
    dependent_first: Any  # int64[S+1], or [1] where there are no dependencies
    dependent: Any  # int64
    released: Any  # int64[S] messages released by others, in order of time, around the end
    delivered: Any  # int32[S] messages delivered, in that order, until they are taken
    record: Any  # int64[R, 4] cycle, queue filled, message, whether it is its last flit
    counters: Any  # int64[COUNTERS]


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _at(rules, wheel, counters, when, event, row):
    """Let something happen in cycle `when`; in row 1 are heads that have found their way, by their queues."""
    place = natural(2 * (when & rules[WHEEL]) + row)
    k = natural(wheel[place, 0] + 1)
    wheel[place, k] = event
    wheel[place, 0] = k
    counters[EVENTS] += 1


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _want(rules, queue, slot, channel, wheel, lists, counters, q, c):
    """Let the front flit of queue q, whose message has a virtual channel, ask for the switch once there is a slot."""
    w = natural(queue[q, OUT])
    opens = slot[natural(w * rules[DEPTH] + queue[w, BACK]), OPENS]
    if opens <= c:
        p = natural(queue[q, CHANNEL])
        channel[p, WANT] |= 1 << queue[q, LANE]
        if channel[p, LISTED] == 0:
            channel[p, LISTED] = 1
            lists[PORTS, natural(counters[PORTS])] = p
            counters[PORTS] += 1
        if queue[q, STALL] >= 0:
            counters[STALLED] += c - queue[q, STALL]
            queue[q, SINCE] += c - queue[q, STALL]
            queue[q, STALL] = -1
        return
    if queue[q, STALL] < 0:
        queue[q, STALL] = c
    if opens == NEVER:
        queue[w, WAITED] = 1
    else:
        _at(rules, wheel, counters, natural(opens), 4 * q + RETRY, 0)


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _head(rules, queue, wheel, lists, counters, q, c, later):
    """Note that a head is at the front of queue q from cycle c on; `later` if the next allocation comes before."""
    queue[q, SINCE] = c + rules[ROUTING_DELAY] + rules[ALLOCATION_DELAY]
    if rules[ROUTING_DELAY] > 0:
        _at(rules, wheel, counters, c + rules[ROUTING_DELAY], q, 1)
    elif later:
        _at(rules, wheel, counters, c, 4 * q + ROUTED, 0)
    else:
        lists[HEADS, natural(counters[HEADS])] = q
        counters[HEADS] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _released(message, released, counters, startup, m, c):
    """Take one, of cycle c, from what message m waits for; after the last of them, it starts `startup` cycles later."""
    assume(message.shape[1] == MESSAGES)
    if m < 0:
        return
    message[m, WAITING] -= 1
    message[m, CREATED] = max(message[m, CREATED], c + startup)
    if message[m, WAITING] == 0:
        place = counters[RELEASED_LAST]
        counters[RELEASED_LAST] += 1
        while place > counters[RELEASED_FIRST]:
            before = released[(place - 1) % released.size]
            if message[before, CREATED] <= message[m, CREATED]:
                break
            released[place % released.size] = before
            place -= 1
        released[place % released.size] = m


@njit(cache=True, nogil=True, _nrt=False)
def _events(rules, queue, slot, channel, wheel, lists, counters, c):
    """Let happen what the wheel holds for cycle c."""
    assume(queue.shape[1] == QUEUES)
    assume(slot.shape[1] == SLOTS)
    assume(channel.shape[1] == CHANNELS)
    place = natural(2 * (c & rules[WHEEL]) + 1)
    n, heads = natural(wheel[place, 0]), natural(counters[HEADS])
    wheel[place, 0] = 0
    counters[EVENTS] -= n
    counters[HEADS] += n
    for k in range(n):
        lists[HEADS, heads + k] = wheel[place, k + 1]
    place -= 1
    n = wheel[place, 0]
    wheel[place, 0] = 0
    counters[EVENTS] -= n
    for k in range(1, n + 1):
        q = natural(wheel[place, k] >> 2)
        kind = wheel[place, k] & 3
        asks = kind == RETRY
        if kind == ARRIVE:
            queue[q, COUNT] += 1
            if queue[q, COUNT] > 1:
                continue
            if queue[q, OUT] == FREE:
                _head(rules, queue, wheel, lists, counters, q, c, kind != ARRIVE)
            else:
                queue[q, SINCE] = max(c, queue[q, GATE])
                asks = True
        elif kind == ROUTED:
            lists[HEADS, natural(counters[HEADS])] = q
            counters[HEADS] += 1
        if asks and queue[q, OUT] != FREE and queue[q, COUNT] > 0 and queue[q, GATE] <= c:
            _want(rules, queue, slot, channel, wheel, lists, counters, q, c)


@njit(cache=True, nogil=True, _nrt=False)
def _release(source, message, lists, counters, m, c):
    """Put message m into its source queue in cycle c."""
    assume(source.shape[1] == ORIGINS)
    assume(message.shape[1] == MESSAGES)
    i = natural(message[m, SOURCE])
    message[m, CREATED] = c
    message[m, FOLLOWING] = -1
    counters[IN_FLIGHT] += 1
    if source[i, BACKLOG] < 0:
        source[i, BACKLOG] = m
    else:
        message[natural(source[i, BACKLOG_END]), FOLLOWING] = m
    source[i, BACKLOG_END] = m
    if source[i, BUSY] == 0:
        source[i, BUSY] = 1
        lists[SOURCES, natural(counters[SOURCES])] = i
        counters[SOURCES] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _choose_route(rules, queue, message, route, counters, m):
    """Let message m take its other route if that promises to be faster: fewer flits in the way times links."""
    assume(queue.shape[1] == QUEUES)
    assume(message.shape[1] == MESSAGES)
    here, there = message[m, ROUTE], message[m, OTHER]
    near, far = 0, 0
    for v in range(rules[LANES]):
        near += queue[(route[here] >> 8) * rules[LANES] + v, HELD]
        far += queue[(route[there] >> 8) * rules[LANES] + v, HELD]
    if near * route[here - 1] > far * route[there - 1] + rules[THRESHOLD]:
        message[m, ROUTE] = there
        counters[DETOURS] += 1


@njit(cache=True, nogil=True, _nrt=False)
def _sources(rules, queue, slot, channel, source, wheel, lists, message, route, counters, c):
    """Let each source with a message send a flit; return how many did."""
    assume(queue.shape[1] == QUEUES)
    assume(slot.shape[1] == SLOTS)
    assume(channel.shape[1] == CHANNELS)
    assume(message.shape[1] == MESSAGES)
    assume(source.shape[1] == ORIGINS)
    lanes, depth, links = natural(rules[LANES]), natural(rules[DEPTH]), natural(rules[LINKS])
    sent, kept = 0, 0
    for k in range(counters[SOURCES]):  # without a branch that nobody can foresee
        i = natural(lists[SOURCES, k])
        busy = 1 if source[i, CURRENT] & source[i, BACKLOG] >= 0 else 0  # -1 both
        source[i, BUSY] = busy
        lists[SOURCES, natural(kept)] = i
        kept += busy
    counters[SOURCES] = kept
    for k in range(kept):
        i = natural(lists[SOURCES, k])
        p = natural(links + i)
        m = source[i, CURRENT]
        first = m < 0
        if first:
            m = natural(source[i, BACKLOG])
            v = source[i, LAST_LANE]
            found = -1
            for _ in range(lanes):
                v = v + 1 if v + 1 < lanes else 0
                q = natural(p * lanes + v)
                if slot[natural(q * depth + queue[q, BACK]), OPENS] <= c:
                    found = q
                    break
            if found < 0:
                continue
            source[i, BACKLOG] = message[m, FOLLOWING]
            source[i, CURRENT] = m
            source[i, LEFT] = message[m, FLITS]
            source[i, SENDING] = found
            source[i, LAST_LANE] = v
            message[m, STARTED] = c
            counters[QUEUED] += c - message[m, CREATED]
            if message[m, OTHER] >= 0:
                _choose_route(rules, queue, message, route, counters, m)
        q = natural(source[i, SENDING])
        place = natural(q * depth + queue[q, BACK])
        if slot[place, OPENS] > c:
            continue
        sent += 1
        left = source[i, LEFT] - 1
        source[i, LEFT] = left
        slot[place, FLIT] = 2 * m + (1 if left == 0 else 0)
        if first:
            slot[place, PLACE] = message[m, ROUTE]
            slot[place, STEP] = route[natural(message[m, ROUTE])]
        slot[place, OPENS] = NEVER
        queue[q, HELD] += 1
        queue[q, BACK] = queue[q, BACK] + 1 if queue[q, BACK] + 1 < depth else 0
        _at(rules, wheel, counters, c + channel[p, LATENCY], 4 * q + ARRIVE, 0)
        if left == 0:
            source[i, CURRENT] = -1
    return sent


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _lanes_of(rules, queue, kind, q):
    """Return the virtual channels, as bits, that a message in queue q may take in a class."""
    half = 2 if 2 * queue[q, LANE] >= rules[LANES] + (rules[LANES] & 1) else 1
    return rules[natural(CLASSES + (half if kind == KEEP else kind))]


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _in_turn(free, base, turn, lanes):
    """Return the first free virtual channel of the output whose first is number `base`, from the turn on."""
    first = turn - base
    later = (free >> (first & 63)) << (first & 63)
    return lowest(later if (first > 0) & (first < lanes) & (later != 0) else free)


@njit(cache=True, nogil=True, _nrt=False)
def _adaptive(rules, queue, channel, message, candidate_first, candidate, q, m):
    """Return the queue that the head of message m in queue q asks for among those of the highest rank, or -1."""
    assume(queue.shape[1] == QUEUES)
    assume(channel.shape[1] == CHANNELS)
    assume(message.shape[1] == MESSAGES)
    assume(candidate.shape[1] == 2)
    lanes = natural(rules[LANES])
    p = natural(queue[q, CHANNEL])
    best, rank, chosen = 1 << 60, -1, -1
    size = channel[p, OUTPUTS] * lanes
    here, there = natural(channel[p, TO]), natural(message[m, TARGET])
    # a message that took an escape stays there if the function says so
    stays = p < rules[LINKS] and (rules[ESCAPE] >> queue[q, LANE]) & 1
    for k in range(natural(candidate_first[here, there]), natural(candidate_first[here, there + 1])):
        way, level = candidate[k, 0], candidate[k, 1]
        if level < rank:
            break  # the highest come first
        if stays and level > 0:
            continue
        o = natural(way >> 8 if way >= 0 else channel[p, EJECTION])
        free = _lanes_of(rules, queue, way & 255 if way >= 0 else 0, q) & ~channel[o, TAKEN]
        if free == 0:
            continue
        base = channel[o, OUT_PLACE] * lanes
        v = _in_turn(free, base, queue[q, ASK_TURN], lanes)
        away = base + v - queue[q, ASK_TURN]
        if away < 0:
            away += size
        if level > rank or away < best:
            best, rank, chosen = away, level, o * lanes + v
    return chosen


@njit(cache=True, nogil=True, _nrt=False)
def _ask(rules, queue, slot, channel, lists, message, candidate_first, candidate, counters):
    """Let each head ask for a virtual channel; return how many virtual channels are asked for."""
    assume(queue.shape[1] == QUEUES)
    assume(slot.shape[1] == SLOTS)
    assume(channel.shape[1] == CHANNELS)
    assume(message.shape[1] == MESSAGES)
    lanes, depth = natural(rules[LANES]), natural(rules[DEPTH])
    wanted, kept = 0, 0
    for k in range(counters[HEADS]):
        q = natural(lists[HEADS, k])
        p = natural(queue[q, CHANNEL])
        place = natural(q * depth + queue[q, FRONT])
        step = slot[place, STEP]
        if step == ADAPTIVE:
            m = natural(slot[place, FLIT] >> 1)
            w = _adaptive(rules, queue, channel, message, candidate_first, candidate, q, m)
            if w < 0:
                lists[HEADS, natural(kept)] = q
                kept += 1
                continue
        else:
            o = channel[p, EJECTION]
            o = natural(step >> 8 if step >= 0 else o)
            kind = step & 255 if step >= 0 else 0
            free = _lanes_of(rules, queue, kind, q) & ~channel[o, TAKEN]
            if free == 0:
                queue[q, NEXT] = channel[o, WAITERS]
                channel[o, WAITERS] = q
                continue
            w = o * lanes + _in_turn(free, channel[o, OUT_PLACE] * lanes, queue[q, ASK_TURN], lanes)
        w = natural(w)
        other = queue[w, OWNER]
        if other < 0:
            queue[w, OWNER] = q
            lists[WANTED, natural(wanted)] = w
            wanted += 1
            continue
        size = channel[queue[w, CHANNEL], INPUTS] * lanes
        turn = queue[q, NUMBER] - queue[w, GRANT_TURN]
        theirs = queue[other, NUMBER] - queue[w, GRANT_TURN]
        if turn < 0:
            turn += size
        if theirs < 0:
            theirs += size
        if turn < theirs:
            queue[w, OWNER] = q
            q = other
        lists[HEADS, natural(kept)] = q
        kept += 1
    counters[HEADS] = kept
    return wanted


@njit(cache=True, nogil=True, _nrt=False)
def _grant(rules, queue, slot, channel, wheel, lists, route, counters, wanted, c):
    """Give the virtual channels that are asked for to those whose turn it is."""
    assume(queue.shape[1] == QUEUES)
    assume(slot.shape[1] == SLOTS)
    assume(channel.shape[1] == CHANNELS)
    lanes, depth = natural(rules[LANES]), natural(rules[DEPTH])
    for k in range(wanted):
        w = natural(lists[WANTED, k])
        q = natural(queue[w, OWNER])
        o, lane = natural(queue[w, CHANNEL]), queue[w, LANE]
        channel[o, TAKEN] |= 1 << lane
        queue[q, OUT] = w
        queue[q, ASK_TURN] = channel[o, OUT_PLACE] * lanes + lane + 1
        queue[w, GRANT_TURN] = queue[q, NUMBER] + 1
        place = natural(q * depth + queue[q, FRONT])
        if slot[place, STEP] >= 0:  # the step of the next router
            following = natural(slot[place, PLACE] + 1)
            slot[place, PLACE] = following
            slot[place, STEP] = route[following]
        if rules[ALLOCATION_DELAY] == 0:
            _want(rules, queue, slot, channel, wheel, lists, counters, q, c)
        elif rules[ALLOCATION_DELAY] == 1:
            lists[GRANTED, natural(counters[GRANTED])] = q
            counters[GRANTED] += 1
        else:
            queue[q, GATE] = c + rules[ALLOCATION_DELAY]
            _at(rules, wheel, counters, c + rules[ALLOCATION_DELAY], 4 * q + RETRY, 0)
    counters[ALLOCATIONS] += wanted


@njit(cache=True, nogil=True, _nrt=False)
def _pick(lanes, queue, channel, turn, p, part, bits):
    """Return the queue of an input port that asks for the switch: that of the output in turn, and its lane in turn."""
    assume(queue.shape[1] == QUEUES)
    assume(channel.shape[1] == CHANNELS)
    assume(turn.shape[1] == TURNS)
    outputs = channel[p, OUTPUTS]
    best, q = 1 << 60, -1
    while bits != 0:
        other = natural(p * lanes + lowest(bits))
        bits &= bits - 1
        away = channel[natural(queue[natural(queue[other, OUT]), CHANNEL]), OUT_PLACE] - turn[part, IN_TURN]
        if away < 0:
            away += outputs
        lane = queue[other, LANE] - turn[part, OFFSET]
        if lane < 0:
            lane += lanes
        if away * lanes + lane < best:
            best = away * lanes + lane
            q = other
    return q


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def _offer(queue, channel, turn, lists, wanted, p, share, q, o, inward, outward, most):
    """Let queue q, of a share of input port p, ask for output o; return the number of outputs asked for."""
    out = natural(o if outward == 1 else o * most + channel[p, IN_PLACE] % outward)
    other = turn[out, BEST]
    if other < 0:
        turn[out, BEST] = q
        lists[WANTED, natural(wanted)] = out
        return wanted + 1
    size = channel[o, INPUTS] * inward
    mine = channel[p, IN_PLACE] * inward + share - turn[out, OUT_TURN]
    rival = channel[queue[other, CHANNEL], IN_PLACE] * inward - turn[out, OUT_TURN]
    if inward > 1:
        rival += queue[other, LANE] % inward
    if mine < 0:
        mine += size
    if rival < 0:
        rival += size
    if mine < rival:
        turn[out, BEST] = q
    return wanted


@njit(cache=True, nogil=True, _nrt=False)
def _switch(rules, queue, channel, turn, lists, counters):
    """Let each port choose one of its queues and each output one of the ports; return the outputs that have one."""
    assume(queue.shape[1] == QUEUES)
    assume(channel.shape[1] == CHANNELS)
    assume(turn.shape[1] == TURNS)
    lanes, inward, outward = rules[LANES], rules[INPUT_SPEEDUP], rules[OUTPUT_SPEEDUP]
    most = max(inward, outward)
    wanted, kept = 0, 0
    for k in range(counters[PORTS]):  # without a branch that nobody can foresee
        p = natural(lists[PORTS, k])
        asks = 1 if channel[p, WANT] != 0 else 0
        channel[p, LISTED] = asks
        lists[PORTS, natural(kept)] = p
        kept += asks
    for k in range(kept):
        p = natural(lists[PORTS, k])
        bits = channel[p, WANT]
        for share in range(inward):
            some = bits
            if inward > 1:
                some = 0
                for v in range(share, lanes, inward):
                    some |= bits & (1 << v)
                if some == 0:
                    continue
            part = natural(p * most + share)
            alone = some & (some - 1) == 0
            q = natural(p * lanes + lowest(some) if alone else _pick(lanes, queue, channel, turn, p, part, some))
            o = natural(queue[natural(queue[q, OUT]), CHANNEL])
            wanted = _offer(queue, channel, turn, lists, wanted, p, share, q, o, inward, outward, most)
    counters[PORTS] = kept
    return wanted


@njit(cache=True, nogil=True, _nrt=False)
def _ejected(s, m, c):
    """Note that the last flit of message m reaches its terminal in cycle c."""
    rules, message, dependent_first, released, counters = s.rules, s.message, s.dependent_first, s.released, s.counters
    assume(message.shape[1] == MESSAGES)
    message[m, FINISHED] = c
    s.delivered[natural(counters[ENDED])] = m
    counters[ENDED] += 1
    counters[DELIVERED] += 1
    counters[IN_FLIGHT] -= 1
    if dependent_first.size > 1:
        for k in range(dependent_first[m], dependent_first[m + 1]):
            _released(message, released, counters, rules[STARTUP], s.dependent[k], c)


@njit(cache=True, nogil=True, _nrt=False)
def _tail_left(rules, queue, channel, wheel, lists, counters, q, w, left):
    """Free virtual channel w, as the last flit of a message left queue q; who waits for one asks again."""
    assume(queue.shape[1] == QUEUES)
    assume(channel.shape[1] == CHANNELS)
    p, o = natural(queue[q, CHANNEL]), natural(queue[w, CHANNEL])
    channel[o, TAKEN] &= ~(1 << queue[w, LANE])
    channel[p, WANT] &= ~(1 << queue[q, LANE])
    queue[w, OWNER] = -1
    queue[q, OUT] = FREE
    queue[q, GATE] = 0
    u = channel[o, WAITERS]
    channel[o, WAITERS] = -1
    while u >= 0:
        lists[HEADS, natural(counters[HEADS])] = u
        counters[HEADS] += 1
        u = queue[natural(u), NEXT]
    if queue[q, COUNT] > 0:
        _head(rules, queue, wheel, lists, counters, q, left, rules[SWITCH_DELAY] > 1)


@njit(cache=True, nogil=True, _nrt=False)
def _leave(s, wanted, c):
    """Send the flits that the outputs chose on their way."""
    rules, queue, slot, channel, turn, counters = s.rules, s.queue, s.slot, s.channel, s.turn, s.counters
    wheel, lists, message, released, record = s.wheel, s.lists, s.message, s.released, s.record
    assume(queue.shape[1] == QUEUES)
    assume(slot.shape[1] == SLOTS)
    assume(channel.shape[1] == CHANNELS)
    assume(turn.shape[1] == TURNS)
    assume(message.shape[1] == MESSAGES)
    lanes, depth, links, ejections = natural(rules[LANES]), natural(rules[DEPTH]), rules[LINKS], rules[EJECTIONS]
    inward, outward = rules[INPUT_SPEEDUP], rules[OUTPUT_SPEEDUP]
    most = max(inward, outward)
    left = c + rules[SWITCH_DELAY]
    blocked, ejected, chained = 0, 0, released.size > 0
    for k in range(wanted):
        out = natural(lists[WANTED, k])
        q = natural(turn[out, BEST])
        turn[out, BEST] = -1
        o = out if outward == 1 else natural(out // most)
        p, w = natural(queue[q, CHANNEL]), natural(queue[q, OUT])
        share = natural(queue[q, LANE] % inward if inward > 1 else 0)
        part = natural(p * most + share)
        turn[out, OUT_TURN] = channel[p, IN_PLACE] * inward + share + 1
        turn[part, IN_TURN] = channel[o, OUT_PLACE] + 1
        place = queue[q, LANE] + inward
        turn[part, OFFSET] = place if place < lanes else place - lanes
        # the flit, its slot and the next one
        place = natural(q * depth + queue[q, FRONT])
        flit, following, step = slot[place, FLIT], slot[place, PLACE], slot[place, STEP]
        opens = left + rules[CREDIT_DELAY]
        opens = max(left, opens - 1) if p >= links else opens
        if chained and p >= links and flit & 1 and message[flit >> 1, SUCCESSOR] >= 0:
            _released(message, released, counters, rules[STARTUP], natural(message[flit >> 1, SUCCESSOR]), left)
        slot[place, OPENS] = opens
        if queue[q, WAITED] != 0:
            queue[q, WAITED] = 0
            _at(rules, wheel, counters, opens, 4 * queue[q, OWNER] + RETRY, 0)
        queue[q, FRONT] = queue[q, FRONT] + 1 if queue[q, FRONT] + 1 < depth else 0
        queue[q, COUNT] -= 1
        queue[q, HELD] -= 1
        blocked += c - queue[q, SINCE]
        channel[o, CROSSED] += 1
        there = c + channel[o, LATENCY]
        if rules[WAITING_OUT] != 0:  # behind the flits that wait at the output
            there = max(there, channel[o, LAST] + channel[o, EACH])
            channel[o, LAST] = there
        if rules[RECORDING] != 0:
            row = counters[RECORDED]
            counters[RECORDED] += 1
            record[row, 0] = c
            record[row, 1] = w
            record[row, 2] = flit >> 1
            record[row, 3] = flit & 1
        place = natural(w * depth + queue[w, BACK])
        queue[w, BACK] = queue[w, BACK] + 1 if queue[w, BACK] + 1 < depth else 0
        if o < ejections:
            slot[place, FLIT] = flit
            slot[place, OPENS] = NEVER
            slot[place, PLACE] = following
            slot[place, STEP] = step
            queue[w, HELD] += 1
            _at(rules, wheel, counters, there, 4 * w + ARRIVE, 0)
        else:
            slot[place, OPENS] = there + 1 + rules[CREDIT_DELAY]
            ejected += 1
            if flit & 1:
                _ejected(s, flit >> 1, there)
        if flit & 1:
            _tail_left(rules, queue, channel, wheel, lists, counters, q, w, left)
            continue
        queue[q, SINCE] = left
        opens = slot[natural(w * depth + queue[w, BACK]), OPENS]
        if left > c + 1:
            queue[q, GATE] = left
            channel[p, WANT] &= ~(1 << queue[q, LANE])
            _at(rules, wheel, counters, left, 4 * q + RETRY, 0)
        elif queue[q, COUNT] == 0 or opens > left:
            channel[p, WANT] &= ~(1 << queue[q, LANE])
            if queue[q, COUNT] > 0:
                _want(rules, queue, slot, channel, wheel, lists, counters, q, left)
    counters[BLOCKED] += blocked
    counters[EJECTED] += ejected
    counters[HOPS] += wanted - ejected


@njit(cache=True, nogil=True, _nrt=False)
def _cycle(s, c):
    """Let the network work for one cycle; return the number of flits and heads that went on."""
    rules, queue, slot, channel, turn, counters = s.rules, s.queue, s.slot, s.channel, s.turn, s.counters
    wheel, lists, message, route = s.wheel, s.lists, s.message, s.route
    moved = 0
    if counters[SOURCES]:
        moved += _sources(rules, queue, slot, channel, s.source, wheel, lists, message, route, counters, c)
    if counters[EVENTS]:
        _events(rules, queue, slot, channel, wheel, lists, counters, c)
    counters[GRANTED] = 0
    if counters[HEADS]:
        wanted = _ask(rules, queue, slot, channel, lists, message, s.candidate_first, s.candidate, counters)
        _grant(rules, queue, slot, channel, wheel, lists, route, counters, wanted, c)
        moved += wanted
    wanted = _switch(rules, queue, channel, turn, lists, counters)
    if wanted:
        _leave(s, wanted, c)
    for k in range(counters[GRANTED]):
        _want(rules, queue, slot, channel, wheel, lists, counters, natural(lists[GRANTED, k]), c + 1)
    return moved + wanted


@njit(cache=True, nogil=True, _nrt=False)
def run(s, when, which, until):
    """Simulate from cycle ``counters[NOW]`` to `until`, or to the end of all work; return UNTIL or STUCK.

    Message ``which[k]`` is released in cycle ``when[k]``, ascending; messages released by others follow.
    """
    counters, message, released = s.counters, s.message, s.released
    c = counters[NOW]
    k = 0
    idle = 0
    while c < until:
        while k < when.size and when[k] <= c:
            _release(s.source, message, s.lists, counters, natural(which[k]), c)
            k += 1
        while counters[RELEASED_FIRST] < counters[RELEASED_LAST]:
            m = released[counters[RELEASED_FIRST] % released.size]
            if message[m, CREATED] > c:
                break
            counters[RELEASED_FIRST] += 1
            _release(s.source, message, s.lists, counters, m, c)
        moved = 0
        if counters[EVENTS] + counters[PORTS] + counters[HEADS] + counters[SOURCES] > 0:
            moved = _cycle(s, c)
            c += 1
            idle = 0 if moved + counters[EVENTS] > 0 else idle + 1
            if idle <= s.rules[WHEEL] or counters[IN_FLIGHT] == 0:
                continue
        if counters[IN_FLIGHT] > 0:
            counters[NOW] = c
            return STUCK
        following = until
        if k < when.size:
            following = min(following, when[k])
        if counters[RELEASED_FIRST] < counters[RELEASED_LAST]:
            m = released[counters[RELEASED_FIRST] % released.size]
            following = min(following, message[m, CREATED])
        elif k >= when.size:
            break
        c = max(c, following)
    counters[NOW] = c
    return UNTIL


@njit(cache=True, nogil=True, _nrt=False, small=_SMALL)
def holder(queue, way):
    """Return the queue with the next flit of the message that holds virtual channel `way`; -1 for its source."""
    q = queue[way, OWNER]
    while q >= 0 and queue[q, HELD] == 0:
        q = queue[q, OWNER]
    return q


@njit(cache=True, nogil=True, _nrt=False, small=_SMALL)
def _way(s, q, k):
    """Return the k-th channel that the head at the front of queue q may take, and its virtual channels; or -1."""
    rules, queue, channel = s.rules, s.queue, s.channel
    p = natural(queue[q, CHANNEL])
    place = q * rules[DEPTH] + natural(queue[q, FRONT])
    m, step = s.slot[place, FLIT] >> 1, s.slot[place, STEP]
    if step != ADAPTIVE:
        if k > 0:
            return -1, 0
        if step == EJECT:
            return channel[p, EJECTION], rules[CLASSES]
        return step >> 8, _lanes_of(rules, queue, step & 255, q)
    row = s.candidate_first[channel[p, TO], s.message[m, TARGET]] + k
    if row >= s.candidate_first[channel[p, TO], s.message[m, TARGET] + 1]:
        return -1, 0
    o = s.candidate[row, 0] >> 8
    if o < 0:
        return channel[p, EJECTION], rules[CLASSES]
    return o, _lanes_of(rules, queue, s.candidate[row, 0] & 255, q)


@njit(cache=True, nogil=True, _nrt=False, small=_SMALL)
def mark_live(s, live):
    """Mark the queues whose front flit can leave at some time if all others do their best; bool[Q], false at first.

    A queue with flits that stays unmarked is part of a deadlock or waits behind one.
    """
    queue, depth, lanes = s.queue, s.rules[DEPTH], s.rules[LANES]
    first = s.rules[EJECTIONS] * lanes
    changed = True
    while changed:
        changed = False
        for q in range(first):
            if live[q] or queue[q, HELD] == 0:
                continue
            w = queue[q, OUT]
            able = False
            if w >= 0:
                able = w >= first or queue[w, HELD] < depth or live[w]
            else:
                k = 0
                o, bits = _way(s, q, k)
                while o >= 0 and not able:
                    for v in range(lanes):
                        if (bits >> v) & 1:
                            u = holder(queue, o * lanes + v)
                            able |= u < 0 or live[u] or queue[o * lanes + v, OWNER] < 0
                    k += 1
                    o, bits = _way(s, q, k)
            if able:
                live[q] = True
                changed = True


@njit(cache=True, nogil=True, _nrt=False, small=_SMALL)
def next_in_wait(s, live, q):
    """Return a queue that queue q, whose front flit can never leave, waits for."""
    queue = s.queue
    if queue[q, OUT] >= 0:
        return queue[q, OUT]
    o, bits = _way(s, q, 0)
    w = o * s.rules[LANES] + lowest(bits)
    if queue[w, HELD] > 0 and not live[w]:
        return w
    return holder(queue, w)
