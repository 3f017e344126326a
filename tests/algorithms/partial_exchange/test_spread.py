from __future__ import annotations

import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from algorithms.partial_exchange import active_sets as sets
from gossamer.algorithms.partial_exchange.spread_then_deliver import SPREAD, spread_evenly
from gossamer.bounds import best_bound
from gossamer.networks import array, ring, torus
from gossamer.questions.cases import Case
from gossamer.questions.tasks import PartialExchange
from gossamer.verification import verify


@pytest.mark.exhaustive(always=6)
@pytest.mark.parametrize("case", sets.OPEN)
def test_reference_times_and_congestion_are_met_or_beaten(case):
    sides, active, z, _, congestion, time = sets.OPEN[case]
    net, task = array(*sides), PartialExchange(active)
    schedule = SPREAD.build(Case(net, task))
    verify(schedule).raise_if_invalid()
    assert math.ceil(Fraction(z) - Fraction(1, 100)) <= schedule.completion_time <= time
    if congestion is not None:
        assert spread_evenly(net, active).congestion <= congestion


NETWORKS = [array(2, 3), array(7), ring(5), torus(3, 3), array(2, 2, 2)]


@settings(max_examples=40)
@given(st.sampled_from(NETWORKS), st.data())
def test_the_flow_spreads_evenly_and_its_congestion_is_that_of_a_cut(network, data):
    n = network.node_count
    active = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    found = spread_evenly(network, active)
    share = -(-len(active) * (n - 1) // n)
    begins = np.isin(np.arange(n), active) * (n - 1)
    into = np.bincount(network.link_target, weights=found.flow, minlength=n)
    out = np.bincount(network.link_source, weights=found.flow, minlength=n)
    assert np.array_equal(begins + into - out, found.stay)
    assert found.stay.max() <= share
    assert found.flow.min() >= 0
    assert found.flow.max() <= found.congestion
    # max-flow = min-cut: no set of nodes needs more
    worst = 0
    for size in range(1, n):
        for subset in itertools.combinations(range(n), size):
            inside = np.isin(np.arange(n), subset)
            cut = np.count_nonzero(inside[network.link_source] & ~inside[network.link_target])
            worst = max(worst, -(-(int(begins[inside].sum()) - size * share) // cut))
    assert found.congestion == worst


def test_all_nodes_active_have_nothing_to_spread():
    assert spread_evenly(array(3, 4), range(12)).congestion == 0


@settings(max_examples=25)
@given(
    st.builds(
        lambda make, sides: make(*sides),
        st.sampled_from([array, torus]),
        st.lists(st.integers(1, 5), min_size=1, max_size=3),
    ),
    st.data(),
)
def test_any_sides_and_any_active_set(network, data):
    active = data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1, max_size=8))
    task = PartialExchange(active)
    schedule = SPREAD.build(Case(network, task))
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time >= best_bound(Case(network, task)).value
