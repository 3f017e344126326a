"""Exchanges in few steps: patterns of wormhole messages are searched for, and what each message carries is balanced.

Between the exchange with neighbors, which takes as many steps as the diameter and the fewest bytes, and the broadcast
from one node, which takes the fewest steps and all bytes in each: a *pattern* says who sends to whom in each step, over
channels that no other message of the step takes. In some steps everybody sends to the nearest nodes; in others a
regular part of the nodes sends further, or all nodes go over several dimensions at once. Then single messages of the
steps are changed. Reductions are the same with time reversed.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.questions import tasks
from gossamer.questions.cases import Offer, Refusal
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm
from gossamer.wormhole.demand import NodeDemand
from gossamer.wormhole.flooding import Ways
from gossamer.wormhole.time_reversal import backwards, both, halves, mirrored_case

__all__ = ["PATTERNS", "exchange_by_patterns"]

Ints = npt.NDArray[np.int64]
_NEVER = 1 << 30
_MOST_MOVES = 300


@njit(cache=True, nogil=True, small=100_000)
def _pack(source, target, nodes, first, channel, busy, chosen):
    """Choose messages in the given order, each if all of its channels are free; return how many are `chosen`.

    The way from u to v is ``channel[first[u*N+v]:first[u*N+v+1]]``; `busy` is to work in.
    """
    count = 0
    for c in range(busy.size):
        busy[c] = 0
    for i in range(source.size):
        way = source[i] * nodes + target[i]
        free = True
        for e in range(first[way], first[way + 1]):
            if busy[channel[e]]:
                free = False
                break
        if free:
            for e in range(first[way], first[way + 1]):
                busy[channel[e]] = 1
            chosen[count] = i
            count += 1
    return count


@njit(cache=True, nogil=True, small=100_000)
def _flood(origin, nodes, source, target, step, when, via, load):
    """Bring every message everywhere as early as the pattern allows; return how many receipts are not possible.

    Wormhole message w goes from ``source[w]`` to ``target[w]`` in ``step[w]``, from 1 on and ascending. Writes when
    message m of the task comes to node v, with which wormhole message, and how many each of these carries.
    """
    for m in range(origin.size):
        for v in range(nodes):
            when[m, v], via[m, v] = _NEVER, -1
        when[m, origin[m]] = 0
    for w in range(source.size):
        load[w] = 0
    for w in range(source.size):
        u, v, t = source[w], target[w], step[w]
        for m in range(origin.size):
            if when[m, u] < t:
                other = via[m, v]
                if when[m, v] > t:
                    when[m, v], via[m, v] = t, w
                    load[w] += 1
                elif when[m, v] == t and load[other] > load[w] + 1:
                    load[other] -= 1
                    via[m, v] = w
                    load[w] += 1
    missing = 0
    for m in range(origin.size):
        for v in range(nodes):
            missing += when[m, v] == _NEVER
    return missing


@njit(cache=True, nogil=True, small=100_000)
def _longest(step, load):
    """Return the loads of the longest messages of the steps, added up."""
    total, longest = 0, 0
    for w in range(step.size):
        if w and step[w] != step[w - 1]:
            total += longest
            longest = 0
        longest = max(longest, load[w])
    return total + longest


@njit(cache=True, nogil=True, small=100_000)
def _improve(source, target, step, first_in, into, first_out, out, powers, sweeps, state, when, via, load, kept):
    """Move receipts to other wormhole messages so that steps get shorter; return the least total of longest messages.

    A receipt of message m at node v may move to any step after m is at the sender and before v sends it on. A step's
    length is smoothed to the root of the sum of powers of its loads, by each of the `powers` in turn. `kept` gets the
    best of `via` that was seen. Random numbers go on from `state`.
    """
    count, nodes = when.shape
    order = np.arange(count * nodes)
    best = _longest(step, load)
    kept[:] = via
    steps = step[-1] + 1
    power, total, price = np.zeros(count + 2), np.zeros(steps), np.zeros(steps)
    for exponent in powers:
        for x in range(count + 2):
            power[x] = (x / 8.0) ** exponent
        for _ in range(sweeps):
            total[:] = 1e-9
            for w in range(step.size):
                total[step[w]] += power[load[w]]
            moved = 0
            for i in range(order.size):
                if moved % 256 == 0:
                    for t in range(steps):
                        price[t] = max(total[t], 1e-9) ** ((1.0 - exponent) / exponent)
                    moved += 1
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                j = i + (state >> 4) % (order.size - i)
                order[i], order[j] = order[j], order[i]
                m, v = order[i] // nodes, order[i] % nodes
                now = via[m, v]
                if now < 0:
                    continue
                before = steps
                for e in range(first_out[v], first_out[v + 1]):
                    w = out[e]
                    if step[w] < before and via[m, target[w]] == w:
                        before = step[w]
                least, choice = (power[load[now]] - power[load[now] - 1]) * price[step[now]], -1
                for e in range(first_in[v], first_in[v + 1]):
                    w = into[e]
                    if step[w] < before and w != now and when[m, source[w]] < step[w]:
                        cost = (power[load[w] + 1] - power[load[w]]) * price[step[w]]
                        if cost <= least:
                            least, choice = cost, w
                if choice >= 0:
                    total[step[now]] += power[load[now] - 1] - power[load[now]]
                    load[now] -= 1
                    total[step[choice]] += power[load[choice] + 1] - power[load[choice]]
                    load[choice] += 1
                    via[m, v], when[m, v] = choice, step[choice]
                    moved += 1
            found = _longest(step, load)
            if found < best:
                best = found
                kept[:] = via
    return best


class _Found(NamedTuple):
    """Messages of a pattern by step, from 1 on, and with which each message of the task comes to each node."""

    source: Ints
    target: Ints
    step: Ints
    via: Ints
    total: int


_Way = tuple[object, ...]
"""How a step is made: a kind and its parameters."""


class _Patterns:
    """Makes the steps of patterns, and finds what the messages of a pattern carry.

    `case`: an all-gather. `turned`: whether a message from u to v takes the channels of one from v to u.
    """

    work = 300_000_000
    """Receipts times wormhole messages that may be looked at."""
    batch = 1
    """Messages of one origin that a first look takes at once."""

    def __init__(self, case: WormholeCase, turned: bool) -> None:
        ways = case.once(Ways.of, case, turned)
        self.channels, self.length = case.channels, ways.length.astype(np.int64)
        self.nodes, self.origin = len(ways.length), case.messages.origin.astype(np.int64)
        self.goal = None if case.messages.targets is None else case.messages.targets.astype(np.int64)
        self.first, self.channel = ways.first.astype(np.int64), ways.channel.astype(np.int64)
        self._busy = np.zeros(case.channels.count, np.uint8)
        far = np.where(self.length > 0, self.length, _NEVER)
        self._near = np.nonzero(far == far.min(axis=1, initial=_NEVER, keepdims=True))
        self._place = case.channels.coordinates(np.arange(self.nodes))
        self._folds = not all(w or s < 4 for w, s in zip(case.channels.wraps, case.channels.sides, strict=True))
        self._known: dict[_Way, tuple[Ints, Ints]] = {}

    def drawn(self, random: np.random.Generator) -> _Way:
        """Return a way to make a step, by chance."""
        sides, diameter = self.channels.sides, int(self.length.max())
        grid, long = self.channels.on_grid, self.channels.on_grid and max(sides) > 3
        kind = random.random()
        if kind < 0.2 or diameter < 2:
            return ("near",)
        if kind < (0.25 if grid else 0.6):
            return "far", int(random.integers(2, min(diameter, 6) + 1)), int(random.integers(4))
        if not grid or kind < 0.3:
            return "leaders", int(random.integers(2, min(diameter, 10) + 1)), int(random.integers(3))
        lines = long and kind < (0.95 if len(sides) == 1 else 0.5)
        if lines:
            stride = int(random.integers(2, max(2, min(10, max(sides) // 2)) + 1))
        else:
            stride = int(random.choice([s for s in (1, 1, 2, 2, 2, 3, 4, 5) if s <= max(1, max(sides) // 2)]))
        where = stride, int(random.integers(1, max(2, stride))), int(random.integers(stride))
        if lines:
            return ("lines", *where)
        fold = self._folds and random.random() < 0.5
        return "class", *where, self._moves(stride, random), fold

    def levels(self) -> list[tuple[_Way, ...]]:
        """Return patterns to begin with: every few nodes gather, exchange further, and hand out again.

        In one dimension also such in which they exchange by turns, or hand out to all before the next of them; on a
        torus of two one in which by turns the two colors of a checkerboard send over several hops.
        """
        if not self.channels.on_grid:
            return []
        near: _Way = ("near",)
        line = len(self.channels.sides) == 1
        found: list[tuple[_Way, ...]] = []
        for stride in (x for x in (2, 3, 5) if 2 * x <= max(self.channels.sides) // 2):
            one: _Way = ("lines", stride, 1, 0)
            away: _Way = ("class", stride, 1, 0, ((1 - stride,), (stride - 1,)), False)
            for times in (1, 2, 3):
                for turn in (0, stride) if line and times > 1 else (0,):
                    far = [("lines", 2 * stride, 1, turn * (i % 2)) for i in range(times)]
                    found += [(near, one, *far, last, near) for last in ((one, away) if line else (one,))]
        if len(self.channels.sides) == 2 and min(self.channels.sides) > 5 and all(self.channels.wraps):
            turns = [(-2, 0), (2, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (0, 2), (0, -2)]
            corners = [(2, -2), (-2, 2), (2, 2), (-2, -2), *turns[4:6], *turns[:5:-1], *turns[:4]]
            colors = (turns, 1), ([(-2, 1), (2, -1), (-2, 0), (2, 0)], 0), (corners, 1), ([(-2, 0), (2, 0)], 1)
            found.append((*(("class", 2, 1, offset, tuple(moves), False) for moves, offset in colors), near, near))
        return found

    def _moves(self, stride: int, random: np.random.Generator) -> tuple[tuple[int, ...], ...]:
        """Return displacements of up to so many hops in a dimension: in three dimensions or more they share none."""
        sides = self.channels.sides
        moves: list[tuple[int, ...]] = []
        left = random.permutation([i for i, side in enumerate(sides) if side > 1])
        apart = left.size > 2
        while left.size and len(moves) < _MOST_MOVES and (not moves or random.random() < 0.7):
            move, some = np.zeros(len(sides), np.int64), left[: int(random.integers(1, 4))]
            for i in some:
                move[i] = random.integers(1 if apart else 0, min(stride, max(1, sides[i] // 2)) + 1)
            left = left[some.size :] if apart else left
            turn = np.where(random.random(len(sides)) < 0.5, 1, -1) * move
            ways = [turn * np.array(sign) for sign in itertools.product((1, -1), repeat=len(sides)) if move.any()]
            both_ways = (*ways[:1], *ways[-1:])
            every = apart or random.random() < 0.5
            moves += [tuple(way.tolist()) for way in (both_ways + tuple(ways) if every else both_ways)]
        return tuple(dict.fromkeys(moves)) or self._moves(stride, random)

    def step(self, way: _Way) -> tuple[Ints, Ints]:
        """Return the senders and receivers of a step; channels that are left go to messages between nearest nodes."""
        if way not in self._known:
            kind, *how = way
            source, target = getattr(self, f"_{kind}_pairs")(*how)
            source, target = np.concatenate([source, self._near[0]]), np.concatenate([target, self._near[1]])
            chosen = np.zeros(source.size, np.int64)
            count = _pack(source, target, self.nodes, self.first, self.channel, self._busy, chosen)
            self._known[way] = source[chosen[:count]], target[chosen[:count]]
        return self._known[way]

    def _near_pairs(self) -> tuple[Ints, Ints]:
        return self._near[0], self._near[1]

    def _far_pairs(self, hops: int, seed: int) -> tuple[Ints, Ints]:
        """Return all pairs so far apart, in an order by chance."""
        source, target = np.nonzero(self.length == hops)
        order = np.random.default_rng(seed).permutation(source.size)
        return source[order], target[order]

    def _leaders_pairs(self, apart: int, seed: int) -> tuple[Ints, Ints]:
        """Return pairs of nodes of a set whose members are so far apart or further, the nearest first."""
        random = np.random.default_rng(seed)
        leaders = [int(random.integers(self.nodes))]
        near, tie = self.length[leaders[0]], random.random(self.nodes)
        while (free := np.flatnonzero(near >= apart)).size:
            leaders.append(int(free[np.argmin(near[free] + tie[free] / 2)]))
            near = np.minimum(near, self.length[leaders[-1]])
        source, target = np.repeat(leaders, len(leaders)), np.tile(leaders, len(leaders))
        source, target = source[source != target], target[source != target]
        order = np.lexsort((random.random(source.size), self.length[source, target]))
        return source[order], target[order]

    def _members(self, stride: int, slope: int, offset: int) -> Ints:
        """Return every so-many-th node of each line, from line to line shifted by the slope."""
        return self._regular(self._place, stride, slope, offset)

    @staticmethod
    def _regular(place: Ints, stride: int, slope: int, offset: int) -> Ints:
        return np.flatnonzero((place @ slope ** np.arange(place.shape[1]) + offset) % stride == 0)

    def _lines_pairs(self, stride: int, slope: int, offset: int) -> tuple[Ints, Ints]:
        """Pair the members of each line, each with the next on both sides."""
        members, sources, targets = self._members(stride, slope, offset), [], []
        for i, wraps in enumerate(self.channels.wraps):
            place = self._place[members]
            line = members - place[:, i] * self.channels.strides[i]
            order = np.lexsort((place[:, i], line))
            for shift in (1, -1):
                one, other = members[order], np.roll(members[order], -shift)
                same = line[order] == np.roll(line[order], -shift)
                ahead = (self._place[other, i] - self._place[one, i]) * shift > 0
                if wraps:  # the last of a line goes on with the first
                    first = np.searchsorted(line[order], line[order])
                    last = np.searchsorted(line[order], line[order], side="right") - 1
                    end = ~(same & ahead)
                    other = np.where(end, members[order][first if shift > 0 else last], other)
                    same, ahead = other != one, np.ones(one.size, np.bool_)
                sources.append(one[same & ahead])
                targets.append(other[same & ahead])
        return np.concatenate(sources), np.concatenate(targets)

    def _class_pairs(
        self, stride: int, slope: int, offset: int, moves: Sequence[Sequence[int]], fold: bool = False
    ) -> tuple[Ints, Ints]:
        """Pair members with what is so far away, one displacement of all members after the other.

        Where the network is folded, both halves of a dimension without wraparound are the mirror images of each other.
        """
        members, sources, targets = self._members(stride, slope, offset), [], []
        sides, wraps = np.array(self.channels.sides), np.array(self.channels.wraps)
        turn = np.ones_like(self._place)
        if fold:
            other = ~wraps & (2 * self._place >= sides)
            members = self._regular(np.where(other, sides - 1 - self._place, self._place), stride, slope, offset)
            turn[other] = -1
        for move in moves:
            there = self._place[members] + turn[members] * np.array(move)
            inside = (wraps | ((there >= 0) & (there < sides))).all(axis=1)
            sources.append(members[inside])
            targets.append(self.channels.nodes(there[inside]).astype(np.int64))
        source, target = np.concatenate(sources), np.concatenate(targets)
        return source[source != target], target[source != target]

    def carried(self, pattern: Sequence[_Way], sweeps: int, most: float = np.inf) -> _Found | int:
        """Return what the messages of a pattern carry, or how many receipts it leaves out; 0 if it is not promising.

        It is not if, after a first look, the longest messages of the steps are far from `most` together.
        """
        steps = [self.step(way) for way in pattern]
        source, target = (np.concatenate(ends) for ends in zip(*steps, strict=True))
        step = np.repeat(np.arange(1, len(steps) + 1), [ends[0].size for ends in steps])
        shape = self.origin.size, self.nodes
        when, via, load = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(source.size, np.int64)
        missing = int(_flood(self.origin, self.nodes, source, target, step, when, via, load))
        if missing:
            return missing
        return self.balanced(source, target, step, when, via, sweeps, _FAR * most)

    def balanced(
        self, source: Ints, target: Ints, step: Ints, when: Ints, via: Ints, sweeps: int, most: float = np.inf
    ) -> _Found | int:
        """Return what is carried after receipts move to other messages; 0 if the steps last for more than `most`."""
        into, out = np.argsort(target, kind="stable"), np.argsort(source, kind="stable")
        ends = np.arange(self.nodes + 1)
        load = np.bincount(via[via >= 0], minlength=source.size)
        kept, best, least = np.zeros_like(via), via, _NEVER
        first_in, first_out = np.searchsorted(target[into], ends), np.searchsorted(source[out], ends)
        for power in (3.0, 6.0, 12.0):
            total = int(_improve(
                source, target, step, first_in, into, first_out, out, np.array([power]), sweeps, 1, when, via, load,
                kept,
            ))  # fmt: skip
            if total > most:
                return 0
            if total < least:
                least, best = total, kept.copy()
        return _Found(source, target, step, best, least)


@njit(cache=True, nogil=True, small=100_000)
def _route(origin, goal, order, batch, nodes, source, target, step, powers, sweeps, load, via, kept):
    """Route personalized messages over the messages of a pattern so that steps are short; return the least total.

    Messages choose again and again the way through the steps that lengthens them least, one after the other in the
    given `order`, or as many of one origin at once as a `batch` has. Writes ``via[m, t]``, with which wormhole message
    m goes in step t+1, -1 if it stays; `kept` gets the best. If messages
    cannot get to their `goal`, returns less than 0: their number.
    """
    count, steps = via.shape
    load[:] = 0
    via[:, :] = -1
    cost, now = np.empty(nodes), np.empty(nodes)
    came = np.empty((steps, nodes), np.int64)
    power, total, price = np.zeros(count + 2), np.zeros(steps + 1), np.ones(steps + 1)
    best, far = -1, 1e30
    for exponent in powers:
        for x in range(count + 2):
            power[x] = (x / 64.0) ** exponent
        for _ in range(sweeps):
            total[:] = 1e-9
            for w in range(step.size):
                total[step[w]] += power[load[w]]
            missing = 0
            begin = 0
            for i in range(count):
                if i % 64 == 0:
                    for t in range(steps + 1):
                        price[t] = max(total[t], 1e-9) ** ((1.0 - exponent) / exponent)
                here = origin[order[begin]]
                if i + 1 < count and i + 1 < begin + batch and origin[order[i + 1]] == here:
                    continue
                for j in range(begin, i + 1):
                    m = order[j]
                    for t in range(steps):
                        w = via[m, t]
                        if w >= 0:
                            total[t + 1] += power[load[w] - 1] - power[load[w]]
                            load[w] -= 1
                            via[m, t] = -1
                cost[:] = far
                cost[here] = 0.0
                now[:] = cost
                came[:, :] = -1
                for w in range(step.size):
                    if w and step[w] != step[w - 1]:
                        cost[:] = now
                    u, v = source[w], target[w]
                    if cost[u] < far:
                        asked = cost[u] + (power[load[w] + 1] - power[load[w]]) * price[step[w]] + 1e-9
                        if asked < now[v]:
                            now[v], came[step[w] - 1, v] = asked, w
                for j in range(begin, i + 1):
                    m = order[j]
                    v = goal[m]
                    if now[v] >= far:
                        missing += 1
                        continue
                    for t in range(steps - 1, -1, -1):
                        w = came[t, v]
                        if w >= 0:
                            via[m, t] = w
                            total[t + 1] += power[load[w] + 1] - power[load[w]]
                            load[w] += 1
                            v = source[w]
                begin = i + 1
            if missing:
                return -missing
            found = _longest(step, load)
            if best < 0 or found < best:
                best = found
                kept[:] = via
    return best


class _Personalized(_Patterns):
    """Patterns of a total exchange."""

    work = 800_000_000
    batch = 8

    def __init__(self, case: WormholeCase, turned: bool) -> None:
        super().__init__(case, turned)
        self._order = np.lexsort((np.random.default_rng(0).permutation(self.origin.size), self.origin))

    def carried(self, pattern: Sequence[_Way], sweeps: int, most: float = np.inf) -> _Found | int:
        """Return what the messages of a pattern carry, or how many messages of the task do not get to their goal."""
        steps = [self.step(way) for way in pattern]
        source, target = (np.concatenate(ends) for ends in zip(*steps, strict=True))
        step = np.repeat(np.arange(1, len(steps) + 1), [ends[0].size for ends in steps])
        via = np.zeros((self.origin.size, len(steps)), np.int64)
        kept, load = np.zeros_like(via), np.zeros(source.size, np.int64)
        assert self.goal is not None
        total = int(_route(
            self.origin, self.goal, self._order, 1 if sweeps > _QUICK else self.batch, self.nodes, source, target, step,
            np.array([3.0, 8.0]), 1 + sweeps // 10, load, via, kept,
        ))  # fmt: skip
        return -total if total < 0 else _Found(source, target, step, kept, total)


_MOST_TRIED, _STALE, _PATIENCE = 6_000, 30, 1_500
"""Patterns that are tried; changes in vain before a new start."""
_QUICK, _THOROUGH = 2, 30
_FAR, _KEPT = 1.25, 3


def _searched(case: WormholeCase, patterns: _Patterns, fewest: int, volume: Fraction) -> _Found:
    """Return what is carried in the best pattern that is found: random changes of patterns, from several starts.

    `fewest` steps are needed, and all steps last for `volume` messages together at least.
    """
    random = np.random.default_rng(case.seed)
    startup, each = float(case.cost.startup), float(case.cost.message_bytes * case.cost.per_byte)
    tried: dict[tuple[_Way, ...], float] = {}
    much = 1e6 * (startup + each * patterns.nodes)
    work = found_after = 0
    most_tried = min(_MOST_TRIED, 6 * patterns.origin.size * patterns.nodes)

    def cost(pattern: tuple[_Way, ...], most: float) -> float:
        """Return the time of a pattern, or any that is more than `most`."""
        nonlocal work
        begin = len(pattern) * startup
        if begin + each * float(volume) > most:
            return most + 1
        if pattern not in tried:
            limit = (most - begin) / each if each else np.inf
            found = patterns.carried(pattern, _QUICK, limit)
            sent = sum(patterns.step(way)[0].size for way in pattern)
            work += patterns.origin.size * sent * (1 if found else _QUICK) // patterns.batch
            tried[pattern] = begin + each * found.total if isinstance(found, _Found) else much * (1 + found)
        return tried[pattern]

    def going() -> bool:
        return work < patterns.work and len(tried) < min(most_tried, 2 * found_after + _PATIENCE)

    near: _Way = ("near",)
    neighbors = (near,) * int(patterns.length.max())
    ends = [(cost(start, np.inf), start) for start in (neighbors, *patterns.levels())]
    ends.sort(key=lambda end: end[0])
    looks = 0
    while going() and looks < 20 * _MOST_TRIED:
        lengths = sorted({len(pattern) for _, pattern in ends})
        steps = lengths[int(random.integers(len(lengths)))]
        chosen = [end for end in ends if len(end[1]) == steps]
        pattern = chosen[int(random.integers(len(chosen)))][1]
        if random.random() < 0.4:
            extra = random.integers(0, 6, 2)
            more = int(extra.min() if looks % 2 else extra[0])
            between = [patterns.drawn(random) for _ in range(fewest + more - 2)]
            pattern = (near, *between, near)
        value, stale = cost(pattern, 2 * much), 0
        while stale < _STALE and going():
            looks += 1
            other, kind, place = list(pattern), random.random(), int(random.integers(len(pattern)))
            if kind < 0.2 and len(pattern) < fewest + 8:
                other.insert(int(random.integers(len(pattern) + 1)), patterns.drawn(random))
            elif kind < 0.35 and len(pattern) > max(1, fewest):
                other.pop(place)
            elif kind < 0.5:
                swap = int(random.integers(len(pattern)))
                other[place], other[swap] = other[swap], other[place]
            elif kind < 0.6:
                other[place] = pattern[int(random.integers(len(pattern)))]
            else:
                other[place] = patterns.drawn(random)
            asked = cost(tuple(other), value)
            stale = 0 if asked < value else stale + 1
            if asked <= value:
                pattern, value = tuple(other), asked
        if value < ends[0][0]:
            found_after = len(tried)
        ends = sorted({*ends, (value, pattern)}, key=lambda end: (end[0], len(end[1]), repr(end[1])))
        count: Counter[int] = Counter()
        kept, ends = ends, []
        for end in kept:  # the best few of each number of steps that can still become the best
            count[len(end[1])] += 1
            if count[len(end[1])] <= _KEPT and len(end[1]) * startup + each * float(volume) <= kept[0][0]:
                ends.append(end)
    last = [(len(pattern), patterns.carried(pattern, _THOROUGH)) for _, pattern in ends[:3]]
    found = [(n * startup + each * got.total, i, got) for i, (n, got) in enumerate(last) if isinstance(got, _Found)]
    return min(found)[2]


# From steps that are regular to any messages: each channel that no longer message takes carries one of one hop.


@njit(cache=True, nogil=True)
def _bits(word):
    """Return how many bits are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word += word >> np.uint64(8)
    word += word >> np.uint64(16)
    return np.int64((word + (word >> np.uint64(32))) & np.uint64(127))


