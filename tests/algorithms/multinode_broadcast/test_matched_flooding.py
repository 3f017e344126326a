"""Multinode broadcast with one port by matchings: at the bound on arrays of an odd number of nodes."""

from __future__ import annotations

import networkx as nx
import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.matched_flooding import MATCHED_FLOODING
from gossamer.questions.cases import Case

ALLGATHER, ONE = gossamer.task("allgather"), gossamer.Rules(ports="one")


@pytest.mark.parametrize(("spec", "steps"), [("array:3x3", 10), ("array:3x5", 16), ("array:5x5", 26)])
def test_steps_on_arrays_of_an_odd_number_of_nodes(spec, steps):
    plan = gossamer.plan(spec, ALLGATHER, rules=ONE, algorithm="matched-flooding")
    assert plan.completion_time == plan.bound == steps


def test_the_best_plan_takes_it_and_its_reversal():
    for task in ("allgather", "reduce-scatter"):
        plan = gossamer.plan("array:3x5", gossamer.task(task), rules=ONE)
        assert plan.completion_time == plan.bound == 16


def test_hops_of_a_slot_are_matchings_and_chance_is_seeded():
    network = gossamer.network(nx.Graph(nx.karate_club_graph().edges()))
    cases = [Case(network, ALLGATHER, ONE, seed=seed) for seed in (0, 0, 1)]
    made = [MATCHED_FLOODING.build(case) for case in cases]
    assert all(gossamer.verify(schedule) for schedule in made)
    assert made[0] == made[1]
    assert made[0] != made[2]


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("array:3x3", {}),
        ("array:12x12", {"ports": "one"}),
        ("torus:3x3", {"ports": "one"}),
        ("fat-tree:k=2,h=2", {"ports": "one"}),
    ],
)
def test_refusals(spec, rules):
    assert not MATCHED_FLOODING.covers(Case(gossamer.network(spec), ALLGATHER, gossamer.Rules(**rules)))
