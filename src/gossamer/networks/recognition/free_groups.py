"""Groups of symmetries that move every node, or every terminal and link; with one orbit, it is a Cayley network."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.cable_orbits import FreeGroup, Table, few_generators, generated_table
from gossamer.networks.cayley import cayley_network
from gossamer.networks.derived import Lifted
from gossamer.networks.finite_groups import TableGroup
from gossamer.networks.network import Factors, Network
from gossamer.networks.structures import IntArray, Speeds, int_array

__all__ = ["ShiftGroup", "cayley_order", "free_group", "graph_of", "group_of"]

_MOST_NODES, _MOST_LISTED = 600, 20_000_000
_TRIES, _STEPS = 12, 60
"""Groups that are begun, and symmetries that are tried for each."""


Nodes = npt.NDArray[np.int64]

_BROKEN = 8
"""Links of which one may be broken."""
_LISTED, _MOST_IMAGES = 2_000_000, 100_000_000
"""Nodes that all symmetries of a group list together, up to which it is listed; and the most that are kept else."""


def group_of(network: Network, permutations: Sequence[npt.ArrayLike]) -> FreeGroup | ShiftGroup:
    """Return the group that permutations of the nodes generate.

    A `ShiftGroup` if they commute and either the group is large, or it leaves some switch where it is, or a few links
    have no translates; else a `gossamer.networks.FreeGroup`, which lists all symmetries. Raises as those do.
    """
    n = network.node_count
    try:
        given = [np.asarray(p) for p in permutations]
    except ValueError:  # rows of several lengths
        return FreeGroup(network, permutations)
    proper = all(p.shape == (n,) and p.dtype.kind in "iu" and np.array_equal(np.sort(p), np.arange(n)) for p in given)
    if not (proper and given) or network.parallel:
        return FreeGroup(network, permutations)
    orders = [_order(p) for p in given]
    fixed = any(bool((_power(p, k) == np.arange(n)).any()) for p, k in zip(given, orders, strict=True) if k > 1)
    large = math.prod(orders) * n > _LISTED
    commuting = all(np.array_equal(p[q], q[p]) for i, p in enumerate(given) for q in given[:i])
    if network.terminal_count == n:
        try:
            return FreeGroup(network, permutations)
        except NetworkError:
            if commuting and not fixed:
                found = ShiftGroup(network, given)
                if found.broken is not None:
                    return found
            raise
    if commuting and (fixed or large or len(given) > 1):
        try:
            found = ShiftGroup(network, given)
        except NetworkError:  # some generate others
            return FreeGroup(network, permutations)
        return found if large or not found.free or found.broken is not None else FreeGroup(network, permutations)
    return FreeGroup(network, permutations)


def _order(p: Nodes) -> int:
    """Return after how many times a permutation takes node 0 back."""
    count, at = 1, int(p[0])
    while at:
        count, at = count + 1, int(p[at])
    return count


def _power(p: Nodes, order: int) -> Nodes:
    """Return the permutation of prime order that is a multiple of one of an order."""
    return _times(p, order // next(q for q in range(2, order + 1) if order % q == 0))


def _times(p: Nodes, count: int) -> Nodes:
    """Return a permutation done so many times, in O(N log count)."""
    found, power = np.arange(p.size), p
    while count:
        if count & 1:
            found = power[found]
        power, count = power[power], count >> 1
    return found


class ShiftGroup:
    """A group of commuting symmetries of a network of which none but the identity leaves a terminal or a link in place.

    The interface of `gossamer.networks.FreeGroup`; but switches may stay where they are, and what is kept is one node
    and one link of each orbit with their images, not all symmetries.

    `network` (Network): any network without shared ports and parallel links. `permutations` (sequence of int64[N]):
    symmetries that commute, none of which is a product of others.

    * `names` (int64[H]): the name of each symmetry, the node to which it takes node 0, ascending.
    * `generators` (list of int): the names of the permutations.
    * `orbit` (int32[N]): orbit number of each node.
    * `representatives` (int64[R]): the lowest node of each orbit.
    * `free` (bool): whether no switch stays where it is either.
    * `broken` (bool[L] or None): links that some symmetry takes where no link like them is, such as the cables like one
      that failed: one of eight at the most. They have no translates, and schedules must not use them. None if there are
      none.

    Raises `NetworkError` if they do not generate such a group, or one is no symmetry of the network.

    O(L log L) time and memory for few orbits; in general O(orbits * H + L log L).

    Two hosts below each of two leaves, with two spines: the hosts are exchanged, and the spines, or the leaves, too.

    >>> from gossamer.networks import leaf_spine
    >>> hosts, leaves = [1, 0, 3, 2, 4, 5, 7, 6], [2, 3, 0, 1, 5, 4, 6, 7]
    >>> group = ShiftGroup(leaf_spine(2, 2, 2), [np.array(hosts), np.array(leaves)])
    >>> group.names.tolist(), group.representatives.tolist(), group.link_classes, group.free
    ([0, 1, 2, 3], [0, 4, 6], 4, False)
    """

    def __init__(self, network: Network, permutations: Sequence[Nodes]) -> None:
        self.network, n = network, network.node_count
        self.broken: npt.NDArray[np.bool_] | None = None
        self._moves = [np.asarray(p, np.int64) for p in permutations]
        self.orders = [_order(p) for p in self._moves]
        size = math.prod(self.orders)
        for i, (p, order) in enumerate(zip(self._moves, self.orders, strict=True)):
            if not np.array_equal(_times(p, order), np.arange(n)):  # so often it takes node 0 back
                raise NetworkError("a symmetry of the group leaves a terminal where it is")
            if not all(np.array_equal(p[q], q[p]) for q in self._moves[:i]):
                raise NetworkError(f"permutation {i} does not commute with those before it")
        self._check_symmetries()
        self._node_images, orbit, self._row, self.representatives = self._orbits(self._moves, n, size)
        self.orbit = orbit.astype(np.int32)
        own = self._node_images[0]
        if np.unique(own).size < size or bool((np.bincount(orbit[: network.terminal_count]) % size).any()):
            raise NetworkError("a symmetry of the group leaves a terminal where it is")
        self._element = np.full(n, -1, np.int64)  # by name
        self._element[own] = np.arange(size)
        self.names = np.sort(own).astype(np.int64)
        self.generators = [int(p[0]) for p in self._moves]
        counts = np.bincount(orbit)
        self.free = bool((counts == size).all())

    def _check_symmetries(self) -> None:
        """Find where each permutation takes the links, and compare these."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        net = self.network
        columns = [net.link_capacity, net.link_occupancy, net.link_latency]
        every = np.arange(net.link_count)
        self._link_moves: list[Nodes] = []
        broken = np.zeros(net.link_count, np.bool_)
        for i, p in enumerate(self._moves):
            if bool((p[: net.terminal_count] >= net.terminal_count).any()):
                raise NetworkError(f"permutation {i} takes a terminal of {net.spec} to a switch")
            to = np.asarray(net.links_between(p[net.link_source], p[net.link_target]), np.int64)
            wrong = to < 0
            for column in columns:
                wrong |= column[to] != column
            broken |= wrong
            broken[np.setdiff1d(every, to[~wrong])] = True  # what none is taken to
            self._link_moves.append(np.where(wrong, every, to))
        if broken.any():  # with all that are taken to those
            here, there = np.tile(every, len(self._moves)), np.concatenate(self._link_moves)
            joined = coo_matrix((np.ones(here.size, np.int8), (here, there)), (every.size, every.size))
            label = connected_components(joined, directed=False)[1]
            broken = np.isin(label, label[broken])
            if int(broken.sum()) > net.link_count // _BROKEN:
                link = int(np.argmax(broken))
                p, u = self._moves[0], int(net.link_source[link])
                fact = f"takes node {u} to node {p[u]} as the permutations do: their links differ"
                raise NetworkError(f"no symmetry of {net.spec} {fact}")
            self._link_moves = [np.where(broken, every, to) for to in self._link_moves]
            self.broken = broken

    def _orbits(self, moves: Sequence[Nodes], count: int, size: int) -> tuple[Table, Nodes, Nodes, Nodes]:
        """Return the images of one of each orbit, the orbit of each, a symmetry that takes the one there, and the ones.

        int32[R, H], int64[count], int64[count], int64[R].
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        here = np.tile(np.arange(count), len(moves))
        there = np.concatenate(list(moves))
        joined = coo_matrix((np.ones(here.size, np.int8), (here, there)), (count, count))
        label = connected_components(joined, directed=False)[1]
        first, orbit = np.unique(label, return_index=True, return_inverse=True)[1:]
        order = np.argsort(first, kind="stable")
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        orbit, ones = rank[orbit.ravel()], first[order]
        if ones.size * size > _MOST_IMAGES:
            raise NetworkError(f"the group has {size:,} symmetries and {ones.size:,} orbits, too many here")
        images = ones[:, None].astype(np.int32)
        for move, times in zip(moves, self.orders, strict=True):
            parts = [images]
            for _ in range(times - 1):
                parts.append(move[parts[-1]].astype(np.int32))
            images = np.stack(parts, axis=2).reshape(ones.size, -1)
        row = np.full(count, -1, np.int64)
        row[images[:, ::-1]] = np.arange(size)[::-1]  # the first of several
        if int(row.min(initial=0)) < 0:
            raise NetworkError("the permutations do not generate the group that they were taken for")
        return images, orbit, row, ones

    @cached_property
    def _links(self) -> tuple[Table, Nodes, Nodes]:
        """The images of one link of each orbit, the orbit of each link, and a symmetry that takes the one there."""
        images, orbit, row, _ = self._orbits(self._link_moves, self.network.link_count, self.names.size)
        kept = orbit if self.broken is None else orbit[~self.broken]
        counts = np.bincount(kept)
        if bool((counts[counts > 0] != self.names.size).any()):
            raise NetworkError("a symmetry of the group leaves a link where it is")
        return images, orbit, row

    def _added(self, one: Nodes, other: Nodes, sign: int = 1) -> Nodes:
        """Return products of symmetries by their places among the images, or of one with the inverse of another."""
        total, unit = np.zeros(np.broadcast_shapes(one.shape, other.shape), np.int64), 1
        for order in reversed(self.orders):
            total += (one // unit + sign * (other // unit)) % order * unit
            unit *= order
        return total

    @property
    def link_classes(self) -> int:
        """Number of orbits of links."""
        return len(self._links[0])

    def link_orbit(self, links: npt.NDArray[np.integer]) -> Nodes:
        """Return the orbit numbers of links."""
        return np.asarray(self._links[1][links])

    def translate(self, by: npt.ArrayLike, nodes: npt.ArrayLike) -> Nodes:
        """Return where symmetries, each by its name, take nodes."""
        node = np.asarray(nodes, np.int64)
        at = self._added(self._element[np.asarray(by, np.int64)], self._row[node])
        return np.asarray(self._node_images[self.orbit[node], at], np.int64)

    def taking(self, source: npt.ArrayLike, target: npt.ArrayLike) -> Nodes:
        """Return the names of symmetries that take nodes to others of their orbits."""
        at = self._added(self._row[np.asarray(target, np.int64)], self._row[np.asarray(source, np.int64)], -1)
        return np.asarray(self._node_images[0, at], np.int64)

    def translate_links(self, by: npt.ArrayLike, links: npt.NDArray[np.integer]) -> Nodes:
        """Return where symmetries, each by its name, take links."""
        images, orbit, row = self._links
        at = self._added(self._element[np.asarray(by, np.int64)], row[links])
        return np.asarray(images[orbit[links], at], np.int64)


def cayley_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the Cayley network that a network is, of a group among its symmetries, and the node there of each node.

    None if none is found: symmetries are looked for by the package ``igraph`` (the extra ``symmetry``), on networks of
    at most 600 nodes whose links go both ways and differ in nothing.

    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> cayley_order(from_networkx(nx.petersen_graph())) is None  # it is none, although all nodes look the same
    True
    """
    table = _searched(network)
    if table is None or len(table) < network.node_count:
        return None
    group = TableGroup(table)
    near = network.link_target[: network.out_degree[0]].tolist()
    found = cayley_network(f"Cayley network of {len(table)} elements", group, near, links_only=True)
    return found, int_array(np.arange(network.node_count, dtype=np.int32), "places")


