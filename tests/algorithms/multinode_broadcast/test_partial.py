from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.algorithms import algorithm as refusals
from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import subphase_slots, write_rounds
from gossamer.algorithms.multinode_broadcast.partial import (
    ROTATED_DIMENSIONS,
    rotated_dimensions_split,
    split_bound,
    whole_bound,
)
from gossamer.errors import ModelError, NotApplicableError
from gossamer.graphs.concentration_routing import RotatedClass, links_along, rotations, write_packing
from gossamer.networks import array, complete, product, ring, torus
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import CONTROL, Schedule
from gossamer.verification import verify

SPLIT, WHOLE = ROTATED_DIMENSIONS


def random_active(network, M, seed=0):
    return PartialMultinodeBroadcast(np.random.default_rng(seed).choice(network.node_count, M, replace=False))


def built(algorithm, network, task, control_time=Fraction(0)):
    """A schedule that passed the checker and took the time claimed."""
    rules = Rules(segmented=algorithm.name.endswith("-segmented"))
    offer = algorithm.offer(Case(network, task, rules, StepCost(control_time)))
    schedule = offer.build()
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time == offer.time
    return schedule


# Reference times with t_p = 0: network, M, split, whole.
TIMES = [
    ("torus:3x3", 1, "3", 6),
    ("torus:3x3", 4, "7/2", 6),
    ("torus:3x3", 9, "4", 7),
    ("torus:4x4", 5, "21/4", 10),
    ("torus:4x4", 16, "27/4", 12),
    ("torus:5x5", 12, "8", 14),
    ("torus:3x3x3", 10, "13/3", 10),
    ("torus:3x3x3", 27, "19/3", 11),
    ("torus:4x4x4", 20, "7", 17),
    ("torus:4x4x4", 64, "27/2", 27),
    ("torus:6x6x6", 216, "245/6", 60),
    ("array:3x3", 1, "4", 8),
    ("array:3x3", 4, "5", 8),
    ("array:3x3", 9, "6", 10),
    ("array:4x4", 5, "15/2", 12),
    ("array:4x4", 16, "21/2", 15),
    ("array:5x5", 12, "12", 20),
    ("array:3x3x3", 27, "32/3", 16),
    ("array:4x4x4", 64, "24", 36),
    ("array:6x6x6", 216, "230/3", 90),
]


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize(("spec", "M", "split", "whole"), TIMES)
def test_takes_the_times_of_the_table(spec, M, split, whole):
    network = gossamer.network(spec)
    assert built(SPLIT, network, random_active(network, M)).completion_time == Fraction(split)
    assert built(WHOLE, network, random_active(network, M)).completion_time == whole


@st.composite
def grids(draw, equal=False):
    """Arrays, tori and products of lines and rings, of at most 100 nodes."""
    if equal:
        p, d = draw(st.sampled_from([(2, 1), (2, 3), (2, 5), (3, 1), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2), (7, 1)]))
        return (torus if p > 2 and draw(st.booleans()) else array)(*[p] * d)
    sides = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4).filter(lambda s: math.prod(s) <= 100))
    return product(*(draw(st.sampled_from([array, ring]))(side) for side in sides))


@given(network=grids(), data=st.data(), control_time=st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1)]))
@settings(max_examples=60)
def test_any_sides_and_any_active_set_take_the_time_claimed(network, data, control_time):
    task = PartialMultinodeBroadcast(data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1)))
    for algorithm in ROTATED_DIMENSIONS:
        built(algorithm, network, task, control_time)
    for algorithm in ROTATED_DIMENSIONS:
        built(algorithm, network, MultinodeBroadcast(), control_time)


@given(network=grids(equal=True), data=st.data(), control_time=st.fractions(0, 1, max_denominator=5))
@settings(max_examples=60)
def test_equal_sides_keep_to_the_bounds_5a_to_6b(network, data, control_time):
    task = PartialMultinodeBroadcast(data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1)))
    p, d, M = network.grid.sides[0], network.grid.dimensions, len(task.active)
    wraps = network.grid.wraps[0]
    assert built(SPLIT, network, task, control_time).completion_time <= split_bound(p, d, M, control_time, wraps)
    assert built(WHOLE, network, task, control_time).completion_time <= whole_bound(p, d, M, control_time, wraps)


