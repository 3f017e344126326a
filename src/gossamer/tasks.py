"""Communication tasks: who holds what at the start, and who must hold what at the end.

A task alone knows its messages; the checker asks only the task, never the algorithm. Each message has a *discipline*:

===========  ============================================================================================
``COPY``     the origin's packet may be copied at every node; all its targets must get it (broadcasts)
``MOVE``     one packet travels from its origin to one target and is never copied (personalized tasks)
``COMBINE``  every terminal holds a contribution; they are combined on the way and end at the origin,
             which is the root of the reduction (duals of broadcasts by time reversal)
===========  ============================================================================================
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, nearest
from gossamer.networks.network import Network

__all__ = [
    "ALIASES",
    "COMBINE",
    "COPY",
    "MOVE",
    "TASKS",
    "Allreduce",
    "Broadcast",
    "Gather",
    "Messages",
    "MultinodeBroadcast",
    "MultipleBroadcast",
    "MultipleReduce",
    "OneToManyRouting",
    "PartialExchange",
    "PartialGather",
    "PartialMultinodeBroadcast",
    "PartialReduceScatter",
    "Permutation",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "Task",
    "TotalExchange",
    "task",
    "task_from_dict",
]

COPY, MOVE, COMBINE = np.uint8(0), np.uint8(1), np.uint8(2)

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of a task, one row each, in ascending order of `ids`.

    Attributes
    ----------
    ids : int64[m]
        Message numbers, unique within the task; their meaning is the task's own.
    origin : int32[m]
        The node that holds the message at the start; for ``COMBINE`` the root where the result must end.
    discipline : uint8[m]
        ``COPY``, ``MOVE`` or ``COMBINE``.
    target_start : int64[m+1] or None
        Targets of row i are ``targets[target_start[i]:target_start[i+1]]``; None when every message is for all
        terminals.
    targets : int32[]
        The target nodes.
    after : int64[m] or None
        Row of the message that must be complete at this message's origin before it can leave (-1: none).
    """

    ids: Ids
    origin: npt.NDArray[np.int32]
    discipline: npt.NDArray[np.uint8]
    target_start: Ids | None = None
    targets: npt.NDArray[np.int32] | None = None
    after: Ids | None = None

    @property
    def count(self) -> int:
        """Number of messages."""
        return int(self.ids.size)


def _to_all(ids: Ids, origin: npt.ArrayLike, discipline: np.uint8) -> Messages:
    return Messages(ids, np.asarray(origin, np.int32), np.full(ids.size, discipline))


def _to_one(ids: Ids, origin: npt.ArrayLike, target: npt.ArrayLike) -> Messages:
    start = np.arange(ids.size + 1, dtype=np.int64)
    return Messages(ids, np.asarray(origin, np.int32), np.full(ids.size, MOVE), start, np.asarray(target, np.int32))


class Task:
    """Base of the tasks; each is a small frozen dataclass.

    Message numbers are the task's own: the origin of a broadcast, ``origin*n + destination`` of an exchange over n
    terminals.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    invariant: ClassVar[bool] = False
    """Whether the task looks the same from every node, so that an invariant schedule can carry it out."""

    def check(self, network: Network) -> None:
        """Raise TaskError if the task does not fit `network`."""

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return the messages on `network`; of an invariant task, only those of the given `origins`."""
        raise NotImplementedError

    def dual(self, network: Network) -> Task:
        """Return the task that a time-reversed schedule of this one carries out.

        Raises
        ------
        TaskError
            If the task has no dual.
        """
        raise TaskError(f"{self.name} has no dual by time reversal")

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Return the numbers, in the dual task, of the messages `ids`."""
        return ids

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Return the task after every node x was renamed to ``by(x)``."""
        return self

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Return the numbers of the messages `ids` after every node x was renamed to ``by(x)``."""
        return by(ids)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: the name and the fields."""
        fields: dict[str, Any] = {"name": self.name}
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            fields[f.name] = getattr(self, f.name)
        return fields

    def describe(self) -> str:
        """Return the name with its parameters, for people."""
        parts = []
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            parts.append(f"{f.name}: {len(value)} nodes" if isinstance(value, tuple) else f"{f.name} {value}")
        return self.name + (f" ({', '.join(parts)})" if parts else "")


