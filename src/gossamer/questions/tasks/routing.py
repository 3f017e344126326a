"""Routing tasks: each node sends at most one message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import COPY, Ids, Messages, Task, listed, node_numbers, to_one


@dataclass(frozen=True)
class Permutation(Task):
    """Each node sends at most one message and receives at most one. Message number: the origin.

    Attributes
    ----------
    destination : tuple of int
        ``destination[u]`` is where the message of node u goes, -1 if u has none; ``u`` itself if it may stay.

    Examples
    --------
    >>> Permutation([1, 2, 0]).destination
    (1, 2, 0)
    """

    destination: tuple[int, ...]
    name = "permutation"
    summary = "each node sends at most one message and receives at most one"

    def __post_init__(self) -> None:
        values = node_numbers(self.destination, "destination", "the destinations")
        object.__setattr__(self, "destination", values)
        sent = [target for target in values if target != -1]
        if min(sent, default=0) >= 0 and len(set(sent)) == len(sent):
            return
        origin_of: dict[int, int] = {}
        for origin, target in enumerate(values):
            if target < -1:
                raise TaskError(
                    f"the destination of node {origin} is {target}; use a node number, or -1 for no message"
                )
            if target >= 0 and target in origin_of:
                raise TaskError(f"nodes {origin_of[target]} and {origin} both send to node {target}; only one may")
            origin_of[target] = origin

    def check(self, network: Network) -> None:
        """Raise TaskError if lengths or destinations do not fit `network`."""
        n = network.terminal_count
        if len(self.destination) != n:
            raise TaskError(f"the permutation lists {len(self.destination)} nodes; {network.spec} has {n}")
        if max(self.destination, default=-1) >= n:
            origin, target = next((u, v) for u, v in enumerate(self.destination) if v >= n)
            raise TaskError(f"the destination of node {origin} is {target}, outside 0..{n - 1} of {network.spec}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message for each node that has a destination."""
        target = np.array(self.destination, np.int64)
        origin = np.flatnonzero(target >= 0)
        return to_one(origin.astype(np.int64), origin, target[origin])

    def dual(self, network: Network) -> Task:
        """Inverse permutation."""
        inverse = np.full(len(self.destination), -1)
        for origin, target in enumerate(self.destination):
            if target >= 0:
                inverse[target] = origin
        return Permutation(tuple(inverse.tolist()))

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Name a message by its destination instead."""
        return np.array(self.destination, np.int64)[ids]

    def describe(self) -> str:
        """Return the name with the number of messages, for people.

        >>> Permutation([1, -1, 0]).describe()
        'permutation (2 messages)'
        """
        return f"{self.word} ({quantity(sum(target >= 0 for target in self.destination), 'message')})"

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.destination), dtype=np.int64)).tolist()
        renamed = [-1] * len(names)
        for origin, target in enumerate(self.destination):
            renamed[names[origin]] = names[target] if target >= 0 else -1
        return Permutation(tuple(renamed))


@dataclass(frozen=True)
class OneToManyRouting(Task):
    """Messages with disjoint sets of destinations (restricted broadcasting, Han 1990). Message number: the origin.

    Attributes
    ----------
    destinations : tuple of tuples of int
        ``destinations[u]`` are the targets of node u's message; empty if it has none.

    Examples
    --------
    >>> OneToManyRouting([[1, 2], [], [0]]).destinations
    ((1, 2), (), (0,))
    """

    destinations: tuple[tuple[int, ...], ...]
    name = "one-to-many-routing"
    summary = "each node sends at most one message to a set of nodes; the sets are disjoint"

    def __post_init__(self) -> None:
        rows = tuple(
            tuple(sorted(node_numbers(row, "destination", f"the destinations of node {u}")))
            for u, row in enumerate(listed(self.destinations, "the destination sets"))
        )
        object.__setattr__(self, "destinations", rows)
        origin_of: dict[int, int] = {}
        for origin, row in enumerate(rows):
            for target in row:
                if origin_of.get(target) == origin:
                    raise TaskError(f"node {origin} lists destination {target} twice")
                if target in origin_of:
                    raise TaskError(f"nodes {origin_of[target]} and {origin} both send to node {target}; only one may")
                origin_of[target] = origin

    def check(self, network: Network) -> None:
        """Raise TaskError if lengths or destinations do not fit `network`."""
        n = network.terminal_count
        if len(self.destinations) != n:
            raise TaskError(f"the destination sets list {len(self.destinations)} nodes; {network.spec} has {n}")
        for origin, row in enumerate(self.destinations):
            if row and not 0 <= row[0] <= row[-1] < n:
                bad = row[0] if row[0] < 0 else row[-1]
                raise TaskError(f"a destination of node {origin} is {bad}, outside 0..{n - 1} of {network.spec}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One copied message for each node that has destinations."""
        origin = np.array([u for u, row in enumerate(self.destinations) if row], np.int64)
        rows = [self.destinations[u] for u in origin]
        start = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
        targets = np.array([v for r in rows for v in r], np.int32)
        return Messages(origin, origin.astype(np.int32), np.full(origin.size, COPY), start, targets)

    def describe(self) -> str:
        """Return the name with the numbers of messages and of destinations, for people.

        >>> OneToManyRouting([[1, 2], [], [0]]).describe()
        'one-to-many-routing (2 messages for 3 nodes)'
        """
        sets = [targets for targets in self.destinations if targets]
        return f"{self.word} ({quantity(len(sets), 'message')} for {quantity(sum(map(len, sets)), 'node')})"

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.destinations), dtype=np.int64)).tolist()
        renamed: list[tuple[int, ...]] = [()] * len(names)
        for origin, row in enumerate(self.destinations):
            renamed[names[origin]] = tuple(names[target] for target in row)
        return OneToManyRouting(tuple(renamed))
