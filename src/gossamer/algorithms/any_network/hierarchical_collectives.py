"""Allgather, allreduce and total exchange on hierarchies: composed of groups inside each other, the same for all alike.

The ranks of a hierarchy (`gossamer.networks.hierarchy`) are groups inside groups, such as GPUs in servers in pods. A
block goes to one rank of each other group, from there to one of each group inside, and at last to all of a smallest
group: so it enters each group once. Which rank of a group that is follows from the place of the owner, so that all
ranks pass on equally much, and use their own links (rails). Reversed, that combines inside the groups first. Where not
all ranks of a smallest group are joined directly, as in a ring of GPUs, blocks spread there from rank to rank.

Shifts of the coordinates are symmetries, so one owner of each orbit is planned and the rest are translates, and the
links of an orbit stand for each other: a plan of 16,384 ranks is found and stored as one of a few.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_limits
from gossamer.algorithms.total_exchange.orbit_paths import quotient_of
from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, scheduled
from gossamer.jit import njit
from gossamer.networks.hierarchy import Hierarchy, hierarchy, link_rates
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    MultinodeBroadcast,
    ReduceScatter,
    Task,
    TotalExchange,
    in_packets,
    packets_of,
)
from gossamer.schedules import Packets, Phase, Schedule, Symmetry, then

__all__ = [
    "HIERARCHICAL_ALLGATHER",
    "HIERARCHICAL_ALLREDUCE",
    "HIERARCHICAL_BROADCAST",
    "HIERARCHICAL_EXCHANGE",
    "hierarchical_allgather",
    "hierarchical_allreduce",
    "hierarchical_broadcast",
    "hierarchical_exchange",
]

Longs = npt.NDArray[np.int64]

_MOST_HOPS, _MOST_ROWS = 60_000_000, 300_000_000
"""Hops that are stored at the most, and distances from one rank of each orbit."""
_ROUNDS, _POWER = 3, 12.0
"""How often the paths of an exchange are chosen, and how steeply the price of a link rises with its load."""
_TRIES = ((20_000, 40, 8), (200_000, 6, 4), (1_000_000, 3, 2), (10_000_000, 1, 4), (2**62, 1, 1))
"""Orders in which hops are scheduled, and rounds back and forth, by the number of hops."""
_AGAIN, _SHALLOW = 4, 0.01
"""How often trees of the root's group are grown, and what a step costs, in shares of the busiest link."""
_NEVER, _PRIME = 2**62, 2**31 - 1
_MOST_MEMBERS = 64
"""Ranks of a smallest group at the most, where some are joined through others only."""
_LARGE = 256
"""Ranks from which on a broadcast is composed; what is searched for fewer is quick."""


