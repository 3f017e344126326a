"""Broadcasts that arrive at random: delays of several schemes against load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks.network import Network
from gossamer.reading.quantities import LEAST_LOAD, fractions
from gossamer.simulation.flits import Saturation, TrafficRun, TrafficSettings, saturation_throughput, simulate_traffic
from gossamer.simulation.random_arrivals.arrivals import Trace
from gossamer.simulation.random_arrivals.scheme_evaluation import Delays, RandomBroadcasts, TreeBroadcasts
from gossamer.simulation.random_arrivals.schemes import Mix, broadcasts, options_of, scheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.studies.sweeps.executors import run_points
from gossamer.studies.sweeps.point_protocol import Progress

__all__ = ["BroadcastPoint", "SaturationPoint", "TrafficPoint", "delay_load", "latency_load", "read_loads"]

# The loads of a sweep, as people type them.


def read_loads(text: str) -> tuple[float, ...]:
    """Return the loads that a text names: ``0.5``, ``0.1,0.5,0.9`` or ``0.1:0.95:0.05``, the end included.

    Raises
    ------
    ModelError
        If it is not of these forms, or empty, or a load is below a millionth.

    Examples
    --------
    >>> read_loads("0.1:0.3:0.1"), read_loads("0.5")
    ((0.1, 0.2, 0.3), (0.5,))
    """
    return tuple(map(float, fractions(text, "loads", LEAST_LOAD)))


# Random traffic through wormhole routers: latency against load.


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

    `network`, `pattern`, `settings`: as of `TrafficPoint`. `resolution` (float): see
    `gossamer.simulation.flits.saturation_throughput`.
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


@dataclass(frozen=True)
class BroadcastPoint:
    """One scheme at one load.

    Attributes
    ----------
    scheme : RandomBroadcasts
        On its network, with the nodes where requests come.
    load : float or None
        Load factor; None with a trace, which has its own.
    settings : Settings
        How it is simulated.
    """

    scheme: RandomBroadcasts
    load: float | None
    settings: Settings

    @property
    def title(self) -> str:
        """The scheme, the network and the load."""
        at = "as the trace says" if self.load is None else f"at load {self.load:.6g}"
        return f"{self.scheme.name} on {self.scheme.network.spec} {at}"

    def run(self, progress: Progress) -> Delays:
        """Simulate, beside theory."""
        return self.scheme.delays(self.load, self.settings, progress)


def delay_load(
    network: Network,
    schemes: Sequence[str],
    loads: Sequence[float],
    *,
    settings: Settings | None = None,
    nodes: Sequence[int] | None = None,
    scheme_options: Mapping[str, Any] | None = None,
    traffic: Mix | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Delays]:
    """Simulate schemes at loads; return the delays by scheme, then by load.

    Parameters
    ----------
    network : Network
        Where the broadcasts are.
    schemes : sequence of str
        Names as in `gossamer.simulation.random_arrivals.schemes.SCHEMES`.
    loads : sequence of float
        Load factors. One at or above the limit of a scheme is not simulated, and its line says so. Not read with a
        `Trace`, which has its own rate.
    settings : Settings, optional
        How they are simulated. Default: ``Settings()``.
    nodes : sequence of int, optional
        The nodes that generate broadcasts; default all. Load factors, and limits, are those of the rate per generating
        node: with few nodes they may be above 1. The bounds are then those that hold for any arrivals.
    scheme_options : mapping, optional
        Options for the builders of the schemes; each takes those that it has, and some scheme must have each.
    traffic : Mix, optional
        Unicasts and multicasts beside the broadcasts. Load factors then count the transmissions that the mean request
        needs.
    jobs, progress
        As for `gossamer.studies.sweeps.run_points`.

    Raises
    ------
    NotApplicableError
        If a scheme is unknown, does not cover the network, or cannot be simulated with a setting.
    ModelError
        If every load is at or above the limit of every scheme, or a run would not end.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals import Settings
    >>> found = delay_load(gossamer.network("hypercube:3"), ["fifo"], [0.5, 1.0], settings=Settings(steps=500))
    >>> [(p.load, p.stable, p.reason) for p in found]
    [(0.5, True, ''), (1.0, False, 'not below the limit 1')]
    """
    settings = Settings() if settings is None else settings
    traced = isinstance(settings.arrivals, Trace)
    if not schemes or not (loads or traced):
        raise ModelError("name at least one scheme and one load")
    made = _made(network, schemes, scheme_options or {}, traffic)
    if nodes is not None:
        made = [each.restricted(nodes) for each in made]
    for each in made:
        each.check(settings)
    points = [BroadcastPoint(each, load, settings) for each in made for load in ([None] if traced else loads)]
    found = run_points(points, jobs=jobs, progress=progress)
    if not any(p.stable or p.result for p in found):
        limits = ", ".join(f"{s.limit(settings).load:.4g} for {s.name}" for s in made)
        raise ModelError(f"every load is at or above the limit on {network.spec}, {limits}; choose a lower one")
    return found


def _made(
    network: Network, schemes: Sequence[str], options: Mapping[str, Any], traffic: Mix | None
) -> list[RandomBroadcasts]:
    """Return the schemes with the options that they have, and other traffic beside their broadcasts."""
    taken = {name: {key: options[key] for key in options_of(name) if key in options} for name in schemes}
    for key in options:
        if not any(key in own for own in taken.values()):
            return [broadcasts(name, network, **{key: options[key]}) for name in schemes]  # says what there is
    if traffic is None:
        return [broadcasts(name, network, **taken[name]) for name in schemes]
    for name in schemes:
        if not isinstance(broadcasts(name, network, **taken[name]), TreeBroadcasts):
            raise NotApplicableError(
                f"scheme {name!r} serves broadcasts in intervals, with no other traffic beside them"
            )
    return [TreeBroadcasts(traffic.of(scheme(name, network, **taken[name]))) for name in schemes]
