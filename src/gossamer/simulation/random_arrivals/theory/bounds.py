"""Lower bounds of delays that hold for certain, and estimates that do not.

A bound beside a simulated delay is always one of `delay_bounds`: proved, with what it holds for. Estimates stand below
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.jit import njit
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, ConfidenceInterval, batch_means
from gossamer.simulation.random_arrivals.theory.loads import deepest, queued_rows, whole_chances
from gossamer.simulation.random_arrivals.theory.queues import (
    PreparedScheme,
    checked_load,
    many_server_wait,
    one_queue_wait,
)

__all__ = [
    "DelayBound",
    "DelayEstimate",
    "best_bound",
    "class_loads",
    "delay_bounds",
    "delay_estimate",
    "in_flight_bound",
]

# Estimates of delays: every queue as if its copies arrived as a Poisson stream.
#
# They show where delays come from and how they grow. They are no bounds; simulated delays at high load are below most
# of them, because copies that follow each other on a path are spread out already.

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DelayEstimate:
    """Estimated mean delays of a scheme.

    Attributes
    ----------
    reception, broadcast : float
        Mean reception delay; mean over sources and choices of the longest estimated delay of a receiver, in steps. nan
        where none is known to be near: of messages in parts, and the broadcast delay with several classes.
    wait : tuple of float
        Mean wait of a copy of each priority class, in steps.
    """

    reception: float
    broadcast: float
    wait: tuple[float, ...]


def class_loads(scheme: Scheme | PreparedScheme, load: float) -> Floats:
    """Return the utilization of links by each priority class.

    Parameters
    ----------
    scheme : Scheme or PreparedScheme
        All its sources generate at one rate; prepared if it is asked at several loads.
    load : float
        Load factor.

    Returns
    -------
    float64[columns, classes]
        Of each column of the link table of a translated scheme (all nodes' links of one column are alike), else of each
        link.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> class_loads(star(gossamer.network("hypercube:4")), 0.9)[0].round(2).tolist()
    [0.42, 0.48]
    """
    known = PreparedScheme.of(scheme)
    scheme = known.scheme
    network, classes = scheme.network, scheme.class_count
    if scheme.translated:
        assert scheme.link_table is not None
        columns, per = scheme.link_table.shape[1], scheme.source_nodes.size / network.node_count
    else:
        columns, per = network.link_count, float(scheme.source_nodes.size)
    key = scheme.step.astype(np.int64) * classes + scheme.priority
    used = np.bincount(key, known.weights, minlength=columns * classes).reshape(columns, classes)
    return np.asarray(used * (scheme.rate(load) * per))


def delay_estimate(scheme: Scheme | PreparedScheme, load: float) -> DelayEstimate:
    """Estimate the mean delays of a scheme: along each path, a step and the M/D/1 wait of its class for every hop.

    Parameters
    ----------
    scheme : Scheme or PreparedScheme
        All its sources generate at one rate; prepared if it is asked at several loads.
    load : float
        Load factor below the scheme's limit.

    Raises
    ------
    ModelError
        If some link would be busy all the time.

    Notes
    -----
    One class: Dist (1 + W). Two classes on a hypercube: Dist + (Dist - m) W_H + m W_L with m = 2^(d-1)/(2^d - 1).
    Simulated reception is below by about 5 to 15% at load .9, with one class by 16 to 40%.

    Two things are not estimated. A message in parts is received with its last part, which comes later than the mean
    part by more than any path tells. And with several classes the last receipt of a broadcast is the latest of many
    copies that each waited in the lowest class: the longest mean path is some 30% below it at load .9.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.2.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> round(delay_estimate(star(gossamer.network("hypercube:4")), 0.9).reception, 1)
    7.5
    """
    known = PreparedScheme.of(scheme)
    scheme, loads = known.scheme, class_loads(known, load)
    total = loads.sum(axis=1)
    if total.max() >= 1:
        raise ModelError(f"load {load:.6g} is at or above the stability limit of scheme {scheme.name!r}")
    after = np.cumsum(loads, axis=1)
    before = after - loads
    waits = total[:, None] / (2 * (1 - before) * (1 - after))
    weight = known.weights
    hop = (1 + waits[scheme.step, scheme.priority]) / scheme.parts
    counted, following, longest = _below(scheme, hop)
    whole, alike = scheme.parts == 1, np.count_nonzero(loads.sum(axis=0)) == 1
    reception = float((weight * following * hop).sum() / (weight * counted).sum()) if whole else float("nan")
    broadcast = _deepest(scheme, longest) if whole and alike else float("nan")
    by_class = np.bincount(scheme.priority, weight * waits[scheme.step, scheme.priority], minlength=scheme.class_count)
    copies = np.bincount(scheme.priority, weight, minlength=scheme.class_count)
    mean = np.divide(by_class, copies, out=np.zeros(copies.size), where=copies > 0) / scheme.parts
    return DelayEstimate(reception, broadcast, tuple(float(w) for w in mean))


def _deepest(scheme: Scheme, longest: Floats) -> float:
    """Return the mean over sources and choices of the longest path from an entry row to a counted receipt."""
    chances, denominator = whole_chances(scheme)
    return float((deepest(scheme, longest) * (np.array(chances, float) / denominator)).sum(axis=1).mean())


def _below(scheme: Scheme, hop: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, of each row: whether it counts, counted receipts by it and after it, and the longest path to one."""
    parent, child = queued_rows(scheme)
    counted = scheme.counted.astype(np.float64)
    size, longest = counted.copy(), np.where(scheme.counted, hop, 0.0)
    while True:
        new: Any = counted + np.bincount(parent, size[child], minlength=scheme.row_count)
        far = np.where(scheme.counted, hop, 0.0)
        reach = longest[child] > 0
        np.maximum.at(far, parent[reach], longest[child][reach] + hop[parent[reach]])
        if np.array_equal(new, size) and np.array_equal(far, longest):
            return counted, size, longest
        size, longest = new, far


@njit(cache=True, nogil=True, small=10_000)
def _count_waiting(first, target, earliest, settled, moments, window, at_node, on_link):
    """Count the copies that must still wait for each link, of broadcasts whose tree could be done.

    The copies of link e are ``first[e]:first[e+1]``, sorted by `earliest`, when they can be sent at the earliest;
    `settled` is when the last copy of their broadcast could have arrived. Times are in transmissions. At each moment
    those with ``settled <= moment`` are counted: as many as are left when the link has served nothing else since any
    moment before; a busy period longer than `window` copies is looked back into no further. Adds to `at_node` int64[N,
    M] at the link's end, and keeps in `on_link` int64[M] the most of one link.
    """
    for e in range(first.size - 1):
        end = first[e]
        begin = end
        free = -np.inf  # when the link has served all copies up to `end`
        for j in range(moments.size):
            t = moments[j]
            while end < first[e + 1] and earliest[end] < t:
                if earliest[end] >= free:
                    begin = end
                    free = earliest[end]
                free += 1
                end += 1
            if free <= t:
                continue
            count = 0
            most = 0.0
            for i in range(end - 1, max(begin, end - window) - 1, -1):
                if settled[i] <= t:
                    count += 1
                    most = max(most, count - (t - earliest[i]))
            left = math.ceil(most - 1e-6)
            at_node[target[e], j] += left
            on_link[j] = max(on_link[j], left)


# A lower bound of broadcast delays by the broadcasts that must be in flight, whatever the order of service.
#
# The bound is proved, but for its value queues are simulated, one for each link, that serve what they can at once.

Ints = npt.NDArray[np.int64]

_COPIES = 1 << 21
_WINDOW = 1024  # copies of a busy period that are looked back into
_CELLS = 1 << 23  # of the table of nodes and moments


def in_flight_bound(
    scheme: Scheme | PreparedScheme,
    load: float,
    *,
    steps: float = 10_000,
    seed: int = 0,
    slotted: bool = False,
    copies: int = _COPIES,
) -> ConfidenceInterval:
    """Return a lower bound of the mean broadcast delay under Poisson arrivals, with its 95% interval.

    Parameters
    ----------
    scheme : Scheme or PreparedScheme
        All its sources generate at the same rate; trees are drawn without a look at queues, and links serve in any
        order, even one that knows the future.
    load : float
        Load factor, at least 0 and below 1.
    steps : float
        How long the queues are simulated.
    seed : int
        Of the requests.
    slotted : bool
        Whether requests wait for the next whole slot.
    copies : int
        The most copies; the run is shorter where there would be more. Some 50 bytes each.

    Returns
    -------
    ConfidenceInterval
        In steps; that the mean delay is above ``mean - half_width`` is 97.5% certain. The lower end is never below the
        mean height of the trees. nan where requests are not only broadcasts, or the run would be shorter than 20
        heights of the trees.

    Raises
    ------
    ModelError
        If the load is out of range.

    Notes
    -----
    The mean number of broadcasts in flight is the delay times the rate (Little). In flight at a moment t are all that
    are younger than their tree is high. Of the older ones those that a node v has still to receive are different
    broadcasts for different links into v. A link has served at most t - s of the copies that could be sent from s on,
    so of those of older broadcasts it has left at least what exceeds this, for every s. The sum over the links into v
    is the number of older broadcasts in flight at least; the largest sum over all v is simulated. Of messages in P
    parts a broadcast may lack P at v, so the sum is divided by P; or the copies left on one link are taken, if no
    broadcast crosses a link twice. It begins empty, which makes it smaller. O(copies log(copies) + links * moments *
    busy period) time.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> table = star(gossamer.network("hypercube:4"))
    >>> found = in_flight_bound(table, 0.9, steps=10_000)
    >>> 7.5 < found.mean < 10.5
    True
    """
    checked_load(load, "the load factor")
    known = PreparedScheme.of(scheme)
    scheme, parts = known.scheme, known.scheme.parts
    highest = known.mean_height  # in transmissions, as all times below
    rate = scheme.rate(load) * scheme.source_nodes.size / parts
    if scheme.traffic is not None:
        return NO_ESTIMATE
    if not rate:
        return ConfidenceInterval(highest / parts, 0.0)
    per_broadcast = float(scheme.counted_receivers.mean()) * parts
    length = min(steps * parts, copies / (rate * per_broadcast))
    if length < 20 * highest:
        return NO_ESTIMATE
    drawn = _draw(scheme, rate, length, np.random.default_rng(seed), slotted)
    some = max(1.0, highest / 4, length * scheme.network.node_count / _CELLS)
    moments = np.arange(length / 5, length, np.ceil(some)) // 1 + 0.5
    waiting = _crowd(known, drawn, moments)
    crowd = batch_means(waiting, np.ones(waiting.size))
    width = min(crowd.half_width, crowd.mean)
    return ConfidenceInterval((highest + crowd.mean / rate) / parts, width / rate / parts, crowd.samples)


class _Copies(NamedTuple):
    """Copies, sorted by link and by when they can be sent at the earliest."""

    link: Ints
    earliest: Floats
    settled: Floats


def _draw(scheme: Scheme, rate: float, length: float, random: np.random.Generator, slotted: bool) -> _Copies:
    """Draw broadcasts and return their counted copies; times in transmissions."""
    born = random.uniform(0, length, random.poisson(rate * length))
    born = np.ceil(born) if slotted else born
    source = random.integers(scheme.source_nodes.size, size=born.size)
    table = np.zeros_like(source) if scheme.translated else source
    cumulated = np.cumsum(scheme.probability, axis=1)
    choice = (random.random(born.size)[:, None] >= cumulated[table, :-1]).sum(axis=1)
    place, which = np.unique(table * scheme.choice_count + choice, return_inverse=True)
    order = np.argsort(which, kind="stable")
    cut = np.searchsorted(which[order], np.arange(place.size + 1))
    links, owners, depths = [], [], []
    height = np.zeros(born.size)
    for k, tree in enumerate(place.tolist()):
        mine = order[cut[k] : cut[k + 1]]
        for part in range(scheme.parts):
            entry = (tree // scheme.choice_count, tree % scheme.choice_count, part)
            for depth, (start, row, link) in enumerate(scheme.walk(entry, scheme.source_nodes[source[mine]])):
                counted = scheme.counted[row]
                owner = mine[start[counted]]
                links.append(link[counted])
                owners.append(owner)
                depths.append(np.full(owner.size, depth))
                height[owner] = np.maximum(height[owner], depth + 1)
    link, owner = np.concatenate(links), np.concatenate(owners)
    earliest = born[owner] + np.concatenate(depths)
    by_link = np.lexsort((earliest, link))
    return _Copies(link[by_link], earliest[by_link], (born + height)[owner[by_link]])


def _crowd(known: PreparedScheme, copies: _Copies, moments: Floats) -> Ints:
    """Return how many broadcasts older than their tree is high are in flight at each moment at least, int64[M]."""
    network, parts = known.scheme.network, known.scheme.parts
    first = np.searchsorted(copies.link, np.arange(network.link_count + 1))
    at_node, on_link = np.zeros((network.node_count, moments.size), np.int64), np.zeros(moments.size, np.int64)
    _count_waiting(first, network.link_target, copies.earliest, copies.settled, moments, _WINDOW, at_node, on_link)
    fullest: Ints = -(-at_node.max(axis=0) // parts)
    return np.maximum(fullest, on_link) if parts > 1 and known.last_parts[1] else fullest


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


def delay_bounds(scheme: Scheme | PreparedScheme, load: float) -> list[DelayBound]:
    """Return lower bounds of the mean delays of a scheme under Poisson arrivals, each with what it is proved for.

    Parameters
    ----------
    scheme : Scheme or PreparedScheme
        All its sources generate at the same rate, in continuous time; prepared if it is asked at several loads.
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
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> [(b.name, round(b.reception, 3)) for b in delay_bounds(star(gossamer.network("hypercube:4")), 0.9)]
    [('distance', 2.133), ('receiving', 3.133), ('tree', 2.133), ('link queues', 6.633)]
    """
    checked_load(load, "the load factor")
    known = PreparedScheme.of(scheme)
    hop = 1 / known.scheme.parts
    near, far = (hops * hop for hops in known.distances)
    receiving = near + _receiving_wait(known.scheme, load)
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
    return bounds + _tree_bounds(known, load)


def _tree_bounds(known: PreparedScheme, load: float) -> list[DelayBound]:
    """Return the bounds that hold for the trees of this scheme."""
    scheme, hop = known.scheme, 1 / known.scheme.parts
    mean, last, highest = known.mean_receipt * hop, known.mean_receipt * hop, known.mean_height * hop
    once = True
    if scheme.parts > 1:
        last, once = known.last_parts
        last *= hop
    bounds = [DelayBound("tree", "these trees", last, highest, "the trees of the scheme without any wait")]
    counted = known.counted_loads(scheme.rate(load))
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


def best_bound(scheme: Scheme | PreparedScheme, load: float, *, oblivious: bool = True) -> tuple[float, float]:
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
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> [round(x, 3) for x in best_bound(star(gossamer.network("hypercube:4")), 0.9)]
    [6.633, 6.633]
    """
    bounds = [b for b in delay_bounds(scheme, load) if oblivious or b.name != "link queues"]
    return max(b.reception for b in bounds), max(b.broadcast for b in bounds)
