"""Statistics of a simulation, and its result.

Confidence intervals, the end of the warm-up, growth of a backlog, the distribution of delays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import attributes

__all__ = [
    "ConfidenceInterval",
    "Histogram",
    "KindDelays",
    "Result",
    "batch_means",
    "grows",
    "over_replications",
    "t_interval",
    "warmup_end",
]

FloatArray = npt.NDArray[np.float64]

BATCHES = 20
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ConfidenceInterval:
    """A mean and the half width of its 95% confidence interval (t-distribution).

    Examples
    --------
    >>> print(ConfidenceInterval(3.1251, 0.0625, 20))
    3.13 ± 0.06
    """

    mean: float
    half_width: float
    samples: int = 0

    def __str__(self) -> str:
        return "-" if np.isnan(self.mean) else f"{self.mean:.2f} ± {self.half_width:.2f}"

    def line(self, name: str) -> dict[str, float]:
        """Return the mean and the half width for the line of a table, by names that begin with `name`.

        >>> ConfidenceInterval(3.125, 0.0625).line("reception")
        {'reception': 3.125, 'reception_half_width': 0.0625}
        """
        return {name: self.mean, f"{name}_half_width": self.half_width}

    def covers(self, value: float, times: float = 1.0) -> bool:
        """Say whether `value` is within `times` half widths of the mean."""
        return abs(value - self.mean) <= times * self.half_width


NO_ESTIMATE = ConfidenceInterval(float("nan"), float("nan"))


def t_interval(means: FloatArray, mean: float) -> ConfidenceInterval:
    """Return a mean with the interval of Student's t distribution that independent `means` of its parts give."""
    from scipy.special import stdtrit

    n = means.size
    if n < 2:
        return ConfidenceInterval(mean, float("inf"), n)
    quantile = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    return ConfidenceInterval(mean, quantile * float(means.std(ddof=1)) / float(np.sqrt(n)), n)


def batch_means(total: npt.ArrayLike, count: npt.ArrayLike) -> ConfidenceInterval:
    """Return the mean of a correlated series and its interval by batch means.

    The series is cut in 20 batches; where neighboring batches are correlated by more than 0.2, in 10.

    `total`, `count` (array_like, shape (K,)): sum and number of observations in each of K consecutive cells.

    Source: Law, Simulation Modeling and Analysis, section 9.5.3.

    >>> batch_means([2.0, 4.0, 6.0, 8.0], [2, 2, 2, 2]).mean
    2.5
    """
    sums, counts = np.asarray(total, np.float64), np.asarray(count, np.float64)
    if not counts.sum():
        return NO_ESTIMATE
    mean = float(sums.sum() / counts.sum())
    for batches in (BATCHES, BATCHES // 2):
        edges = np.linspace(0, sums.size, min(batches, sums.size) + 1).astype(np.int64)[:-1]
        number = np.add.reduceat(counts, edges)
        means = np.add.reduceat(sums, edges)[number > 0] / number[number > 0]
        if means.size < BATCHES or _correlation(means) <= 0.2:
            break
    return t_interval(means, mean)


def _correlation(values: FloatArray) -> float:
    d = values - values.mean()
    square = float(d @ d)
    return float(d[1:] @ d[:-1]) / square if square > 0 else 0.0


def over_replications(estimates: list[ConfidenceInterval]) -> ConfidenceInterval:
    """Return the mean of independent replications and its interval; a single one keeps its own."""
    if len(estimates) == 1:
        return estimates[0]
    means = np.array([e.mean for e in estimates])
    return t_interval(means, float(means.mean()))


def warmup_end(series: npt.ArrayLike) -> int:
    """Return how many leading values of a series belong to its warm-up, by the rule MSER-5.

    Values are averaged in fives; the cut is where the squared standard error of the rest is least. A cut in the second
    half means that the series has not settled; its length is then returned.

    Source: White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69 (1997).

    >>> warmup_end([0, 0, 0, 0, 0] + [5, 6, 4, 5, 5] * 20)
    5
    """
    values = np.asarray(series, np.float64)
    groups = values.size // 5
    if groups < 4:
        return 0
    means = values[: groups * 5].reshape(groups, 5).mean(axis=1)
    rest = np.arange(groups, 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    error = np.maximum(squares - sums**2 / rest, 0) / rest.astype(np.float64) ** 2
    cut = int(np.argmin(error[: groups - 2]))
    return values.size if cut > groups // 2 else 5 * cut


def grows(backlog: npt.ArrayLike, served: float, busiest: float = 0.0) -> bool:
    """Say whether a backlog grows without limit.

    * `backlog` (array_like, shape (K,)): transmissions still to be made, at K moments spread evenly over the run.
    * `served` (float): transmissions made in that time.
    * `busiest` (float): part of the time that the busiest link was busy.

    In an unstable network the backlog grows in proportion to time, so that its means over the quarters of a run that
    begins empty are as 1 : 3 : 5 : 7. It is said to grow if every quarter's mean is above that of the one before, the
    last is at least 1.2 times the third and 1.6 times the second, and the growth from the first to the last is over 1%
    of what was served; 0.05% is enough where a link was busy 99.8% of the time, since it may be one of few.

    >>> grows(np.arange(100.0), 1000.0), grows(np.ones(100), 1000.0)
    (True, False)
    """
    values = np.asarray(backlog, np.float64)
    if values.size < 8:
        return False
    a, b, c, d = (float(q.mean()) for q in np.array_split(values, 4))
    return a < b < c < d and d >= 1.2 * c and d >= 1.6 * b and d - a > (0.0005 if busiest > 0.998 else 0.01) * served


@dataclass(frozen=True, eq=False)
class Histogram:
    """A distribution of delays in cells of one width.

    Attributes
    ----------
    width : float
        Width of a cell in steps; cell i is [i * width, (i+1) * width).
    count : int64[K]
        Delays in each cell.
    """

    width: float
    count: npt.NDArray[np.int64]

    @property
    def edges(self) -> FloatArray:
        """Borders of the cells, float64[K+1], in steps."""
        return np.arange(self.count.size + 1, dtype=np.float64) * self.width

    def quantile(self, q: float) -> float:
        """Return the delay that a part q of all delays does not exceed, straight lines inside a cell.

        Examples
        --------
        >>> Histogram(1.0, np.array([1, 2, 1])).quantile(0.5)
        1.5
        """
        total = np.concatenate([[0], np.cumsum(self.count)])
        if not total[-1]:
            return float("nan")
        return float(np.interp(q * total[-1], total, self.edges))

    @staticmethod
    def joined(several: list[Histogram]) -> Histogram:
        """Return the sum of histograms whose widths are powers of two times each other."""
        width = max(h.width for h in several)
        sums: list[npt.NDArray[np.int64]] = []
        for h in several:
            times = round(width / h.width)
            padded = np.append(h.count, np.zeros(-h.count.size % times, np.int64))
            sums.append(padded.reshape(-1, times).sum(axis=1))
        total = np.zeros(max(s.size for s in sums), np.int64)
        for s in sums:
            total[: s.size] += s
        return Histogram(width, total)


@dataclass(frozen=True)
class KindDelays:
    """Delays of the requests of one kind, in steps.

    * `name` (str): the kind.
    * `share` (float): its part of the requests.
    * `reception`, `last` (ConfidenceInterval): mean delay to a receipt and to the last receipt of a request, with 95%
      confidence.
    * `reception_bound`, `last_bound` (float): mean distances in hops: no delay is less on average.
    """

    name: str
    share: float
    reception: ConfidenceInterval
    last: ConfidenceInterval
    reception_bound: float
    last_bound: float


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
