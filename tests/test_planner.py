"""The planner chooses, verifies and reports."""

from __future__ import annotations

import dataclasses
import io
import json
import time
from fractions import Fraction
from types import SimpleNamespace

import pytest

import gossamer
from gossamer.errors import ModelError, NotApplicableError, TaskError, VerificationError
from gossamer.networks.network import Network
from gossamer.planning.offer_search import _better
from gossamer.planning.switching import resource_limits as limits
from gossamer.questions.cases import EFFORTS, Case, Offer
from gossamer.questions.rules import Rules
from gossamer.wormhole import PayloadTable, WormholeSchedule
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

STORE_AND_FORWARD = "gossamer.planning.switching.store_and_forward.algorithms_for"


def test_plan_takes_objects_as_well_as_words():
    net, task = gossamer.network("torus:4x4"), gossamer.task("allgather")
    assert gossamer.plan(net, task, rules=Rules()).schedule == gossamer.plan("torus:4x4", "allgather").schedule


@pytest.mark.parametrize(
    ("name", "fields"),
    [("permutation", {"destination": [1, 2, 3, 0]}), ("one-to-many-routing", {"destinations": [[1, 2], [3], [0], []]})],
)
def test_routing_tells_what_a_node_holds_with_its_own_and_the_delivered_packets(name, fields):
    plan = gossamer.plan("array:4", gossamer.task(name, **fields))
    assert plan.facts.held == gossamer.buffer_peak(plan.schedule, "all")
    assert plan.to_dict()["held_peak"] == plan.facts.held.packets


def test_a_streamed_run_tells_of_its_hops_what_the_kept_schedule_does():
    swap = gossamer.task("permutation", destination=[63 - v for v in range(64)])
    how = {"algorithm": "Q", "cost": gossamer.StepCost("1/2")}
    kept, run = (gossamer.plan("array:8x8", swap, stream=stream, **how) for stream in (False, True))
    assert run.schedule is None
    assert run.to_dict()["control_hops"] > 0
    for key in ("completion_time_exact", "slots", "hops", "link_utilization", "held_peak"):
        assert run.to_dict()[key] == kept.to_dict()[key]
    assert (run.facts.buffer, run.facts.held.packets) == (None, kept.facts.held.packets)


def test_a_task_says_its_fields():
    assert gossamer.plan("array:4x4", gossamer.task("broadcast", root=5)).completion_time == 4
    with pytest.raises(TaskError, match="no field 'roots'"):
        gossamer.task("broadcast", roots=5)


def test_best_is_the_fastest_that_covers_the_case():
    times = {}
    for row in gossamer.compare("torus:5x5", "allgather"):
        name = row["algorithm"]
        times[name] = gossamer.plan("torus:5x5", "allgather", algorithm=name).completion_time
        assert times[name] == row["time"]
    assert len(times) > 1
    assert gossamer.plan("torus:5x5", "allgather").completion_time == min(times.values()) == 6


def test_unknown_algorithm_lists_those_of_the_task():
    with pytest.raises(NotApplicableError, match=r"no algorithm 'magic' for broadcast; there are: .*tree"):
        gossamer.plan("ring:5", "broadcast", algorithm="magic")


@pytest.mark.parametrize(
    ("task", "old", "new"),
    [
        ("broadcast", "priced-trees", "congestion-priced-trees"),
        ("reduce", "reversed-priced-trees", "reversed-congestion-priced-trees"),
        ("alltoall", "priced-paths", "congestion-priced-paths"),
        ("allreduce", "overlapped-trees", "pipelined-trees"),
        ("allreduce", "overlapped-halves", "pipelined-reduce-scatter-allgather"),
    ],
)
def test_algorithms_go_on_having_the_names_that_they_had(task, old, new):
    assert gossamer.plan("ring:4", task, algorithm=old).algorithm == new


def test_every_name_that_was_changed_leads_to_an_algorithm_and_names_no_other():
    from gossamer.algorithms.registry import _RENAMED, ALGORITHMS

    names = {a.name for a in ALGORITHMS}
    assert set(_RENAMED.values()) <= names
    assert not names & set(_RENAMED)


