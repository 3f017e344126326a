"""Steps that a total exchange in a fat tree needs at the least; some of its algorithms take no more."""

from __future__ import annotations

from gossamer.networks.network import Levels

__all__ = ["branch_steps", "least_steps", "routing_node_steps", "way_steps"]


def branch_steps(levels: Levels) -> int:
    """Return the branch bound, ``max_i ceil(k**(i-1) * (n - k**(i-1)) / c_i) + 2i - 1`` over the levels i = 1..h.

    References
    ----------
    Dimakopoulos 1996, (6.4), for i = h.

    Examples
    --------
    >>> branch_steps(Levels(2, 5, (1, 1, 1, 1, 1)))
    265
    """
    k, n = levels.arity, levels.arity**levels.height
    return max(
        (2 * i + 1 - k**i * (k**i - n) // capacity for i, capacity in enumerate(levels.capacities)),
        default=0,
    )


def routing_node_steps(arity: int, height: int) -> int:
    """Return the bound of the routing nodes, ``max_i 2n*k**i - k**(2i) - k**(2i-1) + 2i - 1`` over the levels i = 1..h.

    That many packets pass a node of level i, one a step, from step i+1 on, and the last of them has i-1 more hops to
    go. The maximum is at level h-1 for k = 2, where it is the printed ``n**2 * (2k+1)*(k-1)/k**3 + 2h - 3``, and at the
    root for k >= 3: ``n**2 * (k-1)/k + 2h - 1``.

    References
    ----------
    Dimakopoulos 1996, Theorem 6.6, for level h-1; corrected by erratum 9.7.

    Examples
    --------
    >>> [routing_node_steps(k, h) for k, h in [(2, 1), (2, 2), (2, 5), (3, 2), (4, 3)]]
    [3, 11, 647, 57, 3077]
    """
    k, n = arity, arity**height
    return max(
        (2 * n * k**i - k ** (2 * i) - k ** (2 * i - 1) + 2 * i - 1 for i in range(1, height + 1)),
        default=0,
    )


def way_steps(arity: int, height: int) -> int:
    """Return ``ceil(n - 2 + D)`` for the average distance D of two leaves, a bound in trees with ``c_1 = 1``.

    It is ``n + 2h - 2``, and ``n + 2h - 3`` for k = 2 and h >= 3.

    Notes
    -----
    The steps in which a leaf sends are at least 1, 2, ..., n-1, those in which one receives at most the last n-1, and
    a message that goes d hops arrives at least d-1 steps after the one in which it leaves. ``D = 2hn/(n-1) - 2/(k-1)``.

    Examples
    --------
    >>> [way_steps(k, h) for k, h in [(2, 1), (2, 2), (2, 3), (2, 6), (3, 2), (4, 3)]]
    [2, 6, 11, 73, 11, 68]
    """
    if not height:
        return 0
    n: int = arity**height
    return n + 2 * height - (3 if arity == 2 and height >= 3 else 2)


def least_steps(levels: Levels) -> int:
    """Return the larger of `branch_steps` and, where ``c_1 = 1``, `way_steps`.

    Examples
    --------
    >>> least_steps(Levels(2, 3, (1, 1, 1))), least_steps(Levels(2, 3, (1, 2, 4)))
    (21, 11)
    """
    least = branch_steps(levels)
    return max(least, way_steps(levels.arity, levels.height)) if levels.capacities[:1] == (1,) else least
