"""Algorithm A3 with any factor and in any number of dimensions: n**(d-1) exchanges of the factor."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.edge_colored import edge_colored_exchange
from gossamer.algorithms.total_exchange.products import (
    HOMOGENEOUS_PRODUCT,
    PRODUCT_ROUNDS,
    array_rounds_exchange,
    product_rounds_exchange,
)
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import product
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK = TotalExchange()


def time_of(network, algorithm=HOMOGENEOUS_PRODUCT):
    schedule = algorithm.build(Case(network, TASK, Rules()))
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    assert schedule.completion_time == algorithm.offer(Case(network, TASK, Rules())).time
    return schedule.completion_time


SQUARES = dict(zip([f"array:{n}" for n in range(2, 8)], [2, 6, 16, 30, 54, 84], strict=True))
SQUARES |= dict(zip([f"ring:{n}" for n in range(3, 9)], [3, 8, 15, 30, 42, 64], strict=True))


@pytest.mark.parametrize(("spec", "steps"), SQUARES.items())
def test_squares_of_11_7(spec, steps):
    factor = gossamer.network(spec)
    assert time_of(product(factor, factor)) == steps


@pytest.mark.parametrize(("spec", "steps"), [("array:2", 8), ("ring:3", 27), ("array:3", 54)])
def test_fourth_powers_of_11_7(spec, steps):
    assert time_of(product(*[gossamer.network(spec)] * 4)) == steps


@pytest.mark.parametrize(
    ("spec", "d", "steps"), [("array:3", 3, 18), ("ring:4", 3, 32), ("ring:6", 3, 180), ("array:2", 5, 16)]
)
def test_exponents_that_are_no_power_of_two(spec, d, steps):
    assert time_of(product(*[gossamer.network(spec)] * d)) == steps


@pytest.mark.parametrize(("n", "a3", "cut"), [(6, 30, 27), (10, 130, 125)])
def test_errata_9_6_tori_with_sides_2_modulo_4_are_not_optimal(n, a3, cut):
    network = gossamer.network(f"torus:{n}x{n}")
    assert time_of(network) == a3
    best = edge_colored_exchange(Case(network, TASK, Rules()))
    assert gossamer.verify(best)
    assert best.completion_time == cut == best_bound(Case(network, TASK, Rules())).value
    assert not HOMOGENEOUS_PRODUCT.offer(Case(network, TASK, Rules())).optimal


@pytest.mark.parametrize("spec", ["array:4x4", "array:3x3x3", "torus:5x5", "torus:8x8", "torus:3x3x3", "hypercube:6"])
def test_theorem_5_8_optimal_where_the_factor_meets_the_cut_exactly(spec):
    network = gossamer.network(spec)
    assert time_of(network) == best_bound(Case(network, TASK, Rules())).value
    assert HOMOGENEOUS_PRODUCT.offer(Case(network, TASK, Rules())).optimal


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        ("product:(complete:4)x(complete:4)", 4),
        ("product:(star:3)x(star:3)", 30),
        ("product:(star:4)x(star:4)", 24 * 21),
        ("product:(array:2x3)x(array:2x3)", 6 * 4),
        ("product:(extended-ring:7,2)x(extended-ring:7,2)", 7 * 2),
    ],
)
def test_theorem_5_6_any_factor(spec, steps):
    assert time_of(gossamer.network(spec)) == steps


@given(st.integers(2, 5), st.integers(2, 3), st.sampled_from(["array", "ring", "complete"]))
@settings(max_examples=20, deadline=None)
def test_theorem_5_6_time_is_the_exchanges_of_the_factor(n, d, family):
    steps = {"array": n * n // 4, "ring": -(-(n * n - 1) // 8), "complete": 1}[family]
    factor = gossamer.network(f"{family}:{n}")
    assert time_of(product(*[factor] * d)) == n ** (d - 1) * steps


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("array:3x5", 18), ("torus:3x4", 6), ("product:(ring:5)x(array:3)", 12), ("product:(complete:4)x(star:3)", 20)],
)
def test_factors_that_differ_share_the_rounds(spec, steps):
    assert time_of(gossamer.network(spec), PRODUCT_ROUNDS) == steps


@pytest.mark.parametrize("spec", ["array:3x3", "array:3x5", "array:2x3x4"])
def test_arrays_take_the_time_of_array_rounds(spec):
    network = gossamer.network(spec)
    ours = product_rounds_exchange(Case(network, TASK, Rules()))
    assert ours.completion_time == array_rounds_exchange(Case(network, TASK, Rules())).completion_time


@pytest.mark.parametrize(
    ("algorithm", "spec", "model", "why"),
    [
        (HOMOGENEOUS_PRODUCT, "ring:9", Rules(), "needs a product of equal networks"),
        (HOMOGENEOUS_PRODUCT, "array:3x4", Rules(), "needs a product of equal networks"),
        (PRODUCT_ROUNDS, "array:4x4", Rules(), "needs a product of different networks"),
        (PRODUCT_ROUNDS, "ring:9", Rules(), "needs a product of networks"),
        (HOMOGENEOUS_PRODUCT, "array:4x4", Rules(ports="one"), "is for all-port nodes, not one-port"),
        (HOMOGENEOUS_PRODUCT, "array:4x4", Rules(buffer=3), "does not limit the packets that a node holds"),
    ],
)
def test_says_why_it_does_not_cover(algorithm, spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        algorithm.build(Case(gossamer.network(spec), TASK, model))
