"""A task whose messages are several packets each: the chunks of long messages, which may go different ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Ids, Messages, Task
from gossamer.reading import whole

MAX_CHUNKS = 1_000_000


@dataclass(frozen=True)
class Chunked(Task):
    """A task of which every message is several packets.

    Attributes
    ----------
    task : Task
        What is communicated; its message numbers are those of this task.
    packets : int
        Packets of each message, 2 or more.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("allgather", packets=4)
    >>> task.describe(), task.messages(gossamer.network("ring:3")).packet_count
    ('allgather, 4 packets a message', 12)
    """

    task: Task
    packets: int

    def __post_init__(self) -> None:
        if isinstance(self.task, Chunked):
            raise TaskError("a task of messages in chunks cannot be cut into chunks again")
        number = whole(self.packets, "the number of packets of a message", 2, MAX_CHUNKS, error=TaskError)
        object.__setattr__(self, "packets", number)
        object.__setattr__(self, "name", self.task.name)
        object.__setattr__(self, "invariant", self.task.invariant)

    name = "chunked"
    summary = "a task of which every message is several packets"

    @property
    def word(self) -> str:
        """What the task is called."""
        return self.task.word

    def check(self, network: Network) -> None:
        """Raise TaskError if the task does not fit `network`."""
        self.task.check(network)

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return the messages of the task, each of so many packets for each that it had."""
        found = self.task.messages(network, origins)
        each = np.ones(found.count, np.int64) if found.sizes is None else found.sizes
        return replace(found, sizes=each * self.packets)

    def most_messages(self, network: Network) -> int:
        """Return what the number of packets does not exceed."""
        return self.task.most_messages(network) * self.packets

    def dual(self, network: Network) -> Task:
        """Return the dual task, in as many packets."""
        return Chunked(self.task.dual(network), self.packets)

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Return the numbers, in the dual task, of the messages `ids`."""
        return self.task.dual_ids(network, ids)

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Return the task after every node x was renamed to ``by(x)``."""
        return Chunked(self.task.renamed(by), self.packets)

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Return the numbers of the messages `ids` after every node x was renamed to ``by(x)``."""
        return self.task.renamed_ids(network, ids, by)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: those of the task, and the packets."""
        return {**self.task.to_dict(), "packets": self.packets}

    def describe(self) -> str:
        """Return the name with its parameters, for people."""
        return f"{self.task.describe()}, {quantity(self.packets, 'packet')} a message"


def chunked(task: Task, packets: int) -> Task:
    """Return the task with `packets` packets a message: itself where that is 1.

    Raises
    ------
    TaskError
        If `packets` is not in 1..1,000,000, or the messages are in chunks already.

    >>> from gossamer.questions.tasks import Broadcast
    >>> chunked(Broadcast(), 1)
    Broadcast(root=0)
    """
    one = whole(packets, "the number of packets of a message", 1, MAX_CHUNKS, error=TaskError) == 1
    return task if one else Chunked(task, packets)
