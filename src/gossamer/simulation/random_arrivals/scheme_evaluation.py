"""What a sweep asks of a scheme, whatever its kind, and what it gets: delays beside bounds and estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gossamer.atomic_files import attributes
from gossamer.networks.network import Network
from gossamer.simulation.random_arrivals.arrivals import Poisson
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, ConfidenceInterval, Result
from gossamer.simulation.random_arrivals.theory import PreparedScheme, best_bound, delay_estimate, in_flight_bound

__all__ = ["Delays", "LoadLimit", "RandomBroadcasts", "TreeBroadcasts", "by_scheme"]

NONE = float("nan")


@dataclass(frozen=True)
class LoadLimit:
    """The load at which a scheme can no longer be stable.

    `load` (float): load factor. `meaning` (str): what happens there, in a clause that the load ends.
    """

    load: float
    meaning: str

    def __str__(self) -> str:
        return f"{self.meaning} {self.load:.4g}"


@dataclass(frozen=True)
class Delays:
    """Delays of one scheme at one load; times in steps.

    * `network`, `scheme` (str): spec and name.
    * `load` (float): load factor.
    * `limit` (LoadLimit): from which load on the scheme is not stable.
    * `stable` (bool): whether delays settle; False also where the load is not below the limit, and was not simulated.
    * `reason` (str): why it is not stable.
    * `reception`, `broadcast` (ConfidenceInterval): mean delays with 95% confidence; without a mean where not stable or
      not measured.
    * `reception_bound`, `broadcast_bound` (float): lower bounds; nan where none holds (arrivals that are not Poisson
      have only those by distance). That of broadcasts is 97.5% certain where it is the lower end of `in_flight_bound`.
    * `broadcast_upper_bound` (float): upper bound; nan where none is proved.
    * `reception_estimate`, `broadcast_estimate` (float): what theory expects, no bound; nan where there is none.
    * `result` (Result or None): all that the simulation of the queues measured.
    """

    network: str
    scheme: str
    load: float
    limit: LoadLimit
    stable: bool
    reason: str
    reception: ConfidenceInterval = NO_ESTIMATE
    broadcast: ConfidenceInterval = NO_ESTIMATE
    reception_bound: float = NONE
    broadcast_bound: float = NONE
    broadcast_upper_bound: float = NONE
    reception_estimate: float = NONE
    broadcast_estimate: float = NONE
    result: Result | None = None

    @property
    def doubt(self) -> str:
        """Why the means may be wrong, in a clause; empty if nothing tells against them."""
        if not self.stable:
            return ""
        if self.result is not None and not self.result.settled:
            return "the end of the warm-up was not found; take more --steps"
        if self.reception.mean + self.reception.half_width < self.reception_bound:
            return "the run is too short, as its mean is below the bound; take more --steps"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the delays as one flat line of a table, with all that was measured."""
        line: dict[str, Any] = {
            **attributes(self, "network scheme load"),
            "limit": self.limit.load,
            **attributes(self, "stable reason"),
            **self.reception.line("reception"),
            **attributes(self, "reception_bound reception_estimate"),
            **self.broadcast.line("broadcast"),
            **attributes(self, "broadcast_bound broadcast_upper_bound broadcast_estimate"),
        }
        return line | (self.result.to_dict() if self.result is not None else {}) | line


def by_scheme(found: Sequence[Delays]) -> Iterator[tuple[str, list[Delays]]]:
    """Yield the delays of each scheme, in order."""
    for name in dict.fromkeys(d.scheme for d in found):
        yield name, [d for d in found if d.scheme == name]


