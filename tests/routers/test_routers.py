"""Routers move flits as they say: at zero load by the formula, under contention like a plain twin, and by the rules."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ModelError, NetworkError
from gossamer.networks import half_duplex
from gossamer.simulation.flits import (
    MessageTrace,
    Routers,
    TrafficSettings,
    fabric,
    ideal_throughput,
    simulate_schedule,
    simulate_trace,
    simulate_traffic,
)
from gossamer.wormhole import Channels
from routers.flit_twin import bare_messages, twin_run

SPECS = ("ring:4", "array:5", "torus:3x3", "array:3x4", "torus:2x3", "torus:4x2", "hypercube:3", "torus:2x2x3")
ROUTERS = st.builds(
    Routers,
    virtual_channels=st.integers(2, 4),
    buffer_depth=st.integers(1, 5),
    routing_delay=st.integers(0, 2),
    allocation_delay=st.integers(0, 2),
    switch_delay=st.integers(1, 2),
    link_latency=st.integers(1, 3),
    credit_delay=st.integers(0, 2),
    injection_delay=st.integers(0, 2),
    ejection_delay=st.integers(1, 3),
    injection=st.sampled_from(["channels", "node"]),
    ejection=st.sampled_from(["channels", "node"]),
    dateline=st.sampled_from(["balanced", "plain"]),
)


def all_pairs(network, shortest=True):
    """Source and displacement of a message between every two nodes, the other way round rings if not `shortest`."""
    channels = Channels(network)
    n = network.node_count
    source = np.repeat(np.arange(n), n - 1)
    target = np.concatenate([np.delete(np.arange(n), u) for u in range(n)])
    move = channels.coordinates(target) - channels.coordinates(source)
    for i, side in enumerate(channels.sides):
        if channels.wraps[i]:
            up = move[:, i] % side
            down = np.where(up > 0, up - side, 0)
            move[:, i] = np.where((2 * up <= side) == shortest, up, down)
    return source, move


@pytest.mark.parametrize("spec", ["torus:8x8", "array:5x4", "torus:7x3", "ring:12", "torus:3x4x2", "torus:2x2"])
@pytest.mark.parametrize(
    "routers", [Routers(), Routers(routing_delay=0, credit_delay=0, buffer_depth=2), Routers.preset("booksim")]
)
def test_zero_load_latency_is_the_formula_for_every_pair(spec, routers):
    network = gossamer.network(spec)
    source, move = all_pairs(network)
    flits = 1 + np.arange(source.size) % 9
    run = simulate_schedule(bare_messages(network, np.arange(source.size), source, move, flits), settings=routers)
    hops = np.abs(move).sum(axis=1)
    t, ends = routers.routing_delay + routers.allocation_delay, routers.injection_delay + routers.ejection_delay
    assert run.latency.tolist() == (hops * (t + routers.link_latency) + t + ends + flits - 1).tolist()
    assert run.latency.tolist() == [routers.zero_load_latency(h, f) for h, f in zip(hops, flits, strict=True)]
    assert run.flit_hops == int((hops * flits).sum())
    assert (run.blocked, run.stalled, run.deadlock) == (0, 0, None)


def test_displacements_may_go_the_longer_way():
    network = gossamer.network("torus:5x4")
    source, move = all_pairs(network, shortest=False)
    run = simulate_schedule(bare_messages(network, np.arange(source.size), source, move, np.full(source.size, 3)))
    assert run.latency.tolist() == (2 * np.abs(move).sum(axis=1) + 1 + 3).tolist()


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("delays", [(1, 1), (2, 0), (0, 3)])
def test_short_buffers_send_bursts_of_a_round_trip(depth, delays):
    routers = Routers(buffer_depth=depth, routing_delay=delays[0], credit_delay=delays[1])
    network = gossamer.network("array:6")
    flits = np.array([1, 2, 5, 12, 12])
    run = simulate_schedule(
        bare_messages(network, range(5), [0, 0, 1, 5, 2], [[5], [1], [3], [-4], [1]], flits), settings=routers
    )
    expected = [routers.zero_load_latency(h, f) for h, f in zip([5, 1, 3, 4, 1], flits.tolist(), strict=True)]
    assert run.latency.tolist() == expected
    assert run.cycles == run.predicted_cycles


@st.composite
def traffic(draw):
    """Network, sources, displacements and lengths of up to 14 messages that all start at once."""
    network = gossamer.network(draw(st.sampled_from(SPECS)))
    count, random = draw(st.integers(1, 14)), np.random.default_rng(draw(st.integers(0, 2**32)))
    channels = Channels(network)
    source = random.integers(0, network.node_count, count)
    at = channels.coordinates(source)
    low = np.where(channels.wraps, 1 - np.array(channels.sides), -at)
    move = random.integers(low, low + np.where(channels.wraps, 2 * np.array(channels.sides) - 1, channels.sides))
    move[0] = np.arange(channels.dimensions) == 0  # at least one that moves
    source[0] = 0
    kept = move.any(axis=1)
    return network, source[kept].tolist(), move[kept].tolist(), random.integers(1, 8, int(kept.sum())).tolist()


@pytest.mark.uncompiled
@settings(max_examples=60)
@given(traffic(), ROUTERS)
def test_the_kernel_moves_every_flit_like_the_plain_twin(case, routers):
    network, source, move, flits = case
    run = simulate_schedule(
        bare_messages(network, [0] * len(source), source, move, flits), settings=routers, record=True
    )
    movements, finished = twin_run(network, routers, [0] * len(source), source, move, flits, run.cycles)
    assert sorted(map(tuple, run.record.tolist())) == sorted(movements)
    assert run.latency.tolist() == [finished[m] for m in range(len(source))]


@pytest.mark.uncompiled
@settings(max_examples=60)
@given(traffic(), ROUTERS, st.integers(0, 2**32))
def test_slow_links_move_every_flit_like_the_plain_twin(case, routers, seed):
    network, source, move, flits = case
    cycles = np.random.default_rng(seed).integers(1, 6, network.link_count).astype(np.int32)
    with mock.patch.object(fabric, "_flit_cycles", return_value=cycles):
        run = simulate_schedule(
            bare_messages(network, [0] * len(source), source, move, flits), settings=routers, record=True
        )
        built = fabric.Fabric(network)
    each = dict(zip(built.number.tolist(), built.flit_cycles.tolist(), strict=True))
    zeros = [0] * len(source)
    movements, finished = twin_run(network, routers, zeros, source, move, flits, run.cycles, each)
    assert sorted(map(tuple, run.record.tolist())) == sorted(movements)
    assert run.latency.tolist() == [finished[m] for m in range(len(source))]


SLOW = """columns source target bandwidth
0 1 100GB/s
1 2 50GB/s
2 3 30GB/s
"""


def test_bandwidths_of_a_file_are_cycles_of_flits(tmp_path):
    path = tmp_path / "line.txt"
    path.write_text(SLOW)
    line = gossamer.network(f"edges:{path}")
    built = fabric.Fabric(line)
    ends = zip(built.source.tolist(), built.target.tolist(), strict=True)
    assert dict(zip(ends, built.flit_cycles.tolist(), strict=True)) == {
        (0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2, (2, 3): 4, (3, 2): 4
    }  # fmt: skip
    # a message of 8 flits alone: a flit takes one cycle over the first link, two over the second, four over the last;
    # where they come slowly, the last does not wait for the cycle in which its head gets a channel at the last router
    for u, v, took in ((0, 1, 1), (1, 2, 2), (2, 3, 4)):
        run = simulate_trace(line, MessageTrace([0], [u], [v], [8]))
        alone = Routers().zero_load_latency(hops=1, flits=8)
        assert run.latency == alone + 8 * (took - 1) - (took > 1)
    assert simulate_trace(line, MessageTrace([0], [0], [3], [8])).latency == (
        Routers().zero_load_latency(hops=3, flits=8) + (2 - 1) + 8 * (4 - 1) - 1
    )
    # from 0, 1, 2 to 3 and back: 3/4 of all flits cross the slowest link, four cycles each
    assert ideal_throughput(line, "uniform") == pytest.approx(1 / 4)
    full = simulate_traffic(line, "uniform", 0.6, settings=TrafficSettings(message_flits=4, measured=4000))
    assert full.saturated
    assert 0.9 < full.peak_utilization <= 1
    with pytest.raises(NetworkError, match=r"links of one bandwidth; those of .* have 30 GB/s to 100 GB/s"):
        gossamer.plan(line, "alltoall", switching="wormhole")


def test_slots_of_links_are_cycles_of_flits():
    torus = gossamer.network("torus:3x4,occupancy=1x3,latency=0x2")
    built = fabric.Fabric(torus)
    steps = (built.number % 4) // 2  # the dimension
    assert built.flit_cycles.tolist() == (1 + 2 * steps).tolist()
    assert built.latency.tolist() == (2 * steps).tolist()
    assert built.grid is not None
    with pytest.raises(NetworkError, match=r"up to 64 times as slow as others, .* has some 65 times"):
        fabric.Fabric(gossamer.network("torus:3x4,occupancy=1x65"))
    with pytest.raises(NetworkError, match="share ports"):
        fabric.Fabric(half_duplex(gossamer.network("ring:4")))


@settings(max_examples=40)
@given(traffic(), ROUTERS)
def test_every_movement_obeys_the_rules(case, routers):
    """Seen from the record alone: capacity, order, contiguity, buffers, paths, delivery."""
    network, source, move, flits = case
    channels = Channels(network)
    run = simulate_schedule(
        bare_messages(network, [0] * len(source), source, move, flits), settings=routers, record=True
    )
    record = run.record[np.lexsort((run.record[:, 1], run.record[:, 0]))].tolist()
    crossed = [(c, ch) for c, ch, *_ in record if ch >= 0]
    assert len(crossed) == len(set(crossed)), "two flits on a channel in a cycle"
    journeys = defaultdict(list)
    for c, ch, v, m, f in record:
        journeys[m, f].append((c, ch, v))
    d2 = 2 * channels.dimensions
    for m, x in enumerate(move):
        expected = []
        at = channels.coordinates(source[m]).tolist()
        for i, hops in enumerate(x):
            for _ in range(abs(hops)):
                sign = 1 if hops > 0 else -1
                expected.append(channels.number(int(channels.nodes(at)), i, sign))
                at[i] += sign
                at = [int(y) for y in channels.coordinates(int(channels.nodes(at)))]
        for f in range(flits[m]):
            times, path, lanes = zip(*journeys[m, f], strict=True)
            assert list(path) == [*expected, -1], "a flit off its path, or not delivered"
            assert all(b - a >= routers.link_latency + routers.switch_delay - 1 for a, b in pairwise(times))
            assert f == 0 or lanes == tuple(r[2] for r in journeys[m, 0]), "a flit left its message's virtual channels"
            assert f == 0 or all(t > e[0] for t, e in zip(times, journeys[m, f - 1], strict=True)), "flits out of order"
    queue = defaultdict(list)
    for (m, f), steps in journeys.items():
        for (enter, ch, v), (leave, _, _) in pairwise(steps):
            queue[ch, v].append((enter, leave, m, f))
    for (ch, v), stays in queue.items():
        stays.sort()
        assert v < routers.virtual_channels
        order = [(m, f) for _, _, m, f in stays]
        starts = [k for k, (_, f) in enumerate(order) if f == 0]
        for k, end in zip(starts, [*starts[1:], len(order)], strict=True):
            m = order[k][0]
            assert order[k:end] == [(m, f) for f in range(flits[m])], "messages mixed in a virtual channel"
        for enter, *_ in stays:
            inside = sum(e <= enter < leave + routers.switch_delay + routers.credit_delay for e, leave, *_ in stays)
            assert inside <= routers.buffer_depth, f"buffer of {channels.name(ch)} overflows ({d2})"


def test_one_ejection_a_node_takes_turns():
    network = gossamer.network("array:3x3")
    schedule = bare_messages(network, [0] * 4, [1, 3, 5, 7], [[1, 0], [0, 1], [0, -1], [-1, 0]], [8] * 4)
    each = simulate_schedule(schedule, settings=Routers(ejection="channels"))
    one = simulate_schedule(schedule, settings=Routers(ejection="node"))
    assert each.cycles == each.predicted_cycles == 2 + 1 + 8
    assert one.cycles == 2 + 1 + 4 * 8
    assert each.blocked == 0 < one.blocked


def test_contenders_share_a_channel_evenly():
    network = gossamer.network("array:2x3")
    schedule = bare_messages(network, [0, 0], [0, 3], [[1, 0], [-1, 0]], [40, 40])
    assert simulate_schedule(schedule).blocked == 0
    both = schedule.replace(source=[0, 1], displacement=[[0, 2], [0, 1]])  # meet on the channel (0,1)->(0,2)
    run = simulate_schedule(both)
    assert abs(run.latency[0] - run.latency[1]) <= 4
    assert run.blocked >= 38


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"virtual_channels": 0}, ("virtual_channels", "1..31", "0")),
        ({"buffer_depth": 2.5}, ("buffer_depth", "2.5")),
        ({"routing_delay": -1}, ("routing_delay", "0..4096", "-1")),
        ({"injection": "nodes"}, ("injection", "'nodes'", "did you mean 'node'")),
        ({"dateline": "on"}, ("dateline", "'balanced', 'plain' or 'none'", "'on'")),
        ({"input_speedup": 3}, ("input_speedup", "virtual_channels = 2", "3")),
    ],
)
def test_bad_settings_are_told_in_one_line(changes, words):
    with pytest.raises(ModelError) as error:
        Routers(**changes)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_rings_need_two_virtual_channels_for_a_dateline():
    schedule = bare_messages(gossamer.network("ring:4"), [0], [0], [[1]], [1])
    with pytest.raises(ModelError, match=r"ring:4 need virtual_channels of at least 2, got 1; with dateline 'none'"):
        simulate_schedule(schedule, settings=Routers(virtual_channels=1))
