"""How random broadcasts are simulated: the requests, the rules of the queues, and the length of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gossamer.errors import ModelError
from gossamer.reading import choice, number, seed, whole
from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess, Poisson

__all__ = ["CHOICES", "MOST_STEPS", "TIES", "TIMES", "Settings"]

TIMES = ("continuous", "slotted")
TIES = ("fifo", "age", "critical-path")
CHOICES = ("oblivious", "global", "local", "guarded", "neighbors")

MOST_STEPS = 10**12
"""The simulated time at most: beyond, a number of 64 bits no longer tells a delay to a thousandth of a step."""
_MOST_REPLICATIONS = 10_000
"""Each run has results of its own, which are kept to the end."""


@dataclass(frozen=True)
class Settings:
    """What is simulated, and for how long; the same settings and load give the same result.

    Attributes
    ----------
    arrivals : ArrivalProcess
        `Poisson` (default), `Bernoulli`, `OnOff` or `Trace`.
    time : str
        ``continuous``, or ``slotted``: requests wait for the next whole slot, a slot being one transmission, and their
        delay counts from there.
    ties : str
        Inside a class: ``fifo``, ``age`` (older broadcast first) or ``critical-path`` (the copy from which the longest
        path still follows).
    choose : str
        ``oblivious`` (drawn by the scheme's probabilities), or the choice that balances the load over the dimensions:
        ``global`` (knows all transmissions still to be made), ``local`` (knows the queues at the source; not stable at
        high load), ``guarded`` (local, but drawn for a part `mixture` of the broadcasts and wherever more than `guard`
        copies wait per outgoing link of the source), ``neighbors`` (local, by the mean of the queues of the source and
        its neighbors as they are).
    mixture, guard : float
        Of the guarded choice, 0 to 1 and at least 0.
    seed : int
        Same seed, same result. The requests depend on the seed only, not on the scheme.
    replications : int
        Independent runs; the intervals are over runs if there are at least two, else by batch means.
    warmup : float or "auto"
        Steps before the measurement. ``auto``: a third of the measured time, and longer while the number of copies in
        flight has not settled by the rule MSER-5.
    steps, broadcasts : float, int
        At most one of them: how long broadcasts are measured. Default 3000 steps to load 0.7, 5000 to 0.9, else 9000,
        and at least 2000 broadcasts, near load 1 more.
    most_in_flight : int
        Copies in flight at which a run stops as unstable; 16 bytes each, 32 with other ties than ``fifo``.

    Raises
    ------
    ModelError
        If a value is illegal.

    Examples
    --------
    >>> Settings(ties="aged")
    Traceback (most recent call last):
    gossamer.errors.ModelError: ties must be 'fifo', 'age' or 'critical-path', got 'aged' (did you mean 'age'?)
    """

    arrivals: ArrivalProcess = field(default_factory=Poisson)
    time: str = "continuous"
    ties: str = "fifo"
    choose: str = "oblivious"
    mixture: float = 0.5
    guard: float = 2.0
    seed: int = 0
    replications: int = 1
    warmup: float | Literal["auto"] = "auto"
    steps: float | None = None
    broadcasts: int | None = None
    most_in_flight: int = 100_000_000

    def __post_init__(self) -> None:
        for what, allowed in (("time", TIMES), ("ties", TIES), ("choose", CHOICES)):
            choice(getattr(self, what), what, allowed)
        number(self.mixture, "mixture", 0, 1)
        number(self.guard, "guard", 0)
        seed(self.seed)
        whole(self.replications, "replications", 1, _MOST_REPLICATIONS)
        whole(self.most_in_flight, "most_in_flight", 1)
        if not hasattr(self.arrivals, "stream"):
            raise ModelError(f"arrivals must be Poisson(), Bernoulli(), OnOff(...) or a Trace, got {self.arrivals!r}")
        if self.steps is not None and self.broadcasts is not None:
            raise ModelError("give the length in steps or in broadcasts, one of the two")
        if self.steps is not None:
            number(self.steps, "steps", above=0)
        if self.broadcasts is not None:
            whole(self.broadcasts, "broadcasts", 1, None)
        if self.warmup != "auto":
            try:
                given = float(self.warmup)
            except ValueError:
                given = self.warmup
            object.__setattr__(self, "warmup", number(given, "warmup, unless it is 'auto',", 0))
