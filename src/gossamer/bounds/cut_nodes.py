"""Bounds from single nodes without which a network falls apart, and from the branches that hang on them.

A message for all enters each part of the rest through the node, which sends it there once at least. The last of these
messages has then to spread in its part: it takes the hops that are left to the furthest terminal, and doubles at most
from step to step. If the parts that need h more steps or more are sent m messages in all, the time is at least m + h
(J. R. Jackson's rule for one machine and jobs with tails). Backwards in time the same holds for contributions.

Only networks of no known structure are searched for such nodes: the others have none, or bounds of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.bounds import separators
from gossamer.bounds.bound import Bound
from gossamer.bounds.cuts import SOURCE
from gossamer.bounds.separators import own_load, part_load
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.metric import axes_of
from gossamer.writing import quantity

__all__ = ["Branches", "branches_of", "cut_node_bounds"]

JACKSON = f"{separators.SOURCE}, and J. R. Jackson 1955 for tails"

_LATE = 64
"""Nodes whose last messages are followed: those with most to pass on, and of these the ones with the largest parts."""


class Branches(NamedTuple):
    """The branches of a depth-first search that hang on a single node, int64 arrays.

    `node` is the one on which a branch hangs, `first` the place in `order` at which its nodes begin, `size` how many
    they are, sorted by `node` and then `first`; `place` is the place of every node.
    """

    node: Counts
    first: Counts
    size: Counts
    order: Counts
    place: Counts

    def inside(self, counts: Counts) -> Counts:
        """Return the sum over each branch of a count of every node."""
        total = np.concatenate([[0], np.cumsum(counts[self.order])])
        return np.asarray(total[self.first + self.size] - total[self.first])


def branches_of(network: Network) -> Branches | None:
    """Return the branches of a network that hang on a single node, None if it is not connected by two-way links.

    O(N log N + L).

    Examples
    --------
    >>> import gossamer
    >>> branches = branches_of(gossamer.network("array:4"))
    >>> branches.node.tolist(), branches.size.tolist()
    ([0, 1, 2], [3, 2, 1])
    """
    from gossamer.bounds import _kernels

    n = network.node_count
    if not network.link_count or int(network.reverse_link.min()) < 0:
        return None
    order, place, parent, low, size = (np.empty(n, np.int64) for _ in range(5))
    if _kernels.depth_first(network.first_link, network.link_target, order, place, parent, low, size) < n:
        return None
    # nothing of such a branch is joined to a node before the one on which it hangs
    child = order[1:]
    child = child[low[child] >= place[parent[child]]]
    child = child[np.lexsort((place[child], parent[child]))]
    return Branches(parent[child], place[child], size[child], order, place)


def cut_node_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut between a branch and its node, and under a port limit the node that has most to pass on."""
    net = case.network
    known = net.group is not None or net.levels is not None or bool(axes_of(case.metric))
    branches = None if known or not case.hub_demands else branches_of(net)
    if branches is not None:
        for out in (True, False):
            yield from _hanging(case, branches, out)
        if case.send_limited:
            yield from _busiest(case, branches, True)
        if case.receive_limited:
            yield from _busiest(case, branches, False)


def _hanging(case: Case, branches: Branches, out: bool) -> Iterator[Bound]:
    """Cut each branch off the node on which it hangs."""
    net, n = case.network, np.int64(case.network.node_count)
    terminals = branches.inside((np.arange(n) < net.terminal_count).astype(np.int64))
    count = np.zeros(branches.node.size, np.int64)
    for demand in case.hub_demands:
        count += demand.crossings(branches.inside(demand.multiplicity(np.arange(n))), terminals)[0 if out else 1]
    within, node = (net.link_source, net.link_target) if out else (net.link_target, net.link_source)
    # the branch of a link to its node is the last of that node's branches to begin before the link's other end
    keys = branches.node * n + branches.first
    at = np.searchsorted(keys, node * n + branches.place[within], "right") - 1
    branch = np.maximum(at, 0)
    past = branches.place[within] - branches.first[branch]
    joined = (at >= 0) & (branches.node[branch] == node) & (past >= 0) & (past < branches.size[branch])
    capacity = np.bincount(branch[joined], case.link_capacity[joined], count.size).astype(np.int64)
    if case.receive_limited if out else case.send_limited:
        capacity = np.minimum(capacity, 1)
    ratio = count / np.maximum(capacity, 1)
    i = int(np.argmax(ratio))
    if count[i]:
        text = (
            f"{quantity(int(branches.size[i]), 'node')} that hang on node {case.name(int(branches.node[i]))}, "
            f"{quantity(int(capacity[i]), 'packet')} a step across: {quantity(int(count[i]), case.what)} must "
            f"{'leave' if out else 'enter'}"
        )
        yield Bound("cut at a node", case.steps(count[i], capacity[i]), text, "cut", SOURCE)


