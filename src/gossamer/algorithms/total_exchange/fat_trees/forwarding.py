"""Total exchange in fat trees by passing on what comes, with queues: the furthest messages leave first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.fat_trees import claiming, covering, levels_of, serve_queues
from gossamer.algorithms.total_exchange.fat_trees.limits import branch_steps, least_steps, routing_node_steps
from gossamer.model import Model
from gossamer.networks.network import Levels, Network
from gossamer.schedules import Schedule
from gossamer.tasks import Task, TotalExchange

__all__ = ["DIGITWISE", "UP_FIRST", "digitwise_exchange", "digitwise_partners", "up_first_exchange"]


def digitwise_partners(arity: int, height: int) -> npt.NDArray[np.int64]:
    """Return to whom each leaf sends, in order: leaf a to ``a (+) d`` for d = n-1, n-2, ..., 1, the furthest first.

    ``(+)`` adds the k-ary digits modulo k, without carries, so that in each turn the partners are a permutation.

    Returns
    -------
    int64[n, n-1]

    Examples
    --------
    >>> digitwise_partners(2, 2).tolist()
    [[3, 2, 1], [2, 3, 0], [1, 0, 3], [0, 1, 2]]
    """
    n = arity**height
    leaf, partner = np.arange(n)[:, None], np.zeros((n, n - 1), np.int64)
    offset = np.arange(n - 1, 0, -1)
    for i in range(height):
        partner += (leaf // arity**i + offset // arity**i) % arity * arity**i
    return partner


def _exchange(network: Network, task: Task, model: Model, one_send: bool) -> Schedule:
    levels = levels_of(network)
    n = network.terminal_count
    leaf, partner = np.arange(n)[:, None], digitwise_partners(levels.arity, levels.height)
    packet = (leaf * (n - 1) + partner - (partner > leaf)).astype(np.int32)
    destination = np.empty(n * (n - 1), np.int32)
    destination[packet] = partner
    return Schedule(network, task, model, *serve_queues(network, packet, destination, one_send))


def up_first_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Exchange between all leaves when nodes send one packet a slot and receive freely.

    Parameters
    ----------
    network : Network
        A fat tree of any arity, height and capacities.
    task : TotalExchange
    model : Model
        With ports ``one-send``.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        Leaves send their messages furthest first. A routing node sends upward packets as long as there are any, else it
        serves its children in turn, one packet a slot.

    Notes
    -----
    `routing_node_steps`, a lower bound of every schedule: ``n**2 * 5/8 + 2h - 3`` for k = 2 and ``n**2 * (k-1)/k + 2h -
    1`` for k >= 3. That it is met is an observation on all trees of up to 64 leaves, not a theorem. Closest first is
    slower: 44 instead of 43 steps for k = 2, h = 3. O(n**2 * (h + n)) time.

    References
    ----------
    Dimakopoulos 1996, section 6.2.4 and Fig. 6.8. Theorem 6.8 is false for k >= 3, see the errata.

    Examples
    --------
    >>> import gossamer
    >>> net, model = gossamer.network("fat-tree:k=3,h=2"), Model(ports="one-send")
    >>> up_first_exchange(net, gossamer.task("alltoall"), model).completion_time
    Fraction(57, 1)
    """
    return _exchange(network, task, model, one_send=True)


def digitwise_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Exchange between all leaves with a first-in first-out queue for each link.

    Parameters
    ----------
    network : Network
        A fat tree of any arity, height and capacities.
    task : TotalExchange
    model : Model
        With ports ``all``.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        Leaf a sends to ``a (+) d`` for d = n-1, n-2, ..., 1, with digits added without carries; a link of capacity c
        carries up to c packets of its queue a slot.

    Notes
    -----
    Where all capacities are equal it takes `branch_steps`, which no schedule can beat: ``n**2 * (k-1)/k**2 + 2h - 1``
    for capacity 1. With exponential capacities it takes ``n + 2h - 2``, optimal for k >= 3. Both are observations on
    all trees of up to 64 leaves, not theorems. For other capacities nothing is claimed. O(n**2 * (h + n)) time.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("fat-tree:k=2,h=5")
    >>> digitwise_exchange(net, gossamer.task("alltoall"), Model()).completion_time
    Fraction(265, 1)
    """
    return _exchange(network, task, model, one_send=False)


def _digitwise_steps(levels: Levels) -> int | None:
    k, h = levels.arity, levels.height
    if len(set(levels.capacities)) <= 1:
        return branch_steps(levels)
    return int(k**h) + 2 * h - 2 if levels.capacities == tuple(k**i for i in range(h)) else None


def _digitwise_optimal(network: Network, task: Task, model: Model) -> bool:
    levels = levels_of(network)
    return not model.split and _digitwise_steps(levels) == least_steps(levels)


DIGITWISE = separate(
    name="fat-tree-digitwise",
    task=TotalExchange,
    builder=digitwise_exchange,
    reason=covering("all"),
    claim=claiming(_digitwise_steps),
    networks="fat trees",
    source="gossamer; Dimakopoulos 1996, (6.4), for the bound that it meets",
    summary="furthest first, partners by digits without carries, with a queue for each link",
    optimal=_digitwise_optimal,
)

UP_FIRST = separate(
    name="fat-tree-up-first",
    task=TotalExchange,
    builder=up_first_exchange,
    reason=covering("one-send"),
    claim=claiming(lambda levels: routing_node_steps(levels.arity, levels.height)),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.2.4, corrected",
    summary="furthest first; one packet a slot and node, upwards first, then to the children in turn",
    optimal=lambda network, task, model: not model.split,
)