@pytest.mark.parametrize("spec", ["array:1", "array:2", "ring:2", "ring:3", "array:1x3", "torus:2x2", "hypercube:4"])
def test_small_and_thin_networks(spec):
    network = gossamer.network(spec)
    for algorithm in ROTATED_DIMENSIONS:
        built(algorithm, network, PartialMultinodeBroadcast([network.node_count - 1]), Fraction(1, 2))
    for algorithm in ROTATED_DIMENSIONS:
        built(algorithm, network, MultinodeBroadcast())


def test_a_side_of_two_in_a_torus_is_that_of_an_array():
    task = PartialMultinodeBroadcast([0, 3, 5])
    for algorithm in ROTATED_DIMENSIONS:
        a, b = (built(algorithm, family(2, 2, 2), task) for family in (torus, array))
        assert a.completion_time == b.completion_time


@pytest.mark.parametrize(("p", "d"), [(3, 1), (4, 1), (3, 2), (4, 2), (5, 2), (3, 3), (4, 3), (2, 5)])
@pytest.mark.parametrize("family", [array, torus])
def test_split_multinode_broadcast_with_equal_sides_meets_the_port_bound(family, p, d):
    network = family(*[p] * d)
    schedule = built(SPLIT, network, MultinodeBroadcast())
    assert schedule.completion_time == Fraction(network.node_count - 1, int(network.in_degree.min()))
    assert SPLIT.offer(Case(network, schedule.task, schedule.rules)).optimal


def test_multinode_broadcast_has_no_prefix_and_packs_only_what_is_out_of_place():
    def names(algorithm, network):
        return [p.name for p in built(algorithm, network, MultinodeBroadcast(), Fraction(1)).phases]

    assert names(WHOLE, torus(3, 3)) == ["packing", "broadcast 1", "broadcast 2"]
    assert names(SPLIT, torus(3, 3)) == ["broadcast 1", "broadcast 2"]
    assert names(WHOLE, ring(7)) == ["broadcast 1"]


def test_whole_multinode_broadcast_on_a_ring_takes_floor_n_over_2():
    for n in range(3, 10):
        assert built(WHOLE, ring(n), MultinodeBroadcast()).completion_time == n // 2


def test_phases_carry_their_slot_lengths():
    schedule = built(SPLIT, torus(4, 4), PartialMultinodeBroadcast([1, 6, 7]), Fraction(1, 10))
    assert [(p.name, p.slots, p.slot_length) for p in schedule.phases] == [
        ("prefix", 12, Fraction(1, 10)),
        ("packing", 12, Fraction(1, 4)),
        ("broadcast 1", 3, Fraction(1, 4)),
        ("broadcast 2", 3, Fraction(1, 4)),
    ]
    schedule = built(WHOLE, array(3, 5), PartialMultinodeBroadcast([1, 6, 7]), Fraction(1, 10))
    assert [(p.name, p.slots, p.slot_length) for p in schedule.phases] == [
        ("prefix", 12, Fraction(1, 10)),
        ("prefix within classes", 16, Fraction(1, 10)),
        ("packing", 8, 1),
        ("broadcast 1", 4, 1),
        ("broadcast 2", 4, 1),
    ]


@pytest.mark.parametrize("algorithm", ROTATED_DIMENSIONS, ids=lambda a: a.name)
def test_control_hops_are_there_when_they_take_no_time(algorithm):
    network = torus(3, 4)
    task = PartialMultinodeBroadcast([0, 2, 7, 11])
    free, paid = (built(algorithm, network, task, t) for t in (Fraction(0), Fraction(1, 3)))
    assert np.array_equal(free.packet, paid.packet)
    rows = free.phase_hops("prefix")
    assert (free.packet[rows] == CONTROL).all()
    assert rows.stop == 2 * (network.node_count - 1) * (2 if algorithm is SPLIT else 1)


@pytest.mark.parametrize("M", [1, 5, 36])
def test_every_part_reaches_every_other_node_once(M):
    network = torus(6, 6)
    schedule = built(SPLIT, network, random_active(network, M))
    assert np.bincount(schedule.packet[schedule.packet >= 0]).tolist() == [35] * (M * 4)


@pytest.mark.parametrize("algorithm", ROTATED_DIMENSIONS, ids=lambda a: a.name)
def test_time_does_not_depend_on_who_is_active(algorithm):
    network = array(4, 5)
    times = {built(algorithm, network, random_active(network, 7, seed)).completion_time for seed in range(10)}
    assert len(times) == 1


