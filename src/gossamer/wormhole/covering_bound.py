"""A lower bound on broadcasts by wormhole messages: in few steps some messages must go far, and take many channels.

In T steps, hop by hop, a message comes no further than T hops from its origin. What lies beyond is reached over
messages of several hops, each of which occupies as many channels, and opens only so much more of the network.
`least_length` proves how long the steps must be for that; see `docs/explanation/wormhole.md`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_GRID, _SIMPLE, _FINE = 10**9, 10**4, 1 << 30
_MOST_PAIRS = 2000
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
    * `around`: the sides of a torus each of whose nodes is the origin of one message; else none.
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
    around: tuple[int, ...] = ()

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


class _Program:
    """A linear program of columns that are not negative and rows that are at least their limits.

    The variables of its dual, rounded, prove a value in exact arithmetic: what they miss is made good by the most that
    each column can be.
    """

    def __init__(self) -> None:
        self.most: list[int] = []
        self.goal: list[Fraction] = []
        self.rows: list[dict[int, Fraction]] = []
        self.limits: list[Fraction] = []

    def columns(self, count: int, most: int, price: int = 0) -> range:
        """Add columns that are at most `most` each; return their numbers."""
        self.most += [most] * count
        self.goal += [Fraction(price)] * count
        return range(len(self.most) - count, len(self.most))

    def put(self, limit: Fraction | int, *terms: tuple[int, Fraction | int]) -> None:
        """Add a row: the sum of `terms`, each a column and its factor, is at least `limit`."""
        row: dict[int, Fraction] = {}
        for column, factor in terms:
            row[column] = row.get(column, Fraction(0)) + factor
        self.rows.append(row)
        self.limits.append(Fraction(limit))

    def proved(self) -> Fraction | None:
        """Return a proved lower bound on the goal; None if none is found."""
        exact = self._solved()
        if exact is None:
            return None
        return max(
            self._proved([Fraction(round(y * _GRID), _GRID) for y in exact]),
            self._proved([y.limit_denominator(_SIMPLE) for y in exact]),
        )

    def tangent(self, column: int, where: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return (v, s) such that the goal is proved to be at least v + s x where a column is x, best at `where`."""
        self.put(where, (column, 1))
        self.put(-where, (column, -1))
        exact = self._solved()
        if exact is None:
            return None
        dual = [Fraction(round(y * _FINE), _FINE) for y in exact]
        slope = dual[-2] - dual[-1]
        return self._proved(dual) - slope * where, slope

    def _solved(self) -> list[Fraction] | None:
        """Return the variables of the dual; None if no optimum is found."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        entries = [(i, column, -float(x)) for i, row in enumerate(self.rows) for column, x in row.items()]
        row, column, value = zip(*entries, strict=True)
        matrix: Any = coo_array((value, (row, column)), shape=(len(self.rows), len(self.goal))).tocsr()
        found = linprog(
            [float(x) for x in self.goal], A_ub=matrix, b_ub=[-float(x) for x in self.limits],
            bounds=[(0, float(x)) for x in self.most], method="highs",
        )  # fmt: skip
        if found.status != 0:
            return None
        return [max(Fraction(0), Fraction(-float(y))) for y in found.ineqlin.marginals]

    def _proved(self, dual: list[Fraction]) -> Fraction:
        left, value = list(self.goal), Fraction(0)
        for row, limit, price in zip(self.rows, self.limits, dual, strict=True):
            if price:
                value += limit * price
                for column, factor in row.items():
                    left[column] -= factor * price
        return value + sum((min(Fraction(0), x) * bound for x, bound in zip(left, self.most, strict=True)), Fraction(0))


_Balls = Sequence[tuple[int, int]]
"""Columns of parts of all bytes; and of each part how many nodes are as near to its origin as there are steps."""


def _spread(program: _Program, of: Covering, length: Sequence[int], parts: _Balls, slack: int, *, told: bool) -> None:
    """Add what the spread of some bytes asks of the steps in which it happens, whose columns are `length`.

    The parts are at most one message of each origin. See `least_length` for the rows, here times the part of the bytes
    that spread: ``m_t``, columns of their own, is the longest that a message of this kind has of them.
    """
    nodes, count = len(of.distance), len(length)
    n, e, c = (program.columns(count, most) for most in (nodes - 1, of.channels, nodes))
    m = program.columns(count, 1)
    for t in range(count):
        program.put(0, (m[t], of.channels), (n[t], -1), (e[t], -1))
        program.put(0, (length[t], 1), (m[t], -1))
        program.put(0, *((part, of.out) for part, _ in parts), (n[t], -1), *((n[s], of.out) for s in range(t)))
        for hop, itself in of.opened(count - 1 - t):
            program.put(0, (e[t], hop), (n[t], itself), (c[t], -1))
        if told:
            program.put(-of.own, (m[t], -1), *((m[s], of.into) for s in range(t)))
    program.put(0, *((n[t], 1) for t in range(count)), *((part, 1 - nodes) for part, _ in parts))
    program.put(0, (slack, 1), *((c[t], 1) for t in range(count)), *((part, ball - nodes) for part, ball in parts))
    for late, channels, outside in of.late if told else ():
        entering = ((m[t], channels) for t in range(count - late))
        program.put(outside - 1, (slack, 1), *entering, *((part, -1) for part, _ in parts))


def _carried(program: _Program, of: Covering, length: Sequence[int], slack: int) -> range:
    """Add columns for the most that a message carries of all broadcasts, in steps whose columns are `length`."""
    m = program.columns(len(length), 1)
    for t, column in enumerate(length):
        program.put(0, (column, 1), (m[t], -1))
        program.put(-of.own, (m[t], -1), *((m[s], of.into) for s in range(t)))
    for late, channels, outside in of.late:
        program.put(outside, (slack, 1), *((m[t], channels) for t in range(len(length) - late)))
    return m


@lru_cache(maxsize=32)
def crowded(sides: tuple[int, ...], steps: int) -> tuple[Fraction, Fraction] | None:
    """Return (v, s): broadcasts of a part x of all bytes in so few steps take v + s x channels for all bytes, at least.

    `sides`: of a torus; every node is the origin of one message. None if nothing is proved, or that is too much work.

    In a step the messages of all bytes share the channels. Means over all nodes m as origins, of the bytes that are
    counted: ``h_t(a)`` of them are at m + a after step t, ``y_t(a, d)`` come from there to m + a + d for the first time
    in step t, and ``p_t(d)`` of the nodes send a message by d. Then ``y_t(a, d)`` is at most ``p_t(d)`` and
    ``h_(t-1)(a)``, the sum over d at most the channels of a node times ``h_(t-1)(a)``, and the sum of ``|d| p_t(d)`` at
    most the channels of a node. Where b is more than k hops further than there are steps, the first arrivals on the way
    to it must catch up: for each k those are x at least, before which b is more than k hops too far for the steps that
    are left, and after which it is not. Reflections and exchanges of equal sides leave all of this as it is, so that
    one of each orbit of (a, d) is enough. The program is solved for x = 1/2; its dual proves the line for every x.

    >>> crowded((3, 3), 1) is None
    True
    """
    places = np.array(list(itertools.product(*map(range, sides))))
    count, width = len(places), np.array(sides)
    near = np.minimum(places, width - places).sum(axis=1)
    strides = np.cumprod([1, *sides[:0:-1]])[::-1]
    images = np.stack([
        ((places[:, list(order)] * signs) % width) @ strides
        for order in itertools.permutations(range(len(sides))) if all(sides[i] == sides[j] for i, j in enumerate(order))
        for signs in itertools.product((1, -1), repeat=len(sides))
    ])  # fmt: skip
    start, move = np.divmod(np.arange(count * count), count)
    end = ((places[start] + places[move]) % width) @ strides
    some = (move > 0) & (end > 0)
    start, move, end = start[some], move[some], end[some]
    key = (images[:, start] * count + images[:, move]).min(axis=0)
    _, chosen, pair, many = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    if chosen.size > _MOST_PAIRS or steps < 2:
        return None
    orbits, orbit, size = np.unique(images.min(axis=0), return_inverse=True, return_counts=True)
    ports, program = 2 * len(sides), _Program()
    part = program.columns(1, 1)[0]
    y, first, last, moved = [], orbit[start[chosen]], orbit[end[chosen]], orbit[move[chosen]]
    share = [Fraction(int(n), int(size[o])) for n, o in zip(many, last, strict=True)]
    # what is at each orbit: a sum of columns
    here: list[dict[int, Fraction]] = [{part: Fraction(1)}, *({} for _ in orbits[1:])]
    for t in range(steps):
        pattern = program.columns(orbits.size, 1)
        y.append(program.columns(chosen.size, 1))
        after = program.columns(orbits.size, 1) if t + 1 < steps else None
        sends: list[dict[int, Fraction]] = [{} for _ in orbits]
        comes: list[dict[int, Fraction]] = [dict(each) for each in here]
        for i, column in enumerate(y[t]):
            program.goal[column] = Fraction(int(near[move[chosen[i]]] * many[i]))
            program.put(0, (pattern[moved[i]], 1), (column, -1))
            program.put(0, *here[first[i]].items(), (column, -1))
            sends[first[i]][column] = Fraction(int(many[i]), int(size[first[i]]))
            comes[last[i]][column] = share[i]
        for o in range(orbits.size):
            program.put(0, *((c, ports * x) for c, x in here[o].items()), *((c, -x) for c, x in sends[o].items()))
            goal = part if after is None else after[o]
            program.put(0, *comes[o].items(), (goal, -1))
            if after is not None:
                program.put(0, (part, 1), (after[o], -1))
        program.put(-ports, *((pattern[o], -int(near[v] * size[o])) for o, v in enumerate(orbits.tolist())))
        if after is not None:
            here = [{column: Fraction(1)} for column in after]
    for v in orbits[1:].tolist():
        apart = np.abs(places - places[v])
        apart = np.minimum(apart, width - apart).sum(axis=1)
        for late in range(int(near[v]) - steps):
            row = []
            for t in range(steps):
                catches = (apart[start] > steps - t + late) & (apart[end] <= steps - t - 1 + late)
                used = np.bincount(pair[catches], minlength=chosen.size)
                row += [(y[t][i], int(used[i])) for i in np.flatnonzero(used).tolist()]
            program.put(0, *row, (part, -1))
    return program.tangent(part, Fraction(1, 2))


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
    program = _Program()
    length, slack = program.columns(steps, 1, 1), program.columns(1, len(of.distance), _DEAR)[0]
    sizes, many = np.unique((of.distance[of.sources] <= steps).sum(axis=1), return_counts=True)
    parts = [(program.columns(1, 1)[0], ball) for ball in sizes.tolist()]
    for (part, _), count in zip(parts, many.tolist(), strict=True):
        program.put(Fraction(count, of.sources.size), (part, 1))
        program.put(-Fraction(count, of.sources.size), (part, -1))
    _spread(program, of, length, parts, slack, told=told)
    program.put(of.least, *((column, 1) for column in length))
    return max(of.least, program.proved() or of.least)


def least_length_both_ways(first: Covering, second: Covering, starts: npt.NDArray[np.int64], steps: int) -> Fraction:
    """Return a proved lower bound on the part of all bytes that reductions and broadcasts last in so many steps.

    `first`, `second`: the reductions, and the broadcasts of their results, whose `sources` are in the same order.
    `starts`, int64[2, s]: the steps that each needs. `steps`: steps T.

    Every byte is reduced in the steps up to some step, and broadcast after it. The bytes of each such step are parts of
    the messages, of unknown sizes; what the program of `least_length` says of a broadcast holds for each of these
    parts. They share the channels of a step. Reductions are broadcasts with time reversed.

    >>> import numpy as np
    >>> ring = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    >>> ring = np.minimum(ring, 30 - ring)
    >>> of = Covering(ring, np.arange(30), Fraction(1, 30), 60, 2, 2, 4, Fraction(29, 30), ())
    >>> [str(30 * least_length_both_ways(of, of, np.full((2, 30), 4), steps)) for steps in (8, 9, 10)]
    ['50', '49', '48']
    """
    program = _Program()
    length, slack = program.columns(steps, 1, 1), program.columns(1, len(first.distance), _DEAR)[0]
    balls = [np.cumsum([np.bincount(row, minlength=steps + 1)[: steps + 1] for row in of.distance[of.sources]], axis=1)
             for of in (first, second)]  # fmt: skip
    kinds, many = np.unique(np.concatenate([*balls, starts.T], axis=1), axis=0, return_counts=True)
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for kind, count in zip(kinds.tolist(), many.tolist(), strict=True):
        shares = []
        for turn in range(kind[-2], steps - kind[-1] + 1):
            shares.append(program.columns(1, 1)[0])
            parts.setdefault(turn, []).append((shares[-1], kind[turn], kind[steps + 1 + steps - turn]))
        program.put(Fraction(count, first.sources.size), *((share, 1) for share in shares))
        program.put(-Fraction(count, first.sources.size), *((share, -1) for share in shares))
    used: list[list[tuple[int, int]]] = [[] for _ in range(steps)]
    for of, which, when in (
        (first, 1, range(max(parts, default=0) - 1, -1, -1)),
        (second, 2, range(min(parts, default=0), steps)),
    ):
        carried = dict(zip(when, _carried(program, of, [length[t] for t in when], slack), strict=True))
        both: dict[int, list[tuple[int, int]]] = {t: [] for t in when}
        for turn, some in parts.items():
            mine, begin = [t for t in when if (t < turn) == (which == 1)], len(program.most)
            _spread(
                program, of, [carried[t] for t in mine], [(part[0], part[which]) for part in some], slack, told=True
            )
            for i, t in enumerate(mine):  # the columns n and e of the step
                both[t] += [(begin + i, -1), (begin + len(mine) + i, -1)]
            few = crowded(of.around, len(mine)) if of.around and len(mine) == of.fewest else None
            if few is not None:
                used_by_some = [(begin + i, 1) for i in range(2 * len(mine))]
                program.put(few[0], (slack, 1), *used_by_some, *((part[0], -few[1]) for part in some))
        for t in when:
            program.put(0, (carried[t], of.channels), *both[t])
            used[t] += both[t]
    for t in range(steps):
        program.put(0, (length[t], first.channels), *used[t])
    program.put(first.least, *((column, 1) for column in length))
    return max(first.least, program.proved() or first.least)


def late_sets(
    distance: npt.NDArray[np.int64], into: npt.NDArray[np.int64], sources: npt.NDArray[np.int64], out: int
) -> tuple[tuple[int, int, Fraction], ...]:
    """Return of balls of nodes what `Covering` asks of sets: the best ball of each radius, and of those never too late.

    `distance`, int64[N, N]: hops. `into`, int64[N, N]: channels from each node to each. `sources`, int64[s]: origins of
    the messages. `out`: messages that a node sends in a step at most.

    Over c channels at most c copies of a message enter a set in a step, and what is inside grows by at most `out` times
    itself. Where that is less than the set after so many steps, the message must begin to enter before.
    """
    found = []
    least: tuple[Fraction, int, int, Fraction] | None = None
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
            new = part / entering, late, entering, part
            if late and (best is None or new[0] > best[0]):
                best = new
            elif not late and (least is None or new[0] > least[0]):
                least = new
        if best is not None:
            found.append(best[1:])
    return (*found, least[1:]) if least else tuple(found)


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
    first: Covering, second: Covering, starts: npt.NDArray[np.int64], startup: Fraction, whole: Fraction
) -> tuple[Fraction, int]:
    """Return a lower bound on the time of reductions, each followed by a broadcast of the result, and its steps.

    `first`, `second`, `starts`: see `least_length_both_ways`. `startup`, `whole`: cost of a start-up, and of all bytes
    one after the other.
    """
    best, steps = Fraction(0), 0
    fewest = max(1, int(starts.sum(axis=0).max()))
    for count in range(fewest, fewest + _MOST_MORE):
        if steps and count * startup + first.least * whole >= best:
            return _rounded(best), steps
        value = count * startup + least_length_both_ways(first, second, starts, count) * whole
        if not steps or value < best:
            best, steps = value, count
    return _rounded(min(best, (fewest + _MOST_MORE) * startup + first.least * whole)), steps


def _rounded(value: Fraction) -> Fraction:
    """Round down to two places, so that the bound can be read."""
    return Fraction(int(100 * value), 100) if value.denominator > 100 else value
