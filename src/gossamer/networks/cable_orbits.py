"""Cables that a symmetry of the network takes into each other: what holds of one holds of all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.derived import cables
from gossamer.networks.network import Network
from gossamer.networks.structures import Grid, Speeds

__all__ = ["FreeGroup", "Table", "cable_orbits", "few_generators", "generated_table"]

# Groups of symmetries of a network of which none but the identity leaves a node where it is.

Table = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]

_MOST = 100_000_000
"""The most nodes that all symmetries of a group together list, 400 MB."""


def generated_table(generators: Sequence[Table], n: int, most: int = _MOST) -> Table:
    """Return the group that permutations of n nodes generate, int32[H, N], in the order of what becomes of node 0.

    Raises
    ------
    NetworkError
        If one of the group but the identity leaves a node where it is, or they have more than `most` entries.

    Notes
    -----
    As none leaves a node where it is, what becomes of node 0 tells one from another. O(generators * H * N) time.

    Examples
    --------
    >>> generated_table([np.array([2, 3, 0, 1], np.int32)], 4).tolist()
    [[0, 1, 2, 3], [2, 3, 0, 1]]
    >>> generated_table([np.array([0, 2, 1], np.int32)], 3)
    Traceback (most recent call last):
        ...
    gossamer.errors.NetworkError: a symmetry of the group leaves node 0 where it is and moves node 1
    """
    found = {0: np.arange(n, dtype=np.int32)}
    frontier = [found[0]]
    while frontier:
        following = []
        for p in frontier:
            for g in generators:
                q = g[p]
                known = found.get(int(q[0]))
                if known is None:
                    if (len(found) + 1) * n > most:
                        raise NetworkError(f"the group has over {most // n:,} symmetries of {n:,} nodes, too many here")
                    known = found[0]
                    found[int(q[0])] = q
                    following.append(q)
                elif np.array_equal(known, q):
                    continue
                same = q == known
                if bool(same.any()):  # q after the inverse of the other leaves these where they are
                    still, moved = (int(known[int(np.argmax(s))]) for s in (same, ~same))
                    fact = f"leaves node {still} where it is and moves node {moved}"
                    raise NetworkError(f"a symmetry of the group {fact}")
        frontier = following
    return np.stack([found[x] for x in sorted(found)])


class FreeGroup:
    """A group of symmetries of a network of which none but the identity leaves a node where it is.

    A symmetry takes every link to a link of the same capacity, occupancy and latency, and terminals to terminals. Its
    name here is the node to which it takes node 0.

    Parameters
    ----------
    network : Network
        Any network without shared ports.
    permutations : sequence of N nodes each
        Symmetries that generate the group: ``permutations[i][u]`` is where the i-th takes node u. Of parallel links
        the fastest goes to the fastest.

    Attributes
    ----------
    table : int32[H, N]
        Where each symmetry takes each node; the identity comes first, and then by name.
    generators : list of int
        Names of few symmetries that generate the group, the same however it was given.
    orbit : int32[N]
        Orbit number of each node.
    representatives : int64[R]
        The lowest node of each orbit.

    Raises
    ------
    NetworkError
        If one is no permutation or no symmetry, the group has one that leaves a node where it is, or is too large.

    Notes
    -----
    O(H * N * log H + links log links) time, 4 bytes for each symmetry and node.

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> half = FreeGroup(ring(6), [[3, 4, 5, 0, 1, 2]])
    >>> half.generators, half.orbit.tolist(), half.representatives.tolist()
    ([3], [0, 1, 2, 0, 1, 2], [0, 1, 2])
    """

    def __init__(self, network: Network, permutations: Sequence[npt.ArrayLike]) -> None:
        n = network.node_count
        given = [_permutation(network, p, i) for i, p in enumerate(permutations)]
        self.network = network
        self.table = generated_table(given, n)
        self.generators = few_generators(self.table)
        self.orbit = np.full(n, -1, np.int32)
        self._row = np.zeros(n, np.int64)  # the symmetry that takes the representative to each node
        found: list[int] = []
        for x in range(n):
            if self.orbit[x] < 0:
                self.orbit[self.table[:, x]] = len(found)
                self._row[self.table[:, x]] = np.arange(len(self.table))
                found.append(x)
        self.representatives: Nodes = np.array(found, np.int64)
        self._back = np.argmax(self.table == 0, axis=1)  # what the inverse of each makes of node 0
        self._place_links()

    def _place_links(self) -> None:
        """Give the links of each node the places of those of its orbit's representative, and compare them."""
        net = self.network
        source = net.link_source.astype(np.int64)
        back = self.taking(source, self.representatives[self.orbit[source]])
        target = self.translate(back, net.link_target)
        columns = (target, net.link_latency, net.link_occupancy, net.link_capacity)
        self._at = np.lexsort((*columns[::-1], source))
        self._first = net.first_link.astype(np.int64)
        self._place = np.empty(net.link_count, np.int64)
        self._place[self._at] = np.arange(net.link_count) - self._first[source]
        degree = net.out_degree[self.representatives]
        self._class = np.append(0, np.cumsum(degree)).astype(np.int64)
        model = self.representatives[self.orbit]
        wrong = net.out_degree != net.out_degree[model]
        if not wrong.any() and net.link_count:
            like = self._at[self._first[model[source]] + self._place]
            for column in columns:
                wrong[source[column != column[like]]] = True
        if wrong.any():
            u = int(np.argmax(wrong))
            fact = f"takes node {model[u]} to node {u} as the permutations do: their links differ"
            raise NetworkError(f"no symmetry of {net.spec} {fact}")

    @property
    def link_classes(self) -> int:
        """Number of orbits of links."""
        return int(self._class[-1])

    def link_orbit(self, links: npt.NDArray[np.integer]) -> Nodes:
        """Return the orbit numbers of links."""
        found: Nodes = self._class[self.orbit[self.network.link_source[links]]] + self._place[links]
        return found

    def translate(self, by: npt.ArrayLike, nodes: npt.ArrayLike) -> Nodes:
        """Return where symmetries, each by its name, take nodes."""
        row = self._row[np.asarray(by, np.int64)]
        found: Nodes = self.table[row, np.asarray(nodes, np.int64)].astype(np.int64)
        return found

    def taking(self, source: npt.ArrayLike, target: npt.ArrayLike) -> Nodes:
        """Return the names of the symmetries that take nodes to others of their orbits."""
        there = self._row[np.asarray(target, np.int64)]
        found: Nodes = self.table[there, self._back[self._row[np.asarray(source, np.int64)]]].astype(np.int64)
        return found

    def translate_links(self, by: npt.ArrayLike, links: npt.NDArray[np.integer]) -> Nodes:
        """Return where symmetries, each by its name, take links."""
        to = self.translate(by, self.network.link_source[links])
        found: Nodes = self._at[self._first[to] + self._place[links]]
        return found


