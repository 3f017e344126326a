"""Multinode broadcast in fat trees by passing on what comes: flooding with queues, and upward packets first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import proposing, serve_queues
from gossamer.networks.network import Levels, Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

__all__ = ["FLOODING", "UP_FIRST", "flooding_broadcast", "flooding_steps", "up_first_broadcast", "up_first_steps"]


def flooding_steps(levels: Levels) -> int:
    """Return the steps of `flooding_broadcast`: ``max_i 2i-1 + ceil((n - n_(i-1))/c_1)`` over the levels i = 1..h.

    A leaf receives the ``n - n_(i-1)`` messages of the leaves at distance 2i or more, beyond the ``n_(i-1)`` of its
    subtree of height i-1, from step 2i on, c_1 a step, so no schedule is faster. With ``c_1 = 1`` this is n in k-ary
    trees, and n+1 for k = 2 and h >= 2.

    References
    ----------
    Dimakopoulos 1996, Theorem 6.9, for c_1 = 1.

    Examples
    --------
    >>> [flooding_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 3), (4, 2)]]
    [2, 5, 33, 27, 16]
    """
    n, c = levels.leaves[-1], max(levels.capacities[:1], default=1)
    return max((2 * i + 1 - (inner - n) // c for i, inner in enumerate(levels.leaves[:-1])), default=0)


def flooding_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf by flooding, with a first-in first-out queue for each link.

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
    return Schedule.of(case, *serve_queues(case.network, _own(case.network), None, one_send=False))


def up_first_steps(levels: Levels) -> int:
    """Return the steps of `up_first_broadcast`, the most of ``m_i + i + k_1 + ... + k_(i-1)`` over the levels i = 1..h.

    A node of level i makes ``m_i = k_i * n`` transmissions, the root ``(k_h - 1) * n``, the first of them in step i+1,
    and its last packet needs another ``k_(i-1) + ... + k_1`` steps to the last of the leaves below. In k-ary trees it
    is ``k*n + (k+1)*(h-2) + 1`` from height 2 on.

    References
    ----------
    Dimakopoulos 1996, Theorems 6.3 and 6.5, which are for h >= 2.

    Examples
    --------
    >>> [up_first_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2)]]
    [3, 9, 74, 7, 86, 65]
    """
    n, h = levels.leaves[-1], levels.height
    return max(
        ((k - (i == h)) * n + i + sum(levels.arities[: i - 1]) for i, k in enumerate(levels.arities, 1)), default=0
    )


def up_first_broadcast(case: Case) -> Schedule:
    """Broadcast from every leaf when nodes send one packet a slot and receive freely.

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
    return Schedule.of(case, *serve_queues(case.network, _own(case.network), None, one_send=True))


def _own(network: Network) -> npt.NDArray[np.int32]:
    return np.arange(network.terminal_count, dtype=np.int32)[:, None]


FLOODING = Algorithm(
    name="fat-tree-flooding",
    tasks=(MultinodeBroadcast,),
    propose=proposing(
        flooding_broadcast,
        "all",
        flooding_steps,
        optimal=lambda levels: True,
    ),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.2, Theorem 6.9",
    summary="flooding with a queue for each link",
)

UP_FIRST = Algorithm(
    name="fat-tree-up-first",
    tasks=(MultinodeBroadcast,),
    propose=proposing(
        up_first_broadcast,
        "one-send",
        up_first_steps,
        optimal=lambda levels: True,
    ),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.2.3, Theorem 6.5",
    summary="one packet a slot and node: first all messages upwards, then the children in turn",
)