def free_group(network: Network) -> Table | None:
    """Return a group of symmetries of which none but the identity leaves any node where it is: a large one.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    int32[H, N] or None
        ``table[h]`` are the nodes to which symmetry h takes nodes 0, 1, ...; the identity comes first, and then they
        are in the order of what becomes of node 0. None if nothing is known of the symmetries.

    Notes
    -----
    Of a product it is that of its factors together, of a lift its own if no larger one is found. Otherwise random
    products of generators of all symmetries are added as long as the group stays free, O(tries * H * N) time; they are
    looked for by the package ``igraph`` (the extra ``symmetry``), on networks of at most 600 nodes whose links go both
    ways and differ in nothing.
    """
    if network.shared_ports is not None:
        return None
    factors, lifted = network.find(Factors), network.find(Lifted)
    found = _searched(network) if factors is None else _of_factors(factors.networks)
    if lifted is not None and lifted.group.order > (0 if found is None else len(found)):
        own = lifted.group.order * network.node_count <= _MOST_LISTED
        found = lifted.moved(network.node_count) if own else found
    if found is None or (factors is None and lifted is None):
        return found
    try:
        return FreeGroup(network, [found[found[:, 0] == x][0] for x in few_generators(found)]).table
    except NetworkError:  # links differ in more than factors or the lift tell
        return None


