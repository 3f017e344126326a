"""Groups of symmetries that move every node, and Cayley networks of no family that are recognized by them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.networks import FreeGroup, PermutationGroup, SharedPorts, cayley, from_networkx, renumbered
from gossamer.networks.cable_orbits import few_generators
from gossamer.networks.finite_groups import TableGroup
from gossamer.networks.recognition.free_groups import cayley_order, free_group

pytest.importorskip("igraph", reason="symmetries are found by igraph (extra 'symmetry')")
pytestmark = pytest.mark.symmetry


def dihedral(n: int) -> TableGroup:
    """The symmetries of a polygon: turns 0..n-1, and then reflections."""
    a = np.arange(2 * n)
    flip, turn = np.divmod(a, n)
    sign = np.where(flip == 1, -1, 1)
    product = (turn[:, None] + sign[:, None] * turn[None, :]) % n + n * (flip[:, None] ^ flip[None, :])
    return TableGroup(product.astype(np.int32))


@pytest.mark.parametrize(
    ("name", "order"),
    [("heawood", 14), ("moebius_kantor", 16), ("pappus", 18), ("truncated_tetrahedron", 12), ("icosahedral", 12)],
)
def test_cayley_networks_of_no_family_are_found(name, order):
    net = from_networkx(getattr(nx, f"{name}_graph")())
    found, place = cayley_order(net)
    assert found.group.order == order
    assert found.alike
    pairs = {(int(place[u]), int(place[v])) for u, v in zip(net.link_source, net.link_target, strict=True)}
    assert pairs == set(zip(found.link_source.tolist(), found.link_target.tolist(), strict=True))


@pytest.mark.parametrize("name", ["petersen", "dodecahedral", "desargues"])
def test_symmetric_networks_that_are_no_cayley_networks_are_not(name):
    """All nodes look the same, but no group takes each to each other and leaves none in its place (McKay, Praeger)."""
    net = from_networkx(getattr(nx, f"{name}_graph")())
    assert cayley_order(net) is None
    table = free_group(net)
    assert net.node_count % len(table) == 0


def test_the_group_is_free_and_keeps_links():
    net = from_networkx(nx.petersen_graph())
    table = free_group(net)
    assert len(table) == 5
    assert (table[1:] != np.arange(10)).all()
    links = set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    for image in table:
        assert {(int(image[u]), int(image[v])) for u, v in links} == links


@pytest.mark.parametrize("seed", range(3))
def test_plans_on_a_renumbered_cayley_network_are_those_of_its_group(seed):
    """An edge list of a network of no family is planned by what is known of Cayley networks."""
    own = cayley("polygons", dihedral(24), [1, 23, 24, 29])
    order = np.random.default_rng(seed).permutation(own.node_count)
    net = renumbered(own, order, "a list")
    net = from_networkx(gossamer.networks.to_networkx(net), "a list")
    told = gossamer.describe(net)
    assert told.structure == "Cayley network of 48 elements"
    assert "translations by a group of 48" in told.symmetry
    outcome = gossamer.plan(net, "allgather")
    assert outcome.algorithm == "translated-tree"
    assert outcome.optimal
    assert outcome.schedule.network == net
    exchange = gossamer.plan(net, "alltoall", effort="closed form")
    assert exchange.verification.ok
    assert exchange.ratio < 1.25


def test_what_is_not_looked_at():
    ring = gossamer.network("ring:5")
    assert free_group(ring.with_times(np.arange(10) % 2 + 1, 0)) is None
    assert free_group(ring.with_ports(SharedPorts(ring.link_source, ring.link_target))) is None
    assert free_group(gossamer.network("kautz:2,2")) is None
    assert free_group(gossamer.network("array:4x3")) is None
    torus = gossamer.network("torus:3x4")
    assert len(free_group(torus)) == 12
    assert free_group(torus.with_times(np.arange(torus.link_count) % 5 + 1, 0)) is None


def test_the_group_of_a_table():
    group, other = dihedral(5), PermutationGroup(3)
    a, b, c = np.random.default_rng(0).integers(0, 10, (3, 50))
    assert np.array_equal(group.compose(group.compose(a, b), c), group.compose(a, group.compose(b, c)))
    assert not group.compose(a, group.inverse(a)).any()
    assert not group.abelian
    table = TableGroup(other.compose(np.arange(6)[:, None], np.arange(6)[None]).astype(np.int32))
    assert np.array_equal(table.inverse(np.arange(6)), other.inverse(np.arange(6)))


@pytest.mark.parametrize(
    ("spec", "order"),
    [
        ("product:(array:3)x(ring:4)", 4),
        ("product:(ring:3)x(array:2x3)x(hypercube:2)", 24),
        ("product:(lift:abelian(5);0-1,0-0*1,1-1*2)x(array:3)", 5),
        ("product:(array:3)x(jellyfish:n=20,d=3,seed=1)", 1),
    ],
)
def test_symmetries_of_factors_are_those_of_the_product(spec, order):
    net = gossamer.network(spec)
    table = free_group(net)
    assert len(table) == order
    assert (table[0] == np.arange(net.node_count)).all()
    assert (np.diff(table[:, 0]) > 0).all()
    assert len(few_generators(table)) <= order.bit_length()
    assert (FreeGroup(net, list(table)).table == table).all()
