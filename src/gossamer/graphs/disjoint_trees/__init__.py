"""Out-trees of small depth that share no arc, and packets that follow each other down them.

As many trees as arcs must be cut to part some node from the root (J. Edmonds, "Edge-disjoint branchings", 1973). They
are grown together, level by level; an arc is taken if all trees can still be completed, which one flow to its head
tells (after L. Lovasz, "On two minimax theorems in graph theory", 1976, for trees begun together).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray

__all__ = ["MOST_TREES", "Arcs", "DisjointTrees", "Hops", "disjoint_trees", "pipelined"]

MOST_TREES = 62

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


class Hops(NamedTuple):
    """Slots that all take together; slot, arc and packet of each hop, int32[H], by slot."""

    slots: int
    slot: IntArray
    arc: IntArray
    packet: IntArray


def disjoint_trees(arcs: Arcs, root: int, count: int, draw: np.random.Generator) -> DisjointTrees | None:
    """Return out-trees to all nodes that share no arc, or None if there are not so many.

    Parameters
    ----------
    arcs : Arcs
        Of a network of any kind.
    root, count : int
        The root, and how many trees, at most 62.
    draw : numpy.random.Generator
        Draws the order in which arcs of a level are tried.

    Notes
    -----
    A flow of at most T units for each arc and tree, O(T^2 A^2) at worst and far less where trees are shallow.

    Examples
    --------
    >>> tail, head = np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2])
    >>> disjoint_trees(Arcs.of(tail, head, 3), 0, 2, np.random.default_rng(0)).depth.sum(axis=0).tolist()
    [0, 3, 3]
    """
    from gossamer.graphs.disjoint_trees import _kernels

    nodes, size = arcs.first_in.size - 1, arcs.tail.size
    parent, depth = np.empty((count, nodes), np.int64), np.empty((count, nodes), np.int64)
    if not _kernels.packed(root, count, *arcs, draw.random((count, size)), parent, depth):
        return None
    tree = np.full(size, -1, np.int64)
    which, node = np.nonzero(parent >= 0)
    tree[parent[which, node]] = which
    return DisjointTrees(tree, depth)


def pipelined(
    arcs: Arcs, trees: DisjointTrees, root: int, terminals: int, packets: int, delay: npt.NDArray[np.float64]
) -> Hops:
    """Return hops that bring packets from the root to all terminals, a packet a slot and arc.

    Every packet goes down a tree, and every tree has its packets in turn. An arc with nothing to send from its own tree
    brings its head what would come there last: a node deep in one tree gets the last packets of that tree by others.

    Parameters
    ----------
    arcs, trees, root
        The trees.
    terminals : int
        Nodes 0..terminals-1 must get all packets.
    packets : int
        How many there are.
    delay : float64[T]
        Of a tree with so much more delay than another, as many packets less are sent down.

    Notes
    -----
    O(slots A P) time at worst for A arcs and P packets, O(N P) memory.

    Examples
    --------
    >>> arcs = Arcs.of(np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2]), 3)
    >>> trees = disjoint_trees(arcs, 0, 2, np.random.default_rng(0))
    >>> pipelined(arcs, trees, 0, 3, 6, np.zeros(2)).slots
    4
    """
    from gossamer.graphs.disjoint_trees import _kernels

    count, nodes = trees.depth.shape
    turns = np.arange(packets)[:, None] + delay
    place = np.argsort(turns, axis=None, kind="stable")[:packets]  # turn * count + tree
    comes = (place // count)[None, :] + trees.depth[place % count].T
    order = np.argsort(-comes, axis=1, kind="stable")
    slot, arc, packet = (np.empty(nodes * packets, np.int32) for _ in range(3))
    slots, hops = _kernels.pipelined(
        root, terminals, packets, count, arcs.tail, arcs.head, trees.tree, place, order, slot, arc, packet
    )
    return Hops(int(slots), slot[:hops], arc[:hops], packet[:hops])
