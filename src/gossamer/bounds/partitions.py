"""Bounds from what must get from part to part of a network, all parts counted together.

The terminals are divided into parts; what lies between them are switches. A message enters every part that wants it and
does not have it, and leaves the part that has it; contributions of a part leave it. Where switches between the parts do
not combine, each of these departures is an arrival in another part, so that a reduction enters as many parts as have a
share in it; where they do not copy, a message leaves parts as often as it enters some. The largest cut around one part
counts one of these alone: what a reduction brings into its root's part, say, but not what it brings into the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.earliest_arrivals import takes_time
from gossamer.bounds.grid_cuts import MAX_POSITIONS, SOURCE, across_text
from gossamer.bounds.ports import axis_capacity
from gossamer.bounds.proofs import Cut, Load, Partition, served
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.distances import Axis, axes_of

__all__ = ["MAX_BOXES", "Moves", "box_bounds", "moves_between", "part_bounds", "time_between"]

# Bounds from cuts around boxes of an array or torus, for exchanges of a part of the nodes.
#
# Where the active nodes sit close together, the links around them are the bottleneck, and the best cut is a box rather
# than a slab. With a box U of an array or torus with N nodes, H of them active and a of these in U, a partial exchange
# sends a(N-|U|) messages out of U and (H-a)|U| into it.

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
        active, where = int(hubs.item()), f"in the box ({','.join(spans)})"
        text = (
            f"{self.case.packets_text(count)} must {'enter' if entering else 'leave'} "
            f"{self.case.set_text(nodes, where)}"
            f"{f', {active:,} of them active,' * (active < nodes)}{across_text(self.case, capacity)}"
        )
        every = np.arange(self.case.network.node_count)
        inside = np.ones(every.size, np.bool_)
        for axis, (first, length) in zip(self.axes, box, strict=True):
            inside &= (axis.place(every) - first) % axis.size < length
        cut = Cut.by(Cut.of(count, capacity, whole=self.case.whole), side=np.flatnonzero(inside != entering))
        return Bound.of("box cut", cut, text, "cut", SOURCE)


LARGEST = 200_000
"""Links up to which networks are divided."""

_DIVISIONS = 4


class Moves(NamedTuple):
    """How often messages must enter parts, and leave parts, in all."""

    enter: int
    leave: int


def moves_between(demand: Demand, part: Counts, copies: bool, combines: bool) -> Moves:
    """Return how often messages of a demand must enter parts and leave parts.

    `part` (int64[N]): the part of each node, from 0; -1 of a switch that is in none. Every terminal is in one.
    `copies`, `combines`: whether a node outside the parts may copy messages, or combine contributions.

    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=2"), gossamer.task("reduce"))
    >>> part = np.array([0, 0, 1, 1, -1, -1, -1])
    >>> moves_between(case.demands[0], part, True, False), moves_between(case.demands[0], part, True, True)
    (Moves(enter=1, leave=1), Moves(enter=1, leave=1))
    """
    if isinstance(demand, HubDemand):
        own, every = part[demand.hubs], np.bincount(part[: demand.terminal_count])
        if demand.shared:
            others = int((every > 0).sum()) - 1
            many, once = demand.hubs.size * others, demand.hubs.size * min(others, 1)
        else:
            many = once = demand.hubs.size * demand.terminal_count - int(every[own].sum())
    else:
        origin, target = part[demand.origin[demand.message]], part[demand.target]
        away = np.flatnonzero(origin != target)
        message = demand.message[away]
        many = once = away.size
        if demand.shared:
            parts = int(part.max()) + 1
            many, once = (np.unique(x).size for x in (message * parts + target[away], message))
    if not demand.shared:
        return Moves(many, many)
    if demand.outward:
        return Moves(many, once if copies else many)
    return Moves(once if combines else many, many)


def time_between(case: Case, part: Counts, enter: bool) -> tuple[Fraction, Load, Counts] | None:
    """Return the time that messages need to enter (or leave) parts, what they load, and over which links; or None.

    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=2"), gossamer.task("reduce-scatter"))
    >>> time, load, links = time_between(case, np.array([0, 1, 2, 3, -1, -1, -1]), True)
    >>> time, load.needed, links.size
    (Fraction(4, 1), 12, 4)
    """
    links = case.links
    outside = bool((part < 0).any())
    copies, combines = outside and case.rules.replication, outside and case.rules.reduction
    messages = sum(moves_between(d, part, copies, combines)[0 if enter else 1] for d in case.demands)
    here, there = part[links.source], part[links.target]
    across = np.flatnonzero((here != there) & ((there if enter else here) >= 0))
    if not messages or not across.size:
        return None
    terminals = np.arange(case.network.terminal_count)
    head = links.travel(terminals).depart[across]
    tail = links.turned.travel(terminals).depart[links.turned_place[across]]
    time, load = max(((load.value, load) for load in served(links, across, messages, head, tail)), key=lambda f: f[0])
    return time, load, links.number[across]


def part_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best division of the terminals into parts, by what enters them and by what leaves them.

    It tells more than cuts around single parts where several collectives share the links, or where switches do not
    combine or not copy; elsewhere it is left out.
    """
    net = case.network
    told = len(case.demands) > 1 or net.terminal_count < net.node_count
    if not told or not any(d.shared for d in case.demands) or not net.link_count or net.link_count > LARGEST:
        return
    if net.terminal_count == net.node_count and not takes_time(case):
        return  # then every terminal alone is "total hops", and nothing else divides
    best: tuple[Fraction, Partition, str] | None = None
    for part in _divisions(case):
        for enter in (True, False):
            found = time_between(case, part, enter)
            if found is None or (best is not None and found[0] <= best[0]):
                continue
            time, load, links = found
            count = int(part.max()) + 1
            size = int(np.bincount(part[part >= 0]).max())
            parts = f"{quantity(count, 'part')} of up to {quantity(size, 'node')}"
            parts = quantity(count, "terminal") if count == net.terminal_count else parts
            way = "enter" if enter else "leave"
            text = f"{case.packets_text(load.needed)} in all must {way} {parts}, over {case.links_text(links)}"
            best = time, Partition.by(load, part=part), text
    if best is not None:
        yield Bound.of("between parts", *best[1:], "cut", "folklore: all cuts around parts, counted together")


def _divisions(case: Case) -> Iterator[Counts]:
    """Yield divisions: each terminal by itself, and what fast links, or switches at terminals, join."""
    links, n, terminals = case.links, case.network.node_count, case.network.terminal_count
    alone = np.full(n, -1, np.int64)
    alone[:terminals] = np.arange(terminals)
    yield alone
    measure = links.occupancy / links.capacity
    for value in np.unique(measure)[:-1][:_DIVISIONS].tolist():
        yield from _joined(case, measure <= value)
    if terminals < n:  # what hangs on the same first switches
        yield from _joined(case, np.minimum(links.source, links.target) < terminals)


def _joined(case: Case, some: np.ndarray) -> Iterator[Counts]:
    """Yield the parts that some links join, if there are several and not each terminal is one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links, n, terminals = case.links, case.network.node_count, case.network.terminal_count
    graph = coo_array((np.ones(int(some.sum())), (links.source[some], links.target[some])), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    used = np.unique(part[:terminals])
    if 1 < used.size < terminals:
        place = np.full(int(part.max()) + 1, -1, np.int64)
        place[used] = np.arange(used.size)
        yield place[part]
