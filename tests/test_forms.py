"""Allreduces are planned in the form that is fastest for their bytes."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

import gossamer
from gossamer import TimeCost
from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks import from_networkx
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Grouped, PartialSumAllreduce
from gossamer.questions.tasks.group_tasks import named_groups
from gossamer.studies.sweeps.point_kinds import asked_case

LINKS = {"bandwidth": "50GB/s", "latency": "2us"}
TREE = from_networkx(nx.balanced_tree(2, 3), "a tree")
ACCELERATORS = "tests/data/networks/two_servers.edges"


def planned(network, size, form="best", links=LINKS, **how):
    return gossamer.plan(network, "allreduce", cost=TimeCost(size, form=form, **links), **how)


@pytest.mark.parametrize(
    ("network", "size", "task", "words"),
    [
        ("torus:4x4", "1KiB", "partial-sum-allreduce", "partial sums in 8 chunks"),
        ("torus:4x4", "16MiB", "allreduce", "reduce-scatter + allgather, "),
        (TREE, 1, "together", "reduce + broadcast at 0"),
        (TREE, "1KiB", "partial-sum-allreduce", "partial sums in 4 chunks"),
        (TREE, "4MiB", "partial-sum-allreduce", "partial sums, 2,048 packets a message (2,048 times 1)"),
    ],
)
def test_the_form_depends_on_the_bytes(network, size, task, words):
    found = planned(network, size)
    each = {form: planned(network, size, form) for form in ("blocks", "root", "gather", "sums")}
    assert found.seconds == min(outcome.seconds for outcome in each.values())
    assert found.schedule.task.name == task
    assert found.forms[0].words.startswith(words)
    assert gossamer.verify(found.schedule)
    for outcome in each.values():  # whatever the form, the bounds hold
        assert found.bound_seconds <= outcome.seconds
    for form in found.forms:
        assert form.time >= found.seconds


def test_short_allreduces_take_little_but_the_latencies_of_the_longest_way():
    found = planned("torus:8x8", "1KiB")
    assert Fraction(16, 10**6) < found.seconds < Fraction(163, 10**7)
    assert found.forms[0].words == "partial sums in 16 chunks"
    assert 1 < found.ratio < 1.002
    assert planned("torus:8x8", "1KiB", "blocks").bound_seconds > 2 * Fraction(16, 10**6)


@pytest.mark.parametrize("form", ["root", "gather"])
def test_bandwidths_are_those_of_an_allreduce(form):
    found = planned("ring:4", 4000, form)
    assert found.bandwidth == 4000 / found.seconds
    assert found.bus_bandwidth == found.bandwidth * Fraction(6, 4)


def test_speeds_of_a_file_and_another_count_are_taken_into_account():
    cost = TimeCost("1KiB", counting="nccl")
    found, same = (gossamer.plan(ACCELERATORS, "allreduce", cost=c) for c in (cost, TimeCost("1KiB")))
    assert found.seconds == same.seconds
    assert found.forms[0].words == "partial sums in 4 chunks"
    assert found.seconds < Fraction(6, 10**6)


def test_what_is_planned_is_told():
    found = planned("torus:6x6", "1KiB")
    rows = dict(found.rows(verbose=True))
    assert rows["task"] == "allreduce, as allreduce, 8 packets a message (partial-sum-allreduce)"
    assert rows["form"].startswith("partial sums in 8 chunks; partial sums in 4 chunks at least 12.04 us")
    assert found.to_dict()["form"] == "partial sums in 8 chunks"
    plain = gossamer.plan("torus:6x6", "allreduce")
    assert "form" not in dict(plain.rows(verbose=True))
    assert "form" not in plain.to_dict()


def test_bounds_hold_in_every_form():
    cost = TimeCost("1KiB", **LINKS)
    (first, *_) = gossamer.lower_bounds("torus:6x6", "allreduce", cost=cost)
    found, blocks = planned("torus:6x6", "1KiB"), planned("torus:6x6", "1KiB", "blocks")
    whole = gossamer.plan("torus:6x6", "allreduce", cost=TimeCost("1KiB", form="blocks", whole=True, **LINKS))
    assert whole.clock.seconds(first.value) == found.bound_seconds < blocks.seconds
    assert (first.name, first.scope) == ("quickest flow", "")


@pytest.mark.parametrize("groups", ["0-3;4-7", "0-1;2-3", "0-2;3-7", "0-3;3-6"])
def test_bounds_in_groups_are_of_the_buffer_of_each(groups):
    network = gossamer.network("complete:8")
    task = gossamer.task("allreduce", groups=named_groups(groups, network))
    cost = TimeCost("64MiB", **LINKS)
    found = gossamer.plan(network, task, cost=cost)
    assert found.bound_seconds <= found.seconds
    fluid = gossamer.lower_bounds(network, Grouped(PartialSumAllreduce(), task.groups), rules=Rules(split=True))
    buffer = Fraction(2**26, 50 * 10**9)
    assert fluid[0].value * buffer < found.bound_seconds < fluid[0].value * buffer + Fraction(5, 10**6)


@pytest.mark.parametrize(
    ("groups", "share"),
    [("0-3;4-7", "0.252"), ("0-1;2-3", "0.179"), ("0-2", "0.16"), ("0-1;2-6", "0.234"), ("0-3;3-6", "0.302")],
)
def test_groups_help_each_other(groups, share):
    """Idle ranks and those of other groups relay and add up: what a buffer takes on a link is shared by many."""
    network = gossamer.network("complete:8")
    task = gossamer.task("allreduce", groups=named_groups(groups, network))
    found = gossamer.plan(network, task, cost=TimeCost("64MiB", **LINKS))
    assert found.bound_seconds <= found.seconds < Fraction(share) * Fraction(2**26, 50 * 10**9)
    assert gossamer.verify(found.schedule)


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize("form", ["blocks", "root", "gather", "sums"])
@pytest.mark.parametrize("groups", ["0-3;4-7;8-11;12-15", "0-2;5-9", "3-8", "0-5;5-8", "0;1-4"])
def test_each_form_in_groups(groups, form):
    network = gossamer.network("torus:4x4")
    task = gossamer.task("allreduce", groups=named_groups(groups, network))
    found = gossamer.plan(network, task, cost=TimeCost("64KiB", form=form, **LINKS))
    assert gossamer.verify(found.schedule)
    words = {"blocks": ("unsegmented", " a message"), "root": ("reduce + ",), "gather": ("allgather and reduce",)}
    told = found.forms[0].words if found.forms else "unsegmented"
    assert any(each in told for each in words.get(form, ("partial sums",)))
    assert found.bound_seconds <= found.seconds


def test_recognized_networks_are_planned_in_groups_by_their_own_numbers():
    graph = nx.empty_graph(8)
    graph.add_edges_from((3 * v % 8, 3 * (v + 1) % 8) for v in range(8))
    ring = from_networkx(graph, "renamed")
    task = gossamer.task("allreduce", groups=[[0, 3, 6, 1], [4, 7, 2, 5]])
    found = gossamer.plan(ring, task, cost=TimeCost("64MiB", **LINKS))
    assert gossamer.verify(found.schedule)
    at = found.schedule.network
    ends = at.link_source[found.schedule.link].tolist(), at.link_target[found.schedule.link].tolist()
    assert all(graph.has_edge(u, v) for u, v in zip(*ends, strict=True))
    assert found.bound_seconds <= found.seconds < 1.1 * found.bound_seconds


def test_forms_are_of_allreduces():
    with pytest.raises(ModelError, match="form 'root' is one of an allreduce, not of allgather"):
        gossamer.plan("ring:4", "allgather", cost=TimeCost(1000, form="root", **LINKS))
    with pytest.raises(ModelError, match="form must be"):
        TimeCost(1000, form="tree")
    assert not gossamer.plan("ring:4", "allgather", cost=TimeCost(1000, whole=True, **LINKS)).forms
    others = gossamer.plan("ring:4", "allgather", cost=TimeCost(1000, **LINKS)).forms
    assert {form.words.rpartition(" packets ")[2] for form in others} == {"a message", "unsegmented"}


def test_a_form_that_nothing_covers_is_passed_over():
    """A single root's reduction and broadcast are one task, which no algorithm carries out with small buffers."""
    how = {"links": {"bandwidth": "1GB/s"}, "rules": Rules(buffer=16)}
    with pytest.raises(NotApplicableError, match="does not limit the packets that a node holds"):
        planned("torus:4x4", 1000, "root", **how)
    assert planned("torus:4x4", 1000, **how).forms[0].words == "reduce-scatter + allgather"


