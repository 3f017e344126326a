"""Further bounds for a message that spreads from node to node: closed forms, and nodes with few neighbors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.broadcasts import Spread, doubling_time, spreads_of, tree_time
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.metric import at_least
from gossamer.writing import quantity

__all__ = ["MAX_STEPS", "closed_form_time", "degree_time", "level_time", "spread_bounds"]

# How many nodes can know a message after t steps, if each passes it on once a step: closed forms and small degrees.

_MANY = 2.0**50
"""Counts from here on are not told apart; they exceed any number of nodes."""

MAX_STEPS = 400
"""Broadcasts that take longer are left to the other bounds."""


def closed_form_time(distance: int, nodes: int, stirling: bool = False) -> float:
    """Return the steps that Corollary 3.4 gives for R_d nodes at distance d or more; real-valued.

    Parameters
    ----------
    distance : int
        d, at least 1: for d = 0 the corollary is false (errata 9.4).
    nodes : int
        R_d, at least 1.
    stirling : bool
        Whether to use the weaker form for R_d below 4^(d-1), after Stirling.

    Returns
    -------
    float
        2d-1, ``log2(4^(d-1) + R_d)`` or ``d/2 + (d! (R_d-1))^(1/(d+1))`` for R_d equal to, above or below 4^(d-1).

    References
    ----------
    Dimakopoulos 1996, Corollary 3.4.

    Examples
    --------
    >>> closed_form_time(2, 4), closed_form_time(2, 12), round(closed_form_time(3, 5), 3)
    (3.0, 4.0, 3.713)
    """
    d, limit = distance, 4 ** (distance - 1)
    if nodes == limit:
        return float(2 * d - 1)
    if nodes > limit:
        return math.log2(limit + nodes)
    if nodes < 2:
        return d / 2
    if stirling:
        logarithm = math.log(nodes - 1) + (math.log(2 * math.pi) - math.log(d + 1)) / 2
        return d / 2 + (d + 1) / math.e * math.exp(logarithm / (d + 1))
    return d / 2 + math.exp((math.lgamma(d + 1) + math.log(nodes - 1)) / (d + 1))


def level_time(distance: int, nodes: int) -> int:
    """Return ``min{t : C(t,d) >= n_d}``: on a tree, the steps to reach n_d nodes at distance d.

    References
    ----------
    Dimakopoulos 1996, Corollary 3.5.

    Examples
    --------
    >>> level_time(1, 4), level_time(2, 6), level_time(2, 7)
    (4, 4, 5)
    """
    steps, ways = distance, 1
    while ways < nodes:
        steps += 1
        ways = ways * steps // (steps - distance)
    return steps if nodes else 0


def degree_time(profile: Counts, root_links: int, node_links: int, steps: int) -> tuple[int, int, int]:
    """Return T_d, d and R_d with the largest T_d, where no node has more than a few neighbors to inform.

    Parameters
    ----------
    profile : int64[e+1]
        Number of nodes at each distance that the message must reach.
    root_links, node_links : int
        Neighbors that the root, and any other node, can inform: for the latter the degree less 1, because a node
        need not inform the one from which it has the message.
    steps : int
        A smaller bound that is known already.

    Returns
    -------
    tuple of int
        `steps`, 0 and R_0 if nothing more follows.

    Notes
    -----
    As Theorem 3.3, but g(l,t), the number of nodes informed in step t by a path of length l, is the sum of the k values
    g(l-1,t-1) .. g(l-1,t-k) for k neighbors. O(T^2) time.

    References
    ----------
    J.-C. Bermond, P. Hell, A. L. Liestman, J. G. Peters, "Broadcasting in bounded degree graphs", SIAM J. Discrete
    Mathematics 5, 1992, for d = 0.

    Examples
    --------
    >>> degree_time(np.array([1, 3, 6]), 3, 2, 4)
    (4, 0, 10)
    >>> degree_time(np.array([1, 3, 6, 12, 24, 48, 96]), 3, 2, 9)
    (10, 6, 96)
    """
    far = at_least(profile).astype(np.float64)
    best = (steps, 0, int(far[0]))
    known = [np.ones(1)]  # known[t][l]: how many nodes can be informed by step t by a path of length l
    while True:
        t = len(known) - 1
        reach = np.cumsum(known[t][::-1])[::-1][: far.size]
        short = np.flatnonzero(np.append(reach, np.zeros(far.size - reach.size)) < far)
        if not short.size or t >= MAX_STEPS:
            return best
        if t >= best[0]:
            best = (t + 1, int(short[-1]), int(far[short[-1]]))
        fresh = known[t].copy()
        for first, last, links in ((0, 1, root_links), (1, t + 1, node_links)):
            end = min(last, t + 1 - links)
            if end > first:
                fresh[first:end] -= known[t - links][first:end]
        fresh[known[t] >= _MANY] = _MANY
        known.append(np.minimum(np.append(known[t], 0) + np.append(0, fresh), _MANY))


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
