"""Groups of permutations or matrices given by generators, all elements listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks._parameters import whole_number
from gossamer.networks.finite_fields import FiniteField, prime_power
from gossamer.networks.groups import Elements

__all__ = ["MOST_LISTED", "EnumeratedGroup", "matrix_group", "permutations"]

MOST_LISTED = 200_000
"""The most elements of a group that is listed."""

_MOST_ENTRIES = 64

Multiply = Callable[[Elements, Elements], Elements]


@dataclass(frozen=True, eq=False)
class EnumeratedGroup:
    """A group whose elements are rows of numbers: the identity first, the others in lexicographic order.

    Attributes
    ----------
    rows : int64[order, width]
        The elements.
    multiply : callable
        ``(rows, rows) -> rows``, the products of rows that broadcast.

    Examples
    --------
    >>> g = permutations([(1, 2, 0)])  # the rotations of three things
    >>> g.order, int(g.compose(1, 1)), int(g.inverse(1)), g.abelian
    (3, 2, 2, True)
    """

    rows: Elements
    multiply: Multiply = field(repr=False)

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.rows)

    @cached_property
    def _lookup(self) -> tuple[Elements, Elements, Elements]:
        """Weights whose sums tell the rows apart, the sums in order, and the element of each."""
        for seed in range(100):
            weights = np.random.default_rng(seed).integers(-(2**40), 2**40, (self.rows.shape[1],))
            sums = self.rows @ weights
            order = np.argsort(sums).astype(np.int64)
            if not (np.diff(sums[order]) == 0).any():
                return weights, np.asarray(sums[order], np.int64), order
        raise AssertionError("random weights tell rows apart")

    @cached_property
    def abelian(self) -> bool:
        """Whether all products commute."""
        a = np.arange(self.order)
        some = a[1 : 1 + min(self.order, 64)]
        sure = self.order <= 64
        same = bool((self.compose(a[:, None], some) == self.compose(some, a[:, None])).all())
        return same and (sure or all(bool((self.compose(a, x) == self.compose(x, a)).all()) for x in a))

    def number(self, rows: Elements) -> Elements:
        """Return the element numbers of rows that are elements."""
        weights, sums, order = self._lookup
        return order[np.searchsorted(sums, rows @ weights)]

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products."""
        return self.number(self.multiply(self.rows[np.asarray(a, np.int64)], self.rows[np.asarray(b, np.int64)]))

    @cached_property
    def _inverses(self) -> Elements:
        inverse = np.zeros(self.order, np.int64)
        power = np.arange(self.order)
        left = np.arange(self.order) > 0
        while left.any():  # the power before the identity is the inverse
            following = self.compose(power, np.arange(self.order))
            now = left & (following == 0)
            inverse[now] = power[now]
            left &= ~now
            power = following
        return inverse

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses."""
        return self._inverses[np.asarray(a, np.int64)]


def permutations(generators: Sequence[Sequence[int]]) -> EnumeratedGroup:
    """Return the group that permutations generate; the product is ``(a*b)[i] = a[b[i]]``.

    Parameters
    ----------
    generators : sequence of sequences of int
        Each the images of 0, 1, ...

    Raises
    ------
    NetworkError
        If one is no permutation of all, or they generate more than 200,000 elements.

    Examples
    --------
    >>> permutations([(1, 0, 2, 3), (1, 2, 3, 0)]).order
    24
    """
    width = len(generators[0]) if generators else 0
    for row in generators:
        if sorted(row) != list(range(width)) or not 1 <= width <= _MOST_ENTRIES:
            told = ".".join(map(str, row))
            raise NetworkError(f"cayley: {told} is no permutation of 0..{max(width - 1, 0)} (at most 64 symbols)")

    def multiply(a: Elements, b: Elements) -> Elements:
        one, other = np.broadcast_arrays(a, b)
        return np.take_along_axis(one, other, axis=-1)

    return EnumeratedGroup(_closed(np.array(generators, np.int64), np.arange(width), multiply), multiply)


def matrix_group(q: int, generators: Sequence[Sequence[int]], *, projective: bool = False) -> EnumeratedGroup:
    """Return the group that invertible matrices over the field of q elements generate.

    Parameters
    ----------
    q : int
        A prime power up to 1,024; entry e is the element e of `gossamer.networks.finite_fields.FiniteField`.
    generators : sequence of sequences of int
        Matrices row by row.
    projective : bool
        Whether matrices that differ by a factor are the same element.

    Raises
    ------
    NetworkError
        If q is no prime power, a matrix is not square or not invertible, or there are more than 200,000 elements.

    Examples
    --------
    >>> sl = [(1, 1, 0, 1), (1, 0, 1, 1)]
    >>> matrix_group(5, sl).order, matrix_group(5, sl, projective=True).order
    (120, 60)
    """
    field_ = FiniteField(*prime_power(q, "cayley", 2, 1024))
    side = round(len(generators[0]) ** 0.5) if generators else 0
    for row in generators:
        if side < 1 or len(row) != side * side or len(row) > _MOST_ENTRIES:
            raise NetworkError(f"cayley: a matrix has as many rows as columns, at most 8, got {len(row)} entries")
        for entry in row:
            whole_number(entry, "cayley", "an entry of a matrix", 0, q - 1)

    def multiply(a: Elements, b: Elements) -> Elements:
        a, b = np.broadcast_arrays(a, b)
        one, other = a.reshape(*a.shape[:-1], side, side), b.reshape(*b.shape[:-1], side, side)
        total = field_.multiply(one[..., :, 0, None], other[..., None, 0, :])
        for k in range(1, side):
            total = field_.add(total, field_.multiply(one[..., :, k, None], other[..., None, k, :]))
        flat = total.reshape(a.shape)
        return scaled(flat) if projective else flat

    def scaled(flat: Elements) -> Elements:
        first = np.take_along_axis(flat, (flat != 0).argmax(axis=-1)[..., None], axis=-1)
        return field_.multiply(flat, field_.inverse(np.where(first == 0, 1, first)))

    given = np.array(generators, np.int64)
    identity = np.eye(side, dtype=np.int64).reshape(-1)
    rows = _closed(scaled(given) if projective else given, identity, multiply)
    return EnumeratedGroup(rows, multiply)


def _closed(generators: Elements, identity: Elements, multiply: Multiply) -> Elements:
    """Return all products of generators, the identity first, then in lexicographic order."""
    known = identity[None]
    frontier = known
    while frontier.size:
        made = multiply(frontier[:, None], generators[None]).reshape(-1, identity.size)
        both = np.concatenate([known, made])
        _, first = np.unique(both, axis=0, return_index=True)
        fresh = np.sort(first[first >= len(known)])
        frontier = both[fresh]
        known = np.concatenate([known, frontier])
        if len(known) > MOST_LISTED:
            raise NetworkError(f"cayley: the generators of the group make more than {MOST_LISTED:,} elements")
    order = np.lexsort(known.T[::-1])
    rows = known[order]
    at = int(np.flatnonzero((rows == identity).all(axis=1))[0])
    # a matrix that is not invertible never comes back to the identity
    back = multiply(rows[:, None], generators[None]).reshape(-1, identity.size)
    if len(np.unique(back, axis=0)) < len(rows) or any(
        len(np.unique(multiply(rows, g), axis=0)) < len(rows) for g in generators
    ):
        raise NetworkError("cayley: a matrix that generates a group must be invertible")
    return np.concatenate([rows[at : at + 1], rows[:at], rows[at + 1 :]])
