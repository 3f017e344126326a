"""Personalized exchanges: every message has an origin and a destination of its own; neighbor exchanges among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.networks import as_network
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


def _plain(counts: npt.NDArray[np.integer[Any]]) -> bool:
    """Return whether a table of counts has nothing to complain of."""
    square = counts.shape[0] == counts.shape[1] > 0
    return square and counts.min() >= 0 and counts.max() <= _MOST and not counts.diagonal().any()


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
        given: Any = self.counts
        if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "iu" and _plain(given):
            object.__setattr__(self, "counts", tuple(map(tuple, given.tolist())))
            return
        given = listed(given, "the counts")
        rows = tuple(_counts(row, f"the counts, row {u}") for u, row in enumerate(given))
        for u, row in enumerate(rows):
            if len(row) != len(rows):
                raise TaskError(f"the counts, row {u}: there are {len(row)} counts for {len(rows)} nodes")
            if row[u]:
                raise TaskError(f"the counts, row {u}: node {u} sends {row[u]} packets to itself; it must be 0")
        object.__setattr__(self, "counts", rows)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.counts)

    @cached_property
    def table(self) -> npt.NDArray[np.int64]:
        """The counts, int64[n, n], read-only."""
        found = np.array(self.counts, np.int64).reshape(len(self.counts), -1)
        found.flags.writeable = False
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: the counts."""
        return {"counts": self.counts}

    def check(self, network: Network) -> None:
        """Raise TaskError if there is not one row for each terminal of `network`."""
        if len(self.counts) != network.terminal_count:
            raise TaskError(f"the counts have {len(self.counts)} rows; {network.spec} has {network.terminal_count}")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message for each pair with a count, of so many packets."""
        return self._messages

    @cached_property
    def _messages(self) -> Messages:
        origin, target = np.nonzero(self.table)
        return _moved(origin * len(self.counts) + target, origin, target, self.table[origin, target])

    def most_messages(self, network: Network) -> int:
        """Return the number of packets."""
        return int(self.table.sum())

    def dual(self, network: Network) -> Task:
        """Return the exchange of the transposed counts."""
        return UnevenExchange(tuple(zip(*self.counts, strict=True)))

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename origins and destinations."""
        names = by(np.arange(len(self.counts), dtype=np.int64))
        counts = np.zeros((len(self.counts),) * 2, np.int64)
        counts[np.ix_(names, names)] = self.table
        return UnevenExchange(tuple(map(tuple, counts.tolist())))

    def describe(self) -> str:
        """Return the name with the packets, for people."""
        used = self.table[self.table > 0]
        span = f", {used.min()} to {used.max()} a pair" if used.size else ""
        return f"{self.word} ({quantity(int(used.sum()), 'packet')}{span})"


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


@dataclass(frozen=True)
class NeighborExchange(Pairs):
    """Every terminal sends a different message to each of its neighbors (halo, neighbor alltoall).

    Neighbors are terminals with a link from one to the other, or those of a graph of your own, such as a mesh whose
    parts lie on the terminals. Message number: ``origin*n + destination`` over n terminals.

    Attributes
    ----------
    edges : tuple of (int, int), optional
        Pairs (origin, destination) of the graph. Default: the links of the network.

    Examples
    --------
    >>> import gossamer
    >>> NeighborExchange().messages(gossamer.network("array:3")).ids.tolist()
    [1, 3, 5, 7]
    >>> NeighborExchange.along("ring:4").describe()
    'neighbor-alltoall (8 edges)'
    """

    edges: tuple[tuple[int, int], ...] | None = None

    name = "neighbor-exchange"
    customary = "neighbor-alltoall"
    summary = "every node sends a different message to each of its neighbors"

    def __post_init__(self) -> None:
        if self.edges is None:
            return
        rows = tuple(_edge(row, k) for k, row in enumerate(listed(self.edges, "the edges")))
        seen: set[tuple[int, int]] = set()
        for k, row in enumerate(rows):
            if row in seen:
                raise TaskError(f"edge {k}: the edge from node {row[0]} to node {row[1]} is listed twice")
            seen.add(row)
        object.__setattr__(self, "edges", rows)

    @classmethod
    def along(cls, graph: Network | Any) -> NeighborExchange:
        """Return the exchange along a graph: a network, its spec, a NetworkX graph or a file of links.

        Node u of the graph is terminal u.
        """
        ends = _edges(as_network(graph))
        return cls(tuple(zip(*(e.tolist() for e in np.unique(np.stack(ends), axis=1)), strict=True)))

    def _ends(self, network: Network) -> tuple[Ids, Ids]:
        if self.edges is None:
            return _edges(network)
        pairs = np.array(self.edges, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def check(self, network: Network) -> None:
        """Raise TaskError if no terminal has a link to another, or a node of the graph is no terminal."""
        for k, row in enumerate(self.edges or ()):
            for node in row:
                check_node(network, node, f"edge {k}:")
        if self.edges is not None:
            return
        if network.terminal_count > 1 and not _edges(network)[0].size and network.link_count:
            raise TaskError(f"no terminal of {network.spec} is linked to another, so there are no neighbors")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message for each pair of terminals with a link."""
        source, target = self._ends(network)
        ids = source * np.int64(network.terminal_count) + target
        ids, once = np.unique(ids, return_index=True)
        return to_one(ids, source[once], target[once])

    def most_messages(self, network: Network) -> int:
        """Return the number of links, or edges."""
        return network.link_count if self.edges is None else len(self.edges)

    def dual(self, network: Network) -> Task:
        """Return the exchange of the edges turned round; links are those of the transposed network."""
        return self if self.edges is None else NeighborExchange(tuple((v, u) for u, v in self.edges))

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the ends of the edges."""
        if self.edges is None:
            return self
        pairs = np.array(self.edges, np.int64).reshape(-1, 2)
        named = by(pairs.reshape(-1)).reshape(-1, 2)
        return NeighborExchange(tuple(zip(named[:, 0].tolist(), named[:, 1].tolist(), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: the name, and the edges if there are any of its own."""
        return {"name": self.name} | ({} if self.edges is None else {"edges": [list(row) for row in self.edges]})

    def describe(self) -> str:
        """Return the name with the number of edges, for people."""
        return self.word if self.edges is None else f"{self.word} ({quantity(len(self.edges), 'edge')})"


def _edge(row: Any, place: int) -> tuple[int, int]:
    ends = [node_number(v, f"node of edge {place}") for v in listed(row, f"edge {place}")]
    if len(ends) != 2 or ends[0] == ends[1]:
        raise TaskError(f"edge {place} must be two different nodes, got {ends}")
    return ends[0], ends[1]


def _edges(network: Network) -> tuple[Ids, Ids]:
    among = (network.link_source < network.terminal_count) & (network.link_target < network.terminal_count)
    return network.link_source[among].astype(np.int64), network.link_target[among].astype(np.int64)