def _check_node(network: Network, node: int, role: str) -> None:
    if not 0 <= node < network.terminal_count:
        raise TaskError(f"{role} node {node} is outside 0..{network.terminal_count - 1} of {network.spec}")


def _node(value: Any, role: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TaskError(f"the {role} must be a node number, got {value!r}")
    return int(value)


@dataclass(frozen=True)
class _Rooted(Task):
    """A task with one distinguished node."""

    root: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", _node(self.root, "root"))

    def check(self, network: Network) -> None:
        """Raise TaskError if the root is not a terminal of `network`."""
        _check_node(network, self.root, "root")

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the root."""
        return type(self)(int(by(np.array([self.root], np.int64))[0]))


@dataclass(frozen=True)
class Broadcast(_Rooted):
    """One node sends the same message to all. Message number: the root.

    >>> Broadcast(3).describe()
    'broadcast (root 3)'
    """

    name = "broadcast"
    summary = "one node sends the same message to all others"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from the root to every terminal."""
        return _to_all(np.array([self.root], np.int64), [self.root], COPY)

    def dual(self, network: Network) -> Task:
        """Reduce."""
        return Reduce(self.root)


@dataclass(frozen=True)
class Reduce(_Rooted):
    """Contributions of all nodes are combined at one node. Message number: the root."""

    name = "reduce"
    summary = "contributions of all nodes are combined at one node; dual of broadcast"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One combining message that ends at the root."""
        return _to_all(np.array([self.root], np.int64), [self.root], COMBINE)

    def dual(self, network: Network) -> Task:
        """Broadcast."""
        return Broadcast(self.root)


@dataclass(frozen=True)
class Scatter(_Rooted):
    """One node sends a different message to each other node. Message number: the destination."""

    name = "scatter"
    summary = "one node sends a different message to each other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message to each other terminal."""
        others = np.delete(np.arange(network.terminal_count, dtype=np.int64), self.root)
        return _to_one(others, np.full(others.size, self.root), others)

    def dual(self, network: Network) -> Task:
        """Gather."""
        return Gather(self.root)


@dataclass(frozen=True)
class Gather(_Rooted):
    """Every other node sends a message to one node. Message number: the origin."""

    name = "gather"
    summary = "each node sends a message to one node; dual of scatter"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each other terminal."""
        others = np.delete(np.arange(network.terminal_count, dtype=np.int64), self.root)
        return _to_one(others, others, np.full(others.size, self.root))

    def dual(self, network: Network) -> Task:
        """Scatter."""
        return Scatter(self.root)


class _OnePerNode(Task):
    """A task with one message for each terminal. Message number: that terminal."""

    invariant = True
    discipline: ClassVar[np.uint8]

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message a terminal, for all terminals."""
        nodes = np.arange(network.terminal_count) if origins is None else np.asarray(origins)
        return _to_all(nodes.astype(np.int64), nodes, self.discipline)


@dataclass(frozen=True)
class MultinodeBroadcast(_OnePerNode):
    """Every node broadcasts one message (gossip, allgather). Message number: the origin."""

    name = "multinode-broadcast"
    summary = "every node broadcasts one message to all others"
    discipline = COPY

    def dual(self, network: Network) -> Task:
        """Reduce-scatter."""
        return ReduceScatter()


@dataclass(frozen=True)
class ReduceScatter(_OnePerNode):
    """One reduction for each node as root. Message number: the root."""

    name = "reduce-scatter"
    summary = "one reduction for each node as root; dual of multinode broadcast"
    discipline = COMBINE

    def dual(self, network: Network) -> Task:
        """Multinode broadcast."""
        return MultinodeBroadcast()


@dataclass(frozen=True)
class Allreduce(Task):
    """A reduce-scatter, then a multinode broadcast of the results.

    Of n terminals, message r < n is the reduction with root r, and message n+r the broadcast of its result by r, which
    cannot leave before the reduction is complete.
    """

    name = "allreduce"
    summary = "contributions of all nodes are combined and every node gets the result"
    invariant = True

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Reductions and the broadcasts of their results."""
        nodes = np.arange(network.terminal_count) if origins is None else np.asarray(origins)
        m = nodes.size
        return Messages(
            np.concatenate([nodes, nodes + network.terminal_count]).astype(np.int64),
            np.concatenate([nodes, nodes]).astype(np.int32),
            np.repeat(np.array([COMBINE, COPY]), m),
            after=np.concatenate([np.full(m, -1), np.arange(m)]).astype(np.int64),
        )

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename the roots within each half."""
        n = network.terminal_count
        return ids // n * n + by(ids % n)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TaskError(f"a count must be a whole number, got {value!r}")
    return int(value)


def _list(values: Any, what: str) -> list[Any]:
    """Return the values of any iterable but a text, or raise a TaskError."""
    if not isinstance(values, str):
        with contextlib.suppress(TypeError):
            return list(values)
    raise TaskError(f"{what} must be a list, got {values!r}")


def _active(nodes: Any, what: str) -> tuple[int, ...]:
    """Return node numbers sorted, or raise a TaskError that names the offender."""
    numbers = sorted(_node(v, f"{what} node") for v in _list(nodes, f"the {what} nodes"))
    if not numbers:
        raise TaskError(f"the set of {what} nodes is empty; at least one node is needed")
    for a, b in itertools.pairwise(numbers):
        if a == b:
            raise TaskError(f"{what} node {a} is listed twice")
    return tuple(numbers)


@dataclass(frozen=True)
class _OfActive(Task):
    """A task of a set of active nodes."""

    active: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "active", _active(self.active, "active"))

    def check(self, network: Network) -> None:
        """Raise TaskError if an active node is not a terminal of `network`."""
        for node in (self.active[0], self.active[-1]):
            _check_node(network, node, "active")

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the active nodes."""
        return type(self)(tuple(by(np.array(self.active, np.int64)).tolist()))


@dataclass(frozen=True)
class PartialMultinodeBroadcast(_OfActive):
    """Each of a set of active nodes broadcasts one message to all. Message number: the origin.

    >>> PartialMultinodeBroadcast([5, 2]).active
    (2, 5)
    """

    name = "partial-multinode-broadcast"
    summary = "each of a set of active nodes broadcasts one message to all"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message an active node, for all terminals."""
        return _to_all(np.array(self.active, np.int64), self.active, COPY)

    def dual(self, network: Network) -> Task:
        """Partial reduce-scatter."""
        return PartialReduceScatter(self.active)


