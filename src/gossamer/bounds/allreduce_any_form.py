"""Bounds of an allreduce in any form: whatever the cutting, the roots, the relays, and where partial sums are combined.

Whoever lets N ranks know all N contributions of an element needs 2 (N - 1) calls from one rank to another: N - 1 until
the first knows all, one more for each other. Let the network be cut into k parts that each hold a rank: by the same
count at least 2 (k - 1) calls lead from part to part. If links have lengths, ranks that are nearer than t are one part,
and so all calls together have twice the length of a minimum spanning tree of the ranks to travel, where the length
between two ranks is their distance. Where others than the ranks combine or copy, a hop counts for the parts between
which it leads alone. And what a rank contributes must get to every other: no sum takes less than the quickest flow of
the buffer from any rank to any other. ``docs/explanation/bounds.md`` has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.concurrent_flow import ROUNDINGS, Flows, Resources, paid, priced_text, resources_of, room_used
from gossamer.bounds.earliest_arrivals import searches, spread
from gossamer.bounds.grid_cuts import Floats
from gossamer.bounds.partitions import gossip_bound
from gossamer.bounds.proofs import CallPrices, Load, Mask, Partition, QuickestFlow, served
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.links import FAR, Links
from gossamer.questions.tasks import Allreduce, Chunked, Grouped, PartialSumAllreduce, Task

__all__ = ["ANY_FORM", "Sum", "any_form_bounds", "quickest_flow", "spanning_length", "sums_of"]


ANY_FORM = ("calls in any form", "parts in any form", "quickest flow", "parts over time")
"""The names of these bounds."""


class Sum(NamedTuple):
    """What some terminals sum up: `members` int64[k], and the packets of the buffer of each."""

    members: Counts
    packets: int


def sums_of(network: Network, task: Task) -> tuple[Sum, ...]:
    """Return the sums that are formed in an allreduce, one for each group of 2 or more; none of other tasks.

    >>> from gossamer.networks import ring
    >>> sums_of(ring(4), Allreduce())[0].packets, sums_of(ring(4), PartialSumAllreduce())[0].packets
    (4, 1)
    """
    times, groups = 1, [np.arange(network.terminal_count, dtype=np.int64)]
    while isinstance(task, Chunked | Grouped):
        if isinstance(task, Grouped):
            groups = [np.array(row, np.int64) for row in task.groups]
        else:
            times *= task.packets
        task = task.task
    if not isinstance(task, Allreduce | PartialSumAllreduce):
        return ()
    blocks = isinstance(task, Allreduce)
    return tuple(Sum(g, times * (g.size if blocks else 1)) for g in groups if g.size > 1)


def any_form_bounds(case: Case, *, quick: bool = False) -> Iterator[Bound]:
    """Yield the bounds of an allreduce that hold whatever its form and however its buffer is cut.

    `case`: of an allreduce, of blocks or of partial sums, among all or in groups; that messages are unsegmented is left
    out. `quick`: whether prices are not searched for long.

    Two programs of a few hundred links take tenths of a second; on larger networks prices are even, of the links
    between regions, or of few classes of links.

    >>> import gossamer
    >>> case = Case(gossamer.network("torus:4x4"), gossamer.task("allreduce"))  # 16 messages
    >>> [str(bound.value / 16) for bound in any_form_bounds(case)]
    ['15/32', '1/4']
    """
    sums = sums_of(case.network, case.task)
    if not sums:
        return
    everybody = _everybody(case.network, sums)
    inner = Allreduce() if everybody else Grouped(Allreduce(), tuple(map(_row, sums)))
    fluid = case.related(task=inner, rules=replace(case.rules, segmented=True))
    asked = _Asked.of(fluid, sums)
    prices = _searched(asked, quick)
    parts = list(_parts(asked, prices[0]))
    for found in (
        _call_bound(asked, prices, parts, quick),
        _part_bound(asked, parts),
        _flow_bound(asked, parts, quick),
        None if asked.helpers or not everybody else gossip_bound(fluid, sums[0].packets, parts),
    ):
        if found is not None:
            yield found


def _row(each: Sum) -> tuple[int, ...]:
    return tuple(each.members.tolist())


def _everybody(network: Network, sums: tuple[Sum, ...]) -> bool:
    return len(sums) == 1 and sums[0].members.size == network.terminal_count


class _Asked(NamedTuple):
    """What is asked, as a fluid.

    `case` has the network and rules, with parts as small as one likes; `helpers` says whether nodes that are no members
    can combine and copy, and `switches` what switches by themselves can: "forward", "copy", "combine".
    """

    case: Case
    sums: tuple[Sum, ...]
    flows: Flows
    resources: Resources
    helpers: bool
    switches: str

    @classmethod
    def of(cls, case: Case, sums: tuple[Sum, ...]) -> _Asked:
        network, rules = case.network, case.rules
        members = np.unique(np.concatenate([each.members for each in sums]))
        row = np.array([0, members.size])
        flows = Flows(case.links, members, row, members, np.ones(members.size, np.int64))
        resources = resources_of(case, flows)
        if case.invariant:  # classes of the links of a node
            resources = resources._replace(capacity=resources.capacity * network.node_count)
        both = rules.replication and rules.reduction
        some = network.terminal_count < network.node_count
        idle = any(each.members.size < network.terminal_count for each in sums)
        switches = "copy" if some and rules.replication else "combine" if some and rules.reduction else "forward"
        return cls(case, sums, flows, resources, idle or (some and both), switches)

    @property
    def names(self) -> str:
        """The members, for people."""
        if len(self.sums) == 1:
            return quantity(self.sums[0].members.size, "rank")
        return f"{quantity(len(self.sums), 'group')} of ranks"


# Calls: prices of links, and a minimum spanning tree of the ranks under them.


class _Tree(NamedTuple):
    """The length of two minimum spanning trees of each sum, times its packets, and what its links carry, float64[L]."""

    length: float
    load: Floats


def spanning_length(links: Links, length: Floats, members: Counts) -> tuple[float, Floats]:
    """Return twice the length of a minimum spanning tree of terminals by their distances, and its uses of links.

    `length` (float64[L]): whole numbers are summed exactly up to 2**53. A link may be passed either way at the smaller
    of the two lengths. `members`: int64[k]. Returns: float, float64[L]: each hop of the tree is used twice, by the
    links between its ends that are shortest.

    O(L log N): one search from all terminals at once.

    Source: K. Mehlhorn, "A faster approximation algorithm for the Steiner problem in graphs", Information Processing
    Letters 27, 1988.

    >>> import gossamer
    >>> links = Case(gossamer.network("array:3"), gossamer.task("allreduce")).links
    >>> spanning_length(links, np.array([1.0, 2.0, 5.0, 4.0]), np.array([0, 2]))[0]
    6.0
    """
    from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

    n, edges = links.node_count, _Edges.of(links, length)
    away, before, home = dijkstra(
        edges.matrix(n, 0.0), indices=members, min_only=True, return_predecessors=True
    )  # fmt: skip
    between = np.flatnonzero((home[edges.low] != home[edges.high]) & np.isfinite(away[edges.low]))
    through = away[edges.low] + edges.length + away[edges.high]
    u, v = home[edges.low[between]], home[edges.high[between]]
    low, high = np.minimum(u, v), np.maximum(u, v)
    order = np.lexsort((through[between], high, low))
    new = np.ones(order.size, bool)
    new[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    shortest = order[new]  # of the edges between two homes
    graph: Any = _symmetric(low[shortest], high[shortest], through[between][shortest] + 1.0, n)
    tree = minimum_spanning_tree(graph).tocoo()
    chosen = dict(zip((low * n + high)[shortest].tolist(), between[shortest].tolist(), strict=True))
    total, uses = 0.0, np.zeros(edges.low.size)
    at = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(edges.low, edges.high, strict=True))}
    for a, b in zip(tree.row.tolist(), tree.col.tolist(), strict=True):
        edge = chosen[min(a, b) * n + max(a, b)]
        total += float(through[edge])
        uses[edge] += 1
        for node in (int(edges.low[edge]), int(edges.high[edge])):
            while before[node] >= 0:
                back = int(before[node])
                uses[at[min(node, back), max(node, back)]] += 1
                node = back
    return 2 * total, edges.spread(2 * uses)


def _parted_length(links: Links, length: Floats, sums: tuple[Sum, ...]) -> float:
    """Return what hops have to travel at least, if any node may combine and copy: a hop of length l joins two parts.

    Of all thresholds t: the parts are what hops up to t join, and those without a member belong to any other.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    n, edges = links.node_count, _Edges.of(links, length)
    tree = minimum_spanning_tree(edges.matrix(n, 1.0)).tocoo()
    order = np.argsort(tree.data, kind="stable")
    root = list(range(n))
    held = [np.zeros(n, bool) for _ in sums]
    for mask, each in zip(held, sums, strict=True):
        mask[each.members] = True
    total = 0.0
    for row, column, weight in zip(
        tree.row[order].tolist(), tree.col[order].tolist(), tree.data[order].tolist(), strict=True
    ):
        a, b = _root(root, row), _root(root, column)
        root[b] = a
        for mask, each in zip(held, sums, strict=True):
            if mask[a] and mask[b]:
                total += 2 * each.packets * (weight - 1.0)
            mask[a] |= mask[b]
    return total


