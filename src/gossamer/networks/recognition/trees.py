"""Fat trees under any numbering: complete trees of switches with the terminals as leaves."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.fat_trees import fat_tree
from gossamer.networks.network import Network
from gossamer.networks.structures import IntArray, int_array

__all__ = ["fat_tree_order"]

Ints = npt.NDArray[np.int64]


def fat_tree_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the fat tree that a network is, and the number there of each node; None if it is none.

    O(N log N) time.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> star = nx.star_graph(4)
    >>> star.nodes[0]["terminal"] = False
    >>> fat_tree_order(from_networkx(star))[0]
    <Network fat-tree:k=4,h=1,capacity=constant: 5 nodes, 8 links>
    """
    n, leaves = network.node_count, network.terminal_count
    both = network.link_count == 2 * (n - 1) and int(network.reverse_link.min(initial=0)) >= 0
    if not both or network.parallel or leaves < 2 or int(network.distances(0).min()) < 0:
        return None
    if not bool((network.out_degree[:leaves] == 1).all()):
        return None
    found = _rows(network)
    if found is None:
        return None
    rows, above, capacities = found
    arity = len(rows[0]) // len(rows[1])
    if any(len(lower) != arity * len(upper) for lower, upper in itertools.pairwise(rows)):
        return None
    try:
        original = fat_tree(arity, len(rows) - 1, capacities)
    except NetworkError:  # capacities decrease towards the root
        return None
    place = int_array(_places(rows, above, arity).astype(np.int32), "places")
    return (original, place) if _links(network, place) == _links(original, np.arange(n)) else None


def _rows(network: Network) -> tuple[list[Ints], Ints, list[int]] | None:
    """Return the nodes of each level, the parent of each node, and the capacity above each level."""
    n = network.node_count
    parent, level = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    left = network.out_degree.copy()  # links to nodes that have no place yet
    row: Ints = np.arange(network.terminal_count)
    rows, capacities = [row], []
    level[row] = 0
    while row.size > 1:
        up = np.isin(network.link_source, row) & (level[network.link_target] < 0)
        source, target, capacity = network.link_source[up], network.link_target[up], network.link_capacity[up]
        if source.size != row.size or np.unique(source).size != row.size or np.unique(capacity).size != 1:
            return None
        parent[source] = target
        row, below = np.unique(target, return_counts=True)
        left[row] -= below
        if np.unique(below).size != 1 or below[0] < 2 or int(left[row].max()) > 1:
            return None
        capacities.append(int(capacity[0]))
        level[row] = len(rows)
        rows.append(row.astype(np.int64))
    return (rows, parent, capacities) if sum(map(len, rows)) == n and len(rows) > 1 else None


def _places(rows: list[Ints], parent: Ints, arity: int) -> Ints:
    """Return the number of each node in the fat tree: level by level, brothers in the order of their numbers."""
    rank = np.zeros(parent.size, np.int64)
    for row in rows[-2::-1]:
        order = row[np.lexsort((row, rank[parent[row]]))]
        rank[order] = np.arange(row.size)
    start = 0
    for row in rows:
        rank[row] += start
        start += row.size
    return rank


def _links(network: Network, place: npt.NDArray[np.integer]) -> set[tuple[int, int, int]]:
    columns = (place[network.link_source], place[network.link_target], network.link_capacity)
    return set(zip(*(column.tolist() for column in columns), strict=True))
