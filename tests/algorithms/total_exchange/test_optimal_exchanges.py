"""Total exchange meets the cut or load bound on the networks where the sources, or the design, say that it can."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.edge_colored import balanced_words, edge_colored_exchange, line_step
from gossamer.algorithms.total_exchange.products import (
    array_rounds_exchange,
    best_rounds,
    exchange_steps,
)
from gossamer.algorithms.total_exchange.ring_queues import parity_shift_exchange
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules

EXCHANGE = gossamer.task("alltoall")


def cut_bound(spec):
    """Return the largest cut in the middle of a dimension: nodes on one side times those on the other, over links."""
    network = gossamer.network(spec)
    total, most = network.node_count, 0
    for side, wraps in zip(network.grid.sides, network.grid.wraps, strict=True):
        links = (2 if wraps else 1) * total // side
        low = total // side * (side // 2)
        most = max(most, math.ceil(low * (total - low) / links))
    return most


def planned(spec, build):
    schedule = build(Case(gossamer.network(spec), EXCHANGE, Rules()))
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    return schedule


TORI = [f"torus:{n}x{n}" for n in range(3, 17)] + ["torus:3x3x3", "torus:4x4x4", "torus:5x5x5"]
TORI += ["torus:3x5", "torus:4x6", "torus:3x4x5"]


CUBES = [f"hypercube:{d}" for d in range(1, 13)]
ODD_RINGS = [f"ring:{n}" for n in range(3, 40, 2)]


@pytest.mark.parametrize("spec", TORI + CUBES + ODD_RINGS)
def test_edge_colored_exchange_meets_the_cut_bound(spec):
    assert planned(spec, edge_colored_exchange).completion_time == cut_bound(spec)


@pytest.mark.parametrize(
    ("spec", "steps"), [("torus:6x6", 27), ("torus:10x10", 125), ("torus:3x5", 9), ("torus:4x6", 18)]
)
def test_edge_colored_exchange_beats_algorithm_a3_on_even_tori(spec, steps):
    assert planned(spec, edge_colored_exchange).completion_time == steps  # erratum 9.6


@pytest.mark.parametrize("n", range(4, 54, 2))
def test_even_ring_exchange_takes_n_squared_over_8(n):
    schedule = planned(f"ring:{n}", parity_shift_exchange)
    assert schedule.completion_time == math.ceil((n * n - 1) / 8)
    assert gossamer.verify(schedule.expand())


@pytest.mark.parametrize("spec", ["ring:6", "torus:3x4", "hypercube:4", "circulant:13,1,5", "torus:2x5"])
def test_expansion_is_valid_and_has_the_same_time(spec):
    schedule = planned(spec, edge_colored_exchange)
    explicit = schedule.expand()
    assert gossamer.verify(explicit)
    assert explicit.completion_time == schedule.completion_time


@pytest.mark.parametrize("spec", ["torus:16x16x16", "torus:32x32x32"])
def test_large_tori_meet_the_cut_bound(spec):
    assert planned(spec, edge_colored_exchange).completion_time == cut_bound(spec)


ABELIAN = ["ring:9", "torus:4x6", "circulant:12,2,3", "complete:7", "torus:3x4x5", "product:(ring:5)x(complete:4)"]


@pytest.mark.parametrize("spec", ABELIAN)
def test_words_are_shortest_and_lead_to_their_offsets(spec):
    network = gossamer.network(spec)
    offset, generator = balanced_words(network)
    assert np.array_equal(np.bincount(offset, minlength=network.node_count), network.distances(0))
    end = np.zeros(network.node_count, np.int64)
    for y, g in zip(offset.tolist(), generator.tolist(), strict=True):
        end[y] = network.group.compose(end[y], network.generators[g])
    assert end.tolist() == list(range(network.node_count))


@pytest.mark.parametrize(
    ("spec", "shortest", "steps"), [("extended-ring:14,2", 12, 10), ("extended-ring:40,3", 63, 36)]
)
def test_longer_words_relieve_the_busiest_generators(spec, shortest, steps):
    network = gossamer.network(spec)
    offset, generator = balanced_words(network)
    schedule = planned(spec, edge_colored_exchange)
    assert np.bincount(generator).max() == schedule.completion_time == steps < shortest
    assert (np.bincount(offset, minlength=network.node_count) >= network.distances(0)).all()
    assert gossamer.verify(schedule.expand())


ARRAYS = [(n,) * d for d in range(1, 5) for n in range(2, 513) if n**d <= 512 and (d > 1 or n <= 40)]
LONG_LINES = [pytest.param((n,), marks=pytest.mark.slow) for n in (41, 64, 100, 127, 256, 511, 512)]


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize("sides", ARRAYS + LONG_LINES, ids=lambda s: "x".join(map(str, s)))
def test_arrays_of_equal_sides_meet_the_cut_bound(sides):
    spec = "array:" + "x".join(map(str, sides))
    time = planned(spec, array_rounds_exchange).completion_time
    assert time == cut_bound(spec) == sides[0] ** (len(sides) - 1) * exchange_steps(sides[0])


@settings(max_examples=40)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=3))
def test_arrays_of_any_sides_take_the_time_of_their_rounds(sides):
    spec = "array:" + "x".join(map(str, sides))
    schedule = planned(spec, array_rounds_exchange)
    longer = tuple(s for s in sides if s > 1)
    assert schedule.completion_time == (best_rounds(longer).time if longer else 0)
    assert schedule.completion_time >= cut_bound(spec)


def furthest_first_steps(n):
    """The step in which the message from k to i leaves node j, at [k, i, j]; -1 off its way."""
    steps = np.full((n, n, n), -1, np.int32)
    for k, i in itertools.permutations(range(n), 2):
        for j in range(min(k, i), max(k, i) + 1):
            if j != i:
                steps[k, i, j] = line_step(n, k, i, j)
    return steps


def test_line_exchange_is_furthest_first():
    """The closed form of (4.9) is what the rule does: largest destination first, smallest source on a tie."""
    for n in range(2, 13):
        steps = furthest_first_steps(n)
        waiting = [[(i, k) for i in range(k + 1, n)] for k in range(n)]
        for t in itertools.count():
            if not any(waiting):
                break
            moving = [(k, max(w, key=lambda m: (m[0], -m[1]))) for k, w in enumerate(waiting) if w]
            for j, message in moving:
                waiting[j].remove(message)
                assert steps[message[1], message[0], j] == t
            for j, message in moving:
                if message[0] > j + 1:
                    waiting[j + 1].append(message)
        assert t == exchange_steps(n)


def test_line_departures_of_figure_4_2():
    """What node 3 of six sends, step by step, worked out by hand."""
    steps = furthest_first_steps(6)
    sent = sorted((int(steps[k, i, 2]), f"{k + 1},{i + 1}") for k in range(3) for i in range(3, 6))
    assert [name for _, name in sent] == ["3,6", "2,6", "1,6", "1,5", "2,5", "3,5", "1,4", "2,4", "3,4"]


def test_every_message_is_sent_in_both_directions_on_a_line():
    steps = furthest_first_steps(5)
    for k, i in itertools.permutations(range(5), 2):
        assert (steps[k, i] >= 0).sum() == abs(k - i)
