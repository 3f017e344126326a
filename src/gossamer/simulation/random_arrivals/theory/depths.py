"""What is counted on the trees of a scheme without any queue: distances, depths, heights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.theory.loads import row_levels

__all__ = [
    "distances",
    "eccentricity_mean",
    "last_parts",
    "mean_distance",
    "mean_height",
    "mean_receipt",
    "row_heights",
]


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


def row_heights(scheme: Scheme) -> npt.NDArray[np.int64]:
    """Return the transmissions on the longest path of counted receipts that begins with each row, int64[R].

    Transmissions that nothing counts after are 0.
    """
    height = scheme.counted.astype(np.int64)
    count = scheme.child_last - scheme.child_first
    parent = np.repeat(np.arange(scheme.row_count), count)
    ends = np.cumsum(count)
    child = scheme.children[np.repeat(scheme.child_first - ends + count, count) + np.arange(parent.size)]
    while True:
        new = height.copy()
        below = height[child]
        np.maximum.at(new, parent[below > 0], below[below > 0] + 1)
        if np.array_equal(new, height):
            return height
        height = new


def mean_height(scheme: Scheme) -> float:
    """Return the mean over sources and choices of the depth of the last counted receipt among all parts."""
    height = row_heights(scheme)
    deepest = np.zeros(scheme.entry_first.shape, np.int64)
    for place in np.ndindex(deepest.shape):
        rows = scheme.children[scheme.entry_first[place] : scheme.entry_last[place]]
        deepest[place] = height[rows].max(initial=0)
    return float((deepest.max(axis=2) * scheme.probability).sum(axis=1).mean())


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
