"""Total exchange in fat trees by phases, timed so that packets never wait on their way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.fat_trees import claiming, exchange_paths, levels_of, phase_starts, refusal
from gossamer.algorithms.total_exchange.fat_trees.limits import least_steps
from gossamer.model import Model
from gossamer.networks.network import Levels, Network
from gossamer.schedules import Schedule
from gossamer.tasks import Task, TotalExchange

__all__ = ["PHASES", "phase_lengths", "phased_exchange", "phased_steps", "usable_capacities"]


def usable_capacities(levels: Levels) -> list[int]:
    """Return how many packets a phase may send at a time over the branches below each of its nodes.

    Returns
    -------
    list of int
        Item g-1 is ``C_g = min_j k**(g-j) * c_j`` over j = 1..g, which is c_g where no capacity is more than k times
        the one below it. What is more than ``(k-1) * k**(g-1)`` is rounded down to a multiple of that, which concerns
        only trees with c_1 > 1.

    References
    ----------
    Dimakopoulos 1996, section 6.3.3.

    Examples
    --------
    >>> usable_capacities(Levels(2, 3, (1, 1, 4)))
    [1, 1, 2]
    """
    k, found = levels.arity, list[int]()
    for capacity in levels.capacities:
        found.append(min(capacity, k * found[-1]) if found else capacity)
    blocks = [(k - 1) * k**g for g in range(levels.height)]
    return [c if c <= block else c // block * block for c, block in zip(found, blocks, strict=True)]


def phase_lengths(levels: Levels) -> list[int]:
    """Return the steps in which leaves send in each phase: item g-1 is ``N_g = ceil((k-1) * k**(2g-2) / C_g)``.

    Examples
    --------
    >>> phase_lengths(Levels(2, 3, (1, 2, 4)))
    [1, 2, 4]
    """
    k = levels.arity
    return [-(-(k - 1) * k ** (2 * g) // capacity) for g, capacity in enumerate(usable_capacities(levels))]


def phased_steps(levels: Levels) -> int:
    """Return the steps of `phased_exchange`, ``sum_g N_g + 2h - 1``.

    References
    ----------
    Dimakopoulos 1996, (6.5), with C_g for c_g.

    Examples
    --------
    >>> phased_steps(Levels(2, 5, (1, 1, 1, 1, 1))), phased_steps(Levels(2, 5, (1, 2, 4, 8, 16)))
    (350, 40)
    """
    return sum(phase_lengths(levels)) + 2 * levels.height - 1 if levels.height else 0


def _starts(levels: Levels) -> npt.NDArray[np.int64]:
    """Return the slot in which each leaf sends to each, int64[n, n]; the diagonal means nothing."""
    k, h = levels.arity, levels.height
    n = k**h
    before, usable = phase_starts(phase_lengths(levels)), usable_capacities(levels)
    leaf = np.arange(n)
    starts = np.zeros((n, n), np.int64)
    reverse = np.zeros(n, np.int64)  # the last g-1 digits of a leaf, reversed
    for g in range(1, h + 1):
        M = k ** (g - 1)
        if g > 1:
            reverse = reverse * k + leaf // (M // k) % k
        s = (leaf // M - (leaf // M)[:, None]) % k
        x = reverse[:, None]
        d = (reverse - x) % M
        q = (d * (k - 1) + s - 1) * M + x
        here = (leaf // M != (leaf // M)[:, None]) & (leaf // (M * k) == (leaf // (M * k))[:, None])
        starts[here] = before[g] + q[here] // usable[g - 1]
    return starts


def phased_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Exchange between all leaves by one phase a level, the root's first, in which packets never wait.

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
        In phase g the nodes of level g exchange between their child subtrees. Every packet moves in every slot from
        the one in which it leaves its leaf.

    Notes
    -----
    With ``M = k**(g-1)``, number the turns of phase g as ``q = (d*(k-1) + s-1)*M + x`` for d, x in 0..M-1 and s in
    1..k-1: in turn q leaf ``rev(x)`` of child subtree a sends to leaf ``rev((x+d) mod M)`` of child subtree ``(a+s) mod
    k``, for all a; ``rev`` reverses the g-1 digits of a leaf's number in its subtree. C_g turns are taken at a time.
    Among C_g consecutive ones each residue of x, and of x+d, modulo ``k**(g-j)`` occurs at most c_j times, so no branch
    is overloaded. No node holds more than ``k * max C_g`` packets in transit.

    `phased_steps`: ``sum_g ceil((k-1) * k**(2g-2) / C_g) + 2h - 1``, that is ``(n**2-1)/(k+1) + 2h - 1`` with capacity
    1 and ``n + 2h - 2`` with exponential capacities, which is optimal for k >= 3. The source has c_g for C_g, which
    holds only where no capacity is more than k times the one below it. O(n**2 * h) time.

    References
    ----------
    Dimakopoulos 1996, section 6.3.3 and Fig. 6.11; the order of the messages is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("fat-tree:k=2,h=3,capacity=exponential")
    >>> phased_exchange(net, gossamer.task("alltoall"), Model()).completion_time
    Fraction(12, 1)
    """
    return Schedule(network, task, model, *exchange_paths(network, _starts(levels_of(network))))


def _reason(network: Network, task: Task, model: Model) -> str | None:
    reason = refusal(network, replace(model, buffer=None), "all")
    if reason is not None or model.buffer is None:
        return reason
    if model.buffer_counts == "all":
        return "limits only the packets in transit"
    room = levels_of(network).arity * max(usable_capacities(levels_of(network)), default=0)
    return f"may hold {room} packets in transit at a node" if model.buffer < room else None


def _optimal(network: Network, task: Task, model: Model) -> bool:
    levels = levels_of(network)
    return not model.split and phased_steps(levels) == least_steps(levels)


PHASES = separate(
    name="fat-tree-phases",
    task=TotalExchange,
    builder=phased_exchange,
    reason=_reason,
    claim=claiming(phased_steps),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.3, (6.5), corrected",
    summary="one phase a level in which packets never wait",
    optimal=_optimal,
)
