"""Total exchange on an even ring by message shifts that depend on parity (TE3 of Dimakopoulos 1996, section 4.3.2).

Messages to the antipode of an even ring may go either way. Even nodes send theirs clockwise and odd nodes
counterclockwise, which balances the two directions; the schedule is then invariant under even translations only.
"""

from __future__ import annotations

from fractions import Fraction

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.total_exchange.ring_shift import ring_shift_exchange
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.tasks import Task, TotalExchange

__all__ = ["PARITY_SHIFT", "parity_shift_exchange"]


def parity_shift_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the total exchange on a ring of n nodes, n even: first in, first out, starting with the furthest.

    Clockwise, even nodes have messages for distances ``n/2, ..., 1`` and odd nodes for ``n/2 - 1, ..., 1``;
    counterclockwise the other way round. A node sends the head of its queue in every slot; what it receives for others
    joins the tail.

    Notes
    -----
    ``ceil((n*n - 1)/8)`` steps, optimal (Theorem 4.6). O(n**2) stored hops. `ring_shift_exchange` knows other rules.

    References
    ----------
    Dimakopoulos 1996, section 4.3.2, Definition 4.1, Theorem 4.6.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("ring:8")
    >>> parity_shift_exchange(net, gossamer.task("alltoall"), Model()).completion_time
    Fraction(8, 1)
    """
    return ring_shift_exchange(network, task, model, seed=seed)


def _reason(network: Network, task: Task, model: Model) -> str | None:
    grid = network.grid
    if grid is None or grid.dimensions != 1 or not grid.wraps[0] or network.node_count % 2 or network.group is None:
        return "needs a ring of an even number of nodes, 4 or more"
    return all_ports_reason(model)


PARITY_SHIFT = separate(
    name="parity-shift",
    task=TotalExchange,
    builder=parity_shift_exchange,
    reason=_reason,
    claim=lambda network, task, model: Fraction(-(-(network.node_count**2 - 1) // 8)),
    networks="rings of an even number of nodes",
    source="Dimakopoulos 1996, section 4.3.2 (TE3), Theorem 4.6",
    summary="first in, first out from the furthest; antipodal messages clockwise from even nodes only",
    optimal=lambda network, task, model: not model.split,
)
