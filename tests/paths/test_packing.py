from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.graphs.concentration_routing import RotatedClass, links_along, packing_legs, rotations, write_packing
from gossamer.networks import array
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule
from gossamer.verification import verify


def packing(network, turn, sources, digits=None):
    """The packing of a set of sources as a schedule of its own: the packet of rank i goes to the node of name i."""
    names = np.sort(turn.name[list(sources)])
    origin = turn.node[names]
    destination = np.full(network.node_count, -1)
    destination[origin] = turn.node[: names.size]
    packet = np.argsort(np.argsort(origin)).astype(np.int32)
    steps = max(turn.sides) - 1
    columns = tuple(np.empty(names.size * sum(turn.sides), np.int32) for _ in range(3))
    each = RotatedClass(turn, names.astype(np.int32), packet)
    rows = write_packing(columns, 0, 0, [each], links_along(network), steps, digits=digits)
    phases = [Phase("packing", len(turn.sides) * steps)]
    task = Permutation(tuple(destination.tolist()))
    return Schedule(network, task, Rules(), *(c[:rows] for c in columns), phases=phases)


def source_sets(nodes):
    return itertools.chain.from_iterable(itertools.combinations(range(nodes), k) for k in range(1, nodes + 1))


@pytest.mark.parametrize("sides", [(2,), (2, 2), (2, 2, 2), (3,), (3, 3), (2, 3), (3, 2)], ids=str)
def test_every_source_set_packs_without_conflict(sides):
    network = array(*sides)
    turn = rotations(network.grid)[0]
    for sources in source_sets(network.node_count):
        assert verify(packing(network, turn, sources)).ok, sources


@given(sides=st.lists(st.integers(2, 5), min_size=1, max_size=4), data=st.data())
@settings(max_examples=60)
def test_random_source_sets_pack_in_the_names_of_every_class(sides, data):
    network = array(*sides)
    sources = data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1))
    for turn in rotations(network.grid):
        schedule = packing(network, turn, sources)
        assert verify(schedule).ok
        assert schedule.completion_time == len(sides) * (max(sides) - 1)


def test_dimension_j_is_used_in_slots_j_p_minus_1_and_the_p_minus_2_that_follow():
    network = array(4, 4, 4)
    turn = rotations(network.grid)[0]
    schedule = packing(network, turn, range(21, 64))
    column = np.empty(network.link_count, int)
    table = links_along(network)
    for j in range(3):
        used = table[:, j]
        column[used[used >= 0]] = j
    assert np.array_equal(schedule.slot // 3, column[schedule.link])
    assert schedule.slot_count == 9


def test_all_packets_are_at_distinct_nodes_after_each_digit():
    turn = rotations(array(2, 2, 2).grid)[0]
    for sources in source_sets(8):
        for _, name, _ in packing_legs(turn, np.array(sources, np.int32)):
            assert len(set(name.tolist())) == len(sources)


def test_most_significant_digit_first_makes_two_packets_meet():
    turn = rotations(array(2, 2).grid)[0]
    legs = list(packing_legs(turn, np.array([0, 2], np.int32), digits=[1, 0]))
    assert legs[1][1].tolist() == [0, 0]


def test_most_significant_digit_first_makes_two_packets_need_one_link():
    network = gossamer.network("array:2x2x2")
    turn = rotations(network.grid)[0]
    assert verify(packing(network, turn, [2, 6])).ok
    assert verify(packing(network, turn, [2, 6], digits=[2, 1, 0])).counts == {"link capacity": 1}
