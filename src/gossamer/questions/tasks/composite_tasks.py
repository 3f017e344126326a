"""Several tasks as one: carried out at the same time, or one after the other where the later needs the earlier."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError, shown
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Ids, Messages, Task, listed

# Messages of several tasks as those of one, and of a task among a group of nodes as those among all.


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

    `messages`: those for all are for all `nodes`. `nodes`: number of columns, more than every target.

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

    * `several`: each with numbers below the next one's `first_id` less its own.
    * `first_id`: what is added to the numbers of each.
    * `terminals`: number of terminals, for messages that are for all.
    """
    listed = any(m.target_start is not None for m in several)
    parts = [with_targets(m, terminals) for m in several] if listed else list(several)
    rows = np.cumsum([0] + [m.count for m in parts])
    stages = np.cumsum([0, *(m.stages for m in parts)])
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


def _stage(messages: Messages, first: int) -> npt.NDArray[np.int32]:
    stage = np.zeros(messages.count, np.int32) if messages.stage is None else messages.stage
    return (stage + first).astype(np.int32)


_MOST_TASKS = 10_000


@dataclass(frozen=True)
class Together(Task):
    """Several tasks in one schedule.

    A task that waits for another begins, at each node, when all is there that the other brings to that node: what the
    node sends of its own may depend on all of it.

    Attributes
    ----------
    tasks : tuple of Task
        The tasks. Message number: the number in the task, plus those of all tasks before, as far as numbers reach.
    names : tuple of str
        What each is called. Default: its own name, numbered where several have one.
    waits : tuple of (int, int)
        Pairs (later, earlier) of positions in `tasks`, without a circle.

    Examples
    --------
    >>> import gossamer
    >>> both = Together([gossamer.task("reduce"), gossamer.task("broadcast")], waits=[(1, 0)])
    >>> both.describe()
    'job of 2 collectives (reduce, broadcast after reduce)'
    """

    tasks: tuple[Task, ...]
    names: tuple[str, ...] = ()
    waits: tuple[tuple[int, int], ...] = ()

    name = "together"
    summary = "several tasks in one schedule, at the same time or one after the other"

    def __post_init__(self) -> None:
        tasks = tuple(listed(self.tasks, "the tasks"))
        if not 1 <= len(tasks) <= _MOST_TASKS or not all(isinstance(t, Task) for t in tasks):
            raise TaskError(f"together must be 1 to {_MOST_TASKS:,} tasks, got {shown(self.tasks)}")
        if any(isinstance(t, Together) for t in tasks):
            raise TaskError("tasks that are together already cannot be put together again; list all of them")
        names = tuple(str(n) for n in listed(self.names, "the names")) or _named(tasks)
        if len(names) != len(tasks) or len(set(names)) != len(names):
            raise TaskError(f"each of {len(tasks)} tasks needs a name of its own, got {', '.join(names)}")
        waits = tuple(sorted({_pair(w, len(tasks)) for w in listed(self.waits, "the waits")}))
        for field, value in (("tasks", tasks), ("names", names), ("waits", waits)):
            object.__setattr__(self, field, value)
        _order(names, waits)

    def check(self, network: Network) -> None:
        """Raise TaskError, with its name, if a task does not fit `network`."""
        for name, task in zip(self.names, self.tasks, strict=True):
            try:
                task.check(network)
            except TaskError as error:
                raise TaskError(f"{name}: {error}") from None

    def first_ids(self, network: Network) -> list[int]:
        """Return what is added to the message numbers of each task."""
        return self._first_ids([task.messages(network) for task in self.tasks])

    @staticmethod
    def _first_ids(each: list[Messages]) -> list[int]:
        spans = [int(m.ids[-1]) + 1 if m.count else 0 for m in each]
        return list(itertools.accumulate([0, *spans[:-1]]))

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return the messages of all tasks, each task a stage if one waits for another."""
        each = [task.messages(network) for task in self.tasks]
        found = united(each, self._first_ids(each), network.terminal_count)
        if not self.waits:
            return found
        if found.waits:
            raise TaskError("a task whose parts wait for each other cannot wait for another")
        stage = np.repeat(np.arange(len(each), dtype=np.int32), [m.count for m in each])
        return replace(found, stage=stage, waits=self.waits)

    def most_messages(self, network: Network) -> int:
        """Return the number of messages of all tasks."""
        return sum(task.most_messages(network) for task in self.tasks)

    def dual(self, network: Network) -> Together:
        """Return the dual tasks together; what waited is waited for."""
        duals = tuple(task.dual(network) for task in self.tasks)
        return Together(duals, self.names, tuple((earlier, later) for later, earlier in self.waits))

    def _by_task(self, network: Network, ids: Ids, other: Together, of: Callable[[Task, Ids], Ids]) -> Ids:
        first, first_of_other = self.first_ids(network), other.first_ids(network)
        result = np.array(ids, np.int64)
        place = np.searchsorted(first, result, "right") - 1
        for k, task in enumerate(self.tasks):
            here = place == k
            if here.any():
                result[here] = of(task, result[here] - first[k]) + first_of_other[k]
        return result

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Return the numbers, in the dual task, of the messages `ids`."""
        return self._by_task(network, ids, self.dual(network), lambda task, inner: task.dual_ids(network, inner))

    def renamed(self, by: Callable[[Ids], Ids]) -> Together:
        """Return the tasks after every node x was renamed to ``by(x)``."""
        return replace(self, tasks=tuple(task.renamed(by) for task in self.tasks))

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Return the numbers of the messages `ids` after every node x was renamed to ``by(x)``."""
        return self._by_task(network, ids, self.renamed(by), lambda task, inner: task.renamed_ids(network, inner, by))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: the tasks with their names, and what waits for what."""
        tasks = [{"called": name, **task.to_dict()} for name, task in zip(self.names, self.tasks, strict=True)]
        return {"name": self.name, "tasks": tasks, "waits": [list(pair) for pair in self.waits]}

    @property
    def word(self) -> str:
        """What the task is called."""
        return f"job of {quantity(len(self.tasks), 'collective')}"

    def describe(self) -> str:
        """Return the names with what they wait for, for people."""
        if len(self.tasks) > 4:
            after = f" ({len(self.waits)} of them after others)" if self.waits else ""
            return f"{self.word}{after}"
        words = []
        for k, name in enumerate(self.names):
            earlier = [self.names[b] for a, b in self.waits if a == k]
            words.append(name + (f" after {' and '.join(earlier)}" if earlier else ""))
        return f"{self.word} ({', '.join(words)})"


def _named(tasks: tuple[Task, ...]) -> tuple[str, ...]:
    names = [task.name for task in tasks]
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(f"{name} {seen[name]}" if names.count(name) > 1 else name)
    return tuple(found)


def _pair(given: Any, count: int) -> tuple[int, int]:
    pair = listed(given, "a wait")
    if len(pair) != 2 or not all(isinstance(k, int) and 0 <= k < count for k in pair):
        raise TaskError(f"a wait is a pair (later, earlier) of task numbers in 0..{count - 1}, got {shown(given)}")
    return pair[0], pair[1]


def _order(names: tuple[str, ...], waits: tuple[tuple[int, int], ...]) -> None:
    """Raise TaskError if tasks wait for each other in a circle."""
    left = set(range(len(names)))
    while left:
        free = {k for k in left if not any(a == k and b in left for a, b in waits)}
        if not free:
            raise TaskError(f"tasks wait for each other: {', '.join(names[k] for k in sorted(left))}")
        left -= free
