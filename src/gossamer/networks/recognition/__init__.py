"""Structure found in a network that came as a list of links."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.butterflies import butterfly, cube_connected_cycles
from gossamer.networks.circulants import circulant, complete, extended_ring, generalized_hypercube
from gossamer.networks.de_bruijn import de_bruijn, kautz
from gossamer.networks.derived import Renumbered
from gossamer.networks.fat_trees import fat_tree
from gossamer.networks.grids import array, hypercube, linear_array, ring, torus
from gossamer.networks.network import Network
from gossamer.networks.permutation_networks import bubble_sort, pancake, star
from gossamer.networks.product import product
from gossamer.networks.recognition.free_groups import cayley_order
from gossamer.networks.structures import Grid, IntArray, Speeds, Structure, int_array

__all__ = [
    "Factoring",
    "Prime",
    "Recognition",
    "candidate_order",
    "fat_tree_order",
    "prime",
    "prime_factors",
    "recognition",
    "recognized",
]

# Prime factors of a network with regard to the Cartesian product.
#
# Two relations between edges tell the factors. Theta: edges xy and uv with d(x,u) + d(y,v) != d(x,v) + d(y,u). Tau:
# edges xy and xz of which x is the only common neighbor of y and z. The classes of the transitive closure of both
# together are the edges of the prime factors (Feder 1992; Imrich and Klavzar 2000), and of theta the pairs with an edge
# of a spanning tree are enough.
#
# Here the edges of the tree are taken one after the other, and now and then the classes are tried: classes that make a
# product are those of the prime factors, because they can only be too small. On tori this is so after a few edges.

_WORK = 400_000_000
"""Steps that are spent at most: common neighbors, and edges of the tree times edges."""


class Factoring(NamedTuple):
    """A network as a product of prime factors.

    Attributes
    ----------
    places : int64[N, factors]
        The node of each factor that each node is, numbered in the order in which they first come.
    edges : list of int64[edges, 2]
        The edges of each factor.
    """

    places: Ints
    edges: list[Ints]


def prime_factors(network: Network) -> Factoring | None:
    """Return the prime factors of a connected network of two-way links; None if that would take too long.

    Parameters
    ----------
    network : Network
        Every link with an opposite, all nodes within reach of each other.

    Returns
    -------
    Factoring or None
        One factor where the network is prime.

    Notes
    -----
    O(m N) time at the worst for m edges, usually O(m d) for a degree of d; nothing is begun that takes over some
    seconds.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> [prime_factors(parse(spec)).places.max(axis=0).tolist() for spec in ("torus:3x4x5", "star:3", "array:2x3")]
    [[2, 1, 1, 4], [5], [1, 2]]
    """
    n = network.node_count
    links = np.flatnonzero(network.link_source < network.link_target)
    if n == 1 or not links.size:
        return Factoring(np.zeros((n, 1), np.int64), [np.zeros((0, 2), np.int64)])
    ends = np.stack([network.link_source[links], network.link_target[links]], axis=1).astype(np.int64)
    if 2 * links.size == n * (n - 1):
        return Factoring(np.arange(n)[:, None], [ends])
    if int((network.out_degree**2).sum()) > _WORK // 10:
        return None
    classes = _without_squares(network, links)
    work, tried = 0, 0
    for tree_edges, (p, c) in enumerate(_tree(network)):
        if tree_edges >= tried:
            found = _product(n, ends, classes)
            if found is not None:
                return found
            tried = max(int(network.degree), 2 * tree_edges)
        work += links.size
        if work > _WORK:
            return None
        nearer = network.distances(p) - network.distances(c)
        hit = np.unique(classes[nearer[ends[:, 0]] != nearer[ends[:, 1]]])
        if hit.size > 1:
            merged = np.arange(int(classes.max()) + 1)
            merged[hit] = hit[0]
            classes = np.unique(merged[classes], return_inverse=True)[1]
            tried = min(tried, tree_edges + int(network.degree))
    return _product(n, ends, classes)


def _without_squares(network: Network, links: Ints) -> Ints:
    """Return the class of each edge after tau: incident edges whose far ends have no other common neighbor."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, m = network.node_count, links.size

    def matrix(values: Ints) -> Any:
        return csr_array((values, network.link_target.astype(np.int64), network.first_link.copy()), shape=(n, n))

    number = np.empty(network.link_count, np.int64)  # of the edge, for each link
    number[links] = np.arange(m)
    number[network.reverse_link[links]] = np.arange(m)
    edge, near = matrix(number + 1), matrix(np.ones(network.link_count, np.int64))
    common: Any = (near @ near).tocoo()
    middle: Any = (near @ matrix(network.link_source.astype(np.int64) + 1)).tocsr()
    single = (common.data == 1) & (common.row < common.col)
    y, z = common.row[single], common.col[single]
    if not y.size:
        return np.arange(m)
    x = np.asarray(middle[y, z]).ravel().astype(np.int64) - 1
    one = np.asarray(edge[y, x]).ravel() - 1
    other = np.asarray(edge[z, x]).ravel() - 1
    joined = csr_array((np.ones(one.size, np.int8), (one, other)), shape=(m, m))
    return connected_components(joined, directed=False)[1].astype(np.int64)


