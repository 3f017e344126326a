"""Where builders put the hops that they make: a schedule that keeps them, or a checker that forgets them.

A builder that can stream is a function of a sink. It hands over one phase after the other, each as chunks of hops in
columns that the sink gave out; so it need not know whether the hops are kept, nor hold them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case
from gossamer.schedules.packets import Phase
from gossamer.schedules.schedule import Schedule

__all__ = ["CHUNK", "Chunk", "PhaseRun", "RecordingSink", "Sink", "finished", "record"]

CHUNK = 1 << 22
"""Hops that are held at a time when streaming, 50 MB of columns, unless one step has more."""

Chunk: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Step within the phase (from 0, ascending), link and packet of some hops."""


class Sink(Protocol):
    """What takes the hops of the phases, one phase after the other."""

    chunk_hops: int | None
    """The most hops that it wants at a time, unless one step has more; None for any number."""

    def columns(self, size: int) -> Chunk:
        """Return columns of the given size, in which the next chunk is written from the first row on."""
        ...

    def phase(
        self,
        name: str,
        chunks: Iterator[Chunk],
        *,
        length: int | None = None,
        guaranteed: int | None = None,
        control: bool = False,
    ) -> int:
        """Take the chunks of a phase to the end, and return the number of its steps.

        * `name` (str): of the phase.
        * `chunks` (iterator of Chunk): each is the beginning of the columns that were asked for last.
        * `length` (int): steps that the phase takes, whatever its hops. Default: it ends with its last hop.
        * `guaranteed` (int): steps that the phase takes at most, whatever the instance. A phase without hops of which 0
          are guaranteed is left out.
        * `control` (bool): whether its hops are those of control packets.
        """
        ...


@dataclass(frozen=True)
class PhaseRun:
    """How long a phase took, and how long it may take whatever the instance (None: nothing is guaranteed)."""

    name: str
    steps: int
    guaranteed: int | None
    control: bool


def finished(name: str, last: int, length: int | None, guaranteed: int | None, control: bool) -> PhaseRun | None:
    """Return the run of a phase whose hops took `last` steps, or None if there is no such phase."""
    if length is not None:
        if last > length:
            raise ScheduleError(f"phase {name!r} takes {last} steps, not {length}")
        return PhaseRun(name, length, length, control)
    return PhaseRun(name, last, guaranteed, control) if last or guaranteed != 0 else None


class RecordingSink:
    """Keeps the hops of all phases and makes a schedule of them.

    `clock` (bool): whether a phase takes its guaranteed length, as under a distributed clock, rather than end with its
    last hop.

    `phases` (list of PhaseRun): the phases so far.
    """

    def __init__(self, clock: bool = False) -> None:
        self.chunk_hops: int | None = None
        self.clock = clock
        self.phases: list[PhaseRun] = []
        self._columns = tuple(np.empty(0, np.int32) for _ in range(3))
        self._used = 0
        self._slot = 0

    def columns(self, size: int) -> Chunk:
        """Return the columns that follow what is kept, of the given size."""
        first, last = self._used, self._used + size
        if self._columns[0].size < last:
            room = max(last, 2 * self._columns[0].size)  # doubled, so that no hop is moved often
            grown = tuple(np.empty(room, np.int32) for _ in range(3))
            for old, new in zip(self._columns, grown, strict=True):
                new[:first] = old[:first]
            self._columns = grown
        return self._columns[0][first:last], self._columns[1][first:last], self._columns[2][first:last]

    @property
    def kept(self) -> Chunk:
        """Slot, link and packet of the hops kept so far."""
        slot, link, packet = (column[: self._used] for column in self._columns)
        return slot, link, packet

    def phase(
        self,
        name: str,
        chunks: Iterator[Chunk],
        *,
        length: int | None = None,
        guaranteed: int | None = None,
        control: bool = False,
    ) -> int:
        """Keep the chunks of a phase, and return the number of its steps.

        Raises `ScheduleError` if the phase takes longer than its length, or than guaranteed where the clock is asked
        for.
        """
        last = 0
        for step, _, _ in chunks:
            if step.size:
                last = int(step[-1]) + 1
                step += np.int32(self._slot)
                self._used += step.size
        run = finished(name, last, length, guaranteed, control)
        if run is None:
            return 0
        if self.clock and run.guaranteed is not None and run.steps > run.guaranteed:
            raise ScheduleError(f"phase {name!r} takes {run.steps} steps, {run.guaranteed} are guaranteed")
        self.phases.append(run)
        self._slot += self._slots(run)
        return run.steps

    def schedule(self, case: Case) -> Schedule:
        """Return the schedule of everything kept."""
        for column in self._columns:
            column.resize(self._used, refcheck=False)
        phases = [
            Phase(run.name, self._slots(run), case.control_time if run.control else Fraction(1), run.control)
            for run in self.phases
        ]
        return Schedule.of(case, *self._columns, phases=phases)

    def _slots(self, run: PhaseRun) -> int:
        return run.guaranteed if self.clock and run.guaranteed is not None else run.steps


def record(case: Case, route: Callable[[Sink], None], *, clock: bool = False) -> Schedule:
    """Return the schedule of the hops that `route` hands to a sink; `clock` as for `RecordingSink`."""
    sink = RecordingSink(clock)
    route(sink)
    return sink.schedule(case)
