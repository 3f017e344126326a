"""Broadcast on fixed trees: directly from the source, or over the root of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.simulation.random_arrivals.schemes.rows import Rows

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network

__all__ = ["flooded", "links_between", "over_the_root"]


def links_between(network: Network) -> dict[tuple[int, int], int]:
    """Return the link from each node to each of its neighbors."""
    pairs = zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)
    return {pair: link for link, pair in enumerate(pairs)}


def flooded(rows: Rows, network: Network, parent: IntArray) -> list[list[int]]:
    """Add the rows of broadcasts that flood a tree from any node.

    Parameters
    ----------
    rows : Rows
        Grows by at most two rows for each edge of the tree.
    network : Network
        Both links of every edge of the tree are used.
    parent : int32[N]
        The tree, rooted anywhere: parent of each node, -1 at the root.

    Returns
    -------
    list of list of int
        Rows that each source sends.

    Notes
    -----
    A row stands for a directed edge and all that follows beyond it, whatever the source was.
    """
    link, n = links_between(network), parent.size
    order, below = _from_root(parent)
    down = [-1] * n
    for v in reversed(order[1:]):
        following = [down[c] for c in below[v]]
        down[v] = rows.add(link[int(parent[v]), v], following, low=not following)
    up = [-1] * n  # the row that goes from v to its parent
    for v in order[1:]:
        p = int(parent[v])
        following = ([up[p]] if parent[p] >= 0 else []) + [down[c] for c in below[p] if c != v]
        up[v] = rows.add(link[v, p], following, low=not following)
    return [([up[v]] if parent[v] >= 0 else []) + [down[c] for c in below[v]] for v in range(n)]


def over_the_root(rows: Rows, network: Network, parent: IntArray) -> list[list[int]]:
    """Add the rows of broadcasts that first go up a tree to its root and then down all of it.

    Parameters and result are those of `flooded`. Nodes on the way up receive then; what they get on the way down does
    not count. The low class is the way down.

    Notes
    -----
    About twice the depth of a source in rows of its own, for each source.
    """
    link, n = links_between(network), parent.size
    order, below = _from_root(parent)
    down = [-1] * n
    for v in reversed(order[1:]):
        down[v] = rows.add(link[int(parent[v]), v], [down[c] for c in below[v]], low=True)
    entries: list[list[int]] = []
    for source in range(n):
        # the way down again along the path, from the source up
        again, path, v = -1, [], source
        while parent[v] >= 0:
            path.append(v)
            following = [again if path[-2:-1] == [c] else down[c] for c in below[v]]
            again = rows.add(link[int(parent[v]), v], following, counted=False, low=True)
            v = int(parent[v])
        sent = [again if path[-1:] == [c] else down[c] for c in below[v]]
        for v in reversed(path):
            sent = [rows.add(link[v, int(parent[v])], sent)]
        entries.append(sent)
    return entries


def _from_root(parent: IntArray) -> tuple[list[int], list[list[int]]]:
    """Return the nodes of a tree, parents before their children, and the children of each."""
    below: list[list[int]] = [[] for _ in range(parent.size)]
    order = np.flatnonzero(parent < 0).tolist()
    for v in np.flatnonzero(parent >= 0).tolist():
        below[int(parent[v])].append(v)
    for v in order:
        order.extend(below[v])
    return order, below