@dataclass(frozen=True)
class PartialReduceScatter(_OfActive):
    """One reduction over all nodes for each active node as root. Message number: the root."""

    name = "partial-reduce-scatter"
    summary = "one reduction for each of a set of roots; dual of partial multinode broadcast"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One combining message an active node."""
        return _to_all(np.array(self.active, np.int64), self.active, COMBINE)

    def dual(self, network: Network) -> Task:
        """Partial multinode broadcast."""
        return PartialMultinodeBroadcast(self.active)


@dataclass(frozen=True)
class _OfCounts(Task):
    """A task in which node u has ``counts[u]`` messages, each for all. Message number: those of nodes before u, plus j.

    Message j of node u, j = 0..counts[u]-1, has number ``counts[0] + ... + counts[u-1] + j``.
    """

    counts: tuple[int, ...]
    discipline: ClassVar[np.uint8]

    def __post_init__(self) -> None:
        values = tuple(_whole(v) for v in _list(self.counts, "the counts"))
        object.__setattr__(self, "counts", values)
        for node, count in enumerate(values):
            if count < 0:
                raise TaskError(f"the count of node {node} is {count}; a node has 0 messages or more")
        if self.total > 2**31 - 1:
            raise TaskError(f"the counts add up to {self.total:,} messages; at most {2**31 - 1:,} are allowed")

    @property
    def total(self) -> int:
        """Number of messages K."""
        return sum(self.counts)

    def check(self, network: Network) -> None:
        """Raise TaskError if there is not one count for each terminal of `network`."""
        n = network.terminal_count
        if len(self.counts) != n:
            raise TaskError(f"the counts list {len(self.counts)} nodes; {network.spec} has {n}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """As many messages of each terminal as it counts, for all terminals."""
        return _to_all(np.arange(self.total), np.repeat(np.arange(len(self.counts)), self.counts), self.discipline)

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the nodes that have the messages."""
        renamed = np.empty(len(self.counts), np.int64)
        renamed[by(np.arange(len(self.counts), dtype=np.int64))] = self.counts
        return type(self)(tuple(renamed.tolist()))

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Keep the place of each message among those of its node."""
        counts = np.array(self.counts, np.int64)
        names = by(np.arange(counts.size, dtype=np.int64))
        first = np.cumsum(counts) - counts
        renamed = np.empty_like(counts)
        renamed[names] = counts
        moved = np.repeat((np.cumsum(renamed) - renamed)[names] - first, counts)
        numbers: Ids = ids + moved[ids]
        return numbers

    def describe(self) -> str:
        """Return the name with the number of messages, for people."""
        return f"{self.name} ({self.total:,} messages of {sum(c > 0 for c in self.counts):,} nodes)"


@dataclass(frozen=True)
class MultipleBroadcast(_OfCounts):
    """Node u broadcasts ``counts[u]`` messages.

    >>> MultipleBroadcast([2, 0, 1]).describe()
    'multiple-broadcast (3 messages of 2 nodes)'
    """

    name = "multiple-broadcast"
    summary = "each node broadcasts a number of messages of its own to all others"
    discipline = COPY

    def dual(self, network: Network) -> Task:
        """Multiple reduce."""
        return MultipleReduce(self.counts)


@dataclass(frozen=True)
class MultipleReduce(_OfCounts):
    """``counts[u]`` reductions over all nodes with node u as root."""

    name = "multiple-reduce"
    summary = "a number of reductions for each node as root; dual of multiple broadcast"
    discipline = COMBINE

    def dual(self, network: Network) -> Task:
        """Multiple broadcast."""
        return MultipleBroadcast(self.counts)


class _Pairs(Task):
    """An exchange; message number ``origin*n + destination`` over n terminals."""

    def _pairs(self, network: Network, origin: npt.ArrayLike, target: npt.ArrayLike) -> Messages:
        a = np.asarray(origin, np.int64)
        b = np.asarray(target, np.int64)
        a, b = (x.reshape(-1) for x in np.broadcast_arrays(a[:, None], b[None, :]))
        keep = a != b
        a, b = a[keep], b[keep]
        return _to_one(a * network.terminal_count + b, a, b)

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Swap origin and destination."""
        n = network.terminal_count
        return ids % n * n + ids // n

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename origin and destination."""
        n = network.terminal_count
        return by(ids // n) * n + by(ids % n)


@dataclass(frozen=True)
class TotalExchange(_Pairs):
    """Every node sends a different message to every other (alltoall). Message number: ``origin*n + destination``."""

    name = "total-exchange"
    summary = "every node sends a different message to every other node"
    invariant = True

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message for each ordered pair of terminals."""
        nodes = np.arange(network.terminal_count)
        return self._pairs(network, nodes if origins is None else origins, nodes)

    def dual(self, network: Network) -> Task:
        """Total exchange again."""
        return self


