"""Compiled kernel of greedy flooding.

No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they are sooner compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gossamer.jit import njit

__all__ = ["Desk", "flood", "nearby"]

_LINE = 8
"""Words that the memory brings at once; links begin to look somewhere in so many."""
_AHEAD = 32
"""Links whose words are read before any of them sends."""


class Desk(NamedTuple):
    """What flooding works on."""

    spread: Any  # int64[P]: how many nodes have a packet
    lacks: Any  # int64[N]: how many packets a node lacks
    order: Any  # int64[L]: in which links look for packets
    turn: Any  # int64[L]
    at: Any  # int64[L]: the slot of the last hop of each link, and that hop
    hop: Any  # int64[L]
    due: Any  # int64[S]: the last hop that comes in a slot, or -1
    follower: Any  # int64[]: the one before in that slot, of all that can be on their way
    sending: Any  # int64[N]: until when a node sends, and receives
    receiving: Any  # int64[N]
    visit: Any  # int64[N]: in which nodes let their links look
    first_out: Any  # int64[N + 1]: the first of a node's links

    @classmethod
    def of(cls, nodes: int, packets: int, links: int, longest: int, aloft: int) -> Desk:
        """Return room for so many slots from start to end of a hop, and hops on their way."""
        return cls(
            np.ones(packets, np.int64), np.full(nodes, packets, np.int64), np.arange(links),
            np.zeros(links, np.int64), np.full(links, -1, np.int64), np.zeros(links, np.int64),
            np.full(longest + 1, -1, np.int64), np.empty(aloft, np.int64),
            np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.arange(nodes), np.zeros(nodes + 1, np.int64),
        )  # fmt: skip


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def nearby(first_link, link_target, length, radius, first, node, distance, seen):
    """Write the nodes within `radius` of each node, and how far they are; return whether all fit.

    Parameters
    ----------
    first_link, link_target, length : int64[N + 1], int32[L], int64[L]
        The links of node u are first_link[u]..first_link[u + 1]-1; lengths of 1 or more.
    radius : int
    first : int64[N + 1]
        Written: the entries first[u]..first[u + 1]-1 of the others are those of node u.
    node, distance : int32[]
        Written, itself included.
    seen : int64[N]
        -1; room to work in.
    """
    nodes = first.size - 1
    size = 0
    for u in range(nodes):
        first[u] = size
        if size == node.size:
            return False
        seen[u] = u
        node[size], distance[size] = u, 0
        size += 1
        for away in range(1, radius + 1):
            for i in range(first[u], size):
                for e in range(first_link[node[i]], first_link[node[i] + 1]):
                    v = link_target[e]
                    if distance[i] + length[e] == away and seen[v] != u:
                        if size == node.size:
                            return False
                        seen[v] = u
                        node[size], distance[size] = v, away
                        size += 1
    first[nodes] = size
    return True


@njit(cache=True, nogil=True, _nrt=False)
def _lowest(word):
    """Return the place of the lowest set bit; without branches, which nothing could foretell."""
    bit = word & (~word + np.uint64(1))
    place = np.int64((bit & np.uint64(0xAAAAAAAAAAAAAAAA)) != 0)
    place += np.int64((bit & np.uint64(0xCCCCCCCCCCCCCCCC)) != 0) << 1
    place += np.int64((bit & np.uint64(0xF0F0F0F0F0F0F0F0)) != 0) << 2
    place += np.int64((bit & np.uint64(0xFF00FF00FF00FF00)) != 0) << 3
    place += np.int64((bit & np.uint64(0xFFFF0000FFFF0000)) != 0) << 4
    place += np.int64((bit & np.uint64(0xFFFFFFFF00000000)) != 0) << 5
    return place


@njit(cache=True, nogil=True, _nrt=False)
def _chosen(has, will, u, v, start, words, spread, share, near, looks):
    """Return the rarest of the first few packets, from word `start` on, that u has and v lacks; -1 if none.

    `near` is what v has of each packet around it, int32[N, P]; without entries rare is what is little spread.
    """
    best = -1
    seen = 0
    least = np.int64(0)
    around = near.shape[0] > 0
    for i in range(words):
        w = start + i
        if w >= words:
            w -= words
        fresh = has[u, w] & ~will[v, w]
        while fresh:
            p = w * 64 + _lowest(fresh)
            fresh &= fresh - np.uint64(1)
            value = near[v, p] + share * spread[p] if around else spread[p]
            if best < 0 or value < least:
                best, least = p, value
            seen += 1
            if seen >= looks:
                return best
    return best


@njit(cache=True, nogil=True, _nrt=False)
def _changed_over(
    has, will, u, v, t, words, first_in, in_links, link_source, at, hop, packet, takes, mine, start, looks, spread,
    share, around, near,
):  # fmt: skip
    """Let another link to v that sends in slot t what u has too send something else; return what it gave up, or -1.

    `hop` is the last hop of each link, `at` its slot; only links that take as long as `mine` are changed.
    """
    for i in range(first_in[v], first_in[v + 1]):
        other = in_links[i]
        if at[other] != t or takes[other] != mine:
            continue
        p = packet[hop[other]]
        w = link_source[other]
        if w == u or not has[u, p // 64] >> np.uint64(p % 64) & np.uint64(1):
            continue
        q = _chosen(has, will, w, v, start, words, spread, share, near, looks)
        if q >= 0:
            packet[hop[other]] = q
            will[v, q // 64] |= np.uint64(1) << np.uint64(q % 64)
            spread[q] += 1
            spread[p] -= 1
            if near.shape[0]:
                _noted(v, q, 1, around[0], around[1], around[2], near)
                _noted(v, p, -1, around[0], around[1], around[2], near)
            return p
    return -1


@njit(cache=True, nogil=True, _nrt=False)
def _touched(has, will, link_source, link_target, order, first, word):
    """Read words of both ends of some links, all at once: later, one after the other, they are at hand."""
    found = np.uint64(0)
    after = (word + _LINE) % has.shape[1]
    for i in range(first, min(first + _AHEAD, order.size)):
        u, v = link_source[order[i]], link_target[order[i]]
        found ^= has[u, word] ^ will[v, word] ^ has[u, after] ^ will[v, after]
    return found


@njit(cache=True, nogil=True, _nrt=False)
def _by_node(visit, first_out, order):
    """Write the links of all nodes, these in a random order, and those of each from any one on."""
    for i in range(visit.size - 1, 0, -1):
        j = np.random.randint(0, i + 1)
        visit[i], visit[j] = visit[j], visit[i]
    place = 0
    for i in range(visit.size):
        u = visit[i]
        begin, end = first_out[u], first_out[u + 1]
        if begin == end:
            continue
        e = begin + np.random.randint(0, end - begin)
        for _ in range(end - begin):
            order[place] = e
            place += 1
            e += 1
            if e == end:
                e = begin


@njit(cache=True, nogil=True, _nrt=False)
def _noted(v, p, by, first, node, weight, near):
    """Note, `by` times, for all around node v that packet p comes there."""
    for i in range(first[v], first[v + 1]):
        near[node[i], p] += by * weight[i]


@njit(cache=True, nogil=True, _nrt=False)
def _next_change(t, span, due, room, one_send, sending, one_receive, receiving, link_target, latency):
    """Return the first slot after t in which a packet comes, or a link or port is free that was not; -1 if none is."""
    never = np.int64(2**62)
    found = never
    for after in range(t + 1, t + span):
        if due[after % span] >= 0:
            found = np.int64(after)
            break
    for i in range(room.size):
        if t < room[i] < found:
            found = room[i]
    if one_send:
        for u in range(sending.size):
            if t < sending[u] < found:
                found = sending[u]
    if one_receive:
        for e in range(link_target.size):
            free = receiving[link_target[e]] - latency[e]
            if t < free < found:
                found = free
    return found if found < never else np.int64(-1)


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def flood(
    link_source, link_target, occupancy, takes, latency, ring, room, first_in, in_links, has, will, terminals, origin,
    one_send, one_receive, looks, share, around, near, wide, deadline, seed, slot, link, packet, desk,
):  # fmt: skip
    """Let every free link, in a random order each slot, carry a packet that its target lacks.

    A node passes on what has come by then. Where a link finds nothing, another link to the same node that sends what
    this one could send takes something else, if it can.

    Parameters
    ----------
    link_source, link_target : int32[L]
    occupancy, takes, latency : int64[L]
        In slots; a hop brings its packet `takes` slots after its start.
    ring, room : int64[L + 1], int64[]
        Place of each link in `room`, which is 0 and has as many entries a link as it carries packets at once.
    first_in, in_links : int64[N + 1], int32[L]
        The links to each node.
    has, will : uint64[N, W]
        Zero; a bit for each packet that a node has before the slot, and for those on their way too.
    origin : int32[P]
    looks : int
        Candidates that a link compares.
    share : int
        What a packet at any node weighs where `near` has entries.
    around : (int64[N + 1], int32[], int32[])
        The nodes around node u, and what a packet at u weighs for them: entries first[u]..first[u + 1]-1.
    near : int32[N, P] or int32[0, 0]
        Zero; written: what all nodes weigh that have a packet, for each node. Without entries it is not asked for.
    wide : bool
        Whether a slot's links look for packets from about the same word on, node by node, so that of many words few are
        needed at a time; for more than 8 words a node.
    deadline : int
        Hops that would not be over by then are not made; give up when it is reached.
    slot, link, packet : int32[]
        Written; must have room for a hop to every node for every packet.
    desk : Desk
        Fresh room to work in.

    Returns
    -------
    (int, int)
        The number of hops, -1 if no path leads to a terminal, -2 if the deadline is reached; and when all is over.
    """
    np.random.seed(seed)
    count = origin.size
    nodes, words = has.shape
    spread, lacks, order, turn, at, hop = desk.spread, desk.lacks, desk.order, desk.turn, desk.at, desk.hop
    due, follower, sending, receiving = desk.due, desk.follower, desk.sending, desk.receiving
    visit, first_out = desk.visit, desk.first_out
    span, aloft = due.size, follower.size
    missing = np.int64(terminals) * count
    for p in range(count):
        if near.shape[0]:
            _noted(origin[p], p, 1, around[0], around[1], around[2], near)
        bit = np.uint64(1) << np.uint64(p % 64)
        has[origin[p], p // 64] |= bit
        will[origin[p], p // 64] |= bit
        lacks[origin[p]] -= 1
        if origin[p] < terminals:
            missing -= 1
    made, on_way, t = 0, 0, np.int64(0)
    over, quiet = np.int64(0), np.int64(0)
    tile, warm = np.int64(0), np.uint64(0)
    for e in range(order.size):
        first_out[link_source[e] + 1] += 1
    for u in range(nodes):
        first_out[u + 1] += first_out[u]
    while missing:
        begin = made
        if wide:
            tile = np.random.randint(0, words)
            _by_node(visit, first_out, order)
        else:
            for i in range(order.size - 1, 0, -1):
                j = np.random.randint(0, i + 1)
                order[i], order[j] = order[j], order[i]
        for i in range(order.size):
            if wide and i % _AHEAD == 0:
                warm ^= _touched(has, will, link_source, link_target, order, i, tile)
            e = order[i]
            u, v = link_source[e], link_target[e]
            if lacks[v] == 0 or t + takes[e] > deadline:
                continue
            for _ in range(ring[e + 1] - ring[e]):
                place = ring[e] + turn[e]
                if room[place] > t or (one_send and sending[u] > t):
                    break
                if one_receive and receiving[v] > t + latency[e]:
                    break
                if wide:
                    start = tile + made % _LINE
                    if start >= words:
                        start -= words
                else:
                    start = np.random.randint(0, words)
                p = _chosen(has, will, u, v, start, words, spread, share, near, looks)
                if p < 0 and room.size == order.size and not one_receive:
                    p = _changed_over(
                        has, will, u, v, t, words, first_in, in_links, link_source, at, hop, packet, takes, takes[e],
                        start, looks, spread, share, around, near,
                    )  # fmt: skip
                if p < 0:
                    break
                will[v, p // 64] |= np.uint64(1) << np.uint64(p % 64)
                spread[p] += 1
                if near.shape[0]:
                    _noted(v, p, 1, around[0], around[1], around[2], near)
                lacks[v] -= 1
                room[place] = t + occupancy[e]
                turn[e] = turn[e] + 1 if ring[e] + turn[e] + 1 < ring[e + 1] else 0
                sending[u] = t + occupancy[e]
                receiving[v] = t + latency[e] + occupancy[e]
                if v < terminals:
                    missing -= 1
                slot[made], link[made], packet[made] = t, e, p
                at[e], hop[e] = t, made
                over = max(over, t + takes[e])
                if span > 2:
                    day = (t + takes[e]) % span
                    follower[made % aloft] = due[day]
                    due[day] = made
                    on_way += 1
                made += 1
        if span > 2 and made == begin:  # until something comes or is free again, nothing can be sent
            after = _next_change(t, span, due, room, one_send, sending, one_receive, receiving, link_target, latency)
            if after < 0:
                return (-1 if deadline == np.int64(2**62) else -2), over
            t = after - 1
        t += 1
        quiet = np.int64(0) if made > begin else quiet + 1
        if quiet > span and on_way == 0:
            return (-1 if deadline == np.int64(2**62) else -2), over
        if missing and t >= deadline:
            return -2, over
        if span == 2:  # what was sent has come
            for h in range(begin, made):
                v, p = link_target[link[h]], packet[h]
                has[v, p // 64] |= np.uint64(1) << np.uint64(p % 64)
            continue
        h = due[t % span]
        due[t % span] = -1
        while h >= 0:
            v, p = link_target[link[h]], packet[h]
            has[v, p // 64] |= np.uint64(1) << np.uint64(p % 64)
            on_way -= 1
            h = follower[h % aloft]
    will[0, 0] ^= warm  # it is not asked for any more
    return made, over