def _busiest(case: Case, branches: Branches, send: bool) -> Iterator[Bound]:
    """Count what each node must send, or receive, because it joins its branches to each other and to the rest."""
    n = case.network.node_count
    every, node = np.arange(n), branches.node
    terminal = (every < case.network.terminal_count).astype(np.int64)
    count, idle = np.zeros(n, np.int64), np.ones(n, bool)
    terminals_in = branches.inside(terminal)
    others = terminal.sum() - terminal - _sums(node, terminals_in, n)
    for demand in case.hub_demands:
        fan = demand.outward == send
        hubs = demand.multiplicity(every)
        hubs_in = branches.inside(hubs)
        rest = demand.hubs.size - hubs - _sums(node, hubs_in, n)
        count += own_load(demand, hubs, terminal, fan)
        count += _sums(node, part_load(demand, terminal[node], hubs_in, terminals_in, fan), n)
        count += part_load(demand, terminal, rest, others, fan)
        idle &= (hubs if fan else terminal) == 0
    late = _latest(case, branches, count, idle, send)
    v = int(np.argmax(count))
    if late is not None and late[0] > count[v] + int(idle[v]):
        steps, v, some, tail = late
        verb, end = ("send", "the last needs") if send else ("receive", "the first needed")
        text = (
            f"node {case.name(v)} must {verb} {quantity(some, case.what)} of its branches, one a step, and {end} "
            f"{quantity(tail, 'step')} {'more' if send else 'before'} in its branch"
        )
        yield Bound(f"cut node {verb}s", Fraction(steps), text, "separator", JACKSON)
    elif count[v]:
        verb = "send" if send else "receive"
        wait = int(idle[v])  # it has nothing to send in the first step, or must still pass on what it received last
        text = f"node {case.name(v)} must {verb} {quantity(int(count[v]), case.what)} of its branches, one a step"
        yield Bound(f"cut node {verb}s", case.steps(count[v], 1, wait), text, "separator", separators.SOURCE)


def _latest(
    case: Case, branches: Branches, count: Counts, idle: npt.NDArray[np.bool_], send: bool
) -> tuple[int, int, int, int] | None:
    """Return the best time that counts what the last message needs in its part, with its node, messages and tail.

    Looked at are the nodes with most to send or receive; None where messages are not for all.
    """
    net, demand = case.network, case.hub_demands[0]
    if len(case.hub_demands) > 1 or not demand.shared or demand.outward != send or not case.whole:
        return None
    terminal = np.arange(net.node_count) < net.terminal_count
    hubs = demand.multiplicity(np.arange(net.node_count))
    best: tuple[int, int, int, int] | None = None
    some, first = np.unique(branches.node, return_index=True)
    rest = net.node_count - 1 - _sums(branches.node, branches.size, net.node_count)[some]
    smallest = np.minimum.reduceat(branches.size, first) if some.size else first
    smallest = np.minimum(smallest, np.where(rest > 0, rest, smallest))
    for v in some[np.lexsort((-smallest, -count[some]))][:_LATE].tolist():
        distance = net.breadth_first(v).distance
        jobs = []  # of each part: how long the last message is on its way in it, and how many are sent into it
        outside = np.ones(net.node_count, np.bool_)
        outside[v] = False
        rows = np.flatnonzero(branches.node == v)
        parts = [branches.order[f : f + n] for f, n in zip(branches.first[rows], branches.size[rows], strict=True)]
        for part in parts:
            outside[part] = False
        for part in [*parts, np.flatnonzero(outside)]:
            there = part[terminal[part]]
            if there.size:
                tail = _spreading(there.size, int(np.count_nonzero(distance[part] == 1)))
                tail = max(tail, int(distance[there].max()) - 1)
                jobs.append((tail, demand.hubs.size - int(hubs[part].sum())))
        jobs.sort(reverse=True)
        messages = 0
        for tail, more in jobs:
            messages += more
            steps = messages + tail + int(idle[v])
            if more and (best is None or steps > best[0]):
                best = steps, v, messages, tail
    return best


def _spreading(nodes: int, links: int) -> int:
    """Return the least steps in which a message gets from one of so many nodes to all.

    Each passes it on once a step, and a node outside sends it over each of its other links into the part, once a step.

    >>> [_spreading(nodes, 1) for nodes in (1, 2, 3, 4, 5)], _spreading(3, 2)
    ([0, 1, 2, 2, 3], 1)
    """
    steps, informed = 0, 1
    while informed < nodes:
        steps += 1
        informed = 2 * informed + int(steps < links)
    return steps


def _sums(node: Counts, values: Counts, n: int) -> Counts:
    """Return the sum of the branches' values at each node."""
    return np.bincount(node, values, n).astype(np.int64)
