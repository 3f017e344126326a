"""Broadcast of a message in several packets down trees that share no arc, on any plain network.

Each tree gets its share of the packets, one after the other. What is deep in one tree gets the last packets of it by
links of other trees that have nothing left to send, so that not the deepest node of a tree counts, but the node whose
levels in all trees together are most.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from gossamer.graphs.disjoint_trees import MOST_TREES, Arcs, DisjointTrees, Hops, disjoint_trees, pipelined
from gossamer.graphs.hops import leads_on
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast, Chunked
from gossamer.schedules import Phase, Schedule

__all__ = ["down_trees", "propose_down_trees"]

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
