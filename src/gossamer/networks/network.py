"""The network: nodes, directed links, and what is known of their structure.

Every family builds the same class. What an algorithm may rely on beyond the links is in optional fields: `grid`
(arrays and tori), `factors` (products), `group` (Cayley networks), `levels` (fat trees).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.groups import Group

__all__ = ["MAX_LINKS", "BreadthFirst", "FatTreeLevels", "Grid", "IntArray", "Network"]

IntArray = npt.NDArray[np.int32]

MAX_LINKS = 400_000_000
"""The largest number of directed links a network may have (about 5 GB of arrays)."""


@dataclass(frozen=True)
class Grid:
    """The shape of an array or torus.

    Attributes
    ----------
    sides : tuple of int
        Nodes along each dimension, the first side most significant in the node number: node ``(x_0, ..., x_k)``
        has number ``(...(x_0*sides[1] + x_1)*sides[2] + ...)``. Digit l of the papers (0 = least significant) is
        dimension ``len(sides)-1-l``.
    wraps : tuple of bool
        Whether a dimension is a ring of at least 3 nodes. A 2-sided torus dimension is a single link pair, like
        that of an array, and so has ``wraps`` false (Varvarigos and Bertsekas 1994; erratum X1).
    """

    sides: tuple[int, ...]
    wraps: tuple[bool, ...]

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return len(self.sides)

    @property
    def strides(self) -> tuple[int, ...]:
        """Difference in node number of one step along each dimension."""
        strides = [1]
        for side in self.sides[:0:-1]:
            strides.append(strides[-1] * side)
        return tuple(reversed(strides))


@dataclass(frozen=True)
class FatTreeLevels:
    """The shape of a complete k-ary fat tree: branching, height, and the capacity of the branches below each level."""

    arity: int
    height: int
    capacities: tuple[int, ...]


class BreadthFirst(NamedTuple):
    """A breadth-first search from one node.

    `distance` int32[N] in hops (-1 where unreachable), `parent_link` int32[N] the link by which a node was first
    reached (-1 at the source), `order` int32[reached] the nodes in the order of the visit.
    """

    distance: IntArray
    parent_link: IntArray
    order: IntArray


def _frozen(values: npt.ArrayLike, what: str) -> IntArray:
    """Return `values` as a read-only int32 array, without a copy where it is an int32 array already."""
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise NetworkError(f"{what} must be integers, got {given.dtype} values")
    if given.size and given.dtype != np.int32 and max(int(given.max()), -int(given.min())) >= 2**31:
        raise NetworkError(f"{what} must be integers of at most 32 bits")
    array = np.asarray(given, np.int32, order="C")
    array.flags.writeable = False
    return array


class Network:
    """A directed graph of nodes and links; immutable.

    Parameters
    ----------
    spec : str
        Canonical text that `gossamer.network` parses back to this network, or a free name when `links_only`.
    node_count : int
        Number of nodes N; the nodes are 0..N-1.
    link_source, link_target : array_like of int, shape (L,)
        Ends of each link, sorted by source, so that the links of one node are a slice. A full-duplex edge is two links.
        An int32 array is taken over without a copy and becomes read-only.
    link_capacity : array_like of int, shape (L,) or ()
        Packets that a link carries per slot, at least 1.
    terminal_count : int, optional
        Nodes 0..terminal_count-1 produce and consume messages; the others only pass them on (inner nodes of fat
        trees). Default: all.
    coordinates : array_like of int, shape (N, k), optional
        Node coordinates where the family has them.
    grid, factors, group, levels : optional
        Known structure. With a `group`, node numbers are element numbers and every node's links are in the
        same order of generators, so link ``u*degree + g`` goes from u by the g-th generator.
    labels : sequence of str, optional
        Names of the nodes, where they came with names (edge lists, NetworkX graphs).
    links_only : bool
        True when the spec does not parse back (edge lists, NetworkX graphs): files then hold the links.

    Raises
    ------
    NetworkError
        If the arrays are malformed, unsorted, hold a self-loop or a doubled link, or are out of range.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("ring:4")
    >>> net.node_count, net.link_count, net.link_target.tolist()
    (4, 8, [1, 3, 2, 0, 3, 1, 0, 2])
    """

    def __init__(
        self,
        spec: str,
        node_count: int,
        link_source: npt.ArrayLike,
        link_target: npt.ArrayLike,
        link_capacity: npt.ArrayLike = 1,
        *,
        terminal_count: int | None = None,
        coordinates: npt.ArrayLike | None = None,
        grid: Grid | None = None,
        factors: tuple[Network, ...] = (),
        group: Group | None = None,
        levels: FatTreeLevels | None = None,
        labels: Sequence[str] | None = None,
        links_only: bool = False,
    ) -> None:
        self.spec = spec
        self.node_count = int(node_count)
        self.link_source = _frozen(link_source, f"network {spec!r}: link sources")
        self.link_target = _frozen(link_target, f"network {spec!r}: link targets")
        capacity = _frozen(link_capacity, f"network {spec!r}: link capacities")
        self.uniform_capacity: int | None = None
        if capacity.ndim == 0 or (capacity.shape == self.link_source.shape and (capacity == capacity[:1]).all()):
            self.uniform_capacity = int(capacity.flat[0]) if capacity.size else 1
            capacity = np.broadcast_to(np.int32(self.uniform_capacity), self.link_source.shape)
        self.link_capacity: IntArray = capacity
        self.terminal_count = self.node_count if terminal_count is None else int(terminal_count)
        self._coordinates = None if coordinates is None else _frozen(coordinates, f"network {spec!r}: coordinates")
        self.grid = grid
        self.factors = factors
        self.group = group
        self.levels = levels
        self.labels = None if labels is None else tuple(labels)
        self.links_only = links_only
        self._check()
        counts = np.bincount(self.link_source, minlength=self.node_count)
        first = np.zeros(self.node_count + 1, np.int64)
        np.cumsum(counts, out=first[1:])
        first.flags.writeable = False
        self.first_link: npt.NDArray[np.int64] = first
        self._check_doubled()

    def _check(self) -> None:
        n, source, target = self.node_count, self.link_source, self.link_target
        if n < 1:
            raise NetworkError(f"network {self.spec!r} has {n} nodes; at least 1 is needed")
        if source.ndim != 1 or source.shape != target.shape or self.link_capacity.shape != source.shape:
            raise NetworkError(f"network {self.spec!r}: link arrays must be one-dimensional and of one length")
        if not 1 <= self.terminal_count <= n:
            raise NetworkError(f"network {self.spec!r}: terminal_count must be 1..{n}, got {self.terminal_count}")
        if source.size:
            low, high = int(min(source.min(), target.min())), int(max(source.max(), target.max()))
            if low < 0 or high >= n:
                raise NetworkError(
                    f"network {self.spec!r}: a link end is node {low if low < 0 else high}, outside 0..{n - 1}"
                )
            if np.any(source[1:] < source[:-1]):
                raise NetworkError(f"network {self.spec!r}: links must be sorted by source")
            if np.any(source == target):
                where = int(source[np.argmax(source == target)])
                raise NetworkError(f"network {self.spec!r}: node {where} has a link to itself")
            if int(self.link_capacity.min()) < 1:
                raise NetworkError(f"network {self.spec!r}: link capacities must be at least 1")
        if self.group is not None and (self.group.order != n or source.size % n):
            raise NetworkError(f"network {self.spec!r}: its group has {self.group.order} elements for {n} nodes")
        if self.labels is not None and len(self.labels) != n:
            raise NetworkError(f"network {self.spec!r}: {len(self.labels)} labels are given for {n} nodes")
        if self._coordinates is not None and (self._coordinates.ndim != 2 or len(self._coordinates) != n):
            raise NetworkError(f"network {self.spec!r}: coordinates need one row for each of {n} nodes")

    def _check_doubled(self) -> None:
        """Refuse two links between the same nodes; the families' own products and groups cannot have any."""
        source, target = self.link_source, self.link_target
        if not source.size or self.group is not None or self.factors:
            return
        if self.degree <= 16:
            pairs = [(source[k:] == source[:-k]) & (target[k:] == target[:-k]) for k in range(1, self.degree)]
            doubled = next((int(np.argmax(p)) for p in pairs if p.any()), -1)
        else:
            key = source * np.int64(self.node_count) + target
            order = np.argsort(key, kind="stable")
            same = np.flatnonzero(np.diff(key[order]) == 0)
            doubled = int(order[same[0]]) if same.size else -1
        if doubled >= 0:
            raise NetworkError(
                f"network {self.spec!r}: the link from {source[doubled]} to {target[doubled]} is given twice"
            )

    # -- sizes -----------------------------------------------------------------------------------------------

    @property
    def link_count(self) -> int:
        """Number of directed links L."""
        return int(self.link_source.size)

    @cached_property
    def out_degree(self) -> npt.NDArray[np.int64]:
        """Links leaving each node, int64[N]."""
        return np.diff(self.first_link)

    @cached_property
    def in_degree(self) -> npt.NDArray[np.int64]:
        """Links entering each node, int64[N]."""
        return np.bincount(self.link_target, minlength=self.node_count).astype(np.int64)

    @cached_property
    def degree(self) -> int:
        """The largest out-degree."""
        return int(self.out_degree.max())

    @cached_property
    def coordinates(self) -> IntArray | None:
        """Node coordinates, int32[N, k], or None where the family has none."""
        if self._coordinates is None and self.grid is not None:
            node = np.arange(self.node_count, dtype=np.int32)[:, None]
            digits = node // np.array(self.grid.strides, np.int32) % np.array(self.grid.sides, np.int32)
            return _frozen(digits, "coordinates")
        return self._coordinates

    @property
    def nbytes(self) -> int:
        """Bytes held by the link arrays."""
        capacity = 4 if self.uniform_capacity is not None else self.link_capacity.nbytes
        return self.link_source.nbytes + self.link_target.nbytes + self.first_link.nbytes + capacity

    # -- links ------------------------------------------------------------------------------------------------

    def _check_node(self, node: int) -> None:
        if not 0 <= node < self.node_count:
            raise NetworkError(f"network {self.spec!r}: node {node} is outside 0..{self.node_count - 1}")

    def out_links(self, node: int) -> range:
        """Return the link numbers that leave `node`.

        Raises
        ------
        NetworkError
            If `node` is outside 0..N-1.
        """
        self._check_node(node)
        return range(int(self.first_link[node]), int(self.first_link[node + 1]))

    def link_between(self, source: int, target: int) -> int:
        """Return the link from `source` to `target`.

        Raises
        ------
        NetworkError
            If the two are not adjacent.
        """
        self._check_node(source)
        self._check_node(target)
        links = self.out_links(source)
        hit = np.flatnonzero(self.link_target[links.start : links.stop] == target)
        if not hit.size:
            raise NetworkError(f"network {self.spec!r} has no link from node {source} to node {target}")
        return links.start + int(hit[0])

    @cached_property
    def reverse_link(self) -> IntArray:
        """The opposite link of each link, int32[L]; -1 where a link has no opposite."""
        what = "reverse links"
        if not self.link_count:
            return _frozen(self.link_source, what)
        if self.group is not None:
            generators = self.generators
            match = self.group.inverse(generators)[:, None] == generators
            column = np.where(match.any(axis=1), match.argmax(axis=1), -1).astype(np.int32)
            opposite = self.link_target.reshape(self.node_count, -1) * np.int32(len(generators)) + column
            return _frozen(np.where(column < 0, np.int32(-1), opposite).reshape(-1), what)
        n = np.int64(self.node_count)
        forward = self.link_source * n + self.link_target
        order = np.argsort(forward, kind="stable")
        backward = self.link_target * n + self.link_source
        place = np.minimum(np.searchsorted(forward, backward, sorter=order), forward.size - 1)
        found = order[place]
        return _frozen(np.where(forward[found] == backward, found, -1), what)

    @property
    def generators(self) -> npt.NDArray[np.int64]:
        """Elements of the group by which the links of a node lead away, int64[degree].

        Raises
        ------
        NetworkError
            If the network is not given as a Cayley network.
        """
        if self.group is None:
            raise NetworkError(f"network {self.spec!r} has no group: it is not known to be a Cayley network")
        return self.link_target[: self.out_degree[0]].astype(np.int64)

    # -- distances --------------------------------------------------------------------------------------------

    def breadth_first(self, source: int) -> BreadthFirst:
        """Search the network breadth-first from `source`; links of a node are tried in their order. O(N + L).

        Raises
        ------
        NetworkError
            If `source` is not a node.
        """
        from gossamer.networks import _kernels

        n = self.node_count
        self._check_node(source)
        distance, parent, order = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        reached = _kernels.breadth_first(self.first_link, self.link_target, source, distance, parent, order)
        return BreadthFirst(distance, parent, order[:reached])

    def distances(self, source: int) -> IntArray:
        """Return the hops of a shortest path from `source` to every node, int32[N]; -1 where unreachable. O(N + L)."""
        return self.breadth_first(source).distance

    def eccentricity(self, source: int) -> int:
        """Return the largest distance from `source`. O(N + L).

        Raises
        ------
        NetworkError
            If some node cannot be reached.
        """
        distance = self.distances(source)
        if int(distance.min()) < 0:
            missing = int(np.argmin(distance))
            raise NetworkError(f"network {self.spec!r} is not connected: no path from node {source} to node {missing}")
        return int(distance.max())

    @cached_property
    def diameter(self) -> int:
        """The largest distance between two nodes. O(1) on grids, O(N + L) on Cayley networks, else O(N (N + L)).

        Products add up the diameters of their factors.
        """
        if self.grid is not None:
            return sum(s // 2 if w else s - 1 for s, w in zip(self.grid.sides, self.grid.wraps, strict=True))
        if self.factors:
            return sum(f.diameter for f in self.factors)
        sources = range(1) if self.group is not None else range(self.node_count)
        return max(self.eccentricity(s) for s in sources)

    # -- names and identity -----------------------------------------------------------------------------------

    def node_name(self, node: int) -> str:
        """Return a readable name: the label, else the coordinates where the family has them, else the number."""
        if self.labels is not None:
            return self.labels[node]
        if self.coordinates is None:
            return str(int(node))
        return "(" + ",".join(str(int(x)) for x in self.coordinates[node]) + ")"

    def link_name(self, link: int) -> str:
        """Return ``source->target`` by node names."""
        return f"{self.node_name(int(self.link_source[link]))}->{self.node_name(int(self.link_target[link]))}"

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the links, equal for equal networks whatever they are called."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.array([self.node_count, self.terminal_count], np.int64).tobytes())
        for array in (self.link_source, self.link_target, np.ascontiguousarray(self.link_capacity)):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        if self is other:
            return True
        return self.node_count == other.node_count and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash((self.node_count, self.link_count))

    def __repr__(self) -> str:
        return f"<Network {self.spec}: {self.node_count} nodes, {self.link_count} links>"
