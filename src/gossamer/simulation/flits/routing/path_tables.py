"""Routing on any network along paths that are computed once for every two routers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.simulation.flits.destinations import Draws
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.routing_function import (
    NO_STEP,
    Choosing,
    Joined,
    Legs,
    RoutedMessages,
    Routing,
    TwoLegs,
    phases,
)
from gossamer.simulation.flits.settings import Routers

Ints = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]

# All routes of a routing function written once, where messages need not have routes of their own.

_MOST = 1 << 22
"""Most places of a table of all routes."""


class WrittenRoutes:
    """The routes between any two terminals, for whatever is drawn.

    `route`, int32[...]: as `Routing.write` writes them. `draws`: how often 0 or 1 is drawn for a message. `begin`,
    int64[T * T * 2**draws]: where the route begins: by source, target, and what is drawn, the first draw in the lowest
    bit.
    """

    def __init__(self, rule: Routing, draws: int) -> None:
        self.terminals, self.draws = rule.fabric.terminal_count, draws
        shape = self.terminals**2, 1 << draws, rule.row_size
        entry = np.arange(shape[0] * shape[1])
        pair, drawn = np.divmod(entry, shape[1])
        begin = entry * shape[2] + 1
        route = np.zeros(entry.size * shape[2], np.int32)
        rule.write(RoutedMessages(route, begin, *np.divmod(pair, self.terminals), _Drawn(drawn)))
        # few pairs have several routes; without the other rows and what is behind their ends the caches hold them
        rows = route.reshape(shape)
        other = (rows != rows[:, :1]).any(axis=2)
        other[:, 0] = True
        length = np.where(other, rows[:, :, 0] + 2, 0)
        kept = np.arange(shape[2]) < length[:, :, None]
        self.route = rows[kept]
        begin = (np.cumsum(length) - length.reshape(-1) + 1).reshape(shape[:2])
        self.begin = np.where(other, begin, begin[:, :1]).reshape(-1)

    def draw(self, count: int, random: Draws) -> Ints:
        """Return what is drawn for so many messages, int64[draws, count]: what `Routing.write` would draw."""
        drawn = np.empty((self.draws, count), np.int64)
        for row in drawn:
            row[:] = random.integers(0, 2, count)
        return drawn


class _Drawn:
    """Draws of 0 or 1 that are known: the bits of numbers, the lowest first."""

    def __init__(self, bits: Ints) -> None:
        self.bits = bits

    def integers(self, low: int, high: int, size: tuple[int, ...] | int, /) -> Ints:
        """Return the next bit of each."""
        found = self.bits & 1
        self.bits = self.bits >> 1
        return found


def written_routes(rule: Routing, messages: float) -> WrittenRoutes | None:
    """Return all routes of a function if about so many messages make them worth it; None if not, or if it cannot be.

    The last ones are kept: the loads of a sweep, and of a search for saturation, follow each other on one network.
    """
    global _last
    if rule.draws is None:
        return None
    entries = rule.fabric.terminal_count**2 << rule.draws
    if entries > min(messages, _MOST / rule.row_size):
        return None
    network, how = rule.fabric.network, (type(rule), rule.fabric.per_router, rule.settings)
    last = _last
    if last is None or last.network() is not network or last.how != how:
        _last = last = _Last(weakref.ref(network), how, WrittenRoutes(rule, rule.draws))
    return last.routes


class _Last(NamedTuple):
    """Routes, with the network and the kind of rule, terminals of a router and routers that they are of."""

    network: weakref.ref[Network]
    how: tuple[type[Routing], int, Routers]
    routes: WrittenRoutes


_last: _Last | None = None


KEEP = 255


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def dimension_order(
    sides, strides, wraps, link_of, coordinate, displacement, order, dateline, kind, begin, hops, end, route
):  # fmt: skip
    """Write the steps of dimension-ordered paths to ``route[begin[m] + hops[m]:]``, and a last step ``end[m]``.

    `coordinate` int64[M, d] are where the paths begin and become where they end; `displacement` int[M, d] signed hops;
    `order` int[M] 0 for dimension 0 first, 1 for the last first. `dateline` is 0 none, 1 plain, 2 balanced; the
    classes are `kind` (anywhere), ``kind + 1`` (before the dateline) and ``kind + 2`` (behind it). `hops` int[M] grow.
    """
    d = sides.size
    for m in range(coordinate.shape[0]):
        at = begin[m] + hops[m]
        node = 0
        for i in range(d):
            node += coordinate[m, i] * strides[i]
        for k in range(d):
            i = k if order[m] == 0 else d - 1 - k
            left = displacement[m, i]
            if left == 0:
                continue
            x, side, stride = coordinate[m, i], sides[i], strides[i]
            down = 1 if left < 0 else 0
            count = -left if left < 0 else left
            ring = wraps[i] != 0 and dateline != 0
            crosses = x + left >= side or x + left < 0
            behind = False
            for h in range(count):
                closing = x == (0 if down else side - 1)
                behind |= closing
                step = kind
                if ring:
                    if crosses:
                        step = kind + 2 if behind else kind + 1
                    elif dateline == 1:
                        step = kind + 1
                    elif h > 0:
                        step = KEEP
                route[at] = 256 * link_of[(node * d + i) * 2 + down] + step
                at += 1
                to = (side - 1 if closing else x - 1) if down else (0 if closing else x + 1)
                node += (to - x) * stride
                x = to
            coordinate[m, i] = x
            hops[m] += count
        route[at] = end[m]


@njit(cache=True, nogil=True, _nrt=False)
def copy_paths(first, step, pair, kind, begin, hops, end, route):
    """Copy the steps of table entries ``pair[m]`` behind ``hops[m]`` steps that are there, and a last step ``end[m]``.

    `kind` is added to their classes.
    """
    for m in range(pair.size):
        at = begin[m] + hops[m]
        for k in range(first[pair[m]], first[pair[m] + 1]):
            route[at] = step[k] + kind
            at += 1
        hops[m] = at - begin[m]
        route[at] = end[m]


@njit(cache=True, nogil=True, _nrt=False)
def distances(first_in, entering, source, rank, target, up_allowed, far, queue):
    """Fill the links of the shortest `rank`-legal way from each router to `target`; int32[R, 2], -1 for none.

    ``far[r, 0]``: by down links only; ``far[r, 1]``: by up links and then down links. A link goes up if the rank of its
    end is lower. With `up_allowed` false ranks do not count and both columns are plain distances.
    """
    far[:, :] = -1
    far[target, 0] = 0
    far[target, 1] = 0
    head, tail = 0, 0
    queue[tail] = 2 * target
    tail += 1
    queue[tail] = 2 * target + 1
    tail += 1
    while head < tail:
        r, state = queue[head] >> 1, queue[head] & 1
        head += 1
        for x in range(first_in[r], first_in[r + 1]):
            u = source[entering[x]]
            up = rank[r] < rank[u]
            if not up_allowed:
                if far[u, state] < 0:
                    far[u, state] = far[r, state] + 1
                    queue[tail] = 2 * u + state
                    tail += 1
                continue
            if up:  # before a way that may still go up
                if state == 1 and far[u, 1] < 0:
                    far[u, 1] = far[r, 1] + 1
                    queue[tail] = 2 * u + 1
                    tail += 1
            elif state == 0:
                for to in range(2):
                    if far[u, to] < 0:
                        far[u, to] = far[r, 0] + 1
                        queue[tail] = 2 * u + to
                        tail += 1


@njit(cache=True, nogil=True, _nrt=False)
def follow(first_out, leaving, target, rank, up_allowed, far, to, load, length, fill, step, at):
    """Walk shortest legal ways from every router to router `to`, over the least loaded links; count or write them.

    ``length[r]`` becomes the links of the way from r; with `fill` its channels are written from ``at[r]`` on.
    """
    for r in range(far.shape[0]):
        if far[r, 1] < 0 or r == to:
            length[r] = 0
            continue
        u, state, count = r, 1, 0
        while u != to:
            best = -1
            for x in range(first_out[u], first_out[u + 1]):
                c = leaving[x]
                v = target[c]
                following = state
                if up_allowed and rank[v] > rank[u]:
                    following = 0
                elif up_allowed and state == 0:
                    continue
                if far[v, following] < 0 or far[v, following] != far[u, state] - 1:
                    continue
                if best < 0 or load[c] < load[best]:
                    best = c
            v = target[best]
            if up_allowed and rank[v] > rank[u]:
                state = 0
            if fill:
                step[at[r] + count] = best << 8
            load[best] += 1
            count += 1
            u = v
        length[r] = count


@njit(cache=True, nogil=True, _nrt=False)
def layer(first, step, arcs, count, seen, stack, layer_of, stamp, layers):
    """Put each path into the first layer in which it closes no circle of channels; return the layers, -1 if too few.

    `arcs` int32[layers, C, most] and `count` int32[layers, C] are scratch, the channels that follow each; `seen`
    int32[C], `stack` int32[...] likewise; ``layer_of[path]`` is filled.
    """
    used = 0
    mark = 0
    for path in range(first.size - 1):
        placed = False
        for k in range(layers):
            new = 0
            closes = False
            for x in range(first[path], first[path + 1] - 1):
                a, b = step[x] >> 8, step[x + 1] >> 8
                there = False
                for y in range(count[k, a]):
                    if arcs[k, a, y] == b:
                        there = True
                        break
                if there:
                    continue
                # a circle if b leads to a
                mark += 1
                top = 0
                stack[top] = b
                top += 1
                seen[b] = mark
                while top > 0 and not closes:
                    top -= 1
                    c = stack[top]
                    if c == a:
                        closes = True
                        break
                    for y in range(count[k, c]):
                        e = arcs[k, c, y]
                        if seen[e] != mark:
                            seen[e] = mark
                            stack[top] = e
                            top += 1
                if closes:
                    break
                arcs[k, a, count[k, a]] = b
                count[k, a] += 1
                stamp[new] = a
                new += 1
            if not closes:
                layer_of[path] = k
                used = max(used, k + 1)
                placed = True
                break
            for y in range(new):
                count[k, stamp[y]] -= 1
        if not placed:
            return -1
    return used


_MOST_ROUTERS = 1024


class ShortestPath(Legs):
    """A shortest path for each pair of routers, spread over the links; messages can deadlock."""

    name = "shortest-path"
    legal = False
    rounds = 1
    draws: int | None = 0

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        if fabric.router_count > _MOST_ROUTERS:
            raise ModelError(
                f"routing {self.name!r} keeps a path for every two routers and takes networks of up to "
                f"{_MOST_ROUTERS} nodes, {fabric.network.spec} has {fabric.router_count}"
            )
        self.first, self.step = _paths(fabric, self.legal, self.rounds)
        self.longest = int(np.diff(self.first).max(initial=0))
        self.classes = np.array([(1 << settings.virtual_channels) - 1], np.int64)

    def pairs(self, at: Integers, to: Integers) -> Ints:
        """Return the table entries of paths between routers, int64[M]."""
        return np.asarray(to, np.int64) * self.fabric.router_count + at

    def leg(self, sent: RoutedMessages, at: Integers, to: Integers, kind: int, hops: Ints) -> None:
        """Copy paths between routers; see `Legs.leg`."""
        ends = self.ends(sent.target)
        copy_paths(self.first, self.step, self.pairs(at, to), kind, sent.begin, hops, ends, sent.route)

    def every_route(self) -> Iterator[IntArray]:
        """Yield the paths of all pairs."""
        yield self.rows(0)

    def rows(self, kind: int) -> IntArray:
        """Return all paths as rows, int32[pairs, longest]."""
        length = np.diff(self.first)
        rows = np.full((length.size, max(1, self.longest)), NO_STEP, np.int32)
        rows[np.arange(max(1, self.longest)) < length[:, None]] = self.step + kind
        return rows


class UpDown(ShortestPath):
    """Shortest paths among those that go up towards a root first and then down (up*/down*)."""

    name = "up-down"
    legal = True


class Layered(ShortestPath):
    """Shortest paths, each in the first layer of virtual channels in which it closes no circle (LASH)."""

    name = "layered"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:

        super().__init__(fabric, settings)
        lanes, links = settings.virtual_channels, fabric.link_count
        most = int(np.bincount(fabric.source, minlength=fabric.router_count).max())
        layer_of = np.zeros(self.first.size - 1, np.int32)
        used = layer(
            self.first, self.step, np.zeros((lanes, links, most), np.int32), np.zeros((lanes, links), np.int32),
            np.zeros(links, np.int32), np.zeros(links + 1, np.int32), layer_of, np.zeros(self.longest + 1, np.int32),
            lanes,
        )  # fmt: skip
        if used < 0:
            raise ModelError(
                f"routing 'layered' needs more than virtual_channels = {lanes} on {fabric.network.spec}; "
                "'up-down' needs 1"
            )
        self.layers = max(1, used)
        self.classes = np.array([self.classes[0], *phases(lanes, self.layers, self.name, 1)], np.int64)
        self.step = (self.step + np.repeat(1 + layer_of, np.diff(self.first))).astype(np.int32)


class ValiantTable(TwoLegs, Layered):
    """To a random router first and from there to the target, each leg on layers of its own."""

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        groups = phases(settings.virtual_channels, 2 * self.layers, self.name, 1)
        self.classes = np.array([self.classes[0], *groups], np.int64)
        self.direct, self.longest = self.longest, 2 * self.longest
        self.kinds = 0, self.layers
        self.draws = None

    def rows(self, kind: int) -> IntArray:
        """Return all paths as rows, int32[pairs, longest]."""
        length = np.diff(self.first)
        rows = np.full((length.size, max(1, self.direct)), NO_STEP, np.int32)
        rows[np.arange(max(1, self.direct)) < length[:, None]] = self.step + kind
        return rows

    def every_route(self) -> Iterator[IntArray]:
        """Yield the legs of both kinds between all pairs."""
        yield self.rows(0)
        yield self.rows(self.layers)

    def joined(self) -> list[Joined]:
        """Return the classes of first and second legs."""
        return [Joined(1 + a, 1 + self.layers + b) for a in range(self.layers) for b in range(self.layers)]


class UgalTable(Choosing, ValiantTable):
    """The shortest path, or Valiant's where that promises to be faster."""


