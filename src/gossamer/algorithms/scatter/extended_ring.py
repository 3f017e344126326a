"""Scatter in an extended ring, down the paths of its broadcast tree."""

from __future__ import annotations

from fractions import Fraction

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.named_trees import extended_ring_tree, reach
from gossamer.algorithms.preconditions import refuse_buffers, refuse_send_limit
from gossamer.algorithms.scatter.furthest_first import refuse_root, root_of, scatter_down
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule

__all__ = ["EXTENDED_RING_PATHS", "extended_ring_scatter"]


def extended_ring_scatter(case: Case) -> Schedule:
    """Send the messages down the paths of the extended ring's tree, the furthest first.

    Parameters
    ----------
    case : Case
        A scatter on an extended ring E_n^rho, rings and complete networks being some, where a node may send on all
        links at once.

    Returns
    -------
    Schedule

    Notes
    -----
    ``ceil(floor(n/2)/rho) = ceil((n-1)/degree)`` steps, which is optimal. No node holds more than one packet in
    transit.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.8.

    Examples
    --------
    >>> import gossamer
    >>> extended_ring_scatter(Case(gossamer.network("extended-ring:14,2"), gossamer.task("scatter"))).completion_time
    Fraction(4, 1)
    """
    return scatter_down(extended_ring_tree(case.network, root_of(case)), case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if case.once(reach, case.network) is None:
        return Refusal("needs an extended ring")
    refusal = first_refusal(refuse_send_limit(case.rules), refuse_buffers(case.rules, held=1), refuse_root(case))
    if refusal is not None:
        return refusal
    others, degree = case.network.node_count - 1, case.network.degree
    time = Fraction(-(-others // degree))
    return Offer(lambda: extended_ring_scatter(case), time, optimal=case.whole or others % degree == 0)


EXTENDED_RING_PATHS = Algorithm(
    name="extended-ring-paths",
    tasks=(Scatter,),
    propose=_propose,
    networks="extended rings, rings and complete networks",
    source="Dimakopoulos 1996, Theorem 3.8",
    summary="down paths of nearly equal lengths, the furthest first",
)
