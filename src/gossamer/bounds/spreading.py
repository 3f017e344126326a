"""Further bounds for a message that spreads from node to node: closed forms, and nodes with few neighbors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from gossamer.bounds.bound import Bound
from gossamer.bounds.broadcasts import Spread, doubling_time, spreads_of, tree_time
from gossamer.bounds.spread_counts import MAX_STEPS, closed_form_time, degree_time, level_time
from gossamer.cases import Case
from gossamer.cases.metric import at_least
from gossamer.writing import quantity

__all__ = ["spread_bounds"]

_FURTHEST = 64
"""Distances, the largest ones, for which the closed form is evaluated: never more than the bound it approximates."""


def spread_bounds(case: Case) -> Iterator[Bound]:
    """Yield what few neighbors ask for, and the bounds that Theorem 3.3 or the exact time of a tree include.

    The latter are easier to see: two furthest nodes, Corollary 3.4, and on trees Corollary 3.5.
    """
    if not case.whole:
        return
    for demand, spreads in spreads_of(case):
        known = max(doubling_time(profile)[0] for _, profile, _ in spreads)
        yield from _few_neighbors(case, demand.what, demand.outward, known, spreads)
        verb = "reach" if demand.outward else "come from"
        way = "passing it on once a step" if demand.outward else "taking in one a step"
        yield from _furthest(case, demand.what, verb, way, spreads)
        yield from _closed_form(case, demand.what, verb, way, spreads)
        yield from _tree_level(case, demand.what, verb, way, spreads)


def _furthest(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    twins = [(profile.size, int(profile[-1]), v) for v, profile, _ in spreads if profile.size > 1 and profile[-1] > 1]
    if twins:
        steps, count, node = max(twins)
        text = (
            f"the {what} of node {case.name(node)} must {verb} {quantity(count, 'node')} "
            f"{quantity(steps - 1, 'hop')} away, {way}: only one of them without a wait"
        )
        yield Bound("two furthest nodes", Fraction(steps), text, "broadcast", "Fraigniaud and Lazard 1994")


def _closed_form(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    found = [
        (math.ceil(closed_form_time(d, int(far[d])) - 1e-9), d, int(far[d]), v)
        for v, far in ((v, at_least(profile)) for v, profile, _ in spreads)
        for d in range(max(1, far.size - _FURTHEST), far.size)
    ]
    if found:
        steps, distance, count, node = max(found)
        text = (
            f"the {what} of node {case.name(node)} must {verb} {quantity(count, 'node')} at least "
            f"{quantity(distance, 'hop')} away, {way}"
        )
        yield Bound("doubling, closed form", Fraction(steps), text, "broadcast", "Dimakopoulos 1996, Corollary 3.4")


def _tree_level(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    found = [
        (level_time(d, int(profile[d])), d, int(profile[d]), v)
        for v, profile, targets in spreads[:4]
        if tree_time(case, v, targets)
        for d in range(1, profile.size)
    ]
    if found:
        steps, distance, count, node = max(found)
        text = (
            f"on a tree, the {what} of node {case.name(node)} must {verb} {quantity(count, 'node')} exactly "
            f"{quantity(distance, 'hop')} away, {way}"
        )
        yield Bound("tree level", Fraction(steps), text, "broadcast", "Dimakopoulos 1996, Corollary 3.5")


def _few_neighbors(case: Case, what: str, outward: bool, known: int, spreads: list[Spread]) -> Iterator[Bound]:
    """Yield the doubling bound for nodes that have fewer neighbors to inform than there are steps."""
    degrees = case.degrees(not outward)
    spare = 1 if int(case.network.reverse_link.min(initial=0)) >= 0 else 0
    links = int(degrees.max()) - spare  # of the largest degree, which the root may have alone
    if known > MAX_STEPS or links >= known:
        return
    found = [(*degree_time(profile, int(degrees[v]), links, known), v) for v, profile, _ in spreads]
    steps, distance, count, node = max(found)
    if steps <= known:
        return
    far = f" at least {distance} hops away" if distance else ", itself included"
    verb = "reach" if outward else "come from"
    text = (
        f"the {what} of node {case.name(node)} must {verb} {quantity(count, 'node')}{far}, "
        f"and each node {'passes it on' if outward else 'takes it in'} once a step, at most {quantity(links, 'time')}"
    )
    source = "Bermond, Hell, Liestman and Peters 1992; Dimakopoulos 1996, Theorem 3.3"
    yield Bound("doubling with few neighbors", Fraction(steps), text, "broadcast", source)
