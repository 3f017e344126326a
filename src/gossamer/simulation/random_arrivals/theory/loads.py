"""Exact loads of links, and the loads at which a scheme stops being stable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.simulation.random_arrivals.scheme import Scheme, slices

__all__ = [
    "LinkLoads",
    "StabilityLimit",
    "deepest",
    "distances",
    "eccentricity_mean",
    "last_parts",
    "link_loads",
    "load_factor",
    "mean_distance",
    "mean_height",
    "mean_receipt",
    "queued_rows",
    "rate_of",
    "row_heights",
    "stability_limit",
]

Ints = npt.NDArray[np.int64]

_INT64_SAFE = 2**40


def load_factor(network: Network, rate: Fraction | float) -> Fraction | float:
    """Return the load factor ``rate (N - 1) / d_ave`` of broadcasts by all nodes to all nodes.

    Parameters
    ----------
    network : Network
        N nodes with d_ave links on average.
    rate : Fraction or float
        Broadcasts per node and step; a Fraction gives a Fraction.

    Notes
    -----
    No scheme is stable at 1 or more. For a scheme of some nodes only (ARC), see `Scheme.load_factor`.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 1.

    Examples
    --------
    >>> import gossamer
    >>> load_factor(gossamer.network("hypercube:4"), Fraction(1, 5)), load_factor(gossamer.network("array:4x4"), 0.1)
    (Fraction(3, 4), 0.5)
    """
    n = network.node_count
    per = Fraction(n * (n - 1), max(network.link_count, 1))
    return rate * per if isinstance(rate, Fraction) else rate * float(per)


def rate_of(network: Network, load: Fraction | float) -> Fraction | float:
    """Return the broadcasts per node and step that make the load factor `load`.

    >>> import gossamer
    >>> rate_of(gossamer.network("hypercube:4"), Fraction(3, 4))
    Fraction(1, 5)
    """
    per = load_factor(network, Fraction(1))
    return load / per if isinstance(load, Fraction) else load / float(per)


@dataclass(frozen=True, eq=False)
class LinkLoads:
    """Expected use of every link by one broadcast whose source is drawn evenly.

    Attributes
    ----------
    copies : int64[L] or object[L]
        Time that the broadcast keeps each link busy, in steps, times `denominator`.
    denominator : int
        Common denominator.
    """

    copies: npt.NDArray[Any]
    denominator: int

    def __getitem__(self, link: int) -> Fraction:
        return Fraction(int(self.copies[link]), self.denominator)

    @property
    def busiest(self) -> int:
        """The first of the links that are used most."""
        return int(np.argmax(self.copies))

    @property
    def largest(self) -> Fraction:
        """The use of the busiest link."""
        return self[self.busiest]

    @property
    def total(self) -> Fraction:
        """Transmissions of one broadcast, counted in unsegmented packets."""
        return Fraction(int(self.copies.sum()), self.denominator)

    @property
    def even(self) -> bool:
        """Whether all links are used equally."""
        return bool((self.copies == self.copies[0]).all())

    def utilization(self, rate: float) -> npt.NDArray[np.float64]:
        """Return the utilization of each link, float64[L], at `rate` broadcasts per step in the whole network."""
        return self.copies.astype(np.float64) * (rate / self.denominator)


def link_loads(scheme: Scheme) -> LinkLoads:
    """Return the expected use of every link per broadcast, exact.

    Parameters
    ----------
    scheme : Scheme
        Sources are equally likely, choices as its probabilities say.

    Notes
    -----
    Exact if the scheme has exact probabilities; else they are rounded to denominators of at most a million. O(rows *
    depth) at most; a translated scheme of which only some nodes are sources takes the tree of each of them.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
    >>> loads = link_loads(star(gossamer.network("torus:4x8")))
    >>> loads.even, str(loads.largest)
    (True, '31/128')
    """
    network, sources = scheme.network, scheme.source_nodes.size
    if not scheme.translated:
        weight, denominator = row_weights(scheme)
        return LinkLoads(_summed(scheme.step, weight, network.link_count), denominator)
    if sources == network.node_count:
        weight, denominator = row_weights(scheme)
        assert scheme.link_table is not None
        per_column = _summed(scheme.step, weight, scheme.link_table.shape[1])
        used = np.zeros(network.link_count, per_column.dtype)
        for column, value in enumerate(per_column):
            np.add.at(used, scheme.link_table[:, column], value)
        return LinkLoads(used, denominator * network.node_count)
    chance, denominator = whole_chances(scheme)
    total = np.zeros(network.link_count, object if denominator > _INT64_SAFE else np.int64)
    for choice in range(scheme.choice_count):
        for part in range(scheme.parts):
            for _, _, link in scheme.walk((0, choice, part), scheme.source_nodes):
                np.add.at(total, link, chance[0][choice])
    return LinkLoads(total, denominator * sources * scheme.parts)


def whole_chances(scheme: Scheme) -> tuple[list[list[int]], int]:
    """Return the probabilities of the choices of each source as whole numbers over a common denominator."""
    exact = scheme.exact_probability
    if exact is None:
        exact = tuple(tuple(Fraction(float(p)).limit_denominator(10**6) for p in row) for row in scheme.probability)
    denominator = math.lcm(*{p.denominator for row in exact for p in row})
    return [[int(p * denominator) for p in row] for row in exact], denominator


def _summed(place: npt.NDArray[np.int32], weight: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    total = np.zeros(size, weight.dtype)
    np.add.at(total, place, weight)
    return total


def row_weights(scheme: Scheme) -> tuple[npt.NDArray[Any], int]:
    """Return how often each row is sent, in whole packets, by one broadcast of one table's source, over a denominator.

    The sources' tables are equally likely.
    """
    levels = list(row_levels(scheme))
    total = np.zeros(scheme.row_count, levels[0][2].dtype)
    for _, row, weight, _ in levels:
        total[row] += weight
    return total, levels[0][3]


def row_levels(scheme: Scheme) -> Iterator[tuple[int, Ints, npt.NDArray[Any], int]]:
    """Yield, for each depth from 1, the rows that are sent there, how often over a denominator, and the denominator."""
    chance, denominator = whole_chances(scheme)
    tables = scheme.entry_first.shape[0]
    kind = object if denominator * tables * scheme.parts > _INT64_SAFE else np.int64
    weight = np.zeros(scheme.row_count, kind)
    count = (scheme.entry_last - scheme.entry_first).reshape(-1)
    chances = np.broadcast_to(np.array(chance, kind)[:, :, None], scheme.entry_first.shape).reshape(-1)
    place, owner = slices(scheme.entry_first.reshape(-1), count)
    np.add.at(weight, scheme.children[place], chances[owner])
    row = np.unique(scheme.children[place]).astype(np.int64)
    depth = 1
    while row.size:
        row = row[weight[row] > 0]
        sent = weight[row]
        yield depth, row, sent, denominator * tables * scheme.parts
        weight[row] = 0
        count = scheme.child_last[row] - scheme.child_first[row]
        place, owner = slices(scheme.child_first[row], count)
        child = scheme.children[place]
        np.add.at(weight, child, sent[owner])
        row = np.unique(child).astype(np.int64)
        depth += 1


@dataclass(frozen=True)
class StabilityLimit:
    """Where a scheme stops being stable.

    Attributes
    ----------
    load : Fraction
        Load factor at which the busiest link is busy all the time; below it every link has time to spare.
    rate : Fraction
        Broadcasts per source and step at that load.
    link : int
        A link that is then busy all the time.
    """

    load: Fraction
    rate: Fraction
    link: int

    def __float__(self) -> float:
        return float(self.load)


def stability_limit(scheme: Scheme) -> StabilityLimit:
    """Return the load factor at which the busiest link of a scheme is saturated, exact.

    Parameters
    ----------
    scheme : Scheme
        Choices that do not look at queues. Load-aware choice has no such limit.

    Notes
    -----
    Necessary for stability, whatever the order of service. It is not enough for every order: serving the copies with
    the fewest descendants first is unstable at lower loads.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 1.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
    >>> str(stability_limit(star(gossamer.network("torus:4x4"), coin=False)).load)
    '3/4'
    """
    loads, sources = link_loads(scheme), scheme.source_nodes
    rate = 1 / (loads.largest * sources.size)
    degree = Fraction(int(scheme.network.out_degree[sources].sum()), sources.size)
    if scheme.traffic is None:
        needed = Fraction(int(scheme.counted_receivers.sum()), scheme.counted_receivers.size)
    else:
        needed = Fraction(float(scheme.needed.mean())).limit_denominator(10**9)
    return StabilityLimit(rate * needed / degree, rate, loads.busiest)


# What is counted on the trees of a scheme without any queue: distances, depths, heights.


def distances(scheme: Scheme) -> tuple[float, float]:
    """Return the mean over sources of the mean and of the largest distance to the receivers."""
    network, nodes = scheme.network, scheme.source_nodes
    everybody = int(scheme.counted_receivers[0]) == network.node_count - 1
    receivers = np.arange(network.node_count) if everybody else nodes
    roots = nodes[:1] if network.group is not None and everybody else nodes
    mean = far = 0.0
    for root in roots.tolist():
        distance = network.distances(root)[receivers]
        mean += float(distance.sum()) / max(receivers.size - 1, 1)
        far += float(distance.max())
    return mean / roots.size, far / roots.size


def mean_distance(scheme: Scheme) -> float:
    """Return the mean distance between two different nodes among those that take part, in hops.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> round(mean_distance(star(gossamer.network("torus:8x8"))), 4)
    4.0635
    """
    return distances(scheme)[0]


def eccentricity_mean(scheme: Scheme) -> float:
    """Return the mean distance from a source to its farthest receiver, in hops.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> eccentricity_mean(star(gossamer.network("torus:8x8")))
    8.0
    """
    return distances(scheme)[1]


def mean_receipt(scheme: Scheme) -> float:
    """Return the mean depth in the trees of a scheme at which a node receives a part for the first time, in hops.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import mini_packets
    >>> mean_receipt(mini_packets(gossamer.network("hypercube:1")))
    1.0
    """
    total = count = 0.0
    for depth, row, weight, denominator in row_levels(scheme):
        share = float(weight[scheme.counted[row]].sum()) / denominator
        total += depth * share
        count += share
    return total / count


def row_heights(scheme: Scheme) -> Ints:
    """Return the transmissions on the longest path of counted receipts that begins with each row, int64[R].

    Transmissions that nothing counts after are 0.
    """
    height = scheme.counted.astype(np.int64)
    parent, child = queued_rows(scheme)
    while True:
        new = height.copy()
        below = height[child]
        np.maximum.at(new, parent[below > 0], below[below > 0] + 1)
        if np.array_equal(new, height):
            return height
        height = new


def mean_height(scheme: Scheme) -> float:
    """Return the mean over sources and choices of the depth of the last counted receipt among all parts."""
    return float((deepest(scheme, row_heights(scheme)) * scheme.probability).sum(axis=1).mean())


def queued_rows(scheme: Scheme) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Return every pair of a row and a row that is queued when its packet has arrived, int64[K] and int32[K]."""
    place, parent = slices(scheme.child_first, scheme.child_last - scheme.child_first)
    return parent, scheme.children[place]


