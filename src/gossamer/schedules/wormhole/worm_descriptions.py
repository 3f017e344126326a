"""The messages of a wormhole schedule one by one, in words and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.networks.network import IntArray, Network
from gossamer.questions.tasks import Messages
from gossamer.schedules.hop_descriptions import frame, message_words, table
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, Pieces, StepPhase

__all__ = ["Worm", "chosen_worms", "to_arrow", "to_frame", "worms"]

_NAMED = 4
"""Nodes on the way, and messages, that are named one by one."""


class WormTable(Protocol):
    """What is asked of a `WormholeSchedule` here."""

    network: Network
    messages: Messages
    channels: Channels
    step: IntArray
    source: IntArray
    displacement: IntArray
    payload: IntArray
    payloads: Payloads
    packets: Pieces
    phases: tuple[StepPhase, ...]

    @property
    def message_count(self) -> int: ...
    @property
    def target(self) -> IntArray: ...
    @property
    def length(self) -> npt.NDArray[np.int64]: ...
    @property
    def step_cost(self) -> tuple[Fraction, ...]: ...
    def pieces_of(self, message: int) -> IntArray: ...


class Worm(NamedTuple):
    """One wormhole message on its way.

    * `step` (int): when.
    * `source`, `target` (int): where it begins and ends.
    * `channels` (tuple of int): what it holds, in order; numbers as in `gossamer.schedules.wormhole.channels.Channels`.
    * `pieces` (tuple of int): rows of the schedule's table of pieces; none for a control message.
    * `length` (int): bytes.
    * `text` (str): all of it in words; ``str(worm)`` is the same.
    """

    step: int
    source: int
    target: int
    channels: tuple[int, ...]
    pieces: tuple[int, ...]
    length: int
    text: str

    def __str__(self) -> str:
        return self.text


def worms(schedule: WormTable) -> Iterator[Worm]:
    """Yield the messages of a wormhole schedule in order, each with what it is in words.

    `schedule` (WormholeSchedule): it need not be valid.

    O(channels that messages cross + pieces that they carry) time. `WormholeSchedule.to_arrow` and `to_frame` have the
    numbers in columns.

    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> cost = LinearCost(message_bytes=4)
    >>> for worm in gossamer.plan("array:4", "broadcast", switching="wormhole", cost=cost).schedule.worms():
    ...     print(worm)
    step 0: (0) sends message 0 of (0) to (3) by way of (1), (2)
    step 1: (0) sends message 0 of (0) to (1)
    step 1: (3) sends message 0 of (0) to (2)
    """
    return chosen_worms(schedule, np.arange(schedule.message_count))


def chosen_worms(schedule: WormTable, chosen: npt.NDArray[np.int64]) -> Iterator[Worm]:
    """Yield some messages of a schedule, whose rows are given; see `worms`."""
    network, ways = schedule.network, schedule.channels
    first, channel = ways.paths(schedule.source[chosen], schedule.displacement[chosen])
    known: dict[int, tuple[tuple[int, ...], str]] = {}
    for i, row in enumerate(chosen.tolist()):
        payload = int(schedule.payload[row])
        if payload not in known:
            pieces = schedule.pieces_of(row)
            known[payload] = tuple(pieces.tolist()), _carried(schedule, pieces)
        pieces_, what = known[payload]
        step, source, target = int(schedule.step[row]), int(schedule.source[row]), int(schedule.target[row])
        held = tuple(channel[first[i] : first[i + 1]].tolist())
        between = [network.node_name(ways.end(c)) for c in held[:-1]]
        more = f" and {len(between) - _NAMED} more" if len(between) > _NAMED else ""
        over = f" by way of {', '.join(between[:_NAMED])}{more}" if between else ""
        text = f"step {step}: {network.node_name(source)} sends {what} to {network.node_name(target)}{over}"
        yield Worm(step, source, target, held, pieces_, int(schedule.length[row]), text)


def _carried(schedule: WormTable, pieces: npt.NDArray[np.int32]) -> str:
    """Return what a message carries."""
    if not pieces.size:
        return "a control message"
    table, messages = schedule.packets, schedule.messages
    ids = np.unique(table.message[pieces]).tolist()
    if len(ids) > 1:
        count = f"{len(ids)} " if len(ids) > _NAMED else ""
        cut = "" if pieces.size == len(ids) else f"{quantity(pieces.size, 'piece')} of "
        return f"{cut}{count}messages {', '.join(map(str, ids[:_NAMED]))}{', ...' if count else ''}"
    name = message_words(schedule.network, messages, ids[0])
    of_it = int(np.count_nonzero(table.message == ids[0]))
    if pieces.size == of_it:
        return name
    if pieces.size == 1:
        return f"piece {table.piece[pieces[0]]} of {name}"
    return f"{pieces.size} pieces of {name}"


def to_arrow(schedule: WormTable) -> Any:
    """Return the messages of a wormhole schedule as an Arrow table.

    Returns: one row a wormhole message, by step: int32 ``step``; float64 ``start`` and ``end`` of the step, in the unit
    of the cost; int32 ``source``, ``target``; ``channels``, the list of the channels that it holds, in order; int64
    ``length`` in bytes; int32 ``pieces`` that it carries; int64 ``message``, the number of the task's message if they
    are all of one, else -1; ``control``; and ``phase``, a name. No value is null.

    O(channels that messages cross + pieces that they carry) time.

    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> cost = LinearCost(message_bytes=4)
    >>> table = to_arrow(gossamer.plan("array:4", "broadcast", switching="wormhole", cost=cost).schedule)
    >>> table.select(["step", "source", "target", "channels"]).to_pylist()[0]
    {'step': 0, 'source': 0, 'target': 3, 'channels': [0, 2, 4]}
    """
    import pyarrow as pa

    first, channel = schedule.channels.paths(schedule.source, schedule.displacement)
    cost = np.array([float(c) for c in schedule.step_cost] or [0.0])
    end = np.cumsum(cost)
    start = np.append(0.0, end[:-1])
    sets, control = schedule.payloads, schedule.payload == CONTROL
    message = np.append(schedule.packets.message, -1)[np.append(sets.packet, -1)]  # of each entry, and of none
    sizes = np.append(np.diff(sets.first), 0)
    begins = np.append(sets.first[:-1], sets.packet.size)
    alone = np.array([np.unique(message[a : a + n]).size == 1 for a, n in zip(begins, sizes, strict=True)], bool)
    one = np.where(alone, message[begins], -1)
    steps = np.array([p.first_step for p in schedule.phases[1:]], np.int64)
    phase = np.searchsorted(steps, schedule.step, side="right").astype(np.int32)
    columns = {
        "step": schedule.step,
        "start": start[schedule.step],
        "end": end[schedule.step],
        "source": schedule.source,
        "target": schedule.target,
        "channels": pa.ListArray.from_arrays(first.astype(np.int32), channel.astype(np.int32)),
        "length": schedule.length,
        "pieces": sizes[schedule.payload].astype(np.int32),
        "message": one[schedule.payload].astype(np.int64),
        "control": control,
    }
    return table(columns, phase, [p.name for p in schedule.phases])


def to_frame(schedule: WormTable) -> Any:
    """Return the messages of a wormhole schedule as a data frame of pandas, with the columns of `to_arrow`.

    Raises `NotApplicableError` if pandas is not installed.
    """
    return frame(lambda: to_arrow(schedule))
