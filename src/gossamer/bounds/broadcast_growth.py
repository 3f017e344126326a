"""Bounds for messages that spread from node to node, where nodes, or terminals alone, copy them one after the other.

Where switches make no copies, every copy that a terminal receives left another terminal, which sends one after the
other. Backwards in time the same holds for contributions that switches do not combine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.earliest_arrivals import spread, takes_time
from gossamer.bounds.proofs import Chain, LateCopies, Load, Mask
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.distances import MAX_SEARCHES, at_least
from gossamer.questions.cases.links import FAR, Links

__all__ = [
    "MAX_DEPTH",
    "MAX_STEPS",
    "ClosedForm",
    "DegreeGrowth",
    "DelayedGrowth",
    "Growth",
    "LevelGrowth",
    "Spread",
    "broadcast_bounds",
    "closed_form_time",
    "copied_by_terminals",
    "copy_bounds",
    "degree_time",
    "doubling_time",
    "informed_time",
    "level_time",
    "spread_bounds",
    "spread_time",
    "spreads_of",
    "tree_time",
]

# Bounds for one message that spreads from node to node, each of which passes it on at most once a step.
#
# They hold for each broadcast of a task when nodes send one packet a slot, and, backwards in time, for each reduction
# when nodes receive one packet a slot.


@dataclass(frozen=True)
class Growth:
    """Nodes at a distance or more that a message must reach, and the times of links and between two copies of a node.

    * `nodes`, `distance`: so many nodes, at least so many slots away from the root; with 0, the root is one of them.
    * `least`, `most`: the least and the most slots that a link takes, occupancy and latency.
    * `every`: slots after which a node can begin to inform another one, at the least.

    >>> Growth(9, 0).value, Growth(5, 3).value, Growth(4, 0, 5, 5, 2).value
    (Fraction(4, 1), Fraction(4, 1), Fraction(9, 1))
    """

    nodes: int
    distance: int
    least: int = 1
    most: int = 1
    every: int = 1

    @property
    def value(self) -> Fraction:
        """The first slot by which so many nodes can be informed; see `spread_time`."""
        return Fraction(self.after(max(self.distance, 0) - 1))

    def after(self, low: int) -> int:
        """Return the first slot after `low` by which so many nodes can be informed."""
        high, step = low + 1, 2
        while not self.informs(high):
            low, high, step = high, high + step, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.informs(middle) else (middle, high)
        return high

    def informs(self, time: int) -> bool:
        """Return whether so many nodes can be informed by a time."""
        distance, least = self.distance, self.least
        total = int(distance == 0)
        hops = max(1, -(-distance // self.most))
        while total < self.nodes and max(distance, hops * least) <= time:
            spare = (time - max(distance, hops * least)) // self.every
            term = 1
            for i in range(1, min(hops, spare) + 1):  # C(spare + hops, hops), as far as it matters
                term = term * (spare + hops + 1 - i) // i
                if term >= self.nodes:
                    break
            total += term
            hops += 1
        return total >= self.nodes


@dataclass(frozen=True)
class ClosedForm:
    """Nodes at least so far away, by the closed form of Corollary 3.4; see `closed_form_time`."""

    nodes: int
    distance: int

    @property
    def value(self) -> Fraction:
        """The steps, rounded up."""
        return Fraction(math.ceil(closed_form_time(self.distance, self.nodes) - 1e-9))


@dataclass(frozen=True)
class LevelGrowth:
    """Nodes of a tree exactly so far away from a root; see `level_time`."""

    nodes: int
    distance: int

    @property
    def value(self) -> Fraction:
        """The steps."""
        return Fraction(level_time(self.distance, self.nodes))


@dataclass(frozen=True)
class DegreeGrowth:
    """Nodes at least so far away from a root, which informs as many others as given, every other node fewer.

    `root_links` and `node_links` are the neighbors that the root, and any other node, can inform; see `degree_time`.
    """

    nodes: int
    distance: int
    root_links: int
    node_links: int

    @property
    def value(self) -> Fraction:
        """The steps."""
        profile = np.zeros(self.distance + 1, np.int64)
        profile[self.distance] = self.nodes
        return Fraction(degree_time(profile, self.root_links, self.node_links, 0)[0])


@dataclass(frozen=True)
class DelayedGrowth:
    """Terminals that inform each other, `at_once` every so many slots, each after a delay; see `informed_time`."""

    nodes: int
    at_once: int
    every: int
    delay: int

    @property
    def value(self) -> Fraction:
        """The slots."""
        return Fraction(informed_time(self.nodes, self.at_once, self.every, self.delay) or 0)


MAX_DEPTH = 2000
"""Trees deeper than this are left to the distance bound."""

Spread = tuple[int, Counts, Counts | None]
"""A hub, how many nodes at each distance its message must reach, and which ones (None: all terminals)."""

_MESSAGES = 16
"""How many messages, those that travel furthest, are looked at."""


def broadcast_bounds(case: Case) -> Iterator[Bound]:
    """Yield the doubling bound of a message, and on a tree the exact time of its broadcast."""
    if not case.whole:
        return
    for demand, spreads in spreads_of(case):
        yield from _spread(case, demand.what, demand.outward, spreads)


def spreads_of(case: Case) -> Iterator[tuple[Demand, list[Spread]]]:
    """Yield each demand whose messages spread, one node a step from each node, with the messages to look at."""
    for demand in case.demands:
        fan_limited = case.send_limited if demand.outward else case.receive_limited
        if not demand.shared or not fan_limited:
            continue
        spreads: list[Spread]
        if isinstance(demand, HubDemand):
            hubs = case.hubs(demand)
            far = case.metric.eccentricities(hubs, not demand.outward)
            order = np.argsort(-far, kind="stable")[:_MESSAGES]
            chosen = hubs[order][np.sort(np.unique(case.metric.canonical(hubs[order]), return_index=True)[1])]
            spreads = [(int(v), case.metric.profile(int(v), not demand.outward), None) for v in chosen]
        else:
            rows = np.argsort(-np.diff(demand.first), kind="stable")[:MAX_SEARCHES]
            targets = [demand.target[demand.first[i] : demand.first[i + 1]] for i in rows]
            starts = demand.origin[rows].tolist()
            spreads = [
                (v, np.bincount(np.append(_distances(case, v, t, demand.outward), 0)).astype(np.int64), t)
                for v, t in zip(starts, targets, strict=True)
            ]
        yield demand, spreads


def _distances(case: Case, root: int, others: Counts, outward: bool) -> Counts:
    """Return the distances from a root to others, or to it."""
    start = np.full(others.size, root)
    return case.metric.between(start, others) if outward else case.metric.between(others, start)


def _goal(case: Case, what: str, verb: str, node: int) -> str:
    """Return what must reach nodes, or where their contributions must come together."""
    return (
        f"the {what} of node {case.name(node)} must reach"
        if verb == "reach"
        else f"node {case.name(node)} needs the sum of"
    )


def _way(case: Case, outward: bool) -> str:
    """Return how often a node passes on, or takes in, what spreads."""
    return f"a node {'passes it on' if outward else 'takes in one'} at most once {case.units.rate_text}"


def _spread(case: Case, what: str, outward: bool, spreads: list[Spread]) -> Iterator[Bound]:
    verb = "reach" if outward else "come from"
    way = _way(case, outward)
    doubling = max((*doubling_time(profile), node) for node, profile, _ in spreads)
    steps, distance, count, node = doubling
    far = f" at least {distance} hops away" if distance else ", itself included"
    text = f"{_goal(case, what, verb, node)} {quantity(count, 'node')}{far}; {way}"
    yield Bound.of(
        "doubling", Growth(count, distance), text, "broadcast",
        "Dimakopoulos 1996, Theorem 3.3, which includes ceil(log2 n) and Fraigniaud and Lazard's e+1",
    )  # fmt: skip
    trees = [(tree_time(case, node, targets), -node) for node, _, targets in spreads[:4]]
    steps, node = max((s, v) for s, v in trees)
    if steps:
        told = f"the {what} of" if outward else "what comes to"
        text = f"on a tree, {told} node {case.name(-node)} takes exactly {case.time_text(steps)}; {way}"
        yield Bound("tree broadcast", Fraction(steps), text, "broadcast", "Dimakopoulos 1996, (6.1)")


def doubling_time(profile: Counts) -> tuple[int, int, int]:
    """Return T_d, d and R_d with the largest T_d = min{t : C(t,d) + ... + C(t,t) >= R_d}.

    R_d is the number of nodes at distance at least d that the message must reach; in t steps at most C(t,l) nodes
    learn it by a path of length l.

    >>> doubling_time(np.array([1, 2, 1])), doubling_time(np.array([1, 3]))
    ((2, 0, 4), (2, 0, 4))
    """
    far = at_least(profile)
    best = (0, 0, int(far[0]))
    # on long paths, large distances decide
    for d in sorted({0, *range(max(1, far.size - MAX_DEPTH), far.size)}):
        steps = Growth(int(far[d]), d).after(max(best[0], d) - 1)
        if steps > best[0]:
            best = (steps, d, int(far[d]))
    return best


def tree_time(case: Case, root: int, targets: Counts | None) -> int:
    """Return the exact least time of a one-port broadcast in a tree, 0 if the network is not one (or too deep).

    With the children's times b_1 >= b_2 >= ..., a node takes max(b_i + i) steps; branches without targets take none.
    """
    net = case.network
    if net.link_count != 2 * (net.node_count - 1) or int(net.reverse_link.min(initial=0)) < 0:
        return 0
    search = net.breadth_first(root)
    depth = int(search.distance[search.order[-1]])
    if search.order.size < net.node_count or depth > MAX_DEPTH:
        return 0
    parent = np.full(net.node_count, root, np.int64)
    reached = search.order[1:]
    parent[reached] = net.link_source[search.parent_link[reached]]
    time = np.full(net.node_count, -1, np.int64)  # -1: no target in the branch
    time[: net.terminal_count] = 0
    if targets is not None:
        time[:] = -1
        time[targets] = 0
    ends = np.searchsorted(search.distance[search.order], np.arange(depth + 2))
    for level in range(depth, 0, -1):
        nodes = search.order[ends[level] : ends[level + 1]]
        nodes = nodes[time[nodes] >= 0]
        if not nodes.size:
            continue
        nodes = nodes[np.lexsort((-time[nodes], parent[nodes]))]
        above, first = np.unique(parent[nodes], return_index=True)
        rank = np.arange(nodes.size) - np.repeat(first, np.diff(np.append(first, nodes.size))) + 1
        time[above] = np.maximum(time[above], np.maximum.reduceat(time[nodes] + rank, first))
    return int(time[root])


# Further bounds for a message that spreads from node to node: closed forms, and nodes with few neighbors.

# How many nodes can know a message after t steps, if each passes it on once a step: closed forms and small degrees.

_MANY = 2.0**50
"""Counts from here on are not told apart; they exceed any number of nodes."""

MAX_STEPS = 400
"""Broadcasts that take longer are left to the other bounds."""


def closed_form_time(distance: int, nodes: int, stirling: bool = False) -> float:
    """Return the steps that Corollary 3.4 gives for R_d nodes at distance d or more; real-valued.

    Parameters
    ----------
    distance : int
        d, at least 1: for d = 0 the corollary is false (errata 9.4).
    nodes : int
        R_d, at least 1.
    stirling : bool
        Whether to use the weaker form for R_d below 4^(d-1), after Stirling.

    Returns
    -------
    float
        2d-1, ``log2(4^(d-1) + R_d)`` or ``d/2 + (d! (R_d-1))^(1/(d+1))`` for R_d equal to, above or below 4^(d-1).

    References
    ----------
    Dimakopoulos 1996, Corollary 3.4.

    Examples
    --------
    >>> closed_form_time(2, 4), closed_form_time(2, 12), round(closed_form_time(3, 5), 3)
    (3.0, 4.0, 3.713)
    """
    d, limit = distance, 4 ** (distance - 1)
    if nodes == limit:
        return float(2 * d - 1)
    if nodes > limit:
        return math.log2(limit + nodes)
    if nodes < 2:
        return d / 2
    if stirling:
        logarithm = math.log(nodes - 1) + (math.log(2 * math.pi) - math.log(d + 1)) / 2
        return d / 2 + (d + 1) / math.e * math.exp(logarithm / (d + 1))
    return d / 2 + math.exp((math.lgamma(d + 1) + math.log(nodes - 1)) / (d + 1))


def level_time(distance: int, nodes: int) -> int:
    """Return ``min{t : C(t,d) >= n_d}``: on a tree, the steps to reach n_d nodes at distance d.

    Source: Dimakopoulos 1996, Corollary 3.5.

    >>> level_time(1, 4), level_time(2, 6), level_time(2, 7)
    (4, 4, 5)
    """
    steps, ways = distance, 1
    while ways < nodes:
        steps += 1
        ways = ways * steps // (steps - distance)
    return steps if nodes else 0


def degree_time(profile: Counts, root_links: int, node_links: int, steps: int) -> tuple[int, int, int]:
    """Return T_d, d and R_d with the largest T_d, where no node has more than a few neighbors to inform.

    * `profile` (int64[e+1]): number of nodes at each distance that the message must reach.
    * `root_links`, `node_links`: neighbors that the root, and any other node, can inform: for the latter the degree
      less 1, because a node need not inform the one from which it has the message.
    * `steps`: a smaller bound that is known already.

    Returns: `steps`, 0 and R_0 if nothing more follows.

    As Theorem 3.3, but g(l,t), the number of nodes informed in step t by a path of length l, is the sum of the k values
    g(l-1,t-1) .. g(l-1,t-k) for k neighbors. O(T^2) time.

    Source: J.-C. Bermond, P. Hell, A. L. Liestman, J. G. Peters, "Broadcasting in bounded degree graphs", SIAM J.
    Discrete Mathematics 5, 1992, for d = 0.

    >>> degree_time(np.array([1, 3, 6]), 3, 2, 4)
    (4, 0, 10)
    >>> degree_time(np.array([1, 3, 6, 12, 24, 48, 96]), 3, 2, 9)
    (10, 6, 96)
    """
    far = at_least(profile).astype(np.float64)
    best = (steps, 0, int(far[0]))
    known = [np.ones(1)]  # known[t][l]: how many nodes can be informed by step t by a path of length l
    while True:
        t = len(known) - 1
        reach = np.cumsum(known[t][::-1])[::-1][: far.size]
        short = np.flatnonzero(np.append(reach, np.zeros(far.size - reach.size)) < far)
        if not short.size or t >= MAX_STEPS:
            return best
        if t >= best[0]:
            best = (t + 1, int(short[-1]), int(far[short[-1]]))
        fresh = known[t].copy()
        for first, last, links in ((0, 1, root_links), (1, t + 1, node_links)):
            end = min(last, t + 1 - links)
            if end > first:
                fresh[first:end] -= known[t - links][first:end]
        fresh[known[t] >= _MANY] = _MANY
        known.append(np.minimum(np.append(known[t], 0) + np.append(0, fresh), _MANY))


_FURTHEST = 64
"""Distances, the largest ones, for which the closed form is evaluated: never more than the bound it approximates."""


def spread_bounds(case: Case) -> Iterator[Bound]:
    """Yield what few neighbors ask for, and the bounds that Theorem 3.3 or the exact time of a tree include.

    The latter are easier to see: two furthest nodes, Corollary 3.4, and on trees Corollary 3.5.
    """
    if not case.whole:
        return
    for demand, spreads in spreads_of(case):
        known = max(doubling_time(profile)[0] for _, profile, _ in spreads)
        yield from _few_neighbors(case, demand.what, demand.outward, known, spreads)
        verb = "reach" if demand.outward else "come from"
        way = _way(case, demand.outward)
        yield from _furthest(case, demand.what, verb, way, spreads)
        yield from _closed_form(case, demand.what, verb, way, spreads)
        yield from _tree_level(case, demand.what, verb, way, spreads)


def _furthest(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    twins = [(profile.size, int(profile[-1]), v) for v, profile, _ in spreads if profile.size > 1 and profile[-1] > 1]
    if twins:
        steps, count, node = max(twins)
        text = (
            f"{_goal(case, what, verb, node)} {quantity(count, 'node')} "
            f"{quantity(steps - 1, 'hop')} away; {way}, so only one of them without a wait"
        )
        proof = Chain((Fraction(steps - 1), Fraction(1)))
        yield Bound.of("two furthest nodes", proof, text, "broadcast", "Fraigniaud and Lazard 1994")


def _closed_form(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    found = [
        (math.ceil(closed_form_time(d, int(far[d])) - 1e-9), d, int(far[d]), v)
        for v, far in ((v, at_least(profile)) for v, profile, _ in spreads)
        for d in range(max(1, far.size - _FURTHEST), far.size)
    ]
    if found:
        _, distance, count, node = max(found)
        text = (
            f"{_goal(case, what, verb, node)} {quantity(count, 'node')} at least "
            f"{quantity(distance, 'hop')} away; {way}"
        )
        proof = ClosedForm(count, distance)
        yield Bound.of("doubling, closed form", proof, text, "broadcast", "Dimakopoulos 1996, Corollary 3.4")


def _tree_level(case: Case, what: str, verb: str, way: str, spreads: list[Spread]) -> Iterator[Bound]:
    found = [
        (level_time(d, int(profile[d])), d, int(profile[d]), v)
        for v, profile, targets in spreads[:4]
        if tree_time(case, v, targets)
        for d in range(1, profile.size)
    ]
    if found:
        _, distance, count, node = max(found)
        text = (
            f"on a tree, {_goal(case, what, verb, node)} {quantity(count, 'node')} exactly "
            f"{quantity(distance, 'hop')} away; {way}"
        )
        proof = LevelGrowth(count, distance)
        yield Bound.of("tree level", proof, text, "broadcast", "Dimakopoulos 1996, Corollary 3.5")


def _few_neighbors(case: Case, what: str, outward: bool, known: int, spreads: list[Spread]) -> Iterator[Bound]:
    """Yield the doubling bound for nodes that have fewer neighbors to inform than there are steps."""
    degrees = case.degrees(not outward)
    spare = 1 if int(case.network.reverse_link.min(initial=0)) >= 0 else 0
    links = int(degrees.max()) - spare  # of the largest degree, which the root may have alone
    if known > MAX_STEPS or links >= known:
        return
    found = [(*degree_time(profile, int(degrees[v]), links, known), v) for v, profile, _ in spreads]
    steps, distance, count, node = max(found)
    if steps <= known:
        return
    far = f" at least {distance} hops away" if distance else ", itself included"
    verb = "reach" if outward else "come from"
    text = (
        f"{_goal(case, what, verb, node)} {quantity(count, 'node')}{far}; {_way(case, outward)}, "
        f"{'to' if outward else 'from'} at most {quantity(links, 'neighbor')}"
    )
    source = "Bermond, Hell, Liestman and Peters 1992; Dimakopoulos 1996, Theorem 3.3"
    proof = DegreeGrowth(count, distance, int(degrees[node]), links)
    yield Bound.of("doubling with few neighbors", proof, text, "broadcast", source)


_LONGEST = 100_000
"""Slots up to which terminals that inform each other are counted."""

_WORK = 20_000_000
_ROOTS = 16


def copied_by_terminals(case: Case, demand: Demand) -> bool:
    """Return whether only terminals copy the messages of a demand (or combine its contributions)."""
    if not demand.shared or case.network.terminal_count == case.network.node_count:
        return False
    return not (case.rules.replication if demand.outward else case.rules.reduction)


def copy_bounds(case: Case) -> Iterator[Bound]:
    """Yield how fast terminals inform each other where they alone copy, and how fast messages spread on slow links."""
    for demand in case.demands:
        if not demand.shared:
            continue
        links = case.links if demand.outward else case.links.turned
        if copied_by_terminals(case, demand):
            yield from _informed(case, demand, links) if case.whole else _late_copies(case, demand, links)
        if case.whole and links.send_limited and takes_time(case) and bool(links.stores.all()):
            yield from _spreading(case, demand, links)


def _informed(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield the time in which terminals that inform each other can all be informed."""
    terminals = links.terminal_count
    mine = links.source < terminals
    if not mine.any():
        return
    at_once = 1 if links.send_limited else int(np.bincount(links.source[mine], links.capacity[mine]).max())
    every = int(links.occupancy[mine].min())
    delay = _least_delay(links)
    count = demand.terminal_count if isinstance(demand, HubDemand) else 1 + int(np.diff(demand.first).max())
    if informed_time(count, at_once, every, delay) is not None:
        verb = "starts" if demand.outward else "takes in"
        does, what = ("copy messages", "copy") if demand.outward else ("combine contributions", "sum")
        text = (
            f"only terminals {does}: each of {quantity(count, 'terminal')} {verb} at most {quantity(at_once, what)} "
            f"every {case.time_text(every)}, and each takes {case.time_text(delay)} or more on its way"
        )
        proof = DelayedGrowth(count, at_once, every, delay)
        yield Bound.of("terminals inform terminals", proof, text, "broadcast", "folklore: doubling with delays")


