"""Several broadcasts from each node of a linear array or ring: Theorem 2 and the remark after it.

Varvarigos and Bertsekas 1994, section 2.
*Insertion*: in every slot a node passes on, in the same direction, what it received in the slot before; if it
received nothing, it inserts a message of its own. The two directions work independently. Every other packet passes a
waiting node at most once, so with K messages a packet waits at most K-1 slots. *Rounds*: in round w = 0, 1, ..., W-1
every node that still has a w-th message broadcasts it, so that every start is known ahead; W is the most messages of a
node.

On a line a message goes both ways from its node, to the ends. On a ring it goes half the way round either way, or, if
it may be split, one half of it goes all the way up and the other one all the way down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops, refuse_ports
from gossamer.errors import TaskError
from gossamer.graphs.concentration_routing import Columns, RotatedClass, Rotation, links_along, stacked
from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import MultinodeBroadcast, MultipleBroadcast
from gossamer.schedules import Phase, Schedule

# A *cell* is a place in the flat table of links: ``(node * d + digit column) * 2 + way``, way 0 up and 1 down.


@njit(cache=True, nogil=True)
def _sources(low, high, nodes, origin, packet, side, place, above, stride, first_cell, width, out):
    """List who broadcasts what in a round: the packets of ranks low..high-1, each from every node that holds it.

    Rows of `out`: position in the line, cell of the line's node at digit 0, packet, first and last position that
    has the packet already.
    """
    n = 0
    for r in range(low, high):
        s = origin[r]
        begin = r - low
        at = begin // place
        came = s // place % side
        for y in range(begin, nodes.size, above):
            out[0, n] = at
            out[1, n] = nodes[y - at * place] * width + first_cell
            out[2, n] = packet[r]
            passed = y // above == s // above
            out[3, n] = min(came, at) if passed else side
            out[4, n] = max(came, at) if passed else -1
            n += 1
    return n


@njit(cache=True, nogil=True, small=100_000)
def _rounds(slot, link, packet, at, first_slot, slots, halves, node, size, origin, ranked, fields, width, links):
    """Run one subphase of broadcasts along lines or rings in rounds, for all classes together.

    `fields` has one row a class: side, wraps, place of the digit, place above it, stride of a step in cells,
    first cell of the digit, slots of a round. Returns the row after the last one written.
    """
    classes, count = node.shape
    sources = np.empty((classes, 5, count), np.int32)
    listed = np.zeros(classes, np.int64)
    for t in range(slots):
        for c in range(classes):
            side, wraps, place, above = fields[c, 0], fields[c, 1], fields[c, 2], fields[c, 3]
            stride, first_cell, length = fields[c, 4], fields[c, 5], fields[c, 6]
            w = t // length
            k = t - w * length
            if k == 0:
                low = w * above
                high = min(low + above, size[c])
                listed[c] = _sources(
                    low, high, node[c], origin[c], ranked[c], side, place, above, stride, first_cell, width, sources[c]
                )
            half_up, half_down, reach_up, reach_down = 0, 0, side - 1, side - 1
            if wraps and halves == 2:
                half_down = 1
            elif wraps:
                reach_up, reach_down = side // 2, (side - 1) // 2
            elif k >= side - 1:
                half_up, half_down = 1, 1
                k -= side - 1
            for i in range(listed[c]):
                at_line = sources[c, 0, i]
                from_held, to_held = sources[c, 3, i], sources[c, 4, i]
                up = at_line + k + 1
                if k < reach_up and (wraps or up < side):
                    v = up - side if up >= side else up
                    if v < from_held or v > to_held:
                        u = v - 1 if v > 0 else side - 1
                        slot[at] = first_slot + t
                        link[at] = links[sources[c, 1, i] + u * stride]
                        packet[at] = sources[c, 2, i] + half_up
                        at += 1
                down = at_line - k - 1
                if k < reach_down and (wraps or down >= 0):
                    v = down + side if down < 0 else down
                    if v < from_held or v > to_held:
                        u = v + 1 if v < side - 1 else 0
                        slot[at] = first_slot + t
                        link[at] = links[sources[c, 1, i] + u * stride + 1]
                        packet[at] = sources[c, 2, i] + half_down
                        at += 1
    return at


@njit(cache=True, nogil=True, small=100_000)
def _insert(slot, link, packet, first, release, reach, parts, links):
    """Broadcast along a line or ring: pass on what came in the slot before, else insert a message of one's own.

    Messages ``first[u]..first[u+1]-1`` are those of node u, in their order; message m makes ``reach[w, m]`` hops in way
    w (0 up, 1 down), its first one in slot ``release[m]`` at the earliest. With 2 parts, part w goes way w. Links are
    ``links[u, w]``. Fills the columns, which must have a row for each hop.
    """
    nodes = first.size - 1
    waiting = np.empty((2, nodes), np.int64)
    for u in range(nodes):
        waiting[0, u] = waiting[1, u] = first[u]
    passing, arriving = np.empty((2, nodes), np.int64), np.empty((2, nodes), np.int64)  # message of a packet, -1: none
    left, still = np.zeros((2, nodes), np.int64), np.zeros((2, nodes), np.int64)  # hops that it has to go
    passing[:, :] = -1
    at, t = 0, 0
    while at < slot.size:
        arriving[:, :] = -1
        for way in range(2):
            for u in range(nodes):
                m, hops = passing[way, u], left[way, u]
                if m < 0:
                    k = waiting[way, u]
                    while k < first[u + 1] and reach[way, k] == 0:
                        k += 1
                    waiting[way, u] = k
                    if k == first[u + 1] or release[k] > t:
                        continue
                    waiting[way, u] = k + 1
                    m, hops = k, reach[way, k]
                slot[at] = t
                link[at] = links[u, way]
                packet[at] = m * parts + (way if parts == 2 else 0)
                at += 1
                if hops > 1:
                    v = (u + 1 - 2 * way) % nodes
                    arriving[way, v], still[way, v] = m, hops - 1
        passing, arriving = arriving, passing
        left, still = still, left
        t += 1


@njit(cache=True, nogil=True)
def _heaviest_hops(right, left, slot, link, packet):
    """Fill the columns slot by slot; `right` and `left` int32[n] are the links of each node, -1 where there is none."""
    n = right.size
    rest = np.zeros((2, n), np.int64)  # still to be sent to the left and to the right
    queue = np.empty((2, n, n), np.int32)  # the messages that came for each direction, and from where on they wait
    head, tail = np.zeros((2, n), np.int64), np.zeros((2, n), np.int64)
    for i in range(n):
        rest[0, i] = n - i if i > 0 else 0
        rest[1, i] = i + 1 if i < n - 1 else 0
        for way in range(2):
            queue[way, i, 0], tail[way, i] = i, 1
    best, weight = np.zeros(n + 4, np.int64), np.zeros(n + 4, np.int64)
    moves = np.empty((n, 2), np.int64)
    rows, t, left_over = 0, 0, n * (n - 1)
    while left_over:
        began = rows
        for parity in range(2):
            # hops in the order left, right of senders parity, parity + 2, ...: neighbors in it share a node
            count = 0
            for i in range(parity, n, 2):
                for way in range(2):
                    weight[count] = rest[way, i] if head[way, i] < tail[way, i] else 0
                    best[count + 2] = max(best[count + 1], best[count] + weight[count])
                    count += 1
            e = count - 1
            while e >= 0:
                if weight[e] > 0 and best[e] + weight[e] > best[e + 1]:
                    i, way = parity + 2 * (e // 2), e % 2
                    slot[rows], link[rows] = t, right[i] if way else left[i]
                    packet[rows] = queue[way, i, head[way, i]]
                    moves[rows - began, 0], moves[rows - began, 1] = i, way
                    rows += 1
                    e -= 2
                else:
                    e -= 1
        for row in range(began, rows):
            i, way = moves[row - began, 0], moves[row - began, 1]
            j = i + 1 if way else i - 1
            head[way, i] += 1
            rest[way, i] -= 1
            queue[way, j, tail[way, j]] = packet[row]
            tail[way, j] += 1
        left_over -= rows - began
        t += 1


# Broadcasts along lines and rings in rounds, and the broadcast phase of algorithm A_0 made of them.
#
# In round w every node that still has a w-th packet broadcasts it along its line or ring. At most one packet a node
# never makes another one wait, so a round takes p-1 steps on a line of p nodes, floor(p/2) on a ring (floor(p/2) hops
# up, ceil(p/2)-1 down), and (p-1)/2 on a ring whose packets are cut in halves, one for each direction. The insertion
# rule of Varvarigos and Bertsekas 1994, Theorem 2, can take longer on a ring than the rounds that Lemma 1 counts
# (erratum X3).


def round_slots(side: int, wraps: bool, halves: int = 1) -> int:
    """Return the slots of a round on a line or ring, in which every node broadcasts a packet, or both halves of one.

    `side`: nodes of the line or ring, at least 2. `wraps`: whether it is a ring. `halves`: 1, or 2 for packets cut in
    halves, of which each takes a slot to cross a link. On a ring one half goes up and one down; on a line the second
    half follows when the first has arrived everywhere.

    >>> round_slots(5, False), round_slots(5, True), round_slots(6, True), round_slots(6, True, halves=2)
    (4, 2, 3, 5)
    """
    if not wraps:
        return halves * (side - 1)
    return side // 2 if halves == 1 else side - 1


def subphase_slots(rotations: Sequence[Rotation], packets: int, halves: int = 1) -> list[int]:
    """Return the slots of subphases 1..d of the broadcast phase, common to all classes.

    `rotations`: of the classes that run together. `packets`: packets of the largest class, M or M'. `halves`: as for
    `round_slots`.

    Returns: for subphase l the longest, over the classes, of ``ceil(packets / places[d-l+1])`` rounds along digit d-l.
    Classes that went on by themselves could meet in a dimension (erratum X5).

    Source: Varvarigos and Bertsekas 1994, Lemma 1.
    """
    d = len(rotations[0].sides) if rotations else 0
    return [
        max(-(-packets // r.places[k + 1]) * round_slots(r.sides[k], r.wraps[k], halves) for r in rotations)
        for k in reversed(range(d))
    ]


def write_rounds(
    columns: Columns,
    at: int,
    first_slot: int,
    classes: Sequence[RotatedClass],
    links: IntArray,
    slots: Sequence[int],
    halves: int = 1,
) -> int:
    """Write the hops of the broadcast phase of all classes together, sorted by slot.

    Subphase l = 1..d uses digit d-l, the most significant first. Before it, the node of name y holds the packets whose
    ranks agree with y in digits 0..d-l; in its round w it broadcasts the w-th of them, of rank
    ``y mod places[d-l+1] + w * places[d-l+1]``. Nodes that the packet passed on its way in the packing phase
    are left out.

    `columns`, `at`, `first_slot`, `classes`, `links`: as for `write_packing`, which must have put the packet of rank r
    of each class at its node of name r. `slots`: slots of each subphase, from `subphase_slots`. `halves`: as for
    `round_slots`.

    Returns: the row after the last one written.

    Time linear in the hops.

    Source: Varvarigos and Bertsekas 1994, section 3.1, phase 3, and Theorem 5.
    """
    node, size, origin, packet = stacked(classes)
    width = links.shape[1] * 2
    for turn, length in enumerate(slots):
        fields = []
        for r in (each.rotation for each in classes):
            k = r.dimensions - 1 - turn
            rounds = round_slots(r.sides[k], r.wraps[k], halves)
            fields.append(
                (r.sides[k], r.wraps[k], r.places[k], r.places[k + 1], r.strides[k] * width, 2 * r.columns[k], rounds)
            )
        at = _rounds(
            *columns, at, first_slot, length, halves, node, size, origin, packet, np.array(fields, np.int64),
            width, links.reshape(-1),
        )  # fmt: skip
        first_slot += length
    return int(at)


# Multinode broadcast on a linear array with one port: in every slot the hops with most left to be sent behind them.
#
# A node i of n sends i+1 messages to the right and n-i to the left, n+1 in all, and receives one packet a slot. In
# every slot the hops are chosen that weigh most together, a hop from i to a neighbor weighing as much as node i has
# still to send that way, among hops of which no two leave or enter one node. Such choices are matchings of senders with
# receivers, and these form two paths, so a pass along each finds the heaviest.


def heaviest_direction(case: Case) -> Schedule:
    """Broadcast from every node of a linear array when nodes send and receive one packet a slot.

    Parameters
    ----------
    case : Case
        A multinode broadcast on a linear array of n nodes, 3 or more, with one port.

    Returns
    -------
    Schedule
        In which a node passes messages of each direction on in the order in which they came.

    Notes
    -----
    ``ceil(3n/2) - 1`` steps, which no schedule beats, for every n tried, 3 to 200; why it is always that is not proved.
    The bound: one of the middle nodes makes n+1 transmissions, the last of them not before step n+1, and what it sends
    then has ``ceil(n/2) - 2`` hops or more to go. O(n**2) time and memory.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:12"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    >>> heaviest_direction(case).completion_time
    Fraction(17, 1)
    """
    network = case.network
    n = network.node_count
    right, left = (np.full(n, -1, np.int32) for _ in range(2))  # the link of each node either way
    up = network.link_target > network.link_source
    for side, ahead in ((right, up), (left, ~up)):
        side[network.link_source[ahead]] = np.flatnonzero(ahead)
    columns = [np.empty(n * (n - 1), np.int32) for _ in range(3)]
    _heaviest_hops(right, left, *columns)
    return Schedule.of(case, *columns)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid, n = case.network.grid, case.network.node_count
    if grid is None or any(grid.wraps) or max(grid.sides, default=1) != n or n < 3:
        return Refusal("needs a linear array of at least 3 nodes")
    if case.rules.ports == "all":
        return Refusal("is for one-port nodes")
    refusal = first_refusal(refuse_buffers(case.rules), refuse_hops(n * (n - 1)))
    return refusal or Offer(lambda: heaviest_direction(case), least=Fraction(-(-3 * n // 2) - 1))


HEAVIEST_DIRECTION = Algorithm(
    name="heaviest-direction",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="linear arrays",
    source="gossamer",
    summary="with one port, the hops that have most left to be sent behind them",
)


def insertion(case: Case) -> Schedule:
    """Build several broadcasts on a line or ring by the insertion rule.

    Messages travel along the line, or in both directions of the ring, without ever being held up: what came in one
    slot goes on in the next. Only where nothing came does a node insert one of its own messages. So a link idles only
    if nobody behind it has anything left to send.

    Parameters
    ----------
    case : Case
        A multiple broadcast of K messages, at most W of one node, with all ports on a linear array or ring of p nodes;
        dimensions of side 1 do not count. On a ring, messages are cut in halves if they may be split.

    Returns
    -------
    Schedule
        Of one phase, ``insertion``; its time is at most `insertion_bound`.

    Notes
    -----
    Whole messages on a ring of even p go p/2 hops one way and p/2 - 1 the other, by turns. Time and memory linear in
    the K(p-1) hops (twice that with halves) and in p for each slot.

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 2.

    Examples
    --------
    >>> import gossamer
    >>> task = MultipleBroadcast([2, 0, 1, 3])
    >>> insertion(Case(gossamer.network("array:4"), task)).completion_time
    Fraction(5, 1)
    >>> insertion(Case(gossamer.network("ring:4"), task, gossamer.Rules(segmented=True))).completion_time
    Fraction(4, 1)
    """
    return _schedule(case, in_rounds=False)


def rounds(case: Case) -> Schedule:
    """Build several broadcasts on a line or ring in rounds, in which every node broadcasts at most one message.

    In each round every node broadcasts one of its messages, all at the same time: each sends its own first and then
    passes on what comes, along the line or in both directions of the ring. After a round everybody has one more message
    of everybody, and the next round begins.

    Parameters
    ----------
    case : Case
        As for `insertion`.

    Returns
    -------
    Schedule
        Of one phase, ``rounds``; its time is `rounds_time`.

    References
    ----------
    Varvarigos and Bertsekas 1994, remark after Theorem 2 and Lemma 1; errata X2 and X3.

    Examples
    --------
    >>> import gossamer
    >>> task = MultipleBroadcast([0, 2, 2])
    >>> rounds(Case(gossamer.network("ring:3"), task, gossamer.Rules(segmented=True))).completion_time
    Fraction(2, 1)
    """
    return _schedule(case, in_rounds=True)


def _schedule(case: Case, in_rounds: bool) -> Schedule:

    name = "rounds" if in_rounds else "insertion"
    p, wraps, parts, messages = _line(case)
    counts = np.array(messages, np.int64)
    if p == 1:
        return Schedule.of(case, [], [], [], phases=[Phase(name, 0)])
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # Step 1: number the messages of each node; in rounds the next one begins when the one before is everywhere
    place = np.repeat(np.arange(p, dtype=np.int64), counts)
    turn = np.arange(place.size) - first[place]  # message j of its node
    if not wraps:
        # Step 2: how far each message goes either way: to both ends, or round half of the ring
        reach = np.stack([p - 1 - place, place])
    elif parts == 2:
        reach = np.full((2, place.size), p - 1)
    else:
        swapped = np.zeros_like(turn) if in_rounds else turn % 2
        reach = np.where(np.stack([swapped, 1 - swapped]) == 0, p // 2, (p - 1) // 2)
    length = round_slots(p, wraps, parts)
    release = turn * length if in_rounds else np.zeros_like(turn)
    columns = tuple(np.empty(int(reach.sum()), np.int32) for _ in range(3))
    # Step 3: a node passes on what came in the slot before, and inserts one of its own where nothing came
    _insert(*columns, first, release, reach.astype(np.int64), parts, links_along(case.network)[:, 0])
    slots = int(columns[0][-1]) + 1 if columns[0].size else 0
    if in_rounds:
        slots = int(counts.max()) * length
    return Schedule.of(case, *columns, parts=parts, phases=[Phase(name, slots, Fraction(1, parts))])


def insertion_bound(p: int, wraps: bool, counts: tuple[int, ...], halves: bool = True) -> Fraction:
    """Return an upper bound on the time of the insertion rule, in steps.

    `p`: nodes. `wraps`: whether they form a ring, of at least 3 nodes. `counts`: messages of each node: K in all, at
    most W of one. `halves`: whether messages are cut in halves on a ring.

    Line: ``min(K+p-2, W(p-1))``. Ring: ``(K+p-2)/2`` with halves, else ``K-1 + floor(p/2)``. The printed bounds,
    ``K+p-1`` and half of it, hold but are not tight (erratum X8).

    Source: Varvarigos and Bertsekas 1994, Theorem 2.

    >>> insertion_bound(4, False, (2, 0, 1, 3)), insertion_bound(4, True, (2, 0, 1, 3))
    (Fraction(8, 1), Fraction(4, 1))
    """
    K, W = sum(counts), max(counts, default=0)
    if p == 1 or not K:
        return Fraction(0)
    if not wraps:
        return Fraction(min(K + p - 2, W * (p - 1)))
    return Fraction(K + p - 2, 2) if halves else Fraction(K - 1 + p // 2)


def rounds_time(p: int, wraps: bool, counts: tuple[int, ...], halves: bool = True) -> Fraction:
    """Return the exact time of the rounds, in steps.

    `p`, `wraps`, `counts`, `halves`: as for `insertion_bound`.

    Line: ``W(p-1)``. Ring: ``W(p-1)/2`` with halves, else ``W floor(p/2)``.

    Source: Varvarigos and Bertsekas 1994, remark after Theorem 2; erratum X2.

    >>> rounds_time(5, True, (1,) * 5), rounds_time(5, True, (1,) * 5, halves=False), rounds_time(5, False, (1,) * 5)
    (Fraction(2, 1), Fraction(2, 1), Fraction(4, 1))
    """
    if p == 1:
        return Fraction(0)
    parts = 2 if wraps and halves else 1
    return Fraction(max(counts, default=0) * round_slots(p, wraps, parts), parts)


class _LineCase(NamedTuple):
    """The number of nodes, whether they form a ring, the parts of a message, and the messages of each node."""

    nodes: int
    wraps: bool
    parts: int
    counts: tuple[int, ...]


def _line(case: Case) -> _LineCase:
    if not isinstance(case.task, MultipleBroadcast):
        raise TaskError(f"this carries out {MultipleBroadcast.name}, not {case.task.name}")
    grid = case.network.grid
    wraps = grid is not None and any(grid.wraps)
    return _LineCase(case.network.node_count, wraps, 1 if case.whole or not wraps else 2, case.task.counts)


def _proposing(
    builder: Callable[[Case], Schedule], time: Callable[..., Fraction], at_most: bool
) -> Callable[[Case], Offer[Schedule] | Refusal]:
    """Return the `propose` of an algorithm for lines and rings that takes `time`, or at most that."""

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        grid = case.network.grid
        if grid is None or sum(side > 1 for side in grid.sides) > 1:
            return Refusal("needs a linear array or a ring")
        p, wraps, parts, counts = _line(case)
        promised = time(p, wraps, counts, halves=parts == 2)
        refusal = refuse_ports(case.rules) or refuse_hops(sum(counts) * (p - 1) * parts)
        return refusal or Offer(lambda: builder(case), promised, at_most)

    return propose


MULTIPLE_BROADCAST = (
    Algorithm(
        name="insertion",
        tasks=(MultipleBroadcast,),
        propose=_proposing(insertion, insertion_bound, at_most=True),
        networks="linear arrays and rings",
        source="Varvarigos and Bertsekas 1994, Theorem 2",
        summary="passes on what arrived in the slot before, and inserts a message where nothing did",
    ),
    Algorithm(
        name="rounds",
        tasks=(MultipleBroadcast,),
        propose=_proposing(rounds, rounds_time, at_most=False),
        networks="linear arrays and rings",
        source="Varvarigos and Bertsekas 1994, remark after Theorem 2",
        summary="one message of each node after the other, all nodes at once",
    ),
)
