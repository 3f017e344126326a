"""Lower bounds of delays that hold for certain, and estimates that do not.

A bound beside a simulated delay is always one of `delay_bounds`: proved, with what it holds for. Estimates are in
`gossamer.dynamic.theory.estimates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gossamer.dynamic.scheme import Scheme
from gossamer.dynamic.theory.loads import row_levels
from gossamer.dynamic.theory.queues import many_server_wait, one_queue_wait
from gossamer.errors import ModelError

__all__ = [
    "DelayBound",
    "best_bound",
    "delay_bounds",
    "eccentricity_mean",
    "mean_distance",
    "mean_receipt",
    "row_heights",
]


@dataclass(frozen=True)
class DelayBound:
    """A lower bound of mean delays.

    Attributes
    ----------
    name : str
        ``distance``, ``receiving``, ``tree`` or ``link queues``.
    holds_for : str
        What it is proved for.
    reception, broadcast : float
        No mean reception delay, and no mean broadcast delay, is below, in steps.
    argument : str
        Why, in a sentence.
    """

    name: str
    holds_for: str
    reception: float
    broadcast: float
    argument: str


@lru_cache(maxsize=32)
def _distances(scheme: Scheme) -> tuple[float, float]:
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
    >>> from gossamer.dynamic.schemes import star
    >>> round(mean_distance(star(gossamer.network("torus:8x8"))), 4)
    4.0635
    """
    return _distances(scheme)[0]


def eccentricity_mean(scheme: Scheme) -> float:
    """Return the mean distance from a source to its farthest receiver, in hops.

    >>> import gossamer
    >>> from gossamer.dynamic.schemes import star
    >>> eccentricity_mean(star(gossamer.network("torus:8x8")))
    8.0
    """
    return _distances(scheme)[1]


@lru_cache(maxsize=32)
def mean_receipt(scheme: Scheme) -> float:
    """Return the mean depth in the trees of a scheme at which a node receives a part for the first time, in hops.

    >>> import gossamer
    >>> from gossamer.dynamic.schemes import mini_packets
    >>> mean_receipt(mini_packets(gossamer.network("hypercube:1")))
    1.0
    """
    total = count = 0.0
    for depth, row, weight, denominator in row_levels(scheme):
        share = float(weight[scheme.counted[row]].sum()) / denominator
        total += depth * share
        count += share
    return total / count


@lru_cache(maxsize=8)
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


def _mean_height(scheme: Scheme) -> float:
    """Return the mean over sources and choices of the depth of the last counted receipt among all parts."""
    height = row_heights(scheme)
    deepest = np.zeros(scheme.entry_first.shape, np.int64)
    for place in np.ndindex(deepest.shape):
        rows = scheme.children[scheme.entry_first[place] : scheme.entry_last[place]]
        deepest[place] = height[rows].max(initial=0)
    return float((deepest.max(axis=2) * scheme.probability).sum(axis=1).mean())


def _counted_loads(scheme: Scheme, rate: float) -> npt.NDArray[np.float64]:
    """Return the part of the time that each link carries counted copies, float64[L]."""
    network, sources = scheme.network, scheme.source_nodes.size
    weight = np.zeros(scheme.row_count)
    for _, row, sent, denominator in row_levels(scheme):
        weight[row] += sent.astype(np.float64) / denominator
    weight *= scheme.counted
    if scheme.translated:
        assert scheme.link_table is not None
        column = np.bincount(scheme.step, weight, minlength=scheme.link_table.shape[1])
        each = np.broadcast_to(column / network.node_count, scheme.link_table.shape).reshape(-1)
        loads = np.bincount(scheme.link_table.reshape(-1), each, minlength=network.link_count)
        return np.asarray(loads * (rate * sources), np.float64)
    per_link = np.bincount(scheme.step, weight, minlength=network.link_count)
    return np.asarray(per_link * (rate * sources), np.float64)


