"""From bytes and bandwidths to slots: times that links can keep, and the numbers that NCCL's tests report."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import gossamer
from gossamer.errors import ModelError, NetworkError
from gossamer.networks import Network, Speeds
from gossamer.questions.costs import Clock, FineTimeCost, TimeCost, clocked
from gossamer.questions.tasks import PartialSumAllreduce


def with_speeds(bandwidth, latency) -> Network:
    """Return a two-way line of nodes whose i-th edge has the i-th bandwidth and latency."""
    ends = [(i, i + 1) for i in range(len(bandwidth))]
    links = sorted([(u, v, i) for i, (u, v) in enumerate(ends)] + [(v, u, i) for i, (u, v) in enumerate(ends)])
    edge = [i for _, _, i in links]
    speeds = Speeds(np.array(bandwidth)[edge], np.array(latency)[edge])
    source, target = ([x[k] for x in links] for k in (0, 1))
    return Network("line", len(ends) + 1, source, target, structures=[speeds], links_only=True)


rates = st.floats(1e6, 1e12)
waits = st.floats(0, 1e-3)


@given(st.lists(st.tuples(rates, waits), min_size=1, max_size=6), st.integers(1, 2**34))
def test_slots_are_long_enough_for_every_link_and_not_much_longer(links, size):
    network = with_speeds(*zip(*links, strict=True))
    found = clocked(network, size)
    speeds = network.find(Speeds)
    for link in range(network.link_count):
        busy = size / Fraction(float(speeds.bandwidth[link]))
        wait = Fraction(float(speeds.latency[link]))
        occupancy, latency = (int(c[link]) for c in (found.network.link_occupancy, found.network.link_latency))
        assert (occupancy - 1) * found.slot < busy <= occupancy * found.slot
        assert (latency - 1) * found.slot < wait <= latency * found.slot
        assert occupancy * found.slot <= busy * (1 + found.rounding)
        assert (occupancy + latency) * found.slot <= (busy + wait) * (1 + found.rounding)


@given(st.integers(1, 2**30), st.fractions(0, Fraction(1, 10**5), max_denominator=10**8))
def test_fine_slots_round_up_by_a_thousandth(size, latency):
    network = gossamer.network("ring:4")
    clocks = [
        kind(size, bandwidth="50GB/s", latency=latency).on(network, PartialSumAllreduce())[1]
        for kind in (TimeCost, FineTimeCost)
    ]
    assert clocks[1].rounding <= max(Fraction(1, 1000), clocks[0].rounding)


def test_equal_links_without_latency_stay_plain():
    network = gossamer.network("torus:4x4")
    found = clocked(network, 10**6, Fraction(10**9))
    assert found.network is network
    assert (found.slot, found.rounding) == (Fraction(1, 1000), 0)


def test_a_slot_divides_the_time_of_the_fastest_link():
    found = clocked(with_speeds([1e9, 4e9], [0, 0]), 4000)
    assert sorted(set(found.network.link_occupancy.tolist())) == [1, 4]
    assert found.slot == Fraction(1, 10**6)
    assert clocked(with_speeds([1e9, 1.5e9], [0, 0]), 3000).slot == Fraction(1, 10**6)


def test_links_of_very_different_speeds_keep_slots_few():
    found = clocked(with_speeds([1e3, 1e12], [0, 0]), 10**6)
    assert int(found.network.link_occupancy.max()) <= 100_000


@pytest.mark.parametrize(
    ("task", "counting", "message", "buffer", "bus"),
    [
        ("allreduce", "mpi", 125, 1000, Fraction(7, 4)),
        ("allreduce", "nccl", 125, 1000, Fraction(7, 4)),
        ("allgather", "mpi", 1000, 8000, Fraction(7, 8)),
        ("allgather", "nccl", 125, 1000, Fraction(7, 8)),
        ("reduce-scatter", "nccl", 125, 1000, Fraction(7, 8)),
        ("alltoall", "mpi", 1000, 8000, Fraction(7, 8)),
        ("broadcast", "nccl", 1000, 1000, Fraction(1)),
        ("scatter", "mpi", 1000, 8000, Fraction(7, 8)),
        ("broadcast", "mpi", 1000, 1000, Fraction(1)),
    ],
)
def test_bytes_as_mpi_and_nccl_count_them(task, counting, message, buffer, bus):
    cost = TimeCost(1000, counting=counting, bandwidth=10**9)
    _, clock = cost.on(gossamer.network("ring:8"), gossamer.task(task))
    assert (clock.message_bytes, clock.buffer_bytes, clock.bus) == (message, buffer, bus)


@pytest.mark.parametrize(
    ("task", "groups", "counting", "message", "buffer", "bus"),
    [
        ("allreduce", [[0, 2, 4, 6]], "mpi", 250, 1000, Fraction(3, 2)),
        ("allreduce", [[0, 1], [2, 3, 4]], "nccl", 500, 1000, None),
        ("allgather", [[0, 1, 2, 3], [4, 5, 6, 7]], "nccl", 250, 1000, Fraction(3, 4)),
        ("allgather", [[0, 1], [2, 3, 4, 5]], "nccl", 250, 1000, None),
        ("alltoall", [[0, 1], [2, 3, 4, 5]], "mpi", 1000, 4000, None),
        ("broadcast", [[0, 1], [2, 3, 4]], "nccl", 1000, 1000, None),
    ],
)
def test_bytes_of_groups_are_counted_among_their_members(task, groups, counting, message, buffer, bus):
    cost = TimeCost(1000, counting=counting, bandwidth=10**9)
    for packets in (1, 5):
        _, clock = cost.on(gossamer.network("ring:8"), gossamer.task(task, groups=groups, packets=packets))
        assert (clock.message_bytes, clock.buffer_bytes, clock.bus) == (message, buffer, bus)
        assert clock.packet_bytes == message // packets


def test_seconds_and_bandwidths_by_hand():
    # a ring of 8 with 50 GB/s a direction: an allgather of 8 MiB a rank takes 4 slots of 8 MiB / 50 GB/s, since two
    # links bring seven messages; in parts it takes 3.5
    parts, found = (
        gossamer.plan("ring:8", "allgather", cost=TimeCost("8MiB", bandwidth="50GB/s", whole=whole))
        for whole in (False, True)
    )
    slot = Fraction(8 * 2**20, 50 * 10**9)
    assert (found.completion_time, found.seconds, parts.seconds) == (4, 4 * slot, Fraction(7, 2) * slot)
    assert (found.bound_seconds, parts.bound_seconds) == (4 * slot, Fraction(7, 2) * slot)
    assert parts.among == ""
    assert found.among == "schedules of unsegmented messages"
    assert found.bandwidth == 64 * 2**20 / (4 * slot)
    assert found.bus_bandwidth == found.bandwidth * Fraction(7, 8)
    told = found.to_dict()
    assert told["seconds"] == float(4 * slot)
    assert told["bus_bandwidth"] == float(found.bus_bandwidth)


def test_chunks_are_packets_of_a_share_of_the_message():
    _, clock = TimeCost(1001, bandwidth=10**9).on(gossamer.network("ring:8"), gossamer.task("broadcast", packets=4))
    assert (clock.message_bytes, clock.packet_bytes) == (1001, 251)


def test_the_clock_in_words():
    clock = Clock(slot_seconds="1/1000000", packet_bytes=500, message_bytes=1000, rounding="1/100")
    assert clock.describe().endswith("slots of 1 us, which round up the time of a link by 1% at most")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bytes": 0}, "bytes must be at least 1"),
        ({"bytes": "1.5B"}, "bytes must be a whole number of bytes"),
        ({"bytes": 2**62}, "less than 2\\*\\*62"),
        ({"bytes": "many"}, "bytes must be a whole number of bytes"),
        ({"bytes": 1, "bandwidth": 0}, "bandwidth must be a rate above 0"),
        ({"bytes": 1, "bandwidth": "fast"}, "bandwidth must be a rate above 0"),
        ({"bytes": 1, "bandwidth": 1e9, "latency": -1}, "latency must be a time"),
        ({"bytes": 1, "bandwidth": 1e9, "overhead": "2"}, "overhead must have a unit"),
        ({"bytes": 1, "counting": "osu"}, "counting must be"),
    ],
)
def test_what_is_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        TimeCost(**fields)


def test_bytes_need_bandwidths_once():
    with pytest.raises(NetworkError, match="has no bandwidths, so bytes take no time; give --bandwidth"):
        gossamer.plan("ring:8", "allgather", cost=TimeCost(1))
    with pytest.raises(NetworkError, match="has bandwidths of its own"):
        gossamer.plan(with_speeds([1e9], [0]), "allgather", cost=TimeCost(1, bandwidth=10**9))


@pytest.mark.parametrize("fields", [{"slot_seconds": 0}, {"packet_bytes": 0}, {"rounding": -1}, {"bus": "x"}])
def test_a_clock_refuses(fields):
    with pytest.raises(ModelError):
        Clock(**fields)
