"""A lower bound of broadcast delays by the broadcasts that must be in flight, whatever the order of service.

The bound is proved, but for its value queues are simulated, one for each link, that serve what they can at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, Estimate, batch_means
from gossamer.simulation.random_arrivals.theory.prepared import Prepared
from gossamer.simulation.random_arrivals.theory.queues import checked_load

__all__ = ["in_flight_bound"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_COPIES = 1 << 21
_WINDOW = 1024  # copies of a busy period that are looked back into
_CELLS = 1 << 23  # of the table of nodes and moments


def in_flight_bound(
    scheme: Scheme | Prepared,
    load: float,
    *,
    steps: float = 10_000,
    seed: int = 0,
    slotted: bool = False,
    copies: int = _COPIES,
) -> Estimate:
    """Return a lower bound of the mean broadcast delay under Poisson arrivals, with its 95% interval.

    Parameters
    ----------
    scheme : Scheme or Prepared
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
    Estimate
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
    known = Prepared.of(scheme)
    scheme, parts = known.scheme, known.scheme.parts
    highest = known.mean_height  # in transmissions, as all times below
    rate = scheme.rate(load) * scheme.source_nodes.size / parts
    if scheme.traffic is not None:
        return NO_ESTIMATE
    if not rate:
        return Estimate(highest / parts, 0.0)
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
    return Estimate((highest + crowd.mean / rate) / parts, width / rate / parts, crowd.samples)


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


def _crowd(known: Prepared, copies: _Copies, moments: Floats) -> Ints:
    """Return how many broadcasts older than their tree is high are in flight at each moment at least, int64[M]."""
    from gossamer.simulation.random_arrivals.theory import _kernels

    network, parts = known.scheme.network, known.scheme.parts
    first = np.searchsorted(copies.link, np.arange(network.link_count + 1))
    at_node, on_link = np.zeros((network.node_count, moments.size), np.int64), np.zeros(moments.size, np.int64)
    _kernels.count_waiting(
        first, network.link_target, copies.earliest, copies.settled, moments, _WINDOW, at_node, on_link
    )
    fullest: Ints = -(-at_node.max(axis=0) // parts)
    return np.maximum(fullest, on_link) if parts > 1 and known.last_parts[1] else fullest
