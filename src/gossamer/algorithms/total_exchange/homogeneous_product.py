"""Total exchange on products in rounds of exchanges along lines (A3 of Dimakopoulos 1996, section 5.4, generalized).

Messages are sorted by offset, the cyclic difference of the labels of destination and source in each dimension, and
all messages of one offset move together; see `array_rounds`. Here the exchange along a line is any exchange of the
factor: in one run the packet from label x to label x' of the factor carries the message that is at x, has to go to
x' and belongs to the one offset that the timetable of the runs lets have the digit ``x' - x``.

With d equal factors of n nodes there are ``n**(d-1)`` rounds, each as long as the exchange of the factor.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_ports
from gossamer.algorithms.total_exchange.array_rounds import ARRAY_ROUNDS, begin_of_runs, best_rounds
from gossamer.algorithms.total_exchange.edge_colored import EDGE_COLORED
from gossamer.algorithms.total_exchange.even_ring import PARITY_SHIFT
from gossamer.algorithms.total_exchange.factor_exchanges import FactorExchange, Factors
from gossamer.algorithms.total_exchange.node_invariant import GREEDY_OFFSETS
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Phase, Schedule

__all__ = ["HOMOGENEOUS_PRODUCT", "PRODUCT_ROUNDS", "product_rounds_exchange"]


def product_rounds_exchange(case: Case) -> Schedule:
    """Build the exchange of a product in rounds of exchanges of its factors, all dimensions at once.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a product of networks for which there is an exchange with all ports: arrays,
        Cayley networks and products of them. The fastest that is registered for a factor is used.

    Returns
    -------
    Schedule
        Explicit.

    Notes
    -----
    ``n**(d-1) * T_H`` steps for d factors H of n nodes whose exchange takes T_H (Theorem 5.6; Corollary 5.7 for d a
    power of two). Where T_H is exactly the cut bound (4.1) of H, not rounded up, the time is that of the product
    (Theorem 5.8): on arrays, and on tori with sides that are odd or multiples of four. O(hops).

    References
    ----------
    Dimakopoulos 1996, section 5.4, Fig. 5.5 (A3), Theorems 5.6 and 5.8, Corollary 5.7; Gossamer for any d.

    Examples
    --------
    >>> import gossamer
    >>> product_rounds_exchange(Case(gossamer.network("torus:6x6"), TotalExchange())).completion_time
    Fraction(30, 1)
    """
    from gossamer.algorithms.total_exchange import _kernels

    network, n = case.network, case.network.node_count
    factors = _factors(network)
    if not factors:
        return Schedule.of(case, [], [], [])
    sides = tuple(f.node_count for f in factors)
    exchanges = [_FACTORS.exchange(case, f) for f in factors]
    steps = tuple(e.steps for e in exchanges)
    rounds = case.once(best_rounds, sides, steps)
    digits = np.stack(np.unravel_index(np.arange(n), sides), axis=1).astype(np.int64)
    begin = begin_of_runs(sides, steps, rounds, digits)
    job, column = np.nonzero(digits)
    order = np.lexsort((begin, job))
    strides = np.array([math.prod(sides[c + 1 :]) for c in range(len(sides))], np.int64)
    first_pair, first_hop, hop_slot, hop_node, hop_port = _hops_of_pairs(sides, exchanges)
    # each factor's hops, for every pair of places in the other dimensions
    hops = sum((n // side) ** 2 * e.slot.size for side, e in zip(sides, exchanges, strict=True))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    _kernels.move_in_lines(
        job[order], column[order], begin[order], digits, np.array(sides, np.int64), strides,
        _first_links(network, digits, factors), first_pair, first_hop, hop_slot, hop_node, hop_port, slot, link, packet,
    )  # fmt: skip
    by_slot = np.argsort(slot, kind="stable")
    phases = [Phase("exchanges along lines", rounds.time)]
    return Schedule.of(case, slot[by_slot], link[by_slot], packet[by_slot], phases=phases)


def _factors(network: Network) -> list[Network]:
    """Return the factors of more than one node."""
    return [f for f in network.factors if f.node_count > 1]


def _first_links(network: Network, digits: npt.NDArray[np.int64], factors: list[Network]) -> npt.NDArray[np.int64]:
    """Return the first of the links of each node along each dimension, int64[N, d]."""
    degree = np.stack([f.out_degree[digits[:, c]] for c, f in enumerate(factors)], axis=1)
    return network.first_link[:-1, None] + np.cumsum(degree, axis=1) - degree


def _hops_of_pairs(sides: tuple[int, ...], exchanges: list[FactorExchange]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the exchanges of all factors, hops by pair of labels and then by slot; see `_kernels.move_in_lines`."""
    pairs = [side**2 for side in sides]
    first_pair = np.cumsum([0, *pairs[:-1]])
    columns: list[list[npt.NDArray[np.int64]]] = []
    for e, side, first in zip(exchanges, sides, first_pair.tolist(), strict=True):
        pair = e.source.astype(np.int64) * side + e.target
        order = np.argsort(pair, kind="stable")
        columns.append([c[order].astype(np.int64) for c in (pair + first, e.slot, e.node, e.port)])
    pair, slot, node, port = (np.concatenate(c) for c in zip(*columns, strict=True))
    first_hop = np.searchsorted(pair, np.arange(sum(pairs) + 1))
    return first_pair, first_hop, slot, node, port


