"""A lower bound on broadcasts by wormhole messages: in few steps some messages must go far, and take many channels.

In T steps, hop by hop, a message comes no further than T hops from its origin. What lies beyond is reached over
messages of several hops, each of which occupies as many channels, and opens only so much more of the network.
`least_length` proves how long the steps must be for that; see `docs/explanation/wormhole.md`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_GRID, _SIMPLE = 10**9, 10**4
_MOST_STEPS, _MOST_MORE = 24, 10
_DEAR = 1000
"""What the slack costs; any price is right, and a high one shows that so few steps are not enough."""


class Covering(NamedTuple):
    """What broadcasts to all nodes ask of a network.

    * `distance`, int64[N, N]: hops from each node to each other, in the direction in which messages spread.
    * `sources`, int64[s]: the origin of each message of one length.
    * `own`: the part of all bytes that one node has at the start, at most.
    * `channels`: channels of the network.
    * `out`, `into`: messages that a node sends, and receives, in a step at most.
    * `fewest`: steps that are needed.
    * `least`: the part of all bytes that the steps last together at least.
    * `late`: of some sets of nodes: the number of last steps in which it is too late for a message to begin to enter,
      channels into the set, and the part of all bytes that must enter.
    """

    distance: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    own: Fraction
    channels: int
    out: int
    into: int
    fewest: int
    least: Fraction
    late: tuple[tuple[int, int, Fraction], ...]

    def opened(self, reach: int) -> list[tuple[Fraction, Fraction]]:
        """Return prices of the nodes that a message opens: for each hop beyond its first, and for itself.

        It opens those within `reach` hops of its target which are not within one hop more of its source. They are no
        more than any of the pairs says: the sides of the hull of the numbers at all distances.

        >>> import numpy as np
        >>> line = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
        >>> of = Covering(line, np.arange(9), Fraction(1, 9), 16, 2, 2, 2, Fraction(0), ())
        >>> [[str(price) for price in side] for side in of.opened(1)]
        [['1', '0'], ['0', '3']]
        """
        within = (self.distance <= reach).astype(np.float32)
        beyond = (self.distance > reach + 1).astype(np.float32)
        gained = within @ beyond.T  # [target, source]
        hops = self.distance.T
        corners = [(0, 0)]
        for far in range(2, int(hops.max()) + 1):
            new = far - 1, int(gained[hops == far].max(initial=0))
            if new[1] <= corners[-1][1]:
                continue
            while len(corners) > 1 and _slope(corners[-2], new) >= _slope(*corners[-2:]):
                corners.pop()
            corners.append(new)
        sides = [(_slope(one, two), one[1] - _slope(one, two) * one[0]) for one, two in pairwise(corners)]
        return [*sides, (Fraction(0), Fraction(corners[-1][1]))]


def _slope(one: tuple[int, int], two: tuple[int, int]) -> Fraction:
    return Fraction(two[1] - one[1], two[0] - one[0])


def least_length(of: Covering, steps: int, *, told: bool = True) -> Fraction:
    """Return a proved lower bound on the part of all bytes that so many steps last together.

    `of`: the broadcasts. `steps`: steps T. `told`: whether a message is no longer than what its sender has at the start
    and received since.

    Means over all bytes: in step t a byte comes to ``n_t`` nodes for the first time, over ``n_t + e_t`` channels; steps
    last for ``l_t`` of all bytes. The program is ``n_t + e_t <= channels * l_t``, ``n_t <= out * (1 + n_1 + ... +
    n_(t-1))``, ``n_1 + ... + n_T = N - 1``, ``l_t <= own + into * (l_1 + ... + l_(t-1))``, ``l_1 + ... + l_T >=
    least``, and with ``c_t`` the nodes opened in step t, ``c_t <= hop * e_t + itself * n_t`` for all prices of
    `Covering.opened`, ``c_1 + ... + c_T >= N -`` nodes within T hops of the origin; and what enters a set enters it
    soon enough. Where it has no solution a slack z, which is 0 in every schedule, makes one. Dual variables are
    rounded; what they miss is made good by bounds of the variables, so that the value is proved in exact arithmetic.

    >>> import numpy as np
    >>> ring = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    >>> ring = np.minimum(ring, 30 - ring)
    >>> of = Covering(ring, np.arange(30), Fraction(1, 30), 60, 2, 2, 4, Fraction(29, 60), ())
    >>> [str(30 * least_length(of, steps)) for steps in (5, 6, 15)]
    ['24', '23', '29/2']
    """
    from scipy.optimize import linprog

    nodes, count = len(of.distance), steps
    inside = Fraction(int((of.distance[of.sources] <= steps).sum()), of.sources.size)
    n, e, c, length = (range(k * count, (k + 1) * count) for k in range(4))
    slack, width = 4 * count, 4 * count + 1
    rows: list[dict[int, Fraction]] = []  # each is at least its limit
    limits: list[Fraction] = []

    def put(limit: Fraction | int, *terms: tuple[int, Fraction | int]) -> None:
        rows.append({column: Fraction(value) for column, value in terms})
        limits.append(Fraction(limit))

    for t in range(count):
        put(0, (length[t], of.channels), (n[t], -1), (e[t], -1))
        put(-of.out, (n[t], -1), *((n[s], of.out) for s in range(t)))
        for hop, itself in of.opened(steps - 1 - t):
            put(0, (e[t], hop), (n[t], itself), (c[t], -1))
        if told:
            put(-of.own, (length[t], -1), *((length[s], of.into) for s in range(t)))
    put(nodes - 1, *((n[t], 1) for t in range(count)))
    put(of.least, *((length[t], 1) for t in range(count)))
    put(nodes - inside, (slack, 1), *((c[t], 1) for t in range(count)))
    for late, channels, part in of.late if told else ():
        put(part, (slack, 1), *((length[t], channels) for t in range(count - late)))
    goal = [Fraction(0)] * (3 * count) + [Fraction(1)] * count + [Fraction(_DEAR)]
    most = [nodes - 1] * count + [of.channels] * count + [nodes] * count + [1] * count + [nodes]
    matrix = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = [float(x) for x in row.values()]
    found = linprog(
        [float(x) for x in goal], A_ub=-matrix, b_ub=[-float(x) for x in limits],
        bounds=[(0, float(x)) for x in most], method="highs",
    )  # fmt: skip
    if found.status != 0:
        return of.least
    exact = [max(Fraction(0), Fraction(-float(y))) for y in found.ineqlin.marginals]
    rounded = ([Fraction(round(y * _GRID), _GRID) for y in exact], [y.limit_denominator(_SIMPLE) for y in exact])
    return max(of.least, *(_proved(rows, limits, goal, most, dual) for dual in rounded))


def _proved(
    rows: list[dict[int, Fraction]], limits: list[Fraction], goal: list[Fraction], most: list[int], dual: list[Fraction]
) -> Fraction:
    """Return what any dual variables, not negative, prove: of columns that cost less than priced, `most` can be had."""
    left, value = list(goal), Fraction(0)
    for row, limit, price in zip(rows, limits, dual, strict=True):
        if price:
            value += limit * price
            for column, factor in row.items():
                left[column] -= factor * price
    return value + sum((min(Fraction(0), x) * bound for x, bound in zip(left, most, strict=True)), Fraction(0))


def late_sets(
    distance: npt.NDArray[np.int64], into: npt.NDArray[np.int64], sources: npt.NDArray[np.int64], out: int
) -> tuple[tuple[int, int, Fraction], ...]:
    """Return of balls of nodes what `Covering` asks of sets, the best ball of each radius.

    `distance`, int64[N, N]: hops. `into`, int64[N, N]: channels from each node to each. `sources`, int64[s]: origins of
    the messages. `out`: messages that a node sends in a step at most.

    Over c channels at most c copies of a message enter a set in a step, and what is inside grows by at most `out` times
    itself. Where that is less than the set after so many steps, the message must begin to enter before.
    """
    found = []
    for radius in range(int(distance.max())):
        inside = distance <= radius  # a row for each center
        channels = ((~inside @ into) * inside).sum(axis=1)
        best: tuple[Fraction, int, int, Fraction] | None = None
        for ball, entering in zip(inside, channels.tolist(), strict=True):
            if not entering:
                continue
            late, copies = 0, entering
            while copies < ball.sum():
                late, copies = late + 1, copies * (1 + out) + entering
            part = Fraction(int((~ball[sources]).sum()), sources.size)
            if late and (best is None or part / entering > best[0]):
                best = part / entering, late, entering, part
        if best is not None:
            found.append(best[1:])
    return tuple(found)


def covering_bound(of: Covering, startup: Fraction, whole: Fraction) -> tuple[Fraction, int]:
    """Return a lower bound on the time of broadcasts, and the number of steps that attains it.

    `of`: the broadcasts. `startup`, `whole`: cost of a start-up, and of all bytes one after the other.
    """
    best, steps = Fraction(0), 0
    for count in range(max(1, of.fewest), of.fewest + _MOST_STEPS + 1):
        if steps and count * startup + of.least * whole >= best:
            return _rounded(best), steps
        value = count * startup + least_length(of, count) * whole
        if not steps or value < best:
            best, steps = value, count
    return _rounded(min(best, (of.fewest + _MOST_STEPS + 1) * startup + of.least * whole)), steps


def covering_bound_both_ways(
    first: Covering, second: Covering, startup: Fraction, whole: Fraction
) -> tuple[Fraction, int]:
    """Return a lower bound on the time of reductions, each followed by a broadcast of the result, and its steps.

    Each byte is reduced in some steps and broadcast in the others. Steps last together for at least the channels that
    both take in the best division, and for the `least` of `first`, which is that of both.
    """
    best, steps = Fraction(0), 0
    fewest = max(1, first.fewest) + max(1, second.fewest)
    channels: dict[tuple[bool, int], Fraction] = {}

    def taken(of: Covering, later: bool, steps: int) -> Fraction:
        if (later, steps) not in channels:
            channels[later, steps] = least_length(of._replace(least=Fraction(0)), steps, told=False)
        return channels[later, steps]

    for more in range(_MOST_MORE):
        count = fewest + more
        if steps and count * startup + first.least * whole >= best:
            return _rounded(best), steps
        ways = [(max(1, first.fewest) + k, max(1, second.fewest) + more - k) for k in range(more + 1)]
        length = max(first.least, min(taken(first, False, one) + taken(second, True, two) for one, two in ways))
        value = count * startup + length * whole
        if not steps or value < best:
            best, steps = value, count
    return _rounded(min(best, (fewest + _MOST_MORE) * startup + first.least * whole)), steps


def _rounded(value: Fraction) -> Fraction:
    """Round down to two places, so that the bound can be read."""
    return Fraction(int(100 * value), 100) if value.denominator > 100 else value
