"""A bound for total exchange in fat trees of any capacities: prices of the slots of every level.

A message between leaves whose paths meet in level l climbs over a branch of each level 1, ..., l and comes down over
them again, 2l hops one after the other. Let a hop over a branch of level i, up or down, in slot t cost a price. Then
each message pays at least what the cheapest choice of slots costs, and all together pay at most the prices of all slots
that there are. If what they must pay is more, they need more slots. The best prices are the dual solution of a linear
program in which leaves and branches of a level are alike; they are rounded to integers, and the proof is checked with
these.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.bounds.bound import Bound
from gossamer.bounds.fat_trees import branch_bounds, leaf_bounds
from gossamer.cases import Case
from gossamer.networks.structures import Levels

__all__ = ["SlotPrices", "fat_tree_time_bounds", "slot_prices"]

LARGEST = 3_000
"""Hops of the longest ways of all levels, times slots, up to which the linear program is solved: tenths of a second."""

_SCALE = 100_000
"""What the highest price of a proof is rounded to."""

_SOURCE = "gossamer: linear programming duality of flows over time"
_NEVER = np.int64(1) << 50

Longs = npt.NDArray[np.int64]


class SlotPrices(NamedTuple):
    """Prices that prove that a total exchange takes more than so many slots, in full: `needed` is more than `offered`.

    `up` and `down` int64[h, T] are the prices of a hop over a branch of each level in each slot.
    """

    up: Longs
    down: Longs
    needed: int
    offered: int

    @property
    def proves(self) -> bool:
        """Whether all messages together must pay more than all branches offer."""
        return self.needed > self.offered


def slot_prices(levels: Levels, slots: int) -> SlotPrices | None:
    """Return the prices that come closest to proving that a total exchange takes more than some slots.

    Parameters
    ----------
    levels : Levels
        The shape of the tree, at least of height 1.
    slots : int
        T, at least 2h.

    Returns
    -------
    SlotPrices or None
        None if the linear program was not solved.

    Notes
    -----
    The linear program has O(h^2 T) variables and rows; what the prices need and offer is worked out in integers.

    References
    ----------
    Gossamer: duality of flows over time.

    Examples
    --------
    >>> tree = Levels((2, 2, 2), (2, 2, 4))
    >>> [slot_prices(tree, slots).proves for slots in (10, 11)]
    [True, False]
    """
    duals = _duals(levels, slots)
    if duals is None or not duals.max(initial=0.0) > 0:
        return None
    up, down = np.rint(duals / duals.max() * _SCALE).astype(np.int64)
    n = levels.leaves[-1]
    # step 1: what each branch offers in all slots
    offered = sum(
        c * (n // below) * int((up[i] + down[i]).sum())
        for i, (c, below) in enumerate(zip(levels.capacities, levels.leaves, strict=False))
    )
    # step 2: what a message of each level pays at least; cheapest[t] is the least price of its hops made before slot t
    needed = 0
    for top in range(1, levels.height + 1):
        cheapest = np.zeros(slots + 1, np.int64)
        for price in [*up[:top], *down[:top][::-1]]:
            cheapest = np.append(_NEVER, np.minimum.accumulate(cheapest[:-1] + price))
        needed += n * (levels.leaves[top] - levels.leaves[top - 1]) * int(cheapest[slots])
    return SlotPrices(up, down, needed, offered)


def _duals(levels: Levels, slots: int) -> npt.NDArray[np.float64] | None:
    """Return the dual prices of the levels in each slot, up and down, float64[2, h, T], or None.

    The linear program delivers as large a part of all messages as possible. Its variables are, for each level where
    ways meet and each hop of a way, the messages that have made it by the end of each slot in which it can be made.
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    h, n = levels.height, levels.leaves[-1]
    first, count = {}, 0  # variable of hop j of the ways that meet in level l, in its first slot, j
    for top in range(1, h + 1):
        for j in range(2 * top):
            first[top, j], count = count, count + slots - 2 * top + 1
    rows: list[Longs] = []
    columns: list[Longs] = []
    values: list[npt.NDArray[np.float64]] = []

    def add(row: Any, column: Any, value: float) -> None:
        row, column = np.broadcast_arrays(row, column)
        rows.append(row.reshape(-1))
        columns.append(column.reshape(-1))
        values.append(np.full(row.size, value))

    # capacities: row (way, level, slot); by the end of slot t less by the end of slot t-1
    for top in range(1, h + 1):
        width = slots - 2 * top + 1
        for j in range(2 * top):
            way, level = (0, j) if j < top else (1, 2 * top - 1 - j)
            row = (way * h + level) * slots + j + np.arange(width)
            add(row, first[top, j] + np.arange(width), 1.0)
            add(row[1:], first[top, j] + np.arange(width - 1), -1.0)
    room = np.repeat([c * (n // below) for c, below in zip(levels.capacities, levels.leaves, strict=False)], slots)
    limits = [np.tile(room, 2).astype(np.float64)]
    at = 2 * h * slots
    for top in range(1, h + 1):
        width = slots - 2 * top + 1
        for j in range(2 * top):
            mine = first[top, j] + np.arange(width)
            if j:  # no hop before the one ahead of it
                add(at + np.arange(width), mine, 1.0)
                add(at + np.arange(width), first[top, j - 1] + np.arange(width), -1.0)
                at += width
            add(at + np.arange(width - 1), mine[:-1], 1.0)  # what was made stays made
            add(at + np.arange(width - 1), mine[1:], -1.0)
            at += width - 1
        add(at, count, float(n * (levels.leaves[top] - levels.leaves[top - 1])))
        add(at, first[top, 2 * top - 1] + slots - 2 * top, -1.0)
        at += 1
    limits.append(np.zeros(at - 2 * h * slots))
    matrix: Any = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(at, count + 1)
    )
    goal = np.zeros(count + 1)
    goal[count] = -1.0
    found = linprog(goal, A_ub=matrix, b_ub=np.concatenate(limits), bounds=(0, None), method="highs")
    if found.status != 0:
        return None
    prices = np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)
    return prices[: 2 * h * slots].reshape(2, h, slots)


def fat_tree_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of prices of slots on a total exchange in a fat tree, where it beats those of `fat_trees`."""
    levels, demands = case.network.levels, case.hub_demands
    if levels is None or not case.whole or case.limited or len(demands) != 1:
        return
    if demands[0].shared or not demands[0].everywhere or levels.height < 2:
        return
    known = max(int(bound.value) for family in (branch_bounds, leaf_bounds) for bound in family(case))
    if levels.height * (levels.height + 1) * known > LARGEST:
        return
    best: SlotPrices | None = None
    slots, step, most = known, 1, None
    while most is None or slots < most:  # steps that grow, then halves: `slots - 1` is proved not to be enough
        tried = slots + step - 1 if most is None else (slots + most) // 2
        found = slot_prices(levels, tried)
        if found is not None and found.proves:
            best, slots, step = found, tried + 1, 2 * step
        else:
            most = tried
    if best is None:
        return
    text = (
        f"with a price for each of {slots - 1:,} slots of the branches of each level, all messages must pay "
        f"{best.needed:,}, and all slots are worth {best.offered:,}"
    )
    yield Bound("prices of slots", Fraction(slots), text, "load", _SOURCE)
