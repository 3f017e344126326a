"""Rooted trees along which broadcasts and scatters send, and the hops of packets on their paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.jit import njit
from gossamer.networks.network import BreadthFirst, IntArray, Network

__all__ = [
    "RootedTree",
    "path_hops",
    "pruned",
    "search_terminals",
    "shortest_path_tree",
    "tree_of_parents",
    "unreachable",
]


@njit(cache=True, nogil=True, small=100_000)
def _prune(order, parent_link, link_source, terminals, kept):
    """Mark in `kept` uint8[N] the nodes of a tree that are terminals or lead to one; `order` is by depth."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        if v < terminals:
            kept[v] = 1
        if kept[v] and parent_link[v] >= 0:
            kept[link_source[parent_link[v]]] = 1


@njit(cache=True, nogil=True, small=100_000)
def _path_hops(parent_link, link_source, destination, depth, start, room, slot, link, packet):
    """Write the hops of packet i, which leaves the root in slot start[i] and moves on in every slot.

    `room` int64[slots+1] must be zero. Columns come out sorted by slot and, within a slot, by packet.
    """
    for i in range(destination.size):
        room[start[i]] += 1
        room[start[i] + depth[i]] -= 1
    first, active = 0, 0
    for t in range(room.size):  # from packets that start or end to the first row of each slot
        active += room[t]
        room[t] = first
        first += active
    for i in range(destination.size):
        v = destination[i]
        for t in range(start[i] + depth[i] - 1, start[i] - 1, -1):
            row = room[t]
            room[t] += 1
            slot[row], link[row], packet[row] = t, parent_link[v], i
            v = link_source[parent_link[v]]


@njit(cache=True, nogil=True, small=100_000)
def _grow(root, parent, order, depth):
    """Fill `order` and `depth` int32[N] breadth-first from the parents (-1 outside the tree and at the root).

    Returns the number of nodes reached. `depth` must hold -1.
    """
    first = np.zeros(parent.size + 2, np.int64)
    for v in range(parent.size):
        first[parent[v] + 2] += 1  # nodes without a parent are counted before node 0
    for u in range(1, first.size):
        first[u] += first[u - 1]
    child = np.empty(parent.size, np.int32)
    room = first[:-1].copy()
    for v in range(parent.size):
        child[room[parent[v] + 1]] = v
        room[parent[v] + 1] += 1
    order[0] = root
    depth[root] = 0
    head, tail = 0, 1
    while head < tail:
        u = order[head]
        head += 1
        for i in range(first[u + 1], first[u + 2]):
            order[tail] = child[i]
            depth[child[i]] = depth[u] + 1
            tail += 1
    return tail


@dataclass(frozen=True, eq=False)
class RootedTree:
    """A tree of links that lead away from a root and reach every terminal.

    * `network` (Network): the network whose links it uses.
    * `root` (int): the node from which it grows.
    * `parent_link` (int32[N]): the link by which a node is reached; -1 at the root and at nodes outside the tree.
    * `depth` (int32[N]): hops from the root; -1 outside the tree.
    * `order` (int32[m]): the nodes of the tree, by depth; in a breadth-first tree the children of a node stand in a
      row.
    """

    network: Network
    root: int
    parent_link: IntArray
    depth: IntArray
    order: IntArray

    @property
    def destinations(self) -> IntArray:
        """Every terminal but the root, ascending, int32[n-1]: in the order of the packets of a scatter."""
        return np.delete(np.arange(self.network.terminal_count, dtype=np.int32), self.root)


def unreachable(network: Network, root: int) -> int | None:
    """Return a terminal to which no path leads from `root`, or None. O(N + L)."""
    distance = network.distances(root)[: network.terminal_count]
    return int(distance.argmin()) if int(distance.min()) < 0 else None


def search_terminals(network: Network, root: int) -> BreadthFirst:
    """Search breadth-first from `root`.

    Raises `NetworkError` if a terminal cannot be reached.
    """
    search = network.breadth_first(root)
    if int(search.distance[: network.terminal_count].min()) < 0:
        lost = network.node_name(int(search.distance[: network.terminal_count].argmin()))
        raise NetworkError(f"network {network.spec!r}: no path from node {network.node_name(root)} to node {lost}")
    return search


