"""Finite fields GF(q) as tables of logarithms; the slim flies and PolarFlies are drawn with them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.family import whole_number

__all__ = ["FiniteField", "prime_power"]

Elements = npt.NDArray[np.int64]


def prime_power(value: object, family: str, low: int, high: int) -> tuple[int, int]:
    """Return p and k where ``value = p**k`` with p prime.

    Raises
    ------
    NetworkError
        If it is no whole number of low..high or no prime power, with the nearest that are.

    Examples
    --------
    >>> prime_power(27, "slim-fly", 3, 500)
    (3, 3)
    >>> prime_power(6, "slim-fly", 3, 500)
    Traceback (most recent call last):
    gossamer.errors.NetworkError: slim-fly: q must be a prime power, got 6; the nearest are 5 and 7
    """
    q = whole_number(value, family, "q", low, high)
    if (found := _root(q)) is not None:
        return found
    near = [next((n for n in around if _root(n)), 0) for around in (range(q, low - 1, -1), range(q, high + 1))]
    allowed = " and ".join(str(n) for n in near if n)
    raise NetworkError(f"{family}: q must be a prime power, got {q}; the nearest are {allowed}")


def _root(q: int) -> tuple[int, int] | None:
    """Return p and k where ``q = p**k``, or None."""
    p = next((p for p in range(2, int(q**0.5) + 1) if q % p == 0), q)
    if p < 2:
        return None
    k = next(k for k in itertools.count(1) if p**k >= q)
    return (p, k) if p**k == q else None


@dataclass(frozen=True)
class FiniteField:
    """The field of q = p**k elements.

    Element e is the polynomial whose coefficients are the digits of e in base p, the constant the least; 0 and 1 are
    zero and one. All operations are vectorized over integer arrays that broadcast.

    >>> field = FiniteField(3, 2)
    >>> field.order, field.multiply(3, [0, 1, 2, 3]).tolist(), field.add(4, 5).tolist()
    (9, [0, 3, 6, 4], 6)
    """

    p: int
    k: int

    @property
    def order(self) -> int:
        """Number of elements, q."""
        return int(self.p**self.k)

    @cached_property
    def powers(self) -> Elements:
        """The powers ``x**0, x**1, ..., x**(q-2)`` of a primitive element, int64[q-1]: every element but 0 once.

        It is x, the first in the order of their numbers for k = 1, and the residue of x modulo the first primitive
        polynomial of degree k otherwise. O(q) for each polynomial tried.
        """
        p, k, q = self.p, self.k, self.order
        for rest in range(1, q):  # x**k = rest, or for k = 1 the number that generates
            digits = [rest // p**i % p for i in range(k)]
            found, element = [1], 1
            while True:
                top, shifted = element // p ** (k - 1), element % p ** (k - 1) * p
                element = sum((shifted // p**i + top * digits[i]) % p * p**i for i in range(k))
                if element in (0, 1):
                    break
                found.append(element)
                if len(found) >= q:
                    break
            if len(found) == q - 1:
                return np.array(found, np.int64)
        raise AssertionError("every finite field has a primitive element")

    @cached_property
    def _logarithm(self) -> Elements:
        logarithm = np.zeros(self.order, np.int64)
        logarithm[self.powers] = np.arange(self.order - 1)
        return logarithm

    def add(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the sums, digit by digit modulo p."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        for i in range(self.k):
            total += (x // self.p**i + y // self.p**i) % self.p * self.p**i
        return total

    def multiply(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products, by adding logarithms."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        product = self.powers[(self._logarithm[x] + self._logarithm[y]) % (self.order - 1)]
        return np.where((x == 0) | (y == 0), 0, product)

    def subtract(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the differences, digit by digit modulo p."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        for i in range(self.k):
            total += (x // self.p**i - y // self.p**i) % self.p * self.p**i
        return total

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses of elements other than 0."""
        return self.powers[-self._logarithm[np.asarray(a, np.int64)] % (self.order - 1)]