@njit(cache=True, nogil=True)
def _receive(sender, longest, held, t, v, first_in, into, offered, taken, over, new):
    """Write what node v holds after step t to `new`; return over how many channels it is offered anything.

    ``sender[t, c]`` is the node whose message ends where channel c does, or -1. Messages have `longest` at most. What
    only one channel offers is taken first. Channel ``over[i]`` brings ``taken[i]``.
    """
    one, words, count = np.uint64(1), held.shape[2], 0
    new[:] = held[t, v]
    for e in range(first_in[v], first_in[v + 1]):
        u = sender[t, into[e]]
        if u >= 0:
            some = np.uint64(0)
            for k in range(words):
                offered[count, k] = held[t, u, k] & ~held[t, v, k]
                taken[count, k] = np.uint64(0)
                some |= offered[count, k]
            if some:
                over[count] = into[e]
                count += 1
    for i in range(count):
        left = longest[t]
        for shared in range(2):
            for at in range(words):
                k = (at + v + i + t) % words
                free = offered[i, k] & ~new[k]
                if not shared:
                    for j in range(i + 1, count):
                        free &= ~offered[j, k]
                size = _bits(free)
                if size <= left:
                    new[k] |= free
                    taken[i, k] |= free
                    left -= size
                    continue
                while left:
                    turn = np.uint64((37 * v + 11 * t + 17 * i + 29 * left) % 64)
                    rest = free >> turn
                    bit = (rest & (~rest + one)) << turn if rest else free & (~free + one)
                    new[k] |= bit
                    taken[i, k] |= bit
                    free &= ~bit
                    left -= 1
    return count


