"""Total exchange on abelian Cayley networks by edge coloring.

In an abelian group the generators on the way to an offset may be taken in any order. So an invariant schedule is an
open shop: the jobs are the offsets, the machines the generators, and each hop is one operation. Koenig's theorem gives
a timetable in ``max(largest generator load, longest path)`` slots.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.derived import on_array
from gossamer.algorithms.preconditions import refuse_irregular, refuse_ports
from gossamer.graphs.edge_coloring import color_edges, largest_degree
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

__all__ = ["EDGE_COLORED", "EDGE_COLORED_ON_ARRAY", "balanced_words", "edge_colored_exchange"]

_REROUTED_NODES = 4096
"""Networks of more nodes keep their shortest words."""

_MOST_LETTERS = 100_000_000
"""Words of more letters are written down only if the algorithm is chosen; before, nothing is promised of them."""

_SWEEPS = 24

Words = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


def balanced_words(network: Network) -> Words:
    """Choose a word of generators for every offset so that the generators are used evenly.

    Returns
    -------
    offset, generator : int32[S]
        One row a letter: the offset it is for, and the generator. S is the status of the network (sum of distances)
        where the words are shortest.

    Notes
    -----
    The word of ``-y`` is the inverse of the word of ``y``, which balances every generator against its inverse. Offsets
    that are their own inverse (the antipodes of even rings) come last; each takes the word that fills the least used
    generators. O(S * degree). Where shortest words use some generators more than others, and there are at most 4,096
    nodes, words are chosen anew by the loads, longer ones too.
    """
    from gossamer.algorithms.total_exchange import _kernels

    group = network.group
    assert group is not None
    n, degree = network.node_count, network.degree
    search = network.breadth_first(0)
    inverse = group.inverse(np.arange(n))
    generators = network.generators
    inverse_generator = np.array([int(np.flatnonzero(generators == inverse[g])[0]) for g in generators], np.int64)
    # the node before y on a word that ends with generator g is y * g**-1
    before = network.link_target.reshape(n, degree)[:, inverse_generator]
    letters = int(search.distance.sum(dtype=np.int64))
    offset, generator = np.empty(letters, np.int32), np.empty(letters, np.int32)
    _kernels.balance(search.order, search.distance, inverse, inverse_generator, before, offset, generator)
    load = np.bincount(generator, minlength=degree)
    if not letters or n > _REROUTED_NODES or int(load.max()) == -(-letters // degree):
        return offset, generator
    return _rerouted(network, inverse, inverse_generator, offset, generator)


def _rerouted(
    network: Network,
    inverse: npt.NDArray[np.int64],
    inverse_generator: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int32],
    generator: npt.NDArray[np.int32],
) -> Words:
    """Trade letters of the most used generators for longer words, if that lowers the largest load."""
    from gossamer.algorithms.total_exchange import _kernels

    n, degree = network.node_count, network.degree
    words = np.zeros((n, degree), np.int32)
    np.add.at(words, (offset, generator), 1)
    best = np.empty_like(words)
    y = np.arange(1, n)
    order = np.concatenate([y[y < inverse[1:]], y[y == inverse[1:]]])
    _kernels.reroute(
        network.link_target, degree, inverse, inverse_generator, order, max(1, n // 64), _SWEEPS, words, best
    )
    rows, letters = np.nonzero(best)
    times = best[rows, letters]
    return np.repeat(rows, times).astype(np.int32), np.repeat(letters, times).astype(np.int32)


def edge_colored_exchange(case: Case) -> Schedule:
    """Build the invariant total exchange whose slots are the colors of the offsets-by-generators multigraph.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on an abelian Cayley network.

    Returns
    -------
    Schedule
        Invariant under the whole group; ``max(generator load, diameter)`` slots.

    Notes
    -----
    On tori whose loads balance this is the cut bound: ``n**3/8`` on n x n tori for even n, ``n(n**2-1)/8`` for odd n,
    ``2**(d-1)`` on hypercubes. O(S log T) for status S and time T.

    References
    ----------
    Gossamer, by the theorem of D. Koenig 1916.

    Examples
    --------
    >>> import gossamer
    >>> edge_colored_exchange(Case(gossamer.network("torus:4x4"), gossamer.task("alltoall"))).completion_time
    Fraction(8, 1)
    """
    network = case.network
    offset, generator = case.once(balanced_words, network)
    slot = color_edges(offset, generator)
    order = np.lexsort((slot, offset))
    offset, generator, slot = offset[order], generator[order], slot[order]
    source = _partial_products(network, offset, generator)
    link = source * network.degree + generator
    by_slot = np.argsort(slot, kind="stable")
    return Schedule.of(
        case,
        slot[by_slot],
        link[by_slot].astype(np.int32),
        (offset - 1)[by_slot],
        symmetry=Symmetry(network),
    )


def _partial_products(
    network: Network, offset: npt.NDArray[np.int32], generator: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return the node from which each letter leads on, for letters in the order of offset and time."""
    from gossamer.algorithms.total_exchange import _kernels

    source = np.empty(offset.size, np.int64)
    _kernels.walk(offset, generator, network.link_target, network.degree, source)
    return source


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if case.network.group is None or not case.network.group.abelian:
        return Refusal("needs an abelian Cayley network")
    refusal = first_refusal(refuse_ports(case.rules), refuse_irregular(case.network))
    if refusal is not None:
        return refusal
    letters = int(case.network.breadth_first(0).distance.sum(dtype=np.int64))
    time = None  # of words that take long, and too much memory, to write down, so that they are not written to be asked
    if letters <= _MOST_LETTERS:
        time = Fraction(largest_degree(*case.once(balanced_words, case.network)))
    return Offer(
        lambda: edge_colored_exchange(case), time, orbit=case.network.node_count, hop_bytes=72, hop_seconds=2e-6
    )


EDGE_COLORED = Algorithm(
    name="edge-colored",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="abelian Cayley networks: rings, tori, hypercubes, circulants, complete networks and their products",
    source="gossamer; edge coloring by D. Koenig 1916",
    summary="hops of all offsets as an open shop of generators, timed by bipartite edge coloring",
)


def _folded_hops(network: Network) -> int:
    """Return twice the sum of all distances on the torus of the shape of an array."""
    assert network.grid is not None
    n = network.node_count
    return 2 * n * sum(n // side * (side * side // 4) for side in network.grid.sides)


EDGE_COLORED_ON_ARRAY = on_array(EDGE_COLORED, _folded_hops)
