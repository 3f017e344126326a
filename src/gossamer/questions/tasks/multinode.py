"""Broadcasts by many nodes at once, full, partial and repeated, and their duals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import (
    ALLCOMBINE,
    COMBINE,
    COPY,
    Ids,
    Messages,
    OfActive,
    Task,
    listed,
    to_all,
    whole_count,
)


class OnePerNode(Task):
    """A task with one message for each terminal. Message number: that terminal."""

    invariant = True
    discipline: ClassVar[np.uint8]

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message a terminal, for all terminals."""
        nodes = np.arange(network.terminal_count) if origins is None else np.asarray(origins)
        return to_all(nodes.astype(np.int64), nodes, self.discipline)


@dataclass(frozen=True)
class MultinodeBroadcast(OnePerNode):
    """Every node broadcasts one message (gossip, allgather). Message number: the origin."""

    name = "multinode-broadcast"
    customary = "allgather"
    summary = "every node broadcasts one message to all others"
    discipline = COPY

    def dual(self, network: Network) -> Task:
        """Reduce-scatter."""
        return ReduceScatter()


@dataclass(frozen=True)
class ReduceScatter(OnePerNode):
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
            partwise=True,
        )

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename the roots within each half."""
        n = network.terminal_count
        return ids // n * n + by(ids % n)


@dataclass(frozen=True)
class PartialSumAllreduce(Task):
    """An allreduce of one buffer of which no part has a root: partial sums are combined wherever they meet.

    Message 0 is the buffer, which all contribute to and all must end with; in several packets (`Chunked`) each is
    summed by itself. Dimension exchange, recursive doubling and all other schedules in which a node sends a sum that it
    goes on adding to are of this form.

    >>> from gossamer.networks import ring
    >>> PartialSumAllreduce().messages(ring(3)).discipline.tolist()
    [3]
    """

    name = "partial-sum-allreduce"
    customary = "allreduce"
    summary = "every node gets the sum of all contributions; partial sums may be combined anywhere"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message, of all and for all."""
        return to_all(np.zeros(1, np.int64), [0], ALLCOMBINE)

    def most_messages(self, network: Network) -> int:
        """Return 1."""
        return 1

    def dual(self, network: Network) -> Task:
        """Raise TaskError: backwards in time a copied sum would have to be divided."""
        raise TaskError(f"{self.name} has no dual by time reversal: a sum that is copied to two nodes has no reverse")

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Keep the number."""
        return ids


@dataclass(frozen=True)
class PartialMultinodeBroadcast(OfActive):
    """Each of a set of active nodes broadcasts one message to all. Message number: the origin.

    >>> PartialMultinodeBroadcast([5, 2]).active
    (2, 5)
    """

    name = "partial-multinode-broadcast"
    summary = "each of a set of active nodes broadcasts one message to all"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message an active node, for all terminals."""
        return to_all(np.array(self.active, np.int64), self.active, COPY)

    def dual(self, network: Network) -> Task:
        """Partial reduce-scatter."""
        return PartialReduceScatter(self.active)


@dataclass(frozen=True)
class GroupMultinodeBroadcast(OfActive):
    """Each of a set of active nodes broadcasts one message to the other active nodes. Message number: the origin.

    The other nodes may pass messages on.

    >>> GroupMultinodeBroadcast([5, 2]).active
    (2, 5)
    """

    name = "group-multinode-broadcast"
    customary = "group-allgather"
    summary = "each of a set of active nodes broadcasts one message to the other active nodes"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message an active node, for all active nodes."""
        nodes = np.array(self.active, np.int64)
        m = nodes.size
        return Messages(
            nodes,
            nodes.astype(np.int32),
            np.full(m, COPY),
            np.arange(m + 1, dtype=np.int64) * m,
            np.tile(nodes.astype(np.int32), m),
        )


@dataclass(frozen=True)
class PartialReduceScatter(OfActive):
    """One reduction over all nodes for each active node as root. Message number: the root."""

    name = "partial-reduce-scatter"
    summary = "one reduction for each of a set of roots; dual of partial multinode broadcast"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One combining message an active node."""
        return to_all(np.array(self.active, np.int64), self.active, COMBINE)

    def dual(self, network: Network) -> Task:
        """Partial multinode broadcast."""
        return PartialMultinodeBroadcast(self.active)


@dataclass(frozen=True)
class OfCounts(Task):
    """A task in which node u has ``counts[u]`` messages, each for all. Message number: those of nodes before u, plus j.

    Message j of node u, j = 0..counts[u]-1, has number ``counts[0] + ... + counts[u-1] + j``.
    """

    counts: tuple[int, ...]
    discipline: ClassVar[np.uint8]

    def __post_init__(self) -> None:
        values = tuple(whole_count(v) for v in listed(self.counts, "the counts"))
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

    def most_messages(self, network: Network) -> int:
        """Return the number of messages."""
        return self.total

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """As many messages of each terminal as it counts, for all terminals."""
        return to_all(np.arange(self.total), np.repeat(np.arange(len(self.counts)), self.counts), self.discipline)

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
        return f"{self.word} ({self.total:,} messages of {sum(c > 0 for c in self.counts):,} nodes)"


@dataclass(frozen=True)
class MultipleBroadcast(OfCounts):
    """Node u broadcasts ``counts[u]`` messages.

    >>> MultipleBroadcast([2, 0, 1]).describe()
    'allgatherv (3 messages of 2 nodes)'
    """

    name = "multiple-broadcast"
    customary = "allgatherv"
    summary = "each node broadcasts a number of messages of its own to all others"
    discipline = COPY

    def dual(self, network: Network) -> Task:
        """Multiple reduce."""
        return MultipleReduce(self.counts)


@dataclass(frozen=True)
class MultipleReduce(OfCounts):
    """``counts[u]`` reductions over all nodes with node u as root."""

    name = "multiple-reduce"
    customary = "reduce-scatterv"
    summary = "a number of reductions for each node as root; dual of multiple broadcast"
    discipline = COMBINE

    def dual(self, network: Network) -> Task:
        """Multiple broadcast."""
        return MultipleBroadcast(self.counts)
