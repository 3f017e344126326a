"""Mesh monotone routing (Theorem 4) and packing (Theorem 3) as routings of a permutation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.routing.monotone import MONOTONE, PACKING, packing, unpacking_legs
from gossamer.errors import TaskError
from gossamer.graphs.concentration_routing import Leg, links_along, rotations, write_legs
from gossamer.networks import array, torus
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule
from gossamer.verification import verify

MODEL = Rules()


def task_of(nodes, sources, targets):
    """The partial permutation from sources to targets, both in their order."""
    destination = np.full(nodes, -1)
    for source, target in zip(sorted(sources), sorted(targets), strict=True):
        destination[source] = target
    return Permutation(tuple(destination.tolist()))


def ok(algorithm, network, task):
    """Build, verify and check the claim."""
    schedule = algorithm.build(Case(network, task, MODEL))
    found = verify(schedule)
    assert found.ok, f"{task}: {found}"
    assert schedule.completion_time == algorithm.offer(Case(network, task, MODEL)).time
    return schedule


def subsets(nodes, size=None):
    sizes = range(nodes + 1) if size is None else [size]
    return itertools.chain.from_iterable(itertools.combinations(range(nodes), k) for k in sizes)


@pytest.mark.parametrize("sides", [(2,), (2, 2), (3,), (5,), (1, 4)], ids=str)
def test_every_order_preserving_partial_permutation_is_routed(sides):
    network = array(*sides)
    n = network.node_count
    for sources in subsets(n):
        for targets in subsets(n, len(sources)):
            schedule = ok(MONOTONE, network, task_of(n, sources, targets))
            assert schedule.completion_time == 2 * sum(side - 1 for side in sides)


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "every"), [((2, 3), 1), ((2, 2, 2), 3), ((3, 3), 11)], ids=str)
def test_order_preserving_partial_permutations_of_up_to_nine_nodes_are_routed(sides, every):
    network = array(*sides)
    n = network.node_count
    pairs = ((sources, targets) for sources in subsets(n) for targets in subsets(n, len(sources)))
    for sources, targets in itertools.islice(pairs, 0, None, every):
        ok(MONOTONE, network, task_of(n, sources, targets))


@pytest.mark.parametrize("sides", [(4, 4), (5, 5, 5), (6, 6, 6), (4, 4, 4, 4), (3, 3, 3, 3, 3), (2, 7, 3)], ids=str)
def test_random_sets_are_packed_and_routed_in_the_times_of_theorems_3_and_4(sides):
    network = array(*sides)
    n, d = network.node_count, sum(side - 1 for side in sides)
    draw = np.random.default_rng(0)
    for _ in range(20):
        size = draw.integers(1, n + 1)
        sources, targets = (draw.choice(n, size, replace=False) for _ in range(2))
        assert ok(PACKING, network, task_of(n, sources, range(size))).completion_time == d
        assert ok(MONOTONE, network, task_of(n, sources, targets)).completion_time == 2 * d


@settings(max_examples=60)
@given(sides=st.lists(st.integers(1, 5), min_size=1, max_size=4), wraps=st.booleans(), data=st.data())
def test_packets_never_wait_and_at_most_three_are_at_a_node(sides, wraps, data):
    network = (torus if wraps else array)(*sides)
    n = network.node_count
    sources = data.draw(st.sets(st.integers(0, n - 1)))
    targets = data.draw(st.sets(st.integers(0, n - 1), min_size=len(sources), max_size=len(sources)))
    model = Rules(buffer=3, buffer_counts="all")
    schedule = MONOTONE.build(Case(network, task_of(n, sources, targets), model))
    assert verify(schedule).ok, str(verify(schedule))
    stride, start = np.array(network.grid.strides), 0
    steps = [(i, side - 1) for i, side in enumerate(sides) if side > 1][::-1]
    for phase in ("packing", "unpacking") if n > 1 else ():
        rows = schedule.phase_hops(phase)
        slot, link, packet = (c[rows] for c in (schedule.slot, schedule.link, schedule.packet))
        start = next(p.first_slot for p in schedule.phases if p.name == phase)
        for dimension, length in steps if phase == "packing" else steps[::-1]:
            inside = (slot >= start) & (slot < start + length)
            step = np.abs(network.link_target[link[inside]] - network.link_source[link[inside]])
            assert (step == stride[dimension]).all()  # one dimension at a time, and never around
            for p in np.unique(packet[inside]):
                mine = slot[inside][packet[inside] == p]
                assert mine.tolist() == list(range(start, start + mine.size))
            start += length


def test_printed_dimension_of_the_second_half_is_off_by_one():
    d = 3
    rotation = rotations(array(2, 2, 2).grid)[0]
    digits = [digit for digit, _, _ in unpacking_legs(rotation, np.array([1, 6], np.int32))]
    assert digits == [2 * d - 1 - j for j in range(d, 2 * d)]
    assert 2 * d - d >= d  # the printed 2d - j is no dimension for j = d


def straight_legs(rotation, source, target) -> list[Leg]:
    """Correct the digits straight to the targets, without the detour over nodes 0, 1, 2, ..."""
    legs, name = [], source
    for digit, (place, side) in enumerate(zip(rotation.places, rotation.sides, strict=False)):
        move = target // place % side - name // place % side
        legs.append((digit, name, move))
        name = name + move * place
    return legs


def test_digits_corrected_straight_to_the_targets_make_packets_meet():
    rotation = rotations(array(2, 2).grid)[0]
    legs = straight_legs(rotation, np.array([0, 1]), np.array([0, 2]))
    assert legs[1][1].tolist() == [0, 0]


def test_digits_corrected_straight_to_the_targets_make_packets_need_one_link():
    network = array(2, 2, 2)
    rotation = rotations(network.grid)[0]
    conflicts = 0
    for sources in subsets(8, 2):
        for targets in subsets(8, 2):
            legs = straight_legs(rotation, np.array(sources), np.array(targets))
            columns = tuple(np.empty(6, np.int32) for _ in range(3))
            packets = np.arange(2, dtype=np.int32)
            rows = write_legs(columns, 0, 0, [(rotation, packets, legs)], links_along(network), [1, 1, 1])
            task = task_of(8, sources, targets)
            schedule = Schedule(network, task, MODEL, *(c[:rows] for c in columns), phases=[Phase("straight", 3)])
            counts = verify(schedule).counts
            assert set(counts) <= {"link capacity"}
            conflicts += bool(counts)
            ok(MONOTONE, network, task)
    assert conflicts > 0


def test_sources_find_out_their_ranks_at_the_price_of_control_packets():
    network, task = array(3, 4), task_of(12, [1, 5, 11], [0, 2, 3])
    schedule = MONOTONE.build(Case(network, task, Rules(), StepCost("1/4")))
    assert verify(schedule).ok
    assert [(p.name, p.slots) for p in schedule.phases] == [("prefix", 10), ("packing", 5), ("unpacking", 5)]
    assert schedule.completion_time == 10 / 4 + 5 + 5


def test_the_reverse_of_a_monotone_routing_is_one_of_the_inverse():
    network, task = array(4, 4), task_of(16, [1, 5, 11], [0, 9, 15])
    back = MONOTONE.build(Case(network, task, MODEL)).reverse()
    assert verify(back).ok
    assert MONOTONE.covers(Case(network, back.task, MODEL))


def test_planner_knows_packing_and_monotone_routing_where_they_cover():
    def known(task):
        return {a.name for a in ALGORITHMS if a.covers(Case(array(4, 4), task, MODEL))} & {"packing", "monotone"}

    assert known(task_of(16, [3, 8, 9], [0, 1, 2])) == {"packing", "monotone"}
    assert known(task_of(16, [3, 8, 9], [0, 1, 4])) == {"monotone"}
    assert known(Permutation(tuple(range(15, -1, -1)))) == set()


@pytest.mark.parametrize(
    ("destination", "algorithm", "reason"),
    [
        ((-1, 0, -1, 2), PACKING, "but source 1, node 3, sends to 2"),
        ((1, 0, -1, -1), PACKING, "but source 0, node 0, sends to 1"),
        ((1, 0, -1, -1), MONOTONE, "but nodes 0 and 1 send to 1 and 0"),
    ],
)
def test_other_permutations_are_declined_with_a_reason(destination, algorithm, reason):
    assert reason in algorithm.offers(Case(array(2, 2), Permutation(destination), MODEL)).why


@pytest.mark.parametrize("algorithm", [PACKING, MONOTONE], ids=lambda a: a.name)
@pytest.mark.parametrize(
    ("spec", "model", "reason"),
    [
        ("star:3", MODEL, "needs an array or a torus"),
        ("array:2x3", Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("array:2x3", Rules(buffer=2), "may keep 3 packets at one node, more than the buffer of 2"),
    ],
)
def test_networks_and_models_that_are_not_covered_are_declined(algorithm, spec, model, reason):
    assert algorithm.offers(Case(gossamer.network(spec), Permutation((0, -1, -1, 1, -1, -1)), model)).why == reason


def test_another_task_is_refused():
    with pytest.raises(TaskError, match="carries out permutation, not broadcast"):
        packing(Case(array(3), gossamer.task("broadcast"), MODEL))
