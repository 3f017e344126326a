"""Random traffic and traces: messages from unlimited source queues (an open loop)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.reading import instance
from gossamer.simulation.flits.arrivals import MessageSource, MessageTrace, RandomArrivals, TraceArrivals
from gossamer.simulation.flits.deadlock import Deadlock, find_deadlock
from gossamer.simulation.flits.destinations import destinations
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing import Routing, routing_on
from gossamer.simulation.flits.routing.path_tables import written_routes
from gossamer.simulation.flits.routing.routing_function import RoutedMessages
from gossamer.simulation.flits.settings import Energy, TrafficSettings
from gossamer.simulation.flits.state import crossings, grown, new_state, with_routes
from gossamer.simulation.flits.traffic_result import Latencies, TrafficRun, settled

if TYPE_CHECKING:
    from gossamer.simulation.flits._kernels import State

__all__ = ["simulate_trace", "simulate_traffic"]

Ints = npt.NDArray[np.int64]

_SPAN = 2048
"""Most cycles between two deadlock checks."""
_ARRIVALS = 1 << 17
"""About the most messages that are created ahead."""
_DRAIN = 2
"""Measured messages may be on their way for this many times the measured cycles after the last of these."""
_KEEPING_UP = 0.95
_SAMPLE, _LONGEST_WARMUP = 128, 1 << 16
_FLOWS = 256
_Item = TypeVar("_Item", bound=np.generic)


def simulate_traffic(
    network: Network,
    pattern: str | npt.ArrayLike = "uniform",
    load: float = 0.1,
    *,
    settings: TrafficSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> TrafficRun:
    """Measure latency and throughput of random traffic at one load.

    In each cycle every sending node creates a message with probability ``load / message_flits``. Messages follow the
    routing function. They wait in unlimited source queues. Messages created in the measured cycles are followed until
    all are delivered, while others go on coming.

    Parameters
    ----------
    network : Network
        Any.
    pattern : str or array_like, shape (T,) or (T, T)
        Destinations, or demands; see `destinations`.
    load : float
        Flits per sending node and cycle, above 0 and at most one message a cycle.
    settings : TrafficSettings, optional
        Messages, routing, routers, and how long is measured. Default: ``TrafficSettings()``.
    progress : callable, optional
        Called with a line of text now and then.

    Raises
    ------
    NetworkError, TaskError, ModelError
        If the network has no links, the pattern or the routing does not fit, or a value is out of range.

    Notes
    -----
    Memory: the messages on their way and in source queues, and a histogram. Time: about proportional to flit-hops.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.flits import Routers, TrafficSettings
    >>> short = TrafficSettings(warmup=0, measured=2000)
    >>> run = simulate_traffic(gossamer.network("torus:4x4"), "neighbor", 0.1, settings=short)
    >>> run.saturated, run.latency >= Routers().zero_load_latency(hops=2, flits=8)
    (False, True)
    """
    settings = TrafficSettings() if settings is None else instance(settings, TrafficSettings, "settings")
    simulation, load = prepare(network, pattern, load, settings, progress)
    return simulation.measure(load, simulation.senders)


def prepare(
    network: Network,
    pattern: str | npt.ArrayLike,
    load: float,
    settings: TrafficSettings,
    progress: Callable[[str], None] | None,
) -> tuple[Simulation, float]:
    """Return the simulation of random traffic, in its first cycle, and the load; errors as in `simulate_traffic`."""
    load = settings.check_load(load)
    fabric = Fabric(network, settings.terminals)
    where = destinations(
        network, pattern, hot_share=settings.hot_share, seed=settings.seed, per_router=settings.terminals
    )
    random = np.random.default_rng(settings.seed)
    mean = settings.lengths.mean
    source = RandomArrivals(where, fabric.terminal_count, load / mean, settings.lengths, settings.burst, random)
    rule = routing_on(fabric, settings.routing, settings.routers)
    simulation = Simulation(rule, source, where.name, settings, random, progress)
    simulation.senders = source.nodes.size
    return simulation, load


def simulate_trace(
    network: Network,
    trace: MessageTrace,
    *,
    settings: TrafficSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> TrafficRun:
    """Run the messages of a trace, from empty routers until all are delivered.

    Parameters
    ----------
    network : Network
        Any.
    trace : MessageTrace
        Between terminals of the network.
    settings : TrafficSettings, optional
        Routing, routers, terminals and replies; the rest is ignored.
    progress : callable, optional
        Called with a line of text now and then.

    Raises
    ------
    NetworkError, TaskError, ModelError
        If the trace is empty or names other terminals, or the routing does not fit.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.flits import MessageTrace
    >>> simulate_trace(gossamer.network("ring:4"), MessageTrace([0, 50], [0, 1], [2, 2], [8, 8])).latency
    12.0
    """
    settings = TrafficSettings() if settings is None else instance(settings, TrafficSettings, "settings")
    fabric = Fabric(network, settings.terminals)
    for column in (trace.source, trace.target):
        wrong = np.flatnonzero(column >= fabric.terminal_count)
        if wrong.size:
            k = int(wrong[0])
            most = fabric.terminal_count - 1
            raise TaskError(f"message {k} of the trace names terminal {column[k]}; {network.spec} has 0..{most}")
    if not trace.count:
        raise TaskError("the trace has no messages")
    same = np.flatnonzero(trace.source == trace.target)
    if same.size:
        raise TaskError(f"message {int(same[0])} of the trace goes from terminal {trace.source[same[0]]} to itself")
    rule = routing_on(fabric, settings.routing, settings.routers)
    run = Simulation(rule, TraceArrivals(trace), "trace", settings, np.random.default_rng(settings.seed), progress)
    sources = np.unique(trace.source).size
    return run.measure(float(trace.flits.sum()) / trace.cycles / sources, sources, warmup=0, measured=trace.cycles)


class Simulation:
    """A simulation in progress: the routers, the messages, and the source of more."""

    def __init__(
        self,
        rule: Routing,
        arrivals: MessageSource,
        name: str,
        settings: TrafficSettings,
        random: np.random.Generator,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.rule, self.arrivals, self.name, self.settings = rule, arrivals, name, settings
        self.random, self.tell = random, progress or (lambda _: None)
        self.fabric = rule.fabric
        self.state: State = new_state(
            self.fabric, settings.routers, 0, classes=rule.classes, adaptive=rule.adaptive, escape=rule.escape
        )
        self.written = written_routes(rule, arrivals.per_cycle * settings.measured)
        self.used = np.zeros(0, np.bool_)
        self.rows, self.free = np.zeros(0, np.int64), 0  # the rows not in use are the first `free` ones
        self.deadlock: Deadlock | None = None
        self.created = self.created_flits = self.peak = 0
        self.latencies = Latencies(0, 1)
        self.window = (0, 0)
        self.senders = 0
        self.grow(1024)

    def count(self, name: str) -> int:
        """Return a counter of the kernel."""
        from gossamer.simulation.flits import _kernels

        return int(self.state.counters[getattr(_kernels, name)])

    def grow(self, size: int) -> None:
        """Make room for `size` messages."""
        old = self.used.size
        state = grown(self.state, size)
        if self.written is None:
            state = with_routes(state, _longer(state.route, size * self.rule.row_size))
        else:
            state = with_routes(state, self.written.route)
        if self.settings.reply_flits:
            dependent = np.full(size, -1, np.int64)
            dependent[: state.dependent.size] = state.dependent
            state = state._replace(
                dependent_first=np.arange(size + 1), dependent=dependent, released=_ring(state, size)
            )
        self.state = state
        self.used = _longer(self.used, size)
        kept, new = self.rows[: self.free], size - old
        self.rows, self.free = np.zeros(size, np.int64), self.free + new
        self.rows[: self.free] = np.concatenate([np.arange(old, size)[::-1], kept])

    def advance(self, until: int) -> None:
        """Simulate up to cycle `until`, or to a deadlock."""
        from gossamer.simulation.flits import _kernels

        counters = self.state.counters
        most = max(1, int(_ARRIVALS / max(self.arrivals.per_cycle, 1e-9)))
        while self.deadlock is None and counters[_kernels.NOW] < until:
            first = int(counters[_kernels.NOW])
            span = min(until - first, _SPAN, most)
            new = self.arrivals.take(first, span)
            rows = self.place(new.source, new.target, new.flits)
            low, high = np.searchsorted(new.when, self.window)
            replies = 2 if self.settings.reply_flits else 1
            self.created += int(high - low) * replies
            self.created_flits += int(new.flits[low:high].sum()) + int(high - low) * self.settings.reply_flits
            status = _kernels.run(self.state, new.when, rows, first + span)
            self.peak = max(self.peak, int(counters[_kernels.IN_FLIGHT]))
            if status == _kernels.STUCK or counters[_kernels.IN_FLIGHT]:
                self.deadlock = find_deadlock(self.fabric, self.state)
            if status != _kernels.STUCK or self.deadlock is None:
                counters[_kernels.NOW] = first + span
            self.harvest()
            self.tell(f"cycle {first + span:,}, {int(counters[_kernels.IN_FLIGHT]):,} messages on their way")

    def place(self, source: Ints, target: Ints, flits: Ints) -> Ints:
        """Write new messages, and their replies, in free rows of the table; return the rows."""
        from gossamer.simulation.flits import _kernels

        rows = self._write(source, target, flits)
        if self.settings.reply_flits:
            answers = self._write(target, source, np.full(source.size, self.settings.reply_flits))
            self.state.dependent[rows] = answers
            self.state.dependent[answers] = -1
            self.state.message[answers, _kernels.WAITING] = 1
        return rows

    def _write(self, source: Ints, target: Ints, flits: Ints) -> Ints:
        if source.size > self.free:
            self.grow(max(2 * self.used.size, self.used.size + source.size))
        from gossamer.simulation.flits.state import write

        rows = np.ascontiguousarray(self.rows[self.free - source.size : self.free][::-1])
        self.free -= source.size
        rule, state = self.rule, self.state
        begin, drawn = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
        if self.written is None:
            rule.write(RoutedMessages(state.route, rows * rule.row_size + 1, source, target, self.random))
        else:
            begin, drawn = self.written.begin, self.written.draw(source.size, self.random)
        second = rule.longest + 2 if rule.routes == 2 else 0
        by_link = self.settings.routers.injection == "channels"
        write(
            state.message, self.used, rows, source, target, flits, state.route, rule.row_size, second, begin,
            self.fabric.terminal_count, drawn, by_link, state.candidate_first, state.candidate,
        )  # fmt: skip
        return rows

    def harvest(self) -> None:
        """Count the messages delivered and free their rows."""
        from gossamer.simulation.flits import _kernels
        from gossamer.simulation.flits.state import take_delivered

        state = self.state
        ended = int(state.counters[_kernels.ENDED])
        done, found = np.empty(ended, np.int32), np.empty((4, ended), np.int64)
        count, inside = take_delivered(
            state.message, self.used, state.delivered, state.counters, *self.window, done, found
        )
        self.latencies.add(*found[:, :inside])
        done = np.sort(done[:count])
        self.rows[self.free : self.free + done.size] = done[::-1]
        self.free += done.size

    def warm_up(self) -> int:
        """Simulate until the number of messages on their way is steady, or for the longest time; return the cycle."""
        samples: list[int] = []
        cycle = 0
        while cycle < _LONGEST_WARMUP and self.deadlock is None:
            cycle += _SAMPLE
            self.advance(cycle)
            samples.append(self.count("IN_FLIGHT"))
            if len(samples) % 8 == 0 and settled(samples):
                break
        return cycle

    def measure(self, load: float, senders: int, warmup: int | None = None, measured: int | None = None) -> TrafficRun:
        """Warm up, measure, and follow the measured messages to their ends."""
        began = perf_counter()
        asked = self.settings.warmup if warmup is None else warmup
        measured = self.settings.measured if measured is None else measured
        if asked is None:
            asked = self.warm_up()
        else:
            self.advance(asked)
        self.window = (asked, asked + measured)
        terminals = self.fabric.terminal_count
        self.latencies = Latencies(asked, measured, terminals, terminals <= _FLOWS)
        before, crossed = self.count("EJECTED"), crossings(self.state)
        self.advance(asked + measured)
        through = self.count("EJECTED") - before
        crossed = crossings(self.state) - crossed
        end = asked + (1 + _DRAIN) * measured
        largest = max(*self.settings.lengths.flits, self.settings.reply_flits, 1)
        whole_trace = isinstance(self.arrivals, TraceArrivals)
        keeping_up = whole_trace or through >= _KEEPING_UP * self.created_flits - largest * senders
        while keeping_up and self.deadlock is None and self.missing() > 0:
            cycle = self.count("NOW")
            if cycle >= end and not whole_trace:
                break
            self.advance(min(end, cycle + _SPAN // 8) if not whole_trace else cycle + _SPAN)
        per = measured * senders
        return self.found(load, per, through, crossed, not keeping_up, (asked, measured), perf_counter() - began)

    def missing(self) -> int:
        """Messages created in the measured cycles that are not yet delivered; with replies, any that are on the way."""
        if not self.settings.reply_flits:
            return self.created - self.latencies.count
        from gossamer.simulation.flits import _kernels

        rows = np.flatnonzero(self.used)
        created, waits = self.state.message[rows, _kernels.CREATED], self.state.message[rows, _kernels.WAITING]
        return int(((created >= self.window[0]) & (created < self.window[1]) & (waits == 0)).sum())

    def found(
        self, load: float, per: int, through: int, crossed: Ints, behind: bool, times: tuple[int, int], seconds: float
    ) -> TrafficRun:
        """Return what was measured; `through` flits left in the measured cycles, `behind` what was offered or not."""
        missing = self.missing()
        cycles, seen = self.count("NOW"), self.latencies
        histogram = seen.histogram
        hops, ejected = self.count("HOPS"), self.count("EJECTED")
        means = [np.stack([t[0], t[1] / np.where(t[0] > 0, t[0], np.nan)]) for t in (seen.sent, seen.received)]
        with np.errstate(invalid="ignore"):
            flows = np.stack([seen.flows[0], seen.flows[1] / np.where(seen.flows[0] > 0, seen.flows[0], np.nan)])
        return TrafficRun(
            network=self.fabric.network,
            pattern=self.name,
            routing=self.rule.name,
            settings=self.settings.routers,
            message_flits=str(self.settings.lengths),
            load=load,
            throughput=through / per,
            offered=self.created_flits / per,
            latency=seen.mean,
            half_width=seen.half_width,
            histogram=histogram[: int(np.flatnonzero(histogram).max(initial=0)) + 1],
            messages=seen.count + missing if self.settings.reply_flits else self.created,
            undelivered=missing,
            saturated=behind or missing > 0,
            mean_hops=hops / max(1, ejected),
            peak_utilization=min(1.0, int((crossings(self.state) * self.fabric.flit_cycles).max()) / max(1, cycles)),
            warmup=times[0],
            measured=times[1],
            cycles=cycles,
            flit_hops=hops,
            blocked=self.count("BLOCKED"),
            stalled=self.count("STALLED"),
            in_flight_peak=self.peak,
            detours=self.count("DETOURS"),
            energy=Energy(hops + ejected, hops + ejected, hops, self.count("ALLOCATIONS")),
            sent=means[0],
            received=means[1],
            flows=flows,
            crossings=crossed,
            flit_cycles=self.fabric.flit_cycles,
            channel_names=self.fabric.names,
            deadlock=self.deadlock,
            seconds=seconds,
        )


def _longer(values: npt.NDArray[_Item], size: int) -> npt.NDArray[_Item]:
    """Return an array with zeros behind."""
    found = np.zeros(size, values.dtype)
    found[: min(values.size, size)] = values[:size]
    return found


def _ring(state: State, size: int) -> Ints:
    """Return a larger ring of released messages, those in it in their places."""
    from gossamer.simulation.flits import _kernels

    found = np.zeros(size, np.int64)
    old = state.released
    for k in range(int(state.counters[_kernels.RELEASED_FIRST]), int(state.counters[_kernels.RELEASED_LAST])):
        found[k % size] = old[k % old.size]
    return found
