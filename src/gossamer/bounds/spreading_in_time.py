"""A bound for one message that spreads over links that take time, from nodes whose ports pass few packets at once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.arrivals import takes_time
from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.cases.demands import Counts, Demand, HubDemand
from gossamer.cases.links import Links
from gossamer.writing import quantity

__all__ = ["holders_in_time", "most_sends", "spreading_in_time_bounds"]

_FINE = 32
"""Parts into which the least time of a hop is cut at most: time is counted in these, rounded in favor of the bound."""

_MOST = 4096
"""The most of them that are counted."""


def most_sends(links: Links, slots: int) -> int:
    """Return to how many others a node can begin to send one packet within so many slots, at most; for any node.

    Each link is used once, and a port passes as many packets as it can at once.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.networks import SharedPorts
    >>> full = gossamer.network("complete:6")
    >>> server = full.with_ports(SharedPorts(full.link_source, full.link_target, capacity=2))
    >>> links = Case(server, gossamer.task("broadcast")).links
    >>> most_sends(links, 1), most_sends(links, 2), most_sends(links, 9)
    (2, 4, 5)
    """
    nodes, ports = links.node_count, links.ports
    if ports is None:
        count = np.bincount(links.source, minlength=nodes)
    else:
        held = ports.sending >= 0
        count = np.bincount(links.source[~held], minlength=nodes)
        key, uses = np.unique(links.source[held] * ports.capacity.size + ports.sending[held], return_counts=True)
        node, port = key // ports.capacity.size, key % ports.capacity.size
        passed = ports.capacity[port] * -(-slots // ports.occupancy[port])
        np.add.at(count, node, np.minimum(uses, passed))
    if links.send_limited and links.source.size:
        count = np.minimum(count, -(-slots // int(links.occupancy.min())))
    return int(count.max(initial=0))


def holders_in_time(links: Links, nodes: int) -> tuple[int, int]:
    """Return the first slot by which so many nodes can have a packet that one node has, and how many can before it.

    Notes
    -----
    Everybody who has the packet begins `most_sends` within so many slots, and what is sent arrives after the least time
    of a hop d: ``H(t) = 1 + sum over s of (S(s+1) - S(s)) H(t - s - d)``. Where d is large, slots are counted in parts
    of d, and all times rounded down. O(parts^2 + parts * links).

    References
    ----------
    A. Bar-Noy, S. Kipnis, "Designing broadcasting algorithms in the postal model for message-passing systems",
    Mathematical Systems Theory 27, 1994.
    """
    delay = int((links.occupancy + links.latency).min())
    part = max(1, delay // _FINE)
    wait, holders = delay // part, [1]
    begun: list[int] = []  # new sends in each part after a packet came
    done = 0
    while holders[-1] < nodes and len(holders) < _MOST:
        t = len(holders)
        if t >= wait:
            now = most_sends(links, (t - wait + 1) * part)
            begun.append(now - done)
            done = now
        reached = 1 + sum(some * holders[t - s - wait] for s, some in enumerate(begun) if some)
        holders.append(max(reached, holders[-1]))
        if t > 4 * wait and not done:
            break
    return (len(holders) - 1) * part, holders[-2] if len(holders) > 1 else 1


def spreading_in_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield how long a message for many takes to spread, or contributions to come together, where links take time."""
    if not case.whole or not takes_time(case) or not case.links.source.size or not bool(case.links.stores.all()):
        return
    switches = case.network.terminal_count < case.network.node_count
    for demand in case.demands:
        copies = case.rules.replication if demand.outward else case.rules.reduction
        if not demand.shared or (switches and not copies):
            continue
        links = case.links if demand.outward else case.links.turned
        most, node = _widest(case, demand)
        slots, before = holders_in_time(links, most)
        if most < 2 or slots < 1:
            continue
        verb = "reach" if demand.outward else "come from"
        text = (
            f"the {demand.what} of node {case.name(node)} must {verb} {quantity(most, 'node')}, itself included; "
            f"a step earlier it can be at {before:,}" + ("" if demand.outward else ", time turned round")
        )
        yield Bound("spreading in time", Fraction(slots), text, "broadcast", "after Bar-Noy and Kipnis 1994")


def _widest(case: Case, demand: Demand) -> tuple[int, int]:
    """Return how many nodes the message has in the end which most have, and its origin."""
    if isinstance(demand, HubDemand):
        return demand.terminal_count, int(demand.hubs[0])
    sizes: Counts = np.diff(demand.first)
    row = int(np.argmax(sizes))
    return int(sizes[row]) + 1, int(demand.origin[row])
