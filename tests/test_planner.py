"""The planner chooses, verifies and reports."""

from __future__ import annotations

import dataclasses
import io
import json
from fractions import Fraction

import pytest

import gossamer
from gossamer import planner
from gossamer.cases import Case, Offer
from gossamer.errors import ModelError, NotApplicableError, TaskError, VerificationError
from gossamer.model import Model
from gossamer.networks.network import Network


def test_plan_takes_objects_as_well_as_words():
    net, task = gossamer.network("torus:4x4"), gossamer.task("allgather")
    assert gossamer.plan(net, task, Model()).schedule == gossamer.plan("torus:4x4", "allgather").schedule


@pytest.mark.parametrize("rule", [{"ports": "one"}, {"split": True}])
def test_ports_and_split_leave_the_other_rules_as_they_are(rule):
    given = Model(control_time=Fraction(1, 5), buffer_counts="all")
    plan = gossamer.plan("array:4", "allgather", given, **rule)
    assert plan.schedule.model == dataclasses.replace(given, **rule)


@pytest.mark.parametrize(
    ("name", "fields"),
    [("permutation", {"destination": [1, 2, 3, 0]}), ("one-to-many-routing", {"destinations": [[1, 2], [3], [0], []]})],
)
def test_routing_tells_what_a_node_holds_with_its_own_and_the_delivered_packets(name, fields):
    plan = gossamer.plan("array:4", name, **fields)
    assert plan.held == gossamer.buffer_peak(plan.schedule, "all")
    assert plan.to_dict()["held_peak"] == plan.held.packets


def test_fields_of_the_task_are_keywords():
    assert gossamer.plan("array:4x4", "broadcast", root=5).completion_time == 4
    with pytest.raises(TaskError, match="no field 'roots'"):
        gossamer.plan("array:4x4", "broadcast", roots=5)
    with pytest.raises(ModelError, match="unexpected keyword 'root'"):
        gossamer.plan("array:4x4", gossamer.task("broadcast"), root=5)


def test_ports_and_split_change_the_model_only_there():
    model = Model(control_time=Fraction(1, 3))
    plan = gossamer.plan("torus:3x3", "partial-multinode-broadcast", model, split=True, active=[0, 1, 4, 8])
    assert plan.schedule.model == Model(split=True, control_time=Fraction(1, 3))
    assert plan.completion_time == Fraction(7, 2) + Fraction(8, 3)


def test_best_is_the_fastest_that_covers_the_case():
    times = {}
    for a, _ in planner.applicable(Case(gossamer.network("torus:5x5"), gossamer.task("allgather"))):
        times[a.name] = gossamer.plan("torus:5x5", "allgather", algorithm=a.name).completion_time
    assert len(times) > 1
    assert gossamer.plan("torus:5x5", "allgather").completion_time == min(times.values()) == 6


def test_unknown_algorithm_lists_those_of_the_task():
    with pytest.raises(NotApplicableError, match=r"no algorithm 'magic' for broadcast; there are: .*tree"):
        gossamer.plan("ring:5", "broadcast", algorithm="magic")


def test_reason_is_told_when_nothing_covers_the_case():
    path = Network("path", 3, [0, 1, 1, 2], [1, 0, 2, 1])
    with pytest.raises(NotApplicableError, match=r"total-exchange on path.*: edge-colored needs an abelian"):
        gossamer.plan(path, "alltoall")


def test_task_without_algorithm_points_to_its_bounds(monkeypatch):
    monkeypatch.setattr("gossamer.planner.ALGORITHMS", ())
    with pytest.raises(NotApplicableError, match="lower bounds are known"):
        gossamer.plan("ring:4", "one-to-many-routing", destinations=[[1], [2], [3], [0]])


def test_invalid_schedule_is_never_reported(monkeypatch):
    good = next(a for a in gossamer.ALGORITHMS if a.tasks[0].name == "multinode-broadcast")

    def propose(case):
        s = good.build(case)
        lost = s.replace(slot=s.slot[:-1], link=s.link[:-1], packet=s.packet[:-1])
        return Offer(lambda: lost)

    monkeypatch.setattr(planner, "ALGORITHMS", (dataclasses.replace(good, propose=propose),))
    with pytest.raises(VerificationError, match="never gets packet"):
        gossamer.plan("ring:5", "allgather")


def test_progress_names_the_stages():
    stages = []
    gossamer.plan("ring:5", "allgather", progress=stages.append)
    assert [s.split()[0] for s in stages] == ["computing", "building", "verifying", "measuring"]


def test_plan_is_rich_in_terminal_notebook_and_json():
    from rich.console import Console

    plan = gossamer.plan("torus:3x3", "allgather")
    console = Console(width=100, file=io.StringIO())
    console.print(plan)
    assert "2 steps - meets the bound: optimal" in console.file.getvalue()
    assert plan._repr_html_().startswith("<table>")
    assert "optimal" in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["optimal"] is True
    assert repr(plan).startswith("<Plan multinode-broadcast on torus:3x3: 2 steps, bound 2, ")


def test_one_node_has_nothing_to_do():
    plan = gossamer.plan("ring:1", "allgather")
    assert (plan.completion_time, plan.bound, plan.ratio, plan.optimal) == (0, 0, 1.0, True)


def test_allreduce_is_a_reduce_scatter_and_an_allgather():
    plan = gossamer.plan("torus:4x4", "allreduce")
    assert plan.completion_time == 8
    assert {p.name.split(":")[0] for p in plan.schedule.phases} == {"reduce-scatter", "multinode-broadcast"}


@pytest.mark.parametrize(
    ("task", "dual"), [("scatter", "gather"), ("broadcast", "reduce"), ("allgather", "reduce-scatter")]
)
def test_duals_take_the_same_time(task, dual):
    for ports in ("all", "one"):
        times = {gossamer.plan("torus:3x4", t, ports=ports).completion_time for t in (task, dual)}
        assert len(times) == 1
