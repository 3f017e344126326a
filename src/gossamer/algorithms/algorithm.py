"""Algorithms for store-and-forward switching: from a case to offers of schedules."""

from __future__ import annotations

from gossamer.cases import Case, Proposer
from gossamer.schedules import Schedule

__all__ = ["Algorithm"]


class Algorithm(Proposer[Case, Schedule]):
    """A named way to carry out a task by store-and-forward; see `gossamer.cases.Proposer` for its fields.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.algorithms.broadcast import BROADCAST
    >>> case = Case(gossamer.network("ring:9"), gossamer.task("broadcast"))
    >>> [a.offer(case).time for a in BROADCAST if a.covers(case)][0]
    Fraction(4, 1)
    """

    def build(self, case: Case) -> Schedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)
