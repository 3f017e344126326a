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
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.total_exchange.array_rounds import ARRAY_ROUNDS, begin_of_runs, best_rounds
from gossamer.algorithms.total_exchange.edge_colored import EDGE_COLORED
from gossamer.algorithms.total_exchange.even_ring import PARITY_SHIFT
from gossamer.algorithms.total_exchange.factor_exchanges import factor_exchange, factor_steps, product_reason
from gossamer.algorithms.total_exchange.node_invariant import GREEDY_OFFSETS
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Phase, Schedule
from gossamer.tasks import Task, TotalExchange

__all__ = ["HOMOGENEOUS_PRODUCT", "PRODUCT_ROUNDS", "product_rounds_exchange"]

_ALL = Model()


def product_rounds_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the exchange of a product in rounds of exchanges of its factors, all dimensions at once.

    Parameters
    ----------
    network : Network
        A product of networks for which there is an exchange with all ports: arrays, Cayley networks and products of
        them. The fastest that is registered for a factor is used.

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
    >>> net = gossamer.network("torus:6x6")
    >>> product_rounds_exchange(net, TotalExchange(), Model()).completion_time
    Fraction(30, 1)
    """
    from gossamer.algorithms.total_exchange import _kernels

    n = network.node_count
    kept = [i for i, f in enumerate(network.factors) if f.node_count > 1]
    if not kept:
        return Schedule(network, TotalExchange(), model, [], [], [])
    factors = [network.factors[i] for i in kept]
    sides = tuple(f.node_count for f in factors)
    steps = tuple(_steps(f) for f in factors)
    rounds = best_rounds(sides, steps)
    digits = np.stack(np.unravel_index(np.arange(n), sides), axis=1).astype(np.int64)
    begin = begin_of_runs(sides, steps, rounds, digits)
    job, column = np.nonzero(digits)
    order = np.lexsort((begin, job))
    strides = np.array([math.prod(sides[c + 1 :]) for c in range(len(sides))], np.int64)
    first_pair, first_hop, hop_slot, hop_node, hop_port = _hops_of_pairs(factors)
    slot, link, packet = (np.empty(_hops(network), np.int32) for _ in range(3))
    _kernels.move_in_lines(
        job[order], column[order], begin[order], digits, np.array(sides, np.int64), strides,
        _first_links(network, digits, factors), first_pair, first_hop, hop_slot, hop_node, hop_port, slot, link, packet,
    )  # fmt: skip
    by_slot = np.argsort(slot, kind="stable")
    phases = [Phase("exchanges along lines", rounds.time)]
    return Schedule(network, TotalExchange(), model, slot[by_slot], link[by_slot], packet[by_slot], phases=phases)


def _first_links(network: Network, digits: npt.NDArray[np.int64], factors: list[Network]) -> npt.NDArray[np.int64]:
    """Return the first of the links of each node along each dimension, int64[N, d]."""
    degree = np.stack([f.out_degree[digits[:, c]] for c, f in enumerate(factors)], axis=1)
    return network.first_link[:-1, None] + np.cumsum(degree, axis=1) - degree


def _hops_of_pairs(factors: list[Network]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the exchanges of all factors, hops by pair of labels and then by slot; see `_kernels.move_in_lines`."""
    pairs = [f.node_count**2 for f in factors]
    first_pair = np.cumsum([0, *pairs[:-1]])
    columns: list[list[npt.NDArray[np.int64]]] = []
    for f, first in zip(factors, first_pair.tolist(), strict=True):
        e = factor_exchange(f, _ALL, _algorithms(f))
        pair = e.source.astype(np.int64) * f.node_count + e.target
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


def _steps(factor: Network) -> int:
    """Return the steps of the exchange of a factor."""
    return factor_steps(factor, _ALL, _algorithms(factor))


@lru_cache(maxsize=64)
def _hops(network: Network) -> int:
    """Return the hops of the exchange: those of each factor's, for every pair of places in the other dimensions."""
    n = network.node_count
    return sum(
        (n // f.node_count) ** 2 * factor_exchange(f, _ALL, _algorithms(f)).slot.size
        for f in network.factors
        if f.node_count > 1
    )


def _reason(network: Network, task: Task, model: Model) -> str | None:
    return product_reason(network, _ALL, _algorithms) or all_ports_reason(model)


def _homogeneous(network: Network) -> bool:
    factors = [f for f in network.factors if f.node_count > 1]
    return all(f == factors[0] for f in factors)


def _reason_homogeneous(network: Network, task: Task, model: Model) -> str | None:
    if not network.factors or not _homogeneous(network):
        return "needs a product of equal networks"
    return _reason(network, task, model)


def _reason_rounds(network: Network, task: Task, model: Model) -> str | None:
    if network.factors and _homogeneous(network):
        return "needs a product of different networks"
    return _reason(network, task, model)


def _claim(network: Network, task: Task, model: Model) -> Fraction:
    factors = [f for f in network.factors if f.node_count > 1]
    if not factors:
        return Fraction(0)
    return Fraction(best_rounds(tuple(f.node_count for f in factors), tuple(_steps(f) for f in factors)).time)


def _optimal(network: Network, task: Task, model: Model) -> bool:
    if network.grid is None or model.split:
        return False
    sides = {(side, wraps) for side, wraps in zip(network.grid.sides, network.grid.wraps, strict=True) if side > 1}
    return len(sides) <= 1 and all(side % 4 != 2 or not wraps for side, wraps in sides)


HOMOGENEOUS_PRODUCT = separate(
    name="homogeneous-product",
    task=TotalExchange,
    builder=product_rounds_exchange,
    reason=_reason_homogeneous,
    claim=_claim,
    networks="products of equal networks: square arrays and tori, hypercubes, powers of Cayley networks",
    source="Dimakopoulos 1996, section 5.4 (algorithm A3), generalized to any dimension by Koenig's theorem",
    summary="in every round all dimensions run the exchange of the factor along all lines",
    optimal=_optimal,
)

PRODUCT_ROUNDS = separate(
    name="product-rounds",
    task=TotalExchange,
    builder=product_rounds_exchange,
    reason=_reason_rounds,
    claim=_claim,
    networks="products of different networks: arrays, tori, hypercycles and products of Cayley networks",
    source="gossamer; algorithm A3 of Dimakopoulos 1996, section 5.4, for factors that differ",
    summary="every dimension runs the exchange of its factor along all lines as often as fits in a round",
)
