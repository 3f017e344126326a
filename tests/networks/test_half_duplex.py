"""Half-duplex cables: what they cost, that nothing runs both ways at once, and how files tell them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NetworkError
from gossamer.networks import Network, Speeds, half_duplex, read_edge_list, read_network, write_network
from gossamer.schedules import Schedule, expand
from gossamer.verification import verify


def most_on_a_cable(schedule):
    """Return the most packets that are on a cable in one slot, either way, counted hop by hop."""
    net = schedule.network
    busy = Counter()
    for slot, link in zip(schedule.slot.tolist(), schedule.link.tolist(), strict=True):
        ends = sorted((int(net.link_source[link]), int(net.link_target[link])))
        for t in range(slot, slot + int(net.link_occupancy[link])):
            busy[(*ends, t)] += 1
    return max(busy.values())


@pytest.mark.parametrize(
    ("spec", "word", "steps"),
    # every cable is busy all the time: as many steps as hops for each
    [
        ("array:2", "allgather", 2),
        ("ring:4", "alltoall", 4),
        ("torus:4x4", "alltoall", 16),
        ("complete:5", "alltoall", 2),
    ],
)
def test_a_cable_that_takes_turns_takes_twice_as_long(spec, word, steps):
    half = half_duplex(gossamer.network(spec))
    found = gossamer.plan(half, word)
    assert found.completion_time == found.bound == steps
    assert 2 * gossamer.plan(spec, word).completion_time == steps
    assert most_on_a_cable(expand(found.schedule)) == 1


@pytest.mark.parametrize("word", ["allgather", "alltoall", "allreduce", "scatter", "broadcast"])
@pytest.mark.parametrize("spec", ["jellyfish:n=10,d=3,seed=1", "array:3x3", "leaf-spine:leaves=3,spines=2,hosts=2"])
def test_nothing_runs_both_ways_at_once(spec, word):
    half = half_duplex(gossamer.network(spec).with_times(2, 1))
    found = gossamer.plan(half, word)
    assert most_on_a_cable(expand(found.schedule)) == 1
    assert found.completion_time >= found.bound


def test_the_checker_refuses_what_meets_on_a_cable():
    full = gossamer.network("array:2")
    both = expand(gossamer.plan(full, "allgather").schedule)
    half = half_duplex(full)
    moved = Schedule(half, both.task, both.rules, both.slot, both.link, both.packet)
    assert "shared port" in str(verify(moved))
    assert verify(both).ok


def test_an_edge_list_says_so(tmp_path):
    path = tmp_path / "bus.edges"
    path.write_text("half-duplex\ncolumns source target capacity bandwidth latency\na b 1 50GB/s 1us\nb c 2 25GB/s\n")
    net = read_edge_list(path)
    ports = net.shared_ports
    assert ports.sending.tolist() == ports.receiving.tolist() == [0, 0, 1, 1]
    assert ports.capacity.tolist() == [1, 2]
    assert ports.bandwidth.tolist() == [50e9, 25e9]
    write_network(net, tmp_path / "again.edges")
    assert read_network(tmp_path / "again.edges") == net
    cost = gossamer.TimeCost(bytes="50kB")  # a microsecond over the first cable
    found = gossamer.plan(net, "allgather", cost=cost)
    assert abs(found.seconds - 4e-6) < 1e-8  # a to b in 2 us, on to c in 2 more; three messages take turns on a-b


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half-duplex\none-way\n0 1\n", "half-duplex cables need links both ways"),
        ("0 1\nhalf-duplex\n", "line 2: a line 'half-duplex' must stand before the edges"),
        ("half-duplex\ncolumns source target source-port\n0 1 p\n", "links of .* share ports"),
    ],
)
def test_what_cannot_take_turns_is_refused(tmp_path, text, message):
    path = tmp_path / "bad.edges"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_edge_list(path)
    assert "\n" not in str(caught.value)
    assert "bad.edges" in str(caught.value)


def test_speeds_stay():
    speeds = Speeds(np.array([1e9, 1e9]), np.array([1e-6, 1e-6]))
    net = half_duplex(Network("pair", 2, [0, 1], [1, 0], structures=[speeds], links_only=True))
    assert net.shared_ports.bandwidth.tolist() == [1e9]
    with pytest.raises(NetworkError, match="share ports, so its cables"):
        half_duplex(net)
