"""Bounds from distance: a message needs a step for each hop of a shortest path, if it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import HubDemand
from gossamer.writing import quantity

__all__ = ["distance_bounds"]


def distance_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for each demand, the distance of the message that travels furthest.

    Parts can be so small that distance costs no time: where messages are split there is no such bound.
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
            f"{quantity(steps, 'hop')} away"
        )
        source = "Dimakopoulos 1996, section 3.1" if demand.shared else "folklore: a step a hop"
        yield Bound(name, Fraction(steps), text, "distance", source)
