"""How long hops take: the slots for which they occupy a link, and the slot from which on what they bring is usable."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray, Network

__all__ = ["hop_ends", "latencies", "link_ways", "occupancies", "slots_needed"]

# Which of several links between the same two nodes is meant.


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


Slots = npt.NDArray[np.int64]


def occupancies(network: Network) -> IntArray:
    """Return the slots for which a packet occupies each link, int32[L], or int32[1] where all links have one."""
    same = network.uniform_occupancy
    return network.link_occupancy if same is None else np.array([same], np.int32)


def latencies(network: Network, parts: int) -> Slots:
    """Return the latency of each link in slots of a part, int64[L], or int64[1] where all links have one.

    >>> import gossamer
    >>> latencies(gossamer.network("ring:4").with_times(2, 3), parts=2).tolist()
    [6]
    """
    same = network.uniform_latency
    return (network.link_latency if same is None else np.array([same])).astype(np.int64) * parts


def hop_ends(network: Network, parts: int, slot: npt.ArrayLike, link: npt.NDArray[np.integer]) -> Slots:
    """Return the slot from which on what each hop brings is usable at the far end: start, occupancy and latency.

    >>> import gossamer
    >>> hop_ends(gossamer.network("ring:4").with_times(2, 3), 1, [0, 7], np.array([0, 1])).tolist()
    [5, 12]
    """
    taken = occupancies(network).astype(np.int64) + latencies(network, parts)
    return np.asarray(slot, np.int64) + (taken[link] if taken.size > 1 else taken)


def slots_needed(network: Network, parts: int, slot: IntArray, link: IntArray) -> int:
    """Return the number of slots until all hops have ended."""
    if not slot.size:
        return 0
    return int(slot[-1]) + 1 if network.plain else int(hop_ends(network, parts, slot, link).max())
