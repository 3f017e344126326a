"""Groups of prime power order by their polycyclic presentation: powers and commutators of generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks._parameters import whole_number
from gossamer.networks.groups import Elements

__all__ = ["PolycyclicGroup", "polycyclic"]

_MOST = 200_000


@dataclass(frozen=True)
class PolycyclicGroup:
    """Normal words ``g1**a1 ... gn**an`` with exponents below p, by powers ``gi**p`` and commutators ``[gj, gi]``.

    Element numbers have the exponents as digits in base p, a1 most significant.

    Attributes
    ----------
    p : int
        The prime.
    powers : tuple of tuple of int
        Row i has the exponents of ``gi**p``, all before and at i being 0.
    commutators : tuple of tuple of int
        The exponents of ``gj**-1 gi**-1 gj gi`` for the pairs j > i in the order (2,1), (3,1), (3,2), (4,1), ..., all
        before and at j being 0.

    Examples
    --------
    >>> quaternions = polycyclic(2, [(0, 0, 1), (0, 0, 1), (0, 0, 0)], [(0, 0, 1), (0, 0, 0), (0, 0, 0)])
    >>> quaternions.order, int(quaternions.compose(4, 4)), quaternions.abelian
    (8, 1, False)
    """

    p: int
    powers: tuple[tuple[int, ...], ...]
    commutators: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> int:
        """Number of elements, ``p**n``."""
        return int(self.p ** len(self.powers))

    @property
    def abelian(self) -> bool:
        """Whether all commutators are the identity."""
        return not any(any(row) for row in self.commutators)

    @cached_property
    def tables(self) -> Elements:
        """The products of every element by each generator, int64[n, order]."""
        n, p = len(self.powers), self.p
        stride = [p ** (n - 1 - i) for i in range(n)]
        tables = np.zeros((n, self.order), np.int64)
        for i in range(n - 1, -1, -1):
            x = np.arange(self.order)
            size = stride[i]  # elements of the subgroup of the generators after i
            head, rest = x // size * size, x % size
            exponent = x // size % p
            full = exponent == p - 1
            head = np.where(full, head - (p - 1) * size, head + size)
            made = np.zeros_like(x)
            made = np.where(full, _apply(tables, made, self.powers[i]), made)
            for j in range(i + 1, n):  # gi**-1 gj gi = gj [gj, gi]
                digit = rest // stride[j] % p
                word = self.commutators[j * (j - 1) // 2 + i]
                for count in range(1, p):
                    turn = _apply(tables, tables[j][made], word)
                    made = np.where(digit >= count, turn, made)
            tables[i] = head + made
        return tables

    def fault(self) -> str | None:
        """Return the relation that does not hold, or None if the presentation is of a group of ``p**n`` elements."""
        tables, identity = self.tables, np.arange(self.order)
        n = len(self.powers)
        for i in range(n):
            power = identity
            for _ in range(self.p):
                power = tables[i][power]
            if not np.array_equal(power, _apply(tables, identity, self.powers[i])):
                return f"the power of generator {i + 1}"
            for j in range(i + 1, n):
                one = tables[i][tables[j]]
                other = _apply(tables, tables[j][tables[i]], self.commutators[j * (j - 1) // 2 + i])
                if not np.array_equal(one, other):
                    return f"the commutator of generators {j + 1} and {i + 1}"
        return None

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products, a generator at a time."""
        x, y = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
        n, p = len(self.powers), self.p
        for i in range(n):
            digit = y // p ** (n - 1 - i) % p
            for count in range(1, p):
                x = np.where(digit >= count, self.tables[i][x], x)
        return x

    @cached_property
    def _inverses(self) -> Elements:
        inverse = np.zeros(self.order, np.int64)
        power, left = np.arange(self.order), np.arange(self.order) > 0
        while left.any():
            following = self.compose(power, np.arange(self.order))
            now = left & (following == 0)
            inverse[now] = power[now]
            left &= ~now
            power = following
        return inverse

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses."""
        return self._inverses[np.asarray(a, np.int64)]


def _apply(tables: Elements, x: Elements, word: Sequence[int]) -> Elements:
    """Multiply elements by a normal word."""
    for i, times in enumerate(word):
        for _ in range(times):
            x = tables[i][x]
    return x


def polycyclic(p: int, powers: Sequence[Sequence[int]], commutators: Sequence[Sequence[int]]) -> PolycyclicGroup:
    """Return the group of a presentation by powers and commutators, if it has ``p**n`` elements.

    Raises
    ------
    NetworkError
        If a number is out of range, or the relations make fewer elements, naming one that fails.

    References
    ----------
    Holt, Eick and O'Brien 2005, chapter 8.

    Examples
    --------
    >>> polycyclic(2, [(0, 1), (0, 0)], [(0, 0)]).order
    4
    """
    p = whole_number(p, "cayley", "the prime", 2, 101)
    if any(p % d == 0 for d in range(2, p)):
        raise NetworkError(f"cayley: the order of generators must be a prime, got {p}")
    n = len(powers)
    if n < 1 or p**n > _MOST or len(commutators) != n * (n - 1) // 2:
        raise NetworkError(
            f"cayley: {n} powers need {n * (n - 1) // 2} commutators and at most {_MOST:,} elements, "
            f"got {len(commutators)} and {p}^{n}"
        )
    pairs = [(j, i) for j in range(1, n) for i in range(j)]
    for rows, firsts in ((powers, range(n)), (commutators, [j for j, _ in pairs])):
        for row, first in zip(rows, firsts, strict=True):
            if len(row) != n or any(row[: first + 1]):
                raise NetworkError(f"cayley: a relation has {n} exponents, 0 up to its own generator, got {list(row)}")
            for x in row:
                whole_number(x, "cayley", "an exponent", 0, p - 1)
    group = PolycyclicGroup(p, tuple(map(tuple, powers)), tuple(map(tuple, commutators)))
    wrong = group.fault()
    if wrong is not None:
        raise NetworkError(f"cayley: the relations make fewer than {p}^{n} elements: {wrong} does not hold")
    return group
