"""Multinode broadcast (allgather) among the leaves of a fat tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import Hops, Spans, by_slot, levels_of, phase_starts, proposing, serve_queues
from gossamer.networks.network import Levels, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

# Multinode broadcast in fat trees by phases in which nothing waits for a link: star exchanges, the root's first.


def star_exchange_steps(levels: Levels) -> int:
    """Return the steps of `star_exchange_broadcast`, ``n + 2h - 2``, or 0 for a single leaf.

    >>> [star_exchange_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 5), (3, 3), (4, 2)]]
    [2, 40, 31, 18]
    """
    return levels.leaves[-1] + 2 * levels.height - 2 if levels.height else 0


def star_exchange_hops(network: Network, climb_again: bool = False) -> Hops:
    """Return the hops of the phases g = h, h-1, ..., 1, in which the nodes of level g exchange between their children.

    `network`: a fat tree. `climb_again`: whether a message climbs anew from its leaf in every phase, as in the source.
    Then routing nodes need no memory but for a star exchange. If not, they keep the messages of their leaves from the
    first climb on.

    Returns: `slot`, `link`, `packet`, int32[H]: sorted by slot.

    Let n_i be the leaves below a node of level i, ``k = k_g`` the children of one of level g, and S_g the steps before
    phase g, ``S_h = 0``. Leaf number ``r = 0..n_(g-1)-1`` of each child subtree of a node X of level g sends in step
    ``S_g + r*(k-1) + 1``, and its message is at X after step ``S_g + r*(k-1) + g``. In the s-th of the next k-1 steps X
    sends child j the packet of child ``(j+s) mod k``; below, packets are copied to all children at once. Phases
    overlap: ``S_(g-1) = S_g + n_g - n_(g-1) + 2``. No link is needed twice in a slot. O(H) time and memory.

    Source: Dimakopoulos 1996, section 6.3.2.2.
    """
    spans, levels = Spans(network), levels_of(network)
    n, h = levels.leaves, levels.height
    # Step 1: when each phase begins: one for each level, the root's first, overlapping so that no link is needed
    #   twice
    before = phase_starts([n[g] - n[g - 1] for g in range(1, h + 1)])
    leaf = np.arange(network.terminal_count, dtype=np.int32)[:, None]
    rows: list[tuple[npt.NDArray[Any], ...]] = []
    for g in range(h, 0, -1):
        size, k = n[g - 1], levels.arities[g - 1]
        # Step 2: in a phase, the leaves below each child of a node take turns, one round of a star exchange apart
        start = before[g] + leaf % size * (k - 1)  # the slot in which each leaf sends
        # Step 3: the message of the leaf whose turn it is climbs to the node
        if g == h or climb_again:
            rows += [(start + i, network.first_link[spans.node(i, leaf // n[i])], leaf) for i in range(g)]
        # Step 4: in slot s of the round child j gets the message of child j+s; below it is copied to all children
        for i, link, child in spans.ways_down(g):
            turn = (leaf // size - child) % k
            slot = start + turn + (2 * g - 2 - i)
            rows.append(tuple(column[turn > 0] for column in np.broadcast_arrays(slot, link, leaf)))
    return by_slot(rows)


def star_exchange_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by one phase of star exchanges a level, timed so that nothing waits for a link.

    In a star, a node with k children that have a message each, the node can send every child the messages of the
    others in k-1 slots, without a queue: in each slot child j gets the message of child j+s. The tree does this at
    each of its nodes, one level after the other, for one leaf below each child at a time; below the node each message
    is copied to all children at once.

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

    In a star, a node with k children that have a message each, the node can send every child the messages of the
    others in k-1 slots, without a queue: in each slot child j gets the message of child j+s. The tree does this at
    each of its nodes, one level after the other, for one leaf below each child at a time; below the node each message
    is copied to all children at once.

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
            return Refusal("needs links of one slot, and switches that store packets")
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


# Multinode broadcast in fat trees by passing on what comes: flooding with queues, and upward packets first.


def flooding_steps(levels: Levels) -> int:
    """Return the steps of `flooding_broadcast`: ``max_i 2i-1 + ceil((n - n_(i-1))/c_1)`` over the levels i = 1..h.

    A leaf receives the ``n - n_(i-1)`` messages of the leaves at distance 2i or more, beyond the ``n_(i-1)`` of its
    subtree of height i-1, from step 2i on, c_1 a step, so no schedule is faster. With ``c_1 = 1`` this is n in k-ary
    trees, and n+1 for k = 2 and h >= 2.

    Source: Dimakopoulos 1996, Theorem 6.9, for c_1 = 1.

    >>> [flooding_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 3), (4, 2)]]
    [2, 5, 33, 27, 16]
    """
    n, c = levels.leaves[-1], max(levels.capacities[:1], default=1)
    return max((2 * i + 1 - (inner - n) // c for i, inner in enumerate(levels.leaves[:-1])), default=0)


def flooding_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by flooding, with a first-in first-out queue for each link.

    The leaves of a tree have a message each for all others. Every node passes what comes over one link on to all its
    other links, and where several packets want the same link they wait in a queue, first in, first out. Every leaf has
    one link, and from the time at which the first message reaches it that link is never idle.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Every message crosses every branch once. A node puts what comes into the queues of all links but the one back;
        a link of capacity c carries up to c packets of its queue a slot.

    Notes
    -----
    `flooding_steps`, which no schedule can beat: n for k >= 3, n+1 for k = 2, from height 2 and with ``c_1 = 1``. Wider
    branches further up change nothing, and queues remain. O(n**2) time.

    References
    ----------
    Dimakopoulos 1996, section 6.3.2, Theorem 6.9.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), gossamer.task("allgather"))
    >>> flooding_broadcast(case).completion_time
    Fraction(9, 1)
    """
    # Step 1: every leaf puts its message into the queue of its link
    waiting = _own(case.network)
    # Step 2: each link sends the first of its queue, as many a slot as its capacity; at the other end what comes joins
    #   the queues of all links but the one back, until all queues are empty
    return Schedule.of(case, *serve_queues(case.network, waiting, None, one_send=False))


