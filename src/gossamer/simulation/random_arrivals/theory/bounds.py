"""Lower bounds of delays that hold for certain, and estimates that do not.

A bound beside a simulated delay is always one of `delay_bounds`: proved, with what it holds for. Estimates are in
`gossamer.simulation.random_arrivals.theory.estimates`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.theory.prepared import Prepared
from gossamer.simulation.random_arrivals.theory.queues import checked_load, many_server_wait, one_queue_wait

__all__ = ["DelayBound", "best_bound", "delay_bounds"]


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


def delay_bounds(scheme: Scheme | Prepared, load: float) -> list[DelayBound]:
    """Return lower bounds of the mean delays of a scheme under Poisson arrivals, each with what it is proved for.

    Parameters
    ----------
    scheme : Scheme or Prepared
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
    known = Prepared.of(scheme)
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


def _tree_bounds(known: Prepared, load: float) -> list[DelayBound]:
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


def best_bound(scheme: Scheme | Prepared, load: float, *, oblivious: bool = True) -> tuple[float, float]:
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
