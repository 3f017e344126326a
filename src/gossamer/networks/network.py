"""The network: nodes, directed links, and what is known of their structure.

Every family builds the same class. What an algorithm may rely on beyond the links is a list of records:
``network.find(Grid)`` returns the shape of an array or torus, and None on any other network.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import Pictured, quantity
from gossamer.errors import NetworkError, shown
from gossamer.networks.finite_groups import Group
from gossamer.networks.link_table import BreadthFirst, LinkTable
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import (
    CableCounts,
    CayleyGroup,
    Coordinates,
    Grid,
    IntArray,
    Levels,
    RatedLinks,
    Speeds,
    Structure,
    int_array,
)
from gossamer.reading import instance, whole

__all__ = [
    "MAX_LINKS",
    "BreadthFirst",
    "Factors",
    "Failed",
    "Grid",
    "IntArray",
    "Levels",
    "NamedNodes",
    "Network",
    "has_speeds",
]

# The names of a network's nodes: numbers, coordinates, labels.


class NamedNodes(LinkTable):
    """What a network's nodes are called, and whom somebody means."""

    @cached_property
    def coordinates(self) -> IntArray | None:
        """Node coordinates, int32[N, k], or None where the family has none."""
        known, grid = self.find(Coordinates), self.find(Grid)
        if known is None and grid is not None:
            node = np.arange(self.node_count, dtype=np.int32)[:, None]
            digits = node // np.array(grid.strides, np.int32) % np.array(grid.sides, np.int32)
            return int_array(digits, "coordinates")
        return None if known is None else known.places

    def node_name(self, node: int) -> str:
        """Return a readable name: the label, else the coordinates where the family has them, else the number."""
        node = self._known(node)
        if self.labels is not None:
            return self.labels[node]
        if self.coordinates is None:
            return str(node)
        return "(" + ",".join(str(int(x)) for x in self.coordinates[node]) + ")"

    def short_name(self, node: int) -> str:
        """Return the name of a node, its coordinates without brackets and commas where each is one digit.

        >>> import gossamer
        >>> gossamer.network("array:3x4x2").short_name(12), gossamer.network("torus:12x3").short_name(32)
        ('120', '(10,2)')
        """
        place = self.coordinates
        if place is None or place.shape[1] < 2 or int(place.max()) > 9:
            return self.node_name(node)
        return "".join(str(int(x)) for x in place[node])

    def node(self, value: object) -> int:
        """Return the number of the node that somebody means.

        `value`: a node number, coordinates, or the name that `node_name` prints, of coordinates with or without
        parentheses; a text of digits that is no such name is a number. Raises `NetworkError` if there is no such node.

        >>> import gossamer
        >>> net = gossamer.network("torus:3x4")
        >>> net.node(6), net.node((1, 2)), net.node("(1,2)"), net.node("1,2")
        (6, 6, 6, 6)
        """
        if isinstance(value, str):
            text = "".join(value.split())
            if self.labels is not None and value in self.labels:
                return self.labels.index(value)
            if re.fullmatch(r"\([0-9,]+\)|[0-9]+(,[0-9]+)+", text):
                value = tuple(map(int, re.findall("[0-9]{1,10}", text)))
            elif re.fullmatch("[0-9]{1,10}", text):
                value = int(text)
        if isinstance(value, tuple | list | np.ndarray) and self.coordinates is not None:
            wanted = list(value)
            whole = all(isinstance(x, int | np.integer) for x in wanted)
            if whole and len(wanted) == len(self.coordinates[0]):
                hit = np.flatnonzero((self.coordinates == wanted).all(axis=1))
                if hit.size:
                    return int(hit[0])
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            return self._known(int(value))
        example = self.node_name(self.node_count - 1)
        raise NetworkError(
            f"network {self.spec!r} has no node {shown(value)}; a node is a number 0..{self.node_count - 1} "
            f"or a name such as {example}"
        )

    def link_name(self, link: int) -> str:
        """Return ``source->target`` by node names."""
        link = whole(link, f"network {self.spec!r}: a link", 0, self.link_count - 1, error=NetworkError)
        return f"{self.node_name(int(self.link_source[link]))}->{self.node_name(int(self.link_target[link]))}"