def _searched(network: Network) -> Table | None:
    """Return a large free group found by chance among all symmetries; None if these are not looked for."""
    generators = _generators(network)
    if generators is None:
        return None
    n, draw = network.node_count, np.random.default_rng(0)
    identity = np.arange(n, dtype=np.int32)
    best = identity[None]
    for _ in range(_TRIES if len(generators) else 0):
        chosen: list[Table] = []
        now = identity[None]
        walk = [g.copy() for g in generators]
        for _ in range(_STEPS):
            i, j = draw.integers(0, len(walk), 2)
            walk[i] = walk[i][walk[j]]  # a random walk through the group
            g = walk[i]
            if bool((g == identity).any()) or bool((now[:, 0] == g[0]).any()):
                continue
            try:
                now = generated_table([*chosen, g], n)
            except NetworkError:  # it is not free
                continue
            chosen.append(g)
            if len(now) == n:
                break
        if len(now) > len(best):
            best = now
        if len(best) == n:
            break
    return best


def _of_factors(factors: tuple[Network, ...]) -> Table | None:
    """Return what the free groups of factors do together; None if none is known, or their list would be too long."""
    table = np.zeros((1, 1), np.int32)
    known = False
    for f in factors:
        own: Table | None = None
        if f.group is None:
            own = free_group(f)
        elif f.node_count**2 <= _MOST_LISTED:
            x = np.arange(f.node_count)
            own = f.group.compose(x[:, None], x[None, :]).astype(np.int32)
        known |= own is not None
        own = np.arange(f.node_count, dtype=np.int32)[None] if own is None else own
        if table.size * own.size > _MOST_LISTED:
            return None
        table = (table[:, None, :, None] * f.node_count + own[None, :, None, :]).reshape(len(table) * len(own), -1)
    return table if known else None


def _generators(network: Network) -> list[Table] | None:
    """Return generators of all symmetries; None if they are not looked for."""
    regular = network.terminal_count == network.node_count > 2 and int(network.out_degree.min()) == network.degree > 0
    graph = graph_of(network, _MOST_NODES) if regular else None
    return None if graph is None else [np.asarray(g, np.int32) for g in graph.automorphism_group()]


def graph_of(network: Network, most: int) -> Any | None:
    """Return a network of at most so many nodes as a graph of the package ``igraph`` (the extra ``symmetry``).

    None if that is not installed, the network is larger, or links are one-way, differ in anything or share ports.
    """
    even = network.two_way and network.uniform_capacity is not None
    times = network.uniform_occupancy is not None and network.uniform_latency is not None
    alone = network.shared_ports is None and not network.parallel and network.find(Speeds) is None
    large = network.node_count > most
    if large or not (even and times and alone) or importlib.util.find_spec("igraph") is None:
        return None
    import igraph

    once = network.link_source < network.link_target
    edges = np.stack([network.link_source[once], network.link_target[once]], axis=1).tolist()
    return igraph.Graph(network.node_count, edges)