def _permutation(network: Network, given: npt.ArrayLike, i: int) -> Table:
    """Return a permutation of the nodes that takes terminals to terminals, or raise a NetworkError."""
    n, terminals = network.node_count, network.terminal_count
    try:
        values = np.asarray(given)
    except ValueError:
        values = np.zeros(0)
    if values.shape != (n,) or values.dtype.kind not in "iu" or not np.array_equal(np.sort(values), np.arange(n)):
        raise NetworkError(f"permutation {i} must list each of the {n} nodes of {network.spec} once")
    if terminals < n and int(values[:terminals].max()) >= terminals:
        u = int(np.argmax(values[:terminals] >= terminals))
        raise NetworkError(f"permutation {i} takes terminal {u} of {network.spec} to switch {values[u]}")
    return values.astype(np.int32)


def few_generators(table: Table) -> list[int]:
    """Return names of symmetries that generate a group: each the lowest that those before do not.

    >>> few_generators(np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]], np.int32))
    [1, 2]
    """
    chosen: list[int] = []
    n = table.shape[1]
    row_of = {int(x): row for row, x in zip(table, table[:, 0], strict=True)}
    known = {0}
    for x in sorted(row_of):
        if x not in known:
            chosen.append(x)
            known = set(generated_table([row_of[c] for c in chosen], n, table.size)[:, 0].tolist())
    return chosen


