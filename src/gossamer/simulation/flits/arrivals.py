"""When and where messages are created: at random, in bursts, or as a trace says."""

from __future__ import annotations

from math import log1p
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gossamer.simulation.flits.destinations import Destinations
from gossamer.simulation.flits.trace import Trace
from gossamer.simulation.flits.traffic_settings import Lengths

__all__ = ["Arrivals", "Created", "RandomArrivals", "TraceArrivals"]

_BURST_RATE = 4.0


class Created(NamedTuple):
    """Messages in order of time: cycle, source, target and length, int64[M] each."""

    when: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    flits: npt.NDArray[np.int64]


class Arrivals(Protocol):
    """A source of messages."""

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        ...

    def take(self, first: int, cycles: int) -> Created:
        """Return the messages that are created in so many cycles from `first` on; called for successive spans."""
        ...


class RandomArrivals:
    """In each cycle each sending terminal creates a message by chance, at one rate or in bursts."""

    def __init__(
        self,
        where: Destinations,
        terminals: int,
        rate: float,
        lengths: Lengths,
        burst: float,
        random: np.random.Generator,
    ) -> None:
        self.where, self.terminals, self.rate, self.lengths, self.random = where, terminals, rate, lengths, random
        self.nodes = where.sources(terminals)
        self.burst = burst
        share = max(1 / _BURST_RATE, rate)  # of the time that a burst is on
        self.on = random.random(self.nodes.size) < share
        self.begins = min(1.0, share / (1 - share) / burst) if burst and share < 1 else 1.0
        self.within = rate / share

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        return self.rate * self.nodes.size

    def take(self, first: int, cycles: int) -> Created:
        """Return messages; see `Arrivals`."""
        cell = self._in_bursts(cycles) if self.burst else self._cells(cycles * self.nodes.size)
        when = cell // self.nodes.size
        source = self.nodes.take(np.subtract(cell, when * self.nodes.size, out=cell))
        when += first
        if self.where.weight is not None:
            kept = self.random.random(source.size) < self.where.weight[source]
            source, when = source[kept], when[kept]
        target = np.asarray(self.where.draw(source, self.terminals, self.random), np.int64)
        return Created(when, source, target, self.lengths.draw(source.size, self.random))

    def _cells(self, cells: int) -> npt.NDArray[np.int64]:
        """Return which of so many places, cycle by cycle, have a message."""
        if self.rate >= 1:
            return np.arange(cells)
        expected = cells * self.rate
        draw = int(expected + 8 * expected**0.5 + 16)
        cell = _geometric(self.random, self.rate, draw)
        cell[0] -= 1
        cell = np.cumsum(cell, out=cell)
        while cell[-1] < cells:
            cell = np.concatenate([cell, cell[-1] + np.cumsum(_geometric(self.random, self.rate, draw))])
        return np.asarray(cell[: np.searchsorted(cell, cells)], np.int64)

    def _in_bursts(self, cycles: int) -> npt.NDArray[np.int64]:
        size = self.nodes.size
        found = []
        for c in range(cycles):
            x = self.random.random((2, size))
            self.on = np.where(self.on, x[0] >= 1 / self.burst, x[0] < self.begins)
            found.append(c * size + np.flatnonzero(self.on & (x[1] < self.within)))
        return np.concatenate(found).astype(np.int64)


def _geometric(random: np.random.Generator, share: float, count: int) -> npt.NDArray[np.int64]:
    """Return numbers of trials up to the first success: those of ``random.geometric``, in half the time.

    It takes one logarithm of `share` for every number, as long as this is below a third.
    """
    if share >= 1 / 3:
        return random.geometric(share, count)
    trials = random.standard_exponential(count)
    trials /= -log1p(-share)
    return np.ceil(trials, out=trials).astype(np.int64)


class TraceArrivals:
    """The messages of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        return self.trace.count / max(1, self.trace.cycles)

    def take(self, first: int, cycles: int) -> Created:
        """Return messages; see `Arrivals`."""
        low, high = np.searchsorted(self.trace.when, [first, first + cycles])
        t = self.trace
        return Created(t.when[low:high], t.source[low:high], t.target[low:high], t.flits[low:high])
