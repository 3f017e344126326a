"""Broadcast down the named trees: all ports take the eccentricity; one port what the tree allows."""

from __future__ import annotations

import math

import networkx as nx
import pytest

import gossamer
from gossamer.algorithms.broadcast.binomial_and_product_trees import BINOMIAL_TREE, EXTENDED_RING_TREE, PRODUCT_TREE
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx, product
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast

ALL, ONE = Rules(), Rules(ports="one")


@pytest.mark.parametrize("d", range(1, 9))
@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_binomial_tree_takes_the_dimension_with_any_ports(d, ports):
    network = gossamer.network(f"hypercube:{d}")
    schedule = BINOMIAL_TREE.build(Case(network, Broadcast(2**d // 3), Rules(ports=ports)))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == d


@pytest.mark.parametrize("n", range(2, 40))
def test_extended_rings_take_their_diameter(n):
    for rho in range(1, n // 2 + 1):
        network = gossamer.network(f"extended-ring:{n},{rho}")
        schedule = EXTENDED_RING_TREE.build(Case(network, Broadcast(n // 2), ALL))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == math.ceil(n // 2 / rho) == network.diameter
        assert schedule.stored_hops == n - 1  # no node gets it twice


PRODUCTS = [
    "array:3x4x2", "torus:4x5", "torus:3x3x3", "hypercube:5", "hypercycle:5,2x4,1", "generalized-hypercube:4x3x2",
    "product:(ring:5)x(star:3)", "product:(complete:4)x(ccc:3)",
]  # fmt: skip


@pytest.mark.parametrize("spec", PRODUCTS)
def test_theorem_3_1_products_take_the_eccentricity(spec):
    network = gossamer.network(spec)
    for root in (0, network.node_count // 3, network.node_count - 1):
        schedule = PRODUCT_TREE.build(Case(network, Broadcast(root), ALL))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == network.eccentricity(root)


@pytest.mark.parametrize("spec", PRODUCTS)
@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_one_port_is_valid_and_takes_the_claimed_time(spec, ports):
    network, model = gossamer.network(spec), Rules(ports=ports, buffer=1, buffer_counts="all")
    schedule = PRODUCT_TREE.build(Case(network, Broadcast(1), model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == PRODUCT_TREE.offer(Case(network, Broadcast(1), model)).time


def apart():
    return from_networkx(nx.empty_graph(2))


@pytest.mark.parametrize(
    ("algorithm", "network", "why"),
    [
        (BINOMIAL_TREE, gossamer.network("ring:8"), "needs a hypercube"),
        (EXTENDED_RING_TREE, gossamer.network("torus:3x3"), "needs an extended ring"),
        (PRODUCT_TREE, gossamer.network("star:4"), "needs a product of networks"),
        (PRODUCT_TREE, product(gossamer.network("array:2"), apart()), "needs connected factors"),
    ],
)
def test_says_why_it_does_not_cover(algorithm, network, why):
    with pytest.raises(NotApplicableError, match=why):
        algorithm.build(Case(network, Broadcast(0), ALL))
