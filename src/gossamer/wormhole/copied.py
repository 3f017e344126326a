"""What must at least be sent of messages that go to several targets, and may be copied on the way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["distinct", "least_hops"]

Counts = npt.NDArray[np.int64]


def least_hops(row: Counts, hops: Counts) -> int:
    """Return the channels that all messages must use, each as often.

    A message to one target needs those of its way. One to several needs one for each, and those of the longest way.

    Parameters
    ----------
    row : int64[p]
        The message of each pair of an origin and a target, ascending.
    hops : int64[p]
        The distance of each pair.

    Examples
    --------
    >>> least_hops(np.array([0, 1, 1, 1, 2, 2]), np.array([4, 1, 1, 2, 5, 1]))
    12
    """
    if not row.size:
        return 0
    rows, first, count = np.unique(row, return_index=True, return_counts=True)
    del rows
    return int(np.maximum(np.maximum.reduceat(hops, first), count).sum())


def distinct(row: Counts, some: npt.NDArray[np.bool_]) -> int:
    """Return how many messages have a pair among some.

    >>> distinct(np.array([0, 1, 1, 2]), np.array([True, True, True, False]))
    2
    """
    return int(np.unique(row[some]).size)
