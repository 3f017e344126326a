"""Means, intervals and histograms of latencies, and the test for the end of the warm-up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["BATCHES", "Latencies", "settled"]

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

    def add(
        self,
        created: npt.NDArray[np.int64],
        latency: npt.NDArray[np.int64],
        source: npt.NDArray[np.int64],
        target: npt.NDArray[np.int64],
    ) -> None:
        """Count messages that were created in the measured cycles, int64[k] each."""
        from gossamer.simulation.flits import _tables

        size = int(latency.max(initial=0)) + 1
        if size > self.histogram.size:
            grown = np.zeros(max(size, 2 * self.histogram.size), np.int64)
            grown[: self.histogram.size] = self.histogram
            self.histogram = grown
        _tables.count_latencies(
            created, latency, source, target, self.first, self.cycles, self.histogram, self.sums, self.counts,
            self.flows, self._ends,
        )  # fmt: skip

    @property
    def sent(self) -> npt.NDArray[np.float64]:
        """Messages by source and the sums of their latencies, float64[2, T]."""
        return np.asarray(self.flows.sum(axis=2) if self.flows.shape[1] else self._ends[0])

    @property
    def received(self) -> npt.NDArray[np.float64]:
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

    Parameters
    ----------
    samples : array_like of float, shape (n,)
        Equally spaced in time.

    Notes
    -----
    The rule leaves out as many of the first samples as make the standard error of the mean of the rest least. If that
    is more than half of them, the series has not settled. Fewer than 32 samples never have. O(n).

    References
    ----------
    White 1997, with the rule MSER.

    Examples
    --------
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
