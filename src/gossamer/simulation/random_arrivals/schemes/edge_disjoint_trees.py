"""Edge-disjoint spanning trees of any network, by matroid union, kept shallow; the earlier schemes on such trees.

The schemes of Varvarigos and Banerjee (any network) and of Stamoulis and Tsitsiklis (hypercubes) are the baselines of
Yeh, Varvarigos and Lee 1998.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gossamer.algorithms.algorithm import refuse_capacities, refuse_one_way_links
from gossamer.errors import NotApplicableError
from gossamer.graphs.disjoint_trees import disjoint_tree, grown_trees, grown_trees_reason
from gossamer.simulation.random_arrivals.schemes.dimension_orders import (
    flattened,
    product_factors,
    star,
    star_orders,
    star_reason,
)
from gossamer.simulation.random_arrivals.schemes.product_broadcasts import product_scheme
from gossamer.simulation.random_arrivals.schemes.transmission_tables import (
    SchemeRows,
    add_tree,
    drawn_trees,
    flooded,
    over_the_root,
    refuse_uncovered,
)

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = [
    "edge_disjoint_trees",
    "hypercube_reason",
    "indirect_reason",
    "mini_packets",
    "mini_packets_reason",
    "minis_reason",
    "stamoulis_tsitsiklis_direct",
    "stamoulis_tsitsiklis_indirect",
    "star_minis",
    "tree_height",
    "trees_reason",
    "varvarigos_banerjee_direct",
    "varvarigos_banerjee_indirect",
]

_MOST_EDGES = 20_000
_STAMOULIS_TSITSIKLIS = "Stamoulis and Tsitsiklis 1993, as quoted by Yeh, Varvarigos and Lee 1998, section 1"
_VARVARIGOS_BANERJEE = "Varvarigos and Banerjee 1996, as quoted by Yeh, Varvarigos and Lee 1998, section 1"


def trees_reason(network: Network) -> str | None:
    """Say why a network has no undirected spanning tree to broadcast on, or None if it has.

    >>> import gossamer
    >>> trees_reason(gossamer.network("hypercube:3")) is None
    True
    """
    refusal = refuse_capacities(network) or refuse_one_way_links(network)
    if refusal is not None:
        return refusal.why
    if int(network.distances(0).min()) < 0:
        return "is not connected"
    if network.link_count // 2 > _MOST_EDGES:
        return f"has {network.link_count // 2} edges; trees are sought among at most {_MOST_EDGES}"
    return None


class _Forests:
    """Edge-disjoint forests that grow one edge at a time."""

    def __init__(self, ends: list[tuple[int, int]], nodes: int, count: int) -> None:
        self.ends, self.count = ends, count
        self.owner = [-1] * len(ends)
        self.near: list[list[dict[int, int]]] = [[{} for _ in range(nodes)] for _ in range(count)]  # neighbor: edge
        self.size = 0

    def put(self, edge: int, forest: int) -> None:
        u, v = self.ends[edge]
        self.owner[edge] = forest
        self.near[forest][u][v] = self.near[forest][v][u] = edge

    def take(self, edge: int) -> None:
        u, v = self.ends[edge]
        near = self.near[self.owner[edge]]
        del near[u][v], near[v][u]
        self.owner[edge] = -1

    def path(self, forest: int, u: int, v: int) -> list[int] | None:
        """Return the edges between two nodes in a forest, None if it does not join them; searched from both."""
        near = self.near[forest]
        back: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] = ({u: (-1, -1)}, {v: (-1, -1)})
        front = ([u], [v])
        while front[0] and front[1]:
            side = 0 if len(front[0]) <= len(front[1]) else 1
            grown: list[int] = []
            for a in front[side]:
                for b, edge in near[a].items():
                    if b in back[side]:
                        continue
                    back[side][b] = (a, edge)
                    if b in back[1 - side]:
                        return [edge for way in back for edge in _up(way, b)]
                    grown.append(b)
            front[side][:] = grown
        return None

    def insert(self, edge: int) -> bool:
        """Add an edge, moving others between forests where that makes room; whether there was room."""
        source: dict[int, int] = {edge: -1}
        queue = deque([edge])
        while queue:
            e = queue.popleft()
            for forest in range(self.count):
                if self.owner[e] == forest:
                    continue
                cycle = self.path(forest, *self.ends[e])
                if cycle is None:
                    self._shift(e, forest, source)
                    self.size += 1
                    return True
                for f in cycle:
                    if f not in source:
                        source[f] = e
                        queue.append(f)
        return False

    def _shift(self, edge: int, forest: int, source: dict[int, int]) -> None:
        moves = []
        while edge >= 0:
            moves.append((edge, forest))
            edge, forest = source[edge], self.owner[edge]
        for e, _ in moves[:-1]:
            self.take(e)
        for e, to in moves:
            self.put(e, to)


def _up(back: dict[int, tuple[int, int]], node: int) -> list[int]:
    edges = []
    while back[node][1] >= 0:
        edges.append(back[node][1])
        node = back[node][0]
    return edges


def edge_disjoint_trees(network: Network, count: int | None = None, *, seed: int = 0, tries: int = 8) -> list[IntArray]:
    """Return edge-disjoint spanning trees of a network, each rooted at its center.

    `network`: with an opposite for every link. `count`: how many trees; default as many as there are, at most floor(E /
    (N-1)) for E edges. `seed`: feeds the order in which edges are tried. `tries`: attempts; the one whose highest tree
    is lowest is kept. On more than 600 edges there is one.

    Returns: list of int32[N]: parents, -1 at the center.

    Raises NotApplicableError if the network is not covered, or has not so many trees.

    Trees grow breadth-first by turns from a common node; then edges are added along shortest augmenting paths of the
    union of `count` graphic matroids, which ends with a largest set of edges that falls apart into that many forests.

    J. Edmonds, Minimum partition of a matroid into independent subsets, 1965; for the use: Varvarigos and Banerjee
    1996.

    >>> import gossamer
    >>> trees = edge_disjoint_trees(gossamer.network("hypercube:4"))
    >>> len(trees), len({(min(v, p), max(v, p)) for tree in trees for v, p in enumerate(tree.tolist()) if p >= 0})
    (2, 30)
    """
    reason = trees_reason(network)
    if reason is not None:
        raise NotApplicableError(f"edge-disjoint spanning trees: {network.spec} {reason}")
    n, edges = network.node_count, network.link_count // 2
    most = edges // (n - 1)
    if count is not None and not 1 <= count <= most:
        raise NotApplicableError(
            f"{network.spec} has {edges} edges, enough for 1..{most} edge-disjoint spanning trees; got {count}"
        )
    rng = np.random.default_rng(seed)
    for wanted in [count] if count is not None else range(most, 0, -1):
        best: list[IntArray] | None = None
        for _ in range(tries if edges <= 600 else 1):
            trees = _packed(network, wanted, rng)
            if trees is None:
                break
            if best is None or _heights(trees) < _heights(best):
                best = trees
        if best is not None:
            return best
    raise NotApplicableError(f"{network.spec} has no {count} edge-disjoint spanning trees")


def _heights(trees: list[IntArray]) -> list[int]:
    return sorted((tree_height(t) for t in trees), reverse=True)


def _packed(network: Network, count: int, rng: np.random.Generator) -> list[IntArray] | None:
    """Return `count` edge-disjoint spanning trees, None if there are not so many."""
    n = network.node_count
    kept = np.flatnonzero(network.link_source < network.link_target)
    ends = list(zip(network.link_source[kept].tolist(), network.link_target[kept].tolist(), strict=True))
    number = {pair: e for e, pair in enumerate(ends)}
    forests = _Forests(ends, n, count)
    root = int(rng.integers(n))
    reached = [{root} for _ in range(count)]
    queues = [deque([root]) for _ in range(count)]
    targets = [
        rng.permutation(network.link_target[network.first_link[v] : network.first_link[v + 1]]) for v in range(n)
    ]
    while any(queues):  # breadth-first by turns, one edge each
        for k, queue in enumerate(queues):
            while queue:
                u = queue[0]
                v = next(
                    (
                        int(v)
                        for v in targets[u]
                        if v not in reached[k] and forests.owner[number[min(u, int(v)), max(u, int(v))]] < 0
                    ),
                    None,
                )
                if v is None:
                    queue.popleft()
                    continue
                forests.put(number[min(u, v), max(u, v)], k)
                forests.size += 1
                reached[k].add(v)
                queue.append(v)
                break
    for edge in rng.permutation(len(ends)).tolist():
        if forests.size == count * (n - 1):
            break
        if forests.owner[edge] < 0:
            forests.insert(edge)
    if forests.size < count * (n - 1):
        return None
    return [centered([list(near) for near in forests.near[k]]) for k in range(count)]


def centered(neighbors: list[list[int]]) -> IntArray:
    """Return the parents in a tree rooted at its center, the node from which the farthest node is nearest.

    `neighbors`: of each node in the tree.

    >>> centered([[1], [0, 2], [1, 3], [2, 4], [3]]).tolist()
    [1, 2, -1, 2, 3]
    """
    far, _ = _farthest(neighbors, 0)
    end, parent = _farthest(neighbors, far)
    path = [end]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return _farthest(neighbors, path[len(path) // 2])[1]


def _farthest(neighbors: list[list[int]], root: int) -> tuple[int, IntArray]:
    parent = np.full(len(neighbors), -2, np.int32)
    parent[root] = -1
    order = [root]
    for u in order:
        for v in neighbors[u]:
            if parent[v] == -2:
                parent[v] = u
                order.append(v)
    return order[-1], parent


def tree_height(parent: IntArray) -> int:
    """Return the hops from the root of a tree to its farthest node.

    >>> tree_height(np.array([1, 2, -1, 2, 3]))
    2
    """
    depth = np.zeros(parent.size, np.int64)
    at = np.arange(parent.size)
    while (at := np.where(at >= 0, parent[at], -1)).max() >= 0:
        depth += at >= 0
    return int(depth.max())


def varvarigos_banerjee_direct(
    network: Network,
    *,
    priority: str = "fifo",
    trees: Sequence[IntArray] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> Scheme:
    """Return the direct scheme: flood one of k edge-disjoint spanning trees from the source.

    Parameters
    ----------
    network : Network
        Connected, with an opposite for every link.
    priority : str
        A key of `PRIORITIES`; low class: the leaves.
    trees : sequence of int32[N], optional
        Parents; default those of `edge_disjoint_trees`.
    count, seed
        Passed to `edge_disjoint_trees`.

    Raises
    ------
    NotApplicableError
        If the network is not covered or has not so many trees.

    Notes
    -----
    The link into a leaf carries the packets of all other nodes: stable below load factor k / d_ave, half of what the
    network can carry for k = d_ave / 2.

    References
    ----------
    Varvarigos and Banerjee 1996; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(varvarigos_banerjee_direct(gossamer.network("hypercube:4"))).load)
    '1/2'
    """
    return _scheme("varvarigos-banerjee-direct", network, priority, trees, count, seed)


def varvarigos_banerjee_indirect(
    network: Network,
    *,
    priority: str = "fifo",
    trees: Sequence[IntArray] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> Scheme:
    """Return the indirect scheme: up one of k edge-disjoint spanning trees to its center, then down all of it.

    Parameters and errors are those of `varvarigos_banerjee_direct`; low class: the way down.

    Notes
    -----
    The links down from a center carry the packets of all N nodes: stable below load factor k (N-1) / (N d_ave).

    References
    ----------
    Varvarigos and Banerjee 1996; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(varvarigos_banerjee_indirect(gossamer.network("hypercube:4"))).load)
    '15/32'
    """
    return _scheme("varvarigos-banerjee-indirect", network, priority, trees, count, seed)


def _scheme(
    name: str, network: Network, priority: str, trees: Sequence[IntArray] | None, count: int | None, seed: int
) -> Scheme:
    refuse_uncovered(name, network, trees_reason(network))
    chosen = edge_disjoint_trees(network, count, seed=seed) if trees is None else list(trees)
    rows = SchemeRows()
    make = flooded if name.endswith("-direct") else over_the_root
    return drawn_trees(
        rows, name, network, _VARVARIGOS_BANERJEE, [make(rows, network, tree) for tree in chosen], priority
    )


def stamoulis_tsitsiklis_direct(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the direct scheme: one of d completely unbalanced trees from the source, first come, first served.

    It is STAR in one class.

    Raises
    ------
    NotApplicableError
        If the network is no hypercube.

    Notes
    -----
    Stable for all loads below 1.

    Examples
    --------
    >>> import gossamer
    >>> stamoulis_tsitsiklis_direct(gossamer.network("hypercube:3")).class_count
    1
    """
    refuse_uncovered("stamoulis-tsitsiklis-direct", network, hypercube_reason(network))
    return replace(star(network, priority=priority), name="stamoulis-tsitsiklis-direct", source=_STAMOULIS_TSITSIKLIS)


