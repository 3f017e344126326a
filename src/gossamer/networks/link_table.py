"""The columns of a network: nodes and directed links with their capacities and times, and searches along them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import index
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, shown
from gossamer.jit import njit
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import IntArray, Speeds, Structure, int_array
from gossamer.reading import text, whole

Ints = npt.NDArray[np.int64]


@njit(cache=True, nogil=True, small=100_000)
def breadth_first(first_link, link_target, source, distance, parent_link, order):
    """Fill `distance` (-1 where unreachable), `parent_link` and the visiting `order`; return the nodes reached."""
    distance[:] = -1
    parent_link[:] = -1
    distance[source] = 0
    order[0] = source
    head, tail = 0, 1
    while head < tail:
        u = order[head]
        head += 1
        for link in range(first_link[u], first_link[u + 1]):
            v = link_target[link]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                parent_link[v] = link
                order[tail] = v
                tail += 1
    return tail


# What the links of every network must satisfy.


def check_links(name: str, nodes: int, source: IntArray, target: IntArray, capacity: IntArray) -> None:
    """Refuse links out of range, out of order, to their own source or of no capacity, and a network of no nodes."""
    if nodes < 1:
        raise NetworkError(f"{name} has {nodes} nodes; at least 1 is needed")
    if source.ndim != 1 or source.shape != target.shape or capacity.shape != source.shape:
        raise NetworkError(f"{name}: link arrays must be one-dimensional and of one length")
    if not source.size:
        return
    low, high = int(min(source.min(), target.min())), int(max(source.max(), target.max()))
    if low < 0 or high >= nodes:
        raise NetworkError(f"{name}: a link end is node {low if low < 0 else high}, outside 0..{nodes - 1}")
    if np.any(source[1:] < source[:-1]):
        raise NetworkError(f"{name}: links must be sorted by source")
    if np.any(source == target):
        raise NetworkError(f"{name}: node {int(source[np.argmax(source == target)])} has a link to itself")
    if int(capacity.min()) < 1:
        raise NetworkError(f"{name}: link capacities must be at least 1")


def check_times(name: str, occupancy: IntArray, latency: IntArray, links: int) -> None:
    """Refuse occupancies and latencies that are not one for each link, or too small."""
    for what, column, least in (("occupancies", occupancy, 1), ("latencies", latency, 0)):
        if column.shape != (links,):
            raise NetworkError(f"{name}: link {what} must be one for each of {links} links")
        if links and int(column.min()) < least:
            raise NetworkError(f"{name}: link {what} must be at least {least}")


def check_doubled(
    name: str, nodes: int, degree: int, ends: tuple[IntArray, IntArray], kinds: Sequence[npt.NDArray[Any]]
) -> None:
    """Refuse two links between the same nodes that are alike in every column of `kinds`: they are one of more capacity.

    No node has more than `degree` links.
    """
    source, target = ends
    if degree <= 16 and not kinds:
        pairs = [(source[k:] == source[:-k]) & (target[k:] == target[:-k]) for k in range(1, degree)]
        doubled = next((int(np.argmax(p)) for p in pairs if p.any()), -1)
    else:
        order = np.lexsort((*kinds, source * np.int64(nodes) + target))
        same = np.ones(max(order.size - 1, 0), np.bool_)
        for column in (source, target, *kinds):
            same &= np.diff(column[order]) == 0
        doubled = int(order[np.argmax(same)]) if same.any() else -1
    if doubled >= 0:
        again = "given twice" if not kinds else "given twice with the same times; give it more capacity"
        raise NetworkError(f"{name}: the link from {source[doubled]} to {target[doubled]} is {again}")


_Kind = TypeVar("_Kind", bound=Structure)


class BreadthFirst(NamedTuple):
    """A breadth-first search from one node.

    `distance` int32[N] in hops (-1 where unreachable), `parent_link` int32[N] the link by which a node was first
    reached (-1 at the source), `order` int32[reached] the nodes in the order of the visit.
    """

    distance: IntArray
    parent_link: IntArray
    order: IntArray


class LinkTable:
    """What `Network` holds of nodes and links; its parameters are described there."""

    def __init__(
        self,
        spec: str,
        node_count: int,
        link_source: npt.ArrayLike,
        link_target: npt.ArrayLike,
        link_capacity: npt.ArrayLike = 1,
        *,
        link_occupancy: npt.ArrayLike = 1,
        link_latency: npt.ArrayLike = 0,
        terminal_count: int | None = None,
        structures: Sequence[Structure] = (),
        labels: Sequence[str] | None = None,
        links_only: bool = False,
    ) -> None:
        self.spec = spec
        self.node_count = whole(node_count, f"network {spec!r}: node_count", error=NetworkError)
        self.link_source = int_array(link_source, f"network {spec!r}: link sources")
        self.link_target = int_array(link_target, f"network {spec!r}: link targets")
        self.link_capacity, self.uniform_capacity = self._column(link_capacity, "capacities", 1)
        self.link_occupancy, self.uniform_occupancy = self._column(link_occupancy, "occupancies", 1)
        self.link_latency, self.uniform_latency = self._column(link_latency, "latencies", 0)
        self.terminal_count = self.node_count
        if terminal_count is not None:
            named = f"network {spec!r}: terminal_count"
            self.terminal_count = whole(terminal_count, named, error=NetworkError)
        self.structures = tuple(structures)
        name = f"network {spec!r}: the name of a node"
        self.labels = None if labels is None else tuple(text(label, name, error=NetworkError) for label in labels)
        self.links_only = links_only
        self._check()
        counts = np.bincount(self.link_source, minlength=self.node_count)
        first = np.zeros(self.node_count + 1, np.int64)
        np.cumsum(counts, out=first[1:])
        first.flags.writeable = False
        self.first_link: Ints = first
        if self._may_double:
            check_doubled(f"network {spec!r}", self.node_count, self.degree, self._ends, self._differences)

    @property
    def _may_double(self) -> bool:
        """Whether a link may be given twice: not in groups and products of the families."""
        return True

    def _column(self, values: npt.ArrayLike, what: str, default: int) -> tuple[IntArray, int | None]:
        """Return a value for each link, and the one that all have; a broadcast array where all have one."""
        array = int_array(values, f"network {self.spec!r}: link {what}")
        if array.ndim and not (array.shape == self.link_source.shape and (array == array[:1]).all()):
            return array, None
        same = int(array.flat[0]) if array.size else default
        return np.broadcast_to(np.int32(same), self.link_source.shape), same

    def _check(self) -> None:
        n, name = self.node_count, f"network {self.spec!r}"
        check_links(name, n, self.link_source, self.link_target, self.link_capacity)
        check_times(name, self.link_occupancy, self.link_latency, self.link_count)
        if not 1 <= self.terminal_count <= n:
            raise NetworkError(f"{name}: terminal_count must be 1..{n}, got {self.terminal_count}")
        if self.labels is not None and len(self.labels) != n:
            raise NetworkError(f"{name}: {len(self.labels)} labels are given for {n} nodes")
        for structure in self.structures:
            if fault := structure.fault(n, self.link_count):
                raise NetworkError(f"{name}: {fault}")
        if self.shared_ports is not None and (fault := self.shared_ports.too_slow(self.link_occupancy)):
            raise NetworkError(f"{name}: {fault}")

    def find(self, kind: type[_Kind]) -> _Kind | None:
        """Return what is known of the network's structure of one kind, or None.

        >>> import gossamer
        >>> from gossamer.networks import Grid
        >>> gossamer.network("torus:4x4").find(Grid)
        Grid(sides=(4, 4), wraps=(True, True))
        """
        return next((s for s in self.structures if isinstance(s, kind)), None)

    @property
    def link_count(self) -> int:
        """Number of directed links L."""
        return int(self.link_source.size)

    @cached_property
    def out_degree(self) -> Ints:
        """Links leaving each node, int64[N]."""
        return np.diff(self.first_link)

    @cached_property
    def in_degree(self) -> Ints:
        """Links entering each node, int64[N]."""
        return np.bincount(self.link_target, minlength=self.node_count).astype(np.int64)

    @cached_property
    def degree(self) -> int:
        """The largest out-degree."""
        return int(self.out_degree.max())

    @property
    def nbytes(self) -> int:
        """Bytes held by the link arrays."""
        columns = ((self.link_capacity, self.uniform_capacity), *self._times)
        told = sum(4 if same is not None else column.nbytes for column, same in columns)
        return self.link_source.nbytes + self.link_target.nbytes + self.first_link.nbytes + told

    @property
    def plain(self) -> bool:
        """Whether every link has occupancy 1 and latency 0, and none shares a port with others.

        What hops in a slot is then usable in the next.

        >>> import gossamer
        >>> gossamer.network("ring:4").plain
        True
        """
        return self._instant and self.shared_ports is None

    @property
    def _instant(self) -> bool:
        return self.uniform_occupancy == 1 and self.uniform_latency == 0

    @cached_property
    def shared_ports(self) -> SharedPorts | None:
        """The ports that links share, or None."""
        known = self.find(SharedPorts)
        return known if known is not None and known.count else None

    @property
    def _times(self) -> tuple[tuple[IntArray, int | None], tuple[IntArray, int | None]]:
        return (self.link_occupancy, self.uniform_occupancy), (self.link_latency, self.uniform_latency)

    @property
    def _ends(self) -> tuple[IntArray, IntArray]:
        return self.link_source, self.link_target

    @property
    def _kinds(self) -> list[npt.NDArray[Any]]:
        """Times and speeds by which links may differ, a column each."""
        speeds = self.find(Speeds)
        told = [] if speeds is None else [speeds.bandwidth, speeds.latency]
        return [c for c, same in self._times if same is None] + told

    @property
    def _differences(self) -> list[npt.NDArray[Any]]:
        """What parallel links may differ in: times, speeds and ports, a column each."""
        ports = self.shared_ports
        return [*self._kinds, *(() if ports is None else (ports.sending, ports.receiving))]

    def _known(self, node: int) -> int:
        """Return the number of a node; NetworkError if there is none such."""
        try:
            number = index(node)
        except TypeError:
            number = -1
        if not 0 <= number < self.node_count:
            raise NetworkError(f"network {self.spec!r}: node {shown(node)} is outside 0..{self.node_count - 1}")
        return number

    def out_links(self, node: int) -> range:
        """Return the link numbers that leave `node`.

        Raises `NetworkError` if `node` is outside 0..N-1.
        """
        node = self._known(node)
        return range(int(self.first_link[node]), int(self.first_link[node + 1]))

    def link_between(self, source: int, target: int) -> int:
        """Return the link from `source` to `target`.

        Raises `NetworkError` if the two are not adjacent.
        """
        source, target = self._known(source), self._known(target)
        links = self.out_links(source)
        hit = np.flatnonzero(self.link_target[links.start : links.stop] == target)
        if not hit.size:
            raise NetworkError(f"network {self.spec!r} has no link from node {source} to node {target}")
        return links.start + int(hit[0])

    def links_between(self, source: npt.ArrayLike, target: npt.ArrayLike, way: npt.ArrayLike = 0) -> Ints:
        """Return the links from nodes to others, int64[K]; -1 where there is none.

        Of parallel links the one of the place `way` among those between the two nodes, by number, is meant.

        O(L log L + K log L) for all at once.

        >>> import gossamer
        >>> gossamer.network("array:3").links_between([0, 1, 0], [1, 2, 2]).tolist()
        [0, 1, -1]
        """
        n = self.node_count
        start, end, place = (np.asarray(c, np.int64) for c in (source, target, way))
        key = self.link_source * np.int64(n) + self.link_target
        order = np.argsort(key, kind="stable")
        known = (start >= 0) & (end >= 0) & (end < n) & (place >= 0)
        wanted = np.where(known, start * n + end, -1)
        at = np.searchsorted(key, wanted, sorter=order) + np.where(known, place, 0)
        links = np.append(order, -1)[np.minimum(at, order.size)]
        return np.asarray(np.where(np.append(key, -2)[links] == wanted, links, -1), np.int64)

    @cached_property
    def parallel(self) -> bool:
        """Whether two links, which then differ in their times or ports, lead from one node to the same other."""
        if not self._differences:
            return False
        pair = self.link_source * np.int64(self.node_count) + self.link_target
        return np.unique(pair).size < pair.size

    def breadth_first(self, source: int) -> BreadthFirst:
        """Search the network breadth-first from `source`; links of a node are tried in their order. O(N + L).

        Raises `NetworkError` if `source` is not a node.
        """
        n, source = self.node_count, self._known(source)
        distance, parent, order = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        reached = breadth_first(self.first_link, self.link_target, source, distance, parent, order)
        return BreadthFirst(distance, parent, order[:reached])

    def distances(self, source: int) -> IntArray:
        """Return the hops of a shortest path from `source` to every node, int32[N]; -1 where unreachable. O(N + L)."""
        return self.breadth_first(source).distance

    def eccentricity(self, source: int) -> int:
        """Return the largest distance from `source`. O(N + L).

        Raises `NetworkError` if some node cannot be reached.
        """
        distance = self.distances(source)
        if int(distance.min()) < 0:
            missing = int(np.argmin(distance))
            raise NetworkError(f"network {self.spec!r} is not connected: no path from node {source} to node {missing}")
        return int(distance.max())
