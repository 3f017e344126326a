"""Total exchange in fat trees: optima, corrected claims and lemmas of Dimakopoulos 1996, chapter 6."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.fat_trees.twin import queue_peaks
from gossamer import Rules, Schedule
from gossamer.algorithms.fat_trees import serve_queues
from gossamer.algorithms.total_exchange.fat_trees import (
    DIGITWISE,
    OFFSETS,
    PHASES,
    UP_FIRST,
    branch_steps,
    digitwise_partners,
    least_steps,
    offset_times,
    phase_lengths,
    phased_steps,
    routing_node_steps,
    usable_capacities,
    way_steps,
)
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import Levels, fat_tree
from gossamer.questions.cases import Case
from gossamer.questions.tasks import TotalExchange
from gossamer.verification.metrics import buffer_peak

TASK = TotalExchange()
ONE_SEND = Rules(ports="one-send")
SHAPES = [(k, h) for k in range(2, 9) for h in range(7) if k**h <= 64]
shapes = st.sampled_from([s for s in SHAPES if s[0] ** s[1] <= 32])


@st.composite
def fat_trees(draw):
    k, h = draw(shapes)
    return fat_tree(k, h, sorted(draw(st.lists(st.integers(1, 40), min_size=h, max_size=h))))


def valid(algorithm, network, model=Rules()):  # noqa: B008
    schedule = algorithm.build(Case(network, TASK, model))
    assert gossamer.verify(schedule)
    claim = algorithm.offer(Case(network, TASK, model)).time
    assert claim is None or schedule.completion_time == claim
    return schedule


# -- one packet a slot and node ----------------------------------------------------------------------------------


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_up_first_meets_the_corrected_bound(k, h):
    network = fat_tree(k, h)
    schedule = valid(UP_FIRST, network, ONE_SEND)
    assert schedule.completion_time == routing_node_steps(network.levels)
    assert schedule.completion_time == best_bound(Case(network, TASK, ONE_SEND)).value
    n = k**h
    if h >= 2:
        corrected = n * n * 5 // 8 + 2 * h - 3 if k == 2 else n * n * (k - 1) // k + 2 * h - 1
        assert routing_node_steps(Levels.uniform(k, h)) == corrected


def theorem_6_8(k, h):
    return k ** (2 * h - 3) * (2 * k + 1) * (k - 1) + 2 * h - 3 if h >= 2 else None


@pytest.mark.parametrize(("k", "h", "printed", "true"), [(3, 2, 43, 57), (3, 3, 381, 491), (4, 2, 109, 195)])
def test_theorem_6_8_is_below_what_the_root_must_send(k, h, printed, true):
    """Erratum 9.7: false for k >= 3."""
    assert theorem_6_8(k, h) == printed < k ** (2 * h) * (k - 1) // k < true
    assert best_bound(Case(fat_tree(k, h), TASK, ONE_SEND)).value == true


@pytest.mark.parametrize("h", range(2, 7))
def test_theorem_6_8_holds_for_two_children(h):
    assert theorem_6_8(2, h) == routing_node_steps(Levels.uniform(2, h))


def test_more_children_make_the_exchange_slower_and_not_faster():
    """6.2.5 says that larger k helps; among the trees of 64 leaves k = 2 is best."""
    times = [routing_node_steps(Levels.uniform(k, h)) for k, h in [(2, 6), (4, 3), (8, 2), (64, 1)]]
    assert times == sorted(times)


@pytest.mark.parametrize("k", range(2, 8))
def test_star_takes_k_times_k_minus_1_and_1(k):
    """Erratum 9.10, height 1."""
    assert valid(UP_FIRST, fat_tree(k, 1), ONE_SEND).completion_time == k * (k - 1) + 1


@pytest.mark.parametrize(("k", "h"), [(2, 3), (2, 5), (3, 3), (4, 3)])
def test_phases_of_up_first_end_as_in_lemma_6_7(k, h):
    network, n = fat_tree(k, h), k**h
    schedule = valid(UP_FIRST, network, ONE_SEND)
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    place = network.coordinates[source, 1]
    for i in range(1, h - 1):
        here = network.coordinates[source, 0] == i
        assert schedule.slot[here & (target > source)].max() + 1 == i + k**i * (n - k**i)
        own = schedule.packets.origin[schedule.packet] // k**i == place
        assert schedule.slot[here & (target < source) & own].max() + 1 == i + k**i * (n - k ** (i - 1))


@pytest.mark.parametrize(("k", "h", "slower", "steps"), [(2, 3, 44, 43), (3, 2, 59, 57)])
def test_closest_first_is_slower(k, h, slower, steps):
    assert served(fat_tree(k, h), digitwise_partners(Levels.uniform(k, h))[:, ::-1], one_send=True) == slower
    assert routing_node_steps(Levels.uniform(k, h)) == steps


def served(network, partner, one_send):
    """Steps when each leaf sends to its row of partners in order."""
    n = network.terminal_count
    leaf = np.arange(n)[:, None]
    packet = (leaf * (n - 1) + partner - (partner > leaf)).astype(np.int32)
    destination = np.empty(n * (n - 1), np.int32)
    destination[packet] = partner
    hops = serve_queues(network, packet, destination, one_send)
    model = ONE_SEND if one_send else Rules()
    schedule = Schedule(network, TASK, model, *hops)
    assert gossamer.verify(schedule)
    return schedule.completion_time


@pytest.mark.parametrize(("k", "h"), [(2, 3), (3, 2), (4, 2)])
def test_order_within_a_distance_does_not_matter_with_one_port(k, h):
    partner = digitwise_partners(Levels.uniform(k, h))
    leaf = np.arange(k**h)[:, None]
    distance = sum((partner // k**i != leaf // k**i).astype(int) for i in range(h))
    ascending = np.take_along_axis(partner, np.lexsort((partner, -distance), axis=1), axis=1)
    assert served(fat_tree(k, h), ascending, one_send=True) == routing_node_steps(Levels.uniform(k, h))


@pytest.mark.uncompiled
@pytest.mark.parametrize("algorithm", [DIGITWISE, OFFSETS, PHASES, UP_FIRST], ids=lambda a: a.name)
def test_exchange_of_nine_leaves_without_the_compiler(algorithm):
    assert valid(algorithm, fat_tree(3, 2, "exponential"), ONE_SEND if algorithm is UP_FIRST else Rules())


# -- all ports, with queues --------------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [1, 2, 3, 5])
@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_digitwise_meets_the_branch_bound_with_equal_capacities(k, h, capacity):
    """Known for capacity 1."""
    network, n = fat_tree(k, h, (capacity,) * h), k**h
    schedule = valid(DIGITWISE, network)
    assert schedule.completion_time == branch_steps(network.levels) == best_bound(Case(network, TASK, Rules())).value
    if capacity == 1 and h:
        assert schedule.completion_time == n * n * (k - 1) // k**2 + 2 * h - 1  # (6.4)


@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_digitwise_takes_n_plus_2h_minus_2_with_exponential_capacities(k, h):
    assert valid(DIGITWISE, fat_tree(k, h, "exponential")).completion_time == (k**h + 2 * h - 2 if h else 0)


@given(fat_trees())
@settings(max_examples=60)
def test_digitwise_is_valid_and_above_the_bound_with_any_capacities(network):
    time = valid(DIGITWISE, network).completion_time
    assert best_bound(Case(network, TASK, Rules())).value <= time <= phased_steps(network.levels)


def test_digitwise_needs_queues():
    network = fat_tree(2, 5)
    assert queue_peaks(DIGITWISE.build(Case(network, TASK, Rules()))).max() + 1 == 129


def test_carries_make_the_greedy_exchange_slower():
    """Ties within a distance broken by (b - a) mod n instead of digitwise."""
    partner, leaf = digitwise_partners(Levels.uniform(2, 4)), np.arange(16)[:, None]
    distance = sum((partner // 2**i != leaf // 2**i).astype(int) for i in range(4))
    order = np.lexsort((-((partner - leaf) % 16), -distance), axis=1)
    assert served(fat_tree(2, 4), np.take_along_axis(partner, order, axis=1), one_send=False) == 85
    assert branch_steps(Levels.uniform(2, 4, (1,) * 4)) == 71


def test_stars_of_up_to_64_leaves_are_exchanged_in_the_least_time():
    for k in range(9, 65):
        assert DIGITWISE.offer(Case(fat_tree(k, 1), TASK, Rules())).optimal
        for c in (1, 2, 3, 5):
            assert valid(DIGITWISE, fat_tree(k, 1, [c])).completion_time == 1 - (1 - k) // c
        assert valid(UP_FIRST, fat_tree(k, 1), ONE_SEND).completion_time == routing_node_steps(Levels.uniform(k, 1))


# -- all ports, phases -------------------------------------------------------------------------------------------


@given(fat_trees())
@settings(max_examples=40)
def test_phases_are_valid_and_hold_few_packets_with_any_capacities(network):
    schedule = valid(PHASES, network)
    assert schedule.completion_time >= best_bound(Case(network, TASK, Rules())).value
    if network.levels.height:
        room = network.levels.arity * max(usable_capacities(network.levels))
        assert buffer_peak(schedule).packets <= room
        assert PHASES.covers(Case(network, TASK, Rules(buffer=room)))
        assert not PHASES.covers(Case(network, TASK, Rules(buffer=1)))
        assert gossamer.verify(PHASES.build(Case(network, TASK, Rules(buffer=room))))


@given(fat_trees())
@settings(max_examples=40)
def test_packets_never_wait_in_phases(network):
    schedule = PHASES.build(Case(network, TASK, Rules()))
    order = np.lexsort((schedule.slot, schedule.packet))
    same = np.diff(schedule.packet[order]) == 0
    assert (np.diff(schedule.slot[order])[same] == 1).all()


@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_phases_take_the_printed_times_with_constant_and_exponential_capacities(k, h):
    n = k**h
    if h:
        assert phased_steps(fat_tree(k, h).levels) == (n * n - 1) // (k + 1) + 2 * h - 1
        assert phased_steps(fat_tree(k, h, "exponential").levels) == n + 2 * h - 2
        serial = sum(length + 2 * g + 1 for g, length in enumerate(phase_lengths(fat_tree(k, h).levels)))
        assert serial == sum((k - 1) * k ** (2 * g - 2) for g in range(1, h + 1)) + h * h


def printed_6_5(k, capacities):
    rounds = [-(-(k - 1) * k ** (2 * g) // c) for g, c in enumerate(capacities)]
    return sum(rounds) + 2 * len(rounds) - 1


@given(shapes, st.data())
def test_6_5_holds_where_capacities_grow_at_most_k_times(shape, data):
    k, h = shape
    capacities, c = [], 1
    for _ in range(h):
        capacities.append(c)
        c = data.draw(st.integers(c, k * c))
    if h:
        assert usable_capacities(Levels.uniform(k, h, tuple(capacities))) == capacities
        assert phased_steps(Levels.uniform(k, h, tuple(capacities))) == printed_6_5(k, capacities)


@pytest.mark.parametrize(("capacities", "printed", "least"), [((1, 4), 5, 6), ((1, 1, 4), 14, 17)])
def test_6_5_is_below_a_lower_bound_where_capacities_grow_faster(capacities, printed, least):
    """Erratum 9.9."""
    network = fat_tree(2, len(capacities), capacities)
    assert printed_6_5(2, capacities) == printed
    assert best_bound(Case(network, TASK, Rules())).value == least
    assert valid(PHASES, network).completion_time >= least


# -- all ports, full capacities ----------------------------------------------------------------------------------


@pytest.mark.exhaustive(always=10)
@pytest.mark.parametrize(("k", "h"), SHAPES)
def test_offsets_are_optimal_with_exponential_capacities(k, h):
    network = fat_tree(k, h, "exponential")
    schedule = valid(OFFSETS, network)
    assert schedule.completion_time == way_steps(Levels.uniform(k, h)) == best_bound(Case(network, TASK, Rules())).value


def test_phases_are_not_optimal_for_two_children_as_the_source_conjectures():
    """6.3.3.1: 11 steps are possible for h = 3, the phases take n + 2h - 2 = 12."""
    network = fat_tree(2, 3, "exponential")
    assert phased_steps(network.levels) == 12
    assert valid(OFFSETS, network).completion_time == 11


@pytest.mark.parametrize(("k", "h"), [s for s in SHAPES if s[0] > 2 or s[1] <= 2])
def test_phases_are_optimal_with_exponential_capacities_otherwise(k, h):
    network = fat_tree(k, h, "exponential")
    assert PHASES.offer(Case(network, TASK, Rules())).optimal
    assert DIGITWISE.offer(Case(network, TASK, Rules())).optimal
    assert phased_steps(network.levels) == best_bound(Case(network, TASK, Rules())).value


@given(st.integers(2, 7), st.integers(1, 12))
def test_offset_times_respect_the_distances_and_never_collide(k, h):
    if k**h > 5000:
        h = int(math.log(5000, k))
    leave, arrive = offset_times(Levels.uniform(k, h))[:, 1:]
    level = sum((np.arange(1, k**h) >= k**i).astype(int) for i in range(h))
    assert (arrive - leave >= 2 * level - 1).all()
    assert sorted(leave.tolist()) == list(range(k**h - 1))
    assert np.unique(arrive).size == arrive.size
    assert arrive.max() + 1 == way_steps(Levels.uniform(k, h))


@pytest.mark.parametrize("h", range(1, 40))
@pytest.mark.parametrize("k", range(2, 9))
def test_way_steps_are_n_minus_2_and_the_average_distance(k, h):
    n = k**h
    total = sum(2 * i * (k**i - k ** (i - 1)) for i in range(1, h + 1))
    assert total * (k - 1) == 2 * h * n * (k - 1) - 2 * (n - 1)  # D = 2hn/(n-1) - 2/(k-1)
    assert way_steps(Levels.uniform(k, h)) == n - 2 - (-total // (n - 1))


@given(fat_trees())
@settings(max_examples=40)
def test_offsets_need_full_capacities(network):
    k, capacities = network.levels.arity, network.levels.capacities
    if all(c >= k**i for i, c in enumerate(capacities)):
        valid(OFFSETS, network)
    else:
        with pytest.raises(NotApplicableError, match="needs c_i of k_1"):
            OFFSETS.build(Case(network, TASK, Rules()))


@given(fat_trees())
@settings(max_examples=60)
def test_what_is_called_optimal_meets_the_bound(network):
    bound = best_bound(Case(network, TASK, Rules())).value
    assert least_steps(network.levels) <= bound
    for algorithm in (DIGITWISE, OFFSETS, PHASES):
        if algorithm.covers(Case(network, TASK, Rules())) and algorithm.offer(Case(network, TASK, Rules())).optimal:
            assert algorithm.offer(Case(network, TASK, Rules())).time == bound
