"""Bounds from the branches and the routing nodes of fat trees.

A message that climbs out of a subtree of height i-1 takes i-1 hops to its root, one over the branch, and at least i
more to another leaf: m messages over a branch of capacity c take ceil(m/c) + 2i-1 steps. Where nodes send one packet
a slot, a routing node of level i that must send m of them takes as long, with capacity 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.demands import Counts, HubDemand
from gossamer.bounds.problem import Problem, quantity

__all__ = ["branch_bounds", "routing_node_bounds"]


def _hubs(demand: HubDemand, leaves: int) -> Counts:
    """Return the number of hubs in each subtree of so many leaves, from left to right."""
    return np.bincount(demand.hubs // leaves, minlength=demand.terminal_count // leaves)


def branch_bounds(problem: Problem) -> Iterator[Bound]:
    """Yield the best branch of a fat tree, upwards or downwards."""
    levels = problem.network.levels
    demands = problem.hub_demands
    if levels is None or not demands:
        return
    best: Bound | None = None
    for i in range(1, levels.height + 1):
        leaves = levels.arity ** (i - 1)
        capacity = 1 if problem.limited else levels.capacities[i - 1]
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
            steps = problem.steps(number, capacity, wait)
            if best is not None and steps <= best.value:
                continue
            text = (
                f"{'1 leaf' if leaves == 1 else f'{leaves:,} leaves'} below a level-{i} branch of capacity "
                f"{capacity:,}: {quantity(number, problem.what)} must {verb}"
            )
            if problem.whole:
                text += f", {quantity(wait, 'more step')} before and after"
            best = Bound("branch cut", steps, text, "cut", "Dimakopoulos 1996, (6.4), for every level")
    if best is not None:
        yield best


def routing_node_bounds(problem: Problem) -> Iterator[Bound]:
    """Yield the routing node of a fat tree that must send or receive most, under a port limit."""
    levels = problem.network.levels
    if levels is None or not problem.limited:
        return
    for demand in problem.demands:
        if not isinstance(demand, HubDemand):
            continue
        best: Bound | None = None
        for i in range(1, levels.height + 1):
            for count, sends, wait in _loads(problem, demand, i):
                steps = problem.steps(count, 1, wait)
                if best is None or steps > best.value:
                    verb = "send" if sends else "receive"
                    text = f"a level-{i} node must {verb} {quantity(count, demand.what)}, one a step"
                    if problem.whole:
                        text += f", {quantity(wait, 'more step')} before and after"
                    best = Bound(
                        f"routing node {verb}s", steps, text, "separator",
                        "Dimakopoulos 1996, Theorems 6.3 and 6.6, for every level",
                    )  # fmt: skip
        if best is not None:
            yield best


def _loads(problem: Problem, demand: HubDemand, level: int) -> Iterator[tuple[int, bool, int]]:
    """Yield what the busiest node of a level must send (or receive), whether it sends, and the steps around that."""
    levels = problem.network.levels
    assert levels is not None
    k, n = levels.arity, demand.terminal_count
    leaves = k ** (level - 1)
    below = _hubs(demand, leaves).reshape(-1, k)  # hubs under each child of each node of the level
    inside = below.sum(axis=1)
    fan = problem.send_limited if demand.outward else problem.receive_limited
    trunk = problem.receive_limited if demand.outward else problem.send_limited
    if not demand.shared:
        through = inside * (n - leaves) + (demand.hubs.size - inside) * k * leaves
        if int(through.max()):
            yield int(through.max()), problem.send_limited, 2 * level - 1
        return
    if fan:
        # each message enters each branch but that of its hub; below, a node takes k steps a level to pass it on
        into = (demand.hubs.size - below).sum(axis=1) + (inside if k * leaves < n else 0)
        yield int(into.max()), demand.outward, level + k * (level - 1)
    if trunk and level == levels.height:
        yield demand.hubs.size, not demand.outward, 2 * level - 1