def up_first_steps(levels: Levels) -> int:
    """Return the steps of `up_first_broadcast`, the most of ``m_i + i + k_1 + ... + k_(i-1)`` over the levels i = 1..h.

    A node of level i makes ``m_i = k_i * n`` transmissions, the root ``(k_h - 1) * n``, the first of them in step i+1,
    and its last packet needs another ``k_(i-1) + ... + k_1`` steps to the last of the leaves below. In k-ary trees it
    is ``k*n + (k+1)*(h-2) + 1`` from height 2 on.

    Source: Dimakopoulos 1996, Theorems 6.3 and 6.5, which are for h >= 2.

    >>> [up_first_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2)]]
    [3, 9, 74, 7, 86, 65]
    """
    n, h = levels.leaves[-1], levels.height
    return max(
        ((k - (i == h)) * n + i + sum(levels.arities[: i - 1]) for i, k in enumerate(levels.arities, 1)), default=0
    )


def up_first_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf when nodes send one packet a slot and receive freely.

    A routing node that may send one packet a slot is asked for more than a leaf: everything from below must go up, and
    everything must go down to each of its children. It sends upwards as long as anything waits there, because the rest
    of the tree waits for that, and then serves its children in turn.

    Parameters
    ----------
    case : Case
        A multinode broadcast with ports ``one-send`` in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Every message crosses every branch once. A routing node sends the messages of its own leaves to its parent
        (phase A); then it serves its children in turn, one packet a slot, skipping those for which nothing waits (phase
        B).

    Notes
    -----
    `up_first_steps`, which is optimal. Messages for the parent come without a gap until the last, so phase A is
    the rule "upward packets first"; it ends at step ``i + k**i`` at level i, as Lemma 6.4 says. Serving the children in
    turn matters: the lowest child first takes 25 steps instead of 20 for k = 2, h = 3. O(n**2 * k) time.

    References
    ----------
    Dimakopoulos 1996, section 6.2.3, Theorem 6.5.

    Examples
    --------
    >>> import gossamer
    >>> net, rules = gossamer.network("fat-tree:k=2,h=2"), gossamer.Rules(ports="one-send")
    >>> up_first_broadcast(Case(net, gossamer.task("allgather"), rules)).completion_time
    Fraction(9, 1)
    """
    # Step 1: every leaf sends its message up
    waiting = _own(case.network)
    # Step 2: a routing node sends a packet upwards as long as one waits; then one to each child in turn, skipping those
    #   for which nothing waits
    return Schedule.of(case, *serve_queues(case.network, waiting, None, one_send=True))


def _own(network: Network) -> npt.NDArray[np.int32]:
    return np.arange(network.terminal_count, dtype=np.int32)[:, None]


FLOODING = Algorithm(
    name="fat-tree-flooding",
    tasks=(MultinodeBroadcast,),
    propose=proposing(flooding_broadcast, "all", flooding_steps, optimal=lambda levels: True),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.2, Theorem 6.9",
    summary="flooding with a queue for each link",
)

UP_FIRST = Algorithm(
    name="fat-tree-up-first",
    tasks=(MultinodeBroadcast,),
    propose=proposing(up_first_broadcast, "one-send", up_first_steps, optimal=lambda levels: True),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.2.3, Theorem 6.5",
    summary="one packet a slot and node: first all messages upwards, then the children in turn",
)


# Multinode broadcast in fat trees in the fewest steps with two packets at a node: star exchanges, the lowest first.

Ints = npt.NDArray[np.int64]


def rising_star_exchange_steps(levels: Levels) -> int:
    """Return the steps of `rising_star_exchange_broadcast`: ``max_i 2i-1 + n - n_(i-1)`` over the levels i = 1..h.

    That is n if the nodes of level 1 have three children or more, else n+1 from height 2 on.

    >>> [rising_star_exchange_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 6), (3, 3), (4, 2)]]
    [2, 5, 65, 27, 16]
    """
    return flooding_steps(Levels(levels.arities, (1,) * levels.height))


def rising_star_exchange_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by star exchanges, those of the lowest nodes first and those of the root last.

    In a star, a node with k children that have a message each, the node can send every child the messages of the
    others in k-1 slots, without a queue: in each slot child j gets the message of child j+s. The tree does this at
    each of its nodes, one level after the other, for one leaf below each child at a time; below the node each message
    is copied to all children at once.

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
