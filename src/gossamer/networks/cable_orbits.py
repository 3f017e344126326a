"""Cables that a symmetry of the network takes into each other: what holds of one holds of all."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.derived import cables
from gossamer.networks.network import Network
from gossamer.networks.structures import Grid, Speeds

__all__ = [
    "FreeGroup",
    "Table",
    "cable_orbits",
    "few_generators",
    "generated_table",
    "orbits_of_sets",
    "pattern_of",
    "symmetries",
]

# Groups of symmetries of a network of which none but the identity leaves a node where it is.

Table = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]

_MOST = 100_000_000
"""The most nodes that all symmetries of a group together list, 400 MB."""


def generated_table(generators: Sequence[Table], n: int, most: int = _MOST) -> Table:
    """Return the group that permutations of n nodes generate, int32[H, N], in the order of what becomes of node 0.

    Raises `NetworkError` if one of the group but the identity leaves a node where it is, or they have more than `most`
    entries.

    As none leaves a node where it is, what becomes of node 0 tells one from another. O(generators * H * N) time.

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
    names : int64[H]
        The name of each symmetry, ascending.
    generators : list of int
        Names of few symmetries that generate the group, the same however it was given.
    free : bool
        Whether none leaves a node where it is: True.
    broken : None
        Links without translates: none.
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

    free = True
    broken = None

    def __init__(self, network: Network, permutations: Sequence[npt.ArrayLike]) -> None:
        n = network.node_count
        given = [_permutation(network, p, i) for i, p in enumerate(permutations)]
        self.network = network
        self.table = generated_table(given, n)
        self.names = self.table[:, 0].astype(np.int64)
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


def cable_orbits(network: Network, marked: Sequence[int] = ()) -> npt.NDArray[np.int64]:
    """Return the orbit of each cable, under the symmetries that are known.

    `network` (Network): any network. `marked` (sequence of int): nodes that differ from all others and from each other,
    such as the root of a task. Returns: int64[cables]: for each cable, in the order of
    `gossamer.networks.derived.cables`, the number of its orbit. On arrays and tori: translations along rings,
    reflections, and exchanges of equal sides; on other Cayley networks: translations, where a factor that is complete
    counts as one; on fat trees: a level is an orbit. Elsewhere, and on all networks of some hundreds of nodes, what
    `symmetries` finds. The orbits are never too large, but on large networks they may be finer than they could.

    O(L d) time, beside that of `symmetries`.

    >>> from gossamer.networks import array, parse, torus
    >>> [len(set(cable_orbits(net).tolist())) for net in (torus(4, 4), torus(4, 5), array(5), parse("dgx-h100:4"))]
    [1, 2, 2, 2]
    >>> cable_orbits(array(5), [0]).tolist()
    [0, 1, 2, 3]
    """
    ends = cables(network)
    keys = _keys(network, ends) if not len(marked) and _even(network) else None
    number: dict[Hashable, int] = {}
    known = np.array([number.setdefault(key, len(number)) for key in keys or range(len(ends))], np.int64)
    if len(number) > 1:
        known = _merged(known, [_images(network, ends, p) for p in symmetries(network, marked)])
    return known


def orbits_of_sets(network: Network, size: int, marked: Sequence[int] = ()) -> npt.NDArray[np.int64]:
    """Return the orbit of each set of so many cables: int64[sets], in the order of `itertools.combinations`.

    Under the symmetries that `symmetries` finds, with nodes that are `marked`. O(sets) time and memory for each.

    >>> from gossamer.networks import ring
    >>> len(set(orbits_of_sets(ring(6), 2).tolist()))  # 1, 2 or 3 cables from each other
    3
    """
    ends = cables(network)
    sets = np.array([*itertools.combinations(range(len(ends)), size)], np.int64).reshape(-1, size)
    if len(ends) ** size >= 2**62:
        return np.arange(len(sets))
    digits = len(ends) ** np.arange(size - 1, -1, -1)
    keys = sets @ digits
    images = [
        np.searchsorted(keys, np.sort(_images(network, ends, p)[sets], axis=1) @ digits)
        for p in symmetries(network, marked, every=True)
    ]
    return _merged(np.arange(len(sets)), images)


def _merged(orbit: npt.NDArray[np.int64], images: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return orbits, those together of which one has an element that some permutation takes into the other.

    >>> _merged(np.arange(4), [np.array([1, 0, 2, 3])]).tolist()
    [0, 0, 1, 2]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not images:
        return orbit
    count = int(orbit.max(initial=-1)) + 1
    here, there = np.concatenate([orbit] * len(images)), np.concatenate([orbit[image] for image in images])
    joined = coo_matrix((np.ones(here.size, np.int8), (here, there)), (count, count))
    label = connected_components(joined, directed=False)[1][orbit]
    _, first, found = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[found.ravel()], np.int64)


