"""What every family promises: symmetric links, connectivity, distances, generators, translations."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gossamer.networks import FAMILIES, Network, network_size, parse, to_networkx
from gossamer.testing import NETWORKS

EDGE_CASES = [
    "array:1",
    "array:2",
    "array:7",
    "array:1x4",
    "array:2x2x2",
    "array:3x4",
    "array:3x2x4",
    "torus:1x5",
    "torus:2x5",
    "torus:4x4",
    "torus:3x4x5",
    "ring:1",
    "ring:2",
    "ring:3",
    "ring:8",
    "hypercube:0",
    "hypercube:1",
    "hypercube:5",
    "extended-ring:2,1",
    "extended-ring:9,2",
    "extended-ring:10,5",
    "circulant:2,1",
    "circulant:13,1,5",
    "circulant:12,2,3,6",
    "complete:1",
    "complete:2",
    "complete:7",
    "hypercycle:5,2x7,3",
    "hypercycle:2,1x5,1",
    "generalized-hypercube:4x3x2",
    "generalized-hypercube:1x2",
    "star:1",
    "star:2",
    "star:5",
    "pancake:1",
    "pancake:2",
    "pancake:4",
    "bubble-sort:1",
    "bubble-sort:2",
    "bubble-sort:4",
    "ccc:1",
    "ccc:2",
    "ccc:3",
    "butterfly:1",
    "butterfly:2",
    "butterfly:3",
    "butterfly:4",
    "kautz:2,1",
    "kautz:2,3",
    "kautz:3,2",
    "generalized-kautz:2,2",
    "generalized-kautz:3,4",
    "generalized-kautz:4,15",
    "generalized-kautz:5,13",
    "de-bruijn:2,1",
    "de-bruijn:2,4",
    "de-bruijn:5,2",
    "generalized-de-bruijn:2,2",
    "generalized-de-bruijn:4,12",
    "generalized-de-bruijn:5,13",
    "generalized-de-bruijn:5,18",
    "fat-tree:k=2,h=0,capacity=constant",
    "fat-tree:k=2,h=4,capacity=exponential",
    "fat-tree:k=3,h=2,capacity=2,5",
    "product:(ring:5)x(complete:4)",
    "product:(star:3)x(ring:4)",
    "product:(array:3)x(ccc:2)",
    "product:(complete:1)x(array:1)",
    "product:(product:(ring:3)x(star:3))x(array:2)",
    "product:(kautz:2,2)x(ring:3)",
    "transposed:(de-bruijn:3,2)",
    "transposed:(transposed:(kautz:2,2))",
]
SMALL = list(dict.fromkeys([*EDGE_CASES, *NETWORKS]))

NOT_CAYLEY = ["array:7", "array:1x4", "array:3x4", "array:3x2x4", "product:(array:3)x(ccc:2)"]
NOT_CAYLEY += [spec for spec in EDGE_CASES if spec.startswith("fat-tree")]

ONE_WAY = [spec for spec in EDGE_CASES if "kautz" in spec or "de-bruijn" in spec]
NOT_CAYLEY += ONE_WAY
ONE_WAY = [s for s in ONE_WAY if s not in ("kautz:2,1", "generalized-kautz:2,2", "generalized-kautz:3,4")]
ONE_WAY = [s for s in ONE_WAY if s not in ("de-bruijn:2,1", "generalized-de-bruijn:2,2")]  # nor these: all are complete

every_small_network = pytest.mark.parametrize("spec", SMALL)
every_cayley_network = pytest.mark.parametrize("spec", [spec for spec in SMALL if parse(spec).group is not None])


@every_small_network
def test_canonical_spec_parses_back_to_an_equal_network(spec):
    net = parse(spec)
    again = parse(net.spec)
    assert again == net
    assert again.spec == net.spec
    assert (again.grid, again.group, again.levels) == (net.grid, net.group, net.levels)
    assert not net.links_only


@every_small_network
def test_the_size_by_arithmetic_is_that_of_the_network(spec):
    net = parse(spec)
    assert network_size(spec) == (net.node_count, net.link_count)


@pytest.mark.parametrize("spec", ONE_WAY)
def test_one_way_families_have_links_without_an_opposite(spec):
    assert not parse(spec).two_way


@pytest.mark.parametrize("spec", [spec for spec in EDGE_CASES if spec not in ONE_WAY])
def test_every_link_of_the_other_families_has_an_opposite_of_the_same_capacity(spec):
    net = parse(spec)
    assert net.two_way
    back = net.reverse_link
    assert np.array_equal(net.link_source[back], net.link_target)
    assert np.array_equal(net.link_target[back], net.link_source)
    assert np.array_equal(net.link_capacity[back], net.link_capacity)


@every_small_network
def test_connected_with_networkx_distances_from_every_corner(spec):
    net = parse(spec)
    graph = to_networkx(net)
    assert nx.is_strongly_connected(graph)
    for source in {0, net.node_count // 2, net.node_count - 1}:
        expected = nx.single_source_shortest_path_length(graph, source)
        assert net.distances(source).tolist() == [expected[v] for v in range(net.node_count)]


@every_cayley_network
def test_link_g_of_every_node_leads_to_its_product_with_generator_g(spec):
    net = parse(spec)
    node = np.arange(net.node_count)
    table = net.link_target.reshape(net.node_count, net.degree)
    assert np.array_equal(net.link_source.reshape(table.shape), np.broadcast_to(node[:, None], table.shape))
    assert np.array_equal(table, net.group.compose(node[:, None], net.generators))
    assert sorted(net.group.inverse(net.generators)) == sorted(net.generators)
    assert 0 not in net.generators


@every_cayley_network
def test_left_translation_is_an_automorphism_that_keeps_generators(spec):
    net = parse(spec)
    node = np.arange(net.node_count)
    table = net.link_target.reshape(net.node_count, net.degree)
    for h in {1 % net.node_count, net.node_count // 3, net.node_count - 1}:
        moved = net.group.compose(h, node)
        assert sorted(moved) == node.tolist()
        assert np.array_equal(moved[table], table[moved])


@pytest.mark.parametrize("spec", NOT_CAYLEY)
def test_networks_that_are_not_regular_claim_no_group(spec):
    assert parse(spec).group is None


@pytest.mark.parametrize("spec", [spec for spec in EDGE_CASES if spec not in NOT_CAYLEY])
def test_cayley_networks_have_their_group(spec):
    assert parse(spec).group is not None


@every_small_network
def test_coordinates_are_all_different(spec):
    net = parse(spec)
    if net.coordinates is not None:
        assert len(np.unique(net.coordinates, axis=0)) == net.node_count
    assert len({net.node_name(v) for v in range(net.node_count)}) == net.node_count


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_table_entry_is_complete_and_its_example_is_canonical(family):
    assert family.parameters
    assert family.source
    assert family.summary
    assert "\n" not in family.summary + family.parameters + family.source
    assert family.example.startswith(f"{family.name}:")
    if family.small:
        net = parse(family.example)
        assert isinstance(net, Network)
        assert net.spec == family.example
        assert set(family.small) <= set(NETWORKS)


def test_family_names_and_aliases_are_all_different():
    names = [name for family in FAMILIES for name in (family.name, *family.aliases)]
    assert len(set(names)) == len(names)