def deepest(scheme: Scheme, longest: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the longest path of a broadcast of each source and choice, [S, C], given that from each row on."""
    found = np.zeros(scheme.entry_first.shape, longest.dtype)
    for place in np.ndindex(found.shape):
        rows = scheme.children[scheme.entry_first[place] : scheme.entry_last[place]]
        found[place] = longest[rows].max(initial=0)
    return np.asarray(found.max(axis=2))


def last_parts(scheme: Scheme) -> tuple[float, bool]:
    """Return the mean depth at which a node gets the deepest part, and whether no broadcast crosses a link twice."""
    network = scheme.network
    total, once = 0.0, True
    for table in range(scheme.entry_first.shape[0]):
        start = scheme.source_nodes[table : table + 1]
        for choice in range(scheme.choice_count):
            latest = np.zeros(network.node_count, np.int64)
            crossed = np.zeros(network.link_count, np.int64)
            for part in range(scheme.parts):
                for depth, (_, row, link) in enumerate(scheme.walk((table, choice, part), start), 1):
                    np.add.at(crossed, link, 1)
                    at = network.link_target[link[scheme.counted[row]]]
                    latest[at] = np.maximum(latest[at], depth)
            once = once and int(crossed.max()) <= 1
            mean = float(latest.sum()) / float(scheme.counted_receivers[table])
            total += mean * float(scheme.probability[table, choice])
    return total / scheme.entry_first.shape[0], once