def delay_bounds(scheme: Scheme, load: float) -> list[DelayBound]:
    """Return lower bounds of the mean delays of a scheme under Poisson arrivals, each with what it is proved for.

    Parameters
    ----------
    scheme : Scheme
        All its sources generate at the same rate, in continuous time.
    load : float
        Load factor, at least 0 and below 1.

    Returns
    -------
    list of DelayBound
        ``distance``: any scheme, any arrivals. ``receiving``: any scheme, looking at queues or not, because a node has
        only so many links in. ``tree``: this scheme's trees without any wait, any arrivals. ``link queues``: this
        scheme's trees, any priorities, if the choice of the tree does not look at queues; for parts only if no two
        parts of a broadcast cross the same link.

    Raises
    ------
    ModelError
        If the load is out of range.

    Notes
    -----
    *Link queues.* The broadcasts that ever cross link l are a Poisson stream, and so are the moments when their copies
    can be at l at the earliest, generation plus depth less 1. Whatever the order of service, the mean time from there
    until they have crossed is at least 1 + u/(2(1-u)), that of an M/D/1 queue with the utilization u of counted
    copies. Averaged over links: mean depth of a receipt plus mean wait. With even traffic of load rho and shortest
    paths this is ``mean distance + rho / (2 (1 - rho))``: Yeh, Varvarigos and Lee quote Omega(d + 1/(1-rho)) without
    constants.

    *Receiving.* In the same way, the N-1 broadcasts that a node must receive come to an M/D/k queue whose servers are
    its k incoming links.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.dynamic.schemes import star
    >>> [(b.name, round(b.reception, 3)) for b in delay_bounds(star(gossamer.network("hypercube:4")), 0.9)]
    [('distance', 2.133), ('receiving', 3.133), ('tree', 2.133), ('link queues', 6.633)]
    """
    if not 0 <= load < 1:
        raise ModelError(f"the load factor must be at least 0 and below 1, got {load}")
    hop = 1 / scheme.parts
    near, far = mean_distance(scheme) * hop, eccentricity_mean(scheme) * hop
    receiving = near + _receiving_wait(scheme, load)
    bounds = [
        DelayBound("distance", "any scheme", near, far, "a copy takes a step, or a part of one, a hop"),
        DelayBound(
            "receiving",
            "any scheme",
            receiving,
            max(receiving, far),
            "all broadcasts come in through a node's few links",
        ),
    ]
    mean, last, highest = mean_receipt(scheme) * hop, mean_receipt(scheme) * hop, _mean_height(scheme) * hop
    once = True
    if scheme.parts > 1:
        last, once = _last_parts(scheme)
        last *= hop
    bounds.append(DelayBound("tree", "these trees", last, highest, "the trees of the scheme without any wait"))
    counted = _counted_loads(scheme, scheme.rate(load))
    counted = counted[counted > 0]
    if once and counted.size and counted.max() < 1:
        queued = mean + hop * float((counted * counted / (2 * (1 - counted))).sum() / counted.sum())
        bounds.append(
            DelayBound(
                "link queues",
                "these trees, chosen without a look at queues",
                max(queued, last),
                max(queued, highest),
                "the copies that cross a link wait at least as long as in an M/D/1 queue",
            )
        )
    return bounds


def _receiving_wait(scheme: Scheme, load: float) -> float:
    """Return how much longer than a hop the last hop to a node takes on average because its links in are busy."""
    nodes = scheme.source_nodes
    degree, count = np.unique(scheme.network.in_degree[nodes], return_counts=True)
    per_node = scheme.rate(load) * (nodes.size - 1)
    total = 0.0
    for k, times in zip(degree.tolist(), count.tolist(), strict=True):
        busy = min(per_node / k, 1 - 1e-12)
        if scheme.parts == 1:
            total += times * many_server_wait(busy, k)
        else:  # one link of k times the speed does no worse for the message as a whole
            total += times * ((1 + one_queue_wait(busy)) / k - 1 / scheme.parts)
    return max(total / nodes.size, 0.0)


@lru_cache(maxsize=8)
def _last_parts(scheme: Scheme) -> tuple[float, bool]:
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


def best_bound(scheme: Scheme, load: float, *, oblivious: bool = True) -> tuple[float, float]:
    """Return the largest lower bounds of the mean reception and broadcast delay.

    Parameters
    ----------
    scheme, load
        As for `delay_bounds`.
    oblivious : bool
        Whether the choice of the tree does not look at queues.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.dynamic.schemes import star
    >>> [round(x, 3) for x in best_bound(star(gossamer.network("hypercube:4")), 0.9)]
    [6.633, 6.633]
    """
    bounds = [b for b in delay_bounds(scheme, load) if oblivious or b.name != "link queues"]
    return max(b.reception for b in bounds), max(b.broadcast for b in bounds)
