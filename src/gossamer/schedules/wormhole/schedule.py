"""The wormhole schedule: steps of messages that start together, and what they cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray
from gossamer.questions.rules import Rules
from gossamer.schedules import files
from gossamer.schedules.timelines import Timeline, in_ticks
from gossamer.schedules.wormhole import worms
from gossamer.schedules.wormhole.files import FORM
from gossamer.schedules.wormhole.message_table import MessageTable, Phase
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, PayloadTable, Pieces
from gossamer.schedules.wormhole.worms import Worm
from gossamer.writing import Pictured

__all__ = ["CONTROL", "PayloadTable", "Payloads", "Phase", "Pieces", "WormholeSchedule", "load"]


class WormholeSchedule(MessageTable, Pictured):
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
    phases : sequence of Phase, optional
        Consecutive phases from step 0; their `first_step` is set here. Default: one phase with the task's name.
    control_bytes : array_like of int, shape (M,), optional
        Length of each control message, 0 for the others. Default: the cost's `counter_bytes`.
    algorithm : str
        Name of the builder.
    ports : {"all", "one", "one-send", "one-receive"}
        Whether a node sends and receives one message on each of its channels in a step, or one in all.

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

    def phase_costs(self) -> tuple[tuple[Phase, int, int], ...]:
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
        """Yield the messages in order, each with what it is in words; see `gossamer.schedules.wormhole.worms.worms`."""
        return worms.worms(self)

    def to_arrow(self) -> Any:
        """Return the messages as an Arrow table; see `gossamer.schedules.wormhole.worms.to_arrow`."""
        return worms.to_arrow(self)

    def to_frame(self) -> Any:
        """Return the messages as a data frame of pandas; see `gossamer.schedules.wormhole.worms.to_frame`."""
        return worms.to_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file; see `gossamer.schedules.files.save`."""
        files.save(self, path)

    def __repr__(self) -> str:
        times = f"{self.completion_time} in {self.startups} start-ups, {self.message_count} messages"
        return f"<wormhole schedule of {self.task.name} on {self.network.spec}: {times}>"


def load(path: str | os.PathLike[str]) -> WormholeSchedule:
    """Read a wormhole schedule that `save` wrote. It is not verified; see `gossamer.schedules.files.load`."""
    return files.load(path, WormholeSchedule)