def _algorithms(factor: Network) -> tuple[Algorithm, ...]:
    """Return the algorithms that a factor may use."""
    if factor.grid is not None and factor.grid.dimensions == 1:
        return (PARITY_SHIFT, EDGE_COLORED) if factor.grid.wraps[0] else (ARRAY_ROUNDS,)
    return (EDGE_COLORED, ARRAY_ROUNDS, HOMOGENEOUS_PRODUCT, PRODUCT_ROUNDS, GREEDY_OFFSETS)


_FACTORS = Factors(Rules(), _algorithms)


def _homogeneous(network: Network) -> bool:
    factors = _factors(network)
    return all(f == factors[0] for f in factors)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_ports(case.rules), _FACTORS.refuse(case))
    if refusal is not None:
        return refusal
    factors = _factors(case.network)
    sides, steps = tuple(f.node_count for f in factors), tuple(_FACTORS.steps(case, f) for f in factors)
    time = Fraction(case.once(best_rounds, sides, steps).time if factors else 0)
    return Offer(lambda: product_rounds_exchange(case), time, optimal=case.whole and _meets_the_cut(case.network))


def _meets_the_cut(network: Network) -> bool:
    """Whether the exchange of the factor takes exactly the cut bound, not rounded up (Theorem 5.8)."""
    if network.grid is None:
        return False
    sides = {(side, wraps) for side, wraps in zip(network.grid.sides, network.grid.wraps, strict=True) if side > 1}
    return len(sides) <= 1 and all(side % 4 != 2 or not wraps for side, wraps in sides)


def _propose_homogeneous(case: Case) -> Offer[Schedule] | Refusal:
    if not case.network.factors or not _homogeneous(case.network):
        return Refusal("needs a product of equal networks")
    return _propose(case)


HOMOGENEOUS_PRODUCT = Algorithm(
    name="homogeneous-product",
    tasks=(TotalExchange,),
    propose=_propose_homogeneous,
    networks="products of equal networks: square arrays and tori, hypercubes, powers of Cayley networks",
    source="Dimakopoulos 1996, section 5.4 (algorithm A3), generalized to any dimension by Koenig's theorem",
    summary="in every round all dimensions run the exchange of the factor along all lines",
)


def _propose_rounds(case: Case) -> Offer[Schedule] | Refusal:
    if not case.network.factors:
        return Refusal("needs a product of networks")
    if _homogeneous(case.network):
        return Refusal("needs a product of different networks")
    return _propose(case)


PRODUCT_ROUNDS = Algorithm(
    name="product-rounds",
    tasks=(TotalExchange,),
    propose=_propose_rounds,
    networks="products of different networks: arrays, tori, hypercycles and products of Cayley networks",
    source="gossamer; algorithm A3 of Dimakopoulos 1996, section 5.4, for factors that differ",
    summary="every dimension runs the exchange of its factor along all lines as often as fits in a round",
)
