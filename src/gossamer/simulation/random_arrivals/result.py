"""What a simulation found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import attributes
from gossamer.simulation.random_arrivals.statistics import ConfidenceInterval, Histogram

__all__ = ["KindDelays", "Result"]


@dataclass(frozen=True)
class KindDelays:
    """Delays of the requests of one kind, in steps.

    Attributes
    ----------
    name : str
        The kind.
    share : float
        Its part of the requests.
    reception, last : ConfidenceInterval
        Mean delay to a receipt and to the last receipt of a request, with 95% confidence.
    reception_bound, last_bound : float
        Mean distances in hops: no delay is less on average.
    """

    name: str
    share: float
    reception: ConfidenceInterval
    last: ConfidenceInterval
    reception_bound: float
    last_bound: float


FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Result:
    """Delays, waits and loads of a simulation; times in steps.

    Attributes
    ----------
    scheme, network : str
        Name of the scheme, spec of the network.
    arrivals, time, ties, choose : str
        How the requests came, the clock, and the rules.
    seed, replications : int
        Independent runs and the seed of the first.
    rate, load : float
        Broadcasts per generating node and step, and the load factor that they make.
    stable : bool
        Whether the backlog stayed within bounds; `reason` says why not. An unstable run has no means: delays grow
        with the length of the run.
    reception : ConfidenceInterval
        Delay from generation to the receipt by a node, over all receipts of the measured broadcasts.
    broadcast : ConfidenceInterval
        Delay from generation to the last receipt.
    observed : (float, float)
        The mean reception and broadcast delay of what was received, stable or not.
    wait : dict of int to float
        Mean wait in queues per transmission, by priority class.
    class_share : dict of int to float
        Part of the transmissions in each class.
    utilization : float64[L]
        Part of the measured time in which each link was busy.
    reception_delays, broadcast_delays : Histogram
        Distributions.
    broadcasts, transmissions : int
        Broadcasts measured, and all transmissions made, warm-up included.
    peak_in_flight : int
        The most copies that waited or were being sent at one time.
    warmup, measured : float
        Steps before the measurement, and steps in which measured broadcasts were generated, per replication.
    settled : bool
        Whether the end of the warm-up was found.
    backlog : float64[K, 2]
        Of the first replication: time in steps and transmissions still to be made, from the start of the run.
    seconds : float
        Time it took.
    kinds : tuple of KindDelays
        Delays of each kind of requests, where a scheme has several.
    """

    scheme: str
    network: str
    arrivals: str
    time: str
    ties: str
    choose: str
    seed: int
    replications: int
    rate: float
    load: float
    stable: bool
    reason: str
    reception: ConfidenceInterval
    broadcast: ConfidenceInterval
    observed: tuple[float, float]
    wait: dict[int, float]
    class_share: dict[int, float]
    utilization: FloatArray
    reception_delays: Histogram
    broadcast_delays: Histogram
    broadcasts: int
    transmissions: int
    peak_in_flight: int
    warmup: float
    measured: float
    settled: bool
    backlog: FloatArray
    seconds: float
    kinds: tuple[KindDelays, ...] = ()

    @property
    def mean_wait(self) -> float:
        """Mean wait of all transmissions."""
        return sum(self.wait[c] * share for c, share in self.class_share.items())

    def _quantile(self, delays: Histogram, q: float) -> float:
        return delays.quantile(q) if self.stable else float("nan")

    def to_dict(self) -> dict[str, object]:
        """Return the figures as one flat line of a table, without arrays."""
        line: dict[str, object] = {
            **attributes(self, "network scheme load rate arrivals time ties choose seed replications stable reason"),
            **self.reception.line("reception"),
            **self.broadcast.line("broadcast"),
            "reception_p50": self._quantile(self.reception_delays, 0.5),
            "reception_p99": self._quantile(self.reception_delays, 0.99),
            "broadcast_p50": self._quantile(self.broadcast_delays, 0.5),
            "broadcast_p99": self._quantile(self.broadcast_delays, 0.99),
            "mean_wait": self.mean_wait,
            "mean_utilization": float(self.utilization.mean()),
            "greatest_utilization": float(self.utilization.max(initial=0.0)),
            **attributes(self, "broadcasts transmissions peak_in_flight warmup measured settled seconds"),
        }
        for kind in self.kinds:
            line |= {f"{kind.name}_share": kind.share}
            line |= kind.reception.line(f"{kind.name}_reception") | kind.last.line(f"{kind.name}_last")
        return line | {f"wait_{c}": w for c, w in self.wait.items()}

    def __str__(self) -> str:
        head = f"{self.scheme} on {self.network} at load {self.load:.3g}"
        if not self.stable:
            return f"{head}: unstable, {self.reason}"
        return f"{head}: reception {self.reception}, broadcast {self.broadcast} steps"
