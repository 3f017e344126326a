"""What the allreduces of textbooks take, computed from alpha-beta formulas, apart from the library's own schedules.

Every algorithm is a list of rounds that follow each other. A round takes the latencies of its longest way and the time
of the link that carries most: ways pass nodes and switches without being stored, and traffic divides evenly among all
shortest ways. Both are in favor of the textbook. Sources: Thakur, Rabenseifner and Gropp 2005 (ring, recursive
doubling, Rabenseifner), Jain and Sabharwal 2010 (bucket), Chan et al. 2007 (direct exchange), De Sensi et al. 2024
(Swing); a tree is reduced and broadcast in pieces, of which the best number is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.reading.quantities import bandwidth, duration

Round = dict[tuple[int, int], float]
"""The share of the buffer that one rank sends to another."""


class Links(NamedTuple):
    """Links by their ends: seconds of latency, bytes a second."""

    ranks: int
    nodes: int
    latency: dict[tuple[int, int], float]
    speed: dict[tuple[int, int], float]


class Line(NamedTuple):
    """An algorithm that takes ``latency + bytes * a_byte`` seconds."""

    name: str
    latency: float
    a_byte: float


def links_of(network: Network, speed: float, latency: float) -> Links:
    """Return the links of a network that are all alike."""
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    fast = dict.fromkeys(ends, 0.0)
    for e, capacity in zip(ends, network.link_capacity.tolist(), strict=True):
        fast[e] += capacity * speed
    return Links(network.terminal_count, network.node_count, dict.fromkeys(ends, latency), fast)


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
    """Shortest ways by latency and hops, among which traffic divides evenly."""

    def __init__(self, links: Links) -> None:
        self.links = links
        n = links.nodes
        weight = np.full((n, n), np.inf)
        np.fill_diagonal(weight, 0)
        for (a, b), seconds in links.latency.items():
            weight[a, b] = seconds + 1e-15  # of ways of one latency, that of fewer hops
        self.away = weight.copy()
        for k in range(n):
            np.minimum(self.away, self.away[:, k, None] + self.away[None, k], out=self.away)
        self.onward: dict[tuple[int, int], list[int]] = {}
        after: dict[int, list[int]] = {v: [] for v in range(n)}
        for a, b in links.latency:
            after[a].append(b)
        for v in range(n):
            for goal in range(links.ranks):
                near = [w for w in after[v] if abs(weight[v, w] + self.away[w, goal] - self.away[v, goal]) < 1e-16]
                self.onward[v, goal] = near

    def time(self, sent: Round) -> tuple[float, float]:
        """Return the latency of a round, and the seconds of its fullest link for each byte of the buffer."""
        load = dict.fromkeys(self.links.speed, 0.0)
        for goal in {b for _, b in sent}:
            flow = np.zeros(self.links.nodes)
            for (a, b), share in sent.items():
                if b == goal:
                    flow[a] += share
            for v in np.argsort(-self.away[:, goal]).tolist():
                if v != goal and flow[v]:
                    for w in self.onward[v, goal]:
                        flow[w] += flow[v] / len(self.onward[v, goal])
                        load[v, w] += flow[v] / len(self.onward[v, goal])
        latency = max(self.away[a, b] for a, b in sent)
        return latency, max(load[e] / self.links.speed[e] for e in load)

    def line(self, name: str, rounds: Sequence[tuple[int, Round]]) -> Line:
        """Return an algorithm of rounds, each repeated so many times."""
        times = [(count, *self.time(sent)) for count, sent in rounds]
        return Line(name, sum(c * a for c, a, _ in times), sum(c * b for c, _, b in times))


def _together(rounds: Sequence[Round]) -> Round:
    found: Round = {}
    for each in rounds:
        for ends, share in each.items():
            found[ends] = found.get(ends, 0.0) + share
    return found


def ring(roads: Roads, cycles: Sequence[Sequence[int]]) -> Line:
    """Return reduce-scatter and allgather around cycles of all ranks, in both directions at once."""
    n = roads.links.ranks
    ways = [way for cycle in cycles for way in (list(cycle), list(cycle)[::-1])]
    sent = _together(
        [{(a, b): 1 / (n * len(ways))} for way in ways for a, b in zip(way, way[1:] + way[:1], strict=True)]
    )
    return roads.line(f"ring x {len(cycles)}", [(2 * (n - 1), sent)])


def _lines(sides: Sequence[int], axis: int) -> list[list[int]]:
    ranks = np.moveaxis(np.arange(math.prod(sides)).reshape(tuple(sides)), axis, -1)
    return ranks.reshape(-1, sides[axis]).tolist()


def bucket(roads: Roads, sides: Sequence[int]) -> Line:
    """Return rings along one dimension after the other, d orders of them and both directions at once; equal sides."""
    d, side = len(sides), sides[0]
    turns = (1, -1) if side > 2 else (1,)
    rounds = []
    for phase in range(d):
        share = 1 / (d * len(turns) * side ** (phase + 1))
        sent = _together(
            [
                {(line[i], line[(i + turn) % side]): share}
                for c in range(d)
                for line in _lines(sides, (c + phase) % d)
                for turn in turns
                for i in range(side)
            ]
        )
        rounds.append((2 * (side - 1), sent))
    return roads.line("bucket", rounds)


def _doubling(side: int, turn: int) -> Iterator[list[int]]:
    for k in range(side.bit_length() - 1):
        yield [i ^ (1 << k) for i in range(side)]


def _swing(side: int, turn: int) -> Iterator[list[int]]:
    for k in range(side.bit_length() - 1):
        far = turn * (1 - (-2) ** (k + 1)) // 3 if turn > 0 else -((1 - (-2) ** (k + 1)) // 3)
        yield [(i + (-far if i % 2 else far)) % side for i in range(side)]


def pairs(
    roads: Roads, sides: Sequence[int], partners: Callable[[int, int], Iterator[list[int]]], turns: Sequence[int],
    halved: bool, orders: int, name: str,
) -> Line:  # fmt: skip
    """Return exchanges of pairs along the dimensions, sides powers of two, so many orders of them at once."""
    stages: list[list[Round]] = []
    for c in range(orders):
        for turn in turns:
            own, share = [], 1 / (orders * len(turns))
            for axis in [(c + k) % len(sides) for k in range(len(sides))]:
                for partner in partners(sides[axis], turn):
                    share = share / 2 if halved else share
                    lines = _lines(sides, axis)
                    own.append({(line[i], line[partner[i]]): share for line in lines for i in range(len(partner))})
            stages.append(own)
    count = 2 if halved else 1
    return roads.line(name, [(count, _together(each)) for each in zip(*stages, strict=True)])


def folded(roads: Roads, halved: bool) -> Line:
    """Return recursive doubling or Rabenseifner's among the largest power of two; the others give to it first."""
    n = roads.links.ranks
    power = 1 << (n.bit_length() - 1)
    rounds: list[tuple[int, Round]] = []
    share = 1.0
    for k in range(power.bit_length() - 1):
        share = share / 2 if halved else share
        rounds.append((2 if halved else 1, {(i, i ^ (1 << k)): share for i in range(power)}))
    if n > power:
        rounds.append((1, {(i, i - power): 1.0 for i in range(power, n)}))
        rounds.append((1, {(i - power, i): 1.0 for i in range(power, n)}))
    return roads.line("Rabenseifner" if halved else "recursive doubling", rounds)


