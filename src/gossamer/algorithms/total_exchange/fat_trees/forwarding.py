"""Total exchange in fat trees by passing on what comes, with queues: the furthest messages leave first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import levels_of, proposing, serve_queues
from gossamer.algorithms.total_exchange.fat_trees.lower_bounds import branch_steps, least_steps, routing_node_steps
from gossamer.networks.network import Levels
from gossamer.questions.cases import Case
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["DIGITWISE", "UP_FIRST", "digitwise_exchange", "digitwise_partners", "up_first_exchange"]


def digitwise_partners(levels: Levels) -> npt.NDArray[np.int64]:
    """Return to whom each leaf sends, in order: leaf a to ``a (+) d`` for d = n-1, n-2, ..., 1, the furthest first.

    Digit i of a leaf is its place among the ``k_i`` subtrees below its ancestor of level i. ``(+)`` adds digits modulo
    k_i, without carries, so that in each turn the partners are a permutation.

    Returns
    -------
    int64[n, n-1]

    Examples
    --------
    >>> digitwise_partners(Levels.uniform(2, 2)).tolist()
    [[3, 2, 1], [2, 3, 0], [1, 0, 3], [0, 1, 2]]
    """
    n = levels.leaves[-1]
    leaf, partner = np.arange(n)[:, None], np.zeros((n, n - 1), np.int64)
    offset = np.arange(n - 1, 0, -1)
    for k, below in zip(levels.arities, levels.leaves[:-1], strict=True):
        partner += (leaf // below + offset // below) % k * below
    return partner


def _exchange(case: Case, one_send: bool) -> Schedule:
    levels, n = levels_of(case.network), case.network.terminal_count
    leaf, partner = np.arange(n)[:, None], digitwise_partners(levels)
    packet = (leaf * (n - 1) + partner - (partner > leaf)).astype(np.int32)
    destination = np.empty(n * (n - 1), np.int32)
    destination[packet] = partner
    return Schedule.of(case, *serve_queues(case.network, packet, destination, one_send))


def up_first_exchange(case: Case) -> Schedule:
    """Exchange between all leaves when nodes send one packet a slot and receive freely.

    Parameters
    ----------
    case : Case
        A total exchange with ports ``one-send`` in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Leaves send their messages furthest first. A routing node sends upward packets as long as there are any, else it
        serves its children in turn, one packet a slot.

    Notes
    -----
    `routing_node_steps`, a lower bound of every schedule: ``n**2 * 5/8 + 2h - 3`` for k = 2 and ``n**2 * (k-1)/k + 2h -
    1`` for k >= 3. That it is met is an observation on all k-ary trees of up to 64 leaves and all others of up to 40,
    not a theorem. Closest first is slower: 44 instead of 43 steps for k = 2, h = 3. O(n**2 * (h + n)) time.

    References
    ----------
    Dimakopoulos 1996, section 6.2.4 and Fig. 6.8. Theorem 6.8 is false for k >= 3, see the errata.

    Examples
    --------
    >>> import gossamer
    >>> rules = gossamer.Rules(ports="one-send")
    >>> up_first_exchange(Case(gossamer.network("fat-tree:k=3,h=2"), gossamer.task("alltoall"), rules)).completion_time
    Fraction(57, 1)
    """
    return _exchange(case, one_send=True)


def digitwise_exchange(case: Case) -> Schedule:
    """Exchange between all leaves with a first-in first-out queue for each link.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Leaf a sends to ``a (+) d`` for d = n-1, n-2, ..., 1, with digits added without carries; a link of capacity c
        carries up to c packets of its queue a slot.

    Notes
    -----
    Where all capacities are equal it takes `branch_steps`, which no schedule can beat: ``n**2 * (k-1)/k**2 + 2h - 1``
    for capacity 1. With exponential capacities it takes ``n + 2h - 2``, optimal for k >= 3. Both are observations on
    all k-ary trees of up to 64 leaves and all others of up to 40, not theorems. For other capacities nothing is
    claimed. O(n**2 * (h + n)) time.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> digitwise_exchange(Case(gossamer.network("fat-tree:k=2,h=5"), gossamer.task("alltoall"))).completion_time
    Fraction(265, 1)
    """
    return _exchange(case, one_send=False)


def _digitwise_steps(levels: Levels) -> int | None:
    if len(set(levels.capacities)) <= 1:
        return branch_steps(levels)
    return levels.leaves[-1] + 2 * levels.height - 2 if levels.capacities == levels.leaves[:-1] else None


DIGITWISE = Algorithm(
    name="fat-tree-digitwise",
    tasks=(TotalExchange,),
    propose=proposing(
        digitwise_exchange,
        "all",
        _digitwise_steps,
        optimal=lambda levels: _digitwise_steps(levels) == least_steps(levels),
    ),
    networks="fat trees",
    source="gossamer; Dimakopoulos 1996, (6.4), for the bound that it meets",
    summary="furthest first, partners by digits without carries, with a queue for each link",
)

UP_FIRST = Algorithm(
    name="fat-tree-up-first",
    tasks=(TotalExchange,),
    propose=proposing(
        up_first_exchange,
        "one-send",
        routing_node_steps,
        optimal=lambda levels: True,
    ),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.2.4, corrected",
    summary="furthest first; one packet a slot and node, upwards first, then to the children in turn",
)
