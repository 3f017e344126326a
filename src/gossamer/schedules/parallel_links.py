"""Which of several links between the same two nodes is meant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

__all__ = ["link_ways"]


def link_ways(network: Network, *, fastest_first: bool = False) -> npt.NDArray[np.int64]:
    """Return the place of each link among those with the same source and target, int64[L]: 0 where it is the only one.

    Places are by link number, or those of least latency, least occupancy and most capacity come first.

    Examples
    --------
    >>> double = Network("double", 2, [0, 0, 1], [1, 1, 0], link_occupancy=[3, 1, 1])
    >>> link_ways(double).tolist(), link_ways(double, fastest_first=True).tolist()
    ([0, 1, 0], [1, 0, 0])
    """
    if not network.parallel:
        return np.zeros(network.link_count, np.int64)
    pair = network.link_source * np.int64(network.node_count) + network.link_target
    speed = (-network.link_capacity, network.link_occupancy, network.link_latency) if fastest_first else ()
    order = np.lexsort((*speed, pair))
    first = np.flatnonzero(np.diff(pair[order], prepend=-1))
    ways = np.empty(pair.size, np.int64)
    ways[order] = np.arange(pair.size) - np.repeat(first, np.diff(np.append(first, pair.size)))
    return ways
