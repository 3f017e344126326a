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
from gossamer.studies.sweeps.point_kinds import asked_case

LINKS = {"bandwidth": "50GB/s", "latency": "2us"}
TREE = from_networkx(nx.balanced_tree(2, 3), "a tree")
ACCELERATORS = "tests/data/networks/two_servers.edges"


def planned(network, size, form="best", links=LINKS, **how):
    return gossamer.plan(network, "allreduce", cost=TimeCost(size, form=form, **links), **how)


@pytest.mark.parametrize(
    ("network", "size", "task", "words"),
    [
        ("torus:4x4", "1KiB", "multinode-broadcast", "whole buffers to all"),
        ("torus:4x4", "16MiB", "allreduce", "a block for each rank"),
        (TREE, "1KiB", "together", "through root 0"),
        (TREE, "4MiB", "allreduce", "a block for each rank"),
    ],
)
def test_the_form_depends_on_the_bytes(network, size, task, words):
    found = planned(network, size)
    each = {form: planned(network, size, form) for form in ("blocks", "root", "gather")}
    assert found.seconds == min(outcome.seconds for outcome in each.values())
    assert (found.schedule.task.name, found.forms[0].words) == (task, words)
    assert gossamer.verify(found.schedule)
    for outcome in each.values():  # whatever the form, the bounds hold
        assert found.bound_seconds <= outcome.seconds
    for form in found.forms:
        (same,) = (o for o in each.values() if (o.forms[0].words if o.forms else "a block for each rank") == form.words)
        assert form.seconds <= same.seconds if form.at_least else form.seconds == same.seconds


def test_short_allreduces_take_little_but_the_latencies_of_the_longest_way():
    found = planned("torus:8x8", "1KiB")
    assert Fraction(16, 10**6) < found.seconds < Fraction(163, 10**7)
    assert found.optimal
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
    assert found.forms[0].words == "whole buffers to all"
    assert found.seconds < Fraction(6, 10**6) < found.forms[1].seconds


def test_what_is_planned_is_told():
    found = planned("torus:6x6", "1KiB")
    rows = dict(found.rows())
    assert rows["task"] == "allreduce, as multinode-broadcast"
    assert rows["form"].startswith("whole buffers to all; a block for each rank at least 24.0")
    assert found.to_dict()["form"] == "whole buffers to all"
    plain = gossamer.plan("torus:6x6", "allreduce")
    assert "form" not in dict(plain.rows())
    assert "form" not in plain.to_dict()


def test_bounds_hold_in_every_form():
    cost = TimeCost("1KiB", **LINKS)
    (first, *_) = gossamer.lower_bounds("torus:6x6", "allreduce", cost=cost)
    found, blocks = planned("torus:6x6", "1KiB"), planned("torus:6x6", "1KiB", "blocks")
    assert blocks.clock.seconds(first.value) == found.bound_seconds
    assert first.witness.startswith("whole buffers to all: ")


def test_forms_are_of_allreduces_among_all():
    with pytest.raises(ModelError, match="form 'root' is one of an allreduce among all, not of multinode-broadcast"):
        gossamer.plan("ring:4", "allgather", cost=TimeCost(1000, form="root", **LINKS))
    with pytest.raises(ModelError, match="form must be"):
        TimeCost(1000, form="tree")
    assert not gossamer.plan("ring:4", "allgather", cost=TimeCost(1000, **LINKS)).forms


def test_a_form_that_nothing_covers_is_passed_over():
    """A single root's reduction and broadcast are one task, which no algorithm carries out with small buffers."""
    how = {"links": {"bandwidth": "1GB/s"}, "rules": Rules(buffer=16)}
    with pytest.raises(NotApplicableError, match="does not limit the packets that a node holds"):
        planned("torus:4x4", 1000, "root", **how)
    assert planned("torus:4x4", 1000, **how).forms[0].words == "a block for each rank"


def test_an_algorithm_that_is_named_carries_out_blocks():
    found = planned("torus:6x6", "1KiB", algorithm="two-way-translated-tree")
    assert (found.schedule.task.name, found.forms) == ("allreduce", ())


def test_other_forms_than_blocks_are_of_the_best_algorithm():
    cost = TimeCost(1000, form="gather", **LINKS)
    with pytest.raises(ModelError, match="form 'gather' goes with a plan by the best algorithm"):
        gossamer.plan("ring:4", "allreduce", cost=cost, algorithm="overlapped-trees")
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
