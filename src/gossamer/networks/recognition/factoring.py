"""Prime factors of a network with regard to the Cartesian product.

Two relations between edges tell the factors. Theta: edges xy and uv with d(x,u) + d(y,v) != d(x,v) + d(y,u). Tau: edges
xy and xz of which x is the only common neighbor of y and z. The classes of the transitive closure of both together are
the edges of the prime factors (Feder 1992; Imrich and Klavzar 2000), and of theta the pairs with an edge
of a spanning tree are enough.

Here the edges of the tree are taken one after the other, and now and then the classes are tried: classes that make a
product are those of the prime factors, because they can only be too small. On tori this is so after a few edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

__all__ = ["Factoring", "prime_factors"]

Ints = npt.NDArray[np.int64]

_WORK = 400_000_000
"""Steps that are spent at most: common neighbors, and edges of the tree times edges."""


class Factoring(NamedTuple):
    """A network as a product of prime factors.

    Attributes
    ----------
    places : int64[N, factors]
        The node of each factor that each node is, numbered in the order in which they first come.
    edges : list of int64[edges, 2]
        The edges of each factor.
    """

    places: Ints
    edges: list[Ints]


def prime_factors(network: Network) -> Factoring | None:
    """Return the prime factors of a connected network of two-way links; None if that would take too long.

    Parameters
    ----------
    network : Network
        Every link with an opposite, all nodes within reach of each other.

    Returns
    -------
    Factoring or None
        One factor where the network is prime.

    Notes
    -----
    O(m N) time at the worst for m edges, usually O(m d) for a degree of d; nothing is begun that takes over some
    seconds.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> [prime_factors(parse(spec)).places.max(axis=0).tolist() for spec in ("torus:3x4x5", "star:3", "array:2x3")]
    [[2, 1, 1, 4], [5], [1, 2]]
    """
    n = network.node_count
    links = np.flatnonzero(network.link_source < network.link_target)
    if n == 1 or not links.size:
        return Factoring(np.zeros((n, 1), np.int64), [np.zeros((0, 2), np.int64)])
    ends = np.stack([network.link_source[links], network.link_target[links]], axis=1).astype(np.int64)
    if 2 * links.size == n * (n - 1):
        return Factoring(np.arange(n)[:, None], [ends])
    if int((network.out_degree**2).sum()) > _WORK // 10:
        return None
    classes = _without_squares(network, links)
    work, tried = 0, 0
    for tree_edges, (p, c) in enumerate(_tree(network)):
        if tree_edges >= tried:
            found = _product(n, ends, classes)
            if found is not None:
                return found
            tried = max(int(network.degree), 2 * tree_edges)
        work += links.size
        if work > _WORK:
            return None
        nearer = network.distances(p) - network.distances(c)
        hit = np.unique(classes[nearer[ends[:, 0]] != nearer[ends[:, 1]]])
        if hit.size > 1:
            merged = np.arange(int(classes.max()) + 1)
            merged[hit] = hit[0]
            classes = np.unique(merged[classes], return_inverse=True)[1]
            tried = min(tried, tree_edges + int(network.degree))
    return _product(n, ends, classes)


def _without_squares(network: Network, links: Ints) -> Ints:
    """Return the class of each edge after tau: incident edges whose far ends have no other common neighbor."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, m = network.node_count, links.size

    def matrix(values: Ints) -> Any:
        return csr_array((values, network.link_target.astype(np.int64), network.first_link.copy()), shape=(n, n))

    number = np.empty(network.link_count, np.int64)  # of the edge, for each link
    number[links] = np.arange(m)
    number[network.reverse_link[links]] = np.arange(m)
    edge, near = matrix(number + 1), matrix(np.ones(network.link_count, np.int64))
    common: Any = (near @ near).tocoo()
    middle: Any = (near @ matrix(network.link_source.astype(np.int64) + 1)).tocsr()
    single = (common.data == 1) & (common.row < common.col)
    y, z = common.row[single], common.col[single]
    if not y.size:
        return np.arange(m)
    x = np.asarray(middle[y, z]).ravel().astype(np.int64) - 1
    one = np.asarray(edge[y, x]).ravel() - 1
    other = np.asarray(edge[z, x]).ravel() - 1
    joined = csr_array((np.ones(one.size, np.int8), (one, other)), shape=(m, m))
    return connected_components(joined, directed=False)[1].astype(np.int64)


def _tree(network: Network) -> list[tuple[int, int]]:
    """Return the edges of a breadth-first tree, each from the node nearer to the root."""
    search = network.breadth_first(0)
    nodes = search.order[1:]
    return list(zip(network.link_source[search.parent_link[nodes]].tolist(), nodes.tolist(), strict=True))


def _product(n: int, ends: Ints, classes: Ints) -> Factoring | None:
    """Return the factors if the classes of edges are those of a Cartesian product, else None."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = int(classes.max()) + 1
    if 2**count > n:
        return None
    places = np.empty((n, count), np.int64)
    size = 1
    for i in range(count):
        rest = ends[classes != i]
        joined = csr_array((np.ones(len(rest), np.int8), (rest[:, 0], rest[:, 1])), shape=(n, n))
        parts, places[:, i] = connected_components(joined, directed=False)
        size *= parts
        if size > n:
            return None
    if size != n or len(np.unique(places, axis=0)) < n:
        return None
    edges = []
    for i in range(count):
        own = np.sort(places[ends[classes == i], i], axis=1)
        distinct = np.unique(own, axis=0)
        if len(own) != len(distinct) * (n // (int(places[:, i].max()) + 1)):
            return None
        edges.append(distinct)
    return Factoring(places, edges)
