"""Eight groups of 8 ranks on torus:8x8: no placement has an alltoall in each group in 4 steps; all are looked at.

1. Sets of nodes grow node by node, one of each kind up to the 512 symmetries. A set is kept if a linear program over
   space and time has the alltoall among its nodes, alone on the torus, in 4 steps. What a set cannot do, no larger set
   can, so that every set of 8 is reached through sets that are kept.
2. Alone, a set uses some link-steps or more. The torus has 1,024 of them in 4 steps: the sets of a placement, which
   cover the torus, use no more together.
3. For each of the covers that are left, up to symmetry, the program of all its messages has no solution.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import gossamer
from gossamer.questions.tasks import Grouped

SIDE, STEPS, GROUP = 8, 4, 8
AT = np.array(list(itertools.product(range(SIDE), repeat=2)))
AROUND = np.minimum(np.arange(SIDE), SIDE - np.arange(SIDE))
FAR = AROUND[np.abs(AT[:, None] - AT)].sum(axis=2)
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


def node(x, y):
    return (x % SIDE) * SIDE + y % SIDE


def symmetries():
    """Return where each symmetry takes each node, int64[512, 64]."""
    turned = [AT * sign for sign in itertools.product((1, -1), repeat=2)]
    turned += [each[:, ::-1] for each in turned]
    moved = [(each + shift) % SIDE for each in turned for shift in AT]
    return np.array([each @ (SIDE, 1) for each in moved])


IMAGES = symmetries()


@cache
def ways(target):
    """Return the moves and waits by which a message comes from node 0 to a target in time.

    The nodes of space and time from which and to which each leads, int64[k], and its own node, direction and step; -1
    for a wait. Node 0 is the start, node 1 the end.
    """
    number = {(0, 0): 0, (target, STEPS): 1}
    rows = []
    for step, v in itertools.product(range(STEPS), range(SIDE * SIDE)):
        if FAR[0, v] > step or FAR[v, target] > STEPS - step:
            continue
        x, y = AT[v]
        onward = [(node(x + a, y + b), v, k) for k, (a, b) in enumerate(MOVES)] + [(v, -1, -1)]
        for w, at, k in onward:
            if FAR[w, target] < STEPS - step:
                ends = [number.setdefault(key, len(number)) for key in ((v, step), (w, step + 1))]
                rows.append((*ends, at, k, step))
    return np.array(rows).T, len(number)


def fewest_uses(groups):
    """Return the fewest link-steps of alltoalls in some groups at once, messages in fractions; None if they cannot."""
    ends, links, wanted, count = [], [], [], 0
    for group in groups:
        for s, d in itertools.permutations(group, 2):
            away = (AT[d] - AT[s]) % SIDE
            (tail, head, at, k, step), size = ways(int(away @ (SIDE, 1)))
            ends.append(np.stack([tail, head]) + count)
            moved = (AT[at] + AT[s]) % SIDE @ (SIDE, 1)
            links.append(np.where(at < 0, -1, (moved * len(MOVES) + k) * STEPS + step))
            wanted += [1, -1, *[0] * (size - 2)]
            count += size
    (tail, head), link = np.concatenate(ends, axis=1), np.concatenate(links)
    each = np.arange(link.size)
    flows = coo_array((np.repeat([1, -1], link.size), (np.concatenate([tail, head]), np.tile(each, 2))))
    uses = coo_array((np.ones(link.size)[link >= 0], (link[link >= 0], each[link >= 0])),
                     shape=(SIDE * SIDE * len(MOVES) * STEPS, link.size))  # fmt: skip
    found = linprog((link >= 0).astype(float), A_ub=uses.tocsr(), b_ub=np.ones(uses.shape[0]), A_eq=flows.tocsr(),
                    b_eq=wanted, method="highs")  # fmt: skip
    assert found.status in (0, 2)  # solved, or no solution
    return math.ceil(found.fun - 1e-6) if found.status == 0 else None


def first_image(nodes):
    """Return the first of the images of a set."""
    images = np.sort(IMAGES[:, list(nodes)], axis=1)
    return tuple(images[np.lexsort(images.T[::-1])[0]].tolist())


def sets_that_can():
    """Return one set of each kind with the link-steps that it uses or more."""
    kept = {(0,): 0}
    for size in range(2, GROUP + 1):
        near = ((s, np.flatnonzero((FAR[list(s)] <= STEPS).all(axis=0))) for s in kept)
        larger = {first_image((*s, v)) for s, others in near for v in others.tolist() if v not in s}
        kept = dict.fromkeys(larger, 0) if size < 5 else {s: u for s in larger if (u := fewest_uses([s])) is not None}
    return kept


def covers(kinds):
    """Return one of each kind of covers of the torus by images of sets that use no more link-steps than there are."""
    room, least = SIDE * SIDE * len(MOVES) * STEPS, min(kinds.values())
    images = {tuple(sorted(p)): uses for s, uses in kinds.items() for p in IMAGES[:, list(s)].tolist()}
    sets, used = list(images), np.array(list(images.values()))
    member = np.zeros((len(sets), SIDE * SIDE), np.int32)
    for k, each in enumerate(sets):
        member[k, list(each)] = 1
    found = {}

    def search(chosen, free, total):
        left = SIDE * SIDE // GROUP - len(chosen)
        if not left:
            labels = np.zeros(SIDE * SIDE, np.int64)
            for k, each in enumerate(chosen):
                labels[list(sets[each])] = k
            numbered = (np.unique(row, return_index=True) for row in labels[IMAGES])
            names = [np.argsort(np.argsort(first)) for _, first in numbered]
            found.setdefault(min(tuple(name[row].tolist()) for name, row in zip(names, labels[IMAGES], strict=True)))
            return
        free = free & (used + total + least * (left - 1) <= room)
        ways_on = free @ member
        ways_on[member[chosen].any(axis=0)] = len(sets) + 1
        cell = int(np.argmin(ways_on))
        for k in np.flatnonzero(free & (member[:, cell] > 0)).tolist():
            search([*chosen, k], free & ~(member @ member[k] > 0), total + int(used[k]))

    for s, uses in kinds.items():
        if uses <= room * GROUP // (SIDE * SIDE):  # every cover has one that uses no more than the mean
            k = sets.index(s)
            search([k], ~(member @ member[k] > 0), uses)
    return [[np.flatnonzero(np.array(labels) == g).tolist() for g in range(SIDE)] for labels in found]


@pytest.mark.slow
def test_no_placement_of_eight_groups_of_eight_takes_fewer_than_five_steps() -> None:
    kinds = sets_that_can()
    assert len(kinds) == 12
    assert min(kinds.values()) == 124  # 108 hops, and 16 link-steps of ways around what is crowded
    left = covers(kinds)
    assert len(left) == 9
    assert all(fewest_uses(groups) is None for groups in left)
    groups = Grouped(gossamer.task("alltoall"), [range(first, first + 8) for first in range(0, 64, 8)])
    assert gossamer.place(groups, "torus:8x8").time == 5
