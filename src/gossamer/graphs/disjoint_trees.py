"""Spanning trees from one root that share no arc, grown together or, on hypercubes, written down.

As many trees as arcs must be cut to part some node from the root (J. Edmonds, "Edge-disjoint branchings", 1973). They
are grown together; an arc is taken if all trees can still be completed, which one flow to its head tells (after L.
Lovasz, "On two minimax theorems in graph theory", 1976, for trees begun together).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network

__all__ = [
    "Arcs",
    "DisjointTrees",
    "disjoint_tree",
    "disjoint_trees",
    "grown_trees",
    "grown_trees_reason",
    "most_disjoint_trees",
]


@njit(cache=True, nogil=True)
def _room(nodes, arcs, trees):
    """Return room for `_feeds`: flow, entry, by, seen, queue, visited, touched."""
    return (
        np.zeros(arcs, np.bool_), np.empty(trees, np.int64), np.empty(nodes, np.int64), np.zeros(nodes, np.int64),
        np.empty(nodes, np.int64), np.empty(trees, np.bool_), np.empty(arcs, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _feeds(v, tree, here, tail, head, first_in, into, first_out, out, taken, room, stamp):
    """Return whether every tree but one that is not at node v can still get there, over arcs that no other needs.

    A flow of a unit for each such tree, from any of its nodes: `here` bool[N, T] says which trees have which nodes, and
    `taken` bool[A] which arcs are in a tree. `entry` of the room is the node from which each tree comes; `seen` holds
    the number of the search, which is returned too.
    """
    flow, entry, by, seen, queue, visited, touched = room
    trees = entry.size
    count = 0
    fine = True
    for j in range(trees):
        entry[j] = -1
    for goal in range(trees):
        if goal == tree or here[v, goal]:
            continue
        # backwards from v to a node of a tree that sends nothing yet
        stamp += 1
        queue[0], seen[v] = v, stamp
        low, high, found, source = 0, 1, -1, -1
        for j in range(trees):
            visited[j] = j == tree or here[v, j]
        while low < high and found < 0:
            x = queue[low]
            low += 1
            for j in range(trees):
                if here[x, j] and not visited[j]:
                    visited[j] = True
                    if entry[j] < 0:
                        found, source = x, j
                        break
                    y = entry[j]
                    if seen[y] != stamp:
                        seen[y], by[y] = stamp, -2 - x * trees - j
                        queue[high] = y
                        high += 1
            if found >= 0:
                break
            for i in range(first_in[x], first_in[x + 1]):
                a = into[i]
                y = tail[a]
                if not taken[a] and not flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a
                    queue[high] = y
                    high += 1
            for i in range(first_out[x], first_out[x + 1]):
                a = out[i]
                y = head[a]
                if flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a + 1
                    queue[high] = y
                    high += 1
        if found < 0:
            fine = False
            break
        x = found
        entry[source] = x
        while x != v:
            step = by[x]
            if step <= -2:  # a tree that came in here comes in elsewhere
                code = -2 - step
                x = code // trees
                entry[code % trees] = x
            else:
                a = step >> 1
                flow[a] = not step & 1
                touched[count] = a
                count += 1
                x = tail[a] if step & 1 else head[a]
                if count == touched.size:
                    kept = 0
                    for i in range(count):
                        if flow[touched[i]]:
                            touched[kept] = touched[i]
                            kept += 1
                    count = kept
    for i in range(count):
        flow[touched[i]] = False
    return fine, stamp


@njit(cache=True, nogil=True)
def _grow_by_levels(root, trees, tail, head, first_in, into, first_out, out, key, parent, depth):
    """Grow trees from a root level by level, and take an arc only if all trees can still be completed.

    * `root`, `trees`: where, and how many.
    * `tail`, `head`, int64[A]: the arcs.
    * `first_in`, `into`, `first_out`, `out`, int64[N + 1], int64[A]: the arcs into each node, and out of it.
    * `key`, float64[T, A]: of the arcs that can be taken at a level, that with the least key is tried first.
    * `parent`, `depth`, int64[T, N]: written: the arc by which each node comes to each tree, -1 at the root and where
      there is none; its level.

    Returns: whether all trees reach all nodes: there are no more of them than arcs must be cut to part a node from the
    root.
    """
    nodes, arcs = first_in.size - 1, tail.size
    here = np.zeros((nodes, trees), np.bool_)
    here[root] = True
    parent[:] = -1
    depth[:] = -1
    depth[:, root] = 0
    taken, room = np.zeros(arcs, np.bool_), _room(nodes, arcs, trees)
    now_tree, now_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    next_tree, next_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    asked, value = np.empty(trees * arcs, np.int64), np.empty(trees * arcs)
    stamp, level, count, reached = 0, 0, trees, trees
    for t in range(trees):
        now_tree[t], now_node[t] = t, root
    while count:
        wanted = 0
        for i in range(count):
            t, u = now_tree[i], now_node[i]
            for j in range(first_out[u], first_out[u + 1]):
                a = out[j]
                if not taken[a] and not here[head[a], t]:
                    asked[wanted], value[wanted] = a * trees + t, key[t, a]
                    wanted += 1
        level += 1
        coming = 0
        for i in np.argsort(value[:wanted]):
            a, t = asked[i] // trees, asked[i] % trees
            v = head[a]
            if taken[a] or here[v, t]:
                continue
            taken[a] = True
            fine, stamp = _feeds(v, t, here, tail, head, first_in, into, first_out, out, taken, room, stamp)
            if not fine:
                taken[a] = False
                continue
            here[v, t] = True
            parent[t, v], depth[t, v] = a, level
            next_tree[coming], next_node[coming] = t, v
            coming += 1
        reached += coming
        count = coming
        now_tree, next_tree = next_tree, now_tree
        now_node, next_node = next_node, now_node
    return reached == trees * nodes


@njit(cache=True, nogil=True, small=100_000)
def _grow_by_turns(trees, tail, head, first_in, into, first_out, out, parent, depth):
    """Grow trees from node 0 by turns, each breadth-first and an arc a turn; return whether all reach all nodes.

    Writes the arc by which each node comes to each tree, int32[T, N], -1 at the root, and depths.
    """
    nodes, arcs = first_in.size - 1, tail.size
    here = np.zeros((nodes, trees), np.bool_)
    here[0] = True
    taken, room = np.zeros(arcs, np.bool_), _room(nodes, arcs, trees)
    order = np.zeros((trees, nodes), np.int32)
    size = np.ones(trees, np.int64)
    at = np.zeros(trees, np.int64)
    turn = np.zeros(trees, np.int64)
    parent[:] = -1
    depth[:] = 0
    stamp, growing = 0, True
    while growing:
        growing = False
        for k in range(trees):
            added = False
            while not added and at[k] < size[k]:
                u = order[k, at[k]]
                degree = first_out[u + 1] - first_out[u]
                if turn[k] >= degree:
                    at[k] += 1
                    turn[k] = 0
                    continue
                a = out[first_out[u] + (turn[k] + k) % degree]
                turn[k] += 1
                v = head[a]
                if here[v, k] or taken[a]:
                    continue
                taken[a] = True
                fine, stamp = _feeds(v, k, here, tail, head, first_in, into, first_out, out, taken, room, stamp)
                if not fine:
                    taken[a] = False
                    continue
                here[v, k] = True
                parent[k, v] = a
                depth[k, v] = depth[k, u] + 1
                order[k, size[k]] = v
                size[k] += 1
                added = True
            growing |= added
    return size.min() == nodes


_MOST_LINKS = 500_000
"""Links of the largest network on which trees are grown by turns."""

Longs = npt.NDArray[np.int64]


class Arcs(NamedTuple):
    """Arcs between nodes, several side by side allowed: int64[A]; those into and out of a node as slices of a list."""

    tail: Longs
    head: Longs
    first_in: Longs
    into: Longs
    first_out: Longs
    out: Longs

    @classmethod
    def of(cls, tail: npt.NDArray[np.integer], head: npt.NDArray[np.integer], nodes: int) -> Arcs:
        """Return the arcs from `tail` to `head`."""
        first_in, first_out = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(head, minlength=nodes), out=first_in[1:])
        np.cumsum(np.bincount(tail, minlength=nodes), out=first_out[1:])
        into, out = np.argsort(head, kind="stable"), np.argsort(tail, kind="stable")
        return cls(tail.astype(np.int64), head.astype(np.int64), first_in, into, first_out, out)


class DisjointTrees(NamedTuple):
    """The tree of each arc, int64[A], -1 for none; the level of each node in each tree, int64[T, N]."""

    tree: Longs
    depth: Longs


def disjoint_trees(arcs: Arcs, root: int, count: int, draw: np.random.Generator) -> DisjointTrees | None:
    """Return out-trees to all nodes that share no arc, or None if there are not so many.

    * `arcs` (Arcs): of a network of any kind.
    * `root`, `count` (int): the root, and how many trees.
    * `draw` (numpy.random.Generator): draws the order in which arcs of a level are tried.

    A flow of at most T units for each arc and tree, O(T^2 A^2) at worst and far less where trees are shallow.

    >>> tail, head = np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2])
    >>> disjoint_trees(Arcs.of(tail, head, 3), 0, 2, np.random.default_rng(0)).depth.sum(axis=0).tolist()
    [0, 3, 3]
    """
    nodes, size = arcs.first_in.size - 1, arcs.tail.size
    parent, depth = np.empty((count, nodes), np.int64), np.empty((count, nodes), np.int64)
    if not _grow_by_levels(root, count, *arcs, draw.random((count, size)), parent, depth):
        return None
    tree = np.full(size, -1, np.int64)
    which, node = np.nonzero(parent >= 0)
    tree[parent[which, node]] = which
    return DisjointTrees(tree, depth)


def most_disjoint_trees(
    arcs: Arcs, root: int, draw: np.random.Generator, most: int
) -> tuple[DisjointTrees, int] | None:
    """Return as many out-trees that share no arc as there are, up to `most`, and how many; None if there is no tree.

    Arguments as of `disjoint_trees`, which is asked for fewer and fewer.

    >>> tail, head = np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2])
    >>> most_disjoint_trees(Arcs.of(tail, head, 3), 0, np.random.default_rng(0), 62)[1]
    2
    """
    entering = np.delete(np.diff(arcs.first_in), root)
    for count in range(int(min(most, entering.min(initial=most), np.diff(arcs.first_out)[root])), 0, -1):
        found = disjoint_trees(arcs, root, count, draw)
        if found is not None:
            return found, count
    return None


def disjoint_tree(dimensions: int, k: int) -> IntArray:
    """Return the parents in the k-th of d edge-disjoint spanning trees of the d-cube rooted at node 0.

    Parameters
    ----------
    dimensions : int
        d, at least 1.
    k : int
        0..d-1, the bit of the node number in which the root's only child differs.

    Returns
    -------
    int32[2**d]
        Parent of each node, -1 for node 0. The d trees use different links; each has depth d + 1 (1 if d = 1).

    Notes
    -----
    If bit k of node i is set, the parent lacks the next set bit after k, going down cyclically (k itself if there is no
    other); else it has bit k as well. O(d 2^d).

    References
    ----------
    Johnsson and Ho 1989; Yeh, Varvarigos and Lee 1998, section 6.2.

    Examples
    --------
    >>> disjoint_tree(3, 0).tolist()
    [-1, 0, 3, 1, 5, 1, 7, 3]
    """
    node = np.arange(1 << dimensions, dtype=np.int32)
    parent = node ^ np.int32(1 << k)  # of nodes without bit k, and of node 2^k
    unset = (node & (1 << k) != 0) & (node != 1 << k)
    for step in range(1, dimensions):
        bit = np.int32(1 << (k - step) % dimensions)
        here = unset & (node & bit != 0)
        parent[here] = node[here] ^ bit
        unset &= ~here
    parent[0] = -1
    return parent


def grown_trees_reason(network: Network) -> str | None:
    """Say why no trees are grown on a network, or None if they are.

    >>> import gossamer
    >>> grown_trees_reason(gossamer.network("array:4x4"))
    'needs a Cayley network'
    """
    if network.group is None or network.uniform_capacity != 1:
        return "needs a Cayley network"
    if network.node_count < 2:
        return "needs at least 2 nodes"
    if network.link_count > _MOST_LINKS:
        return f"has {network.link_count} links; disjoint trees are grown on at most {_MOST_LINKS}"
    return None


def grown_trees(network: Network) -> tuple[IntArray, IntArray]:
    """Return as many spanning trees from node 0 as it has links, no two with a common link.

    Parameters
    ----------
    network : Network
        A Cayley network of degree p.

    Returns
    -------
    link : int32[p, N]
        The link by which a tree reaches each node, -1 at node 0.
    depth : int32[p, N]
        Its distance from node 0 in the tree.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    The trees use all links but those into node 0, so each generator is used N - 1 times. They grow breadth-first by
    turns; a link is taken if a flow shows that every set of nodes keeps as many free links into it as there are trees
    that have not come to it. By the theorem of Edmonds the trees can then always be completed, and a connected Cayley
    network, which has edge connectivity p, starts with enough. At most p flows of p units for each link; in practice
    the search stays near the link. Depths are mostly one and a half diameters or less, on hypercubes d + 1, the least.

    References
    ----------
    J. Edmonds, Edge-disjoint branchings, 1973.

    Examples
    --------
    >>> import gossamer
    >>> link, depth = grown_trees(gossamer.network("torus:5x5"))
    >>> np.unique(link[link >= 0]).size, int(depth.max())
    (96, 6)
    """
    reason = grown_trees_reason(network)
    if reason is not None:
        raise NotApplicableError(f"disjoint trees: {network.spec} {reason}")
    p, n = network.degree, network.node_count
    arcs = Arcs.of(network.link_source, network.link_target, n)
    link, depth = np.empty((p, n), np.int32), np.empty((p, n), np.int32)
    spanning = _grow_by_turns(p, *arcs, link, depth)
    if not spanning:
        raise NotApplicableError(f"disjoint trees: {network.spec} has no {p} trees; is it connected?")
    return link, depth
