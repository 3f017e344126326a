"""Algorithms for tori become algorithms for arrays that carry out the task that was asked for, in twice the time."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.derived import on_array
from gossamer.bounds import bounds
from gossamer.networks import array, torus
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialMultinodeBroadcast, TotalExchange
from gossamer.verification import verify


def named(task, name):
    return next(a for a in ALGORITHMS if a.name == name and task in (kind.name for kind in a.tasks))


@pytest.mark.parametrize("active", [(0,), (1, 2, 7), (3, 11, 14), tuple(range(15))], ids=str)
def test_the_active_nodes_are_those_asked_for(active):
    task = PartialMultinodeBroadcast(active)
    on_torus = named("partial-multinode-broadcast", "rotated-dimensions-unsegmented")
    folded = on_array(on_torus, lambda network: 0)
    offer = folded.offer(Case(array(3, 5), task))
    schedule = offer.build()
    assert schedule.task == task
    assert verify(schedule).ok
    assert schedule.completion_time == offer.time == 2 * on_torus.offer(Case(torus(3, 5), task)).time


@pytest.mark.parametrize("root", [0, 4, 7, 14])
def test_the_root_is_the_one_asked_for(root):
    folded = on_array(named("broadcast", "shortest-path-tree"), lambda network: 0)
    schedule = folded.build(Case(array(3, 5), gossamer.task("broadcast", root=root)))
    assert schedule.task == gossamer.task("broadcast", root=root)
    assert verify(schedule).ok


def test_total_exchange_on_the_7_x_8_array_gains_from_folding():
    case = Case(array(7, 8), TotalExchange())
    schedule = named("total-exchange", "edge-colored-on-array").build(case)
    assert verify(schedule).ok
    assert schedule.completion_time == 116 < named("total-exchange", "array-rounds").offer(case).time == 128
    assert bounds(case)[0].value == 112


@pytest.mark.parametrize(
    ("spec", "model", "reason"),
    [
        ("torus:3x3", Rules(), "needs an array"),
        ("array:2x2", Rules(), "needs a side of 3 nodes or more"),
        ("array:3x3", Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("array:3x3", Rules(buffer=3), "does not limit the packets that a node holds"),
        ("array:40x41x42", Rules(), "would write out"),
    ],
)
def test_what_is_not_covered_is_declined_with_a_reason(spec, model, reason):
    folded = named("total-exchange", "edge-colored-on-array")
    assert reason in folded.offers(Case(gossamer.network(spec), TotalExchange(), model)).why
