from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from algorithms.partial_exchange import active_sets as sets
from gossamer.algorithms.derived import dual
from gossamer.algorithms.partial_exchange.balanced_orders import BALANCED_ORDERS, balanced_orders
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import array, hypercube, ring, torus
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialExchange, PartialGather, TotalExchange
from gossamer.verification import verify


@pytest.mark.exhaustive(always=3)
@pytest.mark.parametrize("case", sets.OPEN)
def test_reference_times_are_met_or_beaten(case):
    sides, active, z, time, _, _ = sets.OPEN[case]
    net, task = array(*sides), PartialExchange(active)
    schedule = BALANCED_ORDERS.build(Case(net, task))
    verify(schedule).raise_if_invalid()
    least = math.ceil(Fraction(z) - Fraction(1, 100))
    assert least <= schedule.completion_time <= min(time, least + 1)


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("case", sets.PLANE)
def test_a_plane_takes_at_most_4_percent_more_than_the_cut(case):
    p, active, cut, _, _ = sets.PLANE[case]
    schedule = BALANCED_ORDERS.build(Case(array(p, p), PartialExchange(active)))
    verify(schedule).raise_if_invalid()
    assert cut <= schedule.completion_time <= 1.04 * cut


GRIDS = st.builds(
    lambda make, sides: make(*sides),
    st.sampled_from([array, torus]),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
)


@settings(max_examples=40)
@given(GRIDS, st.data(), st.sampled_from([0, Fraction(1, 2)]))
def test_any_sides_and_any_active_set(network, data, control_time):
    active = data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1, max_size=8))
    case = Case(network, PartialExchange(active), Rules(), StepCost(control_time))
    schedule = BALANCED_ORDERS.build(case)
    verify(schedule).raise_if_invalid()
    control = 2 * sum(side // 2 for side in network.grid.sides) * control_time
    bound = best_bound(case).value
    assert bound <= schedule.completion_time - control <= 1.2 * bound + 2


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(
    ("network", "active", "time"),
    [
        (torus(4, 4), range(4), 6),
        (torus(6, 6), range(6), 15),
        (torus(4, 4, 4), range(16), 24),
        (ring(9), range(9), 10),
        (ring(8), [0], 4),
        (hypercube(5), [0, 31], 7),
        (array(7), [3], 3),
        (array(10, 10), range(100), 250),
    ],
)
def test_bounds_that_are_met(network, active, time):
    task = PartialExchange(active)
    schedule = balanced_orders(Case(network, task))
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time == time == best_bound(Case(network, task)).value


def test_partial_gather_is_the_exchange_backwards():
    net, active = torus(3, 4, 5), [0, 1, 2, 30, 59]
    gather = dual(BALANCED_ORDERS, PartialGather)
    schedule = gather.build(Case(net, PartialGather(active)))
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time == BALANCED_ORDERS.build(Case(net, PartialExchange(active))).completion_time


def test_total_exchange_on_unequal_sides_takes_its_cut_bound():
    for net in (array(3, 5), array(2, 3, 4)):
        schedule = BALANCED_ORDERS.build(Case(net, TotalExchange()))
        verify(schedule).raise_if_invalid()
        assert schedule.completion_time == best_bound(Case(net, TotalExchange())).value
        assert [p.name for p in schedule.phases] == ["exchange"]


def test_a_large_total_exchange_is_left_to_others():
    with pytest.raises(NotApplicableError, match="is offered for at most 5000000 hops"):
        BALANCED_ORDERS.build(Case(torus(16, 16, 16), TotalExchange()))


def test_same_seed_same_schedule():
    net, task = array(4, 5), PartialExchange([1, 2, 13])
    assert balanced_orders(Case(net, task, seed=3)) == balanced_orders(Case(net, task, seed=3))


def test_a_schedule_above_its_bound_is_squeezed():
    case = Case(torus(4, 4, 4), PartialExchange(sets.drawn(64, 21, 16)))
    plain = balanced_orders(case).completion_time
    case.tell_floor(Fraction(17))
    shorter = balanced_orders(case)
    verify(shorter).raise_if_invalid()
    assert shorter.completion_time == 17 == best_bound(case).value < plain
