"""Tori and hypercubes of which a few cables are missing, and the translations that spare most of what is left.

A cable that is missing is found by what was around it: two nodes that have too few cables, and many of whose neighbors
are adjacent in pairs. With such cables put back the network is looked at as any other. A subgroup of the translations
takes each missing cable to others, which no plan that looks the same everywhere may use: the smaller the subgroup, the
fewer they are, and the more of the plan is written out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.networks.finite_groups import divisors
from gossamer.networks.grids import hypercube
from gossamer.networks.network import Failed, Network
from gossamer.networks.recognition import recognition
from gossamer.networks.structures import Grid

__all__ = ["AlmostTorus", "almost_torus"]

Numbers = npt.NDArray[np.int64]

_SHARE, _LARGEST = 100, 4_000_000
"""Cables of which one may be missing, and links that are looked at."""
_BROKEN = 48
"""Cables of which one may be taken from plans because it is like a missing one."""
_DRAWS, _GOOD = 4000, 40
"""Subgroups of each order that are drawn, and after how many the best of those that spare the nodes is taken."""


class AlmostTorus(NamedTuple):
    """A torus or hypercube without some cables.

    * `network` (Network): what is left.
    * `original` (Network): the torus or hypercube with all its cables.
    * `sides` (tuple of int): the nodes along each dimension.
    * `place` (int64[N, dimensions]): the coordinates of each node of `network`.
    * `missing` (int64[M, 2]): pairs of nodes of `network` whose cable is missing.
    """

    network: Network
    original: Network
    sides: tuple[int, ...]
    place: Numbers
    missing: Numbers

    @property
    def words(self) -> str:
        """What it is, for people."""
        name = self.network.node_name
        shown = ", ".join(f"{name(u)} - {name(v)}" for u, v in self.missing[:8].tolist())
        more = f" and {len(self.missing) - 8:,} more" if len(self.missing) > 8 else ""
        return f"{self.original.spec} with {quantity(len(self.missing), 'cable')} missing: {shown}{more}"

    def number(self, place: Numbers) -> Numbers:
        """Return coordinates as one number."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(place % self.sides, -1, 0)), self.sides), np.int64)

    def node_at(self) -> Numbers:
        """Return the node at each place, by `number`: int64[N]."""
        found = np.empty(len(self.place), np.int64)
        found[self.number(self.place)] = np.arange(len(self.place))
        return found

    def moved(self, shift: Numbers) -> Numbers:
        """Return where each node goes when so much is added to its coordinates."""
        return self.node_at()[self.number(self.place + shift)]

    def shifts(self, most: int) -> list[Numbers]:
        """Return shifts that generate a group which takes missing cables to few others, and those spread evenly.

        `most` (int): shifts of the group at the most. Returns: list of int64[dimensions]: None is a sum of multiples of
        others; empty if there is no such group.

        Of the orders that spare all cables but one of 48, the largest is taken of which a group is drawn that takes
        from no node more cables than are missing at some node now; of several such groups, the one with most planes.
        """
        missing, total = len(self.missing), self.network.link_count // 2
        most = min(most, total // (_BROKEN * max(missing, 1)))
        now = int(np.bincount(self.missing.ravel(), minlength=1).max()) if missing else 0
        # what each missing cable takes from its two ends: the dimension and direction, seen from there
        ends = self.missing.ravel()
        other = self.missing[:, ::-1].ravel()
        way = (self.place[other] - self.place[ends]) % self.sides
        draw = np.random.default_rng(0)
        for order in sorted((d for d in divisors(math.prod(self.sides)) if 1 < d <= most), reverse=True):
            best: tuple[int, list[Numbers]] | None = None
            for turn, found in zip(range(_DRAWS), self._groups(order, draw), strict=False):
                elements = _elements(found, self.sides)
                orbit = self._orbit_names(elements, ends)
                lost = np.unique(np.column_stack([orbit, way]), axis=0)[:, 0]
                if int(np.unique(lost, return_counts=True)[1].max(initial=0)) > now:
                    continue
                spread = min(len(np.unique(elements[:, i])) * 64 // side for i, side in enumerate(self.sides))
                if best is None or spread > best[0]:
                    best = spread, found
                if turn > _GOOD:
                    break
            if best is not None:
                return best[1]
        return []

    def _groups(self, order: int, draw: np.random.Generator) -> Iterator[list[Numbers]]:
        """Yield generators of groups of shifts of an order, drawn at random; each a product of cyclic ones."""
        sides = np.array(self.sides)
        for _ in range(8 * _DRAWS):
            found, size = list[Numbers](), 1
            for _ in range(2 * len(sides)):
                want = [d for d in divisors(order // size) if d > 1]
                if not want:
                    break
                possible = [d for d in want if math.lcm(*(math.gcd(d, k) for k in self.sides)) == d]
                if not possible:
                    break
                cycle = possible[-1] if draw.random() < 0.7 else int(draw.choice(possible))
                unit = sides // np.gcd(cycle, sides)
                shift = unit * draw.integers(0, np.gcd(cycle, sides))
                if _order(shift, self.sides) != cycle:
                    continue
                if len(_elements([*found, shift], self.sides)) == size * cycle:
                    found.append(shift)
                    size *= cycle
            if size == order:
                yield found

    def _orbit_names(self, elements: Numbers, nodes: Numbers) -> Numbers:
        """Return the least number of a place in the orbit of each node."""
        return np.asarray(self.number(self.place[nodes][:, None] + elements[None]).min(axis=1))


def _order(shift: Numbers, sides: tuple[int, ...]) -> int:
    return math.lcm(*(k // math.gcd(int(x), k) for x, k in zip(shift, sides, strict=True)))


def _elements(generators: list[Numbers], sides: tuple[int, ...]) -> Numbers:
    """Return the shifts of the group that some generate, int64[H, dimensions].

    >>> _elements([np.array([2, 1])], (4, 2)).tolist()
    [[0, 0], [2, 1]]
    """
    found = np.zeros((1, len(sides)), np.int64)
    for shift in generators:
        multiples = np.arange(_order(shift, sides))[:, None] * shift
        found = np.unique(((found[:, None] + multiples) % sides).reshape(-1, len(sides)), axis=0)
    return found


def almost_torus(network: Network) -> AlmostTorus | None:
    """Return the torus or hypercube that a network is but for a few cables; None if it is none, or none is missing.

    `network` (Network): any; those that are looked at have terminals alone, two-way links of which none are parallel,
    no shared ports, and at most 4,000,000 links. Returns: at most one cable of 100 is missing. All others were
    compared.

    Under any numbering. O(L d**2) time for a degree of d, beside that of `gossamer.networks.recognition`.

    >>> from gossamer.networks import parse
    >>> left = parse("torus:8x8").without(links=[(0, 1)])
    >>> almost_torus(left).words
    'torus:8x8 with 1 cable missing: (0,0) - (0,1)'
    """
    if "_almost_torus" not in vars(network):
        vars(network)["_almost_torus"] = _found(network)
    known: AlmostTorus | None = vars(network)["_almost_torus"]
    return known


def _found(network: Network) -> AlmostTorus | None:
    alone = network.shared_ports is None and not network.parallel and network.two_way
    terminals_only = network.terminal_count == network.node_count > 2
    if not (alone and terminals_only) or not 0 < network.link_count <= _LARGEST or network.uniform_capacity != 1:
        return None
    degree = network.out_degree
    lacks = int(degree.max()) - degree
    short = int(lacks.sum())
    if short == 0 or short % 2 or short > network.link_count // _SHARE:
        return None
    missing = _ends(network, lacks.astype(np.int64))
    if missing is None:
        return None
    whole, place = _original(network, missing)
    if whole is None or place is None:
        return None
    grid = whole.find(Grid)
    if grid is not None and all(grid.wraps):
        sides = tuple(int(k) for k in grid.sides)
    elif whole == hypercube(whole.node_count.bit_length() - 1):
        sides = (2,) * (whole.node_count.bit_length() - 1)
    else:
        return None
    coordinates = np.stack(np.unravel_index(place, sides), axis=1).astype(np.int64)
    return AlmostTorus(network, whole, sides, coordinates, missing)


def _original(network: Network, missing: Numbers) -> tuple[Network | None, npt.NDArray[np.integer] | None]:
    """Return what the network is with some cables put back, and the node there of each node."""
    failed = network.find(Failed)
    if failed is not None and failed.sound.grid is not None and failed.sound.node_count == network.node_count:
        return failed.sound, np.arange(network.node_count)
    ends = np.concatenate([np.stack([network.link_source, network.link_target], axis=1), missing, missing[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))].astype(np.int32)
    whole = Network(f"{network.spec}, repaired", network.node_count, ends[:, 0], ends[:, 1], links_only=True)
    found = recognition(whole)
    return found.original, found.place


def _ends(network: Network, lacks: Numbers) -> Numbers | None:
    """Return pairs of nodes that lack cables between which most was around one; None if the others are not in pairs."""
    first, target = network.first_link, network.link_target
    near = {int(u): target[first[u] : first[u + 1]].tolist() for u in np.flatnonzero(lacks)}

    def beyond(v: int) -> list[int]:
        found: list[int] = target[first[v] : first[v + 1]].tolist()
        return found

    scores: list[tuple[int, int, int]] = []
    for u, around in near.items():
        score: dict[int, int] = {}
        for w in around:  # ends of paths of three cables from u by w, if there is one path
            ends: dict[int, int] = {}
            for x in beyond(w):
                if x != u:
                    for v in beyond(x):
                        if v > u and v in near and v != w and v not in around:
                            ends[v] = ends.get(v, 0) + 1
            for v, paths in ends.items():
                score[v] = score.get(v, 0) + (paths == 1)
        scores += [(-count, u, v) for v, count in score.items() if count > 1]
    left, found = lacks.copy(), list[tuple[int, int]]()
    for _, group in itertools.groupby(sorted(scores), key=lambda each: each[0]):
        for _, u, v in group:
            if left[u] and left[v]:
                found.append((u, v))
                left[[u, v]] -= 1
    return np.array(found, np.int64).reshape(-1, 2) if found and not left.any() else None
