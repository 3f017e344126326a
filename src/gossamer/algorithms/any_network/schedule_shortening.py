"""A schedule made shorter: its packets take ways through links and slots at once, as many as there are slots wanted.

A node in a slot is a node of another network, in which packets wait at no price and cross links slot by slot. Trees are
grown there over cells, a link in a slot each. Cells that carried too much stay dearer, until none carries too much
(L. McMurchie and C. Ebeling, "PathFinder: a negotiation-based performance-driven router for FPGAs", 1995).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth
from gossamer.networks.network import IntArray


class ReroutingLimits(NamedTuple):
    """How long packets are led again.

    `rounds`, `work`: rounds, and cells that they may look at, for each number of slots. `power`, `past`: how steeply
    prices rise with the load, and by how much a cell that carried too much is taken to carry more.
    """

    rounds: int
    work: int
    power: float
    past: float


QUICK = ReroutingLimits(100, 5_000_000, 4.0, 0.1)
"""A tenth of a second at most for each number of slots; so of those below."""
STEADY = ReroutingLimits(400, 150_000_000, 2.0, 0.3)
"""Some two seconds at most."""
PATIENT = ReroutingLimits(400, 3_000_000_000, 2.0, 0.3)
"""Some ten seconds at most."""

_FEWEST = 8
_PAYS = 500_000
"""Cells, looked at for all packets, that it takes Python as long to look at as to compile what does."""
_HALVED, _FEW = 100, 10.0
"""Rounds in which half of what is too much must go, or it is given up; not of so little."""


def squeezed(
    demand: PacketDemand,
    roads: LinkResources,
    branches: npt.NDArray[np.bool_],
    slots: int,
    least: int,
    seed: int,
    effort: ReroutingLimits = QUICK,
) -> tuple[int, IntArray, IntArray, IntArray] | None:
    """Return a schedule of fewer slots, or None if none was found.

    * `demand`: the packets.
    * `roads`: links that share no ports; only where packets occupy them for one slot each, something is found.
    * `branches`, bool[N]: whether a node sends several copies of what it received once.
    * `slots`, `least`: slots of the schedule that is known, and a number that no schedule beats.
    * `seed`: for the order of the packets.
    * `effort`: how long to try each number of slots.

    Returns: (int, int64[H], int32[H], int32[H]) or None: the slots, and by slot the slot, link and packet of each hop.

    O(P (L T + N T log(N T))) for each round, of P packets and T slots. Packets are led again
    only if they cross a cell that was wanted too much before; where what is too much does not halve in 100
    rounds, no more are tried.

    >>> import gossamer
    >>> roads = LinkResources.of(gossamer.network("ring:4"), gossamer.Rules())
    >>> demand = PacketDemand(np.zeros(3, np.int32), np.arange(4), np.array([1, 2, 3], np.int32))
    >>> squeezed(demand, roads, np.ones(4, bool), 4, 2, 0)[0]
    2
    """
    if bool((roads.occupancy > 1).any()) or bool(roads.cut.any()) or roads.ports.hold.size:
        return None
    best = None
    tried = False
    while slots > least:
        found = _within(demand, roads, branches, slots - 1 if tried else least, seed, effort)
        if found is None and (tried or slots - 1 == least):
            break
        best, slots, tried = found or best, slots if found is None else found[0], True
    return best


def _within(
    demand: PacketDemand,
    roads: LinkResources,
    branches: npt.NDArray[np.bool_],
    slots: int,
    seed: int,
    effort: ReroutingLimits,
) -> tuple[int, IntArray, IntArray, IntArray] | None:
    places = roads.cut.size + roads.source.size
    rounds = min(effort.rounds, effort.work // max(1, demand.origin.size * places * slots))
    if rounds < _FEWEST:
        return None
    from gossamer.graphs import priced_trees
    from gossamer.jit import often

    if demand.origin.size * places * slots * _FEWEST > _PAYS:
        often(priced_trees.grow)
    cells = _cells(roads, slots)
    growth, draw = TreeGrowth(cells), np.random.default_rng(seed)
    wide = slots + 1
    there = demand.target * np.int32(wide) + np.int32(slots)
    asked = PacketDemand((demand.origin * np.int32(wide)).astype(np.int32), demand.first, there.astype(np.int32))
    forest: Forest | None = None
    past = [np.zeros(load.size) for load in growth.loads]
    lowest: list[float] = []
    for turn in range(rounds):
        visit = draw.permutation(demand.origin.size)
        hot = 1.0 + effort.past / 2 if turn else 0.0  # a cell that one packet uses, but was too dear before
        try:
            forest = growth.grow(
                asked, np.repeat(branches, wide), forest, power=effort.power, hot=hot, visit=visit, scale=1.0
            )
        except NetworkError:
            return None  # some target is further away than that
        over = [np.maximum(load - before - 1.0, 0.0) for load, before in zip(growth.loads, past, strict=True)]
        much = float(sum(o.sum() for o in over))
        if much < 1e-6:
            return _hops(forest, cells, roads, demand, branches)
        lowest.append(min([much, *lowest[-1:]]))
        if turn >= _HALVED and lowest[turn] > max(_FEW, lowest[turn - _HALVED] / 2):
            return None
        for load, before, o in zip(growth.loads, past, over, strict=True):  # what was in demand stays dear
            load[o > 1e-6] += effort.past
            before[o > 1e-6] += effort.past
    return None


def _cells(roads: LinkResources, slots: int) -> LinkResources:
    """Return the network of nodes in slots: a link for each link and slot, and those over which packets wait."""
    nodes, wide = roads.cut.size, slots + 1
    takes = roads.occupancy + roads.latency
    slot = np.arange(slots)
    ends = slot[None, :] + takes[:, None]
    kept = ends <= slots
    link = np.broadcast_to(np.arange(roads.source.size)[:, None], kept.shape)[kept]
    begin = np.broadcast_to(slot, kept.shape)[kept]
    wait = (np.arange(nodes)[:, None] * wide + slot).ravel()
    source = np.concatenate([roads.source[link].astype(np.int64) * wide + begin, wait])
    target = np.concatenate([roads.target[link].astype(np.int64) * wide + begin + takes[link], wait + 1])
    free = np.zeros(wait.size, np.int64)
    return LinkResources(
        source.astype(np.int32), target.astype(np.int32), np.concatenate([np.ones(link.size, np.int64), free]),
        np.concatenate([roads.latency[link], free]), np.concatenate([roads.capacity[link], free + 1]),
        roads.send_limited, roads.receive_limited, np.zeros(nodes * wide, bool), roads.ports,
    )  # fmt: skip


def _hops(
    forest: Forest, cells: LinkResources, roads: LinkResources, demand: PacketDemand, branches: npt.NDArray[np.bool_]
) -> tuple[int, IntArray, IntArray, IntArray]:
    """Return the hops over links: of several that bring a packet to a node that copies the first, if it is of use."""
    graph = forest.graph()
    wide = cells.cut.size // roads.cut.size
    crossed = graph.link[cells.occupancy[graph.link] > 0]
    packet = graph.packet[cells.occupancy[graph.link] > 0].astype(np.int64)
    link, slot = _numbers(roads, wide - 1)[crossed], cells.source[crossed] % wide
    takes = (roads.occupancy + roads.latency)[link]
    nodes = roads.cut.size
    wanted = np.zeros((demand.origin.size, nodes), bool)
    wanted[np.repeat(np.arange(demand.origin.size), np.diff(demand.first)), demand.target] = True
    here = np.zeros_like(wanted)
    here[np.arange(demand.origin.size), demand.origin] = True
    kept = np.ones(link.size, bool)
    for i in np.argsort(slot + takes, kind="stable").tolist():
        p, v = packet[i], roads.target[link[i]]
        kept[i] = not (branches[v] and here[p, v])
        here[p, v] = True
    left = np.zeros(wanted.shape, np.int64)  # hops from a node that sends what it received once, not yet accounted for
    comes = np.arange(2 * link.size) >= link.size  # of what happens in a slot, backwards: hops leave, then others come
    for j in np.lexsort((comes, -np.concatenate([slot, slot + takes]))).tolist():
        i = j % link.size
        p, u, v = packet[i], roads.source[link[i]], roads.target[link[i]]
        if not comes[j]:
            wanted[p, u] |= kept[i]
            left[p, u] += kept[i]
        elif branches[v]:
            kept[i] &= wanted[p, v]
        else:
            kept[i] &= left[p, v] > 0
            left[p, v] -= kept[i]
    order = np.flatnonzero(kept)[np.lexsort((packet[kept], slot[kept]))]
    over = int((slot + takes)[order].max(initial=0))
    return over, slot[order].astype(np.int32), link[order].astype(np.int32), packet[order].astype(np.int32)


def _numbers(roads: LinkResources, slots: int) -> npt.NDArray[np.int64]:
    """Return the link of each cell, in their order."""
    kept = np.arange(slots)[None, :] + (roads.occupancy + roads.latency)[:, None] <= slots
    return np.broadcast_to(np.arange(roads.source.size)[:, None], kept.shape)[kept]
