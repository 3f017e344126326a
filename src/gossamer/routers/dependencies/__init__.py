"""Which message of a schedule must wait for which, when nodes do not wait for each other at the end of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray
from gossamer.wormhole.schedule import CONTROL, WormholeSchedule

__all__ = ["Dependencies", "dependencies"]


class Dependencies(NamedTuple):
    """What waits for what.

    `waiting` int64[M]: the number of things that a message waits for; `successor` int32[M]: the next message on the
    same source queue, -1 for the last; `dependent` int32[...]: those that wait for the arrival of message m are
    ``dependent[first[m]:first[m+1]]``, `first` int64[M+1].
    """

    waiting: npt.NDArray[np.int64]
    successor: IntArray
    first: npt.NDArray[np.int64]
    dependent: npt.NDArray[np.int64]


def dependencies(schedule: WormholeSchedule, port: npt.NDArray[np.integer]) -> Dependencies:
    """Return what each message of a schedule waits for.

    A message waits for the first arrival of every piece that it carries at its source, in the order of the schedule;
    for every control message that its source received in earlier steps; and until the message before it on the same
    source queue has left the source. A control message waits for all that its source received in earlier steps.

    Parameters
    ----------
    schedule : WormholeSchedule
        With M messages.
    port : int array, shape (M,)
        The source queue of each message at its source.

    Raises
    ------
    ScheduleError
        If a message carries a piece that its source has not received in an earlier step.

    Notes
    -----
    O(total number of pieces in all messages, and control messages times receipts of their nodes).
    """
    from gossamer.routers.dependencies import _kernels

    m, n = schedule.message_count, schedule.network.node_count
    rows = np.arange(m, dtype=np.int64)
    node = np.concatenate([schedule.source, schedule.target]).astype(np.int64)
    step = np.concatenate([schedule.step, schedule.step]).astype(np.int64)
    event = np.concatenate([2 * rows, 2 * rows + 1])
    order = np.lexsort((event % 2, step, node))
    event, node = event[order], node[order]
    first_event = np.searchsorted(node, np.arange(n + 1))
    control = schedule.payload == CONTROL
    table = schedule.payloads, schedule.packets
    fixed = (first_event, event, schedule.payload, table[0].first, table[0].packet, table[1].origin, control)
    first, into = np.zeros(m + 1, np.int64), np.zeros(0, np.int64)
    for fill in (False, True):
        pieces = table[1].count
        scratch = np.full(pieces, -1, np.int32), np.full(pieces, -1, np.int32), np.full(m, -1, np.int32)
        if fill:
            first = np.cumsum(first)
            into = np.zeros(int(first[-1]), np.int64)
        places = first.copy() if fill else first
        wrong = _kernels.dependents(*fixed, *scratch, places, into, fill)
        if wrong >= 0:
            name = schedule.network.node_name(int(schedule.source[wrong]))
            raise ScheduleError(
                f"message {wrong} in step {int(schedule.step[wrong])} carries pieces that its source {name} "
                "has not received in earlier steps"
            )
    queue = schedule.source.astype(np.int64) * (int(port.max(initial=0)) + 1) + port
    by_queue = np.argsort(queue, kind="stable")
    same = queue[by_queue][1:] == queue[by_queue][:-1]
    successor = np.full(m, -1, np.int32)
    successor[by_queue[:-1][same]] = by_queue[1:][same]
    waiting = np.bincount(into, minlength=m).astype(np.int64)
    waiting[by_queue[1:][same]] += 1
    return Dependencies(waiting, successor, first, into)
