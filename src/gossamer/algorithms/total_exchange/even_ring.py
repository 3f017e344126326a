"""Total exchange on an even ring by message shifts that depend on parity (TE3 of Dimakopoulos 1996, section 4.3.2).

Messages to the antipode of an even ring may go either way. Even nodes send theirs clockwise and odd nodes
counterclockwise, which balances the two directions; the schedule is then invariant under even translations only.
"""

from __future__ import annotations

from fractions import Fraction

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_ports
from gossamer.algorithms.total_exchange.ring_shift import is_ring, ring_shift_exchange
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["PARITY_SHIFT", "parity_shift_exchange"]


def parity_shift_exchange(case: Case) -> Schedule:
    """Build the total exchange on a ring of n nodes, n even: first in, first out, starting with the furthest.

    Clockwise, even nodes have messages for distances ``n/2, ..., 1`` and odd nodes for ``n/2 - 1, ..., 1``;
    counterclockwise the other way round. A node sends the head of its queue in every slot; what it receives for others
    joins the tail.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a ring of an even number of nodes.

    Notes
    -----
    ``ceil((n*n - 1)/8)`` steps, optimal (Theorem 4.6). O(n**2) stored hops. `ring_shift_exchange` knows other rules.

    References
    ----------
    Dimakopoulos 1996, section 4.3.2, Definition 4.1, Theorem 4.6.

    Examples
    --------
    >>> import gossamer
    >>> parity_shift_exchange(Case(gossamer.network("ring:8"), gossamer.task("alltoall"))).completion_time
    Fraction(8, 1)
    """
    return ring_shift_exchange(case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    n = case.network.node_count
    if not is_ring(case.network) or n % 2:
        return Refusal("needs a ring of an even number of nodes, 4 or more")
    time = Fraction(-(-(n * n - 1) // 8))
    return refuse_ports(case.rules) or Offer(lambda: parity_shift_exchange(case), time, optimal=case.whole)


PARITY_SHIFT = Algorithm(
    name="parity-shift",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="rings of an even number of nodes",
    source="Dimakopoulos 1996, section 4.3.2 (TE3), Theorem 4.6",
    summary="first in, first out from the furthest; antipodal messages clockwise from even nodes only",
)
