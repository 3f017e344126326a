"""The load at which a network saturates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.reading import instance, number
from gossamer.simulation.flits.ideal import ideal_throughput
from gossamer.simulation.flits.traffic import simulate_traffic
from gossamer.simulation.flits.traffic_result import TrafficRun
from gossamer.simulation.flits.traffic_settings import TrafficSettings

__all__ = ["Saturation", "saturation_throughput"]


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
