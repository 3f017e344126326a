"""Row and column movement on a line: vectors, and the lemmas of chapter 2 on every instance of small sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms.routing.move_and_smooth.enumeration import (
    all_columns,
    all_rows,
    column_movement,
    column_targets,
    worst_row,
)
from gossamer.algorithms.routing.move_and_smooth.smoothing import (
    column_bound,
    flow_numbers,
    row_bound,
    row_movement,
)
from gossamer.errors import ScheduleError

ROWS = [
    ([4, 1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 1], [3, 4, 4, 4, 3, 2, 1], 6),
    ([4, 0, 4, 3, 0, 2, 3, 3], [2, 2, 2, 3, 3, 3, 2, 2], [2, 0, 2, 2, -1, -2, -1], 2),
    ([4, 4, 4, 0, 0, 0, 0, 0], [1, 1, 1, 1, 2, 2, 2, 2], [3, 6, 9, 8, 6, 4, 2], 9),
    ([4, 4, 0, 0], [2, 2, 2, 2], [2, 4, 2], 4),
    ([2, 0, 0, 0], [0, 0, 1, 1], [2, 2, 1], 3),
    ([2, 2, 2, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1], [2, 4, 5, 4, 3, 2, 1], 5),
    ([1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 1], 7),
]
"""Contents before and after, flow numbers, steps (Figures 2.1.a and 2.1.b among them)."""


@pytest.mark.parametrize(("before", "after", "flows", "steps"), ROWS)
def test_row_movement_of_the_thesis(before, after, flows, steps):
    assert flow_numbers(before, after) == flows
    assert row_movement(before, after)[0] == steps


def check_rows(b, c):
    few, many, other_time, fuller = all_rows(b, c)
    assert few <= c - 1  # Lemma 2.1
    assert other_time == 0  # Lemma 2.2
    assert fuller == 0  # Theorem 2.2
    bound = b * (b + 2) * c // (4 * (b + 1)) if b % 2 == 0 else (b + 1) * c // 4
    assert b == 1 or many <= bound  # Lemma 2.3
    assert max(few, many) <= row_bound(b, c)  # Theorem 2.1
    assert max(few, many) == worst_row(b, c)


SMALL = [(1, 9), (2, 7), (3, 6), (4, 5), (5, 4), (6, 4), (7, 4), (8, 3), (9, 3)]
ALL = [(1, 14), (2, 11), (3, 9), (4, 8), (5, 7), (6, 6), (7, 5), (8, 5), (9, 5)]


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(("b", "most"), SMALL)
def test_lemmas_of_row_movement_hold_on_every_line(b, most):
    for c in range(2, most + 1):
        check_rows(b, c)


@pytest.mark.slow
@pytest.mark.parametrize(("b", "c"), [(b, c) for (b, most), (_, done) in zip(ALL, SMALL, strict=True)
                                      for c in range(done + 1, most + 1)])  # fmt: skip
def test_lemmas_of_row_movement_hold_on_longer_lines(b, c):
    check_rows(b, c)


def test_row_bounds_are_those_of_the_thesis():
    for c in range(2, 200):
        assert row_bound(2, c) == c - 1
        assert row_bound(3, c) == c
        assert row_bound(4, c) == max(c - 1, 6 * c // 5)
        assert row_bound(9, c) == 5 * c // 2
        assert all(worst_row(b, c) <= row_bound(b, c) for b in range(1, 17))
    assert [worst_row(4, c) for c in (2, 4, 8, 16, 32, 64)] == [2, 4, 9, 18, 38, 76]
    assert row_bound(4, 1) == column_bound(4, 1) == worst_row(4, 1) == 0


def check_columns(b, r):
    for top in {r // 2, (r + 1) // 2}:
        worst, both_ways, fuller = all_columns(b, r, top)
        assert both_ways == 0
        assert fuller == 0
        if b > 1:
            assert worst == column_bound(b, r)  # Theorem 2.3, tight
        assert worst <= max(r - 1 - (r - 1) // b, (r + 1) // 2 - 1)


@pytest.mark.parametrize(("b", "most"), [(1, 8), (2, 8), (3, 8), (4, 7), (5, 7), (6, 7)])
def test_column_movement_takes_exactly_the_bound_on_the_worst_column(b, most):
    for r in range(2, most + 1):
        check_columns(b, r)


@pytest.mark.slow
@pytest.mark.parametrize(("b", "r"), [(b, r) for b, most in ((1, 14), (2, 14), (3, 12), (4, 11), (5, 10), (6, 10))
                                      for r in range(8, most + 1)])  # fmt: skip
def test_column_movement_takes_exactly_the_bound_on_longer_columns(b, r):
    check_columns(b, r)


def test_the_bound_of_column_movement_needs_two_packets_at_a_node():
    """Theorem 2.3 as printed allows 0 steps for b = 1."""
    printed = 4 - 1 - (4 - 1) // 1
    assert printed == 0
    assert column_movement([0, 1, 0, 0])[0] == 1 == column_bound(1, 4)


def test_columns_of_figure_and_of_the_worst_case():
    assert column_movement([4, 4, 0, 0, 0, 0, 0, 0]) == (6, 4)
    assert column_movement([2, 2, 0, 0]) == (2, 2)
    assert column_targets([2, 1, 1, 0]) == [[0, 1], [2], [3], []]
    assert column_targets([1, 1, 1], top=2) == [[0], [1], [2]]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.data())
def test_row_movement_ends_balanced_within_the_bound(initial, data):
    c, total = len(initial), sum(initial)
    shift = data.draw(st.integers(0, c - 1))
    final = [total // c + ((k - shift) % c < total % c) for k in range(c)]
    steps, most = row_movement(initial, final)
    assert steps <= row_bound(max(*initial, 1), c)
    assert most <= max(*initial, *final)


def test_impossible_lines_are_refused():
    with pytest.raises(ScheduleError, match="3 packets on 2 nodes cannot become 2 on 2"):
        flow_numbers([3, 0], [1, 1])
