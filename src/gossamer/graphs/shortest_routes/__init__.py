"""Shortest ways for many packets, each the least loaded of a few: quick, and good where a few bottlenecks decide."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.graphs.forests import Forest
from gossamer.graphs.precedence import Roads

__all__ = ["short_ways"]

_ROUNDS = 3
_CHOICES = 12

Times = npt.NDArray[np.int32]


def short_ways(
    roads: Roads, origin: npt.NDArray[np.int32], row: npt.NDArray[np.int32], away: Times, seed: int
) -> tuple[Forest, float]:
    """Return a shortest way for each packet, chosen by loads, and the most slots for which a link or port is taken.

    Parameters
    ----------
    roads : Roads
        Links, sorted by source, between nodes that store.
    origin, row : int32[P]
        Where each packet is, and which row of `away` tells of its target.
    away : int32[T, N]
        The slots from each node to each target.
    seed : int
        For the orders in which packets choose.

    Raises
    ------
    NetworkError
        If a packet cannot get to its target.

    Notes
    -----
    In each of 3 rounds every packet takes the cheapest of 12 shortest ways, links costing the 8th power of their loads.
    O(P times the length of ways).

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("ring:4")
    >>> away = np.array([net.distances(v) for v in range(4)], np.int32)
    >>> ways, load = short_ways(Roads.of(net, gossamer.Rules()), *np.array([[0, 0], [2, 2]], np.int32), away, 0)
    >>> ways.hops, load
    (4, 1.0)
    """
    from gossamer.graphs.shortest_routes import _kernels

    nodes, draw = roads.cut.size, np.random.default_rng(seed)
    delay = (roads.occupancy + roads.latency).astype(np.int32)
    far = away[row, origin]
    if far.size and int(far.max()) >= np.iinfo(np.int32).max // 2:
        raise NetworkError("some packet cannot get to its target")
    room = far // delay.min(initial=np.iinfo(np.int32).max)  # no way has more links
    begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)])
    links = np.full(int(begin[-1]), -1, np.int32)
    first = np.searchsorted(roads.source, np.arange(nodes + 1)).astype(np.int64)
    loads = np.zeros(roads.source.size), np.zeros(nodes), np.zeros(nodes)
    use, hold = roads.occupancy / roads.capacity, roads.occupancy.astype(np.float64)
    limits = np.array([roads.send_limited, roads.receive_limited])
    longest = int(room.max(initial=0)) + 1
    scale = 1.0
    for turn in range(_ROUNDS):
        _kernels.choose(
            draw.permutation(origin.size), origin, row, away, first, roads.target, roads.source, delay, use, hold,
            limits, _CHOICES, draw.integers(0, 1 << 30, origin.size), begin, links, np.empty(longest, np.int32),
            np.empty(longest, np.int32), np.empty(longest, np.int64), np.empty(longest, np.int64), *loads, scale,
            turn > 0,
        )  # fmt: skip
        scale = _largest(roads, loads, use)
    kept = np.flatnonzero(links >= 0)
    ends = np.searchsorted(kept, begin)
    parent = np.arange(-1, kept.size - 1, dtype=np.int32) - np.repeat(ends[:-1], np.diff(ends)).astype(np.int32)
    return Forest(ends[:-1], ends[1:], links[kept], parent), scale


def _largest(roads: Roads, loads: tuple[npt.NDArray[np.float64], ...], use: npt.NDArray[np.float64]) -> float:
    """Return the most slots for which a link or a limited port is taken."""
    found = float((loads[0] * use).max(initial=0.0))
    for limited, ends in ((roads.send_limited, roads.source), (roads.receive_limited, roads.target)):
        if limited:
            taken = np.bincount(ends, loads[0] * roads.occupancy, roads.cut.size)
            found = max(found, float(taken.max(initial=0.0)))
    return max(found, 1.0)
