"""Prefix sums of the number of messages over the nodes of all DDNs, by control messages.

The sums are collected along a contraction of the DDNs' diagonals, then along the diagonal of the torus to one node,
and handed out the same way back: every center keeps what its members had, and gives each of them, and itself, the sum
of all before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.wormhole.aggregation_distribution.recording import PhaseCost, Recording
from gossamer.wormhole.contraction import Moves, contraction, group_tree
from gossamer.wormhole.partition import Ints, Partition

__all__ = ["prefix_cost", "prefix_sums", "ranks"]


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


def prefix_sums(recording: Recording, fan: int) -> Ints:
    """Find for every node how many units the nodes before it hold.

    Parameters
    ----------
    recording : Recording
        The schedule so far; all holders are nodes of DDNs. The control messages of the phase are written to it.
    fan : {3, 5}
        Groups along the diagonal of the torus: of 5, in two steps a level, or of 3, in one.

    Returns
    -------
    int64[V]
        The sum of each node in one fixed order of the DDN nodes.

    Notes
    -----
    In a square torus with N = n/h, ``2 ceil_log(5, N)`` steps, and ``4 ceil_log(5, n)`` with fan 5 or
    ``2 ceil_log(3, n)`` with fan 3. The trip along the diagonal from a far member of a group of 5 goes vertically and
    then horizontally, that from a near member horizontally and then vertically, and so stops at the corner.

    References
    ----------
    Chen and Chen 2000, section 3.1.2.1 (Figs. 4-9).
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


def ranks(recording: Recording, before: Ints) -> Ints:
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


def _levels(partition: Partition, fan: int) -> list[_Level]:
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


def _along_moves(moves: Moves) -> _Level:
    return _Level(moves.source, moves.target, -moves.displacement.sum(axis=1), (moves.displacement,))


def _diagonal(partition: Partition, nodes: Ints, t: int, period: int, fan: int) -> list[_Level]:
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


def _line(partition: Partition, nodes: Ints, t: int, period: int) -> list[_Level]:
    tree = group_tree(partition.sides[t] // period, 3)
    place = partition.coordinates[nodes, t] // period + tree.low
    levels = []
    for edges in tree.levels:
        source = np.concatenate([nodes[place == e.child] for e in edges])
        order = np.concatenate([np.full(int((place == e.child).sum()), e.child - e.parent) for e in edges])
        way = partition.along(t, -order * period)
        levels.append(_Level(source, partition.shifted(source, way), order, (way,)))
    return levels


def prefix_cost(partition: Partition, fan: int, counter_bytes: int) -> PhaseCost:
    """Return the closed form of `prefix_sums`; all messages have `counter_bytes`.

    Examples
    --------
    >>> p = Partition((25, 25), 5)
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
