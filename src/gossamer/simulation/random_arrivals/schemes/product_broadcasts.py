"""Broadcast in products, dimension by dimension: STAR and REDO orders over any factors.

A broadcast visits the factors of a product in some order. In each, every node that holds the packet sends it to its
whole line by a broadcast tree of that factor. Copies are queued as soon as they arrive; nothing waits for a phase.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.scheme import Scheme


@dataclass(frozen=True)
class Tree:
    """A spanning tree of a factor.

    `node`, `parent`, `column`: one entry for each node but the root, parents before their children: the node, the place
    in these tuples of its parent (-1: the root), and the number of the link among those that leave the parent.
    """

    node: tuple[int, ...]
    parent: tuple[int, ...]
    column: tuple[int, ...]


@dataclass(frozen=True)
class Factor:
    """A factor of a product with its broadcast trees.

    `network`: the factor. `trees`: ``trees[k][v]`` is the k-th tree rooted at node v. Of a factor that is a Cayley
    network only the trees of node 0 are given; the others are their translations. `probability`: of each k.
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

    * `name`, `source`: as in `Scheme`.
    * `network`: the product of the factors' networks; its links are those of the first factor, then of the second, and
      so on.
    * `factors`: factors of one node are left out of `orders`.
    * `orders`: probability of each order in which a broadcast may visit the factors.
    * `priority`: a key of `PRIORITIES`.
    * `low`: what the two-class rule serves last: copies in the factor that is visited last, or copies for leaves.
    * `minis`: send one part along each order instead of choosing one; the orders must be equally probable.

    The trees of the factors are drawn with one number for all factors. With Cayley factors the table has, for each
    order, as many rows as the factors have nodes; with others, that many for each node.
    """
    growth = _Growth(network, factors, low)
    draws = _draws([f.probability for f in factors])
    starts = [0] if growth.translated else range(network.node_count)
    if minis:
        entries = [[[growth.arrive(s, order, drawn) for order in orders] for drawn, _ in draws] for s in starts]
        chance = [p for _, p in draws]
    else:
        entries = [[[growth.arrive(s, order, drawn)] for order in orders for drawn, _ in draws] for s in starts]
        chance = [p * x for x in orders.values() for _, p in draws]
    return growth.rows.scheme(
        name,
        network,
        source,
        entries,
        [chance] * len(starts),
        priority=priority,
        translated=growth.translated,
        receivers=network.node_count - 1,
        dimension=growth.dimensions(),
    )


class _Growth:
    """The rows of a product's scheme, made from the last factor of each order up."""

    def __init__(self, network: Network, factors: Sequence[Factor], low: str) -> None:
        self.rows, self.network, self.factors, self.low = SchemeRows(), network, factors, low
        self.sizes = [f.network.node_count for f in factors]
        self.strides = [1] * len(self.sizes)
        for i in range(len(self.sizes) - 2, -1, -1):
            self.strides[i] = self.strides[i + 1] * self.sizes[i + 1]
        self.translated = all(f.translated or f.network.node_count == 1 for f in factors)
        self.widths = [f.network.degree if f.network.link_count else 0 for f in factors]
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}
        self._trees: dict[tuple[int, int, int], Tree] = {}

    def dimensions(self) -> list[int]:
        """Return the factor of each generator, or of each link."""
        if self.translated:
            return [i for i, w in enumerate(self.widths) for _ in range(w)]
        source, target = self.network.link_source, self.network.link_target
        places = list(zip(self.strides, self.sizes, strict=True))
        moved = [source // stride % size != target // stride % size for stride, size in places]
        return [next(i for i in range(len(places)) if moved[i][k]) for k in range(self.network.link_count)]

    def _tree(self, i: int, k: int, root: int) -> Tree:
        key = (i, k, root)
        if key not in self._trees:
            self._trees[key] = self.factors[i].tree(k, root)
        return self._trees[key]

    def _step(self, node: int, i: int, column: int) -> int:
        """Return the generator of factor i, or its link from `node`."""
        if self.translated:
            return sum(self.widths[:i]) + column
        first = int(self.network.first_link[node])
        for k, factor in enumerate(self.factors[:i]):
            first += int(factor.network.out_degree[node // self.strides[k] % self.sizes[k]])
        return first + column

    def arrive(self, node: int, order: tuple[int, ...], drawn: tuple[int, ...]) -> tuple[int, ...]:
        """Return the rows that a node queues which is to serve the factors of `order`."""
        key = (0 if self.translated else node, order, drawn)
        if key not in self._known:
            sent = [row for place in range(len(order)) for row in self._serve(node, order[place:], drawn)]
            self._known[key] = tuple(sent)
        return self._known[key]

    def _serve(self, node: int, order: tuple[int, ...], drawn: tuple[int, ...]) -> list[int]:
        """Return the rows by which a node serves the first factor of `order`; who receives them serves the rest."""
        i, rest = order[0], order[1:]
        at = node // self.strides[i] % self.sizes[i]
        tree = self._tree(i, drawn[i], 0 if self.translated else at)
        below: list[list[int]] = [[] for _ in tree.node]
        top: list[int] = []
        for v in range(len(tree.node) - 1, -1, -1):
            up = tree.parent[v]
            origin = at if up < 0 else tree.node[up]
            new = 0 if self.translated else node + (tree.node[v] - at) * self.strides[i]
            link = self._step(0 if self.translated else node + (origin - at) * self.strides[i], i, tree.column[v])
            following = (*below[v][::-1], *self.arrive(new, rest, drawn))
            row = self.rows.add(link, following, low=not (rest if self.low == "last factor" else following))
            (top if up < 0 else below[up]).append(row)
        return top[::-1]


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
