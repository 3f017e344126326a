"""Total exchange with one port on products, from exchanges of the factors.

Algorithm A2 (Dimakopoulos 1996, section 5.3). In G = A x B, messages first go to the right place in their copy of B, in
as many exchanges of B as A has nodes, and then along the copies of A, in as many exchanges of A as B has nodes. More
factors are taken one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_buffers
from gossamer.algorithms.total_exchange.busiest_first import BUSIEST_FIRST
from gossamer.algorithms.total_exchange.factor_exchanges import FactorExchange, Factors
from gossamer.algorithms.total_exchange.node_invariant import NODE_INVARIANT_FIFO
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Phase, Schedule

__all__ = ["TWO_PHASE_PRODUCT", "two_phase_product_exchange"]


def two_phase_product_exchange(case: Case) -> Schedule:
    """Build the exchange of a product from exchanges of its factors, the last factor first.

    Parameters
    ----------
    case : Case
        A total exchange on a product, with any ports; in every slot each node sends at most one packet and receives at
        most one. Factors that are Cayley networks exchange by `node_invariant_exchange`, other products by this
        algorithm or directly, whichever is faster, and the rest by `busiest_first_exchange`.

    Returns
    -------
    Schedule
        Explicit, one phase for each factor.

    Notes
    -----
    ``n1*T_B + n2*T_A`` steps for A of n1 and B of n2 nodes (Theorem 5.3), ``N * sum(T_i/n_i)`` for any number
    of factors (Corollary 5.4). Optimal where each T_i is the average status of its factor (Theorem 5.5), as in every
    Cayley network, never in linear arrays of 3 nodes or more. O(hops).

    References
    ----------
    Dimakopoulos 1996, Fig. 5.3 (A2), Theorems 5.3 and 5.5, Corollary 5.4. Algorithm A1 of that section, which first
    moves all messages along B and only then along A, leaves the timing of the first phase open.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), TotalExchange(), Rules(ports="one"))
    >>> two_phase_product_exchange(case).completion_time      # 3*4 + 4*2
    Fraction(20, 1)
    """
    network, n = case.network, case.network.node_count
    whole, *others = (_FACTORS.exchange(case, f) for f in network.factors)
    degree = network.factors[0].out_degree
    phases = [whole.steps]
    for factor, exchange in zip(network.factors[1:], others, strict=True):
        phases = [exchange.steps * degree.size, *(steps * factor.node_count for steps in phases)]
        whole = _combined(whole, degree, exchange, factor.node_count)
        degree = np.add.outer(degree, factor.out_degree).reshape(-1)
    link = network.first_link[whole.node] + whole.port
    packet = whole.source * np.int64(n - 1) + whole.target - (whole.target > whole.source)
    last = len(phases) - 1
    named = [Phase(f"exchanges along dimension {last - i}", steps) for i, steps in enumerate(phases)]
    return Schedule.of(case, whole.slot, link, packet, phases=named)


def _combined(a: FactorExchange, degree: npt.NDArray[np.int64], b: FactorExchange, nb: int) -> FactorExchange:
    """Return algorithm A2 on A x B: `degree` holds the out-degree of each node of A, `nb` is the nodes of B."""
    na = degree.size
    first = na * na * b.slot.size
    slot, node, port, source, target = columns = [np.empty(first + nb * nb * a.slot.size, np.int32) for _ in range(5)]
    copy = np.arange(na)
    for r, (at, to, of, start, end) in enumerate(_blocks(columns, 0, na, b)):  # destinations (v_r, *)
        at[:], of[:] = (b.slot + r * b.steps)[:, None], b.port[:, None] + degree
        to[:], start[:], end[:] = (copy * nb + x[:, None] for x in (b.node, b.source, b.target))
        end += (r - copy) * nb
    copy = np.arange(nb)
    for k, (at, to, of, start, end) in enumerate(_blocks(columns, first, nb, a)):  # sources (*, u_k)
        at[:], of[:] = (a.slot + (na * b.steps + k * a.steps))[:, None], a.port[:, None]
        to[:], start[:], end[:] = a.node[:, None] * nb + copy, a.source[:, None] * nb + k, a.target[:, None] * nb + copy
    return FactorExchange(na * b.steps + nb * a.steps, slot, node, port, source, target)


def _blocks(
    columns: list[npt.NDArray[np.int32]], first: int, runs: int, exchange: FactorExchange
) -> Iterator[list[npt.NDArray[np.int32]]]:
    """Yield for each run the part of every column in which it stands, one row a hop, one column a copy."""
    size = exchange.slot.size * runs
    for r in range(runs):
        yield [c[first + r * size : first + (r + 1) * size].reshape(-1, runs) for c in columns]


def _algorithms(factor: Network) -> tuple[Algorithm, ...]:
    """Return the algorithms that a factor may use."""
    return (NODE_INVARIANT_FIFO,) if factor.group is not None else (TWO_PHASE_PRODUCT, BUSIEST_FIRST)


_FACTORS = Factors(Rules(ports="one"), _algorithms)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(_FACTORS.refuse(case), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    n, factors = case.network.node_count, case.network.factors
    return Offer(
        lambda: two_phase_product_exchange(case),
        Fraction(sum(n // f.node_count * _FACTORS.steps(case, f) for f in factors)),
        optimal=case.limited and all(f.group is not None for f in factors),
    )


TWO_PHASE_PRODUCT = Algorithm(
    name="two-phase-product",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="products of networks: arrays, tori, hypercubes, hypercycles and others",
    source="Dimakopoulos 1996, section 5.3 (algorithm A2), Theorems 5.3 and 5.5",
    summary="exchanges along the last factor, as many as the others have nodes, then along the one before, and so on",
)
