"""Bounds from what one node must receive or send over its links or its port.

A node that must receive m messages over in-links of capacity c needs ceil(m/c) steps; if R of them come from at
least d hops away, these arrive from step d on, so d-1 + ceil(R/c) steps. The same holds for sending, backwards in
time. Under a port limit, c is 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.cases.demands import Counts, HubDemand
from gossamer.cases.metric import MAX_SEARCHES, MAX_VISITS, at_least
from gossamer.errors import NetworkError
from gossamer.writing import quantity

__all__ = ["port_bounds"]

Ratios = npt.NDArray[np.float64]

SMALL = 4096
"""Up to so many nodes, the most promising `MAX_SEARCHES` are refined by distances; beyond, only the most loaded."""


class _Found(NamedTuple):
    """So many steps, because `node` handles so many messages of nodes at least `distance` away."""

    steps: Fraction
    node: int
    messages: int
    distance: int


def port_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of the node that receives most for its links, and of the one that sends most.

    Every node is looked at; the refinement by distances is worked out for at most `MAX_SEARCHES` of them.
    """
    for incoming in (True, False):
        nodes, capacity = case.nodes, case.node_capacity(incoming)
        count = np.zeros(nodes.size, np.int64)
        for demand in case.demands:
            count += demand.handled(nodes, incoming)
        busy = np.flatnonzero(count)
        stuck = busy[capacity[busy] == 0]
        if stuck.size:
            way = "enters" if incoming else "leaves"
            raise NetworkError(f"network {case.network.spec!r}: no link {way} node {case.name(stuck[0])}")
        if not busy.size:
            continue
        ratio = count[busy] / capacity[busy]
        node = int(busy[np.argmax(ratio)])
        best = _Found(case.steps(count[node], capacity[node]), node, int(count[node]), 1)
        demand = case.demands[0]
        if case.whole and len(case.demands) == 1 and isinstance(demand, HubDemand):
            refined = (
                _refined(case, demand, v, int(capacity[v]), incoming)
                for v in _candidates(case, demand, busy, ratio, incoming)
            )
            best = max([best, *refined], key=lambda found: found.steps)
        yield _bound(case, best, int(capacity[best.node]), incoming)


def _bound(case: Case, found: _Found, capacity: int, incoming: bool) -> Bound:
    demand = case.demands[0]
    verb, preposition = ("receive", "from") if incoming else ("send", "to")
    links = int(case.degrees(incoming)[found.node])
    over = f"over {quantity(links, 'link')}"
    if capacity < links:
        over = "one a step"
    elif capacity > links:
        over += f" of capacity {capacity:,}"
    far = f" {preposition} nodes at least {found.distance} hops away" if found.distance > 1 else ""
    source = "Dimakopoulos 1996, (3.3) and Theorem 3.6"
    if demand.shared:
        source = "Varvarigos and Bertsekas 1994, (3a), (3b), (4a), (4b)"
    if found.distance > 1:
        source += "; with the steps of the nearest of them"
    text = f"node {case.name(found.node)} must {verb} {quantity(found.messages, case.what)}{far}, {over}"
    return Bound(f"node {verb}s", found.steps, text, "ports", source)


def _candidates(case: Case, demand: HubDemand, busy: Counts, ratio: Ratios, incoming: bool) -> list[int]:
    """Choose the nodes to refine: those that have most to do for their links, then those furthest from others."""
    if demand.shared and demand.outward != incoming and int(demand.handled(busy, incoming).max()) == 1:
        return []  # a hub's only message: its distance says it all
    by_row = not demand.everywhere and demand.outward == incoming  # needs distances to hubs, not a profile
    limit = MAX_SEARCHES
    if by_row:
        limit = max(1, min(limit, MAX_VISITS // (case.network.node_count + case.network.link_count)))
    if case.network.node_count > SMALL:
        top = np.flatnonzero(ratio == ratio.max())
        order = top[np.linspace(0, top.size - 1, min(top.size, limit)).astype(np.int64)]
    else:
        order = np.lexsort((-case.metric.eccentricities(busy, incoming), -ratio))
    chosen = busy[order]
    if not by_row:  # of nodes with the same distances and the same load, one is enough
        key = case.metric.canonical(chosen) * (chosen.size + 1) + np.unique(ratio[order], return_inverse=True)[1]
        chosen = chosen[np.sort(np.unique(key, return_index=True)[1])]
        limit = max(1, min(limit, MAX_VISITS // int(1 + case.metric.eccentricities(chosen[:1], incoming)[0])))
    return [int(v) for v in chosen[:limit]]


def _refined(case: Case, demand: HubDemand, node: int, capacity: int, incoming: bool) -> _Found:
    """Return max over d of d-1 + ceil(R_d/capacity) at a node."""
    if demand.outward == incoming and not demand.everywhere:
        far = at_least(np.bincount(case.metric.row(node, incoming)[demand.hubs]))
    else:
        far = at_least(case.metric.profile(node, incoming))
        if demand.outward != incoming and demand.shared:  # each message of the hub goes all the way
            far[:] = demand.handled(np.array([node]), incoming)
    if far.size < 2:
        return _Found(Fraction(0), node, 0, 1)
    times = np.arange(far.size - 1) - (-far[1:] // capacity)
    k = int(np.argmax(times))
    return _Found(Fraction(int(times[k])), node, int(far[k + 1]), k + 1)
