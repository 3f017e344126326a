"""Broadcast down the trees that the literature names: of hypercubes, extended rings and products."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import cast

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.broadcast.shortest_path_tree import one_port_times, send_down
from gossamer.algorithms.trees.binomial_tree import binomial_tree, is_hypercube
from gossamer.algorithms.trees.extended_ring_tree import extended_ring_tree, path_lengths, reach
from gossamer.algorithms.trees.product_tree import factor_trees, product_tree
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree
from gossamer.schedules import Schedule
from gossamer.tasks import Broadcast, Task

__all__ = [
    "BINOMIAL_TREE",
    "EXTENDED_RING_TREE",
    "PRODUCT_TREE",
    "binomial_broadcast",
    "extended_ring_broadcast",
    "product_broadcast",
]


def _root(task: Task) -> int:
    return cast(Broadcast, task).root


def binomial_broadcast(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Broadcast down the binomial tree of a hypercube Q_d: d steps, with any ports, which is optimal.

    Parameters
    ----------
    network : Network
    task : Broadcast
    model : Model
    seed : int
        Ignored.

    Returns
    -------
    Schedule

    References
    ----------
    Dimakopoulos 1996, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("hypercube:4")
    >>> binomial_broadcast(net, gossamer.task("broadcast"), Model(ports="one")).completion_time
    Fraction(4, 1)
    """
    return send_down(binomial_tree(network, _root(task)), task, model)


def extended_ring_broadcast(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Broadcast in an extended ring E_n^rho by a rule that needs nothing but a counter in the packet.

    Parameters
    ----------
    network : Network
    task : Broadcast
    model : Model
        With ports ``one`` the slowest child is served first.
    seed : int
        Ignored.

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
    >>> net = gossamer.network("extended-ring:14,2")
    >>> extended_ring_broadcast(net, gossamer.task("broadcast"), Model()).completion_time
    Fraction(4, 1)
    """
    return send_down(extended_ring_tree(network, _root(task)), task, model)


def _product_tree(network: Network, root: int) -> RootedTree:
    return product_tree(network, factor_trees(network, root))


def product_broadcast(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Broadcast in a product down a tree made of trees of its factors.

    Parameters
    ----------
    network : Network
        A product: array, torus, hypercycle, or any other.
    task : Broadcast
    model : Model
        With ports ``one`` the slowest child is served first.
    seed : int
        Ignored.

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
    >>> net = gossamer.network("product:(ring:5)x(star:3)")
    >>> product_broadcast(net, gossamer.task("broadcast"), Model()).completion_time
    Fraction(5, 1)
    """
    return send_down(_product_tree(network, _root(task)), task, model)


def _one_port(tree: Callable[[Network, int], RootedTree], network: Network, task: Task) -> Fraction:
    return Fraction(int(one_port_times(tree(network, _root(task)))[0][_root(task)]))


def _whole_and_all(network: Network, task: Task, model: Model) -> bool:
    return not model.split and model.ports == "all"


BINOMIAL_TREE = separate(
    name="binomial-tree",
    task=Broadcast,
    builder=binomial_broadcast,
    reason=lambda network, task, model: None if is_hypercube(network) else "needs a hypercube",
    claim=lambda network, task, model: Fraction(network.node_count.bit_length() - 1),
    networks="hypercubes",
    source="Dimakopoulos 1996, section 3.1",
    summary="along ever lower dimensions",
    optimal=lambda network, task, model: not model.split,
)


def _extended_ring_claim(network: Network, task: Task, model: Model) -> Fraction:
    if model.ports == "all":
        return Fraction(path_lengths(network.node_count, reach(network) or 1).longest)
    return _one_port(extended_ring_tree, network, task)


EXTENDED_RING_TREE = separate(
    name="extended-ring-tree",
    task=Broadcast,
    builder=extended_ring_broadcast,
    reason=lambda network, task, model: "needs an extended ring" if reach(network) is None else None,
    claim=_extended_ring_claim,
    networks="extended rings, rings and complete networks",
    source="Dimakopoulos 1996, section 3.1",
    summary="along paths of nearly equal lengths, with a counter in the packet",
    optimal=_whole_and_all,
)


def _product_reason(network: Network, task: Task, model: Model) -> str | None:
    if not network.factors:
        return "needs a product of networks"
    for factor in network.factors:
        if int(factor.distances(0).min()) < 0:
            return f"needs connected factors, and {factor.spec} is not"
    return None


def _product_claim(network: Network, task: Task, model: Model) -> Fraction:
    if model.ports == "all":
        return Fraction(sum(int(t.depth.max()) for t in factor_trees(network, _root(task))))
    return _one_port(_product_tree, network, task)


PRODUCT_TREE = separate(
    name="product-tree",
    task=Broadcast,
    builder=product_broadcast,
    reason=_product_reason,
    claim=_product_claim,
    networks="products: arrays, tori, hypercycles, generalized hypercubes and any others",
    source="Dimakopoulos 1996, Theorem 3.1",
    summary="down a tree made of trees of the factors, the last coordinate first",
    optimal=_whole_and_all,
)