def _root(root: list[int], node: int) -> int:
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


class _Edges(NamedTuple):
    """Pairs of nodes with the smallest length of the links between them, whichever way; which links have it."""

    low: Counts
    high: Counts
    length: Floats
    pair: Counts
    share: Floats

    @classmethod
    def of(cls, links: Links, length: Floats) -> _Edges:
        n = links.node_count
        low, high = np.minimum(links.source, links.target), np.maximum(links.source, links.target)
        key, pair = np.unique(low * n + high, return_inverse=True)
        pair = pair.reshape(-1)
        least = np.full(key.size, np.inf)
        np.minimum.at(least, pair, length)
        same = (length <= least[pair]).astype(np.float64)
        return cls(key // n, key % n, least, pair, same / np.bincount(pair, same, key.size)[pair])

    def matrix(self, nodes: int, more: float) -> Any:
        """Return the lengths, each so much longer, as a symmetric sparse matrix."""
        return _symmetric(self.low, self.high, self.length + more, nodes)

    def spread(self, uses: Floats) -> Floats:
        """Return for each link its share of the uses of its pair."""
        return np.asarray(uses[self.pair] * self.share)


def _symmetric(low: Counts, high: Counts, value: Floats, nodes: int) -> Any:
    from scipy.sparse import coo_array

    both = np.concatenate([low, high]), np.concatenate([high, low])
    return coo_array((np.concatenate([value, value]), both), shape=(nodes, nodes)).tocsr()


# The best prices: links get dearer as trees use them, then cutting planes near the best, whose rows are loads of trees.

_GROWN, _ROUNDS, _QUICK, _LAST = 100, 60, 8, 8
"""Trees under growing prices; linear programs near the best prices; trees of a quick search; programs at the end."""
_NEAR, _WIDER, _NARROWER = 0.2, 4.0, 0.6
"""How far from the best prices the next ones may be, as a share, and what this is multiplied by."""

_SEARCHED, _KINDS = 2_000, 64
"""Links up to which prices are searched for long; on more, for a short time if there are no more kinds of links."""

_MOST = 100_000
"""Links up to which prices are searched for at all."""

_CLOSE, _ENOUGH = 1e-7, 5e-4
"""Shares of the value to which it is proved that no prices have more: at the end, and near the best prices."""


def _trees(asked: _Asked, price: Floats) -> _Tree:
    """Return the trees under prices of resources."""
    length = (price[asked.resources.use] * asked.resources.slots).sum(axis=0)
    total, load = 0.0, np.zeros(length.size)
    for each in asked.sums:
        twice, uses = spanning_length(asked.flows.links, length, each.members)
        total += each.packets * twice
        load += each.packets * uses
    return _Tree(total, load)


def _searched(asked: _Asked, quick: bool) -> list[Floats]:
    """Return prices of resources, float64[R]: the best that are found, and even ones."""
    r = asked.resources
    usable = r.wait < FAR
    room = np.where(usable, r.capacity, 0).astype(np.float64)
    even = usable / max(room.sum(), 1.0)
    many = asked.flows.links.source.size > _SEARCHED and room.size > _SEARCHED
    if not usable.all() or (many and asked.flows.links.source.size > _MOST):
        return [even]
    kind = _classes(asked)
    if many and np.unique(kind).size > _KINDS:
        return [even]
    search = _PriceSearch(asked, kind, even)
    if quick or many:
        search.grow(_QUICK)
        search.finish(0 if quick else _LAST)
    else:
        search.grow(_GROWN)
        search.near(_ROUNDS)
        search.finish(_LAST)
    return [search.best, even]


class _PriceSearch:
    """The best prices so far, and the loads of all trees that were found under prices, a row each.

    `best` (float64[R]): with the most that must be traveled for what the resources have together. `value`: that, and
    what waits take.
    """

    def __init__(self, asked: _Asked, kind: Counts, even: Floats) -> None:
        r = asked.resources
        self._asked, self._kind, self._room = asked, kind, np.where(r.wait < FAR, r.capacity, 0).astype(np.float64)
        self._first = np.unique(kind, return_index=True)[1]
        self._worth = np.asarray(np.bincount(kind, self._room), np.float64)
        self._wait = np.asarray(np.bincount(kind, self._room * r.wait), np.float64)
        self._rows: list[Floats] = []
        self.best, self.value = even, -1.0
        self._gains(even)

    def _gains(self, price: Floats) -> bool:
        """Find trees under prices, and return whether these are the best so far."""
        r = self._asked.resources
        found = _trees(self._asked, price)
        self._rows.append(np.asarray(np.bincount(self._kind, room_used(r, found.load)), np.float64))
        proved = found.length + float((self._room * r.wait) @ price)
        gains = proved > self.value
        if gains:
            self.best, self.value = price, proved
        return gains

    def grow(self, rounds: int) -> None:
        """Make what the last tree uses dearer, the most used most, again and again."""
        price = self.best
        for turn in range(rounds if self._first.size > 1 else 0):
            used = self._rows[-1] / np.maximum(self._worth, 1e-300)
            price = price * np.exp(used / max(float(used.max()), 1e-300) / (2 + turn / 10))[self._kind]
            price = price / max(float(self._room @ price), 1e-300)
            self._gains(price)

    def near(self, rounds: int) -> None:
        """Look for better prices near the best, further away where that gains, and nearer where it does not."""
        near, least = _NEAR, 0.1 / max(float(self._room.sum()), 1.0)
        for _ in range(rounds if self._first.size > 1 else 0):
            own = self.best[self._first]
            proposed = self._proposed(np.stack([own / (1 + near), own * (1 + near) + near * least], axis=1))
            if proposed is None or (proposed[0] <= self.value * (1 + _ENOUGH) and near >= _WIDER):
                break
            before, (most, price) = self.value, proposed
            if most <= before * (1 + _ENOUGH):
                near *= _WIDER
            elif not self._gains(price):
                near *= _NARROWER
            elif self.value > before + 0.3 * (most - before):
                near *= 2

    def finish(self, rounds: int) -> None:
        """Look for better prices anywhere, for which numbers are often simple."""
        for _ in range(rounds):
            proposed = self._proposed((0, None))
            if proposed is None or proposed[0] <= self.value * (1 + _CLOSE):
                break
            self._gains((proposed[1] + self.best) / 2)
            self._gains(proposed[1])

    def _proposed(self, limits: Any) -> tuple[float, Floats] | None:
        """Return the prices within limits that are best for all trees so far, and the value that they would have."""
        found = _program(np.array(self._rows), self._worth, self._wait, limits)
        return None if found is None else (found[0], found[1][self._kind])


def _classes(asked: _Asked) -> Counts:
    """Return numbers of resources that look alike, int64[R], by refining the colors of nodes: one price is enough."""
    r, links = asked.resources, asked.flows.links
    n = links.node_count
    draw = np.random.default_rng(1)
    if asked.case.invariant:
        return np.arange(r.capacity.size)
    color = np.where(np.arange(n) < links.terminal_count, 1, 0)
    for each in asked.sums:
        color = color * 2 + np.isin(np.arange(n), each.members)
        color = np.unique(color, return_inverse=True)[1].reshape(-1)
    columns = np.concatenate([r.slots, r.capacity[r.use], r.wait[r.use], [links.latency], *_nearer(links)])
    look = np.unique(columns, axis=1, return_inverse=True)[1].reshape(-1)
    count = 0
    while True:
        kind = np.unique(np.stack([look, color[links.source], color[links.target]]), axis=1, return_inverse=True)[1]
        kind = kind.reshape(-1)
        mark = draw.integers(2**40, size=(2, int(kind.max(initial=0)) + 1)).astype(np.float64)
        seen = [np.bincount(end, m[kind], n) for end, m in zip((links.source, links.target), mark, strict=True)]
        color = np.unique(np.stack([color, *seen]), axis=1, return_inverse=True)[1].reshape(-1)
        if int(color.max()) + 1 == count:
            break
        count = int(color.max()) + 1
    used = np.zeros(r.capacity.size)
    mark = draw.integers(2**40, size=int(kind.max(initial=0)) + 1).astype(np.float64)
    for use in r.use:
        used += np.bincount(use, mark[kind], used.size)
    columns = np.stack([used, r.capacity, r.occupancy, r.wait])
    return np.asarray(np.unique(columns, axis=1, return_inverse=True)[1].reshape(-1), np.int64)


def _nearer(links: Links) -> list[Counts]:
    """Return how many nodes are nearer, in hops, to the start of each link than to its end, int64[1, L]; of few links.

    Colors alone may take links for alike of which some join parts and others do not.
    """
    from scipy.sparse.csgraph import shortest_path

    if links.source.size > _SEARCHED:
        return []
    ones = np.ones(links.source.size)
    far = shortest_path(_symmetric(links.source, links.target, ones, links.node_count), unweighted=True)
    return [np.count_nonzero(far[links.source] < far[links.target], axis=1)[None, :].astype(np.int64)]


def _program(rows: Floats, room: Floats, wait: Floats, limits: Any) -> tuple[float, Floats] | None:
    """Return the largest z + wait y with z at most each row times y, room y = 1, and y within limits; and y."""
    from scipy.optimize import linprog

    scale = float(rows.max()) or 1.0
    matrix = np.concatenate([-rows / scale, np.ones((len(rows), 1))], axis=1)
    goal = np.append(-wait / scale, -1.0)
    most = float(room.max())
    whole = np.append(room / most, 0.0)[None, :]
    found = linprog(
        goal,
        A_ub=matrix,
        b_ub=np.zeros(len(rows)),
        A_eq=whole,
        b_eq=[1 / most],
        bounds=limits if isinstance(limits, tuple) else [*limits.tolist(), (0, None)],
        method="highs",
    )
    if found.status != 0 or found.x is None or found.fun is None:
        return None
    return -float(found.fun) * scale, np.maximum(found.x[:-1], 0.0)


def _call_bound(asked: _Asked, prices: list[Floats], parts: list[Counts], quick: bool) -> Bound | None:
    """Return the bound of all calls together, by prices of links and ports."""
    r, links = asked.resources, asked.flows.links
    parted = asked.helpers or asked.switches != "forward"
    if not links.source.size:
        return None
    several = ROUNDINGS if links.source.size <= _SEARCHED and not quick else _FEW_ROUNDINGS
    proposed = [(some, several) for some in prices]
    proposed += [(_on_links(asked, part[links.source] != part[links.target]), _FEW_ROUNDINGS) for part in parts]
    best: tuple[Fraction, Load, Counts, Counts] | None = None
    for some, roundings in proposed:
        for price in _rounded(some, roundings):
            length = (price[r.use] * r.slots).sum(axis=0)
            if int(length.max()) > 2**40 or not price.any():
                continue
            needed = round(_needed(asked, length.astype(np.float64), parted))
            load = Load(needed, price * r.capacity * r.occupancy, r.occupancy, r.wait, False)
            time = load.time if needed > 0 else None
            if time is not None and (best is None or time > best[0]):
                best = time, load, length, price
    if best is None:
        return None
    _, load, length, price = best
    told = np.zeros(asked.case.network.link_count, np.int64)
    told[links.number] = length
    times = asked.case.network.node_count if asked.case.invariant else 1  # `load` is of all nodes
    offered = float((load.capacity / load.occupancy).sum()) / times
    due = Fraction(load.needed, times)
    text = "in any form, " + priced_text(asked.case, told, due, f"sums among {asked.names} move", offered)
    return Bound.of(
        "calls in any form", CallPrices.by(load, length=told, parted=parted, each=price), text, "load", _SOURCE
    )


_FEW_ROUNDINGS = (1, 1000)
_SOURCE = "gossamer: linear programming duality, and Harary and Schwenk 1974 on calls"


def _rounded(prices: Floats, roundings: Sequence[int]) -> Iterator[Counts]:
    """Yield prices in whole numbers: as multiples of fractions that they are close to, and with these largest ones."""
    share = prices / max(float(prices.max()), 1e-300)
    below = 1
    for value in np.unique(np.round(share, 9)).tolist():
        below = math.lcm(below, Fraction(value).limit_denominator(_BELOW).denominator)
        if below > roundings[-1]:
            break
    for longest in dict.fromkeys((*((below,) if below <= roundings[-1] else ()), *roundings)):
        yield np.rint(share * longest).astype(np.int64)


_BELOW = 360
"""The largest denominator of shares of prices that are taken to be exact."""


def _needed(asked: _Asked, length: Floats, parted: bool) -> float:
    """Return what must be traveled under lengths of links."""
    links = asked.flows.links
    if parted:
        return _parted_length(links, length, asked.sums)
    return sum(each.packets * spanning_length(links, length, each.members)[0] for each in asked.sums)


def _on_links(asked: _Asked, crossed: Mask) -> Floats:
    """Return the prices of resources that are even on some links, and 0 elsewhere; of links for their packets."""
    r = asked.resources
    price = np.zeros(r.capacity.size)
    kind, slots = r.use[0], r.slots[0]
    np.maximum.at(price, kind[crossed], 1.0 / slots[crossed])
    return price


_THRESHOLDS = 10

_MERGED = 100_000_000
"""Nodes times nodes times nodes times sums up to which parts are merged two by two."""


def _parts(asked: _Asked, price: Floats) -> Iterator[Counts]:
    """Yield numbers of parts of nodes, int64[N]: those of a few links that most must cross, and what is near."""
    from scipy.sparse.csgraph import connected_components

    case, links = asked.case, asked.flows.links
    n = links.node_count
    if case.invariant or links.source.size > _MOST:
        return
    if n**3 * len(asked.sums) <= _MERGED:
        yield from _merged(asked)
    length = (price[asked.resources.use] * asked.resources.slots).sum(axis=0)
    edges = _Edges.of(links, length)
    for limit in spread(np.unique(np.round(edges.length, 12)), _THRESHOLDS).tolist():
        near = edges.length <= limit * (1 + 1e-9)
        graph = _symmetric(edges.low[near], edges.high[near], np.ones(int(near.sum())), n)
        count, part = connected_components(graph, directed=False)
        if count > 1:
            yield part.astype(np.int64)


def _merged(asked: _Asked) -> list[Counts]:
    """Return parts between which least can pass for what must: nodes alone, two merged after the other.

    First those without members of a common sum, which costs nothing, then those with most between them.
    """
    links = asked.flows.links
    n = links.node_count
    between = np.zeros((n, n))
    np.add.at(between, (links.source, links.target), links.fair_rate)
    between = between + between.T
    has = np.zeros((len(asked.sums), n), bool)
    for row, each in zip(has, asked.sums, strict=True):
        row[each.members] = True
    packets = np.array([each.packets for each in asked.sums], np.float64)
    part = np.arange(n)
    best: tuple[float, Counts] | None = None
    free: tuple[float, Counts] | None = None
    for _ in range(n - 1):
        if not between.any():
            break
        loss = (has.T * packets) @ has.astype(np.float64)
        joined = np.where(between > 0, between / (1e-9 * between.max() + loss), 0.0)
        np.fill_diagonal(joined, 0.0)
        a, b = (int(x) for x in np.unravel_index(int(np.argmax(joined)), joined.shape))
        lossless = not (has[:, a] & has[:, b]).any()
        between[a] += between[b]
        between[:, a] += between[:, b]
        between[b], between[:, b], between[a, a] = 0.0, 0.0, 0.0
        has[:, a] |= has[:, b]
        has[:, b] = False
        part = np.where(part == b, a, part)
        rate, needed = float(between.sum()) / 2, float(((has.sum(axis=1) - 1) * packets).sum())
        if rate > 0 and needed > 0:
            found = needed / rate, part
            free = found if lossless else free
            best = found if best is None or found[0] > best[0] else best
    return [found[1] for found in (best, free) if found is not None]


# Parts and the links into them, where switches copy, or out of them, where they combine.


def _part_bound(asked: _Asked, parts: list[Counts]) -> Bound | None:
    """Return the bound of what enters parts that each hold a rank, or leaves them; None if switches only forward.

    Calls that switches copy share hops, but not the last, into a part.
    """
    if asked.helpers or asked.switches == "forward" or len(asked.sums) > 1:
        return None
    links, members = asked.flows.links, asked.sums[0].members
    packets = asked.sums[0].packets
    into = asked.switches == "copy"
    best: tuple[Fraction, Load, Counts] | None = None
    crossed = np.zeros(0, np.int64)
    alone = np.full(links.node_count, -1, np.int64)
    alone[members] = members
    head = links.travel(members).depart
    tail = links.turned.travel(members).depart[links.turned_place]
    for part in [alone, *parts]:
        held = np.bincount(part[members], minlength=int(part.max()) + 1) > 0
        mine = np.where((part >= 0) & held[np.maximum(part, 0)], part, -1)  # parts of switches alone are no parts
        end, other = (links.target, links.source) if into else (links.source, links.target)
        some = np.flatnonzero((mine[end] >= 0) & (mine[other] != mine[end]))
        count = int(held.sum())
        if count < 2 or not some.size:
            continue
        for load in served(links, some, 2 * packets * (count - 1), head[some], tail[some]):
            time = load.time
            if time is not None and (best is None or time > best[0]):
                best, crossed = (time, load, mine), links.number[some]
    if best is None:
        return None
    _, load, part = best
    count = np.unique(part[part >= 0]).size
    verb = "enter" if into else "leave"
    what = f"the {count:,} {'ranks' if count == members.size else 'groups of ranks'}"
    each = asked.case.units.amount_text(packets)
    text = (
        f"in any form, 2 x ({count:,} - 1) x {each} = {asked.case.units.amount_text(load.needed)} must {verb} {what} "
        f"over {asked.case.links_text(crossed)}"
    )
    proof = Partition.by(load, part=part)
    return Bound.of("parts in any form", proof, text, "cut", _SOURCE)


# The quickest flow from one rank to another.

_PAIRS, _FLOW_WORK = 12, 12_000
"""Pairs of ranks at most for which the program is solved, and their links together."""


def quickest_flow(links: Links, source: int, target: int, packets: int) -> QuickestFlow | None:
    """Return what proves how long packets take at least from one node to another, however they are cut.

    `links`: with all their rates; only latencies count on the way. Returns: None if there is no way, or the program was
    not solved.

    A linear program of L variables. Its dual gives the links prices p of a slot, so that a path has the length of its
    latencies and of what its links cost; if all links are worth as much as the packets, the shortest path is a bound.

    Source: L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6,
    1958; M. Lin, P. Jaillet, "On the quickest flow problem in dynamic networks", SODA 2015.

    >>> import gossamer
    >>> links = Case(gossamer.network("ring:6").with_times(1, 2), gossamer.task("allreduce")).links
    >>> quickest_flow(links, 0, 2, 1).value, quickest_flow(links, 0, 2, 40).value  # one way round, then both
    (Fraction(5, 1), Fraction(26, 1))
    """
    prices = _flow_prices(links, source, target, packets)
    if prices is None:
        return None
    best: QuickestFlow | None = None
    for price in _rounded(prices, ROUNDINGS):
        worth, toll = _worth(links, price)
        if not worth or int(toll.max()) * packets + int(links.latency.max()) * worth > 2**50:
            continue
        flows = Flows(links, np.array([source]), np.array([0, 1]), np.array([target]), np.ones(1, np.int64))
        way = paid(flows, links.latency * worth + packets * toll)
        if way < 0:
            return None
        if best is None or Fraction(way, worth) > best.value:
            told = np.zeros(links.number.max() + 1, np.int64)
            told[links.number] = toll
            each = price.copy()
            each[links.number] = price[: links.number.size]
            best = QuickestFlow(source, target, packets, way, worth, told, each)
    return best


def _rows(links: Links) -> tuple[Counts, Counts, Counts]:
    """Return of each resource and link that uses it: resource, link; and the slots for which a packet takes each.

    Links, then the ports of nodes that send, or receive, one packet at a time, at the speed of their fastest link.
    """
    count, n = links.source.size, links.node_count
    kind, link, slots = [np.arange(count)], [np.arange(count)], [links.occupancy]
    first = count
    for limited, ends in ((links.send_limited, links.source), (links.receive_limited, links.target)):
        if limited:
            least = np.full(n, FAR)
            np.minimum.at(least, ends, links.occupancy)
            kind.append(first + ends)
            link.append(np.arange(count))
            slots.append(least[ends])
            first += n
    return np.concatenate(kind), np.concatenate(link), np.concatenate(slots)


def _resources(links: Links) -> Counts:
    """Return the capacity of each resource of `_rows`, int64[R]."""
    ports = links.node_count * (int(links.send_limited) + int(links.receive_limited))
    return np.concatenate([links.capacity, np.ones(ports, np.int64)])


def _worth(links: Links, price: Counts) -> tuple[int, Counts]:
    """Return what all resources are worth a slot at a price, and what a packet pays on each link."""
    kind, link, slots = _rows(links)
    toll = np.zeros(links.source.size, np.int64)
    np.add.at(toll, link, price[kind] * slots)
    return int(price @ _resources(links)), toll


def _flow_prices(links: Links, source: int, target: int, packets: int) -> Floats | None:
    """Solve the program of the quickest flow and return the dual price of each resource."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count, n = links.source.size, links.node_count
    kind, link, slots = _rows(links)
    capacity = _resources(links)
    ones = np.ones(count)
    balance: Any = coo_array(
        (
            np.concatenate([ones, -ones]),
            (np.concatenate([links.source, links.target]), np.tile(np.arange(count), 2)),
        ),
        shape=(n, count + 1),
    ).tocsr()
    use: Any = coo_array(
        (
            np.concatenate([slots.astype(np.float64), -capacity.astype(np.float64)]),
            (np.concatenate([kind, np.arange(capacity.size)]), np.concatenate([link, np.full(capacity.size, count)])),
        ),
        shape=(capacity.size, count + 1),
    ).tocsr()
    sends = np.zeros(n)
    sends[source], sends[target] = 1.0, -1.0
    goal = np.append(links.latency.astype(np.float64), float(packets))
    found = linprog(
        goal, A_ub=use, b_ub=np.zeros(capacity.size), A_eq=balance, b_eq=sends, bounds=(0, None), method="highs"
    )
    return None if found.status != 0 else np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)


def _flow_bound(asked: _Asked, parts: list[Counts], quick: bool) -> Bound | None:
    """Return the bound of the pair of ranks between which a flow takes longest, of those looked at."""
    links = asked.flows.links
    count = min(_PAIRS, _FLOW_WORK // max(links.source.size, 1)) if not quick else 1
    best: tuple[Fraction, QuickestFlow, int, int] | None = None
    alike = set[tuple[Fraction, int]]()
    for estimate, away, packets, u, v in _candidates(asked, parts):
        if len(alike) >= max(count, 1) or (best is not None and links.source.size > _FLOW_WORK):
            break
        if (estimate, away) in alike:
            continue
        alike.add((estimate, away))
        found = quickest_flow(links, u, v, packets) if count else None
        if found is not None and (best is None or found.value > best[0]):
            best = found.value, found, u, v
    if best is None:
        return None
    _, proof, u, v = best
    case = asked.case
    text = (
        f"in any form, the {case.units.amount_text(proof.packets)} that node {case.name(u)} contributes must get to "
        f"node {case.name(v)}, over all paths at once{', with the latencies on them' * bool(links.latency.any())}"
    )
    return Bound.of("quickest flow", proof, text, "cut", "Ford and Fulkerson 1958; Lin and Jaillet 2015")


_CUTS = 32
"""Parts, and of each partition its first ones, around which flows may be narrow."""


def _candidates(asked: _Asked, parts: list[Counts]) -> list[tuple[Fraction, int, int, int, int]]:
    """Return pairs of members by how long their flow may take: estimate, latencies on the way, packets, the pair."""
    links, case = asked.flows.links, asked.case
    n = links.node_count
    out, into = np.bincount(links.source, links.rate, n), np.bincount(links.target, links.rate, n)
    found: list[tuple[Fraction, int, int, int, int]] = []
    regions = {(part == k).tobytes(): part == k for part in parts for k in np.unique(part)[:_CUTS].tolist()}
    cuts = [side for inside in list(regions.values())[:_CUTS] for side in (inside, ~inside)]
    across = [(inside, float(links.rate[inside[links.source] & ~inside[links.target]].sum())) for inside in cuts]
    for each in asked.sums:
        tried = each.members[:1] if case.invariant else spread(each.members, searches(links))
        for u in tried.tolist():
            usable = links.travel(np.array([u])).usable[each.members]
            rate = np.minimum(out[u], into[each.members])
            for inside, crossing in across:
                if inside[u]:
                    rate = np.where(inside[each.members], rate, np.minimum(rate, crossing))
            time = usable + each.packets / np.maximum(rate, 1e-300)
            time[each.members == u] = -1.0
            best = np.argsort(-time, kind="stable")[:4]
            for i in best[time[best] >= 0].tolist():
                estimate = Fraction(float(time[i])).limit_denominator(10**6)
                found.append((estimate, int(usable[i]), each.packets, u, int(each.members[i])))
    found.sort(key=lambda row: (-row[0], -row[1]))
    return found
