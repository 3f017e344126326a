"""Where the messages of a task lie in the buffers of the ranks.

As in MPI: an input or output has its messages in the order of the nodes that they are for or from. Where a rank has
several messages of one kind, they are in the order of their numbers. Exchanges, scatter and gather have a place for
the message of a rank to itself, which is copied. In groups each member has the buffers that the collective has among
the members, in the order in which the group lists them; a node of several groups has the buffers of each, one after
the other in the order of the groups, and a node of none has empty ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import Network
from gossamer.questions.tasks import (
    ALLCOMBINE,
    COMBINE,
    Allreduce,
    Chunked,
    Gather,
    Grouped,
    Messages,
    MultinodeBroadcast,
    PartialExchange,
    PartialGather,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)
from gossamer.questions.tasks.composite_tasks import ranks
from gossamer.schedules import Schedule

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BufferLayout:
    """Places, in whole messages.

    * `at_origin` (int64[m]): place of each message at its origin: in the input; of a reduction and of the result of
      one, in the output.
    * `at_target` (int64[m] or int64[targets]): place of each message at its targets: in the output; of a reduction, in
      the input of its contributors. One for each message where all messages are for all terminals, else one for each
      entry of ``Messages.targets``. Of a sum without a root the place in input and output alike.
    * `input_size`, `output_size` (int64[N]): messages in the buffers of each node.
    * `copies` (int64[k, 3]): node, place in its input, place in its output: what a node has for itself.
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

    Raises `ScheduleError` if the messages have several sizes.

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

    Raises `ScheduleError` if the task has sums without roots and other messages as well.

    O(messages + targets), with a sort by node.
    """
    everywhere = messages.discipline == ALLCOMBINE
    if everywhere.any():
        if not everywhere.all():
            raise ScheduleError("a program of sums without roots has no other messages; those of the schedule have")
        return _summed_everywhere(network, messages)
    task = plain_task(task)
    if isinstance(task, Grouped):
        return _grouped(task, network)
    ends = _ends(task, network.terminal_count)
    if ends:
        return _exchange(network, messages, *ends)
    return _for_all(network, messages) if messages.target_start is None else _listed(network, messages)


def invariant_layout(task: Task, network: Network, messages: Messages) -> tuple[BufferLayout, bool, bool] | None:
    """Return the places of the messages of some origins, and whether places in input and output are nodes.

    Where they are, translations move them as they move nodes. Sizes and copies are those of the terminals. None for a
    task that is not known to have such places.
    """
    task, n = plain_task(task), network.terminal_count
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
        return BufferLayout(0 * node, node, all_of, one, nothing), True, False
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


def _summed_everywhere(network: Network, messages: Messages) -> BufferLayout:
    """Return the places of sums without roots: those of a node's messages, in its input as in its output."""
    rows, size = np.arange(messages.count), np.zeros(network.node_count, np.int64)
    if messages.targets is None or messages.target_start is None:
        size[: network.terminal_count] = messages.count
        alone = rows if network.terminal_count == 1 else rows[:0]
        copies = np.column_stack([0 * alone, alone, alone])
        return BufferLayout(rows, rows, size, size, copies)
    size += np.bincount(messages.targets, minlength=network.node_count)
    place = _place(messages.targets)
    only = messages.target_start[:-1][np.diff(messages.target_start) == 1]  # nothing to add to
    copies = np.column_stack([messages.targets[only].astype(np.int64), place[only], place[only]])
    return BufferLayout(0 * rows, place, size, size, copies[np.argsort(copies[:, 0], kind="stable")])


def _for_all(network: Network, messages: Messages) -> BufferLayout:
    """Return places of messages for all terminals, or from all: reductions first in inputs, last in outputs."""
    n, terminals = network.node_count, network.terminal_count
    rows = np.arange(messages.count)
    combined, result = _kinds(messages)
    own, copied = rows[~combined & ~result], rows[~combined]
    at_origin, at_target = np.zeros((2, messages.count), np.int64)
    at_target[combined] = np.arange(combined.sum())
    at_target[copied] = np.arange(copied.size)
    at_origin[own] = combined.sum() + _place(messages.origin[own])
    roots = combined.copy()
    if messages.after is not None:  # a result is collected where its broadcast ends
        at_origin[result] = at_origin[messages.after[result]] = at_target[result]
        roots[messages.after[result]] = False
    collected = rows[roots]
    at_origin[collected] = copied.size + _place(messages.origin[collected])
    input_size = np.bincount(messages.origin[own], minlength=n)
    output_size = np.bincount(messages.origin[collected], minlength=n)
    input_size[:terminals] += combined.sum()
    output_size[:terminals] += copied.size
    kept = own[messages.origin[own] < terminals]
    given, got = at_origin[kept], at_target[kept]
    if terminals == 1:  # nothing to add to
        kept = np.append(kept, rows[combined])
        given, got = np.append(given, at_target[combined]), np.append(got, at_origin[combined])
    return BufferLayout(at_origin, at_target, input_size, output_size, _copies(messages.origin[kept], given, got))


