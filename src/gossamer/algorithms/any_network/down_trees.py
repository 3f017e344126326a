"""Broadcast of a message in several packets down trees that share no arc, on any plain network.

Each tree gets its share of the packets, one after the other. What is deep in one tree gets the last packets of it by
links of other trees that have nothing left to send, so that not the deepest node of a tree counts, but the node whose
levels in all trees together are most.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.graphs.hops import leads_on
from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast, Chunked
from gossamer.schedules import Phase, Schedule

__all__ = ["DOWN_TREES", "MOST_TREES", "Arcs", "DisjointTrees", "Hops", "disjoint_trees", "down_trees", "pipelined"]


@njit(cache=True, nogil=True)
def _feeds(v, here, lacking, tail, head, first_in, into, first_out, out, taken, flow, entry, by, seen, queue, stamp):
    """Return whether every tree of `lacking` can still get to node v, over arcs that no other of them needs.

    A flow of a unit for each such tree, from any of its nodes. `flow`, `entry` (the node from which each tree comes)
    and `by` are room for it; `seen` holds the number of the search, which is returned too.
    """
    trees = entry.size
    touched = np.empty(flow.size, np.int64)
    count = 0
    fine = True
    for j in range(trees):
        entry[j] = -1
    for goal in range(trees):
        if not lacking >> goal & 1:
            continue
        # backwards from v to a node of a tree that sends nothing yet
        stamp += 1
        queue[0], seen[v] = v, stamp
        low, high, found, source = 0, 1, -1, -1
        visited = 0  # trees
        while low < high and found < 0:
            x = queue[low]
            low += 1
            reach = here[x] & lacking & ~visited
            j = 0
            while reach >> j:
                if reach >> j & 1:
                    visited |= 1 << j
                    if entry[j] < 0:
                        found, source = x, j
                        break
                    y = entry[j]
                    if seen[y] != stamp:
                        seen[y], by[y] = stamp, -2 - x * trees - j
                        queue[high] = y
                        high += 1
                j += 1
            if found >= 0:
                break
            for i in range(first_in[x], first_in[x + 1]):
                a = into[i]
                y = tail[a]
                if not taken[a] and not flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a
                    queue[high] = y
                    high += 1
            for i in range(first_out[x], first_out[x + 1]):
                a = out[i]
                y = head[a]
                if flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a + 1
                    queue[high] = y
                    high += 1
        if found < 0:
            fine = False
            break
        x = found
        entry[source] = x
        while x != v:
            step = by[x]
            if step <= -2:  # a tree that came in here comes in elsewhere
                code = -2 - step
                x = code // trees
                entry[code % trees] = x
            else:
                a = step >> 1
                flow[a] = not step & 1
                touched[count] = a
                count += 1
                x = tail[a] if step & 1 else head[a]
                if count == touched.size:
                    kept = 0
                    for i in range(count):
                        if flow[touched[i]]:
                            touched[kept] = touched[i]
                            kept += 1
                    count = kept
    for i in range(count):
        flow[touched[i]] = False
    return fine, stamp


@njit(cache=True, nogil=True)
def _packed(root, trees, tail, head, first_in, into, first_out, out, key, parent, depth):
    """Grow trees from a root level by level, and take an arc only if all trees can still be completed.

    Parameters
    ----------
    root, trees : int
        At most 62 trees.
    tail, head : int64[A]
        The arcs.
    first_in, into, first_out, out : int64[N + 1], int64[A]
        The arcs into each node, and out of it.
    key : float64[T, A]
        Of the arcs that can be taken at a level, that with the least key is tried first.
    parent, depth : int64[T, N]
        Written: the arc by which each node comes to each tree, -1 at the root and where there is none; its level.

    Returns
    -------
    bool
        Whether all trees reach all nodes: there are no more of them than arcs must be cut to part a node from the root.
    """
    nodes, arcs = first_in.size - 1, tail.size
    here = np.zeros(nodes, np.int64)
    every = (1 << trees) - 1
    here[root] = every
    parent[:] = -1
    depth[:] = -1
    depth[:, root] = 0
    taken, flow = np.zeros(arcs, np.bool_), np.zeros(arcs, np.bool_)
    entry, by = np.empty(trees, np.int64), np.empty(nodes, np.int64)
    seen, queue = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
    now_tree, now_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    next_tree, next_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    asked, value = np.empty(trees * arcs, np.int64), np.empty(trees * arcs)
    stamp, level, count, reached = 0, 0, trees, trees
    for t in range(trees):
        now_tree[t], now_node[t] = t, root
    while count:
        wanted = 0
        for i in range(count):
            t, u = now_tree[i], now_node[i]
            for j in range(first_out[u], first_out[u + 1]):
                a = out[j]
                if not taken[a] and not here[head[a]] >> t & 1:
                    asked[wanted], value[wanted] = a * trees + t, key[t, a]
                    wanted += 1
        level += 1
        coming = 0
        for i in np.argsort(value[:wanted]):
            a, t = asked[i] // trees, asked[i] % trees
            v = head[a]
            if taken[a] or here[v] >> t & 1:
                continue
            taken[a] = True
            lacking = every & ~(here[v] | 1 << t)
            fine, stamp = _feeds(
                v, here, lacking, tail, head, first_in, into, first_out, out, taken, flow, entry, by, seen, queue, stamp
            )
            if not fine:
                taken[a] = False
                continue
            here[v] |= 1 << t
            parent[t, v], depth[t, v] = a, level
            next_tree[coming], next_node[coming] = t, v
            coming += 1
        reached += coming
        count = coming
        now_tree, next_tree = next_tree, now_tree
        now_node, next_node = next_node, now_node
    return reached == trees * nodes


@njit(cache=True, nogil=True)
def _pipelined(root, terminals, packets, trees, tail, head, tree_of, place, order, slot, arc, packet):
    """Send packets down trees, each tree its own in turn; arcs with nothing to do send on what would come last.

    Parameters
    ----------
    root, terminals, packets, trees : int
        Packet p belongs to tree ``place[p] % trees`` and is sent there in turn ``place[p] // trees``.
    tail, head, tree_of : int64[A]
        Arcs, and the tree of each, -1 for none.
    place : int64[P]
        Ascending turns in each tree.
    order : int64[N, P]
        For each node the packets, what its own tree brings last first.
    slot, arc, packet : int32[N * P]
        Written, by slot.

    Returns
    -------
    (int, int)
        Slots until all terminals have all packets, and hops; 0 slots if nothing more can be sent.
    """
    nodes, arcs = order.shape[0], tail.size
    when = np.full((nodes, packets), 2**31 - 1, np.int64)
    when[root] = 0
    # the packets of each tree in turn
    first = np.zeros(trees + 1, np.int64)
    for p in range(packets):
        first[place[p] % trees + 1] += 1
    for t in range(trees):
        first[t + 1] += first[t]
    mine = np.empty(packets, np.int64)
    filled = first[:-1].copy()
    for p in range(packets):
        t = place[p] % trees
        mine[filled[t]] = p
        filled[t] += 1
    at = np.empty(arcs, np.int64)
    for a in range(arcs):
        at[a] = first[tree_of[a]] if tree_of[a] >= 0 else 0
    lacks = np.full(nodes, packets, np.int64)
    lacks[root] = 0
    left = terminals * packets - (packets if root < terminals else 0)
    busy = np.zeros(arcs, np.int64)
    hops, s = 0, 0
    while left:
        before = hops
        for own in (True, False):
            for a in range(arcs):
                u, v, t = tail[a], head[a], tree_of[a]
                if not lacks[v] or busy[a] > s:
                    continue
                chosen = -1
                if own and t >= 0:
                    while at[a] < first[t + 1] and when[v, mine[at[a]]] < 2**31 - 1:
                        at[a] += 1
                    for i in range(at[a], first[t + 1]):
                        p = mine[i]
                        if when[u, p] <= s and when[v, p] == 2**31 - 1:
                            chosen = p
                            break
                elif not own:
                    for i in range(packets):
                        p = order[v, i]
                        if when[u, p] <= s and when[v, p] == 2**31 - 1:
                            chosen = p
                            break
                if chosen >= 0:
                    when[v, chosen] = s + 1
                    busy[a] = s + 1
                    lacks[v] -= 1
                    left -= v < terminals
                    slot[hops], arc[hops], packet[hops] = s, a, chosen
                    hops += 1
        s += 1
        if hops == before:
            return 0, hops
    return s, hops


# Out-trees of small depth that share no arc, and packets that follow each other down them.
#
# As many trees as arcs must be cut to part some node from the root (J. Edmonds, "Edge-disjoint branchings", 1973). They
# are grown together, level by level; an arc is taken if all trees can still be completed, which one flow to its head
# tells (after L. Lovasz, "On two minimax theorems in graph theory", 1976, for trees begun together).

MOST_TREES = 62

Longs = npt.NDArray[np.int64]


class Arcs(NamedTuple):
    """Arcs between nodes, several side by side allowed: int64[A]; those into and out of a node as slices of a list."""

    tail: Longs
    head: Longs
    first_in: Longs
    into: Longs
    first_out: Longs
    out: Longs

    @classmethod
    def of(cls, tail: npt.NDArray[np.integer], head: npt.NDArray[np.integer], nodes: int) -> Arcs:
        """Return the arcs from `tail` to `head`."""
        first_in, first_out = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(head, minlength=nodes), out=first_in[1:])
        np.cumsum(np.bincount(tail, minlength=nodes), out=first_out[1:])
        into, out = np.argsort(head, kind="stable"), np.argsort(tail, kind="stable")
        return cls(tail.astype(np.int64), head.astype(np.int64), first_in, into, first_out, out)


class DisjointTrees(NamedTuple):
    """The tree of each arc, int64[A], -1 for none; the level of each node in each tree, int64[T, N]."""

    tree: Longs
    depth: Longs


class Hops(NamedTuple):
    """Slots that all take together; slot, arc and packet of each hop, int32[H], by slot."""

    slots: int
    slot: IntArray
    arc: IntArray
    packet: IntArray


def disjoint_trees(arcs: Arcs, root: int, count: int, draw: np.random.Generator) -> DisjointTrees | None:
    """Return out-trees to all nodes that share no arc, or None if there are not so many.

    Parameters
    ----------
    arcs : Arcs
        Of a network of any kind.
    root, count : int
        The root, and how many trees, at most 62.
    draw : numpy.random.Generator
        Draws the order in which arcs of a level are tried.

    Notes
    -----
    A flow of at most T units for each arc and tree, O(T^2 A^2) at worst and far less where trees are shallow.

    Examples
    --------
    >>> tail, head = np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2])
    >>> disjoint_trees(Arcs.of(tail, head, 3), 0, 2, np.random.default_rng(0)).depth.sum(axis=0).tolist()
    [0, 3, 3]
    """
    nodes, size = arcs.first_in.size - 1, arcs.tail.size
    parent, depth = np.empty((count, nodes), np.int64), np.empty((count, nodes), np.int64)
    if not _packed(root, count, *arcs, draw.random((count, size)), parent, depth):
        return None
    tree = np.full(size, -1, np.int64)
    which, node = np.nonzero(parent >= 0)
    tree[parent[which, node]] = which
    return DisjointTrees(tree, depth)


def pipelined(
    arcs: Arcs, trees: DisjointTrees, root: int, terminals: int, packets: int, delay: npt.NDArray[np.float64]
) -> Hops:
    """Return hops that bring packets from the root to all terminals, a packet a slot and arc.

    Every packet goes down a tree, and every tree has its packets in turn. An arc with nothing to send from its own tree
    brings its head what would come there last: a node deep in one tree gets the last packets of that tree by others.

    Parameters
    ----------
    arcs, trees, root
        The trees.
    terminals : int
        Nodes 0..terminals-1 must get all packets.
    packets : int
        How many there are.
    delay : float64[T]
        Of a tree with so much more delay than another, as many packets less are sent down.

    Notes
    -----
    O(slots A P) time at worst for A arcs and P packets, O(N P) memory.

    Examples
    --------
    >>> arcs = Arcs.of(np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2]), 3)
    >>> trees = disjoint_trees(arcs, 0, 2, np.random.default_rng(0))
    >>> pipelined(arcs, trees, 0, 3, 6, np.zeros(2)).slots
    4
    """
    count, nodes = trees.depth.shape
    turns = np.arange(packets)[:, None] + delay
    place = np.argsort(turns, axis=None, kind="stable")[:packets]  # turn * count + tree
    comes = (place // count)[None, :] + trees.depth[place % count].T
    order = np.argsort(-comes, axis=1, kind="stable")
    slot, arc, packet = (np.empty(nodes * packets, np.int32) for _ in range(3))
    slots, hops = _pipelined(
        root, terminals, packets, count, arcs.tail, arcs.head, trees.tree, place, order, slot, arc, packet
    )
    return Hops(int(slots), slot[:hops], arc[:hops], packet[:hops])


_WORK = 1_000_000
"""Arcs times trees, squared, of all packings."""
_FEWEST, _MOST = 4, 40
"""Packings that are tried."""
_SENT = 2_000_000_000
"""Arcs, packets and slots, multiplied, up to which a case is not refused."""
_KEPT, _LARGE = 5, 500_000
"""Packings that packets are sent over: only one of large cases, with so many packets at all nodes together."""


def down_trees(case: Case) -> Schedule:
    """Build a broadcast of several packets down arc-disjoint trees.

    Parameters
    ----------
    case : Case
        A broadcast of several packets with all ports, on a network of plain links in which all nodes can be reached.

    Notes
    -----
    About P / T + d - 1 slots for P packets, T trees and the largest mean level d of a node in the trees.

    References
    ----------
    Edmonds 1973 for the trees; gossamer for what other trees bring.

    Examples
    --------
    >>> import gossamer
    >>> down_trees(Case(gossamer.network("torus:4x4"), gossamer.task("broadcast", packets=64))).completion_time
    Fraction(20, 1)
    """
    network, root, packets = case.network, int(case.messages.origin[0]), case.messages.packet_count
    link = np.repeat(np.arange(network.link_count), np.minimum(network.link_capacity, MOST_TREES))
    arcs = Arcs.of(network.link_source[link], network.link_target[link], network.node_count)
    best: Hops | None = None
    for trees in _packings(case, arcs, root, packets):
        for delay in (trees.depth.mean(axis=1), np.zeros(trees.depth.shape[0])):
            found = pipelined(arcs, trees, root, network.terminal_count, packets, delay)
            if best is None or found.slots < best.slots:
                best = found
        if best is not None and best.slots <= ceil(case.floor):
            break
    assert best is not None
    crossed = link[best.arc].astype(np.int32)
    kept = leads_on(network, crossed, best.packet)
    phases = [Phase(case.task.name, best.slots)]
    return Schedule.of(case, best.slot[kept], crossed[kept], best.packet[kept], phases=phases)


def _packings(case: Case, arcs: Arcs, root: int, packets: int) -> list[DisjointTrees]:
    """Return as many trees as there are, packed several times, those of the least delay first."""
    draw, nodes = np.random.default_rng(case.seed), case.network.node_count
    entering = np.delete(np.diff(arcs.first_in), root)
    count = int(min(MOST_TREES, entering.min(initial=MOST_TREES), np.diff(arcs.first_out)[root]))
    found: list[DisjointTrees] = []
    while not found:
        first = disjoint_trees(arcs, root, count, draw)
        if first is None:
            count -= 1
            continue
        found = [first]
        for _ in range(min(_MOST, max(_FEWEST, _WORK // (count * count * arcs.tail.size))) - 1):
            more = disjoint_trees(arcs, root, count, draw)
            assert more is not None
            found.append(more)
    found.sort(key=lambda trees: int(trees.depth.sum(axis=0).max()))
    return found[: _KEPT if nodes * packets <= _LARGE else 1]


def propose_down_trees(case: Case) -> Offer[Schedule] | Refusal:
    """Offer a broadcast of several packets."""
    network, rules = case.network, case.rules
    if not isinstance(case.task, Chunked) or not isinstance(case.task.task, Broadcast):
        return Refusal("is for broadcasts of several packets")
    if rules.send_limited or rules.receive_limited:
        return Refusal("sends and receives on all links at once")
    if rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not network.plain or network.shared_ports is not None:
        return Refusal("needs links that take one slot")
    if network.terminal_count < network.node_count and (rules.cut_through or not rules.replication):
        return Refusal("needs switches that store what they pass on, and copy it")
    if network.terminal_count < 2:
        return Refusal("needs two terminals or more")
    if network.breadth_first(case.task.task.root).order.size < network.node_count:
        return Refusal("needs a path from the root to every node")
    packets = case.task.packets
    looks = network.link_count * packets * (packets + network.node_count)
    if looks > _SENT:
        return Refusal(f"would look up to {looks:,} times for a packet to send; at most {_SENT:,} are allowed")
    return Offer(lambda: down_trees(case), effort="search", hop_bytes=60, hop_seconds=2e-6)


DOWN_TREES = Algorithm(
    name="arc-disjoint-trees",
    tasks=(Chunked,),
    propose=propose_down_trees,
    networks="any with plain links, and switches that copy",
    source="Edmonds 1973; gossamer for small depths and for what other trees bring; no promised time",
    summary="packets of a broadcast follow each other down as many trees without a common arc as there are",
    passes_on=True,
)
