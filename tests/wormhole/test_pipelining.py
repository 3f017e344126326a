"""The bound that prices few steps against many, beside a linear program solved without its dual."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gossamer.wormhole.demand import Spreading, _least_length, _least_of_copies, pipelining_bound


def primal(of: Spreading, count: int) -> float:
    """The least bytes of so many steps, by the program as it stands in the docstring."""
    steps = range(count)

    def held(k: int) -> int:
        return of.holders[min(max(0, k), len(of.holders) - 1)]

    # e_s <= leaving * l_s; and the copies still to come from step t on
    rows = [[-of.leaving * (i == s) for i in steps] + [float(i == s) for i in steps] for s in steps]
    rows += [
        [-of.receiving * (i >= t) for i in steps] + [of.nodes - held(t - s) for s in steps] for t in range(count + 1)
    ]
    found = linprog(
        [1.0] * count + [0.0] * count, A_ub=rows, b_ub=[0.0] * len(rows), A_eq=[[0.0] * count + [1.0] * count],
        b_eq=[of.volume],
    )  # fmt: skip
    return found.fun if found.status == 0 else float("inf")


def primal_of_copies(of: Spreading, count: int) -> float:
    """The least bytes of so many steps where each copy comes in a step, by the program as it stands."""
    pairs = [(s, t) for s in range(count) for t in range(s, count)]
    width = 2 * count + len(pairs)

    def held(k: int) -> int:
        return of.holders[min(k, len(of.holders) - 1)]

    def busy(k: int) -> int:
        return min(of.receiving, of.sending[min(k, len(of.sending) - 1)])

    rows, equal = [], [np.array([0.0] * count + [1.0] * count + [0.0] * len(pairs))]
    for i in range(count):
        row = np.zeros(width)
        row[[i, count + i]] = -of.leaving, 1
        copies = np.zeros(width)
        copies[i] = -busy(i)
        copies[[2 * count + k for k, (_, t) in enumerate(pairs) if t == i]] = 1
        every = np.zeros(width)
        every[count + i] = -(of.nodes - 1)
        every[[2 * count + k for k, (s, _) in enumerate(pairs) if s == i]] = 1
        rows += [row, copies]
        equal.append(every)
    for k, (s, t) in enumerate(pairs):
        until, within = np.zeros(width), np.zeros(width)
        until[[2 * count + j for j, (a, b) in enumerate(pairs) if a == s and b <= t]] = 1
        until[count + s] = 1 - held(t - s + 1)
        within[2 * count + k], within[t] = 1, -busy(t - s)
        rows += [until, within]
    found = linprog(
        [1.0] * count + [0.0] * (width - count), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.array(equal),
        b_eq=[of.volume] + [0] * count,
    )  # fmt: skip
    return found.fun if found.status == 0 else float("inf")


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(1, 4), st.integers(1, 1000), st.integers(0, 6))
def test_the_proved_length_is_that_of_the_program(nodes, leaving, fan, volume, more):
    holders = [1]
    while holders[-1] < nodes:
        holders.append(min(nodes, holders[-1] * (1 + fan)))
    sending = tuple(leaving * held for held in holders)
    of = Spreading(nodes, volume, leaving, nodes * fan, tuple(holders), 0, sending)
    count = len(holders) - 1 + more
    proved, true = float(_least_length(of, count)), primal(of, count)
    assert proved <= true * (1 + 1e-7) + 1e-7
    assert proved == pytest.approx(true, rel=1e-4, abs=1e-4)
    closer, exact = float(_least_of_copies(of, count)), primal_of_copies(of, count)
    assert closer <= exact * (1 + 1e-7) + 1e-7
    assert closer == pytest.approx(exact, rel=1e-3, abs=1e-3)


def test_more_steps_are_taken_where_start_ups_are_cheap():
    of = Spreading(64, 1024, 2, 224, (1, 3, 13, 61, 64), 512, (2, 10, 50, 224))
    found = [pipelining_bound(of, Fraction(startup), Fraction(1)) for startup in (1, 10, 100, 1000)]
    assert [steps for _, steps in found] == sorted((steps for _, steps in found), reverse=True)
    assert np.all(np.diff([float(value) for value, _ in found]) > 0)
    assert all(value >= 512 for value, _ in found)
