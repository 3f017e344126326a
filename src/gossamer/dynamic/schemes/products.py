"""Broadcast in products, dimension by dimension: STAR and REDO orders over any factors.

A broadcast visits the factors of a product in some order. In each, every node that holds the packet sends it to its
whole line by a broadcast tree of that factor. Copies are queued as soon as they arrive; nothing waits for a phase.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from gossamer.dynamic.schemes.rows import Rows

if TYPE_CHECKING:
    from gossamer.dynamic.scheme import Scheme
    from gossamer.networks.network import Network

__all__ = ["Factor", "Tree", "product_scheme"]


@dataclass(frozen=True)
class Tree:
    """A spanning tree of a factor.

    Attributes
    ----------
    node, parent, column : tuples of int
        One entry for each node but the root, parents before their children: the node, the place in these tuples of
        its parent (-1: the root), and the number of the link among those that leave the parent.
    """

    node: tuple[int, ...]
    parent: tuple[int, ...]
    column: tuple[int, ...]


@dataclass(frozen=True)
class Factor:
    """A factor of a product with its broadcast trees.

    Attributes
    ----------
    network : Network
        The factor.
    trees : tuple of tuples of Tree
        ``trees[k][v]`` is the k-th tree rooted at node v. Of a factor that is a Cayley network only the trees of node
        0 are given; the others are their translations.
    probability : tuple of Fraction
        Of each k.
    """

    network: Network
    trees: tuple[tuple[Tree, ...], ...]
    probability: tuple[Fraction, ...]

    @property
    def translated(self) -> bool:
        """Whether only the trees of node 0 are given."""
        return len(self.trees[0]) == 1 < self.network.node_count

    def tree(self, k: int, root: int) -> Tree:
        """Return the k-th tree rooted at `root`."""
        if not self.translated or root == 0:
            return self.trees[k][root]
        assert self.network.group is not None
        first = self.trees[k][0]
        moved = self.network.group.compose(root, np.array(first.node, np.int64))
        return Tree(tuple(moved.tolist()), first.parent, first.column)

    @cached_property
    def loads(self) -> tuple[Fraction, ...]:
        """Expected packets on each link for one broadcast in the factor by a random node; columns if translated."""
        n, network = self.network.node_count, self.network
        total = [Fraction(0)] * (network.degree if self.translated else network.link_count)
        for trees, chance in zip(self.trees, self.probability, strict=True):
            for root, tree in enumerate(trees):
                for place, column in enumerate(tree.column):
                    up = tree.parent[place]
                    at = root if up < 0 else tree.node[up]
                    total[column if self.translated else int(network.first_link[at]) + column] += chance / n
        return tuple(total)

    @property
    def width(self) -> Fraction:
        """Links of a node that can be kept busy: 2 on a ring, 1 on an edge or a line, the degree if balanced.

        A dimension of a product has even traffic with the others if its packets are in proportion to its width.
        """
        n = self.network.node_count
        return Fraction(n - 1, n) / max(self.loads) if n > 1 else Fraction(0)


def product_scheme(
    name: str,
    network: Network,
    source: str,
    factors: Sequence[Factor],
    orders: dict[tuple[int, ...], Fraction],
    *,
    priority: str,
    low: Literal["last factor", "leaves"] = "last factor",
    minis: bool = False,
) -> Scheme:
    """Return the scheme that visits the factors of a product in given orders.

    Parameters
    ----------
    name, source
        As in `Scheme`.
    network : Network
        The product of the factors' networks; its links are those of the first factor, then of the second, and so on.
    factors : sequence of Factor
        Factors of one node are left out of `orders`.
    orders : dict of tuple of int to Fraction
        Probability of each order in which a broadcast may visit the factors.
    priority : str
        A key of `PRIORITIES`.
    low : str
        What the two-class rule serves last: copies in the factor that is visited last, or copies for leaves.
    minis : bool
        Send one part along each order instead of choosing one; the orders must be equally probable.

    Notes
    -----
    The trees of the factors are drawn with one number for all factors. With Cayley factors the table has, for each
    order, as many rows as the factors have nodes; with others, that many for each node.
    """
    rows = Rows()
    sizes = [f.network.node_count for f in factors]
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 2, -1, -1):
        strides[i] = strides[i + 1] * sizes[i + 1]
    translated = all(f.translated or f.network.node_count == 1 for f in factors)
    widths = [f.network.degree if f.network.link_count else 0 for f in factors]
    known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}
    tree_of = cache(lambda i, k, root: factors[i].tree(k, root))

    def step(node: int, i: int, at: int, column: int) -> int:
        """Return the generator, or the link from `node`, whose coordinate i is `at`."""
        before = sum(widths[:i])
        if translated:
            return before + column
        first = int(network.first_link[node])
        for k, factor in enumerate(factors[:i]):
            first += int(factor.network.out_degree[node // strides[k] % sizes[k]])
        return first + column

    def arrive(node: int, order: tuple[int, ...], drawn: tuple[int, ...]) -> tuple[int, ...]:
        """Return the rows that a node queues which is to serve the factors of `order`."""
        key = (0 if translated else node, order, drawn)
        if key in known:
            return known[key]
        sent: list[int] = []
        for place, i in enumerate(order):
            rest = order[place + 1 :]
            at = node // strides[i] % sizes[i]
            tree = tree_of(i, drawn[i], 0 if translated else at)
            below: list[list[int]] = [[] for _ in tree.node]
            top: list[int] = []
            for v in range(len(tree.node) - 1, -1, -1):
                up = tree.parent[v]
                origin = at if up < 0 else tree.node[up]
                new = 0 if translated else node + (tree.node[v] - at) * strides[i]
                link = step(0 if translated else node + (origin - at) * strides[i], i, origin, tree.column[v])
                following = (*below[v][::-1], *arrive(new, rest, drawn))
                row = rows.add(link, following, low=not (rest if low == "last factor" else following))
                (top if up < 0 else below[up]).append(row)
            sent.extend(reversed(top))
        known[key] = tuple(sent)
        return known[key]

    draws = _draws([f.probability for f in factors])
    starts = [0] if translated else range(network.node_count)
    if minis:
        entries = [[[arrive(s, order, drawn) for order in orders] for drawn, _ in draws] for s in starts]
        chance = [p for _, p in draws]
    else:
        entries = [[[arrive(s, order, drawn)] for order in orders for drawn, _ in draws] for s in starts]
        chance = [p * x for x in orders.values() for _, p in draws]
    columns = [i for i, w in enumerate(widths) for _ in range(w)]
    if not translated:
        coordinate = [network.link_source // strides[i] % sizes[i] for i in range(len(sizes))]
        moved = [network.link_target // strides[i] % sizes[i] != c for i, c in enumerate(coordinate)]
        columns = [next(i for i in range(len(sizes)) if moved[i][k]) for k in range(network.link_count)]
    return rows.scheme(
        name,
        network,
        source,
        entries,
        [chance] * len(starts),
        priority=priority,
        translated=translated,
        receivers=network.node_count - 1,
        dimension=columns,
    )


def _draws(probabilities: Sequence[Sequence[Fraction]]) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return which tree of each factor is drawn, and how often, when one number in [0, 1) decides for all.

    >>> half = Fraction(1, 2)
    >>> [(drawn, str(p)) for drawn, p in _draws([[half, half], [Fraction(1)]])]
    [((0, 0), '1/2'), ((1, 0), '1/2')]
    """
    edges = {Fraction(0)}
    for row in probabilities:
        total = Fraction(0)
        for p in row:
            total += p
            edges.add(total)
    points = sorted(edges)
    draws = []
    for low, high in itertools.pairwise(points):
        drawn = []
        for row in probabilities:
            total, k = row[0], 0
            while total <= low:
                k += 1
                total += row[k]
            drawn.append(k)
        draws.append((tuple(drawn), high - low))
    return draws
