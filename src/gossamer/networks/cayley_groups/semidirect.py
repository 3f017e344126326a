"""Semidirect products of an abelian group by a cyclic one, wreath products among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks._parameters import whole_number
from gossamer.networks.groups import Elements

__all__ = ["SemidirectGroup", "semidirect", "wreath"]


@dataclass(frozen=True)
class SemidirectGroup:
    """Pairs ``(v, i)`` of a vector modulo `moduli` and a turn modulo `turns`: ``(v,i)(w,j) = (v + M**i w, i + j)``.

    Element numbers are ``number(v)*turns + i``, the first entry of v most significant. `matrix` has M row by row, the
    identity to the power `turns`.

    >>> g = SemidirectGroup((7,), ((2,),), 3)  # 2**3 = 1 modulo 7
    >>> int(g.compose(1, 3)), int(g.inverse(4)), g.abelian  # (0,1)(1,0) = (2,1)
    (7, 11, False)
    """

    moduli: tuple[int, ...]
    matrix: tuple[tuple[int, ...], ...]
    turns: int

    @property
    def order(self) -> int:
        """Number of elements, the product of the moduli times the turns."""
        return math.prod(self.moduli) * self.turns

    @cached_property
    def abelian(self) -> bool:
        """Whether the matrix is the identity."""
        k = len(self.moduli)
        return all(
            (self.matrix[r][c] - (r == c)) % self.moduli[r] == 0 or self.moduli[c] == 1
            for r in range(k)
            for c in range(k)
        )

    @cached_property
    def images(self) -> Elements:
        """The numbers of ``M**i v`` for every turn i and vector v, int64[turns, order / turns]."""
        size = math.prod(self.moduli)
        one = np.stack(_digits(np.arange(size), self.moduli))
        turned = _number(np.array(self.matrix, np.int64) @ one, self.moduli)
        rows = [np.arange(size)]
        for _ in range(self.turns - 1):
            rows.append(turned[rows[-1]])
        return np.stack(rows)

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products in the semidirect product."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        turn = x % self.turns
        w = self.images[turn, y // self.turns]
        one, other = _digits(x // self.turns, self.moduli), _digits(w, self.moduli)
        v = _number([p + q for p, q in zip(one, other, strict=True)], self.moduli)
        return np.asarray(v * self.turns + (turn + y) % self.turns)

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return ``(-M**-i v, -i)``."""
        x = np.asarray(a, np.int64)
        back = -x % self.turns
        negated = _number([-p for p in _digits(x // self.turns, self.moduli)], self.moduli)
        return np.asarray(self.images[back, negated] * self.turns + back)


def semidirect(moduli: Sequence[int], turns: int, matrix: Sequence[Sequence[int]]) -> SemidirectGroup:
    """Return the semidirect product of ``Z_m1 x ... x Z_mk`` by ``Z_turns``, which acts by a matrix.

    Raises
    ------
    NetworkError
        If a number is out of range, the matrix is no automorphism, or its power `turns` is not the identity.

    Examples
    --------
    >>> semidirect((8,), 2, ((3,),)).order
    16
    >>> semidirect((8,), 2, ((2,),))
    Traceback (most recent call last):
    gossamer.errors.NetworkError: cayley: the matrix of a semidirect product must have power 2 the identity
    """
    sides = tuple(whole_number(m, "cayley", "a modulus", 2, 10**6) for m in moduli)
    count = whole_number(turns, "cayley", "the turns", 1, 10**6)
    if len(matrix) != len(sides) or any(len(row) != len(sides) for row in matrix):
        raise NetworkError(f"cayley: {len(sides)} moduli need a matrix of {len(sides)} rows of {len(sides)}")
    rows = tuple(
        tuple(whole_number(x, "cayley", "an entry of a matrix", 0, m - 1) for x in row)
        for row, m in zip(matrix, sides, strict=True)
    )
    if math.prod(sides) * count > _MOST:
        raise NetworkError(f"cayley: a semidirect product may have at most {_MOST:,} elements")
    for r, m in enumerate(sides):
        for c, other in enumerate(sides):
            if rows[r][c] * other % m:
                raise NetworkError(f"cayley: entry {rows[r][c]} of a matrix does not take Z_{other} to Z_{m}")
    if not _is_identity(rows, sides, count):
        raise NetworkError(f"cayley: the matrix of a semidirect product must have power {count} the identity")
    return SemidirectGroup(sides, rows, count)


def wreath(m: int, k: int) -> SemidirectGroup:
    """Return the wreath product of Z_m by Z_k: k digits modulo m, rotated by the turns.

    >>> wreath(2, 3).order
    24
    """
    digits = whole_number(k, "cayley", "k of a wreath product", 2, 30)
    base = whole_number(m, "cayley", "m of a wreath product", 2, 10**6)
    rows = tuple(tuple(int((r + 1) % digits == c) for c in range(digits)) for r in range(digits))
    return semidirect((base,) * digits, digits, rows)


_MOST = 20_000_000


def _is_identity(rows: Sequence[Sequence[int]], sides: Sequence[int], power: int) -> bool:
    """Return whether a matrix to some power is the identity, each row modulo its own side."""
    side = np.array(sides, np.int64)[:, None]
    base, total = np.array(rows, np.int64), np.eye(len(sides), dtype=np.int64) % side
    while power:
        if power & 1:
            total = total @ base % side
        base = base @ base % side
        power >>= 1
    return bool((total == np.eye(len(sides), dtype=np.int64) % side).all())


def _digits(number: Elements, moduli: Sequence[int]) -> list[Elements]:
    digits = []
    for m in reversed(moduli):
        digits.append(number % m)
        number = number // m
    return digits[::-1]


def _number(digits: Sequence[Elements] | Elements, moduli: Sequence[int]) -> Elements:
    total = np.zeros_like(digits[0])
    for digit, m in zip(digits, moduli, strict=True):
        total = total * m + digit % m
    return total
