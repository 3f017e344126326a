from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gossamer.algorithms.multinode_broadcast.partial import (
    broadcast_steps,
    split_bound,
    split_parts,
    split_time,
    whole_bound,
    whole_time,
)
from gossamer.networks import torus

CASES = [(p, d, torus) for p in range(2, 7) for d in range(1, 4) for torus in (False, True) if p > 2 or not torus]


def active_counts(p, d):
    return sorted({1, 2, p, p + 1, p**d // 2, p**d - 1, p**d} & set(range(1, p**d + 1)))


@pytest.mark.parametrize(("p", "d", "torus"), CASES)
@pytest.mark.parametrize("control_time", [Fraction(0), Fraction(1, 7)])
def test_exact_times_keep_to_the_bounds_5a_to_6b(p, d, torus, control_time):
    sides, wraps = [p] * d, [torus] * d
    for M in active_counts(p, d):
        assert split_time(sides, wraps, M, control_time) <= split_bound(p, d, M, control_time, torus)
        assert whole_time(sides, wraps, M, control_time) <= whole_bound(p, d, M, control_time, torus)


@pytest.mark.parametrize(("p", "d", "torus"), CASES)
def test_equal_sides_give_the_formulas_of_section_5(p, d, torus):
    sides, wraps = [p] * d, [torus] * d
    t = Fraction(1, 3)
    for M in active_counts(p, d):
        rounds = sum(math.ceil(M / p**j) for j in range(1, d + 1))
        of_class = sum(math.ceil(math.ceil(M / d) / p**j) for j in range(1, d + 1))
        L = Fraction(p - 1, 2 if torus else 1)
        assert split_time(sides, wraps, M, t) == 2 * d * (p - 1) * t + (d * (p - 1) + L * rounds) / d
        assert whole_time(sides, wraps, M, t) == 4 * d * (p - 1) * t + d * (p - 1) + math.ceil(L) * of_class


@pytest.mark.parametrize(("p", "d", "torus"), CASES)
def test_full_split_broadcast_meets_the_lower_bound_4(p, d, torus):
    assert split_time([p] * d, [torus] * d, p**d, full=True) == Fraction(p**d - 1, d * (2 if torus else 1))


def test_even_torus_with_d_parts_would_exceed_5a():
    p, d, M = 4, 3, 64
    with_d_parts = (d * (p - 1) + broadcast_steps([p] * d, [True] * d, M, halves=False)) / d
    assert with_d_parts == 17
    assert split_bound(p, d, M) == 15
    assert split_time([p] * d, [True] * d, M) == Fraction(27, 2)
    assert split_parts([p] * d, [True] * d) == 2 * d


def test_torus_formulas_fail_for_two_nodes_a_side():
    assert split_bound(2, 4, 16) == Fraction(27, 8) < Fraction(15, 4)  # all nodes active: 15 packets over 4 links
    assert torus(2, 2).diameter > 2**2 / 4  # the printed time p^2/4 of a multinode broadcast


def test_bound_6b_can_be_met_exactly():
    assert whole_time([2], [False], 1) == whole_bound(2, 1, 1, torus=False) == 2
