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

from gossamer.simulation.random_arrivals.schemes.priorities import classes

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["Entries", "Rows", "add_tree"]

Entries = Sequence[Sequence[Sequence[Sequence[int]]]]
"""Rows queued at generation, by source, choice and part."""


class Rows:
    """A growing table of rows, built from the leaves up.

    Examples
    --------
    >>> rows = Rows()
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

        Parameters
        ----------
        step : int
            Link, or generator of a translated scheme.
        children : iterable of int
            Rows that are queued when the packet has arrived.
        counted : bool
            Whether the receipt is the first one of a node that must receive.
        low : bool
            Whether the two-class rule serves it last.
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
    rows: Rows, parent: Sequence[int], step: Sequence[int], order: Sequence[int], *, low: str = "leaves"
) -> list[int]:
    """Add a spanning tree and return the rows that its root sends.

    Parameters
    ----------
    rows : Rows
        Grows.
    parent : sequence of int
        Parent of each node, -1 for the root.
    step : sequence of int
        Link or generator by which a node is reached from its parent.
    order : sequence of int
        The nodes, parents before their children, the root first.
    low : str
        Which rows the two-class rule serves last: ``leaves``, or ``none``.
    """
    below: dict[int, list[int]] = {}
    for node in reversed(order):
        own = below.pop(node, [])[::-1]
        if parent[node] < 0:
            return own
        row = rows.add(step[node], own, low=low == "leaves" and not own)
        below.setdefault(parent[node], []).append(row)
    return []