def _tree(network: Network) -> list[tuple[int, int]]:
    """Return the edges of a breadth-first tree, each from the node nearer to the root."""
    search = network.breadth_first(0)
    nodes = search.order[1:]
    return list(zip(network.link_source[search.parent_link[nodes]].tolist(), nodes.tolist(), strict=True))


def _product(n: int, ends: Ints, classes: Ints) -> Factoring | None:
    """Return the factors if the classes of edges are those of a Cartesian product, else None."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = int(classes.max()) + 1
    if 2**count > n:
        return None
    places = np.empty((n, count), np.int64)
    size = 1
    for i in range(count):
        rest = ends[classes != i]
        joined = csr_array((np.ones(len(rest), np.int8), (rest[:, 0], rest[:, 1])), shape=(n, n))
        parts, places[:, i] = connected_components(joined, directed=False)
        size *= parts
        if size > n:
            return None
    if size != n or len(np.unique(places, axis=0)) < n:
        return None
    edges = []
    for i in range(count):
        own = np.sort(places[ends[classes == i], i], axis=1)
        distinct = np.unique(own, axis=0)
        if len(own) != len(distinct) * (n // (int(places[:, i].max()) + 1)):
            return None
        edges.append(distinct)
    return Factoring(places, edges)


# Members of families that are no products: tried where the numbers of nodes and links fit.

_SMALL = 130
"""Nodes up to which members of families are looked for under any numbering."""
_FEW = 40
"""Nodes up to which every circulant of degree 3 or 4 is tried."""
_MOST = 200_000


def candidate_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the member of a family that a network is, and the number there of each node; None if none is found.

    Under any numbering where the network has at most 130 nodes, and else as the family numbers them.
    """
    if network.node_count > _MOST or network.uniform_capacity != 1:
        return None
    for member in _members(network):
        if member.node_count != network.node_count or member.link_count != network.link_count:
            continue
        if np.array_equal(_pairs(member), _pairs(network)):
            return member, int_array(np.arange(network.node_count, dtype=np.int32), "places")
        if network.node_count <= _SMALL and (order := _isomorphism(network, member)) is not None:
            return member, order
    return None


def _pairs(network: Network) -> np.ndarray:
    return np.sort(network.link_source * np.int64(network.node_count) + network.link_target)


