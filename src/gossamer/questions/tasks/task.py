"""Communication tasks: who holds what at the start, and who must hold what at the end.

A task alone knows its messages; the checker asks only the task, never the algorithm. Each message has a *discipline*:

==============  ============================================================================================
``COPY``        the origin's packet may be copied at every node; all its targets must get it (broadcasts)
``MOVE``        one packet travels from its origin to one target and is never copied (personalized tasks)
``COMBINE``     every terminal, or every one that is listed, holds a contribution; they are combined on the way
                and end at the origin, which is the root of the reduction (duals of broadcasts by time reversal)
``ALLCOMBINE``  every terminal, or every one that is listed, holds a contribution and must end with the sum of
                all; partial sums may be copied and combined anywhere (allreduce without roots)
==============  ============================================================================================
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError, shown
from gossamer.networks.network import Network
from gossamer.reading import whole

Ids = npt.NDArray[np.int64]

_MOST = 2**63 - 1

COPY, MOVE, COMBINE, ALLCOMBINE = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3)


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of a task, one row each, in ascending order of `ids`.

    Attributes
    ----------
    ids : int64[m]
        Message numbers, unique within the task; their meaning is the task's own.
    origin : int32[m]
        The node that holds the message at the start; for ``COMBINE`` the root where the result must end,
        for ``ALLCOMBINE`` the first of those that contribute.
    discipline : uint8[m]
        ``COPY``, ``MOVE``, ``COMBINE`` or ``ALLCOMBINE``.
    target_start : int64[m+1] or None
        Targets of row i are ``targets[target_start[i]:target_start[i+1]]``; None when every message is for all
        terminals, or from all.
    targets : int32[]
        The target nodes; of a ``COMBINE`` message its contributors, at least one other than the root; of an
        ``ALLCOMBINE`` message those that contribute and get the result.
    after : int64[m] or None
        Row of the message that must be complete at this message's origin before it can leave (-1: none).
    sizes : int64[m] or None
        Packets of each message, at least 1; None where every message is one packet.
    stage : int32[m] or None
        Which of several collectives the message belongs to, from 0; None where no collective waits for another.
    waits : tuple of (int, int)
        Pairs of stages (later, earlier): at every node what is of the later stage and starts there, an origin's message
        or a contributor's share, leaves after all that the earlier stage brings there.
    partwise : bool
        Whether `after` holds packet by packet: packet p of a message leaves once packet p of what it depends on is
        complete.
    """

    ids: Ids
    origin: npt.NDArray[np.int32]
    discipline: npt.NDArray[np.uint8]
    target_start: Ids | None = None
    targets: npt.NDArray[np.int32] | None = None
    after: Ids | None = None
    sizes: Ids | None = None
    stage: npt.NDArray[np.int32] | None = None
    waits: tuple[tuple[int, int], ...] = ()
    partwise: bool = False

    @property
    def count(self) -> int:
        """Number of messages."""
        return int(self.ids.size)

    @property
    def packet_count(self) -> int:
        """Number of packets of all messages."""
        return self.count if self.sizes is None else int(self.sizes.sum())

    def targets_of(self, row: int, terminals: int) -> npt.NDArray[np.int32]:
        """Return the targets, or contributors, of the message of a row, among so many terminals."""
        if self.targets is None or self.target_start is None:
            return np.arange(terminals, dtype=np.int32)
        return self.targets[self.target_start[row] : self.target_start[row + 1]]

    @property
    def stages(self) -> int:
        """Number of stages, those that have no message among them; 1 where no collective waits for another."""
        last = 0 if self.stage is None else int(self.stage.max(initial=0))
        return 1 + max([last, *itertools.chain.from_iterable(self.waits)])

    def stage_depths(self, turned: bool = False) -> Ids:
        """Return for each stage how many others it comes after, one behind the other, or before if `turned`."""
        depth = np.zeros(self.stages, np.int64)
        for _ in range(depth.size):
            for later, earlier in self.waits:
                a, b = (earlier, later) if turned else (later, earlier)
                depth[a] = max(depth[a], depth[b] + 1)
        return depth

    def first_packet(self) -> Ids:
        """Return the number of packets of all messages before each message, and of all at the end, int64[m+1]."""
        if self.sizes is None:
            return np.arange(self.count + 1, dtype=np.int64)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes)])


