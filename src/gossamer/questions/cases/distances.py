"""Distances between terminals, by whatever structure makes them cheap.

Lines and rings have closed forms, products add up their factors, Cayley networks and fat trees look the same from
every terminal. Any other network is searched breadth-first, from at most `MAX_SEARCHES` nodes and with at most
`MAX_VISITS` visits to nodes and links a question; nodes not searched get values that are certainly not too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases.demands import Counts

MAX_SEARCHES = 512
MAX_VISITS = 30_000_000


class Metric(Protocol):
    """Distances in hops among the terminals of a network; `inward` asks for those towards the node."""

    def canonical(self, nodes: Counts) -> Counts:
        """Return a node with the same distances for each node, the same one for as many as is known."""
        ...

    def eccentricities(self, nodes: Counts, inward: bool = False) -> Counts:
        """Return the largest distance of each node to a terminal, or less where it is not known."""
        ...

    def statuses(self, nodes: Counts, inward: bool = False) -> Counts:
        """Return the sum of the distances of each node to all terminals, or less where it is not known."""
        ...

    def profile(self, node: int, inward: bool = False) -> Counts:
        """Return how many terminals are at distance 0, 1, 2, ... of a node."""
        ...

    def row(self, node: int, inward: bool = False) -> IntArray:
        """Return the distances of a node to all terminals, -1 where there is no path."""
        ...

    def between(self, source: Counts, target: Counts) -> Counts:
        """Return the distances of pairs, -1 where there is no path, 1 where it is not known and they differ."""
        ...


@dataclass(frozen=True)
class _LineAxis:
    """A linear array or a ring."""

    side: int
    wraps: bool

    def canonical(self, nodes: Counts) -> Counts:
        return nodes * 0 if self.wraps else np.minimum(nodes, self.side - 1 - nodes)

    def eccentricities(self, nodes: Counts, inward: bool = False) -> Counts:
        return nodes * 0 + self.side // 2 if self.wraps else np.maximum(nodes, self.side - 1 - nodes)

    def statuses(self, nodes: Counts, inward: bool = False) -> Counts:
        if self.wraps:
            return nodes * 0 + self.side**2 // 4
        right = self.side - 1 - nodes
        return (nodes * (nodes + 1) + right * (right + 1)) // 2

    def profile(self, node: int, inward: bool = False) -> Counts:
        left, right = (self.side // 2, (self.side - 1) // 2) if self.wraps else (node, self.side - 1 - node)
        count = np.ones(max(left, right) + 1, np.int64)
        count[1 : min(left, right) + 1] = 2
        return count

    def row(self, node: int, inward: bool = False) -> IntArray:
        distance = self.between(np.full(self.side, node), np.arange(self.side))
        return distance.astype(np.int32)

    def between(self, source: Counts, target: Counts) -> Counts:
        apart: Counts = np.abs(source - target)
        return np.minimum(apart, self.side - apart) if self.wraps else apart


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension of a grid or one factor of a product.

    * `name`: ``dimension 0``, or ``factor 0 (complete:4)``.
    * `size`, `stride`: positions along it, and the difference in node number of two that follow each other.
    * `links`: directed links along it in one copy of the factor.
    * `metric`: distances along it.
    * `wraps`: whether it is a ring or a linear array; None for a factor of another kind.
    * `network`: the factor, where it is of another kind.
    """

    name: str
    size: int
    stride: int
    links: int
    metric: Metric
    wraps: bool | None = None
    network: Network | None = None

    def place(self, nodes: Counts) -> Counts:
        """Return the coordinates of nodes along the axis."""
        return nodes // self.stride % self.size


