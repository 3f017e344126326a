"""What messages carry, and when: pieces of the task's messages, sets of them that are stored once, and phases."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray
from gossamer.questions.tasks import Messages

__all__ = ["CONTROL", "PayloadTable", "Payloads", "Pieces", "StepPhase"]

CONTROL = -1
"""Payload number of a control message."""


@dataclass(frozen=True)
class StepPhase:
    """A run of consecutive steps.

    Attributes
    ----------
    name : str
        What happens in it.
    steps : int
        Number of steps.
    length : int or None
        Bytes for which every step of the phase lasts at least, even if it has no messages; None where a step lasts as
        long as its messages and costs nothing without any.
    control : bool
        Whether its steps are for control messages.
    first_step : int
        Set by the schedule: the steps of the phases follow each other from step 0.
    """

    name: str
    steps: int
    length: int | None = None
    control: bool = False
    first_step: int = 0


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces that the task's messages are cut into, one row a piece; an unsegmented message is one piece.

    Attributes
    ----------
    origin : int32[P]
        The node that holds the piece at the start.
    message : int64[P]
        The number of its message in the task.
    piece : int32[P]
        Which piece of the message it is, from 0.
    size : int64[P]
        Bytes.
    """

    origin: IntArray
    message: npt.NDArray[np.int64]
    piece: IntArray
    size: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of pieces P."""
        return int(self.message.size)

    @classmethod
    def of(cls, messages: Messages, message_bytes: int, pieces: int = 1) -> Pieces:
        """Return the table of all messages cut into `pieces` pieces of nearly equal size, by message, then piece.

        The first ``message_bytes % pieces`` pieces are one byte longer than the others.

        Examples
        --------
        >>> import gossamer
        >>> messages = gossamer.task("broadcast").messages(gossamer.network("torus:2x2"))
        >>> Pieces.of(messages, 10, 3).size.tolist()
        [4, 3, 3]
        """
        if pieces < 1:
            raise ScheduleError(f"a message is cut into at least 1 piece, got {pieces}")
        number = np.arange(pieces, dtype=np.int32)
        size = message_bytes // pieces + (number < message_bytes % pieces).astype(np.int64)
        return cls(
            np.repeat(messages.origin, pieces).astype(np.int32),
            np.repeat(messages.ids, pieces),
            np.tile(number, messages.count),
            np.tile(size, messages.count),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pieces):
            return NotImplemented
        names = ("origin", "message", "piece", "size")
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Payloads:
    """Sets of pieces, one row a set, each in ascending order.

    Attributes
    ----------
    first : int64[S+1]
        Set k is ``packet[first[k]:first[k+1]]``.
    packet : int32[E]
        Rows of the table of pieces.
    """

    first: npt.NDArray[np.int64]
    packet: IntArray

    @property
    def count(self) -> int:
        """Number of sets S."""
        return int(self.first.size) - 1

    def row(self, number: int) -> IntArray:
        """Return the pieces of set `number`, int32[k]; ScheduleError if there is none such."""
        if not 0 <= number < self.count:
            raise ScheduleError(f"payload {number} is outside 0..{self.count - 1}")
        return self.packet[self.first[number] : self.first[number + 1]]

    @cached_property
    def owner(self) -> IntArray:
        """The set that each entry of `packet` belongs to, int32[E]."""
        return np.repeat(np.arange(self.count, dtype=np.int32), np.diff(self.first))

    def carried(self, payload: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the messages, as places in `payload`, and the pieces of all that they carry, int64[k] each.

        Parameters
        ----------
        payload : int[M]
            The set of each message, CONTROL of those that carry none.

        Examples
        --------
        >>> table = PayloadTable()
        >>> sets = [table.row([3, 1]), CONTROL, table.row([2])]
        >>> [column.tolist() for column in table.payloads().carried(np.array(sets))]
        [[0, 0, 2], [1, 3, 2]]
        """
        messages = np.flatnonzero(payload != CONTROL)
        sizes = np.diff(self.first)[payload[messages]]
        row = np.repeat(messages, sizes)
        within = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return row, self.packet[self.first[payload[row]] + within].astype(np.int64)

    def lengths(self, pieces: Pieces) -> npt.NDArray[np.int64]:
        """Return the bytes of each set, int64[S]."""
        total = np.concatenate([[0], np.cumsum(pieces.size[self.packet])])
        return np.asarray(total[self.first[1:]] - total[self.first[:-1]], np.int64)

    @cached_property
    def digests(self) -> npt.NDArray[np.uint64]:
        """A hash of what each set holds, uint64[S, 2]."""
        found = b"".join(_digest(self.packet[a:b]) for a, b in itertools.pairwise(self.first.tolist()))
        return np.frombuffer(found, np.uint64).reshape(-1, 2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Payloads):
            return NotImplemented
        return np.array_equal(self.first, other.first) and np.array_equal(self.packet, other.packet)

    __hash__ = None  # type: ignore[assignment]


def _digest(members: IntArray) -> bytes:
    """Return a hash of a set of pieces, 16 bytes."""
    return blake2b(members.tobytes(), digest_size=16).digest()


class PayloadTable:
    """Collects sets of pieces; equal sets get one row.

    Examples
    --------
    >>> table = PayloadTable()
    >>> table.row([3, 1]), table.row([2]), table.row([1, 3])
    (0, 1, 0)
    >>> table.payloads().first.tolist()
    [0, 2, 3]
    """

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._sets: list[IntArray] = []

    def row(self, packets: Iterable[int] | npt.NDArray[np.integer]) -> int:
        """Return the row of a set of pieces, which is added if it is new; ScheduleError if it is empty.

        O(k) for k pieces in ascending order, O(k log k) otherwise.
        """
        given = packets if isinstance(packets, np.ndarray) else list(packets)
        members = np.ascontiguousarray(given, dtype=np.int32)
        if not members.size:
            raise ScheduleError("a payload must hold at least one piece")
        if members.size > 1 and not bool((members[1:] > members[:-1]).all()):
            members = np.unique(members)
        row = self._known.setdefault(_digest(members), len(self._sets))
        if row == len(self._sets):
            self._sets.append(members.copy() if members is packets else members)
        return row

    def __len__(self) -> int:
        return len(self._sets)

    def payloads(self) -> Payloads:
        """Return the sets collected so far."""
        sizes = np.array([s.size for s in self._sets], np.int64)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        packet = np.concatenate(self._sets) if self._sets else np.zeros(0, np.int32)
        return Payloads(first, packet)
