"""Broadcasts over four arc-disjoint spanning trees: the trees, and the schedules that use them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.jit import njit
from gossamer.reading import whole

__all__ = ["ArcDisjointTrees", "rotated", "shallow_trees", "tree_a", "tree_b"]

_UNREACHED = 1_000_000


@njit(cache=True, nogil=True, _nrt=False)
def _depths(parent, depth, path):
    """Write the depth of every node below node 0, or a huge one where the parents run in a circle.

    `parent` int64[N] (of node 0 unused), `depth` int64[N] and `path` int64[N], a workspace.
    """
    nodes = parent.size
    for v in range(nodes):
        depth[v] = -1
    depth[0] = 0
    for v in range(nodes):
        k = 0
        u = v
        while depth[u] == -1:
            depth[u] = -2
            path[k] = u
            k += 1
            u = parent[u]
        base = _UNREACHED if depth[u] == -2 else depth[u]
        while k > 0:
            k -= 1
            if base < _UNREACHED:
                base += 1
            depth[path[k]] = base


@njit(cache=True, nogil=True, _nrt=False)
def _excess(depth, height, cap):
    total = 0
    for v in range(depth.size):
        over = depth[v] - height
        if over > 0:
            total += over if over < cap else cap
    return total


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _anneal(height, member, size, orbit, candidate, turns, allowed, choice, room, cap, seed, steps, warmth):
    """Change the choices of orbits until no node lies deeper than `height`; say whether that was reached.

    * `height`: depth allowed.
    * `member`, int64[O, 4]: nodes of each orbit of the rotation.
    * `size`, int64[O]: their number: 4, or 2 or 1 for orbits that a rotation maps to themselves sooner.
    * `orbit`, int64[N]: orbit of each node.
    * `candidate`, int64[O, 4, 4]: parent of member k if it takes arc orbit r.
    * `turns`, int64[24, 4]: the permutations of the arc orbits.
    * `allowed`, bool[O, 24]: which permutations use no arc orbit twice.
    * `choice`, int64[O]: permutation of each orbit, changed in place.
    * `room`, int64[3, N]: to work in.
    * `cap`: what a node that lies too deep weighs at the most.
    * `seed`, `steps`: of the random choices; most of them.
    * `warmth`: starting temperature.
    """
    np.random.seed(seed)
    nodes = orbit.size
    parent, depth, path = room[0], room[1], room[2]
    for o in range(size.size):
        for k in range(size[o]):
            parent[member[o, k]] = candidate[o, k, turns[choice[o], k]]
    _depths(parent, depth, path)
    cost = _excess(depth, height, cap)
    for step in range(steps):
        if cost == 0:
            return True
        heat = warmth * (1 - step / steps) + 0.05
        v = np.random.randint(1, nodes)
        while depth[v] <= height:
            v = np.random.randint(1, nodes)
        for _ in range(np.random.randint(0, height + 1)):  # a node that lies too deep, or one above it
            if parent[v] == 0:
                break
            v = parent[v]
        o = orbit[v]
        old, new = choice[o], np.random.randint(0, turns.shape[0])
        if new == old or not allowed[o, new]:
            continue
        for k in range(size[o]):
            parent[member[o, k]] = candidate[o, k, turns[new, k]]
        _depths(parent, depth, path)
        changed = _excess(depth, height, cap)
        if changed <= cost or np.random.random() < math.exp((cost - changed) / heat):
            cost = changed
            choice[o] = new
        else:
            for k in range(size[o]):
                parent[member[o, k]] = candidate[o, k, turns[old, k]]
            _depths(parent, depth, path)
    return cost == 0


# Four arc-disjoint spanning trees of an n x n torus with one root, each a rotation of the first.
#
# Turn the torus by a quarter about the root, ``(x, y) -> (-y, x)``. A tree is given by the direction in which its arc
# enters each node; its rotations share no arc with it if and only if it uses at most one arc of each orbit of arcs. The
# root's four arcs form one orbit, so the root has one child in each tree. Four trees that share no *undirected edge* do
# not exist: a torus has 2n² edges and a spanning tree n²-1, so there are at most two (errata X12).

EAST, NORTH, WEST, SOUTH = range(4)
_X = np.array([1, 0, -1, 0])
_Y = np.array([0, 1, 0, -1])

_TRIES = 16  # up to 30 nodes a side; 4 beyond
_STEPS = 200_000


@dataclass(frozen=True, eq=False)
class ArcDisjointTrees:
    """Four spanning trees with root 0 that share no arc.

    Attributes
    ----------
    n : int
        Nodes of each side. Node ``y*n + x`` is at column x of row y.
    direction : int8[4, n*n]
        Direction in which the tree's arc enters each node: 0 east (x grows), 1 north (y grows), 2 west, 3 south; -1 at
        the root.
    """

    n: int
    direction: npt.NDArray[np.int8]

    @cached_property
    def parent(self) -> npt.NDArray[np.int32]:
        """Parent of each node in each tree, int32[4, n*n]; the root's is the root."""
        y, x = np.divmod(np.arange(self.n**2), self.n)
        up = (y - _Y[self.direction]) % self.n * self.n + (x - _X[self.direction]) % self.n
        return np.where(self.direction < 0, 0, up).astype(np.int32)

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """Depth of each node in each tree, int32[4, n*n]; -1 where the parents do not lead to the root."""
        depth = np.where(self.direction < 0, 0, -1).astype(np.int32)
        for tree, parent in enumerate(self.parent):
            for level in range(1, self.n**2):
                reached = (depth[tree] == -1) & (depth[tree][parent] == level - 1)
                if not reached.any():
                    break
                depth[tree][reached] = level
        return depth

    @property
    def height(self) -> int:
        """H, the depth of the deepest node."""
        return int(self.depth.max())

    @property
    def spanning(self) -> bool:
        """Whether every tree reaches every node."""
        return bool((self.depth >= 0).all())

    @property
    def arc_disjoint(self) -> bool:
        """Whether no arc is in two trees."""
        arc = (self.parent * 4 + self.direction)[self.direction >= 0]
        return np.unique(arc).size == arc.size

    def children(self, tree: int, level: int) -> npt.NDArray[np.int64]:
        """Return the nodes at depth `level` of a tree, ascending."""
        return np.flatnonzero(self.depth[tree] == level)

    def displacement(self, tree: int, node: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return (rows, columns) of the arcs of a tree that enter nodes, int32[k, 2]."""
        direction = self.direction[tree][np.asarray(node)]
        return np.stack([_Y[direction], _X[direction]], axis=-1).astype(np.int32)


def _checked_side(n: int, least: int) -> int:
    return whole(n, "the side of a torus with arc-disjoint trees of this kind", least, error=NetworkError)


def rotated(direction: npt.ArrayLike) -> ArcDisjointTrees:
    """Return a tree and its three rotations.

    Parameters
    ----------
    direction : int array, shape (n, n)
        ``direction[y, x]`` of the first tree, as in `ArcDisjointTrees`; of the root ``[0, 0]`` it is not read.

    Raises
    ------
    NetworkError
        If the parents do not lead to the root or two rotations share an arc.

    Examples
    --------
    >>> rotated([[0, 2, 2], [0, 2, 1], [0, 2, 3]]).height  # on 3 x 3 nodes
    3
    """
    first = np.array(direction, np.int8)
    n = len(first)
    first[0, 0] = -1
    y, x = np.divmod(np.arange(n * n), n)
    found = np.full((4, n * n), -1, np.int8)
    for turn in range(4):
        entered = first[y, x] >= 0
        at_y, at_x = y, x
        for _ in range(turn):
            at_y, at_x = at_x, -at_y % n
        found[turn][(at_y * n + at_x)[entered]] = (first[y, x][entered] + turn) % 4
    trees = ArcDisjointTrees(n, found)
    if not trees.spanning:
        raise NetworkError(f"the directions do not make a spanning tree of the {n} x {n} torus")
    if not trees.arc_disjoint:
        raise NetworkError(f"the rotations of this tree of the {n} x {n} torus share an arc")
    return trees


def tree_a(n: int) -> ArcDisjointTrees:
    """Return the trees of depth 2n-1 that go along the row and the column of the root, and else north.

    Parameters
    ----------
    n : int
        Side, at least 2.

    Examples
    --------
    >>> tree_a(10).height
    19
    """
    n = _checked_side(n, 2)
    y, x = np.divmod(np.arange(n * n).reshape(n, n), n)
    return rotated(np.where((y == 0) | (x == 0), EAST, NORTH))


def tree_b(n: int) -> ArcDisjointTrees:
    """Return the trees of depth n + floor(n/2) that turn by quadrant.

    Parameters
    ----------
    n : int
        Side, at least 3.

    Examples
    --------
    >>> tree_b(10).height
    15
    """
    n = _checked_side(n, 3)
    y, x = np.divmod(np.arange(n * n).reshape(n, n), n)
    north = (x >= 1) & (x <= (n - 1) // 2) & (y >= 1) & (y <= n // 2)
    south = (x >= 1) & (x <= n // 2) & (y > n // 2)
    return rotated(np.where(north, NORTH, np.where(south, SOUTH, EAST)))


def shallow_trees(n: int) -> ArcDisjointTrees:
    """Return the shallowest trees that a search finds; their depth is nearly always the least possible.

    Parameters
    ----------
    n : int
        Side, at least 2.

    Returns
    -------
    ArcDisjointTrees
        Of depth ``2*floor(n/2) + 1`` wherever the search succeeds: the root's only child in a tree is at distance
        ``2*floor(n/2)`` from some node, so no trees are shallower. That depth is reached for n = 3, 4, 6..16, 20, 25
        and 30; for n = 5 no rotated tree has it, and the depth is 6.

    Notes
    -----
    Simulated annealing on the choice of the 24 permutations of arc orbits at each orbit of nodes, from choices that
    nearly follow shortest paths; deterministic. O(n²) a step, seconds at n = 50.

    References
    ----------
    Gossamer; Chen and Chen 2000, section 4, claims depth ``2*floor(n/2) + 2`` (erratum X13).

    Examples
    --------
    >>> shallow_trees(6).height
    7
    """
    n = _checked_side(n, 2)
    if n == 2:
        return tree_a(2)
    least = 2 * (n // 2) + 1
    arcs = _arcs(n)
    room = np.zeros((3, n * n), np.int64)
    for height in range(least, tree_b(n).height):
        for seed in range(_TRIES if n <= 30 else 4):
            choice = _first_choice(n, height, arcs, seed)
            if _anneal(height, *arcs, choice, room, 2 * n, seed, _STEPS, 2.0):
                return rotated(_directions(n, arcs, choice))
    return tree_b(n)


def _node(n: int, x: int, y: int) -> int:
    return y % n * n + x % n


def _arcs(n: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return member, size, orbit, candidate, turns, allowed; see `anneal`."""
    orbit = np.full(n * n, -1, np.int64)
    orbits: list[list[int]] = []
    for v in range(1, n * n):
        if orbit[v] >= 0:
            continue
        turned = [v]
        while (following := _node(n, -(turned[-1] // n), turned[-1] % n)) != v:
            turned.append(following)
        orbit[turned] = len(orbits)
        orbits.append(turned)
    member = np.zeros((len(orbits), 4), np.int64)
    size = np.array([len(o) for o in orbits], np.int64)
    candidate = np.full((len(orbits), 4, 4), -1, np.int64)
    turns = np.array(list(permutations(range(4))), np.int64)
    allowed = np.ones((len(orbits), len(turns)), np.bool_)
    for o, nodes in enumerate(orbits):
        for k, v in enumerate(nodes):
            member[o, k] = v
            for r in range(4):  # the arc that enters v in direction r + k belongs to arc orbit r
                candidate[o, k, r] = _node(n, v % n - _X[(r + k) % 4], v // n - _Y[(r + k) % 4])
        if len(nodes) == 2:  # arc orbits r and r + 2 are one
            allowed[o] = turns[:, 0] % 2 != turns[:, 1] % 2
    return member, size, orbit, candidate, turns, allowed  # type: ignore[return-value]


def _first_choice(n: int, height: int, arcs: tuple[npt.NDArray[np.int64], ...], seed: int) -> npt.NDArray[np.int64]:
    """Return for each orbit the permutation that least lengthens the paths to the root's child (1, 0)."""
    member, size, _, candidate, turns, allowed = arcs
    y, x = np.divmod(np.arange(n * n), n)
    far = np.minimum((x - 1) % n, (1 - x) % n) + np.minimum(y, n - y) + 1
    far[0] = 0
    random = np.random.default_rng(seed)
    choice = np.zeros(size.size, np.int64)
    for o in range(size.size):
        nodes = member[o, : size[o]]
        weight = 1 + 3 * (far[nodes] >= height - 3)
        k = np.arange(size[o])
        longer = np.maximum(0, 1 + far[candidate[o, k, turns[:, : size[o]]]] - far[nodes])
        cost = np.where(allowed[o], (longer * weight).sum(axis=1), 1 << 30)
        order = random.permutation(len(turns))
        choice[o] = order[np.argmin(cost[order])]
    return choice


def _directions(
    n: int, arcs: tuple[npt.NDArray[np.int64], ...], choice: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    member, size, _, _, turns, _ = arcs
    direction = np.zeros(n * n, np.int64)
    for o in range(size.size):
        for k in range(size[o]):
            direction[member[o, k]] = (turns[choice[o], k] + k) % 4
    return direction.reshape(n, n)
