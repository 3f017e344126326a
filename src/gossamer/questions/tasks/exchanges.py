"""Personalized exchanges: every message has an origin and a destination of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import (
    MOVE,
    Ids,
    Messages,
    OfActive,
    Task,
    check_node,
    listed,
    node_number,
    to_one,
    whole_count,
)

__all__ = [
    "Pairs",
    "PartialExchange",
    "PartialGather",
    "TotalExchange",
    "UnevenExchange",
    "UnevenGather",
    "UnevenScatter",
]


class Pairs(Task):
    """An exchange; message number ``origin*n + destination`` over n terminals."""

    def _pairs(self, network: Network, origin: npt.ArrayLike, target: npt.ArrayLike) -> Messages:
        a = np.asarray(origin, np.int64)
        b = np.asarray(target, np.int64)
        a, b = (x.reshape(-1) for x in np.broadcast_arrays(a[:, None], b[None, :]))
        keep = a != b
        a, b = a[keep], b[keep]
        return to_one(a * network.terminal_count + b, a, b)

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs."""
        return network.terminal_count**2

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Swap origin and destination."""
        n = network.terminal_count
        return ids % n * n + ids // n

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename origin and destination."""
        n = network.terminal_count
        return by(ids // n) * n + by(ids % n)


@dataclass(frozen=True)
class TotalExchange(Pairs):
    """Every node sends a different message to every other (alltoall). Message number: ``origin*n + destination``."""

    name = "total-exchange"
    customary = "alltoall"
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
class PartialExchange(OfActive, Pairs):
    """Each active node sends a different message to every other node. Message number: ``origin*n + destination``."""

    name = "partial-exchange"
    summary = "each of a set of active nodes sends a different message to every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each active node to each other terminal."""
        return self._pairs(network, self.active, np.arange(network.terminal_count))

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs with an active node."""
        return len(self.active) * network.terminal_count

    def dual(self, network: Network) -> Task:
        """Partial gather."""
        return PartialGather(self.active)


@dataclass(frozen=True)
class PartialGather(OfActive, Pairs):
    """Each active node receives a different message from every other. Message number: ``origin*n + destination``."""

    name = "partial-gather"
    summary = "each of a set of active nodes receives a different message from every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each terminal to each other active node."""
        return self._pairs(network, np.arange(network.terminal_count), self.active)

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs with an active node."""
        return len(self.active) * network.terminal_count

    def dual(self, network: Network) -> Task:
        """Partial exchange."""
        return PartialExchange(self.active)


# Collectives with a count for every rank or pair of ranks: alltoallv, scatterv, gatherv.

_MOST = 2**31 - 1


def _counts(values: Any, what: str) -> tuple[int, ...]:
    counts = tuple(whole_count(v) for v in listed(values, what))
    for rank, count in enumerate(counts):
        if not 0 <= count <= _MOST:
            raise TaskError(f"{what}: the count for node {rank} is {count}; it must be in 0..{_MOST}")
    return counts


@dataclass(frozen=True)
class UnevenExchange(Pairs):
    """Every node sends ``counts[u][v]`` packets to node v (alltoallv). Message number: ``origin*n + destination``.

    Attributes
    ----------
    counts : tuple of tuples of int
        Packets for each pair, 0 for none; 0 on the diagonal.

    Examples
    --------
    >>> UnevenExchange([[0, 3], [1, 0]]).describe()
    'alltoallv (4 packets, 1 to 3 a pair)'
    """

    counts: tuple[tuple[int, ...], ...]

    name = "uneven-exchange"
    customary = "alltoallv"
    summary = "every node sends a number of packets of its own choice to each other"

    def __post_init__(self) -> None:
        given = listed(self.counts, "the counts")
        rows = tuple(_counts(row, f"the counts, row {u}") for u, row in enumerate(given))
        for u, row in enumerate(rows):
            if len(row) != len(rows):
                raise TaskError(f"the counts, row {u}: there are {len(row)} counts for {len(rows)} nodes")
            if row[u]:
                raise TaskError(f"the counts, row {u}: node {u} sends {row[u]} packets to itself; it must be 0")
        object.__setattr__(self, "counts", rows)

    def check(self, network: Network) -> None:
        """Raise TaskError if there is not one row for each terminal of `network`."""
        if len(self.counts) != network.terminal_count:
            raise TaskError(f"the counts have {len(self.counts)} rows; {network.spec} has {network.terminal_count}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message for each pair with a count, of so many packets."""
        counts = np.array(self.counts, np.int64).reshape(len(self.counts), -1)
        origin, target = np.nonzero(counts)
        size = counts[origin, target]
        return _moved(origin * network.terminal_count + target, origin, target, size)

    def most_messages(self, network: Network) -> int:
        """Return the number of packets."""
        return sum(map(sum, self.counts))

    def dual(self, network: Network) -> Task:
        """Return the exchange of the transposed counts."""
        return UnevenExchange(tuple(zip(*self.counts, strict=True)))

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.counts), dtype=np.int64))
        counts = np.zeros((len(self.counts),) * 2, np.int64)
        counts[np.ix_(names, names)] = np.array(self.counts, np.int64).reshape(len(self.counts), -1)
        return UnevenExchange(tuple(map(tuple, counts.tolist())))

    def describe(self) -> str:
        """Return the name with the packets, for people."""
        used = [count for row in self.counts for count in row if count]
        span = f", {min(used)} to {max(used)} a pair" if used else ""
        return f"{self.word} ({quantity(sum(used), 'packet')}{span})"


