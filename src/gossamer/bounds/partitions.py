"""Bounds from what must get from part to part of a network, all parts counted together.

The terminals are divided into parts; what lies between them are switches. A message enters every part that wants it and
does not have it, and leaves the part that has it; contributions of a part leave it. Where switches between the parts do
not combine, each of these departures is an arrival in another part, so that a reduction enters as many parts as have a
share in it; where they do not copy, a message leaves parts as often as it enters some. The largest cut around one part
counts one of these alone: what a reduction brings into its root's part, say, but not what it brings into the others.
"""

from __future__ import annotations

import itertools
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
from gossamer.bounds.proofs import Cut, Load, Partition, PartsOverTime, served
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.distances import Axis, axes_of
from gossamer.questions.cases.links import FAR, Links

__all__ = [
    "MAX_BOXES",
    "Gossip",
    "Moves",
    "box_bounds",
    "gossip_bound",
    "moves_between",
    "part_bounds",
    "parts_over_time",
    "rooted_gossip_bounds",
    "time_between",
    "timed_divisions",
]

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


# Parts over time: what must get from part to part, where what is sent too early does not know enough yet, and what
# arrives too late cannot get to enough ranks.
#
# Draw a rank of each part at random, and let only what the drawn ranks contribute, and only that they learn the result,
# count. A transfer is of use if it carries the contribution of a drawn rank and can get to a drawn rank in time. What
# a rank sends at time t is made of contributions of ranks at most t away. So it is of use with a probability of at
# most the sum, over the parts, of the share of each part that is so near; backwards in time the same holds. Transfers
# of use lead from every part to every other, however the ranks were drawn, so that there are at least 2 (k - 1) of them
# between k parts (k - 1 from one part to all others). On the average over the draws they are no more than what links
# pass, each transfer counted with its probability.


class Gossip(NamedTuple):
    """What is to be known: all ranks what all know, or what a root knows; which nodes copy and combine.

    `links`: the way on which what is known moves. `members` int64[k]: the ranks. `root`: None where all have a share.
    `copies`, `combines`: whether switches do by themselves. `packets`: of each rank, or of the root.
    """

    links: Links
    members: Counts
    root: int | None
    copies: bool
    combines: bool
    packets: int

    def reversed(self) -> Gossip:
        """Return the same backwards in time."""
        return self._replace(links=self.links.turned, copies=self.combines, combines=self.copies)


_SHARE = 5040
"""Shares of a step in which times without use are counted, at most."""
_EARLIER = (1, Fraction(3, 4), Fraction(1, 2), Fraction(1, 4), Fraction(1, 8))
"""Shares of the longest time without full use after which, at last, all is taken to be of use."""
_RANKS, _PAIRS = 256, 20_000_000
"""Ranks at most, and pairs of them times switches."""


class _Use(NamedTuple):
    """How much of what is at a node is of use as time passes, of `whole`: `value` from each `time` on, in slots."""

    time: Counts
    value: Counts
    whole: int

    def lost(self, most: int) -> int:
        """Return the time without use up to a time, after which all is taken to be of use; in shares of a slot."""
        ends = np.minimum(np.append(self.time, FAR), most)
        return int(np.diff(ends, prepend=0) @ (self.whole - np.append(0, self.value)))

    @property
    def full(self) -> int:
        """From when on all is of use."""
        some = np.flatnonzero(self.value >= self.whole)
        return int(self.time[some[0]]) if some.size else FAR


