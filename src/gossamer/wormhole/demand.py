"""What a task asks of each node under wormhole switching: what it sends and receives, how far it spreads."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import COMBINE
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.covering_bound import Covering, covering_bound, covering_bound_both_ways, late_sets

# A bound that prices few steps against many: what leaves a source late has little time to spread.

_MOST_STEPS = 48
_CLOSELY = 20
"""With so many steps or fewer every step's copies are looked at; with more, only the copies that are still to come."""
_GRID = 10**9
_MOST_NODES = 256
"""Nodes up to which the ways between all pairs are looked at."""

Floats = npt.NDArray[np.float64]


class Spreading(NamedTuple):
    """What broadcasts to all nodes ask of a network.

    * `nodes`: nodes N that must have everything.
    * `volume`: bytes M of all messages together.
    * `leaving`: channels that leave the sources, all together.
    * `receiving`: channels that enter all nodes.
    * `holders`: nodes that may hold a message after 0, 1, ... steps in which it spreads; the last is N.
    * `least`: bytes that all steps last together at least.
    * `sending`: channels that leave the nodes which may hold any message after 0, 1, ... steps; beyond the last as many
      as in it.
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

    `of`: the broadcasts. `startup`, `per_byte`: costs of a step, positive.

    In S steps of lengths ``l_1 .. l_S`` let ``e_s`` bytes leave their sources for the first time in step s:
    ``e_s <= leaving * l_s``, and all e_s add up to M. Of these bytes let ``x_st`` copies come to nodes in step t. They
    come from nodes that have any, ``x_st <= busy[t-s] l_t``, as all copies do, ``sum over s of x_st <= busy[t-1] l_t``;
    after step t there are at most ``e_s (holders[t-s+1] - 1)`` of them, and in the end ``e_s (N - 1)``. The least
    ``l_1 + ... + l_S`` is a linear program; its dual variables are rounded and scaled until they prove a value in exact
    arithmetic. With many steps the program has only the copies ``e_s (N - holders[t-s])`` that are still to come from
    step t on, which take ``receiving * (l_t + ... + l_S)``. The bound is the least ``S startup + per_byte (l_1 + ...)``
    over all S; from where S start-ups and `least` are more, none is smaller.

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


# What must at least be sent of messages that go to several targets, and may be copied on the way.


def least_hops(row: Counts, hops: Counts) -> int:
    """Return the channels that all messages must use, each as often.

    A message to one target needs those of its way. One to several needs one for each, and those of the longest path.

    `row`, int64[p]: the message of each pair of an origin and a target, ascending. `hops`, int64[p]: the distance of
    each pair.

    >>> least_hops(np.array([0, 1, 1, 1, 2, 2]), np.array([4, 1, 1, 2, 5, 1]))
    12
    """
    if not row.size:
        return 0
    rows, first, count = np.unique(row, return_index=True, return_counts=True)
    del rows
    return int(np.maximum(np.maximum.reduceat(hops, first), count).sum())


def distinct(row: Counts, some: npt.NDArray[np.bool_]) -> int:
    """Return how many messages have a pair among some.

    >>> distinct(np.array([0, 1, 1, 2]), np.array([True, True, True, False]))
    2
    """
    return int(np.unique(row[some]).size)


Counts = npt.NDArray[np.int64]


class ProvedCount(NamedTuple):
    """A count, and the fact that proves it."""

    value: int
    witness: str


def spreading(start: int, degrees: Counts, nodes: int) -> tuple[int, ...]:
    """Return the most nodes that can hold a message after 0, 1, ... steps, up to `nodes` nodes.

    `start`: channels of the first node. `degrees`, int64[N]: channels of all nodes. `nodes`: nodes that must have the
    message in the end, with the first.

    In each step every holder sends over all its channels; the holders are taken to be those with the most channels.
    Where every node has 2d channels these are ``ceil(log_(2d+1) nodes)`` steps. O(N log N).

    >>> spreading(4, np.full(25, 4), 25), spreading(4, np.full(26, 4), 26)
    ((1, 5, 25), (1, 5, 25, 26))
    """
    total = np.concatenate([[0], np.cumsum(np.sort(degrees)[::-1])])
    widths = [1]
    while widths[-1] < nodes:
        most = start + int(total[min(widths[-1] - 1, degrees.size)])
        if not most:
            raise TaskError(f"a message cannot spread to {nodes} nodes over channels that are not there")
        widths.append(min(nodes, widths[-1] + most))
    return tuple(widths)


class _SpreadPart:
    """Messages that spread from their origins, or reductions, which are the same with time and channels reversed.

    * `rows`, int64[R]: the rows of the task's messages.
    * `origin`, int64[R]: where each spreads from: the root of a reduction.
    * `spread`, int64[R]: nodes that have it in the end, or contribute to it, with the origin.
    * `pairs`, (int64[k], int64[k]) or None: origin and target of all that must move; None where all terminals are
      targets.
    * `row`, int64[k]: the message of each pair, as a place in `rows`.
    * `deals`, `hubs`, int64[N]: messages that each node must get from others; and that it is the origin of, for others.
    """

    def __init__(self, case: WormholeCase, rows: Counts, turned: bool) -> None:
        self.channels, self.network, self.turned, self.rows = case.channels, case.network, turned, rows
        messages, rules, nodes = case.messages, case.rules, case.network.node_count
        into = np.minimum(case.channels.in_degree, 1 if rules.receive_limited else 1 << 30)
        out = np.minimum(case.channels.out_degree, 1 if rules.send_limited else 1 << 30)
        terminals = self.network.terminal_count
        self.into, self.out = into, out
        self.leaving = into if turned else out
        self.widths = self.leaving[:terminals]
        self.origin = messages.origin[rows].astype(np.int64)
        self.pairs: tuple[Counts, Counts] | None = None
        if messages.targets is None or messages.target_start is None:
            self.row = np.zeros(0, np.int64)
            self.spread = np.full(rows.size, terminals)
            self.deals: Counts = rows.size - np.bincount(self.origin, minlength=nodes)
            self.deals[terminals:] = 0
        else:
            sizes = np.diff(messages.target_start)[rows]
            entry = np.repeat(messages.target_start[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
            origin, target = np.repeat(self.origin, sizes), messages.targets[entry].astype(np.int64)
            away = target != origin
            self.pairs = origin[away], target[away]
            self.row = np.repeat(np.arange(rows.size), sizes)[away]
            self.spread = 1 + np.bincount(self.row, minlength=rows.size)
            self.deals = np.bincount(target[away], minlength=nodes).astype(np.int64)
        self.hubs = np.bincount(self.origin[self.spread > 1], minlength=nodes).astype(np.int64)

    @property
    def ways(self) -> tuple[Counts, Counts]:
        """Where each pair's message comes from, and where it goes."""
        assert self.pairs is not None
        return self.pairs[::-1] if self.turned else self.pairs

    def starts(self) -> Counts:
        """Return the start-ups that each message needs, int64[R]."""
        found = np.zeros(self.rows.size, np.int64)
        known: dict[tuple[int, int], int] = {}
        for i, key in enumerate(zip(self.leaving[self.origin].tolist(), self.spread.tolist(), strict=True)):
            if key not in known:
                known[key] = len(spreading(key[0], self.widths, key[1])) - 1 if key[1] > 1 else 0
            found[i] = known[key]
        return found

    def sending(self, sources: Counts) -> tuple[int, ...]:
        """Return the channels that leave nodes which may hold any message, after 0, 1, ... steps."""
        order = np.concatenate([[0], np.cumsum(np.sort(self.widths)[::-1])])
        found, holders = [int(self.leaving[sources].sum())], sources.size
        while holders < self.widths.size:
            holders = min(holders + found[-1], self.widths.size)
            found.append(found[0] + int(order[holders - sources.size]))
        return tuple(found)

    def growth(self, i: int) -> str:
        """Return how message i spreads, in words."""
        node, nodes = int(self.origin[i]), int(self.spread[i])
        widths = ", ".join(f"{w:,}" for w in spreading(int(self.leaving[node]), self.widths, nodes))
        name = self.network.node_name(node)
        if self.turned:
            return f"to node {name} contributions of at most {widths} nodes come together"
        return f"from node {name} a message spreads at most {widths} nodes wide"

    def hops(self) -> Counts:
        """Return the hops of the furthest way of each message, int64[R]."""
        if self.pairs is not None:
            each = self.channels.hops(self.ways[0], self.channels.shortest(*self.ways))
            found = np.zeros(self.rows.size, np.int64)
            np.maximum.at(found, self.row, each)
            return found
        if not self.channels.on_grid:
            terminals = self.network.terminal_count
            far = self.channels.distances[:terminals].T if self.turned else self.channels.distances[:, :terminals]
            return np.asarray(far[self.origin].max(axis=1, initial=0), np.int64)
        place, total = self.channels.coordinates(self.origin), np.zeros(self.rows.size, np.int64)
        for i, (side, wraps) in enumerate(zip(self.channels.sides, self.channels.wraps, strict=True)):
            total += side // 2 if wraps else np.maximum(place[:, i], side - 1 - place[:, i])
        return total

    def personal(self) -> tuple[int, str]:
        """Return the start-ups in which one node can reach all others that get something of it, or the reverse.

        Whatever way they take, all that comes from a node is at most where one message of it could be; and all that
        comes to a node comes together at most as contributions to one sum could. O(pairs log pairs).
        """
        if self.pairs is None or not self.row.size:
            return 0, ""
        nodes, (sender, receiver) = self.network.node_count, self.ways
        pairs = np.unique(sender * nodes + receiver)
        best = 0, ""
        for ends, channels, text in (
            (pairs // nodes, self.out, "what node {} sends spreads at most {} nodes wide"),
            (pairs % nodes, self.into, "what node {} receives comes together of at most {} nodes"),
        ):
            count = np.bincount(ends, minlength=nodes)
            some = np.flatnonzero(count)
            _, first = np.unique(np.stack([count, channels])[:, some], axis=1, return_index=True)
            for node in some[first].tolist():
                widths = spreading(int(channels[node]), channels[: self.widths.size], 1 + int(count[node]))
                if len(widths) - 1 > best[0]:
                    told = ", ".join(f"{w:,}" for w in widths)
                    best = len(widths) - 1, text.format(self.network.node_name(node), told)
        return best

    def crossed(self) -> int:
        """Return the channels that all messages together cross at least."""
        return least_hops(self.row, self.channels.hops(self.ways[0], self.channels.shortest(*self.ways)))


def _distances(channels: Channels) -> Counts:
    """Return the hops between all nodes, int64[N, N]; -1 where there is no way."""
    if not channels.on_grid:
        return channels.distances.astype(np.int64)
    nodes = np.arange(channels.network.node_count)
    source, target = np.repeat(nodes, nodes.size), np.tile(nodes, nodes.size)
    return channels.hops(source, channels.shortest(source, target)).reshape(nodes.size, nodes.size)


def _joined(channels: Channels) -> Counts:
    """Return the channels from each node to each, int64[N, N]."""
    nodes = channels.network.node_count
    ends = np.flatnonzero(channels.exists)
    source = ends // (2 * channels.dimensions) if channels.on_grid else channels.network.link_source[ends]
    found = np.zeros((nodes, nodes), np.int64)
    np.add.at(found, (source.astype(np.int64), np.array([channels.end(c) for c in ends.tolist()], np.int64)), 1)
    return found


class NodeDemand:
    """What each node must send and receive.

    `case`: broadcasts, personalized messages and reductions; one may wait for another.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:5x5"), gossamer.task("allreduce"))
    >>> NodeDemand(case).startups().value
    4
    """

    def __init__(self, case: WormholeCase) -> None:
        self.channels, self.network, self.messages = case.channels, case.network, case.messages
        if self.messages.sizes is not None or self.messages.waits:
            raise TaskError(f"wormhole messages have one length each, those of {case.task.name} have several")
        combined = self.messages.discipline == COMBINE
        self.parts = [
            _SpreadPart(case, np.flatnonzero(combined == turned), turned)
            for turned in (False, True)
            if bool((combined == turned).any())
        ]
        rules = case.rules
        self.degree = np.minimum(case.channels.in_degree, 1 if rules.receive_limited else 1 << 30)
        self.leaving = np.minimum(case.channels.out_degree, 1 if rules.send_limited else 1 << 30)
        nodes = np.zeros(case.network.node_count, np.int64)
        self.receives: Counts = sum((p.hubs if p.turned else p.deals for p in self.parts), nodes)
        self.sends: Counts = sum((p.deals if p.turned else p.hubs for p in self.parts), nodes)

    @property
    def any(self) -> bool:
        """Whether anything has to move."""
        return bool(self.sends.any())

    @property
    def told(self) -> bool:
        """Whether targets are listed."""
        return self.messages.targets is not None

    @property
    def room(self) -> int:
        """Messages that all nodes together can send and receive in a step."""
        terminals = self.network.terminal_count
        return max(1, min(int(self.degree[:terminals].sum()), int(self.leaving[:terminals].sum())))

    def _chained(self, of: Callable[[_SpreadPart], Counts]) -> Counts:
        """Return a count of each message, with that of the one which it comes after; int64[m]."""
        each = np.zeros(self.messages.count, np.int64)
        for part in self.parts:
            each[part.rows] = of(part)
        after = self.messages.after
        return each if after is None else each + np.where(after >= 0, each[np.maximum(after, 0)], 0)

    def startups(self) -> ProvedCount:
        """Return the start-ups that the message needs which has furthest to spread, or all messages of one node."""
        total = self._chained(_SpreadPart.starts)
        spread, leaving = np.zeros((2, self.messages.count), np.int64)
        for part in self.parts:
            spread[part.rows], leaving[part.rows] = part.spread, part.leaving[part.origin]
        order = np.lexsort((leaving, -spread))
        row = int(order[np.argmax(total[order])])
        after = self.messages.after
        chain = [row] if after is None or after[row] < 0 else [int(after[row]), row]
        told = [p.growth(int(np.searchsorted(p.rows, r))) for r in chain for p in self.parts if r in p.rows]
        value, text = max(part.personal() for part in self.parts)
        if value > int(total[row]):
            return ProvedCount(value, text)
        return ProvedCount(int(total[row]), ", and then ".join(told))

    def transmission(self, size: int) -> tuple[ProvedCount, ProvedCount]:
        """Return the bytes that steps last at least, for what a node receives and for what one sends."""
        found = []
        for count, degree, verb in ((self.receives, self.degree, "receive"), (self.sends, self.leaving, "send")):
            load = -(-count * size // np.maximum(degree, 1))
            node = int(np.argmax(load))
            channels = int(degree[node])
            what, over = quantity(int(count[node]) * size, "byte"), quantity(channels, "channel")
            text = f"node {self.network.node_name(node)} must {verb} {what} over {over}"
            found.append(ProvedCount(int(load[node]), text))
        return found[0], found[1]

    def crossing(self, size: int) -> ProvedCount:
        """Return the bytes that steps last at least, for what all messages together have to cross.

        Broadcasts reach all nodes over channels that end there, reductions leave all over channels that begin there.
        Of personalized messages each byte crosses as many channels as its target is away, and on an array every cut
        between origin and target.
        """
        if not self.told:
            total, room = sum(int(p.deals.sum()) for p in self.parts) * size, self.room
            verb = "/".join("send" if p.turned else "receive" for p in self.parts[::-1])
            verb = verb.replace("/", " and ")
            text = f"all nodes together must {verb} {quantity(total, 'byte')}, at most {room} messages a step"
            return ProvedCount(-(-total // room) if total else 0, text)
        hops, count = sum(p.crossed() for p in self.parts), int(self.channels.exists.sum())
        text = f"{quantity(hops * size, 'byte')} times channels to cross, over {quantity(count, 'channel')}"
        best = ProvedCount(-(-hops * size // max(count, 1)), text)
        ends = [tuple(self.channels.coordinates(nodes) for nodes in p.ways) for p in self.parts]
        for i, side in enumerate(self.channels.sides):
            if self.channels.wraps[i] or side == 1 or not self.channels.on_grid:
                continue
            width = self.network.node_count // side
            for x in range(side - 1):
                up = down = 0
                for part, (here, there) in zip(self.parts, ends, strict=True):
                    up += distinct(part.row, (here[:, i] <= x) & (there[:, i] > x))
                    down += distinct(part.row, (here[:, i] > x) & (there[:, i] <= x))
                value = -(-max(up, down) * size // width)
                if value > best.value:
                    what = quantity(max(up, down) * size, "byte")
                    cut = f"between coordinates {x} and {x + 1} of dimension {i}"
                    best = ProvedCount(value, f"{what} must cross the {quantity(width, 'channel')} {cut} one way")
        return best

    def pipelining(self, volume: int, cost: LinearCost) -> tuple[Fraction, int] | None:
        """Return the bound of broadcasts to all nodes that prices few steps against many, and its steps."""
        if self.told or len(self.parts) != 1:
            return None
        part, terminals = self.parts[0], self.network.terminal_count
        sources = np.unique(part.origin)
        start = int(part.leaving[sources].max())
        of = Spreading(
            terminals, part.origin.size * cost.message_bytes, int(part.leaving[sources].sum()),
            self.room, spreading(start, part.widths, terminals), volume, part.sending(sources),
        )  # fmt: skip
        return pipelining_bound(of, cost.startup, cost.per_byte)

    def _before(self) -> Counts | None:
        """Return for each broadcast the reduction of its bytes, int64[R]; None unless each has one of its own."""
        if len(self.parts) < 2 or self.messages.after is None:
            return None
        after = self.messages.after[self.parts[0].rows]
        place = np.clip(np.searchsorted(self.parts[1].rows, after), 0, self.parts[1].rows.size - 1)
        each = np.array_equal(self.parts[1].rows[place], after) and np.unique(place).size == self.parts[1].rows.size
        return place if each else None

    def covering(self, volume: int, cost: LinearCost) -> tuple[Fraction, int] | None:
        """Return the bound of broadcasts to all nodes by the channels that far messages take, and its steps."""
        nodes, size = self.network.node_count, cost.message_bytes
        if self.told or nodes > _MOST_NODES or self.network.terminal_count < nodes:
            return None
        before = self._before()
        if len(self.parts) > 1 and before is None:
            return None
        length = _distances(self.channels)
        if not (length >= 0).all():
            return None
        joined, found = _joined(self.channels), []
        everywhere, every = self.channels.on_grid and all(self.channels.wraps), np.arange(nodes)
        for part in self.parts:
            whole = part.origin.size * size
            own = int(np.bincount(part.origin).max()) * size
            out, into = (int(x.max()) for x in ((part.into, part.out) if part.turned else (part.out, part.into)))
            far, near = (length.T, joined.T) if part.turned else (length, joined)
            late = late_sets(far, near, part.origin, out)
            found.append(Covering(
                far, part.origin, Fraction(own, whole), int(self.channels.exists.sum()),
                out, into, int(part.starts().max()), Fraction(volume, whole), late,
                tuple(self.channels.sides) if everywhere and np.array_equal(np.sort(part.origin), every) else (),
            ))  # fmt: skip
        all_bytes = Fraction(self.parts[-1].origin.size * size) * cost.per_byte
        if len(found) == 1:
            return covering_bound(found[0], Fraction(cost.startup), all_bytes)
        assert before is not None
        first = found[1]._replace(sources=found[1].sources[before])
        starts = np.stack([self.parts[1].starts()[before], self.parts[0].starts()])
        return covering_bound_both_ways(first, found[0], starts, Fraction(cost.startup), all_bytes)

    def distance(self) -> ProvedCount:
        """Return the hops to the farthest node that a message must reach, or that must contribute to it."""
        total = self._chained(_SpreadPart.hops)
        row = int(np.argmax(total))
        after = self.messages.after
        first = row if after is None or after[row] < 0 else int(after[row])
        name = self.network.node_name(int(self.messages.origin[row]))
        hops = quantity(int(total[row]), "hop")
        part = next(p for p in self.parts if first in p.rows)
        if first != row:
            return ProvedCount(
                int(total[row]), f"{hops} from the farthest that contributes to node {name}, and from there"
            )
        if part.turned:
            return ProvedCount(int(total[row]), f"{hops} to node {name} from the farthest that contributes")
        return ProvedCount(int(total[row]), f"{hops} from node {name} to the farthest that it must reach")
