"""Every name under which an algorithm is shown plans the task as it was asked for, or says once what does not fit."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer import Rules, TimeCost
from gossamer.cli import main
from gossamer.errors import NotApplicableError
from gossamer.planning.usual_algorithms import USUAL, meant

NETWORKS = (
    "ring:8", "ring:7", "torus:4x4", "array:3x3", "hypercube:3", "star:3", "complete:6", "fat-tree:2,2", "dgx-1:v100",
    "mi300x", "leaf-spine:2,2,2", "dragonfly:2,2,1",
)  # fmt: skip
TASKS = ("allreduce", "allgather", "reduce-scatter", "broadcast", "reduce", "alltoall", "scatter")
NAMES = [(usual.name, *usual.others) for usual in USUAL]


def covers(name, network, task, exactly):
    try:
        return meant(name, network, task, Rules(), "store-and-forward", exactly=exactly)
    except NotApplicableError:
        return None


def check_refusal(error, name, task):
    text = str(error.value)
    assert "\n" not in text
    assert text.startswith(f"algorithm {name!r} ")
    assert task in text or "goes with" in text
    assert "chunked" not in text
    assert "partial-sum" not in text.partition("; there are")[0]
    clauses = text.split("; ")
    assert len(clauses) == len(set(clauses))


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_a_name_plans_what_it_explains_in_steps(names, spec):
    network = gossamer.network(spec)
    for number, task in enumerate(TASKS):
        name = names[number % len(names)]
        found = covers(name, network, task, exactly=True)
        cost = gossamer.StepCost()
        if found is None:
            with pytest.raises(NotApplicableError) as error:
                gossamer.plan(network, task, rules=Rules(), cost=cost, algorithm=name)
            check_refusal(error, name, task)
            continue
        plan = gossamer.plan(network, task, rules=Rules(), cost=cost, algorithm=name)
        assert (plan.algorithm, plan.word) == (found.algorithm.name, task)
        assert f"{task} on {network.spec}: " in plan.summary
        assert gossamer.verify(plan.schedule)
        assert plan.completion_time >= plan.bound


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_a_name_plans_what_it_explains_in_seconds(names, spec):
    network = gossamer.network(spec)
    covered = [task for task in TASKS if covers(names[0], network, task, exactly=False)]
    own = "mi300x" in spec  # speeds and latencies
    cost = TimeCost("64KiB") if own else TimeCost("64KiB", bandwidth="50GB/s", latency="1us")
    for task in covered[:1]:
        plan = gossamer.plan(network, task, rules=Rules(), cost=cost, algorithm=names[-1])
        found = {each.algorithm.name for each in (covers(names[0], network, task, exactly=False),)}
        assert (plan.word, {plan.algorithm}) == (task, found)
        assert gossamer.verify(plan.schedule)
        assert plan.seconds >= plan.bound_seconds > 0
        assert all(plan.seconds <= form.time for form in plan.forms)
    for task in [task for task in TASKS if task not in covered][:1]:
        with pytest.raises(NotApplicableError) as error:
            gossamer.plan(network, task, rules=Rules(), cost=cost, algorithm=names[0])
        check_refusal(error, names[0], task)


def test_an_allreduce_by_exchanges_counts_steps_of_blocks():
    """A step is a block, an eighth of the buffer: halving sends 4 + 2 + 1 of them, doubling all 8 in each round."""
    one = Rules(ports="one")
    times = {
        name: gossamer.plan("complete:8", "allreduce", rules=one, algorithm=name).completion_time
        for name in ("rabenseifner", "recursive-doubling", "ring")
    }
    assert times == {"rabenseifner": 2 * (4 + 2 + 1), "recursive-doubling": 3 * 8, "ring": 2 * 7}


def test_an_allreduce_by_bine_trees_is_built_where_it_is_named():
    plan = gossamer.plan("ring:8", "allreduce", algorithm="bine")
    assert (plan.algorithm, plan.completion_time) == ("two-way-bine-trees", 10)
    refused = gossamer.compare("ring:8", "allreduce").refusals
    assert refused["two-way-bine-trees"] == "is built when it is named"


@pytest.mark.parametrize(
    ("spec", "task"), [("ring:6", "allreduce"), ("torus:3x3", "allgather"), ("star:3", "alltoall")]
)
def test_each_name_that_compare_shows_plans_the_same_time(spec, task):
    for row in gossamer.compare(spec, task):
        plan = gossamer.plan(spec, task, algorithm=row["algorithm"])
        assert (plan.algorithm, plan.completion_time) == (row["algorithm"], row["time"])


@pytest.mark.slow
def test_each_name_that_a_page_shows_plans_the_task():
    cost = TimeCost("16MiB")
    plan = gossamer.plan("dgx-h100:2", "allreduce", cost=cost)
    page = gossamer.explain(plan, budget=60.0)
    names = {plan.algorithm, *(gain.algorithm for gain in page.gains if gain.algorithm)}
    names |= {each.name for each in page.beside if each.time is not None}
    assert len(names) > 3
    for name in names:
        again = gossamer.plan("dgx-h100:2", "allreduce", cost=cost, algorithm=name)
        assert again.word == "allreduce"
        least = min([each.time for each in page.beside if each.name == name], default=None)
        assert least in (None, again.seconds)
    assert all(each.time >= plan.seconds for each in page.beside if each.time is not None)


def test_packets_are_the_planners_choice_unless_they_are_asked_for():
    cost = TimeCost("64MiB", bandwidth="50GB/s", latency="1us")
    best = gossamer.plan("ring:8", "broadcast", cost=cost, algorithm="ring")
    fixed = gossamer.plan("ring:8", gossamer.task("broadcast", packets=4), cost=cost, algorithm="ring")
    whole = TimeCost("64MiB", bandwidth="50GB/s", latency="1us", whole=True)
    unsegmented = gossamer.plan("ring:8", "broadcast", cost=whole, algorithm="ring")
    assert best.seconds < fixed.seconds < unsegmented.seconds
    hop = Fraction(2**26, 50 * 10**9) + Fraction(1, 10**6)
    assert 7 * hop <= unsegmented.seconds <= 7 * hop * Fraction(103, 100)  # rounded up to slots


def test_names_on_the_command_line(capsys, tmp_path):
    file = tmp_path / "plan.parquet"
    assert main(["plan", "ring:8", "allreduce", "--algorithm", "Swing", "-o", str(file)]) == 0
    assert capsys.readouterr().out.startswith("allreduce on ring:8: 12 steps")
    assert main(["explain", str(file), "--quick"]) == 0
    assert capsys.readouterr().out.startswith("allreduce on ring:8: 12 steps")
    assert main(["plan", "ring:8", "alltoall", "--algorithm", "swing"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("gossamer: algorithm 'swing' is for allreduce, not for alltoall; there are: ")
