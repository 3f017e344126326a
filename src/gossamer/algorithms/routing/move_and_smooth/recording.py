"""What becomes of the hops of a run: an ordinary schedule, with phases of actual or of guaranteed length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.moving import Chunk
from gossamer.errors import ScheduleError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Phase, Schedule
from gossamer.tasks import Task

__all__ = ["PhaseRun", "Recording"]


@dataclass(frozen=True)
class PhaseRun:
    """How long a phase took, and how long it may take whatever the instance (None: nothing is guaranteed).

    Control phases, in which nodes count the packets, take the same time on every instance.
    """

    name: str
    steps: int
    guaranteed: int | None
    control: bool


class Recording:
    """Keeps the hops of all phases and makes a schedule of them.

    Parameters
    ----------
    clock : bool
        Whether a phase takes its guaranteed length, as under a distributed clock, rather than end with its last hop.
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
        for column in self._columns:
            if column.size < last:
                column.resize(last, refcheck=False)
        return self._columns[0][first:last], self._columns[1][first:last], self._columns[2][first:last]

    @property
    def kept(self) -> Chunk:
        """Slot, link and packet of the hops kept so far."""
        slot, link, packet = (column[: self._used] for column in self._columns)
        return slot, link, packet

    def phase(self, name: str, chunks: Iterator[Chunk], guaranteed: int | None, control: bool) -> int:
        """Keep the chunks of a phase, and return the number of its steps.

        Raises
        ------
        ScheduleError
            If the phase takes longer than guaranteed, and the clock is asked for.
        """
        steps = 0
        for step, _, _ in chunks:
            if step.size:
                steps = int(step[-1]) + 1
                step += np.int32(self._slot)
                self._used += step.size
        if control and guaranteed is not None:
            steps = guaranteed
        if not steps and not guaranteed:
            return 0
        length = steps
        if self.clock and guaranteed is not None:
            if steps > guaranteed:
                raise ScheduleError(f"phase {name!r} takes {steps} steps, {guaranteed} are guaranteed")
            length = guaranteed
        self._slot += length
        self.phases.append(PhaseRun(name, steps, guaranteed, control))
        return steps

    def schedule(self, network: Network, task: Task, model: Model) -> Schedule:
        """Return the schedule of everything kept."""
        for column in self._columns:
            column.resize(self._used, refcheck=False)
        phases = []
        for run in self.phases:
            slots = run.guaranteed if self.clock and run.guaranteed is not None else run.steps
            length = model.control_time if run.control else Fraction(1)
            phases.append(Phase(run.name, slots, length, run.control))
        return Schedule(network, task, model, *self._columns, phases=phases)
