"""What waits for others takes as long as the chain of what it waits for."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound, bounds
from gossamer.questions.cases import Case
from gossamer.questions.tasks import DemandTable, Together

task = gossamer.task


def chains(spec, asked, rules=None):
    return {
        b.name: b.value for b in bounds(Case(gossamer.network(spec), asked, rules)) if b.source.endswith("is there")
    }


def test_a_broadcast_after_a_reduction_takes_both():
    both = Together([task("reduce"), task("broadcast")], waits=[(1, 0)])
    assert chains("ring:8", both)["chain"] == 8
    assert gossamer.plan("ring:8", both).optimal
    assert chains("ring:8", Together([task("reduce"), task("broadcast")])) == {}


@pytest.mark.parametrize(("later", "time"), [([0, 1], 1 + 1), ([5, 6], 1)])
def test_only_what_waits_at_a_node_adds_up(later, time):
    """The second collective waits where the first brings something, and nowhere else."""
    asked = Together([task("allgather", groups=[[0, 1]]), task("allgather", groups=[later])], waits=[(1, 0)])
    assert best_bound(Case(gossamer.network("ring:8"), asked)).value == time
    assert gossamer.plan("ring:8", asked).completion_time == time


def test_what_a_node_takes_in_before_it_begins_counts_with_what_follows():
    """Node 0 of a ring receives six messages over two links, and its own must then go four hops."""
    asked = Together([task("gather"), task("broadcast")], waits=[(1, 0)])
    found = chains("ring:8", asked)
    assert found["chain"] == 4 + 4
    packets = Together([task("gather", packets=3), task("broadcast")], waits=[(1, 0)])
    assert chains("ring:8", packets)["chain"] == 11 + 4  # 21 packets over 2 links
    assert gossamer.plan("ring:8", packets).completion_time == 15


def test_the_middle_of_three_is_bounded_with_what_comes_before_and_after():
    asked = Together([task(name) for name in ("allgather", "alltoall", "reduce-scatter")], waits=[(1, 0), (2, 1)])
    assert chains("torus:4x4", asked)["one after the other"] == 4 + 8 + 4
    assert chains("torus:4x4", asked, Rules(split=True))["one after the other"] == Fraction(47, 4) + Fraction(15, 4)


@pytest.mark.parametrize("ports", ["all", "one"])
def test_an_allreduce_of_a_group_has_the_bound_of_an_allreduce(ports):
    group = task("allreduce", groups=[list(range(8))])
    alone = best_bound(Case(gossamer.network("ring:8"), task("allreduce"), Rules(ports=ports))).value
    among = best_bound(Case(gossamer.network("ring:8"), group, Rules(ports=ports))).value
    assert among == alone


def test_results_that_go_on_follow_their_contributions():
    table = DemandTable.of(contributions=[([0, 3], [3, 7], 1)])
    assert chains("array:8", table)["chain"] == 3 + 4
    assert gossamer.plan("array:8", table).completion_time == 7


def test_what_a_node_must_send_after_it_waited_counts_too():
    """Node 0 of a ring has a sum after 4 steps, and then sends 21 packets over two links."""
    asked = Together([task("reduce"), task("scatter", packets=3)], waits=[(1, 0)])
    assert chains("ring:8", asked)["chain"] == 4 + 11


def test_shares_that_are_combined_on_the_way_come_as_one():
    asked = Together([task("reduce"), task("broadcast")], waits=[(1, 0)])
    assert chains("hypercube:3", asked, Rules(ports="one"))["chain"] == 3 + 3