def cable_orbits(network: Network) -> npt.NDArray[np.int64]:
    """Return the orbit of each cable, under the symmetries that the network's structure tells.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    int64[cables]
        For each cable, in the order of `gossamer.networks.derived.cables`, the number of its orbit. On arrays and
        tori: translations along rings, reflections, and exchanges of equal sides; on other Cayley networks:
        translations, where a factor that is complete counts as one; on fat trees: a level is an orbit. Elsewhere, or
        where capacities, times or speeds differ, every cable is alone: the orbits are never too large, but may be
        finer than they could.

    Notes
    -----
    O(L d) time.

    Examples
    --------
    >>> from gossamer.networks import array, parse, torus
    >>> [len(set(cable_orbits(net).tolist())) for net in (torus(4, 4), torus(4, 5), array(5), parse("ccc:3"))]
    [1, 2, 2, 2]
    """
    ends = cables(network)
    keys = _keys(network, ends) if _even(network) else None
    if keys is None:
        return np.arange(len(ends))
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], np.int64)


def _even(network: Network) -> bool:
    """Whether links differ in nothing but their ends (in fat trees: and in their capacity, by level)."""
    speeds = network.find(Speeds)
    same = speeds is None or all(np.ptp(column) == 0 for column in (speeds.bandwidth, speeds.latency) if column.size)
    return network.plain and same and (network.uniform_capacity is not None or network.levels is not None)


def _keys(network: Network, ends: npt.NDArray[np.int64]) -> list[Hashable] | None:
    """Return what is the same for the cables of one orbit; None if no symmetry is known."""
    if network.levels is not None:
        level = _levels(network)
        return [tuple(sorted(row)) for row in level[ends].tolist()]
    if network.terminal_count < network.node_count:
        return None
    grid = network.grid
    if grid is not None:
        places = np.stack(np.unravel_index(ends, grid.sides), axis=-1)  # [cables, 2, dimensions]
        return [_grid_key(grid, *row) for row in places.tolist()]
    if network.group is None:
        return None
    named = _generator_keys(network)
    there, back = network.links_between(*ends.T), network.links_between(*ends.T[::-1])
    pairs = zip(there.tolist(), back.tolist(), strict=True)
    return [min(named[link % network.degree] for link in pair if link >= 0) for pair in pairs]


def _levels(network: Network) -> npt.NDArray[np.int64]:
    """Return the level of each node of a fat tree, 0 for the leaves."""
    level = np.full(network.node_count, -1, np.int64)
    level[: network.terminal_count] = 0
    step = 0
    while (level < 0).any():
        near = network.link_target[level[network.link_source] == step]
        level[near[level[near] < 0]] = step + 1
        step += 1
    return level


def _grid_key(grid: Grid, one: list[int], other: list[int]) -> Hashable:
    """Return what symmetries of an array or torus keep of a cable: its dimension and where it is, up to reflection."""
    sides, wraps = grid.sides, grid.wraps
    own = next(d for d in range(grid.dimensions) if one[d] != other[d])
    along = 0 if wraps[own] else min(min(one[own], other[own]), sides[own] - 1 - max(one[own], other[own]))
    rest = sorted(
        (sides[d], wraps[d], 0 if wraps[d] else min(one[d], sides[d] - 1 - one[d]))
        for d in range(grid.dimensions)
        if d != own
    )
    return sides[own], wraps[own], along, tuple(rest)


def _generator_keys(network: Network) -> list[tuple[str, int]]:
    """Return, for each generator, its factor and its place there; 0 for all of a factor that is complete."""
    found: list[tuple[str, int]] = []
    for factor in network.factors or (network,):
        if not factor.link_count:
            continue
        complete = factor.degree == factor.node_count - 1
        found += [(factor.spec, 0 if complete else g) for g in range(factor.degree)]
    return found
