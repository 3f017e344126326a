"""Which message of a schedule must wait for which, when nodes do not wait for each other at the end of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray
from gossamer.questions.tasks import COMBINE
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
    for all arrivals of contributions that it takes on, and for those of the reduction that its piece comes after;
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
    from gossamer.simulation.flits.dependencies import _kernels

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
    combined = schedule.messages.discipline[np.searchsorted(schedule.messages.ids, table[1].message)] == COMBINE
    fixed = (first_event, event, schedule.payload, table[0].first, table[0].packet, table[1].origin, combined, control)
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
    if combined.any():
        first, into = _with_contributions(schedule, combined, first, into)
    queue = schedule.source.astype(np.int64) * (int(port.max(initial=0)) + 1) + port
    by_queue = np.argsort(queue, kind="stable")
    same = queue[by_queue][1:] == queue[by_queue][:-1]
    successor = np.full(m, -1, np.int32)
    successor[by_queue[:-1][same]] = by_queue[1:][same]
    waiting = np.bincount(into, minlength=m).astype(np.int64)
    waiting[by_queue[1:][same]] += 1
    return Dependencies(waiting, successor, first, into)


def _with_contributions(
    schedule: WormholeSchedule,
    combined: npt.NDArray[np.bool_],
    first: npt.NDArray[np.int64],
    into: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return what waits for the arrival of each message, with what must be combined before it is sent."""
    table, messages = schedule.packets, schedule.messages
    n, m = schedule.network.node_count, schedule.message_count
    row, piece = schedule.payloads.carried(schedule.payload)
    some = combined[piece]
    key = [piece[some] * n + schedule.target[row[some]]]  # what arrives where
    giver = row[some]
    taker, place = row[some], piece[some] * n + schedule.source[row[some]]  # what leaves where
    if messages.after is not None:  # results: as if the pieces that they come after left the root
        of = np.searchsorted(messages.ids, table.message)
        need = messages.after[of[piece]]
        result = (need >= 0) & (table.origin[piece] == schedule.source[row])
        order = np.argsort(of, kind="stable")
        begin = np.searchsorted(of[order], np.arange(messages.count + 1))
        many = (begin[need + 1] - begin[need])[result]
        again = np.repeat(np.flatnonzero(result), many)
        step = np.arange(again.size) - np.repeat(np.cumsum(many) - many, many)
        taker = np.concatenate([taker, row[again]])
        place = np.concatenate([place, order[begin[need[again]] + step] * n + schedule.source[row[again]]])
    order = np.argsort(key[0], kind="stable")
    arrivals, giver = key[0][order], giver[order]
    low, high = np.searchsorted(arrivals, place, "left"), np.searchsorted(arrivals, place, "right")
    many = high - low
    step = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    pairs = np.stack([giver[np.repeat(low, many) + step], np.repeat(taker, many)])
    pairs = pairs[:, schedule.step[pairs[0]] < schedule.step[pairs[1]]]
    pairs = np.concatenate([pairs, np.stack([np.repeat(np.arange(m), np.diff(first)), into])], axis=1)
    pairs = np.unique(pairs, axis=1)
    return np.searchsorted(pairs[0], np.arange(m + 1)).astype(np.int64), pairs[1].astype(np.int64)
