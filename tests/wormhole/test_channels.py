"""The channels of arrays and tori."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import NetworkError
from gossamer.wormhole import Channels


@pytest.mark.parametrize(
    ("spec", "wraps"),
    [
        ("torus:4x2x1", (True, True, False)),
        ("torus:2x2", (True, True)),
        ("array:2x2", (False, False)),
        ("hypercube:2", (False, False)),
        ("ring:2", (True,)),
        ("array:5", (False,)),
        ("product:(ring:2)x(array:2)x(torus:3x2)", (True, False, True, True)),
    ],
)
def test_sides_of_two_are_rings_on_tori_only(spec, wraps):
    assert Channels(gossamer.network(spec)).wraps == wraps


@pytest.mark.parametrize("spec", ["torus:4x3", "array:4x3", "torus:3x3x5", "array:6", "array:2x3x2"])
def test_channels_are_the_links_where_no_side_of_a_torus_is_two(spec):
    network = gossamer.network(spec)
    channels = Channels(network)
    assert int(channels.exists.sum()) == network.link_count
    assert np.array_equal(channels.in_degree, network.in_degree)
    names = {channels.name(c) for c in np.flatnonzero(channels.exists)}
    assert names == {network.link_name(k) for k in range(network.link_count)}


def test_rings_of_two_have_parallel_channels():
    channels = Channels(gossamer.network("torus:2x2"))
    assert int(channels.exists.sum()) == 16
    assert channels.name(channels.number(0, 0, 1)) == "(0,0)->(1,0) by +1"
    assert channels.name(channels.number(0, 0, -1)) == "(0,0)->(1,0) by -1"


def test_targets_wrap_and_agree_with_coordinates():
    network = gossamer.network("torus:5x4")
    channels = Channels(network)
    nodes = np.arange(20)
    assert np.array_equal(channels.coordinates(nodes), network.coordinates)
    assert np.array_equal(channels.nodes(network.coordinates), nodes)
    assert channels.target([0, 19], [[-1, 2], [2, 1]]).tolist() == [18, 4]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("fat-tree:k=2,h=2,capacity=exponential", "wormhole messages need links that carry one packet at a time, got "),
        ("ring:2049 without link 0-1", ""),
        ("star:7", "on networks that are no array or torus wormhole messages need at most 2,048 nodes, star:"),
    ],
)
def test_networks_that_are_refused(spec, text):
    if not text:
        assert Channels(gossamer.network("ring:2049")).on_grid
        return
    with pytest.raises(NetworkError) as error:
        Channels(gossamer.network(spec))
    assert str(error.value).startswith(text)


def test_links_that_share_ports_or_take_slots_are_refused():
    """A plan that knew nothing of them would be called optimal."""
    full = gossamer.network("complete:4")
    shared = full.with_ports(gossamer.networks.SharedPorts(full.link_source, full.link_target))
    for network, why in ((shared, "share ports"), (full.with_times(2, 0), "take more than a slot")):
        with pytest.raises(NetworkError, match=f"wormhole messages need plain links; some of complete:4 {why}"):
            gossamer.plan(network, "alltoall", switching="wormhole")
