"""What was measured on random traffic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.routers.deadlock import Deadlock
from gossamer.routers.settings import Routers

__all__ = ["BATCHES", "Latencies", "TrafficRun"]

BATCHES = 20
"""Batches of which the confidence interval of the mean is made."""
_T = 2.093
"""Student's t for 95 per cent and 19 degrees of freedom."""


class Latencies:
    """Collects latencies: how often each value came, and sums by batch of creation time."""

    def __init__(self, first: int, cycles: int) -> None:
        self.first, self.cycles = first, cycles
        self.histogram = np.zeros(64, np.int64)
        self.sums = np.zeros(BATCHES)
        self.counts = np.zeros(BATCHES, np.int64)

    def add(self, created: npt.NDArray[np.int64], latency: npt.NDArray[np.int64]) -> None:
        """Count messages that were created in the measured cycles, int64[k] each."""
        if not latency.size:
            return
        size = int(latency.max()) + 1
        if size > self.histogram.size:
            grown = np.zeros(max(size, 2 * self.histogram.size), np.int64)
            grown[: self.histogram.size] = self.histogram
            self.histogram = grown
        self.histogram[:size] += np.bincount(latency, minlength=size)
        batch = (created - self.first) * BATCHES // self.cycles
        self.sums += np.bincount(batch, latency, minlength=BATCHES)
        self.counts += np.bincount(batch, minlength=BATCHES)

    @property
    def count(self) -> int:
        """Messages counted."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean latency, nan without messages."""
        return float(self.sums.sum() / self.count) if self.count else float("nan")

    @property
    def half_width(self) -> float:
        """Half of the 95 per cent confidence interval of the mean by batch means, nan if a batch is empty."""
        if not self.counts.all():
            return float("nan")
        means = self.sums / self.counts
        return float(_T * means.std(ddof=1) / BATCHES**0.5)


@dataclass(frozen=True)
class TrafficRun:
    """Latency and throughput at one load.

    Attributes
    ----------
    network : Network
        The array or torus.
    pattern : str
        Name of the pattern.
    settings : Routers
        The routers.
    message_flits : int
        Flits of a message.
    load : float
        Flits that each sending node offers in a cycle, on average.
    offered : float
        Flits per sending node and cycle that were offered in the measured cycles.
    throughput : float
        Flits per sending node and cycle that left the network in the measured cycles.
    latency : float
        Mean cycles from the creation of a message, before any wait in the source queue, to its last flit's delivery,
        over the delivered ones of those created in the measured cycles.
    half_width : float
        Half of the 95 per cent confidence interval of `latency`, by batch means.
    histogram : int64[longest + 1]
        Number of measured messages by latency in cycles.
    messages : int
        Messages that were created in the measured cycles.
    undelivered : int
        Those of them that were not delivered when the simulation ended.
    saturated : bool
        Whether the network could not keep up: less than 95 per cent of `offered` got through, or some measured
        messages were still on their way after three times the measured cycles.
    mean_hops : float
        Flit-hops for each flit that was delivered, over the whole run.
    peak_utilization : float
        Share of the cycles in which the busiest channel was busy, over the whole run.
    cycles : int
        Cycles simulated.
    flit_hops : int
        Flits that crossed a channel.
    blocked, stalled : int
        Cycles that flits at the head of a queue waited for others, and for a free slot.
    in_flight_peak : int
        Most messages at once on their way or in source queues, at the ends of the spans simulated.
    deadlock : Deadlock or None
        Messages that wait for each other for ever.
    seconds : float
        Time the simulation took.
    """

    network: Network
    pattern: str
    settings: Routers
    message_flits: int
    load: float
    offered: float
    throughput: float
    latency: float
    half_width: float
    histogram: npt.NDArray[np.int64] = field(repr=False)
    messages: int
    undelivered: int
    saturated: bool
    mean_hops: float
    peak_utilization: float
    cycles: int
    flit_hops: int
    blocked: int
    stalled: int
    in_flight_peak: int
    deadlock: Deadlock | None
    seconds: float

    def percentile(self, share: float) -> int:
        """Return the least latency that at least `share` (in 0..1) of the delivered messages did not exceed.

        Returns -1 if none was delivered.
        """
        total = np.cumsum(self.histogram)
        return int(np.searchsorted(total, share * total[-1])) if total[-1] else -1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "network": self.network.spec,
            "pattern": self.pattern,
            "message_flits": self.message_flits,
            "load": self.load,
            "offered": self.offered,
            "throughput": self.throughput,
            "latency": None if np.isnan(self.latency) else self.latency,
            "half_width": None if np.isnan(self.half_width) else self.half_width,
            **{
                name: None if (cycles := self.percentile(share)) < 0 else cycles
                for name, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
            },
            "messages": self.messages,
            "undelivered": self.undelivered,
            "saturated": self.saturated,
            "mean_hops": self.mean_hops,
            "peak_utilization": self.peak_utilization,
            "cycles": self.cycles,
            "flit_hops": self.flit_hops,
            "blocked": self.blocked,
            "stalled": self.stalled,
            "in_flight_peak": self.in_flight_peak,
            "deadlock": None if self.deadlock is None else str(self.deadlock),
            "seconds": self.seconds,
            "routers": self.settings.to_dict(),
        }

    def __repr__(self) -> str:
        state = "deadlock" if self.deadlock else "saturated" if self.saturated else f"latency {self.latency:.1f}"
        where = f"{self.pattern} traffic on {self.network.spec}"
        return f"<{where}: load {self.load:g}, throughput {self.throughput:.3f}, {state}>"
