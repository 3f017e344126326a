"""Algorithms for store-and-forward switching: from a case to offers of schedules; what many of them require."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from gossamer.graphs.retiming import longest_hop, retimed
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Proposer, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialSumAllreduce, includes
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import MAX_HOPS

__all__ = [
    "Algorithm",
    "refuse_buffers",
    "refuse_capacities",
    "refuse_hops",
    "refuse_irregular",
    "refuse_limits",
    "refuse_one_way_links",
    "refuse_passing_on",
    "refuse_ports",
    "refuse_send_limit",
    "refuse_unequal_links",
]


def refuse_ports(rules: Rules, held: int | None = None) -> Refusal | None:
    """Refuse for an algorithm that needs all ports and may keep `held` packets at a node (None: any number), or not.

    >>> refuse_ports(Rules(ports="one")).why
    'is for all-port nodes, not one-port'
    """
    if rules.ports != "all":
        return Refusal(f"is for all-port nodes, not {rules.ports_text}")
    return refuse_buffers(rules, held)


def refuse_send_limit(rules: Rules) -> Refusal | None:
    """Refuse for an algorithm in which nodes send on many links at once, but receive on one, or not.

    >>> refuse_send_limit(Rules(ports="one-send")).why, refuse_send_limit(Rules(ports="one-receive"))
    ('is for all-port nodes, not one-port sending', None)
    """
    return Refusal(f"is for all-port nodes, not {rules.ports_text}") if rules.send_limited else None


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


def refuse_limits(case: Case) -> Refusal | None:
    """Refuse for an algorithm of unsegmented messages on all ports, which does not limit what a node holds, or not.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("allgather"), Rules(ports="one"))
    >>> refuse_limits(case).why
    'is for all ports'
    """
    refusal = refuse_buffers(case.rules)
    if refusal is None and (case.send_limited or case.receive_limited):
        refusal = Refusal("is for all ports")
    if refusal is None and case.rules.segmented:
        refusal = Refusal("is for unsegmented messages")
    return refusal


def refuse_unequal_links(case: Case) -> Refusal | None:
    """Refuse as `refuse_limits` does, and where some links take longer than others.

    >>> import gossamer
    >>> mixed = gossamer.network("ring:4").with_times([1] * 7 + [2], 0)
    >>> refuse_unequal_links(Case(mixed, gossamer.task("allgather"), Rules())).why
    'needs links of equal times'
    """
    refusal = refuse_limits(case)
    if refusal is None and (case.network.uniform_occupancy is None or case.network.uniform_latency is None):
        refusal = Refusal("needs links of equal times")
    return refusal


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


@dataclass(frozen=True)
class Algorithm(Proposer[Case, Schedule]):
    """A named way to carry out a task by store-and-forward.

    See `gossamer.questions.cases.Proposer` for its further fields.

    Attributes
    ----------
    passes_on : bool
        Whether it also covers cases whose rules let switches only pass packets on: not copy what is copied, not combine
        what is combined.
    timed : bool
        Whether it builds for links that take time, and for switches that cut through, itself. Any other is asked for
        plain links and switches that store, and what it builds is retimed (`gossamer.graphs.retiming`).

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.algorithms import algorithms_for
    >>> case = Case(gossamer.network("ring:9"), gossamer.task("broadcast"))
    >>> [a.offer(case).time for a in algorithms_for(type(case.task)) if a.covers(case)][0]
    Fraction(4, 1)
    >>> slow = case.related(network=case.network.with_times(3, 0))
    >>> [a.offer(slow).time for a in algorithms_for(type(case.task)) if a.covers(slow)][0]
    Fraction(12, 1)
    """

    passes_on: bool = False
    timed: bool = False

    def offers(self, case: Case, *, streamed: bool = False) -> tuple[Offer[Schedule], ...] | Refusal:
        """Return what the algorithm proposes for a case, or why it does not cover it.

        See `gossamer.questions.cases.Proposer`.
        """
        if PartialSumAllreduce not in self.tasks and includes(case.task, PartialSumAllreduce):
            return Refusal("sends each contribution once, and adds up no partial sums")
        refusal = None if self.passes_on else refuse_passing_on(case)
        if refusal is None and not self.timed and not (case.network.plain and not case.rules.cut_through):
            return self._retimed_offers(case, streamed)
        return refusal or super().offers(case, streamed=streamed)

    def _retimed_offers(self, case: Case, streamed: bool) -> tuple[Offer[Schedule], ...] | Refusal:
        refusal = _refuse_times(case, streamed)
        if refusal is not None:
            return refusal
        plain = case.related(case.network.without_time, rules=replace(case.rules, cut_through=False))
        found = super().offers(plain)
        return found if isinstance(found, Refusal) else tuple(_late(offer, case) for offer in found)

    def build(self, case: Case) -> Schedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)


def _refuse_times(case: Case, streamed: bool) -> Refusal | None:
    """Refuse what retiming does not keep, or not."""
    if streamed:
        return Refusal("cannot stream its hops where links take time or switches cut through")
    if case.control_time:
        return Refusal("needs control packets that take no time where links do, or where switches cut through")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds where links take time or switches cut through")
    return None


def _late(offer: Offer[Schedule], case: Case) -> Offer[Schedule]:
    """Return the offer of the retimed schedule, which takes at most the slowest hop for each slot."""
    # latencies are those of whole packets, so that they weigh more where messages are split
    net = case.network
    bounded = offer.time is not None and (case.whole or net.uniform_latency == 0)
    if net.shared_ports is not None or net.parallel:  # there a slot's hops also wait for each other
        bounded = False
    return replace(
        offer,
        build=lambda: retimed(offer.build(), case.network, case.rules),
        time=offer.time * longest_hop(case.network) if offer.time is not None and bounded else None,
        at_most=bounded,
        optimal=False,
        least=Fraction(0),
        stream=None,
        orbit=offer.orbit if net.alike else 1,
        hop_bytes=offer.hop_bytes + 60,
        hop_seconds=offer.hop_seconds + 5e-7,
    )
