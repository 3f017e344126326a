"""Repetition: a schedule carried out once for each packet of longer messages, one close behind the other."""

from __future__ import annotations

import numpy as np

from gossamer.errors import ScheduleError
from gossamer.schedules import CONTROL, Packets, Phase, Schedule
from gossamer.schedules.hop_table import too_many_hops
from gossamer.tasks import Chunked

__all__ = ["repeated"]


def repeated(schedule: Schedule, times: int) -> Schedule:
    """Return the schedule of messages of several packets that treats each as `schedule` does, one after the other.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant, of messages of one packet; without control packets.
    times : int
        Packets of each message, 2 or more.

    Returns
    -------
    Schedule
        Of the task in as many packets, in as many times the slots. To let packets follow each other as closely as they
        can, retime it (`gossamer.paths.retiming`).

    Raises
    ------
    ScheduleError
        If the schedule has control packets, or there would be too many hops.

    Notes
    -----
    O(hops times `times`).

    Examples
    --------
    >>> import gossamer
    >>> one = gossamer.plan("array:4", "broadcast").schedule
    >>> two = repeated(one, 2)
    >>> two.completion_time, bool(gossamer.verify(two))
    (Fraction(6, 1), True)
    """
    reason = too_many_hops(schedule.hop_count * times)
    if reason is not None:
        raise ScheduleError(f"the repetition {reason}")
    if bool((schedule.packet == CONTROL).any()):
        raise ScheduleError("a schedule with control packets is not repeated")
    hops, table, slots = schedule.stored_hops, schedule.packets, schedule.slot_count
    copy = np.repeat(np.arange(times, dtype=np.int64), hops)
    each = np.repeat(np.arange(times, dtype=np.int64), table.count)
    return schedule.replace(
        task=Chunked(schedule.task, times),
        slot=(np.tile(schedule.slot, times) + copy * slots).astype(np.int32),
        link=np.tile(schedule.link, times),
        packet=(np.tile(schedule.packet, times) + copy * table.count).astype(np.int32),
        packets=Packets(
            np.tile(table.origin, times),
            np.tile(table.message, times),
            (np.tile(table.part, times) + each * schedule.parts).astype(np.int32),
        ),
        phases=[Phase(schedule.task.name, slots * times, schedule.phases[0].slot_length)] if slots else None,
    )
