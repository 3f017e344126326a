"""What was measured on random traffic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import attributes
from gossamer.networks.network import Network
from gossamer.simulation.flits.deadlock import Deadlock
from gossamer.simulation.flits.settings import Energy, Routers

__all__ = ["BATCHES", "Latencies", "TrafficRun", "settled"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Means, intervals and histograms of latencies, and the test for the end of the warm-up.

BATCHES = 64
"""Batches of which the confidence interval of the mean is made."""
_LEAST_SAMPLES = 32


class Latencies:
    """Collects latencies: how often each value came, sums by batch of creation time, by source, target and flow."""

    def __init__(self, first: int, cycles: int, terminals: int = 0, flows: bool = False) -> None:
        self.first, self.cycles, self.terminals = first, cycles, terminals
        self.histogram = np.zeros(64, np.int64)
        self.sums = np.zeros(BATCHES)
        self.counts = np.zeros(BATCHES, np.int64)
        self.flows = np.zeros((2, terminals if flows else 0, terminals))
        self._ends = np.zeros((2, 2, 0 if flows else terminals))

    def add(self, created: Ints, latency: Ints, source: Ints, target: Ints) -> None:
        """Count messages that were created in the measured cycles, int64[k] each."""
        from gossamer.simulation.flits.state import count_latencies

        size = int(latency.max(initial=0)) + 1
        if size > self.histogram.size:
            grown = np.zeros(max(size, 2 * self.histogram.size), np.int64)
            grown[: self.histogram.size] = self.histogram
            self.histogram = grown
        count_latencies(
            created, latency, source, target, self.first, self.cycles, self.histogram, self.sums, self.counts,
            self.flows, self._ends,
        )  # fmt: skip

    @property
    def sent(self) -> Floats:
        """Messages by source and the sums of their latencies, float64[2, T]."""
        return np.asarray(self.flows.sum(axis=2) if self.flows.shape[1] else self._ends[0])

    @property
    def received(self) -> Floats:
        """The same by target."""
        return np.asarray(self.flows.sum(axis=1) if self.flows.shape[1] else self._ends[1])

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
        """Half of the 95 per cent confidence interval of the mean, nan if a batch is empty.

        Batch means, with the correlation of neighboring batches taken into account: their residuals about the mean, as
        a ratio of sums, follow an autoregressive process of order one, whose variance at frequency 0 counts, with as
        many degrees of freedom as independent batches of that variance would have. Close to saturation means of runs
        are skewed to the right; the interval is that of their logarithm, on its longer side.
        """
        if not self.counts.all():
            return float("nan")
        residual = self.sums - self.mean * self.counts
        spread = float(residual @ residual)
        if spread <= 0:
            return 0.0
        n = BATCHES
        rho = float(residual[1:] @ residual[:-1]) / spread
        rho = min(0.95, max(0.0, rho + (1 + 4 * rho) / n))  # the estimate is too low by that on average
        variance = spread / (n - 1) * n * (1 + rho) / (1 - rho)
        freedom = max(4.0, (n - 1) * (1 - rho) / (1 + rho))
        share = _student(freedom) * variance**0.5 / float(self.sums.sum())
        return float(self.mean * np.expm1(min(share, 1.0)))


def _student(freedom: float) -> float:
    """Return Student's t for 95 per cent, by the expansion of Cornish and Fisher; within 0.3 % from 4 on."""
    z = 1.959964
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3