def test_reason_is_told_when_nothing_covers_the_case():
    path = Network("path", 3, [0, 1, 1, 2], [1, 0, 2, 1])
    with pytest.raises(NotApplicableError, match=r"alltoall on path.*: edge-colored needs an abelian"):
        gossamer.plan(path, "alltoall", rules=gossamer.Rules(buffer=1))


def test_task_without_algorithm_points_to_its_bounds(monkeypatch):
    monkeypatch.setattr(STORE_AND_FORWARD, lambda kind=None: ())
    with pytest.raises(NotApplicableError, match="lower bounds are known"):
        gossamer.plan("ring:4", gossamer.task("one-to-many-routing", destinations=[[1], [2], [3], [0]]))


def test_invalid_schedule_is_never_reported(monkeypatch):
    good = next(a for a in gossamer.ALGORITHMS if a.tasks[0].name == "multinode-broadcast")

    def propose(case):
        s = good.build(case)
        lost = s.replace(slot=s.slot[:-1], link=s.link[:-1], packet=s.packet[:-1])
        return Offer(lambda: lost)

    broken = (dataclasses.replace(good, propose=propose),)
    monkeypatch.setattr(STORE_AND_FORWARD, lambda kind=None: broken)
    for ask in (gossamer.plan, gossamer.compare):
        with pytest.raises(VerificationError, match="never gets packet"):
            ask("ring:5", "allgather")


def test_an_invalid_schedule_that_is_streamed_is_never_reported(monkeypatch):
    good = next(a for a in gossamer.ALGORITHMS if a.name == "greedy")
    silent = dataclasses.replace(good, propose=lambda case: Offer(lambda: good.build(case), stream=lambda sink: None))
    monkeypatch.setattr(STORE_AND_FORWARD, lambda kind=None: (silent,))
    swap = gossamer.task("permutation", destination=[1, 0, 2])
    assert gossamer.plan("array:3", swap).completion_time > 0
    with pytest.raises(VerificationError, match=r"packet 0 ends at node \(0\), not at \(1\)"):
        gossamer.plan("array:3", swap, stream=True)


def test_an_invalid_wormhole_schedule_is_never_reported(monkeypatch):
    net, table = gossamer.network("torus:3"), PayloadTable()
    one, task = [table.row([0])], gossamer.task("broadcast")
    lost = WormholeSchedule(net, task, gossamer.LinearCost(), [0], [0], [[1]], one, payloads=table.payloads())
    good = next(a for a in WORMHOLE_ALGORITHMS if type(task) in a.tasks)
    broken = (dataclasses.replace(good, propose=lambda case: Offer(lambda: lost)),)
    monkeypatch.setattr("gossamer.wormhole.registry.WORMHOLE_ALGORITHMS", broken)
    for ask in (gossamer.plan, gossamer.compare):
        with pytest.raises(VerificationError, match="never gets piece"):
            ask(net, task, switching="wormhole")


def test_progress_names_the_stages():
    stages = []
    gossamer.plan("ring:5", "allgather", progress=stages.append)
    assert [s.split()[0] for s in stages] == ["computing", "building", "verifying", "measuring"]


def test_plan_is_rich_in_terminal_notebook_and_json():
    from rich.console import Console

    plan = gossamer.plan("torus:3x3", "allgather")
    console = Console(width=100, file=io.StringIO())
    console.print(plan)
    assert "2 steps; lower bound 2 steps" in console.file.getvalue()
    assert "<table>" in plan._repr_html_()
    assert "optimal" in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["optimal"] is True
    assert repr(plan) == plan.summary == plan.to_dict()["summary"]
    assert plan.summary.startswith("allgather on torus:3x3: 2 steps, optimal: ")
    assert " ".join(str(plan).split()).startswith(f"{plan.summary} network torus:3x3: 9 nodes, 36 links rules all-port")


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
        times = {gossamer.plan("torus:3x4", t, rules=gossamer.Rules(ports=ports)).completion_time for t in (task, dual)}
        assert len(times) == 1


