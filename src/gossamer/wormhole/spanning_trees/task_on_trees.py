"""Gathering to the root of four arc-disjoint trees and broadcasting down them: the messages, and what they cost.

Gathering piece by piece is a scatter run backwards: a piece crosses the arc into the root in a step of its own and
leaves its origin as many steps before as it must, so that pieces which cross an arc keep distinct steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.costs import LinearCost
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.spanning_trees.trees import ArcDisjointTrees, shallow_trees
from gossamer.wormhole.steps import Steps

__all__ = ["TaskOnTrees", "broadcast_cost", "broadcast_down", "gather_by_level", "gather_costs", "gather_one_by_one"]

Ints = npt.NDArray[np.int64]


class TaskOnTrees:
    """A case over four trees, in places relative to the root.

    Attributes
    ----------
    case : WormholeCase
        On an n x n torus.
    trees : ArcDisjointTrees
        With root 0; place v is node v moved by the root's coordinates.
    root : int
        The root: the origin of a single message, otherwise node 0.
    start : int64[s]
        The place where each message starts.
    """

    def __init__(self, case: WormholeCase) -> None:
        self.case = case
        self.n = case.channels.sides[0]
        self.trees: ArcDisjointTrees = case.once(shallow_trees, self.n)
        origins = case.messages.origin.astype(np.int64)
        self.root = int(origins[0]) if origins.size == 1 else 0
        self.start = self._shifted(origins, -1)

    @property
    def count(self) -> int:
        """The number of messages s."""
        return int(self.start.size)

    def _shifted(self, places: Ints, sign: int) -> Ints:
        n = self.n
        row, column = divmod(self.root, n)
        return (places // n + sign * row) % n * n + (places % n + sign * column) % n

    def up(self, steps: Steps, step: npt.ArrayLike, tree: int, places: Ints, rows: npt.ArrayLike) -> None:
        """Send payloads from places to their parents in a tree."""
        steps.add(step, self._shifted(places, 1), -self.trees.displacement(tree, places), rows)

    def down(self, steps: Steps, step: npt.ArrayLike, tree: int, places: Ints, rows: npt.ArrayLike) -> None:
        """Send payloads to places from their parents in a tree."""
        parent = self.trees.parent[tree][places].astype(np.int64)
        steps.add(step, self._shifted(parent, 1), self.trees.displacement(tree, places), rows)


def gather_by_level(of: TaskOnTrees, steps: Steps, pieces: Sequence[Sequence[Ints]]) -> None:
    """Add the gather in which level l sends in step H - l all that its subtrees hold; `pieces[tree][message]`."""
    trees = of.trees
    if of.count == 1:
        return
    for tree in range(4):
        held: dict[int, list[Ints]] = {}
        for start, these in zip(of.start.tolist(), pieces[tree], strict=True):
            held.setdefault(start, []).append(these)
        for level in range(trees.height, 0, -1):
            nodes = np.array([v for v in trees.children(tree, level).tolist() if v in held], np.int64)
            if not nodes.size:
                continue
            together = [np.concatenate(held[v]) for v in nodes.tolist()]
            of.up(steps, trees.height - level, tree, nodes, [steps.table.row(np.sort(t)) for t in together])
            for v, t in zip(trees.parent[tree][nodes].tolist(), together, strict=True):
                held.setdefault(v, []).append(t)
    steps.end_phase("gather", trees.height)


def _crossings(depth: Ints) -> Ints:
    """Return distinct steps from 1 on, none before the depth, in which pieces at ascending depths reach the root."""
    step = np.zeros(depth.size, np.int64)
    last = 0
    for i, d in enumerate(depth.tolist()):
        last = max(last + 1, d)
        step[i] = last
    return step


def gather_one_by_one(of: TaskOnTrees, steps: Steps, pieces: Sequence[Sequence[Ints]]) -> None:
    """Add the gather in which every piece travels on its own, the near ones first; `pieces[tree][message]`."""
    trees = of.trees
    longest = 0
    for tree in range(4):
        start = np.repeat(of.start, [p.size for p in pieces[tree]])
        piece = np.concatenate([np.zeros(0, np.int64), *pieces[tree]]).astype(np.int64)
        depth = trees.depth[tree][start].astype(np.int64)
        far = np.argsort(depth, kind="stable")
        far = far[depth[far] > 0]
        at, step = start[far], _crossings(depth[far]) - depth[far]
        rows = np.array([steps.table.row([p]) for p in piece[far].tolist()], np.int64)
        while at.size:
            of.up(steps, step, tree, at, rows)
            longest = max(longest, int(step.max()) + 1)
            at = trees.parent[tree][at].astype(np.int64)
            step = step + 1
            going = at != 0
            at, step, rows = at[going], step[going], rows[going]
    steps.end_phase("gather", longest)


def broadcast_down(of: TaskOnTrees, steps: Steps, packets: Sequence[Sequence[Ints]]) -> None:
    """Add the broadcast in which packet i of each tree crosses level l in step i + l - 1; `packets[tree][i]`."""
    trees = of.trees
    for tree in range(4):
        rows = np.array([steps.table.row(np.sort(p)) for p in packets[tree]], np.int64)
        for level in range(1, trees.height + 1):
            nodes = trees.children(tree, level)
            step = np.repeat(np.arange(rows.size) + level - 1, nodes.size)
            of.down(steps, step, tree, np.tile(nodes, rows.size), np.repeat(rows, nodes.size))
    steps.end_phase("broadcast", max(len(p) for p in packets) + trees.height - 1)


def broadcast_cost(of: TaskOnTrees, cost: LinearCost, sizes: npt.NDArray[np.int64], group: int) -> Fraction:
    """Return the exact cost of the broadcast.

    Parameters
    ----------
    of : TaskOnTrees
        The task.
    cost : LinearCost
        Costs.
    sizes : int64[4, cuts]
        Bytes of the pieces of a message on each tree.
    group : int
        Pieces of a packet.
    """
    height = of.trees.height
    packets = -(-of.count * sizes.shape[1] // group)
    most = np.zeros(packets + height - 1, np.int64)
    for tree in range(4):
        of_tree = np.tile(sizes[tree], of.count)
        length = np.add.reduceat(of_tree, np.arange(0, of_tree.size, group))
        for level in range(height):
            most[level : level + packets] = np.maximum(most[level : level + packets], length)
    lengths, times = np.unique(most, return_counts=True)
    return sum((n * cost.step_cost(m, 1) for m, n in zip(lengths.tolist(), times.tolist(), strict=True)), Fraction(0))


def gather_costs(of: TaskOnTrees, cost: LinearCost, sizes: npt.NDArray[np.int64]) -> tuple[Fraction, Fraction]:
    """Return the cost of gathering by level, exact, and piece by piece, exact if all pieces have one size."""
    if of.count == 1:
        return Fraction(0), Fraction(0)
    trees = of.trees
    most = np.zeros(trees.height + 1, np.int64)
    last = 0
    for tree in range(4):
        load = np.bincount(of.start, minlength=of.n**2) * int(sizes[tree].sum())
        for level in range(trees.height, 0, -1):
            places = trees.children(tree, level)
            most[level] = max(most[level], int(load[places].max(initial=0)))
            np.add.at(load, trees.parent[tree][places], load[places])
        depth = np.sort(np.repeat(trees.depth[tree][of.start].astype(np.int64), sizes.shape[1]))
        last = max(last, int(_crossings(depth[depth > 0]).max(initial=0)))
    by_level = sum((cost.step_cost(int(b), 1) for b in most[1:] if b), Fraction(0))
    return by_level, last * cost.step_cost(int(sizes.max()), 1)