@njit(cache=True, nogil=True)
def _spread(sender, longest, full, first_in, into, begin, other, held, changed, offered, taken, over, new):
    """Bring messages on from step `begin`, of which `held` is right; return how many receipts are missing at the end.

    Only steps `begin` and `other` are different from when `held` was written; later only what follows from them is.
    """
    steps, nodes, words = sender.shape[0], held.shape[1], held.shape[2]
    changed[begin, :] = False
    for t in range(begin, steps):
        for v in range(nodes):
            again = t in (begin, other) or changed[t, v]
            for e in range(first_in[v], first_in[v + 1]):
                if again:
                    break
                u = sender[t, into[e]]
                again = u >= 0 and changed[t, u]
            changed[t + 1, v] = False
            if again:
                _receive(sender, longest, held, t, v, first_in, into, offered, taken, over, new)
                for k in range(words):
                    if new[k] != held[t + 1, v, k]:
                        held[t + 1, v, k] = new[k]
                        changed[t + 1, v] = True
    missing = 0
    for v in range(nodes):
        for k in range(words):
            missing += _bits(full[k] & ~held[steps, v, k])
    return missing


@njit(cache=True, nogil=True)
def _put(sender, taker, t, way, nodes, first, channel, tail):
    """Let a message go the `way` in step t; what it crosses is given up, and its channels carry messages of one hop."""
    for e in range(first[way], first[way + 1]):
        other = taker[t, channel[e]]
        if other >= 0:
            for d in range(first[other], first[other + 1]):
                sender[t, channel[d]], taker[t, channel[d]] = tail[channel[d]], -1
    if first[way + 1] - first[way] > 1:
        for e in range(first[way], first[way + 1]):
            sender[t, channel[e]], taker[t, channel[e]] = -1, way
        sender[t, channel[first[way + 1] - 1]] = way // nodes


