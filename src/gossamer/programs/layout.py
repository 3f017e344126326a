"""Where the messages of a task lie in the buffers of the ranks.

As in MPI: an input or output has its messages in the order of the nodes that they are for or from. Where a rank has
several messages of one kind, they are in the order of their numbers. Exchanges, scatter and gather have a place for
the message of a rank to itself, which is copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import Network
from gossamer.questions.tasks import (
    COMBINE,
    Allreduce,
    Chunked,
    Gather,
    Messages,
    MultinodeBroadcast,
    PartialExchange,
    PartialGather,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)
from gossamer.schedules import Schedule

__all__ = ["BufferLayout", "blocks_of_message", "invariant_layout", "layout", "plain_task"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BufferLayout:
    """Places, in whole messages.

    Attributes
    ----------
    at_origin : int64[m]
        Place of each message in the input of its origin; of a reduction, in the input of every terminal.
    at_target : int64[m] or int64[targets]
        Place in the output of its targets: one for each message where all messages are for all terminals, else one for
        each entry of ``Messages.targets``; of a reduction, in the output of its root.
    input_size, output_size : int64[N]
        Messages in the buffers of each node.
    copies : int64[k, 3]
        Node, place in its input, place in its output: what a node has for itself.
    """

    at_origin: Places
    at_target: Places
    input_size: Places
    output_size: Places
    copies: Places


def plain_task(task: Task) -> Task:
    """Return the task itself of one whose messages are several packets each."""
    return task.task if isinstance(task, Chunked) else task


def blocks_of_message(schedule: Schedule) -> int:
    """Return how many blocks each message of a schedule is: its packets times its parts.

    Raises
    ------
    ScheduleError
        If the messages have several sizes.

    >>> import gossamer
    >>> task = gossamer.task("allgather", packets=3)
    >>> blocks_of_message(gossamer.Schedule(gossamer.network("ring:3"), task, gossamer.Rules(), [], [], [], parts=2))
    6
    """
    sizes = schedule.messages.sizes
    if sizes is None or not sizes.size:
        return schedule.parts
    if int(sizes.min()) != int(sizes.max()):
        raise ScheduleError("a program has messages of one size; those of the schedule have several")
    return schedule.parts * int(sizes[0])


def layout(task: Task, network: Network, messages: Messages) -> BufferLayout:
    """Return the places of all messages of a task.

    Notes
    -----
    O(messages + targets), with a sort by node.
    """
    ends = _ends(plain_task(task), network.terminal_count)
    return _exchange(network, messages, *ends) if ends else _listed(network, messages)


def invariant_layout(task: Task, network: Network, messages: Messages) -> tuple[BufferLayout, bool, bool] | None:
    """Return the places of the messages of some origins, and whether places in input and output are nodes.

    Where they are, translations move them as they move nodes. None for a task that is not known to have such places,
    and where there are switches.
    """
    task, n = plain_task(task), network.node_count
    if network.terminal_count < n:
        return None
    nodes, node = np.arange(n, dtype=np.int64), messages.ids % n
    one, all_of = np.ones(n, np.int64), np.full(n, n, np.int64)
    if isinstance(task, TotalExchange):
        own = np.column_stack([nodes, nodes, nodes])
        return BufferLayout(node, messages.ids // n, all_of, all_of, own), True, True
    if isinstance(task, MultinodeBroadcast):
        own = np.column_stack([nodes, 0 * nodes, nodes])
        return BufferLayout(0 * node, node, one, all_of, own), False, True
    nothing = np.zeros((0, 3), np.int64)
    if isinstance(task, ReduceScatter) and n > 1:
        return BufferLayout(node, 0 * node, all_of, one, nothing), True, False
    if isinstance(task, Allreduce) and n > 1:
        return BufferLayout(node, node, all_of, all_of, nothing), True, True
    return None


def _ends(task: Task, n: int) -> tuple[Places, Places] | None:
    """Return who sends and who receives in an exchange, ascending; None for other tasks."""
    everyone = np.arange(n, dtype=np.int64)
    if isinstance(task, TotalExchange):
        return everyone, everyone
    if isinstance(task, Scatter):
        return everyone[task.root : task.root + 1], everyone
    if isinstance(task, Gather):
        return everyone, everyone[task.root : task.root + 1]
    if isinstance(task, PartialExchange):
        return np.array(task.active, np.int64), everyone
    if isinstance(task, PartialGather):
        return everyone, np.array(task.active, np.int64)
    return None


def _exchange(network: Network, messages: Messages, senders: Places, receivers: Places) -> BufferLayout:
    given, got = np.zeros((2, network.node_count), np.int64)
    given[senders], got[receivers] = receivers.size, senders.size
    assert messages.targets is not None
    both = np.intersect1d(senders, receivers)
    return BufferLayout(
        np.searchsorted(receivers, messages.targets).astype(np.int64),
        np.searchsorted(senders, messages.origin).astype(np.int64),
        given,
        got,
        np.column_stack([both, np.searchsorted(receivers, both), np.searchsorted(senders, both)]),
    )


def _listed(network: Network, messages: Messages) -> BufferLayout:
    """Return places in the order of message numbers."""
    n, terminals = network.node_count, network.terminal_count
    rows = np.arange(messages.count)
    combined = messages.discipline == COMBINE
    result = np.zeros(messages.count, bool) if messages.after is None else messages.after >= 0
    input_size, output_size = np.zeros(n, np.int64), np.zeros(n, np.int64)

    # inputs: contributions to all reductions at every terminal, then each origin's own messages
    at_origin = np.zeros(messages.count, np.int64)
    at_origin[combined] = np.arange(combined.sum())
    input_size[:terminals] += combined.sum()
    own = rows[~combined & ~result]
    at_origin[own] = combined.sum() + _place(messages.origin[own])
    input_size += np.bincount(messages.origin[own], minlength=n)

    # outputs: messages for all terminals or listed ones, then the roots' results
    if messages.targets is None or messages.target_start is None:
        copied = rows[~combined]
        at_target = np.zeros(messages.count, np.int64)
        at_target[copied] = np.arange(copied.size)
        output_size[:terminals] += copied.size
        roots = combined.copy()
        if messages.after is not None:  # a result is collected where its broadcast ends
            at_target[messages.after[result]] = at_target[result]
            roots[messages.after[result]] = False
        collected = rows[roots]
        at_target[collected] = copied.size + _place(messages.origin[collected])
        output_size += np.bincount(messages.origin[collected], minlength=n)
        kept = own[messages.origin[own] < terminals]
        place = at_target[kept]
        if terminals == 1:  # nothing to add to
            kept, place = np.append(kept, rows[combined]), np.append(place, at_target[combined])
    else:
        at_target = _place(messages.targets)
        output_size += np.bincount(messages.targets, minlength=n)
        row = np.repeat(rows, np.diff(messages.target_start))
        here = np.flatnonzero(messages.targets == messages.origin[row])
        kept, place = row[here], at_target[here]
    copies = np.column_stack([messages.origin[kept].astype(np.int64), at_origin[kept], place])
    return BufferLayout(at_origin, at_target, input_size, output_size, copies[np.argsort(copies[:, 0], kind="stable")])


def _place(nodes: npt.NDArray[np.int32]) -> Places:
    """Return how many of the earlier entries are the same, for each entry."""
    order = np.argsort(nodes, kind="stable")
    ordered = nodes[order]
    first = np.searchsorted(ordered, ordered)
    place = np.empty(nodes.size, np.int64)
    place[order] = np.arange(nodes.size) - first
    return place
