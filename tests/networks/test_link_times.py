"""Occupancies and latencies of links: what networks hold of them and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import NetworkError
from gossamer.networks import Network, Speeds


def fast_rows() -> Network:
    """Return a torus whose first dimension takes four slots a hop."""
    return gossamer.network("torus:4x4").with_times(np.tile([4, 4, 1, 1], 16), 0)


def test_a_network_with_times_is_another_network():
    plain, timed = gossamer.network("torus:4x4"), fast_rows()
    assert plain.plain
    assert not timed.plain
    assert timed != plain
    assert timed.without_time == plain
    assert timed.without_time.find(gossamer.networks.Grid) == plain.grid


def test_links_alike_at_every_node():
    assert gossamer.network("torus:4x4").alike
    assert fast_rows().alike
    one = np.ones(64, int)
    one[3] = 2
    assert not gossamer.network("torus:4x4").with_times(one, 0).alike


def test_one_slow_direction_makes_a_network_one_way():
    network = Network("x", 3, [0, 1, 1, 2], [1, 0, 2, 1], link_latency=[0, 3, 0, 0])
    assert not network.two_way
    turned = network.transposed
    assert [turned.link_latency[turned.link_between(u, v)] for u, v in ((0, 1), (1, 0))] == [3, 0]
    assert turned.transposed == network


def test_parallel_links_that_differ():
    network = Network("x", 2, [0, 0, 1, 1], [1, 1, 0, 0], link_occupancy=[1, 2, 2, 1])
    assert network.parallel
    assert network.two_way
    assert network.reverse_link.tolist() == [3, 2, 1, 0]


def test_speeds_follow_the_links_turned_round():
    speeds = Speeds(np.array([1e9, 2e9, 3e9]), np.zeros(3))
    network = Network("x", 3, [0, 1, 2], [1, 2, 0], structures=[speeds])
    turned = network.transposed
    found = turned.find(Speeds)
    assert found is not None
    assert {
        (int(v), int(u)): b for u, v, b in zip(turned.link_source, turned.link_target, found.bandwidth, strict=True)
    } == {
        (0, 1): 1e9,
        (1, 2): 2e9,
        (2, 0): 3e9,
    }
    assert network != Network("x", 3, [0, 1, 2], [1, 2, 0])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"link_occupancy": [1, 0]}, "occupancies must be at least 1"),
        ({"link_latency": [0, -1]}, "latencies must be at least 0"),
        ({"link_latency": [0]}, "latencies must be one for each of 2 links"),
        ({"link_occupancy": [1.5, 1]}, "occupancies must be integers"),
        (
            {"structures": [Speeds(np.ones(3), np.zeros(3))]},
            "speeds need a bandwidth and a latency for each of 2 links",
        ),
    ],
)
def test_what_is_refused(columns, message):
    with pytest.raises(NetworkError, match=message):
        Network("x", 2, [0, 1], [1, 0], **columns)


@pytest.mark.parametrize(
    ("bandwidth", "latency"), [([0.0], [0.0]), ([1.0], [-1.0]), ([np.inf], [0.0]), ([np.nan], [0.0])]
)
def test_speeds_are_finite(bandwidth, latency):
    with pytest.raises(NetworkError, match="of every link must be a finite number"):
        Speeds(np.array(bandwidth), np.array(latency))


def test_alike_parallel_links_are_one_of_more_capacity():
    with pytest.raises(NetworkError, match="given twice with the same times; give it more capacity"):
        Network("x", 2, [0, 0, 1, 1], [1, 1, 0, 0], link_occupancy=[2, 2, 2, 1])
