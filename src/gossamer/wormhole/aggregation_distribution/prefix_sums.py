"""Prefix sums of the number of messages over the nodes of all DDNs, by control messages.

The sums are collected along a contraction of the DDNs' diagonals, then along the diagonal of the torus to one node,
and handed out the same way back: every center keeps what its members had, and gives each of them, and itself, the sum
of all before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gossamer.wormhole.aggregation_distribution.recording import NOTHING, PhaseCost, ScheduleRecorder
from gossamer.wormhole.contraction_trees import TreeMoves, contraction, group_tree
from gossamer.wormhole.partition import Ints, TorusPartition

# Alignment: the nodes on the main diagonal of a DDN tell each other all that they hold.
#
# Every node of the diagonal knows a window of consecutive nodes of the diagonal, at first itself. In a round it gets
# the windows of 2 or 4 partners beside its own: a partner w places away sends directly, one 2w places away through the
# corner. The last partner of the last round sends only what is missing.
#
# On unequal sides the diagonal of a DDN with g diagonals goes through blocks of g nodes a side. Windows then grow to g,
# and rings over the blocks, one dimension after the other, do the rest. In d dimensions the nodes of level 0 modulo g
# take the part of the diagonal, and the windows grow in the planes of dimensions 0 and t, t = 1..d-1, one after the
# other.


class Partner(NamedTuple):
    """A partner of a round: it is `places` away along the diagonal and sends its nodes `first` .. ``first+nodes-1``.

    Places and nodes are relative to the receiver.
    """

    places: int
    first: int
    nodes: int


def gather_rounds(width: int, fan: int) -> list[list[Partner]]:
    """Return the rounds in which each of `width` nodes of a ring comes to know all.

    `width`: nodes N of the ring. `fan`, {4, 2}: most partners of a round.

    Returns: with w nodes known before a round, the partners are +w, -w, +2w, -2w, as many as are needed.

    A partner 2w places away is used only if N > 3w. So in every column the channels ``[i-2w, i]`` and ``[i, i+w]`` of
    the messages to and from node i do not meet those of the next.

    Source: Chen and Chen 2000, section 3.2.1 (Figs. 14-16).

    >>> [[(p.places, p.nodes) for p in r] for r in gather_rounds(5, 4)], [len(r) for r in gather_rounds(7, 4)]
    ([[(1, 1), (-1, 1), (2, 1), (-2, 1)]], [4, 1])
    """
    low, high = 0, 0  # the window known
    rounds = []
    while high - low + 1 < width:
        w = high - low + 1
        partners = []
        for places in (w, -w, 2 * w, -2 * w)[:fan]:
            count = min(w, width - (high - low + 1))
            if count == 0:
                break
            if places > 0:
                partners.append(Partner(places, high + 1, count))
                high += count
            else:
                partners.append(Partner(places, low - count, count))
                low -= count
        rounds.append(partners)
    return rounds


def tell_all(recording: ScheduleRecorder, fan: int, name: str = "all-gather") -> None:
    """Let the nodes on the main diagonal of every DDN know all units of the DDN.

    `recording`: the schedule so far; all holders are on the main diagonals of the DDNs. `fan`, {4, 2}: most partners of
    a round. `name`: name of the phase.

    Units stay with their holders; at the end all nodes on a main diagonal know them.

    Source: Chen and Chen 2000, section 3.2.1.
    """
    partition = recording.partition
    h, g = partition.h, partition.diagonals
    main = np.flatnonzero(partition.level % (g * h) == 0)
    held = recording.by_holder()
    known: dict[int, Ints] = {int(node): held[node] for node in main}
    with recording.phase(name):
        for t in range(1, partition.dimensions):
            known = _windows(recording, known, t, fan)
        for t in range(partition.dimensions):
            known = _rings(recording, known, t)


def _windows(recording: ScheduleRecorder, known: dict[int, Ints], t: int, fan: int) -> dict[int, Ints]:
    """Let each node know what those know that are up to g places away along the plane of dimensions 0 and t."""
    partition = recording.partition
    h, g = partition.h, partition.diagonals
    way = partition.along(0, h) + partition.along(t, h)
    nodes = np.array(list(known), np.int64)
    line = {int(x): partition.shifted(np.full(2 * g + 1, x), np.arange(-g, g + 1)[:, None] * way) for x in nodes}

    def union(node: int, first: int, count: int) -> Ints:
        return np.sort(np.concatenate([known[int(x)] for x in line[node][g + first : g + first + count]]))

    for partners in gather_rounds(g, fan):
        rows = [np.array([recording.row(union(int(x), p.first, p.nodes)) for x in nodes]) for p in partners]
        sources = [partition.shifted(nodes, p.places * way) for p in partners]
        if len(partners) > 2:
            recording.step()
            for p, row, source in zip(partners[2:], rows[2:], sources[2:], strict=True):
                recording.send(source, partition.along(t, -p.places * h), row)
        recording.step()
        for p, row, source in zip(partners[:2], rows[:2], sources[:2], strict=True):
            recording.send(source, -p.places * way, row)
        for p, row, source in zip(partners[2:], rows[2:], sources[2:], strict=True):
            corner = partition.shifted(source, partition.along(t, -p.places * h))
            recording.send(corner, partition.along(0, -p.places * h), row)
    low = min((p.first for partners in gather_rounds(g, fan) for p in partners), default=0)
    return {int(x): union(int(x), min(low, 0), g) for x in nodes} if g > 1 else known


def _rings(recording: ScheduleRecorder, known: dict[int, Ints], t: int) -> dict[int, Ints]:
    """Let each node know what those know that are a multiple of the block's side away along dimension t."""
    partition = recording.partition
    block = partition.h * partition.diagonals
    ring = partition.sides[t] // block
    if ring == 1:
        return known
    nodes = np.array(list(known), np.int64)
    row_of = np.full(partition.node_count, NOTHING, np.int64)
    row_of[nodes] = [recording.row(known[int(x)]) for x in nodes]
    way = partition.along(t, block)
    for step in range(ring // 2):
        recording.step()
        recording.send(nodes, way, row_of[partition.shifted(nodes, -step * way)])
        if step < (ring - 1) // 2:
            recording.send(nodes, -way, row_of[partition.shifted(nodes, step * way)])
    line = {int(x): partition.shifted(np.full(ring, x), np.arange(ring)[:, None] * way) for x in nodes}
    return {int(x): np.sort(np.concatenate([known[int(y)] for y in line[int(x)]])) for x in nodes}


def gathering_cost(partition: TorusPartition, fan: int, unit_bytes: int, held: int, most: int) -> PhaseCost:
    """Return the closed form of `tell_all`, an upper bound.

    `fan`, {4, 2}: most partners of a round. `unit_bytes`: bytes of a unit. `held`: the most units of a node before.
    `most`: the most units of a DDN.

    >>> gathering_cost(TorusPartition((50, 50), 10), 2, 1, 250, 250)
    PhaseCost(name='all-gather', bytes=(250, 250), hops=(20, 60), control=False)
    """
    h, g = partition.h, partition.diagonals
    lengths: list[int] = []
    hops: list[int] = []
    for _ in range(1, partition.dimensions):
        for partners in gather_rounds(g, fan):
            far = [p for p in partners if abs(p.places) > abs(partners[0].places)]
            if far:
                lengths.append(min(most, held * max(p.nodes for p in far)) * unit_bytes)
                hops.append(far[0].places * h)
            lengths.append(min(most, held * max(p.nodes for p in partners)) * unit_bytes)
            hops.append(2 * partners[0].places * h)
        held = min(most, held * g)
    for side in partition.sides:
        ring = side // (g * h)
        lengths += [held * unit_bytes] * (ring // 2)
        hops += [g * h] * (ring // 2)
        held = min(most, held * ring)
    return PhaseCost("all-gather", tuple(lengths), tuple(hops))


@dataclass(frozen=True)
class _Level:
    """A level of the tree of sums: the ends of the moves, the order of a group, and the ways there in each step."""

    source: Ints
    target: Ints
    order: Ints  # of a member in its group, below 0 before the center
    ways: tuple[Ints, ...]  # displacement[E, d] of each step; all are needed, one after the other

    @property
    def hops(self) -> tuple[int, ...]:
        return tuple(int(np.abs(way).sum(axis=1).max()) for way in self.ways)


def prefix_sums(recording: ScheduleRecorder, fan: int) -> Ints:
    """Find for every node how many units the nodes before it hold.

    `recording`: the schedule so far; all holders are nodes of DDNs. The control messages of the phase are written to
    it. `fan`, {3, 5}: groups along the diagonal of the torus: of 5, in two steps a level, or of 3, in one.

    Returns: int64[V]: the sum of each node in one fixed order of the DDN nodes.

    In a square torus with N = n/h, ``2 ceil_log(5, N)`` steps, and ``4 ceil_log(5, n)`` with fan 5 or
    ``2 ceil_log(3, n)`` with fan 3. The trip along the diagonal from a far member of a group of 5 goes vertically and
    then horizontally, that from a near member horizontally and then vertically, and so stops at the corner.

    Source: Chen and Chen 2000, section 3.1.2.1 (Figs. 4-9).
    """
    levels = _levels(recording.partition, fan)
    held = np.bincount(recording.holder, minlength=recording.partition.node_count).astype(np.int64)
    before: list[Ints] = []
    with recording.phase("prefix sums", control=True):
        for level in levels:
            at = level.source
            for way in level.ways:
                recording.step()
                recording.control(at, way)
                at = recording.partition.shifted(at, way)
            before.append(held)
            held = held.copy()
            np.add.at(held, level.target, before[-1][level.source])
        base = np.zeros_like(held)
        for level in reversed(levels):
            base = _handed_out(level, before.pop(), base)
            at = level.target
            for way in reversed(level.ways):
                recording.step()
                recording.control(at, -way)
                at = recording.partition.shifted(at, -way)
    return base


def ranks(recording: ScheduleRecorder, before: Ints) -> Ints:
    """Return the rank of every unit: the prefix sum of its holder and its place among the units there, int64[units]."""
    order = np.argsort(recording.holder, kind="stable")
    at = recording.holder[order]
    place = np.arange(at.size) - np.searchsorted(at, at)
    rank = np.empty_like(at)
    rank[order] = before[at] + place
    return rank


def _handed_out(level: _Level, held: Ints, base: Ints) -> Ints:
    """Give the members of each group of a level their sums, of which the center's so far is that of the group."""
    centers = np.unique(level.target)
    member = np.concatenate([level.source, centers])
    center = np.concatenate([level.target, centers])
    order = np.lexsort((np.concatenate([level.order, np.zeros_like(centers)]), center))
    member, center = member[order], center[order]
    total = np.cumsum(held[member]) - held[member]
    first = np.flatnonzero(np.diff(center, prepend=-1))
    total -= np.repeat(total[first], np.diff(np.append(first, center.size)))
    handed = base.copy()
    handed[member] = base[center] + total
    return handed


def _levels(partition: TorusPartition, fan: int) -> list[_Level]:
    d, period = partition.dimensions, partition.diagonals * partition.h
    tree = group_tree(partition.diagonals, 2 * d + 1)
    levels = [_along_moves(moves) for moves in contraction(partition, tree, partition.h)]
    left = partition.level % period == 0
    for t in range(1, d):  # along the diagonals of the planes of dimensions 0 and t, in blocks of `period` nodes
        levels += _diagonal(partition, np.flatnonzero(left), t, period, fan)
        left &= partition.coordinates[:, t] % period == -group_tree(period, fan).low
    for t in range(d):  # unequal sides: one node is left in each block
        levels += _line(partition, np.flatnonzero(left), t, period)
        left &= partition.coordinates[:, t] // period == -group_tree(partition.sides[t] // period, 3).low
    return levels


def _along_moves(moves: TreeMoves) -> _Level:
    return _Level(moves.source, moves.target, -moves.displacement.sum(axis=1), (moves.displacement,))


def _diagonal(partition: TorusPartition, nodes: Ints, t: int, period: int, fan: int) -> list[_Level]:
    tree = group_tree(period, fan)
    place = partition.coordinates[nodes, t] % period + tree.low
    levels = []
    for edges in tree.levels:
        sources, orders, ranks = [], [], []
        for edge in edges:
            chosen = nodes[place == edge.child]
            sources.append(chosen)
            orders.append(np.full(chosen.size, edge.child - edge.parent, np.int64))
            ranks.append(np.full(chosen.size, abs(edge.rank), np.int64))
        source, order, rank = (np.concatenate(c) for c in (sources, orders, ranks))
        down, right = partition.along(0, -order), partition.along(t, -order)
        far = (rank == 2)[:, None]
        ways = (down + right,) if fan == 3 else (np.where(far, down, right), np.where(far, right, down))
        levels.append(_Level(source, partition.shifted(source, down + right), order, ways))
    return levels


def _line(partition: TorusPartition, nodes: Ints, t: int, period: int) -> list[_Level]:
    tree = group_tree(partition.sides[t] // period, 3)
    place = partition.coordinates[nodes, t] // period + tree.low
    levels = []
    for edges in tree.levels:
        source = np.concatenate([nodes[place == e.child] for e in edges])
        order = np.concatenate([np.full(int((place == e.child).sum()), e.child - e.parent) for e in edges])
        way = partition.along(t, -order * period)
        levels.append(_Level(source, partition.shifted(source, way), order, (way,)))
    return levels


def prefix_cost(partition: TorusPartition, fan: int, counter_bytes: int) -> PhaseCost:
    """Return the closed form of `prefix_sums`; all messages have `counter_bytes`.

    >>> p = TorusPartition((25, 25), 5)
    >>> [len(prefix_cost(p, fan, 4).bytes) for fan in (5, 3)]
    [10, 8]
    """
    d, h, g = partition.dimensions, partition.h, partition.diagonals
    tree, diagonal = group_tree(g, 2 * d + 1), group_tree(g * h, fan)
    hops = [reach * h for reach in tree.reaches]
    hops += [2 * reach if fan == 3 else reach for reach in diagonal.reaches for _ in range(1 if fan == 3 else 2)] * (
        d - 1
    )
    for side in partition.sides:
        hops += [reach * g * h for reach in group_tree(side // (g * h), 3).reaches]
    hops += hops[::-1]
    return PhaseCost("prefix sums", (counter_bytes,) * len(hops), tuple(hops), control=True)
