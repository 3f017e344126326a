from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from algorithms.partial_exchange import active_sets as sets
from gossamer.algorithms.derived import dual
from gossamer.algorithms.partial_exchange.rows_and_columns import (
    ROWS_AND_COLUMNS,
    exchange_bound,
    in_rows_first,
    rows_and_columns,
)
from gossamer.algorithms.total_exchange.products import array_rounds_exchange
from gossamer.errors import NotApplicableError, ScheduleError
from gossamer.graphs.list_scheduling import ORDERS
from gossamer.networks import array, star, torus
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialExchange, PartialGather, TotalExchange
from gossamer.schedules import CONTROL
from gossamer.verification import verify


@pytest.mark.parametrize("case", sets.PLANE)
def test_reference_times_are_met_within_a_few_percent_and_so_is_the_bound(case):
    p, active, cut, times, bound = sets.PLANE[case]
    net, task = array(p, p), PartialExchange(active)
    assert exchange_bound(p, p, len(active)) == ROWS_AND_COLUMNS.offer(Case(net, task)).time == bound
    for order in ORDERS:
        schedule = rows_and_columns(Case(net, task, seed=1), order=order)
        verify(schedule).raise_if_invalid()
        assert cut <= schedule.completion_time <= bound
    best = ROWS_AND_COLUMNS.build(Case(net, task, seed=1))
    assert best.completion_time <= 1.03 * min(times)


SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda s: s[0] * s[1] > 1)


@settings(max_examples=40)
@given(SHAPES, st.data(), st.sampled_from(["best", *ORDERS]), st.booleans(), st.sampled_from([0, Fraction(1, 3), 1]))
def test_no_active_set_exceeds_the_bound(sides, data, order, wraps, control_time):
    net = (torus if wraps else array)(*sides)
    active = data.draw(st.sets(st.integers(0, net.node_count - 1), min_size=1))
    case = Case(net, PartialExchange(active), Rules(), StepCost(control_time))
    schedule = rows_and_columns(case, order=order)
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time <= ROWS_AND_COLUMNS.offer(case).time
    if sides[0] == sides[1]:  # the bound as derived anew, a little below the printed one
        p, m = sides[0], math.isqrt(len(active))
        assert schedule.completion_time <= 2 * m * (p * p - p) + 2 * (p - 2) + p * control_time


@given(st.tuples(st.integers(2, 6), st.integers(2, 6)), st.data())
def test_at_most_sqrt_m_nodes_of_a_row_are_in_r_and_of_a_column_in_c(sides, data):
    net = array(*sides)
    active = sorted(data.draw(st.sets(st.integers(0, net.node_count - 1), min_size=1)))
    rows_first = in_rows_first(net, active)
    row, column = np.divmod(np.array(active), sides[1])
    m = math.isqrt(len(active))
    assert np.bincount(row[rows_first]).max(initial=0) <= m
    assert np.bincount(column[~rows_first]).max(initial=0) <= m


def test_the_corner_of_four_is_in_r():
    assert in_rows_first(array(4, 4), sets.block((4, 4), (0, 0), (2, 2))).all()


def test_every_path_has_at_most_one_turn_and_begins_as_its_set_says():
    net, active = array(4, 5), [0, 1, 2, 3, 9]
    schedule = rows_and_columns(Case(net, PartialExchange(active)))
    rows_first = dict(zip(active, in_rows_first(net, active).tolist(), strict=True))
    assert set(rows_first.values()) == {True, False}
    along_row = net.coordinates[net.link_source, 0] == net.coordinates[net.link_target, 0]
    moves = [[] for _ in range(schedule.packets.count)]
    for e, p in zip(schedule.link, schedule.packet, strict=True):
        if p != CONTROL:
            moves[p].append(bool(along_row[e]))
    for origin, kinds in zip(schedule.packets.origin.tolist(), moves, strict=True):
        assert kinds == sorted(kinds, reverse=rows_first[origin])


def test_control_hops_are_made_and_cost_t_p_each():
    net, task = array(5, 5), PartialExchange([3, 7, 11])
    free, dear = (rows_and_columns(Case(net, task, Rules(), StepCost(t))) for t in (0, Fraction(1, 2)))
    assert [p.name for p in dear.phases] == ["prefix", "exchange"]
    assert dear.phases[0].slots == 4  # 2 floor(p/2), at most p
    assert dear.completion_time == free.completion_time + 2
    control = dear.packet == CONTROL
    assert np.count_nonzero(control) == 2 * 2 * 5 * 4  # every link of every line, up and down
    assert int(dear.slot[control].max()) == 3


def test_partial_gather_is_the_exchange_backwards():
    net, active = array(6, 6), [0, 1, 8, 20, 35]
    gather = dual(ROWS_AND_COLUMNS, PartialGather)
    cost = StepCost(Fraction(1, 4))
    offer = gather.offer(Case(net, PartialGather(active), Rules(), cost))
    schedule = offer.build()
    verify(schedule).raise_if_invalid()
    exchange = ROWS_AND_COLUMNS.build(Case(net, PartialExchange(active), Rules(), cost))
    assert schedule.completion_time == exchange.completion_time <= offer.time
    assert schedule.phases[0].name == "prefix"  # what control packets find out is needed first


def test_all_nodes_active_is_a_total_exchange():
    schedule = rows_and_columns(Case(array(3, 4), PartialExchange(range(12))))
    verify(schedule).raise_if_invalid()
    same = schedule.replace(task=TotalExchange())
    assert verify(same)


def test_printed_lower_bound_fails_for_odd_p():
    """X6: Np/4 = 27/4 for p = 3, M = 9, but all nine nodes can exchange in 6 steps."""
    schedule = array_rounds_exchange(Case(array(3, 3), TotalExchange()))
    verify(schedule.replace(task=PartialExchange(range(9)))).raise_if_invalid()
    assert schedule.completion_time == 6 < Fraction(27, 4)
    assert Fraction(9 * (9 - 1), 4 * 3) == 6  # the corrected bound N(p^2-1)/(4p), and it is met


@pytest.mark.parametrize(
    ("network", "model", "words"),
    [
        (array(3, 3, 3), Rules(), "needs an array or a torus of at most two dimensions"),
        (star(4), Rules(), "needs an array or a torus"),
        (array(3, 3), Rules(ports="one"), "is for all-port nodes, not one-port"),
        (array(3, 3), Rules(buffer=5), "does not limit the packets that a node holds"),
    ],
)
def test_what_it_does_not_cover_is_said_in_one_line(network, model, words):
    with pytest.raises(NotApplicableError, match=words) as raised:
        ROWS_AND_COLUMNS.build(Case(network, PartialExchange([0]), model))
    assert "\n" not in str(raised.value)


def test_an_unknown_order_is_refused():
    with pytest.raises(ScheduleError, match="order must be one of"):
        rows_and_columns(Case(array(3, 3), PartialExchange([0])), order="first-come")