def to_all(ids: Ids, origin: npt.ArrayLike, discipline: np.uint8) -> Messages:
    """Return messages for all terminals."""
    return Messages(ids, np.asarray(origin, np.int32), np.full(ids.size, discipline))


def to_one(ids: Ids, origin: npt.ArrayLike, target: npt.ArrayLike) -> Messages:
    """Return personalized messages, one target each."""
    start = np.arange(ids.size + 1, dtype=np.int64)
    return Messages(ids, np.asarray(origin, np.int32), np.full(ids.size, MOVE), start, np.asarray(target, np.int32))


class Task:
    """Base of the tasks; each is a small frozen dataclass.

    Message numbers are the task's own: the origin of a broadcast, ``origin*n + destination`` of an exchange over n
    terminals.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    customary: ClassVar[str] = ""
    """What people call it where that is another name: MPI's name, if it has one."""
    invariant: ClassVar[bool] = False
    """Whether the task looks the same from every node, so that an invariant schedule can carry it out."""

    @property
    def word(self) -> str:
        """What the task is called in reports: as it was asked for, else its customary name, else its own."""
        return str(vars(self).get("_word") or self.customary or self.name)

    def called(self, word: str) -> Self:
        """Return the task, which is equal to this one, with the word that a user has for it.

        >>> from gossamer.questions.tasks import MultinodeBroadcast
        >>> task = MultinodeBroadcast()
        >>> task.word, task.called("gossip").word, task.called("gossip") == task
        ('allgather', 'gossip', True)
        """
        found = copy.copy(self)
        vars(found)["_word"] = word
        return found

    def check(self, network: Network) -> None:
        """Raise TaskError if the task does not fit `network`."""

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return the messages on `network`; of an invariant task, only those of the given `origins`."""
        raise NotImplementedError

    def most_messages(self, network: Network) -> int:
        """Return what the number of messages does not exceed, by arithmetic."""
        return 2 * network.terminal_count

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
        """Return the word for the task with its parameters, for people."""
        parts = []
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            parts.append(
                f"{f.name}: {quantity(len(value), 'node')}" if isinstance(value, tuple) else f"{f.name} {value}"
            )
        return self.word + (f" ({', '.join(parts)})" if parts else "")


def check_node(network: Network, node: int, role: str) -> None:
    """Raise TaskError unless `node` is a terminal of `network`."""
    if not 0 <= node < network.terminal_count:
        raise TaskError(f"{role} node {node} is outside 0..{network.terminal_count - 1} of {network.spec}")


def node_number(value: Any, role: str) -> int:
    """Return a node number, or raise TaskError if `value` is not a whole number."""
    return whole(value, f"the {role}", -_MOST, _MOST, allowed="a node number", error=TaskError)


def node_numbers(values: Any, role: str, what: str) -> tuple[int, ...]:
    """Return the node numbers in any iterable but a text, or raise a TaskError that names what it is not."""
    given = listed(values, what)
    if set(map(type, given)) == {int} and min(given) >= -_MOST and max(given) <= _MOST:
        return tuple(given)
    return tuple(node_number(v, role) for v in given)


def whole_count(value: Any) -> int:
    """Return a count, or raise TaskError if `value` is not a whole number."""
    return whole(value, "a count", -_MOST, _MOST, allowed="a whole number", error=TaskError)


def listed(values: Any, what: str) -> list[Any]:
    """Return the values of any iterable but a text, or raise a TaskError."""
    if not isinstance(values, str):
        with contextlib.suppress(TypeError):
            return list(values)
    raise TaskError(f"{what} must be a list, got {shown(values)}")


def node_set(nodes: Any, what: str) -> tuple[int, ...]:
    """Return node numbers sorted, or raise a TaskError that names the offender."""
    numbers = sorted(node_numbers(nodes, f"{what} node", f"the {what} nodes"))
    if not numbers:
        raise TaskError(f"the set of {what} nodes is empty; at least one node is needed")
    for a, b in itertools.pairwise(numbers):
        if a == b:
            raise TaskError(f"{what} node {a} is listed twice")
    return tuple(numbers)


@dataclass(frozen=True)
class OfActive(Task):
    """A task of a set of active nodes."""

    active: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "active", node_set(self.active, "active"))

    def check(self, network: Network) -> None:
        """Raise TaskError if an active node is not a terminal of `network`."""
        for node in (self.active[0], self.active[-1]):
            check_node(network, node, "active")

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the active nodes."""
        return type(self)(tuple(by(np.array(self.active, np.int64)).tolist()))