def test_an_algorithm_that_is_named_carries_out_blocks():
    found = planned("torus:6x6", "1KiB", algorithm="two-way-translated-tree")
    assert (found.schedule.task.name, found.forms) == ("allreduce", ())


def test_other_forms_than_blocks_are_of_the_best_algorithm():
    cost = TimeCost(1000, form="gather", **LINKS)
    with pytest.raises(ModelError, match="form 'gather' goes with a plan by the best algorithm"):
        gossamer.plan("ring:4", "allreduce", cost=cost, algorithm="pipelined-trees")
    with pytest.raises(ModelError, match="form 'gather' goes with a plan by the best algorithm"):
        gossamer.compare("ring:4", "allreduce", cost=cost)


def test_a_budget_is_shared_by_all_forms():
    found = planned("torus:6x6", "16KiB", budget=60)
    assert found.forms
    assert not found.stopped


def test_sweeps_keep_to_blocks():
    words = {"network": "ring:8", "task": "allreduce", "bytes": "64", **LINKS}
    assert asked_case(words)[2]["cost"].form == "blocks"
    assert asked_case({**words, "form": "best"})[2]["cost"].form == "best"


@pytest.mark.parametrize(
    ("network", "groups", "time", "words"),
    [
        ("ring:16", None, "15", "reduce-scatter + allgather"),
        ("array:5", None, "5.1", "partial sums"),
        ("array:4x4", None, "10.6", "partial sums"),
        ("leaf-spine:leaves=3,spines=2,hosts=4", None, "22.9", "partial sums"),
        ("complete:8", "0-3;4-7", "1", "partial sums"),
        ("complete:8", "0-1;2-3", "0.35", "partial sums"),
        ("complete:8", "0-2", "0.468", "partial sums"),
        ("torus:4x4", "dimension 1", "3", "reduce-scatter + allgather"),
    ],
)
def test_split_messages_are_planned_as_partial_sums_too(network, groups, time, words):
    """A step is that of a block in both forms, so that their times compare."""
    net = gossamer.network(network)
    task = gossamer.task("allreduce", **({"groups": named_groups(groups, net)} if groups else {}))
    found = gossamer.plan(net, task, rules=Rules(split=True))
    assert found.bound <= found.completion_time <= Fraction(time)
    assert found.forms[0].words == words
    assert found.forms[0].time == found.completion_time
    assert gossamer.verify(found.schedule)
    assert gossamer.lower_bounds(net, task, rules=Rules(split=True))[0].value == found.bound
    rows = dict(found.rows(verbose=True))
    other = {"reduce-scatter + allgather": "partial sums", "partial sums": "reduce-scatter + allgather"}[words]
    assert rows["form"].startswith(f"{words}; {other}")
    assert rows["form"].endswith(("step", "steps"))


def test_split_messages_of_unequal_groups_and_by_name_stay_blocks():
    network = gossamer.network("complete:8")
    task = gossamer.task("allreduce", groups=[[0, 1], [2, 3, 4]])
    assert not gossamer.plan(network, task, rules=Rules(split=True)).forms
    assert not gossamer.plan(network, "allreduce").forms
    assert not gossamer.plan(network, "allreduce", rules=Rules(split=True), algorithm="pipelined-trees").forms
