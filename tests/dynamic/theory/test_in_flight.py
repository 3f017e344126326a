"""The bound of broadcast delays by the broadcasts that must be in flight."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals import Settings, simulate
from gossamer.simulation.random_arrivals.scheme_evaluation import TreeBroadcasts
from gossamer.simulation.random_arrivals.schemes import mixed, scheme
from gossamer.simulation.random_arrivals.theory import PreparedScheme, best_bound, in_flight_bound
from gossamer.simulation.random_arrivals.theory.bounds import _count_waiting

CASES = [
    ("fifo", "hypercube:4"), ("priority", "torus:8x8"), ("optimal", "torus:4x5"), ("mini-packets", "hypercube:4"),
    ("star-minis", "torus:3x3"), ("critical-path", "star:4"), ("symmetric", "ccc:3"), ("star", "array:4x5"),
    ("arc", "array:5x5"), ("varvarigos-banerjee-direct", "array:4x4"),
]  # fmt: skip


@pytest.mark.exhaustive(always=10)
@pytest.mark.parametrize(("name", "spec"), CASES)
@pytest.mark.parametrize(("share", "time"), [(0.5, "continuous"), (0.9, "continuous"), (0.9, "slotted")])
def test_no_simulated_delay_is_below_the_bound(name, spec, share, time):
    table = PreparedScheme(scheme(name, gossamer.network(spec)))
    load = share * float(table.limit.load)
    found = in_flight_bound(table, load, steps=1500, slotted=time == "slotted")
    for ties in ("fifo", "age"):
        run = simulate(table.scheme, load=load, settings=Settings(seed=5, steps=1500, time=time, ties=ties))
        assert run.broadcast.mean + run.broadcast.half_width > found.mean - found.half_width
    assert found.mean - found.half_width >= table.mean_height / table.scheme.parts - 1e-9


def link_by_link(first, earliest, settled, moments):
    """Serve the copies of the older broadcasts alone, for each moment anew, and count those not done."""
    left = np.zeros((first.size - 1, moments.size), np.int64)
    for e in range(first.size - 1):
        for j, t in enumerate(moments.tolist()):
            free = -math.inf
            for i in range(first[e], first[e + 1]):
                if settled[i] <= t:
                    free = max(free, earliest[i]) + 1
                    left[e, j] += free > t
    return left


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(4))
def test_waiting_copies_are_those_of_queues_that_serve_older_broadcasts_alone(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 50, 6)
    first = np.concatenate([[0], np.cumsum(sizes)])
    link = np.repeat(np.arange(6), sizes)
    earliest = random.uniform(0, 30, link.size)
    earliest = earliest[np.lexsort((earliest, link))]
    settled = earliest + random.integers(1, 8, link.size)
    moments = np.arange(0.5, 80, 1.0)
    target = np.array([0, 1, 1, 2, 0, 2])
    at_node, on_link = np.zeros((3, moments.size), np.int64), np.zeros(moments.size, np.int64)
    _count_waiting(first, target, earliest, settled, moments, 1000, at_node, on_link)
    left = link_by_link(first, earliest, settled, moments)
    assert left.max() > 3
    assert np.array_equal(on_link, left.max(axis=0))
    assert np.array_equal(at_node, [left[target == v].sum(axis=0) for v in range(3)])
    fewer = np.zeros_like(at_node)
    _count_waiting(first, target, earliest, settled, moments, 4, fewer, on_link)
    assert (fewer <= at_node).all()
    assert (fewer < at_node).any()


def test_near_saturation_the_bound_is_far_above_the_one_by_mean_waits():
    table = scheme("priority", gossamer.network("torus:8x8"))
    found = in_flight_bound(table, 0.9, steps=8000)
    assert found.mean - found.half_width > 1.25 * best_bound(table, 0.9)[1]
    # at low load it is the height of the trees
    assert in_flight_bound(table, 0.1, steps=1000).mean == pytest.approx(8, abs=0.01)
    assert in_flight_bound(table, 0.0).mean == 8


def test_it_stands_beside_simulated_delays_where_it_holds():
    made = TreeBroadcasts(scheme("priority", gossamer.network("torus:8x8")))
    settings = Settings(steps=3000)
    found = made.delays(0.9, settings)
    assert best_bound(made.scheme, 0.9)[1] + 1 < found.broadcast_bound < found.broadcast.mean
    looking = made.delays(0.8, Settings(steps=500, choose="global"))
    assert looking.broadcast_bound == best_bound(made.scheme, 0.8, oblivious=False)[1]


def test_runs_that_are_too_short_and_other_traffic_have_none():
    table = scheme("fifo", gossamer.network("hypercube:4"))
    assert math.isnan(in_flight_bound(table, 0.5, steps=50).mean)
    assert math.isnan(in_flight_bound(table, 0.5, copies=100).mean)
    assert math.isnan(in_flight_bound(mixed(table, {"broadcast": 0.5, "unicast": 0.5}), 0.5).mean)
    with pytest.raises(ModelError, match="below 1"):
        in_flight_bound(table, 1.0)
