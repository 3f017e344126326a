"""Total exchange in fat trees by phases, timed so that packets never wait on their way."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.fat_trees import exchange_paths, levels_of, phase_starts, refuse_fat_tree
from gossamer.algorithms.total_exchange.fat_trees.lower_bounds import least_steps
from gossamer.networks.network import Levels
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["PHASES", "phase_lengths", "phased_exchange", "phased_steps", "usable_capacities"]


def usable_capacities(levels: Levels) -> list[int]:
    """Return how many packets a phase may send at a time over the branches below each of its nodes.

    Returns
    -------
    list of int
        Item g-1 is ``C_g = min_j c_j * n_(g-1) / n_(j-1)`` over j = 1..g, with n_i the leaves below a node of level i;
        that is c_g where no c_(i+1) is more than ``k_i * c_i``. What is more than ``(k_g - 1) * n_(g-1)`` is rounded
        down to a multiple of that, which concerns only trees with c_1 > 1.

    References
    ----------
    Dimakopoulos 1996, section 6.3.3.

    Examples
    --------
    >>> usable_capacities(Levels.uniform(2, 3, (1, 1, 4)))
    [1, 1, 2]
    """
    found: list[int] = []
    for below, capacity in zip((1, *levels.arities), levels.capacities, strict=False):
        found.append(min(capacity, below * found[-1]) if found else capacity)
    blocks = [own - inner for inner, own in itertools.pairwise(levels.leaves)]
    return [c if c <= block else c // block * block for c, block in zip(found, blocks, strict=True)]


def phase_lengths(levels: Levels) -> list[int]:
    """Return the steps in which leaves send in each phase: item g-1 is ``N_g = ceil(n_(g-1) * (n_g - n_(g-1)) / C_g)``.

    Examples
    --------
    >>> phase_lengths(Levels.uniform(2, 3, (1, 2, 4)))
    [1, 2, 4]
    """
    pairs = zip(itertools.pairwise(levels.leaves), usable_capacities(levels), strict=True)
    return [-(inner * (inner - own) // capacity) for (inner, own), capacity in pairs]


def phased_steps(levels: Levels) -> int:
    """Return the steps of `phased_exchange`, ``sum_g N_g + 2h - 1``.

    References
    ----------
    Dimakopoulos 1996, (6.5), with C_g for c_g.

    Examples
    --------
    >>> phased_steps(Levels.uniform(2, 5)), phased_steps(Levels.uniform(2, 5, (1, 2, 4, 8, 16)))
    (350, 40)
    """
    return sum(phase_lengths(levels)) + 2 * levels.height - 1 if levels.height else 0


def _starts(levels: Levels) -> npt.NDArray[np.int64]:
    """Return the slot in which each leaf sends to each, int64[n, n]; the diagonal means nothing."""
    n = levels.leaves[-1]
    before, usable = phase_starts(phase_lengths(levels)), usable_capacities(levels)
    leaf = np.arange(n)
    starts = np.zeros((n, n), np.int64)
    reverse = np.zeros(n, np.int64)  # the last g-1 digits of a leaf, reversed
    for g, (k, M) in enumerate(zip(levels.arities, levels.leaves[:-1], strict=True), 1):
        if g > 1:
            last = levels.arities[g - 2]
            reverse = reverse * last + leaf // levels.leaves[g - 2] % last
        s = (leaf // M - (leaf // M)[:, None]) % k
        x = reverse[:, None]
        d = (reverse - x) % M
        q = (d * (k - 1) + s - 1) * M + x
        here = (leaf // M != (leaf // M)[:, None]) & (leaf // (M * k) == (leaf // (M * k))[:, None])
        starts[here] = before[g] + q[here] // usable[g - 1]
    return starts


def phased_exchange(case: Case) -> Schedule:
    """Exchange between all leaves by one phase a level, the root's first, in which packets never wait.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        In phase g the nodes of level g exchange between their child subtrees. Every packet moves in every slot from
        the one in which it leaves its leaf.

    Notes
    -----
    With ``k = k_g`` and ``M = n_(g-1)``, the leaves below a child, number the turns of phase g as ``q = (d*(k-1) +
    s-1)*M + x`` for d, x in 0..M-1 and s in 1..k-1: in turn q leaf ``rev(x)`` of child subtree a sends to leaf
    ``rev((x+d) mod M)`` of child subtree ``(a+s) mod k``, for all a; ``rev`` reverses the g-1 digits of a leaf's number
    in its subtree. C_g turns are taken at a time. Among C_g consecutive ones each residue of x, and of x+d, modulo
    ``n_(g-1)/n_(j-1)`` occurs at most c_j times, so no branch is overloaded. No node holds more than ``max k_g * max
    C_g`` packets in transit.

    `phased_steps`: in k-ary trees ``sum_g ceil((k-1) * k**(2g-2) / C_g) + 2h - 1``, that is ``(n**2-1)/(k+1) + 2h - 1``
    with capacity 1 and ``n + 2h - 2`` with exponential capacities, which is optimal for k >= 3. The source has c_g for
    C_g, which holds only where no capacity is more than k times the one below it. O(n**2 * h) time.

    References
    ----------
    Dimakopoulos 1996, section 6.3.3 and Fig. 6.11; the order of the messages is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), gossamer.task("alltoall"))
    >>> phased_exchange(case).completion_time
    Fraction(12, 1)
    """
    return Schedule.of(case, *exchange_paths(case.network, _starts(levels_of(case.network))))


def _refuse_room(case: Case) -> Refusal | None:
    """Refuse where a node may have no room for what turns downwards there, or not."""
    if case.rules.buffer is None:
        return None
    if case.rules.buffer_counts == "all":
        return Refusal("limits only the packets in transit")
    levels = levels_of(case.network)
    room = max(levels.arities, default=0) * max(usable_capacities(levels), default=0)
    return Refusal(f"may hold {room} packets in transit at a node") if case.rules.buffer < room else None


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = refuse_fat_tree(case, "all") or _refuse_room(case)
    if refusal is not None:
        return refusal
    levels = levels_of(case.network)
    steps = phased_steps(levels)
    return Offer(lambda: phased_exchange(case), Fraction(steps), optimal=case.whole and steps == least_steps(levels))


PHASES = Algorithm(
    name="fat-tree-phases",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.3, (6.5), corrected",
    summary="one phase a level in which packets never wait",
)
