"""What hops carry, and when: the table of packets, and the phases that slots fall into."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray
from gossamer.questions.tasks import Messages
from gossamer.reading import whole

CONTROL = -1
"""Packet number of a control hop: a control packet made at one end of a link and consumed at the other."""


@dataclass(frozen=True)
class Phase:
    """A run of consecutive slots of one length.

    Attributes
    ----------
    name : str
        What happens in it.
    slots : int
        Number of slots.
    slot_length : Fraction
        Length of a slot in steps: 1 for unsegmented packets, 1/k for k parts, t_p for control packets.
    control : bool
        Whether its slots are for control packets, which tell the nodes what they must know about each other.
    first_slot : int
        Set by the schedule: the slots of the phases follow each other from slot 0.
    """

    name: str
    slots: int
    slot_length: Fraction = Fraction(1)
    control: bool = False
    first_slot: int = 0

    @property
    def last_slot(self) -> int:
        """The last slot of the phase."""
        return self.first_slot + self.slots - 1

    @property
    def duration(self) -> Fraction:
        """Length of the phase in steps."""
        return self.slots * self.slot_length


@dataclass(frozen=True)
class Repetition:
    """How a schedule repeats in time: a few packets of each message are a generation, the next are a period later.

    Attributes
    ----------
    packets : int
        Packets of each message in a generation, at least 1.
    period : int
        Slots from the start of a generation to that of the next, at least 1.

    Raises
    ------
    ScheduleError
        If one of them is out of range.
    """

    packets: int
    period: int

    def __post_init__(self) -> None:
        for name, what in (("packets", "packets of a generation"), ("period", "the period")):
            object.__setattr__(self, name, whole(getattr(self, name), what, 1, 2**31 - 1, error=ScheduleError))


@dataclass(frozen=True, eq=False)
class Packets:
    """The packet table, one row a packet.

    Attributes
    ----------
    origin : int32[P]
        The origin of the packet's message (for reductions the root).
    message : int64[P]
        The number of its message in the task.
    part : int32[P]
        Which part of the message it is: 0..parts-1, of a message of k packets 0..k*parts-1.
    """

    origin: IntArray
    message: npt.NDArray[np.int64]
    part: IntArray

    @property
    def count(self) -> int:
        """Number of packets P."""
        return int(self.message.size)

    @classmethod
    def of(cls, messages: Messages, parts: int = 1) -> Packets:
        """Return the table of every part of every message, by message and then by part."""
        parts = whole(parts, "parts", 1)
        each: int | npt.NDArray[np.int64] = parts if messages.sizes is None else messages.sizes * parts
        if messages.sizes is None:
            part = np.tile(np.arange(parts, dtype=np.int32), messages.count)
        else:
            first = messages.first_packet() * parts
            part = (np.arange(first[-1]) - np.repeat(first[:-1], each)).astype(np.int32)
        return cls(np.repeat(messages.origin, each).astype(np.int32), np.repeat(messages.ids, each), part)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packets):
            return NotImplemented
        return all(
            np.array_equal(a, b)
            for a, b in ((self.origin, other.origin), (self.message, other.message), (self.part, other.part))
        )

    __hash__ = None  # type: ignore[assignment]


def message_rows(messages: Messages, table: Packets) -> npt.NDArray[np.int32]:
    """Return the row of each packet's message among `messages`, -1 where the task has no such message."""
    if not messages.count:
        return np.full(table.count, -1, np.int32)
    low, span = int(messages.ids[0]), int(messages.ids[-1] - messages.ids[0]) + 1
    if span <= 4 * max(messages.count, table.count):  # numbers lie densely: a table of rows
        row_of_id = np.full(span + 1, -1, np.int32)  # the last place stays empty, for numbers out of range
        row_of_id[messages.ids - low] = np.arange(messages.count, dtype=np.int32)
        place = table.message - low
        return row_of_id[np.where((place >= 0) & (place < span), place, span)]
    rows = np.minimum(np.searchsorted(messages.ids, table.message), messages.count - 1).astype(np.int32)
    return np.where(messages.ids[rows] == table.message, rows, np.int32(-1))
