"""The load at which a network saturates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.reading import instance, number
from gossamer.schedules.wormhole.channels import Channels
from gossamer.simulation.flits.destinations import Destinations, destinations, shortest_displacement
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.path_tables import ShortestPath
from gossamer.simulation.flits.settings import Routers, TrafficSettings
from gossamer.simulation.flits.traffic import simulate_traffic
from gossamer.simulation.flits.traffic_result import TrafficRun

__all__ = ["Saturation", "ideal_throughput", "saturation_throughput"]

# The load at which some channel is always busy.

_HOT_SHARE = 0.1


def ideal_throughput(
    network: Network,
    pattern_: str | npt.ArrayLike,
    *,
    hot_share: float = _HOT_SHARE,
    seed: int = 0,
    per_router: int = 1,
) -> float:
    """Return the load in flits per sending node and cycle at which some channel of the shortest paths is always busy.

    No routers can accept more under dimension-ordered routing on an array or torus, or along a fixed shortest path for
    each pair on another network. Messages that go half way round a ring are counted half in each direction. Loads of
    sources and of ejection are not considered; slow links are busy for all the cycles that a flit takes.
    `hot_share`, `seed` and `per_router` are those of `destinations`.

    Notes
    -----
    One over the largest mean channel load per flit that every sender sends. About 4/n for uniform traffic on an n x n
    array and 8/n on a torus, n even. O(N^2 d) time for uniform and hotspot traffic on N nodes.

    References
    ----------
    Dally, Towles, Principles and Practices of Interconnection Networks, 3.3.

    Examples
    --------
    >>> import gossamer
    >>> ideal_throughput(gossamer.network("array:8x8"), "transpose")
    0.14285714285714285
    >>> round(ideal_throughput(gossamer.network("torus:8x8"), "uniform") * 64 / 63, 9)
    1.0
    """
    where = destinations(network, pattern_, hot_share=hot_share, seed=seed, per_router=per_router)
    n = network.terminal_count * per_router
    fabric = Fabric(network, per_router)
    if fabric.grid is not None:
        channels = fabric.grid
        load = np.zeros((network.node_count, channels.dimensions, 2))
        for u in where.sources(n).tolist():
            to, weight = _shares(where, u, n)
            _add_loads(channels, load, u // per_router, to // per_router, weight)
        return float(1 / (load.reshape(-1)[fabric.number] * fabric.flit_cycles).max())
    paths = ShortestPath(fabric, Routers())
    links = np.zeros(fabric.link_count)
    for u in where.sources(n).tolist():
        to, weight = _shares(where, u, n)
        pair = paths.pairs(np.full(to.size, u // per_router), to // per_router)
        length = np.diff(paths.first)[pair]
        begin = paths.first[pair]
        step = np.repeat(begin - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        np.add.at(links, paths.step[step] >> 8, np.repeat(weight, length))
    return float(1 / (links * fabric.flit_cycles).max()) if links.any() else float("inf")


def _shares(where: Destinations, u: int, n: int) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.float64]]:
    """Return where the messages of terminal u go, and how much of the load goes there."""
    if where.fixed is not None:
        return np.array([where.fixed[u]]), np.ones(1)
    if where.demand is not None and where.weight is not None:
        return np.arange(n), np.diff(where.demand[u], prepend=0.0) * where.weight[u]
    to = np.delete(np.arange(n), u)
    weight = np.full(n - 1, 1 / (n - 1))
    hot = where.hot[where.hot != u]
    if hot.size:
        share = where.hot_share / where.hot.size
        weight *= 1 - share * hot.size
        np.add.at(weight, hot - (hot > u), share)
    return to, weight


def _add_loads(
    channels: Channels,
    load: npt.NDArray[np.float64],
    u: int,
    to: npt.NDArray[np.integer],
    weight: npt.NDArray[np.float64],
) -> None:
    """Add the load of messages from u; `weight` float64[M] flits go to each of `to`."""
    move = shortest_displacement(channels, np.full(to.size, u), to)
    start = channels.coordinates(np.full(to.size, u))
    for i, side in enumerate(channels.sides):
        up = move[:, i].astype(np.int64)
        half = channels.wraps[i] & (2 * np.abs(up) == side)
        for sign, hops, share in (
            (0, np.maximum(up, 0), np.where(half, 0.5, 1.0) * weight),
            (1, np.where(half, np.abs(up), np.maximum(-up, 0)), np.where(half, 0.5, 1.0) * weight),
        ):
            for k in range(int(hops.max(initial=0))):
                going = hops > k
                at = start[going].copy()
                at[:, i] += -k if sign else k
                np.add.at(load[:, i, sign], channels.nodes(at), share[going])
        start[:, i] += up


@dataclass(frozen=True)
class Saturation:
    """Where a network stops keeping up.

    Attributes
    ----------
    load : float
        The largest load found, in flits per sending node and cycle, that got through; 0 if none did.
    throughput : float
        What got through at that load.
    ideal : float
        The load at which a channel would be always busy; see `ideal_throughput`.
    runs : tuple of TrafficRun
        Every load tried, ascending.
    """

    load: float
    throughput: float
    ideal: float
    runs: tuple[TrafficRun, ...]

    @property
    def share(self) -> float:
        """The throughput as a share of the ideal one."""
        return self.throughput / self.ideal


def saturation_throughput(
    network: Network,
    pattern: str | npt.ArrayLike = "uniform",
    *,
    resolution: float = 0.01,
    settings: TrafficSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Saturation:
    """Search the largest load that a network accepts.

    Parameters
    ----------
    network, pattern
        As for `simulate_traffic`.
    resolution : float
        The search ends when loads that get through and that do not are this close, as a share of the ideal load.
    settings : TrafficSettings, optional
        Messages, routers, and how long is measured. Default: ``TrafficSettings()``.
    progress : callable, optional
        Called with each load tried.

    Returns
    -------
    Saturation
        A load is accepted if its run is not `saturated` and meets no deadlock.

    Raises
    ------
    ModelError
        If `resolution` is not in 0.001..0.5, or the network is refused by `simulate_traffic`.

    Notes
    -----
    Bisection between 0 and the ideal load: ``log2(1/resolution)`` runs.

    Examples
    --------
    >>> import gossamer
    >>> short = TrafficSettings(warmup=500, measured=2000)
    >>> found = saturation_throughput(gossamer.network("torus:4x4"), resolution=0.1, settings=short)
    >>> 0.4 < found.share <= 1
    True
    """
    settings = TrafficSettings() if settings is None else instance(settings, TrafficSettings, "settings")
    resolution = number(resolution, "resolution", 0.001, 0.5)
    ideal = ideal_throughput(
        network, pattern, hot_share=settings.hot_share, seed=settings.seed, per_router=settings.terminals
    )
    limit = min(ideal, 1.0 if settings.routers.injection == "node" else ideal, settings.lengths.mean)
    low, high = 0.0, limit
    runs: list[TrafficRun] = []
    best: TrafficRun | None = None
    while high - low > resolution * limit:
        load = (low + high) / 2
        if progress:
            progress(f"load {load:g}")
        run = simulate_traffic(network, pattern, load, settings=settings)
        runs.append(run)
        if run.saturated or run.deadlock is not None:
            high = load
        else:
            low, best = load, run
    runs.sort(key=lambda run: run.load)
    return Saturation(low, best.throughput if best else 0.0, ideal, tuple(runs))
