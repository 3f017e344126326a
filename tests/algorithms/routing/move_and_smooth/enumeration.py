"""The two line problems on every instance, compiled; written apart from the package."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def all_rows(b, c):
    """Run row movement on all contents of c nodes with at most b packets each, and all places of the extra packets.

    Returns the worst steps with fewer packets than nodes, those with more, how often the steps differ from the largest
    flow with at least as many packets as nodes, and how often a node held more than before or after.
    """
    initial, final = np.zeros(c, np.int64), np.zeros(c, np.int64)
    held, flow = np.zeros(c, np.int64), np.zeros(c, np.int64)
    few, many, other_time, fuller = 0, 0, 0, 0
    while True:
        k = 0
        while k < c and initial[k] == b:
            initial[k] = 0
            k += 1
        if k == c:
            return few, many, other_time, fuller
        initial[k] += 1
        total = initial.sum()
        for shift in range(c if total % c else 1):
            for i in range(c):
                final[(shift + i) % c] = total // c + (1 if i < total % c else 0)
            allowed, widest, owed = max(initial.max(), final.max()), 0, 0
            for i in range(1, c):
                owed += initial[i - 1] - final[i - 1]
                flow[i] = owed
                widest = max(widest, abs(owed))
            held[:] = initial
            steps, left = 0, True
            while True:
                left = False
                for i in range(1, c):
                    left = left or flow[i] != 0
                if not left:
                    break
                free = held.copy()
                for i in range(1, c):
                    if flow[i] > 0 and free[i - 1] > 0:
                        free[i - 1] -= 1
                        held[i - 1] -= 1
                        held[i] += 1
                        flow[i] -= 1
                    elif flow[i] < 0 and free[i] > 0:
                        free[i] -= 1
                        held[i] -= 1
                        held[i - 1] += 1
                        flow[i] += 1
                steps += 1
                if held.max() > allowed:
                    fuller += 1
            if total < c:
                few = max(few, steps)
            else:
                many = max(many, steps)
                if steps != widest:
                    other_time += 1


@njit(cache=True)
def all_columns(b, r, top):
    """Run column movement on all contents of r nodes with at most b packets each and r in all.

    The first `top` nodes count from the top. Returns the worst steps, how often a link was used both ways, and how
    often a node held more than before (or more than one).
    """
    initial = np.zeros(r, np.int64)
    at, target, ends = np.zeros(r, np.int64), np.zeros(r, np.int64), np.zeros(r, np.int64)
    worst, both_ways, fuller = 0, 0, 0
    while True:
        k = 0
        while k < r and initial[k] == b:
            initial[k] = 0
            k += 1
        if k == r:
            return worst, both_ways, fuller
        initial[k] += 1
        total = initial.sum()
        if total > r:
            continue
        n, above = 0, 0
        for i in range(top):
            for _ in range(initial[i]):
                at[n], target[n] = i, above
                n, above = n + 1, above + 1
        below = 0
        for i in range(r - 1, top - 1, -1):
            for _ in range(initial[i]):
                at[n], target[n] = i, r - 1 - below
                n, below = n + 1, below + 1
        used = np.zeros((r, 2), np.bool_)
        steps, allowed = 0, max(1, initial.max())
        while True:
            moves = 0
            chosen = np.full((r, 2), -1)
            for p in range(n):
                way = 0 if target[p] > at[p] else 1
                if target[p] == at[p]:
                    continue
                other = chosen[at[p], way]
                if other < 0 or abs(target[p] - at[p]) > abs(target[other] - at[other]):
                    chosen[at[p], way] = p
                moves += 1
            if moves == 0:
                break
            for i in range(r):
                for way in range(2):
                    p = chosen[i, way]
                    if p >= 0:
                        at[p] += 1 if way == 0 else -1
                        used[i if way == 0 else i - 1, way] = True
            steps += 1
            ends[:] = 0
            for p in range(n):
                ends[at[p]] += 1
            if ends.max() > allowed:
                fuller += 1
        for i in range(r):
            if used[i, 0] and used[i, 1]:
                both_ways += 1
        worst = max(worst, steps)


def worst_row(b, c):
    """The exact worst number of steps of row movement on c nodes with at most b packets each.

    The worst flow over link k: the k nodes to its left are full and all others empty before, and the extra packets lie
    on its right after (Han 1990, section 2.2.1).
    """
    if c <= 1 or b < 1:
        return 0
    return max(c - 1, *(b * k // c * (c - k) + min(b * k % c, c - k) for k in range(1, c)))


def column_targets(initial, top=None):
    """The targets of the packets of each node in column movement; `top` nodes count from the top, default half."""
    r = len(initial)
    top = r // 2 if top is None else top
    targets = [[] for _ in initial]
    above = 0
    for i in range(top):
        targets[i] = list(range(above, above + initial[i]))
        above += initial[i]
    below = 0
    for i in range(r - 1, top - 1, -1):
        targets[i] = [r - 1 - below - k for k in range(initial[i])]
        below += initial[i]
    return targets


def column_movement(initial, top=None):
    """Make a column movement, farthest target first; return the steps and the most packets that a node holds."""
    at = [sorted(targets) for targets in column_targets(initial, top)]
    steps, most = 0, max(initial, default=0)
    while any(target != i for i, targets in enumerate(at) for target in targets):
        arriving = []
        for i, targets in enumerate(at):
            if targets and targets[-1] > i:
                arriving.append((i + 1, targets.pop()))
            if targets and targets[0] < i:
                arriving.append((i - 1, targets.pop(0)))
        for i, target in arriving:
            at[i] = sorted([*at[i], target])
        steps, most = steps + 1, max(most, *map(len, at))
    return steps, most