@dataclass(frozen=True)
class PartialExchange(_OfActive, _Pairs):
    """Each active node sends a different message to every other node. Message number: ``origin*n + destination``."""

    name = "partial-exchange"
    summary = "each of a set of active nodes sends a different message to every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each active node to each other terminal."""
        return self._pairs(network, self.active, np.arange(network.terminal_count))

    def dual(self, network: Network) -> Task:
        """Partial gather."""
        return PartialGather(self.active)


@dataclass(frozen=True)
class PartialGather(_OfActive, _Pairs):
    """Each active node receives a different message from every other. Message number: ``origin*n + destination``."""

    name = "partial-gather"
    summary = "each of a set of active nodes receives a different message from every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each terminal to each other active node."""
        return self._pairs(network, np.arange(network.terminal_count), self.active)

    def dual(self, network: Network) -> Task:
        """Partial exchange."""
        return PartialExchange(self.active)


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
        values = tuple(_node(v, "destination") for v in _list(self.destination, "the destinations"))
        object.__setattr__(self, "destination", values)
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
        for origin, target in enumerate(self.destination):
            if target >= n:
                raise TaskError(f"the destination of node {origin} is {target}, outside 0..{n - 1} of {network.spec}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message for each node that has a destination."""
        target = np.array(self.destination, np.int64)
        origin = np.flatnonzero(target >= 0)
        return _to_one(origin.astype(np.int64), origin, target[origin])

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

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.destination), dtype=np.int64)).tolist()
        renamed = [-1] * len(names)
        for origin, target in enumerate(self.destination):
            renamed[names[origin]] = names[target] if target >= 0 else -1
        return Permutation(tuple(renamed))