@njit(cache=True, nogil=True)
def _anneal(
    sender, taker, longest, held, full, tail, first_in, into, first, channel, ways, images, hot, cold, rounds,
    least, seed, kept_sender, kept_longest,
):  # fmt: skip
    """Change a pattern message by message until nothing is missing, shorten a step, and so on.

    Returns the longest messages of all steps together with which nothing is missing, whose pattern is kept, or 0; and
    what is missing of the shorter ones at the end. A message of one of the `ways` is put or given up in some step, with
    its `images`, or a step gets longer and another shorter. What is worse is accepted with a probability, as it is in
    a system that cools down from `hot` to `cold`.
    """
    np.random.seed(seed)
    steps, channels = sender.shape
    nodes, words = held.shape[1:]
    changed = np.zeros((steps + 1, nodes), np.bool_)
    offered, taken = np.zeros((channels, words), np.uint64), np.zeros((channels, words), np.uint64)
    over, new = np.zeros(channels, np.int64), np.zeros(words, np.uint64)
    missing = _spread(sender, longest, full, first_in, into, 0, 0, held, changed, offered, taken, over, new)
    before, was_sender, was_taker = held.copy(), sender.copy(), taker.copy()
    best = 0
    for turn in range(rounds):
        while not missing:
            best = longest.sum()
            kept_sender[:], kept_longest[:] = sender, longest
            if best <= least:
                return best, 0
            few, choice = nodes * words * 64 + 1, 0
            for t in range(steps):
                if longest[t] > 1:
                    longest[t] -= 1
                    lacks = _spread(
                        sender, longest, full, first_in, into, t, t, held, changed, offered, taken, over, new
                    )
                    longest[t] += 1
                    held[t + 1 :] = before[t + 1 :]
                    if lacks < few:
                        few, choice = lacks, t
            if longest[choice] < 2:
                return best, 0
            longest[choice] -= 1
            missing = _spread(
                sender, longest, full, first_in, into, choice, choice, held, changed, offered, taken, over, new
            )
            before[choice + 1 :] = held[choice + 1 :]
        t, kind = np.random.randint(steps), np.random.random()
        other = t
        if kind < 0.1:
            other = np.random.randint(steps)
            if other == t or longest[t] < 2:
                continue
            longest[t] -= 1
            longest[other] += 1
        else:
            was_sender[t], was_taker[t] = sender[t], taker[t]
            if kind < 0.3:
                way = taker[t, into[np.random.randint(into.size)]]
                if way < 0:
                    continue
                u, v = way // nodes, way % nodes
                for i in range(images.shape[0]):
                    way = images[i, u] * nodes + images[i, v]
                    if taker[t, channel[first[way]]] == way:
                        for e in range(first[way], first[way + 1]):
                            sender[t, channel[e]], taker[t, channel[e]] = tail[channel[e]], -1
            else:
                way = ways[np.random.randint(ways.size)]
                u, v = way // nodes, way % nodes
                for i in range(images.shape[0]):
                    way = images[i, u] * nodes + images[i, v]
                    _put(sender, taker, t, way, nodes, first, channel, tail)
        begin = min(t, other)
        lacks = _spread(
            sender, longest, full, first_in, into, begin, max(t, other), held, changed, offered, taken, over, new
        )
        warmth = hot * math.exp(math.log(cold / hot) * turn / rounds)
        if lacks <= missing or np.random.random() < math.exp((missing - lacks) / warmth):
            missing = lacks
            before[begin + 1 :] = held[begin + 1 :]
        else:
            if other != t:
                longest[t] += 1
                longest[other] -= 1
            else:
                sender[t], taker[t] = was_sender[t], was_taker[t]
            held[begin + 1 :] = before[begin + 1 :]
    return best, missing