MAX_LINKS = 400_000_000
"""The largest number of directed links a network may have (about 5 GB of arrays)."""


@dataclass(frozen=True)
class Factors(Structure):
    """The networks of which a Cartesian product is made, the first most significant in the node number."""

    networks: tuple[Network, ...]


@dataclass(frozen=True, eq=False)
class Failed(Structure):
    """What the network was before some of its links and nodes failed.

    Attributes
    ----------
    sound : Network
        The network with all its links and nodes.
    nodes, links : int32[N], int32[L]
        The number in `sound` of each node and link that is left.
    words : str
        What failed, for people.
    """

    sound: Network
    nodes: IntArray
    links: IntArray
    words: str


class Network(NamedNodes, Pictured):
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
        Packets that a link carries at once, at least 1.
    link_occupancy : array_like of int, shape (L,) or ()
        Slots for which a packet occupies a link, at least 1. Default: 1.
    link_latency : array_like of int, shape (L,) or ()
        Slots that then pass until it is usable at the far end, 0 or more; a packet that starts in slot t can go on from
        slot ``t + occupancy + latency`` on. Default: 0.
    terminal_count : int, optional
        Nodes 0..terminal_count-1 produce and consume messages; the others only pass them on (inner nodes of fat
        trees). Default: all.
    structures : sequence of Structure
        What is known of it besides: `Grid`, `CayleyGroup`, `Factors`, `Levels`, `Coordinates`, at most one of a kind.
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

    # -- structure ---------------------------------------------------------------------------------------------

    @property
    def grid(self) -> Grid | None:
        """The shape of an array or torus, or None."""
        return self.find(Grid)

    @property
    def group(self) -> Group | None:
        """The group of a Cayley network, or None."""
        known = self.find(CayleyGroup)
        return None if known is None else known.group

    @property
    def _may_double(self) -> bool:
        return self.group is None and not self.factors

    @property
    def factors(self) -> tuple[Network, ...]:
        """The networks of which it is a product; empty if it is not known to be one."""
        known = self.find(Factors)
        return () if known is None else known.networks

    @property
    def levels(self) -> Levels | None:
        """The shape of a fat tree, or None."""
        return self.find(Levels)

    # -- time -------------------------------------------------------------------------------------------------

    @cached_property
    def without_time(self) -> Network:
        """The network with plain links and without shared ports.

        Itself, or the same nodes, links, capacities and structures; parallel links become one that has their
        capacities together, `plain_link`.

        Examples
        --------
        >>> network = Network("two links", 2, [0, 0, 1], [1, 1, 0], link_occupancy=[1, 2, 1], links_only=True)
        >>> network.without_time.link_capacity.tolist(), network.plain_link.tolist()
        ([2, 1], [0, 0, 1])
        """
        if self.plain:
            return self
        known = [s for s in self.structures if not isinstance(s, SharedPorts)]
        if self.parallel:
            kept, where = np.unique(self._pairs, return_inverse=True)
            capacity = np.bincount(where, weights=self.link_capacity, minlength=kept.size)
            return Network(
                self.spec, self.node_count, (kept // self.node_count).astype(np.int32),
                (kept % self.node_count).astype(np.int32), np.minimum(capacity, 2**31 - 1).astype(np.int32),
                terminal_count=self.terminal_count, labels=self.labels, links_only=True,
                structures=[s for s in known if s.of_nodes],
            )  # fmt: skip
        return self._with(1, 0, known, links_only=self.links_only)

    def with_structures(self, structures: Iterable[Structure]) -> Network:
        """Return the network with other structures; nodes, links and what these are like stay."""
        return self._with(self.link_occupancy, self.link_latency, structures, links_only=True)

    @property
    def plain_link(self) -> IntArray:
        """The link of `without_time` that each link is, int32[L]."""
        if self.plain or not self.parallel:
            return int_array(np.arange(self.link_count, dtype=np.int32), "links")
        return int_array(np.unique(self._pairs, return_inverse=True)[1].astype(np.int32).reshape(-1), "links")

    @property
    def _pairs(self) -> npt.NDArray[np.int64]:
        pairs: npt.NDArray[np.int64] = self.link_source * np.int64(self.node_count) + self.link_target
        return pairs

    def with_ports(self, ports: SharedPorts | None) -> Network:
        """Return the network with ports that its links share, or without any; everything else stays.

        Raises
        ------
        NetworkError
            If the ports are not for its links, or one is slower than a link through it.

        Examples
        --------
        >>> import gossamer
        >>> ring = gossamer.network("ring:4")
        >>> one = ring.with_ports(SharedPorts(ring.link_source, ring.link_target))  # a port for each node
        >>> gossamer.plan(one, "allgather").bound
        Fraction(3, 1)
        """
        known = [s for s in self.structures if not isinstance(s, SharedPorts)]
        if ports is not None and instance(ports, SharedPorts, "the ports", error=NetworkError).count:
            known.append(ports)
        return self.with_structures(known)

    def with_times(
        self,
        occupancy: npt.ArrayLike,
        latency: npt.ArrayLike,
        *,
        ports: npt.ArrayLike | None = None,
        links_only: bool = True,
    ) -> Network:
        """Return the network with other occupancies and latencies of its links; everything else stays.

        Parameters
        ----------
        occupancy, latency : array_like of int, shape (L,) or ()
            In slots, as in the constructor.
        ports : array_like of int, shape (P,), optional
            Occupancies of the ports that links share. Default: as they are.
        links_only : bool
            Whether the spec does not parse back to the result, so that files hold its links.

        Raises
        ------
        NetworkError
            If an occupancy is less than 1 or a latency less than 0.

        Examples
        --------
        >>> import gossamer
        >>> slow = gossamer.network("ring:4").with_times(2, 1)
        >>> slow.plain, slow.without_time == gossamer.network("ring:4")
        (False, True)
        """
        known = list(self.structures)
        if ports is not None and self.shared_ports is not None:
            known = [s for s in known if not isinstance(s, SharedPorts)] + [self.shared_ports.replaced(ports)]
        return self._with(occupancy, latency, known, links_only=links_only or self.links_only)

    def _with(
        self,
        occupancy: npt.ArrayLike,
        latency: npt.ArrayLike,
        structures: Iterable[Structure],
        *,
        links_only: bool,
    ) -> Network:
        return Network(
            self.spec,
            self.node_count,
            self.link_source,
            self.link_target,
            self.link_capacity if self.uniform_capacity is None else self.uniform_capacity,
            link_occupancy=occupancy,
            link_latency=latency,
            terminal_count=self.terminal_count,
            structures=list(structures),
            labels=self.labels,
            links_only=links_only,
        )

    @cached_property
    def alike(self) -> bool:
        """Whether it is a Cayley network without switches and shared ports whose links look the same from every node.

        Links by different generators may differ in occupancy and latency, not in capacity.
        """
        if self.group is None or self.uniform_capacity is None or self.terminal_count != self.node_count:
            return False
        if self.shared_ports is not None:
            return False
        columns = [c for c, same in self._times if same is None]
        return all(bool((c.reshape(self.node_count, -1) == c[: self.degree]).all()) for c in columns)

    # -- links ------------------------------------------------------------------------------------------------

    @cached_property
    def reverse_link(self) -> IntArray:
        """The opposite link of each link, int32[L]; -1 where a link has no opposite."""
        what = "reverse links"
        if not self.link_count:
            return int_array(self.link_source, what)
        if self.group is not None:
            generators = self.generators
            match = self.group.inverse(generators)[:, None] == generators
            column = np.where(match.any(axis=1), match.argmax(axis=1), -1).astype(np.int32)
            opposite = self.link_target.reshape(self.node_count, -1) * np.int32(len(generators)) + column
            return int_array(np.where(column < 0, np.int32(-1), opposite).reshape(-1), what)
        n = np.int64(self.node_count)
        forward = self.link_source * n + self.link_target
        backward = self.link_target * n + self.link_source
        if self.parallel:  # a link's opposite is of its kind, with its ports exchanged
            told, ports = [self.link_capacity, *self._kinds], self.shared_ports
            sides = () if ports is None else (ports.sending, ports.receiving)
            rows = np.concatenate([np.stack([*told, *sides]), np.stack([*told, *sides[::-1]])], axis=1)
            kinds = np.unique(rows, axis=1, return_inverse=True)[1].reshape(2, -1)
            ranks = np.int64(int(kinds.max()) + 1)
            forward, backward = forward * ranks + kinds[0], backward * ranks + kinds[1]
        order = np.argsort(forward, kind="stable")
        place = np.minimum(np.searchsorted(forward, backward, sorter=order), forward.size - 1)
        found = order[place]
        return int_array(np.where(forward[found] == backward, found, -1), what)

    @cached_property
    def two_way(self) -> bool:
        """Whether every link has an opposite of the same capacity, times and ports, so that edges are full duplex."""
        ports = self.shared_ports
        if self.levels is not None and not self._kinds and ports is None:
            return True
        if self.group is not None and self.uniform_capacity is not None and not self._kinds and ports is None:
            return set(self.group.inverse(self.generators).tolist()) == set(self.generators.tolist())
        back = self.reverse_link
        if self.link_count and int(back.min()) < 0:
            return False
        if ports is not None and not ports.same_turned(back):
            return False
        columns = [*self._kinds, *([self.link_capacity] if self.uniform_capacity is None else [])]
        return all(bool(np.array_equal(column, column[back])) for column in columns)

    @property
    def transposed(self) -> Network:
        """The network with every link reversed: itself where every link has an opposite.

        Of a one-way network nodes, labels, coordinates and group stay. Its spec is ``transposed:(SPEC)``, and the
        transposed of that is this network again.
        """
        return self if self.two_way else self._turned[0]

    @property
    def transposed_link(self) -> IntArray:
        """The link of this network that each link of `transposed` turns round, int32[L]."""
        return self.reverse_link if self.two_way else self._turned[1]

    @cached_property
    def _turned(self) -> tuple[Network, IntArray]:
        # in a Cayley network the link by generator g, turned round, stays the g-th of its node
        rank = np.arange(self.link_count) % (self.degree if self.group is not None else self.link_count)
        order = int_array(np.lexsort((rank, self.link_target)).astype(np.int32), "links")
        network = Network(
            f"transposed:({self.spec})",
            self.node_count,
            self.link_target[order],
            self.link_source[order],
            self.link_capacity[order],
            link_occupancy=self.link_occupancy[order],
            link_latency=self.link_latency[order],
            terminal_count=self.terminal_count,
            structures=[left for s in self.structures if (left := s.transposed(order)) is not None],
            labels=self.labels,
            links_only=self.links_only,
        )
        place = np.empty_like(order)
        place[order] = np.arange(self.link_count, dtype=np.int32)
        vars(network)["_turned"] = self, int_array(place, "links")
        return network, order

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

    # -- failures ---------------------------------------------------------------------------------------------

    def without(
        self,
        links: Iterable[int | tuple[Any, Any] | tuple[Any, Any, int]] = (),
        nodes: Iterable[Any] = (),
        terminals: Iterable[Any] = (),
    ) -> Network:
        """Return what is left of the network when links and nodes fail.

        Parameters
        ----------
        links : iterable of int, pair of nodes or (node, node, count)
            A link number is that one link; a pair is a cable: every link between the two nodes, both ways. With a
            count, so many of the cables between the two nodes fail, where links have a capacity or are the speed of
            several (`CableCounts`): the capacity or the bandwidth of what is left is lower. Of parallel links the
            fastest fail first.
        nodes : iterable
            Nodes that go, with all their links, each as `node` takes it.
        terminals : iterable
            Nodes that stay as switches: they pass messages on, and neither produce nor consume any.

        Returns
        -------
        Network
            Nodes and links keep their order, terminals first, and nodes their names; capacities, times, speeds and
            coordinates stay. ``find(Failed)`` has the sound network and the old numbers. Parts may be cut off from each
            other: what cannot be carried out then is refused when it is planned.

        Raises
        ------
        NetworkError
            If there is no such link or node, or no terminal is left.

        Examples
        --------
        >>> import gossamer
        >>> left = gossamer.network("ring:5").without(links=[(0, 1)])
        >>> left, left.diameter
        (<Network ring:5 without link (0)-(1): 5 nodes, 8 links>, 4)
        """
        cut, gone = np.zeros(self.link_count, bool), np.zeros(self.node_count, bool)
        switch = np.arange(self.node_count) >= self.terminal_count
        words: list[tuple[str, list[str]]] = [("link", []), ("node", []), ("terminal", [])]
        lost = np.zeros(self.link_count, np.int64)
        for link in links:
            some = None
            if isinstance(link, tuple | list) and len(link) == 3:
                some, link = whole(link[2], "cables that fail", 1, error=NetworkError), (link[0], link[1])
            found = self._cable(link)
            first = int(found[0])
            names = [self.node_name(int(ends[first])) for ends in self._ends]
            word = ("->" if isinstance(link, int | np.integer) else "-").join(names)
            if some is None:
                cut[found] = True
            else:
                word += self._lose(found, some, lost, word)
            words[0][1].append(word)
        cut |= lost == self.cable_counts
        for chosen, which, (_, told) in ((nodes, gone, words[1]), (terminals, switch, words[2])):
            numbers = [self.node(v) for v in chosen]
            which[numbers] = True
            told += map(self.node_name, numbers)
        kept = np.concatenate([np.flatnonzero(~gone & ~switch), np.flatnonzero(~gone & switch)]).astype(np.int32)
        text = " and ".join(_listed(noun, told) for noun, told in words if told)
        return self._left(kept, np.flatnonzero(~cut), int((~gone & ~switch).sum()), text, lost)

    @property
    def cable_counts(self) -> IntArray:
        """Of how many cables each link is: as `CableCounts` says, or else its capacity; int32[L]."""
        known = self.find(CableCounts)
        return self.link_capacity if known is None else known.count

    def _lose(self, found: npt.NDArray[np.int64], some: int, lost: npt.NDArray[np.int64], word: str) -> str:
        """Add to `lost` so many cables each way of some links between two nodes, and say how many these have."""
        ports, speeds = self.shared_ports, self.find(Speeds)
        ways = [found[self.link_source[found] == node] for node in np.unique(self.link_source[found])]
        left = self.cable_counts - lost
        most = min(int(left[way].sum()) for way in ways)
        if not 1 <= some <= most:
            told = quantity(most, "cable")
            raise NetworkError(f"network {self.spec!r}: {word} is {told}, so that {some} of them cannot fail")
        if ports is not None and bool(((ports.sending == ports.receiving) & (ports.sending >= 0))[found].any()):
            raise NetworkError(f"network {self.spec!r}: the cables {word} take turns, so that all of them fail or none")
        for way in ways:
            rest = some
            for link in sorted(way.tolist(), key=lambda i: 0.0 if speeds is None else -float(speeds.bandwidth[i])):
                now = min(rest, int(left[link]))
                lost[link] += now
                rest -= now
        return f" ({some} of {most})"

    def _cable(self, link: int | tuple[Any, Any]) -> npt.NDArray[np.int64]:
        """Return the links that fail with a link or, both ways, between two nodes."""
        if isinstance(link, int | np.integer):
            if not 0 <= link < self.link_count:
                raise NetworkError(f"network {self.spec!r}: link {link} is outside 0..{self.link_count - 1}")
            return np.array([link])
        if not isinstance(link, tuple | list) or len(link) != 2:
            raise NetworkError(f"a link that fails is a number or a pair of nodes, got {shown(link)}")
        u, v = map(self.node, link)
        found = [i for a, b in ((u, v), (v, u)) for i in self.out_links(a) if self.link_target[i] == b]
        if not found:
            self.link_between(u, v)
        return np.array(found)

    def _left(
        self, kept: IntArray, links: npt.NDArray[np.int64], terminal_count: int, words: str, lost: npt.NDArray[np.int64]
    ) -> Network:
        """Return the network of some nodes, in a new order, and of what is left of those of some links between them."""
        if not terminal_count:
            raise NetworkError(f"network {self.spec!r}: no terminal is left without {words}")
        new = np.full(self.node_count, -1, np.int32)
        new[kept] = np.arange(kept.size, dtype=np.int32)
        ends = new[self.link_source[links]], new[self.link_target[links]]
        links = links[(ends[0] >= 0) & (ends[1] >= 0)]
        rest = int_array(links[np.argsort(new[self.link_source[links]], kind="stable")].astype(np.int32), "links")
        found = [left for s in self.structures if (left := s.remaining(kept, rest)) is not None]
        if self.coordinates is not None and self.find(Coordinates) is None:
            found.append(Coordinates(self.coordinates[kept]))
        capacity, found = _with_fewer_cables(self.link_capacity[rest], found, lost[rest])
        moved = not np.array_equal(kept, np.arange(self.node_count))
        named = self.labels is not None or (moved and self.coordinates is None)
        return Network(
            f"{self.spec} without {words}" if words else self.spec,
            kept.size,
            new[self.link_source[rest]],
            new[self.link_target[rest]],
            capacity,
            link_occupancy=self.link_occupancy[rest],
            link_latency=self.link_latency[rest],
            terminal_count=terminal_count,
            structures=[*found, self._failed(kept, rest, words)],
            labels=[self.node_name(i) for i in kept.tolist()] if named else None,
            links_only=True,
        )

    def _failed(self, nodes: IntArray, links: IntArray, words: str) -> Failed:
        """Return what was before: of a network of which something had failed already, the sound one."""
        before = self.find(Failed)
        if before is None:
            return Failed(self, nodes, links, words)
        return Failed(before.sound, before.nodes[nodes], before.links[links], f"{before.words} and {words}")

    # -- distances --------------------------------------------------------------------------------------------

    @cached_property
    def diameter(self) -> int:
        """The largest distance between two nodes. O(1) on grids, O(N + L) on Cayley networks, else O(N (N + L)).

        Products add up the diameters of their factors.
        """
        if self.grid is not None:
            return self.grid.diameter
        if self.factors:
            return sum(f.diameter for f in self.factors)
        sources = range(1) if self.group is not None else range(self.node_count)
        return max(self.eccentricity(s) for s in sources)

    # -- names and identity -----------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the links, equal for equal networks whatever they are called."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.array([self.node_count, self.terminal_count], np.int64).tobytes())
        for array in (self.link_source, self.link_target, np.ascontiguousarray(self.link_capacity)):
            digest.update(array.tobytes())
        speeds = self.find(Speeds)
        times = [] if self._instant else [self.link_occupancy, self.link_latency]
        for array in (*times, *(() if speeds is None else (speeds.bandwidth, speeds.latency))):
            digest.update(array.tobytes())
        if self.shared_ports is not None:
            for column in self.shared_ports.columns:
                digest.update(column.tobytes())
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


def _with_fewer_cables(
    capacity: IntArray, structures: list[Structure], lost: npt.NDArray[np.int64]
) -> tuple[IntArray, list[Structure]]:
    """Return the capacities, or the bandwidths, of links that have lost some of their cables but not all."""
    if not lost.any():
        return capacity, structures
    counts = next((s.count for s in structures if isinstance(s, CableCounts)), None)
    if counts is None:
        return (capacity - lost).astype(np.int32), [s.with_fewer_cables(lost) for s in structures]
    return capacity, [
        Speeds(s.bandwidth * ((counts - lost) / counts), s.latency) if isinstance(s, Speeds)
        else CableCounts((counts - lost).astype(np.int32)) if isinstance(s, CableCounts) else s
        for s in structures
    ]  # fmt: skip


def _listed(noun: str, names: list[str]) -> str:
    """Return a few names, or how many there are."""
    if len(names) > 4:
        return f"{len(names):,} {noun}s"
    return f"{noun}{'' if len(names) == 1 else 's'} {', '.join(names)}"


def has_speeds(network: Network) -> bool:
    """Return whether links have speeds that are meant, so that plans are in seconds unless steps are asked for.

    >>> from gossamer.networks import parse
    >>> has_speeds(parse("dgx-h100")), has_speeds(parse("torus:4x4"))
    (True, False)
    """
    rated = network.find(RatedLinks)
    return network.find(Speeds) is not None or (rated is not None and rated.usual)
