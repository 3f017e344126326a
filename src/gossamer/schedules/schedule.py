"""The schedule: network, task, model, packets and hops, as columns.

One class holds explicit and invariant schedules. With a `symmetry` only the packets of one representative of each
orbit are stored; everything else of the schedule is their translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.cases import Case
from gossamer.errors import ScheduleError
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.schedules.columns import MOST, check_range, column, phase_rows, whole
from gossamer.schedules.symmetry import Symmetry
from gossamer.tasks import Messages, Task

__all__ = ["CONTROL", "MAX_HOPS", "Packets", "Phase", "Schedule", "too_many_hops"]

_FIELDS = (
    *("network", "task", "model", "slot", "link", "packet"),
    *("parts", "packets", "phases", "symmetry", "algorithm"),
)

MAX_HOPS = 1_000_000_000
"""The most hops that a builder or an expansion may write out, 12 GB of columns."""

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
        Length of a slot in steps: 1 for whole packets, 1/k for k parts, t_p for control packets.
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
        Which part of the message it is, 0..parts-1.
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
        return cls(
            np.repeat(messages.origin, parts).astype(np.int32),
            np.repeat(messages.ids, parts),
            np.tile(np.arange(parts, dtype=np.int32), messages.count),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packets):
            return NotImplemented
        return all(
            np.array_equal(a, b)
            for a, b in ((self.origin, other.origin), (self.message, other.message), (self.part, other.part))
        )

    __hash__ = None  # type: ignore[assignment]


def too_many_hops(count: int) -> str | None:
    """Return the reason for which an algorithm declines to write out `count` hops, or None if it may.

    >>> too_many_hops(2_000_000_000)
    'would write out 2,000,000,000 hops; at most 1,000,000,000 are allowed'
    """
    return f"would write out {count:,} hops; at most {MAX_HOPS:,} are allowed" if count > MAX_HOPS else None


class Schedule:
    """A set of hops: which packet crosses which link in which slot. Immutable.

    The constructor checks shapes, ranges and order only; whether the schedule carries out its task is for
    `gossamer.verify` to say.

    Parameters
    ----------
    network, task, model
        What is carried out, where, under which rules.
    slot, link, packet : array_like of int, shape (H,)
        One row a hop, kept as int32, sorted by slot. What a hop brings can move on in the next slot. Packet
        ``CONTROL`` (-1) marks control hops. An int32 array is taken over without a copy and becomes read-only.
    parts : int
        Parts that every message is cut into; a part takes 1/parts step a hop.
    packets : Packets, optional
        The packet table. Default: `Packets.of` the task's messages.
    phases : sequence of Phase, optional
        Consecutive phases from slot 0; their `first_slot` is set here. Default: one phase of slots of 1/parts step.
    symmetry : Symmetry, optional
        Given for an invariant schedule: packets and hops are those of the orbit representatives only.
    algorithm : str
        Name of the builder.

    Raises
    ------
    ScheduleError
        If a column is malformed, unsorted or out of range, or the phases do not hold every slot.

    Notes
    -----
    A hop takes 12 bytes, a packet 16.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = Schedule(net, gossamer.task("broadcast"), gossamer.Model(), [0, 1], [0, 1], [0, 0])
    >>> s.completion_time, s.hop_count
    (Fraction(2, 1), 2)
    """

    def __init__(
        self,
        network: Network,
        task: Task,
        model: Model,
        slot: npt.ArrayLike,
        link: npt.ArrayLike,
        packet: npt.ArrayLike,
        *,
        parts: int = 1,
        packets: Packets | None = None,
        phases: Sequence[Phase] | None = None,
        symmetry: Symmetry | None = None,
        algorithm: str = "",
    ) -> None:
        task.check(network)
        self.network = network
        self.task = task
        self.model = model
        self.parts = whole(parts, "parts", 1)
        self.symmetry = symmetry
        self.algorithm = algorithm
        self.slot: IntArray = column(slot, "slot")
        self.link: IntArray = column(link, "link")
        self.packet: IntArray = column(packet, "packet")
        if symmetry is not None:
            if not task.invariant:
                raise ScheduleError(
                    f"task {task.name} is not the same at every node, so no schedule of it is invariant"
                )
            if symmetry.network != network:
                raise ScheduleError(f"the symmetry is of {symmetry.network.spec}, not of {network.spec}")
        if packets is None:
            packets = Packets.of(self.messages, self.parts)
        self.packets = Packets(
            column(packets.origin, "origin"),
            column(packets.message, "message", np.int64),
            column(packets.part, "part"),
        )
        self._check_columns()
        if phases is None:
            slots = int(self.slot[-1]) + 1 if self.slot.size else 0
            phases = [Phase(task.name, slots, Fraction(1, self.parts))]
        self.phases = tuple(self._placed(phases))

    def _check_columns(self) -> None:
        if not self.slot.size == self.link.size == self.packet.size:
            sizes = f"{self.slot.size}, {self.link.size}, {self.packet.size}"
            raise ScheduleError(f"columns slot, link, packet must have one length, got {sizes}")
        table = self.packets
        if not table.origin.size == table.message.size == table.part.size:
            raise ScheduleError("columns origin, message, part must have one length")
        if table.count and (int(table.origin.min()) < 0 or int(table.origin.max()) >= self.network.node_count):
            raise ScheduleError(f"a packet's origin is outside 0..{self.network.node_count - 1}")
        if not self.slot.size:
            return
        if np.any(self.slot[1:] < self.slot[:-1]):
            raise ScheduleError("column 'slot' must be ascending")
        if int(self.slot[0]) < 0 or int(self.slot[-1]) >= MOST:
            raise ScheduleError(f"slots must be 0..{MOST - 1}, got {int(self.slot[0])}..{int(self.slot[-1])}")
        for name, values, low, high in (
            ("link", self.link, 0, self.network.link_count - 1),
            ("packet", self.packet, CONTROL, table.count - 1),
        ):
            check_range(values, name, low, high)

    def _placed(self, phases: Sequence[Phase]) -> Iterator[Phase]:
        first = 0
        for phase in phases:
            slots = whole(phase.slots, f"the number of slots of phase {phase.name!r}")
            try:
                length = Fraction(phase.slot_length)
            except (TypeError, ValueError, ArithmeticError):
                length = Fraction(-1)
            if length < 0:
                raise ScheduleError(
                    f"the slot length of phase {phase.name!r} must be 0 or more steps, got {phase.slot_length!r}"
                )
            yield replace(phase, slots=slots, slot_length=length, control=bool(phase.control), first_slot=first)
            first += slots
        whole(first, "the number of slots of all phases")
        if self.slot.size and int(self.slot[-1]) >= first:
            raise ScheduleError(f"a hop is in slot {int(self.slot[-1])}, but the phases have {first} slots")

    @classmethod
    def of(
        cls, case: Case, slot: npt.ArrayLike, link: npt.ArrayLike, packet: npt.ArrayLike, **columns: Any
    ) -> Schedule:
        """Return the schedule of a case: its network, task and rules, with the given hops.

        `columns` are the further keywords of the constructor, such as `parts` and `phases`.
        """
        return cls(case.network, case.task, case.rules, slot, link, packet, **columns)

    # -- sizes ------------------------------------------------------------------------------------------------

    @cached_property
    def messages(self) -> Messages:
        """The messages that the stored packets belong to: all, or those of the orbit representatives."""
        origins = None if self.symmetry is None else self.symmetry.representatives
        return self.task.messages(self.network, origins)

    @property
    def invariant(self) -> bool:
        """Whether only one orbit is stored."""
        return self.symmetry is not None

    @property
    def slot_count(self) -> int:
        """Number of slots of all phases."""
        return sum(p.slots for p in self.phases)

    @property
    def completion_time(self) -> Fraction:
        """Length of all phases in steps, exact."""
        return sum((p.duration for p in self.phases), Fraction(0))

    @property
    def stored_hops(self) -> int:
        """Number of hops stored."""
        return int(self.slot.size)

    @property
    def hop_count(self) -> int:
        """Number of hops that happen: the stored ones times the translations."""
        return self.stored_hops * (self.symmetry.order if self.symmetry else 1)

    @property
    def packet_count(self) -> int:
        """Number of packets that travel."""
        return self.packets.count * (self.symmetry.order if self.symmetry else 1)

    @property
    def nbytes(self) -> int:
        """Bytes held by the hop columns and the packet table."""
        table = self.packets
        columns = (self.slot, self.link, self.packet, table.origin, table.message, table.part)
        return int(sum(c.nbytes for c in columns))

    def time_of(self, slot: int) -> Fraction:
        """Return the time in steps at which `slot` ends; ScheduleError if there is no such slot."""
        time = Fraction(0)
        for phase in self.phases:
            if 0 <= slot <= phase.last_slot:
                return time + (slot - phase.first_slot + 1) * phase.slot_length
            time += phase.duration
        raise ScheduleError(f"slot {slot} is outside the {self.slot_count} slots of the schedule")

    def phase_hops(self, phase: int | str) -> slice:
        """Return the rows of the hops of a phase, given by position or name; ScheduleError if there is none such."""
        starts = [*(p.first_slot for p in self.phases), self.slot_count]
        return phase_rows(self.slot, [p.name for p in self.phases], starts, phase)

    # -- making others ----------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Schedule:
        """Return a schedule with some constructor arguments changed."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        return Schedule(**{**kept, **changes})

    def reverse(self) -> Schedule:
        """Return the time-reversed schedule of the dual task; see `gossamer.schedules.transform.reverse`."""
        from gossamer.schedules import transform

        return transform.reverse(self)

    def then(self, following: Schedule) -> Schedule:
        """Return this schedule followed by another; see `gossamer.schedules.transform.then`."""
        from gossamer.schedules import transform

        return transform.then(self, following)

    def relabel(self, mapping: Iterable[int], network: Network | None = None) -> Schedule:
        """Return the schedule with renamed nodes; see `gossamer.schedules.transform.relabel`."""
        from gossamer.schedules import transform

        return transform.relabel(self, mapping, network)

    def expand(self) -> Schedule:
        """Return the explicit schedule; see `gossamer.schedules.transform.expand`."""
        from gossamer.schedules import transform

        return transform.expand(self)

    def save(self, path: Any) -> None:
        """Write the schedule to a Parquet file; see `gossamer.schedules.files.save`."""
        from gossamer.schedules import files

        files.save(self, path)

    def __eq__(self, other: object) -> bool:
        """Equal network, task, model, parts, phases, packets and hops (rows of a slot in any order)."""
        if not isinstance(other, Schedule):
            return NotImplemented
        same = (
            self.network == other.network
            and (self.task, self.model, self.parts, self.phases) == (other.task, other.model, other.parts, other.phases)
            and self.symmetry == other.symmetry
            and self.packets == other.packets
            and np.array_equal(self.slot, other.slot)
        )
        return same and all(
            np.array_equal(a, b) for a, b in zip(self._canonical_rows(), other._canonical_rows(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def _canonical_rows(self) -> tuple[IntArray, IntArray]:
        order = np.lexsort((self.packet, self.link, self.slot))
        return self.link[order], self.packet[order]

    def __repr__(self) -> str:
        kind = "invariant schedule" if self.invariant else "schedule"
        return (
            f"<{kind} of {self.task.name} on {self.network.spec}: {self.completion_time} steps, {self.hop_count} hops>"
        )
