"""One independent run of a simulation: its length, warm-up, measurement, and the end of the measured broadcasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess, OnOff, Trace
from gossamer.simulation.random_arrivals.queueing_state import QueueState, SchemeTables
from gossamer.simulation.random_arrivals.settings import MOST_STEPS, Settings
from gossamer.simulation.random_arrivals.statistics import ConfidenceInterval, Histogram, batch_means, grows, warmup_end

__all__ = ["MOST_TRANSMISSIONS", "Replication", "Setup", "replicate"]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

CELLS = 400
CHUNKS = 200
LARGEST_CHUNK = 1 << 20
"""Requests at most that are drawn at once."""
LONGER = 3
"""How many times an automatic warm-up may be prolonged."""
_FEW = 64
"""Choices of a source up to which all are compared."""
SHORT = 5
"""Lengths of the longest path that a run must last before a growing backlog says anything."""
FINISHING = 2000
"""Requests at least that may follow until the measured broadcasts are finished."""
MOST_TRANSMISSIONS = 10**12
"""What is simulated at most: about a day on one core."""
MOST_TURNS = 10**7
"""Times at most that a node goes on or off."""


@dataclass(frozen=True)
class Setup:
    """What every run of a simulation has in common.

    * `tables` (SchemeTables): the scheme, prepared for its rules.
    * `settings` (Settings): how it is simulated.
    * `rate` (float): broadcasts per generating node and step.
    * `count`, `lead` (int): broadcasts measured, and broadcasts before them.
    """

    tables: SchemeTables
    settings: Settings
    rate: float
    count: int
    lead: int

    @classmethod
    def of(cls, tables: SchemeTables, settings: Settings, rate: float, load: float) -> Setup:
        """Find the length of the runs; `load` is the load factor that `rate` makes.

        Raises
        ------
        ModelError
            If more would be simulated than a machine does in about a day, or the time is too long to be exact.
        """
        process = settings.arrivals
        total = rate * tables.scheme.source_nodes.size
        count = _measured(settings, total, load)
        lead = _lead(settings, count, total)
        if not isinstance(process, Trace):
            _check_effort(tables, settings, count + lead, total)
        elif lead >= process.time.size:
            raise ModelError(
                f"the warm-up of {settings.warmup:g} steps is as long as {process.name}, which ends at "
                f"{process.time[-1]:g}"
            )
        else:
            count = min(count, process.time.size - lead)
        return cls(tables, settings, rate, int(count), int(lead))


def _measured(settings: Settings, per_step: float, load: float) -> float:
    """Return how many broadcasts are measured, a whole number where it is not too large."""
    process = settings.arrivals
    if settings.broadcasts is not None:
        return settings.broadcasts
    if settings.steps is not None:
        return max(1, _whole(per_step * settings.steps))
    if isinstance(process, Trace):
        return process.time.size
    least = max(2000, int(180 / (1 - min(load, 0.95)) ** 2))  # a queue forgets in about 1 / (1 - load)^2 services
    return max(least, _whole(per_step * (3000 if load <= 0.7 else 5000 if load <= 0.9 else 9000)))


def _lead(settings: Settings, count: float, per_step: float) -> float:
    """Return how many broadcasts come before the measurement."""
    process, warmup = settings.arrivals, settings.warmup
    if isinstance(warmup, str):
        return 0 if isinstance(process, Trace) else max(1, count // 3)
    if isinstance(process, Trace):
        return int(np.searchsorted(process.time, warmup))
    return _whole(per_step * warmup)


def _whole(number: float) -> float:
    return int(number) if number < 2**62 else number


def _check_effort(tables: SchemeTables, settings: Settings, broadcasts: float, per_step: float) -> None:
    """Say how much would be simulated, and refuse what would not end."""
    probability = tables.scheme.probability
    each = float((tables.total * probability).sum(axis=1).mean())
    transmissions = broadcasts * each * settings.replications
    if transmissions > MOST_TRANSMISSIONS:
        raise ModelError(
            f"about {transmissions:.2g} transmissions would be simulated, of at most {MOST_TRANSMISSIONS:.0e}, which "
            "take about a day; choose fewer steps, broadcasts or replications"
        )
    steps = broadcasts / per_step
    if steps > MOST_STEPS:
        raise ModelError(
            f"about {steps:.2g} steps would be simulated for {broadcasts:,.0f} broadcasts, of at most "
            f"{MOST_STEPS:.0e}, up to which times are exact; choose a higher load or fewer broadcasts"
        )
    _check_turns(settings.arrivals, steps)


def _check_turns(process: ArrivalProcess, steps: float) -> None:
    if isinstance(process, OnOff) and process.turns(steps) > MOST_TURNS:
        raise ModelError(
            f"each node would go on and off {process.turns(steps):.2g} times in {steps:,.0f} steps, of at most "
            f"{MOST_TURNS:.0e} times; choose longer mean times than {process.on:g} and {process.off:g} steps"
        )


@dataclass(frozen=True)
class Replication:
    """What one run found; times in steps. `reason` is empty unless the run was unstable.

    `sums` float64[2] and `counts` int64[2] are of the reception and the broadcast delays. The rest is as in `Result`.
    """

    reason: str
    reception: ConfidenceInterval
    broadcast: ConfidenceInterval
    sums: FloatArray
    counts: LongArray
    wait_sum: FloatArray
    wait_count: LongArray
    utilization: FloatArray
    reception_delays: Histogram
    broadcast_delays: Histogram
    transmissions: int
    peak: int
    warmup: float
    measured: float
    settled: bool
    backlog: FloatArray
    kinds: tuple[tuple[ConfidenceInterval, ConfidenceInterval], ...] = ()


class RunRequests:
    """The requests of one run as the kernel takes them.

    `setup`: who sends, how often, and the scheme. `seeds`: one half decides the requests, the other what is drawn for
    them.
    """

    def __init__(self, setup: Setup, seeds: np.random.SeedSequence) -> None:
        scheme = setup.tables.scheme
        self._setup, self._parts = setup, scheme.parts
        when, what = (np.random.default_rng(s) for s in seeds.spawn(2))
        self._stream = setup.settings.arrivals.stream(when, scheme.source_nodes, setup.rate, 1 / scheme.parts)
        self._random = what
        self._cumulated = np.cumsum(scheme.probability, axis=1)
        self._line = (self._cumulated + np.arange(self._cumulated.shape[0])[:, None]).reshape(-1)
        self._last = scheme.choice_count - 1 - np.argmax(scheme.probability[:, ::-1] > 0, axis=1)
        self._left: tuple[FloatArray, IntArray] = (np.zeros(0), np.zeros(0, np.int32))

    def _next(self, count: int) -> tuple[FloatArray, IntArray]:
        """Return `count` requests, fewer only at the end of a trace."""
        times, index = self._left
        while times.size < count:
            more = self._stream.take(count)
            if not more[0].size:
                break
            times, index = np.concatenate([times, more[0]]), np.concatenate([index, more[1]])
        self._left = (times[count:], index[count:])
        return times[:count], index[:count]

    def take(self, count: int) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
        """Return times in units of one transmission, source indices, choices, and two random numbers each."""
        times, index = self._next(count)
        times = times * self._parts
        if self._setup.settings.time == "slotted":
            times = np.ceil(times)
        u = self._random.random(index.size)
        if self._cumulated.shape[0] > 1 and self._cumulated.shape[1] > _FEW:  # the choices of all sources in one line
            place = np.searchsorted(self._line, index + u, side="right") - index * self._cumulated.shape[1]
            choice = np.clip(place, 0, self._last[index])
        elif self._cumulated.shape[0] == 1:
            choice = np.minimum(np.searchsorted(self._cumulated[0], u, side="right"), self._last[0])
        else:
            choice = np.minimum((u[:, None] >= self._cumulated[index]).sum(axis=1), self._last[index])
        uniform = self._random.random((index.size if self._setup.tables.choose else 0, 2))
        return times, index, choice.astype(np.int32), uniform


def replicate(
    setup: Setup, seeds: np.random.SeedSequence, title: str = "", progress: Callable[[str], None] | None = None
) -> Replication:
    """Run once: warm up, measure, and go on until every measured broadcast is finished.

    * `setup` (Setup): what to run.
    * `seeds` (SeedSequence): of this run alone.
    * `title` (str): for the lines of progress.
    * `progress` (callable): told a line of text after every chunk of requests.
    """
    run = _Running(setup, seeds, title, progress)
    machine, parts = run.machine, setup.tables.scheme.parts
    settled = run.warm_up()
    began = machine.now
    machine.services[:] = 0
    kinds = run.kinds
    machine.measure(min(CELLS, setup.count) * kinds)
    reason = run.go(setup.count, "measured", measured=True)
    ended, services = machine.now, machine.services.copy()
    samples = np.array(run.samples)
    busiest = float(services.max(initial=0)) / max(ended - began, 1.0)
    short = float(samples[-1, 0]) < SHORT * setup.tables.depth
    if not reason and not short and grows(samples[:, 1], machine.transmissions, busiest):
        reason = (
            f"the transmissions still to be made grew from {int(samples[0, 1]):,} to {int(samples[-1, 1]):,} "
            f"in {samples[-1, 0] / parts:,.0f} steps"
        )
    if not reason:
        run.go(max(setup.count, FINISHING), "finishing", until="measured")
        if machine.open:
            reason = (
                f"{machine.open:,} of {setup.count:,} measured broadcasts were unfinished after "
                f"{max(setup.count, FINISHING):,} more requests"
            )
    first = machine.first_cell
    each_sum = (machine.cell_sum[:, first:] / parts).reshape(2, kinds, -1)
    each_count = machine.cell_count[:, first:].reshape(2, kinds, -1)
    sums, counts = each_sum.sum(axis=1), each_count.sum(axis=1)
    widths = machine.histogram_widths / parts
    span = max(ended - began, 1.0)
    return Replication(
        reason=reason,
        reception=batch_means(sums[0], counts[0]),
        broadcast=batch_means(sums[1], counts[1]),
        sums=sums.sum(axis=1),
        counts=counts.sum(axis=1),
        wait_sum=machine.wait_sum / parts,
        wait_count=machine.wait_count,
        utilization=services / span,
        reception_delays=Histogram(float(widths[0]), np.trim_zeros(machine.histogram[0], "b")),
        broadcast_delays=Histogram(float(widths[1]), np.trim_zeros(machine.histogram[1], "b")),
        transmissions=machine.transmissions,
        peak=machine.peak,
        warmup=began / parts,
        measured=(ended - began) / parts,
        settled=settled and not short,
        backlog=samples[:, :2] / np.array([parts, 1]),
        kinds=tuple(
            (batch_means(each_sum[0, k], each_count[0, k]), batch_means(each_sum[1, k], each_count[1, k]))
            for k in range(kinds if run.of_kinds else 0)
        ),
    )


class _Running:
    """A run on its way."""

    def __init__(
        self, setup: Setup, seeds: np.random.SeedSequence, title: str, progress: Callable[[str], None] | None
    ) -> None:
        self.setup, self._title, self._progress = setup, title, progress
        rules = setup.settings
        self._requests = RunRequests(setup, seeds)
        self.machine = QueueState(
            setup.tables, most_copies=rules.most_in_flight, mixture=rules.mixture, guard=rules.guard
        )
        self.machine.measure(0)
        self._chunk = min(max(1, -(-setup.count // CHUNKS)), LARGEST_CHUNK)
        self.samples: list[tuple[float, int, int]] = []
        traffic = setup.tables.scheme.traffic
        self._kind = None if traffic is None else traffic.kind
        self.kinds, self.of_kinds = (1, False) if traffic is None else (len(traffic.names), True)

    def warm_up(self) -> bool:
        """Make the warm-up; say whether the number of copies in flight has settled."""
        if not self.setup.lead:
            return True
        for turn in range(1 + LONGER if self.setup.settings.warmup == "auto" else 1):
            self.go(self.setup.lead if turn == 0 else -(-self.setup.lead // 2), "warming up")
            in_flight = [s[2] for s in self.samples]
            if warmup_end(in_flight) < len(in_flight) or len(in_flight) < 20:
                return True
        return False

    def go(self, number: int, stage: str, *, measured: bool = False, until: str = "") -> str:
        """Let `number` more requests come; return why the run cannot go on, or an empty text."""
        machine, first, given = self.machine, self.machine.first_cell, 0
        cells = (machine.cell_count.shape[1] - first) // self.kinds
        while given < number:
            times, sources, choice, uniform = self._requests.take(min(self._chunk, number - given))
            last = not times.size
            cell = np.full(times.size, -1, np.int32)
            if measured:
                cell[:] = first + (given + np.arange(times.size)) * cells // number
                if self._kind is not None:
                    cell += self._kind[choice] * cells
            if not machine.advance(times, sources, choice, cell, uniform, "done" if last else until):
                return f"more than {self.setup.settings.most_in_flight:,} copies were in flight"
            given += times.size
            if until != "measured":
                self.samples.append((machine.now, machine.backlog, machine.in_flight))
            if last or (until == "measured" and not machine.open):
                break
            if self._progress is not None:
                made = f"{machine.transmissions / 1e6:,.1f} million transmissions"
                self._progress(f"{self._title}: {stage}, {100 * given // number}%, {made}")
        return ""
