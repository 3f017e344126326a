"""How many nodes can know a message after t steps, if each passes it on once a step: closed forms and small degrees."""

from __future__ import annotations

import math

import numpy as np

from gossamer.cases.demands import Counts
from gossamer.cases.metric import at_least

__all__ = ["MAX_STEPS", "closed_form_time", "degree_time", "level_time"]

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
