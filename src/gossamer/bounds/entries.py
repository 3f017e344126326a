"""The bound for a broadcast of several packets through a cut: what comes in late must come in twice.

A packet that enters a set of nodes over one link only has to reach all of them from its end, so it enters early enough;
one that enters later does so over two links or more. Links that carry E packets into the set in time, S of them early
enough, bring no more than (E + S) / 2 different packets.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.bounds.arrivals import spread, takes_time
from gossamer.bounds.bound import Bound
from gossamer.bounds.thin_cuts import Mask
from gossamer.cases import Case
from gossamer.cases.demands import Counts, HubDemand
from gossamer.cases.links import FAR, Links
from gossamer.writing import quantity

__all__ = ["entry_bounds"]

_WORK, _ENDS = 250_000, 24
"""Links and nodes looked at by all flows together, and so how many terminals are tried; and the most of these."""
_ENTRIES = 64
"""Links into a set, above which it is left alone."""


def entry_bounds(case: Case) -> Iterator[Bound]:
    """Yield the least time in which packets get into all nodes beyond a cut, for a broadcast or its reversal.

    On plain links, with all ports, of whole packets.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ring:12"), gossamer.task("broadcast", packets=20))
    >>> next(entry_bounds(case)).value
    Fraction(15, 1)
    """
    demand = case.demands[0]
    if not isinstance(demand, HubDemand) or len(case.demands) > 1 or not demand.shared or not case.whole:
        return
    packets, root = demand.hubs.size, int(demand.hubs[0])
    if packets < 2 or bool((demand.hubs != root).any()) or takes_time(case):
        return
    links = case.links if demand.outward else case.links.turned
    if links.send_limited or links.receive_limited or demand.terminal_count < 2:
        return
    away = links.travel(np.array([root])).usable
    best = 0, 0, 0
    for inside in _sets(links, root):
        entries = np.flatnonzero(~inside[links.source] & inside[links.target] & (away[links.source] < FAR))
        if 0 < entries.size <= _ENTRIES:
            best = max(best, (_least(links, inside, entries, away, packets), int(inside.sum()), entries.size))
    time, size, count = best
    if time:
        way = "into" if demand.outward else "out of"
        text = f"{quantity(packets, 'packet')} must get {way} {quantity(size, 'node')} over {quantity(count, 'link')}"
        if size > 1:
            text += ", twice where it is too late to go on from one to all of them"
        yield Bound("entries", Fraction(time), text, "cut", "gossamer")


def _least(links: Links, inside: Mask, entries: Counts, away: Counts, packets: int) -> int:
    """Return the least time in which so many packets come into a set and to all of its terminals."""
    begin = away[links.source[entries]]
    rest = np.array([_furthest(links, inside, int(v)) for v in links.target[entries]])
    capacity = np.minimum(links.capacity[entries], packets)
    low = int(begin.min())  # too early
    high = low + 2 * packets
    while high - low > 1:
        time = (low + high) // 2
        late = int((capacity * np.maximum(time - begin, 0)).sum())
        early = int((capacity * np.maximum(time - begin - rest, 0)).sum())
        low, high = (low, time) if late + early >= 2 * packets else (time, high)
    return high


def _furthest(links: Links, inside: Mask, start: int) -> int:
    """Return how many links of a set lie between a node of it and the furthest of its terminals."""
    seen, front, steps, furthest = ~inside, np.array([start]), 0, 0
    seen[start] = True
    while front.size:
        if bool((front < links.terminal_count).any()):
            furthest = steps
        reached = np.concatenate([links.target[links.first[u] : links.first[u + 1]] for u in front.tolist()])
        front = np.unique(reached[~seen[reached]])
        seen[front] = True
        steps += 1
    return furthest if bool(seen[: links.terminal_count].all()) else FAR


def _sets(links: Links, root: int) -> Iterator[Mask]:
    """Yield sets of nodes without the root: all others, and the larger and the smaller side of least cuts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    nodes = links.node_count
    yield np.arange(nodes) != root
    room = np.minimum(links.capacity, 2**20).astype(np.int32)
    graph = coo_array((room, (links.source, links.target)), shape=(nodes, nodes)).tocsr()
    count = min(_ENDS, _WORK // (nodes + links.source.size))
    known = set()
    for end in spread(np.delete(np.arange(links.terminal_count), root), count).tolist():
        residual: Any = graph - maximum_flow(graph, root, end).flow
        residual.eliminate_zeros()
        near, far = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
        near[breadth_first_order(residual, root, return_predecessors=False)] = True
        far[breadth_first_order(residual.T.tocsr(), end, return_predecessors=False)] = True
        for inside in (~near, far):
            key = np.packbits(inside).tobytes()
            if key not in known and not inside[root]:
                known.add(key)
                yield inside
