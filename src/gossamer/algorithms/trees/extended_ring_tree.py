"""The broadcast tree of an extended ring: paths of steps rho, of nearly equal lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree, tree_of_parents

__all__ = ["PathLengths", "extended_ring_tree", "path_lengths", "reach"]


class PathLengths(NamedTuple):
    """The paths at the root of the tree: rho of `longest` nodes up, and down k of w+1 nodes and rho-k of w nodes."""

    longest: int
    w: int
    k: int


def path_lengths(n: int, rho: int) -> PathLengths:
    """Return D, w and k of the broadcast tree of an extended ring.

    Examples
    --------
    >>> path_lengths(14, 2)
    PathLengths(longest=4, w=2, k=1)
    """
    longest = -(-(n // 2) // rho)
    w = (n - 1) // rho - longest
    return PathLengths(longest, w, n - (w + longest) * rho - 1)


def reach(network: Network) -> int | None:
    """Return rho if the network is an extended ring with its nodes in order, else None.

    Rings and complete networks are extended rings: rho is 1 and floor(n/2).

    Examples
    --------
    >>> import gossamer
    >>> [reach(gossamer.network(s)) for s in ("ring:8", "extended-ring:14,2", "complete:7", "hypercube:3")]
    [1, 2, 3, None]
    """
    n, degree = network.node_count, network.degree if network.link_count else 0
    if n < 2 or not degree or network.terminal_count != n:
        return None
    if network.link_count != n * degree or network.uniform_capacity != 1:
        return None
    rho = n // 2 if degree == n - 1 else degree // 2
    offsets = sorted({g % n for g in range(-rho, rho + 1)} - {0})
    if sorted(network.link_target[:degree].tolist()) != offsets:
        return None
    steps = np.sort((network.link_target - network.link_source) % n)
    return rho if np.array_equal(steps, np.repeat(offsets, n)) else None


def extended_ring_tree(network: Network, root: int) -> RootedTree:
    """Return the tree of an extended ring in which every node passes on by rho in its direction.

    Parameters
    ----------
    network : Network
        An extended ring E_n^rho; see `reach`.
    root : int

    Returns
    -------
    RootedTree
        Of height ``D = ceil(floor(n/2)/rho)``, the diameter. Not always of shortest paths: in E_14^2 node 8 has
        distance 3 and depth 4.

    Raises
    ------
    NetworkError
        If the network is no extended ring.

    Notes
    -----
    The root sends to i+1..i+rho with weight D, to i-1..i-k with weight w+1, and to i-(k+1)..i-rho with weight w,
    where ``w = floor((n-1)/rho) - D`` and ``k = n - (w+D) rho - 1``; a node passes on, with one less, until the
    weight is used up. With w = 0 the last rho-k get nothing from the root; the thesis has it send them too, so that
    their message would come twice (errata 9.2). O(N + L) time.

    References
    ----------
    Dimakopoulos 1996, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> tree = extended_ring_tree(gossamer.network("extended-ring:14,2"), 0)
    >>> int(tree.depth[8]), int(tree.depth.max())
    (4, 4)
    """
    rho = reach(network)
    if rho is None:
        raise NetworkError(f"network {network.spec!r} is no extended ring")
    n = network.node_count
    longest, _, _ = path_lengths(n, rho)
    offset = np.arange(n, dtype=np.int64)
    above: npt.NDArray[np.int64] = np.where(offset <= longest * rho, offset - rho, offset + rho)
    above[1 : rho + 1] = 0
    above = np.where(above >= n, 0, above)
    node = (offset + root) % n
    parent = np.empty(n, np.int64)
    parent[node] = (above + root) % n
    return tree_of_parents(network, root, parent)