def test_d_parts_on_an_even_torus_are_valid_but_exceed_bound_5a():
    network = torus(4, 4, 4)
    task = PartialMultinodeBroadcast(range(64))
    schedule = rotated_dimensions_split(Case(network, task, Rules(split=True)), parts=3)
    assert verify(schedule).ok
    assert schedule.completion_time == 17 > split_bound(4, 3, 64) == 15


def classes_of_the_first(M, network):
    """The classes of the whole variant when nodes 0..M-1 are active."""
    turns = rotations(network.grid)
    for turn in turns:
        packet = np.arange(turn.shift, M, len(turns), dtype=np.int32)
        by_rank = np.argsort(turn.name[packet])
        yield RotatedClass(turn, turn.name[packet[by_rank]], packet[by_rank])


@pytest.mark.parametrize(("sides", "M"), [((2,) * 5, 21), ((4,) * 3, 49)], ids=str)
@pytest.mark.parametrize("own_lengths", [True, False])
def test_classes_conflict_unless_their_subphases_have_common_lengths(sides, M, own_lengths):
    network = array(*sides)
    classes, links = list(classes_of_the_first(M, network)), links_along(network)
    columns = tuple(np.empty(M * (network.node_count - 1), np.int32) for _ in range(3))
    steps = max(sides) - 1
    at = write_packing(columns, 0, 0, classes, links, steps)
    for each in classes:
        slots = subphase_slots([each.rotation], each.size if own_lengths else classes[0].size)
        at = write_rounds(columns, at, len(sides) * steps, [each], links, slots)
    order = np.argsort(columns[0], kind="stable")
    schedule = Schedule(network, PartialMultinodeBroadcast(range(M)), Rules(), *(c[order] for c in columns))
    assert set(verify(schedule).counts) == ({"link capacity"} if own_lengths else set())


def test_reversal_is_a_valid_partial_reduce_scatter():
    for algorithm in ROTATED_DIMENSIONS:
        forward = built(algorithm, torus(3, 4), PartialMultinodeBroadcast([0, 2, 7, 11]), Fraction(1, 4))
        backward = forward.reverse()
        verify(backward).raise_if_invalid()
        assert backward.completion_time == forward.completion_time


def test_a_hop_takes_12_bytes_and_a_packet_16():
    network = array(64, 64)
    schedule = built(WHOLE, network, random_active(network, 64))
    assert schedule.hop_count == 64 * 4095 + 3 * 2 * 4095
    assert schedule.nbytes == 12 * schedule.hop_count + 16 * 64


@pytest.mark.parametrize(
    ("algorithm", "network", "model", "reason"),
    [
        (SPLIT, array(3, 3), Rules(), "it segments messages, which the rules do not allow"),
        (WHOLE, array(3, 3), Rules(ports="one"), "it is for all-port nodes, not one-port"),
        (WHOLE, complete(4), Rules(), "it needs an array or a torus"),
        (SPLIT, torus(4, 4), Rules(split=True, buffer=11), "12 packets at one node, more than the buffer of 11"),
    ],
)
def test_says_why_it_does_not_cover_a_case(algorithm, network, model, reason):
    with pytest.raises(NotApplicableError, match=reason):
        algorithm.build(Case(network, PartialMultinodeBroadcast([0, 1, 3]), model))


def test_a_buffer_that_holds_everything_is_enough():
    task = PartialMultinodeBroadcast([0, 1, 3])
    for occupancy in ("transit", "all"):
        model = Rules(split=True, buffer=12, buffer_counts=occupancy)
        assert verify(SPLIT.build(Case(torus(4, 4), task, model))).ok


def test_too_many_hops_are_refused_before_they_are_allocated(monkeypatch):
    monkeypatch.setattr(refusals, "MAX_HOPS", 100)
    with pytest.raises(NotApplicableError, match="would write out 240 hops; at most 100"):
        WHOLE.build(Case(torus(4, 4), MultinodeBroadcast()))


def test_refuses_other_numbers_of_parts():
    with pytest.raises(ModelError, match="parts must be 2 or 4, one or two for each dimension, got 3"):
        rotated_dimensions_split(Case(torus(4, 4), PartialMultinodeBroadcast([0]), Rules(split=True)), parts=3)
