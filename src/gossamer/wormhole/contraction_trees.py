"""The small patterns from which the operations are made: group trees, line broadcasts, offsets and digits.

A *group tree* contracts w consecutive diagonals to one, a group of at most `fan` diagonals to its center in every
level. A message of a group stays in the interval of the group's diagonals, and the at most fan - 1 messages to a center
arrive by as many different channels, so that all groups of a level contract in one step. Reversed, the tree is a
broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gossamer.wormhole.partition import Ints, TorusPartition

__all__ = [
    "Edge",
    "GroupTree",
    "TreeMoves",
    "balanced_digits",
    "ceil_log",
    "contraction",
    "group_tree",
    "line_broadcast",
    "offset",
]


def ceil_log(base: int, value: int) -> int:
    """Return the least t with ``base**t >= value``, in integers.

    >>> [ceil_log(5, x) for x in (1, 5, 6, 125, 126)]
    [0, 1, 2, 3, 4]
    """
    t, power = 0, 1
    while power < value:
        t, power = t + 1, power * base
    return t


class Edge(NamedTuple):
    """A diagonal that is contracted into another.

    `child` and `parent` are offsets from the root; `rank` is the child's place in its group from the center: -1 and +1
    are the nearest. The message goes along dimension ``|rank| - 1``.
    """

    child: int
    parent: int
    rank: int


@dataclass(frozen=True)
class GroupTree:
    """How a window of consecutive diagonals is contracted to one of them, at offset 0.

    Attributes
    ----------
    low, high : int
        The window has the offsets low..high.
    levels : tuple of tuples of Edge
        Bottom-up.
    """

    low: int
    high: int
    levels: tuple[tuple[Edge, ...], ...]

    @property
    def width(self) -> int:
        """Diagonals in the window."""
        return self.high - self.low + 1

    @property
    def loads(self) -> tuple[int, ...]:
        """The most diagonals that a message of each level stands for.

        >>> group_tree(26).loads, sum(group_tree(26).loads)
        ((1, 5, 14), 20)
        """
        size = dict.fromkeys(range(self.low, self.high + 1), 1)
        loads = []
        for level in self.levels:
            loads.append(max(size[e.child] for e in level))
            for e in level:
                size[e.parent] += size[e.child]
        return tuple(loads)

    @property
    def reaches(self) -> tuple[int, ...]:
        """The most diagonals that a message of each level crosses."""
        return tuple(max(abs(e.child - e.parent) for e in level) for level in self.levels)


def group_tree(width: int, fan: int = 5) -> GroupTree:
    """Return the tree that contracts `width` diagonals in groups of at most `fan`.

    Parameters
    ----------
    width : int
        Number of diagonals w, at least 1.
    fan : int
        Odd; 2d + 1 in d dimensions, 3 where only one dimension is used.

    Returns
    -------
    GroupTree
        Of ``ceil_log(fan, width)`` levels. For w = 5^t and fan 5 it is the pattern of the source.

    Notes
    -----
    Groups are as equal as possible, the larger ones first; the center of a group of g has place ``g // 2``. O(w) time.

    References
    ----------
    Chen and Chen 2000, section 3.1.1.

    Examples
    --------
    >>> tree = group_tree(6)
    >>> tree.low, tree.high, [[f"{e.child}->{e.parent}" for e in level] for level in tree.levels]
    (-4, 1, [['-4->-3', '-2->-3', '-1->0', '1->0'], ['-3->0']])
    """
    current = list(range(width))
    levels: list[list[Edge]] = []
    while len(current) > 1:
        groups = -(-len(current) // fan)
        least, larger = divmod(len(current), groups)
        edges, centers, start = [], [], 0
        for g in range(groups):
            members = current[start : start + least + (g < larger)]
            start += len(members)
            c = len(members) // 2
            edges += [Edge(x, members[c], y - c) for y, x in enumerate(members) if y != c]
            centers.append(members[c])
        levels.append(edges)
        current = centers
    root = current[0]
    moved = tuple(tuple(Edge(e.child - root, e.parent - root, e.rank) for e in level) for level in levels)
    return GroupTree(-root, width - 1 - root, moved)


class TreeMoves(NamedTuple):
    """One message from each `source` to its `target`: nodes int64[E], displacement int64[E, d], tree edge int64[E]."""

    source: Ints
    target: Ints
    displacement: Ints
    edge: Ints

    @property
    def backward(self) -> TreeMoves:
        """The moves from the targets to the sources."""
        return TreeMoves(self.target, self.source, -self.displacement, self.edge)


def contraction(partition: TorusPartition, tree: GroupTree, unit: int) -> Iterator[TreeMoves]:
    """Yield the moves of each level of a contraction of diagonals, children to parents, bottom-up.

    Parameters
    ----------
    partition : TorusPartition
        The torus.
    tree : GroupTree
        Of fan at most 2d + 1.
    unit : int
        Distance of the diagonals: 1 contracts all diagonals to those that are 0 modulo w, h contracts the
        diagonals of the DDNs to those that are 0 modulo w*h. The product w*unit divides every side.

    Yields
    ------
    TreeMoves
        Channel-disjoint moves of one step, for all targets at once, and so are the moves backward.
    """
    level = partition.level % (tree.width * unit)
    for edges in tree.levels:
        parts = []
        for number, edge in enumerate(edges):
            parent = np.flatnonzero(level == edge.parent * unit % (tree.width * unit))
            t = abs(edge.rank) - 1
            away = int(partition.signs[t]) * (edge.child - edge.parent) * unit
            child = partition.shifted(parent, partition.along(t, away))
            back = np.broadcast_to(partition.along(t, -away), (parent.size, partition.dimensions))
            parts.append(TreeMoves(child, parent, back, np.full(parent.size, number, np.int64)))
        yield TreeMoves(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def line_broadcast(low: int, high: int, source: int) -> list[list[tuple[int, int]]]:
    """Return the fewest steps in which `source` sends one message to low..high of a line, both ways at once.

    Parameters
    ----------
    low, high : int
        The ends of the line.
    source : int
        Where the message is at the start.

    Returns
    -------
    list of list of (int, int)
        For each step the pairs (from, to).

    Notes
    -----
    A holder and its at most two new ones share out its interval. T steps reach ``(3**T - 1) / 2`` nodes on each side,
    so that a centered source needs ``ceil_log(3, w)`` steps for w nodes and one at an end ``ceil_log(3, 2*w - 1)``; no
    fewer steps do.

    References
    ----------
    Chen and Chen 2000, section 3.2.3 (Fig. 19).

    Examples
    --------
    >>> line_broadcast(0, 4, 0)
    [[(0, 3)], [(0, 1), (3, 4), (3, 2)]]
    """
    steps: list[list[tuple[int, int]]] = []
    interval = {source: (low, high)}
    for t in reversed(range(ceil_log(3, 2 * max(source - low, high - source) + 1))):
        reach, far = (3**t - 1) // 2, 3**t
        pairs = []
        for x, (first, last) in list(interval.items()):
            if last - x > reach:
                y = x + min(far, last - x)
                pairs.append((x, y))
                interval[y] = (x + reach + 1, last)
            if x - first > reach:
                y = x - min(far, x - first)
                pairs.append((x, y))
                interval[y] = (first, x - reach - 1)
            interval[x] = (max(first, x - reach), min(last, x + reach))
        steps.append(pairs)
    return steps


def offset(target: int, node: int, h: int) -> int:
    """Return the way from residue `node` to residue `target` modulo h, in -h/2 (excluded) .. h/2 (included).

    >>> offset(0, 4, 5), offset(3, 0, 5), offset(2, 0, 4)
    (1, -2, 2)
    """
    way = (target - node) % h
    return way - h if 2 * way > h else way


def balanced_digits(value: int, base: int, count: int) -> tuple[int, ...]:
    """Return `count` digits of `value` in -(base-1)/2 .. (base-1)/2, least significant first, for an odd base.

    >>> balanced_digits(7, 5, 2), balanced_digits(-12, 5, 2), balanced_digits(5, 3, 3)
    ((2, 1), (-2, -2), (-1, -1, 1))
    """
    r = (base - 1) // 2
    digits = []
    for _ in range(count):
        d = (value + r) % base - r
        digits.append(d)
        value = (value - d) // base
    return tuple(digits)
