"""Random traffic: what is offered gets through until saturation, and the same seed gives the same run."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError, ModelError, TaskError
from gossamer.simulation.flits import (
    Routers,
    TrafficSettings,
    _kernels,
    destinations,
    ideal_throughput,
    simulate_traffic,
)
from gossamer.simulation.flits.arrivals import RandomArrivals
from gossamer.simulation.flits.destinations import shortest_displacement
from gossamer.simulation.flits.routing import routing
from gossamer.simulation.flits.traffic import Simulation
from gossamer.simulation.flits.traffic_result import BATCHES, Latencies
from gossamer.wormhole import Channels

TORUS, ARRAY = gossamer.network("torus:8x8"), gossamer.network("array:8x8")


def facts(run):
    return {k: v for k, v in run.to_dict().items() if k != "seconds"}


def test_the_seed_decides_the_run():
    first, again, other = (
        simulate_traffic(TORUS, "uniform", 0.3, settings=TrafficSettings(warmup=100, measured=2000, seed=s))
        for s in (1, 1, 2)
    )
    assert facts(first) == facts(again)
    assert np.array_equal(first.histogram, again.histogram)
    assert facts(first) != facts(other)


@pytest.mark.parametrize("network", [TORUS, ARRAY])
@pytest.mark.parametrize("pattern", ["uniform", "transpose", "bit-reversal", "hotspot", "complement"])
def test_below_saturation_all_that_is_offered_gets_through(network, pattern):
    load = 0.3 * ideal_throughput(network, pattern)
    run = simulate_traffic(network, pattern, load, settings=TrafficSettings(warmup=1000, measured=8000))
    assert not run.saturated
    assert run.undelivered == 0
    assert run.throughput == pytest.approx(run.offered, rel=0.03)
    assert run.offered == pytest.approx(load, rel=0.1)
    assert run.histogram.sum() == run.messages
    assert run.peak_utilization <= 1


@pytest.mark.parametrize("pattern", ["tornado", "neighbor"])
def test_patterns_of_rings_load_the_torus(pattern):
    run = simulate_traffic(TORUS, pattern, 0.1, settings=TrafficSettings(warmup=0, measured=4000))
    assert run.mean_hops == pytest.approx({"tornado": 6, "neighbor": 2}[pattern], rel=0.01)
    assert not run.saturated


def test_at_a_low_load_the_mean_latency_is_that_of_zero_load():
    """Messages so rare that they do not meet: the mean of the formula over all pairs."""
    network = gossamer.network("torus:4x4")
    run = simulate_traffic(
        network, "uniform", 1e-4, settings=TrafficSettings(message_flits=4, warmup=0, measured=400_000)
    )
    move = shortest_displacement(Channels(network), np.zeros(15, int), np.arange(1, 16))
    mean = np.mean([Routers().zero_load_latency(int(h), 4) for h in np.abs(move).sum(axis=1)])
    assert run.latency == pytest.approx(mean, rel=0.03)
    assert run.blocked < 0.01 * run.flit_hops
    assert len(run.histogram) - 1 <= Routers().zero_load_latency(4, 4) + 8


@pytest.mark.parametrize("network", [TORUS, ARRAY])
def test_overload_is_flagged_and_throughput_stays(network):
    run = simulate_traffic(network, "uniform", 1.0, settings=TrafficSettings(warmup=2000, measured=5000))
    assert run.saturated
    assert 0.25 < run.throughput / ideal_throughput(network, "uniform") < 1


def test_a_channel_carries_a_flit_a_cycle_at_most():
    """Neighbors on a line: the one channel each uses is the limit, and it is reached."""
    network = gossamer.network("array:2")
    run = simulate_traffic(network, [1, 0], 1.5, settings=TrafficSettings(warmup=100, measured=2000))
    assert run.throughput == pytest.approx(1, abs=0.01)
    assert run.peak_utilization == pytest.approx(1, abs=0.01)
    assert run.saturated


def simulation(load):
    """Uniform traffic on the torus, from an empty network."""
    settings, random = TrafficSettings(), np.random.default_rng(0)
    where = destinations(TORUS, "uniform")
    arrivals = RandomArrivals(where, 64, load / 8, settings.lengths, 0, random)
    return Simulation(routing(TORUS), arrivals, "uniform", settings, random)


def test_messages_are_conserved():
    """Released = delivered + in the network or a source queue; a drained network holds nothing."""
    run = simulation(0.4)
    run.advance(3000)
    state = run.state
    assert run.used.sum() >= run.count("IN_FLIGHT") > 0
    assert np.sort(run.rows[: run.free]).tolist() == np.flatnonzero(~run.used).tolist()
    run.arrivals.rate = 1e-9
    run.advance(6000)
    assert run.count("IN_FLIGHT") == 0 == run.used.sum()
    assert run.count("EJECTED") == 8 * run.count("DELIVERED")
    assert (state.queue[:, [_kernels.COUNT, _kernels.HELD]] == 0).all()
    assert (state.queue[:, [_kernels.OUT, _kernels.OWNER]] == -1).all()
    assert (state.channel[:, _kernels.TAKEN] == 0).all()


def test_memory_follows_the_messages_in_flight():
    run = simulation(0.16)
    run.advance(60_000)
    assert run.count("DELIVERED") > 70_000
    assert run.used.size < 10_000


@pytest.mark.parametrize(
    ("spec", "pattern", "expected"),
    [
        ("array:8x8", "uniform", 63 / 64 * 0.5), ("torus:8x8", "uniform", 63 / 64), ("array:4x4", "uniform", 15 / 16),
        ("torus:5x5", "uniform", 24 / 25 * 5 / 3), ("array:2", "uniform", 1.0), ("array:8x8", "transpose", 1 / 7),
        ("ring:8", "tornado", 1 / 3), ("ring:8", "neighbor", 1.0),
    ],
)  # fmt: skip
def test_ideal_throughput(spec, pattern, expected):
    assert ideal_throughput(gossamer.network(spec), pattern) == pytest.approx(expected)


def test_hotspot_shares():
    where = destinations(TORUS, "hotspot:5,9", hot_share=0.5)
    source = np.full(40_000, 3)
    to = where.draw(source, 64, np.random.default_rng(0))
    assert not (to == source).any()
    assert np.isin(to, (5, 9)).mean() == pytest.approx(0.5 + 0.5 * 2 / 63, abs=0.01)
    assert destinations(TORUS, "hotspot").hot.tolist() == [4 * 8 + 4]


def test_uniform_draws_every_other_node_alike():
    to = destinations(TORUS, "uniform").draw(np.full(63_000, 63), 64, np.random.default_rng(0))
    counts = np.bincount(to, minlength=64)
    assert counts[63] == 0
    assert counts[:63].min() > 800


def test_half_way_round_a_ring_both_directions_are_taken():
    c = Channels(TORUS)
    move = shortest_displacement(c, np.zeros(1000, int), np.full(1000, 4), np.random.default_rng(0))
    assert 400 < (move[:, 1] == 4).sum() < 600
    assert set(move[:, 1].tolist()) == {4, -4}


def test_confidence_by_batches():
    found = Latencies(0, 6400)
    random = np.random.default_rng(0)
    created = random.integers(0, 6400, 50_000)
    latency = random.integers(10, 30, 50_000)
    nobody = np.zeros(50_000, np.int64)
    found.add(created[:2000], latency[:2000], nobody[:2000], nobody[:2000])
    found.add(created[2000:], latency[2000:], nobody[2000:], nobody[2000:])
    assert found.mean == pytest.approx(latency.mean())
    means = [latency[created // 100 == b].mean() for b in range(BATCHES)]
    assert found.half_width == pytest.approx(2.0 * np.std(means, ddof=1) / np.sqrt(BATCHES), rel=0.25)


def test_percentiles_are_those_of_the_histogram():
    run = simulate_traffic(TORUS, "uniform", 0.2, settings=TrafficSettings(warmup=0, measured=2000))
    values = np.repeat(np.arange(run.histogram.size), run.histogram)
    for share in (0.5, 0.95, 0.99, 1.0):
        assert run.percentile(share) == np.quantile(values, share, method="inverted_cdf")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"load": 0}, r"load must be a number in 8e-15\.\.8, got 0"),
        ({"load": 9}, r"load must be .* got 9"),
        ({"load": 1e-308}, r"load must be a number in 8e-15\.\.8, got 1e-308"),
        ({"message_flits": 0}, r"message_flits must be a whole number in 1\.\."),
        ({"measured": 5}, r"measured must be a whole number in 100\.\."),
        ({"seed": -1}, r"seed must be"),
        ({"pattern": "uniformly"}, r"unknown pattern 'uniformly' \(did you mean 'uniform'\?\)"),
        ({"pattern": "identity"}, r"with pattern 'identity' no node sends to another"),
        ({"pattern": "hotspot:99"}, r"hot nodes must be node numbers in 0\.\.63 such as hotspot:5,9, got '99'"),
        ({"pattern": "hotspot", "hot_share": 0}, r"hot_share must be a number above 0 and at most 1, got 0"),
        ({"pattern": [1, 2]}, r"destinations must be 64 whole numbers"),
        ({"pattern": [0, 64] * 32}, r"the destination of node 1 is 64; it must be 0\.\.63 on torus:8x8"),
        ({"pattern": [-2] * 64}, r"the destination of node 0 is -2; it must be"),
        ({"pattern": [0.5] * 64}, r"destinations must be 64 whole numbers, .* got 64 of type float64"),
    ],
)
def test_bad_input_is_told_in_one_line(words, message):
    pattern, load = words.get("pattern", "uniform"), words.get("load", 0.1)
    settings = {name: value for name, value in words.items() if name not in ("pattern", "load")}
    with pytest.raises((ModelError, TaskError), match=message) as error:
        simulate_traffic(TORUS, pattern, load, settings=TrafficSettings(**settings))
    assert "\n" not in str(error.value)


def test_networks_without_dimensions_are_refused():
    with pytest.raises(GossamerError, match=r"a network such as .* is needed, got 'torus:4x4'"):
        simulate_traffic("torus:4x4")
    with pytest.raises(ModelError, match="routing 'dimension-order' needs an array or torus"):
        simulate_traffic(gossamer.network("star:4"), settings=TrafficSettings(routing="xy"))
    with pytest.raises(GossamerError, match="at least 2 nodes"):
        simulate_traffic(gossamer.network("array:1"))


def test_what_no_message_measured_is_left_out():
    run = simulate_traffic(TORUS, "uniform", 1e-9, settings=TrafficSettings(warmup=0, measured=100))
    assert run.messages == 0
    fields = run.to_dict()
    assert [fields[name] for name in ("latency", "half_width", "median", "p95", "p99")] == [None] * 5


def test_sums_by_terminal_are_the_same_with_and_without_flows():
    """Sums by source and target are read off the flows where these are kept, and counted on their own elsewhere."""
    random = np.random.default_rng(1)
    created, latency = random.integers(0, 640, 500), random.integers(1, 90, 500)
    source, target = random.integers(0, 5, 500), random.integers(0, 5, 500)
    kept, plain = Latencies(0, 640, 5, flows=True), Latencies(0, 640, 5)
    for half in (slice(0, 200), slice(200, 500)):
        kept.add(created[half], latency[half], source[half], target[half])
        plain.add(created[half], latency[half], source[half], target[half])
    assert np.array_equal(kept.sent, plain.sent)
    assert np.array_equal(kept.received, plain.received)
    assert kept.received[1, 3] == latency[target == 3].sum()
    assert kept.sent[0, 2] == (source == 2).sum()
    assert kept.flows[1, 2, 3] == latency[(source == 2) & (target == 3)].sum()