def test_a_network_may_be_a_graph_or_a_file(tmp_path):
    import networkx as nx

    file = tmp_path / "square.edges"
    file.write_text("0 1\n1 2\n2 3\n3 0\n")
    for network in (nx.cycle_graph(4), file, str(file), "ring:4"):
        assert gossamer.plan(network, "broadcast").completion_time == 2
        assert gossamer.lower_bounds(network, "broadcast")[0].value == 2


def test_comparison_ranks_what_covers_and_says_why_the_others_do_not():
    found = gossamer.compare("torus:4x4", "alltoall")
    times = [row["time"] for row in found]
    assert times == sorted(times)
    assert times[0] == gossamer.plan("torus:4x4", "alltoall").completion_time
    assert found.best.schedule is None  # verified, measured, and not kept
    assert set(found.refusals).isdisjoint(row["algorithm"] for row in found)
    told = {a.name for a in gossamer.ALGORITHMS if gossamer.questions.tasks.TotalExchange in a.tasks}
    assert {*found.refusals, *(row["algorithm"] for row in found)} == told
    assert json.loads(json.dumps(found.to_dict()))["algorithms"][0]["algorithm"] == found.best.algorithm
    assert {"buffer_peak", "utilization", "ratio", "build_seconds"} <= set(next(iter(found)))


def slow(late):
    case = Case(gossamer.network("torus:4x4"), gossamer.task("allgather"))
    s = GOOD.build(case)
    last = s.phases[-1]
    return s.replace(phases=[*s.phases[:-1], dataclasses.replace(last, slots=last.slots + late)])


GOOD = next(a for a in gossamer.ALGORITHMS if a.name == "translated-tree")


def builder(counts, name, late, seconds=0.0):
    def build():
        counts[name] = counts.get(name, 0) + 1
        time.sleep(seconds)
        return slow(late)

    return build


def offers(monkeypatch, *made):
    algorithm = dataclasses.replace(GOOD, propose=lambda case: list(made))
    monkeypatch.setattr(STORE_AND_FORWARD, lambda kind=None: (algorithm,))


def test_an_upper_bound_passes_over_nothing(monkeypatch):
    """A promise of at most 9 may come out as 5: it is built though 6 are at hand already."""
    counts = {}
    offers(
        monkeypatch,
        Offer(builder(counts, "six", 2), Fraction(6)),
        Offer(builder(counts, "at most nine", 1), Fraction(9), at_most=True),
        Offer(builder(counts, "nine", 5), Fraction(9)),
        Offer(builder(counts, "no less than seven", 5), least=Fraction(7)),
    )
    assert gossamer.plan("torus:4x4", "allgather").completion_time == 5
    assert counts == {"six": 1, "at most nine": 1}


def test_the_smallest_promise_is_tried_first(monkeypatch):
    counts = {}
    offers(
        monkeypatch,
        Offer(builder(counts, "none", 3)),
        Offer(builder(counts, "nine", 5), Fraction(9)),
        Offer(builder(counts, "six", 2), Fraction(6)),
    )
    assert gossamer.plan("torus:4x4", "allgather").completion_time == 6
    assert list(counts) == ["six", "none"]


def test_an_upper_bound_is_told_as_one(monkeypatch):
    for at_most in (False, True):
        offers(monkeypatch, Offer(builder({}, "five", 1), Fraction(9 if at_most else 5), at_most=at_most))
        found = gossamer.plan("torus:4x4", "allgather")
        assert found.to_dict()["claim_is_bound"] is at_most
        assert dict(found.rows(verbose=True))["guaranteed time"] == ("at most 9 steps" if at_most else "5 steps")
        assert (found.ratio, found.optimal) == (5 / 4, False)


def test_ties_are_won_by_the_first(monkeypatch):
    made = [Offer(builder({}, name, 1), options={"which": name}) for name in ("first", "second")]
    offers(monkeypatch, *made)
    assert gossamer.plan("torus:4x4", "allgather").options == {"which": "first"}


