"""The optimal multinode broadcast on p x p tori (Theorem 1), and twice its time on p x p arrays."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.rotated_quadrant import (
    ROTATED_QUADRANT,
    ROTATED_QUADRANT_ON_ARRAY,
    quadrant_cells,
)
from gossamer.bounds import bounds
from gossamer.networks import array, torus
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import torus_on_array
from gossamer.verification import verify

TASK, MODEL = MultinodeBroadcast(), Rules()


def test_cells_of_the_4_x_4_torus_are_those_worked_out_by_hand():
    cells = {(x, y): (t, r) for x, y, t, r in quadrant_cells(4).tolist()}
    assert cells == {
        (1, 0): (1, 0), (0, 1): (1, 1), (3, 0): (1, 2), (0, 3): (1, 3),
        (1, 1): (2, 0), (3, 1): (2, 1), (3, 3): (2, 2), (1, 3): (2, 3),
        (2, 1): (3, 0), (3, 2): (3, 1), (2, 3): (3, 2), (1, 2): (3, 3),
        (2, 0): (4, 0), (0, 2): (4, 1), (2, 2): (4, 2),
    }  # fmt: skip


def test_direction_0_of_the_5_x_5_torus_takes_the_offsets_worked_out_by_hand():
    cells = quadrant_cells(5)
    assert cells[cells[:, 3] == 0][:, :2].tolist() == [[1, 0], [1, 1], [2, 0], [1, 2], [2, 1], [2, 2]]


@pytest.mark.parametrize("p", range(3, 21))
def test_every_offset_has_one_cell_and_an_earlier_parent(p):
    cells = quadrant_cells(p)
    offsets, places = cells[:, :2] @ [p, 1], cells[:, 2:] @ [4, 1]
    assert sorted(offsets.tolist()) == list(range(1, p * p))
    assert len(set(places.tolist())) == p * p - 1
    slot = np.zeros(p * p, np.int64)
    slot[offsets] = cells[:, 2]
    step = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])[cells[:, 3]]
    parents = ((cells[:, :2] - step) % p) @ [p, 1]
    assert (slot[parents] < cells[:, 2]).all()


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize("p", range(3, 21))
def test_time_is_that_of_theorem_1_on_torus_and_array(p):
    on_torus = ROTATED_QUADRANT.build(Case(torus(p, p), TASK, MODEL))
    on_array = ROTATED_QUADRANT_ON_ARRAY.build(Case(array(p, p), TASK, MODEL))
    assert verify(on_torus).ok
    assert verify(on_array).ok
    assert on_torus.completion_time == (p * p / 4 if p % 2 == 0 else (p * p - 1) / 4)
    assert on_array.completion_time == 2 * on_torus.completion_time == p * p // 2
    for schedule in (on_torus, on_array):
        assert schedule.completion_time == bounds(Case(schedule.network, TASK, MODEL))[0].value


def test_times_are_the_reference_times():
    times = [int(ROTATED_QUADRANT.build(Case(torus(p, p), TASK, MODEL)).completion_time) for p in range(3, 11)]
    assert times == [2, 4, 6, 9, 12, 16, 20, 25]


def test_formula_for_the_torus_fails_for_two_nodes_a_side_and_that_for_the_array_holds():
    four_cycle = torus(2, 2)
    assert four_cycle.node_count // 4 == 1 < four_cycle.diameter
    refusal = ROTATED_QUADRANT.offers(Case(four_cycle, TASK, MODEL))
    assert refusal == Refusal("needs a torus of two equal sides of 3 nodes or more")
    for network in (four_cycle, array(2, 2)):
        assert gossamer.plan(network, TASK).completion_time == network.node_count // 2 == 2


@pytest.mark.parametrize("spec", ["torus:3x4", "torus:3x3x3", "ring:9", "array:4x4", "product:(ring:3)x(array:3)"])
def test_other_networks_are_declined(spec):
    assert "needs" in ROTATED_QUADRANT.offers(Case(gossamer.network(spec), TASK, MODEL)).why


def test_dimensions_of_side_1_do_not_count():
    schedule = ROTATED_QUADRANT.build(Case(torus(5, 1, 5), TASK, MODEL))
    assert verify(schedule).ok
    assert schedule.completion_time == 6
    assert torus_on_array(schedule).completion_time == 12


def test_a_torus_of_a_million_nodes_is_one_tree():
    schedule = ROTATED_QUADRANT.build(Case(torus(1000, 1000), TASK, MODEL))
    assert schedule.stored_hops == 10**6 - 1
    assert verify(schedule).ok
    assert schedule.completion_time == 250_000
