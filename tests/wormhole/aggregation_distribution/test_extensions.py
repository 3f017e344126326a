"""Aggregation-then-distribution in other dimensions and on unequal sides."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_OPT, ATD_PIECE
from gossamer.wormhole.partition import common_divisors
from wormhole.aggregation_distribution_checks import ATD_PIECE_MIX3, VARIANTS, build, check, log

OTHER_SIDES = [(7,), (12,), (3, 3, 3), (4, 4, 4), (2, 2, 2, 2), (4, 8), (8, 4), (6, 9), (2, 4), (2, 3), (12, 8),
               (20, 4), (1, 7), (4, 4, 8), (2, 4, 6), (4, 1, 6),
               pytest.param((6, 6, 6), marks=pytest.mark.slow)]  # fmt: skip


@pytest.mark.parametrize("sides", OTHER_SIDES, ids=str)
def test_other_dimensions_and_unequal_sides(sides):
    rng = np.random.default_rng(math.prod(sides))
    nodes = math.prod(sides)
    for h in common_divisors(sides):
        for count in {1, max(1, nodes // 3), nodes}:
            sources = rng.choice(nodes, count, replace=False).tolist()
            for variant in (ATD_5, ATD_OPT, ATD_PIECE):
                check(sides, h, sources, variant)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_torus_of_a_common_divisor(data):
    h = data.draw(st.integers(1, 4))
    blocks = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    sides = tuple(h * b for b in blocks)
    while math.prod(sides) > 300:
        sides = sides[1:]
    nodes = math.prod(sides)
    sources = data.draw(st.sets(st.integers(0, nodes - 1), min_size=1).map(sorted))
    check(sides, h, sources, data.draw(st.sampled_from(list(VARIANTS.values()))), message_bytes=17)


@pytest.mark.parametrize(("n", "h", "d"), [(6, 2, 3), (4, 4, 3), (6, 3, 3), (4, 2, 4)])
def test_steps_in_d_dimensions(n, h, d):
    """(2d+1)-ary contractions, d - 1 rounds of tuning, exchanges and shifts."""
    N, fan = n // h, 2 * d + 1
    s = build((n,) * d, h, [0], ATD_PIECE_MIX3)
    rounds = log(3, h) + log(3, N) + h // 2  # of tuning, of the exchange, of the collection
    assert s.step_count == log(fan, h) + 2 * log(fan, N) + log(3, h) + (d - 1) * rounds


def test_rotated_parts_send_one_of_2d_of_all_bytes_in_three_dimensions():
    n, m = 6, 3 * 36
    s = check((n,) * 3, n, range(n**3), ATD_PIECE, message_bytes=m)
    columns = next(p for p in s.phases if p.name == "columns")
    volume = Fraction(int(s.step_length[columns.first_step :].sum()), n**3 * m)
    assert volume == Fraction(6 // 2, 36 * 3) * (1 + 6)  # near 1/6
    assert Fraction(1, 6) < volume < Fraction(1, 5)


@functools.cache
def unequal_steps(sides, h):
    return build(sides, h, [0], ATD_PIECE_MIX3).step_count


def test_unequal_sides_add_half_a_ring_of_blocks():
    assert unequal_steps((12, 4), 2) == unequal_steps((4, 4), 2) + 1  # 3 blocks of 4: one step
    assert unequal_steps((20, 12), 2) == unequal_steps((4, 4), 2) + 2 + 1
