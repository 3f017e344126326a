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

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.loads import least_hops
from gossamer.bounds.proofs import Cut, Load
from gossamer.errors import NetworkError
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand
from gossamer.questions.cases.distances import MAX_SEARCHES, MAX_VISITS, at_least
from gossamer.questions.cases.links import FAR, Links, Shares

__all__ = ["port_bounds", "shared_port_bounds"]

# Bounds from what ports that links share must pass.
#
# Where all links into some nodes go through one port, what these nodes receive goes through it, each packet once for
# each of them; likewise what they send. And all hops together need so many passages of ports and of links without one.

_NAMED = 4
_SOURCE = "folklore: packets through a port"


def shared_port_bounds(case: Case) -> Iterator[Bound]:
    r"""Yield the port that must pass most for the nodes behind it, each way, and the bound of all hops through ports.

    O(L + N) time, and that of the distances of the bound of all hops.

    Examples
    --------
    >>> import gossamer
    >>> full = gossamer.network("complete:6")
    >>> pairs = gossamer.networks.SharedPorts(full.link_source // 2, full.link_target // 2)
    >>> print(*shared_port_bounds(Case(full.with_ports(pairs), gossamer.task("allgather"))), sep="\n")
    10 steps, port receives: port p0, all links into nodes 0, 1, must pass 10 messages, one at a time
    2 steps, port sends: port p0, all links out of nodes 0, 1, must pass 2 messages, one at a time
    10 steps, total hops: all messages together need 30 hops, made through 3 ports
    """
    if case.network.shared_ports is None or not case.demands or case.invariant:
        return
    links = case.links
    ports = links.ports
    assert ports is not None
    totals = []
    for incoming in (True, False):
        side = ports.receiving if incoming else ports.sending
        waits = _waits(case, links, ports, side)
        yield from _behind(case, ports, incoming, waits)
        alone = np.flatnonzero(side < 0)
        needed = sum(least_hops(case, demand) for demand in case.demands)
        load = Load(
            needed,
            np.concatenate([ports.capacity, links.capacity[alone]]),
            np.concatenate([ports.occupancy, links.occupancy[alone]]),
            np.concatenate([waits, links.latency[alone]]),
            case.whole,
        )
        totals.append((load.value, needed, int(np.count_nonzero(waits < FAR)), alone.size, load))
    _, needed, used, alone_count, load = max(totals, key=lambda total: total[:4])
    others = f" and over {quantity(alone_count, 'link')}" if alone_count else ""
    text = f"all messages together need {quantity(needed, 'hop')}, made through {quantity(used, 'port')}{others}"
    yield Bound.of("total hops", load, text, "load", _SOURCE)


def _waits(case: Case, links: Links, ports: Shares, side: Counts) -> Counts:
    """Return the slots before the first packet is in each port, or after the last has left it; FAR where none goes."""
    held = np.append(ports.occupancy if case.whole else np.zeros_like(ports.occupancy), 0)
    found = np.full(ports.capacity.size, FAR)
    through = np.flatnonzero(side >= 0)
    np.minimum.at(found, side[through], (links.hold - held[side] + links.latency)[through])
    return found


def _behind(case: Case, ports: Shares, incoming: bool, waits: Counts) -> Iterator[Bound]:
    """Yield the bound of the port that takes longest for what the nodes behind it receive, or send."""
    links, nodes = case.links, case.nodes
    side, ends = (ports.receiving, links.target) if incoming else (ports.sending, links.source)
    least, most = np.full(links.node_count, FAR), np.full(links.node_count, -1)
    np.minimum.at(least, ends, side)
    np.maximum.at(most, ends, side)
    port = np.where(least == most, most, -1)[nodes]  # of nodes with one port for all links
    count = np.zeros(nodes.size, np.int64)
    for demand in case.demands:
        count += demand.handled(nodes, incoming)
    behind = np.bincount(port + 1, count, ports.capacity.size + 1)[1:].astype(np.int64)
    best: tuple[Fraction, int, Load] | None = None
    for p in np.flatnonzero((behind > 0) & (waits < FAR)).tolist():
        one = slice(p, p + 1)
        load = Load(int(behind[p]), ports.capacity[one], ports.occupancy[one], waits[one], case.whole)
        time = load.time
        if time is not None and (best is None or time > best[0]):
            best = time, p, load
    if best is None:
        return
    _, p, load = best
    names = [case.name(int(v)) for v in nodes[port == p]]
    told = f"node {names[0]}" if len(names) == 1 else f"nodes {', '.join(names[:_NAMED])}"
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    at_once, held = int(ports.capacity[p]), int(ports.occupancy[p])
    pace = "one at a time" if at_once == 1 else f"{at_once:,} at a time"
    pace += f", {quantity(held, 'slot')} each" if held > 1 else ""
    shared = case.network.shared_ports
    name = (shared.names or ())[p] if shared is not None else str(p)
    text = f"port {name}, all links {'into' if incoming else 'out of'} {told}{more}, must pass "
    text += f"{quantity(int(behind[p]), case.what)}, {pace}"
    yield Bound.of(f"port {'receives' if incoming else 'sends'}", load, text, "ports", _SOURCE)


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
    load = Load.of(found.messages, capacity, found.distance - 1, case.whole)
    ends: dict[str, Counts] = {}
    if found.distance > 1:
        row = case.metric.row(found.node, incoming)
        ends["sources" if incoming else "targets"] = np.flatnonzero(row >= found.distance)
    proof = Cut.by(load, nodes=np.array([found.node]), enter=incoming, **ends)
    return Bound.of(f"node {verb}s", proof, text, "ports", source)


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
