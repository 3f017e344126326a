"""Cells of a translated tree: each element but the identity is reached in one slot by one generator.

A multinode broadcast that looks the same from every node is one broadcast tree from the identity and all its
translates. They never meet on a link if no two tree links have both slot and generator in common: of all the nodes'
trees, link (u, g) is used in slot t by the one whose translation takes the tree's hop (t, g) to u. So the tree is a
table with a row for each slot and a column for each generator, and every element but the identity stands in one
cell (t, g), with its parent ``v*g^-1`` in an earlier row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray, Network

__all__ = ["ATTEMPTS", "fewest_slots", "fill_cells", "fillings"]

ATTEMPTS = 64
"""The most fillings that are tried; those after the first shuffle the candidates."""

_WORK = 50_000_000  # cells compared with candidates, over all attempts after the second


def fewest_slots(network: Network) -> int:
    """Return the least number of slots that the distances from a node allow in a Cayley network.

    A node gets at most one message a slot on each of its links, and one from distance r in slot r at the earliest.
    With R_r nodes at distance r or more, the time is at least ``max_r (r - 1 + ceil(R_r / degree))``. Distance 1 gives
    ``ceil((N-1)/degree)`` and the largest distance the diameter.

    Parameters
    ----------
    network : Network
        A Cayley network with links of capacity 1.

    Returns
    -------
    int
        The bound, in slots of one step; 0 for a single node.

    Notes
    -----
    Holds for every schedule of whole messages, invariant or not. O(N degree) time.

    Examples
    --------
    >>> import gossamer
    >>> fewest_slots(gossamer.network("torus:5x5")), fewest_slots(gossamer.network("ring:12"))
    (6, 6)
    """
    if network.node_count == 1:
        return 0
    at_distance = np.bincount(network.distances(0))
    r = np.arange(1, at_distance.size)
    farther = np.cumsum(at_distance[::-1])[::-1][1:]
    return int((r - 1 - (-farther // network.degree)).max())


def fill_cells(network: Network, fewest: int) -> tuple[IntArray, IntArray]:
    """Return a translated tree of as few slots as the search finds.

    Parameters
    ----------
    network : Network
        A Cayley network whose generators are closed under inverses.
    fewest : int
        Slots that are good enough, such as `fewest_slots`: a tree of no more ends the search.

    Returns
    -------
    slot, link : int32[N-1]
        The tree's hops, sorted by slot; link ``u*degree + g`` reaches element ``u*g``.

    Notes
    -----
    Slot by slot, the generators are matched with unreached elements, by augmenting paths, so that as many cells of
    the slot are filled as can be. Among the 16 latest candidates of a cell the one with the most unreached neighbors
    is taken: it opens the most cells later. If the result has more slots than `fewest`, the candidates are
    shuffled and the best of at most ``ATTEMPTS`` results is returned. O(N degree) for one attempt in practice.

    Examples
    --------
    >>> import gossamer
    >>> slot, link = fill_cells(gossamer.network("hypercube:3"), 3)
    >>> slot.tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    best, found = -1, (np.empty(0, np.int32), np.empty(0, np.int32))
    if network.node_count == 1:
        return found
    for slots, slot, link in fillings(network):
        if best < 0 or slots < best:
            best, found = slots, (slot.copy(), link.copy())
        if best <= fewest:
            break
    return found


def fillings(
    network: Network, duration: npt.NDArray[np.int64] | None = None
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield translated trees, the first without chance and the others by shuffled candidates.

    Parameters
    ----------
    network : Network
        A Cayley network of 2 elements or more, whose generators are closed under inverses.
    duration : int64[degree], optional
        Slots that a hop by each generator takes: 1, or 2 for one that is used in slots 0, 2, 4, ... only. Default: 1.

    Yields
    ------
    slots : int
        The number of slots in which a hop begins.
    slot, link : int32[N-1]
        The hops, sorted by slot; overwritten when the next tree is asked for.
    """
    from gossamer.algorithms.multinode_broadcast.cayley import _kernels

    n, degree = network.node_count, network.link_count // network.node_count
    generators = network.generators
    opposite = network.group.inverse(generators)[:, None] == generators  # type: ignore[union-attr]
    inverse = opposite.argmax(axis=1)
    lasts = np.ones(degree, np.int64) if duration is None else duration
    seen, pool = np.empty(n, np.int32), np.empty((degree, n), np.int32)
    slot, link = np.empty((2, n - 1), np.int32)
    for attempt in range(max(2, min(ATTEMPTS, _WORK // network.link_count))):
        yield _kernels.fill(network.link_target, inverse, lasts, attempt, seen, pool, slot, link), slot, link
