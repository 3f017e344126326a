"""Networks drawn at random: regular, connected, the same for one seed."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import jellyfish, network_size, parse, to_networkx, xpander
from gossamer.networks.random_networks import _connected, _regular


@given(st.integers(1, 16), st.data())
@settings(deadline=None, max_examples=60)
def test_jellyfish_are_regular_connected_and_simple(n, data):
    d = data.draw(st.integers(min(2, n - 1), n - 1).filter(lambda d: n * d % 2 == 0))
    net = jellyfish(n, d, data.draw(st.integers(0, 2**40)))
    graph = to_networkx(net).to_undirected()
    assert set(net.out_degree.tolist()) == {d}
    assert nx.is_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert network_size(net.spec) == (net.node_count, net.link_count) == (n, n * d)
    assert parse(net.spec) == net


def test_a_seed_names_a_network():
    assert jellyfish(30, 3, 5) == jellyfish(30, 3, 5)
    assert jellyfish(30, 3, 5) != jellyfish(30, 3, 6)
    assert xpander(4, 5, 1) != xpander(4, 5, 2)
    assert jellyfish(6, 2, 1).link_target.tolist() == [2, 4, 3, 5, 0, 3, 1, 2, 0, 5, 1, 4]  # whatever the version


def test_all_six_rings_of_five_nodes_come_up_alike():
    seen = {jellyfish(4, 2, seed).fingerprint for seed in range(60)}
    assert len(seen) == 3  # the rings of four nodes
    assert len({jellyfish(5, 2, seed).fingerprint for seed in range(200)}) == 12


def test_random_networks_are_near_the_best_diameter():
    assert jellyfish(200, 8).diameter <= 4  # 1 + 8 + 8*7 < 200: 3 is the least
    assert jellyfish(3000, 3, 1).eccentricity(0) < 2 * np.log2(3000)


def test_parts_that_are_not_connected_are_joined_by_trades():
    triangles = np.array([[3 * i + j, 3 * i + (j + 1) % 3] for i in range(4) for j in range(3)])
    ends = _connected(12, triangles, np.random.default_rng(1))
    graph = nx.Graph(ends.tolist())
    assert sorted(d for _, d in graph.degree) == [2] * 12
    assert nx.is_connected(graph)


@pytest.mark.parametrize(("n", "d"), [(5, 2), (7, 2), (5, 0), (40, 19), (9, 4)])
def test_pairs_that_cannot_be_mended_are_drawn_again(n, d):
    for seed in range(40):
        ends = _regular(n, d, np.random.default_rng(seed))
        graph = nx.Graph(ends.tolist())
        graph.add_nodes_from(range(n))
        assert {k for _, k in graph.degree} == {d}


@pytest.mark.parametrize(("d", "k"), [(3, 1), (3, 2), (3, 7), (5, 8), (8, 3)])
def test_xpanders_are_lifts_of_complete_networks(d, k):
    net = xpander(d, k, seed=3, p=2)
    first = net.terminal_count
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert (first, net.node_count) == (2 * (d + 1) * k, 3 * (d + 1) * k)
    inside = (net.link_source >= first) & (net.link_target >= first)
    part = (np.arange(net.node_count) - first) // k
    ends = np.stack([net.link_source[inside], part[net.link_target[inside]]], axis=1)
    assert len(np.unique(ends, axis=0)) == len(ends) == (d + 1) * k * d  # one link to each other part
    assert (part[net.link_source[inside]] != ends[:, 1]).all()
    assert nx.is_connected(to_networkx(net).to_undirected())


def test_an_xpander_expands():
    net = xpander(6, 20)
    graph = nx.adjacency_matrix(to_networkx(net).to_undirected(), weight=None).toarray()
    second = np.sort(np.abs(np.linalg.eigvalsh(graph)))[-2]
    assert second < 1.25 * 2 * np.sqrt(6 - 1)  # 2 sqrt(d-1) is the best that large networks can have


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("jellyfish:n=5,d=3", r"n\*d must be even, got 5\*3; take 6 routers or degree 2"),
        ("jellyfish:n=5,d=5", "d must be a whole number in 0..4, got 5"),
        ("jellyfish:n=8,d=1", "8 routers of degree 1 are not connected; d is at least 2"),
        ("jellyfish:n=0,d=0", "n must be a whole number of at least 1, got 0"),
        ("jellyfish:n=8,d=3,seed=-1", "seed must be a whole number in 0..9223372036854775807, got -1"),
        ("jellyfish:n=100000000,d=50", "the network would have 5000000000 links"),
        ("xpander:d=2,k=4", "d must be a whole number of at least 3, got 2"),
        ("xpander:d=4,k=0", "k must be a whole number of at least 1, got 0"),
        ("xpander:d=4,k=2,seed=x", "expected an integer, got 'x'"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


def test_random_regular_is_another_name():
    assert parse("random-regular:20,3,7").spec == "jellyfish:n=20,d=3,seed=7"
