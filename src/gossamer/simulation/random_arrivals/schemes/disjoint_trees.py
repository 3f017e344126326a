"""Spanning trees from one root that share no link: explicit ones of hypercubes, grown ones of any Cayley network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.jit import njit

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network

__all__ = ["disjoint_tree", "grown_trees", "grown_trees_reason"]


@njit(cache=True, nogil=True)
def _augment(
    sink, barred, trees, n, source, target, first_out, first_in, into, owner, member, flow, dest, seen, came, queue
):
    """Find one more unit of flow to `sink` in the residual network and add it; return whether there was one.

    Tree j is a source of one unit at any of its nodes (place n + j). Links that are in a tree, and `barred`, carry
    none. `came` holds how a place was reached, backwards: link e as e, the return along link e as e + links, a tree's
    step to a node as -2.
    """
    links = owner.size
    seen[:] = -1  # the place that the search came from, nearer to the sink
    head, tail = 0, 1
    queue[0] = sink
    seen[sink] = sink
    last = -1
    while head < tail and last < 0:
        x = queue[head]
        head += 1
        if x >= n:
            j = x - n
            if dest[j] < 0:
                last = x
                break
            y = dest[j]
            if seen[y] < 0:
                seen[y], came[y] = x, -2
                queue[tail] = y
                tail += 1
            continue
        for j in range(trees):
            if member[j, x] and seen[n + j] < 0 and dest[j] != x:
                seen[n + j], came[n + j] = x, -2
                queue[tail] = n + j
                tail += 1
        for k in range(first_in[x], first_in[x + 1]):
            e = into[k]
            y = source[e]
            if seen[y] < 0 and owner[e] < 0 and e != barred and not flow[e]:
                seen[y], came[y] = x, e
                queue[tail] = y
                tail += 1
        for e in range(first_out[x], first_out[x + 1]):
            y = target[e]
            if seen[y] < 0 and flow[e]:
                seen[y], came[y] = x, e + links
                queue[tail] = y
                tail += 1
    if last < 0:
        return False
    x = last
    while x != sink:
        y = seen[x]
        if x >= n:  # tree x now feeds y
            dest[x - n] = y
        elif y < n:
            if came[x] >= links:
                flow[came[x] - links] = False
            else:
                flow[came[x]] = True
        x = y
    return True


@njit(cache=True, nogil=True, small=100_000)
def _grow_disjoint(trees, source, target, first_out, first_in, into, parent_link, depth):
    """Grow `trees` arc-disjoint spanning trees from node 0 by turns, each breadth-first; return whether all span.

    `into` lists the links into each node, from `first_in`. Writes int32[trees, N] of links, -1 at the root, and depths.
    A link is added only if the other trees can still be completed: every set of nodes must keep as many free links into
    it as there are trees that have no node in it.
    """
    n = first_out.size - 1
    owner = np.full(source.size, -1, np.int32)
    member = np.zeros((trees, n), np.bool_)
    member[:, 0] = True
    order = np.zeros((trees, n), np.int32)
    size = np.ones(trees, np.int64)
    at = np.zeros(trees, np.int64)
    turn = np.zeros(trees, np.int64)
    flow = np.zeros(source.size, np.bool_)
    dest = np.empty(trees, np.int64)
    seen = np.empty(n + trees, np.int64)
    came = np.empty(n + trees, np.int64)
    queue = np.empty(n + trees, np.int64)
    parent_link[:] = -1
    depth[:] = 0
    growing = True
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
                e = first_out[u] + (turn[k] + k) % degree
                turn[k] += 1
                v = target[e]
                if member[k, v] or owner[e] >= 0:
                    continue
                member[k, v] = True
                flow[:] = False
                units = 0
                for j in range(trees):
                    dest[j] = -1
                    if member[j, v]:
                        dest[j] = v
                        units += 1
                while units < trees and _augment(
                    v,
                    e,
                    trees,
                    n,
                    source,
                    target,
                    first_out,
                    first_in,
                    into,
                    owner,
                    member,
                    flow,
                    dest,
                    seen,
                    came,
                    queue,
                ):
                    units += 1
                if units < trees:
                    member[k, v] = False
                    continue
                owner[e] = k
                parent_link[k, v] = e
                depth[k, v] = depth[k, u] + 1
                order[k, size[k]] = v
                size[k] += 1
                added = True
            growing |= added
    return size.min() == n


_MOST_LINKS = 500_000


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
    into = np.argsort(network.link_target, kind="stable")
    first_in = np.zeros(n + 1, np.int64)
    np.cumsum(network.in_degree, out=first_in[1:])
    link, depth = np.empty((p, n), np.int32), np.empty((p, n), np.int32)
    spanning = _grow_disjoint(
        p, network.link_source, network.link_target, network.first_link, first_in, into, link, depth
    )
    if not spanning:
        raise NotApplicableError(f"disjoint trees: {network.spec} has no {p} trees; is it connected?")
    return link, depth
