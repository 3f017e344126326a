"""What many algorithms ask of a network and of rules, and what they say where it is not so."""

from __future__ import annotations

from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.rules import Rules
from gossamer.schedules.schedule import MAX_HOPS

__all__ = [
    "refuse_buffers",
    "refuse_capacities",
    "refuse_hops",
    "refuse_irregular",
    "refuse_one_way_links",
    "refuse_passing_on",
    "refuse_ports",
    "refuse_send_limit",
]


def refuse_ports(rules: Rules, held: int | None = None) -> Refusal | None:
    """Refuse for an algorithm that needs all ports and may keep `held` packets at a node (None: any number), or not.

    >>> refuse_ports(Rules(ports="one")).why
    "needs all ports at once, not ports 'one'"
    """
    if rules.ports != "all":
        return Refusal(f"needs all ports at once, not ports {rules.ports!r}")
    return refuse_buffers(rules, held)


def refuse_send_limit(rules: Rules) -> Refusal | None:
    """Refuse for an algorithm in which nodes send on many links at once, but receive on one, or not.

    >>> refuse_send_limit(Rules(ports="one-send")).why, refuse_send_limit(Rules(ports="one-receive"))
    ("needs all ports at once, not ports 'one-send'", None)
    """
    return Refusal(f"needs all ports at once, not ports {rules.ports!r}") if rules.send_limited else None


def refuse_buffers(rules: Rules, held: int | None = None) -> Refusal | None:
    """Refuse for an algorithm that may keep `held` packets at a node (None: any number) and so break a limit, or not.

    >>> refuse_buffers(Rules(buffer=2)).why, refuse_buffers(Rules(buffer=2), 3).why
    ('does not limit the packets that a node holds', 'may keep 3 packets at one node, more than the buffer of 2')
    """
    if rules.buffer is None:
        return None
    if held is None:
        return Refusal("does not limit the packets that a node holds")
    if rules.buffer >= held:
        return None
    return Refusal(f"may keep {held} packets at one node, more than the buffer of {rules.buffer}")


def refuse_hops(count: int) -> Refusal | None:
    """Refuse to write out more than `MAX_HOPS` hops, or not.

    >>> refuse_hops(2_000_000_000).why
    'would write out 2,000,000,000 hops; at most 1,000,000,000 are allowed'
    """
    if count <= MAX_HOPS:
        return None
    return Refusal(f"would write out {count:,} hops; at most {MAX_HOPS:,} are allowed")


def refuse_irregular(network: Network) -> Refusal | None:
    """Refuse for an algorithm for connected Cayley networks with links of one capacity, or not.

    >>> import gossamer
    >>> refuse_irregular(gossamer.network("array:3")).why
    'needs a Cayley network'
    """
    if network.group is None:
        return Refusal("needs a Cayley network")
    if network.uniform_capacity is None:
        return Refusal("needs links of one capacity")
    return Refusal("needs a connected network") if int(network.distances(0).min()) < 0 else None


def refuse_one_way_links(network: Network) -> Refusal | None:
    """Refuse for an algorithm that uses both directions of every edge, or not.

    >>> import gossamer
    >>> refuse_one_way_links(gossamer.network("array:3")) is None
    True
    """
    one_way = network.link_count and int(network.reverse_link.min()) < 0
    return Refusal("needs an opposite for every link") if one_way else None


def refuse_passing_on(case: Case) -> Refusal | None:
    """Refuse for an algorithm whose switches copy packets and combine contributions where the rules forbid it, or not.

    >>> import gossamer
    >>> refuse_passing_on(Case(gossamer.network("fat-tree:k=2,h=2"), gossamer.task("reduce"))).why
    'has switches that combine contributions, which the rules must allow (--reduction)'
    """
    rules = case.rules
    if case.network.terminal_count == case.network.node_count or (rules.replication and rules.reduction):
        return None
    shared = [demand for demand in case.demands if demand.shared]
    if not rules.replication and any(demand.outward for demand in shared):
        return Refusal("has switches that copy packets, which the rules must allow (--replication)")
    if not rules.reduction and not all(demand.outward for demand in shared):
        return Refusal("has switches that combine contributions, which the rules must allow (--reduction)")
    return None


def refuse_capacities(network: Network) -> Refusal | None:
    """Refuse for an algorithm for links of capacity 1 among two terminals or more, or not.

    >>> import gossamer
    >>> refuse_capacities(gossamer.network("ring:1")).why
    'needs at least 2 nodes'
    """
    if network.terminal_count != network.node_count or network.uniform_capacity != 1:
        return Refusal("needs links of capacity 1 and no routing nodes")
    return Refusal("needs at least 2 nodes") if network.node_count < 2 else None
