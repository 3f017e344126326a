"""Rules that give each transmission of a tree a priority class; class 0 is served first.

Every rule looks at the tree only, never at the queue: a transmission carries its class with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.errors import NotApplicableError, nearest
from gossamer.networks.network import IntArray

__all__ = ["PRIORITIES", "classes"]

PRIORITIES: dict[str, str] = {
    "fifo": "one class: first come, first served",
    "two-class": "low: last dimension, leaves or way back, which is most of the traffic; high: the rest",
    "optimal": "the more nodes still depend on a copy, the more urgent",
    "three-class": "as optimal, in three classes: thresholds split the numbers of nodes that depend on a copy",
    "critical-path": "the more hops still follow a copy, the more urgent",
    "reversed": "the fewer nodes depend on a copy, the more urgent: unstable below load 1, for controls only",
}
"""Every rule with its summary."""


def classes(priority: str, size: Sequence[int], height: Sequence[int], low: Sequence[bool]) -> IntArray:
    """Return the class of each transmission, int32, 0 served first.

    Parameters
    ----------
    priority : str
        A key of `PRIORITIES`.
    size : sequence of int
        Nodes that receive for the first time by the transmission or by one that follows from it.
    height : sequence of int
        Transmissions on the longest path that begins with it.
    low : sequence of bool
        Whether the two-class rule serves it last.

    Raises
    ------
    NotApplicableError
        If there is no such rule.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, sections 2.2 (two classes) and 4 (optimal priority assignment; it names critical paths
    without a rule).

    Examples
    --------
    >>> classes("optimal", [8, 4, 2, 1], [4, 3, 2, 1], [False, False, False, True]).tolist()
    [0, 1, 2, 3]
    >>> classes("two-class", [8, 4, 2, 1], [4, 3, 2, 1], [False, False, False, True]).tolist()
    [0, 0, 0, 1]
    >>> classes("three-class", [32, 16, 8, 4, 2, 1], [6, 5, 4, 3, 2, 1], [False] * 6).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    if priority not in PRIORITIES:
        hint = nearest(priority, PRIORITIES) or f"; there are {', '.join(PRIORITIES)}"
        raise NotApplicableError(f"unknown priority rule {priority!r}{hint}")
    if priority == "fifo":
        return np.zeros(len(size), np.int32)
    if priority == "two-class":
        return np.array(low, np.int32)
    by = np.array(height if priority == "critical-path" else size, np.int64)
    ranks = np.unique(by, return_inverse=True)[1].reshape(-1)
    if priority != "reversed":
        ranks = ranks.max(initial=0) - ranks
    if priority == "three-class":
        ranks = ranks * 3 // (ranks.max(initial=0) + 1)
    return ranks.astype(np.int32)
