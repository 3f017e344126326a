"""Circulants, extended rings and complete networks: NetworkX's graphs and the formulas of Dimakopoulos 1996."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import AbelianGroup, circulant, complete, extended_ring, ring, to_networkx


@st.composite
def connected_circulants(draw):
    n = draw(st.integers(2, 30))
    jumps = draw(st.lists(st.integers(1, n - 1), min_size=1, max_size=5, unique_by=lambda s: min(s, n - s)))
    assume(math.gcd(n, *jumps) == 1)
    return n, jumps


@given(connected_circulants())
@settings(deadline=None)
def test_circulant_is_networkx_circulant_graph(case):
    n, jumps = case
    net = circulant(n, *jumps)
    graph = to_networkx(net)
    assert set(graph.edges) == set(nx.circulant_graph(n, jumps).to_directed().edges)
    assert nx.is_strongly_connected(graph)
    assert net.degree == sum(1 if 2 * s == n else 2 for s in jumps)


@given(connected_circulants(), st.randoms())
@settings(deadline=None)
def test_jumps_may_come_in_any_order_and_from_either_side(case, random):
    n, jumps = case
    other = [random.choice([s, n - s]) for s in jumps]
    random.shuffle(other)
    assert circulant(n, *other) == circulant(n, *jumps)
    assert circulant(n, *other).spec == circulant(n, *jumps).spec


def test_generators_come_in_pairs_by_size():
    assert circulant(13, 5, 1).generators.tolist() == [1, 12, 5, 8]
    assert circulant(12, 2, 6, 3).generators.tolist() == [2, 10, 3, 9, 6]
    assert extended_ring(6, 3).generators.tolist() == [1, 5, 2, 4, 3]
    assert complete(5).generators.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("n", range(2, 40))
def test_extended_ring_formulas_hold_for_every_reach(n):
    for rho in range(1, n // 2 + 1):
        net = extended_ring(n, rho)
        q = (n - 1) // (2 * rho)
        assert net.degree == (2 * rho - 1 if 2 * rho == n else 2 * rho)
        assert net.diameter == -(-(n // 2) // rho)
        assert int(net.distances(0).sum()) == (q + 1) * (n - 1 - rho * q)
        assert net.group == AbelianGroup((n,))


@pytest.mark.parametrize("n", range(2, 12))
def test_ends_of_the_extended_rings_are_the_ring_and_the_complete_network(n):
    assert extended_ring(n, 1) == ring(n)
    assert extended_ring(n, 1).grid == ring(n).grid
    reach_all = extended_ring(n, n // 2)
    assert np.array_equal(np.sort(reach_all.generators), complete(n).generators)
    assert extended_ring(n, 1) == circulant(n, 1)


@pytest.mark.parametrize("n", range(1, 10))
def test_complete_network_joins_every_pair(n):
    net = complete(n)
    links = list(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    assert sorted(links) == [(u, v) for u in range(n) for v in range(n) if u != v]
    assert net.diameter == min(n - 1, 1)
    assert (net.grid is not None) == (n <= 3)
    if n <= 3:
        assert net == ring(n)


@pytest.mark.parametrize(
    ("build", "arguments", "message"),
    [
        (circulant, (1, 1), "circulant: n must be a whole number of at least 2, got 1"),
        (circulant, (13,), "circulant: at least one jump is needed, as in circulant:13,1,5"),
        (circulant, (13, 0), r"circulant: a jump must be a whole number in 1\.\.12, got 0"),
        (circulant, (13, 13), r"circulant: a jump must be a whole number in 1\.\.12, got 13"),
        (circulant, (13, -1), r"circulant: a jump must be a whole number in 1\.\.12, got -1"),
        (circulant, (13, 1, 12), "circulant: jump 12 repeats jump 1 modulo 13"),
        (circulant, (12, 2, 4), "circulant: not connected, because n=12 and every jump are multiples of 2"),
        (circulant, (400_000_000, 1), "circulant: the network would have 800000000 links"),
        (extended_ring, (1, 1), "extended-ring: n must be a whole number of at least 2, got 1"),
        (extended_ring, (14, 0), "extended-ring: rho must be a whole number of at least 1, got 0"),
        (extended_ring, (14, 8), r"extended-ring: rho must be in 1\.\.7 for n=14, got 8 \(nearest: 7\)"),
        (extended_ring, (10**8, 10**7), "extended-ring: the network would have 2000000000000000 links"),
        (complete, (0,), "complete: n must be a whole number of at least 1, got 0"),
        (complete, (10**6,), "complete: the network would have 999999000000 links"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(build, arguments, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        build(*arguments)
    assert "\n" not in str(caught.value)
