"""Bounds from single nodes without which a network falls apart, and from the branches that hang on them.

A message for all enters each part of the rest through the node, which sends it there once at least. The last of these
messages has then to spread in its part: it takes the hops that are left to the furthest terminal, and doubles at most
from step to step. If the parts that need h more steps or more are sent m messages in all, the time is at least m + h
(J. R. Jackson's rule for one machine and jobs with tails). Backwards in time the same holds for contributions.

Only networks of no known structure are searched for such nodes: the others have none, or bounds of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.grid_cuts import SOURCE, LayerCut, layer_cut, prefix_cut
from gossamer.bounds.proofs import Cut, Load, Separator
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand, NodeLine
from gossamer.questions.cases.distances import MAX_VISITS, axes_of

# Bounds from cuts of networks without dimensions, found by breadth-first sweeps.
#
# The nodes are put in the order of a search, and every prefix of the order is one side of a cut; the layers of the
# search are cut one after the other as in an array. The network itself is swept, or the factors of a product that are
# not lines or rings. Any set gives a valid cut, so how the orders are chosen only decides how good the bound is.

_SOURCES = 8
_AT_ONCE = 1 << 20
"""Links that are looked at at once."""


class Swept:
    """A network in the order of a search, for the case of a product of which it is a factor (or of itself)."""

    def __init__(self, network: Network, position: Counts, stride: int, copies: int) -> None:
        self.network = network
        self.position = position
        self.stride = stride
        self.copies = copies
        self.size = int(position.max()) + 1

    def line(self, case: Case) -> NodeLine:
        """Return the positions of the case's terminals."""
        n = self.network.node_count
        own = self.network.terminal_count if self.copies == 1 else n
        terminals = np.bincount(self.position[:own], minlength=self.size) * self.copies
        return NodeLine(self.size, lambda nodes: self.position[nodes // self.stride % n], terminals)

    def capacity(self, case: Case, upward: bool) -> Counts:
        """Return the packets per slot that cross from positions <= k to positions > k (`upward`), or back."""
        net, position = self.network, self.position
        sides = [sends for sends, limited in ((True, case.send_limited), (False, case.receive_limited)) if limited]
        furthest = {sends: position.copy() for sends in sides}  # where the links across of a node lead
        change = np.zeros(self.size)
        for first in range(0, net.link_count, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            low, high = net.link_source[some], net.link_target[some]
            if not upward:
                low, high = high, low
            across = position[low] < position[high]
            low, high = low[across], high[across]
            weight = None if case.limited else net.link_capacity[some][across]
            change += self._spans(position[low], position[high], weight)
            for sends in sides:
                if sends == upward:
                    np.maximum.at(furthest[sends], low, position[high])
                else:
                    np.minimum.at(furthest[sends], high, position[low])
        total = np.cumsum(change)[:-1]
        for sends in sides:  # a node counts at every cut that one of its links crosses
            ends = (position, furthest[sends]) if sends == upward else (furthest[sends], position)
            mine = ends[0] < ends[1]
            total = np.minimum(total, np.cumsum(self._spans(ends[0][mine], ends[1][mine]))[:-1])
        return total.astype(np.int64) * self.copies

    def _spans(
        self, low: Counts, high: Counts, weight: npt.NDArray[np.integer] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return by how much the links across change behind each position, float64[size]."""
        begun, ended = (np.bincount(ends, weight, self.size) for ends in (low, high))
        return np.asarray(begun - ended, np.float64)


def swept_networks(case: Case) -> Iterator[tuple[str, Network, int]]:
    """Yield the name, the network and the stride of what is to be swept: factors, or the network itself."""
    axes = axes_of(case.metric)
    for axis in axes:
        if axis.network is not None and axis.size > 1:
            yield axis.name, axis.network, axis.stride
    if not axes and case.network.levels is None:
        yield "", case.network, 1


def search_sources(case: Case, network: Network) -> list[int]:
    """Return the nodes to search from: the ends of the longest paths found, then evenly spread ones."""
    alike = network.group is not None and all(d.everywhere for d in case.demands)
    limit = 1 if alike else max(1, min(_SOURCES, MAX_VISITS // (2 * (network.node_count + network.link_count))))
    found = [0]
    while len(found) < limit and len(found) < 3:
        end = int(network.breadth_first(found[-1]).order[-1])
        if end in found:
            break
        found.append(end)
    hubs = [d.hubs if isinstance(d, HubDemand) else d.origin for d in case.demands]
    stride = case.network.node_count // network.node_count
    near = hubs[0] if stride == 1 else np.arange(network.node_count)
    spread = [int(v) for v in near[np.linspace(0, near.size - 1, _SOURCES).astype(np.int64)]]
    return list(dict.fromkeys(found + spread))[:limit]


def sweep_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut of each swept network: between prefixes, or between layers of a search."""
    for name, network, stride in swept_networks(case):
        copies = case.network.node_count // network.node_count
        best: tuple[LayerCut, str, Counts] | None = None
        for source in search_sources(case, network):
            search = network.breadth_first(source)
            if search.order.size < network.node_count:
                continue
            rank = np.empty(network.node_count, np.int64)
            rank[search.order] = np.arange(network.node_count)
            where = f"of {name} " if name else ""
            for swept, layered in (
                (Swept(network, rank, stride, copies), False),
                (Swept(network, search.distance.astype(np.int64), stride, copies), True),
            ):
                for cut, upward in _cuts(case, swept, layered):
                    if best is None or cut.steps > best[0].steps:
                        text = _text(case, network, where, source, cut, upward, layered, copies, swept.size)
                        place = swept.line(case).place(np.arange(case.network.node_count))
                        best = cut, text, place if upward else swept.size - 1 - place
        if best is not None:
            proof = best[0].proof(case, best[2])
            yield Bound.of(f"cut of {name}" if name else "cut", proof, best[1], "cut", SOURCE)


def _cuts(case: Case, swept: Swept, layered: bool) -> Iterator[tuple[LayerCut, bool]]:
    if swept.size < 2:
        return
    line = swept.line(case)
    for upward in (True, False):
        capacity = swept.capacity(case, upward)
        way, widths = (line, capacity) if upward else (line.mirrored(), capacity[::-1])
        if layered and (upward or descends_by_one(swept)):
            cut = layer_cut(case, way, widths)
        else:
            cut = prefix_cut(case, way, widths)
        if cut is not None:
            yield cut, upward


def descends_by_one(swept: Swept) -> bool:
    """Return whether no link leads more than one position down."""
    net, position = swept.network, swept.position
    parts = (slice(first, first + _AT_ONCE) for first in range(0, net.link_count, _AT_ONCE))
    return all(bool((position[net.link_source[p]] - position[net.link_target[p]] <= 1).all()) for p in parts)


def _text(
    case: Case, network: Network, where: str, source: int, cut: LayerCut, upward: bool, layered: bool,
    copies: int, size: int,
) -> str:  # fmt: skip
    start = network.node_name(source)
    what = case.packets_text(cut.messages)
    across = f"at most {quantity(cut.capacity, 'packet')} {case.units.rate_text}"
    if not layered:
        inside = cut.low + 1 if upward else size - 1 - cut.low
        verb = "leave" if upward else "enter"
        near = f"the {quantity(inside, 'node')} {where}nearest to node {start}"
        sizes = near if copies == 1 else f"{near}, in all {copies:,} copies"
        return f"{what} must {verb} {sizes}, {across}"
    low, high = (cut.low, cut.high) if upward else (size - 1 - cut.low, size - 1 - cut.high)
    near, far = ("at most", "at least") if upward else ("at least", "at most")
    return (
        f"{what} must get from nodes {near} {quantity(low, 'hop')} {where}from node {start} to nodes {far} "
        f"{quantity(high, 'hop')} from it, {across}"
    )


# Bounds from nodes that separate a network, where every node sends or receives one packet a slot.
#
# Without the nodes W, the network falls apart. What they originate they send, and what goes from one part to another
# they send too: if these are X packets, |W| nodes need ceil(X/|W|) steps. A message for all is sent into every part
# but its own. The middle node of a linear array gives floor((n^2-1)/2) for a total exchange, against the average
# status (n^2-1)/3.
#
# The last of these packets has further to go where its message is for the far end of a line: of a multinode broadcast
# on a linear array the middle node sends n + 1 packets, and the last of them takes the rest of the way, ceil(3n/2) - 1
# steps in all.

SEPARATOR_SOURCE = "folklore: load of nodes that separate others, as in Dimakopoulos 1996, sections 6.2.3 and 6.2.4"


def own_load(demand: HubDemand, hubs: Counts, terminals: Counts, fan: bool) -> Counts:
    """Return the packets that separating nodes must send, or receive, of their own.

    * `demand`: what is asked for.
    * `hubs`, `terminals` (int64[...]): hubs and terminals among the separating nodes.
    * `fan`: whether to count where messages for all are multiplied: the sending of an outward demand, the receiving of
      an inward one.
    """
    if not fan:
        return terminals * demand.hubs.size - hubs
    return hubs * (0 if demand.shared else demand.terminal_count - 1)


def part_load(demand: HubDemand, terminals: Counts, hubs_in: Counts, terminals_in: Counts, fan: bool) -> Counts:
    """Return the packets that separating nodes must send, or receive, because of one part.

    A message for all is sent into every part but its hub's; another one goes from its hub's part to its target's.
    `terminals` counts those among the separating nodes, the other parameters those of the part; `fan` as above.
    """
    if not demand.shared:
        return hubs_in * (demand.terminal_count - terminals - terminals_in)
    return np.minimum(terminals_in, 1) * ((demand.hubs.size - hubs_in) * int(fan))


def separator_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best layer of each dimension that is a line, and of the searches of each swept network."""
    if not case.limited or not case.hub_demands:
        return
    for axis in axes_of(case.metric):
        if axis.wraps is False and axis.size > 2:
            size = np.full(axis.size, case.network.node_count // axis.size, np.int64)
            line = NodeLine(axis.size, axis.place, size)
            yield from _layers(case, line, size, f"at place {{}} of {axis.name}", far=True)
    for name, network, stride in swept_networks(case):
        copies = case.network.node_count // network.node_count
        for source in search_sources(case, network):
            distance = network.distances(source).astype(np.int64)
            if int(distance.min()) < 0 or int(distance.max()) < 2:
                continue
            swept = Swept(network, distance, stride, copies)
            if descends_by_one(swept):
                where = f"at distance {{}} {f'in {name} ' if name else ''}from node {network.node_name(source)}"
                yield from _layers(case, swept.line(case), np.bincount(distance) * copies, where)


def _layers(case: Case, line: NodeLine, size: Counts, where: str, far: bool = False) -> Iterator[Bound]:
    """Yield the best layer of a line, of `size` nodes each, for sending and for receiving.

    With `far` no hop goes further than to the next layer, so that a message for all has a layer a step to go.
    """
    terminals = line.terminals
    below = np.cumsum(terminals) - terminals
    above = terminals.sum() - below - terminals
    for limited, send in ((case.send_limited, True), (case.receive_limited, False)):
        if not limited:
            continue
        count = np.zeros(line.size, np.int64)
        for demand in case.hub_demands:
            hubs = demand.hubs_along(line)
            under = np.cumsum(hubs) - hubs
            fan = demand.outward == send
            count += own_load(demand, hubs, terminals, fan)
            for hubs_in, terminals_in in ((under, below), (hubs.sum() - under - hubs, above)):
                count += part_load(demand, terminals, hubs_in, terminals_in, fan)
        rest = _rest(case, line, send) if far else np.zeros(line.size, np.int64)
        i = int(np.argmax((count / size + rest)[1:-1])) + 1
        if count[i]:
            verb = "send" if send else "receive"
            text = (
                f"{quantity(int(size[i]), 'node')} {where.format(i)} must {verb} "
                f"{case.packets_text(int(count[i]))}, {'each ' * (int(size[i]) > 1)}one at a time{case.each_text(1)}"
            )
            if rest[i]:
                left = quantity(int(rest[i]), "hop")
                text += f", and the last has {left} more to go" if send else f", and the first comes {left}"
            between = np.flatnonzero(line.place(np.arange(case.network.node_count)) == i)
            load = Load.of(count[i], size[i], int(rest[i]), case.whole)
            proof = Separator.by(load, nodes=between, send=send)
            yield Bound.of(f"separating nodes {verb}", proof, text, "separator", SEPARATOR_SOURCE)


def _rest(case: Case, line: NodeLine, send: bool) -> Counts:
    """Return the hops that the last packet which a layer sends has left, or the first that it receives has behind it.

    What is counted are the first copies that enter a part, or the results of a reduction that leave it; each message is
    for the layer at the far end of the part, or has a contribution from there.
    """
    rest = np.zeros(line.size, np.int64)
    if len(case.hub_demands) == 1 and case.whole and case.network.plain and bool(line.terminals[[0, -1]].all()):
        only = case.hub_demands[0]
        if only.shared and only.outward == send:
            place = np.arange(line.size)
            rest = np.maximum(np.minimum(place - 1, line.size - 2 - place), 0)
    return rest


@njit(cache=True, nogil=True, small=100_000)
def _depth_first(first_link, link_target, order, place, parent, low, size):
    """Search a network of two-way links depth-first from node 0; all arrays int64[N] are filled.

    `order` nodes by visit, `place` their places in it (-1 where unreachable), `parent` (-1 at node 0), `low` the least
    place that the branch below a node is joined to, `size` the nodes of that branch. Return the nodes reached.
    """
    place[:] = -1
    parent[:] = -1
    size[:] = 1
    following = first_link[:-1].copy()
    place[0], low[0], order[0] = 0, 0, 0
    reached = 1
    node = 0
    while node >= 0:
        if following[node] < first_link[node + 1]:
            other = link_target[following[node]]
            following[node] += 1
            if place[other] < 0:
                place[other] = low[other] = reached
                order[reached] = other
                parent[other] = node
                reached += 1
                node = other
            elif other != parent[node]:
                low[node] = min(low[node], place[other])
        else:
            above = parent[node]
            if above >= 0:
                low[above] = min(low[above], low[node])
                size[above] += size[node]
            node = above
    return np.int64(reached)


@njit(cache=True, nogil=True)
def _grow_clusters(first_link, link_target, active, seeds, largest, inside, joined, beside, best):
    """Grow a set from each seed by the node that makes ``active * (N - nodes) / links leaving`` largest.

    `inside`, `joined` int64[N] must be 0: `inside` ends as the number of the last search that took a node in, `joined`
    counts its links into the set of the search in `beside`. `best` int64[N] is written with the nodes of the best
    set of at most `largest` nodes, the number of which is returned.
    """
    n = first_link.size - 1
    edge = np.empty(n, np.int64)
    members = np.empty(largest, np.int64)
    highest, size = -1.0, 0
    for i in range(seeds.size):
        search = i + 1
        count, width, links, hubs, v = 0, 0, 0, 0, seeds[i]
        beside[v], joined[v] = search, 0
        while True:
            inside[v] = search
            members[count] = v
            count += 1
            hubs += active[v]
            links += first_link[v + 1] - first_link[v] - 2 * joined[v]
            if links > 0 and hubs * (n - count) / links > highest:
                highest, size = hubs * (n - count) / links, count
                for k in range(count):
                    best[k] = members[k]
            if count == largest:
                break
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if inside[w] == search:
                    continue
                if beside[w] != search:
                    beside[w], joined[w] = search, 0
                    edge[width] = w
                    width += 1
                joined[w] += 1
            chosen, ratio = -1, -1.0
            for k in range(width):
                w = edge[k]
                left = links + first_link[w + 1] - first_link[w] - 2 * joined[w]
                if left > 0 and (hubs + active[w]) * (n - count - 1) / left > ratio:
                    chosen, ratio = k, (hubs + active[w]) * (n - count - 1) / left
            if chosen < 0:
                break
            v = edge[chosen]
            width -= 1
            edge[chosen] = edge[width]
    return size


# Bounds from cuts around clusters of active nodes, for exchanges of a part of the nodes.
#
# A few active nodes next to each other share the links that lead away from them, in whatever shape they lie. From every
# active node a set grows greedily, node by node, and each set on the way is one side of a cut.

_LARGEST = 64
_WORK = 50_000_000
"""The most looks at nodes beside growing sets."""


def cluster_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut around a cluster in a personalized task between some nodes and all, with two-way links.

    O(hubs * size**2 * degree) time for sets of up to `_LARGEST` nodes, fewer where there are many hubs.
    """
    net = case.network
    demands = case.hub_demands
    if len(demands) != 1 or demands[0].shared or demands[0].everywhere or net.terminal_count < net.node_count:
        return
    if net.uniform_capacity is None or not net.link_count or int(net.reverse_link.min()) < 0:
        return
    demand: HubDemand = demands[0]
    active = np.zeros(net.node_count, np.int64)
    np.add.at(active, demand.hubs, 1)
    seeds = np.unique(demand.hubs)
    size = min(_LARGEST, net.node_count - 1, max(1, int((_WORK / (seeds.size * net.degree)) ** 0.5)))
    inside, joined, beside, nodes = (np.zeros(net.node_count, np.int64) for _ in range(4))
    links = net.first_link, net.link_target
    count = int(_grow_clusters(*links, active, seeds, size, inside, joined, beside, nodes))
    nodes = nodes[:count]
    member = np.zeros(net.node_count, np.bool_)
    member[nodes] = True
    across = int(np.count_nonzero(member[net.link_source] & ~member[net.link_target]))
    hubs = int(active[nodes].sum())
    messages = hubs * (net.node_count - count)
    capacity = across * (1 if case.limited else net.uniform_capacity)
    names = ", ".join(case.name(int(v)) for v in np.sort(nodes)[:4]) + (", ..." if count > 4 else "")
    text = (
        f"{case.packets_text(messages)} must {'leave' if demand.outward else 'enter'} {case.set_text(count, names)}"
        f"{f', {hubs:,} of them active,' * (hubs < count)} over {quantity(across, 'link')}"
    )
    cut = Cut.of(messages, capacity, whole=case.whole)
    proof = Cut.by(cut, nodes=np.sort(nodes), enter=not demand.outward)
    yield Bound.of("cluster cut", proof, text, "cut", SOURCE)


JACKSON = f"{SEPARATOR_SOURCE}, and J. R. Jackson 1955 for tails"

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

    >>> import gossamer
    >>> branches = branches_of(gossamer.network("array:4"))
    >>> branches.node.tolist(), branches.size.tolist()
    ([0, 1, 2], [3, 2, 1])
    """
    n = network.node_count
    if not network.link_count or int(network.reverse_link.min()) < 0:
        return None
    order, place, parent, low, size = (np.empty(n, np.int64) for _ in range(5))
    if _depth_first(network.first_link, network.link_target, order, place, parent, low, size) < n:
        return None
    # nothing of such a branch is joined to a node before the one on which it hangs
    child = order[1:]
    child = child[low[child] >= place[parent[child]]]
    child = child[np.lexsort((place[child], parent[child]))]
    return Branches(parent[child], place[child], size[child], order, place)


def cut_node_bounds(case: Case) -> Iterator[Bound]:
    """Yield, under a port limit, the node that has most to pass on from branch to branch."""
    net = case.network
    known = net.group is not None or net.levels is not None or bool(axes_of(case.metric))
    branches = None if known or not case.limited or not case.hub_demands else branches_of(net)
    if branches is not None:
        if case.send_limited:
            yield from _busiest(case, branches, True)
        if case.receive_limited:
            yield from _busiest(case, branches, False)


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
            f"node {case.name(v)} must {verb} {case.packets_text(some)} of its branches one at a time"
            f"{case.each_text(1)}, and {end} {case.time_text(tail)} {'more' if send else 'before'} in its branch"
        )
        proof = Separator.by(Load.of(some, 1, steps - some), nodes=np.array([v]), send=send)
        yield Bound.of(f"cut node {verb}s", proof, text, "separator", JACKSON)
    elif count[v]:
        verb = "send" if send else "receive"
        wait = int(idle[v])  # it has nothing to send in the first step, or must still pass on what it received last
        text = f"node {case.name(v)} must {verb} {case.packets_text(int(count[v]))} of its branches one at a time"
        text += case.each_text(1)
        proof = Separator.by(Load.of(count[v], 1, wait, case.whole), nodes=np.array([v]), send=send)
        yield Bound.of(f"cut node {verb}s", proof, text, "separator", SEPARATOR_SOURCE)


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
