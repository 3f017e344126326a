"""Multinode broadcast in fat trees in the fewest steps with two packets at a node: star exchanges, the lowest first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import Hops, Spans, by_slot, levels_of, proposing
from gossamer.algorithms.multinode_broadcast.fat_trees.forwarding import flooding_steps
from gossamer.algorithms.multinode_broadcast.fat_trees.star_exchanges import refusing_copies
from gossamer.networks.network import Levels, Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

__all__ = ["RISING_STAR_EXCHANGES", "rising_star_exchange_broadcast", "rising_star_exchange_steps"]

Ints = npt.NDArray[np.int64]


def rising_star_exchange_steps(levels: Levels) -> int:
    """Return the steps of `rising_star_exchange_broadcast`: ``max_i 2i-1 + n - n_(i-1)`` over the levels i = 1..h.

    That is n if the nodes of level 1 have three children or more, else n+1 from height 2 on.

    Examples
    --------
    >>> [rising_star_exchange_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 6), (3, 3), (4, 2)]]
    [2, 5, 65, 27, 16]
    """
    return flooding_steps(Levels(levels.arities, (1,) * levels.height))


def rising_star_exchange_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by star exchanges, those of the lowest nodes first and those of the root last.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports in a fat tree of any arity, height and capacities; every link carries at
        most one packet a slot.

    Returns
    -------
    Schedule
        In phase g the nodes of level g exchange between their children. For each phase the messages climb anew from
        their leaves, but for one or two that a node of level g-1 still has from the end of its own exchange.

    Notes
    -----
    `rising_star_exchange_steps`, which no schedule can beat where ``c_1 = 1``, and two packets in transit at a node at
    most. With one at a node no schedule takes as few steps where ``c_1 = 1``. It cannot be run backwards as a
    reduction: a partial result would leave a node twice. O(n**2) time and memory.

    *Star exchange.* The k packets p_0, ..., p_(k-1) of a round come to node X after steps t, t, t+1, ..., t+k-2. In
    step t+s, s = 1..k-1, X sends p_s to the children 0..s-1 and p_(s-1) to the others, and needs no other packet. Below
    X packets are copied to all children at once. The rounds of a phase follow each other every k-1 steps.

    *Phases.* Phase g begins after S_g steps: leaf number r in its order sends in step ``S_g + r(k-1) + 1``, a step or
    more later below the children 2, ..., k-1. With ``S_1 = 0`` and ``S_(g+1) = max(0, S_g + n_g - n_(g-1) - 2)`` the
    leaves receive without a gap from phase to phase, since the packets of phase g+1 are two hops longer on their way.
    The one or two packets that must go up from X before its own exchange is over are taken from its last round (with
    k = 2 also from the one before), when X has them. All others climb when nothing of phase g climbs any longer.

    References
    ----------
    The star exchange is that of Dimakopoulos 1996, section 6.3.2.2.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3"), gossamer.task("allgather"))
    >>> schedule = rising_star_exchange_broadcast(case)
    >>> schedule.completion_time, gossamer.buffer_peak(schedule).packets
    (Fraction(9, 1), 2)
    """
    return Schedule.of(case, *_hops(case.network))


def _hops(network: Network) -> Hops:
    """Return the hops of all phases."""
    spans, levels = Spans(network), levels_of(network)
    n, leaf = levels.leaves, np.arange(network.terminal_count)
    before, clear = 0, 0  # steps before the phase; the first slot in which all of the last phase have left the leaves
    order: Ints = np.zeros((1, 1), np.int64)
    rows: list[tuple[npt.NDArray[Any], ...]] = []
    for g, k in enumerate(levels.arities, 1):
        size = n[g - 1]
        order = _orders(order, k) if g > 1 else np.zeros((k, 1), np.int64)
        rank = np.empty((k, size), np.int64)
        np.put_along_axis(rank, order, np.arange(size), axis=1)
        child = leaf // size % k
        turn = before + rank[child, leaf % size] * (k - 1)  # steps before the round of each leaf
        start = turn + np.maximum(child - 1, 0)
        for i in range(g):  # up from level i; at level g-1 some are still there from their last climb
            up = leaf[(start >= clear) | (i == g - 1)]
            rows.append((start[up] + i, network.first_link[spans.node(i, up // n[i])], up))
        for i, link, other in spans.ways_down(g):
            own = child[:, None]
            slot = turn[:, None] + own - (other < own) + 2 * g - 1 - i
            rows.append(tuple(c[other != own] for c in np.broadcast_arrays(slot, link, leaf[:, None])))
        clear = before + n[g] - size
        before = max(0, clear - 2)
    return by_slot(rows)


def _orders(last: Ints, arity: int) -> Ints:
    """Return the order in which the leaves below each child of a node send, given that of the phase before.

    `last` int64[k, M] has the orders below each child of a child, leaves counted in its own subtree; so does the
    result, int64[arity, k*M].
    """
    k, size = last.shape
    # what a child has near the end of its exchange: after step t+k-3 of its last round, and after the next
    in_round_before = k == 2 and size > 1
    early = int(last[0, -2]) if in_round_before else (k - 2) * size + int(last[k - 2, -1])
    late = (k - 1) * size + int(last[k - 1, -1])
    rest = [leaf for leaf in range(k * size) if leaf not in (early, late)]
    return np.array([[late, early, *rest] if j == 2 else [early, late, *rest] for j in range(arity)], np.int64)


RISING_STAR_EXCHANGES = Algorithm(
    name="fat-tree-rising-star-exchanges",
    tasks=(MultinodeBroadcast,),
    propose=refusing_copies(
        proposing(
            rising_star_exchange_broadcast,
            "all",
            rising_star_exchange_steps,
            optimal=lambda levels: levels.capacities[:1] in ((), (1,)),
            held=lambda levels: min(levels.leaves[-1], 2),
        )
    ),
    networks="fat trees",
    source="after Dimakopoulos 1996, section 6.3.2.2",
    summary="phases of star exchanges, from the lowest to the root's, without a pause: two messages at a node",
    timed=True,  # asked for other links and switches itself, so that it can refuse them
)
