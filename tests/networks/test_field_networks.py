"""Finite fields, and the slim flies and PolarFlies that are drawn with them."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from gossamer.errors import NetworkError
from gossamer.networks import network_size, parse, polarfly, slim_fly, to_networkx
from gossamer.networks.diameter_two import FiniteField, prime_power

PRIME_POWERS = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 27]


@pytest.mark.parametrize("q", PRIME_POWERS)
def test_the_elements_are_a_field(q):
    field = FiniteField(*prime_power(q, "test", 2, 100))
    e = np.arange(q)
    total, times = field.add(e[:, None], e), field.multiply(e[:, None], e)
    for table in (total, times):
        assert np.array_equal(table, table.T)
    assert np.array_equal(field.multiply(e[:, None, None], total), field.add(times[:, :, None], times[:, None, :]))
    assert np.array_equal(field.multiply(times[:, :, None], e), field.multiply(e[:, None, None], times))
    assert all(sorted(row) == e.tolist() for row in total)
    assert all(sorted(row[1:]) == e[1:].tolist() for row in times[1:])
    assert np.array_equal(field.multiply(field.inverse(e[1:]), e[1:]), np.ones(q - 1))
    assert not field.add(field.subtract(0, e), e).any()
    assert sorted(field.powers) == e[1:].tolist()


def test_fields_of_prime_order_are_the_integers_modulo_it():
    e = np.arange(13)
    field = FiniteField(13, 1)
    assert np.array_equal(field.multiply(e[:, None], e), e[:, None] * e % 13)
    assert np.array_equal(field.add(e[:, None], e), (e[:, None] + e) % 13)


def slim_fly_by_definition(q):
    """Return the graph for a prime q, by integers modulo q and the first primitive root."""
    root = next(z for z in range(1, q) if len({z**i % q for i in range(q - 1)}) == q - 1)
    if q % 4 == 1:
        first = [root**i % q for i in range(0, q - 1, 2)]
    else:
        w = (q + 1) // 4
        first = [root**i % q for i in [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]]
    second = [root * x % q for x in first]
    graph = nx.Graph()
    for x, y, z in itertools.product(range(q), repeat=3):
        if (y - z) % q in first:
            graph.add_edge((0, x, y), (0, x, z))
        if (y - z) % q in second:
            graph.add_edge((1, x, y), (1, x, z))
        graph.add_edge((0, x, (y * x + z) % q), (1, y, z))
    return graph


@pytest.mark.parametrize("q", [3, 5, 7, 11, 13])
def test_slim_flies_of_primes_are_those_of_the_definition(q):
    net = slim_fly(q)
    place = [tuple(c) for c in net.coordinates.tolist()]
    assert {frozenset((place[u], place[v])) for u, v in to_networkx(net).edges} == {
        frozenset(e) for e in slim_fly_by_definition(q).edges
    }


@pytest.mark.parametrize(("q", "delta"), [(3, -1), (4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (16, 0), (25, 1), (27, -1)])
def test_slim_flies_have_their_degree_and_diameter_2(q, delta):
    net = slim_fly(q)
    assert network_size(net.spec) == (net.node_count, net.link_count) == (2 * q * q, q * q * (3 * q - delta))
    assert set(net.out_degree.tolist()) == {(3 * q - delta) // 2}
    assert net.two_way
    assert {net.eccentricity(v) for v in (0, q * q - 1, q * q, 2 * q * q - 1)} == {2}


def test_the_slim_fly_of_five_is_the_hoffman_singleton_graph():
    graph = to_networkx(slim_fly(5)).to_undirected()
    assert nx.girth(graph) == 5  # the only 7-regular graph of diameter 2 and girth 5
    assert nx.is_isomorphic(graph, nx.hoffman_singleton_graph())


@pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 9])
def test_polarflies_join_orthogonal_points(q):
    net = polarfly(q)
    field = FiniteField(*prime_power(q, "test", 2, 100))
    points = net.coordinates
    terms = field.multiply(points[:, None, :], points[None, :, :])
    product = field.add(field.add(terms[..., 0], terms[..., 1]), terms[..., 2])
    adjacent = np.zeros(product.shape, bool)
    adjacent[net.link_source, net.link_target] = True
    assert np.array_equal(adjacent, (product == 0) & ~np.eye(len(points), dtype=bool))
    assert network_size(net.spec) == (net.node_count, net.link_count) == (q * q + q + 1, (q + 1) * (q * q + q))
    assert sorted(np.unique(net.out_degree, return_counts=True)[1].tolist()) == sorted([q + 1, q * q])
    assert net.diameter == 2


def test_there_is_one_way_of_two_hops_between_points_of_a_polarfly():
    net = polarfly(7)
    adjacent = np.zeros((net.node_count,) * 2, np.int64)
    adjacent[net.link_source, net.link_target] = 1
    assert (adjacent @ adjacent)[~np.eye(net.node_count, dtype=bool)].max() == 1


@pytest.mark.parametrize("family", [slim_fly, polarfly])
def test_terminals_hang_below_the_routers(family):
    bare, full = family(4), family(4, p=3)
    n = bare.node_count
    assert (full.terminal_count, full.node_count) == (3 * n, 4 * n)
    assert network_size(full.spec) == (full.node_count, full.link_count)
    below = full.link_target[: 3 * n]
    assert below.tolist() == [3 * n + t // 3 for t in range(3 * n)]
    inside = (full.link_source >= 3 * n) & (full.link_target >= 3 * n)
    assert np.array_equal(full.link_target[inside] - 3 * n, bare.link_target)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("slim-fly:6", "slim-fly: q must be a prime power, got 6; the nearest are 5 and 7"),
        ("slim-fly:2", "slim-fly: q must be a whole number in 3..512, got 2"),
        ("slim-fly:513", "q must be a whole number in 3..512, got 513"),
        ("slim-fly:511", "the nearest are 509 and 512"),
        ("slim-fly:512", "the network would have 402653184 links"),
        ("slim-fly:q=5,p=99999999", "the network would have"),
        ("polarfly:1", "q must be a whole number in 2..1024, got 1"),
        ("polarfly:10", "q must be a prime power, got 10; the nearest are 9 and 11"),
        ("polarfly:1021", "the network would have"),
        ("polarfly:q=3,d=2", "unknown parameter 'd'"),
        ("polarfly:3.5", "expected an integer, got '3.5'"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)
