"""Bounds from the hops that must happen, all together, against those that the network can make in a step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.demands import Demand, HubDemand
from gossamer.bounds.metric import axes_of
from gossamer.bounds.problem import Problem
from gossamer.writing import quantity

__all__ = ["load_bounds"]


def load_bounds(problem: Problem) -> Iterator[Bound]:
    """Yield the bound of all hops, and on grids and products those of the hops along each axis.

    A message for one node makes at least as many hops as it has distance to go. A message for many nodes makes at
    least one hop to each, and a contribution to a reduction at least one from each node but the root.
    """
    hops = sum(_hops(problem, d) for d in problem.demands)
    capacity, text = problem.total_capacity
    yield Bound(
        "total hops",
        problem.steps(hops, capacity),
        f"all messages together need {quantity(hops, 'hop')}, made {text}",
        "load",
        "Dimakopoulos 1996, (4.4), (4.5)" if problem.limited else "folklore: hops needed over links",
    )
    if any(d.shared for d in problem.demands):
        return
    axes = axes_of(problem.metric)
    n = problem.network.node_count
    for axis in axes if len(axes) > 1 else ():
        if not axis.links:
            continue
        links = axis.links * (n // axis.size) * (1 if problem.limited else problem.network.uniform_capacity or 1)
        capacity, text = links, f"over {quantity(links, 'link')} along it"
        if problem.limited and n < links:
            capacity, text = n, f"by {quantity(n, 'node')}, one each a step"
        hops = 0
        for demand in problem.demands:
            if isinstance(demand, HubDemand):
                status = axis.metric.statuses(np.arange(axis.size), not demand.outward)
                count = np.bincount(axis.place(problem.hubs(demand)), minlength=axis.size)
                hops += int(count @ status) * (n // axis.size) * (n if problem.invariant else 1)
            else:
                origin = demand.origin[demand.message]
                hops += int(axis.metric.between(axis.place(origin), axis.place(demand.target)).sum())
        if hops:
            text = f"all messages together need {quantity(hops, 'hop')} along {axis.name}, made {text}"
            yield Bound(
                f"hops along {axis.name}", problem.steps(hops, capacity), text, "load",
                "folklore: hops needed over links; Dimakopoulos 1996, Theorem 5.1",
            )  # fmt: skip


def _hops(problem: Problem, demand: Demand) -> int:
    """Return the least number of hops of all messages of a demand."""
    if isinstance(demand, HubDemand):
        if demand.shared:
            return demand.hubs.size * (demand.terminal_count - 1)
        times = problem.network.node_count if problem.invariant else 1
        return times * int(problem.metric.statuses(problem.hubs(demand), not demand.outward).sum())
    distance = problem.metric.between(demand.origin[demand.message], demand.target)
    if not demand.shared:
        return int(distance.sum())
    furthest = np.maximum.reduceat(distance, demand.first[:-1])
    return int(np.maximum(np.diff(demand.first), furthest).sum())