def ranks(fabric: Fabric) -> IntArray:
    """Return the place of each router in a breadth-first order from a central root, int32[R]; lower is further up.

    The root is a router without terminals if there is one, of those the nearest to all others, and of the most links.
    """
    n, network = fabric.router_count, fabric.network
    candidates = np.arange(network.terminal_count, n) if network.terminal_count < n else np.arange(n)
    degree = np.bincount(fabric.source, minlength=n)
    best: tuple[int, int, int] | None = None
    order = np.arange(n)
    some = candidates if candidates.size <= 256 else candidates[:: -(-candidates.size // 256)]
    for root in some.tolist():
        found = network.breadth_first(root)
        if found.order.size < n:
            raise ModelError(f"up-down routing needs a way from every node to every other, {network.spec} has none")
        key = (int(found.distance.max()), -int(degree[root]), root)
        if best is None or key < best:
            best, order = key, np.lexsort((np.arange(n), found.distance))
    rank = np.zeros(n, np.int32)
    rank[order] = np.arange(n)
    return rank


def _paths(fabric: Fabric, legal: bool, rounds: int) -> tuple[Ints, IntArray]:
    """Return the paths to router 0 from all, then to router 1 from all, ...: first int64[R*R+1], steps int32[...].

    Each goes over the links that are least loaded at the time; in further rounds they are led again, one target after
    the other, which loads links more evenly.
    """
    n = fabric.router_count
    rank = ranks(fabric) if legal else np.zeros(n, np.int32)
    out, into = fabric.leaving, fabric.entering
    far, queue = np.zeros((n, 2), np.int32), np.zeros(2 * n + 2, np.int32)
    load = np.zeros(fabric.link_count, np.int64)
    steps: list[IntArray] = []
    lengths = np.zeros((n, n), np.int64)
    for to in [*range(n)] * rounds:
        if len(steps) > to:
            np.subtract.at(load, steps[to] >> 8, 1)
        distances(into[0], into[1], fabric.source, rank, to, legal, far, queue)
        if (far[:, 1] < 0).any():
            missing = int(np.flatnonzero(far[:, 1] < 0)[0])
            name = fabric.network.node_name
            ways = "has no way up towards a root and then down" if legal else "has no way"
            raise ModelError(
                f"{fabric.network.spec} {ways} from {name(missing)} to {name(to)}"
                + ("; 'layered' routing takes any shortest paths, on more virtual channels" if legal else "")
            )
        at = np.cumsum(far[:, 1]) - far[:, 1]
        step = np.zeros(int(far[:, 1].sum()), np.int32)
        follow(
            out[0], out[1], fabric.target, rank, legal, far, to, load, lengths[to], True, step, at.astype(np.int64)
        )  # fmt: skip
        steps[to : to + 1] = [step]
    first = np.zeros(n * n + 1, np.int64)
    np.cumsum(lengths.reshape(-1), out=first[1:])
    return first, np.concatenate(steps)
