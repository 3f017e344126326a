"""Words for all offsets of a Cayley network that use its generators evenly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.cases import Case
from gossamer.networks.groups import Elements
from gossamer.networks.network import Network
from gossamer.schedules import Symmetry

__all__ = ["Words", "even_words", "kernels_of_signs"]

_PASSES, _FREE_PASSES = 120, 240
_MOST_SIGNS = 12
_WORK = 60_000_000
"""Letters looked at, over which fewer passes are made."""


class Words(NamedTuple):
    """A word for each packet of an invariant schedule.

    Attributes
    ----------
    symmetry : Symmetry
        The translations under which the schedule is invariant; its representatives are the origins r.
    left : int64[R, N]
        The node ``r*x`` for each origin and element.
    letters : int8[R*N, most]
        The generators on the way from r to ``r*y``, row ``r*N + y``, `length` of them.
    length : int64[R*N]
        Letters of each word, 0 for the identity.
    load : int64[R*degree]
        Letters of each class of links: orbit of the node that they leave times the degree plus the generator.
    """

    symmetry: Symmetry
    left: Elements
    letters: npt.NDArray[np.int8]
    length: Elements
    load: Elements

    @property
    def largest_load(self) -> int:
        """Slots that the busiest class of links needs."""
        return int(self.load.max(initial=0))


def even_words(case: Case, by: tuple[int, ...] | None = None) -> Words:
    """Return a word for every offset, such that the largest load of a generator is as small as it was found.

    Parameters
    ----------
    case : Case
        A total exchange on a connected Cayley network of N nodes and degree d.
    by : tuple of int, optional
        Elements that generate the subgroup under which the words look the same. Default: the whole group.

    Returns
    -------
    Words
        Shortest words, and longer ones if shortest words load some generators more than others.

    Notes
    -----
    Prices of generators rise with their loads; a pass finds the cheapest word of every offset, a breadth-first search,
    and takes those that lower the sum of high powers of the loads or leave it as it is. Passes end when the largest load
    is the sum of the distances over the degree, or what the prices prove to be needed. O(R N (d + diameter)) a pass.
    """
    from gossamer.algorithms.total_exchange.even_words import _kernels

    network = case.network
    symmetry = Symmetry(network, by)
    search = network.breadth_first(0)
    group = network.group
    assert group is not None
    n, degree = network.node_count, network.degree
    origins = symmetry.representatives
    left = group.compose(origins[:, None], np.arange(n)[None, :])
    onward = np.ascontiguousarray(network.link_target.reshape(n, degree))
    before = np.empty_like(onward)
    for g in range(degree):
        before[onward[:, g], g] = np.arange(n)
    diameter = int(search.distance.max())
    letters = np.zeros((origins.size * n, 2 * diameter + 4), np.int8)
    length = np.zeros(origins.size * n, np.int64)
    load = np.zeros(origins.size * degree, np.int64)
    total = int(search.distance.sum(dtype=np.int64)) * origins.size
    goal = -(-total // load.size)
    mean = max(total / load.size, 1.0)
    passes = max(8, min(_PASSES, _WORK // (origins.size * n * (degree + diameter))))
    for free, most in ((False, passes), (True, max(8, 2 * passes))):
        _, least = _kernels.settle_words(
            onward, before, search.order, search.distance, left, symmetry.orbit, free, most, goal, mean,
            case.seed + 1, letters, length, load,
        )  # fmt: skip
        if int(load.max()) <= max(goal, int(np.ceil(least - 1e-6))):
            break
    return Words(symmetry, left, letters, length, load)


def kernels_of_signs(network: Network) -> list[tuple[int, ...]]:
    """Return the subgroups of index 2 of the group of a connected Cayley network, each by elements that generate it.

    A sign gives each generator +1 or -1 such that every closed walk has an even number of -1. O(N degree^2) time.

    >>> import gossamer
    >>> len(kernels_of_signs(gossamer.network("star:4"))), len(kernels_of_signs(gossamer.network("torus:4x4")))
    (1, 3)
    """
    n, degree = network.node_count, network.degree
    group = network.group
    assert group is not None
    onward = network.link_target.reshape(n, degree)
    search = network.breadth_first(0)
    parity = np.zeros((n, degree), bool)  # how often each generator stands in the word of a node, modulo 2
    for x in search.order[1:]:
        link = int(search.parent_link[x])
        parity[x] = parity[link // degree]
        parity[x, link % degree] ^= True
    rows = (parity[:, None, :] ^ parity[onward]) ^ np.eye(degree, dtype=bool)[None]
    equations = _reduced(np.unique(rows.reshape(-1, degree), axis=0))
    found = []
    for sign in range(1, 1 << min(degree, _MOST_SIGNS)):
        bits = (sign >> np.arange(degree)) & 1
        if not any((row & bits).sum() % 2 for row in equations):
            found.append(_kernel_generators(network, bits.astype(bool)))
    return found


def _reduced(rows: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.int64]]:
    """Return rows that span the same space modulo 2 and are independent."""
    basis: list[npt.NDArray[np.int64]] = []
    for row in rows.astype(np.int64):
        left = row.copy()
        for known in basis:
            if left[int(np.argmax(known))]:
                left ^= known
        if left.any():
            basis.append(left)
    return basis


def _kernel_generators(network: Network, minus: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return generators of the elements of sign +1 (Schreier), given the generators of sign -1."""
    group = network.group
    assert group is not None
    generators = network.generators
    s = int(generators[minus][0])
    found: set[int] = set()
    for g, odd in zip(generators.tolist(), minus.tolist(), strict=True):
        if odd:
            found |= {int(group.compose(s, g)), int(group.compose(g, group.inverse(s)))}
        else:
            found |= {g, int(group.compose(group.compose(s, g), group.inverse(s)))}
    return tuple(sorted(found - {0}))