def _images(network: Network, ends: npt.NDArray[np.int64], p: Nodes) -> npt.NDArray[np.int64]:
    """Return the cable to which a symmetry takes each."""
    moved = np.sort(p[ends], axis=1)
    keys = ends[:, 0] * network.node_count + ends[:, 1]
    return np.searchsorted(keys, moved[:, 0] * network.node_count + moved[:, 1])


# Symmetries of any network: one cable is taken to another, nodes that look the same are told apart one by one, by all
# that is seen from them, until every node is named; then it is checked whether that keeps all links.

_SEARCHED = 2_000_000_000
"""Arcs that are looked at in a search for symmetries."""
_MOST_VERTICES, _TRIES, _DEPTH = 5_000, 12, 300
Marks = npt.NDArray[np.uint64]


def symmetries(network: Network, marked: Sequence[int] = (), *, every: bool = False) -> list[Nodes]:
    """Return symmetries of a network: enough to take each cable to all that are like it, or to generate all.

    * `network` (Network): any network; in those of over 5,000 nodes and, where links share ports or are parallel,
      links, none is found.
    * `marked` (sequence of int): nodes that stay where they are.
    * `every` (bool): whether they are to generate all symmetries.

    Returns: list of int64[N]: where each takes each node. Every one was checked: it keeps terminals, links, capacities,
    occupancies, latencies, speeds and shared ports.

    O(cables * L * diameter) time where cables are told apart by distances; the search ends after 2e9 steps, so that on
    a large network some symmetries may be missing.

    >>> from gossamer.networks import ring
    >>> symmetries(ring(4), [0])[0].tolist()
    [0, 3, 2, 1]
    """
    pattern = Pattern(network, marked)
    if pattern.size > _MOST_VERTICES:
        return []
    found = [p[: network.node_count] for p in _of_cables(network, pattern)]
    if every:
        pattern.work = 0
        found += [p[: network.node_count] for p in _of_stabilizers(pattern)]
    return found


def pattern_of(network: Network) -> Pattern:
    """Return a network as a pattern of which nodes are told apart, and taken to others.

    >>> from gossamer.networks import ring
    >>> pattern = pattern_of(ring(4))
    >>> one, other = (pattern.told_apart(pattern.start, nodes) for nodes in ([0, 1], [2, 3]))
    >>> pattern.matched(one, other).tolist()
    [2, 3, 0, 1]
    """
    return Pattern(network, ())


def _of_cables(network: Network, pattern: Pattern) -> Iterator[Nodes]:
    """Yield symmetries that take cables to others, for each cable that those before take nowhere."""
    ends = cables(network)
    known = np.arange(len(ends))
    seen: dict[bytes, list[int]] = {}
    for cable in range(len(ends)):
        if known[cable] in known[:cable] or pattern.work > _SEARCHED:
            continue
        u, v = ends[cable].tolist()
        looks = [pattern.told_apart(pattern.start, pair) for pair in ((u, v), (v, u))]
        look = min(np.sort(marks).tobytes() for marks in looks)
        for other in seen.setdefault(look, []):
            first = pattern.told_apart(pattern.start, ends[other].tolist())
            taken = next((p for p in (pattern.matched(first, marks) for marks in looks) if p is not None), None)
            if taken is not None:
                yield taken
                known = _merged(known, [_images(network, ends, taken)])
                break
        else:
            seen[look].append(cable)


def _of_stabilizers(pattern: Pattern) -> Iterator[Nodes]:
    """Yield generators of all symmetries: those that leave most vertices where they are first (Sims's chain)."""
    chain, marks = list[tuple[Marks, int]](), pattern.start
    while (vertex := pattern.twin(marks)) is not None:
        chain.append((marks, vertex))
        marks = pattern.told_apart(marks, [vertex])
    orbit = np.arange(pattern.size)
    for marks, vertex in reversed(chain):
        split = pattern.told_apart(marks, [vertex])
        vain: set[int] = set()
        for other in np.flatnonzero(marks == marks[vertex]).tolist():
            if orbit[other] in (orbit[vertex], *vain) or pattern.work > _SEARCHED:
                continue
            taken = pattern.matched(split, pattern.told_apart(marks, [other]))
            if taken is None:
                vain.add(int(orbit[other]))
            else:
                yield taken
                orbit, vain = _merged(orbit, [taken]), set()


