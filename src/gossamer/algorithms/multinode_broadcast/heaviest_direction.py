"""Multinode broadcast on a linear array with one port: in every slot the hops with most left to be sent behind them.

A node i of n sends i+1 messages to the right and n-i to the left, n+1 in all, and receives one packet a slot. In every
slot the hops are chosen that weigh most together, a hop from i to a neighbor weighing as much as node i has still to
send that way, among hops of which no two leave or enter one node. Such choices are matchings of senders with
receivers, and these form two paths, so a pass along each finds the heaviest.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_buffers, refuse_hops
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

__all__ = ["HEAVIEST_DIRECTION", "heaviest_direction"]


def heaviest_direction(case: Case) -> Schedule:
    """Broadcast from every node of a linear array when nodes send and receive one packet a slot.

    Parameters
    ----------
    case : Case
        A multinode broadcast on a linear array of n nodes, 3 or more, with one port.

    Returns
    -------
    Schedule
        In which a node passes messages of each direction on in the order in which they came.

    Notes
    -----
    ``ceil(3n/2) - 1`` steps, which no schedule beats, for every n tried, 3 to 200; why it is always that is not proved.
    The bound: one of the middle nodes makes n+1 transmissions, the last of them not before step n+1, and what it sends
    then has ``ceil(n/2) - 2`` hops or more to go. O(n**2) time and memory.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:12"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    >>> heaviest_direction(case).completion_time
    Fraction(17, 1)
    """
    from gossamer.algorithms.multinode_broadcast import _kernels

    network = case.network
    n = network.node_count
    right, left = (np.full(n, -1, np.int32) for _ in range(2))  # the link of each node either way
    up = network.link_target > network.link_source
    for side, ahead in ((right, up), (left, ~up)):
        side[network.link_source[ahead]] = np.flatnonzero(ahead)
    columns = [np.empty(n * (n - 1), np.int32) for _ in range(3)]
    _kernels.heaviest_hops(right, left, *columns)
    return Schedule.of(case, *columns)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid, n = case.network.grid, case.network.node_count
    if grid is None or any(grid.wraps) or max(grid.sides, default=1) != n or n < 3:
        return Refusal("needs a linear array of at least 3 nodes")
    if case.rules.ports == "all":
        return Refusal("is for ports of which a node uses one at a time")
    refusal = first_refusal(refuse_buffers(case.rules), refuse_hops(n * (n - 1)))
    return refusal or Offer(lambda: heaviest_direction(case), least=Fraction(-(-3 * n // 2) - 1))


HEAVIEST_DIRECTION = Algorithm(
    name="heaviest-direction",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="linear arrays",
    source="gossamer",
    summary="with one port, the hops that have most left to be sent behind them",
)
