"""What the algorithms of textbooks take for each collective, computed apart from the library's planner and schedules.

Every algorithm is a list of rounds that follow each other. A round takes the latencies of its longest path and the time
of the link that carries most: messages pass nodes and switches without being stored, and traffic divides evenly among
all shortest paths. Both are in favor of the textbook. A chain or a tree is cut into the best number of pieces, whose
latencies overlap. Sources: Thakur, Rabenseifner and Gropp 2005 (ring, recursive doubling and halving, Rabenseifner,
binomial trees, scatter and allgather, pairwise exchange), Bruck et al. 1997, Jain and Sabharwal 2010 (rings along the
dimensions), Chan et al. 2007 (direct exchange, buckets), De Sensi et al. 2024 (Swing) and 2025 (Bine), Sanders, Speck
and Traeff 2009 (two trees).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.reading.quantities import bandwidth, duration

COLLECTIVES = ("allreduce", "allgather", "reduce-scatter", "broadcast", "reduce", "alltoall")
Round = np.ndarray
"""What each rank sends to each other, as a share of the message."""
Rounds = list[tuple[int, Round]]
"""Rounds, each repeated so many times."""


class Links(NamedTuple):
    """Links by their ends: seconds of latency, bytes a second."""

    ranks: int
    nodes: int
    latency: dict[tuple[int, int], float]
    speed: dict[tuple[int, int], float]


class Line(NamedTuple):
    """An algorithm that takes ``latency + bytes * a_byte`` seconds, or in p pieces ``deep / p`` times more bytes."""

    name: str
    latency: float
    a_byte: float
    deep: int = 0

    def seconds(self, size: float) -> float:
        """Return what it takes for a message, in the best number of pieces."""
        pieces = max(1, min(1024, int(size) // 64)) if self.deep else 1
        return self.latency + size * self.a_byte * (self.deep + pieces) / pieces


def links_of(network: Network, speed: float, latency: float) -> Links:
    """Return the links of a network; those that have no speed or latency of their own have the ones given."""
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    own, rated = network.find(Speeds), network.find(RatedLinks)
    each = np.full(len(ends), speed if rated is None else rated.bandwidth) if own is None else own.bandwidth
    fast, slow = dict.fromkeys(ends, 0.0), dict.fromkeys(ends, latency)
    for i, (e, wide, rate) in enumerate(zip(ends, network.link_capacity.tolist(), each.tolist(), strict=True)):
        fast[e] += wide * rate
        slow[e] = latency if own is None else float(own.latency[i])
    return Links(network.terminal_count, network.node_count, slow, fast)


def links_of_file(path: Path) -> Links:
    """Return the links of a file with the columns source, target, capacity, bandwidth and latency, both ways each."""
    network = as_network(path)
    number = {network.node_name(v).strip("()"): v for v in range(network.node_count)}
    slow: dict[tuple[int, int], float] = {}
    fast: dict[tuple[int, int], float] = {}
    for line in path.read_text().splitlines():
        word = line.split()
        if len(word) == 5 and word[0] in number and word[1] in number:
            a, b = number[word[0]], number[word[1]]
            for ends in ((a, b), (b, a)):
                fast[ends] = float(bandwidth(word[3], "bandwidth")) * int(word[2])
                slow[ends] = float(duration(word[4], "latency"))
    return Links(network.terminal_count, network.node_count, slow, fast)


class Roads:
    """Shortest paths by latency and hops, among which traffic divides evenly."""

    def __init__(self, links: Links) -> None:
        self.links = links
        n = links.nodes
        weight = np.full((n, n), np.inf)
        np.fill_diagonal(weight, 0)
        for (a, b), seconds in links.latency.items():
            weight[a, b] = seconds + 1e-15  # of paths of one latency, that of fewer hops
        self.away = weight.copy()
        for k in range(n):
            np.minimum(self.away, self.away[:, k, None] + self.away[None, k], out=self.away)
        ends = list(links.speed)
        source, target = np.array(ends).T
        self.speed = np.array([links.speed[e] for e in ends])
        self.load = np.zeros((links.ranks, links.ranks, len(ends)))  # of each link, by one unit of each pair
        self.onward: dict[tuple[int, int], list[int]] = {}
        cost = weight[source, target]
        for goal in range(links.ranks):
            near = np.abs(cost + self.away[target, goal] - self.away[source, goal]) < 1e-16
            out: dict[int, list[int]] = {v: [] for v in range(n)}
            for e in np.flatnonzero(near).tolist():
                out[int(source[e])].append(e)
            used = np.zeros((n, len(ends)))
            for v in np.argsort(self.away[:, goal]).tolist():
                self.onward[v, goal] = [int(target[e]) for e in out[v]]
                if v != goal:
                    for e in out[v]:
                        used[v] += used[target[e]] / len(out[v])
                        used[v, e] += 1 / len(out[v])
            self.load[:, goal] = used[: links.ranks]

    def time(self, sent: Round) -> tuple[float, float]:
        """Return the latency of a round, and the seconds of its fullest link for each byte of the message."""
        n = self.links.ranks
        latency = self.away[:n, :n][sent > 0].max()
        return float(latency), float((np.tensordot(sent, self.load, 2) / self.speed).max())

    def line(self, name: str, rounds: Rounds) -> Line:
        """Return an algorithm of rounds."""
        times = [(count, *self.time(sent)) for count, sent in rounds if sent.any()]
        return Line(name, sum(c * a for c, a, _ in times), sum(c * b for c, _, b in times))


def _sent(n: int, pairs: Iterable[tuple[int, int]], share: float) -> Round:
    found = np.zeros((n, n))
    for a, b in pairs:
        found[a, b] += share
    return found


def _together(*several: Rounds) -> Rounds:
    """Return algorithms at once, each for its part: rounds of the same numbers."""
    return [(each[0][0], sum(sent for _, sent in each)) for each in zip(*several, strict=True)]


def _scaled(rounds: Rounds, by: float) -> Rounds:
    return [(count, by * sent) for count, sent in rounds]


def _reversed(rounds: Rounds) -> Rounds:
    """Return a reduction that reverses an algorithm without one."""
    return [(count, sent.T) for count, sent in reversed(rounds)]


def cycle_rounds(n: int, cycles: Sequence[Sequence[int]]) -> Rounds:
    """Return an allgather around cycles of all ranks, in both directions at once."""
    turned = [turn for cycle in cycles for turn in (list(cycle), list(cycle)[::-1])]
    each = (_sent(n, zip(c, c[1:] + c[:1], strict=True), 1 / len(turned)) for c in turned)
    return [(n - 1, sum(each))]


def _lines(sides: Sequence[int], axis: int) -> list[list[int]]:
    ranks = np.moveaxis(np.arange(math.prod(sides)).reshape(tuple(sides)), axis, -1)
    return ranks.reshape(-1, sides[axis]).tolist()


def along_dimensions(sides: Sequence[int], orders: int, direct: bool) -> Rounds:
    """Return an allgather along one dimension after the other, by rings both ways or by direct exchanges.

    So many orders of the dimensions at once, each for a part of the message; several take equal sides.
    """
    n, parts = math.prod(sides), []
    for c in range(orders):
        own, share = [], 1 / orders
        for axis in [(c + k) % len(sides) for k in range(len(sides))]:
            side, lines = sides[axis], _lines(sides, axis)
            if direct:
                own.append((1, _sent(n, (p for line in lines for p in itertools.permutations(line, 2)), share)))
            else:
                there = [(line[i], line[(i + 1) % side]) for line in lines for i in range(side)]
                own.append((side - 1, _sent(n, there + [(b, a) for a, b in there], share / 2)))
            share *= side
        parts.append(own)
    return _together(*parts)


def _doubling(side: int, turn: int) -> Iterator[list[int]]:
    for k in range(side.bit_length() - 1):
        yield [i ^ (1 << k) for i in range(side)]


def _swing(side: int, turn: int) -> Iterator[list[int]]:
    """Yield the partners of Swing, which are those of Bine butterflies, the nearest first."""
    for k in range(side.bit_length() - 1):
        far = turn * (1 - (-2) ** (k + 1)) // 3 if turn > 0 else -((1 - (-2) ** (k + 1)) // 3)
        yield [(i + (-far if i % 2 else far)) % side for i in range(side)]


Partners = Callable[[int, int], Iterator[list[int]]]


def pair_rounds(
    sides: Sequence[int], partners: Partners, turns: Sequence[int], orders: int, grown: str, near: bool = True
) -> Rounds:
    """Return exchanges of pairs along the dimensions, sides powers of two, so many orders of them at once.

    `grown`: "doubled" where each round sends all that was gathered, "alike" where all send as much. `near`: whether
    the nearest partners exchange first.
    """
    n, parts = math.prod(sides), []
    for c in range(orders):
        for turn in turns:
            own, share = [], 1 / (orders * len(turns))
            stages = [
                _sent(n, ((line[i], line[partner[i]]) for line in _lines(sides, axis) for i in range(sides[axis])), 1)
                for axis in [(c + k) % len(sides) for k in range(len(sides))]
                for partner in partners(sides[axis], turn)
            ]
            for sent in stages if near else stages[::-1]:
                own.append((1, share * sent))
                share = share * 2 if grown == "doubled" else share
            parts.append(own)
    return _together(*parts)


def bruck(n: int, share: Callable[[int], float]) -> Rounds:
    """Return rounds in which each rank sends to those 1, 2, 4 ... places before, and a share that depends on these."""
    steps = [1 << k for k in range((n - 1).bit_length())]
    return [(1, _sent(n, ((i, (i - far) % n) for i in range(n)), share(far))) for far in steps]


def folded(n: int, halved: bool) -> Rounds:
    """Return recursive doubling or Rabenseifner's among the largest power of two; the others give to it first."""
    power = 1 << (n.bit_length() - 1)
    rounds, share = [], 1.0
    for k in range(power.bit_length() - 1):
        share = share / 2 if halved else share
        rounds.append((2 if halved else 1, _sent(n, ((i, i ^ (1 << k)) for i in range(power)), share)))
    if n > power:
        rounds.append((1, _sent(n, ((i, i - power) for i in range(power, n)), 1)))
        rounds.append((1, _sent(n, ((i - power, i) for i in range(power, n)), 1)))
    return rounds


