"""Writing a wormhole schedule step by step, and keeping who is responsible for what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.schedules.wormhole.payloads import CONTROL, PayloadTable, Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps
from gossamer.wormhole.partition import Ints, TorusPartition

__all__ = ["NOTHING", "PhaseCost", "ScheduleRecorder"]

NOTHING = -2
"""Row of an empty payload; such messages are not sent."""


class PhaseCost(NamedTuple):
    """The closed form of a phase: for each of its steps the most bytes of a message, and the most hops of one.

    `control` says whether the phase has control messages only.
    """

    name: str
    bytes: tuple[int, ...]
    hops: tuple[int, ...]
    control: bool = False


class ScheduleRecorder:
    """A schedule in the making.

    A *unit* is what moves between nodes in one piece: a whole message, or one of the `words` pieces that a message is
    cut into for the DDNs. Unit ``message * words + word`` is stored as `copies` packets in turn, one for each part of
    the data collection.

    `case`: what is asked. `partition`: the partition of the network. `words`: units of a message: 1, or the number of
    DDNs. `copies`: packets of a unit.

    `holder`, int64[units]: the node that is responsible for a unit. `word`, int64[units]: the DDN that a unit belongs
    to; 0 until it is known. `table`: the payloads.
    """

    def __init__(self, case: WormholeCase, partition: TorusPartition, words: int, copies: int) -> None:
        self.case, self.partition = case, partition
        self.words, self.copies = words, copies
        messages = case.messages
        self.pieces = Pieces.of(messages, case.cost.message_bytes, words * copies)
        self.holder: Ints = np.repeat(messages.origin, words).astype(np.int64)
        self.word: Ints = np.tile(np.arange(words, dtype=np.int64), messages.count)
        self._steps = Steps(partition.dimensions)
        self.table: PayloadTable = self._steps.table
        self._count = 0

    @contextmanager
    def phase(self, name: str, control: bool = False) -> Iterator[None]:
        """Name the steps that are written within, for control messages or not; a phase without steps is left out."""
        self._count = 0
        yield
        self._steps.end_phase(name, self._count, control)

    def step(self) -> None:
        """Begin the next step of the phase."""
        self._count += 1

    def row(self, units: Iterable[int] | Ints, copy: int | None = None) -> int:
        """Return the payload row of units, all of their packets or those of one copy; NOTHING if there are none."""
        listed = np.asarray(units if isinstance(units, np.ndarray) else list(units), np.int64)
        if not listed.size:
            return NOTHING
        if copy is not None:
            return self.table.row(listed * self.copies + copy)
        return self.table.row((listed[:, None] * self.copies + np.arange(self.copies)).reshape(-1))

    def send(self, source: Ints, displacement: npt.NDArray[np.int64], rows: Ints) -> None:
        """Send payload rows in the current step; those with NOTHING are not sent."""
        there = rows != NOTHING
        moves = np.broadcast_to(displacement, (source.size, self.partition.dimensions))
        self._steps.add(self._count - 1, source[there], moves[there], rows[there])

    def control(self, source: Ints, displacement: npt.NDArray[np.int64]) -> None:
        """Send one counter from each source in the current step."""
        self.send(source, displacement, np.full(source.size, CONTROL, np.int64))

    def move(self, units: Ints, displacement: npt.NDArray[np.int64]) -> None:
        """Move units from their holders in the current step, those with one way from one node in one message."""
        moving = displacement.any(axis=1)
        units, displacement = units[moving], displacement[moving]
        if not units.size:
            return
        spans = 2 * np.array(self.partition.sides) + 1
        way = np.ravel_multi_index(tuple((displacement + spans // 2).T), tuple(spans.tolist()))
        key = self.holder[units] * int(np.prod(spans)) + way
        order = np.lexsort((units, key))
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        rows = [self.row(group) for group in np.split(units[order], first[1:])]
        lead = order[first]
        self.send(self.holder[units[lead]], displacement[lead], np.array(rows, np.int64))
        self.holder[units] = self.partition.shifted(self.holder[units], displacement)

    def by_holder(self) -> list[Ints]:
        """Return the units that each node is responsible for, ascending, for all nodes."""
        order = np.argsort(self.holder, kind="stable")
        ends = np.searchsorted(self.holder[order], np.arange(1, self.partition.node_count))
        return np.split(order, ends)

    def of_ddn(self) -> list[Ints]:
        """Return the units of each DDN, ascending."""
        order = np.argsort(self.word, kind="stable")
        return np.split(order, np.searchsorted(self.word[order], np.arange(1, self.partition.ddn_count)))

    def schedule(self) -> WormholeSchedule:
        """Return the schedule."""
        return self._steps.schedule(self.case, self.pieces)
