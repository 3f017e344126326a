"""Cases share what they know, and related ones differ in what is asked for alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.questions.cases import Case


def test_a_related_case_keeps_the_seed_and_the_cost():
    case = Case(gossamer.network("ring:5"), gossamer.task("scatter"), cost=gossamer.StepCost("1/2"), seed=7)
    for other in (case.related(task=gossamer.task("broadcast")), case.dual):
        assert (other.seed, other.cost, other.rules) == (7, gossamer.StepCost("1/2"), case.rules)
        assert other.once(sum, (1, 2)) is case.once(sum, (1, 2))


def test_the_dual_runs_backwards_on_opposite_links_under_opposite_ports():
    one_way = gossamer.Network("one way", 3, [0, 1, 2], [1, 2, 0])
    case = Case(one_way, gossamer.task("scatter", root=1), gossamer.Rules(ports="one-send"))
    assert case.dual.task == gossamer.task("gather", root=1)
    assert case.dual.rules == gossamer.Rules(ports="one-receive")
    assert sorted(zip(case.dual.network.link_source, case.dual.network.link_target, strict=True)) == [
        (0, 2), (1, 0), (2, 1),
    ]  # fmt: skip


def test_a_step_that_is_not_full_is_a_step_and_parts_leave_none():
    network, task = gossamer.network("torus:4x4"), gossamer.task("alltoall")
    whole, split = (Case(network, task, gossamer.Rules(split=split)) for split in (False, True))
    assert [whole.steps(n, 3, wait) for n, wait in ((6, 0), (7, 0), (7, 2))] == [2, 3, 5]
    assert split.steps(7, 3, wait=2) == Fraction(7, 3)


@pytest.mark.parametrize(("ports", "hops"), [("all", 64), ("one", 16), ("one-send", 16), ("one-receive", 16)])
def test_all_hops_of_a_slot_are_limited_by_links_and_ports(ports, hops):
    case = Case(gossamer.network("torus:4x4"), gossamer.task("alltoall"), gossamer.Rules(ports=ports))
    assert case.total_capacity[0] == hops
