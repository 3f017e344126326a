"""Times of the partial multinode broadcast: exact ones for any sides, and the paper's upper bounds for equal sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["broadcast_steps", "split_bound", "split_parts", "split_time", "whole_bound", "whole_time"]


def _turned(sides: Sequence[int], wraps: Sequence[bool]) -> list[tuple[int, bool]]:
    """Return side and wrap of each dimension of side 2 and more."""
    return [(p, w) for p, w in zip(sides, wraps, strict=True) if p > 1]


def broadcast_steps(sides: Sequence[int], wraps: Sequence[bool], packets: int, halves: bool) -> Fraction:
    """Return the time of the broadcast phase, in the time that a packet of a class takes on a link.

    Parameters
    ----------
    sides : sequence of int
        Nodes along each dimension, in the order of `Grid`.
    wraps : sequence of bool
        Whether each dimension is a ring of 3 nodes or more.
    packets : int
        Packets of the largest class: M, or M' = ceil(M/d).
    halves : bool
        Whether a packet may be cut in halves on rings.

    Notes
    -----
    With equal sides p: ``L * sum_{j=1..d} ceil(packets / p^j)``, L = p-1 on arrays, and on tori (p-1)/2, rounded up if
    packets stay whole. With unequal sides, subphase l of class c takes ``L_a * ceil(packets / (p_a * Q))``, where a
    is its dimension and Q the product of the d-l sides that the class uses after it; all classes wait for the
    longest: the sum over l of the maximum over c.

    References
    ----------
    Varvarigos and Bertsekas 1994, Lemma 1.

    Examples
    --------
    >>> broadcast_steps([4, 4], [True, True], 5, halves=True)
    Fraction(9, 2)
    """
    line = _turned(sides, wraps)
    d = len(line)
    total = Fraction(0)
    for later in range(d):  # a class uses dimension a, and afterwards the `later` ones that follow it
        longest = Fraction(0)
        for a in range(d):
            p, ring = line[a]
            length = Fraction(p - 1, 2 if ring else 1)
            if not halves:
                length = Fraction(math.ceil(length))
            behind = math.prod(line[(a + i) % d][0] for i in range(1, later + 1))
            longest = max(longest, -(-packets // (p * behind)) * length)
        total += longest
    return total


def split_parts(sides: Sequence[int], wraps: Sequence[bool]) -> int:
    """Return the parts that each packet is cut into: d, one a class; 2d if a ring has an even number of nodes.

    On a ring of even p the rounds take (p-1)/2 only with halves; the paper says d parts throughout (erratum X4).

    Examples
    --------
    >>> split_parts([5, 5], [True, True]), split_parts([4, 4], [True, True]), split_parts([4, 4], [False, False])
    (2, 4, 2)
    """
    line = _turned(sides, wraps)
    even = any(ring and p % 2 == 0 for p, ring in line)
    return max(len(line), 1) * (2 if even else 1)


def split_time(
    sides: Sequence[int], wraps: Sequence[bool], M: int, control_time: Fraction = Fraction(0), full: bool = False
) -> Fraction:
    """Return the exact time of the partial multinode broadcast with split packets.

    Parameters
    ----------
    sides, wraps
        As for `broadcast_steps`.
    M : int
        Active nodes.
    control_time : Fraction
        Steps of a control packet, t_p.
    full : bool
        Whether it is known ahead that all nodes are active: no prefix phase, and no packing phase, since every packet
        is at its place.

    Notes
    -----
    Equal sides p: ``2d(p-1) t_p + [d(p-1) + (p-1)/gamma * sum_j ceil(M/p^j)] / d``; full: ``(N-1)/(gamma d)``, the
    lower bound (4). Unequal sides: the prefix and packing phases take the longest side for p.

    Examples
    --------
    >>> split_time([4, 4], [True, True], 5)
    Fraction(21, 4)
    >>> split_time([4, 4], [True, True], 16, full=True)
    Fraction(15, 4)
    """
    line = _turned(sides, wraps)
    d = len(line)
    if not d:
        return Fraction(0)
    broadcast = broadcast_steps(sides, wraps, M, halves=True) / d
    longest = max(p for p, _ in line) - 1
    return broadcast if full else 2 * d * longest * control_time + longest + broadcast


def whole_time(
    sides: Sequence[int], wraps: Sequence[bool], M: int, control_time: Fraction = Fraction(0), full: bool = False
) -> Fraction:
    """Return the exact time of the partial multinode broadcast with whole packets.

    Parameters
    ----------
    sides, wraps, M, control_time
        As for `split_time`.
    full : bool
        Whether it is known ahead that all nodes are active: no prefix phases, and no packing phase if d = 1.

    Notes
    -----
    Equal sides p: ``4d(p-1) t_p + d(p-1) + ceil((p-1)/gamma) * sum_j ceil(M'/p^j)``, M' = ceil(M/d). Unequal sides: the
    packing phase and the second prefix, of all classes at once, take the longest side for p; the first prefix
    ``2 * sum(p - 1)`` control steps.

    Examples
    --------
    >>> whole_time([4, 4], [True, True], 5)
    Fraction(10, 1)
    """
    line = _turned(sides, wraps)
    d = len(line)
    if not d:
        return Fraction(0)
    longest = max(p for p, _ in line) - 1
    control = 0 if full else 2 * sum(p - 1 for p, _ in line) + 2 * d * longest
    packing = 0 if full and d == 1 else d * longest
    return control * control_time + packing + broadcast_steps(sides, wraps, -(-M // d), halves=False)


def split_bound(p: int, d: int, M: int, control_time: Fraction = Fraction(0), torus: bool = True) -> Fraction:
    """Return the paper's bound with split packets: (5a) = (7) on the torus, (6a) = (8) on the array.

    On the torus it holds for p >= 3 (erratum X1), and for even p only with 2d parts (X4).

    References
    ----------
    Varvarigos and Bertsekas 1994, equations (5a), (6a), (7), (8).

    Examples
    --------
    >>> split_bound(4, 3, 64)
    Fraction(15, 1)
    """
    gamma, N = (2, p**d) if torus else (1, p**d)
    fixed = Fraction(3, 2) if torus else 2
    return Fraction(M * (N - 1), gamma * d * N) + 2 * d * (p - 1) * control_time + fixed * (p - 1)


def whole_bound(p: int, d: int, M: int, control_time: Fraction = Fraction(0), torus: bool = True) -> Fraction:
    """Return the paper's bound with whole packets: (5b) on the torus, (6b) on the array.

    References
    ----------
    Varvarigos and Bertsekas 1994, equations (5b), (6b).

    Examples
    --------
    >>> whole_bound(4, 3, 64), whole_bound(3, 2, 1, torus=False)
    (Fraction(471, 16), Fraction(8, 1))
    """
    N, of_class = p**d, -(-M // d)
    control = 4 * (p - 1) * d * control_time
    if not torus:
        return Fraction(of_class + 2 * (p - 1) * d - 1) + control
    L = p // 2
    return Fraction(of_class * L * (N - 1), (p - 1) * N) + (p - 1) * d + d * L + control
