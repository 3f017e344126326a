"""No bound exceeds the exact optimum of small demands: tables, groups and what waits, found by constraints.

All 500 cases: ``pytest tests/bounds/test_demands_exact.py --slow all``.
"""

from __future__ import annotations

import datetime
import math

import pytest

import gossamer
from bounds.demand_cases import demand_case
from bounds.oracle import UndecidedError
from bounds.timed_oracle import schedule_within
from gossamer.bounds import bounds
from gossamer.bounds.allreduce_any_form import ANY_FORM
from gossamer.questions.cases import Case

pytestmark = pytest.mark.solver
pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")

CASES = 500
SAMPLE = 25


def is_met(seed: int) -> bool | None:
    """Assert that no schedule beats a bound of a case; return whether one meets the largest, None if undecided."""
    network, task, rules = demand_case(seed)
    found = bounds(Case(network, task, rules))
    assert all(b.value.denominator == 1 or b.name in ANY_FORM for b in found)
    slots = math.ceil(found[0].value)
    try:
        beaten = schedule_within(network, task, rules, slots - 1) if slots > 0 else None
        assert beaten is None, f"case {seed}: {found[0]} is beaten: {task}, {rules}"
        schedule = schedule_within(network, task, rules, slots)
    except UndecidedError:
        return None
    if schedule is not None:
        verification = gossamer.verify(schedule)
        assert verification.ok, f"case {seed}: the oracle and the checker disagree: {verification}"
        assert schedule.completion_time >= found[0].value
    return schedule is not None


def test_some_demands():
    first = datetime.date.today().toordinal() % (CASES // SAMPLE) * SAMPLE
    met = [is_met(seed) for seed in range(first, first + SAMPLE)]
    assert met.count(None) <= SAMPLE // 5
    assert met.count(True) >= SAMPLE // 3


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CASES, 50))
def test_all_demands(first):
    met = [is_met(seed) for seed in range(first, first + 50)]
    assert met.count(None) <= 10
    assert met.count(True) >= 20