@dataclass(frozen=True)
class OneToManyRouting(Task):
    """Messages with disjoint sets of destinations (restricted broadcasting, seed 003). Message number: the origin.

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
            tuple(sorted(_node(v, "destination") for v in _list(row, f"the destinations of node {u}")))
            for u, row in enumerate(_list(self.destinations, "the destination sets"))
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

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.destinations), dtype=np.int64)).tolist()
        renamed: list[tuple[int, ...]] = [()] * len(names)
        for origin, row in enumerate(self.destinations):
            renamed[names[origin]] = tuple(names[target] for target in row)
        return OneToManyRouting(tuple(renamed))


TASKS: dict[str, type[Task]] = {
    t.name: t
    for t in (
        Broadcast,
        Scatter,
        Gather,
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        MultipleBroadcast,
        TotalExchange,
        PartialExchange,
        PartialGather,
        Permutation,
        OneToManyRouting,
        Reduce,
        ReduceScatter,
        PartialReduceScatter,
        MultipleReduce,
        Allreduce,
    )
}
"""Every task by its classical name."""

ALIASES: dict[str, str] = {
    "allgather": "multinode-broadcast",
    "gossip": "multinode-broadcast",
    "allgatherv": "partial-multinode-broadcast",
    "alltoall": "total-exchange",
    "restricted-broadcasting": "one-to-many-routing",
}
"""Modern and other names of the tasks."""


def task(name: str, **fields: Any) -> Task:
    """Return the task called `name`, a classical or a modern name, with the given fields.

    Parameters
    ----------
    name : str
        A key of ``TASKS`` or of ``ALIASES``; case and underscores do not matter.
    **fields
        ``root``, ``active``, ``counts``, ``destination`` or ``destinations``, as the task asks.

    Raises
    ------
    TaskError
        If the name is unknown, or a field is missing, superfluous or illegal.

    Examples
    --------
    >>> task("allgather")
    MultinodeBroadcast()
    >>> task("broadcast", root=3)
    Broadcast(root=3)
    """
    key = str(name).strip().lower().replace("_", "-")
    key = ALIASES.get(key, key)
    if key not in TASKS:
        hint = nearest(key, [*TASKS, *ALIASES]) or f"; known tasks: {', '.join([*TASKS, *ALIASES])}"
        raise TaskError(f"unknown task {name!r}{hint}")
    kind = TASKS[key]
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for field in fields:
        if field not in known:
            allowed = f"it takes {', '.join(known)}" if known else "it takes none"
            raise TaskError(f"task {key} has no field {field!r}; {allowed}")
    needed = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]  # type: ignore[arg-type]
    for field in needed:
        if field not in fields:
            raise TaskError(f"task {key} needs {field!r}")
    return kind(**fields)


def task_from_dict(fields: dict[str, Any]) -> Task:
    """Return the task that `Task.to_dict` described; TaskError if it describes none."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise TaskError(f"a task is described by its name and its fields, got {fields!r}")
    rest = dict(fields)
    return task(rest.pop("name"), **rest)
