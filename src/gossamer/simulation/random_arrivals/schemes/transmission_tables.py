"""Building the tables of a scheme: rows that lead to equal subtrees are kept once.

A row stands for one transmission and everything that follows from it. Two transmissions of different trees, or of
different places of one tree, that use the same step and lead to the same rows are one row, so that STAR on a torus
needs as many rows as a few rings have nodes, not d(N - 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gossamer.errors import NotApplicableError, nearest
from gossamer.networks.network import IntArray

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = [
    "PRIORITIES",
    "Entries",
    "SchemeRows",
    "add_tree",
    "classes",
    "drawn_trees",
    "flooded",
    "over_the_root",
    "refuse_uncovered",
]


def refuse_uncovered(name: str, network: Network, reason: str | None) -> None:
    """Raise a NotApplicableError if there is a reason why a scheme does not cover a network."""
    if reason is not None:
        raise NotApplicableError(f"scheme {name!r} does not cover {network.spec}: it {reason}")


# Rules that give each transmission of a tree a priority class; class 0 is served first.
#
# Every rule looks at the tree only, never at the queue: a transmission carries its class with it.

PRIORITIES: dict[str, str] = {
    "fifo": "one class: first come, first served",
    "two-class": "low: last dimension, leaves or way back, which is most of the traffic; high: the rest",
    "optimal": "the more nodes still depend on a copy, the more urgent",
    "three-class": "as optimal, in three classes: thresholds split the numbers of nodes that depend on a copy",
    "critical-path": "the more hops still follow a copy, the more urgent",
    "reversed": "the fewer nodes depend on a copy, the more urgent: unstable below load 1, for controls only",
}
"""Every rule with its summary."""


def classes(priority: str, size: Sequence[int], height: Sequence[int], low: Sequence[bool]) -> IntArray:
    """Return the class of each transmission, int32, 0 served first.

    * `priority` (str): a key of `PRIORITIES`.
    * `size` (sequence of int): nodes that receive for the first time by the transmission or by one that follows from
      it.
    * `height` (sequence of int): transmissions on the longest path that begins with it.
    * `low` (sequence of bool): whether the two-class rule serves it last.

    Raises `NotApplicableError` if there is no such rule.

    Source: Yeh, Varvarigos and Lee 1998, sections 2.2 (two classes) and 4 (optimal priority assignment; it names
    critical paths without a rule).

    >>> classes("optimal", [8, 4, 2, 1], [4, 3, 2, 1], [False, False, False, True]).tolist()
    [0, 1, 2, 3]
    >>> classes("two-class", [8, 4, 2, 1], [4, 3, 2, 1], [False, False, False, True]).tolist()
    [0, 0, 0, 1]
    >>> classes("three-class", [32, 16, 8, 4, 2, 1], [6, 5, 4, 3, 2, 1], [False] * 6).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    if priority not in PRIORITIES:
        hint = nearest(priority, PRIORITIES) or f"; there are {', '.join(PRIORITIES)}"
        raise NotApplicableError(f"unknown priority rule {priority!r}{hint}")
    if priority == "fifo":
        return np.zeros(len(size), np.int32)
    if priority == "two-class":
        return np.array(low, np.int32)
    by = np.array(height if priority == "critical-path" else size, np.int64)
    ranks = np.unique(by, return_inverse=True)[1].reshape(-1)
    if priority != "reversed":
        ranks = ranks.max(initial=0) - ranks
    if priority == "three-class":
        ranks = ranks * 3 // (ranks.max(initial=0) + 1)
    return ranks.astype(np.int32)


Entries = Sequence[Sequence[Sequence[Sequence[int]]]]
"""Rows queued at generation, by source, choice and part."""


