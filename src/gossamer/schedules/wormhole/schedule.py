"""The wormhole schedule: steps of messages that start together, and what they cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar, Self, get_args

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import Pictured
from gossamer.errors import ScheduleError, TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Ports, Rules
from gossamer.questions.tasks import Messages, Task
from gossamer.reading import choice, instance
from gossamer.reading import whole as read_whole
from gossamer.schedules import files
from gossamer.schedules.columns import MOST, check_range, column, phase_rows, whole
from gossamer.schedules.files import FileForm
from gossamer.schedules.serialization import complete, control_phases, network_to_dict, with_control
from gossamer.schedules.table_files import FileTable, OpenFile, TableRows
from gossamer.schedules.timelines import Timeline, in_ticks
from gossamer.schedules.wormhole import worm_descriptions
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, PayloadTable, Pieces, StepPhase
from gossamer.schedules.wormhole.worm_descriptions import Worm

__all__ = ["CONTROL", "PayloadTable", "Payloads", "Pieces", "StepPhase", "WormholeCase", "WormholeSchedule", "load"]


class WormholeCase(Case):
    """What is asked of wormhole messages; immutable.

    Of the rules only the ports count: whether a node sends and receives on all its channels in a step, or on one.

    * `network` (Network): an array, a torus, or any network of at most 2,048 nodes.
    * `task` (Task): what must be communicated.
    * `cost` (LinearCost): what steps cost. Default: `LinearCost()`.
    * `rules` (Rules): the ports. Default: all.
    * `seed` (int): for algorithms that make random choices.
    * `channels` (Channels): those of the network, where they are known.

    Raises `NetworkError` or `TaskError` if the network is not for wormhole messages, or the task does not fit it.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"))
    >>> case.channels.sides, case.sources
    ((4, 4), 16)
    """

    def __init__(
        self, network: Network, task: Task, cost: LinearCost | None = None, rules: Rules | None = None, *,
        seed: int = 0, channels: Channels | None = None,
    ) -> None:  # fmt: skip
        self.channels = channels or Channels(network)
        super().__init__(network, task, rules, seed=seed)
        self._linear = cost or LinearCost()

    @property
    def cost(self) -> LinearCost:
        """What steps cost."""
        return self._linear

    def varied(
        self, task: Task | None = None, cost: LinearCost | None = None, rules: Rules | None = None
    ) -> WormholeCase:
        """Return the case that differs in what is given, sharing what is known.

        >>> import gossamer
        >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"))
        >>> case.varied(gossamer.task("broadcast")).sources
        1
        """
        asked = task or self.task, cost or self.cost, rules or self.rules
        other = WormholeCase(self.network, *asked, seed=self.seed, channels=self.channels)
        other._known = self._known
        return other

    @cached_property
    def sources(self) -> int:
        """Number of messages of the task."""
        return self.messages.count


_FIELDS = (
    *("network", "task", "cost", "step", "source", "displacement", "payload"),
    *("payloads", "packets", "phases", "control_bytes", "algorithm", "ports"),
)


# How one stands in files: `gossamer.schedules.files` writes and reads them.
#
# In Parquet a row is a message: ``step, source, displacement_0, displacement_1, ..., payload, control_bytes``, sorted
# by step. The file's key-value metadata holds, under ``gossamer``, a JSON object with the format version,
# ``"switching": "wormhole"``, network, task, cost, phases, algorithm, the number of sets, the pieces (``origin,
# message, piece, size``) and the set entries (``set, packet``: piece `packet` is in set `set`). In version 1 these
# are rows before the messages.

_PER_SET, _PER_STEP = 24, 120
"""Bytes that a set and a step take, the latter with its exact cost, when the schedule is looked at."""

_LOWEST = "the lowest-numbered link that brings a message nearer"
"""How a file of a network that is no array or torus tells the ways of messages."""

_PIECES = FileTable(
    "pieces",
    "piece",
    ("origin", "message", "piece", "size"),
    "piece {number}: piece {piece} of message {message}, {size} bytes from {origin}",
)
_SETS = FileTable("set_entries", "set", ("set", "packet"), "set {set}: piece {packet}")


def _message_table(dimensions: int) -> FileTable:
    """Return the table of messages on a network of some dimensions."""
    moves = [f"displacement_{i}" for i in range(dimensions)]
    way = ",".join(f"{{{name}}}" for name in moves)
    line = f"step {{step}}: from {{source}} by {way} set {{payload:control}} control bytes {{control_bytes}}"
    return FileTable("messages", "message", ["step", "source", *moves, "payload", "control_bytes"], line)


def _describe(schedule: Any, text: bool) -> tuple[dict[str, Any], list[TableRows]]:
    """Return the description and the tables of a wormhole schedule."""
    sets, pieces = schedule.payloads, {name: getattr(schedule.packets, name) for name in _PIECES.columns}
    table = _message_table(schedule.channels.dimensions)
    values = [schedule.step, schedule.source, *schedule.displacement.T, schedule.payload, schedule.control_bytes]
    newer = not text or schedule.ports != "all" or not schedule.channels.on_grid
    header = {
        "version": 2 if newer else 1,
        "switching": "wormhole",
        "network": network_to_dict(schedule.network, text=text),
        "task": schedule.task.to_dict(),
        "model": {**schedule.cost.to_dict(), "ports": schedule.ports},
        "phases": [[p.name, p.steps, p.length] for p in schedule.phases],
        "algorithm": schedule.algorithm,
        "pieces": schedule.packets.count,
        "sets": sets.count,
        "set_entries": int(sets.packet.size),
        **control_phases(schedule.phases),
        **({} if schedule.channels.on_grid else {"ways": _LOWEST}),
    }
    return header, [
        TableRows.of(_PIECES, pieces),
        TableRows.of(_SETS, {"set": sets.owner, "packet": sets.packet}),
        TableRows.of(table, dict(zip(table.columns, values, strict=True))),
    ]


def _arguments(file: OpenFile, network: Network, task: Task) -> dict[str, Any]:
    """Return the arguments of a wormhole schedule but network and task."""
    header, room = file.header, file.room
    channels = Channels(network)
    if not channels.on_grid and header.get("ways") != _LOWEST:
        raise ValueError(f"network {network.spec} is not an array or torus, and the ways of messages are not told")
    model = complete(header["model"], LinearCost().to_dict())
    sets = whole(header["sets"], "the number of sets")
    room.take(_PER_SET * sets, f"{sets:,} sets")
    phases = [
        StepPhase(name, whole(steps, f"the number of steps of phase {name!r}"), length, control)
        for (name, steps, length), control in with_control(header, header["phases"])
    ]
    steps = sum(phase.steps for phase in phases)
    room.take(_PER_STEP * steps, f"{steps:,} steps")
    table = _message_table(channels.dimensions)
    columns = file.read([_PIECES, _SETS, table])
    owner = column(columns["set"], "set")
    if owner.size and (bool((owner[1:] < owner[:-1]).any()) or owner[0] < 0 or owner[-1] >= sets):
        raise ValueError(f"column 'set' must ascend within 0..{sets - 1}")
    return {
        "cost": LinearCost.from_dict({**model, "ports": "all"}),
        "displacement": np.stack([columns[name] for name in table.columns[2:-2]], axis=1),
        **{name: columns[name] for name in ("step", "source", "payload", "control_bytes")},
        "payloads": Payloads(np.searchsorted(owner, np.arange(sets + 1)).astype(np.int64), columns["packet"]),
        "packets": Pieces(*(columns[name] for name in _PIECES.columns)),
        "phases": phases,
        "algorithm": header["algorithm"],
        "ports": model["ports"],
    }


FORM = FileForm("wormhole messages", _PIECES.name, _describe, _arguments, 2)
"""How wormhole schedules stand in files."""


class WormholeSchedule(Pictured):
    """A set of wormhole messages: who sends what over which path in which step. Immutable.

    The constructor checks shapes, ranges and order only; whether the schedule carries out its task is for
    `gossamer.verify` to say.

    Parameters
    ----------
    network : Network
        An array or torus, or any network of at most 2,048 nodes; see `Channels` for the ways that messages take.
    task : Task
        Broadcasts, personalized messages, reductions; every message of one length.
    cost : LinearCost
        Costs and message length.
    step : array_like of int, shape (M,)
        One row a message, kept as int32, ascending.
    source : array_like of int, shape (M,)
        The sending node.
    displacement : array_like of int, shape (M, d)
        Signed hops along each dimension, dimension 0 first. They may go round a torus the longer way. On a network
        that is no array or torus d is 1, and the displacement is the number of the target less that of the source.
    payload : array_like of int, shape (M,)
        Row of `payloads`, or ``CONTROL`` (-1) for a control message.
    payloads : Payloads
        The sets of pieces that messages carry.
    packets : Pieces, optional
        The table of pieces. Default: every message of the task in one piece.
    phases : sequence of StepPhase, optional
        Consecutive phases from step 0; their `first_step` is set here. Default: one phase with the task's name.
    control_bytes : array_like of int, shape (M,), optional
        Length of each control message, 0 for the others. Default: the cost's `counter_bytes`.
    algorithm : str
        Name of the builder.
    ports : {"all", "one", "one-send", "one-receive"}
        Whether a node sends and receives one message on each of its channels in a step, or one in all.
    known : (Channels, Messages), optional
        Those of the network and the task, where they are known and fit.

    Raises
    ------
    NetworkError, TaskError
        If the network is not for wormhole messages, or the task has messages of several lengths or does not fit it.
    ScheduleError
        If a column is malformed, unsorted or out of range, or the phases do not hold every step.

    Notes
    -----
    Array arguments of the right type are taken over without a copy and become read-only.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> net, table = gossamer.network("torus:3"), PayloadTable()
    >>> both = table.row([0])
    >>> s = WormholeSchedule(net, gossamer.task("broadcast"), LinearCost(), [0, 0], [0, 0], [[1], [-1]],
    ...                      [both, both], payloads=table.payloads())
    >>> s.target.tolist(), s.completion_time
    ([1, 2], Fraction(1124, 1))
    """

    switching: ClassVar[str] = "wormhole"
    file_form: ClassVar[files.FileForm] = FORM

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
        phases: Sequence[StepPhase] | None = None,
        control_bytes: npt.ArrayLike | None = None,
        algorithm: str = "",
        ports: Ports = "all",
        known: tuple[Channels, Messages] | None = None,
    ) -> None:
        if known is None:
            channels = Channels(instance(network, Network, "the network", error=ScheduleError))
            instance(task, Task, "the task", error=ScheduleError).check(network)
            known = channels, task.messages(network)
        self.channels, self.messages = known
        self.network, self.task = network, task
        self.cost = instance(cost, LinearCost, "the cost", error=ScheduleError)
        choice(ports, "ports", get_args(Ports))
        self.ports = ports
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
        self.payloads = Payloads(column(payloads.first, "first", np.int64), column(payloads.packet, "packet"))
        self._check_tables()
        self._check_columns()
        if control_bytes is None:
            control_bytes = np.where(self.payload == CONTROL, np.int32(cost.counter_bytes), np.int32(0))
        self.control_bytes: IntArray = column(control_bytes, "control_bytes")
        self._check_control()
        if phases is None:
            phases = [StepPhase(self.task.name, int(self.step[-1]) + 1 if self.step.size else 0)]
        self.phases = tuple(self._placed(phases))

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
        known = case.channels, case.messages
        asked = case.network, case.task, case.cost
        return cls(*asked, step, source, displacement, payload, ports=case.rules.ports, known=known, **columns)

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

    def _placed(self, phases: Sequence[StepPhase]) -> Iterator[StepPhase]:
        first = 0
        for phase in phases:
            instance(phase, StepPhase, "a phase", error=ScheduleError)
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

    @cached_property
    def target(self) -> IntArray:
        """Where each message ends, int32[M]."""
        return self.channels.target(self.source, self.displacement)

    @cached_property
    def hops(self) -> npt.NDArray[np.int64]:
        """Channels that each message occupies, int64[M]."""
        return self.channels.hops(self.source, self.displacement)

    @cached_property
    def length(self) -> npt.NDArray[np.int64]:
        """Length of each message in bytes, int64[M]."""
        if not self.payloads.count:
            return self.control_bytes.astype(np.int64)
        carried = self.payloads.lengths(self.packets)[np.maximum(self.payload, 0)]
        return np.where(self.payload == CONTROL, self.control_bytes.astype(np.int64), carried)

    @cached_property
    def step_length(self) -> npt.NDArray[np.int64]:
        """Bytes that each step lasts: its longest message, or more where its phase says so; int64[steps].

        A step that neither has messages nor is made to last by its phase has -1: it costs nothing.
        """
        longest = np.full(self.step_count, -1, np.int64)
        for phase in self.phases:
            if phase.length is not None:
                longest[phase.first_step : phase.first_step + phase.steps] = phase.length
        np.maximum.at(longest, self.step, self.length)
        return longest

    @property
    def rules(self) -> Rules:
        """What the schedule respects: of the rules only ports count."""
        return Rules(ports=self.ports)

    @property
    def startups(self) -> int:
        """Number of steps that cost a start-up."""
        return int((self.step_length >= 0).sum())

    @property
    def volume(self) -> int:
        """Bytes that the steps last, one after the other: the sum of the longest message of each step."""
        lengths = self.step_length
        return int(lengths[lengths > 0].sum())

    def phase_costs(self) -> tuple[tuple[StepPhase, int, int], ...]:
        """Return each phase with its start-ups and the bytes that its steps last."""
        found, lengths = [], self.step_length
        for phase in self.phases:
            part = lengths[phase.first_step : phase.first_step + phase.steps]
            found.append((phase, int((part >= 0).sum()), int(part[part > 0].sum())))
        return tuple(found)

    @cached_property
    def step_cost(self) -> tuple[Fraction, ...]:
        """Time that each step takes, exact."""
        a, b = self.cost.per_byte, self.cost.hop_time
        scale = lcm(a.denominator, b.denominator)
        byte, hop = int(a * scale), int(b * scale)
        lengths, hops = self.length, self.hops
        most = int(max(lengths.max(initial=0), self.step_length.max(initial=0))) * byte
        wide = most + int(hops.max(initial=0)) * hop >= 2**62
        kind: Any = object if wide else np.int64
        cost = np.where(self.step_length < 0, -1, self.step_length).astype(kind)
        cost[cost > 0] *= byte
        np.maximum.at(cost, self.step, lengths.astype(kind) * byte + hops.astype(kind) * hop)
        return tuple(self.cost.startup + Fraction(int(c), scale) if c >= 0 else Fraction(0) for c in cost)

    @cached_property
    def completion_time(self) -> Fraction:
        """Time of all steps one after the other, exact."""
        return sum(self.step_cost, Fraction(0))

    @property
    def channel_utilization(self) -> Fraction:
        """Share of the time after start-up in which channels carry bytes, over all channels of the network."""
        room = int(self.channels.exists.sum()) * self.volume
        return Fraction(int(self.hops @ self.length), room) if room else Fraction(0)

    # -- making others ----------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Self:
        """Return a schedule with some constructor arguments changed."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS} | changes
        same = {"network", "task"}.isdisjoint(changes)
        return type(self)(**fields, known=(self.channels, self.messages) if same else None)

    def __eq__(self, other: object) -> bool:
        """Equal network, task, cost, phases, pieces and messages (those of a step in any order)."""
        if not isinstance(other, WormholeSchedule):
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

    # -- showing -------------------------------------------------------------------------------------------------

    def timeline(self) -> Timeline:
        """Return what happens when, a row a piece that a message carries; see `gossamer.schedules.timeline`."""
        tick, ticks, length = in_ticks(self.step_cost, self.completion_time)
        began = np.concatenate([[0], np.cumsum(ticks)]).astype(np.int64)
        row, piece = self.payloads.carried(self.payload)
        control = np.flatnonzero(self.payload == CONTROL)
        row, piece = np.append(row, control), np.append(piece, np.full(control.size, -1))
        order = np.argsort(row, kind="stable")
        row, piece = row[order], piece[order]
        message, part = (np.append(column, -1)[piece] for column in (self.packets.message, self.packets.piece))
        steps = np.array([p.steps for p in self.phases], np.int64)
        step = self.step[row]
        return Timeline(
            began[step],
            began[step + 1],
            self.source[row],
            self.target[row],
            message.astype(np.int64),
            part.astype(np.int32),
            np.repeat(np.arange(steps.size, dtype=np.int32), steps)[step],
            tick,
            tuple(p.name for p in self.phases),
            length,
        )

    def worms(self) -> Iterator[Worm]:
        """Yield the messages in order, each with what it is in words; see `worm_descriptions.worms`."""
        return worm_descriptions.worms(self)

    def to_arrow(self) -> Any:
        """Return the messages as an Arrow table; see `gossamer.schedules.wormhole.worm_descriptions.to_arrow`."""
        return worm_descriptions.to_arrow(self)

    def to_frame(self) -> Any:
        """Return the messages as a data frame of pandas; see `worm_descriptions.to_frame`."""
        return worm_descriptions.to_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file; see `gossamer.schedules.files.save`."""
        files.save(self, path)

    def __repr__(self) -> str:
        times = f"{self.completion_time} in {self.startups} start-ups, {self.message_count} messages"
        return f"<wormhole schedule of {self.task.name} on {self.network.spec}: {times}>"


def load(path: str | os.PathLike[str]) -> WormholeSchedule:
    """Read a wormhole schedule that `save` wrote. It is not verified; see `gossamer.schedules.files.load`."""
    return files.load(path, WormholeSchedule)
