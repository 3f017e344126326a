"""The binomial tree of a hypercube."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree, tree_of_parents

__all__ = ["binomial_tree", "is_hypercube"]


def is_hypercube(network: Network) -> bool:
    """Whether the nodes are the numbers 0..2^d-1 and the links lead to those that differ in one bit.

    Examples
    --------
    >>> import gossamer
    >>> [is_hypercube(gossamer.network(s)) for s in ("hypercube:3", "array:2x2", "ring:4")]
    [True, True, False]
    """
    n = network.node_count
    d = n.bit_length() - 1
    if n != 1 << d or network.terminal_count != n or network.link_count != n * d or network.uniform_capacity != 1:
        return False
    if sorted(network.link_target[:d].tolist()) != [1 << k for k in range(d)]:
        return False
    difference = network.link_source ^ network.link_target
    return bool((difference & (difference - 1) == 0).all())


def binomial_tree(network: Network, root: int) -> RootedTree:
    """Return the tree of a hypercube in which a node passes on along all lower dimensions.

    Parameters
    ----------
    network : Network
        A hypercube Q_d.
    root : int

    Returns
    -------
    RootedTree
        The parent of root + x (xor) is root + x with its lowest 1 cleared. Height d, a tree of shortest paths.

    Raises
    ------
    NetworkError
        If the network is no hypercube.

    Notes
    -----
    A node that received along dimension k sends along every dimension below k; the root along all. A broadcast takes d
    steps with all ports and with one port. O(N + L) time.

    References
    ----------
    Dimakopoulos 1996, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("hypercube:3")
    >>> net.link_source[binomial_tree(net, 0).parent_link[1:]].tolist()
    [0, 0, 2, 0, 4, 4, 6]
    """
    if not is_hypercube(network):
        raise NetworkError(f"network {network.spec!r} is no hypercube with its nodes in binary order")
    x = np.arange(network.node_count)
    parent = np.empty(network.node_count, np.int64)
    parent[x ^ root] = (x & (x - 1)) ^ root
    return tree_of_parents(network, root, parent)
