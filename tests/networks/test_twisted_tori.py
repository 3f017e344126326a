"""Twisted tori: lattices, diameters, symmetry of the links, and the groups."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import circulant, network_size, parse, to_networkx, torus, twisted_torus
from gossamer.networks.finite_groups import LatticeGroup


def lattice_graph(columns):
    """Return Z^d modulo the lattice of the columns, joined by unit steps; found from the inverse of the matrix."""
    matrix = np.array(columns, float).T
    size = round(abs(np.linalg.det(matrix)))
    inverse = np.linalg.inv(matrix)

    def key(vector):
        fractions = inverse @ np.array(vector, float)
        return tuple(int(x) for x in np.rint((fractions - np.floor(fractions + 1e-9)) * size) % size)

    graph, frontier = nx.Graph(), [(0,) * len(columns)]
    seen = {key(frontier[0])}
    while frontier:
        v = frontier.pop()
        for i, step in itertools.product(range(len(columns)), (1, -1)):
            w = tuple(x + step * (i == j) for j, x in enumerate(v))
            if key(w) != key(v):
                graph.add_edge(key(v), key(w))
            if key(w) not in seen:
                seen.add(key(w))
                frontier.append(w)
    assert len(seen) == size
    return graph


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(
    ("shape", "columns"),
    [
        ((2, 1), [(2, 0), (1, 1)]),
        ((1, 2), [(1, 1), (0, 2)]),
        ((2, 1, 1), [(2, 0, 0), (1, 1, 0), (1, 0, 1)]),  # face-centered cubic
        ((2, 2, 1), [(2, 0, 0), (0, 2, 0), (1, 1, 1)]),  # body-centered cubic
    ],
)
def test_sides_of_n_and_2n_are_the_lattices_of_the_source(n, shape, columns):
    net = twisted_torus([n * s for s in shape])
    expected = lattice_graph([[n * x for x in column] for column in columns])
    assert nx.is_isomorphic(to_networkx(net).to_undirected(), expected)


@pytest.mark.parametrize("n", range(2, 9))
def test_diameters_are_those_of_the_source(n):
    assert twisted_torus((2 * n, n)).diameter == n
    assert twisted_torus((2 * n, n, n)).diameter == 3 * n // 2
    assert twisted_torus((2 * n, 2 * n, n)).diameter == 3 * n // 2
    assert torus(2 * n, n).diameter == n + n // 2


@pytest.mark.parametrize("sides", [(8, 4), (6, 3, 3), (6, 6, 3)])
def test_shortest_ways_load_all_dimensions_alike(sides):
    """All links are alike, which a torus of these sides is not: the fundament of its better balance."""
    net = twisted_torus(sides)
    graph = to_networkx(net).to_undirected()
    between = nx.edge_betweenness_centrality(graph)
    assert max(between.values()) == pytest.approx(min(between.values()))


def test_twists_of_a_flat_side_make_circulants():
    assert twisted_torus((13, 1), ((0, 0), (5, 0))) == circulant(13, 1, 5)


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_lattice_groups_are_groups_and_their_networks_cayley_networks(data):
    sides = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    order = data.draw(st.permutations(range(len(sides))))
    rank = {d: i for i, d in enumerate(order)}
    twists = tuple(
        tuple(data.draw(st.integers(0, s - 1)) if rank[i] > rank[j] else 0 for i, s in enumerate(sides))
        for j in range(len(sides))
    )
    net = twisted_torus(sides, twists)
    group, n = net.group, net.node_count
    a, b, c = np.arange(n)[:, None, None], np.arange(n)[None, :, None], np.arange(n)
    table = group.compose(np.arange(n)[:, None], np.arange(n))
    assert np.array_equal(table[table[a, b], c], table[a, table[b, c]])
    assert np.array_equal(table, table.T)
    assert np.array_equal(table[0], np.arange(n))
    assert not table[np.arange(n), group.inverse(np.arange(n))].any()
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net
    assert parse(net.spec).spec == net.spec
    if n > 1:
        assert np.array_equal(net.link_target.reshape(n, -1), group.compose(np.arange(n)[:, None], net.generators))
        assert nx.is_connected(to_networkx(net).to_undirected())
    columns = [
        [s if i == j else -t for i, t in enumerate(row)] for j, (s, row) in enumerate(zip(sides, twists, strict=True))
    ]
    if n > 2:
        degrees = sorted(d for _, d in to_networkx(net).to_undirected().degree)
        assert degrees == sorted(d for _, d in lattice_graph(columns).degree)


def test_without_twists_it_is_the_torus():
    assert twisted_torus((4, 3, 5), [(0, 0, 0)] * 3) == torus(4, 3, 5)
    assert LatticeGroup((4, 3), ((0, 0), (0, 0))).turns == (0, 1)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("twisted-torus:4x4", "sides 4x4 are not some n and some 2n, so the twists must be given"),
        ("twisted-torus:8x0", "a side must be a whole number of at least 1, got 0"),
        ("twisted-torus:8x4,twists=0,0", "2 sides need 2 rows of 2 twists"),
        ("twisted-torus:8x4,twists=0,0/9,0", "a twist must be a whole number in 0..7, got 9"),
        ("twisted-torus:8x4,twists=1,0/0,0", "dimension 0 is shifted by itself"),
        ("twisted-torus:8x4,twists=0,1/1,0", "dimension 0 is shifted by itself"),
        ("twisted-torus:8x4,twists=0,0/x,0", "expected an integer, got 'x'"),
        ("twisted-torus:20000x10000x10000", "the network would have"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("twists", ["0,0/4,0", 4, [4, 0], [(0, 0), "40"]])
def test_twists_that_are_no_rows_are_refused(twists):
    with pytest.raises(NetworkError, match="twists must be a row of whole numbers for each side"):
        twisted_torus((8, 4), twists)
