"""Messages of several tasks as those of one, and of a task among a group of nodes as those among all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Messages

__all__ = ["in_group", "ranks", "target_table", "united", "with_targets"]


def ranks(count: int) -> Network:
    """Return so many terminals without links, for a task to say its messages among them.

    >>> ranks(3).terminal_count
    3
    """
    return Network(f"group of {count}", count, np.zeros(0, np.int32), np.zeros(0, np.int32), links_only=True)


def with_targets(messages: Messages, terminals: int) -> Messages:
    """Return the messages with the targets (or contributors) of each listed, where they were all `terminals`."""
    if messages.target_start is not None:
        return messages
    start = np.arange(messages.count + 1, dtype=np.int64) * terminals
    return replace(messages, target_start=start, targets=np.tile(np.arange(terminals, dtype=np.int32), messages.count))


def target_table(messages: Messages, nodes: int) -> npt.NDArray[np.bool_]:
    """Return whether each message is for each node (or gets a contribution of it), bool[m, nodes].

    Parameters
    ----------
    messages : Messages
        Those for all are for all `nodes`.
    nodes : int
        Number of columns, more than every target.

    Examples
    --------
    >>> from gossamer.questions.tasks import Scatter
    >>> target_table(Scatter(0).messages(ranks(3)), 3).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    listed = with_targets(messages, nodes)
    assert listed.target_start is not None
    table = np.zeros((listed.count, nodes), np.bool_)
    table[np.repeat(np.arange(listed.count), np.diff(listed.target_start)), listed.targets] = True
    return table


def in_group(messages: Messages, group: npt.ArrayLike) -> Messages:
    """Return the messages among the ranks of a group as messages among nodes: rank r is node ``group[r]``.

    >>> from gossamer.questions.tasks import Broadcast
    >>> found = in_group(Broadcast(1).messages(ranks(3)), [7, 5, 2])
    >>> found.origin.tolist(), found.targets.tolist()
    ([5], [7, 5, 2])
    """
    nodes = np.asarray(group, np.int32)
    listed = with_targets(messages, nodes.size)
    assert listed.targets is not None
    return replace(listed, origin=nodes[listed.origin], targets=nodes[listed.targets])


def united(several: Sequence[Messages], first_id: Sequence[int], terminals: int) -> Messages:
    """Return the messages of several tasks as those of one.

    Parameters
    ----------
    several : sequence of Messages
        Each with numbers below the next one's `first_id` less its own.
    first_id : sequence of int
        What is added to the numbers of each.
    terminals : int
        Number of terminals, for messages that are for all.
    """
    listed = any(m.target_start is not None for m in several)
    parts = [with_targets(m, terminals) for m in several] if listed else list(several)
    rows = np.cumsum([0] + [m.count for m in parts])
    stages = np.cumsum([0, *(_stages(m) for m in parts)])
    waiting = any(m.waits for m in parts)
    sized = any(m.sizes is not None for m in parts)
    later = any(m.after is not None for m in parts)
    return Messages(
        np.concatenate([m.ids + first for m, first in zip(parts, first_id, strict=True)]),
        np.concatenate([m.origin for m in parts]),
        np.concatenate([m.discipline for m in parts]),
        _starts(parts) if listed else None,
        np.concatenate([_targets(m) for m in parts]) if listed else None,
        np.concatenate([_after(m, int(row)) for m, row in zip(parts, rows[:-1], strict=True)]) if later else None,
        np.concatenate([_sizes(m) for m in parts]) if sized else None,
        np.concatenate([_stage(m, int(s)) for m, s in zip(parts, stages[:-1], strict=True)]) if waiting else None,
        tuple((a + int(s), b + int(s)) for m, s in zip(parts, stages[:-1], strict=True) for a, b in m.waits),
        any(m.partwise for m in parts),
    )


def _starts(parts: Sequence[Messages]) -> npt.NDArray[np.int64]:
    lengths = [np.diff(m.target_start) for m in parts if m.target_start is not None]
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))])


def _targets(messages: Messages) -> npt.NDArray[np.int32]:
    assert messages.targets is not None
    return messages.targets


def _after(messages: Messages, row: int) -> npt.NDArray[np.int64]:
    if messages.after is None:
        return np.full(messages.count, -1, np.int64)
    return np.where(messages.after < 0, -1, messages.after + row)


def _sizes(messages: Messages) -> npt.NDArray[np.int64]:
    return np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes


def _stages(messages: Messages) -> int:
    return 1 if messages.stage is None else int(messages.stage.max(initial=0)) + 1


def _stage(messages: Messages, first: int) -> npt.NDArray[np.int32]:
    stage = np.zeros(messages.count, np.int32) if messages.stage is None else messages.stage
    return (stage + first).astype(np.int32)
