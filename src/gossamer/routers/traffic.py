"""Random traffic: messages created at random, with unlimited source queues (an open loop)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.routers.deadlock import Deadlock, find_deadlock
from gossamer.routers.destinations import Destinations, destinations, shortest_displacement
from gossamer.routers.fabric import crossings, grown, new_state, write_messages
from gossamer.routers.settings import TrafficSettings
from gossamer.routers.traffic_run import Latencies, TrafficRun
from gossamer.wormhole.channels import Channels

if TYPE_CHECKING:
    from gossamer.routers._kernels import State

__all__ = ["simulate_traffic"]

_SPAN = 2048
"""Most cycles between two deadlock checks."""
_ARRIVALS = 1 << 17
"""About the most messages that are created ahead."""
_DRAIN = 2
"""Measured messages may be on their way for this many times the measured cycles after the last of these."""
_KEEPING_UP = 0.95


def simulate_traffic(
    network: Network,
    pattern: str | npt.ArrayLike = "uniform",
    load: float = 0.1,
    *,
    settings: TrafficSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> TrafficRun:
    """Measure latency and throughput of random traffic at one load.

    In each cycle every sending node creates a message with probability ``load / message_flits``. Messages take a
    shortest path, dimension 0 first; half way round a ring the direction is drawn. They wait in unlimited source
    queues. Messages created in the measured cycles are followed until all are delivered, while others go on coming.

    Parameters
    ----------
    network : Network
        An array or torus.
    pattern : str or array_like of int, shape (N,)
        Destinations; see `destinations`.
    load : float
        Flits per sending node and cycle, above 0 and at most one message a cycle.
    settings : TrafficSettings, optional
        Messages, routers, and how long is measured. Default: ``TrafficSettings()``.
    progress : callable, optional
        Called with a line of text now and then.

    Raises
    ------
    NetworkError, TaskError, ModelError
        If the network is no array or torus, the pattern does not fit, or a value is out of range.

    Notes
    -----
    Memory: the messages on their way and in source queues, and a histogram. Time: about proportional to flit-hops.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.routers import Routers, TrafficSettings
    >>> short = TrafficSettings(warmup=0, measured=2000)
    >>> run = simulate_traffic(gossamer.network("torus:4x4"), "neighbor", 0.1, settings=short)
    >>> run.saturated, run.latency >= Routers().zero_load_latency(hops=2, flits=8)
    (False, True)
    """
    settings = TrafficSettings() if settings is None else settings
    load = settings.check_load(load)
    channels = Channels(network)
    where = destinations(network, pattern, hot_share=settings.hot_share, seed=settings.seed)
    return _Run(channels, where, load, settings, progress or (lambda _: None)).measure()


class _Run:
    """A simulation in progress: the routers, the messages, and the source of more."""

    def __init__(
        self,
        channels: Channels,
        where: Destinations,
        load: float,
        settings: TrafficSettings,
        progress: Callable[[str], None],
    ) -> None:
        self.channels, self.where, self.load, self.settings, self.tell = channels, where, load, settings, progress
        self.flits = settings.message_flits
        self.rate = load / self.flits
        self.random = np.random.default_rng(settings.seed)
        self.nodes = where.sources(channels.network.node_count)
        self.state: State = new_state(channels, settings.routers, 1024)
        self.free = np.arange(1024)[::-1]
        self.used = np.zeros(1024, np.bool_)
        self.deadlock: Deadlock | None = None
        self.created = 0
        self.peak = 0
        self.latencies = Latencies(0, 1)
        self.window = (0, 0)

    def count(self, name: str) -> int:
        from gossamer.routers import _kernels

        return int(self.state.counters[getattr(_kernels, name)])

    def arrivals(self, first: int, cycles: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return when and where messages are created in `cycles` cycles from `first` on, sorted by time."""
        cells = cycles * self.nodes.size
        if self.rate >= 1:
            cell = np.arange(cells)
        else:
            expected = cells * self.rate
            draw = int(expected + 8 * expected**0.5 + 16)
            gaps = self.random.geometric(self.rate, draw)
            cell = np.cumsum(gaps) - 1
            while cell[-1] < cells:
                cell = np.concatenate([cell, cell[-1] + np.cumsum(self.random.geometric(self.rate, draw))])
            cell = cell[: np.searchsorted(cell, cells)]
        return first + cell // self.nodes.size, self.nodes[cell % self.nodes.size]

    def advance(self, until: int) -> None:
        """Simulate up to cycle `until`, or to a deadlock."""
        from gossamer.routers import _kernels

        counters = self.state.counters
        most = max(1, int(_ARRIVALS / (self.rate * self.nodes.size)))
        while self.deadlock is None and counters[_kernels.CURRENT] < until:
            first = int(counters[_kernels.CURRENT])
            span = min(until - first, _SPAN, most)
            when, source = self.arrivals(first, span)
            rows = self.place(source)
            low, high = self.window
            self.created += int(np.searchsorted(when, high) - np.searchsorted(when, low))
            status = _kernels.run(*self.state, when, rows, first + span)
            self.peak = max(self.peak, int(counters[_kernels.IN_FLIGHT]))
            if status == _kernels.STUCK or counters[_kernels.IN_FLIGHT]:
                self.deadlock = find_deadlock(self.channels, self.state)
            if status != _kernels.STUCK:
                counters[_kernels.CURRENT] = first + span
            self.harvest()
            self.tell(f"cycle {first + span:,}, {int(counters[_kernels.IN_FLIGHT]):,} messages on their way")

    def place(self, source: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Write new messages in free rows of the table; return the rows."""
        if source.size > self.free.size:
            old = self.used.size
            size = max(2 * old, old + source.size)
            self.state = grown(self.state, size)
            self.used = np.concatenate([self.used, np.zeros(size - old, np.bool_)])
            self.free = np.concatenate([np.arange(old, size)[::-1], self.free])
        rows = np.ascontiguousarray(self.free[self.free.size - source.size :][::-1])
        self.free = self.free[: self.free.size - source.size]
        self.used[rows] = True
        target = self.where.draw(source, self.channels.network.node_count, self.random)
        move = shortest_displacement(self.channels, source, target, self.random)
        write_messages(self.state, rows, self.settings.routers, source, move, self.flits)
        return rows

    def harvest(self) -> None:
        """Count the messages delivered and free their rows."""
        from gossamer.routers import _kernels

        finished = self.state.message[:, _kernels.FINISHED]
        done = np.flatnonzero(self.used & (finished >= 0))
        created = self.state.message[done, _kernels.CREATED]
        low, high = self.window
        inside = (created >= low) & (created < high)
        self.latencies.add(created[inside], (finished[done] - created)[inside])
        self.used[done] = False
        self.free = np.concatenate([self.free, done[::-1]])

    def measure(self) -> TrafficRun:
        """Warm up, measure, and follow the measured messages to their ends."""
        began = perf_counter()
        warmup, measured = self.settings.warmup, self.settings.measured
        self.advance(warmup)
        self.window = (warmup, warmup + measured)
        self.latencies = Latencies(warmup, measured)
        before = self.count("EJECTED")
        self.advance(warmup + measured)
        through = self.count("EJECTED") - before
        offered = self.created * self.flits
        end = warmup + (1 + _DRAIN) * measured
        keeping_up = through >= _KEEPING_UP * offered - self.flits * self.nodes.size
        while keeping_up and self.deadlock is None and self.latencies.count < self.created:
            cycle = self.count("CURRENT")
            if cycle >= end:
                break
            self.advance(min(end, cycle + _SPAN // 8))
        return self.found(through, not keeping_up, perf_counter() - began)

    def found(self, through: int, behind: bool, seconds: float) -> TrafficRun:
        """Return what was measured; `through` flits left in the measured cycles, `behind` what was offered or not."""
        per = self.settings.measured * self.nodes.size
        missing = self.created - self.latencies.count
        cycles = self.count("CURRENT")
        histogram = self.latencies.histogram
        return TrafficRun(
            network=self.channels.network,
            pattern=self.where.name,
            settings=self.settings.routers,
            message_flits=self.flits,
            load=self.load,
            throughput=through / per,
            offered=self.created * self.flits / per,
            latency=self.latencies.mean,
            half_width=self.latencies.half_width,
            histogram=histogram[: int(np.flatnonzero(histogram).max(initial=0)) + 1],
            messages=self.created,
            undelivered=missing,
            saturated=behind or missing > 0,
            mean_hops=self.count("HOPS") / max(1, self.count("EJECTED")),
            peak_utilization=int(crossings(self.state).max()) / max(1, cycles),
            cycles=cycles,
            flit_hops=self.count("HOPS"),
            blocked=self.count("BLOCKED"),
            stalled=self.count("STALLED"),
            in_flight_peak=self.peak,
            deadlock=self.deadlock,
            seconds=seconds,
        )
