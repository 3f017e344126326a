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
from gossamer.graphs.disjoint_trees import Arcs, DisjointTrees, disjoint_trees, most_disjoint_trees
from gossamer.graphs.path_and_hop_tables import leads_on
from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast, Chunked
from gossamer.schedules import Phase, Schedule

__all__ = ["DOWN_TREES", "TreeHops", "down_trees", "pipelined"]


@njit(cache=True, nogil=True)
def _pipelined(root, terminals, packets, trees, tail, head, tree_of, place, order, slot, arc, packet):
    """Send packets down trees, each tree its own in turn; arcs with nothing to do send on what would come last.

    * `root`, `terminals`, `packets`, `trees`: packet p belongs to tree ``place[p] % trees`` and is sent there in turn
      ``place[p] // trees``.
    * `tail`, `head`, `tree_of`, int64[A]: arcs, and the tree of each, -1 for none.
    * `place`, int64[P]: ascending turns in each tree.
    * `order`, int64[N, P]: for each node the packets, what its own tree brings last first.
    * `slot`, `arc`, `packet`, int32[N * P]: written, by slot.

    Returns: slots until all terminals have all packets, and hops; 0 slots if nothing more can be sent.
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


_MOST_TREES = 62


class TreeHops(NamedTuple):
    """Slots that all take together; slot, arc and packet of each hop, int32[H], by slot."""

    slots: int
    slot: IntArray
    arc: IntArray
    packet: IntArray


def pipelined(
    arcs: Arcs, trees: DisjointTrees, root: int, terminals: int, packets: int, delay: npt.NDArray[np.float64]
) -> TreeHops:
    """Return hops that bring packets from the root to all terminals, a packet a slot and arc.

    Every packet goes down a tree, and every tree has its packets in turn. An arc with nothing to send from its own tree
    brings its head what would come there last: a node deep in one tree gets the last packets of that tree by others.

    `terminals`: nodes 0..terminals-1 must get all packets. `packets`: how many there are. `delay`, float64[T]: of a
    tree with so much more delay than another, as many packets less are sent down.

    O(slots A P) time at worst for A arcs and P packets, O(N P) memory.

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
    return TreeHops(int(slots), slot[:hops], arc[:hops], packet[:hops])


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

    A broadcast of many packets can use many trees at once, if no two of them need the same link: down each tree one
    packet follows the other. As many such trees exist as the narrowest cut behind the root has links (Edmonds), so
    that no more packets could get through in a slot anyway.

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
    link = np.repeat(np.arange(network.link_count), np.minimum(network.link_capacity, _MOST_TREES))
    # Step 1: every unit of a link's capacity is an arc
    arcs = Arcs.of(network.link_source[link], network.link_target[link], network.node_count)
    best: TreeHops | None = None
    # Step 2: pack as many spanning trees without a common arc as there are, low ones where possible
    for trees in _packings(case, arcs, root, packets):
        for delay in (trees.depth.mean(axis=1), np.zeros(trees.depth.shape[0])):
            # Step 3: deal the packets out to the trees, and send them down one after the other
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
    first = most_disjoint_trees(arcs, root, draw, _MOST_TREES)
    assert first is not None  # all nodes can be reached
    found, count = [first[0]], first[1]
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
        return Refusal("is for all-port nodes")
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