def binomial(order: Sequence[int], far_first: bool, halved: bool) -> Rounds:
    """Return a binomial tree from the first of an order; halved where each rank gets only what is below it."""
    n, rounds = len(order), []
    steps = [1 << k for k in range((n - 1).bit_length())]
    for far in reversed(steps) if far_first else steps:
        sent = np.zeros((n, n))
        for i in range(n):
            if (i % (2 * far) == 0 if far_first else i < far) and i + far < n:
                share = min(far, n - i - far) / n if far_first else len(range(i + far, n, 2 * far)) / n
                sent[order[i], order[i + far]] = share if halved else 1.0
        rounds.append((1, sent))
    return rounds


def bine(n: int) -> Rounds:
    """Return a Bine tree from rank 0 of a power of two: distances are sums of powers of -2, the far ones first."""
    have, rounds = {0}, []
    for k in reversed(range(n.bit_length() - 1)):
        far = (1 - (-2) ** (k + 1)) // 3
        to = {v: (v + (-far if v % 2 else far)) % n for v in have}
        rounds.append((1, _sent(n, to.items(), 1)))
        have |= set(to.values())
    return rounds if len(have) == n else []


def _two_trees(order: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return two binary trees in order, from the first, in which a rank is inside at most one of them."""

    def inner(low: int, high: int) -> tuple[int, list[tuple[int, int]]]:
        if low == high:
            return low, []
        root = low + (1 << ((high - low + 1).bit_length() - 1)) - 1
        root = min(root, high)
        found = []
        for a, b in ((low, root - 1), (root + 1, high)):
            if a <= b:
                child, below = inner(a, b)
                found += [(root, child), *below]
        return root, found

    n = len(order)
    if n < 3:
        return []
    top, edges = inner(1, n - 1)
    first = [(0, top), *edges]
    turned = [0, *range(2, n), 1]
    return [[(order[at[a]], order[at[b]]) for a, b in first] for at in (range(n), turned)]


def _depth(v: int, parent: dict[int, int]) -> int:
    return 1 + _depth(parent[v], parent) if v in parent else 0


def piped(roads: Roads, name: str, trees: Sequence[Sequence[tuple[int, int]]], two_way: bool = False) -> Line:
    """Return trees of (parent, child) at once, pipelined; down from their roots, or up to them and down at once."""
    n, depths, latency = roads.links.ranks, [0], 0.0
    sent = sum(_sent(n, tree, 1 / len(trees)) for tree in trees)
    for tree in trees:
        parent = {b: a for a, b in tree}
        for v in parent:
            path = [v]
            while path[-1] in parent:
                path.append(parent[path[-1]])
            latency = max(latency, sum(roads.away[b, a] for a, b in itertools.pairwise(path[::-1])))
        depths += [_depth(v, parent) for v in parent]
    _, a_byte = roads.time(sent + sent.T if two_way else sent)
    twice = 2 if two_way else 1
    return Line(name, twice * latency, a_byte, twice * max(depths) - 1)


def hamiltonian(sides: Sequence[int]) -> list[list[int]]:
    """Return edge-disjoint cycles of all ranks of a torus where a construction is simple: one, or two of a square."""
    if len(sides) == 1:
        return [list(range(sides[0]))]
    if len(sides) == 2 and sides[0] == sides[1]:  # along each row but for one link, then on to the next; and transposed
        k = sides[0]
        first = [(i // k, (i % k - i // k) % k) for i in range(k * k)]
        return [[a * k + b for a, b in first], [b * k + a for a, b in first]]
    path = [0]  # Gray code over the mixed radix, closed for even sides
    stride = 1
    for side in reversed(sides):
        there = [path, path[::-1]]
        path = [v + x * stride for x in range(side) for v in there[x % 2]]
        stride *= side
    return [path]


def _nearest(roads: Roads) -> list[int]:
    """Return the ranks in an order in which each is followed by the nearest that is left."""
    order, left = [0], set(range(1, roads.links.ranks))
    while left:
        order.append(min(left, key=lambda v: (roads.away[order[-1], v], v)))
        left.remove(order[-1])
    return order


class Grid(NamedTuple):
    """How ranks are laid out: the sides of their grid, and the ranks of a server or a leaf."""

    sides: tuple[int, ...]
    inside: int = 1


def allgathers(roads: Roads, grid: Grid) -> Iterator[tuple[str, Rounds]]:
    """Yield the allgathers, each a name and rounds in shares of one rank's message."""
    n, (sides, inside) = roads.links.ranks, grid
    yield "ring", cycle_rounds(n, [_nearest(roads)])
    cycles = hamiltonian(sides)
    yield f"ring x {len(cycles)}", cycle_rounds(n, cycles)
    yield "direct", along_dimensions((n,), 1, True)
    yield "Bruck", bruck(n, lambda far: min(far, n - far))
    power = n & (n - 1) == 0
    if power:
        for near in (True, False):
            word = "doubling" if near else "doubling, far first"
            yield f"recursive {word}", pair_rounds((n,), _doubling, (1,), 1, "doubled", near)
            if n > 2:
                yield f"Swing {word}", pair_rounds((n,), _swing, (1, -1), 1, "doubled", near)
                yield f"Bine {word}", pair_rounds((n,), _swing, (1,), 1, "doubled", near)
    if len(sides) > 1:
        for orders in {1, len(sides) if len(set(sides)) == 1 else 1}:
            for direct in (False, True):
                word = "direct" if direct else "rings"
                yield f"{word} by dimension in {orders} parts", along_dimensions(sides, orders, direct)
            for near in (True, False) if power and all(side & (side - 1) == 0 for side in sides) else ():
                yield f"doubling in {orders} parts", pair_rounds(sides, _doubling, (1,), orders, "doubled", near)
                if min(sides) > 2:
                    yield f"Swing in {2 * orders} parts", pair_rounds(sides, _swing, (1, -1), orders, "doubled", near)
    if inside > 1:
        servers = n // inside
        # as many rings as a server has rails: each begins in a server at another rank
        turned = [[s * inside + (i + r) % inside for s in range(servers) for i in range(inside)] for r in range(inside)]
        yield f"ring x {inside}", cycle_rounds(n, turned)
        for sizes in ((servers, inside), (inside, servers)):
            ranks = np.arange(n).reshape(servers, inside)
            rounds, share = [], 1.0
            for axis in (0, 1) if sizes[0] == servers else (1, 0):
                lines = np.moveaxis(ranks, axis, -1).reshape(-1, ranks.shape[axis]).tolist()
                rounds.append((1, _sent(n, (p for line in lines for p in itertools.permutations(line, 2)), share)))
                share *= ranks.shape[axis]
            yield "hierarchical", rounds


def broadcasts(roads: Roads, grid: Grid, gathers: Sequence[tuple[str, Rounds]]) -> Iterator[Line]:
    """Yield the broadcasts from rank 0."""
    n = roads.links.ranks
    near = _nearest(roads)
    for word, order in (("", list(range(n))), (", nearest next", near)):
        for far_first in (True, False):
            yield roads.line(f"binomial{word}", binomial(order, far_first, False))
        halves = [list(itertools.pairwise(order)), list(itertools.pairwise([order[0], *order[:0:-1]]))]
        yield piped(roads, f"chain{word}", halves[:1])
        yield piped(roads, f"two chains{word}", halves)
        both = _two_trees(order)
        if both:
            yield piped(roads, f"binary tree{word}", both[:1])
            yield piped(roads, f"two binary trees{word}", both)
        for name, rounds in gathers:
            scatter = binomial(order, True, True)
            yield roads.line(f"binomial scatter, {name}", [*scatter, *_scaled(rounds, 1 / n)])
    if n & (n - 1) == 0 and n > 2 and (rounds := bine(n)):
        yield roads.line("Bine tree", rounds)
    direct = _sent(n, ((0, v) for v in range(1, n)), 1)
    yield roads.line("direct", [(1, direct)])
    for name, rounds in gathers:
        yield roads.line(f"direct scatter, {name}", [(1, direct / n), *_scaled(rounds, 1 / n)])
    if n == roads.links.nodes:
        yield piped(roads, "shortest paths", [[(roads.onward[v, 0][0], v) for v in range(1, n)]])
    if grid.inside > 1:
        inside = grid.inside
        heads = [(0, v) for v in range(inside, n, inside)]
        below = [(v, v + j) for v in range(0, n, inside) for j in range(1, inside)]
        yield roads.line("hierarchical", [(1, _sent(n, heads, 1)), (1, _sent(n, below, 1))])


def allreduces(roads: Roads, grid: Grid, gathers: Sequence[tuple[str, Rounds]]) -> Iterator[Line]:
    """Yield the allreduces."""
    n, (sides, inside) = roads.links.ranks, grid
    for name, rounds in gathers:
        half = _scaled(rounds, 1 / n)
        yield roads.line(f"{name}, both ways", [*_reversed(half), *half])
    for halved in (False, True):
        yield roads.line("Rabenseifner" if halved else "recursive doubling", folded(n, halved))
    for shape in {(n,), sides, (n // inside, inside)}:
        alike = [(1, sent / sent.max()) for _, sent in along_dimensions(shape, 1, True) if sent.any()]
        yield roads.line(f"direct exchange {'x'.join(map(str, shape))}", alike)
    for shape in {(n,), sides}:
        if all(side & (side - 1) == 0 for side in shape):
            for orders in {1, len(shape) if len(set(shape)) == 1 else 1}:
                exchange = pair_rounds(shape, _doubling, (1,), orders, "alike")
                yield roads.line(f"dimension exchange in {orders} parts", exchange)
                if min(shape) > 2:
                    yield roads.line(
                        f"Swing in {2 * orders} parts", pair_rounds(shape, _swing, (1, -1), orders, "alike")
                    )
    for word, order in (("", list(range(n))), (", nearest next", _nearest(roads))):
        for far_first in (True, False):
            down = binomial(order, far_first, False)
            yield roads.line(f"binomial reduce and broadcast{word}", [*_reversed(down), *down])
        yield piped(roads, f"chain{word}", [list(itertools.pairwise(order))], True)
        if both := _two_trees(order):
            yield piped(roads, f"two binary trees{word}", both, True)
    if n == roads.links.nodes:
        root = int(np.argmin([roads.away[v, :n].max() + roads.away[:n, v].max() for v in range(n)]))
        tree = [(roads.onward[v, root][0], v) for v in range(n) if v != root]
        yield piped(roads, "shortest paths", [tree], True)


def alltoalls(roads: Roads, grid: Grid) -> Iterator[Line]:
    """Yield the total exchanges."""
    n, (sides, inside) = roads.links.ranks, grid
    yield roads.line("direct", along_dimensions((n,), 1, True))
    yield roads.line("pairwise", [(1, _sent(n, ((i, (i + k) % n) for i in range(n)), 1)) for k in range(1, n)])
    if n & (n - 1) == 0:
        yield roads.line("pairwise xor", [(1, _sent(n, ((i, i ^ k) for i in range(n)), 1)) for k in range(1, n)])
    yield roads.line("Bruck", bruck(n, lambda far: sum(1 for k in range(n) if k & far)))
    for shape in {sides, (n // inside, inside), (inside, n // inside)}:
        if len(shape) > 1 and math.prod(shape) == n and min(shape) > 1:
            for orders in {1, len(shape) if len(set(shape)) == 1 else 1}:
                parts = []
                for c in range(orders):
                    axes = [(c + k) % len(shape) for k in range(len(shape))]
                    pairs = [[p for line in _lines(shape, a) for p in itertools.permutations(line, 2)] for a in axes]
                    parts.append([(1, _sent(n, p, n / shape[a] / orders)) for a, p in zip(axes, pairs, strict=True)])
                yield roads.line(f"by dimension {'x'.join(map(str, shape))}", _together(*parts))
    if n & (n - 1) == 0:
        for shape in {(n,), sides}:
            if all(side & (side - 1) == 0 for side in shape):
                for orders in {1, len(shape) if len(set(shape)) == 1 else 1}:
                    halves = _scaled(pair_rounds(shape, _doubling, (1,), orders, "alike"), n / 2)
                    yield roads.line(f"halves in {orders} parts", halves)


def textbook(links: Links, grid: Grid, collective: str = "allreduce") -> Callable[[float], tuple[float, str]]:
    """Return a function of bytes that says what the best algorithm takes, and its name.

    Bytes are those of a rank's own message, or of the buffer of a broadcast, reduce or allreduce.
    """
    there = collective not in ("reduce-scatter", "reduce")
    if not there:  # reductions reverse the algorithms of a network whose links are reversed
        back = {"reduce-scatter": "allgather", "reduce": "broadcast"}[collective]
        turned = [{(b, a): value for (a, b), value in column.items()} for column in links[2:]]
        return textbook(Links(links.ranks, links.nodes, *turned), grid, back)
    roads = Roads(links)
    if collective == "alltoall":
        lines = list(alltoalls(roads, grid))
    else:
        gathers = list(allgathers(roads, grid))
        if collective == "allgather":
            lines = [roads.line(name, rounds) for name, rounds in gathers]
        else:
            lines = list((broadcasts if collective == "broadcast" else allreduces)(roads, grid, gathers))

    def best(size: float) -> tuple[float, str]:
        return min((line.seconds(size), line.name) for line in lines)

    return best
