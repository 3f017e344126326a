"""A bound that prices few steps against many: what leaves a source late has little time to spread."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

__all__ = ["Spreading", "pipelining_bound"]

_MOST_STEPS = 48
_CLOSELY = 20
"""With so many steps or fewer every step's copies are looked at; with more, only the copies that are still to come."""
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
    sending : tuple of int
        Channels that leave the nodes which may hold any message after 0, 1, ... steps; beyond the last as many as in
        it.
    """

    nodes: int
    volume: int
    leaving: int
    receiving: int
    holders: tuple[int, ...]
    least: int
    sending: tuple[int, ...]

    def held(self, steps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the nodes that may hold a message after so many steps."""
        return np.asarray(np.array(self.holders, np.int64)[np.clip(steps, 0, len(self.holders) - 1)], np.int64)

    def busy(self, steps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the channels over which copies may come in one step after so many others."""
        sending = np.minimum(self.receiving, np.array(self.sending, np.int64))
        return np.asarray(sending[np.clip(steps, 0, len(self.sending) - 1)], np.int64)


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
    ``e_s <= leaving * l_s``, and all e_s add up to M. Of these bytes let ``x_st`` copies come to nodes in step t. They
    come from nodes that have any, ``x_st <= busy[t-s] l_t``, as all copies do, ``sum over s of x_st <= busy[t-1] l_t``;
    after step t there are at most ``e_s (holders[t-s+1] - 1)`` of them, and in the end ``e_s (N - 1)``. The least
    ``l_1 + ... + l_S`` is a linear program; its dual variables are rounded and scaled until they prove a value in exact
    arithmetic. With many steps the program has only the copies ``e_s (N - holders[t-s])`` that are still to come from
    step t on, which take ``receiving * (l_t + ... + l_S)``. The bound is the least ``S startup + per_byte (l_1 + ...)``
    over all S; from where S start-ups and `least` are more, none is smaller.

    Examples
    --------
    >>> pipelining_bound(Spreading(5, 100, 2, 10, (1, 3, 5), 20, (2, 6, 10)), Fraction(10), Fraction(1))
    (Fraction(5071, 50), 3)
    """
    fewest = len(of.holders) - 1
    best, steps = Fraction(0), 0
    for count in range(max(1, fewest), fewest + _MOST_STEPS + 1):
        floor = count * startup + of.least * per_byte
        if steps and floor >= best:
            return _rounded(best), steps
        value = count * startup + per_byte * max(Fraction(of.least), _least_length(of, count))
        if count <= _CLOSELY and (not steps or value < best):
            value = max(value, count * startup + per_byte * _least_of_copies(of, count))
        if not steps or value < best:
            best, steps = value, count
    return _rounded(min(best, (fewest + _MOST_STEPS + 1) * startup + of.least * per_byte)), steps


def _rounded(value: Fraction) -> Fraction:
    """Round down to two places, so that the bound can be read."""
    return Fraction(int(100 * value), 100) if value.denominator > 100 else value


def _least_length(of: Spreading, count: int) -> Fraction:
    """Return a proved lower bound on the bytes that `count` steps last together."""
    from scipy.optimize import linprog

    every = np.arange(count)
    missing = of.nodes - of.held(every[:, None] - every)  # copies to come from step t on, of a byte that left in s
    # variables: alpha for each step's emission, beta for each t, delta; the dual program, of which any point is a proof
    possible = of.held(count - every) == of.nodes  # a byte that leaves later does not reach all
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


def _least_of_copies(of: Spreading, count: int) -> Fraction:
    """Return a proved lower bound on the bytes that `count` steps last together, by the copies that come in each."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    possible = count + 1 - len(of.holders) + 1  # steps in which a byte may leave that reaches all
    s, t = (each.astype(np.int64) for each in np.nonzero(np.arange(count)[:possible, None] <= np.arange(count)))
    pairs, copy = s.size, count + possible + np.arange(s.size)  # columns: the lengths, what leaves, the copies
    rows: list[npt.NDArray[np.int64]] = []
    columns: list[npt.NDArray[np.int64]] = []
    values: list[npt.NDArray[np.int64]] = []

    def put(row: npt.ArrayLike, column: npt.ArrayLike, value: npt.ArrayLike) -> None:
        for where, what in zip((rows, columns, values), np.broadcast_arrays(row, column, value), strict=True):
            where.append(np.asarray(what, np.int64).reshape(-1))

    steps, leaves = np.arange(count), count + np.arange(possible)
    put(0, leaves, -1)  # all leaves
    first = 1  # e_s <= leaving l_s
    put(first + np.arange(possible), leaves, 1)
    put(first + np.arange(possible), steps[:possible], -of.leaving)
    first += possible  # all copies of a step
    put(first + t, copy, 1)
    put(first + steps, steps, -of.busy(steps))
    first += count  # copies of what left in step s, until step t; and in step t
    upto = (s[:, None] == s) & (t[:, None] >= t)
    put(first + np.nonzero(upto)[0], copy[np.nonzero(upto)[1]], 1)
    put(first + np.arange(pairs), count + s, 1 - of.held(t - s + 1))
    first += pairs
    put(first + np.arange(pairs), copy, 1)
    put(first + np.arange(pairs), t, -of.busy(t - s))
    first += pairs  # all copies
    put(first + s, copy, -1)
    put(first + np.arange(possible), leaves, of.nodes - 1)
    height = first + possible
    matrix = coo_array(
        (np.concatenate(values).astype(float), (np.concatenate(rows), np.concatenate(columns))),
        shape=(height, count + possible + pairs),
    ).tocsr()
    limits, goal = np.zeros(height), np.zeros(matrix.shape[1])
    limits[0], goal[:count] = -1, 1
    found = linprog(goal, A_ub=cast(Any, matrix), b_ub=limits, bounds=(0, None), method="highs")
    if found.status != 0:
        return Fraction(0)
    dual = [Fraction(max(0, round(-y * _GRID)), _GRID) for y in found.ineqlin.marginals]
    return _proved_by_copies(of, count, dual, s.tolist(), t.tolist())


def _proved_by_copies(of: Spreading, count: int, dual: list[Fraction], s: list[int], t: list[int]) -> Fraction:
    """Return what rounded dual variables of the rows of `_least_of_copies` prove."""
    pairs, possible, at = len(s), s[-1] + 1, 1
    alpha = dual[at : at + possible]
    beta = dual[at + possible : at + possible + count]
    at += possible + count
    until, within = dual[at : at + pairs], dual[at + pairs : at + 2 * pairs]
    length = [beta[i] * int(of.busy(i)) + (alpha[i] * of.leaving if i < possible else 0) for i in range(count)]
    need: list[Fraction | None] = [None] * possible  # the least that a copy of what left in step s costs
    spread, later = [Fraction(0)] * possible, [Fraction(0)] * possible
    for k in range(pairs - 1, -1, -1):  # for each s the last t first
        later[s[k]] += until[k]
        spread[s[k]] += until[k] * (int(of.held(t[k] - s[k] + 1)) - 1)
        length[t[k]] += within[k] * int(of.busy(t[k] - s[k]))
        costs, before = beta[t[k]] + later[s[k]] + within[k], need[s[k]]
        need[s[k]] = costs if before is None else min(before, costs)
    each = [alpha[i] + (need[i] or Fraction(0)) * (of.nodes - 1) - spread[i] for i in range(possible)]
    scale = max(length)
    return max(Fraction(0), min(each)) * of.volume / scale if scale else Fraction(0)
