from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import (
    round_slots,
    subphase_slots,
    write_rounds,
)
from gossamer.graphs.concentration_routing import RotatedClass, links_along, rotations
from gossamer.networks import array, hypercube, ring, torus
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule
from gossamer.verification import verify


def one_round(network, halves):
    """Every node of a line or ring broadcasts one packet, as a schedule of its own."""
    turn = rotations(network.grid)[0]
    n = network.node_count
    columns = tuple(np.empty(n * (n - 1) * halves, np.int32) for _ in range(3))
    each = RotatedClass(turn, np.arange(n, dtype=np.int32), np.arange(0, n * halves, halves, dtype=np.int32))
    rows = write_rounds(columns, 0, 0, [each], links_along(network), subphase_slots([turn], n, halves), halves)
    assert rows == columns[0].size
    return Schedule(network, MultinodeBroadcast(), Rules(split=True), *columns, parts=halves)


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("halves", [1, 2])
@pytest.mark.parametrize("family", [array, ring])
def test_a_round_is_a_multinode_broadcast_of_its_length(family, n, halves):
    schedule = one_round(family(n), halves)
    assert verify(schedule).ok
    assert schedule.slot_count == round_slots(n, family is ring and n > 2, halves)


@pytest.mark.parametrize("n", range(3, 9))
def test_whole_packets_go_round_a_ring_in_floor_n_over_2_steps(n):
    schedule = one_round(ring(n), 1)
    assert verify(schedule).ok
    assert schedule.completion_time == n // 2
    assert (schedule.completion_time < -(-n // 2)) == (n % 2 == 1)  # the ceiling that is printed


@pytest.mark.parametrize("n", range(3, 9))
def test_halved_packets_go_round_a_ring_in_half_of_n_minus_1_steps(n):
    assert 2 * one_round(ring(n), 2).completion_time == n - 1


def test_subphases_take_as_many_rounds_as_the_paper_counts():
    turns = rotations(torus(4, 4, 4).grid)
    assert subphase_slots(turns, 49) == [2 * 1, 2 * 4, 2 * 13]
    assert subphase_slots(turns, 49, halves=2) == [3 * 1, 3 * 4, 3 * 13]
    assert subphase_slots(rotations(hypercube(5).grid), 5) == [1, 1, 1, 2, 3]


def test_subphases_with_unequal_sides_wait_for_the_longest_class():
    # digit 0 has base 5, digit 1 base 3; 7 packets: class 0 uses digit 1 and then 0, class 1 the other way round
    assert subphase_slots(rotations(array(3, 5).grid), 7) == [max(1 * 2, 1 * 4), max(2 * 4, 3 * 2)]


def insertion_slots(loads):
    """Slots of the insertion rule of Theorem 2 in one direction round a ring; every packet goes n-1 hops."""
    n = len(loads)
    waiting = list(loads)
    passing = [deque() for _ in range(n)]  # hops still to go of what a node received in the previous slot
    slots = 0
    while any(waiting) or any(passing):
        arriving = [deque() for _ in range(n)]
        for v in range(n):
            if passing[v]:
                left = passing[v].popleft()
            elif waiting[v]:
                waiting[v] -= 1
                left = n - 1
            else:
                continue
            if left > 1:
                arriving[(v + 1) % n].append(left - 1)
        passing = arriving
        slots += 1
    return slots


def test_insertion_on_a_ring_can_take_longer_than_rounds():
    loads = [0, 2, 2]
    assert insertion_slots(loads) == 5
    assert max(loads) * round_slots(3, True, halves=2) == 4


def test_insertion_on_rings_takes_the_reference_times():
    assert insertion_slots([2, 0, 1, 3]) == 8
    assert insertion_slots([1, 1, 1, 1, 1]) == 4
