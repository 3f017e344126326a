"""Bounds from the times of ways and of ports, where links take time or switches cut through, or messages have targets.

The earliest time at which a message can be somewhere follows from the occupancies and latencies on its way. A node
that must receive R messages which cannot be there before slot d uses its links only from ``d - o`` on, for an occupancy
of o.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.proofs import Chain, Cut, Load
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand, PairDemand
from gossamer.questions.cases.distances import MAX_SEARCHES
from gossamer.questions.cases.links import FAR, Links

_WORK, _LARGE = 20_000_000, 200_000
"""Links looked at by the searches of a bound, a quarter of them where there are many links and nodes."""

_NODES = 96
"""How many nodes, those with most to do for their links, are worked out by the times of their messages."""

_TIMES = 64
"""How many different times of messages are looked at at a node."""


def takes_time(case: Case) -> bool:
    """Return whether distances in hops do not tell the time: links take more than a slot, or switches cut through."""
    return not case.network.plain or case.cuts_through


def arrival_bounds(case: Case) -> Iterator[Bound]:
    """Yield the furthest way of a message, and the node that receives, or sends, longest.

    Where distances in hops tell the time, only nodes of tasks without hubs: `port_bounds` knows how far the others'
    messages come.
    """
    if takes_time(case):
        yield from _ways(case)
    elif not case.whole or all(isinstance(demand, HubDemand) for demand in case.demands):
        return
    for incoming in (True, False):
        yield from _nodes(case, incoming)


def searches(links: Links) -> int:
    """Return how many searches a bound may cost."""
    size = links.source.size + links.node_count
    return max(4, min(MAX_SEARCHES, _WORK // size // (4 if size > _LARGE else 1)))


def spread(nodes: Counts, count: int) -> Counts:
    """Return at most so many of the nodes, evenly spread."""
    return nodes[np.linspace(0, nodes.size - 1, min(nodes.size, count)).astype(np.int64)]


def _ways(case: Case) -> Iterator[Bound]:
    for demand in case.demands:
        best = -1, 0, 0
        outward = demand.outward
        links = case.links if outward else case.links.turned
        if isinstance(demand, HubDemand):
            for hub in spread(np.unique(case.hubs(demand)), searches(links)).tolist():
                usable = links.travel(np.array([hub])).usable[: demand.terminal_count]
                end = int(np.argmax(usable))
                best = max(best, (int(usable[end]), hub, end))
        else:
            origin = demand.origin[demand.message]  # of reductions, backwards in time from their roots
            for start in spread(np.unique(origin), searches(links)).tolist():
                ends = demand.target[origin == start]
                usable = links.travel(np.array([start])).usable[ends]
                best = max(best, (int(usable.max()), start, int(ends[np.argmax(usable)])))
        time, start, end = best
        if 0 < time < FAR:
            start, end = (start, end) if outward else (end, start)
            what = f"a {demand.what} takes" if case.whole else "latencies alone take"
            ends = f"from node {case.name(start)} to node {case.name(end)}"
            text = f"{what} {case.time_text(time)} {ends} on the fastest path"
            name = "eccentricity" if demand.shared else "distance"
            yield Bound.of(
                name, Chain((Fraction(time),)), text, "distance", "folklore: occupancies and latencies on the way"
            )


def _nodes(case: Case, incoming: bool) -> Iterator[Bound]:
    nodes = case.nodes
    count = np.zeros(nodes.size, np.int64)
    for demand in case.demands:
        count += demand.handled(nodes, incoming)
    view = case.links.turned if incoming else case.links  # links sorted by the node that is looked at
    ends = view.source
    limited = case.links.receive_limited if incoming else case.links.send_limited
    rates = np.zeros(view.node_count)
    (np.maximum if limited else np.add).at(rates, ends, view.rate)
    rate = rates[nodes]
    plain = not takes_time(case)
    fewest = 2 if plain else 1  # one message needs what its distance says
    busy = np.flatnonzero((count >= fewest) & (rate > 0))
    if not busy.size:
        return
    order = busy[np.argsort(-(count[busy] / rate[busy]), kind="stable")]
    pairs = sum(demand.target.size for demand in case.demands if isinstance(demand, PairDemand))
    fewer = max(2, min(_NODES, searches(view), _WORK // max(pairs, 1)))
    chosen = np.unique(np.concatenate([order[: fewer // 2], spread(order, fewer // 2)]))
    found = [least_arrival(case, int(nodes[i]), incoming) for i in chosen.tolist()]
    best = max((f for f in found if f is not None), key=lambda f: f.time, default=None)
    if best is None:
        return
    node, messages, since = best.node, best.load.needed, best.since
    if plain and (messages < fewest or since <= 1):  # no more than distances say, or numbers
        return
    verb = "receive" if incoming else "send"
    text = f"node {case.name(node)} must {verb} {case.packets_text(messages)}"
    mine = case.network.link_target if incoming else case.network.link_source
    text += " one at a time" if limited else f" over {case.links_text(np.flatnonzero(mine == node))}"
    if since:
        one = messages == 1
        way = f"arrive in less than {case.time_text(since)}"
        text += f", {'which' if one else 'none of which'} can{'not' * one} {way}"
    ways = (case.links.turned if incoming else case.links).travel(np.array([node])).usable
    far = np.flatnonzero(ways >= best.since)
    proof = Cut.by(
        best.load, nodes=np.array([node]), enter=incoming, **{"sources" if incoming else "targets": far}
    )  # fmt: skip
    yield Bound.of(f"node {verb}s", proof, text, "ports", "Dimakopoulos 1996, (3.3), with the times of links")


class Arrival(NamedTuple):
    """The least time in which a node receives (or sends) messages, and those: not there before the time `since`."""

    time: Fraction
    node: int
    since: int
    load: Load


def least_arrival(case: Case, node: int, incoming: bool) -> Arrival | None:
    """Return the least time in which a node receives (or sends) its messages, and which of them need it.

    >>> import gossamer
    >>> slow = gossamer.network("array:3").with_times(2, 1)
    >>> found = least_arrival(Case(slow, gossamer.task("gather", root=0)), 0, True)
    >>> found.time, found.since, found.load.needed
    (Fraction(6, 1), 6, 1)
    """
    links = case.links
    ways = (links.turned if incoming else links).travel(np.array([node])).usable
    times = np.concatenate([_times(d, node, ways, incoming) for d in case.demands])
    times = times[(times > 0) & (times < FAR)] if case.whole else times[times < FAR]
    if not times.size:
        return None
    view = links.turned if incoming else links
    mine = slice(int(view.first[node]), int(view.first[node + 1]))
    capacity, occupancy, hold, latency = (x[mine] for x in (view.capacity, view.occupancy, view.hold, view.latency))
    limited = links.receive_limited if incoming else links.send_limited
    if limited:
        capacity, occupancy = np.ones(1, np.int64), occupancy.min(keepdims=True)
        hold, latency = hold.min(keepdims=True), latency.min(keepdims=True)
    times = np.sort(times)
    since, first = np.unique(times, return_index=True)
    best: Arrival | None = None
    for i in spread(np.arange(since.size), _TIMES).tolist():
        messages = times.size - int(first[i])
        wait = np.maximum(int(since[i]) - hold, latency)
        loads = [Load(messages, capacity, occupancy, wait, case.whole)]
        if view.ports is not None and not limited:
            loads.append(_by_ports(case, messages, int(since[i]), view, mine))
        for load in loads if capacity.size else ():
            time = load.value
            if best is None or time > best.time:
                best = Arrival(time, node, int(since[i]), load)
    return best


def _by_ports(case: Case, messages: int, since: int, view: Links, mine: slice) -> Load:
    """Return what messages load the shared ports of a node's links with, and its links without one."""
    ports = view.ports
    assert ports is not None
    port, capacity, occupancy = ports.sending[mine], view.capacity[mine], view.occupancy[mine]
    alone = port < 0
    found, group = np.unique(port[~alone], return_inverse=True)
    held = ports.occupancy if case.whole else np.zeros_like(ports.occupancy)
    hold = np.where(alone, view.hold[mine], np.append(held, 0)[port])
    wait = np.maximum(since - hold, view.latency[mine] + view.hold[mine] - hold)
    first = np.full(found.size, FAR)
    np.minimum.at(first, group, wait[~alone])
    return Load(
        messages,
        np.concatenate([capacity[alone], ports.capacity[found]]),
        np.concatenate([occupancy[alone], ports.occupancy[found]]),
        np.concatenate([wait[alone], first]),
        case.whole,
    )


def _times(demand: Demand, node: int, ways: Counts, incoming: bool) -> Counts:
    """Return for each message that a node must receive (or send) the least time between its ends, int64[]."""
    found: Counts
    if not isinstance(demand, HubDemand):
        origin = demand.origin[demand.message]
        mine = origin == node
        if incoming == demand.outward:
            found = ways[origin[demand.target == node]]
        elif demand.shared and mine.any():  # a message for several is sent at least once, as far as the furthest
            rows = demand.message[mine]
            time = np.zeros(int(rows.max()) + 1, np.int64)
            np.maximum.at(time, rows, ways[demand.target[mine]])
            found = time[np.unique(rows)]
        else:
            found = ways[demand.target[mine]]
        return found
    if demand.outward == incoming:
        found = ways[demand.hubs[demand.hubs != node]] if node < demand.terminal_count else ways[:0]
        return found
    own = int(demand.multiplicity(np.array([node]))[0])
    others = np.delete(ways[: demand.terminal_count], node) if own else ways[:0]
    if demand.shared and others.size:
        others = others.max(keepdims=True)
    return np.tile(others, own)
