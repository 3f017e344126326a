"""Random traffic: messages created at random, with unlimited source queues (an open loop)."""

from __future__ import annotations

import operator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.simulator.deadlock import Deadlock, find_deadlock
from gossamer.wormhole.simulator.destinations import Destinations, destinations, shortest_displacement
from gossamer.wormhole.simulator.fabric import crossings, grown, new_state, write_messages
from gossamer.wormhole.simulator.settings import Routers
from gossamer.wormhole.simulator.traffic_run import Latencies, TrafficRun

if TYPE_CHECKING:
    from gossamer.wormhole.simulator._kernels import State

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
    message_flits: int = 8,
    settings: Routers | None = None,
    seed: int = 0,
    warmup: int = 5_000,
    measured: int = 20_000,
    hot_share: float = 0.1,
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
        Flits per sending node and cycle, above 0 and at most `message_flits`.
    message_flits : int
        Flits of a message, at least 1.
    settings : Routers, optional
        Default: ``Routers()``.
    seed : int
        The same seed gives the same run.
    warmup, measured : int
        Cycles before the measurement, 0 or more, and of the measurement, at least 100.
    hot_share : float
        Share of hotspot traffic that goes to the hot nodes.

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
    >>> run = simulate_traffic(gossamer.network("torus:4x4"), "neighbor", 0.1, warmup=0, measured=2000)
    >>> run.saturated, run.latency >= Routers().zero_load_latency(hops=2, flits=8)
    (False, True)
    """
    settings = Routers() if settings is None else settings
    message_flits = _whole(message_flits, "message_flits", 1)
    warmup, measured = _whole(warmup, "warmup", 0), _whole(measured, "measured", 100)
    seed = _whole(seed, "seed", 0)
    if isinstance(load, bool) or not isinstance(load, int | float) or not 0 < load <= message_flits:
        raise ModelError(f"load must be above 0 and at most message_flits = {message_flits}, got {load!r}")
    channels = Channels(network)
    where = destinations(network, pattern, hot_share=hot_share, seed=seed)
    run = _Run(channels, where, load / message_flits, message_flits, settings, seed)
    return run.measure(load, warmup, measured)


class _Run:
    """A simulation in progress: the routers, the messages, and the source of more."""

    def __init__(
        self, channels: Channels, where: Destinations, rate: float, flits: int, settings: Routers, seed: int
    ) -> None:
        self.channels, self.where, self.rate, self.flits, self.settings = channels, where, rate, flits, settings
        self.random = np.random.default_rng(seed)
        self.nodes = where.sources(channels.network.node_count)
        self.state: State = new_state(channels, settings, 1024)
        self.free = np.arange(1024)[::-1]
        self.used = np.zeros(1024, np.bool_)
        self.deadlock: Deadlock | None = None
        self.created = 0
        self.peak = 0
        self.latencies = Latencies(0, 1)
        self.window = (0, 0)

    def count(self, name: str) -> int:
        from gossamer.wormhole.simulator import _kernels

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
        from gossamer.wormhole.simulator import _kernels

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
        write_messages(self.state, rows, self.settings, source, move, self.flits)
        return rows

    def harvest(self) -> None:
        """Count the messages delivered and free their rows."""
        from gossamer.wormhole.simulator import _kernels

        finished = self.state.message[:, _kernels.FINISHED]
        done = np.flatnonzero(self.used & (finished >= 0))
        created = self.state.message[done, _kernels.CREATED]
        low, high = self.window
        inside = (created >= low) & (created < high)
        self.latencies.add(created[inside], (finished[done] - created)[inside])
        self.used[done] = False
        self.free = np.concatenate([self.free, done[::-1]])

    def measure(self, load: float, warmup: int, measured: int) -> TrafficRun:
        """Warm up, measure, and follow the measured messages to their ends."""
        began = perf_counter()
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
        per = measured * self.nodes.size
        missing = self.created - self.latencies.count
        cycles = self.count("CURRENT")
        found = self.latencies.histogram
        facts: dict[str, Any] = {
            "throughput": through / per,
            "offered": offered / per,
            "latency": self.latencies.mean,
            "half_width": self.latencies.half_width,
            "histogram": found[: int(np.flatnonzero(found).max(initial=0)) + 1],
            "messages": self.created,
            "undelivered": missing,
            "saturated": not keeping_up or missing > 0,
            "mean_hops": self.count("HOPS") / max(1, self.count("EJECTED")),
            "peak_utilization": int(crossings(self.state).max()) / max(1, cycles),
            "cycles": cycles,
            "flit_hops": self.count("HOPS"),
            "blocked": self.count("BLOCKED"),
            "stalled": self.count("STALLED"),
            "in_flight_peak": self.peak,
            "deadlock": self.deadlock,
            "seconds": perf_counter() - began,
        }
        return TrafficRun(
            self.channels.network, self.where.name, self.settings, self.flits, float(load), **facts
        )  # fmt: skip


def _whole(value: Any, name: str, least: int) -> int:
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number < 2**31:
        raise ModelError(f"{name} must be a whole number in {least}..{2**31 - 1}, got {value!r}")
    return number