def _least_delay(links: Links) -> int:
    """Return the least time from a terminal to another one (its two links at the least, where it is not worked out)."""
    terminals = links.terminal_count
    if (links.source.size + links.node_count) * terminals > _WORK:
        return int((links.hold + links.latency)[links.source < terminals].min())
    return min(int(np.delete(links.travel(np.array([v])).usable[:terminals], v).min()) for v in range(terminals))


def informed_time(count: int, at_once: int, every: int, delay: int) -> int | None:
    """Return the first slot by which so many terminals can be informed.

    * `count`: terminals, with the first one, at least 1.
    * `at_once`, `every`: an informed terminal starts at most `at_once` copies, then again every so many slots.
    * `delay`: slots after which a copy arrives at the earliest, at least 1.

    Returns: None if it is too long to count.

    >>> [informed_time(n, 1, 1, 1) for n in (1, 2, 4, 5)], informed_time(5, 1, 1, 2), informed_time(4, 1, 3, 4)
    ([0, 1, 2, 3], 4, 8)
    """
    fresh = [1]  # fresh[t]: terminals informed in slot t
    known = 1
    while known < count:
        t = len(fresh)
        if t > _LONGEST:
            return None
        again = fresh[t - every] if t - every > 0 else 0  # whoever informed one then informs another now
        begun = at_once * fresh[t - delay] if t >= delay else 0
        fresh.append(min(again + begun, count))
        known += fresh[t]
    return len(fresh) - 1