class SchemeRows:
    """A growing table of rows, built from the leaves up.

    >>> rows = SchemeRows()
    >>> leaf = rows.add(3, low=True)
    >>> rows.add(3, low=True) == leaf, rows.add(1, [leaf]) == leaf
    (True, False)
    >>> rows.size[1], rows.height[1]
    (2, 2)
    """

    def __init__(self) -> None:
        self.step: list[int] = []
        self.counted: list[bool] = []
        self.low: list[bool] = []
        self.children: list[tuple[int, ...]] = []
        self.size: list[int] = []
        self.height: list[int] = []
        self._known: dict[tuple[int, bool, bool, tuple[int, ...]], int] = {}

    def add(self, step: int, children: Iterable[int] = (), *, counted: bool = True, low: bool = False) -> int:
        """Return the number of the row with this step and these children, a new one if there is none yet.

        * `step` (int): link, or generator of a translated scheme.
        * `children` (iterable of int): rows that are queued when the packet has arrived.
        * `counted` (bool): whether the receipt is the first one of a node that must receive.
        * `low` (bool): whether the two-class rule serves it last.
        """
        below = tuple(children)
        key = (step, counted, low, below)
        row = self._known.get(key)
        if row is None:
            row = self._known[key] = len(self.step)
            self.step.append(step)
            self.counted.append(counted)
            self.low.append(low)
            self.children.append(below)
            self.size.append(int(counted) + sum(self.size[c] for c in below))
            self.height.append(1 + max((self.height[c] for c in below), default=0))
        return row

    def scheme(
        self,
        name: str,
        network: Network,
        source: str,
        entries: Entries,
        probability: Sequence[Sequence[Fraction]],
        *,
        priority: str,
        translated: bool,
        receivers: int,
        sources: Sequence[int] | None = None,
        dimension: Sequence[int] | None = None,
    ) -> Scheme:
        """Return the finished tables; parents come before their children.

        Parameters
        ----------
        name, network, source
            As in `Scheme`.
        entries : nested sequences of int
            Rows that are queued at generation, for each source (one for translated schemes), choice and part.
        probability : nested sequences of Fraction
            Of each choice, for each source; each row of sum 1.
        priority : str
            A key of `PRIORITIES`.
        translated : bool
            Whether steps are generators instead of links.
        receivers : int
            Nodes that must receive a broadcast.
        sources : sequence of int, optional
            Nodes that generate; default all.
        dimension : sequence of int, optional
            Dimension of each link or, if translated, of each generator.
        """
        from gossamer.simulation.random_arrivals.scheme import Scheme

        last = len(self.step) - 1
        order = range(last, -1, -1)
        children: list[int] = []
        first: list[int] = []
        for row in order:
            first.append(len(children))
            children.extend(last - c for c in self.children[row])
        first.append(len(children))
        shape = (len(entries), len(entries[0]), len(entries[0][0]))
        bounds = np.empty((2, *shape), np.int64)
        placed: dict[tuple[int, ...], int] = {}
        for s, by_choice in enumerate(entries):
            for c, by_part in enumerate(by_choice):
                for p, start in enumerate(by_part):
                    key = tuple(start)
                    if key not in placed:
                        placed[key] = len(children)
                        children.extend(last - r for r in key)
                    bounds[:, s, c, p] = placed[key], placed[key] + len(key)
        ranks = classes(priority, self.size, self.height, self.low)
        return Scheme(
            name=name,
            network=network,
            source=source,
            step=np.array([self.step[r] for r in order], np.int32),
            translated=translated,
            child_first=np.array(first[:-1], np.int64),
            child_last=np.array(first[1:], np.int64),
            children=np.array(children, np.int32),
            priority=ranks[::-1].copy(),
            counted=np.array([self.counted[r] for r in order], bool),
            entry_first=bounds[0],
            entry_last=bounds[1],
            probability=np.array([[float(x) for x in row] for row in probability]),
            parts=shape[2],
            receivers=receivers,
            sources=np.arange(network.node_count, dtype=np.int32) if sources is None else np.array(sources, np.int32),
            dimension=None if dimension is None else np.array(dimension, np.int32),
            exact_probability=tuple(tuple(row) for row in probability),
        )


def add_tree(
    rows: SchemeRows, parent: Sequence[int], step: Sequence[int], order: Sequence[int], *, low: str = "leaves"
) -> list[int]:
    """Add a spanning tree and return the rows that its root sends.

    * `rows` (SchemeRows): grows.
    * `parent` (sequence of int): parent of each node, -1 for the root.
    * `step` (sequence of int): link or generator by which a node is reached from its parent.
    * `order` (sequence of int): the nodes, parents before their children, the root first.
    * `low` (str): which rows the two-class rule serves last: ``leaves``, or ``none``.
    """
    below: dict[int, list[int]] = {}
    for node in reversed(order):
        own = below.pop(node, [])[::-1]
        if parent[node] < 0:
            return own
        row = rows.add(step[node], own, low=low == "leaves" and not own)
        below.setdefault(parent[node], []).append(row)
    return []