class _Wires(NamedTuple):
    """Channels as messages spread: from `tail` to `head`, int64[C], -1 where unused; those `into` each node."""

    tail: Ints
    head: Ints
    first_in: Ints
    into: Ints
    channel: Ints

    @classmethod
    def of(cls, patterns: _Patterns, turned: bool) -> _Wires | None:
        """Return the channels of networks in which each leads from a terminal to another."""
        nodes, first, channel = patterns.nodes, patterns.first, patterns.channel
        source, target = np.nonzero(patterns.length == 1)
        one = channel[first[source * nodes + target]]
        tail = np.full(patterns.channels.count, -1, np.int64)
        head = tail.copy()
        tail[one], head[one] = source, target
        if not one.size or np.unique(one).size < one.size or (tail[channel] < 0).any():
            return None
        if turned:  # each way from its end
            channel = channel[np.repeat(first[:-1] + first[1:] - 1, np.diff(first)) - np.arange(channel.size)]
        into = one[np.argsort(target, kind="stable")]
        return cls(tail, head, np.searchsorted(np.sort(target), np.arange(nodes + 1)), into, channel)


def _images(patterns: _Patterns) -> list[Ints]:
    """Return groups of symmetries, int64[symmetries, N] each: a message and its images are put together.

    No choice of them makes a pattern wrong, as what an image crosses is given up.
    """
    nodes, sides, wraps = np.arange(patterns.nodes), np.array(patterns.channels.sides), patterns.channels.wraps
    none = nodes[None]
    if not patterns.channels.on_grid:
        return [none]
    place = patterns.channels.coordinates(nodes)
    if not all(wraps):
        for i in np.argsort(-sides, kind="stable")[:_MIRRORS]:
            other = place.copy()
            other[:, i] = sides[i] - 1 - place[:, i]
            none = np.concatenate([none, none[:, patterns.channels.nodes(other).astype(np.int64)]])
        return [none]
    axes = np.eye(sides.size, dtype=np.int64)
    steps = itertools.product(*([d for d in range(1, side + 1) if side % d == 0] for side in sides.tolist()))
    lattices = [[d * axis for d, axis in zip(step, axes, strict=True)] for step in steps]
    lattices += [[axes[0] + k * axes[-1]] for k in range(1, int(sides[-1]) // 2 + 1) if sides.size > 1]
    best: dict[int, tuple[int, Ints]] = {}
    for lattice in lattices:
        found, size = none, 0
        while len(found) > size:
            size = len(found)
            moved = (patterns.channels.nodes((place + by) % sides).astype(np.int64) for by in lattice)
            found = np.unique(np.concatenate([found, *(to[found] for to in moved)]), axis=0)
        orbits, apart = nodes.size // size, int(patterns.length[0, found[1:, 0]].min(initial=_NEVER))
        if orbits <= _ORBITS and apart > best.get(orbits, (0,))[0]:
            best[orbits] = apart, found
    return [group for _, (_, group) in sorted(best.items())] or [none]


_HOT, _COLD = 30.0, 1.0
"""Missing receipts of which 1 in e is accepted, at first and at last."""
_MIRRORS, _ORBITS = 3, 12
"""Dimensions in which patterns are mirrored; orbits of nodes under translations, at most."""
_TRIED_STEPS, _MOST_ROUNDS = 5, 60
"""Numbers of steps that are tried; rounds of a search for each receipt, at most."""
_ROUNDS = (300_000_000, 300_000_000, 400_000_000, 1_000_000_000)
"""Rounds times channels, steps and words of receipts, of all searches of each turn together; half of them go on."""


def _redrawn(
    case: WormholeCase, patterns: _Patterns, fewest: int, volume: Fraction, turned: bool, best: _Found
) -> _Found:
    """Return a pattern of any messages that takes less time than the `best` of regular ones, or that.

    `fewest` steps are needed, and all steps last for `volume` messages together at least.
    """
    wires = _Wires.of(patterns, turned)
    startup, each = Fraction(case.cost.startup), Fraction(case.cost.message_bytes) * Fraction(case.cost.per_byte)
    least = max(1, math.ceil(volume))
    count = patterns.origin.size
    time = int(best.step.max()) * startup + best.total * each

    def most(steps: int) -> int:
        """Return how long that many steps may be together if they are to take less than the best."""
        left = time - steps * startup
        return min(count * steps, math.ceil(left / each) - 1 if each else count * steps) if left > 0 else 0

    able = [steps for steps in range(fewest, int(best.step.max()) + 2) if most(steps) >= max(steps, least)]
    if wires is None or not able:
        return best
    some = able[:_TRIED_STEPS]
    trials = [(steps, group) for steps in some for group in _images(patterns)]
    for turn, work in enumerate(_ROUNDS):
        ends = []
        for i, (steps, group) in enumerate(trials):
            length = most(steps)
            if length < max(steps, least):
                continue
            cells = steps * wires.into.size * (1 + (count - 1) // 64)
            rounds = min(_MOST_ROUNDS * count * patterns.nodes, work // (len(trials) * cells))
            found, missing = _annealed(patterns, wires, group, steps, length, rounds, least, turn)
            if found is not None:
                best, time = found, steps * startup + found.total * each
            ends.append((missing, Fraction(0) if found is None else time, i))
        trials = [trials[i] for *_, i in sorted(ends)[: max(2, len(trials) // 2)]]
    return best


def _annealed(
    patterns: _Patterns, wires: _Wires, images: Ints, steps: int, length: int, rounds: int, least: int, seed: int
) -> tuple[_Found | None, int]:
    """Return what is carried in so many steps that last for `length` or less, if it is found; and what was missing."""
    nodes, count, first = patterns.nodes, patterns.origin.size, patterns.first
    share = np.minimum(3.0 ** np.arange(steps), count / 4)
    longest = 1 + (share * ((length - steps) / share.sum())).astype(np.int64)
    longest[-1] += length - longest.sum()
    held = np.zeros((steps + 1, nodes, 1 + (count - 1) // 64), np.uint64)
    place, bit = np.arange(count) // 64, np.uint64(1) << (np.arange(count) % 64).astype(np.uint64)
    np.bitwise_or.at(held[0], (patterns.origin, place), bit)
    full = np.bitwise_or.reduce(held[0], axis=0)
    sender, taker = np.tile(wires.tail, (steps, 1)), np.full((steps, wires.tail.size), -1, np.int64)
    kept, least_longest = sender.copy(), longest.copy()
    ways = np.flatnonzero((patterns.length > 1) & (patterns.length <= (patterns.length.max() + 1) // 2))
    if not ways.size:
        return None, count * nodes
    best, missing = _anneal(
        sender, taker, longest, held, full, wires.tail, wires.first_in, wires.into, first, wires.channel, ways, images,
        _HOT, _COLD, rounds, least, seed, kept, least_longest,
    )  # fmt: skip
    if not best:
        return None, int(missing)
    worm = np.full(kept.shape, -1, np.int64)
    step, channel = np.nonzero(kept >= 0)
    worm[step, channel] = np.arange(step.size)
    source, target = kept[step, channel], wires.head[channel]
    via, when = np.full((count, nodes), -1, np.int64), np.zeros((count, nodes), np.int64)
    offered = np.zeros((wires.tail.size, held.shape[2]), np.uint64)
    taken, over = np.zeros_like(offered), np.zeros(wires.tail.size, np.int64)
    for t, v in np.ndindex(steps, nodes):
        some = _receive(
            kept, least_longest, held, t, v, wires.first_in, wires.into, offered, taken, over, held[t + 1, v]
        )
        for i in range(some):
            message = np.flatnonzero(taken[i, place] & bit)
            via[message, v], when[message, v] = worm[t, over[i]], t + 1
    balanced = patterns.balanced(source, target, step + 1, when, via, _THOROUGH)
    assert isinstance(balanced, _Found)
    return balanced, 0


def exchange_by_patterns(case: WormholeCase, *, turned: bool = False) -> WormholeSchedule:
    """Exchange all messages in the steps of a pattern that is searched for.

    If `turned`, a message from u to v takes the channels of one from v to u, so that `backwards` makes reductions of
    the schedule; it is not valid itself.

    Patterns are changed at random and kept if they are not worse. In each, messages first go as early as they can; then
    single receipts move to other messages of the pattern where that makes steps shorter. Every message comes to every
    node once. Personalized messages take the ways through the pattern that lengthen steps least. Where all channels
    lead from terminals to terminals, messages of broadcasts are then put and given up one by one, with their images
    under symmetries, by simulated annealing: all receipts are to fit into steps of ever smaller lengths. Some seconds,
    half a minute for 100 nodes.

    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> cost = LinearCost(startup=1000, message_bytes=64)
    >>> s = exchange_by_patterns(WormholeCase(gossamer.network("hypercube:3"), gossamer.task("allgather"), cost))
    >>> s.step_count, bool(gossamer.verify(s))
    (2, True)
    """
    steps, patterns = (
        Steps(case.channels.dimensions),
        (_Patterns if case.messages.targets is None else _Personalized)(case, turned),
    )
    demand = case.once(NodeDemand, case)
    limits = (*demand.transmission(case.cost.message_bytes), demand.crossing(case.cost.message_bytes))
    volume = Fraction(max(limit.value for limit in limits))
    fewest, messages = max(1, demand.startups().value), volume / case.cost.message_bytes
    found = _searched(case, patterns, fewest, messages)
    if case.messages.targets is None:
        found = _redrawn(case, patterns, fewest, messages, turned, found)
    message, node = np.nonzero(found.via >= 0)
    used = found.via[message, node]
    order = np.argsort(used, kind="stable")
    worm, first = np.unique(used[order], return_index=True)
    payload = [steps.table.row(np.sort(part)) for part in np.split(message[order], first[1:])]
    step = np.unique(found.step[worm], return_inverse=True)[1]
    source, target = found.source[worm], found.target[worm]
    moves = -case.channels.shortest(target, source) if turned else case.channels.shortest(source, target)
    steps.add(step, source, moves, payload)
    steps.end_phase("exchange", int(step[-1]) + 1)
    return steps.schedule(case)


_MOST_RECEIPTS = 40_000
_SHARE = 16
"""Where as many start-ups as the diameter cost less than this part of the bytes, there is nothing to gain."""


def _offers(case: WormholeCase) -> Sequence[Offer[WormholeSchedule]] | Refusal:
    parts = case.once(halves, case)
    if parts is not None:
        return both(case, *(_offers(part) for part in parts))
    if not bool((case.messages.discipline == tasks.COMBINE).all()):
        return _gathers(case, turned=False)
    grid = case.channels.on_grid
    asked = case.once(mirrored_case, case) if grid else case.varied(case.task.dual(case.network))
    found = _gathers(asked, turned=not grid)
    if isinstance(found, Refusal):
        return found
    return [replace(offer, build=partial(_backwards, case, offer)) for offer in found]


def _backwards(case: WormholeCase, offer: Offer[WormholeSchedule]) -> WormholeSchedule:
    return backwards(offer.build(), case, mirrored=case.channels.on_grid)


def _gathers(case: WormholeCase, *, turned: bool) -> list[Offer[WormholeSchedule]] | Refusal:
    nodes, messages = case.network.terminal_count, case.messages
    if case.rules.ports != "all":
        return Refusal("is for all-port nodes")
    if messages.count < 2 or nodes < 2:
        return Refusal("needs several messages")
    receipts = messages.count * (nodes if messages.targets is None else 1)
    if receipts > _MOST_RECEIPTS:
        return Refusal(f"searches where nodes times messages are at most {_MOST_RECEIPTS:,}, not {receipts:,}")
    length = case.once(Ways.of, case, turned).length
    if not (length > 0)[~np.eye(nodes, dtype=bool)].all():
        return Refusal("needs a path between any two nodes")
    demand = case.once(NodeDemand, case)
    limits = (*demand.transmission(case.cost.message_bytes), demand.crossing(case.cost.message_bytes))
    volume = max(limit.value for limit in limits)
    carries = volume * Fraction(case.cost.per_byte)
    if int(length.max()) * case.cost.startup * _SHARE <= carries:
        return Refusal("is of use only where start-ups take long beside the bytes")
    least = demand.startups().value * Fraction(case.cost.startup) + carries
    build, seconds = partial(exchange_by_patterns, case, turned=turned), 20 if messages.targets is None else 30
    return [Offer(build, least=least, effort="search", hop_seconds=seconds / receipts)]


PATTERNS = (
    WormholeAlgorithm(
        name="exchange-patterns",
        tasks=(
            tasks.MultinodeBroadcast, tasks.PartialMultinodeBroadcast, tasks.ReduceScatter, tasks.PartialReduceScatter,
            tasks.Allreduce, tasks.TotalExchange,
        ),
        propose=_offers,
        networks="any network of up to 200 nodes",
        source="Gossamer",
        summary="patterns of messages that fill all channels, searched for; what each carries is balanced",
        anywhere=True,
        limited=True,
    ),
)  # fmt: skip
"""Exchanges in few steps by patterns that are searched for."""
