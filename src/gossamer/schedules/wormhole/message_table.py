"""The columns of a wormhole schedule: network, task, cost, pieces and messages; not what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast, get_args

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Ports
from gossamer.questions.tasks import Messages, Task
from gossamer.reading import choice, instance
from gossamer.reading import whole as read_whole
from gossamer.schedules.columns import MOST, check_range, column, phase_rows, whole
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, Pieces

if TYPE_CHECKING:
    from gossamer.schedules.wormhole.case import WormholeCase

__all__ = ["MessageTable", "Phase"]

_FIELDS = (
    *("network", "task", "cost", "step", "source", "displacement", "payload"),
    *("payloads", "packets", "phases", "control_bytes", "algorithm", "ports"),
)


@dataclass(frozen=True)
class Phase:
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


def _ports(given: str) -> Ports:
    """Return the ports if there are such ones."""
    choice(given, "ports", get_args(Ports))
    return cast(Ports, given)


class MessageTable:
    """What `WormholeSchedule` holds; files know a schedule by this much."""

    ports: Ports

    def __init__(
        self,
        network: Network,
        task: Task,
        cost: LinearCost,
        step: npt.ArrayLike,
        source: npt.ArrayLike,
        displacement: npt.ArrayLike,
        payload: npt.ArrayLike,
        *,
        payloads: Payloads,
        packets: Pieces | None = None,
        phases: Sequence[Phase] | None = None,
        control_bytes: npt.ArrayLike | None = None,
        algorithm: str = "",
        ports: Ports = "all",
    ) -> None:
        channels = Channels(instance(network, Network, "the network", error=ScheduleError))
        instance(task, Task, "the task", error=ScheduleError).check(network)
        self._ask(channels, task, task.messages(network), cost)
        self.ports = _ports(ports)
        self._fill(
            step,
            source,
            displacement,
            payload,
            payloads=payloads,
            packets=packets,
            phases=phases,
            control_bytes=control_bytes,
            algorithm=algorithm,
        )

    @classmethod
    def of(
        cls,
        case: WormholeCase,
        step: npt.ArrayLike,
        source: npt.ArrayLike,
        displacement: npt.ArrayLike,
        payload: npt.ArrayLike,
        **columns: Any,
    ) -> Self:
        """Return the schedule of a case: its network, task and cost, with the given messages.

        `columns` are the further keywords of the constructor, such as `payloads` and `phases`.
        """
        made = cls.__new__(cls)
        made._ask(case.channels, case.task, case.messages, case.cost)
        made.ports = case.rules.ports
        made._fill(step, source, displacement, payload, **columns)
        return made

    def _ask(self, channels: Channels, task: Task, messages: Messages, cost: LinearCost) -> None:
        """Set what is asked: where, what, and at what cost."""
        self.channels = channels
        self.network: Network = channels.network
        self.task = task
        self.messages = messages
        self.cost = instance(cost, LinearCost, "the cost", error=ScheduleError)

    def _fill(
        self,
        step: npt.ArrayLike,
        source: npt.ArrayLike,
        displacement: npt.ArrayLike,
        payload: npt.ArrayLike,
        *,
        payloads: Payloads,
        packets: Pieces | None = None,
        phases: Sequence[Phase] | None = None,
        control_bytes: npt.ArrayLike | None = None,
        algorithm: str = "",
    ) -> None:
        """Set the columns and the tables, checked."""
        cost = self.cost
        self.algorithm = instance(algorithm, str, "the name of the algorithm", error=ScheduleError)
        self.step: IntArray = column(step, "step")
        self.source: IntArray = column(source, "source")
        moves = np.asarray(displacement)
        if not moves.size:
            moves = np.zeros((self.step.size, self.channels.dimensions), np.int32)
        self.displacement: IntArray = column(moves, "displacement", dimensions=2)
        self.payload: IntArray = column(payload, "payload")
        if self.messages.sizes is not None or self.messages.waits:
            raise TaskError(
                f"wormhole messages have one length each and wait for no other collective, so they do not carry out "
                f"{self.task.name} here"
            )
        if packets is None:
            packets = Pieces.of(self.messages, cost.message_bytes)
        instance(packets, Pieces, "the table of pieces", error=ScheduleError)
        instance(payloads, Payloads, "the table of payloads", error=ScheduleError)
        self.packets = Pieces(
            column(packets.origin, "origin"),
            column(packets.message, "message", np.int64),
            column(packets.piece, "piece"),
            column(packets.size, "size", np.int64),
        )
        self.payloads = Payloads(
            column(payloads.first, "first", np.int64),
            column(payloads.packet, "packet"),
        )
        self._check_tables()
        self._check_columns()
        if control_bytes is None:
            control_bytes = np.where(self.payload == CONTROL, np.int32(cost.counter_bytes), np.int32(0))
        self.control_bytes: IntArray = column(control_bytes, "control_bytes")
        self._check_control()
        if phases is None:
            phases = [Phase(self.task.name, int(self.step[-1]) + 1 if self.step.size else 0)]
        self.phases = tuple(self._placed(phases))

    def _check_tables(self) -> None:
        table, sets = self.packets, self.payloads
        if not table.origin.size == table.message.size == table.piece.size == table.size.size:
            raise ScheduleError("columns origin, message, piece, size must have one length")
        if table.count and (int(table.origin.min()) < 0 or int(table.origin.max()) >= self.network.node_count):
            raise ScheduleError(f"a piece's origin is outside 0..{self.network.node_count - 1}")
        if table.count and int(table.size.min()) < 0:
            raise ScheduleError(f"the size of a piece must be 0 or more bytes, got {int(table.size.min())}")
        first, packet = sets.first, sets.packet
        if not first.size or first[0] != 0 or first[-1] != packet.size or bool((first[1:] < first[:-1]).any()):
            raise ScheduleError(f"payload starts must ascend from 0 to the number of entries {packet.size}")
        if packet.size and (int(packet.min()) < 0 or int(packet.max()) >= table.count):
            raise ScheduleError(f"a payload holds a piece outside 0..{table.count - 1}")
        falls = np.flatnonzero(packet[1:] <= packet[:-1]) + 1
        inside = falls[~np.isin(falls, first)]
        if inside.size:
            row = int(np.searchsorted(first, inside[0], side="right")) - 1
            raise ScheduleError(f"the pieces of payload {row} must be listed once each in ascending order")

    def _check_columns(self) -> None:
        sizes = self.step.size, self.source.size, len(self.displacement), self.payload.size
        if len(set(sizes)) > 1:
            text = ", ".join(map(str, sizes))
            raise ScheduleError(f"columns step, source, displacement, payload must have one length, got {text}")
        d = self.channels.dimensions
        if self.displacement.shape[1] != d:
            got = self.displacement.shape[1]
            raise ScheduleError(f"displacements on {self.network.spec} need {d} columns, got {got}")
        if not self.step.size:
            return
        if bool((self.step[1:] < self.step[:-1]).any()):
            raise ScheduleError("column 'step' must be ascending")
        for name, values, low, high in (
            ("step", self.step, 0, MOST - 1),
            ("source", self.source, 0, self.network.node_count - 1),
            ("payload", self.payload, CONTROL, self.payloads.count - 1),
        ):
            check_range(values, name, low, high)

    def _check_control(self) -> None:
        if self.control_bytes.size != self.step.size:
            raise ScheduleError(f"column 'control_bytes' needs {self.step.size} rows, got {self.control_bytes.size}")
        control = self.payload == CONTROL
        wrong = np.flatnonzero(np.where(control, self.control_bytes < 1, self.control_bytes != 0))
        if wrong.size:
            got, is_control = int(self.control_bytes[wrong[0]]), bool(control[wrong[0]])
            rule = "a control message has 1 byte or more" if is_control else "a message with a payload has 0"
            raise ScheduleError(f"control_bytes of message {wrong[0]} is {got}; {rule}")

    def _placed(self, phases: Sequence[Phase]) -> Iterator[Phase]:
        first = 0
        for phase in phases:
            instance(phase, Phase, "a phase", error=ScheduleError)
            steps = whole(phase.steps, f"the number of steps of phase {phase.name!r}")
            length = None if phase.length is None else whole(phase.length, f"the length of phase {phase.name!r}")
            yield replace(phase, steps=steps, length=length, control=bool(phase.control), first_step=first)
            first += steps
        if first > MOST:
            raise ScheduleError(f"all phases together have {first} steps; at most {MOST} are allowed")
        if self.step.size and int(self.step[-1]) >= first:
            raise ScheduleError(f"a message is in step {int(self.step[-1])}, but the phases have {first} steps")

    # -- sizes ------------------------------------------------------------------------------------------------

    @property
    def step_count(self) -> int:
        """Number of steps of all phases."""
        return sum(p.steps for p in self.phases)

    @property
    def message_count(self) -> int:
        """Number of wormhole messages M, control messages included."""
        return int(self.step.size)

    @property
    def nbytes(self) -> int:
        """Bytes held by the message columns and the tables."""
        table, sets = self.packets, self.payloads
        columns = (self.step, self.source, self.displacement, self.payload, self.control_bytes)
        tables = (table.origin, table.message, table.piece, table.size, sets.first, sets.packet)
        return int(sum(c.nbytes for c in (*columns, *tables)))

    def phase_messages(self, phase: int | str) -> slice:
        """Return the rows of the messages of a phase, given by position or name; ScheduleError if there is none."""
        starts = [*(p.first_step for p in self.phases), self.step_count]
        return phase_rows(self.step, [p.name for p in self.phases], starts, phase)

    def pieces_of(self, message: int) -> IntArray:
        """Return the pieces that a wormhole message carries, int32[k]; none for a control message."""
        row = read_whole(message, "a message", 0, self.message_count - 1, error=ScheduleError)
        payload = int(self.payload[row])
        return np.zeros(0, np.int32) if payload == CONTROL else self.payloads.row(payload)

    # -- making others ----------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Self:
        """Return a schedule with some constructor arguments changed."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS} | changes
        if not {"network", "task"}.isdisjoint(changes):
            return type(self)(**fields)
        made = type(self).__new__(type(self))
        made._ask(self.channels, self.task, self.messages, fields["cost"])
        made.ports = _ports(fields["ports"])
        made._fill(**{name: fields[name] for name in _FIELDS if name not in ("network", "task", "cost", "ports")})
        return made

    def __eq__(self, other: object) -> bool:
        """Equal network, task, cost, phases, pieces and messages (those of a step in any order)."""
        if not isinstance(other, MessageTable):
            return NotImplemented
        same = (
            self.network == other.network
            and self.channels.wraps == other.channels.wraps
            and (self.task, self.cost, self.phases, self.ports) == (other.task, other.cost, other.phases, other.ports)
            and self.packets == other.packets
        )
        return same and all(np.array_equal(a, b) for a, b in zip(self._canonical(), other._canonical(), strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _canonical(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the columns with the messages of a step sorted, and payloads named by what they hold."""
        names = np.concatenate([self.payloads.digests, np.zeros((1, 2), np.uint64)])[self.payload]
        rows = (self.control_bytes, names[:, 1], names[:, 0], *self.displacement.T, self.source, self.step)
        order = np.lexsort(rows)
        return tuple(r[order] for r in rows)
