"""Bounds from what ports that links share must pass.

Where all links into some nodes go through one port, what these nodes receive goes through it, each packet once for each
of them; likewise what they send. And all hops together need so many passages of ports and of links without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.loads import least_hops
from gossamer.cases import Case
from gossamer.cases.demands import Counts
from gossamer.cases.links import FAR, Links, Shares, least_time
from gossamer.writing import quantity

__all__ = ["shared_port_bounds"]

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
        time = least_time(
            needed,
            np.concatenate([ports.capacity, links.capacity[alone]]),
            np.concatenate([ports.occupancy, links.occupancy[alone]]),
            np.concatenate([waits, links.latency[alone]]),
            case.whole,
        )
        used = int(np.count_nonzero(waits < FAR))
        totals.append((time or Fraction(0), needed, used, alone.size))
    time, needed, used, alone_count = max(totals)
    others = f" and over {quantity(alone_count, 'link')}" if alone_count else ""
    text = f"all messages together need {quantity(needed, 'hop')}, made through {quantity(used, 'port')}{others}"
    yield Bound("total hops", time, text, "load", _SOURCE)


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
    best: tuple[Fraction, int] | None = None
    for p in np.flatnonzero((behind > 0) & (waits < FAR)).tolist():
        one = slice(p, p + 1)
        time = least_time(int(behind[p]), ports.capacity[one], ports.occupancy[one], waits[one], case.whole)
        if time is not None and (best is None or time > best[0]):
            best = time, p
    if best is None:
        return
    time, p = best
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
    yield Bound(f"port {'receives' if incoming else 'sends'}", time, text, "ports", _SOURCE)
