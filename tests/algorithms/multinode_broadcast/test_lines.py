"""Several broadcasts from each node of a line or ring (Theorem 2, and where it is off)."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import (
    MULTIPLE_BROADCAST,
    insertion,
    insertion_bound,
    rounds_time,
)
from gossamer.errors import TaskError
from gossamer.networks import array, ring
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultipleBroadcast
from gossamer.verification import verify

INSERTION, ROUNDS = MULTIPLE_BROADCAST
WHOLE, SPLIT = Rules(), Rules(split=True)


def time(algorithm, network, counts, model):
    """The completion time of a schedule that the checker accepted."""
    schedule = algorithm.build(Case(network, MultipleBroadcast(counts), model))
    found = verify(schedule)
    assert found.ok, f"{counts}: {found}"
    assert schedule.hop_count == sum(counts) * (len(counts) - 1) * schedule.parts
    return schedule.completion_time


def line_time(counts):
    return time(INSERTION, array(len(counts)), counts, WHOLE)


def half_slots(counts):
    """Half-slots of insertion on a ring with halves."""
    return 2 * time(INSERTION, ring(len(counts)), counts, SPLIT)


@pytest.mark.parametrize(
    ("counts", "on_line", "on_ring"), [((2, 0, 1, 3), 5, 8), ((0, 2, 2), 4, 5), ((1, 1, 1, 1, 1), 4, 4)]
)
def test_insertion_takes_the_reference_times(counts, on_line, on_ring):
    assert (line_time(counts), half_slots(counts)) == (on_line, on_ring)


def check_all(p, most):
    """Insertion and rounds for all loads of up to `most` messages a node keep to their bounds on line and ring."""
    for counts in itertools.product(range(most + 1), repeat=p):
        K, W = sum(counts), max(counts)
        insertion_on_line = line_time(counts)
        assert insertion_on_line <= max(K + p - 2, 0) * (K > 0)
        assert insertion_on_line <= W * (p - 1)
        assert time(ROUNDS, array(p), counts, WHOLE) == W * (p - 1)
        if p > 2:
            assert half_slots(counts) <= (K + p - 2) * (K > 0)
            assert time(INSERTION, ring(p), counts, WHOLE) <= (K - 1 + p // 2) * (K > 0)
            assert time(ROUNDS, ring(p), counts, SPLIT) == Fraction(W * (p - 1), 2)
            assert time(ROUNDS, ring(p), counts, WHOLE) == W * (p // 2)


@pytest.mark.parametrize(("p", "most"), [(2, 3), (3, 3), (4, 2)])
def test_all_small_loads_keep_to_the_bounds(p, most):
    check_all(p, most)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "most"), [(4, 3), (5, 3)])
def test_all_loads_of_up_to_three_messages_keep_to_the_bounds(p, most):
    check_all(p, most)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=12), st.sampled_from([array, ring]), st.booleans())
def test_claims_hold_for_any_load(counts, family, split):
    network, task, model = family(len(counts)), MultipleBroadcast(counts), Rules(split=split)
    assert time(INSERTION, network, counts, model) <= INSERTION.offer(Case(network, task, model)).time
    assert time(ROUNDS, network, counts, model) == ROUNDS.offer(Case(network, task, model)).time


def test_k_plus_p_minus_1_is_not_tight_and_k_plus_p_minus_2_is():
    for p in range(2, 8):
        counts = (1,) + (0,) * (p - 1)  # K = 1, at the end of the line: p - 1 hops
        assert line_time(counts) == 1 + p - 2
    for counts in [(3, 0), (0, 0, 4), (2, 0, 0, 0, 0)]:
        assert line_time(counts) == sum(counts) + len(counts) - 2
    assert line_time((1, 0)) == 1 < 1 + 2 - 1  # the smallest case: p = 2, K = 1


def test_insertion_on_a_ring_can_miss_what_lemma_1_counts_and_rounds_do_not():
    counts, p, W = (0, 2, 2), 3, 2
    assert half_slots(counts) == 5 > W * (p - 1) == 4
    assert 2 * time(ROUNDS, ring(p), counts, SPLIT) == 4
    plan = gossamer.plan(ring(p), MultipleBroadcast(counts), rules=SPLIT)
    assert (plan.algorithm, plan.completion_time) == ("rounds", 2)


def test_insertion_beats_rounds_where_few_nodes_have_many_messages():
    plan = gossamer.plan("array:9", gossamer.task("multiple-broadcast", counts=[0, 0, 7, 0, 0, 0, 0, 0, 1]))
    assert plan.algorithm == "insertion"
    assert plan.completion_time <= 8 + 9 - 2 < rounds_time(9, False, (0, 0, 7, 0, 0, 0, 0, 0, 1))


@pytest.mark.parametrize("p", range(3, 10))
def test_one_whole_packet_each_goes_round_a_ring_in_floor_p_over_2_steps(p):
    ones = (1,) * p
    for algorithm in (INSERTION, ROUNDS):
        assert time(algorithm, ring(p), ones, WHOLE) == p // 2
    assert time(ROUNDS, ring(p), ones, SPLIT) == Fraction(p - 1, 2)
    assert time(ROUNDS, array(p), ones, WHOLE) == p - 1
    assert (p // 2 < -(-p // 2)) == (p % 2 == 1)  # the printed ceil(p/2)


def test_whole_messages_take_the_longer_way_round_an_even_ring_by_turns():
    schedule = INSERTION.build(Case(ring(4), MultipleBroadcast((4, 0, 0, 0)), WHOLE))
    load = np.bincount(schedule.link, minlength=8)
    assert load.tolist() == [4, 4, 2, 0, 0, 0, 0, 2]  # two messages reach node 2 by node 1, and two by node 3


@pytest.mark.parametrize("counts", [(0, 0, 0), (0, 5, 0), (1, 0, 0)])
@pytest.mark.parametrize("spec", ["array:3", "ring:3", "array:1x3"])
def test_nodes_without_messages_are_no_trouble(spec, counts):
    for algorithm in MULTIPLE_BROADCAST:
        assert time(algorithm, gossamer.network(spec), counts, WHOLE) == 0 or sum(counts)


@pytest.mark.parametrize("spec", ["array:1", "ring:1", "array:2", "ring:2"])
def test_one_node_and_two_nodes(spec):
    network = gossamer.network(spec)
    counts = (3,) * network.node_count
    assert time(INSERTION, network, counts, WHOLE) == time(ROUNDS, network, counts, SPLIT) == 3 * (len(counts) - 1)


def test_the_dual_combines_at_the_roots_in_the_same_time():
    plan = gossamer.plan("ring:5", gossamer.task("multiple-reduce", counts=[1, 0, 2, 0, 3]))
    assert (
        plan.completion_time
        == gossamer.plan("ring:5", gossamer.task("multiple-broadcast", counts=[1, 0, 2, 0, 3])).completion_time
    )


def test_bounds_of_the_formulas_for_no_messages():
    assert insertion_bound(5, True, (0,) * 5) == insertion_bound(1, False, (4,)) == rounds_time(1, False, (4,)) == 0


@pytest.mark.parametrize(
    ("spec", "counts", "model", "reason"),
    [
        ("array:2x3", (1,) * 6, WHOLE, "needs a linear array or a ring"),
        ("star:3", (1,) * 6, WHOLE, "needs a linear array or a ring"),
        ("array:3", (1,) * 3, Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("array:3", (1,) * 3, Rules(buffer=2), "does not limit the packets that a node holds"),
        ("array:3", (10**9, 10**9, 0), WHOLE, "would write out 4,000,000,000 hops; at most 1,000,000,000 are allowed"),
    ],
)
def test_what_is_not_covered_is_declined_with_a_reason(spec, counts, model, reason):
    for algorithm in MULTIPLE_BROADCAST:
        assert algorithm.offers(Case(gossamer.network(spec), MultipleBroadcast(counts), model)).why == reason


def test_another_task_is_refused():
    with pytest.raises(TaskError, match="carries out multiple-broadcast, not multinode-broadcast"):
        insertion(Case(array(3), gossamer.task("allgather")))