@njit(cache=True, nogil=True, small=100_000)
def _distances(first, out, head, delay, terminals, passing, through, source, heap, key, distance):
    """Write the least delay from a node to all others, through switches alone unless ranks pass packets on.

    `through`, bool[N]: nodes that may be reached.

    A binary heap of `heap` int64[L + 1] and `key` int64[L + 1], with entries that are out of date.
    """
    distance[:] = _NEVER
    distance[source] = 0
    heap[0], key[0] = source, 0
    size = 1
    while size:
        u, d = heap[0], key[0]
        size -= 1
        last, lk, i = heap[size], key[size], 0
        while 2 * i + 1 < size:
            c = 2 * i + 1
            if c + 1 < size and key[c + 1] < key[c]:
                c += 1
            if key[c] >= lk:
                break
            heap[i], key[i] = heap[c], key[c]
            i = c
        heap[i], key[i] = last, lk
        if d > distance[u] or (u < terminals and u != source and not passing):
            continue
        for j in range(first[u], first[u + 1]):
            e = out[j]
            v, far = head[e], d + delay[e]
            if through[v] and far < distance[v]:
                distance[v] = far
                i = size
                size += 1
                while i and key[(i - 1) // 2] > far:
                    heap[i], key[i] = heap[(i - 1) // 2], key[(i - 1) // 2]
                    i = (i - 1) // 2
                heap[i], key[i] = v, far


@njit(cache=True, nogil=True, small=100_000)
def _alike(first_in, in_links, tail, delay, of, terminals, passing, far, order, kind, deep, first, links):
    """Write the links to each node that are on quickest paths, one of those alike; return how many there are.

    Paths are alike whose links are of the same orbits: they load the links alike.

    * `far`, int64[N]: the distance of each node. `order`, int64[N]: the nodes, by ascending distance.
    * `kind`, int64[N]: written, the same for nodes to which paths of the same orbits lead. `deep`, int64[N]: written,
      the most links of a path to each node.
    * `first`, int64[N + 1], `links`, int64[L]: written, the links to node v are ``links[first[v]:first[v + 1]]``.
    """
    for v in order:
        kind[v] = 1
        deep[v] = 0
        begin = first_in[v]  # what is kept stands at the beginning of the room of all links to v
        used = begin
        if far[v] == 0 or far[v] >= _NEVER:
            first[v + 1] = 0
            continue
        for j in range(first_in[v], first_in[v + 1]):
            e = in_links[j]
            u = tail[e]
            if far[u] + delay[e] != far[v] or (u < terminals and far[u] > 0 and not passing):
                continue
            deep[v] = max(deep[v], deep[u] + 1)
            new = True
            for k in range(begin, used):
                if of[links[k]] == of[e] and kind[tail[links[k]]] == kind[u]:
                    new = False
                    break
            if new:
                links[used] = e
                used += 1
                word = (kind[u] * 1_000_003 + of[e] + 1) % _PRIME
                kind[v] = (kind[v] + word * (word + 7)) % _PRIME  # of sets, in any order
        first[v + 1] = used - begin
    count = 0
    first[0] = 0
    for v in range(far.size):
        size = first[v + 1]
        for k in range(size):
            links[count + k] = links[first_in[v] + k]
        count += size
        first[v + 1] = count
    return count


@njit(cache=True, nogil=True, small=100_000)
def _grow(
    first_in, in_links, tail, delay, of, use, terminals, passing, distance, row, first_target, targets, copies, kept,
    again, visit, power, load, begin, end, link, parent, final, mark, cost, by, hop_at, stack, price, priced,
):  # fmt: skip
    """Give each tree of `visit` cheapest of the quickest paths to its targets; return the hops used, -1 without room.

    * `first_in`, int64[1 or R, N + 1], `in_links`: the links to each node, for the root of each row or the same for
      all. `tail`, `delay`, `of`, int64[L]: where each link begins, its time,
      and its orbit. `use`, float64[orbits]: what a packet takes of a link of each orbit.
    * `passing`: whether ranks pass packets on.
    * `distance`, int64[R, N]: from the root of each row. `row`, int64[T]: the row of each tree.
    * `first_target`, `targets`, int64[T + 1], int64[]: the nodes that tree i leads to.
    * `copies`: whether a tree goes through a switch once, which copies.
    * `kept`: whether each tree stands where `begin` says, so that it may be grown again.
    * `again`: whether trees have paths, which are given up first (of one target each).
    * `load`, float64[orbits]: changed.
    * `begin`, `end`, int64[T]: the hops of each tree, written: `link`, and `parent`, the hop of the tree before, or -1.
    * `final`, int64[]: the last hop of the path to each target.
    * `mark`, int64[N] of -1; `cost`, float64[N]; `by`, `hop_at`, `stack`, int64[N]; `price`, float64[orbits], and
      `priced`, int64[orbits] of -1: to work in.
    """
    used = 0
    alone = first_in.shape[0] == 1
    heaviest = 1e-9
    for c in range(load.size):
        heaviest = max(heaviest, load[c])
    stamp = np.int64(0)
    for t in visit:
        far = distance[row[t]]
        first = first_in[0 if alone else row[t]]
        if again:
            for h in range(begin[t], end[t]):
                load[of[link[h]]] -= use[of[link[h]]]
        if kept:
            used = begin[t]
        begin[t] = used
        base = used
        for i in range(first_target[t], first_target[t + 1]):
            w = targets[i]
            stamp += 1
            # the nodes on quickest paths to w, back to what is there, then the costs from there on
            count = 1
            stack[0] = w
            if far[w] >= _NEVER:
                return -1
            mark[w] = -2 - stamp
            seen = 0
            while seen < count:
                v = stack[seen]
                seen += 1
                if far[v] == 0 or (copies and hop_at[v] >= base and by[v] == -7 - t):
                    continue
                for j in range(first[v], first[v + 1]):
                    e = in_links[j]
                    u = tail[e]
                    if far[u] + delay[e] == far[v] and mark[u] != -2 - stamp:
                        if u < terminals and far[u] > 0 and not passing:
                            continue
                        mark[u] = -2 - stamp
                        stack[count] = u
                        count += 1
            # by ascending distance: turned round they are nearly so
            for a in range(count // 2):
                stack[a], stack[count - 1 - a] = stack[count - 1 - a], stack[a]
            for a in range(1, count):
                v = stack[a]
                b = a
                while b and far[stack[b - 1]] > far[v]:
                    stack[b] = stack[b - 1]
                    b -= 1
                stack[b] = v
            for a in range(count):
                v = stack[a]
                if far[v] == 0 or (copies and hop_at[v] >= base and by[v] == -7 - t):
                    cost[v] = 0.0
                    continue
                cost[v], by[v] = np.inf, -1
                for j in range(first[v], first[v + 1]):
                    e = in_links[j]
                    u = tail[e]
                    if mark[u] == -2 - stamp and far[u] + delay[e] == far[v]:
                        c = of[e]
                        if priced[c] != stamp:
                            priced[c] = stamp
                            price[c] = ((load[c] + use[c]) / heaviest) ** power + 1e-9 * use[c]
                        through = cost[u] + price[c]
                        if through < cost[v]:
                            cost[v], by[v] = through, e
            hops, v = 0, w
            while far[v] > 0 and not (copies and hop_at[v] >= base and by[v] == -7 - t):
                hops += 1
                v = tail[by[v]]
            if used + hops > link.size:
                return -1
            before = hop_at[v] - base if far[v] > 0 else -1
            last, v = used + hops - 1, w
            for k in range(hops):
                e = by[v]
                h = last - k
                link[h] = e
                parent[h] = h - 1 - base if k < hops - 1 else before
                c = of[e]
                load[c] += use[c]
                heaviest = max(heaviest, load[c])
                if copies:
                    hop_at[v], by[v] = h, -7 - t
                v = tail[e]
            final[i] = last - base if hops else hop_at[w] - base
            used += hops
        end[t] = used
    return used


class _Routed(NamedTuple):
    """Trees from representatives: hops ``begin[t]:end[t]``, the hop before each, and the last to each target."""

    begin: Longs
    end: Longs
    link: Longs
    parent: Longs
    final: Longs


class _Plane:
    """A network with the ranks that stand for all, and the distances from them."""

    def __init__(self, case: Case, passing: bool) -> None:
        network = case.network
        found = case.once(_hierarchy, network)
        assert found is not None
        self.case, self.network, self.passing = case, network, passing
        self.hierarchy: Hierarchy = found
        self.symmetry = case.once(_symmetry, network)
        n, terminals = network.node_count, network.terminal_count
        self.ranks = np.arange(terminals) if self.symmetry is None else self.symmetry.terminals
        self.orbit = np.arange(n) if self.symmetry is None else self.symmetry.orbit.astype(np.int64)
        self.row_of = np.full(n, -1, np.int64)
        self.row_of[self.ranks] = np.arange(self.ranks.size)
        links = np.arange(network.link_count)
        self.of = links if self.symmetry is None else self.symmetry.link_orbit(links)
        self.roads = LinkResources.of(network, case.rules) if self.symmetry is None else (
            quotient_of(case, self.symmetry)
        )  # fmt: skip
        self.use = self.roads.occupancy / self.roads.capacity
        self.delay = network.link_occupancy.astype(np.int64) + network.link_latency
        self.tail, head = (side.astype(np.int64) for side in (network.link_source, network.link_target))
        broken = None if self.symmetry is None else self.symmetry.broken
        usable = links if broken is None else np.flatnonzero(~broken)
        into, onward = _by_node(head, n, usable), _by_node(self.tail, n, usable)
        count = self.ranks.size
        self.distance = np.empty((count if passing else 2 * count, n), np.int64)
        room, everywhere = np.empty((2, links.size + 1), np.int64), np.ones(n, np.bool_)
        inside = [c for level in found.levels for c in level]
        for r, u in enumerate(self.ranks.tolist()):
            _distances(*onward, head, self.delay, terminals, passing, everywhere, u, *room, self.distance[r])
            if not passing:  # the same without what lies outside the smallest group
                own = (found.place[:, inside] == found.place[u, inside]).all(axis=1)
                _distances(*onward, head, self.delay, terminals, passing, own, u, *room, self.distance[count + r])
        self.into, self.longest = (into[0][None], into[1]), 0
        quickest = self._quickest(*into)
        if self.symmetry is not None and passing:
            self.into = quickest

    def _quickest(self, first_in: Longs, in_links: Longs) -> tuple[Longs, Longs]:
        """Return the links to each node on quickest paths from each representative, one of those alike."""
        rows, n = self.distance.shape
        first, links = np.empty((rows if self.symmetry is not None else 1, n + 1), np.int64), list[Longs]()
        kind, deep, room = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(in_links.size, np.int64)
        count = 0
        for r, far in enumerate(self.distance):
            row = first[r % len(first)]
            used = _alike(
                first_in, in_links, self.tail, self.delay, self.of, self.network.terminal_count, self.passing, far,
                np.argsort(far, kind="stable"), kind, deep, row, room,
            )  # fmt: skip
            self.longest = max(self.longest, int(deep.max()))
            if self.symmetry is not None:
                row += count
                count += used
                links.append(room[:used].copy())
        return first, np.concatenate([np.zeros(0, np.int64), *links])

    def back(self, owner: Longs, nodes: Longs) -> Longs:
        """Return nodes as seen from owners, moved to where the representative of each owner is the owner."""
        if self.symmetry is None:
            return nodes
        by = self.symmetry.taking(owner, self.symmetry.representatives[self.orbit[owner]])
        return self.symmetry.translate(by, nodes)

    def routed(self, owner: Longs, first: Longs, targets: Longs, copies: bool, rounds: int) -> _Routed:
        """Return trees from owners to targets, as seen from the representatives, that load the links evenly.

        `first` int64[T + 1]: of the targets of each.
        """
        row = self.row_of[owner if self.symmetry is None else self.symmetry.representatives[self.orbit[owner]]]
        if not self.passing:  # what stays in a smallest group keeps to its switches, where others do not interfere
            near = self.distance[self.ranks.size + np.repeat(row, np.diff(first)), targets] < _NEVER
            row = row + self.ranks.size * np.logical_and.reduceat(near, first[:-1])
        n = self.network.node_count
        longest = self.longest
        link, parent = np.empty((2, targets.size * longest + 1), np.int64)
        begin, end, final = np.zeros(row.size, np.int64), np.zeros(row.size, np.int64), np.empty(targets.size, np.int64)
        load = np.zeros(self.use.size)
        room = np.full(n, -1, np.int64), np.empty(n), *np.full((3, n), -1, np.int64)
        prices = np.empty(load.size), np.full(load.size, -1, np.int64)
        visit, kept = np.arange(row.size), rounds > 1
        if kept:
            begin[:] = first[:-1] * longest
        draw = np.random.default_rng(self.case.seed)
        for turn in range(rounds):
            if turn:
                visit = draw.permutation(row.size)
            room[0].fill(-1)
            prices[1].fill(-1)
            used = _grow(
                *self.into, self.tail, self.delay, self.of, self.use, self.network.terminal_count, self.passing,
                self.distance, row, first, targets, copies, kept, turn > 0, visit, _POWER * (1 + turn), load, begin,
                end, link, parent, final, *room, *prices,
            )  # fmt: skip
            if used < 0:
                raise NetworkError(f"{self.network.spec}: some ranks are joined through other ranks only")
        if kept:  # side by side
            size = end - begin
            at = np.arange(size.sum()) + np.repeat(begin - (np.cumsum(size) - size), size)
            link, parent, end = link[at], parent[at], np.cumsum(size)
            begin = end - size
        return _Routed(begin, end, link[: int(end.max(initial=0))], parent, final)

    def forward(self, owner: Longs, trees: _Routed) -> IntArray:
        """Return the links of trees, moved from where they were found to their owners."""
        if self.symmetry is None:
            return trees.link.astype(np.int32)
        by = self.symmetry.taking(self.symmetry.representatives[self.orbit[owner]], owner)
        return self.symmetry.translate_links(np.repeat(by, trees.end - trees.begin), trees.link).astype(np.int32)

    def schedule(self, link: IntArray, packet: IntArray, parent: Longs, packets: Packets) -> Schedule:
        """Return the schedule of hops that wait for each other: the busiest link is what takes the time."""
        by_packet = np.lexsort((np.arange(packet.size), packet))
        place = np.empty(by_packet.size, np.int64)
        place[by_packet] = np.arange(by_packet.size)
        parent = np.where(parent >= 0, place[parent], -1)[by_packet]
        link, packet = link[by_packet], packet[by_packet]
        graph = HopGraph.of_parents(self.of[link].astype(np.int32), packet, parent.astype(np.int32))
        load = np.bincount(graph.link, minlength=self.use.size) * self.use
        tries, rounds = next(each for most, *each in _TRIES if link.size <= most)
        least = int(np.ceil(load.max(initial=0)))
        found = scheduled(graph, self.roads, least=least, tries=tries, rounds=rounds, seed=self.case.seed)
        order = np.argsort(found.start, kind="stable")
        return Schedule.of(
            self.case, found.start[order].astype(np.int32), link[order], packet[order], packets=packets,
            symmetry=self.symmetry, phases=[Phase(self.case.task.name, found.slots)],
        )  # fmt: skip


def _by_node(ends: Longs, nodes: int, links: Longs) -> tuple[Longs, Longs]:
    """Return some links by the node at one of their ends: the first of each node, and the links."""
    first = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(ends[links], minlength=nodes), out=first[1:])
    return first, links[np.argsort(ends[links], kind="stable")]


def _hierarchy(network: Network) -> Hierarchy | None:
    return hierarchy(network)


def _symmetry(network: Network) -> Symmetry | None:
    """Return the shifts of the coordinates; None where there are none, or too much is missing."""
    found = hierarchy(network)
    shifts = [] if found is None else found.translations
    if found is None or not shifts:
        return None
    try:
        return Symmetry(network, permutations=[found.moved(shift) for shift, _ in shifts])
    except NetworkError:  # more than a few links have no translates
        return None


def _carriers(network: Network) -> list[int]:
    """Return the tiers of ranks that reach those in their places in all groups, and all of their group, by switches."""
    found = hierarchy(network)
    assert found is not None
    terminals = network.terminal_count
    inside = [c for level in found.levels for c in level]
    tail, head = (side.astype(np.int64) for side in (network.link_source, network.link_target))
    onward, delay = _by_node(tail, network.node_count, np.arange(tail.size)), np.ones(tail.size, np.int64)
    room, distance = np.empty((2, tail.size + 1), np.int64), np.empty(network.node_count, np.int64)
    carriers, trees = [], _group_trees(network)
    for t in found.terminal_tiers:
        u = int(np.flatnonzero(found.tier == t)[0])
        _distances(*onward, head, delay, terminals, False, np.ones(distance.size, np.bool_), u, *room, distance)
        like = found.tier[:terminals] == t
        rest = [c for c in found.coordinates[t] if c not in inside]
        placed = like & (found.place[:terminals, rest] == found.place[u, rest]).all(axis=1)
        near = (found.place[:terminals, inside] == found.place[u, inside]).all(axis=1)
        if bool((distance[:terminals][placed if trees is not None else placed | near] < _NEVER).all()):
            carriers.append(t)
    return carriers


class _GroupTrees(NamedTuple):
    """How blocks spread in a smallest group of ranks, of which some are joined through others only.

    `member` int64[G, m]: the ranks of each group, those in one column alike. `column` int64[T]: that of each rank.
    `parent` int64[m, m]: in the tree from each column, the column from which each gets a block; -1 for the first.
    `speed` float64[m, m]: the rate at which each column reaches each other alone, 0 where it does not.
    """

    member: Longs
    column: Longs
    parent: Longs
    speed: npt.NDArray[np.float64]


def _group_trees(network: Network) -> _GroupTrees | None:
    """Return the trees of a smallest group; None if all its ranks are joined directly, or some not at all inside it.

    Of trees with as few steps as there can be those are taken that load the links of a group evenly.
    """
    found = hierarchy(network)
    assert found is not None
    terminals = network.terminal_count
    inside = [c for level in found.levels for c in level]
    if not inside:
        return None
    rest = [c for c in range(len(found.sizes)) if c not in inside]
    keys = [found.place[:terminals, c] for c in [*reversed(rest)]], [found.place[:terminals, c] for c in inside]
    order = np.lexsort([*keys[0], found.tier[:terminals], *keys[1]])
    groups = math.prod(found.sizes[c] for c in inside)
    m = terminals // groups
    member, column = order.reshape(groups, m), np.empty(terminals, np.int64)
    column[order] = np.arange(terminals) % m
    if m > _MOST_MEMBERS:
        return None
    tail, head = (side.astype(np.int64) for side in (network.link_source, network.link_target))
    onward, rate = _by_node(tail, network.node_count, np.arange(tail.size)), link_rates(network)
    own = (found.place[:, inside] == found.place[member[0, 0], inside]).all(axis=1)
    room, distance = np.empty((2, tail.size + 1), np.int64), np.empty(network.node_count, np.int64)
    speed = np.zeros((m, m))  # by which each reaches each without others, through switches as its own links let it
    for i, u in enumerate(member[0].tolist()):
        _distances(
            *onward, head, np.ones(tail.size, np.int64), terminals, False, own, u, *room, distance
        )  # fmt: skip
        near = distance[member[0]] < _NEVER
        mine = onward[1][onward[0][u] : onward[0][u + 1]]
        direct = dict(zip(head[mine].tolist(), rate[mine].tolist(), strict=True))
        switched = max([rate for v, rate in direct.items() if v >= terminals and own[v]], default=1.0)
        speed[i] = [direct.get(v, switched) if v != u else 0.0 for v in member[0].tolist()] * near
    if bool((speed + np.eye(m) > 0).all()):
        return None
    steps, frontier = np.where(np.eye(m, dtype=bool), 0, m), np.eye(m, dtype=bool)
    for step in range(1, m):
        frontier = (frontier @ (speed > 0)) & (steps == m)
        steps[frontier] = step
    if int(steps.max()) == m:
        return None
    parent, load = np.full((m, m), -1, np.int64), np.zeros((m, m))
    for turn in range(_ROUNDS):
        for root in range(m):
            for v in np.argsort(steps[root], kind="stable")[1:].tolist():
                if turn:
                    load[parent[root, v], v] -= 1
                before = np.flatnonzero((steps[root] == steps[root, v] - 1) & (speed[:, v] > 0))
                u = int(before[np.argmin((load[before, v] + 1) / speed[before, v])])
                parent[root, v] = u
                load[u, v] += 1
    return _GroupTrees(member, column, parent, speed)


def _depths(parent: Longs) -> Longs:
    """Return how deep each rank is in a tree of ranks."""
    depth, at = np.zeros(parent.size, np.int64), parent
    while bool((at >= 0).any()):
        depth += at >= 0
        at = np.where(at >= 0, parent[at], -1)
    return depth


def _parents(
    found: Hierarchy, owner: int, carriers: list[int], trees: _GroupTrees | None, turn: int = 0
) -> tuple[Longs, Longs]:
    """Return the rank from which each rank gets the block of an owner, -1 for the owner, and how deep in its tree.

    `turn`: of ranks that may carry a block for an owner who may not, so many are passed over.
    """
    network = found.network
    terminals = network.terminal_count
    parent, depth = np.full(terminals, -1, np.int64), np.zeros(terminals, np.int64)
    inside = [c for level in found.levels for c in level]
    # Step 0: an owner without links to other groups hands its block to a rank of its group that has some
    first = owner
    if int(found.tier[owner]) not in carriers:
        near = np.flatnonzero((found.place[:terminals, inside] == found.place[owner, inside]).all(axis=1))
        carry = np.isin(found.tier[near], carriers)
        without, near = near[~carry], near[carry]
        first = int(near[(turn * without.size + int(np.searchsorted(without, owner))) % near.size])
        parent[first], depth[first] = owner, 1
    tier, deep = int(found.tier[first]), int(depth[first])
    last = tuple(c for c in found.coordinates[tier] if c not in inside)
    levels = [*found.levels, last] if last else list(found.levels)
    ranks = np.flatnonzero(found.tier[:terminals] == tier)
    # Step 1: a rank like the owner gets it from the one that agrees with the owner in the finest level in which it
    #   differs, and with itself in all others: the level of the largest groups is crossed first
    place, mine = found.place[ranks], found.place[first]
    from_there = place.copy()
    like = np.ones(ranks.size, np.bool_)
    depth[ranks] = deep
    for level in reversed(levels):
        at = list(level)
        differs = (place[:, at] != mine[at]).any(axis=1)
        depth[ranks] += differs
        new = np.flatnonzero(like & differs)
        from_there[new[:, None], at] = mine[at]
        like &= ~differs
    parent[ranks[~like]] = _nodes(found, from_there[~like], tier)
    # Step 2: other ranks get it from the one in their smallest group that is in the owner's place
    for t in found.terminal_tiers:
        if t != tier:
            others = np.flatnonzero(found.tier[:terminals] == t)
            others = others[others != owner]
            at_place = np.where(np.isin(np.arange(len(found.sizes)), inside), found.place[others], mine)
            parent[others] = _nodes(found, at_place, tier)
            depth[others] = depth[parent[others]] + 1
    # Step 3: in a group whose ranks are not all joined directly a block spreads from rank to rank
    if trees is not None:
        own = trees.member[(trees.member == owner).any(axis=1)][0]
        for member, root in ((trees.member, trees.column[first]), (own[None], trees.column[owner])):
            inner = np.flatnonzero(trees.parent[root] >= 0)
            parent[member[:, inner]] = member[:, trees.parent[root][inner]]
        parent[owner] = -1
        depth = _depths(parent)
    return parent, depth


def _nodes(found: Hierarchy, place: Longs, tier: int) -> Longs:
    number = np.zeros(len(place), np.int64)
    for c in found.coordinates[tier]:
        number = number * found.sizes[c] + place[:, c]
    return found.node_at[tier][number]


def hierarchical_allgather(case: Case) -> Schedule:
    """Build an allgather in which each block enters every group of ranks once, at a rank in its owner's place.

    A block first goes to one rank of each other group of the largest kind (pods), from each of these to one rank of
    each group inside (servers), and at last to all ranks of a smallest group, so that it crosses the links into each
    group once. The rank that takes it for a group is the one in the owner's place there: so all ranks, and all rails,
    do the same amount of work. One owner of each orbit is planned, and the others' blocks go along translates.

    Parameters
    ----------
    case : Case
        A multinode broadcast, of messages of one or more packets, on a network that `gossamer.networks.hierarchy`
        knows, whose like ranks are joined through switches, and those of a smallest group at all.

    Returns
    -------
    Schedule
        Invariant under the shifts of the coordinates, unless cables are missing.

    Raises
    ------
    NetworkError
        If like ranks are joined through other ranks only.

    Notes
    -----
    Each rank passes on as many blocks as it gets, N - 1, and each group of ranks gets each block of others once: so the
    busiest link carries no more than the best schedule needs wherever the links of ranks, or the cables of equal groups
    of one level, bind and are loaded evenly. O(R N) packets and hops for R orbits of ranks.

    References
    ----------
    Gossamer. Groups inside groups, with several leaders each: Kandalla, Subramoni, Santhanaraman, Koop and Panda 2009.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("leaf-spine:leaves=4,spines=2,hosts=4"), gossamer.task("allgather"))
    >>> schedule = hierarchical_allgather(case)
    >>> schedule.symmetry.order, schedule.stored_hops * 8 == schedule.hop_count
    (8, True)
    """
    plane = _Plane(case, passing=False)
    chunks = packets_of(case.task)
    copies, carriers = case.rules.replication, case.once(_carriers, case.network)
    inner = case.once(_group_trees, case.network)
    # Step 1: who gets each block from whom, for the block of one owner of each orbit
    trees = []
    for owner in plane.ranks.tolist():
        carries = int(plane.hierarchy.tier[owner]) in carriers  # else its packets go by way of all that do, in turns
        turns = [_parents(plane.hierarchy, owner, carriers, inner, k) for k in range(1 if carries else chunks)]
        trees += turns * (chunks if carries else 1)
    link, packet, parent = _hops(plane, trees, copies)
    symmetry = plane.symmetry
    messages = case.task.messages(case.network, None if symmetry is None else symmetry.terminals)
    # Step 4: every link sends, whenever it can, the waiting block that has furthest to go
    return plane.schedule(link, packet, parent, Packets.of(messages))


def _hops(plane: _Plane, trees: list[tuple[Longs, Longs]], copies: bool) -> tuple[IntArray, IntArray, Longs]:
    """Return link, packet and hop before of each hop, of trees of ranks: from where each gets a packet, how deep."""
    packets, senders, children = list[Longs](), list[Longs](), list[Longs]()
    for p, (from_whom, depth) in enumerate(trees):
        ranks = np.flatnonzero(from_whom >= 0)
        order = ranks[np.lexsort((ranks, from_whom[ranks], depth[ranks]))]  # senders first
        packets.append(np.full(order.size, p))
        senders.append(from_whom[order])
        children.append(order)
    of, sender, child = (np.concatenate(each) for each in (packets, senders, children))
    # Step 2: trees through switches from each sender, seen from its representative, that load the links evenly
    new = np.append(True, (np.diff(sender) != 0) | (np.diff(of) != 0))
    first = np.append(np.flatnonzero(new), sender.size)
    heads = first[:-1]
    routed = plane.routed(sender[heads], first, plane.back(sender, child), copies, 1)
    # Step 3: hops of a sender wait for the one that brings it the block
    tree = np.repeat(np.arange(heads.size), routed.end - routed.begin)
    arrival = np.full((len(trees), plane.network.terminal_count), -1, np.int64)
    arrival[of, child] = routed.final + np.repeat(routed.begin, np.diff(first))
    inside = routed.parent[: tree.size]
    parent = np.where(inside >= 0, inside + routed.begin[tree], arrival[of[heads], sender[heads]][tree])
    link, packet = plane.forward(sender[heads], routed), of[heads][tree].astype(np.int32)
    return link, packet, parent


def hierarchical_broadcast(case: Case) -> Schedule:
    """Build a broadcast whose packets go out from all ranks of the root's smallest group, each over links of its own.

    Parameters
    ----------
    case : Case
        A broadcast, of one packet or more, on a network that `hierarchical_allgather` covers.

    Returns
    -------
    Schedule
        Not invariant: the root is one.

    Notes
    -----
    Packet i goes to the i-th rank like the root in its group, from there to those in that rank's place in all groups,
    and inside each group from it to all. O(N) hops for each packet. Where switches do not copy, it goes from group to
    group down one of two binary trees, so that each rank passes on as many packets as it gets.

    References
    ----------
    Gossamer; a scatter, then an allgather: van de Geijn 1991; two trees: Sanders, Speck and Traff 2009.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("servers:s=4,g=4,inside=9"), gossamer.task("broadcast", packets=8))
    >>> hierarchical_broadcast(case).completion_time
    Fraction(7, 1)
    """
    plane = _Plane(case, passing=False)
    carriers, found = case.once(_carriers, case.network), plane.hierarchy
    inner = case.once(_group_trees, case.network)
    root = int(case.messages.origin[0])
    inside = [c for level in found.levels for c in level]
    near = (found.place[: case.network.terminal_count, inside] == found.place[root, inside]).all(axis=1)
    leaders = np.flatnonzero(near & np.isin(found.tier[: near.size], carriers))
    leaders = np.roll(leaders, -int(np.searchsorted(leaders, root)))
    flat = replace(found, levels=(tuple(inside),) if inside else ())
    # Step 1: two trees for each leader: where switches do not copy, who passes much on in one is a leaf in the other
    trees = []
    for leader in leaders.tolist():
        parent, _ = _parents(flat, leader, carriers, inner)
        groups = np.flatnonzero((found.tier[: near.size] == found.tier[leader]) & _placed_like(found, leader) & ~near)
        groups = groups[np.lexsort([groups, *(found.place[groups, c] for c in reversed(inside))])]
        for turned in (False, True):
            own = parent.copy()
            if not case.rules.replication:
                own[groups] = np.append(leader, groups)[_binary_tree(groups.size, turned)]
            own[leader], own[root] = root, -1
            trees.append(own)
    # Step 2: in the root's group all packets come from it, and not from their leaders
    if inner is not None:
        member = inner.member[(inner.member == root).any(axis=1)][0]
        for own, column in zip(trees, _even_trees(inner.speed, int(inner.column[root]), len(trees)), strict=True):
            own[member] = np.where(column >= 0, member[column], -1)
    packets = packets_of(case.task)
    copies = case.rules.replication
    some = [(own, _depths(own)) for own in trees[:packets]]
    link, packet, before = _hops(plane, [some[i % len(some)] for i in range(packets)], copies)
    plane.symmetry, plane.of = None, np.arange(case.network.link_count)
    plane.roads = LinkResources.of(case.network, case.rules)
    plane.use = plane.roads.occupancy / plane.roads.capacity
    return plane.schedule(link, packet, before, Packets.of(case.messages))


def _placed_like(found: Hierarchy, rank: int) -> npt.NDArray[np.bool_]:
    """Return the ranks that are where a rank is in its smallest group, bool[T]."""
    terminals = found.network.terminal_count
    rest = [c for c in range(len(found.sizes)) if not any(c in level for level in found.levels)]
    return np.asarray((found.place[:terminals, rest] == found.place[rank, rest]).all(axis=1))


def _binary_tree(count: int, turned: bool) -> Longs:
    """Return the parent of each of nodes 1..n in a binary tree below node 0, in which every second node is a leaf.

    The subtrees are ranges of nodes. `turned`: those are leaves that are none otherwise.

    >>> _binary_tree(6, False).tolist(), _binary_tree(6, True).tolist()
    ([2, 4, 2, 0, 6, 4], [3, 1, 0, 5, 3, 5])
    """
    node = np.arange(1, count + 1)
    bit = node & -node
    up = (node ^ bit) | (bit << 1)
    up = np.where(up > count, node ^ bit, up)
    if not turned:
        return up
    image = np.append(0, count + 1 - node if count % 2 == 0 else node % max(count, 1) + 1)  # odd to even
    back = np.argsort(image)
    return np.asarray(back[np.append(0, up)[image[node]]])


def _even_trees(speed: npt.NDArray[np.float64], root: int, count: int) -> list[Longs]:
    """Return so many trees of a group from a root that load its links evenly: the parent of each, int64[m], -1.

    `speed`, float64[m, m]: by which each reaches each, 0 where it does not. The link that is then loaded least is taken
    again and again; and each tree is grown anew beside the others.
    """
    m = len(speed)
    load, trees = np.zeros((m, m)), [np.full(m, -1, np.int64) for _ in range(count)]
    for turn, tree in itertools.product(range(_AGAIN), trees):
        if turn:
            child = np.flatnonzero(tree >= 0)
            load[tree[child], child] -= 1
        depth = np.full(m, -1)
        depth[root] = 0
        for _ in range(m - 1):
            can = (speed > 0) & (depth >= 0)[:, None] & (depth < 0)
            cost = np.where(can, (load + 1) / np.where(can, speed, 1.0), np.inf)
            cost += _SHALLOW * cost[can].max() * np.maximum(depth, 0)[:, None]
            u, v = divmod(int(np.argmin(cost)), m)
            tree[v], depth[v] = u, depth[u] + 1
            load[u, v] += 1
    return trees


def hierarchical_allreduce(case: Case) -> Schedule:
    """Build an allreduce that combines each block inside the groups first, and then sends it out the same way.

    Parameters
    ----------
    case : Case
        An allreduce of blocks, on a network that `hierarchical_allgather` covers.

    Returns
    -------
    Schedule
        Its reversal, and then it.

    References
    ----------
    Gossamer; reduce-scatter, then allgather: Chan, Heimlich, Purkayastha and van de Geijn 2007.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("leaf-spine:leaves=4,spines=2,hosts=4"), gossamer.task("allreduce"))
    >>> hierarchical_allreduce(case).symmetry.order
    8
    """
    chunks = packets_of(case.task)
    halves = [case.related(task=in_packets(each, chunks)) for each in (ReduceScatter(), MultinodeBroadcast())]
    return then(hierarchical_allgather(halves[0].dual).reverse(), hierarchical_allgather(halves[1]))


def hierarchical_exchange(case: Case) -> Schedule:
    """Build a total exchange on a hierarchy: quickest paths for one rank of each orbit, which load links evenly.

    Parameters
    ----------
    case : Case
        A total exchange on a network that `gossamer.networks.hierarchy` knows.

    Returns
    -------
    Schedule
        Invariant under the shifts of the coordinates, unless cables are missing.

    Notes
    -----
    O(R N) packets for R orbits of ranks, and three rounds of O(paths) for each.

    References
    ----------
    Gossamer; shortest paths by orbits as `gossamer.algorithms.total_exchange.orbit_paths`.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("leaf-spine:leaves=4,spines=4,hosts=4"), gossamer.task("alltoall"))
    >>> hierarchical_exchange(case).completion_time
    Fraction(18, 1)
    """
    plane = _Plane(case, passing=True)
    symmetry = plane.symmetry
    messages = case.task.messages(case.network, None if symmetry is None else symmetry.terminals)
    packets = Packets.of(messages)
    assert messages.targets is not None
    rows = np.searchsorted(messages.ids, packets.message)
    targets = messages.targets[rows].astype(np.int64)
    owner = packets.origin.astype(np.int64)
    trees = plane.routed(owner, np.arange(targets.size + 1), targets, False, _ROUNDS)
    packet = np.repeat(np.arange(owner.size, dtype=np.int32), trees.end - trees.begin)
    parent = trees.parent[: packet.size]
    parent = np.where(parent >= 0, parent + trees.begin[packet], -1)
    return plane.schedule(trees.link.astype(np.int32), packet, parent, packets)


def _refusal(case: Case, hops_each: int) -> tuple[Refusal | None, int, int]:
    """Return why a case is not planned by hierarchy, the order of the symmetry, and the hops that would be stored."""
    network = case.network
    refusal = refuse_limits(case)
    if refusal is not None:
        return refusal, 1, 0
    found = case.once(_hierarchy, network) if network.terminal_count > 1 else None
    if found is None:
        return Refusal("needs a hierarchy of like switches and ranks: leaves and spines, rails, fat trees"), 1, 0
    symmetry = case.once(_symmetry, network)
    order = 1 if symmetry is None else symmetry.order
    ranks = network.terminal_count
    stored = ranks // order * ranks * packets_of(case.task) * hops_each
    rows = ranks // order * network.node_count
    if stored > _MOST_HOPS or rows > _MOST_ROWS:
        return Refusal(f"would store about {stored:,} hops; at most {_MOST_HOPS:,} are allowed"), order, stored
    return None, order, stored


def _offer(build: Callable[[Case], Schedule], case: Case, order: int, each: float, seconds: float) -> Offer[Schedule]:
    """Return the offer of a composed schedule, with bytes and seconds of each hop that is stored."""
    return Offer(
        lambda: build(case), effort="search", orbit=order, hop_bytes=each, hop_seconds=seconds, composed=True,
        even_packets=case.once(_even_packets, case.network) if _carried(case.task) else 1,
    )  # fmt: skip


def _carried(task: Task) -> bool:
    """Return whether blocks of all go by way of the ranks that have links to other groups."""
    return isinstance(task.task if isinstance(task, Chunked) else task, (MultinodeBroadcast, Allreduce))


def _even_packets(network: Network) -> int:
    """Return into how many packets a block is cut so that those that others carry are as many for each who does.

    >>> import gossamer
    >>> _even_packets(gossamer.network("leaf-spine:leaves=4,spines=2,hosts=4"))
    1
    """
    found, carriers = hierarchy(network), _carriers(network)
    assert found is not None
    sizes = np.bincount(found.tier[: network.terminal_count])
    carry = int(sizes[carriers].sum())
    return carry // math.gcd(carry, int(sizes.sum())) if carry else 1


def _propose_allgather(case: Case) -> Offer[Schedule] | Refusal:
    task: Task = case.task.task if isinstance(case.task, Chunked) else case.task
    if not isinstance(task, MultinodeBroadcast):
        return Refusal("is for allgather")
    refusal, order, _ = _refusal(case, 3)
    if refusal is None and not case.once(_carriers, case.network):
        refusal = Refusal("needs groups whose ranks are joined by links or switches of their own")
    return refusal or _offer(hierarchical_allgather, case, order, 200, 4e-6)


def _propose_broadcast(case: Case) -> Offer[Schedule] | Refusal:
    task: Task = case.task.task if isinstance(case.task, Chunked) else case.task
    if not isinstance(task, Broadcast):
        return Refusal("is for broadcast")
    found = case.once(_hierarchy, case.network)
    if found is None or case.network.terminal_count < _LARGE:
        return Refusal(f"is for hierarchies of {_LARGE} ranks or more")
    refusal, _, _ = _refusal(case, 0)
    if refusal is None and not case.once(_carriers, case.network):
        refusal = Refusal("needs groups whose ranks are joined by links or switches of their own")
    hops = 2 * case.network.terminal_count * packets_of(case.task)
    if refusal is None and hops > _MOST_HOPS:
        refusal = Refusal(f"would write out about {hops:,} hops; at most {_MOST_HOPS:,} are allowed")
    return refusal or _offer(hierarchical_broadcast, case, 1, 200, 3e-6)


def _propose_allreduce(case: Case) -> Offer[Schedule] | Refusal:
    task: Task = case.task.task if isinstance(case.task, Chunked) else case.task
    if not isinstance(task, Allreduce):
        return Refusal("is for allreduce")
    refusal, order, _ = _refusal(case, 6)
    if refusal is None and not case.once(_carriers, case.network):
        refusal = Refusal("needs groups whose ranks are joined by links or switches of their own")
    return refusal or _offer(hierarchical_allreduce, case, order, 200, 6e-6)


def _propose_exchange(case: Case) -> Offer[Schedule] | Refusal:
    refusal, order, _ = _refusal(case, 6)
    return refusal or _offer(hierarchical_exchange, case, order, 250, 8e-6)


HIERARCHICAL_ALLGATHER = Algorithm(
    name="hierarchical-trees",
    tasks=(MultinodeBroadcast, Chunked),
    propose=_propose_allgather,
    networks="hierarchies: leaves and spines, fat trees, servers with rails, meshes or rings",
    source="gossamer; no promised time",
    summary="each block enters every group of ranks once, at a rank in its owner's place; the rest is translated",
    passes_on=True,
    timed=True,
)

HIERARCHICAL_BROADCAST = Algorithm(
    name="hierarchical-broadcast",
    tasks=(Broadcast, Chunked),
    propose=_propose_broadcast,
    networks="hierarchies of 256 ranks or more",
    source="gossamer; no promised time",
    summary="packets go out from all ranks of the root's smallest group, each over links of its own",
    passes_on=True,
    timed=True,
)

HIERARCHICAL_ALLREDUCE = Algorithm(
    name="hierarchical-reduce-scatter-allgather",
    tasks=(Allreduce, Chunked),
    propose=_propose_allreduce,
    networks="hierarchies: leaves and spines, fat trees, servers with rails, meshes or rings",
    source="gossamer; no promised time",
    summary="combines each block inside the groups first, and sends it out as hierarchical-trees does",
    passes_on=True,
    timed=True,
)

HIERARCHICAL_EXCHANGE = Algorithm(
    name="hierarchical-paths",
    tasks=(TotalExchange,),
    propose=_propose_exchange,
    networks="hierarchies: leaves and spines, fat trees, servers with rails, meshes or rings",
    source="gossamer; no promised time",
    summary="quickest paths for one rank of each orbit that load links evenly; the rest is translated",
    passes_on=True,
    timed=True,
)
