"""Broadcast down the trees that the literature names: of hypercubes, extended rings and products."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.shortest_path_tree import root_of, send_down, time_down
from gossamer.errors import NetworkError
from gossamer.graphs.trees import RootedTree, shortest_path_tree, tree_of_parents
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast
from gossamer.schedules import Schedule

# The binomial tree of a hypercube.


def is_hypercube(network: Network) -> bool:
    """Whether the nodes are the numbers 0..2^d-1 and the links lead to those that differ in one bit.

    >>> import gossamer
    >>> [is_hypercube(gossamer.network(s)) for s in ("hypercube:3", "array:2x2", "ring:4")]
    [True, True, False]
    """
    n = network.node_count
    d = n.bit_length() - 1
    if n != 1 << d or network.terminal_count != n or network.link_count != n * d or network.uniform_capacity != 1:
        return False
    if sorted(network.link_target[:d].tolist()) != [1 << k for k in range(d)]:
        return False
    difference = network.link_source ^ network.link_target
    return bool((difference & (difference - 1) == 0).all())


def binomial_tree(network: Network, root: int) -> RootedTree:
    """Return the tree of a hypercube in which a node passes on along all lower dimensions.

    `network`: a hypercube Q_d.

    Returns: the parent of root + x (xor) is root + x with its lowest 1 cleared. Height d, a tree of shortest paths.

    Raises NetworkError if the network is no hypercube.

    A node that received along dimension k sends along every dimension below k; the root along all. A broadcast takes d
    steps with all ports and with one port. O(N + L) time.

    Source: Dimakopoulos 1996, section 3.1.

    >>> import gossamer
    >>> net = gossamer.network("hypercube:3")
    >>> net.link_source[binomial_tree(net, 0).parent_link[1:]].tolist()
    [0, 0, 2, 0, 4, 4, 6]
    """
    if not is_hypercube(network):
        raise NetworkError(f"network {network.spec!r} is no hypercube with its nodes in binary order")
    x = np.arange(network.node_count)
    parent = np.empty(network.node_count, np.int64)
    parent[x ^ root] = (x & (x - 1)) ^ root
    return tree_of_parents(network, root, parent)


# The broadcast tree of an extended ring: paths of steps rho, of nearly equal lengths.


class PathLengths(NamedTuple):
    """The paths at the root of the tree: rho of `longest` nodes up, and down k of w+1 nodes and rho-k of w nodes."""

    longest: int
    w: int
    k: int


def path_lengths(n: int, rho: int) -> PathLengths:
    """Return D, w and k of the broadcast tree of an extended ring.

    >>> path_lengths(14, 2)
    PathLengths(longest=4, w=2, k=1)
    """
    longest = -(-(n // 2) // rho)
    w = (n - 1) // rho - longest
    return PathLengths(longest, w, n - (w + longest) * rho - 1)


def reach(network: Network) -> int | None:
    """Return rho if the network is an extended ring with its nodes in order, else None.

    Rings and complete networks are extended rings: rho is 1 and floor(n/2).

    >>> import gossamer
    >>> [reach(gossamer.network(s)) for s in ("ring:8", "extended-ring:14,2", "complete:7", "hypercube:3")]
    [1, 2, 3, None]
    """
    n, degree = network.node_count, network.degree if network.link_count else 0
    if n < 2 or not degree or network.terminal_count != n:
        return None
    if network.link_count != n * degree or network.uniform_capacity != 1:
        return None
    rho = n // 2 if degree == n - 1 else degree // 2
    offsets = sorted({g % n for g in range(-rho, rho + 1)} - {0})
    if sorted(network.link_target[:degree].tolist()) != offsets:
        return None
    steps = np.sort((network.link_target - network.link_source) % n)
    return rho if np.array_equal(steps, np.repeat(offsets, n)) else None


def extended_ring_tree(network: Network, root: int) -> RootedTree:
    """Return the tree of an extended ring in which every node passes on by rho in its direction.

    `network`: an extended ring E_n^rho; see `reach`.

    Returns: of height ``D = ceil(floor(n/2)/rho)``, the diameter. Not always of shortest paths: in E_14^2 node 8 has
    distance 3 and depth 4.

    Raises NetworkError if the network is no extended ring.

    The root sends to i+1..i+rho with weight D, to i-1..i-k with weight w+1, and to i-(k+1)..i-rho with weight w,
    where ``w = floor((n-1)/rho) - D`` and ``k = n - (w+D) rho - 1``; a node passes on, with one less, until the
    weight is used up. With w = 0 the last rho-k get nothing from the root; the thesis has it send them too, so that
    their message would come twice (errata 9.2). O(N + L) time.

    Source: Dimakopoulos 1996, section 3.1.

    >>> import gossamer
    >>> tree = extended_ring_tree(gossamer.network("extended-ring:14,2"), 0)
    >>> int(tree.depth[8]), int(tree.depth.max())
    (4, 4)
    """
    rho = reach(network)
    if rho is None:
        raise NetworkError(f"network {network.spec!r} is no extended ring")
    n = network.node_count
    longest, _, _ = path_lengths(n, rho)
    offset = np.arange(n, dtype=np.int64)
    above: npt.NDArray[np.int64] = np.where(offset <= longest * rho, offset - rho, offset + rho)
    above[1 : rho + 1] = 0
    above = np.where(above >= n, 0, above)
    node = (offset + root) % n
    parent = np.empty(n, np.int64)
    parent[node] = (above + root) % n
    return tree_of_parents(network, root, parent)


# The broadcast tree of a product, from trees of its factors.


def factor_trees(network: Network, root: int) -> tuple[RootedTree, ...]:
    """Return a tree of least height of each factor, rooted where the root of the product is.

    Extended rings get their own tree, other factors a shortest-path tree.

    >>> import gossamer
    >>> [t.root for t in factor_trees(gossamer.network("array:3x4x2"), 12)]
    [1, 2, 0]
    """
    trees: list[RootedTree] = []
    rest = root
    for factor in reversed(network.factors):
        rest, own = divmod(rest, factor.node_count)
        grow = shortest_path_tree if reach(factor) is None else extended_ring_tree
        trees.append(grow(factor, own))
    return tuple(reversed(trees))


def product_tree(network: Network, trees: Sequence[RootedTree]) -> RootedTree:
    """Return the tree of a product that first corrects the last coordinate and the first one last.

    `network`: a product. `trees`: a spanning tree of each factor; their roots are the coordinates of the root v.

    Returns: the parent of u has, in the first coordinate i in which u and v differ, the parent of u_i in tree i. Its
    height is the sum of the heights.

    Raises NetworkError if there is not one tree for each factor.

    If each tree has the eccentricity of its root as height, so has the tree of the product: a broadcast with all
    ports is optimal. Two-node factors give the binomial tree. O(N k + L) time for k factors.

    Source: Dimakopoulos 1996, Theorem 3.1.

    >>> import gossamer
    >>> net = gossamer.network("array:3x4x2")
    >>> int(product_tree(net, factor_trees(net, 12)).depth.max())
    4
    """
    if len(trees) != len(network.factors) or not trees:
        raise NetworkError(f"network {network.spec!r} has {len(network.factors)} factors, got {len(trees)} trees")
    n = network.node_count
    node = np.arange(n)
    parent = np.full(n, -1, np.int64)
    stride, root = n, 0
    for tree in trees:
        size = tree.network.node_count
        stride //= size
        root += tree.root * stride
        above = np.arange(size)
        inner = np.flatnonzero(tree.parent_link >= 0)
        above[inner] = tree.network.link_source[tree.parent_link[inner]]
        own = node // stride % size
        step = (above - np.arange(size))[own] * stride
        parent = np.where((parent < 0) & (own != tree.root), node + step, parent)
    return tree_of_parents(network, root, parent)


def binomial_broadcast(case: Case) -> Schedule:
    """Broadcast down the binomial tree of a hypercube Q_d: d steps, with any ports, which is optimal.

    Who has the message tells somebody new in every slot, so that those who have it double from slot to slot. On a
    hypercube, whose nodes are numbers in binary and whose links change one digit, a node that got the message over
    digit k passes it on over every lower digit: each node is told once, by the neighbor that has one 1 less (counted
    from the root).

    Parameters
    ----------
    case : Case
        A broadcast on a hypercube.

    References
    ----------
    Dimakopoulos 1996, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:4"), gossamer.task("broadcast"), gossamer.Rules(ports="one"))
    >>> binomial_broadcast(case).completion_time
    Fraction(4, 1)
    """
    # Step 1: the parent of a node is the node with the lowest 1 of its number cleared, both counted from the root
    tree = binomial_tree(case.network, root_of(case))
    # Step 2: a node sends over all lower digits as soon as it has the message; with one port the highest digit, behind
    #   which the largest subtree is, first
    return send_down(tree, case)


def _propose_binomial(case: Case) -> Offer[Schedule] | Refusal:
    if not case.once(is_hypercube, case.network):
        return Refusal("needs a hypercube")
    dimension = case.network.node_count.bit_length() - 1
    return Offer(lambda: binomial_broadcast(case), Fraction(dimension), optimal=case.whole)


BINOMIAL_TREE = Algorithm(
    name="binomial-tree",
    tasks=(Broadcast,),
    propose=_propose_binomial,
    networks="hypercubes",
    source="Dimakopoulos 1996, section 3.1",
    summary="along ever lower dimensions",
)


def extended_ring_broadcast(case: Case) -> Schedule:
    """Broadcast in an extended ring E_n^rho by a rule that needs nothing but a counter in the packet.

    Every node has links to the rho next ones on both sides. The root tells these, and from then on the message jumps
    rho places at a time, away from the root, on 2 rho paths that split the ring among them as evenly as can be. A
    counter in the packet says how many jumps are left, so that no node needs to know more.

    Parameters
    ----------
    case : Case
        A broadcast on an extended ring. Where a node sends one packet a slot, the slowest child is served first.

    Notes
    -----
    ``ceil(floor(n/2)/rho)`` steps with all ports, the diameter.

    References
    ----------
    Dimakopoulos 1996, section 3.1, with the guard of erratum 9.2.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("extended-ring:14,2"), gossamer.task("broadcast"))
    >>> extended_ring_broadcast(case).completion_time
    Fraction(4, 1)
    """
    # Step 1: divide the ring into paths that begin at the root's neighbors and jump rho places at a time
    tree = case.once(extended_ring_tree, case.network, root_of(case))
    # Step 2: the root sends into all paths at once, and a node passes on what it gets
    return send_down(tree, case)


def _propose_extended_ring(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    rho = case.once(reach, network)
    if rho is None:
        return Refusal("needs an extended ring")
    if case.send_limited:
        time, optimal = time_down(case.once(extended_ring_tree, network, root_of(case)), case), False
    else:
        time, optimal = Fraction(path_lengths(network.node_count, rho).longest), case.whole
    return Offer(lambda: extended_ring_broadcast(case), time, optimal=optimal)


EXTENDED_RING_TREE = Algorithm(
    name="extended-ring-tree",
    tasks=(Broadcast,),
    propose=_propose_extended_ring,
    networks="extended rings, rings and complete networks",
    source="Dimakopoulos 1996, section 3.1",
    summary="along paths of nearly equal lengths, with a counter in the packet",
)


def product_broadcast(case: Case) -> Schedule:
    """Broadcast in a product down a tree made of trees of its factors.

    In a product, such as an array of rows and columns, a broadcast may go along one dimension after the other: first
    the root tells its own line, then every node of that line tells the line across it, and so on. If the tree along
    each line is as low as the line allows, then the whole tree is as low as the network allows.

    Parameters
    ----------
    case : Case
        A broadcast on a product: array, torus, hypercycle, or any other. Where a node sends one packet a slot, the
        slowest child is served first.

    Notes
    -----
    The sum of the eccentricities in the factors with all ports, which is optimal. Every node knows its children from
    its own address and the root's.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.1.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("product:(ring:5)x(star:3)"), gossamer.task("broadcast"))
    >>> product_broadcast(case).completion_time
    Fraction(5, 1)
    """
    # Step 1: grow a broadcast tree in each factor, rooted where the root is
    # Step 2: the parent of a node is one step nearer in the first coordinate in which it differs from the root
    tree = _product_tree(case)
    # Step 3: a node sends to all its children as soon as it has the message; with one port the slowest subtree first
    return send_down(tree, case)


def _product_tree(case: Case) -> RootedTree:
    return case.once(product_tree, case.network, case.once(factor_trees, case.network, root_of(case)))


def _propose_product(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if not network.factors:
        return Refusal("needs a product of networks")
    for factor in network.factors:
        if int(factor.distances(0).min()) < 0:
            return Refusal(f"needs connected factors, and {factor.spec} is not")
    if case.send_limited:
        time, optimal = time_down(_product_tree(case), case), False
    else:
        heights = (int(tree.depth.max()) for tree in case.once(factor_trees, network, root_of(case)))
        time, optimal = Fraction(sum(heights)), case.whole
    return Offer(lambda: product_broadcast(case), time, optimal=optimal)


PRODUCT_TREE = Algorithm(
    name="product-tree",
    tasks=(Broadcast,),
    propose=_propose_product,
    networks="products: arrays, tori, hypercycles, generalized hypercubes and any others",
    source="Dimakopoulos 1996, Theorem 3.1",
    summary="down a tree made of trees of the factors, the last coordinate first",
)