def settled(samples: npt.ArrayLike) -> bool:
    """Return whether a series has been steady for its later half, by the marginal standard error rule (MSER).

    `samples` (array_like of float, shape (n,)): equally spaced in time.

    The rule leaves out as many of the first samples as make the standard error of the mean of the rest least. If that
    is more than half of them, the series has not settled. Fewer than 32 samples never have. O(n).

    Source: White 1997, with the rule MSER.

    >>> settled([1 - 0.7**k for k in range(64)]), settled(range(64))
    (True, False)
    """
    x = np.asarray(samples, np.float64)
    if x.size < _LEAST_SAMPLES:
        return False
    rest = np.arange(x.size, 0, -1)
    total, square = np.cumsum(x[::-1])[::-1], np.cumsum((x**2)[::-1])[::-1]
    error = (square - total**2 / rest) / rest.astype(np.float64) ** 2
    error = error[: -(x.size // 8)]
    least = np.flatnonzero(error <= error.min() + 1e-9 * abs(error[0]))
    return int(least[0]) <= x.size // 2


@dataclass(frozen=True)
class TrafficRun:
    """Latency and throughput at one load.

    Attributes
    ----------
    network : Network
        The network.
    pattern : str
        Name of the pattern.
    routing : str
        The routing function.
    settings : Routers
        The routers.
    message_flits : str
        Flits of a message, or a mix.
    load : float
        Flits that each sending node offers in a cycle, on average.
    offered : float
        Flits per sending node and cycle that were offered in the measured cycles.
    throughput : float
        Flits per sending node and cycle that left the network in the measured cycles.
    latency : float
        Mean cycles from the creation of a message, before any wait in the source queue, to its last flit's delivery,
        over the delivered ones of those created in the measured cycles. Of a saturated network it says little: it
        grows as long as one measures.
    half_width : float
        Half of the 95 per cent confidence interval of `latency`.
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
    warmup, measured, cycles : int
        Cycles before the measurement, of it, and in all.
    flit_hops : int
        Flits that crossed a link.
    blocked, stalled : int
        Cycles that flits at the head of a queue waited for others, and for a free slot.
    in_flight_peak : int
        Most messages at once on their way or in source queues, at the ends of the spans simulated.
    detours : int
        Messages that took the longer way, where their source chooses.
    energy : Energy
        Events of the whole run.
    sent, received : float64[2, T]
        Measured messages by source and by target, and their mean latencies, nan for none.
    flows : float64[2, T, T]
        The same by source and target; empty with more than 256 terminals.
    crossings : int64[C]
        Flits that crossed each link channel in the measured cycles.
    flit_cycles : int32[C]
        Cycles that a flit takes of each link channel.
    channel_names : tuple of str
        Of the link channels.
    deadlock : Deadlock or None
        Messages that wait for each other for ever.
    seconds : float
        Time the simulation took.
    """

    network: Network
    pattern: str
    routing: str
    settings: Routers
    message_flits: str
    load: float
    offered: float
    throughput: float
    latency: float
    half_width: float
    histogram: Ints = field(repr=False)
    messages: int
    undelivered: int
    saturated: bool
    mean_hops: float
    peak_utilization: float
    warmup: int
    measured: int
    cycles: int
    flit_hops: int
    blocked: int
    stalled: int
    in_flight_peak: int
    detours: int
    energy: Energy
    sent: Floats = field(repr=False)
    received: Floats = field(repr=False)
    flows: Floats = field(repr=False)
    crossings: Ints = field(repr=False)
    flit_cycles: npt.NDArray[np.int32] = field(repr=False)
    channel_names: tuple[str, ...] = field(repr=False)
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
            **attributes(self, "pattern routing message_flits load offered throughput"),
            "latency": None if np.isnan(self.latency) else self.latency,
            "half_width": None if np.isnan(self.half_width) else self.half_width,
            **{
                name: None if (cycles := self.percentile(share)) < 0 else cycles
                for name, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
            },
            **attributes(self, "messages undelivered saturated mean_hops peak_utilization warmup measured cycles"),
            **attributes(self, "flit_hops blocked stalled in_flight_peak detours"),
            "energy": self.energy.total(),
            "deadlock": None if self.deadlock is None else str(self.deadlock),
            "seconds": self.seconds,
            "routers": self.settings.to_dict(),
        }

    def details(self) -> list[tuple[str, str, float, float]]:
        """Return rows (kind, name, count, mean): messages and latency by node and flow, flits and share by channel."""
        rows: list[tuple[str, str, float, float]] = []
        for kind, table in (("source", self.sent), ("target", self.received)):
            rows += [(kind, str(t), float(n), float(mean)) for t, (n, mean) in enumerate(table.T) if n]
        for u, v in np.argwhere(self.flows[0] > 0).tolist():
            rows.append(("flow", f"{u}->{v}", float(self.flows[0, u, v]), float(self.flows[1, u, v])))
        columns = (self.channel_names, self.crossings.tolist(), self.flit_cycles.tolist())
        for name, count, each in zip(*columns, strict=True):
            rows.append(("channel", name, float(count), count * each / self.measured))
        rows += [("latency", str(k), float(n), float(k)) for k, n in enumerate(self.histogram.tolist()) if n]
        return rows

    def __repr__(self) -> str:
        state = "deadlock" if self.deadlock else "saturated" if self.saturated else f"latency {self.latency:.1f}"
        where = f"{self.pattern} traffic on {self.network.spec}"
        return f"<{where}: load {self.load:g}, throughput {self.throughput:.3f}, {state}>"
