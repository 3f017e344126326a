"""Bounds from what one node must receive or send over its links or its port, and from all hops that must happen.

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
from gossamer.bounds.proofs import Chain, Cut, Load
from gossamer.errors import NetworkError
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.distances import MAX_SEARCHES, MAX_VISITS, Axis, at_least, axes_of
from gossamer.questions.cases.links import FAR, Links, Shares

# What the links along one axis of a grid or product carry.


def axis_capacity(case: Case, axis: Axis) -> int:
    """Return the most packets that a link along an axis carries in a slot under the rules. O(L) at most.

    >>> import gossamer
    >>> from gossamer.questions.cases.distances import axes_of
    >>> case = Case(gossamer.network("torus:3x4,capacity=1x5"), gossamer.task("alltoall"))
    >>> [axis_capacity(case, axis) for axis in axes_of(case.metric)]
    [1, 5]
    """
    network = case.network
    if case.limited:
        return 1
    if network.uniform_capacity is not None:
        return network.uniform_capacity
    along = axis.place(network.link_source.astype(np.int64)) != axis.place(network.link_target.astype(np.int64))
    return int(network.link_capacity[along].max(initial=1))


# Bounds from distance: a message needs a step for each hop of a shortest path, if it is whole.


def distance_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for each demand, the distance of the message that travels furthest.

    Parts can be so small that distance costs no time: where messages are segmented there is no such bound.
    """
    if not case.whole:
        return
    for demand in case.demands:
        if isinstance(demand, HubDemand):
            hubs = case.hubs(demand)
            reach = case.metric.eccentricities(hubs, not demand.outward)
            hub = int(hubs[np.argmax(reach)])
            row = case.metric.row(hub, not demand.outward)
            end = int(np.argmax(row))
            steps = int(row[end])
            start, end = (hub, end) if demand.outward else (end, hub)
        else:
            starts, ends = demand.pairs
            distance = case.metric.between(starts, ends)
            row_of = int(np.argmax(distance))
            start, end = int(starts[row_of]), int(ends[row_of])
            steps = int(distance[row_of])
        name = "eccentricity" if demand.shared else "distance"
        text = (
            f"a {demand.what} of node {case.name(start)} must reach node {case.name(end)}, "
            f"{quantity(steps, 'hop')} away{case.each_text(1)}"
        )
        source = "Dimakopoulos 1996, section 3.1" if demand.shared else "folklore: a step a hop"
        yield Bound.of(name, Chain((Fraction(steps),)), text, "distance", source)


def load_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of all hops, and on grids and products those of the hops along each axis.

    A message for one node makes at least as many hops as it has distance to go. A message for many nodes makes at
    least one hop to each, and a contribution to a reduction at least one from each node but the root.
    """
    hops = sum(least_hops(case, d) for d in case.demands)
    capacity, text = case.total_capacity
    yield Bound.of(
        "total hops",
        Load.of(hops, capacity, whole=case.whole),
        f"all messages together need {case.packets_text(hops, 'hop')}, and {text}",
        "load",
        "Dimakopoulos 1996, (4.4), (4.5)" if case.limited else "folklore: hops needed over links",
    )
    if any(d.shared for d in case.demands):
        return
    axes = axes_of(case.metric)
    n = case.network.node_count
    for axis in axes if len(axes) > 1 else ():
        if not axis.links:
            continue
        links = axis.links * (n // axis.size) * axis_capacity(case, axis)
        capacity, maker = links, f"{quantity(links, 'link')} along it"
        if case.limited and n < links:
            capacity, maker = n, f"{quantity(n, 'node')}, each using one link at a time,"
        hops = 0
        for demand in case.demands:
            if isinstance(demand, HubDemand):
                status = axis.metric.statuses(np.arange(axis.size), not demand.outward)
                count = np.bincount(axis.place(case.hubs(demand)), minlength=axis.size)
                hops += int(count @ status) * (n // axis.size) * (n if case.invariant else 1)
            else:
                origin = demand.origin[demand.message]
                hops += int(axis.metric.between(axis.place(origin), axis.place(demand.target)).sum())
        if hops:
            text = f"all messages together need {case.packets_text(hops, 'hop')} along {axis.name}, and {maker} "
            text += case.units.carry_text(capacity)
            yield Bound.of(
                f"hops along {axis.name}", Load.of(hops, capacity, whole=case.whole), text, "load",
                "folklore: hops needed over links; Dimakopoulos 1996, Theorem 5.1",
            )  # fmt: skip


def least_hops(case: Case, demand: Demand) -> int:
    """Return the least number of hops of all messages of a demand."""
    if isinstance(demand, HubDemand):
        if demand.shared:
            return demand.hubs.size * (demand.terminal_count - 1)
        times = case.network.node_count if case.invariant else 1
        return times * int(case.metric.statuses(case.hubs(demand), not demand.outward).sum())
    distance = case.metric.between(*demand.pairs)
    if not demand.shared:
        return int(distance.sum())
    furthest = np.maximum.reduceat(distance, demand.first[:-1])
    return int(np.maximum(np.diff(demand.first), furthest).sum())


# Bounds from what ports that links share must pass.
#
# Where all links into some nodes go through one port, what these nodes receive goes through it, each packet once for
# each of them; likewise what they send. And all hops together need so many passages of ports and of links without one.

_NAMED = 4
_SOURCE = "folklore: packets through a port"


def shared_port_bounds(case: Case) -> Iterator[Bound]:
    r"""Yield the port that must pass most for the nodes behind it, each way, and the bound of all hops through ports.

    O(L + N) time, and that of the distances of the bound of all hops.

    >>> import gossamer
    >>> full = gossamer.network("complete:6")
    >>> pairs = gossamer.networks.SharedPorts(full.link_source // 2, full.link_target // 2)
    >>> print(*shared_port_bounds(Case(full.with_ports(pairs), gossamer.task("allgather"))), sep="\n")
    10 steps, port receives: 10 messages must pass p0, shared by all links into nodes 0, 1, one at a time
    2 steps, port sends: 2 messages must pass p0, shared by all links out of nodes 0, 1, one at a time
    10 steps, total hops: all messages together need 30 hops through 3 shared NICs or uplinks
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
    others = f" and over {quantity(alone_count, 'other link')}" if alone_count else ""
    used_text = "1 shared NIC or uplink" if used == 1 else f"{used:,} shared NICs or uplinks"
    text = f"all messages together need {case.packets_text(needed, 'hop')} through {used_text}{others}"
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
    pace += case.each_text(held)
    shared = case.network.shared_ports
    name = (shared.names or ())[p] if shared is not None else str(p)
    text = f"{case.packets_text(int(behind[p]))} must pass {name}, shared by all links "
    text += f"{'into' if incoming else 'out of'} {told}{more}, {pace}"
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
    net = case.network
    over = f"over {case.links_text(np.flatnonzero((net.link_target if incoming else net.link_source) == found.node))}"
    if capacity < int(case.degrees(incoming)[found.node]):
        over = f"one at a time{case.each_text(1)}"
    far = f" {preposition} nodes at least {found.distance} hops away" if found.distance > 1 else ""
    source = "Dimakopoulos 1996, (3.3) and Theorem 3.6"
    if demand.shared:
        source = "Varvarigos and Bertsekas 1994, (3a), (3b), (4a), (4b)"
    if found.distance > 1:
        source += "; with the steps of the nearest of them"
    text = f"node {case.name(found.node)} must {verb} {case.packets_text(found.messages)}{far} {over}"
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
