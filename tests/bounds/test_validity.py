"""Properties that every bound must have, on random cases."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound, bounds
from gossamer.bounds.allreduce_any_form import ANY_FORM
from gossamer.questions.cases import Case
from gossamer.questions.tasks import TASKS
from schedules.strategies import SPECS, graphs, networks, schedules, tasks

two_way = st.sampled_from(SPECS).map(gossamer.network) | graphs(True)
ports = st.sampled_from(["all", "one", "one-send"])
NO_DUAL = ("allreduce", "one-to-many-routing", "group-multinode-broadcast", "partial-sum-allreduce")
DUALS = tuple(name for name in TASKS if name not in NO_DUAL)


@given(schedules())
@settings(max_examples=150)
def test_no_legal_schedule_beats_a_bound(schedule):
    for bound in bounds(Case(schedule.network, schedule.task, schedule.rules)):
        assert bound.value <= schedule.completion_time, bound


@given(networks, st.data(), ports, st.booleans())
@settings(max_examples=100)
def test_bounds_are_sorted_described_and_whole_where_messages_are(network, data, ports, split):
    task = data.draw(tasks(network))
    found = bounds(Case(network, task, Rules(ports=ports, split=split)))
    assert [b.value for b in found] == sorted((b.value for b in found), reverse=True)
    for b in found:
        assert isinstance(b.value, Fraction)
        assert b.value >= 0
        assert split or b.name in ANY_FORM or b.value.denominator == 1
        assert all((b.name, b.witness, b.source))
        assert b.method.isalpha()
    assert found[0] == best_bound(Case(network, task, Rules(ports=ports, split=split)))


@given(networks, st.data(), st.booleans())
@settings(max_examples=100)
def test_stricter_ports_never_lower_the_bound(network, data, split):
    task = data.draw(tasks(network))
    free, sending, receiving, both = (
        best_bound(Case(network, task, Rules(p, split=split))).value for p in ("all", "one-send", "one-receive", "one")
    )
    assert free <= min(sending, receiving) <= max(sending, receiving) <= both


@given(networks, st.data(), ports)
@settings(max_examples=100)
def test_splitting_never_raises_the_bound(network, data, ports):
    task = data.draw(tasks(network))
    model = Rules(ports=ports)
    assert (
        best_bound(Case(network, task, replace(model, split=True))).value
        <= best_bound(Case(network, task, model)).value
    )


@given(two_way, st.data(), st.sampled_from(["all", "one"]), st.booleans())
@settings(max_examples=100)
def test_a_task_and_its_dual_have_the_same_bound(network, data, ports, split):
    task = data.draw(tasks(network, DUALS))
    model = Rules(ports=ports, split=split)
    dual = Case(network, task.dual(network), model.dual)
    assert best_bound(Case(network, task, model)).value == best_bound(dual).value
