"""Tasks with one distinguished node: broadcast, scatter and their duals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import COMBINE, COPY, Ids, Messages, Task, check_node, node_number, to_all, to_one


@dataclass(frozen=True)
class Rooted(Task):
    """A task with one distinguished node."""

    root: int = 0

    def __post_init__(self) -> None:
        root: object = self.root
        if isinstance(root, tuple):
            raise TaskError(f"the root must be a node number, got {self.root}; task() takes coordinates with network=")
        object.__setattr__(self, "root", node_number(self.root, "root"))

    def check(self, network: Network) -> None:
        """Raise TaskError if the root is not a terminal of `network`."""
        check_node(network, self.root, "root")

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the root."""
        return type(self)(int(by(np.array([self.root], np.int64))[0]))


@dataclass(frozen=True)
class Broadcast(Rooted):
    """One node sends the same message to all. Message number: the root.

    >>> Broadcast(3).describe()
    'broadcast (root 3)'
    """

    name = "broadcast"
    summary = "one node sends the same message to all others"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from the root to every terminal."""
        return to_all(np.array([self.root], np.int64), [self.root], COPY)

    def most_messages(self, network: Network) -> int:
        """Return that there is one message."""
        return 1

    def dual(self, network: Network) -> Task:
        """Reduce."""
        return Reduce(self.root)


@dataclass(frozen=True)
class Reduce(Rooted):
    """Contributions of all nodes are combined at one node. Message number: the root."""

    name = "reduce"
    summary = "contributions of all nodes are combined at one node; dual of broadcast"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One combining message that ends at the root."""
        return to_all(np.array([self.root], np.int64), [self.root], COMBINE)

    def dual(self, network: Network) -> Task:
        """Broadcast."""
        return Broadcast(self.root)


@dataclass(frozen=True)
class Scatter(Rooted):
    """One node sends a different message to each other node. Message number: the destination."""

    name = "scatter"
    summary = "one node sends a different message to each other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message to each other terminal."""
        others = np.delete(np.arange(network.terminal_count, dtype=np.int64), self.root)
        return to_one(others, np.full(others.size, self.root), others)

    def dual(self, network: Network) -> Task:
        """Gather."""
        return Gather(self.root)


@dataclass(frozen=True)
class Gather(Rooted):
    """Every other node sends a message to one node. Message number: the origin."""

    name = "gather"
    summary = "each node sends a message to one node; dual of scatter"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each other terminal."""
        others = np.delete(np.arange(network.terminal_count, dtype=np.int64), self.root)
        return to_one(others, others, np.full(others.size, self.root))

    def dual(self, network: Network) -> Task:
        """Scatter."""
        return Scatter(self.root)
