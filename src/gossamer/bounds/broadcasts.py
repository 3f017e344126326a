"""Bounds for one message that spreads from node to node, each of which passes it on at most once a step.

They hold for each broadcast of a task when nodes send one packet a slot, and, backwards in time, for each reduction
when nodes receive one packet a slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.metric import MAX_SEARCHES, at_least
from gossamer.writing import quantity

__all__ = ["MAX_DEPTH", "Spread", "broadcast_bounds", "doubling_time", "spreads_of", "tree_time"]

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


def _spread(case: Case, what: str, outward: bool, spreads: list[Spread]) -> Iterator[Bound]:
    verb = "reach" if outward else "come from"
    way = "passing it on once a step" if outward else "taking in one a step"
    doubling = max((*doubling_time(profile), node) for node, profile, _ in spreads)
    steps, distance, count, node = doubling
    far = f" at least {distance} hops away" if distance else ", itself included"
    text = f"the {what} of node {case.name(node)} must {verb} {quantity(count, 'node')}{far}, {way}"
    yield Bound(
        "doubling", Fraction(steps), text, "broadcast",
        "Dimakopoulos 1996, Theorem 3.3, which includes ceil(log2 n) and Fraigniaud and Lazard's e+1",
    )  # fmt: skip
    trees = [(tree_time(case, node, targets), -node) for node, _, targets in spreads[:4]]
    steps, node = max((s, v) for s, v in trees)
    if steps:
        text = f"on a tree, the {what} of node {case.name(-node)} takes exactly {quantity(steps, 'step')}, {way}"
        yield Bound("tree broadcast", Fraction(steps), text, "broadcast", "Dimakopoulos 1996, (6.1)")


def doubling_time(profile: Counts) -> tuple[int, int, int]:
    """Return T_d, d and R_d with the largest T_d = min{t : C(t,d) + ... + C(t,t) >= R_d}.

    R_d is the number of nodes at distance at least d that the message must reach; in t steps at most C(t,l) nodes
    learn it by a path of length l.

    Examples
    --------
    >>> doubling_time(np.array([1, 2, 1])), doubling_time(np.array([1, 3]))
    ((2, 0, 4), (2, 0, 4))
    """
    far = at_least(profile)
    best = (0, 0, int(far[0]))
    # on long paths, large distances decide
    for d in sorted({0, *range(max(1, far.size - MAX_DEPTH), far.size)}):
        steps, nodes = max(best[0], d), int(far[d])
        while not _reaches(steps, d, nodes):
            steps += 1
        if steps > best[0]:
            best = (steps, d, nodes)
    return best


def _reaches(steps: int, distance: int, nodes: int) -> bool:
    """Whether C(steps, distance) + ... + C(steps, steps) >= nodes."""
    total, term = 0, 1
    for length in range(steps, distance - 1, -1):
        total += term
        if total >= nodes:
            return True
        term = term * length // (steps - length + 1)
    return False


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
