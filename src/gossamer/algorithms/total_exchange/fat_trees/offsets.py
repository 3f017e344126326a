"""Total exchange in fat trees whose every level carries what its leaves send, in the least time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import exchange_paths, levels_of, refuse_fat_tree
from gossamer.algorithms.preconditions import refuse_buffers
from gossamer.algorithms.total_exchange.fat_trees.lower_bounds import way_steps
from gossamer.networks.network import Levels
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["OFFSETS", "offset_exchange", "offset_times"]


def offset_times(levels: Levels) -> npt.NDArray[np.int64]:
    """Return when the leaves send by each offset, and when these messages arrive.

    Returns
    -------
    int64[2, n]
        Slots, from 0, of the first and of the last hop of the messages from a to ``a (+) d``, for d = 1..n-1; column 0
        means nothing. Both rows are without repetitions; a message of level l takes at least 2l-1 slots more.

    Notes
    -----
    All arrive w slots after they left, with w = 2h - 1, the least for messages of level h. For k = 2 and h >= 3 it is
    one less: then blocks are made of up to 2m-1 messages of level h and one of level h-m, which leaves last. That one
    arrives w slots after the first of its block leaves, each of the others w+1 slots after it leaves. The blocks have
    places for more than all messages of level h.

    Examples
    --------
    >>> offset_times(Levels.uniform(2, 2)).tolist(), offset_times(Levels.uniform(2, 3))[:, 1:].tolist()
    ([[0, 0, 1, 2], [0, 3, 4, 5]], [[3, 5, 6, 0, 1, 2, 4], [4, 8, 10, 5, 6, 7, 9]])
    """
    h, n = levels.height, levels.leaves[-1]
    times = np.zeros((2, n), np.int64)
    if levels.arity != 2 or h < 3:
        times[0, 1:] = np.arange(n - 1)
        times[1, 1:] = times[0, 1:] + 2 * h - 1
        return times
    w = 2 * h - 2
    longs, slot = n // 2, 0
    for d in range(1, n // 2):
        m = h - d.bit_length()
        block = min(2 * m - 1, n - longs)
        times[0, longs : longs + block] = slot + np.arange(block)
        times[1, longs : longs + block] = slot + np.arange(block) + w + 1
        times[0, d], times[1, d] = slot + block, slot + w
        longs += block
        slot += block + 1
    return times


def offset_exchange(case: Case) -> Schedule:
    """Exchange between all leaves by digitwise offsets, each at a time of its own at all leaves.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree with ``c_i >= n_(i-1) = k_1*...*k_(i-1)``, so that each branch
        carries a packet of every leaf below it.

    Returns
    -------
    Schedule
        In a slot every leaf a sends to ``a (+) d``, digits added without carries. The messages climb without waiting,
        wait where they turn, and come down without waiting in the slot that `offset_times` has for d.

    Notes
    -----
    The messages of an offset are at one level at a time, and fill ``n_(i-1)`` of the capacity of each branch of level
    i that they use. Different offsets leave, and arrive, in different slots, so they never meet on the way up, and
    never on the way down.

    In k-ary trees `way_steps`, which is optimal where ``c_1 = 1``: the phases of the source take n + 2h - 2, and are
    not optimal for k = 2 and h >= 3, as it conjectures. O(n**2 * h) time.

    References
    ----------
    Gossamer. Dimakopoulos 1996 has the bound n + 2h - 2 log_k(h) - 2 (Theorem 6.10) and the conjecture (chapter 7).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), gossamer.task("alltoall"))
    >>> offset_exchange(case).completion_time
    Fraction(11, 1)
    """
    levels = levels_of(case.network)
    n = case.network.terminal_count
    leaf = np.arange(n)
    offset, level = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for i, (k, below) in enumerate(zip(levels.arities, levels.leaves[:-1], strict=True)):
        digit = (leaf // below - (leaf // below)[:, None]) % k
        offset += digit * below
        level[digit > 0] = i + 1
    start, arrival = offset_times(levels)[:, offset]
    return Schedule.of(case, *exchange_paths(case.network, start, arrival - start - 2 * level + 1))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_fat_tree(case, "all"), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    levels = levels_of(case.network)
    for i, capacity in enumerate(levels.capacities):
        if capacity < levels.leaves[i]:
            return Refusal(f"needs c_i of k_1*...*k_(i-1) or more, but c_{i + 1} is {capacity}")
    least = way_steps(levels) if levels.capacities[:1] == (1,) else 0
    time = int(case.once(offset_times, levels)[1, 1:].max(initial=-1)) + 1
    return Offer(lambda: offset_exchange(case), Fraction(time), optimal=case.whole and time <= least)


OFFSETS = Algorithm(
    name="fat-tree-offsets",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="fat trees with capacities of at least k_1*...*k_(i-1)",
    source="gossamer",
    summary="digitwise offsets, each with a slot of its own to leave and to arrive in",
)