def _uses(gossip: Gossip, part: Counts, merged: bool, whole: int) -> list[_Use]:
    """Return of each node how much of what can be there is of use; `merged`: whether switches combine."""
    links, n = gossip.links, gossip.links.node_count
    if gossip.root is not None:
        away = links.travel(np.array([gossip.root])).usable
        return [_Use(away[[v]], np.array([whole]), whole) for v in range(n)]
    members = gossip.members[part[gossip.members] >= 0]
    away = np.stack([links.travel(np.array([u])).usable for u in members.tolist()])
    share = -(-whole // np.bincount(part[members])[part[members]])
    order = np.argsort(away, axis=0, kind="stable")
    time = np.take_along_axis(away, order, axis=0)
    value = np.minimum(np.cumsum(share[order], axis=0), whole)
    found = [_Use(time[:, v], value[:, v], whole) for v in range(n)]
    if not merged:  # what one rank put together passes switches
        ranks = np.arange(links.terminal_count)
        ways = np.stack([links.travel(np.array([u])).usable for u in ranks.tolist()])
        for v in range(links.terminal_count, n):
            times = (time[:, ranks] + ways[:, v]).ravel()
            first = np.argsort(times, kind="stable")
            found[v] = _Use(times[first], np.maximum.accumulate(value[:, ranks].ravel()[first]), whole)
    return found


def parts_over_time(gossip: Gossip, part: Counts) -> PartsOverTime | None:
    """Return how long it takes at least until all is known that must be, by what gets from part to part; or None.

    `gossip`: all terminals are members; switches do not combine (for those that do, see `Gossip.reversed`). `part`,
    int64[N]: the part of each node, from 0; -1 of a switch in none, where switches copy. There a hop into a part counts
    as one transfer. Where they do not copy, a transfer between ranks of different parts leaves one part and enters
    another, or passes so many links between parts at least.

    Four ranks in a row, 3 slots from one to the next. In the first 3 slots half of what leaves the first two is of use,
    and in the last 3 half of what enters the last two.

    >>> import gossamer
    >>> network, rules = gossamer.network("array:4").with_times(1, 3), gossamer.Rules(segmented=True)
    >>> links = Case(network, gossamer.task("allreduce"), rules).links
    >>> all_know = Gossip(links, np.arange(4), None, False, False, 16)
    >>> parts_over_time(all_know, np.array([0, 0, 1, 1])).value  # 16 slots of packets, 3 on the way, 3/2 + 3/2
    Fraction(22, 1)
    """
    links, members = gossip.links, gossip.members
    if gossip.combines or links.send_limited or links.receive_limited or links.ports is not None:
        return None
    if members.size > _RANKS or members.size**2 * max(links.node_count - links.terminal_count, 1) > _PAIRS:
        return None
    own = -1 if gossip.root is None else int(part[gossip.root])
    having = np.unique(part[members])
    held = having[having != own]
    many = held.size if gossip.root is not None else 2 * (held.size - 1)
    here, there = part[links.source], part[links.target]
    entering, leaving = np.isin(there, held) & (here != there), np.isin(here, having) & (here != there)
    if many < 1 or not entering.any():
        return None
    others = part if own < 0 else np.where(part == own, -1, part)
    whole = min(math.lcm(*np.bincount(part[members])[having].tolist()), _SHARE)
    heads = _uses(gossip, part, False, whole)
    tails = _uses(gossip.reversed()._replace(root=None), others, gossip.copies, whole)
    ways = [(entering, 1)]
    if not gossip.copies:
        ways += [(leaving, 1), (here != there, _fewest_between(links, part, members))]
    best: PartsOverTime | None = None
    for across, pays in ways:
        some = np.flatnonzero(across)
        load = _useful(links, some, heads, tails, many * pays * gossip.packets, whole)
        if load is not None and (best is None or load.value > best.load.value):
            length = np.zeros(int(links.number.max()) + 1, np.int64)
            length[links.number[some]] = 1
            best = PartsOverTime(load, whole, part, length)
    return best


def _useful(
    links: Links, some: Counts, heads: list[_Use], tails: list[_Use], needed: int, whole: int
) -> Load | None:  # fmt: skip
    """Return the load of some links, each without the time for which it is of no use, in so many shares of a slot."""
    before = [heads[u] for u in links.source[some].tolist()]
    after = [tails[v] for v in links.target[some].tolist()]
    latency, longest = links.latency[some], max(use.full for use in (*before, *after))
    best: Load | None = None
    for share in _EARLIER:
        most = int(longest * share)
        lost = np.array([a.lost(most) + b.lost(most) for a, b in zip(before, after, strict=True)])
        load = Load(needed, links.capacity[some], links.occupancy[some] * whole, lost + latency * whole, False)
        full = np.array([min(a.full, most) + min(b.full, most) for a, b in zip(before, after, strict=True)])
        # in a shorter time what is too early may be too late as well, and would be counted twice
        if load.time is not None and load.time >= whole * int((full + latency).max()):
            best = load if best is None or load.value > best.value else best
    return best


def _over_time(case: Case, gossip: Gossip, parts: Iterator[Counts], what: str) -> Bound | None:
    """Return the best bound of divisions over time, with what must get from part to part in words."""
    best: PartsOverTime | None = None
    for part in parts:
        found = parts_over_time(gossip, part)
        if found is not None and (best is None or found.value > best.value):
            best = found
    if best is None:
        return None
    count = np.unique(best.part[gossip.members]).size
    parts_text = "the ranks" if count == gossip.members.size else f"{quantity(count, 'part')} of ranks"
    text = (
        f"{what} between {parts_text} over {case.links_text(np.flatnonzero(best.length))}, on which what leaves early "
        "does not know enough, and what arrives late cannot get to all"
    )
    return Bound.of("parts over time", best, text, "cut", "gossamer: calls between parts, averaged over their ranks")


def gossip_bound(case: Case, packets: int, parts: list[Counts]) -> Bound | None:
    """Return the bound of an allreduce among all, in any form, by what gets from part to part over time; or None.

    `case`: with parts of messages as small as one likes. `packets`: of the buffer. `parts`, each int64[N]: divisions
    that are tried besides those that `timed_divisions` makes.
    """
    some = case.network.terminal_count < case.network.node_count
    copies, combines = some and case.rules.replication, some and case.rules.reduction
    if case.invariant or (copies and combines) or not takes_time(case):
        return None
    known = Gossip(case.links, np.arange(case.network.terminal_count), None, copies, combines, packets)
    gossip = known.reversed() if combines else known
    fit = (part for part in parts if gossip.copies or bool((part >= 0).all()))
    text = f"in any form, {case.units.amount_text(packets)} must get there and back"
    return _over_time(case, gossip, itertools.chain(timed_divisions(gossip), fit), text)


def rooted_gossip_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of a broadcast or reduction of any parts, by what gets from part to part over time."""
    demand = case.demands[0] if len(case.demands) == 1 else None
    if not isinstance(demand, HubDemand) or not demand.shared or case.whole or not takes_time(case):
        return
    hub, terminals = int(demand.hubs[0]), case.network.terminal_count
    if bool((demand.hubs != hub).any()) or demand.terminal_count != terminals or case.invariant:
        return
    some = terminals < case.network.node_count
    links, copies = (
        (case.links, some and case.rules.replication)
        if demand.outward
        else (case.links.turned, some and case.rules.reduction)
    )
    gossip = Gossip(links, np.arange(terminals), hub, copies, False, demand.hubs.size)
    text = f"{case.packets_text(demand.hubs.size)} must get"
    found = _over_time(case, gossip, timed_divisions(gossip), text)
    if found is not None:
        yield found


def _fewest_between(links: Links, part: Counts, members: Counts) -> int:
    """Return how many links lead from part to part on the way between ranks of different parts, at least."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    count = int(part.max()) + 1
    ends = part[links.source], part[links.target]
    graph = coo_array((np.ones(links.source.size), ends), shape=(count, count))
    held = np.unique(part[members])
    far = shortest_path(graph.tocsr(), unweighted=True, indices=held)[:, held]
    return int(far[~np.eye(held.size, dtype=bool)].min())


def timed_divisions(gossip: Gossip) -> Iterator[Counts]:
    """Yield divisions for `parts_over_time`: what fast links, links of low latency, or first switches join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = gossip.links
    n, terminals = links.node_count, links.terminal_count
    some = [np.zeros(links.source.size, bool)]
    for measure in (links.occupancy / links.capacity, links.latency):
        some += [measure <= value for value in np.unique(measure)[:-1][:_DIVISIONS].tolist()]
    if terminals < n:
        some.append(np.minimum(links.source, links.target) < terminals)
    known = set[bytes]()
    for joined in some:
        ends = links.source[joined], links.target[joined]
        graph = coo_array((np.ones(int(joined.sum())), ends), shape=(n, n))
        part: Counts = np.asarray(connected_components(graph, directed=False)[1], np.int64)
        if gossip.copies:
            part[~np.isin(part, part[gossip.members])] = -1
        if part.tobytes() not in known and np.unique(part[gossip.members]).size > 1:
            known.add(part.tobytes())
            yield part
