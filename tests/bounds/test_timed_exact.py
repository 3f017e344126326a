"""No bound exceeds the exact optimum of a tiny case with times, switches and parallel links, found by constraints."""

from __future__ import annotations

import datetime
import math

import pytest

import gossamer
from bounds.oracle import UndecidedError
from bounds.timed_cases import random_case
from bounds.timed_oracle import schedule_within
from gossamer import Network, Rules
from gossamer.bounds import best_bound, bounds
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, Reduce, TotalExchange

pytestmark = pytest.mark.solver
pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")

CASES = 600
SAMPLE = 40


def is_met(seed: int, most: int) -> bool | None:
    """Assert that no schedule beats the bound of a case; return whether one meets it, None if that is not decided."""
    network, task, rules, parts = random_case(seed, most)
    bound = best_bound(Case(network, task, rules))
    too_few = math.ceil(bound.value * parts) - 1
    try:
        beaten = None if too_few < 0 else schedule_within(network, task, rules, too_few, parts)
        assert beaten is None, f"case {seed}: {bound} is beaten: {task}, {rules}, {parts} parts"
        schedule = schedule_within(network, task, rules, too_few + 1, parts)
    except UndecidedError:
        return None
    if schedule is not None:
        assert gossamer.verify(schedule).ok, f"case {seed}: the oracle and the checker disagree"
        assert schedule.completion_time >= bound.value
    return schedule is not None


def test_some_random_cases():
    first = datetime.date.today().toordinal() % (CASES // SAMPLE) * SAMPLE
    met = [is_met(seed, 4) for seed in range(first, first + SAMPLE)]
    assert met.count(None) <= SAMPLE // 10
    assert met.count(True) >= SAMPLE // 2


@pytest.mark.slow
@pytest.mark.parametrize(("most", "first", "count"), [
    *((4, first, 40) for first in range(0, CASES, 40)),
    *((6, first, 10) for first in range(0, CASES, 10)),
])  # fmt: skip
def test_all_random_cases(most, first, count):
    met = [is_met(seed, most) for seed in range(first, first + count)]
    assert met.count(None) <= max(3, count // 5)
    assert met.count(True) >= count // 3


STAR = ([0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2])
"""Three terminals at a switch, 3."""


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("task", [Broadcast(0), Reduce(1), MultinodeBroadcast(), TotalExchange()])
@pytest.mark.parametrize("fields", [{}, {"cut_through": True}, {"replication": False}, {"reduction": True}])
def test_terminals_at_a_switch_meet_the_bound(ports, task, fields):
    """Through each kind of switch, and with a slow link to one of the terminals."""
    network = Network(
        "star", 4, *STAR, 1, link_occupancy=[1, 1, 2, 1, 1, 2], link_latency=[0, 0, 1, 0, 0, 1], terminal_count=3,
        links_only=True,
    )  # fmt: skip
    rules = Rules(ports=ports, **fields)
    slots = int(best_bound(Case(network, task, rules)).value)
    assert schedule_within(network, task, rules, slots - 1) is None
    # a switch with one port copies for one after the other: that takes up to two slots more than any bound sees
    slack = 2 if ports == "one" else 1
    schedule = schedule_within(network, task, rules, slots + slack)
    assert schedule is not None
    assert gossamer.verify(schedule).ok


def test_every_bound_holds_not_only_the_largest():
    for seed in range(20):
        network, task, rules, parts = random_case(seed, 4)
        found = bounds(Case(network, task, rules))
        assert found[0].value == max(b.value for b in found)
        assert all(b.value.denominator == 1 for b in found) or parts > 1
