"""Shortest-path trees on node-symmetric networks, drawn so that traffic is as even as it can be.

Yeh, Varvarigos and Lee 1998, section 5, turns a shortest-path tree by adding to the numbers of the generators. That
needs an automorphism which does the same to the network, so the trees here are images of a breadth-first tree under
automorphisms that fix the source. They balance the links exactly where the network is arc-transitive, and whether they
do is counted, not assumed. On other Cayley networks the parents of the nodes can be chosen instead so that every
generator gets its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import refuse_capacities
from gossamer.errors import NotApplicableError
from gossamer.simulation.random_arrivals.schemes.product_broadcasts import Factor, Tree, product_scheme
from gossamer.simulation.random_arrivals.schemes.traffic_balancing import mixture
from gossamer.simulation.random_arrivals.schemes.transmission_tables import refuse_uncovered

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = [
    "Images",
    "automorphism",
    "generated",
    "image_trees",
    "share_trees",
    "stabilizer",
    "symmetric",
    "symmetric_factor",
    "symmetric_reason",
]

# Automorphisms of a network, found by refining colors of nodes and trying what remains open.

Images = npt.NDArray[np.int64]


def automorphism(network: Network, nodes: Sequence[int], images: Sequence[int], *, tries: int = 2000) -> Images | None:
    """Return an automorphism that takes given nodes to given images, or None if there is none.

    * `network` (Network): links may be one-way; capacities are not looked at.
    * `nodes`, `images` (sequence of int): ``nodes[k]`` goes to ``images[k]``.
    * `tries` (int): give up, as if there were none, after this many nodes were tried; symmetric networks need a
      handful.

    Returns: int64[N] or None: the image of each node. Every link goes to a link.

    Nodes of both sides get colors by what is known of them and of their neighbors until nothing changes. A node
    whose color is not unique is then tried with each image of that color. One refinement is O(L log L) a round.

    >>> import gossamer
    >>> automorphism(gossamer.network("ring:5"), [0, 1], [0, 4]).tolist()
    [0, 4, 3, 2, 1]
    >>> automorphism(gossamer.network("array:4"), [0], [1]) is None
    True
    """
    n = network.node_count
    color = np.zeros(2 * n, np.int64)
    for k, (a, b) in enumerate(zip(nodes, images, strict=True)):
        color[a], color[n + b] = k + 1, k + 1
    source = np.concatenate([network.link_source, network.link_source + n]).astype(np.int64)
    target = np.concatenate([network.link_target, network.link_target + n]).astype(np.int64)
    budget = [tries]
    return _search(color, source, target, budget)


def _search(color: Images, source: Images, target: Images, budget: list[int]) -> Images | None:
    n = color.size // 2
    refined = _refined(color, source, target)
    if refined is None:
        return None
    counts = np.bincount(refined[:n])
    if counts.max() == 1:
        image = np.empty(n, np.int64)
        image[np.argsort(refined[:n])] = np.argsort(refined[n:])
        return image
    sizes = np.where(counts > 1, counts, n + 1)
    chosen = int(np.argmin(sizes))
    node = int(np.flatnonzero(refined[:n] == chosen)[0])
    for candidate in np.flatnonzero(refined[n:] == chosen):
        if budget[0] <= 0:
            return None
        budget[0] -= 1
        trial = refined.copy()
        trial[node] = trial[n + candidate] = counts.size
        found = _search(trial, source, target, budget)
        if found is not None:
            return found
    return None


def _refined(color: Images, source: Images, target: Images) -> Images | None:
    """Return the coarsest stable refinement of `color`, or None where the two halves differ in it."""
    n = color.size // 2
    rng = np.random.default_rng(0)
    color = np.unique(color, return_inverse=True)[1].reshape(-1)
    count = int(color.max()) + 1
    while True:
        if not np.array_equal(np.bincount(color[:n], minlength=count), np.bincount(color[n:], minlength=count)):
            return None
        if count == n:
            return color if _stable(color, source, target) else None
        mark = rng.integers(1, 2**62, (2, count), dtype=np.uint64)  # sums of random marks tell multisets apart
        out, into = np.zeros(2 * n, np.uint64), np.zeros(2 * n, np.uint64)
        np.add.at(out, source, mark[0][color[target]])
        np.add.at(into, target, mark[1][color[source]])
        order = np.lexsort((into, out, color))
        differs = np.zeros(2 * n, np.int64)
        for key in (color, out, into):
            differs[1:] |= key[order][1:] != key[order][:-1]
        refined = np.empty(2 * n, np.int64)
        refined[order] = np.cumsum(differs)
        finer = int(refined.max()) + 1
        if finer == count:
            return color
        color, count = refined, finer


def _stable(color: Images, source: Images, target: Images) -> bool:
    """Whether the bijection of equal colors takes links to links."""
    n = color.size // 2
    key = color[source] * n + color[target]
    half = key.size // 2
    return bool(np.array_equal(np.sort(key[:half]), np.sort(key[half:])))


def stabilizer(network: Network, node: int = 0) -> list[Images]:
    """Return automorphisms that fix `node` and take its first neighbor to each of its neighbors, where they exist.

    The first one is the identity. If there are as many as `node` has links, and the network is node-symmetric, it is
    arc-transitive: any link can be taken to any other one.

    >>> import gossamer
    >>> len(stabilizer(gossamer.network("hypercube:4"))), len(stabilizer(gossamer.network("ccc:3")))
    (4, 2)
    """
    neighbors = [int(network.link_target[k]) for k in network.out_links(node)]
    found = [np.arange(network.node_count, dtype=np.int64)]
    for image in neighbors[1:]:
        way = automorphism(network, [node, neighbors[0]], [node, image])
        if way is not None:
            found.append(way)
    return found


def generated(elements: Sequence[Images], most: int) -> list[Images]:
    """Return products of the given permutations, shortest first: their whole group, or its first `most` elements.

    >>> import numpy as np
    >>> len(generated([np.array([1, 2, 3, 0])], 100))
    4
    """
    first = np.arange(elements[0].size, dtype=np.int64)
    known = {first.tobytes()}
    listed = [first]
    for element in listed:
        for by in elements:
            new = by[element]
            if len(listed) < most and new.tobytes() not in known:
                known.add(new.tobytes())
                listed.append(new)
    return listed


SOURCE = "Yeh, Varvarigos and Lee 1998, section 5"
_POOL = 240
"""Automorphisms that are looked at, at most."""
_SEARCHED = 3000
"""Largest network without a known group whose automorphisms are searched for."""
_TURNED = 50_000
"""Largest Cayley network for whose trees automorphisms that fix a node are searched for."""


def symmetric_reason(network: Network) -> str | None:
    """Say why a network has no trees that are the same from every node, or None if it has.

    Automorphisms are searched for on Cayley networks of up to 50,000 nodes and on other networks of up to 3000.

    >>> import gossamer
    >>> symmetric_reason(gossamer.network("array:4x4"))
    'is not node-symmetric: no automorphism takes node 0 to node 1'
    """
    refusal = refuse_capacities(network)
    if refusal is not None:
        return refusal.why
    if network.group is not None:
        many = network.node_count > _TURNED
        return f"has more than the {_TURNED} nodes whose automorphisms are searched for" if many else None
    if network.node_count > _SEARCHED:
        return f"is not known to be node-symmetric and has more than the {_SEARCHED} nodes that are searched"
    if int(network.distances(0).min()) < 0:
        return "is not connected"
    way = _transports(network)
    return f"is not node-symmetric: no automorphism takes node 0 to node {way}" if isinstance(way, int) else None


def _transports(network: Network) -> tuple[Images, ...] | int:
    """Return an automorphism that takes node 0 to each node, or the first node where there is none."""
    found: dict[int, Images] = {0: np.arange(network.node_count, dtype=np.int64)}
    made: list[Images] = []
    for node in range(network.node_count):
        if node not in found:
            way = automorphism(network, [0], [node])
            if way is None:
                return node
            made.append(way)
            queue = list(found)
            for at in queue:  # close the orbit of node 0 under what is known
                for by in made:
                    if int(by[at]) not in found:
                        found[int(by[at])] = by[found[at]]
                        queue.append(int(by[at]))
    return tuple(found[v] for v in range(network.node_count))


def image_trees(network: Network, *, turning: bool = True) -> tuple[list[IntArray], list[Fraction]]:
    """Return images of a breadth-first tree under automorphisms that fix its root, node 0, with probabilities.

    `network` (Network): node-symmetric. `turning` (bool): whether to look for a rotation. Returns: `trees` (list of
    int32[N]): for each tree the link by which every node is reached, -1 for the root. `probability` (list of Fraction):
    a rotation, an automorphism that moves the root's links in one cycle, gives as many equally probable trees as there
    are links, less repetitions. Without one, weights are sought that even out the generators; where there are none, all
    images found are equally probable.

    Source: Yeh, Varvarigos and Lee 1998, section 5; erratum X7.

    >>> import gossamer
    >>> trees, probability = image_trees(gossamer.network("star:4"))
    >>> len(trees), str(probability[0])
    (3, '1/3')
    """
    search = network.breadth_first(0)
    links = np.array([k for k in search.parent_link if k >= 0], np.int64)
    pool = generated(stabilizer(network)[1:] or [np.arange(network.node_count, dtype=np.int64)], _POOL)
    turn = next((a for a in pool if _turns(network, a)), None)
    if turning and turn is not None:
        trees = _images(network, links, generated([turn], network.node_count)[: int(network.out_degree[0])])
        counts = sum(_generators_used(network, t) for t in trees)
        if network.group is None or np.ptp(counts) == 0:
            return _merged(trees, [Fraction(1, len(trees))] * len(trees))
    trees = _images(network, links, pool)
    weight = _even_weights(network, trees) if network.group is not None else None
    return _merged(trees, weight or [Fraction(1, len(trees))] * len(trees))


def _images(network: Network, links: Images, pool: Sequence[Images]) -> list[IntArray]:
    trees = []
    for a in pool:
        tree = np.full(network.node_count, -1, np.int32)
        image = network.links_between(a[network.link_source[links]], a[network.link_target[links]])
        tree[network.link_target[image]] = image
        trees.append(tree)
    return trees


def _merged(trees: Sequence[IntArray], weight: Sequence[Fraction]) -> tuple[list[IntArray], list[Fraction]]:
    """Drop repeated and unused trees."""
    total: dict[bytes, Fraction] = {}
    kept: dict[bytes, IntArray] = {}
    for tree, w in zip(trees, weight, strict=True):
        if w:
            total[tree.tobytes()] = total.get(tree.tobytes(), Fraction(0)) + w
            kept[tree.tobytes()] = tree
    return list(kept.values()), list(total.values())


def _generators_used(network: Network, tree: IntArray) -> Images:
    """Return how often a tree uses each generator, int64[degree]."""
    return np.bincount(tree[tree >= 0] % network.degree, minlength=network.degree).astype(np.int64)


def _turns(network: Network, a: Images) -> bool:
    """Whether an automorphism that fixes node 0 moves its neighbors in one cycle."""
    neighbors = {int(network.link_target[k]) for k in network.out_links(0)}
    at = start = min(neighbors)
    for _ in range(len(neighbors) - 1):
        at = int(a[at])
        if at == start:
            return False
    return True


def _even_weights(network: Network, trees: Sequence[IntArray]) -> list[Fraction] | None:
    """Return probabilities with which every generator is used equally, or None where there are none."""
    degree = network.degree
    counts = [(*_generators_used(network, t).tolist(), 1) for t in trees]
    share = Fraction(network.node_count - 1, degree)
    mix = mixture([[Fraction(x) for x in c] for c in dict.fromkeys(counts)], [share] * degree + [Fraction(1)])
    if mix is None:
        return None
    weight = [Fraction(0)] * len(trees)
    for column, w in mix.items():
        weight[counts.index(tuple(int(x) for x in column))] = w
    return weight


def share_trees(network: Network) -> tuple[list[IntArray], list[Fraction]]:
    """Return shortest-path trees of a Cayley network that together use every generator as evenly as possible.

    Every node may be reached by each link from a node nearer to the root. With p trees for degree p, a flow of p units
    for each node chooses among these links so that the busiest generator has the fewest.

    Returns: as of `image_trees`.

    No scheme of shortest paths has less traffic on its busiest link. O(log N) maximum flows with N p edges.

    >>> import gossamer
    >>> trees, probability = share_trees(gossamer.network("circulant:13,1,5"))
    >>> [sorted((tree[1:] % 4).tolist()) for tree in trees]
    [[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n, degree = network.node_count, network.degree
    distance = network.distances(0)
    link = np.flatnonzero(distance[network.link_target] == distance[network.link_source] + 1)
    node, column = network.link_target[link].astype(np.int64), (link % degree).astype(np.int64)
    if np.unique(node * degree + column).size < link.size:  # a generator leads to a node from one place only
        raise NotApplicableError(f"network {network.spec} has doubled links")
    start, end = n + degree, n + degree + 1
    rows = np.concatenate([np.full(n - 1, start), node, n + np.arange(degree)])
    heads = np.concatenate([np.arange(1, n), n + column, np.full(degree, end)])

    def flow(most: int) -> Any:
        limits = np.concatenate([np.full(n - 1 + node.size, degree), np.full(degree, most)]).astype(np.int32)
        found = maximum_flow(csr_array((limits, (rows, heads)), shape=(end + 1, end + 1)), start, end)
        return found.flow if found.flow_value == degree * (n - 1) else None

    low, high = n - 2, degree * (n - 1)  # there is a flow with `high`, and none with `low`
    best = flow(n - 1)
    if best is None:
        low, best = n - 1, flow(high)
        while high - low > 1:
            trial = flow((low + high) // 2)
            low, high, best = (low, (low + high) // 2, trial) if trial is not None else ((low + high) // 2, high, best)
    assert best is not None
    dense = best.tocoo()
    used = (dense.data > 0) & (dense.row < n) & (dense.col >= n) & (dense.col < start)
    place = {(int(v), int(c)): int(k) for v, c, k in zip(node, column, link, strict=True)}
    units: list[list[int]] = [[] for _ in range(n)]
    for v, c, f in zip(dense.row[used], dense.col[used], dense.data[used], strict=True):
        units[v].extend([place[int(v), int(c) - n]] * int(f))
    trees = [np.array([-1] + [units[v][k] for v in range(1, n)], np.int32) for k in range(degree)]
    return _merged(trees, [Fraction(1, degree)] * degree)


def symmetric_factor(network: Network, trees: Literal["auto", "images", "shares"] = "auto") -> Factor:
    """Return a node-symmetric network with its broadcast trees.

    `network` (Network): one for which `symmetric_reason` is None. `trees` (str): ``images`` (`image_trees`), ``shares``
    (`share_trees`, Cayley networks only), or ``auto``: images where they balance the traffic exactly, else what leaves
    less on the busiest link. Raises `NotApplicableError` if `trees` is unknown or does not fit.
    """
    if trees not in ("auto", "images", "shares"):
        raise NotApplicableError(f"trees must be 'auto', 'images' or 'shares', got {trees!r}")
    if network.group is None:
        if trees == "shares":
            raise NotApplicableError(f"trees 'shares' need a Cayley network; {network.spec} is not known to be one")
        return _transported(network)
    if trees == "shares":
        return _factor(network, *share_trees(network))
    images = _factor(network, *image_trees(network))
    if trees == "images" or images.width == network.degree:
        return images
    shares = _factor(network, *share_trees(network))
    return shares if shares.width > images.width else images


def _factor(network: Network, trees: list[IntArray], probability: list[Fraction]) -> Factor:
    return Factor(network, tuple((_tree(network, t, 0),) for t in trees), tuple(probability))


def _tree(network: Network, parent_link: Images | IntArray, root: int) -> Tree:
    """Return a tree given by the link to each node, nodes in the order of their distance from the root."""
    below: dict[int, list[int]] = {}
    for link in parent_link[parent_link >= 0].tolist():
        below.setdefault(int(network.link_source[link]), []).append(link)
    place = {root: -1}
    node: list[int] = []
    parent: list[int] = []
    column: list[int] = []
    for at in (queue := [root]):
        for link in sorted(below.get(at, ())):
            v = int(network.link_target[link])
            place[v] = len(node)
            node.append(v)
            parent.append(place[at])
            column.append(link - int(network.first_link[at]))
            queue.append(v)
    return Tree(tuple(node), tuple(parent), tuple(column))


def _transported(network: Network) -> Factor:
    """Return the trees of node 0 taken to every node by an automorphism."""
    ways = _transports(network)
    assert not isinstance(ways, int)
    best: Factor | None = None
    for turning in (True, False):
        trees, probability = image_trees(network, turning=turning)
        moved = []
        for tree in trees:
            links = tree[tree >= 0]
            images = (network.links_between(a[network.link_source[links]], a[network.link_target[links]]) for a in ways)
            moved.append(tuple(_tree(network, image, root) for root, image in enumerate(images)))
        factor = Factor(network, tuple(moved), tuple(probability))
        if best is None or factor.width > best.width:
            best = factor
        if best.width == network.degree:
            break
    assert best is not None
    return best


def symmetric(
    network: Network, *, priority: str = "two-class", trees: Literal["auto", "images", "shares"] = "auto"
) -> Scheme:
    """Return the scheme of shortest-path trees on a node-symmetric network.

    Parameters
    ----------
    network : Network
        A Cayley network, or any other one whose automorphisms take each node to each other one.
    priority : str
        A key of `PRIORITIES`; low class: the leaves of the trees.
    trees : str
        As for `symmetric_factor`.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    The limit of stability is 1 if the traffic is balanced; see
    `gossamer.simulation.random_arrivals.theory.stability_limit`, which counts.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 5; errata X1, X7.

    Examples
    --------
    >>> import gossamer
    >>> scheme = symmetric(gossamer.network("star:4"))
    >>> scheme.check()
    >>> scheme.choice_count
    3
    """
    refuse_uncovered("symmetric", network, symmetric_reason(network))
    factor = symmetric_factor(network, trees)
    return product_scheme("symmetric", network, SOURCE, [factor], {(0,): Fraction(1)}, priority=priority, low="leaves")
