"""Bounds from cuts around boxes of an array or torus, for exchanges of a part of the nodes.

Where the active nodes sit close together, the links around them are the bottleneck, and the best cut is a box rather
than a slab. With a box U of an array or torus with N nodes, H of them active and a of these in U, a partial exchange
sends a(N-|U|) messages out of U and (H-a)|U| into it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gossamer.bounds.axes import axis_capacity
from gossamer.bounds.bound import Bound
from gossamer.bounds.cuts import MAX_POSITIONS, SOURCE
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand
from gossamer.questions.cases.metric import Axis, axes_of
from gossamer.writing import quantity

__all__ = ["MAX_BOXES", "box_bounds"]

MAX_BOXES = 500_000
"""Of more boxes, those with evenly spread faces are tried, and the best one is improved dimension by dimension."""
_CORNERS, _CORNERS_OF_A_NODE = 4_000_000, 8
"""Corners of boxes that are counted in any case, and for each node: in a hypercube of d dimensions there are 3**d."""

Interval = tuple[Counts, Counts]
"""First positions and lengths of the intervals of a dimension that are tried."""


def box_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best box cut of a personalized task between some nodes and all, in two or more dimensions.

    Nothing where there are far more corners of boxes than nodes, as in hypercubes of 14 and more dimensions.
    """
    axes = [a for a in axes_of(case.metric) if a.size > 1]
    demand = case.demands[0]
    grid = len(axes) > 1 and all(a.wraps is not None for a in axes)
    if not grid or not isinstance(demand, HubDemand) or demand.shared or demand.everywhere or len(case.demands) > 1:
        return
    corners = math.prod((1 + bool(a.wraps)) * a.size + 1 for a in axes)
    if corners > max(_CORNERS, _CORNERS_OF_A_NODE * case.network.node_count):
        return
    boxes = _Boxes(case, demand, axes)
    best: tuple[float, bool, tuple[tuple[int, int], ...]] = (0.0, False, ())
    for way in (False, True):
        ratio, box = boxes.best(way, boxes.spread())
        while boxes.thinned:
            before = ratio
            for i, axis in enumerate(axes):
                one = [(np.array([first]), np.array([length])) for first, length in box]
                one[i] = _intervals(axis, _faces(axis, MAX_POSITIONS))
                improved, there = boxes.best(way, one)
                if improved > ratio:
                    ratio, box = improved, there
            if ratio <= before:
                break
        if ratio > best[0]:
            best = ratio, way, box
    if best[0]:
        yield boxes.bound(best[1], best[2])


def _faces(axis: Axis, limit: int) -> Counts:
    """Return positions at which intervals of a dimension may begin or end, evenly spread if more than `limit`."""
    return np.linspace(0, axis.size, min(axis.size, limit) + 1).astype(np.int64)


def _intervals(axis: Axis, faces: Counts) -> Interval:
    """Return the intervals between faces, in a ring those over its end too."""
    a, b = np.meshgrid(faces, faces, indexing="ij")
    keep = b > a
    first, length = a[keep], (b - a)[keep]
    if axis.wraps:
        over = (b < a) & (b > 0) & (a < axis.size)
        first = np.concatenate([first, a[over]])
        length = np.concatenate([length, (b - a)[over] + axis.size])
    return first, length


