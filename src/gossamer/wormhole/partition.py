"""The partition of a torus into data-distribution networks and data-collection networks.

With h a common divisor of the sides, the *data-distribution networks* (DDNs) are tori dilated by h, and the
*data-collection networks* (DCNs) are the blocks of h nodes a side. In two dimensions DDN k has the nodes
``P(a*h+k, b*h+k)`` and every channel of their rows and columns. In d dimensions there is a DDN for each *word*
``(k_0, ..., k_(d-1))`` of residues modulo h with ``k_0 = k_1 + ... + k_(d-1)``: two words differ in at least two
places, so that two DDNs have no line, and so no channel, in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.networks.finite_groups import divisors
from gossamer.reading import whole

__all__ = ["TorusPartition", "common_divisors"]

Ints = npt.NDArray[np.int64]


def common_divisors(sides: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values that h may take: the divisors that all sides have in common, ascending.

    >>> common_divisors((12, 8))
    (1, 2, 4)
    """
    return tuple(divisors(math.gcd(*sides)))


@dataclass(frozen=True)
class TorusPartition:
    """A torus cut into data-distribution and data-collection networks.

    Parameters
    ----------
    sides : tuple of int
        Sides n_t of the torus, t = 0..d-1; node numbers are row-major.
    h : int
        Dilation of the DDNs and side of the DCNs, a divisor of every side.

    Raises
    ------
    NotApplicableError
        If h does not divide every side.

    Notes
    -----
    There are h^(d-1) DDNs of ``prod(n_t/h)`` nodes and as many DCNs of h^d nodes as a DDN has nodes. DDNs have
    no node and no channel in common, and together all channels; DCNs have no node and no channel in common, and
    together all nodes. Every DDN meets every DCN in exactly one node. If h = n_t, a DCN has the wrap channels as well.

    References
    ----------
    Chen and Chen 2000, section 2.2.

    Examples
    --------
    >>> p = TorusPartition((4, 4), 2)
    >>> np.flatnonzero(p.ddn == 1).tolist(), np.flatnonzero(p.dcn == 1).tolist()
    ([5, 7, 13, 15], [2, 3, 6, 7])
    """

    sides: tuple[int, ...]
    h: int

    def __post_init__(self) -> None:
        divisors = common_divisors(self.sides)
        shape = "x".join(map(str, self.sides))
        allowed = f"a divisor of every side of the torus {shape}, one of {', '.join(map(str, divisors))}"
        h = whole(self.h, "h", among=divisors, allowed=allowed, error=NotApplicableError)
        object.__setattr__(self, "h", h)

    @property
    def dimensions(self) -> int:
        """Number of dimensions d."""
        return len(self.sides)

    @property
    def node_count(self) -> int:
        """Nodes of the torus."""
        return math.prod(self.sides)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Nodes of a DDN along each dimension, N_t = n_t / h."""
        return tuple(side // self.h for side in self.sides)

    @property
    def diagonals(self) -> int:
        """Diagonals of a DDN, the greatest common divisor of its sides; N on a square torus."""
        return math.gcd(*self.blocks)

    @property
    def ddn_count(self) -> int:
        """Number of DDNs, h^(d-1)."""
        return int(self.h ** (self.dimensions - 1))

    @cached_property
    def signs(self) -> Ints:
        """The signs +1, -1, -1, ... of the coordinates in `level`, int64[d]."""
        signs = np.full(self.dimensions, -1, np.int64)
        signs[0] = 1
        return signs

    @cached_property
    def coordinates(self) -> Ints:
        """Coordinates of every node, int64[V, d]."""
        return np.stack(np.unravel_index(np.arange(self.node_count), self.sides), axis=1).astype(np.int64)

    @cached_property
    def level(self) -> Ints:
        """The diagonal ``x_0 - x_1 - ... - x_(d-1)`` of every node, int64[V]; used modulo divisors of all sides."""
        return self.coordinates @ self.signs

    @cached_property
    def ddn(self) -> Ints:
        """The DDN of every node, -1 for nodes of none, int64[V].

        The number of a DDN has the digits ``k_1, ..., k_(d-1)`` of its word in base h, k_1 first.
        """
        number = np.zeros(self.node_count, np.int64)
        for t in range(1, self.dimensions):
            number = number * self.h + self.coordinates[:, t] % self.h
        return np.where(self.level % self.h == 0, number, -1)

    def word(self, ddn: npt.ArrayLike) -> Ints:
        """Return the residues (k_0, ..., k_(d-1)) of DDNs, int64[..., d]."""
        left = np.asarray(ddn, np.int64)
        digits = []
        for _ in range(1, self.dimensions):
            digits.append(left % self.h)
            left = left // self.h
        tail = np.stack([np.zeros_like(left), *reversed(digits)], axis=-1)
        tail[..., 0] = tail.sum(axis=-1) % self.h
        return np.asarray(tail, np.int64)

    @cached_property
    def dcn(self) -> Ints:
        """The DCN of every node, in row-major order of the blocks, int64[V]."""
        return np.asarray(np.ravel_multi_index(tuple((self.coordinates // self.h).T), self.blocks), np.int64)

    def shifted(self, nodes: npt.ArrayLike, displacement: npt.ArrayLike) -> Ints:
        """Return where messages of `nodes` with the displacements end, int64[...]."""
        at = (self.coordinates[np.asarray(nodes)] + np.asarray(displacement, np.int64)) % np.array(self.sides)
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(at, -1, 0)), self.sides), np.int64)

    def along(self, dimension: int, amount: Any) -> Ints:
        """Return displacements of `amount` (an int or an array of them) in one dimension, int64[..., d]."""
        given = np.asarray(amount, np.int64)
        moves = np.zeros((*given.shape, self.dimensions), np.int64)
        moves[..., dimension] = given
        return moves
