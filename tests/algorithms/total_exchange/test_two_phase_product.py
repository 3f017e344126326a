"""Algorithm A2: exchanges of the factors give one of the product, optimal where they take the average status."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.busiest_node_first import BUSIEST_FIRST
from gossamer.algorithms.total_exchange.products import TWO_PHASE_PRODUCT, two_phase_product_exchange
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import product
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK, ONE = TotalExchange(), Rules(ports="one")


def built(network, model=ONE):
    schedule = TWO_PHASE_PRODUCT.build(Case(network, TASK, model))
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    assert schedule.completion_time == TWO_PHASE_PRODUCT.offer(Case(network, TASK, model)).time
    return schedule


PRODUCTS = {  # Dimakopoulos 1996, Theorem 5.3: the time is the average status
    "torus:3x4": 20,
    "torus:5x5": 60,
    "torus:3x4x2": 52,
    "product:(product:(ring:3)x(ring:4))x(ring:2)": 52,
    "product:(ring:4)x(extended-ring:7,2)": None,
    "product:(ring:2)x(extended-ring:6,3)": None,
    "product:(extended-ring:7,3)x(extended-ring:4,2)": None,
    "hypercube:5": 80,
    "generalized-hypercube:4x3x2": None,
    "hypercycle:5,2x4,1": None,
    "product:(complete:4)x(star:3)": None,
    "product:(star:4)x(ring:5)": None,
}


@pytest.mark.parametrize(("spec", "steps"), PRODUCTS.items())
@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_theorem_5_5_products_of_cayley_networks_meet_the_bound(spec, steps, ports):
    network, model = gossamer.network(spec), Rules(ports=ports)
    time = built(network, model).completion_time
    assert time == int(network.distances(0).sum()) == best_bound(Case(network, TASK, model)).value
    assert steps is None or time == steps
    assert TWO_PHASE_PRODUCT.offer(Case(network, TASK, model)).optimal


def test_ring_3_by_ring_4_takes_3_exchanges_of_4_steps_and_4_of_2():
    phases = built(gossamer.network("torus:3x4")).phases
    assert [(p.name, p.slots) for p in phases] == [
        ("exchanges along dimension 1", 12),
        ("exchanges along dimension 0", 8),
    ]


@given(st.lists(st.integers(1, 5), min_size=2, max_size=3))
@settings(max_examples=25, deadline=None)
def test_theorem_5_3_and_corollary_5_4_on_meshes(sides):
    network = gossamer.network("array:" + "x".join(map(str, sides)))
    n = network.node_count
    assert built(network).completion_time == sum(Fraction(n, side) * ((side * side - 1) // 2) for side in sides)


@given(
    st.lists(
        st.sampled_from(["ring:3", "ring:4", "complete:3", "array:3", "array:2", "star:3"]), min_size=2, max_size=3
    )
)
@settings(max_examples=25, deadline=None)
def test_any_factors_give_corollary_5_4(specs):
    factors = [gossamer.network(s) for s in specs]
    network = product(*factors)
    time = {"array:3": 4, "array:2": 1, "ring:3": 2, "ring:4": 4, "complete:3": 2, "star:3": 9}
    n = network.node_count
    expected = sum(n // f.node_count * time[s] for f, s in zip(factors, specs, strict=True))
    assert built(network).completion_time == expected


def test_a_factor_that_is_a_product_exchanges_the_faster_way():
    inner = gossamer.network("array:2x3")
    direct = BUSIEST_FIRST.build(Case(inner, TASK, ONE)).completion_time
    assert direct < built(inner).completion_time
    network = gossamer.network("product:(array:2x3)x(array:4)")
    assert built(network).completion_time == 6 * 7 + 4 * direct
    assert built(gossamer.network("array:2x3x4")).completion_time == 6 * 7 + 4 * built(inner).completion_time


@pytest.mark.parametrize("spec", ["array:4x4", "array:4x5", "array:6x6"])
def test_meshes_are_faster_on_balanced_paths(spec):
    network = gossamer.network(spec)
    assert BUSIEST_FIRST.build(Case(network, TASK, ONE)).completion_time < built(network).completion_time


def test_dimensions_are_finished_last_factor_first():
    schedule = two_phase_product_exchange(Case(gossamer.network("array:3x4"), TASK, ONE))
    rows = schedule.phase_hops(0)
    moved = schedule.network.link_target[schedule.link[rows]] - schedule.network.link_source[schedule.link[rows]]
    assert set(moved.tolist()) == {1, -1}


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (gossamer.network("ring:9"), ONE, "needs a product of networks"),
        (
            product(gossamer.network("ring:3"), Network("one-way", 3, [0, 1, 2], [1, 2, 0], links_only=True)),
            ONE,
            "cannot exchange along factor one-way, where it needs an opposite for every link",
        ),
        (gossamer.network("torus:3x4"), Rules(ports="one", buffer=2), "does not limit the packets that a node holds"),
        (gossamer.network("torus:300x300"), ONE, "would write out"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        TWO_PHASE_PRODUCT.build(Case(network, TASK, model))