def shortest_path_tree(network: Network, root: int) -> RootedTree:
    """Return the breadth-first tree from `root`, without the branches that hold no terminal.

    Parameters
    ----------
    network : Network
    root : int

    Returns
    -------
    RootedTree
        Every depth is the distance from the root. Links of a node are tried in their order.

    Raises
    ------
    NetworkError
        If a terminal cannot be reached.

    Notes
    -----
    O(N + L) time. Only fat trees and networks of your own have nodes that are no terminals.

    References
    ----------
    Dimakopoulos 1996, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> shortest_path_tree(gossamer.network("ring:5"), 0).depth.tolist()
    [0, 1, 2, 2, 1]
    """
    search = search_terminals(network, root)
    if network.terminal_count == network.node_count:
        return RootedTree(network, root, search.parent_link, search.distance, search.order)
    return pruned(RootedTree(network, root, search.parent_link, search.distance, search.order))


def tree_of_parents(network: Network, root: int, parent: npt.ArrayLike) -> RootedTree:
    """Return the tree in which every node has the given parent.

    `root`: int. `parent` (array_like of int, shape (N,)): the node from which each node is reached; -1, or anything at
    the root, where there is none. Returns: its `order` is breadth-first. Raises `NetworkError` if a parent is no
    neighbor, or a node with a parent hangs on no path from the root.

    O(N + L) time.

    >>> import gossamer
    >>> tree_of_parents(gossamer.network("ring:4"), 1, [1, -1, 3, 0]).depth.tolist()
    [1, 0, 3, 2]
    """
    above = np.array(parent, np.int32)
    above[root] = -1
    parent_link = np.full(network.node_count, -1, np.int32)
    used = np.flatnonzero(above[network.link_target] == network.link_source)
    parent_link[network.link_target[used]] = used
    stray = np.flatnonzero((above >= 0) & (parent_link < 0))
    if stray.size:
        v, u = network.node_name(stray[0]), network.node_name(int(above[stray[0]]))
        raise NetworkError(f"network {network.spec!r} has no link from node {u} to node {v}, as the tree needs")
    depth, order = np.full(network.node_count, -1, np.int32), np.empty(network.node_count, np.int32)
    reached = _grow(root, above, order, depth)
    if reached <= int((above >= 0).sum()):
        lost = network.node_name(int(np.argmax((above >= 0) & (depth < 0))))
        raise NetworkError(f"network {network.spec!r}: node {lost} of the tree hangs on no path from the root")
    return RootedTree(network, root, parent_link, depth, order[:reached])


def pruned(tree: RootedTree) -> RootedTree:
    """Return the tree without the branches that hold no terminal."""
    kept = np.zeros(tree.depth.size, np.uint8)
    _prune(tree.order, tree.parent_link, tree.network.link_source, tree.network.terminal_count, kept)
    inside = kept.astype(bool)
    return RootedTree(
        tree.network,
        tree.root,
        np.where(inside, tree.parent_link, np.int32(-1)),
        np.where(inside, tree.depth, np.int32(-1)),
        tree.order[inside[tree.order]],
    )


def path_hops(
    tree: RootedTree, destination: IntArray, start: npt.NDArray[np.int64]
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the hops of packets that go from the root to their destinations without waiting.

    * `tree`: RootedTree.
    * `destination` (int32[P]): where packet i goes.
    * `start` (int64[P]): the slot in which packet i leaves the root.

    Returns: `slot, link, packet` (int32[H]): H is the sum of the depths of the destinations; sorted by slot, within a
    slot by packet.

    O(H + slots) time.
    """
    depth = tree.depth[destination].astype(np.int64)
    hops = int(depth.sum())
    slots = int((start + depth).max(initial=0))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    room = np.zeros(slots + 1, np.int64)
    _path_hops(
        tree.parent_link, tree.network.link_source, destination, depth, start, room, slot, link, packet
    )  # fmt: skip
    return slot, link, packet
