"""Algorithms for wormhole switching: from a case to offers of schedules."""

from __future__ import annotations

from gossamer.cases import Proposer, Refusal
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["WormholeAlgorithm", "too_many_messages"]


def too_many_messages(count: int, most: int = 100_000_000) -> Refusal | None:
    """Return the refusal to write out `count` messages, or None if that is allowed.

    >>> too_many_messages(30_000_000, most=20_000_000)
    Refusal(why='would write out 30,000,000 messages; at most 20,000,000 are allowed')
    """
    if count <= most:
        return None
    return Refusal(f"would write out {count:,} messages; at most {most:,} are allowed")


class WormholeAlgorithm(Proposer[WormholeCase, WormholeSchedule]):
    """A named way to carry out a task with wormhole messages; see `gossamer.cases.Proposer` for its fields.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.wormhole.sequential import SEQUENTIAL
    >>> case = WormholeCase(gossamer.network("torus:9x9"), gossamer.task("broadcast"))
    >>> [a.build(case).completion_time for a in SEQUENTIAL]
    [Fraction(4496, 1)]
    """

    def build(self, case: WormholeCase) -> WormholeSchedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)