def test_the_budget_returns_the_best_found_so_far_and_says_so(monkeypatch):
    counts = {}
    made = [Offer(builder(counts, n, 3 - n, seconds=0.05), options={"n": n}) for n in range(3)]
    offers(monkeypatch, *made)
    hurried = gossamer.plan("torus:4x4", "allgather", budget=0.01)
    assert (hurried.completion_time, counts) == (7, {0: 1})
    assert hurried.stopped == "the budget of 0.01 s was spent; not tried: translated-tree"
    assert hurried.to_dict()["stopped"] == hurried.stopped == dict(hurried.rows())["stopped"]
    patient = gossamer.plan("torus:4x4", "allgather", budget=60)
    assert (patient.completion_time, patient.stopped) == (5, "")
    with pytest.raises(ModelError, match="budget must be a number above 0"):
        gossamer.plan("torus:4x4", "allgather", budget=0)


def test_a_budget_is_never_too_small_for_the_first(monkeypatch):
    offers(monkeypatch, *(Offer(builder({}, n, n), options={"n": n}) for n in (1, 2)))
    found = gossamer.compare("torus:4x4", "allgather", budget=1e-9)
    assert [row["options"] for row in found] == ["n=1"]
    assert "not tried" in found.stopped
    assert "translated-tree" in found.stopped


@pytest.mark.parametrize(("little", "budget", "effort"), [("1/4", None, "search"), ("1/4", 60, "search"),
                                                         ("1/4", None, "solver"), ("1/5", None, "search")])  # fmt: skip
def test_no_long_search_is_begun_for_little(monkeypatch, little, budget, effort):
    """The first one takes 5 steps, the bound is 4: a quarter more."""
    counts = {}
    monkeypatch.setattr(limits, "_LITTLE", Fraction(little))
    long = Offer(builder(counts, "long", 0), effort="search", hop_seconds=0.1, options={"n": 1})
    short = Offer(builder(counts, "short", 1), effort="search", options={"n": 2})
    offers(monkeypatch, Offer(builder(counts, "first", 1), options={"n": 0}), long, short)
    found = gossamer.plan("torus:4x4", "allgather", budget=budget, effort=effort)
    if (little, budget, effort) == ("1/4", None, "search"):
        assert (found.completion_time, counts) == (5, {"first": 1, "short": 1})
        told = "not tried for less than 25 %: translated-tree (about 3.01 MB and 24 s); a budget tries them"
        assert found.stopped == told
    else:
        assert (found.completion_time, found.stopped) == (4, "")
        assert list(counts) == ["first", "short", "long"]


def test_of_searches_that_take_long_the_quicker_comes_first(monkeypatch):
    counts = {}
    seconds = {"long": 0.2, "short": 1e-5, "less long": 0.1, "shorter": 1e-6}
    made = [Offer(builder(counts, name, 1), effort="search", hop_seconds=s) for name, s in seconds.items()]
    offers(monkeypatch, *made)
    gossamer.plan("torus:4x4", "allgather")
    assert list(counts) == ["short", "shorter", "less long", "long"]


def test_effort_limits_what_is_tried(monkeypatch):
    counts = {}
    offers(
        monkeypatch,
        Offer(builder(counts, "solver", 0), effort="solver"),
        Offer(builder(counts, "search", 1), effort="search"),
        Offer(builder(counts, "closed form", 2)),
    )
    times = {e: gossamer.plan("torus:4x4", "allgather", effort=e).completion_time for e in EFFORTS}
    assert times == {"closed form": 6, "search": 5, "solver": 4}
    offers(monkeypatch, Offer(builder(counts, "solver", 0), effort="solver"))  # there is nothing that takes less
    assert gossamer.plan("torus:4x4", "allgather", effort="search").completion_time == 4
    with pytest.raises(ModelError, match="effort must be 'closed form', 'search' or 'solver', got 'serch'"):
        gossamer.plan("torus:4x4", "allgather", effort="serch")


