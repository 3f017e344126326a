"""Balanced paths: packets are placed one by one where links are least loaded, and placed again.

A link that carries ``l`` paths costs one more path ``((l + 1) / c)**q`` with the congestion c. With q = 12 paths spread
out; the larger q, the more the most loaded links alone count. Packets choose first among the orders in which dimensions
can be corrected, then among all shortest paths, and at last those on the most loaded links among all paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.hops import Paths
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network

__all__ = ["Effort", "balanced_paths", "without_loops"]

_BLUNT, _SHARPEST = 12.0, 400.0
_VAIN_ROUNDS = 8
_SEARCHED_NODES = 100_000_000
"""The most nodes looked at in one round of searches for paths over any links."""


class Effort(NamedTuple):
    """How often packets are placed again.

    Attributes
    ----------
    orders : int
        Rounds in which each packet chooses among the orders of its dimensions, at least 1.
    shortest : int
        Rounds in which each packet chooses among its shortest paths.
    anywhere : int
        Rounds in which packets on the most loaded links choose among all paths.
    """

    orders: int
    shortest: int
    anywhere: int

    @classmethod
    def of(cls, hops: int) -> Effort:
        """Return the rounds for so many hops in all.

        >>> Effort.of(10_000), Effort.of(30_000_000)
        (Effort(orders=8, shortest=8, anywhere=24), Effort(orders=4, shortest=1, anywhere=1))
        """
        if hops <= 1_000_000:
            return cls(8, 8, 24)
        if hops <= 8_000_000:
            return cls(6, 2, 4)
        return cls(4, 1, 1)


def balanced_paths(
    network: Network,
    origin: IntArray,
    target: IntArray,
    *,
    seed: int = 0,
    effort: Effort | None = None,
    load: npt.NDArray[np.int32] | None = None,
) -> Paths:
    """Choose a path for every packet so that the most loaded link carries few.

    Parameters
    ----------
    network : Network
        An array or torus.
    origin, target : int32[P]
        The two ends of each path.
    seed : int
        For the order in which packets are placed.
    effort : Effort, optional
        Default: `Effort.of` the hops of shortest paths.
    load : int32[L], optional
        Packets that each link carries besides these. Default: none.

    Returns
    -------
    Paths
        Shortest paths, except for packets that could leave a most loaded link by another way.

    Notes
    -----
    A packet of k dimensions, s steps each, costs k 2**(k-1) s looks at a load in each round of `orders`, about
    k (s+1)**k in one of `shortest`, and O(N log N) in one of `anywhere`. 4 bytes a hop are held for the paths, as many
    for the best found so far, and 20 a packet.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> from gossamer.networks import array
    >>> net = array(3, 3)
    >>> paths = balanced_paths(net, np.zeros(8, np.int32), np.arange(1, 9, dtype=np.int32))
    >>> int(paths.load(net.link_count).max()), paths.longest
    (4, 4)
    """
    from gossamer.graphs.routes import _kernels

    assert network.grid is not None
    sides, wraps = np.array(network.grid.sides), np.array(network.grid.wraps)
    grid = (sides, wraps, np.array(network.grid.strides), grid_links(network), network.link_target)
    first = np.zeros(origin.size + 1, np.int64)
    np.cumsum(_distances(network, origin, target), out=first[1:])
    hops = int(first[-1])
    effort = effort or Effort.of(hops)
    room = (4 * hops if hops <= 1_000_000 else hops // 4) if effort.anywhere else 0
    now = _Placing(first[:-1].copy(), first[1:].copy(), np.empty(hops + room, np.int32), _loads(network, load))
    best = _Best(now, hops)
    random = np.random.default_rng(seed)
    guess = int(now.load.max(initial=0)) + hops // max(network.link_count, 1) + 1
    sharpness = np.geomspace(_BLUNT, max(_BLUNT, min(_SHARPEST, 4.0 * guess)), max(effort.orders, effort.shortest, 2))
    for turn in range(effort.orders):
        cost = _power(guess if turn == 0 else now.congestion, sharpness[turn])
        visit = random.permutation(origin.size)
        _kernels.along_dimensions(origin, target, *now.arrays, cost, visit, *grid, turn > 0)
        best.keep(now)
    for q in sharpness[-effort.shortest :] if effort.shortest and np.count_nonzero(sides > 2) > 1 else ():
        cost = _power(now.congestion, q)
        _kernels.monotone(origin, target, *now.arrays, cost, random.permutation(origin.size), *grid)
        best.keep(now)
    used = hops
    links = (network.first_link, network.link_source, network.link_target)
    reached, vain = best.congestion, 0
    for turn, cost in enumerate(_exponentials(now, effort.anywhere)):
        crowded = now.congestion - turn % 2
        used, _ = _kernels.anywhere(
            origin, target, now.begin, now.end, now.path, used, now.load, cost, random.permutation(origin.size),
            crowded, _SEARCHED_NODES // network.node_count, *links,
        )  # fmt: skip
        best.keep(now, used)
        vain = vain + 1 if best.congestion == reached else 0
        reached = best.congestion
        if vain == _VAIN_ROUNDS:
            break
    return _packed(best.kept.begin, best.kept.end, best.kept.path)


def without_loops(network: Network, paths: Paths) -> Paths:
    """Return the paths without what lies between two visits to a node.

    Notes
    -----
    O(hops) time; paths without loops stay as they are.

    Examples
    --------
    >>> from gossamer.networks import linear_array
    >>> there_and_back = Paths(np.array([0, 3]), np.array([0, 2, 0], np.int32))
    >>> without_loops(linear_array(3), there_and_back).link.tolist()
    [0]
    """
    from gossamer.graphs.routes import _kernels

    begin, end, link = paths.first[:-1], paths.first[1:].copy(), paths.link.copy()
    at = np.full(network.node_count, -1, np.int64)
    _kernels.forget_loops(begin, end, link, network.link_source, network.link_target, at)
    return _packed(begin, end, link)


def _packed(begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], path: IntArray) -> Paths:
    from gossamer.graphs.routes import _kernels

    first, packed = np.empty(begin.size + 1, np.int64), np.empty(int((end - begin).sum()), np.int32)
    _kernels.pack(begin, end, path, first, packed)
    return Paths(first, packed)


class _Placing(NamedTuple):
    """The paths as they are being placed."""

    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    path: IntArray
    load: IntArray

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], IntArray, IntArray]:
        return self.begin, self.end, self.path, self.load

    @property
    def congestion(self) -> int:
        return int(self.load.max(initial=0))


class _Best:
    """The paths of least congestion so far."""

    def __init__(self, now: _Placing, hops: int) -> None:
        self.congestion = 2**31
        self.used = hops
        self.kept = now

    def keep(self, now: _Placing, used: int | None = None) -> None:
        """Copy the paths if they are better."""
        used = self.used if used is None else used
        if now.congestion < self.congestion:
            self.congestion, self.used = now.congestion, used
            self.kept = _Placing(now.begin.copy(), now.end.copy(), now.path[:used].copy(), now.load)


def _loads(network: Network, load: npt.NDArray[np.int32] | None) -> IntArray:
    return np.zeros(network.link_count, np.int32) if load is None else load.astype(np.int32)


def _distances(network: Network, origin: IntArray, target: IntArray) -> npt.NDArray[np.int64]:
    """Return the hops between the ends, int64[P]."""
    assert network.grid is not None
    total = np.zeros(origin.size, np.int64)
    grid = network.grid
    for side, wraps, stride in zip(grid.sides, grid.wraps, grid.strides, strict=True):
        apart = np.abs(origin // stride % side - target // stride % side)
        total += np.minimum(apart, side - apart) if wraps else apart
    return total


def _power(congestion: int, sharpness: float) -> npt.NDArray[np.float64]:
    """Return the cost of one more path by load, with a trifle for each link so that nothing is free."""
    relative = np.arange(1, 2 * congestion + 3) / max(congestion, 1)
    return np.exp(np.minimum(sharpness * np.log(relative), 300.0)) + 1e-9 * relative


def _exponentials(now: _Placing, turns: int) -> Iterator[npt.NDArray[np.float64]]:
    """Yield costs that fall by a factor for each path below the congestion of the moment, ever faster."""
    for factor in np.geomspace(0.5, 3.0, turns):
        below = np.arange(2 * now.congestion + 3) - now.congestion + 1
        yield np.exp(np.minimum(factor * below, 300.0)) + 0.03
