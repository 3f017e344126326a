"""Scatter down a shortest-path tree, the furthest destinations first, on any network and with any ports."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_send_limit
from gossamer.algorithms.broadcast.binomial_and_product_trees import extended_ring_tree, reach
from gossamer.graphs.trees import RootedTree, path_hops, pruned, search_terminals, shortest_path_tree, unreachable
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True, small=100_000)
def balance(order, distance, first, link, link_source, terminals, rate, parent_link, branch):
    """Choose a parent for each node so that the branches at the root have few terminals; see `balanced_tree`.

    `order` is breadth-first. Node v may be reached by ``link[first[v]:first[v+1]]``. `rate` int64[branches] is the
    capacity of the root's links. `branch` int32[N] must hold the branches of the nodes at distance 1, -1 elsewhere.
    """
    branches = rate.size
    size = np.zeros(branches, np.int64)
    stamp = np.full(branches, -1, np.int64)
    options = np.zeros(order.size, np.int64)
    room = np.zeros(branches + 2, np.int64)
    turn = np.empty(order.size, np.int32)
    a = 1
    while a < order.size:
        b = a
        room[:] = 0
        while b < order.size and distance[order[b]] == distance[order[a]]:
            v = order[b]
            if branch[v] < 0:
                for i in range(first[v], first[v + 1]):
                    c = branch[link_source[link[i]]]
                    if stamp[c] != v:
                        stamp[c] = v
                        options[b] += 1
            room[options[b] + 1] += 1
            b += 1
        for k in range(1, branches + 2):
            room[k] += room[k - 1]
        for i in range(a, b):  # fewest options first
            turn[a + room[options[i]]] = order[i]
            room[options[i]] += 1
        for i in range(a, b):
            v = turn[i]
            if branch[v] < 0:
                for k in range(first[v], first[v + 1]):
                    c = branch[link_source[link[k]]]
                    if branch[v] < 0 or size[c] * rate[branch[v]] < size[branch[v]] * rate[c]:
                        branch[v] = c
                        parent_link[v] = link[k]
            if v < terminals:
                size[branch[v]] += 1
        a = b


@njit(cache=True, nogil=True, small=100_000)
def branch_rates(order, parent_link, link_source, link_capacity, branch, rate):
    """Fill `branch` int32[N] of every node of a tree and lower `rate` to the least capacity in each branch.

    `order` holds each node after its parent; the i-th link of the root is branch i.
    """
    root = order[0]
    branch[root] = -1
    for i in range(1, order.size):
        v = order[i]
        u = link_source[parent_link[v]]
        if u != root:
            branch[v] = branch[u]
        rate[branch[v]] = min(rate[branch[v]], link_capacity[parent_link[v]])


@njit(cache=True, nogil=True, small=100_000)
def load_paths(destination, depth, start, horizon, parent_link, link_source, flow, arrival):
    """Put those packets of a tree that arrive by `horizon` into `flow` [slots, L] and `arrival` int32[N].

    Packet i leaves the root in slot start[i] and never waits. Returns how many packets are left out.
    """
    late = 0
    for i in range(destination.size):
        t = start[i] + depth[i]
        if t > horizon:
            late += 1
            continue
        v = destination[i]
        arrival[v] = t
        while parent_link[v] >= 0:
            t -= 1
            flow[t, parent_link[v]] += 1
            v = link_source[parent_link[v]]
    return late


@njit(cache=True, nogil=True, small=100_000)
def augment(
    horizon, root, terminals, first_link, link_source, link_target, link_capacity, into_first, into_link,
    flow, arrival, came, stamp, queue, turn,
):  # fmt: skip
    """Find one more packet room within `horizon` slots by an augmenting path; return whether there was one.

    State (t, v) is being at node v after t slots. Packets never wait, so flow is conserved at every state but those
    of the root and those where a packet ends. `came` holds how a state was reached: by link e (e), by taking back
    link e (L+e), by ending an earlier packet of v somewhere else (2L + its new arrival), or from the root (-1).
    `stamp` marks the states seen in this `turn`, and so the min cut when the answer is no.
    """
    nodes, links = arrival.size, link_source.size
    tail = 0
    for t in range(horizon - 1, -1, -1):
        came[t, root] = -1
        stamp[t, root] = turn
        queue[tail] = t * nodes + root
        tail += 1
    head = 0
    while head < tail:
        t, v = divmod(queue[head], nodes)
        head += 1
        if v < terminals and v != root:
            if arrival[v] < 0:
                arrival[v] = t
                while came[t, v] >= 0:
                    code = came[t, v]
                    if code < links:
                        t -= 1
                        flow[t, code] += 1
                        v = link_source[code]
                    elif code < 2 * links:
                        flow[t, code - links] -= 1
                        t += 1
                        v = link_target[code - links]
                    else:
                        t = code - 2 * links
                        arrival[v] = t
                return True
            other = arrival[v]
            if stamp[other, v] != turn:
                stamp[other, v] = turn
                came[other, v] = 2 * links + t
                queue[tail] = other * nodes + v
                tail += 1
        if t < horizon:
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if stamp[t + 1, w] != turn and w != root and flow[t, e] < link_capacity[e]:
                    stamp[t + 1, w] = turn
                    came[t + 1, w] = e
                    queue[tail] = (t + 1) * nodes + w
                    tail += 1
        if t > 0 and v != root:
            for i in range(into_first[v], into_first[v + 1]):
                e = into_link[i]
                w = link_source[e]
                if stamp[t - 1, w] != turn and flow[t - 1, e] > 0:
                    stamp[t - 1, w] = turn
                    came[t - 1, w] = links + e
                    queue[tail] = (t - 1) * nodes + w
                    tail += 1
    return False


@njit(cache=True, nogil=True, small=100_000)
def separate(root, destination, into_first, into_link, link_source, flow, arrival, slot, link, packet):
    """Take `flow` apart into one path a packet, without the loops, and return the number of hops written."""
    place = np.full(arrival.size, -1, np.int64)
    path = np.empty(flow.shape[0] + 1, np.int64)
    rows = 0
    for p in range(destination.size):
        v = destination[p]
        t = arrival[v]
        first = rows
        path[0] = v
        place[v] = rows
        while v != root:
            t -= 1
            for i in range(into_first[v], into_first[v + 1]):
                e = into_link[i]
                if flow[t, e] > 0:
                    flow[t, e] -= 1
                    slot[rows], link[rows], packet[rows] = t, e, p
                    v = link_source[e]
                    break
            if place[v] >= 0:  # been here later: wait instead of going round
                for k in range(place[v] + 1 - first, rows + 1 - first):
                    place[path[k]] = -1
                rows = place[v]
            else:
                rows += 1
                place[v] = rows
                path[rows - first] = v
        for k in range(rows - first + 1):
            place[path[k]] = -1
    return rows


def root_of(case: Case) -> int:
    """Return the root of a scatter."""
    return cast(Scatter, case.task).root


def balanced_tree(network: Network, root: int, single: bool = False) -> RootedTree:
    """Return a shortest-path tree whose branches at the root hold about equally many terminals.

    `single`: whether every link carries one packet a slot, whatever its capacity.

    Returns: every depth is the distance from the root; branches without a terminal are left out.

    Raises NetworkError if a terminal cannot be reached.

    Nodes choose in the order of their distances and, within a distance, those first whose possible parents lie in the
    fewest branches. Each joins the branch with the fewest terminals so far for its capacity. A heuristic: the
    most balanced tree may be better. O(N + L log L) time.

    >>> import gossamer
    >>> tree = balanced_tree(gossamer.network("ring:6"), 0)
    >>> tree.parent_link.tolist(), tree.depth.tolist()
    ([-1, 0, 2, 4, 11, 1], [0, 1, 2, 3, 2, 1])
    """
    distance, parent_link, order = search_terminals(network, root)
    source, target = network.link_source, network.link_target
    near = np.flatnonzero((distance[source] >= 0) & (distance[source] + 1 == distance[target])).astype(np.int32)
    near = near[np.argsort(target[near], kind="stable")]
    first = np.zeros(network.node_count + 1, np.int64)
    np.cumsum(np.bincount(target[near], minlength=network.node_count), out=first[1:])
    branch, rate = _branches(network, root)
    rate = np.ones_like(rate) if single else rate
    balance(order, distance, first, near, source, network.terminal_count, rate, parent_link, branch)
    return pruned(RootedTree(network, root, parent_link, distance, order))


def _branches(network: Network, root: int) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """Return the branch of each neighbor of the root, -1 elsewhere, and the capacity of the link into each branch."""
    links = slice(*network.first_link[root : root + 2].tolist())
    branch = np.full(network.node_count, -1, np.int32)
    branch[network.link_target[links]] = np.arange(links.stop - links.start)
    return branch, network.link_capacity[links].astype(np.int64)


def departures(tree: RootedTree, rules: Rules) -> npt.NDArray[np.int64]:
    """Return the slot in which the packet of each destination leaves the root, int64[n-1].

    Packets leave furthest first: one a slot where a node sends no more, else one a slot into each branch where a node
    receives no more, else as many a slot into each branch as every link of the branch can carry.
    """
    to = tree.destinations
    start = np.empty(to.size, np.int64)
    nearness = -tree.depth[to]
    if rules.send_limited:
        start[np.argsort(nearness, kind="stable")] = np.arange(to.size)
        return start
    network = tree.network
    branch, rate = _branches(network, tree.root)
    branch_rates(tree.order, tree.parent_link, network.link_source, network.link_capacity, branch, rate)
    rate = np.ones_like(rate) if rules.receive_limited else rate
    order = np.lexsort((nearness, branch[to]))
    sizes = np.bincount(branch[to], minlength=rate.size)
    place = np.arange(to.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start[order] = place // np.repeat(rate, sizes)
    return start


def furthest_first_scatter(case: Case) -> Schedule:
    """Send the messages down a shortest-path tree, those with the longest way first; nobody else ever waits.

    The root has a message for every node, and its own links are the bottleneck: all messages must get out through
    them. It never lets such a link idle, and the messages that have the longest way to go leave first. Those behind
    have shorter ways, so nobody ever waits on the way, and the last messages leave for nodes next door.

    Parameters
    ----------
    case : Case
        A scatter on any network in which the root reaches every terminal. Where a node may send on all links the root
        serves all branches of a balanced tree at once, else one packet a slot.

    Returns
    -------
    Schedule
        As many hops as the sum of the distances from the root.

    Notes
    -----
    A packet that leaves the root in slot s (from 0) for a destination at depth p arrives in slot ``s + p - 1``, so the
    time is ``max (s + p)`` over all packets. One port: that is ``max_r (R_r + r - 1)`` with R_r terminals at
    distance r or more, optimal for whole messages on every network, and n-1 when all n nodes are terminals. All
    ports: the size of the largest branch at the root, or more where a branch is deep and small. Two packets never
    meet on a link, because they come through the same link of the root in different slots; a branch whose links all
    have capacity c carries c at a time, or one where a node receives no more. No node holds more than one packet in
    transit for each unit of capacity of its branch.
    Time O(hops + N + L log L).

    References
    ----------
    Dimakopoulos 1996, Theorems 3.6 and 3.7.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:8x8"), gossamer.task("scatter"))
    >>> furthest_first_scatter(case).completion_time
    Fraction(16, 1)
    >>> furthest_first_scatter(case.related(rules=Rules(ports="one"))).completion_time
    Fraction(63, 1)
    """
    # Step 1: a tree of shortest paths whose branches at the root are as equal as can be
    tree = _tree(case)
    # Step 2: sort the messages of each branch by distance, the furthest first, and send one after the other
    # Step 3: every message moves in every slot from then on, along the tree
    return scatter_down(tree, case)


def scatter_down(tree: RootedTree, case: Case) -> Schedule:
    """Return the furthest-first scatter down a given tree."""
    slot, link, packet = path_hops(tree, tree.destinations, case.once(departures, tree, case.rules))
    return Schedule.of(case, slot, link, packet)


def tree_time(tree: RootedTree, case: Case) -> int:
    """Return the time of the furthest-first scatter down a given tree."""
    return int((case.once(departures, tree, case.rules) + tree.depth[tree.destinations]).max(initial=0))


def _tree(case: Case) -> RootedTree:
    if case.send_limited:
        return case.once(shortest_path_tree, case.network, root_of(case))
    return case.once(balanced_tree, case.network, root_of(case), case.receive_limited)


def refuse_root(case: Case) -> Refusal | None:
    """Refuse where buffers count everything and the root cannot hold its messages, or not."""
    own, rules = case.network.terminal_count - 1, case.rules
    if rules.buffer is not None and rules.buffer_counts == "all" and rules.buffer < own:
        return Refusal(f"needs room for the {own} messages of the root")
    return None


def refuse_unreachable(case: Case) -> Refusal | None:
    """Refuse where the root finds no path to a terminal, or not."""
    lost = case.once(unreachable, case.network, root_of(case))
    return None if lost is None else Refusal(f"finds no path from the root to node {case.network.node_name(lost)}")


def _refuse_transit(case: Case) -> Refusal | None:
    """Refuse where more packets at once come through a link of the root than a node has room for, or not."""
    if case.rules.buffer is None or case.network.terminal_count == 1 or case.limited:
        return None
    links = case.network.out_links(root_of(case))
    widest = int(case.network.link_capacity[links.start : links.stop].max(initial=1))
    return Refusal(f"may hold {widest} packets in transit at a node") if case.rules.buffer < widest else None


def _width(case: Case) -> int:
    """Return how many packets the root can send a slot."""
    links = case.network.out_links(root_of(case))
    return 1 if case.send_limited else int(case.link_capacity[links.start : links.stop].sum())


def least_time(case: Case) -> int:
    """Return ``max_r (r - 1 + ceil(R_r / c))``: R_r terminals are at least r hops from a root that sends c a slot.

    >>> import gossamer
    >>> case = Case(gossamer.network("torus:8x8"), gossamer.task("scatter"))
    >>> least_time(case), least_time(case.related(rules=Rules(ports="one")))
    (16, 63)
    """
    network, root = case.network, root_of(case)
    at_distance = np.bincount(np.delete(network.distances(root)[: network.terminal_count], root))
    farther = np.cumsum(at_distance[::-1])[::-1][1:]
    return int((np.arange(farther.size) - (-farther // max(_width(case), 1))).max(initial=0))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_unreachable(case), refuse_root(case), _refuse_transit(case))
    if refusal is not None:
        return refusal
    time = tree_time(_tree(case), case)
    busy = time * _width(case) == case.network.terminal_count - 1  # no link of the root is ever idle
    optimal = busy or (case.whole and time == least_time(case))
    return Offer(lambda: furthest_first_scatter(case), Fraction(time), optimal=optimal)


FURTHEST_FIRST = Algorithm(
    name="furthest-first",
    tasks=(Scatter,),
    propose=_propose,
    networks="any in which the root reaches every node",
    source="Dimakopoulos 1996, Theorems 3.6 and 3.7",
    summary="down a shortest-path tree, the longest way first; with all ports the branches are balanced",
)


# Down the paths of the broadcast tree of an extended ring.


def extended_ring_scatter(case: Case) -> Schedule:
    """Send the messages down the paths of the extended ring's tree, the furthest first.

    Parameters
    ----------
    case : Case
        A scatter on an extended ring E_n^rho, rings and complete networks being some, where a node may send on all
        links at once.

    Notes
    -----
    ``ceil(floor(n/2)/rho) = ceil((n-1)/degree)`` steps, which is optimal. No node holds more than one packet in
    transit.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.8.

    Examples
    --------
    >>> import gossamer
    >>> extended_ring_scatter(Case(gossamer.network("extended-ring:14,2"), gossamer.task("scatter"))).completion_time
    Fraction(4, 1)
    """
    return scatter_down(extended_ring_tree(case.network, root_of(case)), case)


def _propose_extended_ring(case: Case) -> Offer[Schedule] | Refusal:
    if case.once(reach, case.network) is None:
        return Refusal("needs an extended ring")
    refusal = first_refusal(refuse_send_limit(case.rules), refuse_buffers(case.rules, held=1), refuse_root(case))
    if refusal is not None:
        return refusal
    others, degree = case.network.node_count - 1, case.network.degree
    time = Fraction(-(-others // degree))
    return Offer(lambda: extended_ring_scatter(case), time, optimal=case.whole or others % degree == 0)


EXTENDED_RING_PATHS = Algorithm(
    name="extended-ring-paths",
    tasks=(Scatter,),
    propose=_propose_extended_ring,
    networks="extended rings, rings and complete networks",
    source="Dimakopoulos 1996, Theorem 3.8",
    summary="down paths of nearly equal lengths, the furthest first",
)
