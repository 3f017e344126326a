"""A bound that prices few steps against many: what leaves a source late has little time to spread."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Spreading", "pipelining_bound"]

_MOST_STEPS = 48
_GRID = 10**9

Floats = npt.NDArray[np.float64]


class Spreading(NamedTuple):
    """What broadcasts to all nodes ask of a network.

    Attributes
    ----------
    nodes : int
        Nodes N that must have everything.
    volume : int
        Bytes M of all messages together.
    leaving : int
        Channels that leave the sources, all together.
    receiving : int
        Channels that enter all nodes.
    holders : tuple of int
        Nodes that may hold a message after 0, 1, ... steps in which it spreads; the last is N.
    least : int
        Bytes that all steps last together at least.
    """

    nodes: int
    volume: int
    leaving: int
    receiving: int
    holders: tuple[int, ...]
    least: int


def pipelining_bound(of: Spreading, startup: Fraction, per_byte: Fraction) -> tuple[Fraction, int]:
    """Return a lower bound on the time of broadcasts, and the number of steps that attains it.

    Parameters
    ----------
    of : Spreading
        The broadcasts.
    startup, per_byte : Fraction
        Costs of a step, positive.

    Notes
    -----
    In S steps of lengths ``l_1 .. l_S`` let ``e_s`` bytes leave their sources for the first time in step s:
    ``e_s <= leaving * l_s``, and all e_s add up to M. After k steps a byte is at ``holders[k]`` nodes at most, so that
    of these bytes ``N - holders[t-s]`` copies each are still to come from step t on:
    ``receiving * (l_t + ... + l_S) >= sum over s of e_s (N - holders[max(0, t-s)])``. The least ``l_1 + ... + l_S`` is
    a linear program; its dual variables are rounded and scaled until they prove a value in exact arithmetic. The bound
    is the least ``S startup + per_byte (l_1 + ...)`` over all S; from where S start-ups and `least` are more, none is
    smaller.

    Examples
    --------
    >>> pipelining_bound(Spreading(5, 100, 2, 10, (1, 3, 5), 20), Fraction(10), Fraction(1))
    (Fraction(88, 1), 3)
    """
    fewest = len(of.holders) - 1
    best, steps = Fraction(0), 0
    for count in range(max(1, fewest), fewest + _MOST_STEPS + 1):
        floor = count * startup + of.least * per_byte
        if steps and floor >= best:
            return _rounded(best), steps
        value = count * startup + per_byte * max(Fraction(of.least), _least_length(of, count))
        if not steps or value < best:
            best, steps = value, count
    return _rounded(min(best, (fewest + _MOST_STEPS + 1) * startup + of.least * per_byte)), steps


def _rounded(value: Fraction) -> Fraction:
    """Round down to two places, so that the bound can be read."""
    return Fraction(int(100 * value), 100) if value.denominator > 100 else value


def _least_length(of: Spreading, count: int) -> Fraction:
    """Return a proved lower bound on the bytes that `count` steps last together."""
    from scipy.optimize import linprog

    after = np.array(
        [[of.holders[min(max(0, t - s), len(of.holders) - 1)] for s in range(count)] for t in range(count)]
    )
    missing = of.nodes - after  # missing[t, s]: copies to come from step t on, of a byte that left in step s
    # variables: alpha for each step's emission, beta for each t, delta; the dual program, of which any point is a proof
    late = of.nodes - np.array([of.holders[min(count - s, len(of.holders) - 1)] for s in range(count)])
    possible = late == 0  # a byte that leaves later does not reach all
    rows, limits = [], []
    for i in range(count):
        rows.append(np.concatenate([of.leaving * (np.arange(count) == i), of.receiving * (np.arange(count) <= i), [0]]))
        limits.append(1.0)
    for s in np.flatnonzero(possible):
        rows.append(np.concatenate([-1.0 * (np.arange(count) == s), -missing[:, s], [1]]))
        limits.append(0.0)
    goal = np.zeros(2 * count + 1)
    goal[-1] = -1
    found = linprog(goal, A_ub=np.array(rows), b_ub=limits, bounds=[(0, None)] * (2 * count + 1), method="highs")
    if found.status != 0 or found.x is None:
        return Fraction(0)
    return _proved(of, missing, possible, found.x)


def _proved(of: Spreading, missing: npt.NDArray[np.int64], possible: npt.NDArray[np.bool_], point: Floats) -> Fraction:
    """Return what rounded dual variables prove."""
    count = len(missing)
    alpha = [Fraction(max(0, int(x * _GRID)), _GRID) for x in point[:count]]
    beta = [Fraction(max(0, int(x * _GRID)), _GRID) for x in point[count : 2 * count]]
    scale, sums = Fraction(1), Fraction(0)
    for i in range(count):
        sums += beta[i]
        scale = max(scale, alpha[i] * of.leaving + sums * of.receiving)
    each = [
        alpha[s] + sum((beta[t] * int(missing[t, s]) for t in range(count)), Fraction(0))
        for s in np.flatnonzero(possible).tolist()
    ]
    return min(each) * of.volume / scale if each else Fraction(0)