@dataclass(frozen=True, eq=False)
class _Product:
    """Distances that add up over axes (Dimakopoulos 1996, (2.1)-(2.3))."""

    axes: tuple[Axis, ...]
    node_count: int

    def canonical(self, nodes: Counts) -> Counts:
        total = nodes * 0
        for a in self.axes:
            total += a.metric.canonical(a.place(nodes)) * a.stride
        return total

    def eccentricities(self, nodes: Counts, inward: bool = False) -> Counts:
        total = nodes * 0
        for a in self.axes:
            total += a.metric.eccentricities(np.arange(a.size), inward)[a.place(nodes)]
        return total

    def statuses(self, nodes: Counts, inward: bool = False) -> Counts:
        total = nodes * 0
        for a in self.axes:
            total += a.metric.statuses(np.arange(a.size), inward)[a.place(nodes)] * (self.node_count // a.size)
        return total

    def profile(self, node: int, inward: bool = False) -> Counts:
        total = np.ones(1, np.int64)
        for a in self.axes:
            total = np.convolve(total, a.metric.profile(node // a.stride % a.size, inward))
        return total

    def row(self, node: int, inward: bool = False) -> IntArray:
        total = np.zeros(1, np.int32)
        for a in self.axes:
            along = a.metric.row(node // a.stride % a.size, inward)
            if int(along.min()) < 0:
                along = np.where(along < 0, np.int32(-self.node_count), along)
            total = np.add.outer(total, along).reshape(-1)
        return total if int(total.min()) >= 0 else np.maximum(total, -1)

    def between(self, source: Counts, target: Counts) -> Counts:
        parts = [a.metric.between(a.place(source), a.place(target)) for a in self.axes]
        total = np.sum(parts, axis=0)
        return np.where(np.min(parts, axis=0) < 0, -1, total)


class _Searched:
    """Any network, by breadth-first searches that are remembered as profiles."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._profiles: dict[tuple[int, bool], Counts] = {}

    @property
    def searches(self) -> int:
        """How many searches a question may cost."""
        visits = self.network.node_count + self.network.link_count
        return max(1, min(MAX_SEARCHES, MAX_VISITS // visits))

    def canonical(self, nodes: Counts) -> Counts:
        return nodes

    def row(self, node: int, inward: bool = False) -> IntArray:
        network = self.network.transposed if inward else self.network
        return network.distances(int(node))[: network.terminal_count]

    def profile(self, node: int, inward: bool = False) -> Counts:
        key = int(node), inward and not self.network.two_way
        if key not in self._profiles:
            row = self.row(node, inward)
            self._profiles[key] = np.bincount(row[row >= 0])
        return self._profiles[key]

    def _searched(self, nodes: Counts, inward: bool) -> tuple[Counts, Counts, Counts]:
        """Search evenly spread nodes; return all different nodes, where each of `nodes` is, which were searched."""
        different, where = np.unique(self.canonical(nodes), return_inverse=True)
        spread = np.linspace(0, different.size - 1, min(different.size, self.searches)).astype(np.int64)
        for node in different[spread].tolist():
            self.profile(node, inward)
        key = inward and not self.network.two_way
        known = np.array([(node, key) in self._profiles for node in different.tolist()], bool)
        return different, where.reshape(-1), known

    def eccentricities(self, nodes: Counts, inward: bool = False) -> Counts:
        different, where, known = self._searched(nodes, inward)
        found = np.full(different.size, int(self.network.terminal_count > 1), np.int64)
        found[known] = [self.profile(node, inward).size - 1 for node in different[known].tolist()]
        return np.asarray(found[where])

    def statuses(self, nodes: Counts, inward: bool = False) -> Counts:
        different, where, known = self._searched(nodes, inward)
        # a node reaches as many others in one hop as it has links, each of these as many more in the next (Moore)
        degrees = self.network.in_degree if inward else self.network.out_degree
        layer, grows = degrees[different].astype(np.int64), max(1, int(degrees.max()) - int(self.network.two_way))
        left, found, hops = np.full(different.size, self.network.terminal_count - 1), np.zeros(different.size, int), 1
        while bool(left.any()) and hops <= self.network.node_count:
            now = np.minimum(layer, left)
            found, left, layer, hops = found + hops * now, left - now, np.minimum(layer * grows, 2**40), hops + 1
        profiles = (self.profile(node, inward) for node in different[known].tolist())
        found[known] = [int(np.arange(p.size) @ p) for p in profiles]
        return np.asarray(found[where])

    def between(self, source: Counts, target: Counts) -> Counts:
        found = (source != target).astype(np.int64)
        inward = np.unique(target).size < np.unique(source).size
        ends, others = (target, source) if inward else (source, target)
        different, where = np.unique(ends, return_inverse=True)
        order = np.argsort(where, kind="stable")
        first = np.searchsorted(where[order], np.arange(different.size + 1))
        for i in np.linspace(0, different.size - 1, min(different.size, self.searches)).astype(np.int64).tolist():
            rows = order[first[i] : first[i + 1]]
            found[rows] = self.row(int(different[i]), inward)[others[rows]]
        return np.asarray(found)


class _Alike(_Searched):
    """A network that looks the same from every terminal: one search is enough."""

    def canonical(self, nodes: Counts) -> Counts:
        return nodes * 0


class _Cayley(_Alike):
    """A Cayley network: the distance from u to v is that from the identity to ``u^-1 v``."""

    def between(self, source: Counts, target: Counts) -> Counts:
        group = self.network.group
        assert group is not None
        return np.asarray(self.row(0)[group.compose(group.inverse(source), target)], np.int64)


class _FatTree(_Alike):
    """A fat tree: two leaves are 2l apart, with l the lowest level at which they share an ancestor."""

    def between(self, source: Counts, target: Counts) -> Counts:
        levels = self.network.levels
        assert levels is not None
        total = source * 0
        for leaves in levels.leaves[:-1]:
            total += 2 * (source // leaves != target // leaves)
        return total


def _axes(network: Network) -> tuple[Axis, ...]:
    """Return the axes along which distances add up, the last one varying fastest."""
    found, stride = [], network.node_count
    if network.grid is not None:
        for i, (side, wraps) in enumerate(zip(network.grid.sides, network.grid.wraps, strict=True)):
            stride //= side
            links = 2 * side if wraps else 2 * (side - 1)
            found.append(Axis(f"dimension {i}", side, stride, links, _LineAxis(side, wraps), wraps))
    else:
        for i, f in enumerate(network.factors):
            stride //= f.node_count
            line = None
            if f.grid is not None and f.grid.dimensions == 1:
                line = _LineAxis(f.grid.sides[0], f.grid.wraps[0])
            name = f"factor {i} ({f.spec})"
            if line is not None:
                found.append(Axis(name, f.node_count, stride, f.link_count, line, line.wraps))
            else:
                found.append(Axis(name, f.node_count, stride, f.link_count, metric_of(f), network=f))
    return tuple(found)


def metric_of(network: Network) -> Metric:
    """Return the cheapest metric of a network.

    >>> import gossamer
    >>> metric_of(gossamer.network("array:4x4")).profile(0).tolist()
    [1, 2, 3, 4, 3, 2, 1]
    """
    if network.terminal_count == network.node_count:
        axes = _axes(network)
        if axes:
            return _Product(axes, network.node_count)
        if network.group is not None:
            return _Cayley(network)
    if network.levels is not None:
        return _FatTree(network)
    return _Searched(network)


def axes_of(metric: Metric) -> tuple[Axis, ...]:
    """Return the axes along which the distances of a metric add up, none if they do not."""
    return metric.axes if isinstance(metric, _Product) else ()


def at_least(profile: Counts) -> Counts:
    """Return how many terminals of a profile are at distance at least 0, 1, 2, ...

    >>> at_least(np.array([1, 2, 3])).tolist()
    [6, 5, 3]
    """
    return np.cumsum(profile[::-1])[::-1]
