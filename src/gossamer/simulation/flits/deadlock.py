"""Deadlocks: messages that wait for each other in a circle, found and named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions.tasks import ALLCOMBINE, COMBINE
from gossamer.schedules.wormhole.schedule import CONTROL, WormholeSchedule
from gossamer.simulation.flits.fabric import Fabric

if TYPE_CHECKING:
    from gossamer.simulation.flits._kernels import State

__all__ = ["Deadlock", "Dependencies", "dependencies", "find_deadlock"]

Ints = npt.NDArray[np.int64]


@njit(cache=True, nogil=True, _nrt=False)
def _dependents(
    first_event, event, payload, payload_first, payload_piece, origin, combined, control, giver, stamp, mark,
    first, into, fill,
):  # fmt: skip
    """Count, or with `fill` write, for each message the messages that wait for its arrival; return a message or -1.

    Node v has the events ``event[first_event[v]:first_event[v+1]]`` in order of steps, sends before receipts:
    ``2*m + 0`` for a send of message m, ``2*m + 1`` for its receipt. A message waits for the first arrival at its
    source of every piece that it carries and that is not `combined`, and for every control message that came before; a
    control message waits for all that came before. `giver` int32[P], `stamp` int32[P] and `mark` int32[M] are scratch,
    filled with -1.
    Counts are added to ``first[m + 1]``; with `fill`, `first` holds the next place of each message. The message
    returned carries a piece that its source does not have.
    """
    for v in range(first_event.size - 1):
        for e in range(first_event[v], first_event[v + 1]):
            m = event[e] >> 1
            if event[e] & 1:
                if not control[m]:
                    for k in range(payload_first[payload[m]], payload_first[payload[m] + 1]):
                        p = payload_piece[k]
                        if stamp[p] != v:
                            stamp[p] = v
                            giver[p] = m
                continue
            for f in range(first_event[v], e):
                if event[f] & 1 and (control[m] or control[event[f] >> 1]):
                    g = event[f] >> 1
                    if fill:
                        into[first[g]] = m
                        first[g] += 1
                    else:
                        first[g + 1] += 1
                    mark[g] = m
            if control[m]:
                continue
            for k in range(payload_first[payload[m]], payload_first[payload[m] + 1]):
                p = payload_piece[k]
                if origin[p] == v or combined[p]:
                    continue
                if stamp[p] != v:
                    return m
                g = giver[p]
                if mark[g] != m:
                    mark[g] = m
                    if fill:
                        into[first[g]] = m
                        first[g] += 1
                    else:
                        first[g + 1] += 1
    return -1


# Which message of a schedule must wait for which, when nodes do not wait for each other at the end of a step.


class Dependencies(NamedTuple):
    """What waits for what.

    `waiting` int64[M]: the number of things that a message waits for; `successor` int32[M]: the next message on the
    same source queue, -1 for the last; `dependent` int32[...]: those that wait for the arrival of message m are
    ``dependent[first[m]:first[m+1]]``, `first` int64[M+1].
    """

    waiting: Ints
    successor: IntArray
    first: Ints
    dependent: Ints


def dependencies(schedule: WormholeSchedule, port: npt.NDArray[np.integer]) -> Dependencies:
    """Return what each message of a schedule waits for.

    A message waits for the first arrival of every piece that it carries at its source, in the order of the schedule;
    for all arrivals of contributions that it takes on, and for those of the reduction that its piece comes after;
    for every control message that its source received in earlier steps; and until the message before it on the same
    source queue has left the source. A control message waits for all that its source received in earlier steps.

    `schedule` (WormholeSchedule): with M messages. `port` (int array, shape (M,)): the source queue of each message at
    its source. Raises `ScheduleError` if a message carries a piece that its source has not received in an earlier step.

    O(total number of pieces in all messages, and control messages times receipts of their nodes).
    """
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
    kind = schedule.messages.discipline[np.searchsorted(schedule.messages.ids, table[1].message)]
    combined = np.isin(kind, (COMBINE, ALLCOMBINE))
    fixed = (first_event, event, schedule.payload, table[0].first, table[0].packet, table[1].origin, combined, control)
    first, into = np.zeros(m + 1, np.int64), np.zeros(0, np.int64)
    for fill in (False, True):
        pieces = table[1].count
        scratch = np.full(pieces, -1, np.int32), np.full(pieces, -1, np.int32), np.full(m, -1, np.int32)
        if fill:
            first = np.cumsum(first)
            into = np.zeros(int(first[-1]), np.int64)
        places = first.copy() if fill else first
        wrong = _dependents(*fixed, *scratch, places, into, fill)
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
    schedule: WormholeSchedule, combined: npt.NDArray[np.bool_], first: Ints, into: Ints
) -> tuple[Ints, Ints]:
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


_NAMED = 8


@dataclass(frozen=True)
class Deadlock:
    """A circle of virtual channels, each full of flits that wait for the next.

    Attributes
    ----------
    cycle : int
        When it was found.
    channels : tuple of int
        Channels of the `Fabric`.
    virtual_channels : tuple of int
        The virtual channel of each.
    blocked : int
        Queues whose front flit can never leave, with those behind the circle.
    text : str
        The same in words.
    """

    cycle: int
    channels: tuple[int, ...]
    virtual_channels: tuple[int, ...]
    blocked: int
    text: str

    def __str__(self) -> str:
        return self.text


def find_deadlock(fabric: Fabric, state: State) -> Deadlock | None:
    """Return a deadlock among the flits in the network, or None if every one of them can still leave.

    A queue is alive if its front flit can leave the network, enter a free slot, or take a free virtual channel, or if
    what it waits for is alive. The others wait for ever. O(queues) for each link of the longest chain of waits.
    """
    from gossamer.simulation.flits import _kernels

    live = np.zeros(len(state.queue), np.bool_)
    _kernels.mark_live(state, live)
    dead = np.flatnonzero(~live & (state.queue[:, _kernels.HELD] > 0))
    if not dead.size:
        return None
    order: dict[int, int] = {}
    q = int(dead[0])
    while q not in order:
        order[q] = len(order)
        q = int(_kernels.next_in_wait(state, live, q))
    circle = list(order)[order[q] :]
    lanes, links = int(state.rules[_kernels.LANES]), int(state.rules[_kernels.LINKS])
    held = [divmod(q, lanes) for q in circle if q < links * lanes]
    cycle = int(state.counters[_kernels.NOW])
    names = [f"{fabric.name(c)} virtual channel {v}" for c, v in held]
    shown = ", which waits for ".join(names[:_NAMED])
    rest = f", ... ({len(names)} channels in all)" if len(names) > _NAMED else ""
    end = f"which waits for the first; {dead.size} queues are blocked for ever"
    text = f"deadlock found in cycle {cycle}: {shown}{rest}, {end}"
    return Deadlock(cycle, tuple(c for c, _ in held), tuple(v for _, v in held), int(dead.size), text)
