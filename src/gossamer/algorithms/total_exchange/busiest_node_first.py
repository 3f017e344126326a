"""Total exchange with one port on any network: the nodes with most left to send go first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops, refuse_one_way_links
from gossamer.algorithms.total_exchange.node_invariant import append
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True, small=100_000)
def _balance_paths(first_link, link_target, order, distance, terminals, sweeps, onward):
    """Fill `onward` int32[n, N] with the link from each node towards each terminal, on shortest paths.

    `order` int32[n, N] lists the nodes by distance to each terminal. The messages of a node for one terminal go to the
    neighbor that has least to send so far; in later sweeps the paths to one terminal after the other are chosen anew.
    """
    n = first_link.size - 1
    load = np.zeros(n, np.int64)
    flow = np.empty(n, np.int64)
    for sweep in range(sweeps):
        for d in range(terminals):
            if sweep:
                _pass(link_target, order[d], terminals, onward[d], d, flow, load, -1)
            flow[:] = 0
            for i in range(n - 1, 0, -1):
                v = order[d, i]
                flow[v] += 1 if v < terminals else 0
                best = -1
                for e in range(first_link[v], first_link[v + 1]):
                    w = link_target[e]
                    if distance[d, w] == distance[d, v] - 1 and (best < 0 or load[w] < load[link_target[best]]):
                        best = e
                onward[d, v] = best
                load[v] += flow[v]
                flow[link_target[best]] += flow[v]


@njit(cache=True, nogil=True)
def _pass(link_target, order, terminals, onward, d, flow, load, times):
    """Add what every node sends of the messages for terminal d, `times` times, to the load."""
    flow[:] = 0
    for i in range(order.size - 1, 0, -1):
        v = order[i]
        flow[v] += 1 if v < terminals else 0
        load[v] += times * flow[v]
        flow[link_target[onward[v]]] += flow[v]


@njit(cache=True, nogil=True, small=100_000)
def _busiest_first(first_link, link_target, onward, distance, slot, link, packet):
    """Send with one port, the nodes with most left to send first; return the slots.

    A node sends to the free neighbor that has most left to receive, and of the packets for it one with the furthest
    to go. `onward` int32[n, N] is the link from each node towards each terminal, `distance` int32[n, N] the hops.
    """
    terminals, n = onward.shape
    links = link_target.size
    buckets = int(distance.max()) + 1
    head = np.full(links * buckets, -1, np.int64)
    tail = np.full(links * buckets, -1, np.int64)
    furthest = np.zeros(links, np.int64)
    packets = terminals * (terminals - 1)
    follower = np.full(packets, -1, np.int64)
    sends = np.zeros(n, np.int64)
    receives = np.zeros(n, np.int64)
    for p in range(packets):
        s, d = p // (terminals - 1), p % (terminals - 1)
        if d >= s:
            d += 1
        e = onward[d, s]
        append(head, tail, follower, e * buckets + distance[d, s], p)
        furthest[e] = max(furthest[e], distance[d, s])
        v = s
        while v != d:
            sends[v] += 1
            v = link_target[onward[d, v]]
            receives[v] += 1
    taken = np.full(n, -1, np.int64)
    moved = np.empty(n, np.int64)
    sent = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    at, t = 0, 0
    while at < slot.size:
        count = 0
        order = np.argsort(-sends, kind="mergesort")
        for i in range(n):
            v = order[i]
            if sends[v] == 0:
                break
            best = -1
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if furthest[e] == 0 or taken[w] == t:
                    continue
                if (
                    best < 0
                    or receives[w] > receives[link_target[best]]
                    or (receives[w] == receives[link_target[best]] and furthest[e] > furthest[best])
                ):
                    best = e
            if best < 0:
                continue
            bucket = best * buckets + furthest[best]
            p = head[bucket]
            head[bucket] = follower[p]
            while furthest[best] > 0 and head[best * buckets + furthest[best]] < 0:
                furthest[best] -= 1
            slot[at], link[at], packet[at] = t, best, p
            at += 1
            taken[link_target[best]] = t
            moved[count], sent[count], reached[count] = p, v, link_target[best]
            count += 1
        for i in range(count):
            p, v = moved[i], reached[i]
            s, d = p // (terminals - 1), p % (terminals - 1)
            if d >= s:
                d += 1
            sends[sent[i]] -= 1
            receives[v] -= 1
            if v != d:
                e = onward[d, v]
                append(head, tail, follower, e * buckets + distance[d, v], p)
                furthest[e] = max(furthest[e], distance[d, v])
        t += 1
    return t


_MOST_NODES = 4_000

_SWEEPS = 2
"""Times that the paths are chosen; more make little difference on meshes."""


def busiest_first_exchange(case: Case) -> Schedule:
    """Build the exchange on shortest paths in which the nodes with most hops still to make are served first.

    With one port the node with most hops to make is the bottleneck, so it must never wait. In every slot the nodes
    with most left to send choose first, each a free neighbor with most left to receive, and send the packet with the
    furthest to go.

    Parameters
    ----------
    case : Case
        A total exchange with one port on a connected network in which every link has an opposite; in every slot each
        node sends at most one packet and receives at most one.

    Notes
    -----
    The messages for one terminal follow a tree, in which the parent of a node is the closer neighbor that had least
    to send when it was chosen. Of its free neighbors a node sends to the one that has most left to receive, and there
    the packet with the furthest to go. On linear arrays of 2 to 100 nodes the time is the load of a node in the middle,
    ``floor((n*n - 1)/2)``: optimal. O(n (N + L) + slots (N log N + L)) for n terminals.

    References
    ----------
    Gossamer. Dimakopoulos 1996, Theorem 5.5, asks for such exchanges of factors (erratum 9.8).

    Examples
    --------
    >>> import gossamer
    >>> rules = gossamer.Rules(ports="one")
    >>> busiest_first_exchange(Case(gossamer.network("array:8"), TotalExchange(), rules)).completion_time
    Fraction(31, 1)
    """
    network = case.network
    # Step 1: a tree of shortest paths to every terminal, through the neighbors that have least to send
    onward, distance = _onward(network)
    n = network.terminal_count
    hops = int(distance[:, :n].sum(dtype=np.int64))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    # Step 2: slot by slot: the node with most left to send chooses first, the neighbor with most left to receive
    _busiest_first(network.first_link, network.link_target, onward, distance, slot, link, packet)
    return Schedule.of(case, slot, link, packet)


def _onward(network: Network) -> tuple[IntArray, IntArray]:
    """Return the link from each node towards each terminal and the hops from there, int32[n, N] each."""
    onward = np.full((network.terminal_count, network.node_count), -1, np.int32)
    distance, order = np.empty_like(onward), np.empty_like(onward)
    for d in range(network.terminal_count):
        search = network.breadth_first(d)
        distance[d], order[d] = search.distance, search.order
    _balance_paths(network.first_link, network.link_target, order, distance, network.terminal_count, _SWEEPS, onward)
    return onward, distance


def total_distance(network: Network) -> int:
    """Return the sum of the distances between all ordered pairs of terminals. O(N + L), or that for every terminal.

    >>> import gossamer
    >>> total_distance(gossamer.network("array:3"))
    8
    """
    if network.group is not None:
        return network.node_count * int(network.distances(0).sum(dtype=np.int64))
    n = network.terminal_count
    return sum(int(network.distances(d)[:n].sum(dtype=np.int64)) for d in range(n))


def _refuse_apart(network: Network) -> Refusal | None:
    """Refuse a network that is not connected, or not."""
    return Refusal("needs a connected network") if int(network.distances(0).min()) < 0 else None


def _is_line(network: Network) -> bool:
    grid = network.grid
    return grid is not None and sum(side > 1 for side in grid.sides) == 1 and not any(grid.wraps)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, n = case.network, case.network.node_count
    if not case.limited:
        return Refusal("is for one-port nodes")
    if n > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = refuse_one_way_links(network) or _refuse_apart(network) or refuse_buffers(case.rules)
    if refusal is not None:
        return refusal
    hops = case.once(total_distance, network)
    refusal = refuse_hops(hops)
    if refusal is not None:
        return refusal
    known = _is_line(network) and n <= 100
    return Offer(
        lambda: busiest_first_exchange(case),
        Fraction((n * n - 1) // 2) if known else None,
        optimal=known and case.whole and case.send_limited and case.receive_limited,
        least=Fraction(-(-hops // n)),  # every hop is one of a node in a slot
    )


BUSIEST_FIRST = Algorithm(
    name="busiest-first",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="every connected network with an opposite for every link",
    source="gossamer",
    summary="the nodes with most hops to make send first, to the neighbor with most to receive, what goes furthest",
)
