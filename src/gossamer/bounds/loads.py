"""Bounds from the hops that must happen, all together, against those that the network can make in a step."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.proofs import Chain, Load
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Demand, HubDemand
from gossamer.questions.cases.distances import Axis, axes_of

__all__ = ["axis_capacity", "distance_bounds", "least_hops", "load_bounds"]

# What the links along one axis of a grid or product carry.


def axis_capacity(case: Case, axis: Axis) -> int:
    """Return the most packets that a link along an axis carries in a slot under the rules. O(L) at most.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.cases.distances import axes_of
    >>> case = Case(gossamer.network("torus:3x4,capacity=1x5"), gossamer.task("alltoall"))
    >>> [axis_capacity(case, axis) for axis in axes_of(case.metric)]
    [1, 5]
    """
    network = case.network
    if case.limited:
        return 1
    if network.uniform_capacity is not None:
        return network.uniform_capacity
    along = axis.place(network.link_source.astype(np.int64)) != axis.place(network.link_target.astype(np.int64))
    return int(network.link_capacity[along].max(initial=1))


# Bounds from distance: a message needs a step for each hop of a shortest path, if it is whole.


def distance_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for each demand, the distance of the message that travels furthest.

    Parts can be so small that distance costs no time: where messages are segmented there is no such bound.
    """
    if not case.whole:
        return
    for demand in case.demands:
        if isinstance(demand, HubDemand):
            hubs = case.hubs(demand)
            reach = case.metric.eccentricities(hubs, not demand.outward)
            hub = int(hubs[np.argmax(reach)])
            row = case.metric.row(hub, not demand.outward)
            end = int(np.argmax(row))
            steps = int(row[end])
            start, end = (hub, end) if demand.outward else (end, hub)
        else:
            starts, ends = demand.pairs
            distance = case.metric.between(starts, ends)
            row_of = int(np.argmax(distance))
            start, end = int(starts[row_of]), int(ends[row_of])
            steps = int(distance[row_of])
        name = "eccentricity" if demand.shared else "distance"
        text = (
            f"a {demand.what} of node {case.name(start)} must reach node {case.name(end)}, "
            f"{quantity(steps, 'hop')} away{case.each_text(1)}"
        )
        source = "Dimakopoulos 1996, section 3.1" if demand.shared else "folklore: a step a hop"
        yield Bound.of(name, Chain((Fraction(steps),)), text, "distance", source)


def load_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of all hops, and on grids and products those of the hops along each axis.

    A message for one node makes at least as many hops as it has distance to go. A message for many nodes makes at
    least one hop to each, and a contribution to a reduction at least one from each node but the root.
    """
    hops = sum(least_hops(case, d) for d in case.demands)
    capacity, text = case.total_capacity
    yield Bound.of(
        "total hops",
        Load.of(hops, capacity, whole=case.whole),
        f"all messages together need {case.packets_text(hops, 'hop')}, and {text}",
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
        capacity, maker = links, f"{quantity(links, 'link')} along it"
        if case.limited and n < links:
            capacity, maker = n, f"{quantity(n, 'node')}, each using one link at a time,"
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
            text = f"all messages together need {case.packets_text(hops, 'hop')} along {axis.name}, and {maker} "
            text += case.units.carry_text(capacity)
            yield Bound.of(
                f"hops along {axis.name}", Load.of(hops, capacity, whole=case.whole), text, "load",
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