def direct(roads: Roads, sides: Sequence[int], halved: bool) -> Line:
    """Return exchanges of all with all along each dimension, whole or as reduce-scatter and allgather."""
    rounds, share = [], 1.0
    for axis in range(len(sides)):
        share = share / sides[axis] if halved else share
        lines = _lines(sides, axis)
        sent = {(a, b): share for line in lines for a in line for b in line if a != b}
        rounds.append((2 if halved else 1, sent))
    name = "direct reduce-scatter, allgather" if halved else "direct exchange"
    return roads.line(f"{name} {'x'.join(map(str, sides))}", rounds)


def tree(roads: Roads, size: float) -> tuple[float, str]:
    """Return a tree of ranks, reduced and broadcast in the best number of pieces: of shortest ways, else a path.

    Switches add nothing up, so that behind them ranks are joined in a path.
    """
    links, n = roads.links, roads.links.ranks
    if n < links.nodes:
        way = _together([{(i, i + 1): 1.0, (i + 1, i): 1.0} for i in range(n - 1)])
        latency, a_byte = roads.time(way)
        deep, latency, name = n - 1, 2 * (n - 1) * latency, "path"
    else:
        root = int(np.argmin([roads.away[v, :n].max() + roads.away[:n, v].max() for v in range(n)]))
        parent = {v: roads.onward[v, root][0] for v in range(n) if v != root}
        deep = max(_depth(v, parent) for v in range(n))
        latency = roads.away[root, :n].max() + roads.away[:n, root].max()
        a_byte, name = 1 / min(links.speed.values()), "tree"
    best = min(latency + (2 * deep + p - 1) / p * a_byte * size for p in range(1, 1025) if size >= 64 * p)
    return best, name


def _depth(v: int, parent: dict[int, int]) -> int:
    return 1 + _depth(parent[v], parent) if v in parent else 0


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


def textbook(links: Links, sides: Sequence[int], inside: int) -> Callable[[float], tuple[float, str]]:
    """Return a function of bytes that says what the best algorithm takes, and its name.

    `sides` are those of the grid of ranks, and `inside` the ranks of a server or a leaf, 1 where there is none.
    """
    roads, n = Roads(links), links.ranks
    cycles = hamiltonian(sides)
    lines = [ring(roads, cycles), folded(roads, False), folded(roads, True)]
    if inside > 1:
        blocks = (n // inside, inside)
        # as many rings as a server has rails: each begins in a server at another rank
        turned = [
            [s * inside + (i + r) % inside for s in range(n // inside) for i in range(inside)] for r in range(inside)
        ]
        lines.append(ring(roads, turned))
        lines += [direct(roads, blocks[::-1], False)]
        inner = {
            (s * inside + i, s * inside + j): 1 / inside
            for s in range(n // inside) for i in range(inside) for j in range(inside) if i != j
        }  # fmt: skip
        across = n // inside
        outer = {
            (s * inside + i, t * inside + i): 1 / n for i in range(inside) for s in range(across) for t in range(across)
            if s != t
        }  # fmt: skip
        lines.append(roads.line("hierarchical", [(2, inner), (2, outer)]))
    lines += [direct(roads, sides, h) for h in (False, True)]
    if len(sides) > 1 or sides[0] == n:
        lines += [direct(roads, (n,), h) for h in (False, True)]
    if len(set(sides)) == 1:
        lines.append(bucket(roads, sides))
    if all(side & (side - 1) == 0 for side in sides):
        for halved in (False, True):
            word = "Rabenseifner" if halved else "dimension exchange"
            for orders in {1, len(sides)}:
                lines.append(pairs(roads, sides, _doubling, (1,), halved, orders, f"{word} in {orders} parts"))
                if min(sides) > 2:
                    word_of_swing = f"Swing in {2 * orders} parts" + (", halved" if halved else "")
                    lines.append(pairs(roads, sides, _swing, (1, -1), halved, orders, word_of_swing))

    def best(size: float) -> tuple[float, str]:
        return min([(line.latency + size * line.a_byte, line.name) for line in lines] + [tree(roads, size)])

    return best
