"""Paths for exchanges: packets of one origin are routed together, and then choose among a few paths each."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.graphs.forests import Demand, Forest, Growth

__all__ = ["bundled"]

_SWEEPS = 8
_KEPT = 8
"""Trees of each origin among which its packets choose."""
_MOST_TREES = 100_000_000
"""Entries of all trees that are kept."""
_CHOICES = 12


def bundled(growth: Growth, demand: Demand, depth_cost: float, seed: int) -> Forest:
    """Return a path for each packet, chosen by prices, and put them on the links of `growth`.

    Parameters
    ----------
    growth : Growth
        Links without loads.
    demand : Demand
        Packets for one node each, those of one origin in a row.
    depth_cost : float
        What a slot of delay costs; a slot of a most loaded link costs 1.
    seed : int
        For the orders in which origins and packets take their turn.

    Raises
    ------
    NetworkError
        If no path leads to a target.

    Notes
    -----
    In each of 8 rounds every origin gives up its tree for a tree of cheapest paths. The trees of the last rounds are
    kept, 8 where memory allows, and in 12 further rounds each packet takes the cheapest of its paths in them. O(S (L +
    N) log N + hops) a round for S origins; 4 bytes for each origin, node and tree that is kept.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.graphs.precedence import Roads
    >>> growth = Growth(Roads.of(gossamer.network("ring:4"), gossamer.Rules()))
    >>> pairs = np.array([(a, b) for a in range(4) for b in range(4) if a != b], np.int32)
    >>> bundled(growth, Demand(pairs[:, 0], np.arange(13), pairs[:, 1]), 0.01, 0).hops, growth.congestion
    (16, 2.0)
    """
    from gossamer.graphs.bundles import _kernels as kernels

    roads, draw = growth.roads, np.random.default_rng(seed)
    start = np.flatnonzero(np.diff(demand.origin, prepend=-1))
    source, packets = demand.origin[start], demand.origin.size
    first_packet = np.append(start, packets)
    owner = np.repeat(np.arange(source.size, dtype=np.int32), np.diff(first_packet))
    nodes = roads.cut.size
    kept = max(1, min(_KEPT, _MOST_TREES // (source.size * nodes)))
    trees = np.empty((kept, source.size, nodes), np.int32)
    ends, limits = (roads.source, roads.target), (roads.send_limited, roads.receive_limited)
    costs = growth.use, growth.occupancy, growth.delay, growth.ports, depth_cost
    now = np.empty((0, 0), np.int32)
    room = (np.empty(nodes), np.zeros(nodes), *np.empty((3, nodes), np.int64))
    guess = packets / max(1, roads.source.size)
    for turn, power in enumerate(np.geomspace(4.0, 30.0, _SWEEPS)):
        scale = max(growth.congestion, guess, 1.0)
        new = trees[turn % kept] if kept > 1 else np.empty((source.size, nodes), np.int32)
        missed = kernels.sweep(
            draw.permutation(source.size), source, first_packet, demand.target, *growth.onward, *ends, *costs,
            growth.loads, growth.prices(scale, power), scale, power, *limits, now, new, *room,
        )  # fmt: skip
        if missed >= 0:
            raise NetworkError(f"no path from node {int(source[missed])} to some target")
        now = new
    if kept == 1:
        trees[0] = now
    choice = np.full(packets, (_SWEEPS - 1) % kept, np.int32)
    for power in np.geomspace(12.0, 60.0, _CHOICES if kept > 1 else 0):
        scale = max(growth.congestion, 1.0)
        kernels.choose(
            draw.permutation(packets), source, owner, demand.target, trees, *ends, *costs, growth.loads,
            growth.prices(scale, power), scale, power, *limits, choice,
        )  # fmt: skip
    begin, end = np.empty(packets, np.int64), np.empty(packets, np.int64)
    shared = source, owner, demand.target, trees, roads.source, choice, begin, end
    hops = kernels.forest(*shared, np.empty(0, np.int32), np.empty(0, np.int32))
    link, parent = np.empty(hops, np.int32), np.empty(hops, np.int32)
    kernels.forest(*shared, link, parent)
    return Forest(begin, end, link, parent)
