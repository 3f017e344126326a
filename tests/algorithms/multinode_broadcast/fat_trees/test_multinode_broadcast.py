"""Multinode broadcast in fat trees: step lists, lemmas, queues and times of Dimakopoulos 1996, chapter 6."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.fat_trees.twin import queue_peaks, serve
from gossamer import ALGORITHMS, Rules
from gossamer.algorithms.derived import allreduce_from, dual
from gossamer.algorithms.multinode_broadcast.fat_trees import (
    CLIMBING_STAR_EXCHANGES,
    FLOODING,
    RISING_STAR_EXCHANGES,
    STAR_EXCHANGES,
    UP_FIRST,
    flooding_steps,
    rising_star_exchange_steps,
    star_exchange_hops,
    star_exchange_steps,
    up_first_steps,
)
from gossamer.bounds import best_bound
from gossamer.networks import Levels, fat_tree
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, ReduceScatter

COMBINING = Rules(reduction=True)
"""Rules under which switches combine contributions."""
TASK = MultinodeBroadcast()
ONE_SEND = Rules(ports="one-send")

shapes = st.sampled_from([(k, h) for k in range(2, 8) for h in range(7) if k**h <= 64])


@st.composite
def fat_trees(draw):
    k, h = draw(shapes)
    return fat_tree(k, h, sorted(draw(st.lists(st.integers(1, 40), min_size=h, max_size=h))))


def steps(schedule):
    """Hops of each step, ``a->b(m)``, with X, Y and R for the routing nodes of k = 2, h = 2."""
    names = "0123XYR"
    rows = [set() for _ in range(schedule.slot_count)]
    for t, e, p in zip(schedule.slot, schedule.link, schedule.packet, strict=True):
        ends = schedule.network.link_source[e], schedule.network.link_target[e]
        rows[t].add(f"{names[ends[0]]}->{names[ends[1]]}({p})")
    return rows


@pytest.mark.uncompiled
def test_up_first_is_figure_6_7():
    listed = [
        "0->X(0) 1->X(1) 2->Y(2) 3->Y(3)", "X->R(0) Y->R(2)", "X->R(1) Y->R(3) R->X(2)", "X->0(1) Y->2(3) R->Y(0)",
        "X->1(0) Y->3(2) R->X(3)", "X->0(2) Y->2(0) R->Y(1)", "X->1(2) Y->3(0)", "X->0(3) Y->2(1)", "X->1(3) Y->3(1)",
    ]  # fmt: skip
    assert steps(UP_FIRST.build(Case(fat_tree(2, 2), TASK, ONE_SEND))) == [set(row.split()) for row in listed]


@pytest.mark.uncompiled
def test_flooding_is_figure_6_9():
    listed = [
        "0->X(0) 1->X(1) 2->Y(2) 3->Y(3)", "X->0(1) X->1(0) X->R(0) Y->2(3) Y->3(2) Y->R(2)",
        "X->R(1) Y->R(3) R->X(2) R->Y(0)", "X->0(2) X->1(2) Y->2(0) Y->3(0) R->X(3) R->Y(1)",
        "X->0(3) X->1(3) Y->2(1) Y->3(1)",
    ]  # fmt: skip
    assert steps(FLOODING.build(Case(fat_tree(2, 2), TASK, Rules()))) == [set(row.split()) for row in listed]


@given(fat_trees(), st.sampled_from([(FLOODING, "all"), (STAR_EXCHANGES, "all"), (UP_FIRST, "one-send")]))
@settings(max_examples=60)
def test_all_trees_and_capacities_get_valid_schedules_of_the_claimed_time(network, algorithm_and_ports):
    algorithm, ports = algorithm_and_ports
    model = Rules(ports=ports)
    schedule = algorithm.build(Case(network, TASK, model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == algorithm.offer(Case(network, TASK, model)).time
    least = best_bound(Case(network, TASK, model)).value
    assert least <= schedule.completion_time
    assert least == schedule.completion_time or not algorithm.offer(Case(network, TASK, model)).optimal
    assert schedule.stored_hops == network.terminal_count * (network.node_count - 1)


@given(fat_trees())
@settings(max_examples=40)
def test_flooding_is_optimal_and_so_is_its_reversal(network):
    backward = dual(FLOODING, ReduceScatter).build(Case(network, ReduceScatter(), COMBINING))
    assert gossamer.verify(backward)
    assert backward.completion_time == best_bound(Case(network, ReduceScatter(), COMBINING)).value
    assert gossamer.verify(allreduce_from(FLOODING).build(Case(network, Allreduce(), COMBINING)))


@pytest.mark.parametrize(("k", "h"), [(2, 2), (2, 6), (3, 2), (3, 4), (4, 3), (5, 2), (7, 2)])
def test_times_are_those_of_the_theorems_from_height_2(k, h):
    n = k**h
    assert flooding_steps(Levels.uniform(k, h)) == (n if k > 2 else n + 1)  # Theorem 6.9
    assert up_first_steps(Levels.uniform(k, h)) == k * n + (k + 1) * (h - 2) + 1  # Theorem 6.5
    assert star_exchange_steps(Levels.uniform(k, h)) == n + 2 * h - 2
    serial = sum((k - 1) * k ** (g - 1) + 2 * g - 1 for g in range(1, h + 1))
    assert serial == n + h * h - 1  # (6.3), phases that do not overlap
    assert serial - star_exchange_steps(Levels.uniform(k, h)) == sum(2 * g - 3 for g in range(2, h + 1))


@pytest.mark.parametrize(("k", "all_ports", "one_send"), [(2, 2, 3), (3, 3, 7), (5, 5, 21)])
def test_formulas_of_the_source_fail_at_height_1(k, all_ports, one_send):
    """Erratum 9.10: n+1 = 3 for k = 2, and kn + (k+1)(h-2) + 1 = 2 and 6 for k = 2 and 3."""
    network = fat_tree(k, 1)
    assert FLOODING.build(Case(network, TASK, Rules())).completion_time == all_ports
    assert UP_FIRST.build(Case(network, TASK, ONE_SEND)).completion_time == one_send
    assert k * k + (k + 1) * (1 - 2) + 1 != one_send


def hops_of(schedule, level, upward):
    """Slots, nodes and packets of the hops that nodes of a level make upwards, or downwards."""
    network = schedule.network
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    rows = (network.coordinates[source, 0] == level) & ((target > source) == upward)
    return schedule.slot[rows], source[rows], schedule.packet[rows]


@pytest.mark.parametrize(("k", "h"), [(2, 3), (2, 5), (3, 3), (4, 3)])
def test_phases_of_up_first_end_as_in_lemma_6_4(k, h):
    network = fat_tree(k, h)
    schedule = UP_FIRST.build(Case(network, TASK, ONE_SEND))
    for i in range(1, h - 1):
        slot, _, _ = hops_of(schedule, i, upward=True)
        assert slot.max() + 1 == i + k**i
        slot, node, packet = hops_of(schedule, i, upward=False)
        own = packet // k**i == network.coordinates[node, 1]
        assert slot[own].max() + 1 == i + k ** (i + 1)


@pytest.mark.parametrize(("k", "h", "slower", "steps"), [(2, 3, 25, 20), (3, 2, 33, 28)])
def test_children_must_be_served_in_turn(k, h, slower, steps):
    waiting = np.arange(k**h)[:, None]
    assert serve(fat_tree(k, h), waiting, None, True, lowest_child_first=True)[-1][0] + 1 == slower
    assert up_first_steps(Levels.uniform(k, h)) == steps


@pytest.mark.parametrize(("k", "h"), [(2, 4), (2, 6), (3, 3), (3, 4), (4, 3)])
def test_queues_of_flooding_are_as_long_as_6_3_2_1_says(k, h):
    """With capacity 1: (k-1)k^(i-1) upwards, two less downwards for i >= 2, without the packet sent next."""
    network = fat_tree(k, h)
    peaks = queue_peaks(FLOODING.build(Case(network, TASK, Rules())))
    level = network.coordinates[:, 0]
    source, upward = network.link_source, network.link_target > network.link_source
    for i in range(1, h):
        assert set(peaks[(level[source] == i) & upward]) == {(k - 1) * k ** (i - 1)}
        if i >= 2:
            assert set(peaks[(level[source] == i) & ~upward]) == {(k - 1) * k ** (i - 1) - 2}


@pytest.mark.parametrize("capacity", ["exponential", "constant"])
@pytest.mark.parametrize(("k", "h"), [(2, 4), (3, 3)])
def test_star_exchanges_that_climb_again_need_no_memory(k, h, capacity):
    """As in the source: what comes moves on at once, but for the k packets of a star exchange."""
    network = fat_tree(k, h, capacity)
    hops = star_exchange_hops(network, climb_again=True)
    schedule = CLIMBING_STAR_EXCHANGES.build(Case(network, TASK, Rules()))
    assert gossamer.verify(schedule)
    assert gossamer.buffer_peak(schedule).packets == k
    assert schedule.completion_time == star_exchange_steps(Levels.uniform(k, h))
    slot, link, packet = (column.astype(np.int64) for column in hops)
    target, source = network.link_target[link], network.link_source[link]
    arrivals = {}
    for row in range(slot.size):
        arrivals.setdefault((target[row], packet[row]), []).append(slot[row])
    waits = [
        slot[row] - max(t for t in arrivals[source[row], packet[row]] if t < slot[row])
        for row in range(slot.size)
        if source[row] >= network.terminal_count
    ]
    assert max(waits) <= k - 1
    assert min(waits) == 1
    assert np.unique(np.stack([slot, link]), axis=1).shape[1] == slot.size  # one packet on a link in a slot


@given(st.lists(st.integers(2, 6), min_size=1, max_size=6).filter(lambda shape: np.prod(shape) <= 130))
@settings(max_examples=60, deadline=None)
def test_rising_star_exchanges_take_the_fewest_steps_with_two_packets_at_a_node(arities):
    network = fat_tree(arities)
    case = Case(network, TASK, Rules(buffer=2))
    offer, schedule = RISING_STAR_EXCHANGES.offer(case), RISING_STAR_EXCHANGES.build(case)
    assert gossamer.verify(schedule)
    assert offer.optimal
    assert schedule.completion_time == offer.time == best_bound(case).value == flooding_steps(network.levels)
    assert gossamer.buffer_peak(schedule).packets == 2


@pytest.mark.parametrize(("capacity", "optimal"), [("exponential", True), ((1, 1, 9), True), ((2, 2, 2), False)])
def test_rising_star_exchanges_use_one_packet_of_each_capacity(capacity, optimal):
    case = Case(fat_tree(2, 3, capacity), TASK, Rules())
    assert RISING_STAR_EXCHANGES.offer(case).optimal == optimal
    assert RISING_STAR_EXCHANGES.build(case).completion_time == rising_star_exchange_steps(case.network.levels) == 9


def test_a_routing_node_gets_a_packet_again_only_after_it_sent_it_on():
    """In a tree of two leaves the root that got a message twice before it sent it on would keep it twice."""
    network = fat_tree(2, 1)
    up = int(network.first_link[0])
    down = int(network.reverse_link[network.first_link[1]])
    for slots, valid in (((0, 1, 2), True), ((0, 2, 1), False)):  # again after, and before, it is sent on
        hops = sorted([(slots[0], up, 0), (slots[1], down, 0), (slots[2], up, 0)])
        schedule = gossamer.Schedule(network, gossamer.task("broadcast"), Rules(), *zip(*hops, strict=True))
        assert set(gossamer.verify(schedule).counts) == (set() if valid else {"duplicate"})


def test_first_climb_is_enough_for_the_checker():
    network = fat_tree(2, 3)
    assert star_exchange_hops(network)[0].size < star_exchange_hops(network, climb_again=True)[0].size
    assert gossamer.verify(STAR_EXCHANGES.build(Case(network, TASK, Rules())))


def test_free_reception_run_backwards_is_free_sending():
    network, task = fat_tree(2, 2), ReduceScatter()
    backwards = dual(UP_FIRST, ReduceScatter)
    schedule = backwards.build(Case(network, task, Rules(ports="one-receive", reduction=True)))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == up_first_steps(Levels.uniform(2, 2))
    assert not backwards.covers(Case(network, task, ONE_SEND))
    assert not any(a.name == "two-way-fat-tree-up-first" for a in ALGORITHMS)


@pytest.mark.parametrize("arities", [(2, 2), (2, 2, 2, 2), (3, 3), (2, 3), (3, 2), (4, 2, 3), (2, 2, 4), (5,), (2,)])
def test_star_exchanges_keep_to_the_buffers_that_they_need_and_refuse_smaller_ones(arities):
    network = fat_tree(arities)
    most = max(arities)
    for algorithm, held in (
        (CLIMBING_STAR_EXCHANGES, most),
        (RISING_STAR_EXCHANGES, 2),
        (STAR_EXCHANGES, max(most, network.terminal_count // arities[-1] + 1)),
    ):
        free = gossamer.plan(network, TASK, algorithm=algorithm.name)
        limited = gossamer.plan(network, TASK, algorithm=algorithm.name, rules=Rules(buffer=held))
        assert free.schedule.hop_count == limited.schedule.hop_count
        assert gossamer.buffer_peak(limited.schedule).packets == held
        counted = Rules(buffer=network.terminal_count, buffer_counts="all")
        assert algorithm.covers(Case(network, TASK, counted))
        for buffer, counts in ((held - 1, "transit"), (network.terminal_count - 1, "all")):
            case = Case(network, TASK, Rules(buffer=buffer, buffer_counts=counts)) if buffer else None
            assert case is None or not algorithm.covers(case)
