"""The interval scheme, as a sweep asks it: its simulation between the lower bound and bound (11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from gossamer.errors import NotApplicableError
from gossamer.networks.network import Network
from gossamer.simulation.random_arrivals.arrivals import Poisson
from gossamer.simulation.random_arrivals.delays import Delays, Limit
from gossamer.simulation.random_arrivals.intervals.scheme import IntervalScheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.statistics import Estimate

__all__ = ["IntervalBroadcasts"]


class IntervalBroadcasts:
    """The interval scheme as any other; see `gossamer.simulation.random_arrivals.delays.RandomBroadcasts`.

    It is simulated with Poisson arrivals at all nodes in continuous time, without ties or choices, for a number of
    packets of its own, and measures broadcasts only.

    Parameters
    ----------
    scheme : IntervalScheme
        On its network.
    """

    name = "varvarigos-bertsekas"

    def __init__(self, scheme: IntervalScheme) -> None:
        self.scheme = scheme

    @property
    def network(self) -> Network:
        """Where the broadcasts are."""
        return self.scheme.network

    def restricted(self, nodes: Sequence[int]) -> IntervalBroadcasts:
        """Refuse: every node takes part in every interval."""
        raise NotApplicableError(f"scheme {self.name!r} is simulated with requests at all nodes only")

    def check(self, settings: Settings) -> None:
        """Refuse settings other than those of the scheme."""
        if not isinstance(settings.arrivals, Poisson):
            given = type(settings.arrivals).__name__
            raise NotApplicableError(f"scheme {self.name!r} is simulated with Poisson arrivals only, not with {given}")
        for what, plain in (("choose", "oblivious"), ("time", "continuous"), ("ties", "fifo")):
            given = getattr(settings, what)
            if given != plain:
                raise NotApplicableError(f"scheme {self.name!r} is simulated with {what} {plain!r} only, not {given!r}")

    def limit(self, settings: Settings) -> Limit:
        """Return the load of Theorem 7."""
        return Limit(float(self.scheme.load(self.scheme.largest_rate)), "it is not stable from load")

    def delays(self, load: float | None, settings: Settings, progress: Callable[[str], None] | None = None) -> Delays:
        """Simulate at a load."""
        assert load is not None  # a trace is refused
        limit, spec = self.limit(settings), self.network.spec
        if load >= limit.load:
            return Delays(spec, self.name, load, limit, False, f"not below the limit {limit.load:.4g}")
        rate = Fraction(load) / self.scheme.load(Fraction(1))
        run = self.scheme.simulate(rate, seed=settings.seed, progress=progress)
        return Delays(
            spec,
            self.name,
            load,
            limit,
            stable=True,
            reason="",
            broadcast=Estimate(run.delay, run.half_width, run.batch_means.size),
            broadcast_bound=float(run.lower_bound),
            broadcast_upper_bound=float(run.upper_bound),
        )