# Broadcast on fixed trees: directly from the source, or over the root of the tree.


def drawn_trees(
    rows: SchemeRows, name: str, network: Network, source: str, trees: Sequence[Sequence[list[int]]], priority: str
) -> Scheme:
    """Return the scheme that draws one of some trees for each broadcast; `trees` are the rows that each source sends.

    Rows are those of `flooded` or `over_the_root`, and steps are links.
    """
    n = network.node_count
    return rows.scheme(
        name,
        network,
        source,
        [[[tree[s]] for tree in trees] for s in range(n)],
        [[Fraction(1, len(trees))] * len(trees)] * n,
        priority=priority,
        translated=False,
        receivers=n - 1,
    )


def flooded(rows: SchemeRows, network: Network, parent: IntArray) -> list[list[int]]:
    """Add the rows of broadcasts that flood a tree from any node.

    * `rows` (SchemeRows): grows by at most two rows for each edge of the tree.
    * `network` (Network): both links of every edge of the tree are used.
    * `parent` (int32[N]): the tree, rooted anywhere: parent of each node, -1 at the root.

    Returns: list of list of int: rows that each source sends.

    A row stands for a directed edge and all that follows beyond it, whatever the source was.
    """
    n, (order, below), (into, out) = parent.size, _from_root(parent), _tree_links(network, parent)
    down = [-1] * n
    for v in reversed(order[1:]):
        following = [down[c] for c in below[v]]
        down[v] = rows.add(into[v], following, low=not following)
    up = [-1] * n  # the row that goes from v to its parent
    for v in order[1:]:
        p = int(parent[v])
        following = ([up[p]] if parent[p] >= 0 else []) + [down[c] for c in below[p] if c != v]
        up[v] = rows.add(out[v], following, low=not following)
    return [([up[v]] if parent[v] >= 0 else []) + [down[c] for c in below[v]] for v in range(n)]


def over_the_root(rows: SchemeRows, network: Network, parent: IntArray) -> list[list[int]]:
    """Add the rows of broadcasts that first go up a tree to its root and then down all of it.

    Parameters and result are those of `flooded`. Nodes on the way up receive then; what they get on the way down does
    not count. The low class is the way down.

    About twice the depth of a source in rows of its own, for each source.
    """
    n, (order, below), (into, out) = parent.size, _from_root(parent), _tree_links(network, parent)
    down = [-1] * n
    for v in reversed(order[1:]):
        down[v] = rows.add(into[v], [down[c] for c in below[v]], low=True)
    entries: list[list[int]] = []
    for source in range(n):
        # the way down again along the path, from the source up
        again, path, v = -1, [], source
        while parent[v] >= 0:
            path.append(v)
            following = [again if path[-2:-1] == [c] else down[c] for c in below[v]]
            again = rows.add(into[v], following, counted=False, low=True)
            v = int(parent[v])
        sent = [again if path[-1:] == [c] else down[c] for c in below[v]]
        for v in reversed(path):
            sent = [rows.add(out[v], sent)]
        entries.append(sent)
    return entries


def _tree_links(network: Network, parent: IntArray) -> tuple[list[int], list[int]]:
    """Return the links of a tree into each node from its parent, and back to it; -1 of the root."""
    node = np.arange(parent.size)
    return network.links_between(parent, node).tolist(), network.links_between(node, parent).tolist()


def _from_root(parent: IntArray) -> tuple[list[int], list[list[int]]]:
    """Return the nodes of a tree, parents before their children, and the children of each."""
    below: list[list[int]] = [[] for _ in range(parent.size)]
    order = np.flatnonzero(parent < 0).tolist()
    for v in np.flatnonzero(parent >= 0).tolist():
        below[int(parent[v])].append(v)
    for v in order:
        order.extend(below[v])
    return order, below
