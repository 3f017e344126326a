"""Linear arrays, rings, arrays, tori and hypercubes: NetworkX's graphs and formulas of Dimakopoulos 1996."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import AbelianGroup, array, hypercube, linear_array, network_size, parse, ring, torus
from gossamer.networks.network import Grid

sides = st.lists(st.integers(1, 6), min_size=1, max_size=4)


def links(net):
    return set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))


def wrapped(coordinate, side):
    return {(coordinate + 1) % side, (coordinate - 1) % side} - {coordinate}


def inside(coordinate, side):
    return {coordinate + 1, coordinate - 1} & set(range(side))


@given(sides, st.sampled_from([(torus, wrapped), (array, inside)]))
@settings(deadline=None)
def test_neighbors_differ_by_one_in_one_coordinate(sides, family):
    build, neighbors = family
    net = build(*sides)
    number = {tuple(c): i for i, c in enumerate(net.coordinates.tolist())}
    assert len(number) == net.node_count == math.prod(sides)
    expected = set()
    for place, u in number.items():
        for dimension, side in enumerate(sides):
            for moved in neighbors(place[dimension], side):
                expected.add((u, number[(*place[:dimension], moved, *place[dimension + 1 :])]))
    assert links(net) == expected
    assert net.link_count == len(expected)


@given(sides)
@settings(deadline=None)
def test_torus_is_a_cayley_network_whose_sides_of_two_do_not_wrap(sides):
    net = torus(*sides)
    assert net.grid == Grid(tuple(sides), tuple(s >= 3 for s in sides))
    assert net.group == AbelianGroup(tuple(sides))
    assert net.degree == sum(min(s - 1, 2) for s in sides)
    assert net.diameter == sum(s // 2 for s in sides)
    assert int(net.distances(0).max()) == net.diameter


@given(sides)
@settings(deadline=None)
def test_array_degree_histogram_and_diameter(sides):
    net = array(*sides)
    assert net.grid == Grid(tuple(sides), (False,) * len(sides))
    assert net.link_count == sum(2 * (s - 1) * net.node_count // s for s in sides)
    histogram = Counter({0: 1})
    for s in sides:
        ends = {0: 1} if s == 1 else {1: 2, 2: s - 2}
        histogram = Counter({d: sum(histogram[d - e] * k for e, k in ends.items()) for d in range(2 * len(sides) + 1)})
    assert Counter(net.out_degree.tolist()) == +histogram
    assert net.diameter == sum(s - 1 for s in sides) == int(net.distances(0).max())


@pytest.mark.parametrize("n", range(1, 9))
def test_linear_array_and_ring_are_networkx_path_and_cycle(n):
    edges = nx.path_graph(n).edges
    assert links(linear_array(n)) == {p for u, v in edges for p in ((u, v), (v, u))}
    if n >= 3:
        edges = nx.cycle_graph(n).edges
        assert links(ring(n)) == {p for u, v in edges for p in ((u, v), (v, u))}


@pytest.mark.parametrize("n", range(1, 12))
def test_ring_status_and_average_status_of_the_array(n):
    assert int(ring(n).distances(0).sum()) == -(-(n * n - 1) // 4)
    net = linear_array(n)
    assert sum(int(net.distances(v).sum()) for v in range(n)) * 3 == n * (n * n - 1)


@pytest.mark.parametrize("d", range(9))
def test_hypercube_nodes_differ_in_one_bit(d):
    net = hypercube(d)
    assert net.node_count == 2**d
    assert links(net) == {(u, u ^ (1 << k)) for u in range(2**d) for k in range(d)}
    assert net.generators.tolist() == [1 << k for k in reversed(range(d))]
    assert net.diameter == d
    assert int(net.distances(0).sum()) * 2 == d * 2**d
    assert np.bincount(net.distances(0)).tolist() == [math.comb(d, i) for i in range(d + 1)]
    assert net.group == AbelianGroup((2,) * d or (1,))


def test_arrays_tori_and_hypercubes_of_sides_two_are_one_network():
    assert array(2, 2, 2) == torus(2, 2, 2) == hypercube(3)
    assert array(2, 2, 2).group == hypercube(3).group == AbelianGroup((2, 2, 2))
    assert array(2, 3).group is None
    assert array(2, 1).group == AbelianGroup((2, 1))


def test_one_side_is_the_factor_itself():
    assert torus(9).spec == "ring:9"
    assert array(9).spec == "array:9"
    assert array(9) == linear_array(9)


def test_links_go_up_then_down():
    assert ring(5).generators.tolist() == [1, 4]
    assert torus(4, 5).generators.tolist() == [5, 15, 1, 4]
    assert torus(4, 2).generators.tolist() == [2, 6, 1]
    assert linear_array(4).link_target.tolist() == [1, 2, 0, 3, 1, 2]


@pytest.mark.parametrize("build", [ring, linear_array, torus, array])
def test_one_and_two_nodes(build):
    one, two = build(1), build(2)
    assert (one.node_count, one.link_count, one.degree, one.diameter) == (1, 0, 0, 0)
    assert one.generators.tolist() == []
    assert (two.node_count, two.link_target.tolist(), two.diameter) == (2, [1, 0], 1)
    assert two.generators.tolist() == [1]
    assert two.coordinates.tolist() == [[0], [1]]


def test_many_sides_of_one_are_no_obstacle():
    net = torus(*[1] * 100, 3)
    assert net.coordinates.shape == (3, 101)
    assert net.link_count == 6


def test_a_million_node_torus_takes_a_few_bytes_a_link():
    net = torus(100, 100, 100)
    assert net.link_count == 6_000_000
    assert net.nbytes < 12 * net.link_count
    everywhere = np.arange(net.node_count)[::997]
    table = net.link_target.reshape(-1, 6)[everywhere]
    assert np.array_equal(table, net.group.compose(everywhere[:, None], net.generators))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ring(0), "ring: n must be a whole number of at least 1, got 0"),
        (lambda: ring(-5), "ring: n must be a whole number of at least 1, got -5"),
        (lambda: ring(2.5), "ring: n must be a whole number of at least 1, got 2.5"),
        (lambda: ring("8"), "ring: n must be a whole number of at least 1, got '8'"),
        (lambda: ring(True), "ring: n must be a whole number of at least 1, got True"),
        (lambda: ring(10**5000), "ring: n must be at most 400000000, got an integer of thousands of digits"),
        (lambda: ring(300_000_000), "ring: the network would have 600000000 links"),
        (lambda: linear_array(0), "array: n must be a whole number of at least 1, got 0"),
        (lambda: torus(), "torus: at least one side is needed"),
        (lambda: torus(4, 0, 4), "torus: a side must be a whole number of at least 1, got 0"),
        (lambda: array(*[10**6] * 300), "array: the network would have more than 10\\^18 links"),
        (lambda: torus(1000, 1000, 100), "torus: the network would have 600000000 links; at most 400000000"),
        (lambda: hypercube(-1), "hypercube: d must be a whole number of at least 0, got -1"),
        (lambda: hypercube(24), "hypercube: the network would have 402653184 links"),
        (lambda: hypercube(10**8), "hypercube: the network would have more than 10\\^18 links"),
    ],
)
def test_illegal_sizes_are_refused_in_one_line_before_anything_is_built(call, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)


def test_numpy_integers_are_sizes():
    assert torus(np.int64(3), np.int32(4)) == torus(3, 4)


@pytest.mark.parametrize("family", [array, torus])
@pytest.mark.parametrize("sides", [(3, 4), (2, 5), (4, 3, 3), (6,)])
def test_links_of_each_dimension_are_as_wide_and_slow_as_told(family, sides):
    capacity, occupancy, latency = (tuple(range(low, low + len(sides))) for low in (2, 3, 1))
    net = family(*sides, capacity=capacity, occupancy=occupancy, latency=latency)
    plain = family(*sides)
    assert np.array_equal(net.link_target, plain.link_target)
    places = np.stack(np.unravel_index(np.arange(net.node_count), sides), axis=1)
    for link in range(net.link_count):
        differ = np.flatnonzero(places[net.link_source[link]] != places[net.link_target[link]])
        assert len(differ) == 1
        d = int(differ[0])
        told = net.link_capacity[link], net.link_occupancy[link], net.link_latency[link]
        assert told == (capacity[d], occupancy[d], latency[d])
    assert (net.grid, net.group) == (plain.grid, plain.group)
    assert not net.factors  # these have links of capacity 1
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net
    assert parse(net.spec).spec == net.spec


def test_slow_links_of_capacity_one_keep_the_factors():
    net = torus(4, 4, occupancy=(1, 3))
    assert net.factors == torus(4, 4).factors
    assert not net.plain
    assert net.alike
    assert net.without_time == torus(4, 4)


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ("torus:4,4,capacity=2", "torus:4x4,capacity=2"),
        ("torus:4x4,capacity=2x2,latency=0", "torus:4x4,capacity=2"),
        ("torus:4x4,capacity=1x1,occupancy=1", "torus:4x4"),
        ("Mesh: 3 x 4, latency = 0x2, occupancy=2", "array:3x4,occupancy=2,latency=0x2"),
        ("torus:6,capacity=3", "torus:6,capacity=3"),
    ],
)
def test_what_is_said_of_links_is_canonical(given, spec):
    assert parse(given).spec == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("torus:3x4,capacity=1x2x3", "torus: capacity needs 1 number or 2, one for each side, got 3"),
        ("torus:3x4,capacity=0", "torus: a capacity must be a whole number in 1..2147483647, got 0"),
        ("array:3x4,latency=-1", "array: a latency must be a whole number in 0..2147483647, got -1"),
        ("torus:3x4,speed=2", "torus: unknown parameter 'speed'"),
        ("torus:3x4,capacity=2,capacity=3", "torus: parameter capacity is given twice"),
        ("torus:3x4,capacity=2.5", "torus: expected an integer, got '2.5'"),
        ("torus:capacity=2,3x4", "torus: expected an integer, got 'capacity=2'"),
    ],
)
def test_other_links_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)
