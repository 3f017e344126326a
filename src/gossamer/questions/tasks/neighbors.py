"""Neighbor exchange: every node sends a message over each of its links, as in the halo exchange of a stencil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import TaskError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Ids, Messages, Task, check_node, listed, node_number, to_one

__all__ = ["NeighborExchange"]


@dataclass(frozen=True)
class NeighborExchange(Task):
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

    def _pairs(self, network: Network) -> tuple[Ids, Ids]:
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
        source, target = self._pairs(network)
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

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Swap origin and destination."""
        n = network.terminal_count
        return ids % n * n + ids // n

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename origin and destination."""
        n = network.terminal_count
        return by(ids // n) * n + by(ids % n)


def _edge(row: Any, place: int) -> tuple[int, int]:
    ends = [node_number(v, f"node of edge {place}") for v in listed(row, f"edge {place}")]
    if len(ends) != 2 or ends[0] == ends[1]:
        raise TaskError(f"edge {place} must be two different nodes, got {ends}")
    return ends[0], ends[1]


def _edges(network: Network) -> tuple[Ids, Ids]:
    among = (network.link_source < network.terminal_count) & (network.link_target < network.terminal_count)
    return network.link_source[among].astype(np.int64), network.link_target[among].astype(np.int64)
