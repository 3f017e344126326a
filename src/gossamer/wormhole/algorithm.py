"""Algorithms for wormhole switching: from a case to offers of schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from gossamer.cases import Offer, Proposer, Refusal
from gossamer.rules import Rules
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.one_port import with_limited_ports
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


@dataclass(frozen=True)
class WormholeAlgorithm(Proposer[WormholeCase, WormholeSchedule]):
    """A named way to carry out a task with wormhole messages; see `gossamer.cases.Proposer` for its other fields.

    Attributes
    ----------
    anywhere : bool
        Whether it is asked on networks that are no arrays or tori.
    limited : bool
        Whether it is asked of cases in which a node sends or receives one message a step. Otherwise what it builds for
        all ports is spread over more steps.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.wormhole.sequential import SEQUENTIAL
    >>> case = WormholeCase(gossamer.network("torus:9x9"), gossamer.task("broadcast"))
    >>> [a.build(case).completion_time for a in SEQUENTIAL]
    [Fraction(4496, 1)]
    """

    anywhere: bool = False
    limited: bool = False

    def offers(self, case: WormholeCase, *, streamed: bool = False) -> tuple[Offer[WormholeSchedule], ...] | Refusal:
        """Return what the algorithm proposes for a case; see `gossamer.cases.Proposer.offers`."""
        if not case.channels.on_grid and not self.anywhere:
            return Refusal("needs an array or torus")
        itself = case.rules.ports == "all" or self.limited
        asked = case if itself else case.varied(rules=Rules())
        found = super().offers(asked, streamed=streamed)
        if isinstance(found, Refusal):
            return found
        if not itself:
            found = tuple(replace(offer, build=_limited(case, offer.build), time=None) for offer in found)
        if case.cost.price != "steps":  # promises are made in the time of steps
            found = tuple(replace(offer, time=None, least=Fraction(0), optimal=False) for offer in found)
        return found

    def build(self, case: WormholeCase) -> WormholeSchedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)


def _limited(case: WormholeCase, build: Callable[[], WormholeSchedule]) -> Callable[[], WormholeSchedule]:
    return lambda: with_limited_ports(build(), case)
