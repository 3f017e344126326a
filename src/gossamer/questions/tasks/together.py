"""Several tasks as one: carried out at the same time, or one after the other where the later needs the earlier."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, shown
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Ids, Messages, Task, listed
from gossamer.questions.tasks.uniting import united
from gossamer.writing import quantity

__all__ = ["Together"]

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
    'together (reduce, broadcast after reduce)'
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

    def dual(self, network: Network) -> Task:
        """Return the dual tasks together; what waited is waited for."""
        duals = tuple(task.dual(network) for task in self.tasks)
        return Together(duals, self.names, tuple((earlier, later) for later, earlier in self.waits))

    def _by_task(self, network: Network, ids: Ids, of: Callable[[Task, Ids], Ids]) -> Ids:
        first = self.first_ids(network)
        result = np.array(ids, np.int64)
        place = np.searchsorted(first, result, "right") - 1
        for k, task in enumerate(self.tasks):
            here = place == k
            if here.any():
                result[here] = of(task, result[here] - first[k]) + first[k]
        return result

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Return the numbers, in the dual task, of the messages `ids`."""
        return self._by_task(network, ids, lambda task, inner: task.dual_ids(network, inner))

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Return the tasks after every node x was renamed to ``by(x)``."""
        return replace(self, tasks=tuple(task.renamed(by) for task in self.tasks))

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Return the numbers of the messages `ids` after every node x was renamed to ``by(x)``."""
        return self._by_task(network, ids, lambda task, inner: task.renamed_ids(network, inner, by))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: the tasks with their names, and what waits for what."""
        tasks = [{"called": name, **task.to_dict()} for name, task in zip(self.names, self.tasks, strict=True)]
        return {"name": self.name, "tasks": tasks, "waits": [list(pair) for pair in self.waits]}

    def describe(self) -> str:
        """Return the names with what they wait for, for people."""
        if len(self.tasks) > 4:
            after = f", {len(self.waits)} of them after others" if self.waits else ""
            return f"{self.name} ({quantity(len(self.tasks), 'task')}{after})"
        words = []
        for k, name in enumerate(self.names):
            earlier = [self.names[b] for a, b in self.waits if a == k]
            words.append(name + (f" after {' and '.join(earlier)}" if earlier else ""))
        return f"{self.name} ({', '.join(words)})"


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
