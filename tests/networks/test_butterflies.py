"""Cube-connected cycles and wrapped butterflies against their textbook definitions and known diameters."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from gossamer.errors import NetworkError
from gossamer.networks import butterfly, cube_connected_cycles, ring, to_networkx


def links(net):
    return set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))


@pytest.mark.parametrize("d", range(1, 6))
def test_cube_connected_cycles_follow_preparata_and_vuillemin(d):
    net = cube_connected_cycles(d)
    expected = set()
    for w, p in itertools.product(range(1 << d), range(d)):
        u = w * d + p
        expected |= {(u, w * d + (p + 1) % d), (u, w * d + (p - 1) % d), (u, (w ^ (1 << p)) * d + p)}
    assert links(net) == {(u, v) for u, v in expected if u != v}
    assert np.array_equal(net.coordinates @ np.array([d, 1]), np.arange(net.node_count))


@pytest.mark.parametrize("d", range(1, 6))
def test_butterfly_joins_ranks_straight_and_across(d):
    net = butterfly(d)
    expected = set()
    for w, p in itertools.product(range(1 << d), range(d)):
        u, on = w * d + p, (p + 1) % d
        for v in (w * d + on, (w ^ (1 << p)) * d + on):
            expected |= {(u, v), (v, u)}
    assert links(net) == {(u, v) for u, v in expected if u != v}


def test_tiny_sizes_drop_coinciding_generators():
    for two in (cube_connected_cycles(1), butterfly(1)):
        assert two.link_target.tolist() == [1, 0]
    assert nx.is_isomorphic(to_networkx(cube_connected_cycles(2)), to_networkx(ring(8)))
    assert butterfly(2).degree == 3


@pytest.mark.parametrize("d", range(3, 9))
def test_diameters_are_the_known_ones(d):
    assert butterfly(d).diameter == 3 * d // 2
    assert cube_connected_cycles(d).diameter == (6 if d == 3 else 2 * d + d // 2 - 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cube_connected_cycles(0), "ccc: d must be a whole number of at least 1, got 0"),
        (lambda: cube_connected_cycles(40), "ccc: the network would have 131941395333120 links"),
        (lambda: butterfly(10**8), "butterfly: the network would have more than 10\\^18 links"),
        (lambda: butterfly("4"), "butterfly: d must be a whole number of at least 1, got '4'"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(call, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
