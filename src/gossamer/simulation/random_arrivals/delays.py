"""What a sweep asks of a scheme, whatever its kind, and what it gets: delays beside bounds and estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gossamer.networks.network import Network
from gossamer.simulation.random_arrivals.result import Result
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, Estimate

__all__ = ["Delays", "Limit", "RandomBroadcasts", "by_scheme"]

NONE = float("nan")


@dataclass(frozen=True)
class Limit:
    """The load at which a scheme can no longer be stable.

    Attributes
    ----------
    load : float
        Load factor.
    meaning : str
        What happens there, in a clause that the load ends.
    """

    load: float
    meaning: str

    def __str__(self) -> str:
        return f"{self.meaning} {self.load:.4g}"


@dataclass(frozen=True)
class Delays:
    """Delays of one scheme at one load; times in steps.

    Attributes
    ----------
    network, scheme : str
        Spec and name.
    load : float
        Load factor.
    limit : Limit
        From which load on the scheme is not stable.
    stable : bool
        Whether delays settle; False also where the load is not below the limit, and was not simulated.
    reason : str
        Why it is not stable.
    reception, broadcast : Estimate
        Mean delays with 95% confidence; without a mean where not stable or not measured.
    reception_bound, broadcast_bound : float
        Lower bounds; nan where none holds (arrivals that are not Poisson have only those by distance). That of
        broadcasts is 97.5% certain where it is the lower end of `in_flight_bound`.
    broadcast_upper_bound : float
        Upper bound; nan where none is proved.
    reception_estimate, broadcast_estimate : float
        What theory expects, no bound; nan where there is none.
    result : Result or None
        All that the simulation of the queues measured.
    """

    network: str
    scheme: str
    load: float
    limit: Limit
    stable: bool
    reason: str
    reception: Estimate = NO_ESTIMATE
    broadcast: Estimate = NO_ESTIMATE
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
            "network": self.network,
            "scheme": self.scheme,
            "load": self.load,
            "limit": self.limit.load,
            "stable": self.stable,
            "reason": self.reason,
            "reception": self.reception.mean,
            "reception_half_width": self.reception.half_width,
            "reception_bound": self.reception_bound,
            "reception_estimate": self.reception_estimate,
            "broadcast": self.broadcast.mean,
            "broadcast_half_width": self.broadcast.half_width,
            "broadcast_bound": self.broadcast_bound,
            "broadcast_upper_bound": self.broadcast_upper_bound,
            "broadcast_estimate": self.broadcast_estimate,
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

    def limit(self, settings: Settings) -> Limit:
        """Return the load from which on it cannot be stable."""

    def delays(self, load: float | None, settings: Settings, progress: Callable[[str], None] | None = None) -> Delays:
        """Simulate at a load below the limit, or as a trace says (None), and set the delays beside theory."""
