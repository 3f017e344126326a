"""Pools of elements of a group, each with its column of the multiplication table, for searches of generators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.cayley_groups import group_named

__all__ = ["Pool", "pool_of"]

Ints = npt.NDArray[np.int32]

_WHOLE = 1100
_BASE = 6
_SOME = 128


class Pool(NamedTuple):
    """Elements of a group from which generators are taken.

    Attributes
    ----------
    text : str
        The group.
    element : int32[P]
        Element numbers, ascending, closed under inverses, without the identity.
    inverse : int32[P]
        The row of the inverse of each.
    right : int32[P, N]
        ``x*p`` for each of them and every element x.
    """

    text: str
    element: Ints
    inverse: Ints
    right: Ints


def pool_of(text: str, rng: np.random.Generator) -> Pool:
    """Return all elements of a group of up to 1,100, or some hundred that are random products of six.

    Examples
    --------
    >>> pool = pool_of("semidirect(7,3,2)", np.random.default_rng(0))
    >>> pool.element.tolist() == list(range(1, 21)), pool.right.shape
    (True, (20, 21))
    """
    group = group_named(text).group
    n = group.order
    every = np.arange(n)
    base = rng.choice(every[1:], min(_BASE, n - 1), replace=False)
    columns = [group.compose(every, int(g)).astype(np.int32) for g in base]
    columns += [np.argsort(column).astype(np.int32) for column in columns]
    known: dict[int, Ints] = {0: every.astype(np.int32)}
    if n <= _WHOLE:
        frontier = [known[0]]
        while frontier:
            following = []
            for column in frontier:
                for step in columns:
                    if (x := int(step[column[0]])) not in known:
                        known[x] = step[column]
                        following.append(known[x])
            frontier = following
    else:
        tries = 0
        while len(known) < _SOME and tries < 4 * _SOME:
            tries += 1
            column = known[0]
            for k in rng.integers(0, len(columns), rng.integers(1, 7)):
                column = columns[k][column]
            if int(column[0]) not in known:
                known[int(column[0])] = column
                back = np.argsort(column).astype(np.int32)
                known[int(back[0])] = back
    del known[0]
    element = np.array(sorted(known), np.int32)
    right = np.stack([known[x] for x in element.tolist()])
    inverse = np.searchsorted(element, np.argsort(right, axis=1)[:, 0]).astype(np.int32)
    return Pool(text, element, inverse, right)
