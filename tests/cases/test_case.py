"""Cases share what they know, and related ones differ in what is asked for alone."""

from __future__ import annotations

import gossamer
from gossamer.cases import Case


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
