"""HyperX networks and flattened butterflies: Hamming graphs of routers."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from gossamer.errors import NetworkError
from gossamer.networks import flattened_butterfly, generalized_hypercube, hyperx, network_size, parse, to_networkx


def hamming_graph(*sides):
    graph = nx.Graph()
    words = list(itertools.product(*map(range, sides)))
    graph.add_nodes_from(words)
    for u, v in itertools.combinations(words, 2):
        differ = [i for i, (a, b) in enumerate(zip(u, v, strict=True)) if a != b]
        if len(differ) == 1:
            graph.add_edge(u, v, dimension=differ[0])
    return graph


@pytest.mark.parametrize("sides", [(4, 8), (3,), (2, 3, 4), (1, 5), (1,)])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("p", [0, 2])
def test_routers_are_a_hamming_graph_with_the_capacity_of_the_dimension(sides, wide, p):
    capacity = tuple(range(2, 2 + len(sides))) if wide else 1
    net = hyperx(sides, capacity, p)
    routers = math.prod(sides)
    first = routers * p
    graph = hamming_graph(*sides)
    number = {w: first + i for i, w in enumerate(itertools.product(*map(range, sides)))}
    expected = {(number[u], number[v], capacity[d] if wide else 1) for u, v, d in graph.edges(data="dimension")}
    columns = (net.link_source, net.link_target, net.link_capacity)
    links = set(zip(*(c.tolist() for c in columns), strict=True))
    assert {(u, v, c) for u, v, c in links if first <= u < v} == expected
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert net.two_way
    assert parse(net.spec) == net
    assert parse(net.spec).spec == net.spec
    assert net.diameter == sum(s > 1 for s in sides) + (2 if p else 0)


def test_a_plain_one_is_the_generalized_hypercube_with_factors_and_group():
    net = hyperx((4, 8))
    assert net == generalized_hypercube(4, 8)
    assert net.group == generalized_hypercube(4, 8).group
    assert [f.spec for f in net.factors] == ["complete:4", "complete:8"]


def test_wider_ones_keep_the_group():
    net = hyperx((3, 2, 4), (1, 2, 3))
    node = np.arange(net.node_count)
    table = net.link_target.reshape(net.node_count, net.degree)
    assert np.array_equal(table, net.group.compose(node[:, None], net.generators))
    assert hyperx((3, 4), 2).alike
    assert not net.alike  # not all links look the same


@pytest.mark.parametrize(("k", "n"), [(2, 2), (4, 2), (3, 3), (2, 5)])
def test_flattened_butterflies_have_k_terminals_at_each_router_of_a_hypercube_of_side_k(k, n):
    net = flattened_butterfly(k, n)
    assert net == hyperx((k,) * (n - 1), p=k)
    assert net.terminal_count == k**n
    assert set(net.out_degree[k**n :].tolist()) == {k + (n - 1) * (k - 1)}  # the radix of the source
    assert nx.is_isomorphic(
        to_networkx(net).subgraph(range(k**n, net.node_count)).to_undirected(), hamming_graph(*[k] * (n - 1))
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hyperx:sides=4x0", "a side must be a whole number of at least 1, got 0"),
        ("hyperx:sides=", "expected an integer, got an empty parameter"),
        ("hyperx:p=2", "sides is missing"),
        ("hyperx:4x8,capacity=1x2x3", "capacity needs 1 number or 2, one for each side, got 3"),
        ("hyperx:4x8,capacity=0", "a capacity must be a whole number in 1..2147483647, got 0"),
        ("hyperx:4x8,capacity=1.5", "expected an integer, got '1.5'"),
        ("hyperx:4x8,p=-2", "p must be a whole number of at least 0, got -2"),
        ("hyperx:99999x99999", "the network would have"),
        ("flattened-butterfly:1,3", "k must be a whole number of at least 2, got 1"),
        ("flattened-butterfly:3,1", "n must be a whole number of at least 2, got 1"),
        ("flattened-butterfly:10,99999999", "more than 10.18 links"),
        ("flattened-butterfly:4", "1 parameter given"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("sides", ["4x8", 4, (), None])
def test_sides_that_are_no_sequence_are_refused(sides):
    with pytest.raises(NetworkError, match="sides must be a sequence"):
        hyperx(sides)
