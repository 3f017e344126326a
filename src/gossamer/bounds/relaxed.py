"""The case with plain links that a case with times, or with switches that cut through, is never faster than."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case

__all__ = ["relaxed", "relaxed_bounds"]


def relaxed(case: Case) -> Case:
    """Return the case on plain links, with storing switches.

    Notes
    -----
    Links without time are faster. A switch that cuts through passes a packet on in the slot in which it comes; very
    small parts come as close to that as one likes, so bounds for split messages hold for it.
    """
    net, rules = case.network, case.rules
    plain = net.without_time
    if rules.cut_through:
        rules = replace(rules, cut_through=False, split=True)
    if plain is net and rules == case.rules:
        return case
    return case.related(network=plain, rules=rules)


def relaxed_bounds(case: Case, families: tuple[Callable[[Case], Iterator[Bound]], ...]) -> Iterator[Bound]:
    """Yield the bounds of families that know plain links and storing switches only."""
    other = relaxed(case)
    for family in families:
        for bound in family(other):
            yield replace(bound, value=Fraction(-(-bound.value // 1))) if case.whole else bound
