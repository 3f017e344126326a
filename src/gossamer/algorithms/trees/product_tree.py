"""The broadcast tree of a product, from trees of its factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.algorithms.trees.extended_ring_tree import extended_ring_tree, reach
from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree, shortest_path_tree, tree_of_parents

__all__ = ["factor_trees", "product_tree"]


def factor_trees(network: Network, root: int) -> tuple[RootedTree, ...]:
    """Return a tree of least height of each factor, rooted where the root of the product is.

    Extended rings get their own tree, other factors a shortest-path tree.

    Examples
    --------
    >>> import gossamer
    >>> [t.root for t in factor_trees(gossamer.network("array:3x4x2"), 12)]
    [1, 2, 0]
    """
    trees: list[RootedTree] = []
    rest = root
    for factor in reversed(network.factors):
        rest, own = divmod(rest, factor.node_count)
        grow = shortest_path_tree if reach(factor) is None else extended_ring_tree
        trees.append(grow(factor, own))
    return tuple(reversed(trees))


def product_tree(network: Network, trees: Sequence[RootedTree]) -> RootedTree:
    """Return the tree of a product that first corrects the last coordinate and the first one last.

    Parameters
    ----------
    network : Network
        A product.
    trees : sequence of RootedTree
        A spanning tree of each factor; their roots are the coordinates of the root v.

    Returns
    -------
    RootedTree
        The parent of u has, in the first coordinate i in which u and v differ, the parent of u_i in tree i. Its
        height is the sum of the heights.

    Raises
    ------
    NetworkError
        If there is not one tree for each factor.

    Notes
    -----
    If each tree has the eccentricity of its root as height, so has the tree of the product: a broadcast with all
    ports is optimal. Two-node factors give the binomial tree. O(N k + L) time for k factors.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.1.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3x4x2")
    >>> int(product_tree(net, factor_trees(net, 12)).depth.max())
    4
    """
    if len(trees) != len(network.factors) or not trees:
        raise NetworkError(f"network {network.spec!r} has {len(network.factors)} factors, got {len(trees)} trees")
    n = network.node_count
    node = np.arange(n)
    parent = np.full(n, -1, np.int64)
    stride, root = n, 0
    for tree in trees:
        size = tree.network.node_count
        stride //= size
        root += tree.root * stride
        above = np.arange(size)
        inner = np.flatnonzero(tree.parent_link >= 0)
        above[inner] = tree.network.link_source[tree.parent_link[inner]]
        own = node // stride % size
        step = (above - np.arange(size))[own] * stride
        parent = np.where((parent < 0) & (own != tree.root), node + step, parent)
    return tree_of_parents(network, root, parent)
