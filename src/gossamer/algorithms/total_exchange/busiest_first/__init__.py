"""Total exchange with one port on any network: the nodes with most left to send go first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_buffers, refuse_hops, refuse_one_way_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["BUSIEST_FIRST", "busiest_first_exchange", "total_distance"]

_MOST_NODES = 4_000

_SWEEPS = 2
"""Times that the paths are chosen; more make little difference on meshes."""


def busiest_first_exchange(case: Case) -> Schedule:
    """Build the exchange on shortest paths in which the nodes with most hops still to make are served first.

    Parameters
    ----------
    case : Case
        A total exchange with one port on a connected network in which every link has an opposite; in every slot each
        node sends at most one packet and receives at most one.

    Notes
    -----
    The messages for one terminal follow a tree, in which the parent of a node is the closer neighbor that had least
    to send when it was chosen. Of its free neighbors a node sends to the one that has most left to receive, and there
    the packet with the furthest to go. On linear arrays of 2 to 100 nodes the time is the load of a node in the middle,
    ``floor((n*n - 1)/2)``: optimal. O(n (N + L) + slots (N log N + L)) for n terminals.

    References
    ----------
    Gossamer. Dimakopoulos 1996, Theorem 5.5, asks for such exchanges of factors (erratum 9.8).

    Examples
    --------
    >>> import gossamer
    >>> rules = gossamer.Rules(ports="one")
    >>> busiest_first_exchange(Case(gossamer.network("array:8"), TotalExchange(), rules)).completion_time
    Fraction(31, 1)
    """
    from gossamer.algorithms.total_exchange.busiest_first import _kernels

    network = case.network
    onward, distance = _onward(network)
    n = network.terminal_count
    hops = int(distance[:, :n].sum(dtype=np.int64))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    _kernels.busiest_first(network.first_link, network.link_target, onward, distance, slot, link, packet)
    return Schedule.of(case, slot, link, packet)


def _onward(network: Network) -> tuple[IntArray, IntArray]:
    """Return the link from each node towards each terminal and the hops from there, int32[n, N] each."""
    from gossamer.algorithms.total_exchange.busiest_first import _kernels

    onward = np.full((network.terminal_count, network.node_count), -1, np.int32)
    distance, order = np.empty_like(onward), np.empty_like(onward)
    for d in range(network.terminal_count):
        search = network.breadth_first(d)
        distance[d], order[d] = search.distance, search.order
    _kernels.balance_paths(
        network.first_link, network.link_target, order, distance, network.terminal_count, _SWEEPS, onward
    )
    return onward, distance


def total_distance(network: Network) -> int:
    """Return the sum of the distances between all ordered pairs of terminals. O(N + L), or that for every terminal.

    >>> import gossamer
    >>> total_distance(gossamer.network("array:3"))
    8
    """
    if network.group is not None:
        return network.node_count * int(network.distances(0).sum(dtype=np.int64))
    n = network.terminal_count
    return sum(int(network.distances(d)[:n].sum(dtype=np.int64)) for d in range(n))


def _refuse_apart(network: Network) -> Refusal | None:
    """Refuse a network that is not connected, or not."""
    return Refusal("needs a connected network") if int(network.distances(0).min()) < 0 else None


def _is_line(network: Network) -> bool:
    grid = network.grid
    return grid is not None and sum(side > 1 for side in grid.sides) == 1 and not any(grid.wraps)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, n = case.network, case.network.node_count
    if not case.limited:
        return Refusal("needs ports 'one', 'one-send' or 'one-receive'")
    if n > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = refuse_one_way_links(network) or _refuse_apart(network) or refuse_buffers(case.rules)
    if refusal is not None:
        return refusal
    hops = case.once(total_distance, network)
    refusal = refuse_hops(hops)
    if refusal is not None:
        return refusal
    known = _is_line(network) and n <= 100
    return Offer(
        lambda: busiest_first_exchange(case),
        Fraction((n * n - 1) // 2) if known else None,
        optimal=known and case.whole and case.send_limited and case.receive_limited,
        least=Fraction(-(-hops // n)),  # every hop is one of a node in a slot
    )


BUSIEST_FIRST = Algorithm(
    name="busiest-first",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="every connected network with an opposite for every link",
    source="gossamer",
    summary="the nodes with most hops to make send first, to the neighbor with most to receive, what goes furthest",
)