def _members(network: Network) -> Iterator[Network]:
    """Yield members of families with as many nodes and links."""
    n, degree = network.node_count, network.degree
    regular = network.link_count == n * degree
    if regular and network.two_way:
        if degree % 2 == 0 and degree < n:
            yield extended_ring(n, degree // 2)
        yield from _circulants(network)
        m = degree + 1
        if m <= 12 and math.factorial(m) == n:
            yield from (family(m) for family in (star, pancake, bubble_sort))
        for d in range(2, 20):
            if d << d == n:
                yield from (family(d) for family in (cube_connected_cycles, butterfly))
        return
    for d in range(2, degree + 1):
        for diameter in range(1, 20):
            for nodes, family in ((d**diameter, de_bruijn), (d**diameter + d ** (diameter - 1), kautz)):
                if nodes == n:
                    try:
                        yield family(d, diameter)
                    except NetworkError:
                        continue


def _circulants(network: Network) -> Iterator[Network]:
    """Yield circulants: that of the jumps of node 0, and small ones of degree 3 and 4."""
    n, degree = network.node_count, network.degree
    near = network.link_target[: network.out_degree[0]].astype(np.int64)
    jumps = sorted({int(min(j, n - j)) for j in near})
    if math.gcd(n, *jumps) == 1 and n > 2:
        yield circulant(n, *jumps)
    if n > _FEW or degree not in (3, 4):
        return
    for one in range(1, n // 2 + 1):
        for other in range(one + 1, n // 2 + 1):
            if (n % one == 0 or one == 1) and math.gcd(n, one, other) == 1:
                found = circulant(n, one, other)
                if found.degree == degree:
                    yield found


def _isomorphism(network: Network, member: Network) -> IntArray | None:
    """Return the node of the member that each node is, or None."""
    if _far(network) != _far(member):
        return None
    import networkx as nx

    from gossamer.networks.networkx_conversion import to_networkx

    kind = nx.Graph if network.two_way else nx.DiGraph
    found = nx.vf2pp_isomorphism(kind(to_networkx(network)), kind(to_networkx(member)))
    if found is None:
        return None
    return int_array(np.array([found[u] for u in range(network.node_count)], np.int32), "places")


def _far(network: Network) -> list[list[int]]:
    """Return how many nodes are out of reach, at distance 0, 1, ... from each node, in order.

    From node 0 alone where links go both ways: such members look the same from every node.
    """
    nodes = range(1 if network.two_way else network.node_count)
    return sorted(np.bincount(network.distances(v) + 1).tolist() for v in nodes)


# Prime factors by name: a path, a ring, a complete network, or another one; and an order of their nodes.


class Prime(NamedTuple):
    """A factor.

    Attributes
    ----------
    kind : str
        ``"edge"``, ``"path"``, ``"ring"``, ``"complete"`` or ``"other"``.
    size : int
        How many nodes it has.
    order : int64[size]
        Its nodes in the order of the positions: along a path or ring, otherwise that of the numbers in the network.
    step : int
        The number, in the network, of the node one step from node 0 along the factor: the smaller, the less significant
        the factor is in the numbering of the network.
    """

    kind: str
    size: int
    order: Ints
    step: int


def prime(edges: Ints, layer: Ints) -> Prime:
    """Return what a factor is.

    Parameters
    ----------
    edges : int64[edges, 2]
        Its edges.
    layer : int64[size]
        For each of its nodes, the number of the node of the network in the layer of node 0; 0 is node 0.
    """
    size = layer.size
    near: list[list[int]] = [[] for _ in range(size)]
    for a, b in edges.tolist():
        near[a].append(b)
        near[b].append(a)
    degrees = sorted(map(len, near))
    start = int(np.argmin(layer))
    by_number = np.argsort(layer)
    step = int(layer[near[start]].min()) if near[start] else 0
    if size == 2:
        return Prime("edge", 2, by_number, step)
    if degrees[0] == degrees[-1] == size - 1:
        return Prime("complete" if size > 3 else "ring", size, by_number, step)
    if degrees[-1] == 2 and len(edges) in (size - 1, size):
        ends = [i for i in range(size) if len(near[i]) == 1]
        first = start if not ends else min(ends, key=lambda i: (i != start, layer[i]))
        order = _walk(near, first, layer)
        return Prime("path" if ends else "ring", size, np.array(order), step)
    return Prime("other", size, by_number, step)


def _walk(near: list[list[int]], first: int, layer: Ints) -> list[int]:
    """Return the nodes along a path or ring from one on, first to the neighbor of the smaller number."""
    order = [first]
    before, at = -1, first
    while True:
        onward = [v for v in near[at] if v != before and v != first]
        if not onward or len(order) == len(near):
            return order
        before, at = at, min(onward, key=lambda v: layer[v])
        order.append(at)


# Fat trees under any numbering: complete trees of switches with the terminals as leaves.


def fat_tree_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the fat tree that a network is, and the number there of each node; None if it is none.

    O(N log N) time.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> star = nx.star_graph(4)
    >>> star.nodes[0]["terminal"] = False
    >>> fat_tree_order(from_networkx(star))[0]
    <Network fat-tree:k=4,h=1,capacity=constant: 5 nodes, 8 links>
    """
    n, leaves = network.node_count, network.terminal_count
    both = network.link_count == 2 * (n - 1) and int(network.reverse_link.min(initial=0)) >= 0
    if not both or network.parallel or leaves < 2 or int(network.distances(0).min()) < 0:
        return None
    if not bool((network.out_degree[:leaves] == 1).all()):
        return None
    found = _rows(network)
    if found is None:
        return None
    rows, above, capacities = found
    arity = len(rows[0]) // len(rows[1])
    if any(len(lower) != arity * len(upper) for lower, upper in itertools.pairwise(rows)):
        return None
    try:
        original = fat_tree(arity, len(rows) - 1, capacities)
    except NetworkError:  # capacities decrease towards the root
        return None
    place = int_array(_places(rows, above, arity).astype(np.int32), "places")
    return (original, place) if _links(network, place) == _links(original, np.arange(n)) else None


def _rows(network: Network) -> tuple[list[Ints], Ints, list[int]] | None:
    """Return the nodes of each level, the parent of each node, and the capacity above each level."""
    n = network.node_count
    parent, level = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    left = network.out_degree.copy()  # links to nodes that have no place yet
    row: Ints = np.arange(network.terminal_count)
    rows, capacities = [row], []
    level[row] = 0
    while row.size > 1:
        up = np.isin(network.link_source, row) & (level[network.link_target] < 0)
        source, target, capacity = network.link_source[up], network.link_target[up], network.link_capacity[up]
        if source.size != row.size or np.unique(source).size != row.size or np.unique(capacity).size != 1:
            return None
        parent[source] = target
        row, below = np.unique(target, return_counts=True)
        left[row] -= below
        if np.unique(below).size != 1 or below[0] < 2 or int(left[row].max()) > 1:
            return None
        capacities.append(int(capacity[0]))
        level[row] = len(rows)
        rows.append(row.astype(np.int64))
    return (rows, parent, capacities) if sum(map(len, rows)) == n and len(rows) > 1 else None


def _places(rows: list[Ints], parent: Ints, arity: int) -> Ints:
    """Return the number of each node in the fat tree: level by level, brothers in the order of their numbers."""
    rank = np.zeros(parent.size, np.int64)
    for row in rows[-2::-1]:
        order = row[np.lexsort((row, rank[parent[row]]))]
        rank[order] = np.arange(row.size)
    start = 0
    for row in rows:
        rank[row] += start
        start += row.size
    return rank


def _links(network: Network, place: npt.NDArray[np.integer]) -> set[tuple[int, int, int]]:
    columns = (place[network.link_source], place[network.link_target], network.link_capacity)
    return set(zip(*(column.tolist() for column in columns), strict=True))


# From a list of links to the torus, hypercube, array or other network that it is.

Ints = npt.NDArray[np.int64]


class Recognition(NamedTuple):
    """What was found.

    Attributes
    ----------
    original : Network or None
        The network that it is, with the times, the speeds and the names of this one.
    place : int32[N] or None
        The node of `original` that each node is.
    words : str
        A clause for people: what it is, or why that is not known.
    """

    original: Network | None
    place: IntArray | None
    words: str

    @property
    def in_order(self) -> bool:
        """Whether nodes have the same numbers in both."""
        return self.place is not None and _in_order(self.place)


def recognition(network: Network) -> Recognition:
    """Find out what a network is that came as a list of links.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    Recognition
        Found are arrays, tori, rings, hypercubes, complete networks, generalized hypercubes and other Cartesian
        products, under any numbering; fat trees, a single switch among them; and, where they are numbered as the
        family numbers them or are small, other Cayley families, Kautz and de Bruijn networks. All links must have
        capacity 1, but for fat trees.

    Notes
    -----
    What would take more than some seconds is not begun, and `words` says so.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> recognition(from_networkx(nx.grid_graph([4, 3], periodic=True))).words
    'torus:3x4'
    >>> recognition(from_networkx(nx.petersen_graph())).words
    'no product of smaller networks, and of no known family'
    """
    known = vars(network).get("_recognition")
    if not isinstance(known, Recognition):
        known = vars(network)["_recognition"] = _found(network)
    return known


def _found(network: Network) -> Recognition:
    if not network.links_only:
        return Recognition(None, None, f"{network.spec}, as it is named")
    given = network.find(Renumbered)
    if given is not None:
        return _named(given.original, given.place)
    if network.group is not None or network.grid is not None or network.factors or network.levels is not None:
        return Recognition(None, None, "its structure is given")
    if network.parallel:
        return Recognition(None, None, "not looked for: links are parallel")
    if network.terminal_count < network.node_count:
        found = fat_tree_order(network)
        if found is None:
            return Recognition(None, None, "it has switches, and is no complete tree of them")
        return _named(_dressed(network, *found), found[1])
    if network.uniform_capacity != 1:
        return Recognition(None, None, "not looked for: links have other capacities than 1")
    joined_both_ways = bool(network.link_count) and int(network.reverse_link.min()) >= 0  # whatever their speeds
    if not network.two_way and not joined_both_ways:
        return _candidate(network, "links are one-way, and it is of no known family")
    if int(network.distances(0).min()) < 0:
        return Recognition(None, None, "not connected")
    return _factored(network)


def _named(original: Network, place: IntArray) -> Recognition:
    return Recognition(original, place, f"{original.spec}{'' if _in_order(place) else ', with its nodes renumbered'}")


def _in_order(place: IntArray) -> bool:
    return bool((place == np.arange(place.size)).all())


# -- products --------------------------------------------------------------------------------------------------------


def _factored(network: Network) -> Recognition:
    found = prime_factors(network)
    if found is None:
        return _candidate(network, "not looked for: the network is large")
    root = found.places[0]
    primes = []
    for i, edges in enumerate(found.edges):
        rest = np.delete(found.places, i, axis=1) == np.delete(root, i)
        nodes = np.flatnonzero(rest.all(axis=1))
        layer = np.empty(nodes.size, np.int64)
        layer[found.places[nodes, i]] = nodes
        primes.append(prime(edges, layer))
    if len(primes) == 1 and primes[0].kind == "other":
        return _candidate(network, "no product of smaller networks, and of no known family")
    others = {i: _other(network, p, found.edges[i]) for i, p in enumerate(primes) if p.kind == "other"}
    for i, (_, order) in others.items():
        primes[i] = primes[i]._replace(order=order)
    choices = []
    for sides in _arrangements(primes):
        place = int_array(_numbers(sides, primes, found.places).astype(np.int32), "places")
        choices.append((_by_name(sides, {i: factor for i, (factor, _) in others.items()}), place))
    original, place = next((c for c in choices if _in_order(c[1])), choices[0])
    return _named(_dressed(network, original, place), place)


class _Side(NamedTuple):
    """A factor of the network as it will be named, and the prime factors that it is made of."""

    kind: str
    size: int
    parts: tuple[int, ...]


def _arrangements(primes: list[Prime]) -> list[list[_Side]]:
    """Return ways to put the factors in order, the most significant first, and to join two edges to a ring of 4."""
    order = sorted(range(len(primes)), key=lambda i: -primes[i].step)
    alone = [_Side(primes[i].kind, primes[i].size, (i,)) for i in order]
    edges = [side for side in alone if side.kind == "edge"]
    if len(edges) < 2 or any(side.kind not in ("edge", "ring") for side in alone):
        return [alone]
    rings = {edges[j]: _Side("ring", 4, edges[j].parts + edges[j + 1].parts) for j in range(0, len(edges) - 1, 2)}
    second = set(edges[1::2])
    paired = [rings.get(side, side) for side in alone if side not in second]
    return [paired, alone] if len(edges) < len(alone) else [alone, paired]


def _numbers(sides: list[_Side], primes: list[Prime], places: Ints) -> Ints:
    """Return the number of each node in the named network."""
    number = np.zeros(len(places), np.int64)
    for side in sides:
        digit = np.zeros(len(places), np.int64)
        for i in side.parts:
            position = np.empty(primes[i].size, np.int64)
            position[primes[i].order] = np.arange(primes[i].size)
            digit = digit * primes[i].size + position[places[:, i]]
        if len(side.parts) == 2:  # round a ring of four made of two edges: 00, 01, 11, 10
            digit = np.array([0, 1, 3, 2])[digit]
        number = number * side.size + digit
    return number


def _by_name(sides: list[_Side], others: dict[int, Network]) -> Network:
    """Return the network of these factors, by the name of a family if there is one."""
    kinds = {side.kind for side in sides}
    sizes = [side.size for side in sides]
    if kinds == {"edge"}:
        return hypercube(len(sizes)) if len(sizes) > 1 else linear_array(2)
    if kinds <= {"edge", "ring"}:
        return torus(*sizes)
    if kinds <= {"edge", "path"}:
        return array(*sizes)
    if kinds == {"complete"} and len(sizes) == 1:
        return complete(sizes[0])
    if kinds <= {"edge", "complete", "ring"} and all(side.size == 3 for side in sides if side.kind == "ring"):
        return generalized_hypercube(*sizes)
    named = {"edge": linear_array, "path": linear_array, "ring": ring, "complete": complete}
    return product(*(others[s.parts[0]] if s.kind == "other" else named[s.kind](s.size) for s in sides))


def _other(network: Network, factor: Prime, edges: Ints) -> tuple[Network, Ints]:
    """Return a factor that is no path, ring or complete network, and the order of its nodes."""
    position = np.empty(factor.size, np.int32)
    position[factor.order] = np.arange(factor.size)
    ends = position[np.concatenate([edges, edges[:, ::-1]])]
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    plain = Network(f"a factor of {network.spec}", factor.size, ends[:, 0], ends[:, 1], links_only=True)
    found = candidate_order(plain)
    if found is None:
        return plain, factor.order
    return found[0], factor.order[np.argsort(found[1])]


# -- others ----------------------------------------------------------------------------------------------------------


def _candidate(network: Network, otherwise: str) -> Recognition:
    """Return the family, of those that are no products, of which the network is a member."""
    found = candidate_order(network) or cayley_order(network)
    if found is None:
        return Recognition(None, None, otherwise)
    original, place = found
    return _named(_dressed(network, original, place), place)


def _dressed(network: Network, original: Network, place: IntArray) -> Network:
    """Return the original with the names, times and speeds of the network."""
    n = network.node_count
    back = np.empty(n, np.int64)
    back[place] = np.arange(n)
    link = network.links_between(back[original.link_source], back[original.link_target])
    structures: list[Structure] = list(original.structures)
    speeds = network.find(Speeds)
    if speeds is not None:
        structures.append(Speeds(speeds.bandwidth[link], speeds.latency[link]))
    if network.shared_ports is not None and (ports := network.shared_ports.remaining(place, int_array(link, "links"))):
        structures.append(ports)
    plain = network.labels is None and network.coordinates is not None
    return Network(
        original.spec,
        n,
        original.link_source,
        original.link_target,
        original.link_capacity,
        link_occupancy=network.link_occupancy[link],
        link_latency=network.link_latency[link],
        terminal_count=original.terminal_count,
        structures=structures,
        labels=None if plain else [network.node_name(u) for u in back.tolist()],
        links_only=True,
    )


def recognized(network: Network) -> Network:
    """Return the network with what `recognition` finds, or itself if there is nothing.

    The nodes and links stay as they are. ``find(Renumbered)`` has the network that it is, and if the nodes are numbered
    as there, ``find(Grid)`` its grid as well.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> recognized(from_networkx(nx.cycle_graph(5))).grid
    Grid(sides=(5,), wraps=(True,))
    """
    found = recognition(network)
    if found.original is None or found.place is None or network.find(Renumbered) is not None:
        return network
    known: list[Structure] = [*network.structures, Renumbered(found.original, found.place)]
    grid = found.original.find(Grid)
    if found.in_order and grid is not None:
        known.append(grid)
    copy = network.with_structures(known)
    vars(copy)["_recognition"] = found
    return copy