class _Boxes:
    """Boxes of a grid, and how many hubs, nodes and links around them they have."""

    def __init__(self, case: Case, demand: HubDemand, axes: list[Axis]) -> None:
        self.case = case
        self.demand = demand
        self.axes = axes
        sides = [a.size for a in axes]
        where = np.zeros(demand.hubs.size, np.int64)
        for a in axes:
            where = where * a.size + a.place(demand.hubs)
        count = np.bincount(where, minlength=int(np.prod(sides))).reshape(sides).astype(np.int32)
        for i, a in enumerate(axes):  # hubs below each corner; a ring is laid out twice, for intervals over its end
            count = np.cumsum(np.concatenate([count, count], axis=i) if a.wraps else count, axis=i, dtype=np.int32)
            count = np.pad(count, [(int(k == i), 0) for k in range(len(axes))])
        self.below = count
        self.capacity = max(axis_capacity(case, axis) for axis in axes)
        self.thinned = False

    def spread(self) -> list[Interval]:
        """Return intervals with evenly spread faces, all of them if these make at most `MAX_BOXES` boxes."""
        faces = max(a.size for a in self.axes)
        while True:
            chosen = [_intervals(a, _faces(a, faces)) for a in self.axes]
            if np.prod([float(first.size) for first, _ in chosen]) <= MAX_BOXES or faces == 1:
                return chosen
            self.thinned = True
            faces -= max(1, faces // 8)

    def hubs(self, box: list[Interval]) -> Counts:
        """Return the hubs in each box, one axis for each dimension's intervals."""
        count = self.below
        for i in np.argsort([first.size for first, _ in box], kind="stable").tolist():  # the narrowest result first
            first, length = box[i]
            count = np.take(count, first + length, axis=i) - np.take(count, first, axis=i)
        return count.astype(np.int64)

    def measures(self, box: list[Interval]) -> tuple[Counts, Counts, Counts]:
        """Return the nodes, the links leaving (as many enter), and the nodes with such links, of each box."""
        rank = len(self.axes)
        nodes, inner = np.ones([1] * rank, np.int64), np.ones([1] * rank, np.int64)
        faces = []
        for i, (axis, (first, length)) in enumerate(zip(self.axes, box, strict=True)):
            shape = [-1 if k == i else 1 for k in range(rank)]
            if axis.wraps:
                open_faces = np.where(length < axis.size, 2, 0)
            else:
                open_faces = (first > 0).astype(np.int64) + (first + length < axis.size)
            nodes = nodes * length.reshape(shape)
            inner = inner * np.maximum(length - open_faces, 0).reshape(shape)
            faces.append((open_faces / length).reshape(shape))
        links = np.rint(nodes * sum(faces)).astype(np.int64)
        return nodes, links * self.capacity, nodes - inner

    def capacities(self, box: list[Interval], entering: bool) -> tuple[Counts, Counts]:
        """Return the nodes of each box, and the packets per slot that leave (or enter) it."""
        nodes, links, shell = self.measures(box)
        rest = self.case.network.node_count - nodes
        tails, heads = (rest, shell) if entering else (shell, rest)
        if self.case.send_limited:
            links = np.minimum(links, tails)
        if self.case.receive_limited:
            links = np.minimum(links, heads)
        return nodes, links

    def best(self, entering: bool, box: list[Interval]) -> tuple[float, tuple[tuple[int, int], ...]]:
        """Return the largest messages/capacity of the boxes, and the (first, length) of that box in each dimension."""
        nodes, capacity = self.capacities(box, entering)
        count = self.demand.crossings(self.hubs(box), nodes)[entering]
        ratio = np.where(capacity > 0, count / np.maximum(capacity, 1), 0.0)
        k = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        chosen = tuple((int(first[i]), int(length[i])) for (first, length), i in zip(box, k, strict=True))
        return float(ratio[k]), chosen

    def bound(self, entering: bool, box: tuple[tuple[int, int], ...]) -> Bound:
        """Return the bound of one box."""
        one = [(np.array([first]), np.array([length])) for first, length in box]
        nodes, capacity = (int(x.item()) for x in self.capacities(one, entering))
        hubs = self.hubs(one)
        count = int(self.demand.crossings(hubs, np.full_like(hubs, nodes))[entering].item())
        spans = []
        for axis, (first, length) in zip(self.axes, box, strict=True):
            last = (first + length - 1) % axis.size
            if length < axis.size:
                spans.append(f"{first}" if length == 1 else f"{first}..{last}")
            else:
                spans.append("*")
        across = quantity(capacity, "packet") + " a step" if self.case.limited else quantity(capacity, "link")
        text = (
            f"{quantity(nodes, 'node')} in the box ({','.join(spans)}), {int(hubs.item()):,} of them active | "
            f"{self.case.network.node_count - nodes:,} nodes, {across} across: "
            f"{quantity(count, self.case.what)} must {'enter' if entering else 'leave'}"
        )
        return Bound("box cut", self.case.steps(count, capacity), text, "cut", SOURCE)
