"""Hierarchies in a list of links: servers in pods, hosts below leaves and spines, rails, each alike.

The nodes of a *tier* look alike. Each has a place, a value for some of the *coordinates* (pod, server, rail, ...), and
two tiers are joined where their nodes agree in the coordinates that both have. That is so of leaves and spines, of fat
trees of any levels, and of GPUs in servers with rails; and then the values of a coordinate may be exchanged at will:
each exchange is a symmetry of the network, and no search is needed to find it.

Terminals may also be joined directly, in groups of which all are joined alike: GPUs by a mesh or a ring in each server.
A coordinate that tells those of a group apart is shifted where that keeps the group's links, and is *rigid* elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds

__all__ = ["Hierarchy", "Join", "hierarchy", "link_kinds"]

Numbers = npt.NDArray[np.int64]

_MOST_TIERS, _MOST_LINKS, _ROUNDS = 8, 4_000_000, 20
_MOST_JOINED, _MOST_PAIRS, _STEPS = 64, 50_000_000, 20_000
"""Terminals of a group that are joined directly at the most, pairs of such, and steps of comparing two groups."""
_MISSING = 16
"""Cables at the most that are missing from a hierarchy, and their share of all: one of so many."""
_DRAWS = 200


class Join(NamedTuple):
    """Two tiers with links between them, and the coordinates that either has, ascending."""

    tiers: tuple[int, int]
    coordinates: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The tiers and coordinates of a network.

    Attributes
    ----------
    network : Network
        The network.
    tier : int64[N]
        The tier of each node; those of terminals come first.
    sizes : tuple of int
        The values of each coordinate.
    coordinates : tuple of tuple of int
        The coordinates that the nodes of each tier have, ascending. No two nodes of a tier have one place, and none is
        free.
    place : int64[N, C]
        The value of each coordinate at each node, -1 where it has none.
    joins : tuple of Join
        The tiers that are joined.
    missing : int64[M, 2]
        Pairs of nodes that agree like all that are joined, but have no cable: what failed, where little did.
    levels : tuple of tuple of int
        Groups of terminals inside each other, the largest first: the coordinates that all of a group have in common
        beside those of the level before. What is left tells the terminals of a smallest group apart.
    rigid : frozenset of int
        Coordinates whose values may not be shifted: links inside groups of terminals would not be kept.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> found = hierarchy(parse("servers:s=32,g=8,inside=9"))
    >>> found.sizes, found.coordinates, found.levels
    ((8, 32), ((0, 1), (1,), (0,)), ((1,),))
    """

    network: Network
    tier: Numbers
    sizes: tuple[int, ...]
    coordinates: tuple[tuple[int, ...], ...]
    place: Numbers
    joins: tuple[Join, ...]
    missing: Numbers
    levels: tuple[tuple[int, ...], ...]
    rigid: frozenset[int] = frozenset()

    @cached_property
    def tier_sizes(self) -> list[int]:
        """Nodes of each tier."""
        return [int(n) for n in np.bincount(self.tier)]

    @cached_property
    def terminal_tiers(self) -> list[int]:
        """The tiers of terminals."""
        return [int(t) for t in np.unique(self.tier[: self.network.terminal_count])]

    def number(self, nodes: Numbers, tier: int) -> Numbers:
        """Return the place of each node as one number, by the coordinates of a tier, which it must have."""
        return _encoded(self.place[nodes], self.coordinates[tier], self.sizes)

    @cached_property
    def node_at(self) -> list[Numbers]:
        """The node at each place of each tier, by `number`."""
        found = []
        for t in range(len(self.coordinates)):
            nodes = np.flatnonzero(self.tier == t)
            table = np.empty(nodes.size, np.int64)
            table[self.number(nodes, t)] = nodes
            found.append(table)
        return found

    def moved(self, shift: Sequence[int]) -> Numbers:
        """Return where each node goes when so much is added to the value of each coordinate, in the ring of its values.

        >>> from gossamer.networks import parse
        >>> hierarchy(parse("leaf-spine:leaves=2,spines=2,hosts=2")).moved([1, 0, 0])[:4].tolist()
        [2, 3, 0, 1]
        """
        place = np.where(self.place >= 0, (self.place + np.array(shift)) % np.array(self.sizes), -1)
        to = np.empty(self.network.node_count, np.int64)
        for t, table in enumerate(self.node_at):
            nodes = np.flatnonzero(self.tier == t)
            to[nodes] = table[_encoded(place[nodes], self.coordinates[t], self.sizes)]
        return to

    @cached_property
    def translations(self) -> list[tuple[tuple[int, ...], int]]:
        """Shifts that generate a group none of which but the identity leaves a terminal or a link where it is.

        Each with its order; their group is the product of the cyclic ones, as large as the tiers and joins with the
        fewest places let it be, for each prime by itself. Where cables are missing, the planes of switches that have
        lost some stay where they are, and only what is in other planes is kept; empty if that is too much.
        """
        fixed = self._damaged
        if fixed is None:
            return []
        sizes = [1 if c in fixed | self.rigid else size for c, size in enumerate(self.sizes)]
        moved = {self.coordinates[t] for t in self.terminal_tiers} | {join.coordinates for join in self.joins}
        found: list[tuple[tuple[int, ...], int]] = []
        primes = sorted({p for size in sizes for p in _primes(size)})
        for p in primes:
            found += _free_shifts(sizes, [sorted(each) for each in moved], p)
        return found

    @cached_property
    def _damaged(self) -> set[int] | None:
        """The coordinates of planes that have lost cables, of which few values have; None if others have lost some."""
        ranks = {c for t in self.terminal_tiers for c in self.coordinates[t]}
        fixed: set[int] = set()
        for u, v in self.missing.tolist():
            planes = [
                c for c in range(len(self.sizes)) if max(self.place[u, c], self.place[v, c]) >= 0 and c not in ranks
            ]
            shared = [c for c in planes if sum(c in own for own in self.coordinates) > 1] or planes
            if not shared:
                return None
            fixed.add(shared[0])
        for c in fixed:
            lost = np.unique(self.place[self.missing].max(axis=1)[:, c])
            if int((lost >= 0).sum()) > max(1, self.sizes[c] // 4):
                return None
        return fixed

    # -- words --------------------------------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        """What it is, for people."""
        return "; ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        names = self._coordinate_names
        inner = self.level_names
        for t in self.terminal_tiers:
            own = set(self.coordinates[t])
            parts = [math.prod(self.sizes[c] for c in level) for level in self.levels]
            last = math.prod(self.sizes[c] for c in own.difference(*self.levels))
            each = [quantity(n, name) for n, name in zip(parts, inner, strict=True)]
            yield f"{' of '.join([*each, quantity(last, 'terminal')])} ({self._first_names(t)})"
            near = {other for join in self.joins if t in join.tiers for other in join.tiers}
            if len(self.terminal_tiers) > 1:
                yield f"those have links to {' and '.join(self._first_names(o) for o in sorted(near))} only"
            elif any(join.tiers == (t, t) for join in self.joins):
                one = np.flatnonzero(self.network.link_source == np.flatnonzero(self.tier == t)[0])
                direct = int((self.tier[self.network.link_target[one]] == t).sum())
                yield f"each is joined directly to {quantity(direct, 'other')}"
        for t in range(len(self.coordinates)):
            if t not in self.terminal_tiers:
                told = " x ".join(f"{self.sizes[c]:,} {names[c]}s" for c in self.coordinates[t])
                count = self.tier_sizes[t]
                yield f"{count:,} switch{'es' * (count > 1)} {self._first_names(t)}" + (f": {told}" if told else "")
        if len(self.missing):
            name = self.network.node_name
            shown = ", ".join(f"{name(u)} - {name(v)}" for u, v in self.missing[:8].tolist())
            more = len(self.missing) - 8
            found = f"missing: {quantity(len(self.missing), 'cable')}, {shown}"
            yield found + (f" and {more:,} more" if more > 0 else "")

    @cached_property
    def _coordinate_names(self) -> list[str]:
        """What the values of each coordinate are called: by where it is used, and whether links inside are faster."""
        names = [""] * len(self.sizes)
        for c in range(len(self.sizes)):
            has = [t for t, own in enumerate(self.coordinates) if c in own]
            ranks = set(has) & set(self.terminal_tiers)
            names[c] = ("rail" if ranks else "plane") if len(has) > 1 else "place"
        outward = ["server" if self._faster_inside else "leaf group", "pod"]
        for i, level in enumerate(reversed(self.levels)):
            for c in level:
                names[c] = outward[i] if i < len(outward) else "group"
        return names

    @property
    def level_names(self) -> list[str]:
        """What the groups of each level are called, for people."""
        return [self._coordinate_names[level[0]] for level in self.levels]

    @cached_property
    def _faster_inside(self) -> bool:
        """Whether the links inside a smallest group of terminals are faster than others of these terminals."""
        if not self.levels:
            return False
        rate = link_rates(self.network)
        inside = {c for level in self.levels for c in level}
        source = self.tier[self.network.link_source]
        known: dict[bool, float] = {}
        for join in self.joins:
            if join.tiers[0] in self.terminal_tiers:
                own = (source == join.tiers[0]) & (self.tier[self.network.link_target] == join.tiers[1])
                within = set(self.coordinates[join.tiers[1]]) == inside or join.tiers[1] in self.terminal_tiers
                known[within] = max(known.get(within, 0.0), float(rate[own].max(initial=0.0)))
        return known.get(True, 0.0) > known.get(False, np.inf)

    def _first_names(self, t: int) -> str:
        nodes = np.flatnonzero(self.tier == t)
        first, last = (self.network.node_name(int(nodes[i])) for i in (0, -1))
        return first if nodes.size == 1 else f"{first} to {last}"


def link_rates(network: Network) -> npt.NDArray[np.float64]:
    """Return what each link carries in a second, or in a slot where links have no speeds: float64[L]."""
    speeds = network.find(Speeds)
    return np.asarray(
        network.link_capacity / network.link_occupancy if speeds is None else speeds.bandwidth * network.link_capacity
    )


def link_kinds(network: Network) -> Numbers:
    """Return a number for each link, the same for links of one capacity, occupancy, latency and speed: int64[L]."""
    columns = [network.link_capacity, network.link_occupancy, network.link_latency]
    speeds = network.find(Speeds)
    told = [*columns, *(() if speeds is None else (speeds.bandwidth, speeds.latency))]
    key = np.zeros(network.link_count, np.int64)
    for column in told:
        own = np.unique(column, return_inverse=True)[1].ravel()
        key = np.unique(key * (int(own.max(initial=0)) + 1) + own, return_inverse=True)[1].ravel()
    return key.astype(np.int64)


def hierarchy(network: Network) -> Hierarchy | None:
    """Return the tiers and coordinates of a network; None if it is no hierarchy of this kind.

    Parameters
    ----------
    network : Network
        Any; those that are looked at have switches, two-way links of which none are parallel, no shared ports, and at
        most 4,000,000 links.

    Returns
    -------
    Hierarchy or None
        Every link was compared: nodes are joined exactly where they agree in the coordinates that both have, but for
        the cables that are `missing`, at most one of 16, and for terminals that are joined directly in groups of at
        most 64, all alike.

    Notes
    -----
    Tiers are nodes that cannot be told apart by the kinds of their neighbors; of how many does not count at first, so
    that a cable that is missing changes little, and in a second try it does. The components of every few tiers that are
    joined are groups of nodes that every symmetry keeps together; coordinates are read off them, the coarse ones first.
    O(L log L) for each of the at most 2**tiers sets of tiers.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> found = hierarchy(parse("generalized-fat-tree:children=8x4x4,parents=1x4x4"))
    >>> found.levels, [(shift, order) for shift, order in found.translations if order > 1][0][1]
    (((0,), (2,)), 4)
    >>> hierarchy(parse("torus:4x4")) is None
    True
    """
    alone = network.shared_ports is None and not network.parallel and network.two_way
    if not alone or network.terminal_count == network.node_count or not 0 < network.link_count <= _MOST_LINKS:
        return None
    kind = link_kinds(network)
    for start in (np.zeros(network.node_count, np.int64), network.out_degree.astype(np.int64)):
        tier = _tiers(network, kind, start)
        if tier is not None:
            coordinates = _Coordinates(network, tier)
            found = coordinates.hierarchy(kind) if coordinates.read_off() else None
            if found is not None:
                return found
    return None


def _tiers(network: Network, kind: Numbers, start: Numbers) -> Numbers | None:
    """Return the tier of each node, those of terminals first; None if they are many. Unequal ones of `start` differ."""
    n, kinds = network.node_count, int(kind.max(initial=0)) + 1
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    switch = np.arange(n) >= network.terminal_count
    color = np.unique(start + switch * (int(start.max()) + 1), return_inverse=True)[1].ravel()
    count = int(color.max()) + 1
    if count > _MOST_TIERS:
        return None
    for turn in range(_ROUNDS):
        rng = np.random.default_rng(turn)
        weight = rng.integers(1, 2**61, count * kinds, dtype=np.int64)  # sums tell sets apart, but for chance
        near = np.unique(source * (count * kinds) + color[target] * kinds + kind)
        total = np.zeros(n, np.int64)
        np.add.at(total, near // (count * kinds), weight[near % (count * kinds)])
        first_seen = np.lexsort((total, color))
        new = np.append(False, (np.diff(total[first_seen]) != 0) | (np.diff(color[first_seen]) != 0))
        again = np.empty(n, np.int64)
        again[first_seen] = np.cumsum(new)
        color, before, count = again, count, int(again.max()) + 1
        if count > _MOST_TIERS:
            return None
        if count == before and turn:
            return color
    return None


class _Division(NamedTuple):
    """Tiers that fall into so many blocks by the links of some pairs of them, and the block of each of their nodes."""

    blocks: int
    tiers: tuple[int, ...]
    block: dict[int, Numbers]
    pairs: tuple[tuple[int, int], ...]


class _Coordinates:
    """Coordinates as they are read off."""

    def __init__(self, network: Network, tier: Numbers) -> None:
        self.network, self.tier = network, tier
        self.count = int(tier.max()) + 1
        source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
        once = source < target
        low, high = tier[source[once]], tier[target[once]]
        swap = low > high
        self.ends = np.where(swap, target[once], source[once]), np.where(swap, source[once], target[once])
        self.link = np.flatnonzero(once)
        pair = np.minimum(low, high) * self.count + np.maximum(low, high)
        self.pairs = [(int(k) // self.count, int(k) % self.count) for k in np.unique(pair)]
        self.pair = pair
        self.values: list[dict[int, Numbers]] = []  # of each coordinate, by tier: the value at each of its nodes
        self.sizes: list[int] = []
        self.nodes = [np.flatnonzero(tier == t) for t in range(self.count)]
        self.groups: list[_Division] = []
        self.terminal = {int(t) for t in np.unique(tier[: network.terminal_count])}
        self.direct = [pair for pair in self.pairs if set(pair) <= self.terminal]
        self.rigid: frozenset[int] = frozenset()

    def read_off(self) -> bool:
        """Read the coordinates off the components of sets of tiers; say whether they tell all nodes apart."""
        if any(s == t and s not in self.terminal for s, t in self.pairs):
            return False
        self.groups = sorted(self._components(), key=lambda each: (each.blocks, -len(each.tiers)))
        for each in self.groups:
            if not self._take(each.blocks, each.tiers, each.block):
                return False
        for t in range(self.count):  # what tells nodes of one tier alone apart
            known = self._known((t,), None)
            number, size = self._combined(t, known)
            left, rest = divmod(self.nodes[t].size, size)
            if rest or bool((np.bincount(number, minlength=size) != left).any()):
                return False
            if left > 1:
                self.sizes.append(left)
                self.values.append({t: _rank_within(number)})
        return True

    def _components(self) -> Iterator[_Division]:
        """Yield the components of sets of tiers that are joined, with and without direct links of terminals."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        n = self.network.node_count
        for size in range(1, self.count + 1):
            for tiers in itertools.combinations(range(self.count), size):
                among = [pair for pair in self.pairs if set(pair) <= set(tiers)]
                through = [pair for pair in among if pair not in self.direct]
                for inside in (among, through) if len(through) < len(among) else (among,):
                    if not inside or not _joined(tiers, inside):
                        continue
                    own = np.isin(self.pair, [s * self.count + t for s, t in inside])
                    ends = self.ends[0][own], self.ends[1][own]
                    graph = coo_matrix((np.ones(ends[0].size, np.int8), ends), (n, n))
                    label = connected_components(graph, directed=False)[1]
                    nodes = np.concatenate([self.nodes[t] for t in tiers])
                    known, label_of = np.unique(label[nodes], return_inverse=True)
                    block = dict(
                        zip(tiers, np.split(label_of, np.cumsum([self.nodes[t].size for t in tiers])[:-1]), strict=True)
                    )
                    if known.size > 1:
                        yield _Division(known.size, tiers, block, tuple(inside))

    def _known(self, tiers: Sequence[int], block: dict[int, Numbers] | None) -> list[int]:
        """Return the coordinates that all of some tiers have, of those that are the same throughout each block."""
        found = []
        for c, values in enumerate(self.values):
            if not all(t in values for t in tiers):
                continue
            if block is None or self._by_block(values, tiers, block) is not None:
                found.append(c)
        return found

    @staticmethod
    def _by_block(values: dict[int, Numbers], tiers: Sequence[int], block: dict[int, Numbers]) -> Numbers | None:
        """Return the value of each block, as the tiers that have one tell it; None if nodes of a block differ."""
        own = [t for t in tiers if t in values]
        if not own:
            return None
        of = np.full(int(max(block[t].max() for t in tiers)) + 1, -1, np.int64)
        for t in own:
            of[block[t]] = values[t]
        return of if all(bool((of[block[t]] == values[t]).all()) for t in own) and int(of.min()) >= 0 else None

    def _combined(self, t: int, known: Sequence[int]) -> tuple[Numbers, int]:
        """Return the values of some coordinates at the nodes of a tier as one number, and how many there may be."""
        number, size = np.zeros(self.nodes[t].size, np.int64), 1
        for c in known:
            number, size = number * self.sizes[c] + self.values[c][t], size * self.sizes[c]
        return number, size

    def _take(self, count: int, tiers: tuple[int, ...], block: dict[int, Numbers]) -> bool:
        """Take in one more division of some tiers into blocks; say whether it fits the coordinates."""
        for values in self.values:  # what some of the tiers know and is the same throughout each block, the others know
            of = self._by_block(values, tiers, block)
            if of is not None:
                values.update({t: of[block[t]] for t in tiers})
        known = self._known(tiers, block)
        t = tiers[0]
        number, size = self._combined(t, known)
        of = np.empty(count, np.int64)
        of[block[t]] = number
        left, rest = divmod(count, size)
        if rest or bool((np.bincount(of, minlength=size) != left).any()):
            return False
        if left > 1:
            value = _rank_within(of)
            self.sizes.append(left)
            self.values.append({s: value[block[s]] for s in tiers})
            self._spread(self.values[-1])
        return True

    def _spread(self, values: dict[int, Numbers]) -> None:
        """Tell a coordinate to all tiers on which it is the same throughout blocks with a tier that knows it."""
        grown = True
        while grown:
            grown = False
            for _, tiers, block, _ in self.groups:
                if all(t in values for t in tiers):
                    continue
                of = self._by_block(values, tiers, block)
                if of is not None:
                    values.update({t: of[block[t]] for t in tiers})
                    grown = True

    def hierarchy(self, kind: Numbers) -> Hierarchy | None:
        """Return the hierarchy, if every link joins nodes that agree and few are missing; else None."""
        own = tuple(tuple(c for c, values in enumerate(self.values) if t in values) for t in range(self.count))
        alike = {pair for pair in self.direct if not self._joined_alike(pair, own)}
        if alike and not self._align(sorted(alike), kind):
            return None
        place = np.full((self.network.node_count, len(self.sizes)), -1, np.int64)
        for c, values in enumerate(self.values):
            for t, value in values.items():
                place[self.nodes[t], c] = value
        for t in range(self.count):
            number, size = self._combined(t, own[t])
            if size != self.nodes[t].size or np.unique(number).size != size:
                return None
        joins, missing = [], []
        for s, t in self.pairs:
            at = np.flatnonzero(self.pair == s * self.count + t)
            links = self.link[at]
            both = tuple(sorted(set(own[s]) | set(own[t])))
            if (s, t) in alike:
                joins.append(Join((s, t), both))
                continue
            back = self.network.reverse_link[links]
            if np.unique(kind[links]).size > 1 or np.unique(kind[back]).size > 1:
                return None
            u, v = self.ends[0][at], self.ends[1][at]
            common = sorted(set(own[s]) & set(own[t]))
            if bool((place[u][:, common] != place[v][:, common]).any()):
                return None
            joins.append(Join((s, t), both))
            total = math.prod(self.sizes[c] for c in both)
            if total - at.size > total // _MISSING:
                return None
            if total > at.size:
                there = np.zeros(total, np.bool_)
                there[_encoded(np.maximum(place[u], place[v]), both, self.sizes)] = True
                gone = _decoded(np.flatnonzero(~there), both, self.sizes)
                missing.append(np.stack([self._at(gone, each, own[each]) for each in (s, t)], axis=1))
        lost = np.concatenate(missing) if missing else np.zeros((0, 2), np.int64)
        levels = self._levels(own)
        return Hierarchy(
            self.network, self.tier, tuple(self.sizes), own, place, tuple(joins), lost, levels, self.rigid
        )  # fmt: skip

    def _joined_alike(self, pair: tuple[int, int], own: tuple[tuple[int, ...], ...]) -> bool:
        """Return whether two tiers have as many links as pairs of nodes that agree in what both have."""
        s, t = pair
        total = math.prod(self.sizes[c] for c in {*own[s], *own[t]})
        return s != t and int((self.pair == s * self.count + t).sum()) == total

    def _align(self, pairs: list[tuple[int, int]], kind: Numbers) -> bool:
        """Give the terminals of all groups that are joined directly places by which all are joined alike, if they are.

        What tells them apart and no other tier knows is told again, by comparing each group with the first.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        n = self.network.node_count
        tiers = sorted({t for pair in pairs for t in pair})
        links = np.flatnonzero(np.isin(self.pair, [s * self.count + t for s, t in pairs]))
        ends = self.ends[0][links], self.ends[1][links]
        label = connected_components(coo_matrix((np.ones(links.size, np.int8), ends), (n, n)), directed=False)[1]
        nodes = np.concatenate([self.nodes[t] for t in tiers])
        place = {c: np.full(n, -1, np.int64) for c, values in enumerate(self.values) if set(tiers) & set(values)}
        for c, column in place.items():
            for t in set(tiers) & set(self.values[c]):
                column[self.nodes[t]] = self.values[c][t]
        group = np.unique(label[nodes], return_inverse=True)[1].ravel()
        count = int(group.max()) + 1
        size = nodes.size // count
        if nodes.size != count * size or size > _MOST_JOINED or count * size * size > _MOST_PAIRS:
            return False
        varied = [c for c, column in place.items() if _varies(column[nodes], group, count)]
        known = [c for c in varied if set(self.values[c]) - set(tiers)]
        told = [place[c][nodes] for c in varied if c not in known]
        order = np.lexsort([*told, *(place[c][nodes] for c in known), self.tier[nodes], group])
        if bool((np.bincount(group) != size).any()):
            return False
        member = nodes[order].reshape(count, size)
        seen = [self.tier[member], *(place[c][member] for c in known)]
        if any(bool((each != each[0]).any()) for each in seen):
            return False
        joined = self._joined_directly(member, ends, self.link[links], kind)
        classes = np.unique(np.stack([each[0] for each in seen]), axis=1, return_inverse=True)[1].ravel()
        found: dict[bytes, Numbers | None] = {joined[0].tobytes(): np.arange(size)}
        for i in np.flatnonzero((joined != joined[0]).any(axis=(1, 2))).tolist():
            key = joined[i].tobytes()
            if key not in found:
                found[key] = next(_likenesses(joined[0], joined[i], classes), None)
            at = found[key]
            if at is None:
                return False
            member[i] = member[i][at]
        for c in varied:
            if c not in known:
                column = place[c]
                column[member] = column[member[0]]
                self.values[c] = {t: column[self.nodes[t]] for t in self.values[c]}
        first = member[0]
        if len(tiers) == 1 and len(varied) == 1:  # places in the order of a ring, if there is one
            ring = _ring_of(joined[0])
            if ring is not None:
                values = np.empty(size, np.int64)
                values[place[varied[0]][first[ring]]] = np.arange(size)
                self.values[varied[0]] = {t: values[own] for t, own in self.values[varied[0]].items()}
                place[varied[0]][first] = values[place[varied[0]][first]]
        places = np.stack([self.tier[first], *(place[c][first] for c in varied)])
        self.rigid = frozenset(c for i, c in enumerate(varied) if not _shifted(joined[0], places, i + 1, self.sizes[c]))
        return True

    def _joined_directly(
        self, member: Numbers, ends: tuple[Numbers, Numbers], links: Numbers, kind: Numbers
    ) -> Numbers:
        """Return the kind of link from each member of each group to each other, int64[G, m, m]; 0 for none."""
        count, size = member.shape
        at = np.full(self.network.node_count, -1, np.int64)
        at[member] = np.arange(count * size).reshape(count, size)
        joined = np.zeros((count, size, size), np.int64)
        for tail, head, number in ((*ends, links), (*ends[::-1], self.network.reverse_link[links])):
            joined[at[tail] // size, at[tail] % size, at[head] % size] = kind[number] + 1
        return joined

    def _at(self, place: Numbers, t: int, coordinates: tuple[int, ...]) -> Numbers:
        """Return the nodes of a tier at some places."""
        number, size = self._combined(t, coordinates)
        table = np.empty(size, np.int64)
        table[number] = self.nodes[t]
        return table[_encoded(place, coordinates, self.sizes)]

    def _levels(self, own: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        """Return groups of terminals inside each other, those with the fastest links inside first chosen."""
        network = self.network
        terminal = sorted(set(self.tier[: network.terminal_count].tolist()))
        rate = link_rates(network)
        fastest = {
            pair: float(np.max(rate[self.link[self.pair == pair[0] * self.count + pair[1]]])) for pair in self.pairs
        }
        divisions: dict[frozenset[int], tuple[bool, float]] = {}
        for _, tiers, block, inside in self.groups:
            if not set(terminal) <= set(tiers):
                continue
            known = frozenset(self._known(tiers, block))
            slowest = bool(set(inside) & set(self.direct)), min(fastest[pair] for pair in inside)
            divisions[known] = max(divisions.get(known, (False, 0.0)), slowest)
        chain: list[frozenset[int]] = []

        def blocks(division: frozenset[int]) -> int:
            return math.prod(self.sizes[c] for c in division)

        # ranks that are joined directly stay together: others reach them through ranks only
        for division, _ in sorted(divisions.items(), key=lambda each: (-each[1][0], -each[1][1], -blocks(each[0]))):
            if all(division <= other or other <= division for other in chain):
                chain.append(division)
        chain.sort(key=len)
        levels, before = [], frozenset[int]()
        for division in chain:
            if division - before:
                levels.append(tuple(sorted(division - before)))
                before = division
        return tuple(levels)


def _varies(values: Numbers, group: Numbers, count: int) -> bool:
    """Return whether values differ within some group."""
    first = np.empty(count, np.int64)
    first[group] = values
    return bool((first[group] != values).any())


def _likenesses(one: Numbers, other: Numbers, classes: Numbers) -> Iterator[Numbers]:
    """Yield members of one group for those of another, of the same class, so that they are joined alike.

    `one`, `other`, int64[m, m]: the kind of link between two members. Place by place, what does not fit is given up.

    >>> line, turned = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> [at.tolist() for at in _likenesses(line, turned, np.zeros(3, int))]
    [[1, 0, 2], [2, 0, 1]]
    """
    m = len(one)
    order = [0]
    while len(order) < m:  # each with links to those before, where there are any
        left = [i for i in range(m) if i not in order]
        order.append(max(left, key=lambda i: (int((one[i, order] > 0).sum()), -i)))
    at, tried = np.full(m, -1, np.int64), [0] * (m + 1)
    k = 0
    for _ in range(_STEPS):
        if k < 0:
            return
        if k == m:
            yield at.copy()
            k -= 1
            continue
        i, before = order[k], np.array(order[:k], np.int64)
        at[i] = -1
        for j in range(tried[k], m):
            fits = classes[i] == classes[j] and j not in at[before] and one[i, i] == other[j, j]
            if (
                fits
                and bool((one[i, before] == other[j, at[before]]).all())
                and bool((one[before, i] == other[at[before], j]).all())
            ):
                at[i], tried[k], tried[k + 1] = j, j + 1, 0
                k += 1
                break
        else:
            k -= 1


def _ring_of(joined: Numbers) -> Numbers | None:
    """Return members of a group in an order in which moving all by one place keeps the links; None if there is none.

    >>> ring = np.roll(np.eye(6, dtype=int), 1, 1)[[0, 2, 4, 1, 3, 5]][:, [0, 2, 4, 1, 3, 5]]
    >>> _ring_of(ring + ring.T).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    for to in itertools.islice(_likenesses(joined, joined, np.zeros(len(joined), np.int64)), _DRAWS):
        order = [0]
        while (new := int(to[order[-1]])) != 0:
            order.append(new)
        if len(order) == len(joined):
            return np.array(order)
    return None


def _shifted(joined: Numbers, places: Numbers, row: int, size: int) -> bool:
    """Return whether links of a group are kept where one coordinate of the `places` of its members is shifted by one.

    >>> ring = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    >>> [_shifted(each, np.arange(4)[None], 0, 4) for each in (ring, np.triu(np.tril(ring, 1), -1))]
    [True, False]
    """
    moved = places.copy()
    moved[row] = np.where(moved[row] >= 0, (moved[row] + 1) % size, -1)
    order = np.lexsort(places)
    to = np.empty(order.size, np.int64)
    to[np.lexsort(moved)] = order
    return bool((places[:, to] == moved).all()) and bool((joined[to][:, to] == joined).all())


def _joined(tiers: Sequence[int], pairs: Sequence[tuple[int, int]]) -> bool:
    """Return whether pairs join all of some tiers."""
    seen = {tiers[0]}
    for _ in tiers:
        seen |= {t for pair in pairs if seen & set(pair) for t in pair}
    return len(seen) == len(tiers)


def _rank_within(group: Numbers) -> Numbers:
    """Return the place of each entry among those of its group.

    >>> _rank_within(np.array([1, 0, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.empty(group.size, np.int64)
    rank[order] = np.arange(group.size) - np.repeat(first, np.diff(np.append(first, group.size)))
    return rank


def _encoded(place: Numbers, coordinates: Sequence[int], sizes: Sequence[int]) -> Numbers:
    number = np.zeros(len(place), np.int64)
    for c in coordinates:
        number = number * sizes[c] + place[:, c]
    return number


def _decoded(number: Numbers, coordinates: Sequence[int], sizes: Sequence[int]) -> Numbers:
    place = np.full((number.size, len(sizes)), -1, np.int64)
    for c in reversed(coordinates):
        number, place[:, c] = np.divmod(number, sizes[c])
    return place


# Shifts whose group moves all that it should: for a prime p, of orders that are powers of p.


def _primes(n: int) -> list[int]:
    found, p = [], 2
    while p * p <= n:
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return [*found, n] if n > 1 else found


def _power_in(n: int, p: int) -> int:
    power = 0
    while n % p == 0:
        n, power = n // p, power + 1
    return power


def _free_shifts(sizes: Sequence[int], moved: Sequence[Sequence[int]], p: int) -> list[tuple[tuple[int, ...], int]]:
    """Return shifts of orders p**a whose group moves each of `moved`, sets of coordinates, but for the identity.

    The group does so if its elements of order p do, and these are a vector space over the integers modulo p: the last
    digits of the shifts of each set of coordinates must be linearly independent.

    >>> _free_shifts((4, 2, 6), [(0, 1), (0, 2), (1, 2)], 2)[0][1]
    2
    """
    powers = [_power_in(size, p) for size in sizes]
    draw = np.random.default_rng(p)
    found: list[tuple[tuple[int, ...], int]] = []
    digits: list[Numbers] = []
    ranked = [sorted((powers[c] for c in each), reverse=True) for each in moved]
    for i in range(min(sum(a > 0 for a in each) for each in ranked)):
        for a in range(min(each[i] for each in ranked), 0, -1):
            shift = next(_shifts(sizes, powers, moved, p, a, digits, draw), None)
            if shift is not None:
                found.append((tuple(shift.tolist()), p**a))
                digits.append(_last_digit(shift, sizes, powers, p, a))
                break
        else:
            break
    return found


def _shifts(
    sizes: Sequence[int], powers: Sequence[int], moved: Sequence[Sequence[int]], p: int, a: int,
    digits: Sequence[Numbers], draw: Any,
) -> Iterator[Numbers]:  # fmt: skip
    """Yield shifts of order p**a that go with those whose last digits are given."""
    for _ in range(_DRAWS):
        shift = np.zeros(len(sizes), np.int64)
        for c, (size, power) in enumerate(zip(sizes, powers, strict=True)):
            if power:
                unit = size // p ** min(power, a)
                shift[c] = unit * int(draw.integers(0, size // unit))
        last = [*digits, _last_digit(shift, sizes, powers, p, a)]
        if all(_independent(np.stack([d[list(each)] for d in last]), p) for each in moved):
            yield shift


def _last_digit(shift: Numbers, sizes: Sequence[int], powers: Sequence[int], p: int, a: int) -> Numbers:
    """Return the multiple of order p of a shift of order p**a, in units of the least shift of that order."""
    digit = np.zeros(len(sizes), np.int64)
    for c, (size, power) in enumerate(zip(sizes, powers, strict=True)):
        if power:
            digit[c] = shift[c] * p ** (a - 1) % size // (size // p)
    return digit


def _independent(rows: Numbers, p: int) -> bool:
    """Return whether rows are linearly independent modulo a prime."""
    rows = rows.copy() % p
    for i in range(len(rows)):
        at = np.flatnonzero(rows[i])
        if not at.size:
            return False
        c = int(at[0])
        rows[i] = rows[i] * pow(int(rows[i, c]), -1, p) % p
        for j in range(i + 1, len(rows)):
            rows[j] = (rows[j] - rows[j, c] * rows[i]) % p
    return True
