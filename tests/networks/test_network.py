"""The network class: checks, links, distances, identity."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import (
    AbelianGroup,
    CayleyGroup,
    Coordinates,
    Grid,
    Network,
    array,
    complete,
    fat_tree,
    parse,
    ring,
    star,
    to_networkx,
    torus,
)


@st.composite
def digraphs(draw):
    """A random network of 1..8 nodes, not always connected, with its links as pairs."""
    n = draw(st.integers(1, 8))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    links = sorted(chosen, key=lambda link: link[0])
    return Network("random", n, [u for u, _ in links], [v for _, v in links], links_only=True), links


@given(digraphs())
@settings(deadline=None)
def test_links_of_a_node_are_a_slice(case):
    net, links = case
    assert net.link_count == len(links)
    for u in range(net.node_count):
        assert [links[i] for i in net.out_links(u)] == [link for link in links if link[0] == u]
    assert net.out_degree.tolist() == [sum(u == s for s, _ in links) for u in range(net.node_count)]
    assert net.in_degree.tolist() == [sum(u == t for _, t in links) for u in range(net.node_count)]
    assert net.degree == max(net.out_degree)


@given(digraphs())
@settings(deadline=None)
def test_reverse_link_and_link_between_find_links_by_their_ends(case):
    net, links = case
    number = {link: i for i, link in enumerate(links)}
    assert net.reverse_link.tolist() == [number.get((v, u), -1) for u, v in links]
    for u in range(net.node_count):
        for v in range(net.node_count):
            if (u, v) in number:
                assert net.link_between(u, v) == number[u, v]
            else:
                with pytest.raises(NetworkError, match="has no link from node"):
                    net.link_between(u, v)


@given(digraphs())
@settings(deadline=None)
def test_breadth_first_gives_networkx_distances_and_a_tree_of_shortest_paths(case):
    net, links = case
    graph = nx.DiGraph(links)
    graph.add_nodes_from(range(net.node_count))
    for source in range(net.node_count):
        search = net.breadth_first(source)
        expected = nx.single_source_shortest_path_length(graph, source)
        assert search.distance.tolist() == [expected.get(v, -1) for v in range(net.node_count)]
        assert sorted(search.order.tolist()) == sorted(expected)
        assert (np.diff(search.distance[search.order]) >= 0).all()
        for v in range(net.node_count):
            link = search.parent_link[v]
            if search.distance[v] > 0:
                assert net.link_target[link] == v
                assert search.distance[net.link_source[link]] == search.distance[v] - 1
            else:
                assert link == -1
        if len(expected) < net.node_count:
            with pytest.raises(NetworkError, match="not connected"):
                net.eccentricity(source)
        else:
            assert net.eccentricity(source) == max(expected.values())


@pytest.mark.parametrize("spec", ["torus:4x3", "torus:2x5", "star:4", "butterfly:3", "circulant:12,2,3,6", "ring:2"])
def test_reverse_link_by_generators_agrees_with_the_search_by_ends(spec):
    net = parse(spec)
    plain = Network("plain", net.node_count, net.link_source, net.link_target, links_only=True)
    assert np.array_equal(net.reverse_link, plain.reverse_link)
    assert (net.reverse_link >= 0).all()


def test_reverse_link_of_a_one_way_cayley_network_is_minus_one():
    one_way = Network("one-way ring", 5, range(5), [1, 2, 3, 4, 0], structures=[CayleyGroup(AbelianGroup((5,)))])
    assert one_way.reverse_link.tolist() == [-1] * 5


@pytest.mark.parametrize(
    "spec", ["array:4x3", "torus:5x4", "fat-tree:k=3,h=2", "product:(array:4)x(complete:3)", "ccc:3"]
)
def test_diameter_agrees_with_networkx(spec):
    net = parse(spec)
    assert net.diameter == nx.diameter(to_networkx(net).to_undirected())


def test_diameter_of_a_network_in_two_pieces_is_an_error():
    with pytest.raises(NetworkError, match="no path from node 0 to node 2"):
        _ = Network("pieces", 4, [0, 1, 2, 3], [1, 0, 3, 2], links_only=True).diameter


@pytest.mark.parametrize("net", [ring(6), complete(5), array(3, 4), fat_tree(2, 2, [1, 3]), star(1)], ids=repr)
def test_arrays_cannot_be_written(net):
    for values in (net.link_source, net.link_target, net.link_capacity, net.first_link, net.reverse_link):
        assert not values.flags.writeable
    if net.coordinates is not None:
        assert not net.coordinates.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        net.first_link[0] = 1


def test_equal_networks_have_equal_links_whatever_they_are_called():
    assert ring(4) != torus(2, 2)
    assert ring(6) == parse("extended-ring:6,1")
    assert hash(ring(6)) == hash(parse("circulant:6,1"))
    assert ring(6).fingerprint == parse("torus:6").fingerprint
    assert ring(6) != ring(7)
    assert fat_tree(2, 2) != fat_tree(2, 2, "exponential")
    assert ring(4) != "ring:4"


def test_equality_counts_terminals():
    links = ([0, 1, 1, 2], [1, 0, 2, 1])
    assert Network("a", 3, *links) != Network("a", 3, *links, terminal_count=2)


def test_a_capacity_array_of_one_value_is_uniform():
    assert Network("a", 2, [0, 1], [1, 0], [3, 3]).uniform_capacity == 3
    assert Network("a", 2, [0, 1], [1, 0], [3, 3]) == Network("a", 2, [0, 1], [1, 0], 3)
    assert Network("a", 2, [0, 1], [1, 0], [3, 4]).uniform_capacity is None
    assert Network("a", 2, [0, 1], [1, 0], [3, 4]).link_capacity.tolist() == [3, 4]
    assert Network("a", 1, [], [], []).uniform_capacity == 1


def test_names_come_from_labels_then_coordinates_then_numbers():
    assert torus(3, 4).node_name(7) == "(1,3)"
    assert torus(3, 4).link_name(0) == "(0,0)->(1,0)"
    assert complete(4).node_name(2) == "2"
    named = Network("pair", 2, [0, 1], [1, 0], labels=["left", "right"], structures=[Coordinates(np.array([[0], [1]]))])
    assert named.link_name(1) == "right->left"


def test_grid_coordinates_are_the_digits_of_the_node_number():
    grid = Grid((3, 1, 4), (True, False, True))
    assert grid.strides == (4, 4, 1)
    assert grid.dimensions == 3
    net = torus(3, 1, 4)
    assert net.grid == grid
    assert np.array_equal(net.coordinates @ np.array(grid.strides), np.arange(12))
    assert (net.coordinates < np.array(grid.sides)).all()


@pytest.mark.parametrize(
    ("value", "number"),
    [(7, 7), (np.int32(7), 7), ("7", 7), ((1, 3), 7), ([1, 3], 7), ("(1,3)", 7), (" ( 1, 3 ) ", 7), ((0, 0), 0)],
)
def test_a_node_is_found_by_number_coordinates_or_printed_name(value, number):
    assert torus(3, 4).node(value) == number


def test_names_of_nodes_come_before_numbers():
    named = Network("pair", 2, [0, 1], [1, 0], labels=["1", "(0,0)"])
    assert [named.node(v) for v in ("1", "0", 1, "(0,0)")] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "value",
    [12, -1, True, 1.0, None, "12", "(1,4)", "(1)", "(1,2,3)", (1, 4), (1,), "x", ("a", 2), [[1], 3], (10**30, 0)],
)
def test_what_names_no_node_is_refused_in_one_line(value):
    with pytest.raises(NetworkError, match=r"'torus:3x4'.*(has no node|is outside 0\.\.11)") as caught:
        torus(3, 4).node(value)
    assert "\n" not in str(caught.value)


def test_repr_tells_the_spec_and_the_sizes():
    assert repr(torus(4, 4)) == "<Network torus:4x4: 16 nodes, 64 links>"


def test_a_network_without_a_group_has_no_generators():
    with pytest.raises(NetworkError, match="'array:3x3' has no group"):
        _ = array(3, 3).generators


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, [], []), {}, "has 0 nodes"),
        ((2, [0, 1], [1]), {}, "of one length"),
        ((2, [[0, 1]], [[1, 0]]), {}, "one-dimensional"),
        ((2, [0, 1], [1, 0], [1, 1, 1]), {}, "of one length"),
        ((2, [0, 1], [1, 2]), {}, "a link end is node 2, outside 0..1"),
        ((2, [-1, 1], [1, 0]), {}, "a link end is node -1"),
        ((2, [1, 0], [0, 1]), {}, "sorted by source"),
        ((2, [0, 1], [1, 1]), {}, "node 1 has a link to itself"),
        ((2, [0, 1], [1, 0], 0), {}, "capacities must be at least 1"),
        ((2, [0, 1], [1, 0], [1, -2]), {}, "capacities must be at least 1"),
        ((2, [0, 1], [1, 0]), {"terminal_count": 3}, "terminal_count must be 1..2, got 3"),
        ((2, [0, 1], [1, 0]), {"terminal_count": 0}, "terminal_count must be 1..2, got 0"),
        ((2, [0, 1], [1, 0]), {"structures": [CayleyGroup(AbelianGroup((3,)))]}, "3 elements for 2 nodes"),
        ((2, [0, 1], [1, 0]), {"labels": ["a"]}, "1 labels are given for 2 nodes"),
        ((2, [0, 1], [1, 0]), {"structures": [Coordinates(np.array([0, 1]))]}, "one row for each of 2 nodes"),
        ((3, [0, 0, 0], [1, 2, 1]), {}, "the link from 0 to 1 is given twice"),
        ((30, [0] * 21, [*range(1, 20), 7, 20]), {}, "the link from 0 to 7 is given twice"),
        ((2, [0, 1], [1, 2**32]), {}, "at most 32 bits"),
        ((2, [0, 1], [1, 0.5]), {}, "must be integers, got float64"),
    ],
)
def test_malformed_networks_are_refused_in_one_line(arguments, options, message):
    with pytest.raises(NetworkError, match=message) as caught:
        Network("bad", *arguments, **options)
    assert "\n" not in str(caught.value)
    assert "'bad'" in str(caught.value)


@pytest.mark.parametrize("node", [-1, 4, 10**12])
def test_nodes_out_of_range_are_refused(node):
    net = ring(4)
    for ask in (net.out_links, net.distances, net.breadth_first, net.eccentricity):
        with pytest.raises(NetworkError, match=rf"node {node} is outside 0\.\.3"):
            ask(node)
    for ends in ((node, 0), (0, node)):
        with pytest.raises(NetworkError, match=rf"node {node} is outside 0\.\.3"):
            net.link_between(*ends)
