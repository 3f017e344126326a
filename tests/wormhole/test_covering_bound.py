"""The bound by channels that far messages take: beside exact optima, and beside its program solved without its dual."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import LinearCost, Rules
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.covering_bound import Covering, crowded, late_sets, least_length, least_length_both_ways
from gossamer.wormhole.direct_messages import direct_messages
from gossamer.wormhole.ring_all_gather import RINGS
from wormhole.oracle import UndecidedError, least_allreduce_time, least_time

NAME = "steps and their channels"


def ring(nodes: int) -> np.ndarray:
    apart = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    return np.minimum(apart, nodes - apart)


def value(spec: str, task: str, startup: int, size: int = 64) -> Fraction | None:
    case = WormholeCase(gossamer.network(spec), gossamer.task(task), LinearCost(startup=startup, message_bytes=size))
    return next((b.value for b in bounds(case) if b.name == NAME), None)


@pytest.mark.solver
@pytest.mark.parametrize("startup", [1, 6, 30])
@pytest.mark.parametrize(
    ("spec", "task", "ports", "steps"),
    [
        ("ring:3", "allgather", "all", 2), ("ring:4", "allgather", "all", 3), ("ring:5", "allgather", "all", 3),
        ("ring:6", "allgather", "all", 3), ("array:4", "allgather", "all", 3), ("array:5", "allgather", "all", 4),
        ("array:2x3", "allgather", "all", 3), ("hypercube:3", "allgather", "all", 3), ("ring:9", "broadcast", "all", 4),
        ("array:7", "broadcast", "all", 4), ("ring:5", "broadcast", "one-send", 4),
        ("array:2x2", "allgather", "one", 4),
    ],
)  # fmt: skip
def test_no_bound_is_above_the_exact_optimum(spec, task, ports, steps, startup):
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    cost = LinearCost(startup=startup, message_bytes=6)
    case = WormholeCase(gossamer.network(spec), gossamer.task(task), cost, Rules(ports=ports))
    try:
        least = least_time(case, steps, work=5.0)
    except UndecidedError:
        pytest.skip("the solver did not decide")
    assert bounds(case)[0].value <= least


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["ring:7", "array:6", "array:3x4", "torus:3x4", "hypercube:3", "kautz:2,2", "dragonfly:a=2,h=1"]),
    st.sampled_from(["allgather", "reduce-scatter", "allreduce"]), st.integers(1, 300), st.integers(1, 80),
)  # fmt: skip
def test_no_schedule_is_below_it(spec, task, startup, size):
    cost = LinearCost(startup=startup, message_bytes=size)
    case = WormholeCase(gossamer.network(spec), gossamer.task(task), cost)
    least = bounds(case)[0].value
    assert direct_messages(case).completion_time >= least
    for algorithm in RINGS:
        if algorithm.covers(case):
            assert algorithm.build(case).completion_time >= least


def test_what_it_says_of_a_ring_of_thirty():
    """Four steps are not enough, and five need 24 messages: 29 nodes by one hop each, and 19 hops beyond the first."""
    assert value("ring:30", "allgather", 1000) == 5 * 1000 + 24 * 64
    assert value("ring:30", "reduce-scatter", 1000) == 5 * 1000 + 24 * 64


def test_half_of_the_bytes_have_few_steps_in_an_allreduce_on_a_ring_of_thirty():
    """Eight steps leave four for each half. In nine every byte has four for one half, over 50 channels, and five."""
    assert value("ring:30", "allreduce", 1000) == 9 * 1000 + 49 * 64


def test_a_corner_gets_all_results_after_it_has_sent_all_that_it_contributes():
    """Its two channels are busy for 99 messages twice, but for what nodes in the middle can begin before."""
    assert value("array:10x10", "allreduce", 1000) == 8 * 1000 + 97 * 64


def test_a_node_that_needs_few_steps_may_be_the_root_of_bytes_that_turn_early():
    apart = ring(30)
    of = Covering(apart, np.arange(30), Fraction(1, 30), 60, 2, 2, 4, Fraction(29, 30), ())
    fewer = np.full((2, 30), 4)
    fewer[:, ::2] = 3
    assert least_length_both_ways(of, of, fewer, 8) <= least_length_both_ways(of, of, np.full((2, 30), 4), 8)


@pytest.mark.solver
@pytest.mark.parametrize(
    ("spec", "startup", "steps"),
    [("ring:3", 1, 3), ("array:3", 1, 4), ("array:3", 30, 4), ("array:2x2", 6, 5), ("ring:4", 30, 5)],
)  # fmt: skip
def test_no_bound_is_above_the_exact_optimum_of_an_allreduce(spec, startup, steps):
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    cost = LinearCost(startup=startup, message_bytes=6)
    case = WormholeCase(gossamer.network(spec), gossamer.task("allreduce"), cost)
    try:
        least = least_allreduce_time(case, steps, work=8.0)
    except UndecidedError:
        pytest.skip("the solver did not decide")
    assert bounds(case)[0].value <= least


def test_what_steps_must_last_for_falls_with_their_number_to_that_of_neighbors():
    of = Covering(ring(30), np.arange(30), Fraction(1, 30), 60, 2, 2, 4, Fraction(29, 60), ())
    found = [least_length(of, steps) for steps in range(5, 17)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == Fraction(29, 60)
    assert found[0] == Fraction(48, 60)


def test_sets_that_messages_must_enter_early():
    joined = (ring(30) == 1).astype(np.int64)
    assert late_sets(ring(30), joined, np.arange(30), 2)[0] == (1, 2, Fraction(27, 30))


def test_the_nodes_that_a_message_opens_are_counted_one_by_one():
    apart = ring(11)
    of = Covering(apart, np.arange(11), Fraction(1, 11), 22, 2, 2, 3, Fraction(0), ())
    for reach in range(4):
        for far in range(1, 6):
            inside = {x for x in range(11) if apart[far, x] <= reach and apart[0, x] > reach + 1}
            assert all(hop * (far - 1) + itself >= len(inside) for hop, itself in of.opened(reach))


@pytest.mark.parametrize(
    ("spec", "startup"), [("ring:5", 9), ("ring:9", 50), ("torus:3x3", 9), ("torus:4x4", 50), ("torus:5x5", 90)]
)
def test_broadcasts_that_share_few_steps_take_many_channels(spec, startup):
    """All messages, and half of them, take at least what the line says of as many steps as the plan has."""
    cost = LinearCost(startup=startup, message_bytes=6)
    schedule = gossamer.plan(spec, "allgather", switching="wormhole", cost=cost).schedule
    line = crowded(schedule.channels.sides, schedule.startups)
    assert line is not None
    row, piece = schedule.payloads.carried(schedule.payload)
    of = schedule.packets.message[piece]
    bytes_by_hops = schedule.hops[row] * schedule.packets.size[piece]
    nodes = schedule.network.node_count
    for some in (range(nodes), range(0, nodes, 2), range(nodes // 3)):
        used = Fraction(int(bytes_by_hops[np.isin(of, some)].sum()), 6 * nodes)
        assert used >= line[0] + line[1] * Fraction(len(some), nodes)


def test_three_steps_are_not_enough_for_half_of_the_bytes_on_a_torus():
    """On a 10 x 10 torus half of all messages take 73 channels each; the other half needs no fewer than one a node."""
    line = crowded((10, 10), 3)
    assert line is not None
    assert 73 < line[0] + line[1] / 2 < 74
    assert value("torus:10x10", "allreduce", 1000) > 11_090
