"""Multinode broadcast on linear arrays with one port: at the bound for every length tried."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import HEAVIEST_DIRECTION
from gossamer.bounds import best_bound
from gossamer.questions.cases import Case


@pytest.mark.exhaustive(always=10)
@pytest.mark.parametrize("ports", ["one", "one-send", "one-receive"])
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 12, 13, 31, 64])
def test_linear_arrays_take_three_halves_of_n_less_one_step(n, ports):
    case = Case(gossamer.network(f"array:{n}"), gossamer.task("allgather"), gossamer.Rules(ports=ports))
    schedule = HEAVIEST_DIRECTION.build(case)
    assert gossamer.verify(schedule)
    assert schedule.completion_time == -(-3 * n // 2) - 1
    if ports != "one-receive":
        assert best_bound(case).value == schedule.completion_time


@pytest.mark.slow
def test_every_length_up_to_200():
    for n in range(3, 201):
        case = Case(gossamer.network(f"array:{n}"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
        assert HEAVIEST_DIRECTION.build(case).completion_time == -(-3 * n // 2) - 1


def test_the_reduction_takes_as_long_and_its_bound_is_turned_round():
    for task, n in (("reduce-scatter", 9), ("allgather", 9)):
        plan = gossamer.plan(f"array:{n}", gossamer.task(task), rules=gossamer.Rules(ports="one"))
        assert plan.completion_time == plan.bound == 13


@pytest.mark.parametrize("spec", ["ring:5", "array:3x3", "array:2"])
def test_only_linear_arrays_are_covered(spec):
    assert not HEAVIEST_DIRECTION.covers(
        Case(gossamer.network(spec), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    )
