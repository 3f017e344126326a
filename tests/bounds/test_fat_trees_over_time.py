"""Prices of slots in fat trees: what they prove, that they never prove too much, and that they are counted right."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.bounds.cuts_over_time import fat_tree_time_bounds, slot_prices
from gossamer.networks import Levels
from gossamer.questions.cases import Case

EXCHANGE = gossamer.task("alltoall")


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("k=2,h=3,capacity=2,2,4", 11), ("k=2,h=3,capacity=1,1,2", 17), ("k=2,h=4,capacity=1,2,2,4", 31)],
)
def test_exchanges_that_are_optimal_by_prices_of_slots(spec, steps):
    plan = gossamer.plan(f"fat-tree:{spec}", EXCHANGE)
    assert plan.completion_time == plan.bound == steps
    assert plan.bounds[0].name == "prices of slots"


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_no_verified_schedule_is_faster_than_what_prices_prove(data):
    arities = data.draw(st.lists(st.integers(2, 3), min_size=2, max_size=3))
    capacities = sorted(data.draw(st.lists(st.integers(1, 4), min_size=len(arities), max_size=len(arities))))
    spec = f"fat-tree:k={','.join(map(str, arities))},capacity={','.join(map(str, capacities))}"
    if len(set(arities)) == 1:
        spec = f"fat-tree:k={arities[0]},h={len(arities)},capacity={','.join(map(str, capacities))}"
    plan = gossamer.plan(spec, EXCHANGE)
    assert all(
        bound.value <= plan.completion_time for bound in fat_tree_time_bounds(Case(plan.schedule.network, EXCHANGE))
    )


@pytest.mark.parametrize("slots", [9, 10, 11])
def test_prices_are_counted_as_one_would_by_hand(slots):
    tree = Levels((2, 2, 2), (2, 2, 4))
    found = slot_prices(tree, slots)
    up, down = found.up.tolist(), found.down.tolist()
    offered = sum(c * 8 // 2**i * sum(up[i] + down[i]) for i, c in enumerate(tree.capacities))

    def least(prices, since=0):
        """The cheapest slots for hops one after the other."""
        if not prices:
            return 0
        last = slots - len(prices)
        return min(prices[0][t] + least(prices[1:], t + 1) for t in range(since, last + 1))

    needed = sum(8 * 2 ** (top - 1) * least([*up[:top], *down[:top][::-1]]) for top in (1, 2, 3))
    assert (found.needed, found.offered) == (needed, offered)
    assert found.proves == (slots < 11)


@pytest.mark.parametrize(
    ("spec", "task", "rules"),
    [
        ("fat-tree:k=2,h=3,capacity=2,2,4", "allgather", {}),
        ("fat-tree:k=2,h=3,capacity=2,2,4", "alltoall", {"ports": "one-send"}),
        ("fat-tree:k=2,h=3,capacity=2,2,4", "alltoall", {"split": True}),
        ("fat-tree:k=8,h=1", "alltoall", {}),
        ("array:8", "alltoall", {}),
    ],
)
def test_other_cases_have_no_such_bound(spec, task, rules):
    case = Case(gossamer.network(spec), gossamer.task(task), gossamer.Rules(**rules))
    assert list(fat_tree_time_bounds(case)) == []
