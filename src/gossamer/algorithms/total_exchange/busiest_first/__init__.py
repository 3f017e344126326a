"""Total exchange with one port on any network: the nodes with most left to send go first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import buffer_reason, opposite_reason
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.tasks import Task, TotalExchange

__all__ = ["BUSIEST_FIRST", "busiest_first_exchange", "total_distance"]

_MOST_NODES = 4_000

_SWEEPS = 2
"""Times that the paths are chosen; more make little difference on meshes."""


def busiest_first_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the exchange on shortest paths in which the nodes with most hops still to make are served first.

    Parameters
    ----------
    network : Network
        A connected network in which every link has an opposite.
    task : TotalExchange
    model : Model
        Ports ``one`` or ``one-send``; in every slot each node sends at most one packet and receives at most one.

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
    >>> busiest_first_exchange(gossamer.network("array:8"), TotalExchange(), Model(ports="one")).completion_time
    Fraction(31, 1)
    """
    from gossamer.algorithms.total_exchange.busiest_first import _kernels

    onward, distance = _onward(network)
    n = network.terminal_count
    hops = int(distance[:, :n].sum(dtype=np.int64))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    _kernels.busiest_first(network.first_link, network.link_target, onward, distance, slot, link, packet)
    return Schedule(network, TotalExchange(), model, slot, link, packet)


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


def _reason(network: Network, task: Task, model: Model) -> str | None:
    if model.ports == "all":
        return "needs ports 'one' or 'one-send'"
    if network.node_count > _MOST_NODES:
        return f"needs at most {_MOST_NODES:,} nodes"
    reason = opposite_reason(network)
    if reason is None and int(network.distances(0).min()) < 0:
        reason = "needs a connected network"
    return reason or buffer_reason(model) or too_many_hops(total_distance(network))


def _is_line(network: Network) -> bool:
    grid = network.grid
    return grid is not None and sum(side > 1 for side in grid.sides) == 1 and not any(grid.wraps)


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    n = network.node_count
    return Fraction((n * n - 1) // 2) if _is_line(network) and n <= 100 else None


BUSIEST_FIRST = separate(
    name="busiest-first",
    task=TotalExchange,
    builder=busiest_first_exchange,
    reason=_reason,
    claim=_claim,
    networks="every connected network with an opposite for every link",
    source="gossamer",
    summary="the nodes with most hops to make send first, to the neighbor with most to receive, what goes furthest",
    optimal=lambda network, task, model: (
        model.ports == "one" and not model.split and _is_line(network) and network.node_count <= 100
    ),
)
