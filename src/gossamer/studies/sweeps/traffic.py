"""Random traffic through wormhole routers: latency against load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.simulation.flits import Saturation, TrafficRun, TrafficSettings, saturation_throughput, simulate_traffic
from gossamer.studies.sweeps.points import Progress
from gossamer.studies.sweeps.running import run_points

__all__ = ["SaturationPoint", "TrafficPoint", "latency_load"]


@dataclass(frozen=True, eq=False)
class TrafficPoint:
    """Traffic on one network at one load.

    Attributes
    ----------
    network : Network
        An array or torus.
    pattern : str or array_like of int, shape (N,)
        Where messages go; see `gossamer.simulation.flits.destinations`.
    load : float
        Flits per sending node and cycle.
    settings : TrafficSettings
        Messages, routers, and how long is measured.
    """

    network: Network
    pattern: str | npt.ArrayLike
    load: float
    settings: TrafficSettings = field(default_factory=TrafficSettings)

    @property
    def title(self) -> str:
        """The pattern, the network and the load."""
        pattern = self.pattern if isinstance(self.pattern, str) else "given"
        return f"{pattern} traffic on {self.network.spec} at load {self.load:g}"

    def run(self, progress: Progress) -> TrafficRun:
        """Simulate."""
        return simulate_traffic(self.network, self.pattern, self.load, settings=self.settings, progress=progress)


@dataclass(frozen=True, eq=False)
class SaturationPoint:
    """The search for the largest load that a network accepts.

    Attributes
    ----------
    network, pattern, settings
        As of `TrafficPoint`.
    resolution : float
        See `gossamer.simulation.flits.saturation_throughput`.
    """

    network: Network
    pattern: str | npt.ArrayLike
    settings: TrafficSettings = field(default_factory=TrafficSettings)
    resolution: float = 0.01

    @property
    def title(self) -> str:
        """The pattern and the network."""
        pattern = self.pattern if isinstance(self.pattern, str) else "given"
        return f"saturation of {self.network.spec} under {pattern} traffic"

    def run(self, progress: Progress) -> Saturation:
        """Search."""
        return saturation_throughput(
            self.network, self.pattern, resolution=self.resolution, settings=self.settings, progress=progress
        )


def latency_load(
    network: Network,
    pattern: str | npt.ArrayLike = "uniform",
    loads: Iterable[float] = (0.1, 0.2, 0.3, 0.4),
    *,
    settings: TrafficSettings | None = None,
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> list[TrafficRun]:
    """Return a run for each load, in the order given; parameters as for `TrafficPoint` and `run_points`.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.flits import TrafficSettings
    >>> short = TrafficSettings(measured=1000)
    >>> runs = latency_load(gossamer.network("torus:4x4"), "uniform", [0.1, 0.4], settings=short)
    >>> runs[0].latency < runs[1].latency
    True
    """
    settings = TrafficSettings() if settings is None else settings
    return run_points([TrafficPoint(network, pattern, load, settings) for load in loads], jobs=jobs, progress=progress)
