"""Steps that a total exchange in a fat tree needs at the least; some of its algorithms take no more."""

from __future__ import annotations

import itertools

from gossamer.networks.network import Levels

__all__ = ["branch_steps", "least_steps", "routing_node_steps", "way_steps"]


def branch_steps(levels: Levels) -> int:
    """Return the branch bound, ``max_i ceil(n_(i-1) * (n - n_(i-1)) / c_i) + 2i - 1`` over the levels i = 1..h.

    References
    ----------
    Dimakopoulos 1996, (6.4), for i = h.

    Examples
    --------
    >>> branch_steps(Levels.uniform(2, 5))
    265
    """
    n = levels.leaves[-1]
    below = enumerate(zip(levels.leaves[:-1], levels.capacities, strict=True))
    return max((2 * i + 1 - inner * (inner - n) // capacity for i, (inner, capacity) in below), default=0)


def routing_node_steps(levels: Levels) -> int:
    """Return the bound of the routing nodes, ``max_i n_i * (2n - n_i - n_(i-1)) + 2i - 1`` over the levels i = 1..h.

    That many packets pass a node of level i, one a step, from step i+1 on, and the last of them has i-1 more hops to
    go. In k-ary trees the maximum is at level h-1 for k = 2, where it is the printed ``n**2 * (2k+1)*(k-1)/k**3 + 2h -
    3``, and at the root for k >= 3: ``n**2 * (k-1)/k + 2h - 1``.

    References
    ----------
    Dimakopoulos 1996, Theorem 6.6, for level h-1; corrected by erratum 9.7.

    Examples
    --------
    >>> [routing_node_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 2), (4, 3)]]
    [3, 11, 647, 57, 3077]
    """
    n, pairs = levels.leaves[-1], enumerate(itertools.pairwise(levels.leaves), 1)
    return max((own * (2 * n - own - inner) + 2 * i - 1 for i, (inner, own) in pairs), default=0)


def way_steps(levels: Levels) -> int:
    """Return ``ceil(n - 2 + D)`` for the average distance D of two leaves, a bound in trees with ``c_1 = 1``.

    In k-ary trees it is ``n + 2h - 2``, and ``n + 2h - 3`` for k = 2 and h >= 3.

    Notes
    -----
    The steps in which a leaf sends are at least 1, 2, ..., n-1, those in which one receives at most the last n-1, and
    a message that goes d hops arrives at least d-1 steps after the one in which it leaves.

    Examples
    --------
    >>> [way_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 3), (2, 6), (3, 2), (4, 3)]]
    [2, 6, 11, 73, 11, 68]
    """
    if not levels.height:
        return 0
    n = levels.leaves[-1]
    distances = sum(2 * i * (own - inner) for i, (inner, own) in enumerate(itertools.pairwise(levels.leaves), 1))
    return n - 2 - (-distances // (n - 1))


def least_steps(levels: Levels) -> int:
    """Return the larger of `branch_steps` and, where ``c_1 = 1``, `way_steps`.

    Examples
    --------
    >>> least_steps(Levels.uniform(2, 3)), least_steps(Levels.uniform(2, 3, (1, 2, 4)))
    (21, 11)
    """
    least = branch_steps(levels)
    return max(least, way_steps(levels)) if levels.capacities[:1] == (1,) else least
