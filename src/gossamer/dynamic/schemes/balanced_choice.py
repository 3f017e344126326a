"""How often each source of a scheme makes each of its choices so that the busiest link carries least."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gossamer.dynamic.schemes.rows import Entries, Rows

__all__ = ["balanced_choice"]

_PARTS = 720_720
"""Probabilities are multiples of one over this, the least number that 1 to 16 divide."""


def balanced_choice(rows: Rows, entries: Entries, links: int) -> list[list[Fraction]]:
    """Return the probability of each choice of each source for which the largest load of a link is least.

    Parameters
    ----------
    rows : Rows
        Whose steps are links.
    entries : nested sequences of int
        Rows by source, choice and part; see `Entries`.
    links : int
        Number of links.

    Returns
    -------
    list of list of Fraction
        Each of sum 1.

    Notes
    -----
    A linear program with a variable for each choice of each source. Rounding to multiples of 1/720,720 costs less than
    a part in 100,000 of the load.

    Examples
    --------
    >>> from gossamer.dynamic.schemes.rows import Rows
    >>> rows = Rows()
    >>> first, second = rows.add(0), rows.add(1)
    >>> balanced_choice(rows, [[[[first]]], [[[first]], [[second]]]], 2)
    [[Fraction(1, 1)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    loads = _row_loads(rows, links)
    width = [len(choices) for choices in entries]
    queued: Any = sparse.lil_array((sum(width), len(rows.step)))
    for variable, choice in enumerate(choice for choices in entries for choice in choices):
        for row in (row for part in choice for row in part):
            queued[variable, row] += 1
    load: Any = (queued.tocsr() @ loads).T
    source = np.repeat(np.arange(len(width)), width)
    ones: Any = sparse.csr_array((np.ones(source.size), (source, np.arange(source.size))))
    found: Any = linprog(
        np.append(np.zeros(source.size), 1.0),
        A_ub=sparse.hstack([load, sparse.csr_array(np.full((links, 1), -1.0))]).tocsr(),
        b_ub=np.zeros(links),
        A_eq=sparse.hstack([ones, sparse.csr_array((len(width), 1))]).tocsr(),
        b_eq=np.ones(len(width)),
        method="highs",
    )
    parts = np.rint(np.clip(found.x[:-1], 0, 1) * _PARTS).astype(np.int64)
    probability = []
    for mine in np.split(parts, np.cumsum(width)[:-1]):
        mine[np.argmax(mine)] += _PARTS - mine.sum()
        probability.append([Fraction(int(part), _PARTS) for part in mine])
    return probability


def _row_loads(rows: Rows, links: int) -> Any:
    """Return how often a packet that is queued for each row crosses each link in all, a sparse array [rows, links]."""
    import scipy.sparse as sparse

    count = len(rows.step)
    parent = np.repeat(np.arange(count), [len(below) for below in rows.children])
    child = np.array([row for below in rows.children for row in below], np.int64)
    below: Any = sparse.csr_array((np.ones(child.size), (parent, child)), shape=(count, count))
    now: Any = sparse.csr_array((np.ones(count), (np.arange(count), np.array(rows.step))), shape=(count, links))
    total = now
    for _ in range(max(rows.height) - 1):
        now = below @ now
        total = total + now
    return total
