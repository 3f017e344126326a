"""Algorithms for store-and-forward switching: from a case to offers of schedules."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.algorithms.refusals import refuse_passing_on
from gossamer.cases import Case, Offer, Proposer, Refusal
from gossamer.schedules import Schedule

__all__ = ["Algorithm"]


@dataclass(frozen=True)
class Algorithm(Proposer[Case, Schedule]):
    """A named way to carry out a task by store-and-forward; see `gossamer.cases.Proposer` for its further fields.

    Attributes
    ----------
    passes_on : bool
        Whether it also covers cases whose rules let switches only pass packets on: not copy what is copied, not combine
        what is combined.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.algorithms.broadcast import BROADCAST
    >>> case = Case(gossamer.network("ring:9"), gossamer.task("broadcast"))
    >>> [a.offer(case).time for a in BROADCAST if a.covers(case)][0]
    Fraction(4, 1)
    """

    passes_on: bool = False

    def offers(self, case: Case, *, streamed: bool = False) -> tuple[Offer[Schedule], ...] | Refusal:
        """Return what the algorithm proposes for a case, or why it does not cover it; see `gossamer.cases.Proposer`."""
        refusal = None if self.passes_on else refuse_passing_on(case)
        return refusal or super().offers(case, streamed=streamed)

    def build(self, case: Case) -> Schedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)
