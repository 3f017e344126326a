"""Bounds from the hops that must happen, all together, against those that the network can make in a step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.axes import axis_capacity
from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Demand, HubDemand
from gossamer.questions.cases.metric import axes_of
from gossamer.writing import quantity

__all__ = ["least_hops", "load_bounds"]


def load_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of all hops, and on grids and products those of the hops along each axis.

    A message for one node makes at least as many hops as it has distance to go. A message for many nodes makes at
    least one hop to each, and a contribution to a reduction at least one from each node but the root.
    """
    hops = sum(least_hops(case, d) for d in case.demands)
    capacity, text = case.total_capacity
    yield Bound(
        "total hops",
        case.steps(hops, capacity),
        f"all messages together need {quantity(hops, 'hop')}, made {text}",
        "load",
        "Dimakopoulos 1996, (4.4), (4.5)" if case.limited else "folklore: hops needed over links",
    )
    if any(d.shared for d in case.demands):
        return
    axes = axes_of(case.metric)
    n = case.network.node_count
    for axis in axes if len(axes) > 1 else ():
        if not axis.links:
            continue
        links = axis.links * (n // axis.size) * axis_capacity(case, axis)
        capacity, text = links, f"over {quantity(links, 'link')} along it"
        if case.limited and n < links:
            capacity, text = n, f"by {quantity(n, 'node')}, one each a step"
        hops = 0
        for demand in case.demands:
            if isinstance(demand, HubDemand):
                status = axis.metric.statuses(np.arange(axis.size), not demand.outward)
                count = np.bincount(axis.place(case.hubs(demand)), minlength=axis.size)
                hops += int(count @ status) * (n // axis.size) * (n if case.invariant else 1)
            else:
                origin = demand.origin[demand.message]
                hops += int(axis.metric.between(axis.place(origin), axis.place(demand.target)).sum())
        if hops:
            text = f"all messages together need {quantity(hops, 'hop')} along {axis.name}, made {text}"
            yield Bound(
                f"hops along {axis.name}", case.steps(hops, capacity), text, "load",
                "folklore: hops needed over links; Dimakopoulos 1996, Theorem 5.1",
            )  # fmt: skip


def least_hops(case: Case, demand: Demand) -> int:
    """Return the least number of hops of all messages of a demand."""
    if isinstance(demand, HubDemand):
        if demand.shared:
            return demand.hubs.size * (demand.terminal_count - 1)
        times = case.network.node_count if case.invariant else 1
        return times * int(case.metric.statuses(case.hubs(demand), not demand.outward).sum())
    distance = case.metric.between(*demand.pairs)
    if not demand.shared:
        return int(distance.sum())
    furthest = np.maximum.reduceat(distance, demand.first[:-1])
    return int(np.maximum(np.diff(demand.first), furthest).sum())
