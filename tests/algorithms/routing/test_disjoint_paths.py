"""One message in parts over disjoint paths."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.algorithms.routing.disjoint_paths import DISJOINT_PATHS
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.tasks import DemandTable

SPLIT = gossamer.Rules(split=True)


@pytest.mark.parametrize(
    ("spec", "target", "longest", "paths"), [("torus:5x5", 12, 5, 4), ("hypercube:4", 15, 4, 4), ("ring:5", 2, 3, 2)]
)
def test_a_part_for_each_path_takes_as_long_as_the_longest(spec, target, longest, paths):
    task = DemandTable.of([(0, [target], 1)])
    plan = gossamer.plan(spec, task, rules=SPLIT, algorithm="disjoint-paths", options={"parts": paths})
    assert plan.completion_time == Fraction(longest, paths)
    best = gossamer.plan(spec, task, rules=SPLIT)
    assert best.algorithm == "disjoint-paths"
    assert best.completion_time < Fraction(4, 3) * plan.bound  # one behind the other the parts fill the paths


def test_a_permutation_of_one_message_too():
    plan = gossamer.plan("ring:6", gossamer.task("permutation", destination=[3, -1, -1, -1, -1, -1]), rules=SPLIT)
    assert plan.completion_time == Fraction(48, 92)


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        ([(0, [2], 1), (1, [3], 1)], {"split": True}),
        ([(0, [2, 3], 1)], {"split": True}),
        ([(0, [2], 2)], {"split": True}),
        ([(0, [2], 1)], {}),
        ([(0, [2], 1)], {"split": True, "ports": "one"}),
    ],
)
def test_refusals(rows, rules):
    case = Case(gossamer.network("ring:5"), DemandTable.of(rows), gossamer.Rules(**rules))
    assert not DISJOINT_PATHS.covers(case)


def test_a_target_that_cannot_be_reached_is_refused():
    apart = gossamer.network("ring:4").without(links=[(0, 1), (2, 3)])
    refusal = DISJOINT_PATHS.offers(Case(apart, DemandTable.of([(0, [2], 1)]), SPLIT))
    assert refusal == Refusal("needs a path from the source to the target")