def _listed(network: Network, messages: Messages) -> BufferLayout:
    """Return places of messages for listed targets, or from listed contributors, in the order of their numbers."""
    targets, start = messages.targets, messages.target_start
    assert targets is not None
    assert start is not None
    rows = np.arange(messages.count)
    combined, result = _kinds(messages)
    row = np.repeat(rows, np.diff(start))
    shares = combined[row]
    at_origin, at_target = np.zeros(messages.count, np.int64), np.zeros(row.size, np.int64)

    def numbered(starting: Places, ending: npt.NDArray[np.bool_], order: Places) -> Places:
        """Give places in one buffer to messages at their origins and to others at their targets; return its sizes."""
        nodes = np.concatenate([messages.origin[starting], targets[ending]])
        by_number = np.argsort(np.concatenate([order[starting], order[row[ending]]]), kind="stable")
        place = np.empty(nodes.size, np.int64)
        place[by_number] = _place(nodes[by_number])
        at_origin[starting], at_target[ending] = np.split(place, [starting.size])
        return np.bincount(nodes, minlength=network.node_count)

    input_size = numbered(rows[~combined & ~result], shares, rows)
    number = rows.copy()
    again = np.zeros(row.size, np.bool_)
    if messages.after is not None:  # a root has the result where it has collected it
        number[messages.after[result]] = rows[result]
        again = result[row] & (targets == messages.origin[row])
    output_size = numbered(rows[combined], ~shares & ~again, number)
    if messages.after is not None:
        at_origin[result] = at_origin[messages.after[result]]
        at_target[again] = at_origin[row[again]]
    alone = shares & (np.diff(start)[row] == 1)  # nothing to add to
    here = (targets == messages.origin[row]) & ~again & (~shares | alone)
    given, got = at_origin[row[here]], at_target[here]
    given, got = np.where(shares[here], got, given), np.where(shares[here], given, got)
    return BufferLayout(at_origin, at_target, input_size, output_size, _copies(targets[here], given, got))


def _grouped(task: Grouped, network: Network) -> BufferLayout:
    """Return the places of a task in groups: those among the ranks of each, behind those of the groups before."""
    given, got = np.zeros((2, network.node_count), np.int64)
    starts, ends, copies = [], [], []
    for group in task.groups:
        node, among = np.array(group, np.int64), ranks(len(group))
        messages = task.task.messages(among)
        inner = layout(task.task, among, messages)
        combined, result = _kinds(messages)
        origin = node[messages.origin]
        if messages.target_start is None or messages.targets is None:  # listed, as in the messages of all groups
            target, row = np.tile(node, messages.count), np.repeat(np.arange(messages.count), len(group))
            at_target = inner.at_target[row]
        else:
            target, row = node[messages.targets], np.repeat(np.arange(messages.count), np.diff(messages.target_start))
            at_target = inner.at_target
        starts.append(inner.at_origin + np.where(combined | result, got[origin], given[origin]))
        ends.append(at_target + np.where(combined[row], given[target], got[target]))
        own = node[inner.copies[:, 0]]
        copies.append(np.column_stack([own, inner.copies[:, 1] + given[own], inner.copies[:, 2] + got[own]]))
        given[node] += inner.input_size
        got[node] += inner.output_size
    every = np.concatenate(copies)
    return BufferLayout(np.concatenate(starts), np.concatenate(ends), given, got, _copies(*every.T))


def _kinds(messages: Messages) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return whether each message is a reduction, and whether it is the result of one that goes on."""
    combined = messages.discipline == COMBINE
    return combined, np.zeros(messages.count, bool) if messages.after is None else messages.after >= 0


def _copies(node: npt.NDArray[Any], given: Places, got: Places) -> Places:
    order = np.argsort(node, kind="stable")
    return np.column_stack([node.astype(np.int64), given, got])[order]


def _place(nodes: npt.NDArray[np.int32]) -> Places:
    """Return how many of the earlier entries are the same, for each entry."""
    order = np.argsort(nodes, kind="stable")
    ordered = nodes[order]
    first = np.searchsorted(ordered, ordered)
    place = np.empty(nodes.size, np.int64)
    place[order] = np.arange(nodes.size) - first
    return place
