"""Exact probabilities that make expected traffic even: convex mixtures of given traffic vectors.

A broadcast that visits the dimensions of a product in the order o sends ``a[i] = (n_i - 1) * (product of n_j over
the dimensions j visited before i)`` packets along dimension i. Over all orders these vectors are the vertices of
the base polytope of a polymatroid: the shares t that mixtures of orders reach are those with sum N - 1 and, for every
set S of dimensions, ``sum of t_i over S <= N - product of n_j outside S``. All arithmetic is on fractions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Vector = Sequence[Any]
"""Fractions, or ints among them."""


def order_traffic(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return the packets that one broadcast sends along each dimension when it visits them in `order`.

    `sizes`: nodes along each dimension. `order`: the dimensions, from 0, each once.

    Source: Yeh, Varvarigos and Lee 1998, section 2.1 (a_{i,l}).

    >>> order_traffic((4, 8), (1, 0)), order_traffic((4, 8), (0, 1))
    ((24, 7), (3, 28))
    """
    traffic, reached = [0] * len(sizes), 1
    for i in order:
        traffic[i] = (sizes[i] - 1) * reached
        reached *= sizes[i]
    return tuple(traffic)


def largest_share(sizes: Sequence[int], dimensions: Sequence[int]) -> int:
    """Return the most packets of one broadcast that any order sends along a set of dimensions together.

    >>> largest_share((4, 8), [1]), largest_share((4, 8), [0, 1])
    (28, 31)
    """
    return math.prod(sizes) - math.prod(n for i, n in enumerate(sizes) if i not in dimensions)


def violated_set(sizes: Sequence[int], target: Vector) -> tuple[int, ...] | None:
    """Return a set of dimensions whose shares of the traffic are larger than any order can make them, or None.

    `sizes`: nodes along each dimension, d of them. `target`: packets wanted along each dimension, of sum N - 1.

    None means that a mixture of orders meets the target exactly. O(d 2^d).

    Source: Gossamer; REDO is of Yeh, Varvarigos and Lee 1998, section 2.1.

    >>> violated_set((4, 8), (Fraction(25), Fraction(6)))
    (0,)
    """
    d = len(sizes)
    worst, excess = None, Fraction(0)
    for count in range(1, d):
        for chosen in itertools.combinations(range(d), count):
            over = sum((Fraction(target[i]) for i in chosen), Fraction(0)) - largest_share(sizes, chosen)
            if over > excess:
                worst, excess = chosen, over
    return worst


def uniform_part(sizes: Sequence[int], target: Vector) -> Fraction:
    """Return the largest weight that the even mixture of all d! orders can have in a mixture that meets `target`.

    The rest of the target, ``(target - weight*even) / (1 - weight)``, is then still feasible.

    >>> uniform_part((4, 4), (Fraction(15, 2), Fraction(15, 2)))
    Fraction(1, 1)
    """
    d = len(sizes)
    orders = list(itertools.permutations(range(d)))
    even = [Fraction(sum(c), len(orders)) for c in zip(*(order_traffic(sizes, o) for o in orders), strict=True)]
    if list(target) == even:
        return Fraction(1)
    weight = Fraction(1)
    for count in range(1, d):
        for chosen in itertools.combinations(range(d), count):
            most = largest_share(sizes, chosen)
            slack = most - sum((even[i] for i in chosen), Fraction(0))
            if slack > 0:
                weight = min(weight, (most - sum((Fraction(target[i]) for i in chosen), Fraction(0))) / slack)
    return weight


def solve(columns: Sequence[Vector], target: Vector) -> list[Fraction] | None:
    """Return x with ``sum of x_k columns[k] = target`` for as many columns as rows, or None if they are dependent.

    >>> [str(x) for x in solve([(24, 7), (3, 28)], (Fraction(31, 2), Fraction(31, 2)))]
    ['25/42', '17/42']
    """
    n = len(target)
    rows = [[Fraction(columns[k][i]) for k in range(n)] + [Fraction(target[i])] for i in range(n)]
    for k in range(n):
        pivot = next((r for r in range(k, n) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(n):
            if r != k and rows[r][k]:
                factor = rows[r][k]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[n] for row in rows]


def mixture(
    columns: Sequence[Vector], target: Vector, price: Callable[[list[Fraction]], Vector | None] | None = None
) -> dict[tuple[Fraction, ...], Fraction] | None:
    """Return weights, all positive, with which given vectors add up to `target`, or None where there are none.

    `columns`: what may be mixed. Give each vector a coordinate 1, and the target too, to have weights of sum 1.
    `target`: no coordinate negative. `price`, callable: given a weight for each coordinate, returns the vector with the
    largest weighted sum among those that may be mixed as well (column generation); None where there are no more.

    Returns: at most as many vectors as coordinates: a vertex.

    The first phase of the simplex method on fractions, with the rule of Bland against cycles.

    >>> mix = mixture([(24, 7, 1), (3, 28, 1)], [Fraction(31, 2), Fraction(31, 2), Fraction(1)])
    >>> [str(x) for x in mix.values()]
    ['25/42', '17/42']
    """
    n = len(target)
    known = [tuple(Fraction(x) for x in c) for c in columns]
    basis: list[int] = list(range(-n, 0))  # artificial variables, later columns
    inverse = [[Fraction(int(i == k)) for k in range(n)] for i in range(n)]
    value = [Fraction(t) for t in target]
    while any(v > 0 for v, b in zip(value, basis, strict=True) if b < 0):
        dual = [sum((inverse[i][k] for i in range(n) if basis[i] < 0), Fraction(0)) for k in range(n)]
        entering = next((j for j, c in enumerate(known) if j not in basis and _dot(dual, c) > 0), None)
        if entering is None and price is not None:
            found = price(dual)
            if found is not None and _dot(dual, found) > 0:
                known.append(tuple(Fraction(x) for x in found))
                entering = len(known) - 1
        if entering is None:
            return None
        direction = [_dot(row, known[entering]) for row in inverse]
        ratios = [(value[i] / direction[i], basis[i], i) for i in range(n) if direction[i] > 0]
        leaving = min(ratios)[2]
        inverse[leaving] = [x / direction[leaving] for x in inverse[leaving]]
        value[leaving] /= direction[leaving]
        basis[leaving] = entering
        for i in range(n):
            if i != leaving and direction[i]:
                inverse[i] = [x - direction[i] * y for x, y in zip(inverse[i], inverse[leaving], strict=True)]
                value[i] -= direction[i] * value[leaving]
    return {known[b]: v for v, b in sorted(zip(value, basis, strict=True), key=lambda p: p[1]) if b >= 0 and v > 0}


def _dot(a: Vector, b: Vector) -> Fraction:
    total = Fraction(0)
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total
