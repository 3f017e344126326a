"""Schemes of trees and queues, as a sweep asks them: the simulator beside bounds and estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from gossamer.networks.network import Network
from gossamer.simulation.random_arrivals.arrivals import Poisson
from gossamer.simulation.random_arrivals.delays import NONE, Delays, Limit
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE
from gossamer.simulation.random_arrivals.theory import Prepared, best_bound, delay_estimate, in_flight_bound

__all__ = ["TreeBroadcasts"]

_STEPS = 10_000.0
"""For how many steps the queues of the bound by broadcasts in flight are simulated at most."""


class TreeBroadcasts:
    """A scheme whose broadcasts travel on trees; see `gossamer.simulation.random_arrivals.delays.RandomBroadcasts`.

    Parameters
    ----------
    scheme : Scheme
        How broadcasts travel.
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._known = Prepared(scheme)
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

    def limit(self, settings: Settings) -> Limit:
        """Return the load at which the busiest link is saturated; 1 if the choice looks at the load."""
        if settings.choose != "oblivious":
            return Limit(1.0, "it is not stable from load")
        return Limit(float(self._known.limit), "its links are saturated at load")

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
        self, load: float, limit: Limit, settings: Settings, measured: float
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
