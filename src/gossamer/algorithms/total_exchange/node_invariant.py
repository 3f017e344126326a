"""Total exchange on Cayley networks in which every node does what the identity does, translated.

Dimakopoulos 1996, section 4.4. A node-invariant algorithm is known from the queue of the identity alone: when the
identity sends a message for y by generator g, every node v sends its translate to ``v*g``. So the messages of one
offset move as one, and the queue holds every offset once until it is served.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_irregular, refuse_ports
from gossamer.errors import ModelError, nearest
from gossamer.graphs.trees import path_hops, shortest_path_tree
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry


@njit(cache=True, nogil=True)
def append(head, tail, follower, bucket, item):
    """Put `item` at the tail of the list of `bucket`."""
    follower[item] = -1
    if head[bucket] < 0:
        head[bucket] = item
    else:
        follower[tail[bucket]] = item
    tail[bucket] = item


@njit(cache=True, nogil=True, small=100_000)
def _relative_queue(first, distance, letter, onward, link_target, degree, discipline, draws, link, packet):
    """Serve the queue of the identity, one message a slot; write the link and the packet of each slot.

    `first` lists the offsets in the order of the queue, `letter` the generator by which an offset leaves and `onward`
    what then remains. Disciplines: 0 first in, first out; 1 last in, first out; 2 furthest and 3 closest first; 4 the
    place given by `draws` in [0, 1), one a slot.
    """
    n = distance.size
    buckets = 1
    if discipline == 2 or discipline == 3:
        buckets = int(distance.max()) + 1
    head = np.full(buckets, -1, np.int64)
    tail = np.full(buckets, -1, np.int64)
    follower = np.full(n, -1, np.int64)
    rest = np.arange(n)
    where = np.zeros(n, np.int64)
    waiting = np.empty(n, np.int64)
    count = 0
    for i in range(first.size):
        if discipline == 4:
            waiting[count] = first[i]
            count += 1
        else:
            append(head, tail, follower, distance[first[i]] if buckets > 1 else 0, first[i])
    for t in range(link.size):
        if discipline == 4:
            i = int(draws[t] * count)
            y = waiting[i]
            count -= 1
            waiting[i] = waiting[count]
        else:
            b = buckets - 1 if discipline == 2 else 0
            while head[b] < 0:
                b += -1 if discipline == 2 else 1
            y = head[b]
            head[b] = follower[y]
        g = letter[rest[y]]
        link[t] = where[y] * degree + g
        packet[t] = y - 1
        where[y] = link_target[where[y] * degree + g]
        rest[y] = onward[rest[y]]
        if rest[y] == 0:
            continue
        if discipline == 4:
            waiting[count] = y
            count += 1
        elif discipline == 1:
            follower[y] = head[0]
            if head[0] < 0:
                tail[0] = y
            head[0] = y
        else:
            append(head, tail, follower, distance[rest[y]] if buckets > 1 else 0, y)


@njit(cache=True, nogil=True, small=100_000)
def _greedy_offsets(first, distance, onward, link_target, slot, link, packet):
    """Move every offset that finds a free generator on a shortest path, furthest first; return the slots.

    `onward` int32[N, degree] is what remains of an offset after a generator, -1 where that is no step closer. Of
    several free generators the one that was used least is taken.
    """
    n, degree = onward.shape
    buckets = int(distance.max()) + 1
    head = np.full(buckets, -1, np.int64)
    tail = np.full(buckets, -1, np.int64)
    follower = np.full(n, -1, np.int64)
    rest = np.arange(n)
    where = np.zeros(n, np.int64)
    for i in range(first.size):
        append(head, tail, follower, distance[first[i]], first[i])
    used = np.zeros(degree, np.int64)
    taken = np.full(degree, -1, np.int64)
    moved = np.empty(degree, np.int64)
    at, t = 0, 0
    while at < slot.size:
        count = 0
        for b in range(buckets - 1, 0, -1):
            before, y = -1, head[b]
            while y >= 0 and count < degree:
                after = follower[y]
                best = -1
                for g in range(degree):
                    if onward[rest[y], g] >= 0 and taken[g] < t and (best < 0 or used[g] < used[best]):
                        best = g
                if best < 0:
                    before = y
                else:
                    if before < 0:
                        head[b] = after
                    else:
                        follower[before] = after
                    if after < 0:
                        tail[b] = before
                    taken[best] = t
                    used[best] += 1
                    slot[at], link[at], packet[at] = t, where[y] * degree + best, y - 1
                    at += 1
                    where[y] = link_target[where[y] * degree + best]
                    rest[y] = onward[rest[y], best]
                    moved[count] = y
                    count += 1
                y = after
        for i in range(count):
            if rest[moved[i]] != 0:
                append(head, tail, follower, distance[rest[moved[i]]], moved[i])
        t += 1
    return t


# One-port total exchange on Cayley networks: all messages of one offset at a time, each on a shortest path.


def offset_by_offset(case: Case) -> Schedule:
    """Exchange one offset y after another: every node v sends its message for ``v*y`` on a shortest path.

    All nodes send the message for the same offset at the same time, along the same kinds of links: then every node
    sends one packet and receives one in each slot. When those messages are there, the next offset begins.

    Parameters
    ----------
    case : Case
        A total exchange on a Cayley network with N nodes, with any ports; in every slot each node sends one packet and
        receives one.

    Returns
    -------
    Schedule
        Invariant under the whole group: N-1 stored packets, one stored hop a slot.

    Notes
    -----
    Takes as many slots as the status of a node, the sum of its distances to all others. That is optimal with one port:
    every message needs its distance in hops and a node makes one hop a slot. Offsets go in the order of element
    numbers, and the generators of an offset are those of its path in the breadth-first tree of the identity.
    A node never holds more than one packet in transit. Time O(status + N degree).

    References
    ----------
    Dimakopoulos 1996, Theorem 4.11: any node-invariant algorithm that follows shortest paths takes the status.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("star:4"), gossamer.task("alltoall"), gossamer.Rules(ports="one"))
    >>> offset_by_offset(case).completion_time
    Fraction(62, 1)
    """
    # Step 1: a shortest path to each offset
    tree = shortest_path_tree(case.network, 0)
    depth = tree.depth[1:].astype(np.int64)
    # Step 2: one offset after the other, each in as many slots as it has hops
    slot, link, packet = path_hops(tree, tree.destinations, np.cumsum(depth) - depth)
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(case.network))


def status(network: Network) -> int:
    """Return the status of node 0, the sum of its distances to all others.

    >>> import gossamer
    >>> status(gossamer.network("star:4"))
    62
    """
    return int(network.distances(0).sum(dtype=np.int64))


def refuse_status(case: Case) -> Refusal | None:
    """Refuse for a schedule of as many slots as the status, the same at every node, or not."""
    refusal = case.once(refuse_irregular, case.network)
    if refusal is not None:
        return refusal
    slots = case.once(status, case.network)
    if slots <= 2**31 - 2:
        return None
    return Refusal(f"would take {slots} slots, and a schedule has at most {2**31 - 2}")


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = refuse_status(case)
    if refusal is not None:
        return refusal
    own, rules = case.network.node_count - 1, case.rules
    if rules.buffer is not None and rules.buffer_counts == "all" and rules.buffer < own:
        return Refusal(f"needs room for the {own} messages of every node")
    return Offer(
        lambda: offset_by_offset(case),
        Fraction(case.once(status, case.network)),
        optimal=case.limited,
        orbit=case.network.node_count,
    )


SUCCESSIVE_OFFSETS = Algorithm(
    name="successive-offsets",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="Cayley networks",
    source="Dimakopoulos 1996, Theorem 4.11",
    summary="the messages of one offset after another on shortest paths, one hop a slot at every node",
)


Discipline = Literal["fifo", "lifo", "furthest-first", "closest-first", "random"]
"""Which message of its queue a node sends."""

Routes = Literal["lowest", "random"]
"""Which of the generators that lead closer a message takes."""

_MOST_NODES = 50_000
"""Nodes up to which the greedy exchange is built in a minute or so."""


def _choice(value: str, what: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise ModelError(f"{what} must be one of {names}, got {value!r}{nearest(str(value), allowed)}")


def _onward(network: Network, distance: IntArray, column: int) -> npt.NDArray[np.int64]:
    """Return what remains of every offset after generator `column`, int64[N]; -1 where that is no step closer."""
    group = network.group
    assert group is not None
    y = np.arange(network.node_count)
    rest = group.compose(group.inverse(network.generators[column]), y)
    return np.where(distance[rest] == distance[y] - 1, rest, -1)


def first_generators(
    network: Network, routes: Routes = "lowest", *, seed: int = 0
) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """Return the table W: for every offset, the generator by which its messages leave, one step closer.

    `network`: a connected Cayley network of N nodes. `routes`, {"lowest", "random"}: of several generators the lowest,
    or any. `seed`: for random routes.

    Returns: `letter`, int32[N]: the number of the generator; -1 for the identity; `onward`, int64[N]: the offset that
    remains, ``g**-1 * y``.

    Raises ModelError if `routes` is none of those.

    O(N degree). On hypercubes the lowest generator is the leftmost 1 of the offset: e-cube routing (TE5).

    >>> import gossamer
    >>> letter, onward = first_generators(gossamer.network("hypercube:2"))
    >>> letter.tolist(), onward.tolist()
    ([-1, 1, 0, 0], [-1, 0, 0, 1])
    """
    _choice(routes, "routes", get_args(Routes))
    distance = network.distances(0)
    n = network.node_count
    draw = np.random.default_rng(seed)
    letter, onward = np.full(n, -1, np.int32), np.full(n, -1, np.int64)
    best = np.full(n, -1.0)
    for column in range(network.degree if network.link_count else 0):
        rest = _onward(network, distance, column)
        key = draw.random(n) if routes == "random" else np.full(n, 1.0 / (column + 1))
        taken = (rest >= 0) & (key > best)
        letter[taken], onward[taken], best[taken] = column, rest[taken], key[taken]
    return letter, onward


def node_invariant_exchange(case: Case, *, discipline: Discipline = "fifo", routes: Routes = "lowest") -> Schedule:
    """Build the exchange in which every node sends one message of its queue in every slot, on a shortest path.

    With one port a node makes one hop in a slot, so it takes at least as many slots as the hops of all its messages
    together. If every node does the same as every other in each slot, each also receives exactly one packet in it, so
    that nobody ever waits for a port; and as long as each hop leads nearer, that least time is met.

    Parameters
    ----------
    case : Case
        A total exchange on a connected Cayley network, with any ports; in every slot each node sends one packet and
        receives one. Its seed is for random routes and the random discipline.
    discipline : {"fifo", "lifo", "furthest-first", "closest-first", "random"}
        What a node sends of its queue, in which its own messages stand in the order of descending offsets. Equally far
        messages go first in, first out. A random choice is the same at every node.
    routes : {"lowest", "random"}
        See `first_generators`.

    Returns
    -------
    Schedule
        Invariant under the whole group, one stored hop a slot.

    Raises
    ------
    ModelError
        If `discipline` or `routes` is none of those.

    Notes
    -----
    Takes the status of a node (the sum of its distances) whatever the discipline and the routes: no node is idle
    before all are done, and every hop leads closer (Theorem 4.11). Optimal with one port. O(status) besides the
    routes; the closest or furthest message costs up to the diameter.

    References
    ----------
    Dimakopoulos 1996, section 4.4: Definition 4.3, Lemma 4.9, Theorem 4.11, Fig. 4.5 (TE4), Fig. 4.6 (TE5).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ccc:3"), TotalExchange(), gossamer.Rules(ports="one"))
    >>> node_invariant_exchange(case, discipline="lifo").completion_time
    Fraction(74, 1)
    """
    _choice(discipline, "discipline", get_args(Discipline))
    network = case.network
    distance = network.distances(0)
    # Step 1: a shortest path to each offset; its next generator is what all nodes need to know
    letter, onward = first_generators(network, routes, seed=case.seed)
    slots = int(distance.sum(dtype=np.int64))
    draws = np.random.default_rng([case.seed, 1]).random(slots if discipline == "random" else 0)
    link, packet = np.empty(slots, np.int32), np.empty(slots, np.int32)
    # Step 2: in every slot the head of the queue goes one hop on; if it is not there it joins the queue again
    _relative_queue(
        np.arange(network.node_count - 1, 0, -1), distance, letter, onward, network.link_target,
        network.degree if network.link_count else 0, get_args(Discipline).index(discipline), draws, link, packet,
    )  # fmt: skip
    slot = np.arange(slots, dtype=np.int32)
    # Step 3: every node does the same
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(network))


def greedy_offsets_exchange(case: Case) -> Schedule:
    """Build the exchange with all ports in which every slot moves the furthest offsets that find a free generator.

    All nodes do the same in every slot, so it is enough to say which offset uses which kind of link (generator). In
    each slot the offsets that have furthest to go choose first, each a free generator that leads nearer, of several
    the one that was used least.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a connected Cayley network.

    Returns
    -------
    Schedule
        Invariant under the whole group; each slot uses a generator at most once.

    Notes
    -----
    At least ``ceil(status/degree)`` slots. The generator of a hop is chosen when it is made: of the free ones that
    lead closer the one used least so far. O(N degree) for each slot at most.

    References
    ----------
    Node-invariant algorithms are of Dimakopoulos 1996, section 4.4; with all ports it treats rings only.

    Examples
    --------
    >>> import gossamer
    >>> greedy_offsets_exchange(Case(gossamer.network("star:4"), TotalExchange())).completion_time
    Fraction(21, 1)
    """
    network = case.network
    distance = network.distances(0)
    n, degree = network.node_count, network.degree if network.link_count else 0
    onward = np.empty((n, degree), np.int32)
    # Step 1: for every offset the generators that lead nearer
    for column in range(degree):
        onward[:, column] = _onward(network, distance, column)
    # Step 2: the offsets by distance, the furthest first
    first = np.argsort(-distance, kind="stable")[: n - 1]
    slot, link, packet = (np.empty(int(distance.sum(dtype=np.int64)), np.int32) for _ in range(3))
    # Step 3: slot by slot each offset takes a free generator that leads nearer, the least used one
    _greedy_offsets(first, distance, onward, network.link_target, slot, link, packet)
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(network))


def _propose_fifo(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_status(case), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    return Offer(
        lambda: node_invariant_exchange(case),
        Fraction(case.once(status, case.network)),
        optimal=case.limited,
        orbit=case.network.node_count,
    )


NODE_INVARIANT_FIFO = Algorithm(
    name="node-invariant-fifo",
    tasks=(TotalExchange,),
    propose=_propose_fifo,
    networks="Cayley networks",
    source="Dimakopoulos 1996, section 4.4 (TE4, TE5), Theorem 4.11",
    summary="every node sends the head of its queue on a shortest path, the same at all nodes",
)


def _propose_greedy(case: Case) -> Offer[Schedule] | Refusal:
    if case.network.node_count > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = first_refusal(refuse_ports(case.rules), refuse_status(case))
    if refusal is not None:
        return refusal
    degree = case.network.degree if case.network.link_count else 1
    least = Fraction(-(-case.once(status, case.network) // degree))
    return Offer(lambda: greedy_offsets_exchange(case), least=least, orbit=case.network.node_count)


GREEDY_OFFSETS = Algorithm(
    name="greedy-offsets",
    tasks=(TotalExchange,),
    propose=_propose_greedy,
    networks="Cayley networks",
    source="gossamer",
    summary="every slot moves the furthest offsets that find a free generator on a shortest path",
)