def _moved(ids: Ids, origin: Ids, target: Ids, size: Ids) -> Messages:
    start = np.arange(ids.size + 1, dtype=np.int64)
    even = bool((size == 1).all())
    discipline = np.full(ids.size, MOVE)
    ends = origin.astype(np.int32), target.astype(np.int32)
    return Messages(ids, ends[0], discipline, start, ends[1], sizes=None if even else size)


@dataclass(frozen=True)
class _UnevenRooted(Task):
    """Packets between a root and every other node, a count for each. Message number: the other node."""

    counts: tuple[int, ...]
    root: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _counts(self.counts, "the counts"))
        object.__setattr__(self, "root", node_number(self.root, "root"))

    def check(self, network: Network) -> None:
        """Raise TaskError if the root is not a terminal of `network`, or the counts are not one for each."""
        check_node(network, self.root, "root")
        n = network.terminal_count
        if len(self.counts) != n:
            raise TaskError(f"the counts list {len(self.counts)} nodes; {network.spec} has {n}")

    def _others(self) -> tuple[Ids, Ids]:
        """Return the nodes other than the root that have a count, and the counts."""
        counts = np.array(self.counts, np.int64)
        counts[self.root] = 0  # what the root keeps does not move
        others = np.flatnonzero(counts)
        return others, counts[others]

    def most_messages(self, network: Network) -> int:
        """Return the number of packets."""
        return sum(self.counts)

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the root and the others."""
        names = by(np.arange(len(self.counts), dtype=np.int64))
        counts = np.zeros(names.size, np.int64)
        counts[names] = self.counts
        return type(self)(tuple(counts.tolist()), int(names[self.root]))

    def describe(self) -> str:
        """Return the name with the packets, for people."""
        return f"{self.word} (root {self.root}, {quantity(int(self._others()[1].sum()), 'packet')})"


@dataclass(frozen=True)
class UnevenScatter(_UnevenRooted):
    """One node sends ``counts[v]`` packets to each other node v (scatterv). Message number: the destination.

    >>> UnevenScatter([0, 2, 1]).describe()
    'scatterv (root 0, 3 packets)'
    """

    name = "uneven-scatter"
    customary = "scatterv"
    summary = "one node sends a number of packets to each other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message for each other node with a count."""
        others, size = self._others()
        return _moved(others, np.full(others.size, self.root), others, size)

    def dual(self, network: Network) -> Task:
        """Return the gather with the same counts."""
        return UnevenGather(self.counts, self.root)


@dataclass(frozen=True)
class UnevenGather(_UnevenRooted):
    """One node receives ``counts[u]`` packets from each other node u (gatherv). Message number: the origin."""

    name = "uneven-gather"
    customary = "gatherv"
    summary = "one node receives a number of packets from each other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message from each other node with a count."""
        others, size = self._others()
        return _moved(others, others, np.full(others.size, self.root), size)

    def dual(self, network: Network) -> Task:
        """Return the scatter with the same counts."""
        return UnevenScatter(self.counts, self.root)