def stamoulis_tsitsiklis_indirect(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the indirect scheme: up one of d edge-disjoint trees with a common root, then down the same tree.

    Parameters
    ----------
    network : Network
        A d-cube, d >= 2.
    priority : str
        A key of `PRIORITIES`; low class: the way down.

    Raises
    ------
    NotApplicableError
        If the network is no hypercube of 2 dimensions or more.

    Notes
    -----
    Stable below 2/3 (1 - 2^-d), where the links from the children of the root are busy all the time: down with the
    load, up with half of it.

    References
    ----------
    Stamoulis and Tsitsiklis 1993; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(stamoulis_tsitsiklis_indirect(gossamer.network("hypercube:4"))).load)
    '5/8'
    """
    name, d, rows = "stamoulis-tsitsiklis-indirect", network.degree, SchemeRows()
    refuse_uncovered(name, network, indirect_reason(network))
    trees = [over_the_root(rows, network, disjoint_tree(d, k)) for k in range(d)]
    return drawn_trees(rows, name, network, _STAMOULIS_TSITSIKLIS, trees, priority)


def indirect_reason(network: Network) -> str | None:
    """Say why the indirect scheme does not cover a network, or None if it does."""
    reason = hypercube_reason(network)
    return "needs at least 2 dimensions" if reason is None and network.degree < 2 else reason


# Messages sent in parts: each part takes its own tree, and a node has received when it has all parts.
#
# The parts are 1/P of a message long and so are their transmissions, so that the load is that of unsegmented packets.

SOURCE = "Stamoulis and Tsitsiklis 1993; Yeh, Varvarigos and Lee 1998, section 2"


def hypercube_reason(network: Network) -> str | None:
    """Say why a network is no hypercube, or None if it is one of at least 1 dimension."""
    grid = network.grid
    if grid is None or any(s > 2 for s in grid.sides) or network.node_count < 2:
        return "needs a hypercube"
    return None


def mini_packets(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the scheme that sends each message in p parts along p trees of a network of degree p that share no link.

    Parameters
    ----------
    network : Network
        A hypercube, on which the trees are those of the paper, or another Cayley network, on which they are grown.
    priority : str
        A key of `PRIORITIES`; low class: the leaves.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    All links carry the same traffic: the trees of a source use every link but those into it. Without other traffic a
    broadcast takes the depth of the deepest tree over p, (d+1)/d on the d-cube.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 6.2; erratum X9.

    Examples
    --------
    >>> import gossamer
    >>> scheme = mini_packets(gossamer.network("hypercube:4"))
    >>> scheme.check()
    >>> scheme.parts
    4
    >>> mini_packets(gossamer.network("torus:5x5")).check()
    """
    refuse_uncovered("mini-packets", network, mini_packets_reason(network))
    p, n = network.degree, network.node_count
    rows, parts = SchemeRows(), []
    if hypercube_reason(network) is None:
        source = SOURCE
        trees = [disjoint_tree(p, k) for k in range(p)]
        depth = np.zeros((p, n), np.int64)
        for k, tree in enumerate(trees):
            for _ in range(p + 1):
                depth[k, 1:] = depth[k, tree[1:]] + 1
        links = [_links_to(tree, p) for tree in trees]
    else:
        source = f"{SOURCE}; trees by Edmonds 1973"
        grown, depth = grown_trees(network)  # type: ignore[assignment]
        links = list(grown)
        trees = [np.where(link < 0, -1, network.link_source[link]) for link in links]
    for tree, link, far in zip(trees, links, depth, strict=True):
        parts.append(add_tree(rows, tree.tolist(), (link % p).tolist(), np.argsort(far, kind="stable").tolist()))
    return rows.scheme(
        "mini-packets",
        network,
        source,
        [[parts]],
        [[Fraction(1)]],
        priority=priority,
        translated=True,
        receivers=n - 1,
        dimension=range(p),
    )


