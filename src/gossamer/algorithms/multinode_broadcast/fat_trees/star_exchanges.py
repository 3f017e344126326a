"""Multinode broadcast in fat trees by phases in which nothing waits for a link: star exchanges, the root's first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import Hops, Spans, by_slot, levels_of, phase_starts, proposing
from gossamer.networks.network import Levels, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

__all__ = [
    "CLIMBING_STAR_EXCHANGES",
    "STAR_EXCHANGES",
    "climbing_star_exchange_broadcast",
    "refusing_copies",
    "star_exchange_broadcast",
    "star_exchange_hops",
    "star_exchange_steps",
]


def star_exchange_steps(levels: Levels) -> int:
    """Return the steps of `star_exchange_broadcast`, ``n + 2h - 2``, or 0 for a single leaf.

    Examples
    --------
    >>> [star_exchange_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 5), (3, 3), (4, 2)]]
    [2, 40, 31, 18]
    """
    return levels.leaves[-1] + 2 * levels.height - 2 if levels.height else 0


def star_exchange_hops(network: Network, climb_again: bool = False) -> Hops:
    """Return the hops of the phases g = h, h-1, ..., 1, in which the nodes of level g exchange between their children.

    Parameters
    ----------
    network : Network
        A fat tree.
    climb_again : bool
        Whether a message climbs anew from its leaf in every phase, as in the source. Then routing nodes need no
        memory but for a star exchange. If not, they keep the messages of their leaves from the first climb on.

    Returns
    -------
    slot, link, packet : int32[H]
        Sorted by slot.

    Notes
    -----
    Let n_i be the leaves below a node of level i, ``k = k_g`` the children of one of level g, and S_g the steps before
    phase g, ``S_h = 0``. Leaf number ``r = 0..n_(g-1)-1`` of each child subtree of a node X of level g sends in step
    ``S_g + r*(k-1) + 1``, and its message is at X after step ``S_g + r*(k-1) + g``. In the s-th of the next k-1 steps X
    sends child j the packet of child ``(j+s) mod k``; below, packets are copied to all children at once. Phases
    overlap: ``S_(g-1) = S_g + n_g - n_(g-1) + 2``. No link is needed twice in a slot. O(H) time and memory.

    References
    ----------
    Dimakopoulos 1996, section 6.3.2.2.
    """
    spans, levels = Spans(network), levels_of(network)
    n, h = levels.leaves, levels.height
    before = phase_starts([n[g] - n[g - 1] for g in range(1, h + 1)])
    leaf = np.arange(network.terminal_count, dtype=np.int32)[:, None]
    rows: list[tuple[npt.NDArray[Any], ...]] = []
    for g in range(h, 0, -1):
        size, k = n[g - 1], levels.arities[g - 1]
        start = before[g] + leaf % size * (k - 1)  # the slot in which each leaf sends
        if g == h or climb_again:
            rows += [(start + i, network.first_link[spans.node(i, leaf // n[i])], leaf) for i in range(g)]
        for i, link, child in spans.ways_down(g):
            turn = (leaf // size - child) % k
            slot = start + turn + (2 * g - 2 - i)
            rows.append(tuple(column[turn > 0] for column in np.broadcast_arrays(slot, link, leaf)))
    return by_slot(rows)


def star_exchange_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by one phase of star exchanges a level, timed so that nothing waits for a link.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports in a fat tree of any arity, height and capacities; every link carries at
        most one packet a slot.

    Returns
    -------
    Schedule
        The hops of `star_exchange_hops`, without those of repeated climbs: routing nodes keep the messages of their
        leaves until the phase of their level, up to ``n/k`` and one at a node.

    Notes
    -----
    ``n + 2h - 2`` steps, against n or n+1 of flooding with queues. Not what the source does, whose messages climb again
    so that nothing is kept (`climbing_star_exchange_broadcast`), but with fewer hops, and it can be run backwards as a
    reduction. O(n**2) time and memory.

    References
    ----------
    After Dimakopoulos 1996, section 6.3.2.2 and Fig. 6.10.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3"), gossamer.task("allgather"))
    >>> star_exchange_broadcast(case).completion_time
    Fraction(12, 1)
    """
    return Schedule.of(case, *star_exchange_hops(case.network))


def climbing_star_exchange_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf without queues: one phase of star exchanges a level, and messages climb anew for each.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports in a fat tree of any arity, height and capacities; every link carries at
        most one packet a slot.

    Returns
    -------
    Schedule
        The hops of `star_exchange_hops`. A routing node gives away what it got, and gets it again from the leaf in the
        next phase.

    Notes
    -----
    ``n + 2h - 2`` steps, and no more than a star exchange's packets at a node, k in a k-ary tree: 2 with k = 2, h = 6,
    where keeping the messages takes 33 and flooding 25. It cannot be run backwards as a reduction: a partial result
    would leave a node twice. O(n**2) time and memory.

    References
    ----------
    Dimakopoulos 1996, section 6.3.2.2 and Fig. 6.10.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3"), gossamer.task("allgather"))
    >>> schedule = climbing_star_exchange_broadcast(case)
    >>> schedule.completion_time, gossamer.buffer_peak(schedule).packets
    (Fraction(12, 1), 2)
    """
    return Schedule.of(case, *star_exchange_hops(case.network, climb_again=True))


def _exchanged(levels: Levels) -> int:
    """Return the messages of the largest star exchange, one from each child."""
    return max(levels.arities, default=0)


def refusing_copies(
    propose: Callable[[Case], Offer[Schedule] | Refusal],
) -> Callable[[Case], Offer[Schedule] | Refusal]:
    """Return a `propose` that refuses networks in which a packet that was given away may not come again."""

    def narrowed(case: Case) -> Offer[Schedule] | Refusal:
        if case.rules.cut_through or not case.network.plain:
            return Refusal("needs plain links and switches that store: packets come again when they are given away")
        return propose(case)

    return narrowed


STAR_EXCHANGES = Algorithm(
    name="fat-tree-star-exchanges",
    tasks=(MultinodeBroadcast,),
    propose=proposing(
        star_exchange_broadcast,
        "all",
        star_exchange_steps,
        held=lambda levels: max((*levels.leaves[-2:-1], _exchanged(levels) - 1)) + 1,
    ),
    networks="fat trees",
    source="after Dimakopoulos 1996, section 6.3.2.2",
    summary="phases of star exchanges, from the root's to the lowest; nodes keep what is to be exchanged below",
)

CLIMBING_STAR_EXCHANGES = Algorithm(
    name="fat-tree-climbing-star-exchanges",
    tasks=(MultinodeBroadcast,),
    propose=refusing_copies(proposing(climbing_star_exchange_broadcast, "all", star_exchange_steps, held=_exchanged)),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.2.2",
    summary="phases of star exchanges for which messages climb again: no queues, k messages at a node",
    timed=True,  # asked for other links and switches itself, so that it can refuse them
)
