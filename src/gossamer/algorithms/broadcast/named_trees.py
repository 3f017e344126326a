"""Broadcast down the trees that the literature names: of hypercubes, extended rings and products."""

from __future__ import annotations

from fractions import Fraction

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.shortest_path_tree import root_of, send_down, time_down
from gossamer.algorithms.trees.binomial_tree import binomial_tree, is_hypercube
from gossamer.algorithms.trees.extended_ring_tree import extended_ring_tree, path_lengths, reach
from gossamer.algorithms.trees.product_tree import factor_trees, product_tree
from gossamer.cases import Case, Offer, Refusal
from gossamer.paths.trees import RootedTree
from gossamer.schedules import Schedule
from gossamer.tasks import Broadcast

__all__ = [
    "BINOMIAL_TREE",
    "EXTENDED_RING_TREE",
    "PRODUCT_TREE",
    "binomial_broadcast",
    "extended_ring_broadcast",
    "product_broadcast",
]


def binomial_broadcast(case: Case) -> Schedule:
    """Broadcast down the binomial tree of a hypercube Q_d: d steps, with any ports, which is optimal.

    Parameters
    ----------
    case : Case
        A broadcast on a hypercube.

    Returns
    -------
    Schedule

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
    return send_down(binomial_tree(case.network, root_of(case)), case)


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

    Parameters
    ----------
    case : Case
        A broadcast on an extended ring. Where a node sends one packet a slot, the slowest child is served first.

    Returns
    -------
    Schedule

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
    return send_down(case.once(extended_ring_tree, case.network, root_of(case)), case)


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

    Parameters
    ----------
    case : Case
        A broadcast on a product: array, torus, hypercycle, or any other. Where a node sends one packet a slot, the
        slowest child is served first.

    Returns
    -------
    Schedule

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
    return send_down(_product_tree(case), case)


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