def _spreading(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield how long a message takes to spread, from one of the roots from which it travels longest."""
    rows: list[tuple[int, Counts | None]]
    if isinstance(demand, HubDemand):
        rows = [(v, None) for v in spread(np.unique(case.hubs(demand)), _ROOTS).tolist()]
    else:
        row = np.argsort(-np.diff(demand.first), kind="stable")[:_ROOTS]
        rows = [(int(demand.origin[i]), demand.target[demand.first[i] : demand.first[i + 1]]) for i in row]
    least, every = int((links.occupancy + links.latency).min()), int(links.occupancy.min())
    most = int((links.occupancy + links.latency).max())
    best = 0, 0, 0, 0
    for root, targets in rows:
        usable = links.travel(np.array([root])).usable
        usable = usable[: links.terminal_count] if targets is None else np.append(usable[targets], 0)
        if int(usable.max()) < FAR:
            best = max(best, (*spread_time(np.sort(usable), least, most, every), root))
    time, distance, count, root = best
    if time:
        verb = "reach" if demand.outward else "come from"
        far = f" {case.time_text(distance)} or more away" if distance else ", itself included"
        begins = "starts to pass it on" if demand.outward else "takes one in"
        text = (
            f"{_goal(case, demand.what, verb, root)} {quantity(count, 'node')}{far}; a node {begins} "
            f"at most every {case.time_text(every)}"
        )
        proof = Growth(count, distance, least, most, every)
        yield Bound.of("doubling", proof, text, "broadcast", "Dimakopoulos 1996, Theorem 3.3, with times of links")


def spread_time(times: Counts, least: int, most: int, every: int) -> tuple[int, int, int]:
    """Return T, d and R with the largest T that R nodes at d or more slots from a root need, one informed at a time.

    * `times` (int64[n]): ascending: how long the message takes to each node at the least, 0 for the root.
    * `least`, `most`: the least and the most slots that a link takes, occupancy and latency.
    * `every`: slots after which a node can begin to inform another one, at the least.

    As Theorem 3.3. A node is informed over a path; on it, the sender of hop i informed k_i others first. By T, paths of
    l hops with ``max(d, l * least) + every * (k_1 + ... + k_l) <= T`` inform ``C(K + l, l)`` nodes, where K is the
    largest sum. Plain links give ``C(T, l)``.

    >>> spread_time(np.array([0, 1, 1, 2]), 1, 1, 1), spread_time(np.array([0, 1, 1, 1]), 1, 1, 1)
    ((2, 0, 4), (2, 0, 4))
    >>> spread_time(np.array([0, 5, 5, 5]), 5, 5, 2)
    (9, 0, 4)
    """
    best = 0, 0, int(times.size)
    distances = np.unique(times)
    for d in [0, *distances[distances > 0][-64:].tolist()]:
        growth = Growth(int(times.size - np.searchsorted(times, d)), d, least, most, every)
        time = growth.after(max(best[0], d) - 1)
        if time > best[0]:
            best = time, d, growth.nodes
    return best


# Copies that leave a set of nodes late, of messages in parts behind switches that make no copies.
#
# Let packets be as small as one likes. Of the ways on which a part of a message comes to the targets outside a set of
# nodes, each leaves the set over some link for the last time; then a switch may pass the part on, but to one terminal
# only, which copies it. What starts over a link at t therefore serves by T at most as many targets as can be reached
# from one terminal in the latencies that are left. Over all links out of the set these numbers, times rate and time,
# are at least the parts that targets outside must get.

_LATE_WORK = 2_000_000
"""Terminals times links, of all sets together, up to which sets are looked at."""

_LIMITS = 6
"""Speeds, and latencies, by which links are told apart to find sets of nodes."""


def _late_copies(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield the time in which copies that leave a set of nodes serve all targets outside."""
    if not links.latency.any():
        return
    if isinstance(demand, HubDemand):
        many = demand.multiplicity(np.arange(links.node_count))
        holders, targets = np.flatnonzero(many), np.arange(demand.terminal_count)
    else:
        holders, targets = np.unique(demand.origin), np.unique(demand.target)
    best: tuple[LateCopies, str] | None = None
    way, each = "out of", "copy serves only terminals that one terminal can still reach"
    if not demand.outward:
        way, each = "into", "sum has only contributions that one terminal can still collect"
    count = _LATE_WORK // (links.terminal_count * links.source.size)
    for nodes in islice(_sets_to_leave(links, spread(holders, _ROOTS)), count):
        mine, others = holders[nodes[holders]], targets[~nodes[targets]]
        if isinstance(demand, HubDemand):
            needed = int(many[mine].sum()) * others.size
        else:
            needed = int((nodes[demand.origin[demand.message]] & ~nodes[demand.target]).sum())
        across = np.flatnonzero(nodes[links.source] & ~nodes[links.target])
        if needed and across.size:
            load = _served_late(links, nodes, mine, others, across, needed)
            if best is None or load.value > best[0].value:
                text = (
                    f"what goes {way} {quantity(int(nodes.sum()), 'node')} over "
                    f"{case.links_text(links.number[across])} is for {quantity(others.size, 'terminal')} outside; each "
                    f"{each} in the time left"
                )
                proof = LateCopies.by(load, nodes=np.flatnonzero(nodes), enter=not demand.outward)
                best = proof, text
    if best is not None:
        yield Bound.of("late copies", *best, "broadcast", "gossamer: copies made by terminals, and latencies")


def _sets_to_leave(links: Links, holders: Counts) -> Iterator[Mask]:
    """Yield sets of nodes, each once: a holder, all that is near it, and what fast or short links join, or the rest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, seen = links.node_count, set[bytes]()

    def tried() -> Iterator[Mask]:
        for column in (-links.rate, links.latency):
            for most in spread(np.unique(column), _LIMITS)[:-1]:
                kept = column <= most
                graph = coo_array((kept[kept], (links.source[kept], links.target[kept])), (n, n))
                part = connected_components(graph, directed=False)[1]
                for number in spread(np.unique(part[: links.terminal_count]), _ROOTS).tolist():
                    yield part == number
                    yield part != number
        for holder in holders.tolist():
            yield np.arange(n) == holder
            usable = links.travel(np.array([holder])).usable
            yield from (usable <= most for most in spread(np.unique(usable), _LIMITS)[:-1])

    for nodes in tried():
        if nodes.tobytes() not in seen:
            seen.add(nodes.tobytes())
            yield nodes


def _served_late(links: Links, nodes: Mask, holders: Counts, targets: Counts, across: Counts, needed: int) -> Load:
    """Return the load of the links out of a set, as often as terms of what a copy serves in the time that is left."""
    outside = ~nodes[links.source] & ~nodes[links.target]
    heads, head = np.unique(links.target[across], return_inverse=True)
    terminals = np.flatnonzero(~nodes[: links.terminal_count])
    first = _latencies(links, outside & (links.source >= links.terminal_count), heads)[:, terminals]
    reach = np.sort(_latencies(links, outside, terminals)[:, targets], axis=1)
    left = np.stack([(first[h][:, None] + reach).min(axis=0) for h in range(heads.size)])[head]  # of each, in turn
    before = links.travel(holders).depart[across] + links.latency[across]
    wait = np.minimum(before[:, None] + left, FAR).ravel()
    place = np.repeat(across, targets.size)
    return Load(needed, links.capacity[place], links.occupancy[place], wait, False)


def _latencies(links: Links, kept: Mask, starts: Counts) -> Counts:
    """Return the least latencies of ways over some links, int64[starts, N]; `FAR` / 4 where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = links.node_count
    ends = links.source[kept] * n + links.target[kept]
    pair, row = np.unique(ends, return_inverse=True)
    least = np.full(pair.size, FAR)
    np.minimum.at(least, row, links.latency[kept])
    # a link of no latency is a link still: each counts one, and ways have less than n + 1
    length: Any = csr_array(((least * (n + 1) + 1).astype(np.float64), (pair // n, pair % n)), shape=(n, n))
    found = dijkstra(length, indices=starts)
    return np.where(np.isfinite(found), np.floor(found / (n + 1)), FAR // 4).astype(np.int64)
