"""Regions that must share few links: what is combined leaves some of them, and results enter some, over the same links.

A link from one region to another serves what leaves the first and what enters the second. Of all sets of leavings and
enterings, that with most packets for its links is found by flows (A. V. Goldberg, "Finding a maximum density subgraph",
1984): either the packets of all can be shared out among the links in a time, or the minimum cut is a set that needs
longer; from there the search goes on (Newton's method).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.cases.demands import Counts

__all__ = ["Crowd", "crowded"]

_ROUNDS = 8
_SCALE = 1 << 20

Mask = npt.NDArray[np.bool_]


class Crowd(NamedTuple):
    """Regions that packets leave, and regions that packets enter, bool[R]."""

    leaves: Mask
    enters: Mask


def crowded(
    source: Counts, target: Counts, server: Counts, rate: npt.NDArray[np.float64], amount: Counts
) -> Iterator[Crowd]:
    """Yield sets of leavings and enterings that need ever more time, the first of them all.

    Parameters
    ----------
    source, target : int64[L]
        The regions between which each link leads.
    server : int64[L]
        What passes the packets of each link: the link, or a port that it shares with others; numbers from 0.
    rate : float64[]
        Packets that each server passes in a step.
    amount : int64[R]
        Packets that must leave each region; as many must enter it.

    Notes
    -----
    A flow for each of at most 8 rounds.

    Examples
    --------
    Two links into node 1 and two out of node 0, of which one is the same, and a link from 1 to 0:

    >>> source, target = np.array([0, 0, 2, 1, 1]), np.array([1, 2, 1, 0, 2])
    >>> [c.leaves.tolist() for c in crowded(source, target, np.arange(5), np.ones(5), np.full(3, 2))][-1]
    [True, True, True]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    regions, servers = amount.size, rate.size
    needs = np.concatenate([amount, amount]).astype(np.float64)  # what leaves, then what enters
    side = np.concatenate([source, target + regions])
    serves = np.concatenate([server, server])
    kept = needs[side] > 0
    pairs = np.unique(np.stack([side[kept], serves[kept]]), axis=1)
    chosen = needs > 0
    start, end = 2 * regions + servers, 2 * regions + servers + 1
    tail = np.concatenate([np.full(2 * regions, start), pairs[0], np.arange(servers) + 2 * regions])
    head = np.concatenate([np.arange(2 * regions), pairs[1] + 2 * regions, np.full(servers, end)])
    unit = 2**30 / max(needs.sum() + 1, 1) if needs.sum() > 2**30 / _SCALE else float(_SCALE)
    time = 0.0
    for _ in range(_ROUNDS):
        open_ = np.zeros(servers, bool)
        open_[pairs[1][chosen[pairs[0]]]] = True
        if not chosen.any() or not open_.any() or needs[chosen].sum() / rate[open_].sum() <= time * (1 + 1e-6):
            return
        time = float(needs[chosen].sum() / rate[open_].sum())
        yield Crowd(chosen[:regions], chosen[regions:])
        room = np.concatenate([needs, np.full(pairs.shape[1], needs.sum()), np.minimum(rate * time, needs.sum())])
        graph = coo_array((np.rint(room * unit).astype(np.int32), (tail, head)), shape=(end + 1, end + 1)).tocsr()
        residual = graph - maximum_flow(graph, start, end).flow
        residual.eliminate_zeros()
        reached = np.zeros(end + 1, bool)
        reached[breadth_first_order(residual, start, return_predecessors=False)] = True
        chosen = reached[: 2 * regions] & (needs > 0)
