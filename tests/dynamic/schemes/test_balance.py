from __future__ import annotations

import itertools
import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.simulation.random_arrivals.schemes.traffic_balancing import (
    mixture,
    order_traffic,
    solve,
    uniform_part,
    violated_set,
)

sides = st.lists(st.integers(2, 7), min_size=2, max_size=4).map(tuple)


@st.composite
def targets(draw) -> tuple[tuple[int, ...], list[Fraction]]:
    sizes = draw(sides)
    weights = draw(st.lists(st.integers(0, 6), min_size=len(sizes), max_size=len(sizes)).filter(any))
    return sizes, [Fraction((math.prod(sizes) - 1) * w, sum(weights)) for w in weights]


def _mixed_orders(sizes, target):
    columns = [(*order_traffic(sizes, o), 1) for o in itertools.permutations(range(len(sizes)))]
    return mixture(columns, [*target, Fraction(1)])


@settings(max_examples=60, deadline=None)
@given(targets())
def test_a_target_is_a_mixture_of_orders_unless_a_set_of_dimensions_has_too_much(case):
    sizes, target = case
    assert (_mixed_orders(sizes, target) is None) == (violated_set(sizes, target) is not None)


@settings(max_examples=40, deadline=None)
@given(targets())
def test_mixtures_meet_the_target_exactly_with_few_columns(case):
    sizes, target = case
    mix = _mixed_orders(sizes, target)
    if mix is None:
        return
    assert sum(mix.values()) == 1
    assert all(w > 0 for w in mix.values())
    assert len(mix) <= len(sizes) + 1
    for i, t in enumerate(target):
        assert sum(column[i] * w for column, w in mix.items()) == t


@settings(max_examples=40, deadline=None)
@given(targets())
def test_what_is_left_after_the_even_part_is_feasible_and_more_of_it_would_not_be(case):
    sizes, target = case
    if violated_set(sizes, target) is not None:
        return
    part = uniform_part(sizes, target)
    assert 0 <= part <= 1
    orders = list(itertools.permutations(range(len(sizes))))
    even = [Fraction(sum(c), len(orders)) for c in zip(*(order_traffic(sizes, o) for o in orders), strict=True)]
    for more in (Fraction(0), Fraction(1, 1000)):
        weight = part + more * (1 - part)
        if weight < 1:
            rest = [(t - weight * e) / (1 - weight) for t, e in zip(target, even, strict=True)]
            assert (violated_set(sizes, rest) is None) == (more == 0)


def test_column_generation_finds_what_all_orders_find():
    sizes = (2, 3, 4, 5)
    target = [Fraction(119 * w, 7) for w in (1, 2, 2, 2)]

    def price(dual):
        return (*order_traffic(sizes, sorted(range(4), key=lambda i: (dual[i], i))), 1)

    mix = mixture([], [*target, Fraction(1)], price)
    assert mix is not None
    for i, t in enumerate(target):
        assert sum(column[i] * w for column, w in mix.items()) == t


def test_dependent_columns_have_no_single_solution():
    assert solve([(1, 2), (2, 4)], [Fraction(1), Fraction(2)]) is None
