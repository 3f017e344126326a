"""Bounds from the branches and the routing nodes of fat trees.

A message that climbs out of a subtree of height i-1 takes i-1 hops to its root, one over the branch, and at least i
more to another leaf: m messages over a branch of capacity c take ceil(m/c) + 2i-1 steps. Where nodes send one packet
a slot, a routing node of level i that must send m of them takes as long, with capacity 1.

In a total exchange the time on the way counts too. A leaf sends and receives at most c_1 packets a step, so the
departures have an earliest and the arrivals a latest sum; what lies between must hold the ways of all messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.proofs import Cut, Load
from gossamer.networks.structures import Levels
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand

__all__ = ["branch_bounds", "leaf_bounds", "least_with_holes", "least_with_ways", "routing_node_bounds"]


def _hubs(demand: HubDemand, leaves: int) -> Counts:
    """Return the number of hubs in each subtree of so many leaves, from left to right."""
    return np.bincount(demand.hubs // leaves, minlength=demand.terminal_count // leaves)


def branch_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best branch of a fat tree, upwards or downwards."""
    levels = case.network.levels
    demands = case.hub_demands
    if levels is None or not demands:
        return
    best: Bound | None = None
    for i in range(1, levels.height + 1):
        leaves = levels.leaves[i - 1]
        capacity = 1 if case.limited else levels.capacities[i - 1]
        subtree = np.full(demands[0].terminal_count // leaves, leaves, np.int64)
        crossings = [d.crossings(_hubs(d, leaves), subtree) for d in demands]
        for way, verb in ((0, "leave"), (1, "enter")):
            count = np.sum([c[way] for c in crossings], axis=0)
            k = int(np.argmax(count))
            number = int(count[k])
            if not number:
                continue
            # one shared message for all: the last one up must still get to the leaves furthest from this branch
            climbs = len(demands) == 1 and demands[0].shared and (way == 0) == demands[0].outward
            wait = 2 * levels.height - 1 if climbs else 2 * i - 1
            load = Load.of(number, capacity, wait, case.whole)
            cut = Cut.by(load, nodes=levels.below(i - 1, k), enter=bool(way))
            if best is not None and cut.value <= best.value:
                continue
            text = (
                f"{case.packets_text(number)} must {verb} the "
                f"{'leaf' if leaves == 1 else f'{leaves:,} leaves'} below a level-{i} branch, at most "
                f"{quantity(capacity, 'packet')} {case.units.rate_text}"
            )
            if case.whole:
                text += f", plus {case.time_text(wait)} before and after"
            best = Bound.of("branch cut", cut, text, "cut", "Dimakopoulos 1996, (6.4), for every level")
    if best is not None:
        yield best


def routing_node_bounds(case: Case) -> Iterator[Bound]:
    """Yield the routing node of a fat tree that must send or receive most, under a port limit."""
    levels = case.network.levels
    if levels is None or not case.limited:
        return
    for demand in case.demands:
        if not isinstance(demand, HubDemand):
            continue
        best: Bound | None = None
        for i in range(1, levels.height + 1):
            for count, sends, wait in _loads(case, demand, i):
                load = Load.of(count, 1, wait, case.whole)
                if best is None or load.value > best.value:
                    verb = "send" if sends else "receive"
                    text = f"a level-{i} node must {verb} {case.packets_text(count, demand.what)} one at a time"
                    text += case.each_text(1)
                    if case.whole:
                        text += f", plus {case.time_text(wait)} before and after"
                    best = Bound.of(
                        f"routing node {verb}s", load, text, "separator",
                        "Dimakopoulos 1996, Theorems 6.3 and 6.6, for every level",
                    )  # fmt: skip
        if best is not None:
            yield best


def _loads(case: Case, demand: HubDemand, level: int) -> Iterator[tuple[int, bool, int]]:
    """Yield what the busiest node of a level must send (or receive), whether it sends, and the steps around that."""
    levels = case.network.levels
    assert levels is not None
    n, leaves, own = demand.terminal_count, levels.leaves[level - 1], levels.leaves[level]
    # hubs under each child of each node of the level
    below = _hubs(demand, leaves).reshape(-1, levels.arities[level - 1])
    inside = below.sum(axis=1)
    fan = case.send_limited if demand.outward else case.receive_limited
    trunk = case.receive_limited if demand.outward else case.send_limited
    if not demand.shared:
        through = inside * (n - leaves) + (demand.hubs.size - inside) * own
        if int(through.max()):
            yield int(through.max()), case.send_limited, 2 * level - 1
        return
    if fan:
        # each message enters each branch but that of its hub; below, a node takes a step for each child to pass it on
        into = (demand.hubs.size - below).sum(axis=1) + (inside if own < n else 0)
        yield int(into.max()), demand.outward, level + sum(levels.arities[: level - 1])
    if trunk and level == levels.height:
        yield demand.hubs.size, not demand.outward, 2 * level - 1


def least_with_holes(levels: Levels, level: int, leaf_capacity: int = 1) -> int:
    """Return the least T with ``(c*T - n + 1) * floor((T-1) / (P-1)) >= n - n_(h-i)``, ``P = 2(h-i+1)``; h >= 1.

    * `levels`: height h and leaves ``n_0, ..., n_h = n`` of the subtrees of each level.
    * `level`: i in 1..h: messages between the subtrees of height h-i count as long.
    * `leaf_capacity`: c, what a leaf sends, and receives, at most in a step.

    No total exchange takes fewer steps. Let H(t) be the holes of all leaves by step t: the receptions that they could
    have had, ``c*n*t`` in all, but did not have; by step T each has ``cT - n + 1``. No more first hops are made by
    step t, and no more short messages are received than sent. So the long messages sent by step t are at most H(t)
    and the long ones received by then, which were sent by step t-P+1: ``sent(t) <= H(T) + sent(t-P+1)``. All ``n*(n -
    n_(h-i))`` long messages are sent by step T-P+1, from where this can be used ``floor((T-1)/(P-1))`` times. The
    source takes P steps, not P-1, from one use to the next.

    Source: Dimakopoulos 1996, (6.6), (6.7) and Theorem 6.10; erratum 9.11.

    >>> two = Levels.uniform(2, 6)
    >>> [least_with_holes(Levels.uniform(4, 2), 1), least_with_holes(two, 1), least_with_holes(two, 3)]
    [18, 69, 70]
    """
    n, way = levels.leaves[-1], 2 * (levels.height - level + 1)
    time: int = max(way, -(-(n - 1) // leaf_capacity))
    while (leaf_capacity * time - n + 1) * ((time - 1) // (way - 1)) < n - levels.leaves[levels.height - level]:
        time += 1
    return time


def least_with_ways(levels: Levels, leaf_capacity: int = 1) -> int:
    """Return the least T that leaves room for the ways of all messages of a total exchange, for h >= 1.

    `levels`: the shape of the tree, of n leaves. `leaf_capacity`: c, what a leaf sends, and receives, at most in a
    step.

    Let F be the sum of the first steps in which a leaf can send its n-1 messages, c a step. The steps in which they
    arrive have at most the sum ``(n-1) * (T+1) - F``, and a message that goes d hops arrives at least d-1 steps after
    the one in which it leaves. With D the sum of the distances from a leaf, ``(n-1) * (T+1) - 2F >= D - (n-1)``. For
    ``c = 1`` this is ``T >= n - 2 + D/(n-1)``, the average distance; in k-ary trees ``n + 2h - 2`` for k >= 3, ``n + 2h
    - 3`` for k = 2 and h >= 3. With exponential capacities the phases of Dimakopoulos 1996, section 6.3.3, take ``n +
    2h - 2``.

    >>> [least_with_ways(Levels.uniform(k, h)) for k, h in [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)]]
    [6, 11, 21, 11, 31, 18]
    """
    return int(_ways(levels, leaf_capacity).value)


def _ways(levels: Levels, leaf_capacity: int) -> Load:
    """Return what the n - 1 messages of a leaf need of its steps: their ways, and waits at both ends."""
    n = levels.leaves[-1]
    full, rest = divmod(n - 1, leaf_capacity)
    first = leaf_capacity * full * (full + 1) // 2 + rest * (full + 1)
    return Load.of(_distances(levels) + 2 * first, n - 1, -2)


def _distances(levels: Levels) -> int:
    """Return the sum of the distances from a leaf to all others."""
    return sum(2 * i * (n - inner) for i, (inner, n) in enumerate(itertools.pairwise(levels.leaves), 1))


def leaf_bounds(case: Case) -> Iterator[Bound]:
    """Yield two bounds on a total exchange in a fat tree from the time that messages are on their way."""
    levels, demands = case.network.levels, case.hub_demands
    if levels is None or not case.whole or len(demands) != 1 or demands[0].shared or not demands[0].everywhere:
        return
    h, n = levels.height, demands[0].terminal_count
    capacity = 1 if case.limited else levels.capacities[0]
    text = (
        f"each leaf sends and receives {case.packets_text(n - 1, 'message')}, at most {capacity:,} "
        f"{case.units.rate_text}, and its messages go {_distances(levels):,} hops in all"
    )
    yield Bound.of("time on the way", _ways(levels, capacity), text, "load", "gossamer")
    steps, level = max((least_with_holes(levels, i, capacity), -i) for i in range(1, h + 1))
    missed = quantity(max(capacity * (steps - 1) - n + 1, 0), "reception")
    text = (
        f"{case.packets_text(n - levels.leaves[h + level], 'message')} of each leaf take "
        f"{case.time_text(2 * (h + level + 1))} or more, and within {case.time_text(steps - 1)} each leaf can "
        f"miss only {missed}"
    )
    yield Bound("idle leaves", Fraction(steps), text, "load", "Dimakopoulos 1996, Theorem 6.10, with (6.6) corrected")
