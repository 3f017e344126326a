"""What happens when: a schedule of either switching as rows with exact times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, shown
from gossamer.networks.network import IntArray
from gossamer.schedules.hop_table import HopTable, hop_ends
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.transform import expand

_LONGEST = 2**62


@dataclass(frozen=True, eq=False)
class Timeline:
    """A schedule as rows of what crosses from node to node from when to when, ascending by start.

    Store and forward: one row a hop, from its first slot until what it brings is usable at the far end. Wormhole: one
    row a piece that a message carries, from the message's source to its target, over the time of its step. A control
    packet or control message is one row.

    Attributes
    ----------
    start, end : int64[R]
        Times in ticks; the schedule starts at 0.
    source, target : int32[R]
        Nodes.
    message : int64[R]
        The number of the message in the task, -1 for control.
    part : int32[R]
        Which part or piece of the message, -1 for control.
    phase : int32[R]
        Position in `phases`.
    tick : Fraction
        Length of a tick: in steps for store and forward, in the unit of the cost for wormhole.
    phases : tuple of str
        Names of the schedule's phases.
    length : int
        Ticks of the whole schedule.
    """

    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    source: IntArray
    target: IntArray
    message: npt.NDArray[np.int64]
    part: IntArray
    phase: IntArray
    tick: Fraction
    phases: tuple[str, ...]
    length: int

    @property
    def count(self) -> int:
        """Number of rows R."""
        return int(self.start.size)


class Timed(Protocol):
    """What has a timeline: the schedules of every switching."""

    def timeline(self) -> Timeline:
        """Return what happens when."""
        ...


def timeline(schedule: Timed) -> Timeline:
    """Return what happens when in a schedule of either switching.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Explicit or invariant; it is not verified.

    Returns
    -------
    Timeline
        The rows, with exact times.

    Raises
    ------
    ScheduleError
        If the argument is no schedule, an invariant schedule is too large to be written out, or a time does not fit 62
        bits of ticks.

    Notes
    -----
    O(rows) time, 40 bytes a row. An invariant schedule is expanded.

    Examples
    --------
    >>> import gossamer
    >>> rows = timeline(gossamer.plan("array:3", "broadcast").schedule)
    >>> rows.start.tolist(), rows.end.tolist(), rows.source.tolist(), rows.target.tolist(), rows.tick
    ([0, 1], [1, 2], [0, 1], [1, 2], Fraction(1, 1))
    """
    made = getattr(schedule, "timeline", None)
    if made is None:
        raise ScheduleError(f"only schedules have a timeline, got {shown(schedule)}")
    rows: Timeline = made()
    return rows


def in_ticks(lengths: Sequence[Fraction], total: Fraction) -> tuple[Fraction, list[int], int]:
    """Return the longest tick of which all lengths are multiples, and the lengths and their total in ticks.

    Raises ScheduleError if the total is more than 2**62 ticks.

    >>> in_ticks([Fraction(1, 2), Fraction(0), Fraction(3, 4)], Fraction(5, 4))
    (Fraction(1, 4), [2, 0, 3], 5)
    """
    scale = lcm(*(length.denominator for length in lengths))
    whole = [int(length * scale) for length in lengths]
    step = gcd(*whole) or scale
    tick = Fraction(step, scale)
    ticks = total / tick
    if ticks >= _LONGEST:
        raise ScheduleError(f"the schedule takes {total}, which is too many ticks of {tick} for a timeline")
    return tick, [number // step for number in whole], int(ticks)


def hop_timeline(schedule: HopTable) -> Timeline:
    """Return one row a hop; see `timeline`."""
    schedule = expand(schedule)
    network, table, phases = schedule.network, schedule.packets, schedule.phases
    tick, ticks, length = in_ticks([p.slot_length for p in phases], schedule.completion_time)
    rows = map(schedule.phase_hops, range(len(phases)))
    phase = np.repeat(np.arange(len(phases), dtype=np.int32), [r.stop - r.start for r in rows])
    first_slot = np.array([p.first_slot for p in phases], np.int64)
    each = np.array(ticks, np.int64)
    began = np.zeros(len(phases), np.int64)
    began[1:] = np.cumsum([p.slots * t for p, t in zip(phases, ticks, strict=True)][:-1])
    start = began[phase] + (schedule.slot - first_slot[phase]) * each[phase]
    control = schedule.packet == CONTROL
    packet = np.maximum(schedule.packet, 0)
    nothing = not table.count
    taken: npt.NDArray[np.int64] | int = 1
    if not network.plain:
        taken = hop_ends(network, schedule.parts, schedule.slot, schedule.link) - schedule.slot
    return Timeline(
        start,
        start + each[phase] * taken,
        network.link_source[schedule.link],
        network.link_target[schedule.link],
        np.where(control, -1, 0 if nothing else table.message[packet]).astype(np.int64),
        np.where(control, -1, 0 if nothing else table.part[packet]).astype(np.int32),
        phase,
        tick,
        tuple(p.name for p in phases),
        length,
    )
