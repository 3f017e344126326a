"""Finite groups whose elements are numbered 0..N-1, with the identity as element 0.

A Cayley network has one node for each element and a link from ``u`` to ``u*g`` for each generator ``g``.
Left multiplication by any element ``h`` maps the link ``(u, u*g)`` to ``(h*u, h*u*g)``: it is an automorphism
that keeps the generator of every link, which is what invariant schedules rest on (Dimakopoulos 1996, Lemma 4.7).

Every operation is vectorized: arguments are integers or integer arrays that broadcast against each other.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "AbelianGroup",
    "CubeRotationGroup",
    "Elements",
    "Group",
    "LatticeGroup",
    "PermutationGroup",
    "ProductGroup",
    "TableGroup",
    "divisors",
]

Elements = npt.NDArray[np.int64]


class Group(Protocol):
    """A finite group on the element numbers 0..order-1; element 0 is the identity."""

    @property
    def order(self) -> int:
        """Number of elements."""
        ...

    @property
    def abelian(self) -> bool:
        """Whether the product is commutative."""
        ...

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products ``a*b``, int64, of the broadcast shape of `a` and `b`."""
        ...

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses of `a`, int64, of the shape of `a`."""
        ...


@dataclass(frozen=True)
class AbelianGroup:
    """The direct product of cyclic groups ``Z_m1 x ... x Z_mk``.

    Elements are mixed-radix numbers; the first modulus is the most significant digit.

    >>> g = AbelianGroup((3, 4))
    >>> int(g.compose(7, 7)), int(g.inverse(7))      # 7 = (1, 3)
    (10, 9)
    """

    moduli: tuple[int, ...]

    @property
    def order(self) -> int:
        """Number of elements, the product of the moduli."""
        return math.prod(self.moduli)

    @property
    def abelian(self) -> bool:
        """Always true."""
        return True

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Add digit by digit, each modulo its own side."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        if len(self.moduli) == 1:
            return np.asarray((x + y) % self.moduli[0])
        if all(m == 2 for m in self.moduli):
            return np.asarray(x ^ y)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        stride = 1
        for m in reversed(self.moduli):
            total += (x // stride + y // stride) % m * stride
            stride *= m
        return total

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Negate digit by digit, each modulo its own side."""
        x = np.asarray(a, np.int64)
        total = np.zeros_like(x)
        stride = 1
        for m in reversed(self.moduli):
            total += (-(x // stride)) % m * stride
            stride *= m
        return total


@dataclass(frozen=True)
class LatticeGroup:
    """Vectors of integers modulo a lattice: a torus whose ends may be joined with a shift.

    Elements are mixed-radix numbers of the digits ``x_i < sides[i]``, the first most significant. ``sides[j]`` times
    the unit vector of dimension j is the vector ``twists[j]``, so going once around dimension j leads that far aside.
    No dimension may be shifted by itself, directly or through others.

    >>> g = LatticeGroup((4, 2), ((0, 0), (2, 0)))  # twice up the short side is 2 along the long one
    >>> int(g.compose(1, 1)), int(g.compose(7, 1)), int(g.inverse(1))
    (4, 2, 5)
    """

    sides: tuple[int, ...]
    twists: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> int:
        """Number of elements, the product of the sides."""
        return math.prod(self.sides)

    @property
    def abelian(self) -> bool:
        """Always true."""
        return True

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The dimensions, each before all that it shifts; shorter if some shift each other in a circle."""
        left, order = set(range(len(self.sides))), list[int]()
        while free := [j for j in sorted(left) if not any(self.twists[i][j] for i in left)]:
            order += free
            left -= set(free)
        return tuple(order)

    def _digits(self, a: npt.ArrayLike) -> list[Elements]:
        rest, digits = np.asarray(a, np.int64), []
        for side in reversed(self.sides):
            digits.append(rest % side)
            rest = rest // side
        return digits[::-1]

    def number(self, digits: list[Elements]) -> Elements:
        """Return the elements of vectors with any entries, a list of the arrays of each dimension."""
        for j in self.turns:
            around = digits[j] // self.sides[j]
            digits[j] = digits[j] - around * self.sides[j]
            for i, shift in enumerate(self.twists[j]):
                if shift:
                    digits[i] = digits[i] + around * shift
        total = np.zeros_like(digits[0])
        for digit, side in zip(digits, self.sides, strict=True):
            total = total * side + digit
        return total

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Add the vectors."""
        return self.number([x + y for x, y in zip(self._digits(a), self._digits(b), strict=True)])

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Negate the vectors."""
        return self.number([-x for x in self._digits(a)])


@dataclass(frozen=True)
class PermutationGroup:
    """The symmetric group on `symbols` symbols, numbered in lexicographic order.

    The product is ``(a*b)[i] = a[b[i]]``, so multiplying by a transposition of positions on the right swaps two symbols
    of the arrangement.

    >>> g = PermutationGroup(3)
    >>> g.arrangement(3).tolist(), int(g.compose(3, 3)), int(g.inverse(3))
    ([1, 2, 0], 4, 4)
    """

    symbols: int

    @property
    def order(self) -> int:
        """Number of elements, ``symbols!``."""
        return math.factorial(self.symbols)

    @property
    def abelian(self) -> bool:
        """Whether there are at most two symbols."""
        return self.symbols <= 2

    def arrangement(self, a: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the arrangements of the elements `a`: int8, shape ``a.shape + (symbols,)``."""
        rank = np.asarray(a, np.int64)
        digits = np.empty((self.symbols, *rank.shape), np.int8)  # one contiguous row for each position
        for i in range(self.symbols):
            base = math.factorial(self.symbols - 1 - i)
            digits[i] = rank // base
            rank = rank % base
        # Lehmer code to arrangement, from the right: every later digit not below this one moves up by one
        for i in range(self.symbols - 2, -1, -1):
            digits[i + 1 :] += digits[i + 1 :] >= digits[i]
        return np.moveaxis(digits, 0, -1)

    def rank(self, arrangement: npt.ArrayLike) -> Elements:
        """Return the element numbers of arrangements given along the last axis."""
        p = np.moveaxis(np.asarray(arrangement), -1, 0)
        total = np.zeros(p.shape[1:], np.int64)
        for i in range(self.symbols):
            smaller = (p[i + 1 :] < p[i]).sum(axis=0, dtype=np.int8)
            total += smaller.astype(np.int64) * math.factorial(self.symbols - 1 - i)
        return total

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products ``(a*b)[i] = a[b[i]]``."""
        x, y = self.arrangement(a), self.arrangement(b)
        if y.ndim == 1:  # one element on the right: the same positions change places everywhere
            return self.rank(x[..., y])
        x, y = np.broadcast_arrays(x, y)
        return self.rank(np.take_along_axis(x, y.astype(np.intp), axis=-1))

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverse permutations."""
        return self.rank(np.argsort(self.arrangement(a), axis=-1))


@dataclass(frozen=True)
class CubeRotationGroup:
    """Pairs ``(w, p)`` of a word of `bits` bits and a rotation: the group of cube-connected cycles and butterflies.

    ``(w,p)(w',p') = (w xor rot_p(w'), p+p' mod bits)`` with ``rot_p`` the cyclic left shift by p.
    The element number is ``w*bits + p``.

    >>> g = CubeRotationGroup(3)
    >>> int(g.compose(1, 3))      # (000,1)(001,0) = (010,1)
    7
    """

    bits: int

    @property
    def order(self) -> int:
        """Number of elements, ``bits * 2**bits``."""
        return self.bits << self.bits

    @property
    def abelian(self) -> bool:
        """Whether there is a single bit."""
        return self.bits == 1

    def rotate(self, word: npt.ArrayLike, by: npt.ArrayLike) -> Elements:
        """Shift words cyclically to the left by `by` places (taken modulo `bits`)."""
        w = np.asarray(word, np.int64)
        p = np.asarray(by, np.int64) % self.bits
        return np.asarray(((w << p) | (w >> (self.bits - p))) & ((1 << self.bits) - 1))

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products in the semidirect product."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        word = (x // self.bits) ^ self.rotate(y // self.bits, x % self.bits)
        return np.asarray(word * self.bits + (x + y) % self.bits)

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return ``(rot_-p(w), -p)``."""
        x = np.asarray(a, np.int64)
        p = -(x % self.bits) % self.bits
        return np.asarray(self.rotate(x // self.bits, p) * self.bits + p)


@dataclass(frozen=True)
class ProductGroup:
    """The direct product of groups; the first factor is the most significant digit of an element number."""

    factors: tuple[Group, ...]

    @property
    def order(self) -> int:
        """Number of elements, the product of the factors' orders."""
        return math.prod(f.order for f in self.factors)

    @property
    def abelian(self) -> bool:
        """Whether every factor is abelian."""
        return all(f.abelian for f in self.factors)

    def _strides(self) -> list[int]:
        orders = [f.order for f in self.factors]
        return list(itertools.accumulate([1, *orders[:0:-1]], lambda s, m: s * m))[::-1]

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Multiply factor by factor."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        for f, stride in zip(self.factors, self._strides(), strict=True):
            total += f.compose(x // stride % f.order, y // stride % f.order) * stride
        return total

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Invert factor by factor."""
        x = np.asarray(a, np.int64)
        total = np.zeros_like(x)
        for f, stride in zip(self.factors, self._strides(), strict=True):
            total += f.inverse(x // stride % f.order) * stride
        return total


@dataclass(frozen=True, eq=False)
class TableGroup:
    """A group given by its table: `table` int32[N, N] has the product ``a*b`` in row a and column b.

    >>> g = TableGroup(np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]], np.int32))
    >>> int(g.compose(2, 2)), int(g.inverse(2)), g.abelian
    (1, 1, True)
    """

    table: npt.NDArray[np.int32]

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.table)

    @cached_property
    def abelian(self) -> bool:
        """Whether the table is symmetric."""
        return bool((self.table == self.table.T).all())

    @cached_property
    def _inverses(self) -> Elements:
        found: Elements = np.argmax(self.table == 0, axis=1).astype(np.int64)
        return found

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Look up the products."""
        return np.asarray(self.table[np.asarray(a, np.int64), np.asarray(b, np.int64)], np.int64)

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Look up the inverses."""
        return np.asarray(self._inverses[np.asarray(a, np.int64)])


def divisors(n: int) -> list[int]:
    """Return the divisors of a number, ascending: the orders that subgroups of a group of n elements may have.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    low = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return low + [n // d for d in reversed(low) if d * d < n]