class RandomBroadcasts(Protocol):
    """A scheme on a network, ready to be asked for delays at any load.

    Trees with queues (`TreeBroadcasts`) and intervals (`IntervalBroadcasts`) are two such; sweeps, the command line
    and plots know no other difference between them than what they answer.
    """

    @property
    def name(self) -> str:
        """Name of the scheme."""

    @property
    def network(self) -> Network:
        """Where the broadcasts are."""

    def restricted(self, nodes: Sequence[int]) -> RandomBroadcasts:
        """Return the same with requests at some nodes only; an error says if that cannot be."""

    def check(self, settings: Settings) -> None:
        """Raise NotApplicableError if it cannot be simulated with these settings."""

    def limit(self, settings: Settings) -> LoadLimit:
        """Return the load from which on it cannot be stable."""

    def delays(self, load: float | None, settings: Settings, progress: Callable[[str], None] | None = None) -> Delays:
        """Simulate at a load below the limit, or as a trace says (None), and set the delays beside theory."""


# Schemes of trees and queues, as a sweep asks them: the simulator beside bounds and estimates.

_STEPS = 10_000.0
"""For how many steps the queues of the bound by broadcasts in flight are simulated at most."""


class TreeBroadcasts:
    """A scheme whose broadcasts travel on trees; see `RandomBroadcasts`.

    `scheme` (Scheme): how broadcasts travel.
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._known = PreparedScheme(scheme)
        self._everywhere = True

    @property
    def name(self) -> str:
        """Name of the scheme."""
        return self.scheme.name

    @property
    def network(self) -> Network:
        """Where the broadcasts are."""
        return self.scheme.network

    def restricted(self, nodes: Sequence[int]) -> TreeBroadcasts:
        """Return the same with requests at some nodes only."""
        some = TreeBroadcasts(self.scheme.restricted(nodes))
        some._everywhere = False
        return some

    def check(self, settings: Settings) -> None:
        """Do nothing: what does not fit is refused with the scheme's own tables."""

    def limit(self, settings: Settings) -> LoadLimit:
        """Return the load at which the busiest link is saturated; 1 if the choice looks at the load."""
        if settings.choose != "oblivious":
            return LoadLimit(1.0, "it is not stable from load")
        return LoadLimit(float(self._known.limit), "its links are saturated at load")

    def delays(self, load: float | None, settings: Settings, progress: Callable[[str], None] | None = None) -> Delays:
        """Simulate at a load, or as a trace says."""
        limit, result = self.limit(settings), None
        if load is None or load < limit.load:
            result = simulate(self.scheme, load=load, settings=settings, above_limit=True, progress=progress)
            load = result.load
        measured = result.measured if result is not None and result.stable else 0.0
        bounds, estimates = self._theory(load, limit, settings, measured)
        return Delays(
            network=self.network.spec,
            scheme=self.name,
            load=load,
            limit=limit,
            stable=result is not None and result.stable,
            reason=f"not below the limit {limit.load:.4g}" if result is None else result.reason,
            reception=NO_ESTIMATE if result is None else result.reception,
            broadcast=NO_ESTIMATE if result is None else result.broadcast,
            reception_bound=bounds[0],
            broadcast_bound=bounds[1],
            reception_estimate=estimates[0],
            broadcast_estimate=estimates[1],
            result=result,
        )

    def _theory(
        self, load: float, limit: LoadLimit, settings: Settings, measured: float
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return lower bounds and estimates of both delays; nan where there is none.

        Bounds by queues and estimates ask for Poisson arrivals at all nodes, and for trees that are drawn. The bound by
        broadcasts in flight is for delays that were measured, and takes at most as many steps.
        """
        if self.scheme.traffic is not None:
            return self.scheme.traffic.bounds(), (NONE, NONE)
        even = isinstance(settings.arrivals, Poisson) and self._everywhere
        drawn = settings.choose == "oblivious"
        bounds = estimates = (NONE, NONE)
        if load < 1 or not even:
            bounds = best_bound(self._known, load if even else 0.0, oblivious=drawn)
        if even and drawn and load < limit.load:
            found = delay_estimate(self._known, load)
            estimates = (found.reception, found.broadcast)
        if even and drawn and measured:
            steps, slotted = min(measured, _STEPS), settings.time == "slotted"
            least = in_flight_bound(self._known, load, steps=steps, seed=settings.seed, slotted=slotted)
            if not math.isnan(least.mean):
                bounds = bounds[0], max(bounds[1], least.mean - least.half_width)
        return bounds, estimates
