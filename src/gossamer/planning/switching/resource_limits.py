"""Limits of memory and time: what is estimated to need more is left out before it is begun, and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from gossamer.atomic_files import memory_text
from gossamer.errors import TooLargeError
from gossamer.planning.switching.protocol import Switching
from gossamer.processes.memory import free_memory
from gossamer.questions.cases import EFFORTS, Case, Needs, Offer
from gossamer.reading import number
from gossamer.reading.quantities import size

_SURELY = 2
"""How many times the budget an estimate must be, so that its algorithm is left out: estimates are no better."""

_LITTLE, _LONG = Fraction(1, 100), 1.0
"""For less than such a share of the bound no search is begun that is estimated to take more than so many seconds."""

S = TypeVar("S")


@dataclass(frozen=True)
class Candidate(Generic[S]):
    """An algorithm's offer."""

    algorithm: str
    offer: Offer[S]

    @property
    def place(self) -> tuple[int, bool, Fraction]:
        """Where it stands in the order of trying: the least effort first, then the smallest promise."""
        return (EFFORTS.index(self.offer.effort), self.offer.time is None, self.offer.time or Fraction(0))


def in_turn(found: Sequence[Candidate[S]], effort: str) -> list[Candidate[S]]:
    """Return the candidates of no more than an effort in the order of trying; the first one where there are none."""
    allowed = [c for c in found if EFFORTS.index(c.offer.effort) <= EFFORTS.index(effort)]
    return sorted(allowed or found[:1], key=lambda c: c.place)


Told = tuple[Candidate[Any], Needs | None]


@dataclass(frozen=True)
class ResourceLimits:
    """Bytes and seconds that a plan may take, None for no limit, and whether whatever may gain a step is tried."""

    memory: int | None
    budget: float | None
    thorough: bool = False


@dataclass(frozen=True)
class FittingCandidates(Generic[S]):
    """The candidates within the limits, and what is said of the others."""

    candidates: list[Candidate[S]]
    left_out: str = ""


def limits(memory: int | str | None, budget: float | None, effort: str = "search") -> ResourceLimits:
    """Return the limits that are asked for; by default what memory the machine has, and any time that is worth it.

    Who gives a budget, or asks for a solver, wants whatever may gain a step.

    >>> limits("8GiB", None)
    ResourceLimits(memory=8589934592, budget=None, thorough=False)
    """
    held = free_memory() if memory is None else size(memory, "memory")
    thorough = budget is not None or EFFORTS.index(effort) > EFFORTS.index("search")
    return ResourceLimits(held, None if budget is None else number(budget, "budget", above=0), thorough)


def hardly_worth(needs: Needs | None, time: Fraction, least: Fraction) -> bool:
    """Return whether a search takes long, where a time is at hand that is hardly more than a bound.

    >>> hardly_worth(Needs(500_000, 10**8, 37.0), Fraction(172), Fraction(171))
    True
    >>> hardly_worth(Needs(500_000, 10**8, 37.0), Fraction(174), Fraction(171))
    False
    """
    return _long(needs) > 0 and time <= least * (1 + _LITTLE)


def _long(needs: Needs | None) -> float:
    """Return the seconds of what takes long, else 0."""
    return needs.seconds if needs is not None and needs.seconds > _LONG else 0.0


def hardly_worth_text(left: Sequence[Told]) -> str:
    """Return what is said of searches that were not begun because of that, or an empty text."""
    if not left:
        return ""
    return f"not tried for less than {_LITTLE * 100} %: {_listed(left)}; a budget tries them"


def time_text(seconds: float) -> str:
    """Return a rough time for people.

    >>> time_text(0.2), time_text(12.3), time_text(600), time_text(2e6)
    ('1 s', '12 s', '10 min', '556 h')
    """
    if seconds < 120:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{round(seconds / 3600):,} h"


def expected(kind: Switching[Any, Any], case: Case, candidate: Candidate[Any], renamed: bool) -> Needs | None:
    """Return what a candidate needs, about; None if that is not known. A schedule that is renamed is written out."""
    offer = replace(candidate.offer, orbit=1) if renamed else candidate.offer
    return kind.needs(case, offer)


def fitting(
    kind: Switching[Any, Any], case: Case, candidates: Sequence[Candidate[S]], allowed: ResourceLimits, renamed: bool
) -> FittingCandidates[S]:
    """Return the candidates that are estimated to stay within the limits; of those that take long, the quicker first.

    Raises `TooLargeError` if none stays within the memory. Of those that are all expected to take longer than the
    budget, the quickest is kept.
    """
    told = [(c, expected(kind, case, c, renamed)) for c in candidates]
    small = [(c, n) for c, n in told if _fits(n, allowed.memory)]
    if not small:
        raise TooLargeError(_too_large(case, told, allowed.memory or 0))
    budget = allowed.budget
    quick = [(c, n) for c, n in small if budget is None or n is None or n.seconds <= _SURELY * budget]
    quick = quick or [min(small, key=lambda pair: 0.0 if pair[1] is None else pair[1].seconds)]
    kept = {id(c) for c, _ in small}, {id(c) for c, _ in quick}
    quick.sort(key=lambda pair: (pair[0].place, _long(pair[1])))
    text = []
    if large := [pair for pair in told if id(pair[0]) not in kept[0]]:
        text.append(f"not tried with {memory_text(allowed.memory or 0)} of memory: {_listed(large)}")
    if slow := [pair for pair in small if id(pair[0]) not in kept[1]]:
        text.append(f"not tried in {budget:g} s: {_listed(slow)}")
    return FittingCandidates([c for c, _ in quick], "; ".join(text))


def _fits(needs: Needs | None, memory: int | None) -> bool:
    return needs is None or memory is None or needs.bytes <= memory


def _listed(left: Sequence[Told]) -> str:
    words = {c.algorithm: f"about {memory_text(n.bytes)} and {time_text(n.seconds)}" for c, n in left if n is not None}
    return ", ".join(f"{name} ({about})" for name, about in words.items())


def _too_large(case: Case, told: Sequence[Told], memory: int) -> str:
    """Return what the smallest of the candidates needs, and what would fit."""
    least, found = min(((c, n) for c, n in told if n is not None), key=lambda pair: pair[1].bytes)
    hint = "" if least.offer.stream is None else "; --stream keeps no hop"
    return (
        f"{case.task.word} on {case.network.spec} needs about {memory_text(found.bytes)} of memory and "
        f"{time_text(found.seconds)} (by {least.algorithm}, for {found.hops:,} hops), and {memory_text(memory)} are "
        f"allowed (--memory): about {int(found.hops * (memory / found.bytes)):,} hops would fit{hint}"
    )