class Pattern:
    """A network as vertices and arcs between them, each of a kind; links are vertices where arcs do not do."""

    def __init__(self, network: Network, marked: Sequence[int]) -> None:
        n, count, ports = network.node_count, network.link_count, network.shared_ports
        speeds = network.find(Speeds)
        columns: list[npt.ArrayLike] = [network.link_capacity, network.link_occupancy, network.link_latency]
        columns += [] if speeds is None else [speeds.bandwidth, speeds.latency]
        kind = np.unique(np.stack([np.asarray(c, np.float64) for c in columns]), axis=1, return_inverse=True)[1].ravel()
        color = (np.arange(n) >= network.terminal_count).astype(np.int64)
        color[list(marked)] = 2 + np.arange(len(marked))
        source, target = (np.asarray(side, np.int64) for side in (network.link_source, network.link_target))
        if ports is not None or network.parallel:
            link = n + np.arange(count)
            arcs = [(source, link, 0), (link, target, 1)]
            color = np.concatenate([color, 2 + len(marked) + kind])
            if ports is not None:
                told = [ports.capacity, ports.occupancy, *([] if ports.bandwidth is None else [ports.bandwidth])]
                alike = np.unique(np.stack([np.asarray(c, np.float64) for c in told]), axis=1, return_inverse=True)[1]
                color = np.concatenate([color, int(color.max()) + 1 + alike.ravel()])
                for way, side in enumerate((ports.sending, ports.receiving), 2):
                    through = np.flatnonzero(side >= 0)
                    arcs.append((link[through], n + count + side[through].astype(np.int64), way))
            source, target = (np.concatenate([arc[end] for arc in arcs]) for end in (0, 1))
            kind = np.concatenate([np.full(len(arc[0]), arc[2]) for arc in arcs])
        self.size, self.work = len(color), 0
        self._draw = np.random.default_rng(0)  # symmetries at random make all others soonest
        self._color, self._source, self._target, self._kind = color, source, target, kind.astype(np.int64)
        self._out, self._in = (_mixed(self._kind.astype(np.uint64) + np.uint64(way)) for way in (1, 10**9))
        self.start = self._seen(_mixed(color.astype(np.uint64) + np.uint64(10**12)))

    def told_apart(self, marks: Marks, nodes: Sequence[int]) -> Marks:
        """Return the marks when some nodes, in their order, differ from all others."""
        marks = marks.copy()
        for place, node in enumerate(nodes, 1):
            marks[node] = _mixed(marks[node : node + 1] ^ np.uint64(place * 7_919))[0]
        return self._seen(marks)

    def _seen(self, marks: Marks) -> Marks:
        """Return marks that tell vertices apart by all that is seen from them, the same in patterns that are alike."""
        count = len(np.unique(marks))
        while count < self.size:
            self.work += 2 * len(self._source)
            total = _mixed(marks)
            np.add.at(total, self._source, _mixed(marks[self._target] ^ self._out))
            np.add.at(total, self._target, _mixed(marks[self._source] ^ self._in))
            marks, before, count = total, count, len(np.unique(total))
            if count == before:  # the marks are new all the same, so that no other vertex gets one that was there
                break
        return marks

    def twin(self, marks: Marks) -> int | None:
        """Return a vertex of the smallest class of those that are not told apart; None if all are."""
        _, first, size = np.unique(marks, return_index=True, return_counts=True)
        many = np.flatnonzero(size > 1)
        return int(first[many[np.argmin(size[many])]]) if many.size else None

    def matched(self, one: Marks, other: Marks) -> Nodes | None:
        """Return a symmetry that takes marks to equal ones; None if there is none, or the search takes long."""
        tries = [_TRIES]

        def search(one: Marks, other: Marks, depth: int) -> Nodes | None:
            if depth > _DEPTH or not np.array_equal(np.sort(one), np.sort(other)):
                return None
            vertex = self.twin(one)
            if vertex is None:
                p = np.empty(self.size, np.int64)
                p[np.argsort(one)] = np.argsort(other)
                return p if self._keeps(p) else None
            split = self.told_apart(one, [vertex])
            for node in self._draw.permutation(np.flatnonzero(other == one[vertex])).tolist():
                found = search(split, self.told_apart(other, [node]), depth + 1)
                if found is not None:
                    return found
                tries[0] -= 1
                if tries[0] < 0 or self.work > _SEARCHED:
                    break
            return None

        return search(one, other, 0)

    def _keeps(self, p: Nodes) -> bool:
        """Return whether a permutation of the vertices keeps their colors and all arcs."""
        here, there = (
            np.sort((source * self.size + target) * (int(self._kind.max(initial=0)) + 1) + self._kind)
            for source, target in ((self._source, self._target), (p[self._source], p[self._target]))
        )
        return np.array_equal(self._color[p], self._color) and np.array_equal(here, there)


def _mixed(values: Marks) -> Marks:
    """Return well mixed 64-bit numbers, of equal ones the same (the finalizer of SplitMix64)."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)


# What the structure of a network tells of its cables.


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