def mini_packets_reason(network: Network) -> str | None:
    """Say why there are no disjoint trees for a network, or None if there are."""
    return grown_trees_reason(network) if hypercube_reason(network) is not None else None


def _links_to(parent: IntArray, d: int) -> IntArray:
    """Return the link by which each node of a hypercube is reached; the links of a node go highest bit first."""
    bit = np.log2(np.maximum(parent ^ np.arange(parent.size), 1)).astype(np.int32)
    return np.where(parent < 0, -1, parent * d + d - 1 - bit).astype(np.int32)


def minis_reason(network: Network) -> str | None:
    """Say why STAR parts do not cover a network, or None if they do."""
    reason = star_reason(network)
    if reason is not None:
        return reason
    sides = {f.node_count for f in flattened(network)} - {1}
    if len(sides) > 1:
        return "needs sides of one length, because every part has the same share"
    return "needs at least 2 dimensions" if network.node_count in sides else None


def star_minis(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the scheme that sends d parts of each message by STAR, one ending in each dimension.

    Parameters
    ----------
    network : Network
        A product of equal sides: an n-ary d-cube, hypercube, or generalized hypercube.
    priority : str
        A key of `PRIORITIES`; low class: the last dimension.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    The parts of one broadcast meet on the links near the source, and a node needs all of them: near load 1 it hardly
    beats unsegmented packets (erratum X9). `mini_packets` does not have this fault.

    Examples
    --------
    >>> import gossamer
    >>> star_minis(gossamer.network("torus:5x5")).check()
    """
    refuse_uncovered("star-minis", network, minis_reason(network))
    factors = product_factors(network)
    live = [i for i, f in enumerate(factors) if f.network.node_count > 1]
    share = Fraction(1, len(live))
    orders = {tuple(live[i] for i in order): share for order in star_orders(len(live))}
    return product_scheme("star-minis", network, SOURCE, factors, orders, priority=priority, minis=True)
