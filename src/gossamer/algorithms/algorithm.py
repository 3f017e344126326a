"""Algorithms for store-and-forward switching: from a case to offers of schedules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from gossamer.algorithms.preconditions import refuse_passing_on
from gossamer.graphs.retiming import longest_hop, retimed
from gossamer.questions.cases import Case, Offer, Proposer, Refusal
from gossamer.questions.tasks import PartialSumAllreduce, includes
from gossamer.schedules import Schedule

__all__ = ["Algorithm"]


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