def test_options_choose_among_offers(monkeypatch):
    offers(monkeypatch, *(Offer(builder({}, n, n), options={"n": n}) for n in (2, 1, 3)))
    assert gossamer.plan("torus:4x4", "allgather").options == {"n": 1}  # best of all
    assert gossamer.plan("torus:4x4", "allgather", algorithm=GOOD.name).options == {"n": 2}  # its own first choice
    assert gossamer.plan("torus:4x4", "allgather", options={"n": 3}).completion_time == 7
    first = Offer(builder({}, 2, 2), options={"n": 2})
    offers(monkeypatch, first, Offer(builder({}, 1, 1), options={"n": 1}, on_request=True))
    assert gossamer.plan("torus:4x4", "allgather").options == {"n": 2}
    assert gossamer.plan("torus:4x4", "allgather", options={"n": 1}).options == {"n": 1}


def test_options_that_no_offer_has_are_told(monkeypatch):
    offers(monkeypatch, *(Offer(builder({}, n, n), options={"n": n}) for n in (2, 1, 3)))
    with pytest.raises(NotApplicableError, match="translated-tree takes n = 2, 1, 3 here, not 4"):
        gossamer.plan("torus:4x4", "allgather", options={"n": 4})
    with pytest.raises(NotApplicableError, match="translated-tree takes no h"):
        gossamer.plan("torus:4x4", "allgather", options={"h": 4})


@pytest.mark.parametrize("ask", [gossamer.plan, gossamer.compare, gossamer.lower_bounds])
def test_a_cost_or_rules_of_another_switching_are_refused(ask):
    with pytest.raises(ModelError, match="cost must be a StepCost or a TimeCost, got LinearCost"):
        ask("torus:4x4", "allgather", cost=gossamer.LinearCost())
    with pytest.raises(ModelError, match="cost must be a LinearCost, got StepCost"):
        ask("torus:4x4", "allgather", switching="wormhole", cost=gossamer.StepCost())
    with pytest.raises(ModelError, match="only ports are a choice of wormhole switching"):
        ask("torus:4x4", "allgather", switching="wormhole", rules=Rules(split=True))
    with pytest.raises(ModelError, match="switching must be 'store-and-forward' or 'wormhole', got 'worm'"):
        ask("torus:4x4", "allgather", switching="worm")


def test_no_offer_lists_the_messages_of_a_large_exchange(monkeypatch):
    def refuse(*args):
        raise AssertionError("four billion messages were listed")

    case = Case(gossamer.network("torus:64x64x16"), gossamer.task("alltoall"))
    monkeypatch.setattr(type(case.task), "messages", refuse)
    offered = [a.name for a in gossamer.ALGORITHMS if isinstance(case.task, a.tasks) and a.covers(case)]
    assert "edge-colored" in offered


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("task", ["broadcast", "gather", "allgather", "alltoall", "allreduce"])
def test_networks_without_links_are_refused_by_a_path_that_is_missing(nodes, task):
    network = gossamer.network(f"complete:{nodes}")
    linkless = network.without(links=[(a, b) for a in range(nodes) for b in range(a)])
    assert linkless.link_count == 0
    with pytest.raises(gossamer.GossamerError, match="is not connected: no path from node"):
        gossamer.plan(linkless, task)


@pytest.mark.parametrize("ask", [gossamer.plan, gossamer.compare, gossamer.lower_bounds, gossamer.faults])
@pytest.mark.parametrize("task", [None, 3, ["allgather"], b"allgather"])
def test_what_is_no_task_is_told(ask, task):
    with pytest.raises(TaskError, match=r"a task must be a name, such as allgather, or a task of gossamer\.task, got "):
        ask("ring:4", task)


@pytest.mark.parametrize(
    ("time", "hops", "effort", "better"),
    [(3, 9, "table", True), (4, 7, "solver", True), (4, 8, "solver", False), (4, 7, "search", False),
     (5, 1, "solver", False)],
)  # fmt: skip
def test_of_schedules_that_take_as_long_only_a_solver_that_looked_for_fewer_hops_wins(time, hops, effort, better):
    def outcome(time, hops, effort):
        return SimpleNamespace(
            completion_time=Fraction(time), facts=SimpleNamespace(size=hops), offer=SimpleNamespace(effort=effort)
        )

    assert _better(outcome(time, hops, effort), outcome(4, 8, "table")) is better
