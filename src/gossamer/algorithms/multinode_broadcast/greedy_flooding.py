"""Broadcasts by many nodes, or of many packets, on any network: greedy flooding.

In every slot every free link carries a packet that its target lacks, of a few candidates the rarest: the one that
fewest nodes have, or fewest around the target. The latter keeps links into a cluster from bringing the same packet
twice. There is no promise, but no idle link either: it often comes close to the bound. Several orders are tried, with
few candidates and with many, each against the time of the best so far: hops that would be over no earlier are not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops
from gossamer.errors import NetworkError
from gossamer.graphs.list_scheduling import lowest
from gossamer.graphs.path_and_hop_tables import leads_on
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.graphs.retiming import retimed
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COPY, Chunked, MultinodeBroadcast, MultipleBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import Packets, Phase, Schedule

# No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) they are sooner compiled.

_LINE = 8
"""Words that the memory brings at once; links begin to look somewhere in so many."""
_AHEAD = 32
"""Links whose words are read before any of them sends."""


class _FloodWorkspace(NamedTuple):
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
    def of(cls, nodes: int, packets: int, links: int, longest: int, aloft: int) -> _FloodWorkspace:
        """Return room for so many slots from start to end of a hop, and hops on their way."""
        return cls(
            np.ones(packets, np.int64), np.full(nodes, packets, np.int64), np.arange(links),
            np.zeros(links, np.int64), np.full(links, -1, np.int64), np.zeros(links, np.int64),
            np.full(longest + 1, -1, np.int64), np.empty(aloft, np.int64),
            np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.arange(nodes), np.zeros(nodes + 1, np.int64),
        )  # fmt: skip


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _nearby(first_link, link_target, length, radius, first, node, distance, seen):
    """Write the nodes within `radius` of each node, and how far they are; return whether all fit.

    `first_link`, `link_target`, `length`, int64[N + 1], int32[L], int64[L]: the links of node u are
    first_link[u]..first_link[u + 1]-1; lengths of 1 or more. `first`, int64[N + 1]: written: the entries
    first[u]..first[u + 1]-1 of the others are those of node u. `node`, `distance`, int32[]: written, itself included.
    `seen`, int64[N]: -1; room to work in.
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
            p = w * 64 + lowest(fresh)
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
def _flood(
    link_source, link_target, occupancy, takes, latency, ring, room, first_in, in_links, has, will, terminals, origin,
    one_send, one_receive, looks, share, around, near, wide, deadline, seed, slot, link, packet, desk,
):  # fmt: skip
    """Let every free link, in a random order each slot, carry a packet that its target lacks.

    A node passes on what has come by then. Where a link finds nothing, another link to the same node that sends what
    this one could send takes something else, if it can.

    * `link_source`, `link_target`, int32[L].
    * `occupancy`, `takes`, `latency`, int64[L]: in slots; a hop brings its packet `takes` slots after its start.
    * `ring`, `room`, int64[L + 1], int64[]: place of each link in `room`, which is 0 and has as many entries a link as
      it carries packets at once.
    * `first_in`, `in_links`, int64[N + 1], int32[L]: the links to each node.
    * `has`, `will`, uint64[N, W]: zero; a bit for each packet that a node has before the slot, and for those on their
      way too.
    * `origin`, int32[P].
    * `looks`: candidates that a link compares.
    * `share`: what a packet at any node weighs where `near` has entries.
    * `around`, (int64[N + 1], int32[], int32[]): the nodes around node u, and what a packet at u weighs for them:
      entries first[u]..first[u + 1]-1.
    * `near`, int32[N, P] or int32[0, 0]: zero; written: what all nodes weigh that have a packet, for each node. Without
      entries it is not asked for.
    * `wide`: whether a slot's links look for packets from about the same word on, node by node, so that of many words
      few are needed at a time; for more than 8 words a node.
    * `deadline`: hops that would not be over by then are not made; give up when it is reached.
    * `slot`, `link`, `packet`, int32[]: written; must have room for a hop to every node for every packet.
    * `desk`: fresh room to work in.

    Returns: the number of hops, -1 if no path leads to a terminal, -2 if the deadline is reached; and when all is over.
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


_LOOKS = (6, 64)
"""Candidate packets that a link compares, in turn: many are needed where a cut is thin."""
_AROUND = ((3, 0.5, 50), (3, 0.5, 10), (4, 0.35, 50), (2, 0.5, 50))
"""What rare around a node means, in turn: how far away it ends, in times of the fastest link; how much less what is
one such time further counts; and what a packet weighs anywhere, in thousandths of one that is there."""
_AROUND_LOOKS, _AROUND_WORK = 256, 60_000_000
"""Candidates compared by what is around, and nodes around all targets of hops up to which that is tried."""
_FEW = 3
"""Candidates where there is one try only."""
_WIDE = 1_000_000
"""Words for the packets of all nodes (8 MB) that are more than is at hand: of more, few are looked at in a slot."""
_WORK = 8_000_000
"""Hops after which no further order is tried."""
_TRIES = 12
_MOST_TRIES, _FEW_HOPS = 60, 30_000
"""Tries of a small case, and the hops of all of them."""
_HOP_SECONDS = 5e-5
"""Seconds for each of the hops that Python takes at the most, where nothing is compiled."""


def greedy_flooding(case: Case, parts: int = 1) -> Schedule:
    """Build the shortest of a few schedules in which no link idles that could carry something new.

    Everybody passes on what a neighbor lacks, on every link and in every slot. Which message, where there is a choice,
    matters: the rarest one, that the fewest nodes have so far, opens the most choices later. Nothing is promised, but
    a link idles only if its end has all that its beginning has; several orders are tried and the best is kept.

    Parameters
    ----------
    case : Case
        A task of packets that all terminals must get, on any network in which every origin reaches every terminal. Any
        ports and links. The seed is that of the random orders.
    parts : int
        Into how many packets each message is cut; more than one on plain links only, if messages may be split.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    About O(hops) for each try, plus the links in every slot; one bit for each packet and node. At most 12 tries, more
    for small and fewer for large schedules, and none after one that takes no longer than the busiest terminal must
    receive, or than a bound that is known.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 5])
    >>> greedy_flooding(Case(gossamer.network("array:4x4"), task)).completion_time
    Fraction(6, 1)
    """
    from gossamer.jit import seldom

    if case.network.shared_ports is not None:
        return retimed(greedy_flooding(case.related(case.network.with_ports(None))), case.network, case.rules)
    origin, roads = Packets.of(case.messages, parts).origin, LinkResources.of(case.network, case.rules)
    most = _hops(case) * parts
    best: _Flooded | None = None
    # Step 1: what the busiest node must receive is the least time; a try that takes no longer ends the search
    least = max(_least(case, origin, roads), ceil(case.floor * parts))
    tries = max(1, min(_TRIES, _WORK // max(most, 1)), min(_MOST_TRIES, _FEW_HOPS // max(most, 1)))

    seldom(_flood, _HOP_SECONDS * tries * most)

    def ways() -> Iterator[tuple[Case, int, int, int, _Around | None, int, int]]:
        around: list[_Around] = []
        for attempt in range(tries):
            if attempt == len(_LOOKS):
                around = _all_around(case.network, roads, most)
            turn = attempt % (len(_LOOKS) + len(around))
            rare = around[turn - len(_LOOKS)] if turn >= len(_LOOKS) else None
            looks = _FEW if most > _WORK else _LOOKS[turn] if rare is None else _AROUND_LOOKS
            yield case, parts, most, looks, rare, case.seed + attempt, _sooner(best)

    # Step 2: slot by slot and link by link: of the first few packets that the target lacks send the rarest
    for way, found in case.tries.in_order(_flooded, ways()):
        deadline = _sooner(best)  # others may have been earlier since the try began
        if way[-1] > deadline and int((roads.occupancy + roads.latency).max(initial=0)) > 1:
            found = _flooded(*way[:-1], deadline)  # which hops are in time differs
        # Step 3: try again with more candidates, rarest nearby, or another order of links; keep the shortest
        if found is not None and found.over <= deadline:
            best = found
        if best is not None and best.over <= least:
            break
    assert best is not None
    over, slot, link, packet = best
    if case.network.terminal_count < case.network.node_count:
        # Step 4: where there are switches leave out hops that no terminal gains by
        kept = leads_on(case.network, link, packet)
        slot, link, packet = slot[kept], link[kept], packet[kept]
        over = int((slot + (roads.occupancy + roads.latency)[link]).max(initial=0))
    schedule = Schedule.of(
        case, slot, link, packet, parts=parts,
        phases=[Phase(case.task.name, over, Fraction(1, parts))],
    )  # fmt: skip
    return retimed(schedule, case.network) if case.rules.cut_through else schedule


class _Flooded(NamedTuple):
    """When a schedule is over, and the slots, links and packets of its hops."""

    over: int
    slot: np.ndarray
    link: np.ndarray
    packet: np.ndarray


def _sooner(best: _Flooded | None) -> int:
    """Return when what is shorter must be over."""
    return 2**62 if best is None else best.over - 1


class _Around(NamedTuple):
    """What a packet at a node weighs for the nodes around it, entries first[u]..first[u + 1]-1, and anywhere."""

    first: np.ndarray
    node: np.ndarray
    weight: np.ndarray
    share: int


def _all_around(network: Network, roads: LinkResources, most: int) -> list[_Around]:
    """Return what is around nodes in several ways, those that are not too much work for so many hops."""
    found = []
    first = np.empty(network.node_count + 1, np.int64)
    room = min(network.node_count * _AROUND_WORK // max(most, 1), network.node_count**2)
    node, distance = np.empty(room, np.int32), np.empty(room, np.int32)
    takes = roads.occupancy + roads.latency
    length = -(-takes // takes.min(initial=2**31))
    for radius, less, share in _AROUND:
        seen = np.full(network.node_count, -1, np.int64)
        if _nearby(network.first_link, network.link_target, length, radius, first, node, distance, seen):
            weight = np.rint(1000 * less ** distance[: first[-1]]).astype(np.int32)
            found.append(_Around(first.copy(), node[: first[-1]].copy(), weight, share))
    return found


def _flooded(
    case: Case, parts: int, most: int, looks: int, rare: _Around | None, seed: int, deadline: int
) -> _Flooded | None:
    """Return a schedule of at most `most` hops, or None if it takes longer than the deadline."""
    network, origin = case.network, Packets.of(case.messages, parts).origin
    roads = LinkResources.of(network, case.rules)
    ring = np.zeros(network.link_count + 1, np.int64)
    np.cumsum(np.minimum(roads.capacity, origin.size), out=ring[1:])
    first_in = np.zeros(network.node_count + 1, np.int64)
    np.cumsum(network.in_degree, out=first_in[1:])
    has = np.zeros((network.node_count, (origin.size + 63) // 64), np.uint64)
    columns = tuple(np.empty(most, np.int32) for _ in range(3))
    nothing = np.zeros(0, np.int32)
    around = rare or _Around(np.zeros(0, np.int64), nothing, nothing, 1)
    near = np.zeros((0, 0) if rare is None else (network.node_count, origin.size), np.int32)
    takes = roads.occupancy + roads.latency
    longest = int(takes.max(initial=0))
    aloft = int((np.diff(ring) * (longest // roads.occupancy + 1)).sum())  # in `longest` slots, all one by one
    desk = _FloodWorkspace.of(network.node_count, origin.size, network.link_count, longest, max(1, min(aloft, most)))
    made, over = _flood(
        network.link_source, network.link_target, roads.occupancy, takes, roads.latency,
        ring, np.zeros(int(ring[-1]), np.int64), first_in, np.argsort(network.link_target, kind="stable"),
        has, np.zeros_like(has), network.terminal_count, origin, case.send_limited, case.receive_limited, looks,
        around.share, around[:3], near, has.size > _WIDE and has.shape[1] > 8, deadline, seed, *columns, desk,
    )  # fmt: skip
    if made == -1:
        raise NetworkError(f"network {network.spec!r} is not connected: some terminal cannot be reached")
    slot, link, packet = (c[: max(made, 0)] for c in columns)
    return None if made < 0 else _Flooded(int(over), slot, link, packet)


def _least(case: Case, origin: np.ndarray, roads: LinkResources) -> int:
    """Return the slots that the busiest terminal needs to receive what it lacks."""
    n, network = case.network.terminal_count, case.network
    lacks = origin.size - np.bincount(origin, minlength=network.node_count)[:n]
    if roads.receive_limited:
        quickest = np.full(network.node_count, 2**31)
        np.minimum.at(quickest, roads.target, roads.occupancy)
        return int((lacks * quickest[:n]).max(initial=0))
    rate = np.bincount(roads.target, weights=roads.capacity / roads.occupancy, minlength=network.node_count)[:n]
    most = np.ceil(lacks / np.maximum(rate, 1e-9) - 1e-9).astype(np.int64)
    return int((most + (lacks > 0) * _before(network, np.unique(origin))[:n]).max(initial=0))


def _before(network: Network, origins: np.ndarray) -> np.ndarray:
    """Return the slots in which nothing can come to each node, int64[N]: switches must have got something first.

    Of a link from u they are as many as links lie between u and the nearest origin; of a node, the least of its links.
    """
    far = np.full(network.node_count, 2**31, np.int64)
    far[origins] = 0
    for _ in range(network.node_count):
        nearer = np.full(network.node_count, 2**31, np.int64)
        np.minimum.at(nearer, network.link_target, far[network.link_source] + 1)
        nearer = np.minimum(far, nearer)
        if (nearer == far).all():
            break
        far = nearer
    found = np.full(network.node_count, 2**31, np.int64)
    np.minimum.at(found, network.link_target, far[network.link_source])
    return np.where(found < 2**31, found, 0)


def _hops(case: Case) -> int:
    """Return the most hops: every packet to every node but its origin."""
    return case.messages.packet_count * (case.network.node_count - 1)


_LOOK_SECONDS = 2.5e-7
"""What a hop takes for each packet of its message."""


def _costs(network: Network) -> tuple[float, float]:
    """Return bytes and seconds of a hop to a terminal: more where there are switches, whose hops are sorted out, too.

    The seconds are those of one try that takes no longer than it must; where none does, all tries take 5 times as long.
    """
    if network.terminal_count == network.node_count:
        return 14.0, 3.5e-7
    more = (network.node_count - 1) / max(network.terminal_count - 1, 1)
    return 48.0 * more, 4e-7 * more


def _propose(case: Case) -> Offer[Schedule] | tuple[Offer[Schedule], ...] | Refusal:
    if isinstance(case.task, PartialMultinodeBroadcast) and case.control_time:
        return Refusal("needs the active nodes known ahead (control time 0)")
    if case.messages.targets is not None or bool((case.messages.discipline != COPY).any()):
        return Refusal("is for packets that all terminals must get")
    refusal = refuse_buffers(case.rules) or refuse_hops(_hops(case))
    if refusal is not None:
        return refusal

    hop_bytes, hop_seconds = _costs(case.network)
    if isinstance(case.task, Chunked):  # each packet is looked for among those of its message
        hop_seconds += _LOOK_SECONDS * case.task.packets

    def offer(parts: int, /, **options: int) -> Offer[Schedule]:
        return Offer(
            lambda: greedy_flooding(case, parts),
            effort="search", options=options, hop_bytes=hop_bytes, hop_seconds=hop_seconds,
        )  # fmt: skip

    parts = int(case.network.out_degree.max(initial=1))
    rules = case.rules
    cut = rules.segmented and case.network.plain and not rules.cut_through and not isinstance(case.task, Chunked)
    if not cut or parts < 2 or refuse_hops(_hops(case) * parts) is not None:
        return offer(1)
    return offer(1, parts=1), offer(parts, parts=parts)


GREEDY_FLOODING = Algorithm(
    name="greedy-flooding",
    tasks=(MultinodeBroadcast, PartialMultinodeBroadcast, MultipleBroadcast, Chunked),
    propose=_propose,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="no link idles that could carry something new; the rarest of a few candidates goes first",
    timed=True,
)
